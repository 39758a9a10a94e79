"""Programs that JAX writes, evaluated by XLA on the CPU and by octavo: the operations that move by
data, loop, sort, slide windows, transform, factor and draw random bits."""

import functools

import numpy as np
import pytest
from test_reference import assert_same, integers, jax_case, normal

pytestmark = pytest.mark.mlir

jax = pytest.importorskip("jax", reason="JAX writes the programs")
jnp = jax.numpy
lax = jax.lax

X = normal(6, 8)
I = integers(-3, 9, 5)


def parts(z):
    return jnp.real(z), jnp.imag(z)


def cache(x, steps):
    """A KV cache: each turn writes a row and reads all of them."""
    def turn(i, state):
        rows, sums = state
        row = x[i % x.shape[0]] + i.astype(x.dtype)
        rows = lax.dynamic_update_slice(rows, row[None], (i, 0))
        return rows, sums.at[i].set(rows[i, 0])
    return lax.fori_loop(0, steps, turn, (jnp.zeros((steps, x.shape[1]), x.dtype), jnp.zeros(steps)))


def collatz(n):
    def body(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1
    return lax.while_loop(lambda s: s[0] != 1, body, (n, jnp.int32(0)))


def window(operation, init, x, size, strides, padding, base=(1, 1), dilation=(1, 1)):
    return lax.reduce_window(x, init, operation, size, strides, padding, base, dilation)


WORDS = np.array([0x12345678, 0x9ABCDEF0, 7, 0xFFFFFFFE], np.uint32)


def bits(algorithm, shape, dtype):
    def program(key):
        state, values = lax.rng_bit_generator(key, shape, dtype, algorithm=algorithm)
        return state, values
    return program, WORDS


# One right answer each.
EXACT = {
    "dynamic_slice": (lambda x, i: tuple(
        lax.dynamic_slice(x, (i[a], i[b]), (2, 3)) for a, b in [(0, 1), (2, 3), (4, 0)]), X, I),
    "dynamic_slice of unsigned starts": (
        lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (2, 3)), X, np.array([200, 3], np.uint8)),
    "dynamic_update_slice": (lambda x, i: lax.dynamic_update_slice(x, x[:2, :3] * 2, (i[0], i[1])), X, I),
    "cache": (functools.partial(cache, steps=12), np.arange(40, dtype=np.float32).reshape(5, 8)),
    "collatz": (collatz, np.int32(27)),
    "no turn": (lambda n: lax.while_loop(lambda v: v < 0, lambda v: v + 1, n), np.int32(3)),
    "scan": (lambda x: lax.scan(lambda c, v: (c * 3 + v, c - v), jnp.int32(1), x), integers(0, 9, 20)),
    "reverse scan": (lambda x: lax.scan(lambda c, v: (c + v, c), jnp.int32(0), x, reverse=True),
                     integers(0, 9, 20)),
    "cond": (lambda x, n: lax.cond(n > 3, lambda v: v + 1, lambda v: v * 2, x), X, np.int32(3)),
    "switch": (lambda x, i: tuple(
        lax.switch(i[k], [lambda v: v + 1, lambda v: v * 2, lambda v: -v], x) for k in range(5)), X, I),
    "scatter set": (lambda x, i: x.at[i].set(x[:5] * 2), X, np.array([3, 0, 9, -1, 2], np.int32)),
    "scatter add": (lambda x, i: x.at[i % 4].add(1), integers(0, 99, 6, 8), I),
    "scatter multiply": (lambda x, i: x.at[i % 4, 2].multiply(3), integers(0, 99, 6, 8), I),
    "scatter max": (lambda x, i: x.at[:, i].max(x[:, ::-1][:, :5]), X, I % 8),
    "scatter min": (lambda x, i: x.at[i].min(0), X, I % 6),
    "scatter of windows": (
        lambda x, i: lax.scatter_add(
            x, i, jnp.ones((2, 2, 3), np.float32),
            lax.ScatterDimensionNumbers((1, 2), (), (0, 1)), mode="drop"),
        np.arange(48, dtype=np.float32).reshape(6, 8), np.array([[1, 2], [6, 6]], np.int32)),
    "scatter in batches": (
        lambda x, i: jax.vmap(lambda row, k: row.at[k].add(1))(x, i), integers(0, 99, 6, 8),
        integers(0, 8, 6, 3)),
    "scatter by any function": (lambda x, i: x.at[i].apply(lambda v: v * 2 + 1), X,
                                np.array([4, 1, 2, 0], np.int32)),
    "scatter of bf16": (lambda x, i: x.astype(jnp.bfloat16).at[i % 3].set(1.5).astype(jnp.float32), X, I),
    "gather in batches": (lambda x, i: jnp.take_along_axis(x, i, 1), X, integers(0, 8, 6, 3)),
    "sort": (lambda x: jnp.sort(x, 0), X),
    "sort of specials": (
        lambda x: jnp.sort(x), np.array([3, np.nan, -0.0, 0.0, -np.inf, 1, np.inf, -1], np.float32)),
    "sort of integers": (lambda x: (jnp.sort(x, descending=True), jnp.sort(x.astype(jnp.uint8))),
                         integers(-100, 100, 50)),
    "argsort": (lambda x: (jnp.argsort(x, 1), jnp.argsort(x, 0, descending=True)),
                integers(0, 4, 6, 9)),
    "lexsort": (lambda x, y: lax.sort((x, y, jnp.arange(40)), num_keys=2),
                integers(0, 4, 40), integers(0, 3, 40)),
    "sort by any function": (
        lambda x: jnp.sort(jnp.abs(x)), integers(-9, 9, 30)),
    "top_k": (lambda x: lax.top_k(x, 3), X),
    "top_k of equals": (lambda x: lax.top_k(x, 5), integers(0, 3, 4, 20)),
    "unique": (lambda x: jnp.unique(x, size=6, fill_value=-1), integers(0, 9, 20)),
    "searchsorted": (lambda x, y: jnp.searchsorted(jnp.sort(x), y), integers(0, 99, 20),
                     integers(0, 99, 7)),
    "shifts": (lambda x, y: (x << y, x >> y, lax.shift_right_logical(x, y)),
               integers(-2**31, 2**31 - 1, 40), integers(0, 40, 40)),
    "shifts of bytes": (lambda x, y: (x << y, x >> y), integers(0, 255, 40).astype(np.uint8),
                        integers(0, 12, 40).astype(np.uint8)),
    "bits": (lambda x: (lax.population_count(x), lax.clz(x), lax.population_count(x.astype(jnp.int8)),
                        lax.clz(x.astype(jnp.uint8))), integers(-2**31, 2**31 - 1, 40)),
    "max pool": (functools.partial(window, lax.max, -np.inf, size=(2, 3), strides=(2, 2),
                                   padding=((0, 1), (1, 1))), X),
    "dilated min pool": (functools.partial(window, lax.min, np.inf, size=(2, 2), strides=(1, 1),
                                           padding=((1, 0), (0, 2)), base=(2, 1), dilation=(1, 2)), X),
    "sum pool of integers": (functools.partial(window, lax.add, 0, size=(3, 3), strides=(1, 2),
                                               padding="SAME"), integers(-9, 9, 6, 8)),
    "pool by any function": (
        lambda x: lax.reduce_window(x, np.int32(1), lambda a, b: a * 2 - b, (2, 2), (1, 1), "VALID"),
        integers(-9, 9, 5, 6)),
    "cumulative": (lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, 0)), integers(-3, 4, 6, 8)),
    "gradient of max pool": (
        jax.grad(lambda x: (window(lax.max, -np.inf, x, (2, 2), (2, 2), "VALID")
                            * jnp.arange(12.0).reshape(3, 4)).sum()), X),
    "argmax of all": (lambda x: (jnp.argmax(x), jnp.argmin(x, 0), jnp.argmax(x, 1)), X),
    "convolution of integers": (
        lambda x, k: lax.conv_general_dilated(
            x, k, (2, 1), ((1, 1), (0, 2)), (1, 2), (2, 1),
            dimension_numbers=("NHWC", "HWIO", "NHWC"), preferred_element_type=jnp.int32),
        integers(-9, 9, 2, 6, 5, 3), integers(-9, 9, 3, 2, 3, 4)),
    "grouped convolution": (
        lambda x, k: lax.conv_general_dilated(x, k, (1,), "SAME", feature_group_count=2),
        integers(-9, 9, 2, 4, 7).astype(np.float32), integers(-9, 9, 6, 2, 3).astype(np.float32)),
    "batch grouped convolution": (
        lambda x, k: lax.conv_general_dilated(x, k, (1,), "VALID", batch_group_count=2),
        integers(-9, 9, 4, 3, 7).astype(np.float32), integers(-9, 9, 6, 3, 3).astype(np.float32)),
    "transposed convolution": (
        lambda x, k: lax.conv_transpose(x, k, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
        integers(-9, 9, 2, 5, 3).astype(np.float32), integers(-9, 9, 3, 3, 4).astype(np.float32)),
    "complex": (lambda x, y: parts((x + 1j * y) * (y - 2j) + jnp.conj(x + 1j * y)), X, X[::-1].copy()),
    "imaginary part of reals": (lambda x: (jnp.imag(x), jnp.real(x)), X),
    "map": (lambda x: lax.map(lambda row: row[::-1] + 1, x), X),
    "next_after": (jnp.nextafter, np.array([0, -0.0, 1, -1, 3e38, np.nan, 1e-45, 2], np.float32),
                   np.array([1, -1, 2, 0, np.inf, 1, -1, 2], np.float32)),
    **{f"{name} {dtype.__name__} {shape}": bits(algorithm, shape, dtype)
       for name, algorithm in [("threefry", lax.RandomAlgorithm.RNG_THREE_FRY),
                               ("philox", lax.RandomAlgorithm.RNG_PHILOX),
                               ("default", lax.RandomAlgorithm.RNG_DEFAULT)]
       for dtype in [np.uint32, np.uint8, np.uint16]
       for shape in [(), (1,), (5,), (4, 3), (3, 5), (3, 2, 3)]},
    "jax.random": (lambda key: (jax.random.bits(key, (7,)), jax.random.uniform(key, (5, 3)),
                                jax.random.randint(key, (9,), 0, 100),
                                jax.random.permutation(key, 12)), np.array([1, 2], np.uint32)),
}

# Sums in another order, functions and factors: within a bound of the same size as XLA's own error.
CLOSE = {
    "convolution": (
        lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME",
                                              dimension_numbers=("NCHW", "OIHW", "NCHW")),
        normal(2, 3, 8, 9), normal(4, 3, 3, 3)),
    "average pool": (functools.partial(window, lax.add, 0.0, size=(2, 2), strides=(2, 2),
                                       padding="VALID"), X),
    "fft": (lambda x: parts(jnp.fft.fft2(x)), X),
    "fft of an odd length": (lambda x: parts(jnp.fft.fft(x)), normal(3, 15)),
    "fft of a prime length": (lambda x: parts(jnp.fft.fft(x)), normal(2, 31)),
    "ifft": (lambda x: parts(jnp.fft.ifft(x + 1j * x[::-1])), X),
    "rfft": (lambda x: parts(jnp.fft.rfft(x)), X),
    "rfftn": (lambda x: parts(jnp.fft.rfftn(x)), normal(2, 3, 5)),
    "irfft": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x)), X),
    "irfft of an odd length": (lambda x: jnp.fft.irfft(x + 1j * x, n=7), normal(3, 4)),
    "irfftn": (lambda x: jnp.fft.irfftn(x + 1j * x[::-1], s=(4, 6)), normal(4, 4)),
    "complex functions": (
        lambda x, y: tuple(p for f in [jnp.exp, jnp.log, jnp.sin, jnp.cos, jnp.tanh, jnp.sqrt,
                                       jnp.expm1, jnp.log1p]
                           for p in parts(f(x + 1j * y))), normal(40), normal(40)[::-1].copy()),
    "complex quotient": (lambda x, y: parts((x + 1j * y) / (y + 2j)), X, X[::-1].copy()),
    "modulus": (lambda x, y: jnp.abs(x + 1j * y), X, X[::-1].copy()),
    "complex dot": (lambda x, y: parts((x + 1j) @ (y.T - 1j * y.T)), X, X[::-1].copy()),
    "angles": (lambda x, y: (jnp.atan2(x, y), jnp.tan(x)), X, X[::-1].copy()),
    "inverse functions": (lambda x: (jnp.arcsin(x), jnp.arccos(x), jnp.arctan(3 * x), jnp.arctanh(x),
                                     jnp.arcsinh(3 * x), jnp.arccosh(2 + x), jnp.sinh(x), jnp.cosh(x)),
                          np.linspace(-0.99, 0.99, 50, dtype=np.float32)),
    "special functions": (lambda x: (lax.lgamma(x), lax.digamma(x)),
                          np.linspace(0.2, 20, 50, dtype=np.float32)),
    "erf_inv": (lax.erf_inv, np.linspace(-0.999, 0.999, 50, dtype=np.float32)),
    "normal numbers": (lambda key: jax.random.normal(key, (40,)), np.array([1, 2], np.uint32)),
    "categorical": (lambda key, x: jax.random.categorical(key, x), np.array([1, 2], np.uint32), X),
    "lstm": (lambda x, w: jax.tree.leaves(lax.scan(
        lambda c, v: ((jax.nn.sigmoid(v @ w) * c[0] + jnp.tanh(v @ w), c[0]), c[0].sum()),
        (jnp.zeros(8), jnp.zeros(8)), x)), X, normal(8, 8)),
    "gradient of a convolution": (
        jax.grad(lambda k, x: (lax.conv_general_dilated(x, k, (2, 2), "SAME") ** 2).sum()),
        normal(4, 3, 3, 3), normal(2, 3, 7, 7)),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact(tmp_path, name):
    function, *arrays = EXACT[name]
    found, expected = jax_case(tmp_path, function, *arrays)
    for f, e in zip(found, expected, strict=True):
        assert_same(f, e)


@pytest.mark.parametrize("name", CLOSE)
def test_close(tmp_path, name):
    function, *arrays = CLOSE[name]
    found, expected = jax_case(tmp_path, function, *arrays)
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=3e-5, atol=1e-5)
