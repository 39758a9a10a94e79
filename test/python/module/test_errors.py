"""What bad input raises: a typed exception that says what was found and what to do."""
import numpy as np
import pytest

import octavo

X = np.ones((4, 64), np.float32)
T = octavo.quantize(X, "mxfp4")

CASES = [
    # what, exception, words of the message
    (lambda: octavo.quantize(X, "mxfp5"), octavo.FormatError, '"mxfp5"; there are .*mxfp4'),
    (lambda: octavo.quantize(X, "mxfp4", rule="best"), octavo.FormatError, "floor, ceil, even"),
    (lambda: octavo.quantize(X, "nvfp4", rule="floor"), octavo.FormatError, 'know "nearest" only'),
    (lambda: octavo.quantize(X, "mxfp4", rounding="up"), octavo.FormatError, "toward-zero"),
    (lambda: octavo.quantize(X, "mxfp4", overflow="wrap"), octavo.FormatError, "saturate, special"),
    (lambda: octavo.quantize(X, "mxfp4", nan="drop"), octavo.FormatError, "propagate"),
    (lambda: octavo.quantize(X.astype(np.float64), "mxfp4"), octavo.DtypeError, "rounded twice"),
    (lambda: octavo.quantize(X.astype(np.int32), "mxfp4"), octavo.DtypeError, "found int32"),
    (lambda: octavo.quantize(X.astype(np.complex64), "mxfp4"), octavo.DtypeError, "complex64"),
    (lambda: octavo.quantize([1.0], "mxfp4"), octavo.DtypeError, "numpy.asarray"),
    (lambda: octavo.quantize(None, "mxfp4"), octavo.DtypeError, "found NoneType"),
    (lambda: octavo.quantize("text", "mxfp4"), octavo.DtypeError, "found str"),
    (lambda: octavo.quantize(X, "mxfp4", axis=2), octavo.ShapeError, "expected -2 to 1"),
    (lambda: octavo.quantize(X, "mxfp4", axis=-3), octavo.ShapeError, "expected -2 to 1"),
    (lambda: octavo.quantize(X * np.inf, "mxfp4"), octavo.NonFiniteError, "inf at index 0"),
    (lambda: octavo.convert(X, "e9m9"), octavo.FormatError, "there are e4m3fn"),
    (lambda: octavo.convert(X, object()), octavo.DtypeError, "to: expected"),
    (lambda: octavo.convert(X, "f64"), octavo.FormatError, "astype"),
    (lambda: octavo.convert(X, "bf16"), octavo.FormatError, "astype"),
    (lambda: octavo.convert(X, "e4m3fn", nan="zero"), octavo.FormatError, "negative-zero, maximum"),
    (lambda: octavo.convert(X.astype(np.uint8), "f32"), octavo.DtypeError, "source="),
    (lambda: octavo.convert(X.astype(np.int8), "f32"), octavo.DtypeError, "source="),
    (lambda: octavo.convert(X, "e4m3fn", source="bf16"), octavo.DtypeError, "float32"),
    (lambda: octavo.convert(X.astype(np.uint8), "f32", source="bf16"), octavo.DtypeError, "8 bits"),
    (lambda: octavo.ScaledTensor(T.elements, T.scales[:, :1], "mxfp4"), octavo.ShapeError,
     r"scales of shape \(4, 2\), found \(4, 1\)"),
    (lambda: octavo.ScaledTensor(T.elements, T.scales, "mxfp8_e4m3"), octavo.DtypeError,
     "expected float8_e4m3fn or its codes in uint8, found float4_e2m1fn"),
    (lambda: octavo.ScaledTensor(np.full((4, 64), 16, np.uint8), T.scales, "mxfp4"),
     octavo.FormatError, "0x10 .*is no code of e2m1fn"),
    (lambda: octavo.ScaledTensor(T.elements, T.scales, "mxfp4", outer=2), octavo.FormatError,
     "no outer scale"),
    (lambda: octavo.quantize(X, None), octavo.DtypeError, "found None"),
    (lambda: octavo.dequantize(X), octavo.DtypeError, "expected a ScaledTensor, found ndarray"),
    (lambda: octavo.analyze(X[:0]), octavo.ShapeError, r"one value or more, found shape \(0, 64\)"),
    (lambda: octavo.save("x", [T]), octavo.DtypeError, "expected a dict of tensors by name, found list"),
    (lambda: octavo.set_threads(-1), octavo.ShapeError, "found -1"),
]


@pytest.mark.parametrize("call, error, words", CASES, ids=range(len(CASES)))
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_classes_are_pythons_own_too():
    assert issubclass(octavo.FormatError, ValueError)
    assert issubclass(octavo.DtypeError, TypeError)
    assert issubclass(octavo.ShapeError, ValueError)
    assert issubclass(octavo.NonFiniteError, ValueError)
