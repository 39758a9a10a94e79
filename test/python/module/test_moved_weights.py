"""Weights that are sliced, reshaped, transposed or contracted along several axes on their way to a dot are quantized once,
as they lie: programs beside the same ones that are given each part as a weight of its own."""
import jax
import jax.numpy as jnp
import numpy as np
import octavo
import pytest

pytestmark = pytest.mark.mlir

BACKENDS = pytest.mark.parametrize("backend", ["compiled", "reference"])
BATCH, WIDTH, HEADS, DEPTH = 8, 64, 3, 32
FORMATS = ["mxfp8_e4m3", "mxfp4", "mxint8", "fp8_tensor", "fp8_row", "fp8_block", "nvfp4"]


def normal(*shape, seed=11):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def thirds(w, x):
    """Query, key and value are columns of one matrix."""
    return [x @ part for part in jnp.split(w, 3, axis=1)]


def last_layers(w, x):
    """Layers of a stack that the program takes one by one."""
    return jnp.tanh(x @ w[1]) @ w[2]


def with_heads(w, x):
    return x @ w.reshape(WIDTH, HEADS * DEPTH)


def from_heads(w, x):
    """Two axes are contracted as one."""
    return jax.lax.dot_general(x, w, (((1, 2), (0, 1)), ((), ())))


def from_depths(w, x):
    """Two axes that do not lie together are."""
    return jax.lax.dot_general(x, w, (((1, 2), (0, 2)), ((), ())))


def heads_last(w, x):
    """The free axes change their order."""
    return x @ jnp.transpose(w, (1, 0, 2)).reshape(WIDTH, HEADS * DEPTH)


def squeezed(w, x):
    return x @ jax.lax.optimization_barrier(w)[0, :, :]


def turned_around(w, x):
    return x @ w[::-1, ::-1]


def array_of(function):
    shape = {thirds: (WIDTH, 3 * WIDTH), last_layers: (3, WIDTH, WIDTH), with_heads: (WIDTH, HEADS, DEPTH),
             from_heads: (HEADS, DEPTH, WIDTH), from_depths: (HEADS, WIDTH, DEPTH), heads_last: (HEADS, WIDTH, DEPTH),
             squeezed: (1, WIDTH, WIDTH), turned_around: (WIDTH, WIDTH)}[function]
    # Each part is of another magnitude, so that it has scales of its own.
    return normal(*shape) / 9 * (1 + 3 * np.arange(shape[-1], dtype=np.float32) // (shape[-1] / 3))


# The parts, and the program that is given them.
PARTS = {
    thirds: (lambda w: np.split(w, 3, axis=1), lambda parts, x: [x @ part for part in parts]),
    last_layers: (lambda w: [w[1], w[2]], lambda parts, x: jnp.tanh(x @ parts[0]) @ parts[1]),
    with_heads: (lambda w: [w.reshape(WIDTH, -1)], lambda parts, x: x @ parts[0]),
    from_heads: (lambda w: [w.reshape(-1, WIDTH)], lambda parts, x: x.reshape(BATCH, -1) @ parts[0]),
    from_depths: (lambda w: [w.transpose(1, 0, 2).reshape(WIDTH, -1)], lambda parts, x: x.reshape(BATCH, -1) @ parts[0].T),
    heads_last: (lambda w: [w.transpose(1, 0, 2).reshape(WIDTH, -1)], lambda parts, x: x @ parts[0]),
    squeezed: (lambda w: [w[0]], lambda parts, x: x @ parts[0]),
    turned_around: (lambda w: [w[::-1, ::-1]], lambda parts, x: x @ parts[0]),
}


def input_of(function):
    return normal(BATCH, HEADS, DEPTH, seed=3) if function in (from_heads, from_depths) else normal(BATCH, WIDTH, seed=3)


def lowered(function, *arguments):
    return jax.jit(function).lower(*arguments)


# NVFP4 has an outer scale of each part.
def is_ahead(function, format):
    return format != "nvfp4" or function not in (thirds, last_layers)


@BACKENDS
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("function", PARTS)
def test_values_are_those_of_parts_that_are_given(function, format, backend):
    w, x = array_of(function), input_of(function)
    options = {"quantize": format, "parameters": "^(w|parts)", "backend": backend}
    made = octavo.compile(lowered(function, w, x), **options)
    reasons = {dot.reason for dot in made.dots}
    assert (reasons == {"weight quantized when it is bound"}) == is_ahead(function, format), reasons
    cut, given = PARTS[function]
    expected = octavo.compile(lowered(given, cut(w), x), **options)(cut(w), x)
    jax.tree.map(np.testing.assert_array_equal, made(w, x), expected)


@BACKENDS
@pytest.mark.parametrize("function", PARTS)
def test_constants_are_quantized_ahead(function, backend):
    w, x = array_of(function), input_of(function)
    made = octavo.compile(lowered(lambda x: function(w, x), x), quantize="mxfp8_e4m3", backend=backend)
    assert {dot.reason for dot in made.dots} == {"weight quantized ahead"}
    cut, given = PARTS[function]
    parts = cut(w)
    expected = octavo.compile(lowered(lambda x: given(parts, x), x), quantize="mxfp8_e4m3", backend=backend)(x)
    jax.tree.map(np.testing.assert_array_equal, made(x), expected)


def test_what_cuts_blocks_is_told():
    w, x = normal(96, WIDTH), normal(BATCH, 64)
    made = octavo.compile(lowered(lambda w, x: x @ w[16:80], w, x), quantize="mxfp8_e4m3", parameters="^w")
    assert [dot.reason for dot in made.dots] == [
        "weight quantized in the program: it is reached through stablehlo.slice, which cuts blocks or takes parts of them"]
    expected = octavo.compile(lowered(lambda w, x: x @ w, w[16:80], x), quantize="mxfp8_e4m3", parameters="^w")
    np.testing.assert_array_equal(made(w, x), expected(w[16:80], x))


def test_blocks_that_turn_around_with_a_short_one_are_told():
    w, x = normal(40, WIDTH), normal(BATCH, 40)
    made = octavo.compile(lowered(lambda w, x: x @ w[::-1], w, x), quantize="mxfp8_e4m3", parameters="^w")
    assert [dot.reason for dot in made.dots] == [
        "weight quantized in the program: it is reached through stablehlo.reverse, which cuts blocks or takes parts of them"]


CHOICES = [np.array(each, np.int32) for each in ([4, 0, 0, 3, 2, 1, 4, 1], [2] * BATCH)]


def experts():
    # Each expert is of another magnitude, so that scales of one are not those of another.
    return normal(5, WIDTH, 96) / 9 * np.float32(2.0) ** np.arange(-2, 3, dtype=np.float32)[:, None, None]


def by_experts(w, chosen, x):
    """Each row is multiplied by the matrix that is chosen for it."""
    return jnp.einsum("bk,bkn->bn", x, w[chosen])


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "mxint8", "fp8_row", "fp8_block"])
def test_experts_that_indices_choose(format, backend):
    w, x = experts(), normal(BATCH, WIDTH, seed=3)
    options = {"quantize": format, "parameters": "^(w|parts)", "backend": backend}
    made = octavo.compile(lowered(by_experts, w, CHOICES[0], x), **options)
    assert {dot.reason for dot in made.dots} == {"weight quantized when it is bound"}

    def one_by_one(parts, x):
        return jnp.concatenate([row @ part for row, part in zip(jnp.split(x, BATCH), parts, strict=True)])

    for chosen in CHOICES:
        parts = [w[expert] for expert in chosen]
        expected = octavo.compile(lowered(one_by_one, parts, x), **options)(parts, x)
        np.testing.assert_array_equal(made(w, chosen, x), expected)


@BACKENDS
def test_indices_may_choose_along_several_axes(backend):
    """Of each sequence's own experts: a batch axis of the gather."""
    w, x = normal(3, 5, WIDTH, 96) / 9, normal(3, BATCH, WIDTH, seed=3)
    chosen = np.array([4, 0, 2], np.int32)
    options = {"quantize": "mxfp8_e4m3", "parameters": "^w", "backend": backend}
    made = octavo.compile(lowered(lambda w, chosen, x: x @ jax.vmap(lambda w, i: w[i])(w, chosen), w, chosen, x), **options)
    assert {dot.reason for dot in made.dots} == {"weight quantized when it is bound"}
    taken = w[np.arange(3), chosen]
    expected = octavo.compile(lowered(lambda w, x: x @ w, taken, x), **options)(taken, x)
    np.testing.assert_array_equal(made(w, chosen, x), expected)


@BACKENDS
@pytest.mark.parametrize("format, why", [("fp8_tensor", "which cuts blocks or takes parts of them"),
                                         ("nvfp4", "and what that takes has an outer scale of its own")])
def test_one_scale_of_what_indices_choose_is_told(format, why, backend):
    w, x = experts(), normal(BATCH, WIDTH, seed=3)
    made = octavo.compile(lowered(by_experts, w, CHOICES[0], x), quantize=format, parameters="^w", backend=backend)
    assert [dot.reason for dot in made.dots] == [f"weight quantized in the program: it is reached through stablehlo.gather, {why}"]
    taken = octavo.compile(lowered(lambda w, x: jnp.einsum("bk,bkn->bn", x, w), w[CHOICES[0]], x), quantize=format,
                           parameters="^w", backend=backend)
    np.testing.assert_array_equal(made(w, CHOICES[0], x), taken(w[CHOICES[0]], x))


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "nvfp4"])
def test_a_table_that_is_looked_up_too(format, backend):
    """It stays wide, and is quantized in the program: once where it comes again."""
    table = normal(50, WIDTH) / 8
    ids = np.array([3, 1, 49, 0], np.int32)
    options = {"quantize": format, "parameters": "^w", "backend": backend}
    tied = octavo.compile(lowered(lambda w, ids: jnp.tanh(w[ids]) @ w.T, table, ids), weights={"w": table}, **options)
    assert [dot.reason for dot in tied.dots] == ["weight quantized in the program: it is used by stablehlo.gather as well"]
    apart = octavo.compile(lowered(lambda t, w, ids: jnp.tanh(t[ids]) @ w.T, table, table, ids), **options)
    for given in (ids, ids[::-1].copy(), ids):
        np.testing.assert_array_equal(tied(given), apart(table, table, given))


@BACKENDS
@pytest.mark.parametrize("is_packed_whole", [False, True])
def test_codes_of_a_weight_without_its_outer_scale(is_packed_whole, backend):
    """What is packed again of the codes and scales of a tensor has an outer scale only if it is given it."""
    def sides(name, rows):
        whole = f"!octavo.scaled<{rows}x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>"
        types = f"tensor<{rows}x64xf4E2M1FN>, tensor<{rows}x4xf8E4M3FN>"
        packed = whole if is_packed_whole else whole.replace(", outer f32", "")
        outer, outer_type = (f", %{name}o", ", tensor<f32>") if is_packed_whole else ("", "")
        return packed, f"""
          %{name}q = octavo.quantize %{name}, rule = nearest : tensor<{rows}x64xf32> -> {whole}
          %{name}e, %{name}s, %{name}o = octavo.unpack %{name}q : ({whole}) -> ({types}, tensor<f32>)
          %{name}p = octavo.pack %{name}e, %{name}s{outer} : ({types}{outer_type}) -> {packed}"""

    (left, of_x), (right, of_w) = sides("x", 8), sides("w", 32)
    program = octavo.compile(f"""
      func.func @main(%x: tensor<8x64xf32>, %w: tensor<32x64xf32>) -> tensor<8x32xf32> {{{of_x}{of_w}
        %y = octavo.dot_general %xp, %wp, contracting_dims = [1] x [1] : ({left}, {right}) -> tensor<8x32xf32>
        return %y : tensor<8x32xf32>
      }}""", backend=backend)
    x, w = normal(8, 64), normal(32, 64, seed=12)
    expected = [q.dequantize().astype(np.float64) / (1 if is_packed_whole else q.outer)
                for q in (octavo.quantize(x, "nvfp4"), octavo.quantize(w, "nvfp4"))]
    product = expected[0] @ expected[1].T
    np.testing.assert_allclose(program(x, w), product, rtol=0, atol=1e-5 * np.abs(product).max())
