"""What JAX's users expect of arrays and functions: operators, forward derivatives, jax.export."""
import subprocess
import sys
import weakref

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import octavo
import octavo.jax as oj
import pytest

X = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(64, 6)).astype(np.float32)
A, B = oj.quantize(X, "mxfp8_e4m3"), oj.quantize(W, "mxfp8_e4m3", axis=0)


@pytest.mark.parametrize("compile", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_the_operator_is_matmul(compile):
    expected = oj.matmul(A, B)
    np.testing.assert_array_equal(compile(lambda a, b: a @ b)(A, B), expected)
    np.testing.assert_array_equal(compile(lambda x, b: x @ b)(jnp.asarray(X), B), oj.matmul(X, B))
    np.testing.assert_array_equal(X @ B, oj.matmul(X, B))  # NumPy's array first
    np.testing.assert_allclose(compile(lambda a, w: a @ w)(A, W), oj.matmul(A, W), atol=1e-5)  # XLA's sums


def test_transposes():
    assert B.T.shape == (6, 64) and B.T.axis == -1 and B.T.T.axis == -2
    np.testing.assert_array_equal(B.T.dequantize(), B.dequantize().T)
    weight = oj.quantize(W.T, "mxfp8_e4m3")  # [N, K], as layers keep it
    np.testing.assert_array_equal(X @ weight.T, oj.matmul(X, B))
    batch = oj.quantize(np.stack([X, X]), "nvfp4")
    np.testing.assert_array_equal(batch.mT.dequantize(), batch.dequantize().swapaxes(-1, -2))
    with pytest.raises(octavo.ShapeError, match=r"T: expected a matrix, found shape \(2, 4, 64\).*mT"):
        batch.T
    with pytest.raises(octavo.ShapeError, match="mT: expected blocks along one of the last two axes"):
        oj.quantize(X[0], "mxfp4").mT


def test_what_an_array_is():
    assert (A.shape, A.ndim, A.size, A.dtype) == ((4, 64), 2, 256, jnp.float32)
    assert A.dequantize().dtype == A.dtype and weakref.ref(A)() is A
    assert jax.jit(lambda q: jnp.zeros(q.shape, q.dtype))(A).shape == (4, 64)
    for call in (lambda: np.asarray(A), lambda: jnp.asarray(A), lambda: X + A, lambda: np.exp(A)):
        with pytest.raises(TypeError):
            call()


def test_fake_quantize_has_a_forward_derivative():
    """Straight through, as its gradient is: it was refused."""
    tangent = np.random.default_rng(2).normal(size=X.shape).astype(np.float32)
    function = lambda x: oj.fake_quantize(x, "mxfp4")
    value, derivative = jax.jit(lambda x, t: jax.jvp(function, (x,), (t,)))(X, tangent)
    np.testing.assert_array_equal(value, function(X))
    np.testing.assert_array_equal(derivative, tangent)
    np.testing.assert_array_equal(jax.jacfwd(function)(X[:1, :2]), np.eye(2).reshape(1, 2, 1, 2))
    half = jnp.asarray(X, jnp.bfloat16)
    assert jax.jvp(function, (half,), (half,))[1].dtype == jnp.bfloat16
    # d2/dx2 of (3 q(x))^2 / 2 along t: q passes both derivatives through
    second = jax.jvp(jax.grad(lambda x: ((3 * function(x)) ** 2).sum() / 2), (X,), (tangent,))[1]
    np.testing.assert_allclose(second, 9 * tangent, rtol=1e-6)
    value, pull = jax.vjp(function, X)
    np.testing.assert_array_equal(pull(tangent)[0], tangent)
    drawn = lambda x: oj.fake_quantize(x, "mxfp4", rounding="stochastic", key=jax.random.key(0))
    np.testing.assert_array_equal(jax.jvp(drawn, (X,), (tangent,))[1], tangent)


def test_convert_has_a_forward_derivative():
    one = np.ones_like(X)
    value, derivative = jax.jvp(lambda x: oj.convert(x, "e5m2").astype(jnp.float32), (X,), (one,))
    np.testing.assert_array_equal(derivative, one)


def test_programs_with_these_calls_are_exported_and_run_elsewhere(tmp_path):
    """jax.export refused them: targets without a guarantee."""
    def program(x, w):
        q = oj.quantize(x, "nvfp4", outer=0.02)
        codes = oj.convert(oj.dequantize(q), "e4m3fn").astype(jnp.float32)
        return oj.matmul(oj.quantize(codes, "mxfp4"), oj.quantize(w, "mxfp8_e4m3", axis=0))

    exported = jax.export.export(jax.jit(program))(X, W)
    called = {name for name in octavo._core.jax_targets() if name in exported.mlir_module()}
    # Those of training's states and of members' outer scales have tests of their own.
    assert called == octavo._core.jax_targets().keys() - {"octavo_delayed_scales", "octavo_outer"}
    path = tmp_path / "program"
    path.write_bytes(exported.serialize())
    np.save(tmp_path / "x.npy", X), np.save(tmp_path / "w.npy", W)
    script = ("import sys, numpy as np, jax.export, octavo.jax\n"
              "program = jax.export.deserialize(open(sys.argv[1] + '/program', 'rb').read())\n"
              "x, w = (np.load(f'{sys.argv[1]}/{name}.npy') for name in 'xw')\n"
              "np.save(sys.argv[1] + '/y.npy', program.call(x, w))\n")
    subprocess.run([sys.executable, "-c", script, tmp_path], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), program(X, W))
