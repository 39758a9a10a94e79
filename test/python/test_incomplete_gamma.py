"""The incomplete gamma functions, which JAX writes as while loops: jax.lax.igamma and igammac beside
mpmath, and the derivative of a gamma sample by the implicit function theorem, also from mpmath."""

import mpmath
import numpy as np
import pytest
from test_reference import run

pytestmark = pytest.mark.mlir

# Either side of x = a, where the series gives way to the continued fraction, and both tails.
A = np.array([0.125, 0.5, 1.0, 1.0, 2.5, 10.0, 10.0, 30.0, 30.0, 100.0], np.float32)
X = np.array([0.01, 3.0, 0.25, 1.5, 2.5, 4.0, 14.0, 29.0, 40.0, 110.0], np.float32)


def sample_gradient(a, x):
    """dx/da where the regularized P(a, x) stays the same: -(dP/da) / (dP/dx)."""
    density = x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)
    return -mpmath.diff(lambda b: mpmath.gammainc(b, 0, x, regularized=True), a) / density


EXACT = {
    "igamma": lambda a, x: mpmath.gammainc(a, 0, x, regularized=True),
    "igammac": lambda a, x: mpmath.gammainc(a, x, regularized=True),
    "random_gamma_grad": sample_gradient,
}


def tolerance(a, x):
    """The factor x^a e^-x / gamma(a) is computed in f32 as the exponential of a sum, so the rounding of
    each of its terms, half an ulp, is a relative error of the result; 1e-6 is for what follows."""
    from scipy.special import gammaln

    return 2.0**-24 * (np.abs(a * np.log(x)) + x + np.abs(gammaln(a))) + 1e-6


@pytest.mark.parametrize("name", EXACT)
def test_beside_mpmath(tmp_path, name):
    import jax

    function = jax.jit(getattr(jax.lax, name))
    (found,) = run(tmp_path, function.lower(A, X).as_text(), A, X)
    with mpmath.workdps(40):
        expected = np.array([float(EXACT[name](mpmath.mpf(float(a)), mpmath.mpf(float(x))))
                             for a, x in zip(A, X)])
    assert (np.abs(found / expected - 1) <= tolerance(A, X)).all()


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_outside_the_domain(tmp_path, name):
    import jax

    a = np.array([-1.0, 1.0, np.nan, 1.0, 1.0], np.float32)
    x = np.array([1.0, -1.0, 1.0, 0.0, np.inf], np.float32)
    ends = [0.0, 1.0] if name == "igamma" else [1.0, 0.0]
    (found,) = run(tmp_path, jax.jit(getattr(jax.lax, name)).lower(a, x).as_text(), a, x)
    np.testing.assert_array_equal(found, np.array([np.nan] * 3 + ends, np.float32))
