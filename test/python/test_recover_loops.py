"""octavo-recover-scaled on programs whose loops carry, or fill, dequantized values: they carry codes and scales.

Values are small integers times powers of two, whose sums are exact in any order."""
import re

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax
from scaled_programs import (CODES_1_4_3, E8M0, F8, INT8, K, M, W, WS, X, blockwise, cfloat8, codes, dot, exponents, expected_of_a_loop, f32, recovered,
                                 run, scales, shifted, weight, wide)

pytestmark = pytest.mark.mlir


def through_a_loop(x, q, s):
    w = f32(q) * s
    return lax.fori_loop(0, 3, lambda i, x: jnp.sign(dot(x, w)), x)


def cached(q, s, new, t, x):
    """A cache that is written row by row, in a loop that carries its values."""
    def write(i, cache):
        row = f32(lax.dynamic_slice(new, (i, 0), (1, K))) * lax.dynamic_slice(t, (i,), (1,))
        return lax.dynamic_update_slice(cache, row, (i, 0))
    return dot(x, lax.fori_loop(0, 3, write, f32(q) * s[:, None]).T)


def cached_in_two_loops(q, s, new, t, x):
    def write(j, i, cache):
        row = f32(lax.dynamic_slice(new, (i, 0), (1, K))) * lax.dynamic_slice(t, (i,), (1,))
        return lax.dynamic_update_slice(cache, row, (i, 0))
    return dot(x, lax.fori_loop(0, 3, lambda i, cache: lax.fori_loop(0, i + 1, lambda j, c: write(j, i, c), cache), f32(q) * s[:, None]).T)


def cached_where_asked(q, s, new, t, x):
    def write(i, cache):
        row = f32(lax.dynamic_slice(new, (i, 0), (1, K))) * lax.dynamic_slice(t, (i,), (1,))
        return lax.cond(i < 3, lambda: lax.dynamic_update_slice(cache, row, (i, 0)), lambda: cache)
    return dot(x, lax.fori_loop(0, 5, write, f32(q) * s[:, None]).T)


def quantized_each_round(x, s):
    """Blocks with another scale in each round; the condition of the loop reads the values too."""
    def more(state):
        return (state[0] < 5) & (jnp.max(state[1]) < 1000)

    def body(state):
        i, x = state
        return i + 1, f32((x / 2).astype(F8)) * (s + f32(i))
    return dot(lax.while_loop(more, body, (0, f32(x.astype(F8)) * s))[1], weight())


def expected_of_rounds(x, s):
    x = wide(x.astype(ml_dtypes.float8_e4m3fn)) * s
    for i in range(5):
        if x.max() < 1000:
            x = wide((x / 2).astype(ml_dtypes.float8_e4m3fn)) * (s + np.float32(i))
    return x @ (wide(np.asarray(W)) * WS)


def expected_of_a_cache(q, s, new, t, x):
    return x @ np.concatenate([wide(new[:3]) * t[:3, None], wide(q[3:]) * s[3:, None]]).T


LOOPS = {
    "a loop in a loop": (cached_in_two_loops, [codes((M, K)), scales(M), codes((M, K), seed=4), scales(M, seed=5), X[:2]], expected_of_a_cache,
                         "tensor<6x64xf8E4M3FN>, tensor<6x1xf32>"),
    "a branch in a loop": (cached_where_asked, [codes((M, K)), scales(M), codes((M, K), seed=4), scales(M, seed=5), X[:2]], expected_of_a_cache,
                           "tensor<6x64xf8E4M3FN>, tensor<6x1xf32>"),
    "a loop in a function": (jax.jit(lambda x, q, s: jax.jit(through_a_loop)(x, q, s)), [X, codes((K, K), seed=3), scales(())], expected_of_a_loop,
                             "tensor<64x64xf8E4M3FN>, tensor<1x1xf32>"),
    "carried as it is": (through_a_loop, [X, codes((K, K), seed=3), scales(())], expected_of_a_loop, "tensor<64x64xf8E4M3FN>, tensor<1x1xf32>"),
    "carried and written to": (cached, [codes((M, K)), scales(M), codes((M, K), seed=4), scales(M, seed=5), X[:2]], expected_of_a_cache,
                               "tensor<6x64xf8E4M3FN>, tensor<6x1xf32>"),
    "quantized in each round": (quantized_each_round, [X, np.float32(0.5)], expected_of_rounds, "tensor<6x64xf8E4M3FN>, tensor<1x1xf32>"),
}


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("form", LOOPS)
def test_loops_carry_codes_and_scales(tmp_path, form, backend):
    function, arguments, expected, carried = LOOPS[form]
    arguments, before, after, told = recovered(tmp_path, function, arguments)
    assert (told["narrow"], told["missed"]) == (1, 0), told
    types = next(line for line in after.read_text().splitlines() if "stablehlo.while" in line).partition(" : ")[2]
    assert types.endswith(carried), types
    for path in (before, after):
        np.testing.assert_array_equal(run(path, arguments, tmp_path, "--backend", backend), expected(*arguments))


LAYERS, LAYER_SCALES = codes((3, K, K), seed=3), scales(3)


def in_layers(x, weights):
    for w in weights:
        x = np.sign(x @ w)
    return x


def scanned(x, *layers, weight_of):
    return lax.scan(lambda x, layer: (jnp.sign(dot(x, weight_of(*layer))), None), x, layers)[0]


def buffer(q, s, x, start=0.0, shift=0.0, decode=f32):
    """Dequantized layers, written one by one into a buffer, then multiplied."""
    def write(i, b):
        w = decode(lax.dynamic_slice(q, (i, 0, 0), (1, K, K))) * s[i]
        return lax.dynamic_update_slice(b, w + shift if shift else w, (i, 0, 0))
    filled = lax.fori_loop(0, 2, write, jnp.full(q.shape, start, jnp.float32))
    return jnp.einsum("bmk,bkn->bmn", x, filled)


def short_blocks(q, s):
    return f32(q) * jnp.repeat(s, 32, -1)[..., :q.shape[-1]]


def stacked_by_a_scan(q, s, x):
    """Layers in blocks of which the last is short, as what a scan gives for each."""
    return jnp.einsum("bmk,bkn->bmn", x, lax.scan(lambda n, layer: (n, short_blocks(*layer)), 0, (q, s))[1])


def stacked_before_what_it_takes(q, s, x):
    """Likewise in a loop that carries the layers behind the buffer that it writes them into."""
    def write(carry):
        i, filled, layers = carry
        return i + 1, lax.dynamic_update_slice(filled, lax.dynamic_slice(layers, (i, 0, 0), (1, *q.shape[1:])), (i, 0, 0)), layers
    filled = lax.while_loop(lambda carry: carry[0] < 3, write, (0, jnp.zeros(q.shape), short_blocks(q, s)))[1]
    return jnp.einsum("bmk,bkn->bmn", x, filled)


def of_short_blocks(q, s, x):
    return x @ (wide(q) * np.repeat(s, 32, -1)[..., :q.shape[-1]])


def of_two_layers(x, w):
    return x @ np.where(np.arange(3)[:, None, None] < 2, w, 0)


def saturating(x):
    """Its derivative is 1 or 0, which keeps sums exact."""
    return jnp.clip(x, -3, 3)


def gradient(q, s, x):
    return jax.grad(lambda x: jnp.sum(lax.scan(lambda x, layer: (saturating(dot(x, f32(layer[0]) * layer[1]) / 64), None), x, (q, s))[0]))(x)


def expected_gradient(q, s, x):
    weights, slopes = wide(q) * s[:, None, None], []
    for w in weights:
        x = x @ w / 64
        slopes.append((np.abs(x) < 3) + 0.5 * (np.abs(x) == 3))
        x = np.clip(x, -3, 3)
    g = np.ones_like(x)
    for w, slope in zip(weights[::-1], slopes[::-1], strict=True):
        g = (g * slope / 64) @ w.T
    return g


TO_LOOPS = {  # the program, its arguments, its values, products of scaled tensors, what one multiplies
    "converted before the loop": (lambda q, s, x: scanned(x, f32(q), s, weight_of=lambda q, s: q * s), [LAYERS, LAYER_SCALES, X],
                                  lambda q, s, x: in_layers(x, wide(q) * s[:, None, None]), 1, "block [64, 64]"),
    "converted to bf16 before the loop": (lambda q, s, x: scanned(x, q.astype(jnp.bfloat16), s, weight_of=lambda q, s: f32(q) * s),
                                          [LAYERS, LAYER_SCALES, X], lambda q, s, x: in_layers(x, wide(q) * s[:, None, None]), 1, "block [64, 64]"),
    "scales repeated before the loop": (lambda q, s, x: (lambda w: lax.fori_loop(0, 3, lambda i, x: jnp.sign(dot(x, f32(q) * w)), x))(blockwise(s, q.shape)),
                                        [LAYERS[0], scales((K, 2)), X], lambda q, s, x: in_layers(x, 3 * [wide(q) * np.repeat(s, 32, 1)]), 1, "block [1, 32]"),
    "a row at a time": (lambda q, s: lax.map(lambda row: row * s @ weight(), f32(q)), [codes((M, K)), scales(())],
                        lambda q, s: (wide(q) * s) @ (wide(np.asarray(W)) * WS), 1, "block [64]"),
    "written into zeros": (buffer, [LAYERS, LAYER_SCALES, np.stack(3 * [X])], lambda q, s, x: of_two_layers(x, wide(q) * s[:, None, None]), 1,
                           "block [1, 64, 64]"),
    "written into zeros without scales": (lambda q, x: buffer(q, jnp.ones(3), x), [LAYERS, np.stack(3 * [X])],
                                          lambda q, x: of_two_layers(x, wide(q)), 1, "f8E4M3FN"),
    "cfloat8 written into zeros": (lambda q, s, x: buffer(q, s, x, decode=lambda q: cfloat8(q, 4, 3, 7)),
                                   [np.resize(CODES_1_4_3[0], (3, K, K)), LAYER_SCALES, np.stack(3 * [X])],
                                   lambda q, s, x: of_two_layers(x, np.resize(CODES_1_4_3[1], (3, K, K)) * s[:, None, None]), 1, "cfloat8_1_4_3 by f32, block [1, 64, 64]"),
    "short blocks stacked by a scan": (stacked_by_a_scan, [codes((3, K, 48), seed=3), scales((3, K, 2)), np.stack(3 * [X])], of_short_blocks, 1,
                                       "block [1, 1, 32]"),
    "written before what it takes": (stacked_before_what_it_takes, [codes((3, K, 33), seed=3), scales((3, K, 2)), np.stack(3 * [X])],
                                     of_short_blocks, 1, "block [1, 1, 32]"),
    "mxint8 of layers": (lambda q, s, x: scanned(x, f32(q) * 2.0**-6 * blockwise(f32(s), q.shape), weight_of=lambda w: w),
                         [np.resize(INT8, (3, K, K)), scales((3, K, 2), E8M0), X],
                         lambda q, s, x: in_layers(x, wide(q) / 64 * np.repeat(wide(s), 32, 2)), 1, "i8 by f8E8M0FNU, block [1, 32]"),
    "the gradient of a scan": (gradient, [LAYERS, LAYER_SCALES, X], expected_gradient, 2, "block [64, 64]"),
    "a scan of exponents": (lambda q, s, x: scanned(x, q, s, weight_of=lambda q, s: f32(q) * blockwise(shifted(s), (K, K))),
                            [LAYERS, exponents((3, K, 2)), X],
                            lambda q, s, x: in_layers(x, wide(q) * np.repeat(np.exp2(s.astype(np.float32) - 127), 32, 2)), 1, "f8E8M0FNU, block [1, 32]"),
}


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("form", TO_LOOPS)
def test_what_comes_to_loops_is_recovered(tmp_path, form, backend):
    function, arguments, expected, products, block = TO_LOOPS[form]
    arguments, before, after, told = recovered(tmp_path, function, arguments)
    assert (told["narrow"], told["missed"], told["wide"]) == (products, 0, 0), told
    assert any(block in side for dot in told["dots"] for side in (dot["lhs"], dot["rhs"])), told
    loop = next(line for line in after.read_text().splitlines() if "stablehlo.while" in line)
    assert not re.search("tensor<3x64x(33|48|64)x(f32|bf16)>", loop), loop
    for path in (before, after):
        np.testing.assert_array_equal(run(path, arguments, tmp_path, "--backend", backend), expected(*arguments))


@pytest.mark.parametrize("form, function", {
    "zeros and sums": lambda q, s, x: buffer(q, s, x, shift=1.0),
    "ones": lambda q, s, x: buffer(q, s, x, start=1.0),
    "negative zeros": lambda q, s, x: buffer(q, s, x, start=-0.0),
}.items())
def test_other_buffers_are_told(tmp_path, form, function):
    arguments, before, after, told = recovered(tmp_path, function, [LAYERS, LAYER_SCALES, np.stack(3 * [X])])
    assert (told["narrow"], told["missed"]) == (0, 1) and told["dots"][0]["obstacle"] == "stablehlo.while", told
    np.testing.assert_array_equal(run(after, arguments, tmp_path), run(before, arguments, tmp_path))
