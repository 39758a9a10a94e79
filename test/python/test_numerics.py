"""Conversions of octavo/Numerics against ml_dtypes, NumPy and XLA (docs/semantics.md, N1 to N10).

The test program octavo-numerics-probe does octavo's side. A format that NumPy and ml_dtypes do not
have is left to the C++ tests.
"""
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest

PROBE = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo-numerics-probe"


def probe(*arguments, given=b""):
    return subprocess.run([PROBE, *arguments], input=given, capture_output=True, check=True).stdout


def numpy_type(name):
    """The dtype of that name; None for names that neither library has, and for integers."""
    scalar = getattr(ml_dtypes, name, None) or getattr(np, name, None)
    if not name or scalar is None or np.issubdtype(scalar, np.integer):
        return None
    return np.dtype(scalar)


FORMATS = {}
for line in probe("formats").decode().splitlines():
    row_name, row_width, row_numpy = line.split("\t")
    if numpy_type(row_numpy) is not None:
        FORMATS[row_name] = (int(row_width), numpy_type(row_numpy))
NARROW = [name for name, (width, _) in FORMATS.items() if width <= 8]
UP_TO_16 = [name for name, (width, _) in FORMATS.items() if width <= 16]


def decode(name, codes):
    return np.frombuffer(probe("decode", name, given=codes.astype(np.uint64).tobytes()), np.float64)


def convert(name, values, *rule):
    kind = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}[values.dtype]
    return np.frombuffer(probe("convert", name, kind, *rule, given=values.tobytes()), np.uint64)


def oracle_codes(name, values):
    dtype = FORMATS[name][1]
    with np.errstate(all="ignore"):
        converted = values.astype(dtype)
    codes = converted.view(f"u{dtype.itemsize}").astype(np.uint64)
    if dtype.kind == "f" and dtype.type.__module__ == "numpy":
        # NumPy keeps a NaN's payload; octavo, like ml_dtypes, only its sign (N3).
        nan = np.isnan(converted)
        canonical = np.array([np.nan], dtype).view(f"u{dtype.itemsize}")[0]
        sign = np.where(np.signbit(values), 1 << (8 * dtype.itemsize - 1), 0).astype(np.uint64)
        codes = np.where(nan, canonical | sign, codes)
    return codes


def oracle_values(name):
    """The values of all codes, as ml_dtypes decodes them."""
    width, dtype = FORMATS[name]
    codes = np.arange(2**width, dtype=f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):
        return codes.view(dtype).astype(np.float32).astype(np.float64)


def decisive_inputs(name):
    """Where a rounding changes its mind: values, ties, both neighbours of each in f32; the limits."""
    values = oracle_values(name)
    values = np.unique(values[np.isfinite(values)])
    ties = (values[1:] + values[:-1]) / 2
    largest, step = values[-1], values[-1] - values[-2]
    beyond = largest + step * np.array([0.5, 1, 2, 4])
    smallest = values[values > 0][0]
    tiny = smallest * np.array([0.5, 0.25, 0.75, 2.0**-10])
    points = np.concatenate([values, ties, beyond, -beyond, tiny, -tiny])
    with np.errstate(over="ignore", under="ignore"):
        points = points.astype(np.float32)
    up = np.nextafter(points, np.float32(np.inf))
    down = np.nextafter(points, np.float32(-np.inf))
    return np.unique(np.concatenate([points, up, down]).view(np.uint32)).view(np.float32)


def special_inputs():
    bits = [0x00000000, 0x80000000, 0x7F800000, 0xFF800000,  # zeros, infinities
            0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7FFFFFFF,  # NaN
            0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF,  # subnormals of f32
            0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3FFFFFFF, 0x00400000, 0x00400001, 0x003FFFFF]
    return np.array(bits, np.uint32).view(np.float32)


def assert_same_codes(name, inputs):
    ours, theirs = convert(name, inputs), oracle_codes(name, inputs)
    wrong = np.flatnonzero(ours != theirs)
    shown = [f"{inputs[i]!r}: {ours[i]:#x}, expected {theirs[i]:#x}" for i in wrong[:8]]
    assert not len(wrong), f"{name}: {len(wrong)} of {len(inputs)} differ: " + "; ".join(shown)


def test_the_probe_knows_every_narrow_float_of_ml_dtypes():
    known = {str(dtype) for _, dtype in FORMATS.values()}
    theirs = {n for n in dir(ml_dtypes) if n.startswith(("float4_", "float6_", "float8_"))}
    assert theirs <= known


@pytest.mark.parametrize("name", UP_TO_16)
def test_every_code_has_the_oracles_value(name):
    ours, theirs = decode(name, np.arange(2 ** FORMATS[name][0])), oracle_values(name)
    assert np.array_equal(ours, theirs, equal_nan=True)
    numbers = ~np.isnan(theirs)
    assert np.array_equal(np.signbit(ours[numbers]), np.signbit(theirs[numbers]))


@pytest.mark.parametrize("name", UP_TO_16)
def test_values_ties_and_their_neighbours(name):
    assert_same_codes(name, decisive_inputs(name))


@pytest.mark.parametrize("name", FORMATS)
def test_zeros_infinities_nan_and_subnormals(name):
    assert_same_codes(name, special_inputs())


@pytest.mark.parametrize("name", FORMATS)
def test_a_million_random_bit_patterns(name):
    bits = np.random.default_rng(20240808).integers(0, 2**32, 10**6, np.uint32)
    assert_same_codes(name, bits.view(np.float32))


@pytest.mark.parametrize("name", UP_TO_16)
def test_random_values_around_the_formats_range(name):
    values = oracle_values(name)
    values = np.abs(values[np.isfinite(values) & (values != 0)])
    low, high = np.log2(values.min()) - 3, np.log2(values.max()) + 1.5
    random = np.random.default_rng(7)
    with np.errstate(over="ignore"):
        inputs = (np.exp2(random.uniform(low, high, 10**6))).astype(np.float32)
    assert_same_codes(name, inputs * random.choice(np.float32([-1, 1]), inputs.shape))


@pytest.mark.parametrize("name", ["f16", "f32"])
def test_f64_inputs_where_numpy_rounds_once(name):
    random = np.random.default_rng(11)
    bits = random.integers(0, 2**64, 10**6, np.uint64).view(np.float64)
    usual = random.normal(size=10**6) * np.exp2(random.uniform(-30, 17, 10**6))
    assert_same_codes(name, np.concatenate([bits[~np.isnan(bits)], usual]))


@pytest.mark.parametrize("name", NARROW)
def test_f64_is_rounded_once_where_ml_dtypes_rounds_twice(name):
    """N2. Just above a tie, by less than f32 can hold: up, where two roundings give the even one."""
    values = oracle_values(name)
    values = np.unique(values[np.isfinite(values) & (values > 0)])
    ties = (values[1:] + values[:-1]) / 2
    ours = decode(name, convert(name, ties * (1 + 2.0**-40)))
    assert np.array_equal(ours, values[1:])
    ours = decode(name, convert(name, ties * (1 - 2.0**-40)))
    # Between E8M0's two smallest scales the oracles go up, and so does N7.
    expected = np.where((name == "e8m0fnu") & (ties < 2.0**-126), values[1:], values[:-1])
    assert np.array_equal(ours, expected)


def test_ml_dtypes_still_rounds_f64_twice():
    """The known difference, by two literal cases: the day it goes, N2 can say so."""
    once = np.array([1.0625 + 2.0**-40, 464 + 2.0**-40])
    assert decode("e4m3fn", convert("e4m3fn", once)).tolist()[0] == 1.125
    assert convert("e4m3fn", once).tolist()[1] == 0x7F
    assert once.astype(ml_dtypes.float8_e4m3fn).astype(np.float64).tolist() == [1.0, 448.0]


@pytest.mark.parametrize("name", NARROW)
def test_every_value_returns_to_its_code(name):
    values = oracle_values(name)
    codes = np.flatnonzero(np.isfinite(values))
    assert np.array_equal(convert(name, values[codes]), codes)


@pytest.mark.parametrize("overflow, expected", [("special", "inf"), ("saturate", "57344")])
def test_overflow_answers_of_e5m2(overflow, expected):
    codes = convert("e5m2", np.array([1e30], np.float32), "ties-to-even", overflow)
    assert decode("e5m2", codes)[0] == float(expected)


@pytest.mark.parametrize("exponent_bits, trailing_bits", [
    (5, 10), (5, 2), (4, 3), (3, 4), (8, 7), (8, 0), (2, 0), (1, 3), (6, 23), (8, 23)])
def test_reduce_precision_is_xlas(exponent_bits, trailing_bits):
    """N10."""
    lax = pytest.importorskip("jax.lax", reason="JAX is not installed")
    random = np.random.default_rng(13)
    bits = random.integers(0, 2**32, 10**5, np.uint32).view(np.float32)
    usual = random.normal(size=10**5) * np.exp2(random.uniform(-40, 40, 10**5))
    inputs = np.concatenate([bits[~np.isnan(bits)], usual.astype(np.float32),
                             special_inputs()[:4],
                             np.float32([65519, 65520, 2**-14, 2**-15, 1.5, 3, 6, 248])])
    theirs = np.asarray(lax.reduce_precision(inputs, exponent_bits, trailing_bits))
    arguments = (str(exponent_bits), str(trailing_bits))
    ours = np.frombuffer(probe("reduce", "f32", *arguments, given=inputs.tobytes()), np.float32)
    assert np.array_equal(ours.view(np.uint32), theirs.view(np.uint32))
