"""MLIR's math operations, as exporters leave them in programs, against NumPy, SciPy and mpmath (rule I28)."""
import ml_dtypes
import mpmath
import numpy as np
import pytest
from test_compiled import outputs

pytestmark = pytest.mark.mlir

TYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}
REALS = [0.0, -0.0, 0.3, -0.7, 1.0, -1.0, 1.5, -2.5, 30.25, -30.75, np.inf, -np.inf, np.nan]
FUNCTIONS = {
    "acos": mpmath.acos, "acosh": mpmath.acosh, "asin": mpmath.asin, "asinh": mpmath.asinh, "atan": mpmath.atan,
    "atanh": mpmath.atanh, "cosh": mpmath.cosh, "sinh": mpmath.sinh, "erf": mpmath.erf, "erfc": mpmath.erfc,
    "exp2": lambda x: mpmath.power(2, x), "log10": mpmath.log10, "log2": lambda x: mpmath.log(x, 2),
}
DOMAINS = {"acos": (-1, 1), "asin": (-1, 1), "atanh": (-0.99, 0.99), "acosh": (1, 50), "log10": (1e-6, 1e6),
           "log2": (1e-6, 1e6), "cosh": (-40, 40), "sinh": (-40, 40)}


def program(name, element, n, operands=1, types=None, results=None):
    tensor = f"tensor<{n}x{element}>"
    types = types or [tensor] * operands
    results = results or [tensor]
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    given = ", ".join(f"%a{i}" for i in range(len(types)))
    values = ", ".join(f"%r#{i}" for i in range(len(results)))
    return f"""func.func @main({arguments}) -> ({", ".join(results)}) {{
  %r:{len(results)} = "math.{name}"({given}) : ({", ".join(types)}) -> ({", ".join(results)})
  return {values} : {", ".join(results)}
}}
"""


def run(text, arrays, folder, backend="compiled", results=1):
    (folder / "p.mlir").write_text(text)
    found = outputs(folder / "p.mlir", arrays, folder, backend)
    return found[0] if results == 1 else found


def ulps(found, exact, dtype):
    """How many steps of the format the found values are from the exact ones, at most."""
    bits = {4: 24, 8: 53, 2: 8}[np.dtype(dtype).itemsize]
    worst = 0
    for x, y in zip(found, exact):
        exponent = mpmath.floor(mpmath.log(abs(y), 2)) if y else -bits
        worst = max(worst, abs(mpmath.mpf(float(x)) - y) / mpmath.power(2, exponent - bits + 1))
    return float(worst)


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, element, tmp_path):
    low, high = DOMAINS.get(name, (-3, 3))
    x = np.random.default_rng(1).uniform(low, high, 200).astype(TYPES[element])
    found = run(program(name, element, len(x)), [x], tmp_path)
    with mpmath.workprec(200):
        exact = [FUNCTIONS[name](mpmath.mpf(float(each))) for each in x]
        assert ulps(found, exact, TYPES[element]) <= 2


@pytest.mark.parametrize("element", TYPES)
def test_classes_of_floats(element, tmp_path):
    tiny = float(ml_dtypes.finfo(TYPES[element]).smallest_subnormal)
    normal = float(ml_dtypes.finfo(TYPES[element]).smallest_normal)
    x = np.array(REALS + [tiny, -tiny, normal, -normal]).astype(TYPES[element])
    wide = x.astype(np.float64)
    expected = {"isfinite": np.isfinite(wide), "isinf": np.isinf(wide), "isnan": np.isnan(wide),
                "isnormal": np.isfinite(wide) & (np.abs(wide) >= normal)}
    for name, holds in expected.items():
        for backend in ("compiled", "reference"):
            found = run(program(name, element, len(x), results=[f"tensor<{len(x)}xi1>"]), [x], tmp_path, backend)
            assert (found == holds).all(), (name, backend)


@pytest.mark.parametrize("element", TYPES)
def test_trunc_copysign_and_clampf(element, tmp_path):
    x = np.array(REALS).astype(TYPES[element])
    sign = x[::-1].copy()
    sign[np.isnan(sign.astype(np.float32))] = 1
    n, wide = len(x), x.astype(np.float64)

    def same(found, expected):
        expected = expected.astype(TYPES[element])
        holds = np.isnan(found.astype(np.float64)) & np.isnan(expected.astype(np.float64))
        return (holds | (found.view(f"u{found.itemsize}") == expected.view(f"u{found.itemsize}"))).all()

    assert same(run(program("trunc", element, n), [x], tmp_path), np.trunc(wide))
    assert same(run(program("copysign", element, n, 2), [x, sign], tmp_path),
                np.copysign(wide, sign.astype(np.float64)))
    low, high = np.full(n, -0.5).astype(TYPES[element]), np.full(n, 2).astype(TYPES[element])
    assert same(run(program("clampf", element, n, 3), [x, low, high], tmp_path), np.clip(wide, -0.5, 2))


@pytest.mark.parametrize("element", TYPES)
def test_fma_rounds_once(element, tmp_path):
    """Against the exact sum in rational numbers, rounded by mpmath; half of the sums nearly cancel or are ties."""
    dtype, random = TYPES[element], np.random.default_rng(3)
    bits = {4: 24, 8: 53, 2: 8}[np.dtype(dtype).itemsize]
    x, y = (random.standard_normal(2000).astype(dtype) for _ in range(2))
    z = np.where(np.arange(2000) % 2, -(x.astype(np.float64) * y.astype(np.float64)) * (1 + 2.0**-bits),
                 random.standard_normal(2000) * 2.0 ** random.integers(-60, 60, 2000)).astype(dtype)
    found = run(program("fma", element, 2000, 3), [x, y, z], tmp_path)
    with mpmath.workprec(2000):
        exact = [mpmath.mpf(float(a)) * mpmath.mpf(float(b)) + mpmath.mpf(float(c)) for a, b, c in zip(x, y, z)]
    with mpmath.workprec(bits):
        expected = [float(+value) for value in exact]
    assert (found.astype(np.float64) == expected).all()


def test_sincos(tmp_path):
    x = np.linspace(-5, 5, 101).astype(np.float32)
    tensor = "tensor<101xf32>"
    sine, cosine = run(program("sincos", "f32", 101, results=[tensor, tensor]), [x], tmp_path, results=2)
    wide = x.astype(np.float64)
    assert (sine == np.sin(wide).astype(np.float32)).all() and (cosine == np.cos(wide).astype(np.float32)).all()


def test_integer_operations(tmp_path):
    x = np.array([0, 1, 2, 3, -1, -8, 2**31 - 1, -2**31, 40, 96], np.int32)
    unsigned = [int(each) & 0xFFFFFFFF for each in x]
    leading = [32 - each.bit_length() for each in unsigned]
    trailing = [32 if each == 0 else (each & -each).bit_length() - 1 for each in unsigned]
    for backend in ("compiled", "reference"):
        assert run(program("ctlz", "i32", 10), [x], tmp_path, backend).tolist() == leading
        assert run(program("cttz", "i32", 10), [x], tmp_path, backend).tolist() == trailing
        power = np.array([3, 2, 5, 0, 7, 2, 1, 1, -1, 3], np.int32)
        expected = [0, 1, 32, 1, -1, 64, 2**31 - 1, -2**31, 0, 96**3]
        assert run(program("ipowi", "i32", 10, 2), [x, power], tmp_path, backend).tolist() == expected


def test_integer_powers_of_floats(tmp_path):
    base = np.array([2, -2, 0.5, 10, -1, 3], np.float32)
    power = np.array([10, 3, -4, 0, 2**31 - 1, -1], np.int32)
    text = program("fpowi", "f32", 6, types=["tensor<6xf32>", "tensor<6xi32>"])
    assert run(text, [base, power], tmp_path).tolist() == [1024, -8, 16, 1, -1, np.float32(1 / 3)]
