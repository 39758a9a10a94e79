"""Odd programs through octavo-recover-scaled and octavo-fuse-scaled-dots: what comes out of them has the values
that JAX computes, on both backends, and every dot of codes is narrow or told.

Values are small integers times powers of two: sums are exact in any order."""
import json
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from commands import OCTAVO
from jax import lax
from scaled_programs import E5M2, E8M0, F4, F8, M, K, N, X, blockwise, codes, conv, dot, explain, exponents, f32, scales, shifted, weight

pytestmark = pytest.mark.mlir

Q, S, R = codes((M, K)), scales(M), codes((K, N), seed=5)


def twice(q, s):
    w = f32(q) * s[:, None]
    return dot(w, weight()) + 2 * dot(w, f32(R))


def with_values(q, s):
    w = f32(q) * s[:, None]
    return dot(w, weight()), w, jnp.sum(w, 0)


def fake_and_kept(x):
    q = x.astype(F8)
    return dot(f32(q), weight()), q, f32(q)


def two_caches(q, r, s, t):
    def step(i, state):
        a, b = state
        row = f32(lax.dynamic_slice(r, (i, 0), (1, K))) * lax.dynamic_slice(t, (i,), (1,))
        return lax.dynamic_update_slice(a, row, (i, 0)), lax.dynamic_update_slice(b, row, (M - 1 - i, 0))
    a, b = lax.fori_loop(0, 2, step, (f32(q) * s[:, None], f32(r) * t[:, None]))
    return dot(a, weight()) + dot(b, weight())


def branch_in_function_in_loop(q, s, x):
    @jax.jit
    def layer(i, x):
        return lax.cond(i % 2 == 0, lambda: dot(x, f32(q) * s), lambda: dot(x, f32(q)))
    return lax.fori_loop(0, 3, lambda i, x: jnp.sign(layer(i, x)), x)


def epilogue(q, s, b):
    y = dot(f32(q) * s[:, None], weight())
    z = jnp.maximum(y.T + b[:, None], 0)
    return z, jnp.max(jnp.abs(z)), jnp.clip(z * 0.5, -448, 448).astype(F8)


def batched_epilogue(q, r, s, t, b):
    y = jnp.einsum("bmk,bnk->bmn", f32(q) * s[:, :, None], f32(r) * t[:, :, None])
    return jnp.maximum(y * 0.25 + b, 0).astype(jnp.bfloat16)


ODD = {
    "vectors": (lambda q, r, s: jnp.dot(f32(q) * s, f32(r)), [codes(K), codes(K, seed=2), scales(())]),
    "a vector by a matrix": (lambda q, s: (f32(q) * s) @ weight(), [codes(K), scales(K)]),
    "one by one": (lambda q, s: dot(f32(q) * s, f32(q) * s), [codes((1, 1)), scales((1, 1))]),
    "no rows": (lambda q, s: dot(f32(q) * s, weight()), [codes((0, K)), scales(())]),
    "no rows, a scale each": (lambda q, s: dot(f32(q) * s[:, None], weight()), [codes((0, K)), scales(0)]),
    "nothing to sum": (lambda q, s: dot(f32(q) * s, f32(jnp.zeros((0, N), F8))), [codes((M, 0)), scales(())]),
    "no columns": (lambda q, s: dot(f32(q) * s[:, None], jnp.zeros((K, 0))), [Q, S]),
    "an empty batch": (lambda q, s: jnp.einsum("bmk,kn->bmn", f32(q) * s[:, None, None], weight()), [codes((0, M, K)), scales(0)]),
    "a scale of rank 3": (lambda q, s: dot((f32(q)[None] * s)[0], weight()), [Q, scales((1, 1, 1))]),
    "used twice": (twice, [Q, S]),
    "returned, too": (with_values, [Q, S]),
    "fake quantization, returned": (fake_and_kept, [X]),
    "two scales of one tensor": (lambda q, s: dot(f32(q) * s[:, None], weight()) + dot(f32(q) * 2, weight()), [Q, S]),
    "by itself": (lambda q, s: (f32(q) * s[:, None]) @ (f32(q) * s[:, None]).T, [Q, S]),
    "one scale for both and the result": (lambda q, r, s: dot(f32(q) * s, f32(r) * s) * s + s, [Q, R, scales(())]),
    "a dot that nobody uses": (lambda q, s: (dot(f32(q) * s[:, None], weight()), jnp.sum(f32(q) * s[:, None]))[1], [Q, S]),
    "two batches": (lambda q, r, s: jnp.einsum("abmk,abnk->abmn", f32(q) * s[..., None], f32(r)), [codes((2, 3, M, 16)), codes((2, 3, 4, 16), seed=2), scales((2, 3, M))]),
    "two axes summed": (lambda q, r, s: jnp.einsum("mij,ijn->mn", f32(q) * s[:, None, None], f32(r)), [codes((M, 4, 16)), codes((4, 16, N), seed=2), scales(M)]),
    "no axis summed": (lambda q, r, s: jnp.einsum("m,n->mn", f32(q) * s, f32(r)), [codes(M), codes(N, seed=2), scales(M)]),
    "first axes summed": (lambda q, r, s: jnp.einsum("km,kn->mn", f32(q) * s[:, None], f32(r)), [codes((K, M)), R, scales(K)]),
    "an epilogue of the transposed": (epilogue, [Q, S, np.arange(N, dtype=np.float32) - 4]),
    "a batched epilogue": (batched_epilogue, [codes((3, M, 16)), codes((3, 5, 16), seed=3), scales((3, M)), scales((3, 5)), np.float32(1)]),
    "a loop of no rounds": (lambda q, s, x: lax.fori_loop(0, 0, lambda i, x: dot(x, f32(q) * s), x), [codes((K, K)), scales(()), X]),
    "two caches in one loop": (two_caches, [Q, codes((M, K), seed=3), S, scales(M, seed=4)]),
    "a branch in a function in a loop": (branch_in_function_in_loop, [codes((K, K)), scales(()), X]),
    "a branch that nobody takes": (lambda q, s, x: lax.switch(jnp.int32(7), [lambda: dot(x, f32(q) * s), lambda: dot(x, f32(q))]), [codes((K, K)), scales(()), X]),
    "joined with nothing": (lambda q, r, s: dot(jnp.concatenate([f32(q) * s, f32(r) * s]), weight()), [Q, codes((0, K)), scales(())]),
    "cut by a pad": (lambda q, s: dot(lax.pad(f32(q) * s, jnp.float32(0), ((-1, 2, 1), (0, 0, 0))), weight()), [Q, scales(())]),
    "every other row, from behind": (lambda q, s: dot((f32(q) * s[:, None])[::-2], weight()), [Q, S]),
    "through a vector": (lambda q, s: dot((f32(q) * blockwise(s, q.shape)).reshape(-1).reshape(M * 2, 32), weight()[:32]), [Q, scales((M, 2))]),
    "one code for all": (lambda q, s: dot(jnp.broadcast_to(f32(q) * s, (M, K)), weight()), [codes(()), scales(())]),
    "no indices": (lambda q, s, i: dot(jnp.take(f32(q) * s[:, None], i, axis=0, mode="clip"), weight()), [Q, S, np.zeros(0, np.int32)]),
    "of f16": (lambda q, s: lax.dot_general((q.astype(jnp.float16) * s.astype(jnp.float16)), weight().astype(jnp.float16), (((1,), (0,)), ((), ()))), [Q, scales(())]),
    "by way of bf16": (lambda q, s: dot(((q.astype(jnp.bfloat16)).astype(jnp.float32) * s[:, None]).astype(jnp.bfloat16).astype(jnp.float32), weight()), [Q, S]),
    "e5m2 by e2m1": (lambda q, r, s: dot(f32(q) * s[:, None], f32(r)), [codes((M, K), E5M2), codes((K, N), F4, 3), S]),
    "negative scales": (lambda q, s: dot(f32(q) * -s[:, None], weight()), [Q, S]),
    "a scale of zero": (lambda q, s: dot(f32(q) * s[:, None], weight()), [Q, np.zeros(M, np.float32)]),
    "a NaN among scales": (lambda q, s: dot(f32(q) * f32(s)[:, None], weight()), [Q, np.array([1, 2, np.nan, 4, 1, 2], np.float32).astype(E8M0)]),
    "three levels of scales": (lambda q, s, t, u: dot(f32(q) * s[:, None] * t * u, weight()), [Q, S, np.float32(2), np.float32(0.25)]),
    "integers times scales": (lambda q, s: dot(q.astype(jnp.float32) * s[:, None], weight()), [np.arange(M * K, dtype=np.int8).reshape(M, K) % 5, S]),
    "one axis of windows, in groups": (lambda q, w, s: lax.conv_general_dilated(f32(q) * s, f32(w), (1,), [(1, 1)], rhs_dilation=(2,), feature_group_count=4,
                                       dimension_numbers=("NWC", "WIO", "NWC")), [codes((2, 9, 8)), codes((3, 2, 12), seed=2), scales(())]),
    "a window dilated and padded away": (lambda q, w, s: conv(f32(q) * s, f32(w), (1, 1), ((-1, 2), (0, 3)), lhs_dilation=(2, 1), feature_group_count=2),
                                         [codes((2, 4, 5, 4)), codes((3, 3, 2, 6), seed=2), scales(())]),
    "no images": (lambda q, w, s: conv(f32(q) * s, f32(w)), [codes((0, 4, 4, 2)), codes((3, 3, 2, 5), seed=2), scales(())]),
    "windows that fit nowhere": (lambda q, w, s: conv(f32(q) * s, f32(w), (1, 1), "VALID"), [codes((2, 2, 2, 2)), codes((3, 3, 2, 5), seed=2), scales(())]),
    "a checkpoint of a layer": (lambda q, s, x: jax.grad(jax.checkpoint(lambda x: jnp.sum(jnp.maximum(dot(x, f32(q) * s), 0))))(x), [codes((K, K)), scales(()), X]),
    "a checkpoint of layers in a scan": (lambda q, s, x: jax.grad(lambda x: jnp.sum(lax.scan(jax.checkpoint(lambda x, w: (jnp.clip(dot(x, f32(w[0]) * w[1]), -4, 4), None)), x, (q, s))[0]))(x),
                                         [codes((3, K, K)), scales(3), X]),
    "zeros that nobody fills": (lambda q, s, x: dot(x, lax.fori_loop(0, 0, lambda i, b: lax.dynamic_update_slice(b, f32(q[i])[None] * s, (i, 0, 0)), jnp.zeros((3, K, K)))[1]),
                                [codes((3, K, K)), scales(()), X]),
    "two loops of one buffer": (lambda q, s, x: dot(x, lax.fori_loop(1, 3, lambda i, b: lax.dynamic_update_slice(b, f32(q[i])[None] * s[i], (i, 0, 0)),
                                lax.fori_loop(0, 2, lambda i, b: lax.dynamic_update_slice(b, f32(q[i])[None] * s[i], (i, 0, 0)), jnp.zeros((3, K, K))))[1]),
                                [codes((3, K, K)), scales(3), X]),
    "values that change places": (lambda q, s, x: lax.fori_loop(0, 3, lambda i, w: (w[1], w[0], jnp.sign(dot(w[2], w[0]))), (f32(q) * s, jnp.ones((K, K)), x))[2],
                                  [codes((K, K)), scales(()), X]),
    "one scale of both sides": (lambda q, w, s: (f32(q) * s) @ (f32(w) * s), [codes((K, K)), codes((K, K), seed=2), scales(())]),
    "one row of scales of both sides": (lambda q, w, s: (f32(q) * s[:, None]) @ (f32(w) * s), [codes((K, K)), codes((K, K), seed=2), scales((K,))]),
    "one scale of two dots": (lambda q, w, s: ((f32(q) * s) @ f32(w), f32(q) @ (f32(w) * s)), [codes((K, K)), codes((K, K), seed=2), scales(())]),
    "no features": (lambda q, w, s: conv(f32(q) * s, f32(w), (1, 1), "VALID"), [codes((2, 2, 2, 0)), codes((1, 1, 0, 5), seed=2), scales(())]),
}


def outputs(path, arguments, folder, count, backend):
    given, made = [], folder / f"{path.stem}.{backend}"
    for i, array in enumerate(arguments):
        name = folder / (f"{i}.npy" if array.dtype.isbuiltin == 1 else f"{i}.{array.dtype.name}.npy")
        np.save(name, array)
        given += ["--input", name]
    done = subprocess.run([OCTAVO, "run", path, *given, "--output", made, "--backend", backend], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [np.load(next(made.glob(f"output{i}.*npy"))) for i in range(count)]


def recovered_and_fused(tmp_path, function, arguments):
    arguments = [np.asarray(each) for each in arguments]
    before, after, fused = (tmp_path / f"{each}.mlir" for each in ("before", "after", "fused"))
    text = jax.jit(function, keep_unused=True).lower(*arguments).as_text()
    before.write_text(re.sub(r' \{jax.result_info = "[^"]*"\}', "", text))  # so that outputs have numbers
    with jax.default_matmul_precision("highest"):
        expected = jax.tree.leaves(jax.jit(function)(*arguments))
    made = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-recover-scaled", before, "-o", after], capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    both = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-fuse-scaled-dots=overflow=allow", after, "-o", fused], capture_output=True, text=True, timeout=60)
    assert both.returncode == 0, both.stderr
    told = json.loads(explain(before, "--json").stdout)
    assert told["narrow"] + told["missed"] + told["wide"] == len(told["dots"])
    assert "octavo.dot_general" in after.read_text() or told["narrow"] == 0
    for path in (before, after, fused):
        for backend in ("reference", "compiled"):
            found = outputs(path, arguments, tmp_path, len(expected), backend)
            for one, other in zip(found, expected, strict=True):
                other = np.asarray(other)
                assert one.shape == other.shape
                one = one.view(other.dtype) if one.dtype.kind == "V" else one
                np.testing.assert_array_equal(one.astype(np.float64), other.astype(np.float64), err_msg=f"{path.name} {backend}")


@pytest.mark.parametrize("name", ODD)
def test_recovered_and_fused(tmp_path, name):
    recovered_and_fused(tmp_path, *ODD[name])


MOVES = [
    lambda w, r: w.T,
    lambda w, r: jnp.flip(w, int(r.integers(2))),
    lambda w, r: w[:max(1, w.shape[0] // 2)],
    lambda w, r: w[::2],
    lambda w, r: w.reshape(w.shape[::-1]),
    lambda w, r: jnp.pad(w, ((0, 1), (0, 0))),
    lambda w, r: jnp.concatenate([w, w]),
    lambda w, r: jax.jit(lambda w: w.T)(w),
    lambda w, r: lax.cond(jnp.sum(w) > 0, lambda: w, lambda: w),
    lambda w, r: lax.fori_loop(0, 2, lambda i, w: w, w),
    lambda w, r: jnp.take(w, np.array([0, w.shape[0] - 1, 0]), axis=0, mode="clip"),
    lambda w, r: jnp.where((jnp.arange(w.shape[0]) % 2 == 0)[:, None], w, 0),
    lambda w, r: jnp.broadcast_to(w, (2, *w.shape)).reshape(-1, w.shape[1]),
]


def moved_at_random(seed):
    """Codes under scales of a random kind, through up to five random moves, by a matrix, and relu."""
    r = np.random.default_rng(seed)
    m, k = int(r.choice([1, 2, 4, 6, 8])), int(r.choice([1, 8, 32, 64]))
    block = int(r.choice([each for each in (1, 2, 4, 8, 16, 32) if k % each == 0]))
    s, spread = [
        (scales((), seed=seed), lambda s: s), (scales(m, seed=seed), lambda s: s[:, None]), (scales(k, seed=seed), lambda s: s),
        (scales((m, k // block), seed=seed), lambda s: blockwise(s, (m, k))), (exponents(m, seed), lambda s: shifted(s)[:, None]),
        (np.asarray(scales(m, E8M0, seed)), lambda s: f32(s)[:, None]), (exponents(m, seed), None),
    ][r.integers(7)]
    operation = [jnp.multiply, jnp.divide][r.integers(2)]
    steps = [(MOVES[r.integers(len(MOVES))], int(r.integers(1000))) for _ in range(r.integers(6))]

    def function(q, s):
        w = operation(f32(q), spread(s)) if spread else jnp.ldexp(f32(q), s.astype(jnp.int32)[:, None] - 127)
        for move, own in steps:
            w = move(w, np.random.default_rng(own))
        return jnp.maximum(w @ np.random.default_rng(seed).integers(-3, 4, (w.shape[1], 3)).astype(np.float32) + 1, 0)
    return function, [codes((m, k), [F8, E5M2, F4][r.integers(3)], seed), s]


@pytest.mark.parametrize("begin", range(0, 40, 10))
def test_random_moves(tmp_path, begin):
    for seed in range(begin, begin + 10):
        recovered_and_fused(tmp_path, *moved_at_random(seed))


def test_a_scale_that_is_squared_again_and_again(tmp_path):
    """2^60 ways lead from the last square to the constant."""
    squares = "\n".join(f"  %s{i + 1} = stablehlo.multiply %s{i}, %s{i} : tensor<f32>" for i in range(60))
    program = tmp_path / "p.mlir"
    program.write_text(f"""
func.func @main(%c: tensor<4x32xf8E4M3FN>, %w: tensor<32x8xf32>) -> tensor<4x8xf32> {{
  %s0 = stablehlo.constant dense<1.0> : tensor<f32>
{squares}
  %s = stablehlo.broadcast_in_dim %s60, dims = [] : (tensor<f32>) -> tensor<4x32xf32>
  %t = stablehlo.constant dense<2.0> : tensor<4x32xf32>
  %x = stablehlo.convert %c : (tensor<4x32xf8E4M3FN>) -> tensor<4x32xf32>
  %y = stablehlo.multiply %x, %t : tensor<4x32xf32>
  %z = stablehlo.multiply %y, %s : tensor<4x32xf32>
  %r = stablehlo.dot_general %z, %w, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}}""")
    told = subprocess.run([OCTAVO, "explain", program, "--json"], check=True, capture_output=True, text=True, timeout=60)
    assert json.loads(told.stdout)["narrow"] == 1
