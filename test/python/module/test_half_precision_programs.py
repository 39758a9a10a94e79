"""Programs of bf16 and f16 whose dots are quantized: compiled as those of f32, with their results rounded once."""
import os

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")
import jax.numpy as jnp
import octavo

DTYPES = [ml_dtypes.bfloat16, np.float16]
M, K, N = 5, 96, 40


def drawn(dtype, *shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


def dot(w, x):
    return x @ w


def batches(w, x):
    return jnp.einsum("bmk,bkn->bmn", x, w)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activations", [None, "none"])
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "mxint8", "nvfp4", "fp8_tensor"])
def test_a_dot_is_that_of_f32_rounded_once(format, activations, dtype):
    """Rules I13 and I14: the values of both sides are exact in f32."""
    w, x = drawn(dtype, K, N), drawn(dtype, M, K)
    narrow, wide = (octavo.compile(jax.jit(dot).lower(*arrays), quantize=format, activations=activations, parameters="^w$")
                    for arrays in [(w, x), (w.astype(np.float32), x.astype(np.float32))])
    assert narrow.dots[0].rhs == format
    assert narrow.explain()["interpreted"] == []
    np.testing.assert_array_equal(narrow(w, x), wide(w.astype(np.float32), x.astype(np.float32)).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_batch_of_activations_is_that_of_f32_rounded_once(dtype):
    w, x = drawn(dtype, 3, K, N), drawn(dtype, 3, M, K)
    narrow, wide = (octavo.compile(jax.jit(batches).lower(*arrays), quantize="mxfp8_e4m3", both_activations=True)
                    for arrays in [(w, x), (w.astype(np.float32), x.astype(np.float32))])
    assert narrow.dots[0].rhs == "mxfp8_e4m3"
    assert narrow.explain()["interpreted"] == []
    np.testing.assert_array_equal(narrow(w, x), wide(w.astype(np.float32), x.astype(np.float32)).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_presets_that_compute_in_the_inputs_type(dtype):
    """Their scales are other ones than those of equal values of f32 (QuantizeOptions::inInputType)."""
    x, w = drawn(dtype, M, K), drawn(dtype, K, N)
    lowered = jax.jit(dot).lower(w, x)
    options = {"quantize": "nvfp4", "preset": "compressed-tensors", "parameters": "^w$"}
    compiled, reference = (octavo.compile(lowered, **options, backend=backend) for backend in ["compiled", "reference"])
    assert compiled.explain()["interpreted"] == []
    np.testing.assert_allclose(compiled(w, x).astype(np.float32), reference(w, x).astype(np.float32), rtol=2.0**-8)
