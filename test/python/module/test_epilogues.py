"""What follows a product in octavo.matmul, against the rules P1 to P9 of docs/semantics.md in NumPy and
ml_dtypes."""
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import elements
import octavo

ELEMENTS = {name: row for name, row in octavo.formats().items()
            if isinstance(row, octavo.ElementFormat)}
NARROW = [name for name, row in ELEMENTS.items() if row.bits <= 8 and row.name != "int8"]


def draw(*shape, seed=0, scale=1):
    values = scale * np.random.default_rng(seed).normal(size=shape)
    return values.astype(np.float32)


def activated(x, activation):
    """P4 in f64, rounded once: as good as the statement, but for ties within 2^-32."""
    wide = x.astype(np.float64)
    with np.errstate(over="ignore"):
        return {
            None: lambda: x,
            "relu": lambda: np.where(x < 0, np.float32(0), x),
            "gelu-erf": lambda: wide * np.vectorize(lambda v: math.erfc(-v / math.sqrt(2)) / 2)(wide),
            "gelu-tanh": lambda: wide / (1 + np.exp(
                -2 * math.sqrt(2 / math.pi) * (wide + 0.044715 * wide ** 3))),
            "silu": lambda: wide / (1 + np.exp(-wide)),
        }[activation]().astype(np.float32)


def stated(c, addend=None, bias=None, activation=None, residual=None):
    """P1 to P5 of the product c."""
    for added in (addend, bias):
        if added is not None:
            c = c + np.asarray(added, np.float32)
    c = activated(c, activation)
    return c if residual is None else c + np.asarray(residual, np.float32)


def within_an_ulp(found, expected):
    np.testing.assert_array_max_ulp(found, expected, maxulp=1)


# Two scaled sides, whose blocks the kernels multiply; an array on either side; one that NumPy
# multiplies, since its blocks do not lie along K; a batch with one right side, and with many.
def sides(name):
    x, w = draw(7, 96), draw(20, 96, seed=1)
    scaled, weight = octavo.quantize(x, "mxfp4"), octavo.quantize(w, "mxfp4").T
    return {
        "scaled": lambda: (scaled, weight),
        "fp8": lambda: (octavo.quantize(x, "fp8_row"), octavo.quantize(w, "fp8_row").T),
        "row": lambda: (scaled[:1], weight),
        "array": lambda: (x, weight),
        "array on the right": lambda: (scaled, w.T),
        "NumPy's": lambda: (x, octavo.quantize(w.T.copy(), "mxfp4")),
        "batch": lambda: (octavo.quantize(draw(2, 3, 7, 96), "mxfp4"), weight),
        "batches": lambda: (octavo.quantize(draw(3, 7, 96), "mxfp4"),
                            octavo.quantize(draw(2, 3, 20, 96), "mxfp4").mT),
        "no K": lambda: (octavo.quantize(x[:, :0], "mxfp4"), octavo.quantize(w[:, :0], "mxfp4").T),
    }[name]()


SIDES = ["scaled", "fp8", "row", "array", "array on the right", "NumPy's", "batch", "batches", "no K"]


@pytest.mark.parametrize("name", SIDES)
@pytest.mark.parametrize("activation", [None, "relu", "gelu-erf", "gelu-tanh", "silu"])
def test_the_steps_in_their_order(name, activation):
    a, b = sides(name)
    c = octavo.matmul(a, b)
    steps = {"addend": draw(*c.shape, seed=2), "bias": draw(c.shape[-1], seed=3),
             "residual": draw(*c.shape, seed=4)}
    for chosen in range(8):
        given = {step: value for i, (step, value) in enumerate(steps.items()) if chosen >> i & 1}
        found, amax = octavo.matmul(a, b, activation=activation, return_amax=True, **given)
        expected = stated(c, activation=activation, **given)
        assert found.dtype == np.float32 and found.shape == c.shape
        if activation in (None, "relu"):
            np.testing.assert_array_equal(found, expected)
        elif "residual" in given:
            # an ulp of what the activation gave may be many of the sum
            np.testing.assert_allclose(found, expected, rtol=2e-7, atol=1e-6)
        else:
            within_an_ulp(found, expected)
        assert type(amax) is np.float32 and amax == np.abs(found).max()
        np.testing.assert_array_equal(
            found, octavo.matmul(a, b, activation=activation, **given))


@pytest.mark.parametrize("name", ["batch", "batches", "array on the right"])
def test_what_is_added_broadcasts_as_in_numpy(name):
    a, b = sides(name)
    c = octavo.matmul(a, b)
    rows, columns = c.shape[-2:]
    for shape in ((), (1,), (columns,), (1, columns), (*c.shape[:-2], 1, columns), (*c.shape[:-2], 1, 1)):
        bias = draw(*shape, seed=5)
        np.testing.assert_array_equal(octavo.matmul(a, b, bias=np.asarray(bias)), c + bias)
    for shape in ((), (rows, 1), (rows, columns), (*c.shape[:-2], 1, 1), c.shape):
        added = np.asarray(draw(*shape, seed=6))
        np.testing.assert_array_equal(octavo.matmul(a, b, addend=added), c + added)
        np.testing.assert_array_equal(octavo.matmul(a, b, residual=added), c + added)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", ">f4"])
def test_what_is_added_in_other_dtypes(dtype):
    a, b = sides("scaled")
    c = octavo.matmul(a, b)
    added = draw(*c.shape, seed=7).astype(dtype)
    np.testing.assert_array_equal(octavo.matmul(a, b, addend=added, bias=added[0], residual=added.T.copy().T),
                                  c + added.astype(np.float32) + added[0].astype(np.float32)
                                  + added.astype(np.float32))


@pytest.mark.parametrize("to", ["bf16", "f16"])
@pytest.mark.parametrize("name", SIDES)
def test_to_16_bits(name, to):
    a, b = sides(name)
    c = octavo.matmul(a, b, addend=np.float32(1e5))
    found, amax = octavo.matmul(a, b, addend=np.float32(1e5), to=to, return_amax=True)
    with np.errstate(over="ignore"):
        expected = c.astype(ELEMENTS[to].numpy)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.view(np.uint16), expected.view(np.uint16))
    assert amax == np.abs(c).max()  # P6: before the rounding


@pytest.mark.parametrize("scale", [1.0, 0.37, 64.0])
@pytest.mark.parametrize("to", NARROW)
def test_to_narrow(to, scale):
    a, b = sides("scaled")
    addend = np.repeat(np.float32([0, 1e7, -1e7, 1e-3]), 5)  # of 20 columns, ten overflow
    c = octavo.matmul(a, b, addend=addend)
    found = octavo.matmul(a, b, addend=addend, to=to, scale=scale)
    row = ELEMENTS[to]
    limit = np.float32(ELEMENTS[to].max)
    quotient = c / np.float32(scale)
    with np.errstate(all="ignore"):
        # saturation by clipping: between the largest value and infinity nothing else is nearest
        expected = elements.rounded(np.minimum(np.maximum(quotient, -limit), limit), row)
    assert found.dtype == elements.dtype(row)
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))
    by_dtype = octavo.matmul(a, b, addend=addend, to=found.dtype if row.numpy else row, scale=np.float32(scale))
    np.testing.assert_array_equal(by_dtype.view(np.uint8), found.view(np.uint8))


@pytest.mark.parametrize("name", SIDES)
def test_narrow_codes_are_those_of_the_f32_result(name):
    a, b = sides(name)
    c = octavo.matmul(a, b, activation="relu")
    found = octavo.matmul(a, b, activation="relu", to="e4m3fn", scale=0.25)
    expected = octavo.convert(c / np.float32(0.25), "e4m3fn", overflow="saturate")
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("name", SIDES)
def test_amax_of_nan_is_nan(name):
    a, b = sides(name)
    c = octavo.matmul(a, b)
    for at in (0, -1):
        bad = np.zeros(c.shape, np.float32)
        bad.reshape(-1)[at] = np.nan
        assert np.isnan(octavo.matmul(a, b, residual=bad, return_amax=True)[1])
    bad.reshape(-1)[-1] = -np.inf
    assert octavo.matmul(a, b, residual=bad, return_amax=True)[1] == np.inf


@pytest.mark.parametrize("m, k, n", [(0, 64, 3), (3, 64, 0), (0, 0, 0)])
def test_empty(m, k, n):
    a, b = octavo.quantize(draw(m, k), "mxfp4"), octavo.quantize(draw(n, k), "mxfp4").T
    for left in (a, a.dequantize()):
        c, amax = octavo.matmul(left, b, bias=np.ones(n, np.float32), activation="silu", to="e5m2",
                                return_amax=True)
        assert c.shape == (m, n) and c.dtype == ELEMENTS["e5m2"].numpy and amax == 0


def test_arguments_are_not_written_to():
    a, b = sides("scaled")
    c = octavo.matmul(a, b)
    addend = c.copy()
    octavo.matmul(a, b, addend=addend, residual=addend)
    np.testing.assert_array_equal(addend, c)


@given(m=st.integers(0, 5), k=st.integers(0, 70), n=st.integers(0, 40), seed=st.integers(0, 99),
       activation=st.sampled_from([None, "relu"]), to=st.sampled_from(["f32", "bf16", "e4m3fn", "e2m1fn"]),
       kinds=st.tuples(*[st.sampled_from([None, "scalar", "column", "row", "full"])] * 2),
       has_bias=st.booleans(), scale=st.floats(2.0 ** -20, 2.0 ** 20, width=32))
@example(1, 1, 1, 0, None, "e4m3fn", ("full", "full"), True, 2.0 ** -20)
def test_every_combination(m, k, n, seed, activation, to, kinds, has_bias, scale):
    a = octavo.quantize(draw(m, k, seed=seed), "mxfp4")
    b = octavo.quantize(draw(n, k, seed=seed + 1), "mxfp4").T
    shapes = {"scalar": (), "column": (m, 1), "row": (n,), "full": (m, n)}
    given = {name: np.asarray(draw(*shapes[kind], seed=seed + 2, scale=100))
             for name, kind in zip(("addend", "residual"), kinds) if kind}
    if has_bias:
        given["bias"] = draw(n, seed=seed + 3)
    scale = scale if to in ("e4m3fn", "e2m1fn") else 1.0
    found, amax = octavo.matmul(a, b, activation=activation, to=to, scale=scale, return_amax=True, **given)
    values = stated(octavo.matmul(a, b), activation=activation, **given)
    assert found.shape == (m, n) and amax == np.abs(values).max(initial=0)
    if to in ("f32", "bf16"):
        expected = values.astype(ELEMENTS[to].numpy)
    else:
        limit = np.float32(ELEMENTS[to].max)
        expected = np.clip(values / np.float32(scale), -limit, limit).astype(ELEMENTS[to].numpy)
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_threads_change_no_bit(threads):
    a, b = octavo.quantize(draw(150, 96), "mxfp4"), octavo.quantize(draw(300, 96), "mxfp4").T
    arguments = {"addend": draw(150, 300), "bias": draw(300), "activation": "gelu-erf", "to": "e4m3fn",
                 "scale": 0.1, "return_amax": True}
    codes, amax = octavo.matmul(a, b, **arguments)
    try:
        octavo.set_threads(threads)
        found, found_amax = octavo.matmul(a, b, **arguments)
    finally:
        octavo.set_threads(0)
    np.testing.assert_array_equal(found.view(np.uint8), codes.view(np.uint8))
    assert found_amax == amax


A, B = octavo.quantize(draw(4, 64), "mxfp4"), octavo.quantize(draw(5, 64), "mxfp4").T


@pytest.mark.parametrize("arguments, error, words", [
    ({"activation": "gelu"}, octavo.FormatError, '"gelu"; available: relu, gelu-erf, gelu-tanh, silu'),
    ({"to": "f64"}, octavo.FormatError, "astype"),
    ({"to": "fp8"}, octavo.FormatError, "available: e4m3fn"),
    ({"to": "e4m3fn", "scale": 0}, octavo.FormatError, "positive number, found 0"),
    ({"to": "e4m3fn", "scale": -1}, octavo.FormatError, "positive number, found -1"),
    ({"to": "e4m3fn", "scale": np.inf}, octavo.FormatError, "positive number, found inf"),
    ({"to": "e4m3fn", "scale": np.nan}, octavo.FormatError, "positive number, found nan"),
    ({"scale": 2}, octavo.FormatError, "to=f32 stores them as they are"),
    ({"bias": np.zeros(4, np.float32)}, octavo.ShapeError, r"bias.*broadcasts to \(5,\), found \(4,\)"),
    ({"bias": np.zeros((4, 5), np.float32)}, octavo.ShapeError, r"bias.*\(1, 5\), found \(4, 5\)"),
    ({"addend": np.zeros((5, 4), np.float32)}, octavo.ShapeError, r"addend.*\(4, 5\), found \(5, 4\)"),
    ({"residual": np.zeros((1, 4, 5), np.float32)}, octavo.ShapeError, r"residual.*found \(1, 4, 5\)"),
    ({"addend": np.zeros((4, 5), np.int32)}, octavo.DtypeError, "addend.*int32"),
    ({"bias": [0.0] * 5}, octavo.DtypeError, "bias.*numpy.asarray"),
    ({"residual": "x"}, octavo.DtypeError, "residual.*found str"),
])
def test_bad_input(arguments, error, words):
    for left in (A, A.dequantize()):
        with pytest.raises(error, match=words):
            octavo.matmul(left, B, **arguments)
