"""Tesla's CFloat8: the value of every code under every bias, written from the paper's text and its tables
of ranges, roundings between neighbours, and tensors whose scale says the bias."""
import json
import os
import pathlib
import subprocess

import jax.numpy as jnp
import numpy as np
import pytest

import octavo
import octavo.checkpoint
import octavo.jax as oj

# Exponent bits, trailing significand bits, the bias that octavo's row has.
FIELDS = {"cfloat8_1_4_3": (4, 3, 7), "cfloat8_1_5_2": (5, 2, 15)}
CODES = np.arange(256, dtype=np.uint8)
EVERY = pytest.mark.parametrize("name", FIELDS)


def values(name, bias):
    """Of codes 0 to 255, in f64: a sign, an exponent that is biased, a significand of a hidden one, and
    zero and the subnormals below; no code is left for Inf and NaN."""
    exponent_bits, trailing_bits, _ = FIELDS[name]
    result = []
    for code in range(256):
        sign, field = -1.0 if code >= 128 else 1.0, code % 128
        exponent, trailing = divmod(field, 2 ** trailing_bits)
        assert exponent < 2 ** exponent_bits
        significand = trailing / 2 ** trailing_bits + (1 if exponent > 0 else 0)
        result.append(sign * significand * 2.0 ** (max(exponent, 1) - bias))
    return np.array(result)


@EVERY
@pytest.mark.parametrize("bias", range(64))
def test_every_code_under_every_bias(name, bias):
    tensor = octavo.from_cfloat8(CODES.reshape(4, 64), name, bias=bias)
    found = tensor.dequantize()
    np.testing.assert_array_equal(found.reshape(-1), values(name, bias).astype(np.float32))
    np.testing.assert_array_equal(np.signbit(found.reshape(-1)), CODES >= 128)  # of zero too
    assert octavo.cfloat8_bias(tensor) == bias and np.shares_memory(tensor.codes, CODES)


class OnlyDlpack:
    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


class OnlyArray:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("kind", [OnlyDlpack, OnlyArray, jnp.asarray])
def test_codes_of_every_kind_of_array(kind):
    tensor = octavo.from_cfloat8(kind(CODES.reshape(8, 32)), "cfloat8_1_5_2", bias=20)
    assert tensor == octavo.from_cfloat8(CODES.reshape(8, 32), "cfloat8_1_5_2", bias=20)


# Tables 4 and 5: exponents of the least and the greatest normal number.
@pytest.mark.parametrize("name, bias, least, greatest", [
    ("cfloat8_1_4_3", 0, 1, 15), ("cfloat8_1_4_3", 1, 0, 14), ("cfloat8_1_4_3", 31, -30, -16),
    ("cfloat8_1_4_3", 62, -61, -47), ("cfloat8_1_4_3", 63, -62, -48),
    ("cfloat8_1_5_2", 0, 1, 31), ("cfloat8_1_5_2", 1, 0, 30), ("cfloat8_1_5_2", 31, -30, 0),
    ("cfloat8_1_5_2", 62, -61, -31), ("cfloat8_1_5_2", 63, -62, -32)])
def test_ranges_that_the_paper_prints(name, bias, least, greatest):
    trailing_bits = FIELDS[name][1]
    codes = np.uint8([1 << trailing_bits, 0x7F, 0x80 | 1 << trailing_bits, 0xFF])
    largest = (2 - 2.0 ** -trailing_bits) * 2.0 ** greatest
    assert octavo.from_cfloat8(codes, name, bias=bias).dequantize().tolist() == [
        2.0 ** least, largest, -(2.0 ** least), -largest]


@EVERY
def test_rounding_between_neighbours(name):
    positive = values(name, FIELDS[name][2])[:128]
    below, above = positive[:-1], positive[1:]
    tie = ((below + above) / 2).astype(np.float32)  # exact: a bit more than the codes have
    codes = CODES[:127]
    for sign, bit in ((1, 0), (-1, 128)):
        for x, expected in ((below, codes), (tie, codes + codes % 2),
                            (np.nextafter(tie, np.float32(0)), codes),
                            (np.nextafter(tie, np.float32(np.inf)), codes + 1), (above, codes + 1)):
            found = octavo.convert((sign * x).astype(np.float32), name)
            np.testing.assert_array_equal(found, expected | bit)
    beyond = np.float32([positive[-1] * 2, np.inf, -np.inf, -3e38])
    assert octavo.convert(beyond, name).tolist() == [0x7F, 0x7F, 0xFF, 0xFF]


@EVERY
@pytest.mark.parametrize("exponent", [-90, -48, -20, 0, 9])
def test_a_preset_whose_bias_has_six_bits(name, exponent):
    x = (np.random.default_rng(0).normal(size=(40, 50)) * 2.0 ** exponent).astype(np.float32)
    tensor = octavo.quantize(x, f"{name}_tensor", preset="tesla")
    bias = octavo.cfloat8_bias(tensor)
    amax = np.abs(x).max()
    assert bias == max(each for each in range(64) if amax <= values(name, each)[127])
    assert octavo.from_cfloat8(tensor.codes, name, bias=bias) == tensor
    table = values(name, bias)
    np.testing.assert_array_equal(tensor.dequantize(), table[tensor.codes].astype(np.float32))
    nearest = np.abs(x[..., None].astype(np.float64) - table).min(-1)
    np.testing.assert_array_equal(np.abs(tensor.dequantize().astype(np.float64) - x), nearest)


@EVERY
def test_what_the_preset_does_with_corners(name):
    def made(*x):
        return octavo.quantize(np.float32(x), f"{name}_tensor", preset="tesla", nan="skip-nan")

    assert octavo.cfloat8_bias(made(0, -0.0)) == FIELDS[name][2]
    assert made(np.nan, -np.inf, 1).codes[:2].tolist() == [0x7F, 0xFF]  # clamped


@EVERY
@pytest.mark.parametrize("rows", [1, 4, 40])
def test_products_of_every_code(name, rows):
    """Against f64: the greatest exponent is a number like others in every kernel."""
    random = np.random.default_rng(rows)
    a, b = random.integers(0, 256, (rows, 300)).astype(np.uint8), random.integers(0, 256, (33, 300)).astype(np.uint8)
    left, right = octavo.from_cfloat8(a, name, bias=20), octavo.from_cfloat8(b, name, bias=3)
    x, w = values(name, 20)[a], values(name, 3)[b]
    bound = 400 * 2.0 ** -24 * (np.abs(x) @ np.abs(w).T)
    assert (np.abs(octavo.matmul(left, right.T) - x @ w.T) <= bound).all()
    assert (np.abs(octavo.matmul(x.astype(np.float32), right.T) - x @ w.T) <= 2 * bound).all()
    if rows == 4:
        found = oj.matmul(oj.from_tensor(left), oj.from_tensor(right).mT)
        assert (np.abs(np.asarray(found) - x @ w.T) <= bound).all()


@EVERY
def test_in_jax(name):
    scaled = oj.from_tensor(octavo.from_cfloat8(CODES, name, bias=40))
    np.testing.assert_array_equal(oj.dequantize(scaled), values(name, 40).astype(np.float32))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(8, 8)), jnp.float32)
    assert octavo.cfloat8_bias(oj.quantize(x, f"{name}_tensor").to_tensor()) == octavo.cfloat8_bias(
        octavo.quantize(np.asarray(x), f"{name}_tensor"))


@EVERY
def test_files_neither_store_nor_guess_them(name, tmp_path):
    tensor = octavo.from_cfloat8(CODES.reshape(8, 32), name, bias=7)
    with pytest.raises(octavo.DtypeError, match=f'"w".*no dtype for {name}'):
        octavo.save(tmp_path / "w.safetensors", {"w": tensor})
    for layout in ("native", "compressed-tensors", "fp8"):
        with pytest.raises(octavo.Error, match=f"m.weight.*{name}"):
            octavo.checkpoint.write(tmp_path / "out", {"m.weight": tensor}, layout=layout)
    tool = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
    command = [tool, "checkpoint", "layouts", "--json"]
    layouts = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert "fp8_tensor" in json.dumps(layouts) and "cfloat8" not in json.dumps(layouts)


def cfloat8(shape=(2, 2), bias=7, name="cfloat8_1_4_3"):
    return octavo.from_cfloat8(np.zeros(shape, np.uint8), name, bias=bias)


def under_scale(byte):
    return octavo.ScaledTensor(np.zeros((2, 2), np.uint8), np.full((1, 1), byte, np.uint8), "cfloat8_1_5_2_tensor")


@pytest.mark.parametrize("call, error, message", [
    (lambda: cfloat8(bias=64), octavo.FormatError, "bias: expected 0 to 63, .* found 64"),
    (lambda: cfloat8(bias=-1), octavo.FormatError, "found -1"),
    (lambda: cfloat8(bias=7.0), octavo.DtypeError, "bias: expected an integer, found float"),
    (lambda: cfloat8(name="e4m3fn"), octavo.FormatError, "cfloat8_1_4_3 or cfloat8_1_5_2, found 'e4m3fn'"),
    (lambda: cfloat8(name="cfloat8_1_4_3_tensor"), octavo.FormatError, "found 'cfloat8_1_4_3_tensor'"),
    (lambda: octavo.from_cfloat8(np.zeros(3, np.float32), "cfloat8_1_4_3", bias=7), octavo.DtypeError,
     "uint8.*float32"),
    (lambda: octavo.from_cfloat8([[1, 2], [3]], "cfloat8_1_4_3", bias=7), octavo.DtypeError,
     r"codes: .*list; numpy\.asarray"),
    (lambda: octavo.cfloat8_bias(np.zeros(3)), octavo.DtypeError, "expected an octavo.ScaledTensor, found ndarray"),
    (lambda: octavo.cfloat8_bias(octavo.quantize(np.ones(32, np.float32), "mxfp4")), octavo.FormatError, "found mxfp4"),
    (lambda: octavo.cfloat8_bias(cfloat8(shape=(0, 3))), octavo.ShapeError, r"\(0, 3\) has no values"),
    (lambda: octavo.cfloat8_bias(under_scale(143)), octavo.FormatError,
     r"no bias of 0 to 63 .* 2\^16; .*divided by 2\^1 "),
    (lambda: octavo.cfloat8_bias(under_scale(78)), octavo.FormatError, r"2\^-49.*preset=\"tesla\""),
    (lambda: octavo.cfloat8_bias(under_scale(255)), octavo.FormatError, 'NaN; .*preset="tesla"'),
])
def test_what_is_no_cfloat8_is_told(call, error, message):
    with pytest.raises(error, match=message):
        call()
