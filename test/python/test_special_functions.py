"""Functions of CHLO on f32 and f64 within one ulp of mpmath, over stratified samples."""

import mpmath
import numpy as np
import pytest
from test_reference import run

pytestmark = pytest.mark.mlir

mpmath.mp.dps = 60
RANDOM = np.random.default_rng(16)


def spread(low, high, count):
    """Magnitudes of every size between two, evenly in their logarithms."""
    return np.exp(RANDOM.uniform(np.log(low), np.log(high), count))


def signed(values):
    return np.concatenate([values, -values])


def polygamma(n, x):
    n = int(n)
    return (-1) ** (n + 1) * mpmath.factorial(n) * zeta(n + 1, x)


def i1e(x):
    x = mpmath.mpf(float(x))
    return mpmath.exp(-abs(x)) * mpmath.besseli(1, x)


def zeta(x, q):
    x, q = float(x), float(q)
    small = x * np.log10(max(q, 1))  # mpmath's precision is absolute, and the first term is q^-x
    with mpmath.workdps(60 + int(small)):
        return mpmath.zeta(mpmath.mpf(x), mpmath.mpf(q))


CASES = {
    "bessel_i1e": (i1e, signed(np.concatenate([spread(1e-37, 1e-3, 40), spread(1e-3, 39.9, 120),
                                               [39.99, 40.0, 40.01], spread(40, 1e30, 80)]))),
    "zeta": (zeta, np.concatenate([1 + spread(1e-6, 1, 60), spread(2, 60, 60), np.full(20, 2.0)]),
             np.concatenate([spread(1e-3, 1, 50), spread(1, 100, 70), spread(100, 1e6, 20)])),
    "zeta of negative q": (zeta, RANDOM.integers(2, 9, 40).astype(float), -spread(0.01, 50, 40)),
    "polygamma": (polygamma, RANDOM.integers(1, 12, 120).astype(float),
                  np.concatenate([spread(1e-2, 1, 40), spread(1, 50, 60), spread(50, 1e4, 20)])),
}
ELEMENT = {np.float32: "f32", np.float64: "f64"}


@pytest.mark.parametrize("dtype", ELEMENT)
@pytest.mark.parametrize("name", CASES)
def test_within_one_ulp(tmp_path, name, dtype):
    exact, *arrays = CASES[name]
    arrays = [array.astype(dtype) for array in arrays]
    tensor = f"tensor<{arrays[0].size}x{ELEMENT[dtype]}>"
    arguments = [f"%{i}" for i in range(len(arrays))]
    program = f"""func.func @main({", ".join(f"{a}: {tensor}" for a in arguments)}) -> {tensor} {{
      %r = chlo.{name.split()[0]} {", ".join(arguments)} : {", ".join([tensor] * len(arrays))} -> {tensor}
      return %r : {tensor} }}"""
    (found,) = run(tmp_path, program, *arrays)
    worst = 0.0
    for value, *operands in zip(found, *arrays, strict=True):
        expected = exact(*operands)
        nearest = dtype(expected)
        if not np.isfinite(nearest) or nearest == 0:
            assert value == nearest, operands
            continue
        worst = max(worst, abs(float((mpmath.mpf(float(value)) - expected) / float(np.spacing(abs(nearest))))))
    assert worst <= 1.0


SPECIALS = """func.func @main() -> (tensor<7xf64>, tensor<7xf64>, tensor<4xf64>) {
  %x = stablehlo.constant dense<[1.0, 0.5, 2.0, 3.0, 2.5, 0x7FF8000000000000, 2.0]> : tensor<7xf64>
  %q = stablehlo.constant dense<[3.0, 3.0, -2.0, -2.0, -0.5, 1.0, 0x7FF0000000000000]> : tensor<7xf64>
  %0 = chlo.zeta %x, %q : tensor<7xf64>, tensor<7xf64> -> tensor<7xf64>
  %n = stablehlo.constant dense<[1.0, 2.0, 1.5, -1.0, 0.0, 1.0, 0x7FF8000000000000]> : tensor<7xf64>
  %y = stablehlo.constant dense<[-1.0, -1.0, 2.0, 2.0, -1.0, 0x7FF0000000000000, 1.0]> : tensor<7xf64>
  %1 = chlo.polygamma %n, %y : tensor<7xf64>, tensor<7xf64> -> tensor<7xf64>
  %b = stablehlo.constant dense<[0.0, -0.0, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<4xf64>
  %2 = chlo.bessel_i1e %b : tensor<4xf64> -> tensor<4xf64>
  return %0, %1, %2 : tensor<7xf64>, tensor<7xf64>, tensor<4xf64>
}"""


def test_poles_and_specials(tmp_path):
    """What CHLO's description says of them."""
    inf, nan = np.inf, np.nan
    zetas, polygammas, bessels = run(tmp_path, SPECIALS)
    np.testing.assert_array_equal(zetas, [inf, nan, inf, nan, nan, nan, 0])
    np.testing.assert_array_equal(polygammas, [inf, nan, nan, nan, nan, 0, nan])
    np.testing.assert_array_equal(bessels, [0, 0, 0, nan])
    np.testing.assert_array_equal(np.signbit(bessels[:3]), [False, True, True])


def test_polygamma_of_large_orders(tmp_path):
    """Where the factorial and the sum are both beyond what long double has."""
    n = np.array([1e30, 1e30, 2000, 1e10, 2000, 3001, 1701, 1e30])
    x = np.array([2, 1e31, 1000, 1e10, 1144, 1500, 900, np.inf])
    (found,) = run(tmp_path, """func.func @main(%n: tensor<8xf64>, %x: tensor<8xf64>) -> tensor<8xf64> {
      %0 = chlo.polygamma %n, %x : tensor<8xf64>, tensor<8xf64> -> tensor<8xf64>
      return %0 : tensor<8xf64> }""", n, x)
    np.testing.assert_array_equal(found[[0, 1, 3, 4, 5, 7]], [-np.inf, 0, 0, 0, 0, 0])
    with mpmath.workdps(40):
        exact = [float((-1) ** (int(n[i]) + 1) * mpmath.factorial(n[i]) * mpmath.zeta(n[i] + 1, x[i])) for i in (2, 6)]
    np.testing.assert_allclose(found[[2, 6]], exact, rtol=2e-15)


def test_constants(tmp_path):
    numbers, like, complexes = run(tmp_path, """func.func @main(%x: tensor<2x3xi64>)
        -> (tensor<2xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f64>>) {
      %0 = chlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
      %1 = "chlo.constant_like"(%x) <{value = 2.5 : f32}> : (tensor<2x3xi64>) -> tensor<2x3xf32>
      %2 = "chlo.constant_like"(%x) <{value = #complex.number<:f64 1.5, -2.0> : complex<f64>}>
          : (tensor<2x3xi64>) -> tensor<2x3xcomplex<f64>>
      return %0, %1, %2 : tensor<2xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f64>> }""", np.zeros((2, 3), np.int64))
    np.testing.assert_array_equal(numbers, np.array([1.5, -2.0], np.float32))
    np.testing.assert_array_equal(like, np.full((2, 3), 2.5, np.float32))
    np.testing.assert_array_equal(complexes, np.full((2, 3), 1.5 - 2j))
