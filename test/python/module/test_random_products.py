"""Random programs of several products that share their operands, quantized: compiled as the interpreter has them.

What is quantized once is a left side here, a right one there, along this axis and that, of one product or a batch,
forward and as gradients have it.
"""
import os
import warnings

import numpy as np
import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax

import octavo

PROGRAMS = int(os.environ.get("OCTAVO_RANDOM_PROGRAMS", "100"))
FORMATS = ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp4", "mxint8", "nvfp4", "fp8_row", "fp8_block", "fp8_tensor"]


def contracted(choose, a, b):
    """A product of two arrays of one rank along axes of equal extents, or None where there are none."""
    batch = tuple(range(a.ndim - 2))
    if a.ndim != b.ndim or a.shape[:-2] != b.shape[:-2]:
        return None
    pairs = [(i, j) for i in (a.ndim - 2, a.ndim - 1) for j in (b.ndim - 2, b.ndim - 1) if 1 < a.shape[i] == b.shape[j]]
    if not pairs:
        return None
    i, j = pairs[choose.integers(len(pairs))]
    return lax.dot_general(a, b, (((i,), (j,)), (batch, batch))) / 8


def one_more(choose, values):
    """A value that is computed from those there are, or None."""
    a, b = (values[choose.integers(len(values))] for _ in range(2))
    drawn = choose.integers(10)
    if drawn < 6:
        return contracted(choose, a, b)
    if drawn == 6:
        return jnp.tanh(a)
    if drawn == 7:
        return jnp.maximum(a, 0) * 2
    if drawn == 8:
        return jnp.swapaxes(a, -1, -2)
    return a + b if a.shape == b.shape else None


def program(seed):
    """A function and arrays for it; about a third of them gradients."""
    drawn = np.random.default_rng(seed)
    extents = [drawn.choice([1, 5, 6, 17, 33]), drawn.choice([4, 8, 32, 40]), drawn.choice([16, 32, 64])]
    batch = [drawn.integers(1, 4)] if drawn.random() < 0.7 else []
    arrays = [drawn.standard_normal([*batch, *drawn.choice(extents, 2)]).astype(np.float32) for _ in range(drawn.integers(1, 4))]
    products = drawn.integers(2, 6)

    def function(*given):
        choose = np.random.default_rng([seed, 1])
        values, made = list(given), 0
        for _ in range(60):
            value = one_more(choose, values)
            if value is not None and value.size < 40_000:
                values.append(value)
                made += 1
            if made == products + 3:
                break
        return values[-2:]

    def gradients(*given):
        return jax.grad(lambda *given: sum(jnp.sum(value**2) for value in function(*given)), range(len(given)))(*given)

    return gradients if drawn.random() < 0.35 else function, arrays, FORMATS[drawn.integers(len(FORMATS))]


@pytest.mark.parametrize("block", range(10))
def test_products_that_share_operands(block):
    compared = 0
    for seed in range(block * PROGRAMS // 10, (block + 1) * PROGRAMS // 10):
        function, arrays, format = program(seed)
        lowered = jax.jit(function, keep_unused=True).lower(*arrays)
        options = {"quantize": format, "both_activations": True, "non_finite": "saturate"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of programs that have got no product
            near = octavo.compile(lowered, backend="reference", **options)(*arrays)
            found = octavo.compile(lowered, **options)(*arrays)
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(near), strict=True):
            assert a.shape == b.shape
            if np.isfinite(b).all():  # a code may be the one beside it, after other last bits
                assert np.linalg.norm(a - b) <= 0.2 * np.linalg.norm(b), seed
                compared += b.size > 0
    assert compared
