"""What bad input raises: a typed exception that says what was found and what to do."""
import numpy as np
import pytest

import octavo

X = np.ones((4, 64), np.float32)
T = octavo.quantize(X, "mxfp4")
N = octavo.quantize(X, "nvfp4")
NV = N.elements, N.scales

CASES = [
    # what, exception, words of the message
    (lambda: octavo.quantize(X, "mxfp5"), octavo.FormatError, '"mxfp5"; near it: .*; available: .*mxfp4'),
    (lambda: octavo.quantize(X, "mxfp4:4"), octavo.FormatError, "blocks of mxfp4 are a power of two from 8 to 1024"),
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
    (lambda: octavo.convert(X, "e9m9"), octavo.FormatError, "available: e4m3fn"),
    (lambda: octavo.convert(X, object()), octavo.DtypeError, "to: expected"),
    (lambda: octavo.convert(X, "f64"), octavo.FormatError, "astype"),
    (lambda: octavo.convert(X, "bf16"), octavo.FormatError, "astype"),
    (lambda: octavo.convert(X, "e4m3fn", nan="zero"), octavo.FormatError, "negative-zero, maximum"),
    (lambda: octavo.convert(X.astype(np.uint8), "f32"), octavo.DtypeError, "source="),
    (lambda: octavo.convert(X.astype(np.int8), "f32"), octavo.DtypeError, "source="),
    (lambda: octavo.convert(X, "e4m3fn", source="bf16"), octavo.DtypeError, "float32"),
    (lambda: octavo.convert(X.astype(np.uint8), "f32", source="bf16"), octavo.DtypeError, "8 bits"),
    (lambda: octavo.ScaledTensor(T.elements, T.scales[:, :1], "mxfp4"), octavo.ShapeError,
     r"scales: expected shape \(4, 2\) for blocks of \(1, 32\).*found \(4, 1\)"),
    (lambda: octavo.ScaledTensor(T.elements, T.scales, "mxfp8_e4m3"), octavo.DtypeError,
     "expected float8_e4m3fn or its codes in uint8, found float4_e2m1fn"),
    (lambda: octavo.ScaledTensor(np.full((4, 64), 16, np.uint8), T.scales, "mxfp4"),
     octavo.FormatError, "0x10 .*is not a code of e2m1fn"),
    (lambda: octavo.ScaledTensor(T.elements, T.scales, "mxfp4", outer=2), octavo.FormatError,
     "no outer scale"),
    (lambda: octavo.quantize(X, None), octavo.DtypeError, "found None"),
    (lambda: octavo.dequantize(X), octavo.DtypeError, "expected a ScaledTensor, found ndarray"),
    (lambda: octavo.analyze(X[:0]), octavo.ShapeError, r"one value or more, found shape \(0, 64\)"),
    (lambda: octavo.save("x", [T]), octavo.DtypeError, "expected a dict of tensors by name, found list"),
    (lambda: octavo.quantize(X, "mxfp4", axis=None), octavo.DtypeError, "axis: expected an integer, found None"),
    (lambda: octavo.quantize(X, "mxfp4", axis=0.5), octavo.DtypeError, "axis: expected an integer, found 0.5"),
    (lambda: octavo.quantize(X, "mxfp4", axis=2 ** 70), octavo.ShapeError, "expected -2 to 1"),
    (lambda: octavo.ScaledTensor(T.elements, T.scales, "mxfp4", axis=None), octavo.DtypeError, "axis: expected an integer"),
    (lambda: octavo.ScaledTensor(T.elements, T.scales, None), octavo.DtypeError, "found None"),
    (lambda: octavo.ScaledTensor(*NV, "nvfp4", outer=np.nan), octavo.FormatError, "outer: expected a finite"),
    (lambda: octavo.ScaledTensor(*NV, "nvfp4", outer=np.inf), octavo.FormatError, "outer: expected a finite"),
    (lambda: octavo.ScaledTensor(*NV, "nvfp4", outer=-1), octavo.FormatError, "at least 0, found -1"),
    (lambda: octavo.save("x", {"a": X}, metadata={"a": 1}), octavo.DtypeError, "metadata: .*json.dumps"),
    (lambda: octavo.save("x", {"a": X}, metadata=None), octavo.DtypeError, "metadata: .*found None"),
    (lambda: octavo.samples("normal", -1), octavo.ShapeError, "n: expected 0 or more, found -1"),
    (lambda: octavo.samples("normal", 1.5), octavo.DtypeError, "n: expected an integer, found 1.5"),
    (lambda: octavo.load("/"), octavo.FileError, "/: .*found a folder; octavo.checkpoint.open"),
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


def test_what_is_python_s_own_is_as_python_has_it():
    """The exceptions to the rule that docs/python.md names."""
    with pytest.raises(IndexError, match="index 4 is out of range for axis 0"):
        T[4]
    assert len(list(octavo.quantize(X, "fp8_row"))) == 4  # for which Python needs IndexError
    with pytest.raises(TypeError, match="incompatible function arguments"):
        octavo.quantize(X, "mxfp4", rule=3)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        octavo.quantize(X, "mxfp4", nothing=3)
