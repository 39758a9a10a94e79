"""Weights of a stack of layers that a loop goes through (jax.lax.scan over stacked parameters) are quantized once, as a
whole: programs beside the same layers written out, each with a weight of its own."""
import json
import subprocess

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import pytest
from on_xla import on_xla
from program_commands import OCTAVO
from program_commands import octavo as command
from safetensors.numpy import save_file

pytestmark = pytest.mark.mlir

LAYERS, BATCH, WIDTH, HIDDEN = 3, 8, 64, 96
BACKENDS = pytest.mark.parametrize("backend", ["compiled", "reference"])


def arrays(layers=LAYERS, width=WIDTH, hidden=HIDDEN):
    rng = np.random.default_rng(7)
    # Each layer is of another magnitude, so that scales of a layer are not those of the stack.
    sizes = np.float32(2.0) ** np.arange(layers, dtype=np.float32)[:, None, None]
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    weights = {"up": normal(layers, width, hidden) / 9 * sizes, "down": normal(layers, hidden, width) / 11 / sizes}
    return weights, normal(BATCH, width)


def layer(h, up, down):
    return h + jnp.tanh(h @ up) @ down


def written_out(weights, x):
    for up, down in zip(weights["up"], weights["down"], strict=True):
        x = layer(x, up, down)
    return x


def scanned(weights, x):
    return jax.lax.scan(lambda h, w: (layer(h, w["up"], w["down"]), None), x, weights)[0]


def indexed(weights, x):
    return jax.lax.fori_loop(0, LAYERS, lambda i, h: layer(h, weights["up"][i], weights["down"][i]), x)


def rematerialized(weights, x):
    """A barrier stands between the slice and the dot."""
    one = jax.checkpoint(lambda h, w: layer(h, w["up"], w["down"]), prevent_cse=True)
    return jax.lax.scan(lambda h, w: (one(h, w), None), x, weights)[0]


def of_turned(weights, x):
    """The stack is of transposed matrices."""
    turned = {name: jnp.swapaxes(w, 1, 2) for name, w in weights.items()}
    return jax.lax.scan(lambda h, w: (layer(h, w["up"].T, w["down"].T), None), x, turned)[0]


def by_columns(weights, x):
    """The layers are the last axis of the stack."""
    stack = {name: jnp.moveaxis(w, 0, 2) for name, w in weights.items()}
    return jax.lax.fori_loop(0, LAYERS, lambda i, h: layer(h, stack["up"][:, :, i], stack["down"][:, :, i]), x)


def widened(weights, x):
    """Each round converts its layer to f32."""
    return jax.lax.scan(lambda h, w: (layer(h, w["up"].astype(jnp.float32), w["down"].astype(jnp.float32)), None), x, weights)[0]


def twice(weights, x):
    """A loop around the loop over the layers."""
    return jax.lax.fori_loop(0, 2, lambda _, h: scanned(weights, h), x)


LOOPS = [scanned, indexed, rematerialized, of_turned, by_columns]


def lowered(function, *arguments):
    return jax.jit(function).lower(*arguments)


def apart(weights):
    return {name: list(stack) for name, stack in weights.items()}


def expected(weights, x, **options):
    return octavo.compile(lowered(written_out, apart(weights), x), **options)(apart(weights), x)


FORMATS = ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp4", "mxint8", "nvfp4", "fp8_tensor", "fp8_row", "fp8_block", "cfloat8_1_4_3_tensor"]


@BACKENDS
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("function", LOOPS)
def test_values_are_those_of_the_layers_written_out(function, format, backend):
    weights, x = arrays()
    options = {"quantize": format, "parameters": "^weights", "backend": backend}
    made = octavo.compile(lowered(function, weights, x), **options)
    np.testing.assert_array_equal(made(weights, x), expected(weights, x, **options))


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("function", [*LOOPS, twice])
def test_stacks_as_they_are(function, dtype):
    """Each layer is packed once, for all runs and rows: the bits are those of layers of their own."""
    weights, x = arrays()
    weights, x = {name: w.astype(dtype) for name, w in weights.items()}, x.astype(dtype)
    program = lowered(function, weights, x)
    made, bound = octavo.compile(program), octavo.compile(program, weights={"weights": weights})
    for given in (x, x + x):
        wanted = expected(weights, expected(weights, given) if function is twice else given)
        np.testing.assert_array_equal(made(weights, given), wanted)
        np.testing.assert_array_equal(bound(given), wanted)


def test_other_stacks_are_other_values():
    """A stack that is given once is not taken for the one before."""
    weights, x = arrays()
    made = octavo.compile(lowered(scanned, weights, x))
    for factor in np.float32([1, 2, 3]):
        given = {name: w * factor for name, w in weights.items()}
        np.testing.assert_array_equal(made(given, x), expected(given, x))


@pytest.mark.parametrize("index", [-5, 0, 1, 2, 7])
def test_a_layer_that_the_program_chooses(index):
    """Starts are clamped (rule I19), of constants too."""
    weights, x = arrays()
    choose = lambda stack, x, i: x @ jax.lax.dynamic_slice(stack, (i, 0, 0), (1, WIDTH, HIDDEN))[0]
    wanted = x @ weights["up"][np.clip(index, 0, LAYERS - 1)]
    i = np.int32(index)
    of_argument = octavo.compile(lowered(choose, weights["up"], x, i))(weights["up"], x, i)
    np.testing.assert_allclose(of_argument, wanted, rtol=1e-5, atol=1e-5)
    of_constant = octavo.compile(lowered(lambda x, i: choose(weights["up"], x, i), x, i))(x, i)
    np.testing.assert_array_equal(of_constant, of_argument)


def test_a_layer_under_a_scale_of_all():
    """Codes alone are chosen: each layer is packed once with the scale of the stack."""
    rng = np.random.default_rng(4)
    codes = rng.standard_normal((LAYERS, HIDDEN, WIDTH)).astype(ml_dtypes.float8_e4m3fn)
    scale, x = np.full((1, 1), 0.375, np.float32), arrays()[1]
    stack, one = f"tensor<{LAYERS}x{HIDDEN}x{WIDTH}xf8E4M3FN>", f"tensor<1x{HIDDEN}x{WIDTH}xf8E4M3FN>"
    layer = f"!octavo.scaled<{HIDDEN}x{WIDTH}xf8E4M3FN, scale f32, block [{HIDDEN}, {WIDTH}]>"
    made = octavo.compile(f"""
      func.func @main(%w: {stack}, %s: tensor<1x1xf32>, %i: tensor<i32>, %x: tensor<{BATCH}x{WIDTH}xf32>) -> tensor<{BATCH}x{HIDDEN}xf32> {{
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %t = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, {HIDDEN}, {WIDTH}] : ({stack}, tensor<i32>, tensor<i32>, tensor<i32>) -> {one}
        %c = stablehlo.reshape %t : ({one}) -> tensor<{HIDDEN}x{WIDTH}xf8E4M3FN>
        %p = octavo.pack %c, %s : (tensor<{HIDDEN}x{WIDTH}xf8E4M3FN>, tensor<1x1xf32>) -> {layer}
        %y = octavo.dot_general %x, %p, contracting_dims = [1] x [1] : (tensor<{BATCH}x{WIDTH}xf32>, {layer}) -> tensor<{BATCH}x{HIDDEN}xf32>
        return %y : tensor<{BATCH}x{HIDDEN}xf32>
      }}""")
    assert made.explain()["interpreted"] == [] and made.explain()["arena_bytes"] == 0
    for index in (-1, 0, 1, 2, 5):
        values = codes[np.clip(index, 0, LAYERS - 1)].astype(np.float64) * 0.375
        np.testing.assert_allclose(made(codes, scale, np.int32(index), x), x @ values.T, rtol=1e-5, atol=1e-4)


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "fp8_row", "nvfp4"])
def test_loops_around_the_loop(format, backend):
    weights, x = arrays()
    options = {"quantize": format, "parameters": "^weights", "backend": backend}
    again = expected(weights, expected(weights, x, **options), **options)
    np.testing.assert_array_equal(octavo.compile(lowered(twice, weights, x), **options)(weights, x), again)


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxint8", "fp8_tensor", "nvfp4"])
def test_short_last_blocks(format, backend):
    weights, x = arrays(width=40, hidden=72)
    options = {"quantize": format, "parameters": "^weights", "backend": backend}
    made = octavo.compile(lowered(scanned, weights, x), **options)
    np.testing.assert_array_equal(made(weights, x), expected(weights, x, **options))


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "mxint8", "fp8_tensor", "fp8_row", "fp8_block", "cfloat8_1_4_3_tensor"])
@pytest.mark.parametrize("function", LOOPS)
def test_stacks_are_quantized_when_they_are_bound(function, format):
    weights, x = arrays()
    made = octavo.compile(lowered(function, weights, x), quantize=format, parameters="^weights")
    assert {dot.reason for dot in made.dots} == {"weight quantized when it is bound"}
    types = [argument.type for argument in made.arguments]
    assert all("scaled by" in each for each in types[:2]) and not any("scaled" in each for each in types[2:])


def test_an_outer_scale_is_one_of_each_layer():
    weights, x = arrays()
    made = octavo.compile(lowered(scanned, weights, x), quantize="nvfp4", parameters="^weights")
    assert {dot.reason for dot in made.dots} == {
        "weight quantized in the program: it is reached through stablehlo.dynamic_slice, and what that takes has an outer scale of its own"}


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxint8", "fp8_tensor"])
def test_constants_are_quantized_ahead(format, backend):
    weights, x = arrays()
    made = octavo.compile(lowered(lambda x: scanned(weights, x), x), quantize=format, backend=backend)
    assert {dot.reason for dot in made.dots} == {"weight quantized ahead"}
    closed = octavo.compile(lowered(lambda x: written_out(weights, x), x), quantize=format, backend=backend)
    np.testing.assert_array_equal(made(x), closed(x))


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "nvfp4", None])
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_stacks_that_are_widened(dtype, format, backend):
    weights, x = arrays()
    weights = {name: w.astype(dtype) for name, w in weights.items()}
    options = {"backend": backend} | ({"quantize": format, "parameters": "^weights"} if format else {})
    program = lowered(widened, weights, x)
    made = octavo.compile(program, **options)
    assert format != "mxfp8_e4m3" or {dot.reason for dot in made.dots} == {"weight quantized when it is bound"}
    wanted = expected({name: w.astype(np.float32) for name, w in weights.items()}, x, **options)
    np.testing.assert_array_equal(made(weights, x), wanted)
    np.testing.assert_array_equal(octavo.compile(program, weights={"weights": weights}, **options)(x), wanted)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16])
def test_layers_of_a_type_are_quantized_as_they_are(dtype):
    """One outer scale each, of activations and weights of that type (rule S17)."""
    weights, x = arrays()
    weights, x = {name: w.astype(dtype) for name, w in weights.items()}, x.astype(dtype)
    options = {"quantize": "nvfp4", "parameters": "^weights"}
    program, wanted = lowered(scanned, weights, x), expected(weights, x, **options)
    np.testing.assert_array_equal(octavo.compile(program, **options)(weights, x), wanted)
    np.testing.assert_array_equal(octavo.compile(program, weights={"weights": weights}, **options)(x), wanted)
    of_constants = octavo.compile(lowered(lambda x: scanned(weights, x), x), quantize="nvfp4")
    np.testing.assert_array_equal(of_constants(x), wanted)


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "fp8_row", "fp8_tensor"])
def test_stacks_of_experts(format, backend):
    """Each round multiplies by a batch of matrices."""
    rng = np.random.default_rng(3)
    stack = rng.standard_normal((LAYERS, 2, WIDTH, WIDTH)).astype(np.float32) / 8
    x = rng.standard_normal((2, BATCH, WIDTH)).astype(np.float32)
    one = lambda h, w: jnp.tanh(jnp.einsum("ebk,ekn->ebn", h, w))

    def experts(weights, x):
        return jax.lax.scan(lambda h, w: (one(h, w), None), x, weights)[0]

    def each(weights, x):
        for w in weights:
            x = one(x, w)
        return x

    options = {"quantize": format, "parameters": "^weights", "backend": backend}
    made = octavo.compile(lowered(experts, stack, x), **options)
    assert {dot.reason for dot in made.dots} == {"weight quantized when it is bound"}
    np.testing.assert_array_equal(made(stack, x), octavo.compile(lowered(each, list(stack), x), **options)(list(stack), x))


@pytest.mark.parametrize("format", ["mxfp4", "fp8_row", None])
def test_a_compiled_folder_has_its_stacks_packed(format, tmp_path):
    weights, x = arrays()
    (tmp_path / "program.mlir").write_text(lowered(scanned, weights, x).as_text(debug_info=True))
    save_file({f"weights['{name}']": w for name, w in weights.items()}, tmp_path / "weights.safetensors")
    np.save(tmp_path / "x.npy", x)
    options = ["--quantize", format, "--parameters", "^weights"] if format else []
    command("compile", tmp_path / "program.mlir", *options, "--weights", tmp_path / "weights.safetensors", "-o", tmp_path / "folder")
    command("run", tmp_path / "folder", "--input", f"x={tmp_path / 'x.npy'}", "--output", tmp_path / "y.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), expected(weights, x, **({"quantize": format, "parameters": "^weights"} if format else {})))


def on_the_left(weights, x):
    """`w @ row` of each row of a batch, as Equinox has its layers."""
    rows = lambda w, h: jax.vmap(lambda row: w.T @ row)(h)
    return jax.lax.scan(lambda h, w: (h + rows(w["down"], jnp.tanh(rows(w["up"], h))), None), x, weights)[0]


def of_columns(weights, x):
    """Rows of a batch are columns."""
    columns = lambda w, h: jnp.einsum("df,db->fb", w, h)
    return jax.lax.scan(lambda h, w: (h + columns(w["down"], jnp.tanh(columns(w["up"], h))), None), x.T, weights)[0].T


@pytest.mark.parametrize("format, activations", [("mxfp8_e4m3", None), ("mxfp4", None), ("mxfp4", "none"), ("nvfp4", None), ("fp8_row", None), (None, None)])
@pytest.mark.parametrize("function", [on_the_left, of_columns])
def test_weights_on_the_left(function, format, activations, tmp_path):
    """They change sides: right ones are packed once. The bits are those of `row @ w`."""
    weights, x = arrays()
    options = {"quantize": format, "activations": activations, "parameters": "^weights"} if format else {}
    program, wanted = lowered(function, weights, x), expected(weights, x, **options)
    np.testing.assert_array_equal(octavo.compile(program, weights={"weights": weights}, **options)(x), wanted)
    (tmp_path / "program.mlir").write_text(program.as_text(debug_info=True))
    options = ["--quantize", format, "--parameters", "^weights"] if format else []
    told = command("run", tmp_path / "program.mlir", *options, *(["--activations", activations] if activations else []), "--explain-compile", "--json")
    compiled = json.loads(told)["functions"][0]
    assert compiled["arena_bytes"] < weights["up"][0].nbytes and compiled["interpreted"] == []
    assert compiled["packed_weights"]["count"] == 2 and "quantize" not in {other["what"] for other in compiled["others"]}


STORED = [(scanned, np.float32), (scanned, ml_dtypes.bfloat16), (scanned, np.float16), (widened, ml_dtypes.bfloat16), (widened, np.float16)]


@pytest.mark.parametrize("are_constants", [False, True])
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "nvfp4", None])
@pytest.mark.parametrize("function, dtype", STORED)
def test_no_round_copies_a_layer(function, dtype, format, are_constants, tmp_path):
    weights, x = arrays()
    weights, x = {name: w.astype(dtype) for name, w in weights.items()}, x.astype(np.float32 if function is widened else dtype)
    program = lowered(lambda x: function(weights, x), x) if are_constants else lowered(function, weights, x)
    (tmp_path / "program.mlir").write_text(program.as_text(debug_info=True))
    options = ["--quantize", format, "--parameters", "^weights"] if format else []
    told = command("run", tmp_path / "program.mlir", *options, "--explain-compile", "--json")
    compiled = json.loads(told)["functions"][0]
    assert compiled["arena_bytes"] < weights["up"][0].nbytes
    assert compiled["packed_weights"]["count"] == 2
    # What is quantized in the program is once, of weights that come again.
    others = {other["what"] for other in compiled["others"]}
    assert "quantize" not in others and ("quantize once" in others) == (format == "nvfp4")


@pytest.mark.parametrize("function", [of_turned, by_columns])
def test_no_run_turns_a_stack(function):
    """What moves it before the loop is moved where each layer is quantized, once."""
    weights, x = arrays()
    made = octavo.compile(lowered(function, weights, x), quantize="nvfp4", parameters="^weights")
    assert made.explain()["arena_bytes"] < weights["up"][0].nbytes


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "nvfp4"])
@pytest.mark.parametrize("function", LOOPS)
def test_bound_weights_come_again(function, format, backend):
    weights, x = arrays()
    options = {"quantize": format, "parameters": "^weights", "backend": backend}
    made = octavo.compile(lowered(function, weights, x), weights={"weights": weights}, **options)
    for given in (x, x / 2, x):
        np.testing.assert_array_equal(made(given), expected(weights, given, **options))


def test_a_layer_with_nan_is_told():
    weights, x = arrays()
    weights["up"][1, 3, 4] = np.nan
    with pytest.raises(octavo.NonFiniteError, match=r"""argument "weights\['up'\]" has NaN at \[1, 3, 4\], which"""):
        octavo.compile(lowered(scanned, weights, x), weights={"weights": weights}, quantize="nvfp4", parameters="^weights")(x)


@pytest.mark.parametrize("function", LOOPS)
def test_such_programs_are_emitted_for_xla(function, tmp_path):
    """Codes and scales are sliced there; XLA's sums are in another order."""
    weights, x = arrays()
    (tmp_path / "program.mlir").write_text(lowered(function, weights, x).as_text(debug_info=True))
    command("quantize", tmp_path / "program.mlir", "--format", "mxfp8_e4m3", "--parameters", "^weights", "-o", tmp_path / "q.mlir")
    done = subprocess.run([OCTAVO.parent / "octavo-opt", tmp_path / "q.mlir", "--octavo-emit"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = on_xla(done.stdout, *jax.tree.leaves(weights), x)[0]
    values = expected(weights, x, quantize="mxfp8_e4m3", parameters="^weights")
    # A code of an activation that falls to the other side is 2^-4 of it.
    assert np.linalg.norm(found - values) < 1e-2 * np.linalg.norm(values)


@BACKENDS
@pytest.mark.parametrize("shape", [(3, 64, 1), (3, 1, 64)])
def test_a_slice_of_one_column_or_row_is_a_weight(shape, backend):
    rng = np.random.default_rng(11)
    w, x = rng.standard_normal(shape).astype(np.float32), rng.standard_normal((4, 64)).astype(np.float32)
    axis = shape.index(64) - 1
    product = lambda w, x: jax.lax.dot_general(x, w, (((1,), (axis,)), ((), ())))
    options = {"quantize": "mxfp8_e4m3", "parameters": "^w", "backend": backend}
    stacked = octavo.compile(jax.jit(lambda w, x, j: product(w[j], x)).lower(w, x, np.int32(0)), **options)
    assert [(dot.is_quantized, dot.reason) for dot in stacked.dots] == [(True, "weight quantized when it is bound")]
    single = octavo.compile(jax.jit(product).lower(w[0], x), **options)
    for j in range(3):
        np.testing.assert_array_equal(stacked(w, x, np.int32(j)), single(w[j], x))


def test_a_row_of_a_table_is_an_activation():
    """Beside an axis that the table has for a batch, too."""
    for shape in ((9, 64), (1, 9, 64)):
        table, w = np.ones(shape, np.float32), np.ones((64, 8), np.float32)
        look_up = lambda table, w, i: jax.lax.dynamic_slice_in_dim(table, i, 1, len(shape) - 2).reshape(1, 64) @ w
        program = octavo.compile(jax.jit(look_up).lower(table, w, np.int32(0)))
        (dot,) = program.dot_errors(table, w, np.int32(1), quantize="mxfp8_e4m3", parameters="^(table|w)$")["dots"]
        assert (dot["lhs"]["is"], dot["rhs"]["is"]) == ("activation", "weight")
