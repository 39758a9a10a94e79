"""octavo.matmul against a product of the dequantized sides in f64, and against the specification of
scaled dots in NumPy where it promises bits (docs/semantics.md, D1 to D5)."""
import numpy as np
import pytest

import octavo

ROWS = {name: row for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)}
EXACT = [name for name, row in ROWS.items()
         if row.element.name in ("e2m1fn", "e2m3fn", "e3m2fn", "int8")]


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def in_double(a, b):
    a, b = (side.dequantize() if isinstance(side, octavo.ScaledTensor) else side for side in (a, b))
    return a.astype(np.float64) @ b.astype(np.float64)


def sum_of_magnitudes(a, b):
    a, b = (side.dequantize() if isinstance(side, octavo.ScaledTensor) else side for side in (a, b))
    return np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)


def dot_by_pieces(a, b):
    """D3 to D5 for rows of a and columns of b: pieces exact in f64, rounded to f32, added in f32."""
    left, right = a.dequantize().astype(np.float64), b.dequantize().astype(np.float64)
    outer = np.float32(a.outer) * np.float32(b.outer)
    left /= np.float64(a.outer)
    right /= np.float64(b.outer)
    block = min(a.block[-1], b.block[-2])
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(0, a.shape[1], block):
        total += (left[:, k:k + block] @ right[k:k + block]).astype(np.float32)
    return total * outer


@pytest.mark.parametrize("name", [name for name in EXACT if not ROWS[name].has_outer_scale])
@pytest.mark.parametrize("m, k, n", [(1, 64, 1), (5, 70, 9), (33, 160, 40)])
def test_integers_are_exact_to_the_bit(name, m, k, n):
    a = octavo.quantize(draw(m, k), name)
    b = octavo.quantize(draw(n, k, seed=1), name)
    np.testing.assert_array_equal(octavo.matmul(a, b.T), dot_by_pieces(a, b.T))


@pytest.mark.parametrize("weight", ROWS)
@pytest.mark.parametrize("m, k, n", [(1, 64, 33), (7, 300, 20)])
def test_two_scaled_sides(weight, m, k, n):
    activation = "fp8_group" if weight == "fp8_block" else weight
    a = octavo.quantize(draw(m, k), activation)
    b = octavo.quantize(draw(n, k, seed=1), weight).T
    found = octavo.matmul(a, b)
    assert found.dtype == np.float32 and found.shape == (m, n)
    # Product.h: ((1 + u)^(K + B + 3) - 1) * S, and less for the exact ones
    bound = ((1 + 2.0 ** -24) ** (2 * k + 3) - 1) * sum_of_magnitudes(a, b)
    assert (np.abs(found - in_double(a, b)) <= bound).all()


@pytest.mark.parametrize("magnitudes", [(1e24, 1e25), (1e38, 1e38), (1e-20, 1e-18), (1e-38, 1e36), (1e37, 1e-9)])
@pytest.mark.parametrize("weight", ["fp8_tensor", "fp8_row", "fp8_block"])
@pytest.mark.parametrize("left", ["scaled", "array"])
@pytest.mark.parametrize("rows", [1, 7, 40])
def test_scales_far_from_one(magnitudes, weight, left, rows):
    """Neither do zeros become NaN nor are results near the least normal number less exact."""
    x, w = (np.float32(magnitude) * draw(count, 256, seed=count).clip(-3, 3) / 3 for magnitude, count in zip(magnitudes, (rows, 5)))
    x[:, 1::2], w[::2, ::2] = 0, 0
    w = octavo.quantize(w, weight)
    x = octavo.quantize(x, "fp8_group" if weight == "fp8_block" else weight) if left == "scaled" else x

    def exact(side):
        if not isinstance(side, octavo.ScaledTensor):
            return side.astype(np.float64)
        scales = side.scales.astype(np.float64)
        for axis, block in enumerate(side.block):
            scales = np.repeat(scales, block, axis).take(np.arange(side.shape[axis]), axis)
        return side.elements.astype(np.float64) * scales
    a, b = exact(x), exact(w).T
    with np.errstate(over="ignore"):
        wanted, found = (a @ b).astype(np.float32), octavo.matmul(x, w.T)
    assert (wanted[:, ::2] == 0).all() and (found[:, ::2] == 0).all()
    beyond = np.abs(a @ b) > 2.0 ** 128
    assert beyond.any() == (magnitudes[0] * magnitudes[1] > 1e40)
    if weight == "fp8_block":  # infinite pieces of both signs add to NaN (D4)
        assert not np.isfinite(found[beyond]).any()
    else:
        np.testing.assert_array_equal(found[beyond], wanted[beyond])
    bound = ((1 + 2.0 ** -24) ** 520 - 1) * (np.abs(a) @ np.abs(b)) + 4 * 2.0 ** -149
    assert (np.abs(found - a @ b) <= bound)[~beyond].all()


@pytest.mark.parametrize("weight", ROWS)
@pytest.mark.parametrize("rows", [1, 3, 12, 40])
@pytest.mark.parametrize("large, small, scale",
                         [(1e36, 1e-7, 1), (1e-38, 1e-40, 1e36), (3e38, 1, 0.001), (np.inf, 1e-30, 1), (np.nan, 1, 1)])
def test_arrays_far_from_one(weight, rows, large, small, scale):
    """Of the columns the first meets all values, the second the small ones."""
    x = np.where(np.arange(128) % 64 < 32, np.float32(large), np.float32(small)) * np.ones((rows, 1), np.float32)
    w = np.abs(draw(2, 128)) + np.float32(0.5)
    w[1, np.arange(128) % 64 < 32] = 0
    w = octavo.quantize(w * np.float32(scale), weight).T
    with np.errstate(invalid="ignore"):
        wanted = in_double(x, w)
    found = octavo.matmul(x, w)
    assert np.isfinite(wanted[:, 1]).all() == np.isfinite(large)  # IEEE's products of zeros
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(found[~finite], wanted[~finite])
    # Product.h: at most 2^-22 of a block's largest, and the roundings of sums
    np.testing.assert_allclose(found[finite], wanted[finite], rtol=2e-5)


@pytest.mark.parametrize("magnitudes", [(1e-20, 1e-16), (1e-4, 1e-32)])
@pytest.mark.parametrize("rows", [1, 40])
def test_outer_scales_whose_product_is_subnormal(magnitudes, rows):
    a, b = (octavo.quantize(draw(count, 64, seed=count) * np.float32(magnitude), "nvfp4")
            for count, magnitude in zip((rows, 5), magnitudes))
    assert 0 < a.outer * b.outer < 2.0 ** -126
    found, wanted = octavo.matmul(a, b.T), in_double(a, b.T)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("weight", ROWS)
def test_an_array_on_either_side(weight):
    x, w = draw(7, 300), octavo.quantize(draw(20, 300, seed=1), weight)
    # Product.h: an array's values lose at most 2^-22 of their block's largest
    bound = (300 * 2.0 ** -22 * np.abs(x).max(1, keepdims=True)
             * np.abs(w.dequantize()).max(1)) + 1e-6
    assert (np.abs(octavo.matmul(x, w.T) - in_double(x, w.T)) <= bound).all()
    assert (np.abs(octavo.matmul(w, x.T) - in_double(w, x.T)) <= bound.T).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_16_bit_arrays(dtype):
    x, w = draw(3, 64).astype(dtype), octavo.quantize(draw(5, 64), "mxfp4").T
    np.testing.assert_array_equal(octavo.matmul(x, w), octavo.matmul(x.astype(np.float32), w))


@pytest.mark.parametrize("left, right", [((2, 3, 5, 64), (64, 7)), ((2, 3, 5, 64), (3, 64, 7)),
                                         ((5, 64), (4, 64, 7)), ((2, 1, 5, 64), (3, 64, 7)),
                                         ((1, 5, 64), (4, 64, 7))])
@pytest.mark.parametrize("name", ["mxfp4", "mxfp8_e4m3", "nvfp4", "fp8_tensor", "fp8_row"])
def test_leading_axes_broadcast(left, right, name):
    a = octavo.quantize(draw(*left), name)
    b = octavo.quantize(draw(*right, seed=1), name, axis=-2)
    found, expected = octavo.matmul(a, b), in_double(a, b)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(octavo.matmul(a.dequantize(), b), expected, atol=1e-4)
    np.testing.assert_allclose(octavo.matmul(a, b.dequantize()), expected, atol=1e-4)


def test_a_weight_may_meet_formats_in_turn():  # its packed form is that of the last left side
    w = octavo.quantize(draw(128, 128), "fp8_block")
    square = octavo.quantize(draw(64, 64), "mxfp4")
    for _ in range(2):
        for b in (w.T, w):
            a = octavo.quantize(draw(3, 128), "fp8_group")
            np.testing.assert_allclose(octavo.matmul(a, b), in_double(a, b), atol=1e-4)
        for name in ("mxfp4", "nvfp4", "mxfp6_e2m3"):
            a = octavo.quantize(draw(3, 64), name)
            np.testing.assert_allclose(octavo.matmul(a, square.T), in_double(a, square.T), atol=1e-4)
        x = draw(3, 64)
        np.testing.assert_allclose(octavo.matmul(x, square.T), in_double(x, square.T), atol=1e-4)


@pytest.mark.parametrize("m, k, n", [(0, 64, 3), (3, 64, 0), (3, 0, 4), (0, 0, 0)])
def test_empty(m, k, n):
    a = octavo.quantize(draw(m, k), "mxfp4")
    b = octavo.quantize(draw(n, k), "mxfp4").T
    for left in (a, a.dequantize()):
        found = octavo.matmul(left, b)
        assert found.shape == (m, n) and (found == 0).all()


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_threads_change_no_bit(threads):
    x, w = draw(70, 520), draw(300, 520, seed=1)

    def results():
        for name in ROWS:
            b = octavo.quantize(w, name)
            a = octavo.quantize(x, "fp8_group" if name == "fp8_block" else name)
            yield from (b.elements.view(np.uint8), b.scales.view(np.uint8), b.dequantize(),
                        octavo.matmul(a, b.T))
        yield octavo.convert(w, "e4m3fn").view(np.uint8)
        yield octavo.matmul(x, octavo.quantize(w, "mxfp4").T)

    expected = [result.tobytes() for result in results()]
    try:
        octavo.set_threads(threads)
        assert octavo.get_threads() == threads
        for found, wanted in zip(results(), expected, strict=True):
            assert found.tobytes() == wanted
    finally:
        octavo.set_threads(0)


X, T = draw(4, 64), octavo.quantize(draw(5, 64), "mxfp4")


@pytest.mark.parametrize("call, error, words", [
    (lambda: octavo.matmul(X, X.T), octavo.DtypeError, "numpy.matmul"),
    (lambda: octavo.matmul(X, T), octavo.ShapeError, r"\(4, 64\) and \(5, 64\) do not fit"),
    (lambda: octavo.matmul(T, T), octavo.ShapeError, "do not fit"),
    (lambda: octavo.matmul(octavo.quantize(X, "mxfp4"), octavo.quantize(draw(64, 64), "mxfp4")),
     octavo.ShapeError, "blocks of b lie along axis 1, the product contracts axis 0.*axis=-2"),
    (lambda: octavo.matmul(octavo.quantize(draw(64, 64), "mxfp4", axis=0), T.T),
     octavo.ShapeError, "blocks of a lie along axis 0, the product contracts axis 1.*axis=-1"),
    (lambda: octavo.matmul(X.astype(np.float64), T.T), octavo.DtypeError, "float64"),
    (lambda: octavo.matmul(X[0], T.T), octavo.ShapeError, "two axes or more"),
    (lambda: octavo.matmul(X, octavo.quantize(X[0], "mxfp4")), octavo.ShapeError, "two axes"),
    (lambda: octavo.matmul(octavo.quantize(draw(2, 4, 64), "mxfp4"),
                           octavo.quantize(draw(3, 5, 64), "mxfp4").mT),
     octavo.ShapeError, "do not broadcast"),
    (lambda: octavo.matmul("a", T.T), octavo.DtypeError, "found str"),
])
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("left, right", [("f32", "mxfp4"), ("mxfp8_e4m3", "mxfp8_e4m3"), ("mxint8", "nvfp4"),
                                         ("fp8_group", "fp8_block")])
def test_a_packed_weight_gives_the_bits_of_its_tensor(left, right):
    rng = np.random.default_rng(17)
    w = octavo.quantize(rng.standard_normal((48, 256)).astype(np.float32), right)
    packed = octavo.PackedWeight(w.T, left)
    assert (packed.shape, packed.left) == ((256, 48), left) and packed.nbytes > 0
    bias = rng.standard_normal(48).astype(np.float32)
    for shape in (1, 256), (3, 256), (2, 20, 256):
        x = rng.standard_normal(shape).astype(np.float32)
        a = x if left == "f32" else octavo.quantize(x, left)
        np.testing.assert_array_equal(octavo.matmul(a, packed), octavo.matmul(a, w.T))
        out = np.empty((*shape[:-1], 48), np.float32)
        assert octavo.matmul(a, packed, bias=bias, activation="relu", out=out) is out
        np.testing.assert_array_equal(out, octavo.matmul(a, w.T, bias=bias, activation="relu"))


def test_a_packed_weight_outlives_its_tensor():
    rng = np.random.default_rng(18)
    values = rng.standard_normal((32, 64)).astype(np.float32)
    x = rng.standard_normal((4, 64)).astype(np.float32)
    packed = octavo.PackedWeight(octavo.quantize(values, "mxfp4").T)
    expected = x @ octavo.quantize(values, "mxfp4").dequantize().T
    np.testing.assert_allclose(octavo.matmul(x, packed), expected, rtol=0, atol=1e-4)
    assert octavo.matmul(np.empty((0, 64), np.float32), packed).shape == (0, 32)


def test_packed_weights_name_what_does_not_fit():
    x = np.ones((2, 64), np.float32)
    w = octavo.quantize(np.ones((32, 64), np.float32), "mxfp4")
    packed = octavo.PackedWeight(w.T, "mxint8")
    with pytest.raises(octavo.FormatError, match="packed for mxint8 on the left, and a is an array"):
        octavo.matmul(x, packed)
    with pytest.raises(octavo.FormatError, match="a tensor of another format"):
        octavo.matmul(octavo.quantize(x, "mxfp4"), packed)
    with pytest.raises(octavo.ShapeError, match="do not fit"):
        octavo.matmul(octavo.quantize(np.ones((2, 32), np.float32), "mxint8"), packed)
    with pytest.raises(octavo.FormatError, match="quantized along its last axis"):
        octavo.PackedWeight(w)
    with pytest.raises(octavo.ShapeError, match="one by one"):
        octavo.PackedWeight(octavo.quantize(np.ones((2, 32, 64), np.float32), "mxfp4").mT)
    with pytest.raises(octavo.FormatError):
        octavo.PackedWeight(w.T, "f33")
