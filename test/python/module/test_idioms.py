"""What NumPy's users expect of names, arrays, paths and objects."""
import gc
import os
import pathlib
import weakref

import ml_dtypes
import numpy as np
import octavo
import octavo.checkpoint
import octavo.jax as oj
import pytest

X = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
T = octavo.quantize(X, "mxfp4")


@pytest.mark.parametrize("name, dtype", [
    ("f8", np.float64), ("<f4", np.float32), ("float32", np.float32), ("f2", np.float16), ("half", np.float16),
    ("F4", ml_dtypes.float4_e2m1fn), ("F8_E4M3", ml_dtypes.float8_e4m3fn), ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
    ("float8_e4m3fn", ml_dtypes.float8_e4m3fn), ("e4m3fn", ml_dtypes.float8_e4m3fn), ("I8", np.int8), ("int8", np.int8),
    (np.float32, np.float32), (float, np.float64), (np.dtype("int8"), np.int8)])
def test_names_of_formats(name, dtype):
    assert octavo.ElementFormat(name).numpy == np.dtype(dtype).name


@pytest.mark.parametrize("name, numpys, ours, say", [("f4", "float32", "e2m1fn", "f32"), ("i8", "int64", "int8", "int64")])
def test_names_with_two_readings_are_refused(name, numpys, ours, say):
    """They were four bits and one byte without a word, to whoever meant NumPy's."""
    assert np.dtype(name).name == numpys
    words = f'"{name}" is {numpys} in NumPy and {ours} in other spellings; say "{say}" or "{ours}"'
    for call in (lambda: octavo.convert(X, name), lambda: octavo.convert(X.view(np.uint8), "f32", source=name),
                 lambda: octavo.matmul(X, T.T, to=name), lambda: octavo.pack(T.codes, name), lambda: oj.convert(X, name),
                 lambda: oj.pack(T.codes, name), lambda: octavo.ElementFormat(name)):
        with pytest.raises(octavo.FormatError, match=words):
            call()


def test_masked_arrays():
    masked = np.ma.masked_array(X, X > 1)
    for call in (oj.amax, lambda x: oj.convert(x, "e4m3fn"), lambda x: oj.quantize(x, "mxfp4"),
                 lambda x: oj.matmul(x, oj.quantize(X.T, "mxfp4", axis=0)), octavo.amax, octavo.analyze, lambda x: octavo.convert(x, "e4m3fn"), lambda x: octavo.quantize(x, "mxfp4"),
                 lambda x: octavo.matmul(x, octavo.quantize(X, "mxfp4").T)):
        with pytest.raises(octavo.DtypeError, match=rf"{(X > 1).sum()} of the array's values are masked; x.filled"):
            call(masked)
    assert octavo.quantize(masked.filled(0), "mxfp4") == octavo.quantize(np.where(X > 1, 0, X), "mxfp4")
    for none in (np.ma.masked_array(X), np.ma.masked_array(X, np.zeros_like(X, bool))):
        assert octavo.quantize(none, "mxfp4") == T
        assert type(octavo.matmul(none, T.T)) is np.ndarray


class LikeTorch:
    """A tensor with torch's bits: its memory holds other values than it stands for."""

    def __init__(self, array, negative=False, conjugate=False):
        self.array, self.negative, self.conjugate = array, negative, conjugate

    def is_neg(self):
        return self.negative

    def is_conj(self):
        return self.conjugate

    def resolve_neg(self):
        return LikeTorch(-self.array if self.negative else self.array, False, self.conjugate)

    def resolve_conj(self):
        return LikeTorch(self.array.conj() if self.conjugate else self.array, self.negative, False)

    def __dlpack__(self, **arguments):
        assert not self.conjugate
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return (1, 0)


def test_negative_and_conjugate_views_are_resolved():
    """They were quantized as their memory is, with the wrong sign."""
    assert octavo.quantize(LikeTorch(X, negative=True), "mxfp4") == octavo.quantize(-X, "mxfp4")
    assert octavo.quantize(LikeTorch(X), "mxfp4") == T
    np.testing.assert_array_equal(oj.convert(LikeTorch(X, negative=True), "e4m3fn"), octavo.convert(-X, "e4m3fn"))
    assert octavo.quantize(LikeTorch(X, negative=True, conjugate=True), "mxfp4") == octavo.quantize(-X, "mxfp4")


def test_tensors_of_torch():
    torch = pytest.importorskip("torch", reason="torch is in the environment of `make clients`")
    x = torch.from_numpy(X)
    pair = torch.complex(torch.zeros_like(x), x)
    view = pair.conj().imag
    assert view.is_neg()
    assert octavo.quantize(view, "mxfp4") == octavo.quantize(-X, "mxfp4")
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e8m0fnu"):
        dtype = getattr(torch, name)
        np.testing.assert_array_equal(octavo.convert(X, dtype).view(np.uint8), octavo.convert(X, name).view(np.uint8))
        np.testing.assert_array_equal(octavo.convert(octavo.convert(X, name).view(np.uint8), torch.float32, source=dtype),
                                      octavo.convert(octavo.convert(X, name), "f32"))
    assert octavo.matmul(x, T.T, to=torch.bfloat16).dtype == ml_dtypes.bfloat16
    assert oj.convert(X, torch.float8_e5m2).dtype == ml_dtypes.float8_e5m2
    with pytest.raises(octavo.DtypeError, match='packed.* one a byte: say "e2m1fn"; octavo.pack'):
        octavo.convert(X, torch.float4_e2m1fn_x2)
    with pytest.raises(octavo.FormatError, match='unknown element format "complex64"'):
        octavo.convert(X, torch.complex64)
    with pytest.raises(octavo.DtypeError, match="detach|requires grad"):
        octavo.quantize(x.clone().requires_grad_(), "mxfp4")


class torch_dtype:
    """What torch's dtypes are to others: objects whose text is their name."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "torch." + self.name


def test_dtypes_of_torch_by_name():
    assert octavo.convert(X, torch_dtype("float8_e4m3fn")).dtype == ml_dtypes.float8_e4m3fn
    assert octavo.ElementFormat(torch_dtype("bfloat16")).name == "bf16"
    with pytest.raises(octavo.DtypeError, match="packed"):
        octavo.convert(X, torch_dtype("float4_e2m1fn_x2"))
    with pytest.raises(octavo.FormatError, match='unknown element format "qint8"'):
        octavo.convert(X, torch_dtype("qint8"))


@pytest.mark.parametrize("name", ["w", "größe", b"\xff\xfe"], ids=["ASCII", "UTF-8", "no UTF-8"])
def test_paths_are_text_bytes_or_path_objects(tmp_path, name):
    raw = os.fsencode(tmp_path) + b"/" + os.fsencode(name)
    for path in (raw, os.fsdecode(raw), pathlib.Path(os.fsdecode(raw))):
        octavo.save(path, {"x": T})
        assert octavo.load(path)["x"] == T
        os.remove(raw)
        folder = raw + b".checkpoint"
        given = folder if path is raw else type(path)(os.fsdecode(folder))
        octavo.checkpoint.write(given, {"a.weight": octavo.quantize(np.ones((4, 64), np.float32), "fp8_row")})
        opened = octavo.checkpoint.open(given)
        assert os.fsencode(opened.path) == folder and "1 quantized" in repr(opened)
        assert octavo.checkpoint.lint(given) is not None
        with pytest.raises(KeyError, match="no weight is named"):
            opened["b"]
        for file in os.listdir(folder):
            os.remove(folder + b"/" + file)
        os.rmdir(folder)
        with pytest.raises(octavo.FileError, match="w|gr|xff"):
            octavo.load(path)


@pytest.mark.parametrize("path, error, words", [
    (3.5, octavo.DtypeError, r"path: expected a path \(str, bytes or os.PathLike\), found 3.5"),
    (None, octavo.DtypeError, "found None"),
    ("a\0b", octavo.FileError, "no NUL character"),
    (b"a\0b", octavo.FileError, "no NUL character"),
])
def test_what_is_no_path(path, error, words):
    for call in (octavo.load, octavo.checkpoint.open, octavo.checkpoint.lint, lambda p: octavo.save(p, {"x": X}),
                 lambda p: octavo.checkpoint.write(p, {})):
        with pytest.raises(error, match=words):
            call(path)


def test_what_arrays_have():
    tensor = octavo.quantize(np.ones((2, 3, 64), np.float32), "nvfp4")
    values = tensor.dequantize()
    assert (tensor.ndim, tensor.size, tensor.dtype) == (values.ndim, values.size, values.dtype) == (3, 384, np.float32)
    scalar = octavo.quantize(np.float32(1), "mxfp4")
    assert (scalar.ndim, scalar.size) == (0, 1)


def test_weak_references(tmp_path):
    tensor = octavo.quantize(X, "mxfp4")
    octavo.checkpoint.write(tmp_path / "m", {"a": X})
    opened = octavo.checkpoint.open(tmp_path / "m")
    references = [weakref.ref(tensor), weakref.ref(opened)]
    assert [reference() for reference in references] == [tensor, opened]
    cache = weakref.WeakValueDictionary({"w": tensor})
    del tensor, opened
    gc.collect()
    assert [reference() for reference in references] == [None, None] and not cache


def test_bias_in_float64_as_numpy_makes_it():
    """It was refused, with words about narrow formats; it is rounded to float32 once."""
    bias = np.random.default_rng(1).normal(size=6)
    w = octavo.quantize(np.random.default_rng(2).normal(size=(6, 64)).astype(np.float32), "mxfp8_e4m3")
    for name, value in (("bias", bias), ("addend", np.tile(bias, (4, 1))), ("residual", np.tile(bias, (4, 1)))):
        np.testing.assert_array_equal(octavo.matmul(X, w.T, **{name: value}),
                                      octavo.matmul(X, w.T, **{name: value.astype(np.float32)}))
        np.testing.assert_array_equal(octavo.matmul(X, w.T, **{name: value}), octavo.matmul(X, w.T) + value.astype(np.float32))
    with pytest.raises(octavo.DtypeError, match="bias: expected float32.*found int64"):
        octavo.matmul(X, w.T, bias=np.arange(6))


def test_axis_none():
    for quantize in (octavo.quantize, oj.quantize, oj.fake_quantize):
        with pytest.raises(octavo.DtypeError, match="axis: .*None"):
            quantize(X, "mxfp4", axis=None)


@pytest.mark.parametrize("value, text", [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_analyze_says_which_value_is_not_finite(value, text):
    x = X.copy()
    x[1, 3] = value
    with pytest.raises(octavo.NonFiniteError, match=rf"x: {text} at index 67 \(row-major\) of shape \(4, 64\).*nan_to_num"):
        octavo.analyze(x)
    assert octavo.analyze(np.nan_to_num(x, posinf=1, neginf=1))


def test_elements_that_were_written_to_are_refused(tmp_path):
    codes = T.codes.copy()
    tensor = octavo.ScaledTensor(codes, T.scales, "mxfp4")
    codes[2, 5] = 0x5A
    for call in (tensor.dequantize, lambda: octavo.matmul(tensor, T.T), lambda: octavo.matmul(X, tensor.T),
                 lambda: octavo.save(tmp_path / "x", {"x": tensor}),
                 lambda: octavo.checkpoint.write(tmp_path / "m", {"x": tensor})):
        with pytest.raises(octavo.FormatError, match="0x5a .*is not a code of e2m1fn"):
            call()
    assert not list(tmp_path.iterdir())
