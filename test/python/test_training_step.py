"""Training steps as JAX exports them, quantized: each product of a layer and both products of its
gradient, against NumPy and ml_dtypes, which know nothing of the program."""
import json

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from program_commands import octavo

pytestmark = pytest.mark.mlir

BATCH, TIME, WIDTH, INNER = 3, 16, 32, 64
RATE = np.float32(0.125)


def loss(p, x, target):
    hidden = jax.nn.relu(x @ p["up"])
    return jnp.square(hidden @ p["down"] - target).sum()


def step(p, x, target):
    value, gradient = jax.value_and_grad(loss)(p, x, target)
    return jax.tree.map(lambda p, g: p - RATE * g, p, gradient), value


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(3)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    return {"down": normal(INNER, WIDTH) / 8, "up": normal(WIDTH, INNER) / 8,
            "x": normal(BATCH, TIME, WIDTH), "target": normal(BATCH, TIME, WIDTH)}


@pytest.fixture(scope="module")
def program(tmp_path_factory, arrays):
    folder = tmp_path_factory.mktemp("step")
    parameters = {name: arrays[name] for name in ("down", "up")}
    lowered = jax.jit(step, donate_argnums=0).lower(parameters, arrays["x"], arrays["target"])
    (folder / "step.mlir").write_text(lowered.as_text(debug_info=True))
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder / "step.mlir"


def dots(program, recipe, *more):
    return json.loads(octavo("quantize", program, "--recipe", recipe, "--parameters", "^p", "--json", *more))["dots"]


def test_all_products_of_weights_and_of_their_gradients_are_narrow(program):
    found = [(dot["m"], dot["n"], dot["k"], dot["lhs"], dot["rhs"]) for dot in dots(program, "fp8-training")]
    rows = BATCH * TIME
    e4m3, e5m2 = "fp8_tensor", "fp8_e5m2_tensor"
    assert sorted(found) == sorted([
        (rows, INNER, WIDTH, e4m3, e4m3), (rows, WIDTH, INNER, e4m3, e4m3),  # the layers
        (rows, INNER, WIDTH, e5m2, e4m3),  # gradient of the hidden values; that of x is not asked for
        (WIDTH, INNER, rows, e5m2, e4m3), (INNER, WIDTH, rows, e5m2, e4m3)])  # of the weights


def fp8(x, dtype):
    """One scale a tensor, amax to the largest value; ml_dtypes rounds."""
    scale = np.abs(x).max() / np.float32(ml_dtypes.finfo(dtype).max)
    return (x / scale).astype(dtype).astype(np.float32) * scale


def product(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_values_are_those_of_products_of_fp8(program, arrays, tmp_path, backend):
    forward = lambda x: fp8(x, ml_dtypes.float8_e4m3fn)
    backward = lambda x: fp8(x, ml_dtypes.float8_e5m2)
    x, target = (arrays[name].reshape(-1, WIDTH) for name in ("x", "target"))
    before = product(forward(x), forward(arrays["up"]))
    hidden = np.maximum(before, 0)
    error = product(forward(hidden), forward(arrays["down"])) - target
    to_down = product(forward(hidden).T, backward(2 * error))
    to_hidden = product(backward(2 * error), forward(arrays["down"]).T) * (before > 0)
    to_up = product(forward(x).T, backward(to_hidden))

    out = tmp_path / "out"
    inputs = [word for name in arrays for word in ("--input", program.parent / f"{name}.npy")]
    octavo("run", program, *inputs, "--recipe", "fp8-training", "--parameters", "^p", "--backend", backend,
           "--output", out)
    results = [np.load(path) for path in sorted(out.glob("*.npy"))]
    assert len(results) == 3
    by_shape = {result.shape: result for result in results}
    assert abs(by_shape[()] - np.square(error.astype(np.float64)).sum()) <= 1e-5 * by_shape[()]
    for name, gradient in (("down", to_down), ("up", to_up)):
        change = (by_shape[gradient.shape] - arrays[name]) / -RATE
        # The subtraction rounds; a code that differs would be 2^-3 of an element or more.
        assert np.abs(change - gradient).max() <= 1e-5 * np.abs(gradient).max(), name


def test_nothing_of_a_quantized_step_is_interpreted(program, tmp_path):
    octavo("quantize", program, "--recipe", "fp8-training", "--parameters", "^p", "-o", tmp_path / "q.mlir")
    assert "interpreted 0 operations" in octavo("run", tmp_path / "q.mlir", "--explain-compile")


def test_gradients_are_as_activations_where_a_recipe_says_nothing(program):
    assert all(dot["lhs"] == dot["rhs"] == "mxfp8_e4m3" for dot in dots(program, "mxfp8"))


def test_gradients_can_stay_wide(program, tmp_path):
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({"rules": [{"weights": "fp8_tensor", "gradients": "none"}]}))
    kinds = [(dot["lhs"], dot["rhs"]) for dot in dots(program, recipe) if dot["quantized"]]
    # The layers; the gradient of the hidden values is wide, its weight is not.
    assert kinds == [("fp8_tensor", "fp8_tensor")] * 2 + [(None, "fp8_tensor")]
    reasons = {dot["reason"] for dot in dots(program, recipe) if not dot["quantized"]}
    assert reasons == {"both operands are activations, and its gradient stays wide"}


@pytest.mark.parametrize("equation, a, b", [
    ("abk,abn->kn", (3, 32, 8), (3, 32, 5)),
    ("akb,bna->kn", (3, 8, 32), (32, 5, 3)),  # neither lies together, and in two orders
    ("xakb,xbna->xkn", (2, 3, 8, 32), (2, 32, 5, 3)),
    ("akb,abn->kn", (3, 8, 20), (3, 20, 5))])  # blocks of 32 over the merged axis, the last short
@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_several_contracted_axes_are_one(equation, a, b, backend, tmp_path):
    rng = np.random.default_rng(5)
    # Small integers, which every block of 32 has exactly, whatever its amax.
    arrays = [rng.integers(-4, 5, shape).astype(np.float32) for shape in (a, b)]
    lowered = jax.jit(lambda a, b: jnp.einsum(equation, a, b)).lower(*arrays)
    program = tmp_path / "einsum.mlir"
    program.write_text(lowered.as_text(debug_info=True))
    for name, array in zip("ab", arrays):
        np.save(tmp_path / f"{name}.npy", array)
    text = octavo("run", program, "--input", tmp_path / "a.npy", "--input", tmp_path / "b.npy", "--quantize", "mxfp8_e4m3",
                  "--both-activations", "--backend", backend, "--output", tmp_path / "c.npy")
    assert "1 of 1 dots" in text
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), np.einsum(equation, *arrays))


def saturated(x, scale, dtype):
    """Times the scale, within the largest values, rounded by ml_dtypes; and back."""
    most = np.float32(ml_dtypes.finfo(dtype).max)
    return np.clip(x * scale, -most, most).astype(dtype).astype(np.float32) * (np.float32(1) / scale)


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_delayed_scales_go_from_step_to_step(program, arrays, tmp_path, backend):
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({"rules": [{"weights": "fp8_tensor", "gradients": "fp8_e5m2_tensor",
                                             "scaling": "delayed", "history": 3, "margin": 1}]}))
    quantized = tmp_path / "q.mlir"
    text = octavo("quantize", program, "--recipe", recipe, "--parameters", "^p", "-o", quantized)
    assert "octavo.scales f32[6]" in text and "octavo.histories f32[6, 3]" in text
    assert "interpreted 0 operations" in octavo("run", quantized, "--explain-compile")

    e4m3, e5m2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
    formats = [e4m3, e4m3, e4m3, e4m3, e5m2, e5m2]  # x, up, hidden, down, and gradients of the last and of hidden
    scales, histories = np.ones(6, np.float32), np.zeros((6, 3), np.float32)
    down, up = arrays["down"], arrays["up"]
    for step in range(5):
        x, target = (arrays[name] * np.float32(2.0 ** -step) for name in ("x", "target"))  # the oldest leaves
        flat = x.reshape(-1, WIDTH)
        narrow = lambda i, value: saturated(value, scales[i], formats[i])
        before = product(narrow(0, flat), narrow(1, up))
        hidden = np.maximum(before, 0)
        error = 2 * (product(narrow(2, hidden), narrow(3, down)) - target.reshape(-1, WIDTH))
        to_hidden = product(narrow(4, error), narrow(3, down).T) * (before > 0)
        expected = {"down": product(narrow(2, hidden).T, narrow(4, error)),
                    "up": product(narrow(0, flat).T, narrow(5, to_hidden))}
        amaxes = np.array([np.abs(each).max() for each in (flat, up, hidden, down, error, to_hidden)])

        given = {"p['down']": down, "p['up']": up, "x": x, "target": target, "octavo.scales": scales,
                 "octavo.histories": histories}
        inputs = []
        for i, (name, array) in enumerate(given.items()):
            np.save(tmp_path / f"in{i}.npy", array)
            inputs += ["--input", f"{name}={tmp_path / f'in{i}.npy'}"]
        out = tmp_path / f"out{step}"
        octavo("run", quantized, *inputs, "--backend", backend, "--output", out)
        found = [np.load(path) for path in sorted(out.glob("*.npy"))]
        by_shape = {each.shape: each for each in found}
        for name, array in (("down", down), ("up", up)):
            change = (by_shape[array.shape] - array) / -RATE
            assert np.abs(change - expected[name]).max() <= 2e-5 * np.abs(expected[name]).max(), (step, name)

        # F1 to F3, by hand: the newest in slot 0 decides with the others, then all move.
        histories[:, 0] = amaxes
        largest = np.array([float(ml_dtypes.finfo(each).max) for each in formats], np.float32)
        scales = (largest / 2 / histories.max(1)).astype(np.float32)
        histories = np.stack([np.zeros(6, np.float32), histories[:, 2], histories[:, 0]], 1)
        np.testing.assert_allclose(by_shape[(6,)], scales, rtol=1e-6)
        np.testing.assert_allclose(by_shape[(6, 3)], histories, rtol=1e-6)
        scales, histories = by_shape[(6,)], by_shape[(6, 3)]
        down, up = by_shape[down.shape], by_shape[up.shape]


@pytest.mark.parametrize("rule, message", [
    ({"scaling": "delaid"}, 'rules[0].scaling: no scaling "delaid"; near it: delayed'),
    ({"weights": "mxfp8_e4m3", "scaling": "delayed"}, "delayed scales are one f32 a tensor; mxfp8_e4m3 has others"),
    ({"scaling": "delayed", "non_finite": "saturate"}, "delayed scaling decides the scales"),
    ({"scaling": "delayed", "history": 0}, "rules[0].history: expected a number of steps from 1 to 65536, found 0"),
    ({"history": 4}, '"history" and "margin" are of "scaling": "delayed"'),
    ({"gradients": "fp8_e5m2_tenser"}, 'rules[0].gradients: no scaled format "fp8_e5m2_tenser"; near it: fp8_e5m2_tensor')])
def test_rules_of_training_that_are_wrong(program, tmp_path, rule, message):
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({"rules": [{"weights": "fp8_tensor"} | rule]}))
    assert message in octavo("quantize", program, "--recipe", recipe, code=3)


def test_histories_have_one_length(program, tmp_path):
    recipe = tmp_path / "recipe.json"
    delayed = {"weights": "fp8_tensor", "scaling": "delayed"}
    recipe.write_text(json.dumps({"rules": [{"dots": "re:jvp", **delayed}, {**delayed, "history": 4}]}))
    message = octavo("quantize", program, "--recipe", recipe, code=3)
    assert "rules[1]: a history of 4 steps, where" in message and "rules[0] has one of 16" in message


def test_dots_that_no_state_reaches_are_left(tmp_path):
    def scanned(x, w):
        return jax.lax.while_loop(lambda carry: carry[0, 0] > 0, lambda carry: jnp.tanh(carry @ w), x)
    lowered = jax.jit(scanned).lower(np.ones((4, 32), np.float32), np.ones((32, 32), np.float32))
    program = tmp_path / "scan.mlir"
    program.write_text(lowered.as_text(debug_info=True))
    report = json.loads(octavo("quantize", program, "--recipe", "fp8-delayed", "--parameters", "w",
                               "--both-activations", "--json"))
    assert report["delayed"] == []
    assert [dot["reason"] for dot in report["dots"]] == [
        "delayed scales are state of the program, which does not reach the dot: each round has a scale of its own, and it is within "
        "a loop of which the number of rounds is not known; count up to a constant, as jax.lax.scan does"]
