"""NaN and infinities in what a quantized product is given: the error says in what, where that can be known, and what
option there is."""
import jax
import jax.numpy as jnp
import numpy as np
import octavo
import pytest

pytestmark = pytest.mark.mlir

ADVICE = ("--non-finite propagate makes the block NaN, --non-finite saturate takes an infinity for the largest value "
          "(non_finite= in Python, non_finite in a recipe's rule and in octavo.quantize)")


def convolved(**options):
    return lambda w, x: jax.lax.conv_general_dilated(x, w, (1, 1), dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


def ones(*shape):
    return np.ones(shape, np.float32)


# What is computed, of which weight and input, what has the value, and where.
CASES = {
    "argument": (lambda w, x: x @ w, ones(64, 8), ones(4, 64), 'argument "x"', [3, 5]),
    "moved": (lambda w, x: x.T[1:].reshape(9, -1) @ w, ones(28, 8), ones(4, 64), 'argument "x"', [3, 5]),
    "result": (lambda w, x: jnp.tanh(x) @ w, ones(64, 8), ones(4, 64), "the result of jit(<lambda>)/tanh", [3, 5]),
    "several axes": (lambda w, x: jnp.einsum("bij,jik->bk", x, w), ones(8, 6, 5), ones(4, 6, 8), 'argument "x"', [3, 5, 7]),
    "patches": (convolved(padding="SAME"), ones(3, 3, 48, 8), ones(2, 7, 6, 48), 'argument "x"', [1, 3, 2, 47]),
    "codes": (convolved(padding="SAME"), ones(3, 3, 64, 8), ones(2, 7, 6, 64), 'argument "x"', [1, 3, 2, 63]),
    "groups": (convolved(padding=((1, 2), (0, 3)), feature_group_count=2), ones(3, 2, 48, 8), ones(2, 7, 6, 96), 'argument "x"',
               [1, 0, 5, 50]),
}


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("case", CASES)
def test_whose_it_is_is_told(case, backend):
    function, w, x, what, place = CASES[case]
    x = x.copy()
    x[tuple(place)] = np.nan
    program = jax.jit(function).lower(w, x)
    options = {"quantize": "mxfp8_e4m3", "parameters": "^w", "backend": backend}
    with pytest.raises(octavo.ProgramError) as raised:
        octavo.compile(program, **options)(w, x)
    where = f" at {place}" if backend == "reference" else ""
    assert f": {what} has NaN{where}, which its quantization refuses: {ADVICE}" in str(raised.value)
    assert np.isnan(octavo.compile(program, **options, non_finite="propagate")(w, x)).any()


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_infinities_too(backend):
    function, w, x, *_ = CASES["argument"]
    x = x.copy()
    x[1, 2] = -np.inf
    with pytest.raises(octavo.ProgramError, match='jit.*dot_general: argument "x" has -Inf'):
        octavo.compile(jax.jit(function).lower(w, x), quantize="mxfp8_e4m3", parameters="^w", backend=backend)(w, x)
