"""octavo.to_fnuz and octavo.to_ocp: the same values in AMD's formats, decoded by ml_dtypes."""
import ml_dtypes
import numpy as np
import pytest

import octavo

PAIRS = [("float8_e4m3fn", "float8_e4m3fnuz"), ("float8_e5m2", "float8_e5m2fnuz")]


def finite(dtype):
    codes = np.arange(256, dtype=np.uint8).view(dtype)
    return codes[np.isfinite(codes.astype(np.float32))]


@pytest.mark.parametrize("ocp, fnuz", PAIRS)
@pytest.mark.parametrize("scale", ["float32", "bfloat16", "float16", "float8_e8m0fnu"])
def test_values_stay(ocp, fnuz, scale):
    codes = finite(ocp)
    scales = np.array([0.5, 2.0, 1.0]).astype(scale)
    found, doubled, counts = octavo.to_fnuz(codes, scales)
    assert found.dtype == fnuz and doubled.dtype == scale and counts["negative_zeros"] == 1
    np.testing.assert_array_equal(
        np.outer(doubled.astype(np.float32), found.astype(np.float32)),
        np.outer(scales.astype(np.float32), codes.astype(np.float32)))
    back, halved, _ = octavo.to_ocp(found, doubled)
    np.testing.assert_array_equal(back.astype(np.float32), codes.astype(np.float32))
    np.testing.assert_array_equal(halved.view(np.uint8), scales.view(np.uint8))
    raw = octavo.to_fnuz(codes.view(np.uint8), scales, source=ocp)[0]
    np.testing.assert_array_equal(raw.view(np.uint8), found.view(np.uint8))


def test_what_has_no_twin():
    scale = np.float32(1)
    nan = np.uint8([0x7F, 0xFF]).view(ml_dtypes.float8_e4m3fn)
    assert np.isnan(octavo.to_fnuz(nan, scale, special="nan")[0].astype(np.float32)).all()
    saturated = octavo.to_fnuz(nan, scale, special="saturate")
    assert saturated[0].astype(np.float32).tolist() == [224, -224] and saturated[2]["specials"] == 2
    large = np.float32([240, -240, 1]).astype(ml_dtypes.float8_e4m3fnuz)
    assert octavo.to_ocp(large, scale, no_twin="saturate")[0].astype(np.float32).tolist() == [
        448, -448, 2]
    codes, same, counts = octavo.to_ocp(large, scale, no_twin="requantize")
    assert codes.astype(np.float32).tolist() == [240, -240, 1] and same == 1
    assert counts["no_twins"] == 2


@pytest.mark.parametrize("ocp, fnuz", PAIRS)
def test_capped_codes_are_values_that_ocp_has_halved(ocp, fnuz):
    codes = np.arange(256, dtype=np.uint8).view(fnuz)
    most = float(ml_dtypes.finfo(ocp).max) / 2  # 224, 28672
    capped, changed = octavo.cap_fnuz(codes)
    values = codes.astype(np.float32)
    assert capped.dtype == fnuz and changed == (abs(values) > most).sum() > 0
    np.testing.assert_array_equal(capped.astype(np.float32), np.clip(values, -most, most))
    raw, again = octavo.cap_fnuz(capped.view(np.uint8), source=fnuz)
    assert again == 0
    np.testing.assert_array_equal(raw.view(np.uint8), capped.view(np.uint8))


def test_the_arguments_stay_as_they_are():
    codes, scales = np.uint8([0x80, 1]).view("float8_e4m3fn"), np.float32([1])
    octavo.to_fnuz(codes, scales)
    large = np.uint8([0x7F])
    octavo.cap_fnuz(large, source="e4m3fnuz")
    assert large[0] == 0x7F
    assert codes.view(np.uint8).tolist() == [0x80, 1] and scales.tolist() == [1]


E4 = np.uint8([1, 0x7F]).view("float8_e4m3fn")


@pytest.mark.parametrize("call, error, words", [
    (lambda: octavo.to_fnuz(E4, np.float32(1)), octavo.NonFiniteError, "0x7f at index 1.*special="),
    (lambda: octavo.to_fnuz(E4[:1], np.float32(3e38)), octavo.NonFiniteError, "scale_range"),
    (lambda: octavo.to_ocp(E4, np.float32(1)), octavo.DtypeError, "expected float8_e4m3fnuz"),
    (lambda: octavo.cap_fnuz(E4), octavo.DtypeError, "expected float8_e4m3fnuz"),
    (lambda: octavo.to_fnuz(E4.view(np.uint8), np.float32(1)), octavo.DtypeError, "source="),
    (lambda: octavo.to_fnuz(E4, np.float64(1)), octavo.DtypeError, "float64"),
    (lambda: octavo.to_fnuz(E4, np.float32(1), source="e5m2"), octavo.DtypeError, "leave source"),
    (lambda: octavo.to_fnuz(E4, np.float32(1), special="drop"), octavo.FormatError, "refuse, nan"),
    (lambda: octavo.to_ocp(np.uint8([1]).view("float8_e4m3fnuz"), np.ones(2, np.float32),
                           no_twin="requantize"), octavo.ShapeError, "one scale at a time"),
])
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_what_converting_by_value_changes_is_counted():
    # +240 has no twin; 2^-10 and 3 * 2^-10 lie halfway between multiples of 2^-9; 2^-9 and 1 stay (F9)
    codes, scales, changed = octavo.to_ocp(np.uint8([0x7F, 0x01, 0x03, 0x02, 0x40]), np.float32([1]),
                                           source="e4m3fnuz", no_twin="requantize")
    assert codes.astype(np.float32).tolist() == [240, 0, 2 ** -8, 2 ** -9, 1] and scales == 1
    assert changed["inexact"] == 2 and changed["negative_zeros"] == changed["specials"] == 0
