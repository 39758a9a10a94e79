"""out=: results in memory that the caller gives, the same ones as in new memory."""
import ml_dtypes
import numpy as np
import octavo
import pytest

X = np.random.default_rng(0).normal(size=(40, 64)).astype(np.float32)
W = octavo.quantize(np.random.default_rng(1).normal(size=(24, 64)).astype(np.float32), "mxfp4")
MX = octavo.quantize(X, "mxfp8_e4m3")
CODES = octavo.convert(X, "e2m1fn")

# A call that takes out, its result without one, and dtypes that out may have.
CALLS = {
    "convert": (lambda out: octavo.convert(X, "e4m3fn", out=out), X.astype(ml_dtypes.float8_e4m3fn),
                [ml_dtypes.float8_e4m3fn, np.uint8]),
    "decode": (lambda out: octavo.convert(CODES, "bf16", out=out), CODES.astype(ml_dtypes.bfloat16), [ml_dtypes.bfloat16]),
    "recode": (lambda out: octavo.convert(CODES, "e5m2", out=out), CODES.astype(ml_dtypes.float8_e5m2),
               [ml_dtypes.float8_e5m2, np.uint8]),
    "dequantize": (lambda out: octavo.dequantize(MX, out=out),
                   MX.elements.astype(np.float32) * MX.scales.astype(np.float32).repeat(32, 1), [np.float32]),
    "method": (lambda out: MX.dequantize(out=out),
               MX.elements.astype(np.float32) * MX.scales.astype(np.float32).repeat(32, 1), [np.float32]),
    "matmul": (lambda out: octavo.matmul(MX, W.T, out=out), octavo.matmul(MX, W.T), [np.float32]),
    "array @ scaled": (lambda out: octavo.matmul(X, W.T, out=out), octavo.matmul(X, W.T), [np.float32]),
    "scaled @ array": (lambda out: octavo.matmul(W, X.T, out=out), octavo.matmul(W, X.T), [np.float32]),
    "NumPy's": (lambda out: octavo.matmul(X.T, octavo.quantize(X, "mxfp4"), out=out),
                octavo.matmul(X.T, octavo.quantize(X, "mxfp4")), [np.float32]),
    "NumPy's, bias": (lambda out: octavo.matmul(X.T, octavo.quantize(X, "mxfp4"), bias=X[0], activation="relu", out=out),
                      octavo.matmul(X.T, octavo.quantize(X, "mxfp4"), bias=X[0], activation="relu"), [np.float32]),
    "epilogue": (lambda out: octavo.matmul(MX, W.T, bias=X[0, :24], to="e4m3fn", out=out),
                 octavo.matmul(MX, W.T, bias=X[0, :24], to="e4m3fn"), [ml_dtypes.float8_e4m3fn, np.uint8]),
    "scaled @ array, to": (lambda out: octavo.matmul(W, X.T, to="bf16", out=out), octavo.matmul(W, X.T, to="bf16"),
                           [ml_dtypes.bfloat16]),
}
PLACES = {
    "C": lambda shape, dtype: np.empty(shape, dtype),
    "F": lambda shape, dtype: np.empty(shape, dtype, order="F"),
    "strided": lambda shape, dtype: np.empty((*shape, 2), dtype)[..., 0],
    "row of more": lambda shape, dtype: np.empty((3, *shape), dtype)[1],
    "unaligned": lambda shape, dtype: np.zeros(int(np.prod(shape)) * np.dtype(dtype).itemsize + 1, np.uint8)[1:]
    .view(dtype).reshape(shape),
}


def same(found, expected):
    np.testing.assert_array_equal(np.ascontiguousarray(found).view(np.uint8), np.ascontiguousarray(expected).view(np.uint8))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLS)
def test_the_result_is_written_there(name, place):
    call, expected, dtypes = CALLS[name]
    for dtype in dtypes:
        out = PLACES[place](expected.shape, dtype)
        out[...] = 1
        assert call(out) is out
        same(out, expected)
    same(call(None), expected)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("format", ["mxfp4", "nvfp4", "fp8_row", "mxfp6_e2m3"])
def test_quantize_fills_elements_and_scales(format, place):
    own = octavo.quantize(X, format, preset=None)
    for dtype in (own.elements.dtype, np.uint8):
        elements = PLACES[place](own.shape, dtype)
        scales = PLACES[place](own.scales.shape, own.scales.dtype)
        tensor = octavo.quantize(X, format, out=(elements, scales))
        assert tensor == own and tensor.outer == own.outer
        assert np.shares_memory(tensor.elements, elements) and np.shares_memory(tensor.scales, scales)
        assert elements.flags.writeable and not tensor.elements.flags.writeable
        same(elements, own.elements), same(scales, own.scales)


def test_products_into_pieces_of_one_array():
    """What out= is for: results beside one another without a copy."""
    both = np.zeros((2, 40, 24), np.float32)
    for i, w in enumerate((W, octavo.quantize(X[:24], "mxfp4"))):
        octavo.matmul(MX, w.T, out=both[i])
    same(both, np.stack([octavo.matmul(MX, W.T), octavo.matmul(MX, octavo.quantize(X[:24], "mxfp4").T)]))
    values, amax = octavo.matmul(MX, W.T, return_amax=True, out=both[0])
    assert values.base is both and amax == np.abs(both[0]).max()


@pytest.mark.parametrize("threads", [1, 0])
def test_memory_that_the_operands_have_too(threads):
    """Written in place it would be read again when it is the result already."""
    octavo.set_threads(threads)
    x = X.copy()
    expected = octavo.convert(x, "e4m3fn")
    out = x.view(np.uint8).reshape(-1)[100:100 + x.size].reshape(x.shape)
    octavo.convert(x, "e4m3fn", out=out)
    same(out, expected)
    square = np.random.default_rng(3).normal(size=(64, 64)).astype(np.float32)
    w = octavo.quantize(square, "mxfp8_e4m3")
    x = square.copy()
    expected = octavo.matmul(x, w.T)
    octavo.matmul(x, w.T, out=x)
    same(x, expected)
    residual = square.copy()
    expected = octavo.matmul(square, w.T, residual=residual[::-1])
    octavo.matmul(square, w.T, residual=residual[::-1], out=residual)
    same(residual, expected)
    memory = np.zeros(1 << 14, np.uint8)
    memory[:4096] = w.codes.ravel()
    shared = octavo.ScaledTensor(memory[:4096].reshape(64, 64), w.scales, "mxfp8_e4m3")
    expected = w.dequantize()
    same(shared.dequantize(out=memory.view(np.float32).reshape(64, 64)), expected)
    octavo.set_threads(0)


READ_ONLY = np.zeros((40, 24), np.float32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("out, error, words", [
    (np.zeros((24, 40), np.float32), octavo.ShapeError, r"out: expected shape \(40, 24\), found \(24, 40\)"),
    (np.zeros((40, 24, 1), np.float32), octavo.ShapeError, "expected shape"),
    (np.zeros((40, 24)), octavo.DtypeError, "out: expected float32, found float64"),
    (np.zeros((40, 24), ">f4"), octavo.DtypeError, "expected float32, found >f4"),
    (np.zeros((40, 24), np.uint8), octavo.DtypeError, "expected float32, found uint8"),
    (READ_ONLY, octavo.DtypeError, "found a read-only one"),
    (np.broadcast_to(np.zeros((1, 24), np.float32), (40, 24)), octavo.DtypeError, "read-only"),
    ([0.0], octavo.DtypeError, "out: expected a NumPy array, found list"),
    (W, octavo.DtypeError, "found ScaledTensor"),
])
def test_what_no_result_fits_into(out, error, words):
    for call in (lambda out: octavo.matmul(MX, W.T, out=out), lambda out: octavo.matmul(W, X.T, out=np.swapaxes(out, 0, 1))
                 if isinstance(out, np.ndarray) and out.ndim == 2 and error is not octavo.ShapeError else octavo.matmul(MX, W.T, out=out)):
        with pytest.raises(error, match=words):
            call(out)


@pytest.mark.parametrize("out, error, words", [
    (np.zeros((40, 64), np.uint8), octavo.DtypeError, r"expected two arrays, \(elements, scales\), found"),
    ((np.zeros((40, 64), np.uint8),), octavo.DtypeError, "two arrays"),
    ((np.zeros((40, 64), np.uint8), np.zeros((40, 3), np.uint8)), octavo.ShapeError, r"out\[1\]: expected shape \(40, 2\)"),
    ((np.zeros((40, 64), np.int8), np.zeros((40, 2), np.uint8)), octavo.DtypeError,
     r"out\[0\]: expected float4_e2m1fn or its codes in uint8, found int8"),
    ((MX.codes, np.zeros((40, 2), np.uint8)), octavo.DtypeError, r"out\[0\]: .*read-only"),
    ((lambda whole: (whole[:, :64], whole[:, 63:65]))(np.zeros((40, 66), np.uint8)), octavo.DtypeError, "share memory"),
])
def test_what_no_scaled_tensor_fits_into(out, error, words):
    with pytest.raises(error, match=words):
        octavo.quantize(X, "mxfp4", out=out)
