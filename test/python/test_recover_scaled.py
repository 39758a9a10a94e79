"""octavo-recover-scaled and octavo explain on programs as JAX writes them: each form of a dequantization
becomes a product of scaled tensors with the same values."""
import json
import subprocess

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from commands import OCTAVO
from jax import lax
from scaled_programs import (BLOCK, CODES_1_4_3, CODES_1_5_2, E5M2, E8M0, F4, F8, INT8, K, M, N, PRODUCT, W, WS, X, block_scaled_dot, blockwise,
                             cfloat8, codes, conv, cycled, dot, expected_of_a_loop, explain, exponents, f32, layer, on_exponents, power, recovered,
                             run, scales, shifted, weight, wide)

pytestmark = pytest.mark.mlir


def among_zeros(rows):
    """A row of zeros between any two, one before and two behind."""
    result = np.zeros((2 * len(rows) + 2, K), np.float32)
    result[1:-2:2] = rows
    return result


# name: the program, its arguments, the values of its operands in NumPy
FORMS = {
    "scalar": (lambda q, s: dot(f32(q) * s, weight()), [codes((M, K)), scales(())], lambda q, s: q * s),
    "scale first": (lambda q, s: dot(s * f32(q), weight()), [codes((M, K)), scales(())], lambda q, s: q * s),
    "one element": (lambda q, s: dot(f32(q) * s, weight()), [codes((M, K)), scales((1, 1))], lambda q, s: q * s),
    "divide": (lambda q, s: dot(f32(q) / s, weight()), [codes((M, K)), scales(())], lambda q, s: q / s),
    "row": (lambda q, s: dot(f32(q) * s[:, None], weight()), [codes((M, K)), scales(M)], lambda q, s: q * s[:, None]),
    "row divided": (lambda q, s: dot(f32(q) / s[:, None], weight()), [codes((M, K)), scales(M)], lambda q, s: q / s[:, None]),
    "rows of one element": (lambda q, s: dot(f32(q) * s[:, None], weight()[:1]), [codes((M, 1)), scales(M)], lambda q, s: q * s[:, None]),
    "one row, along the contraction": (lambda q, s: dot(f32(q) * s, weight()), [codes((1, K)), scales((1, K))], lambda q, s: q * s),
    "along the contraction": (lambda q, s: dot(f32(q) * s, weight()), [codes((M, K)), scales(K)], lambda q, s: q * s),
    "convert after": (lambda q, s: dot((q.astype(jnp.bfloat16) * s.astype(jnp.bfloat16)).astype(jnp.float32), weight()),
                      [codes((M, K)), scales(())], lambda q, s: q * s),
    "bf16 dot": (lambda q, s: dot((f32(q) * s).astype(jnp.bfloat16), weight().astype(jnp.bfloat16)),
                 [codes((M, K)), scales(())], lambda q, s: q * s),
    "no scale": (lambda q: dot(f32(q), weight()), [codes((M, K), E5M2)], lambda q: q),
    "f8 dot": (lambda q: dot(q, W) * WS, [codes((M, K), E5M2)], lambda q: q),
    "block": (lambda q, s: dot(f32(q) * blockwise(s, q.shape), weight()), [codes((M, K)), scales((M, K // BLOCK))],
              lambda q, s: q * np.repeat(s, BLOCK, 1)),
    "block by repeat": (lambda q, s: dot(f32(q) * jnp.repeat(s, BLOCK, 1), weight()),
                        [codes((M, K)), scales((M, K // BLOCK))], lambda q, s: q * np.repeat(s, BLOCK, 1)),
    "block by reshape": (lambda q, s: dot((f32(q).reshape(M, K // BLOCK, BLOCK) * s[..., None]).reshape(M, K), weight()),
                         [codes((M, K)), scales((M, K // BLOCK))], lambda q, s: q * np.repeat(s, BLOCK, 1)),
    "e8m0": (lambda q, s: dot(f32(q) * blockwise(s, q.shape).astype(jnp.float32), weight()),
             [codes((M, K)), scales((M, K // BLOCK), E8M0)], lambda q, s: q * np.repeat(s, BLOCK, 1)),
    "e8m0 in u8": (lambda q, s: dot(f32(q) * blockwise(lax.bitcast_convert_type(s, E8M0), q.shape).astype(jnp.float32), weight()),
                   [codes((M, K)), scales((M, K // BLOCK), E8M0).view(np.uint8)],
                   lambda q, s: q * np.repeat(s.view(ml_dtypes.float8_e8m0fnu).astype(np.float32), BLOCK, 1)),
    "mxint8": (lambda q, s: dot(f32(q) * 2.0**-6 * blockwise(f32(s), q.shape), weight()), [INT8, scales((M, 2), E8M0)],
               lambda q, s: q / 64 * np.repeat(s, 32, 1)),
    "mxint8 by 64ths": (lambda q, s: dot((f32(q).reshape(M, 2, 32) / 64 * f32(s)[..., None]).reshape(M, K), weight()), [INT8, scales((M, 2), E8M0)],
                        lambda q, s: q / 64 * np.repeat(s, 32, 1)),
    "mxint8 by smaller scales": (lambda q, s: dot(blockwise(f32(s) * 2.0**-6, q.shape) * f32(q), weight()), [INT8, scales((M, 2), E8M0)],
                                 lambda q, s: q / 64 * np.repeat(s, 32, 1)),
    "mxint8, the 64ths last": (lambda q, s: dot((f32(q) * blockwise(f32(s), q.shape)) * 2.0**-6, weight()), [INT8, scales((M, 2), E8M0)],
                               lambda q, s: q / 64 * np.repeat(s, 32, 1)),
    "mxint8 in bf16, transposed": (lambda q, s: dot(f32((q.T.astype(jnp.bfloat16) * 2.0**-6).T * blockwise(s.astype(jnp.bfloat16), q.shape)).T, weight()[:M]),
                                   [INT8, scales((M, 2), E8M0)], lambda q, s: (q / 64 * np.repeat(s, 32, 1)).T),
    "mxint8 masked": (lambda q, s, m: dot(jnp.where(m[:, None], jnp.pad(f32(q) * 2.0**-6 * blockwise(f32(s), q.shape), ((0, 2), (0, 0))), 0), weight()),
                      [INT8, scales((M, 2), E8M0), np.arange(M + 2) % 3 == 0],
                      lambda q, s, m: np.where(m[:, None], np.pad(q / 64 * np.repeat(s, 32, 1), ((0, 2), (0, 0))), 0)),
    "integers of e8m0": (lambda q, s: dot((f32(q) * blockwise(f32(s), q.shape)).T, weight()[:M]), [INT8, scales((M, 2), E8M0)],
                         lambda q, s: (q * np.repeat(s, 32, 1)).T),
    "cfloat8 1_4_3": (lambda q, s: dot(cfloat8(q, 4, 3, 7) * f32(s), weight()), [cycled(CODES_1_4_3[0]), scales((), E8M0)],
                      lambda q, s: cycled(CODES_1_4_3[1]) * s),
    "cfloat8 1_5_2, negated and moved": (lambda q, s: dot((-cfloat8(q.reshape(K, M).T, 5, 2, 15)) * f32(s), weight()),
                                         [cycled(CODES_1_5_2[0]), scales((), E8M0)], lambda q, s: -cycled(CODES_1_5_2[1]).reshape(K, M).T * s),
    "e5m2 in u8 by shift": (lambda q, s: dot(f32(lax.bitcast_convert_type(q.astype(jnp.uint16) << 8, jnp.float16)) * s[:, None], weight()),
                            [codes((M, K), E5M2).view(np.uint8), scales(M)], lambda q, s: q.view(ml_dtypes.float8_e5m2).astype(np.float32) * s[:, None]),
    "a short last block": (lambda q, s: dot(f32(q) * jnp.repeat(f32(s), 24, 1)[:, :K], weight()), [codes((M, K)), scales((M, 3), E8M0)],
                           lambda q, s: q * np.repeat(s, 24, 1)[:, :K]),
    "short last blocks of tiles": (lambda q, s: dot(f32(q) * jnp.repeat(jnp.repeat(s, 4, 0)[:M], 48, 1)[:, :K], weight()), [codes((M, K)), scales((2, 2))],
                                   lambda q, s: q * np.repeat(np.repeat(s, 4, 0)[:M], 48, 1)[:, :K]),
    "a block cut at its end": (lambda q, s: dot((f32(q) * blockwise(s, q.shape))[:, :40], weight()[:40]), [codes((M, K)), scales((M, 2))],
                               lambda q, s: (q * np.repeat(s, 32, 1))[:, :40]),
    "nvfp4": (lambda q, s, g: dot(f32(q) * blockwise(f32(s), q.shape) * g, weight()),
              [codes((M, K), F4), scales((M, K // 16), F8), np.float32(0.25)],
              lambda q, s, g: q * np.repeat(s, 16, 1) * g),
    "nvfp4, scales first": (lambda q, s, g: dot(f32(q) * (blockwise(f32(s), q.shape)) * g, weight()),
                            [codes((M, K), F4), scales((M, K // 16), F8), np.float32(0.25)],
                            lambda q, s, g: q * np.repeat(s, 16, 1) * g),
    "two f32 levels": (lambda q, s, g: dot(f32(q) * s[:, None] * g, weight()), [codes((M, K)), scales(M), np.float32(2)],
                       lambda q, s, g: q * s[:, None] * g),
    "tiles": (lambda q, s: dot(f32(q) * jnp.repeat(jnp.repeat(s, 3, 0), 16, 1), weight()),
              [codes((M, K)), scales((M // 3, K // 16))], lambda q, s: q * np.repeat(np.repeat(s, 3, 0), 16, 1)),
    "transpose": (lambda q, s: dot((f32(q) * s).T, weight()), [codes((K, M)), scales(M)], lambda q, s: (q * s).T),
    "batched": (lambda q, s, w: jnp.einsum("bmk,bkn->bmn", f32(q) * s[:, :, None], f32(w) * WS),
                [codes((3, M, K)), scales((3, M)), codes((3, K, N), seed=4)], None),
    "heads": (lambda q, s: dot((f32(q) * s).reshape(M, 4, 16).transpose(1, 0, 2), weight()[:16]),
              [codes((M, K)), scales(())], lambda q, s: (q * s).reshape(M, 4, 16).transpose(1, 0, 2)),
    "slice": (lambda q, s: dot((f32(q) * s[:, None])[2:5], weight()), [codes((M, K)), scales(M)],
              lambda q, s: (q * s[:, None])[2:5]),
    "slice of blocks": (lambda q, s: dot((f32(q) * blockwise(s, q.shape))[:, 32:], weight()[32:]),
                        [codes((M, K)), scales((M, 2))], lambda q, s: (q * np.repeat(s, 32, 1))[:, 32:]),
    "dynamic slice": (lambda q, s, i: dot(lax.dynamic_slice(f32(q) * s[:, None], (i, 0), (2, K)), weight()),
                      [codes((M, K)), scales(M), np.int32(3)], lambda q, s, i: (q * s[:, None])[3:5]),
    "barrier": (lambda q, s: dot(lax.optimization_barrier(f32(q) * s), weight()), [codes((M, K)), scales(())],
                lambda q, s: q * s),
    "barrier of both sides": (lambda q, s, x: (lambda q, x: dot(f32(q) * s, x + x))(*lax.optimization_barrier((q, x))),
                              [codes((M, K)), scales(()), codes((K, N), seed=1).astype(np.float32) / 4], lambda q, s, x: q * s),
    "padded": (lambda q, s: dot(jnp.pad(f32(q) * s, ((0, 2), (0, 0))), weight()), [codes((M, K)), scales(())],
               lambda q, s: np.pad(q * s, ((0, 2), (0, 0)))),
    "padded rows": (lambda q, s: dot(lax.pad(f32(q) * s[:, None], jnp.float32(0), ((1, 2, 1), (0, 0, 0))), weight()), [codes((M, K)), scales(M)],
                    lambda q, s: among_zeros(q * s[:, None])),
    "padded blocks": (lambda q, s: dot(jnp.pad(f32(q) * jnp.repeat(f32(s), 3, 0), ((3, 3), (0, 0))), weight()), [codes((M, K)), scales((2, K), E8M0)],
                      lambda q, s: np.pad(q * np.repeat(s, 3, 0), ((3, 3), (0, 0)))),
    "masked": (lambda q, s, m: dot(jnp.where(m[:, None], f32(q) * s, 0), weight()),
               [codes((M, K)), scales(()), np.arange(M) % 2 == 0], lambda q, s, m: np.where(m[:, None], q * s, 0)),
    "joined": (lambda q, r, s: dot(jnp.concatenate([f32(q) * s, f32(r) * s]), weight()),
               [codes((M, K)), codes((2, K), seed=5), scales(())], lambda q, r, s: np.concatenate([q, r]) * s),
    "joined rows": (lambda q, r, s, t: dot(jnp.concatenate([f32(q) * s[:, None], f32(r) * t[:, None]]), weight()),
                    [codes((M, K)), codes((2, K), seed=5), scales(M), scales(2, seed=6)],
                    lambda q, r, s, t: np.concatenate([q * s[:, None], r * t[:, None]])),
    "fake": (lambda x: dot(f32(x.astype(F8)), weight()), [np.arange(M * K, dtype=np.float32).reshape(M, K) % 7], lambda x: x),
    "jit in jit": (lambda q, s: dot(jax.jit(lambda q, s: f32(q) * s)(q, s), weight()), [codes((M, K)), scales(())],
                   lambda q, s: q * s),
    "composite": (lambda q, s: dot(lax.composite(lambda q, s: f32(q) * s, name="my.dequantize")(q, s), weight()),
                  [codes((M, K)), scales(())], lambda q, s: q * s),
    "rows by index": (lambda q, s, i: dot((f32(q) * s[:, None])[i], weight()),
                      [codes((M, K)), scales(M), np.array([4, 0, 0, 5, -1], np.int32)], lambda q, s, i: (q * s[:, None])[i]),
    "rows of one scale": (lambda q, s, i: dot((f32(q) * s)[i], weight()),
                          [codes((M, K)), scales(()), np.array([4, 0, 0], np.int32)], lambda q, s, i: (q * s)[i]),
    "rows of blocks": (lambda q, s, i: dot(jnp.take(f32(q) * blockwise(s, q.shape), i, axis=0, mode="clip"), weight()),
                       [codes((M, K)), scales((M, 2)), np.array([1, 5, 3], np.int32)],
                       lambda q, s, i: (q * np.repeat(s, 32, 1))[i]),
    "rows or NaN": (lambda q, s, i: dot(jnp.take(f32(q) * s[:, None], i, axis=0), weight()),
                    [codes((M, K)), scales(M), np.array([1, 9, 3], np.int32)],
                    lambda q, s, i: np.where((i < M)[:, None], (q * s[:, None])[i % M], np.nan)),
    "rows of each batch": (lambda q, s, i: jnp.einsum("bmk,kn->bmn", jnp.take_along_axis(f32(q) * s[:, :, None], i[:, :, None], 1, mode="clip"), weight()),
                           [codes((3, M, K)), scales((3, M)), np.array([[1, 0], [5, 5], [2, 4]], np.int32)],
                           lambda q, s, i: np.take_along_axis(q * s[:, :, None], i[:, :, None], 1)),
    "masked with the number first": (lambda q, s, m: dot(jnp.where(m[:, None], 0, f32(q) * s), weight()),
                                     [codes((M, K)), scales(()), np.arange(M) % 2 == 0],
                                     lambda q, s, m: np.where(m[:, None], 0, q * s)),
    "e8m0 by shift": (lambda q, s: dot(f32(q) * blockwise(lax.bitcast_convert_type(s.astype(jnp.uint32) << 23, jnp.float32), q.shape), weight()),
                      [codes((M, K)), exponents((M, 2))], lambda q, s: q * np.repeat(power(s), 32, 1)),
    "e8m0 by shift, in bf16": (lambda q, s: dot(f32(q) * blockwise(f32(lax.bitcast_convert_type(s.astype(jnp.uint16) << 7, jnp.bfloat16)), q.shape), weight()),
                               [codes((M, K)), exponents((M, 2))], lambda q, s: q * np.repeat(power(s), 32, 1)),
    "e8m0 by ldexp": (lambda q, s: dot(f32(q) * blockwise(jnp.ldexp(jnp.float32(1), s.astype(jnp.int32) - 127), q.shape), weight()),
                      [codes((M, K)), exponents((M, 2))], lambda q, s: q * np.repeat(power(s), 32, 1)),
    "e8m0 by power": (lambda q, s: dot(f32(q) * jnp.repeat(jnp.float32(2) ** (f32(s) - 127), 32, 1), weight()),
                      [codes((M, K)), exponents((M, 2))], lambda q, s: q * np.repeat(power(s), 32, 1)),
    "e8m0 by torchao's shift": (lambda q, s: dot((f32(q).reshape(M, 2, 32) * jnp.where(s == 255, jnp.nan, jnp.where(s == 0, jnp.float32(2.0**-127),
                                lax.bitcast_convert_type(s.astype(jnp.uint32) << 23, jnp.float32)))[..., None]).reshape(M, K), weight()),
                                [codes((M, K)), exponents((M, 2))], lambda q, s: q * np.repeat(power(s), 32, 1)),
    "e8m0 divided": (lambda q, s: dot(f32(q) / blockwise(f32(s), q.shape), weight()), [codes((M, K)), scales((M, 2), E8M0)],
                     lambda q, s: q / np.repeat(s, 32, 1)),
    "e8m0 times its reciprocal": (lambda q, s: dot(f32(q) * blockwise(1 / f32(s), q.shape), weight()), [codes((M, K)), scales((M, 2), E8M0)],
                                  lambda q, s: q / np.repeat(s, 32, 1)),
    "e8m0 by shift, divided": (lambda q, s: dot(f32(q) / blockwise(shifted(s), q.shape), weight()), [codes((M, K)), exponents((M, 2))],
                               lambda q, s: q / np.repeat(power(s), 32, 1)),
    "e8m0 by shift of 254 - code": (lambda q, s: dot(f32(q) * blockwise(shifted(254 - s), q.shape), weight()), [codes((M, K)), exponents((M, 2))],
                                    lambda q, s: q / np.repeat(power(s), 32, 1)),
    "e8m0 by shift, after the repeat": (lambda q, s: dot(f32(q) * shifted(jnp.repeat(s, 32, 1)), weight()), [codes((M, K)), exponents((M, 2))],
                                        lambda q, s: q * np.repeat(power(s), 32, 1)),
    "codes by ldexp": (lambda q, s: dot(jnp.ldexp(f32(q), blockwise(s.astype(jnp.int32) - 127, q.shape)), weight()), [codes((M, K)), exponents((M, 2))],
                       lambda q, s: q * np.repeat(power(s), 32, 1)),
    "codes by ldexp of a row": (lambda q, s: dot(jnp.ldexp(f32(q), 127 - s.astype(jnp.int32)[:, None]), weight()), [codes((M, K), F4), exponents(M)],
                                lambda q, s: q / power(s)[:, None]),
    "added to exponents": (lambda q, s: dot(on_exponents(f32(q), (s.astype(jnp.int32) - 127)[:, None]), weight()), [codes((M, K), E5M2), exponents(M)],
                           lambda q, s: q * power(s)[:, None]),
    "negated": (lambda q, s: dot(-f32(q) * s[:, None], weight()), [codes((M, K)), scales(M)], lambda q, s: -q * s[:, None]),
    "negated after the scale": (lambda q, s: dot(-(f32(q) * f32(s)[:, None]), weight()), [codes((M, K), F4), scales(M, E8M0)], lambda q, s: -q * s[:, None]),
    "flipped": (lambda q, s: dot(jnp.flip(f32(q) * s[:, None], 0), weight()), [codes((M, K)), scales(M)], lambda q, s: (q * s[:, None])[::-1]),
    "flipped blocks": (lambda q, s: dot(jnp.flip(f32(q) * blockwise(s, q.shape), 1), weight()), [codes((M, K)), scales((M, 2))],
                       lambda q, s: (q * np.repeat(s, 32, 1))[:, ::-1]),
    "chosen": (lambda q, r, s, t, i: dot(lax.cond(i > 0, lambda: f32(q) * s[:, None], lambda: f32(r) * t[:, None]), weight()),
               [codes((M, K)), codes((M, K), seed=5), scales(M), scales(M, seed=6), np.int32(0)],
               lambda q, r, s, t, i: r * t[:, None]),
    "chosen among three": (lambda q, r, s, i: dot(lax.switch(i, [lambda: f32(q) * s[:, None], lambda: f32(r) / s[:, None], lambda: f32(r) * 2 * s[:, None]]), weight()),
                           [codes((M, K)), codes((M, K), seed=5), scales(M), np.int32(2)], lambda q, r, s, i: r * 2 * s[:, None]),
}
SCALED_DOT = {
    "lax.scaled_dot": (lambda a, b, s, t: lax.scaled_dot(a, b, lhs_scale=s, rhs_scale=t, preferred_element_type=jnp.float32),
                       [codes((M, K)), W, scales((M, 2), E8M0), scales((2, N), E8M0, 3)],
                       lambda a, b, s, t: (a * np.repeat(s, 32, 1)) @ (b * np.repeat(t, 32, 0))),
    "lax.scaled_dot, one side": (lambda a, b, s: lax.scaled_dot(a, b, lhs_scale=s, preferred_element_type=jnp.float32),
                                 [codes((M, K)), f32(W).astype(jnp.bfloat16), scales((M, 2), E8M0)],
                                 lambda a, b, s: (a * np.repeat(s, 32, 1)) @ b),
}


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("form", FORMS | SCALED_DOT)
def test_forms_become_products_of_scaled_tensors(tmp_path, form, backend):
    function, arguments, values = (FORMS | SCALED_DOT)[form]
    arguments, before, after, told = recovered(tmp_path, function, arguments)
    assert (told["narrow"], told["missed"], told["wide"]) == (1, 0, 0), told
    assert told["narrow_share"] == 1 and "octavo.dot_general" in after.read_text()
    assert "stablehlo.dot_general" not in after.read_text().split("func.func private")[0]
    if form in SCALED_DOT:
        expected = values(*map(wide, arguments))
    elif values is None:
        q, s, w = map(wide, arguments)
        expected = (q * s[:, :, None]) @ (w * WS)
    else:
        operand = values(*map(wide, arguments))
        other = (wide(np.asarray(W)) * WS)
        expected = operand @ (other[:operand.shape[-1]] if form != "slice of blocks" else other[32:])
    if form.startswith("e8m0"):
        assert told["dots"][0]["lhs"] == "f8E4M3FN by f8E8M0FNU, block [1, 32]"
    for path in (before, after):
        np.testing.assert_array_equal(run(path, arguments, tmp_path, "--backend", backend), expected)


def conv_numpy(x, w, stride=1, low=0, high=0):
    x = np.pad(x, ((0, 0), (low, high), (low, high), (0, 0)))
    rows, columns = ((n - k) // stride + 1 for n, k in zip(x.shape[1:3], w.shape[:2], strict=True))
    return sum(x[:, i:i + stride * rows:stride, j:j + stride * columns:stride] @ w[i, j]
               for i in range(w.shape[0]) for j in range(w.shape[1]))


def grouped(x, w, groups, **more):
    """Of features."""
    return np.concatenate([conv_numpy(a, b, **more) for a, b in zip(np.split(x, groups, 3), np.split(w, groups, 3), strict=True)], 3)


def of_batches(x, w, groups, **more):
    return np.concatenate([conv_numpy(a, b, **more) for a, b in zip(np.split(x, groups), np.split(w, groups, 3), strict=True)], 3)


IMAGE, WINDOW = codes((2, 8, 8, 32)), codes((3, 3, 32, 6), seed=2)
CONVOLUTIONS = {
    "convolution": (lambda q, w, s: conv(f32(q) * s, f32(w) * 0.5), [IMAGE, WINDOW, scales(())],
                    lambda q, w, s: conv_numpy(q * s, w * 0.5, low=1, high=1), "block [2, 8, 8, 288]"),
    "convolution with strides": (lambda q, w, s, t: conv(f32(q) * s[:, None, None, None], f32(w) * t, (2, 2), "VALID"),
                                 [IMAGE, WINDOW, scales(2), scales(6, seed=4)],
                                 lambda q, w, s, t: conv_numpy(q * s[:, None, None, None], w * t, 2), "block [1, 3, 3, 288]"),
    "convolution of blocks": (lambda q, w, s, t: conv(f32(q), f32(w) * jnp.repeat(f32(t), 16, 2)) * s,
                              [IMAGE, WINDOW, np.float32(2), scales((3, 3, 2, 6), E8M0)],
                              lambda q, w, s, t: conv_numpy(q, w * np.repeat(t, 16, 2), low=1, high=1) * s, "block [2, 8, 8, 288]"),
    "convolution by 1x1": (lambda q, w, s: conv(f32(q) * jnp.repeat(f32(s), 16, 3), f32(w[:1, :1])),
                           [IMAGE, WINDOW, scales((2, 8, 8, 2), E8M0)],
                           lambda q, w, s: conv_numpy(q * np.repeat(s, 16, 3), w[:1, :1]), "block [1, 1, 1, 16]"),
    "convolution in groups": (lambda q, w, s, t: conv(f32(q) * s, f32(w) * t, (2, 1), "VALID", feature_group_count=4),
                              [IMAGE, codes((3, 3, 8, 20), seed=2), scales(()), scales(20, seed=4)],
                              lambda q, w, s, t: grouped(q * s, w * t, 4)[:, ::2], "block [2, 3, 6, 9, 4, 8]"),
    "depthwise convolution": (lambda q, w, s: conv(f32(q) * s[:, None, None, None], f32(w), feature_group_count=32),
                              [IMAGE, codes((3, 3, 1, 32), seed=2), scales(2)],
                              lambda q, w, s: grouped(q * s[:, None, None, None], w, 32, low=1, high=1), "block [1, 8, 8, 9, 32, 1]"),
    "convolution of a scale a group": (lambda q, w, s, t: conv(f32(q) * jnp.repeat(s, 8), f32(w) * jnp.repeat(t, 5), (1, 1), "VALID", feature_group_count=4),
                                       [IMAGE[..., :32], codes((1, 1, 8, 20), seed=2), scales(4), scales(4, seed=4)],
                                       lambda q, w, s, t: grouped(q * np.repeat(s, 8), w * np.repeat(t, 5), 4), "block [2, 8, 8, 1, 1, 8]"),
    "convolution of groups of images": (lambda q, w, s, t: conv(f32(q) * s[:, None, None, None], f32(w) * t, batch_group_count=2),
                                        [codes((4, 6, 6, 8)), codes((3, 3, 8, 10), seed=2), scales(4), scales(10, seed=4)],
                                        lambda q, w, s, t: of_batches(q * s[:, None, None, None], w * t, 2, low=1, high=1), "block [1, 1, 6, 6, 72]"),
    "convolution of a flipped kernel": (lambda q, w, s: conv(f32(q) * s, jnp.flip(f32(w) * 0.5, (0, 1)), (1, 1), "VALID"), [IMAGE, WINDOW, scales(())],
                                        lambda q, w, s: conv_numpy(q * s, w[::-1, ::-1] * 0.5), "block [2, 6, 6, 288]"),
    "convolution side by side": (lambda q, w, s, t: conv(f32(q) * jnp.repeat(f32(s), 16, 3), f32(w) * t, (2, 2), "VALID"),
                                 [IMAGE, codes((2, 2, 32, 6), seed=2), scales((2, 8, 8, 2), E8M0), scales(6, seed=4)],
                                 lambda q, w, s, t: conv_numpy(q * np.repeat(s, 16, 3), w * t, 2), "block [1, 1, 1, 16]"),
    "convolution by an image": (lambda q, w, s, t: conv(f32(q) * s[:, None, None, None], f32(w) * t, (1, 1), "VALID"),
                                [IMAGE, codes((7, 6, 32, 6), seed=2), scales(2), scales(6, seed=4)],
                                lambda q, w, s, t: conv_numpy(q * s[:, None, None, None], w * t), "block [1, 2, 3, 1344]"),
}


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("form", CONVOLUTIONS)
def test_convolutions_become_products_of_patches(tmp_path, form, backend):
    function, arguments, expected, block = CONVOLUTIONS[form]
    arguments, before, after, told = recovered(tmp_path, function, arguments)
    assert (told["narrow"], told["missed"]) == (1, 0) and block in told["dots"][0]["lhs"], told
    assert "octavo.dot_general" in after.read_text() and "stablehlo.convolution" not in after.read_text()
    for path in (before, after):
        np.testing.assert_array_equal(run(path, arguments, tmp_path, "--backend", backend), expected(*map(wide, arguments)))


CALLS = {  # the program, its arguments, its values, products of scaled tensors
    "codes and scales of the caller": (lambda q, s, x: jax.jit(layer)(x, f32(q) * s), [codes((K, K)), scales(K), X], lambda q, s, x: np.tanh(x @ (q * s)), 1),
    "one function, two formats": (lambda q, r, s, x: jax.jit(layer)(jax.jit(layer)(x, f32(q) * s), f32(r) * s),
                                  [codes((K, K)), codes((K, K), F4), scales(()) / 8, X / 8],
                                  lambda q, r, s, x: np.tanh(np.tanh(x @ (q * s)) @ (r * s)), 2),
    "a broadcast scale": (lambda q, s, x: jax.jit(lambda x, q, s: dot(x, f32(q) * s))(x, q, jnp.broadcast_to(s, q.shape)), [codes((K, K)), scales(K), X],
                          lambda q, s, x: x @ (q * s), 1),
    "a function of scales": (lambda q, s, x: dot(x, f32(q) * jax.jit(lambda s: shifted(s)[:, None])(s)), [codes((K, K)), exponents(K), X],
                             lambda q, s, x: x @ (q * power(s)[:, None]), 1),
    "ldexp": (lambda q, s, x: dot(x, jnp.ldexp(f32(q), s.astype(jnp.int32)[:, None] - 127)), [codes((K, K)), exponents(K), X],
              lambda q, s, x: x @ (q * power(s)[:, None]), 1),
    "three deep": (lambda q, s, x: jax.jit(lambda x, q: jax.jit(layer)(x, jax.jit(lambda q: f32(q) * s)(q)))(x, q), [codes((K, K)), scales(K), X],
                   lambda q, s, x: np.tanh(x @ (q * s)), 1),
    "a composite": (lambda q, s, x: dot(x, lax.composite(lambda q, s: f32(q) * s, name="my.dequantize")(q, s)), [codes((K, K)), scales(K), X],
                    lambda q, s, x: x @ (q * s), 1),
    "a composite with the dot": (lambda q, s, x: lax.composite(lambda x, w: dot(x, w), name="my.linear")(x, f32(q) * s), [codes((K, K)), scales(K), X],
                                 lambda q, s, x: x @ (q * s), 1),
    "in a loop": (lambda q, s, x: lax.fori_loop(0, 3, lambda i, x: jnp.sign(jax.jit(dot)(x, f32(q) * s)), x), [codes((K, K)), scales(()), X],
                  lambda q, s, x: expected_of_a_loop(x, q, s), 1),
}


@pytest.mark.parametrize("form", CALLS)
def test_the_pass_opens_calls(tmp_path, form):
    """By itself, without an inliner before it."""
    function, arguments, values, products = CALLS[form]
    arguments = [np.asarray(each) for each in arguments]
    before, after = tmp_path / "before.mlir", tmp_path / "after.mlir"
    before.write_text(jax.jit(function).lower(*arguments).as_text())
    assert "call" in before.read_text() or "composite" in before.read_text()
    told = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-recover-scaled=fail-on-missed", before, "-o", after], capture_output=True, text=True)
    assert told.returncode == 0 and told.stderr.count(" multiplies f") == products, told.stderr
    text = after.read_text()
    assert text.count("octavo.dot_general") == products and "stablehlo.dot_general" not in text
    expected = values(*map(wide, arguments))
    for path in (before, after):
        for backend in ("reference", "compiled"):
            np.testing.assert_allclose(run(path, arguments, tmp_path, "--backend", backend), expected, rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize("backend", ["reference", "compiled"])
def test_dot_is_a_dot(tmp_path, backend):
    before, after = tmp_path / "before.mlir", tmp_path / "after.mlir"
    before.write_text(PRODUCT.format("stablehlo.dot %2, %x"))
    told = json.loads(explain(before, "--json", "-o", after).stdout)
    assert told["narrow"] == 1 and told["dots"][0]["lhs"] == "f8E4M3FN by f32, block [1, 64]" and told["dots"][0]["multiply_adds"] == 6 * 64 * 10
    assert "octavo.dot_general" in after.read_text() and "stablehlo.dot " not in after.read_text()
    q, s, x = (np.asarray(each) for each in (codes((M, K)), scales(M), wide(codes((K, N), seed=2))))
    for path in (before, after):
        np.testing.assert_array_equal(run(path, [q, s, x], tmp_path, "--backend", backend), (wide(q) * s[:, None]) @ x)


def test_one_scale_of_two_tensors(tmp_path):
    def function(q, r, s):
        return dot(f32(q) * s, f32(r) * s)
    arguments, before, after, told = recovered(tmp_path, function, [codes((M, K)), codes((K, N), seed=7), scales(())])
    assert told["narrow"] == 1 and told["dots"][0]["rhs"] == "f8E4M3FN by f32, block [64, 10]"
    q, r, s = map(wide, arguments)
    for path in (before, after):
        np.testing.assert_array_equal(run(path, arguments, tmp_path), (q * s) @ (r * s))


@pytest.mark.parametrize("scale", [0.0, -0.5, np.nan, np.inf, 2.0**-140])
def test_scales_that_are_no_ordinary_numbers(tmp_path, scale):
    """Of a product with a plain side the values are those of the program: it is dequantized (I13)."""
    def function(q, s, x):
        return dot(f32(q) * s, x)
    x = np.asarray(wide(codes((K, N), seed=7)))
    arguments, before, after, told = recovered(tmp_path, function, [codes((M, K)), np.float32(scale), x])
    assert told["narrow"] == 1
    with np.errstate(all="ignore"):
        expected = (wide(arguments[0]) * np.float32(scale)) @ x
    for path in (before, after):
        np.testing.assert_array_equal(run(path, arguments, tmp_path, "--backend", "reference"), expected)


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("types", [("1xf32", "f32"), ("f32", "bf16"), ("1x1xf32", "bf16")])
def test_a_global_scale_is_one_number_of_any_shape(tmp_path, types, backend):
    before, after = tmp_path / "before.mlir", tmp_path / "after.mlir"
    text = block_scaled_dot(2, "").replace("tensor<f32>", f"tensor<{types[0]}>").replace("tensor<6x10xf32>", f"tensor<6x10x{types[1]}>")
    before.write_text(text)
    assert json.loads(explain(before, "--json", "-o", after).stdout)["narrow"] == 1
    shape = (1,) * types[0].count("x")
    arguments = [np.asarray(each) for each in (codes((6, K)), codes((10, K), seed=2), scales((8, 2), E8M0), scales((16, 2), E8M0, 3), np.full(shape, 0.25, np.float32))]
    outputs = [run(path, arguments, tmp_path, "--backend", backend).view(np.uint8) for path in (before, after)]
    np.testing.assert_array_equal(*outputs)


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("turned", [False, True])
def test_one_side_is_recovered_where_the_other_is_not(tmp_path, turned, backend):
    """As rows of an FP8 table that something is added to, by weights."""
    def function(q, x, w, s):
        sides = f32(q) + x, f32(w) * s
        return dot(sides[1].T, sides[0].T) if turned else dot(*sides)
    arguments = [codes((M, K)), X, codes((K, N), seed=3), scales(N)]
    arguments, before, after, told = recovered(tmp_path, function, arguments)
    assert (told["narrow"], told["one_sided"], told["missed"], told["narrow_share"]) == (1, 1, 0, 1), told
    assert told["dots"][0]["is"] == "one-sided" and told["dots"][0]["obstacle"] == "stablehlo.add", told
    assert told["missed_by_reason"] == [{"reason": "stablehlo.add stands between the scale and the dot", "dots": 1, "is": "one-sided"}]
    assert "stablehlo.dot_general" not in after.read_text()
    assert "1 of 1 dots narrow, 0 missed, 1 of the narrow ones on one side" in explain(before).stdout
    assert "1 of 1 dots look narrow" in explain(before, "--fail-on-missed", code=1).stderr
    q, x, w, s = map(wide, arguments)
    expected = (q + x) @ (w * s)
    for path in (before, after):
        np.testing.assert_array_equal(run(path, arguments, tmp_path, "--backend", backend), expected.T if turned else expected)


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("blocks, config", [
    (4, '{"block_scaled_dot_backend_config": {"block_size": 32}}'),
    (2, '{"scaled_dot_backend_config": {"lhs_batch_dimensions": [], "rhs_batch_dimensions": [], "dequantize_type": "F32"}}'),
    (2, ""),
])
def test_padded_scales(tmp_path, blocks, config, backend):
    before, after = tmp_path / "before.mlir", tmp_path / "after.mlir"
    before.write_text(block_scaled_dot(blocks, config))
    told = json.loads(explain(before, "--json", "-o", after).stdout)
    assert told["narrow"] == 1 and told["dots"][0]["rhs"] == "f8E4M3FN by f8E8M0FNU, block [1, 32]", told
    assert "custom_call" not in after.read_text()
    arguments = [codes((6, K)), codes((10, K), seed=2), scales((8, blocks), E8M0), scales((16, blocks), E8M0, 3), np.float32(0.25)]
    arguments = [np.asarray(each) for each in arguments]
    a, b, s, t, g = map(wide, arguments)
    expected = (a * np.repeat(s[:6, :2], 32, 1)) @ (b * np.repeat(t[:10, :2], 32, 1)).T * g
    for path in (before, after):
        np.testing.assert_array_equal(run(path, arguments, tmp_path, "--backend", backend), expected)
