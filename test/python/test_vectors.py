"""`octavo vectors`: codes, roundings and quantized blocks against ml_dtypes and NumPy."""
import csv
import io
import json
import os
import pathlib
import subprocess
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
TYPES = {"e4m3fn": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e4m3": ml_dtypes.float8_e4m3,
         "e3m4": ml_dtypes.float8_e3m4, "e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "e2m1fn": ml_dtypes.float4_e2m1fn,
         "e2m3fn": ml_dtypes.float6_e2m3fn, "e3m2fn": ml_dtypes.float6_e3m2fn, "bf16": ml_dtypes.bfloat16,
         "f16": np.float16}


def vectors(*arguments):
    done = subprocess.run([OCTAVO, "vectors", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def refused(*arguments):
    done = subprocess.run([OCTAVO, "vectors", *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout, done.stdout
    return done.stderr


def column(rows, name, dtype):
    return np.array([int(row[name], 16) for row in rows], dtype)


@pytest.mark.parametrize("name", TYPES)
def test_every_code_with_its_value(name):
    rows = vectors(name)
    dtype = np.dtype(TYPES[name])
    bits = {"e2m1fn": 4, "e2m3fn": 6, "e3m2fn": 6}.get(name, 8 * dtype.itemsize)
    container = np.uint8 if dtype.itemsize == 1 else np.uint16
    assert column(rows, "code", np.int64).tolist() == list(range(1 << bits))
    with np.errstate(invalid="ignore"):  # signalling NaN codes
        values = np.arange(1 << bits).astype(container).view(dtype).astype(np.float64)
    np.testing.assert_array_equal(np.array([float(row["value"]) for row in rows]), values)
    signs = np.array([row["value"].startswith("-") for row in rows])
    assert (signs == np.signbit(values))[~np.isnan(values)].all()


@pytest.mark.parametrize("name", TYPES)
def test_roundings_are_those_of_ml_dtypes(name):
    rows = vectors(name, "--rounding", "ties-to-even")
    inputs = column(rows, "input", np.uint32).view(np.float32)
    with np.errstate(over="ignore"):
        expected = inputs.astype(TYPES[name])
    codes = column(rows, "code", np.uint16).astype(f"uint{8 * expected.itemsize}")
    # NumPy keeps what fits of a NaN's payload; the codes of NaN are rule N3's.
    isnan = np.isnan(inputs)
    found, wanted = codes, expected.view(codes.dtype)
    assert (found == wanted)[~isnan].all(), [rows[i] for i in np.flatnonzero((found != wanted) & ~isnan)[:5]]
    assert isnan.sum() == 2 and np.isinf(inputs).sum() == 2
    values = np.unique(np.abs(expected[np.isfinite(expected.astype(np.float64))].astype(np.float64)))
    assert len(values) >= 1 << (3 if name == "e2m1fn" else 5)  # every magnitude of the format is a result


def test_the_inputs_hold_both_sides_of_every_midpoint():
    inputs = set(column(vectors("e2m1fn", "--rounding", "toward-zero"), "input", np.uint32).view(np.float32).tolist())
    for midpoint in (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 7):
        for value in (np.nextafter(np.float32(midpoint), np.float32(0)), midpoint,
                      np.nextafter(np.float32(midpoint), np.float32(9))):
            assert float(value) in inputs and -float(value) in inputs


def test_overflow():
    last = {row["input"]: row["code"] for row in vectors("e4m3fn", "--overflow", "saturate")}
    assert last["0x7F800000"] == "0x7E" and last["0xFF800000"] == "0xFE"
    special = {row["input"]: row["code"] for row in vectors("e4m3fn", "--overflow", "special")}
    assert special["0x7F800000"] == "0x7F" and special["0xFF800000"] == "0xFF"


def test_stochastic_roundings_follow_their_random_number():
    """N5: away from zero if r < 2^32 d, d the fraction of the way to the neighbour away from zero."""
    values = [Fraction(v) for v in (0, 0.5, 1, 1.5, 2, 3, 4, 6)]
    checked = 0
    for row in vectors("e2m1fn", "--rounding", "stochastic"):
        x = abs(float(row["value"]))
        if not x < 6:
            continue
        below = max(i for i, v in enumerate(values) if v <= Fraction(x))
        d = (Fraction(x) - values[below]) / (values[below + 1] - values[below])
        code = below + (int(row["random"], 16) < 2**32 * d)
        assert int(row["code"], 16) & 7 == code, row
        checked += 1
    assert checked > 200


def blocks(rows, size):
    inputs = np.array([[int(x, 16) for x in row["inputs"].split()] for row in rows], np.uint32).view(np.float32)
    elements = np.array([[int(x, 16) for x in row["elements"].split()] for row in rows], np.uint8)
    assert inputs.shape == elements.shape == (len(rows), size)
    return inputs, column(rows, "scale", np.uint32), elements


@pytest.mark.parametrize("name, element, emax", [("mxfp4", "e2m1fn", 2), ("mxfp8_e4m3", "e4m3fn", 8),
                                                 ("mxfp6_e2m3", "e2m3fn", 2)])
def test_blocks_of_mx(name, element, emax):
    """OCP MX 6.3 by NumPy: the scale from the exponent of the largest magnitude, elements saturate."""
    inputs, scales, elements = blocks(vectors(name, "--blocks", "300"), 32)
    largest = np.abs(inputs).max(1)
    exponents = np.where(largest > 0, np.frexp(largest)[1] - 1 - emax, -127).clip(-127, 127)
    np.testing.assert_array_equal(scales, exponents + 127)
    most = float(ml_dtypes.finfo(TYPES[element]).max)
    quotients = np.ldexp(inputs.astype(np.float64), -exponents[:, None]).clip(-most, most).astype(np.float32)
    np.testing.assert_array_equal(elements, quotients.astype(TYPES[element]).view(np.uint8))
    assert (largest[0], largest[2]) == (0, 1) and 0 < largest[1] < np.finfo(np.float32).smallest_normal


def test_blocks_of_nvfp4():
    """S5 to S7 in NumPy: an outer scale of the whole tensor, scales in e4m3fn."""
    rows = vectors("nvfp4", "--blocks", "300", "--seed", "5")
    inputs, scales, elements = blocks(rows, 16)
    (outer,) = np.unique(column(rows, "outer", np.uint32)).view(np.float32)
    assert outer == np.float32(np.abs(inputs).max()) / np.float32(2688)
    largest = np.abs(inputs).max(1)
    values = (largest / np.float32(6) / outer).astype(ml_dtypes.float8_e4m3fn)
    values = np.where(largest == 0, np.float32(1), np.maximum(values.astype(np.float32), np.float32(2**-9)))
    np.testing.assert_array_equal(scales.astype(np.uint8), values.astype(ml_dtypes.float8_e4m3fn).view(np.uint8))
    quotients = (inputs / (values * outer)[:, None]).clip(-6, 6)
    np.testing.assert_array_equal(elements, quotients.astype(ml_dtypes.float4_e2m1fn).view(np.uint8))


def test_a_seed_gives_the_same_blocks_and_another_gives_others():
    assert vectors("mxfp4", "--seed", "3") == vectors("mxfp4", "--seed", "3") != vectors("mxfp4")


def test_a_preset_and_a_rule_change_blocks():
    by = {choice: vectors("mxfp4", "--blocks", "100", *choice) for choice in
          [(), ("--rule", "ceil"), ("--preset", "torchao-ceil"), ("--preset", "ocp"), ("--rounding", "toward-zero")]}
    assert by[()] == by[("--preset", "ocp")] != by[("--rule", "ceil")] == by[("--preset", "torchao-ceil")]
    assert by[("--rounding", "toward-zero")] != by[()]


@pytest.mark.parametrize("arguments", [("e4m3fn",), ("e2m1fn", "--rounding", "stochastic"), ("nvfp4",)])
def test_json_says_the_same(arguments):
    done = subprocess.run([OCTAVO, "vectors", *arguments, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == vectors(*arguments)


@pytest.mark.parametrize("arguments, message", [
    (("e4m3f",), "did you mean"), (("f32",), "at most 16 bits"), (("fp8_row",), "blocks lie in a row"),
    (("fp8_block",), "blocks lie in a row"), (("e4m3fn", "--rule", "ceil"), "name a scaled format"),
    (("mxfp4", "--rule", "up"), "up"), (("e4m3fn", "--rounding", "nearest"), "available: ties-to-even"),
    (("e4m3fn", "--overflow", "wrap"), "saturate"), (("mxfp4", "--rounding", "stochastic"), "column of random numbers"),
    (("mxfp4", "--blocks", "0"), "--blocks")])
def test_what_there_are_no_vectors_of(arguments, message):
    assert message in refused(*arguments)
