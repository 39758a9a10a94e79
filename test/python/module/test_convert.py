"""octavo.convert against ml_dtypes and NumPy (docs/semantics.md, N1 to N8)."""
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import elements
import octavo

ELEMENTS = {name: row for name, row in octavo.formats().items()
            if isinstance(row, octavo.ElementFormat)}
NARROW = [name for name, row in ELEMENTS.items() if row.bits <= 8 and row.name != "int8"]
WIDE = ["f32", "bf16", "f16"]


def dtype(name):
    return elements.dtype(ELEMENTS[name])


def every_value(name):
    """Every value of a format of 16 bits; for f32, those of bf16 and their neighbours."""
    if name == "f32":
        high = np.arange(1 << 16, dtype=np.uint32) << 16
        return (high[:, None] + np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)).view(
            np.float32)
    return np.arange(1 << 16, dtype=np.uint16).view(dtype(name))


def codes_equal(found, expected):
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("narrow", NARROW)
def test_to_narrow_is_what_ml_dtypes_does(narrow, wide):
    values = every_value(wide)
    with np.errstate(all="ignore"):
        expected = elements.rounded(values.astype(np.float32), ELEMENTS[narrow])
    codes_equal(octavo.convert(values, narrow), expected)


@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("narrow", NARROW)
def test_to_wide_is_what_ml_dtypes_does(narrow, wide):
    row = ELEMENTS[narrow]
    codes = np.arange(1 << row.bits, dtype=np.uint8).view(dtype(narrow))
    with np.errstate(all="ignore"):
        expected = elements.values(codes, row).astype(np.float32).astype(dtype(wide))
    found = octavo.convert(codes, wide, **({} if row.numpy else {"source": narrow}))
    assert found.dtype == dtype(wide)
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))
    raw = octavo.convert(codes.view(np.uint8), wide, source=narrow)
    np.testing.assert_array_equal(raw.view(f"u{raw.itemsize}"), found.view(f"u{raw.itemsize}"))


def test_narrow_to_narrow_rounds_once():
    codes = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
    codes_equal(octavo.convert(codes, "e5m2"), codes.astype(ml_dtypes.float8_e5m2))


def test_int8_is_code_over_64():  # OCP MX 5.3.4
    codes = np.arange(-128, 128, dtype=np.int8)
    values = octavo.convert(codes, "f32", source="int8")
    np.testing.assert_array_equal(values, codes.astype(np.float32) / 64)
    np.testing.assert_array_equal(octavo.convert(values, "int8"), codes)


@pytest.mark.parametrize("to", ["f8E4M3FN", "F8_E4M3", "float8_e4m3fn", ml_dtypes.float8_e4m3fn,
                                np.dtype(ml_dtypes.float8_e4m3fn)])
def test_a_format_is_named_as_its_systems_name_it(to):
    assert octavo.convert(np.float32([1]), to).dtype == ml_dtypes.float8_e4m3fn


def test_rounding_and_overflow():
    # e4m3fn between 1 and 1.125; past 448, where there is NaN; N4 and N6
    x = np.float32([1.0625, -1.0625, 1000, -1000, np.inf])
    for rounding, expected in {
        "ties-to-even": [1, -1], "ties-to-away": [1.125, -1.125], "toward-zero": [1, -1],
        "toward-positive": [1.125, -1], "toward-negative": [1, -1.125],
    }.items():
        found = octavo.convert(x[:2], "e4m3fn", rounding=rounding)
        np.testing.assert_array_equal(found.astype(np.float32), np.float32(expected))
    assert np.isnan(octavo.convert(x[2:], "e4m3fn").astype(np.float32)).all()
    np.testing.assert_array_equal(
        octavo.convert(x[2:], "e4m3fn", overflow="saturate").astype(np.float32), [448, -448, 448])


def test_nan_where_there_is_none():  # N3
    x = np.float32([np.nan])
    assert octavo.convert(x, "e2m1fn").view(np.uint8) == 0x8
    assert octavo.convert(x, "e2m1fn", nan="maximum").astype(np.float32) == 6


@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, min_side=0, max_dims=4, max_side=7),
                  elements=st.floats(width=32)), st.sampled_from(NARROW))
def test_any_shape_and_any_values(x, narrow):
    with np.errstate(all="ignore"):
        codes_equal(octavo.convert(x, narrow), elements.rounded(x, ELEMENTS[narrow]))
