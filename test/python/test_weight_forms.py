"""Weights as JAX models take them: stacks that a loop slices, experts that indices choose, parts side by side,
behind barriers and jax.checkpoint. Each program is quantized as the plain one that takes the same weights, and
gives its bits."""
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from program_commands import octavo

pytestmark = pytest.mark.mlir

LAYERS, ROWS, WIDTH = 3, 6, 64


def dot(x, w):
    return lax.dot_general(x, w, (((x.ndim - 1,), (0,)), ((), ())))


def layer(x, w):
    return jnp.tanh(dot(x, w))


def layers(w, x, layer=layer):
    for i in range(LAYERS):
        x = layer(x, w[i])
    return x


def barrier(w, x):
    return dot(x, lax.optimization_barrier((w[0], x))[0])


def experts(w, x, i):
    return jnp.einsum("tk,tkn->tn", x, w[i])


FORMS = {  # a form, and its plain counterpart
    "scan": (lambda w, x: lax.scan(lambda x, w: (layer(x, w), None), x, w)[0], layers),
    "fori": (lambda w, x: lax.fori_loop(0, LAYERS, lambda i, x: layer(x, w[i]), x), layers),
    "index": (lambda w, x, i: dot(x, lax.dynamic_index_in_dim(w, i[0], 0, False)), lambda w, x, i: dot(x, w[2])),
    "barrier": (barrier, lambda w, x: dot(x, w[0])),
    "side by side": (lambda w, x: dot(x, jnp.concatenate([w[0], w[1]], 1)),
                     lambda w, x: jnp.concatenate([dot(x, w[0]), dot(x, w[1])], 1)),
    "experts": (experts, lambda w, x, i: jnp.concatenate([dot(x[t:t + 1], w[e]) for t, e in enumerate(CHOSEN)])),
}
CHOSEN = [2, 0, 1, 1, 0, 2]


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(7)
    return {"w": (rng.standard_normal((LAYERS, WIDTH, WIDTH)) / 8).astype(np.float32),
            "x": rng.standard_normal((ROWS, WIDTH)).astype(np.float32), "i": np.array(CHOSEN, np.int32)}


def written(folder, name, function, arrays):
    path = folder / f"{name}.mlir"
    path.write_text(jax.jit(function).lower(*arrays).as_text(debug_info=True))
    return path


def dots(program, recipe, *more):
    return json.loads(octavo("quantize", program, "--recipe", recipe, "--parameters", "^w", "--json", *more))["dots"]


def results(program, arrays, recipe, backend, out):
    inputs = []
    for name, array in arrays.items():
        np.save(program.parent / f"{name}.npy", array)
        inputs += ["--input", program.parent / f"{name}.npy"]
    octavo("run", program, *inputs, "--recipe", recipe, "--parameters", "^w", "--backend", backend, "--output", out)
    return [np.load(path) for path in sorted(out.glob("*.npy"))]


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_its_plain_counterpart(form, backend, arrays, tmp_path):
    given = arrays if form in ("index", "experts") else {name: arrays[name] for name in ("w", "x")}
    found = []
    for name, function in zip(("form", "plain"), FORMS[form]):
        program = written(tmp_path, name, function, given.values())
        assert all(dot["quantized"] and dot["weight"].startswith("w") for dot in dots(program, "mxfp8"))
        taken = {key: value for key, value in given.items() if f'loc("{key}")' in program.read_text()}
        found.append(results(program, taken, "mxfp8", backend, tmp_path / name))
    assert len(found[0]) == 1
    np.testing.assert_array_equal(*found)


def test_parts_of_devices_are_gathered(tmp_path):
    """A weight of which each device has a part."""
    program = tmp_path / "gathered.mlir"
    program.write_text("""
sdy.mesh @mesh = <["i"=2]>
func.func @main(%w: tensor<64x64xf32> {octavo.name = "w"}, %x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = sdy.manual_computation(%w, %x) in_shardings=[<@mesh, [{"i"}, {}]>, <@mesh, [{"i"}, {}]>]
      out_shardings=[<@mesh, [{"i"}, {}]>] manual_axes={"i"} (%p: tensor<32x64xf32>, %q: tensor<4x64xf32>) {
    %1 = "stablehlo.all_gather"(%p) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
        : (tensor<32x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.dot_general %q, %1, contracting_dims = [1] x [0]
        : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
    sdy.return %2 : tensor<4x64xf32>
  } : (tensor<64x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
""")
    (found,) = dots(program, "mxfp8")
    assert found["weight"] == "w" and found["quantized"]


def test_rows_of_a_table_are_no_weight(tmp_path):
    """What tokens look up is an activation, and so is one row of a stack."""
    program = written(tmp_path, "table", lambda w, x, i: (dot(w[0][i], x.T), w[0][i[0]] @ x.T), (
        np.ones((1, 64, 64), np.float32), np.ones((6, 64), np.float32), np.zeros(6, np.int32)))
    assert [dot["weight"] for dot in dots(program, "mxfp8")] == [None, None]


def trained(forward):
    def step(w, x):
        loss, gradient = jax.value_and_grad(lambda w: jnp.sum(forward(w, x) ** 2))(w)
        return loss, w - 0.1 * gradient
    return step


STEPS = {
    "scan": trained(FORMS["scan"][0]),
    "checkpoint": trained(lambda w, x: layers(w, x, jax.checkpoint(layer))),
    "checkpoint in scan": trained(lambda w, x: lax.scan(lambda x, w: (jax.checkpoint(layer)(x, w), None), x, w)[0]),
}


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("form", STEPS)
def test_a_step_is_the_plain_step(form, backend, arrays, tmp_path):
    given = {name: arrays[name] for name in ("w", "x")}
    found = []
    for name, function in (("form", STEPS[form]), ("plain", trained(layers))):
        program = written(tmp_path, name, function, given.values())
        kinds = {(dot["lhs"], dot["rhs"]) for dot in dots(program, "fp8-training")}
        assert kinds == {("fp8_tensor", "fp8_tensor"), ("fp8_e5m2_tensor", "fp8_tensor")}
        found.append(results(program, given, "fp8-training", backend, tmp_path / name))
    assert len(found[0]) == 2
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("form, count, again", [
    ("checkpoint", 3 * LAYERS - 1 + LAYERS, LAYERS),  # nobody asks for the gradient of the input
    ("scan", 3, 0), ("checkpoint in scan", 4, 1)])  # bodies of loops, for all layers
def test_what_is_recomputed_is_no_gradient(form, count, again, arrays, tmp_path):
    program = written(tmp_path, "step", STEPS[form], [arrays["w"], arrays["x"]])
    found = dots(program, "fp8-training", "--both-activations")
    recomputed = [each for each in found if "rematted_computation" in each["name"]]
    assert (len(found), len(recomputed)) == (count, again)
    assert all(each["lhs"] == each["rhs"] == "fp8_tensor" for each in recomputed)
