"""octavo.amax, octavo.pack, octavo.unpack."""
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import octavo


def packed_bits(codes, width):
    """A little-endian bit stream of codes, in NumPy."""
    bits = (codes[:, None] >> np.arange(width, dtype=np.uint8)) & 1
    return np.packbits(bits.astype(np.uint8).ravel(), bitorder="little")


@pytest.mark.parametrize("name, width", [("e2m1fn", 4), ("e3m2fn", 6), ("e2m3fn", 6)])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 8, 1000, 1001])
def test_packing_is_a_bit_stream(name, width, n):
    codes = np.random.default_rng(n).integers(0, 1 << width, n, dtype=np.uint8)
    packed = octavo.pack(codes, name)
    np.testing.assert_array_equal(packed, packed_bits(codes, width))
    np.testing.assert_array_equal(octavo.pack(codes.view(octavo.formats()[name].numpy)), packed)
    if n * width % 8 == 0:
        unpacked = octavo.unpack(packed, name)
        assert unpacked.dtype == octavo.formats()[name].numpy
        np.testing.assert_array_equal(unpacked.view(np.uint8), codes)


def test_the_order_of_ocp():  # the first code in the low bits
    assert octavo.pack(np.uint8([1, 2]), "e2m1fn").tolist() == [0x21]


def test_rows_are_packed_one_by_one():
    codes = np.random.default_rng(0).integers(0, 16, (3, 5, 8), dtype=np.uint8)
    packed = octavo.pack(codes, "e2m1fn")
    assert packed.shape == (3, 5, 4)
    np.testing.assert_array_equal(packed[1, 2], packed_bits(codes[1, 2], 4))
    np.testing.assert_array_equal(octavo.unpack(packed, "e2m1fn").view(np.uint8), codes)


@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0),
                  elements=st.floats(width=32)))
def test_amax(x):
    expected = np.abs(x).max(initial=0)
    np.testing.assert_array_equal(octavo.amax(x), expected)
    with np.errstate(over="ignore"):
        half = x.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(octavo.amax(half),
                                  np.abs(half.astype(np.float32)).max(initial=0))


@pytest.mark.parametrize("call, error, words", [
    (lambda: octavo.pack(np.zeros((2, 3), np.uint8), "e2m1fn"), octavo.ShapeError, "whole bytes"),
    (lambda: octavo.pack(np.zeros(4, np.uint8)), octavo.DtypeError, "format="),
    (lambda: octavo.pack(np.zeros(4, np.uint8), "e4m3fn"), octavo.FormatError, "have 8"),
    (lambda: octavo.pack(np.zeros(4, np.int32), "e2m1fn"), octavo.DtypeError, "found int32"),
    (lambda: octavo.pack(np.uint8(1), "e2m1fn"), octavo.ShapeError, r"found shape \(\)"),
    (lambda: octavo.unpack(np.zeros(2, np.uint8), "e3m2fn"), octavo.ShapeError, "of 6 bits"),
    (lambda: octavo.unpack(np.zeros(2, np.int8), "e2m1fn"), octavo.DtypeError, "found int8"),
    (lambda: octavo.unpack(np.zeros(2, np.uint8), "mxfp4"), octavo.FormatError, "unknown element format"),
    (lambda: octavo.amax(np.zeros(2)), octavo.DtypeError, "float64"),
    (lambda: octavo.amax(None), octavo.DtypeError, "NoneType"),
])
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("name", ["e2m1fn", "e2m3fn", "e3m2fn"])
@pytest.mark.parametrize("size", [1, 64, 5000])
def test_bytes_that_are_no_codes_are_refused_wherever_codes_go_in(name, size):
    row = octavo.formats()[name]
    scaled = next(each for each in octavo.formats().values()
                  if isinstance(each, octavo.ScaledFormat) and each.element.name == name)
    for at in {0, size // 2, size - 1}:
        codes = np.zeros((1, size), np.uint8)
        codes[0, at] = 1 << row.bits
        typed = codes.view(row.numpy)
        scales = np.full((1, -(-size // scaled.block[-1])), 127, np.uint8)
        for call in (lambda: octavo.convert(codes, "f32", source=name), lambda: octavo.convert(typed, "f32"),
                     lambda: octavo.convert(typed, "e4m3fn"), lambda: octavo.pack(codes[0], name),
                     lambda: octavo.pack(typed[0]), lambda: octavo.ScaledTensor(codes, scales, scaled),
                     lambda: octavo.ScaledTensor(typed.T, scales.T, scaled, axis=0)):
            with pytest.raises(octavo.FormatError, match=f"at index {at} .* is not a code of {name}"):
                call()


def test_codes_that_are_written_over_behind_a_tensor_are_refused_by_products():
    elements, scales = np.zeros((4, 64), np.uint8), np.full((4, 2), 127, np.uint8)
    q = octavo.ScaledTensor(elements, scales, "mxfp6_e2m3")
    elements[1, 2] = 255
    x = np.ones((2, 64), np.float32)
    for call in (lambda: octavo.matmul(x, q.T), lambda: octavo.matmul(q, q.T), lambda: octavo.matmul(q, x.T)):
        with pytest.raises(octavo.FormatError, match="written to: 0xff is not a code of e2m3fn"):
            call()
