"""A program of two layers, and what it gives, by NumPy."""
import jax
import jax.numpy as jnp
import numpy as np
import octavo
import pytest

DRAWN = np.random.default_rng(0)


def drawn(*shape):
    return DRAWN.normal(size=shape).astype(np.float32)


PARAMS = {"w1": drawn(64, 128), "b": drawn(128), "w2": drawn(128, 32)}
X = drawn(8, 64)


def mlp(params, x):
    return jnp.maximum(x @ params["w1"] + params["b"], 0) @ params["w2"]


def expected(x=X, params=PARAMS):
    """In f64, by NumPy."""
    hidden = np.maximum(x.astype(np.float64) @ params["w1"] + params["b"], 0)
    return hidden @ params["w2"]


@pytest.fixture(scope="module")
def lowered():
    return jax.jit(mlp).lower(PARAMS, X)


@pytest.fixture(scope="module")
def program(lowered):
    return octavo.compile(lowered, weights={"params": PARAMS})


def close(found, x=X, params=PARAMS):
    np.testing.assert_allclose(found, expected(x, params), rtol=1e-4, atol=1e-4)
