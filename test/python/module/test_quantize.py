"""octavo.quantize and octavo.dequantize against the rules of the OCP MX specification, written here
in NumPy and ml_dtypes (docs/semantics.md, S1 to S8)."""
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import elements
import octavo

MX = [name for name, row in octavo.formats().items()
      if isinstance(row, octavo.ScaledFormat) and row.scale.name == "e8m0fnu" and row.block == (1, 32)]
SCALED = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)]


def element_values(row):
    """All finite values of an element format and their codes, ascending."""
    if row.name == "int8":
        codes = np.arange(-127, 128)  # S9: -2 is never produced
        return codes / 64, codes
    codes = np.arange(1 << row.bits, dtype=np.uint8)
    values = elements.values(codes, row)
    keep = np.isfinite(values) & ~((values == 0) & np.signbit(values))
    order = np.argsort(values[keep])
    return values[keep][order], codes[keep][order]


def nearest(x, row):
    """The value nearest to each x, ties to the even code, saturating."""
    values, codes = element_values(row)
    high = np.clip(np.searchsorted(values, x), 1, len(values) - 1)
    below, above = x - values[high - 1], values[high] - x
    take_high = (above < below) | ((above == below) & (codes[high] % 2 == 0))
    return np.where(take_high, values[high], values[high - 1])


def mx_quantize(x, row):
    """OCP MX 6.3 along the last axis, floor: scales as exponents, and the values that result."""
    x = x.astype(np.float64)
    pad = -x.shape[-1] % 32
    blocks = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, pad)])
    blocks = blocks.reshape(*x.shape[:-1], -1, 32)
    amax = np.abs(blocks).max(-1, keepdims=True)
    emax = int(np.floor(np.log2(row.element.max)))
    exponent = np.frexp(amax)[1] - 1 - emax
    exponent = np.where(amax == 0, -127, np.clip(exponent, -127, 127))
    values = nearest(blocks / 2.0 ** exponent, row.element) * 2.0 ** exponent
    values = values.reshape(*x.shape[:-1], -1)[..., :x.shape[-1]]
    return exponent[..., 0], values.astype(np.float32)


@pytest.mark.parametrize("name", MX)
@pytest.mark.parametrize("shape", [(64,), (5, 70), (2, 3, 33), (1, 1)])
def test_mx_is_ocp_6_3(name, shape):
    row = octavo.formats()[name]
    random = np.random.default_rng(len(shape))
    x = (random.normal(size=shape) * 2.0 ** random.integers(-40, 40, shape)).astype(np.float32)
    exponents, values = mx_quantize(x, row)
    tensor = octavo.quantize(x, name)
    np.testing.assert_array_equal(tensor.scales.view(np.uint8), exponents + 127)
    np.testing.assert_array_equal(tensor.dequantize(), values)


@given(x=hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_dims=3, max_side=40),
                    elements=st.floats(width=32, allow_nan=False, allow_infinity=False,
                                       allow_subnormal=False)),
       name=st.sampled_from(MX))
def test_mx_is_ocp_6_3_for_any_values(x, name):
    exponents, values = mx_quantize(x, octavo.formats()[name])
    tensor = octavo.quantize(x, name)
    np.testing.assert_array_equal(tensor.scales.view(np.uint8), exponents + 127)
    np.testing.assert_array_equal(tensor.dequantize(), values)


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("shape, axis", [((40, 70), 0), ((40, 70), 1), ((40, 7, 20), 0),
                                         ((4, 70, 20), 1), ((4, 7, 50), -1)])
def test_an_axis_is_the_last_axis_moved(name, shape, axis):
    if name == "fp8_block" and len(shape) > 2:
        shape, axis = (150, 140), axis % 2  # moving an axis away from three changes its blocks
    x = np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)
    tensor = octavo.quantize(x, name, axis=axis)
    moved = octavo.quantize(np.ascontiguousarray(np.moveaxis(x, axis, -1)), name)
    np.testing.assert_array_equal(np.moveaxis(tensor.dequantize(), axis, -1), moved.dequantize())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_16_bit_floats_are_quantized_as_their_values(dtype):
    x = np.random.default_rng(0).normal(size=(3, 64)).astype(dtype)
    for name in SCALED:
        np.testing.assert_array_equal(octavo.quantize(x, name).dequantize(),
                                      octavo.quantize(x.astype(np.float32), name).dequantize())


def test_fp8_row():  # S5, S7: f32 arithmetic
    x = np.random.default_rng(0).normal(size=(4, 100)).astype(np.float32)
    scale = np.abs(x).max(1, keepdims=True) / np.float32(448)
    tensor = octavo.quantize(x, "fp8_row")
    np.testing.assert_array_equal(tensor.scales, scale)
    np.testing.assert_array_equal(tensor.elements.view(np.uint8),
                                  (x / scale).astype("float8_e4m3fn").view(np.uint8))


def test_nvfp4():  # S5 to S7
    x = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
    outer = np.float32(np.abs(x).max() / np.float32(6 * 448))
    tensor = octavo.quantize(x, "nvfp4")
    assert tensor.outer == outer
    amax = np.abs(x.reshape(4, 4, 16)).max(-1)
    scales = (amax / np.float32(6) / outer).astype("float8_e4m3fn")
    np.testing.assert_array_equal(tensor.scales.view(np.uint8), scales.view(np.uint8))
    product = (scales.astype(np.float32) * outer)[..., None]
    elements = (x.reshape(4, 4, 16) / product).astype("float4_e2m1fn")
    np.testing.assert_array_equal(tensor.elements.view(np.uint8),
                                  elements.reshape(4, 64).view(np.uint8))


@pytest.mark.parametrize("rule, scale", [("floor", -2), ("ceil", -1), ("even", -1), ("round-up", -1),
                                         ("nearest", -1)])
def test_rules(rule, scale):  # S3: amax 1.9 in e2m1, emax 2
    tensor = octavo.quantize(np.full(32, 1.9, np.float32), "mxfp4", rule=rule)
    assert tensor.scales.view(np.uint8) == scale + 127


def test_nan_policies():  # S8
    x = np.ones(64, np.float32)
    x[40] = np.nan
    with pytest.raises(octavo.NonFiniteError, match="index 40"):
        octavo.quantize(x, "mxfp4")
    values = octavo.quantize(x, "mxfp4", nan="propagate").dequantize()
    assert (values[:32] == 1).all() and np.isnan(values[32:]).all()


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 5), (1,), (2, 3, 40)])
def test_every_shape(name, shape):
    tensor = octavo.quantize(np.ones(shape, np.float32), name)
    assert tensor.shape == shape
    assert tensor.dequantize().shape == shape
    assert (tensor.dequantize() == 1).all()


@pytest.mark.parametrize("format", SCALED)
@pytest.mark.parametrize("shape, axis", [
    ((1100, 1000), -1), ((1100, 1000), 0), ((2, 1100, 1000), -1), ((2, 1100, 1000), -2), ((2, 1100, 1000), 0),
    ((2, 1, 40, 30000), -1), ((1_100_001,), 0)])
def test_half_precision_in_pieces_is_its_float32_as_a_whole(format, shape, axis):
    """More values than a piece has, cut along rows, columns and members, with short last pieces."""
    x = np.random.default_rng(3).standard_normal(shape, np.float32)
    x *= 2.0 ** np.arange(x.shape[-1]).__mod__(7).astype(np.float32)
    for dtype in (ml_dtypes.bfloat16, np.float16) if shape == (1100, 1000) else (ml_dtypes.bfloat16,):
        half = x.astype(dtype)
        assert octavo.quantize(half, format, axis=axis) == octavo.quantize(half.astype(np.float32), format, axis=axis)


@pytest.mark.parametrize("format", ["mxfp4", "nvfp4", "fp8_tensor", "fp8_row"])
def test_random_numbers_of_pieces_are_those_of_the_whole(format):
    half = np.random.default_rng(4).standard_normal((1500, 1000), np.float32).astype(ml_dtypes.bfloat16)
    arguments = dict(rounding="stochastic", key=(5, 6))
    assert octavo.quantize(half, format, **arguments) == octavo.quantize(half.astype(np.float32), format, **arguments)


@pytest.mark.parametrize("format", ["mxfp4", "nvfp4", "fp8_tensor"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_in_a_late_piece(format, value):
    half = np.ones((1500, 1000), ml_dtypes.bfloat16)
    half[1400, 7] = value
    with pytest.raises(octavo.NonFiniteError, match="at index 1400007 "):
        octavo.quantize(half, format)
    for nan in ("propagate", "saturate", "skip-nan"):
        assert octavo.quantize(half, format, nan=nan) == octavo.quantize(half.astype(np.float32), format, nan=nan)


@pytest.mark.parametrize("format", SCALED)
@pytest.mark.parametrize("shape", [(64, 96), (65, 40), (3, 70, 33), (2, 1, 5, 160), (0, 32)])
def test_both_axes_are_two_calls(format, shape):
    x = np.random.default_rng(5).standard_normal(shape, np.float32)
    for given in (x, x.astype(ml_dtypes.bfloat16), np.asfortranarray(x)):
        rows, columns = octavo.quantize_both(given, format)
        assert rows == octavo.quantize(given, format, axis=-1)
        assert columns == octavo.quantize(given, format, axis=-2)
    is_one = octavo.formats()[format].block in ((128, 128), (None, None))
    assert np.shares_memory(rows.elements, columns.elements) == (is_one and x.size > 0)
    assert is_one or columns.mT.elements.flags.c_contiguous


@pytest.mark.parametrize("arguments", [
    dict(rounding="stochastic", key=3), dict(preset="quark"), dict(rule="even"), dict(overflow="special"),
    dict(nan="propagate")], ids=str)
def test_both_axes_take_the_same_settings(arguments):
    x = np.random.default_rng(6).standard_normal((66, 72), np.float32)
    if "nan" in arguments:
        x[3, 4] = np.nan
    rows, columns = octavo.quantize_both(x, "mxfp8_e4m3", **arguments)
    for found, axis in ((rows, -1), (columns, -2)):
        expected = octavo.quantize(x, "mxfp8_e4m3", axis=axis, **arguments)
        np.testing.assert_array_equal(found.codes, expected.codes)
        np.testing.assert_array_equal(found.scales.view(np.uint8), expected.scales.view(np.uint8))


def test_both_axes_refuse_what_one_does():
    x = np.ones((4, 64), np.float32)
    with pytest.raises(octavo.ShapeError, match="two axes or more, found shape"):
        octavo.quantize_both(x[0], "mxfp4")
    x[1, 2] = np.nan
    with pytest.raises(octavo.NonFiniteError, match="nan at index 66 .*of shape"):
        octavo.quantize_both(x, "mxfp4")
    with pytest.raises(octavo.FormatError, match="give one of them"):
        octavo.quantize_both(x, "mxfp4", rule="even", preset="quark")
