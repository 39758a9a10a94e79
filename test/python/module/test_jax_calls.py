"""Programs that call octavo.jax, run by octavo: the bits that JAX gives (rule I15)."""
import jax
import jax.numpy as jnp
import numpy as np
import octavo
import octavo.jax as oj
import pytest

pytestmark = pytest.mark.mlir

FORMATS = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)]
SPECIAL = np.array([0, -0.0, 1e-30, 3e38, np.inf, np.nan, -1, 448], np.float32)


def drawn(*shape, seed=0):
    x = np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)
    x.flat[:: max(1, x.size // 7)] *= 1000
    return x


def equal(found, wanted):
    found, wanted = jax.tree.leaves(found), jax.tree.leaves(wanted)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.dtype == np.float32:  # a NaN has any sign and payload (C1)
            a, b = (np.where(np.isnan(each), np.float32(np.nan), each) for each in (a, b))
        np.testing.assert_array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8))


def runs(function, *arguments, is_same=equal):
    wanted = jax.jit(function)(*arguments)
    lowered = jax.jit(function).lower(*arguments)
    for backend in ("compiled", "reference"):
        found = octavo.compile(lowered, backend=backend)(*arguments)
        is_same([jnp.asarray(each) for each in jax.tree.leaves(found)], jax.tree.leaves(wanted))


def is_near(x, w):
    """Of products of 8-bit floats, whose sums octavo.jax rounds and the specification does not (D8)."""
    size = np.abs(x) @ np.abs(w)

    def same(found, wanted):
        equal(found[:-1], wanted[:-1])
        assert (np.abs(np.asarray(found[-1]) - np.asarray(wanted[-1])) <= x.shape[-1] * 2.0**-23 * size).all()
    return same


def parts(array):
    return array.elements, array.scales, array.outer


@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize("format", FORMATS)
def test_quantize_and_dequantize(format, axis):
    def function(x):
        quantized = oj.quantize(x, format, axis=axis)
        return parts(quantized), oj.dequantize(quantized), oj.fake_quantize(x, format, axis=axis)
    runs(function, drawn(5, 70))
    runs(function, np.tile(SPECIAL, (3, 9)))


@pytest.mark.parametrize("settings", [
    {"rule": "even"}, {"preset": "torchao-rceil"}, {"rounding": "toward-zero"}, {"overflow": "special"}, {"nan": "saturate"},
    {"rounding": "stochastic"}])
def test_settings(settings):
    def function(x, key):
        more = {"key": key} if settings.get("rounding") == "stochastic" else {}
        return parts(oj.quantize(x, "mxfp4", **settings, **more))
    runs(function, drawn(4, 64), np.array([0, 3], np.uint32))


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "nvfp4", "fp8_tensor", "fp8_row"])
def test_members_of_a_batch_are_quantized_and_multiplied_alone(format):
    def function(x, w):
        a = jax.vmap(lambda x: oj.quantize(x, format))(x)
        b = jax.vmap(lambda w: oj.quantize(w, format, axis=0))(w)
        return parts(a), jax.vmap(oj.matmul)(a, b)
    x, w = drawn(3, 5, 64), drawn(3, 64, 6, seed=1) * 0.01
    runs(function, x, w, is_same=equal if format == "nvfp4" else is_near(x, w))


@pytest.mark.parametrize("left,right", [
    ("mxfp8_e4m3", "mxfp8_e4m3"), ("mxfp4", "mxfp4"), ("mxint8", "mxfp4"), ("nvfp4", "nvfp4"), ("fp8_tensor", "fp8_row"),
    ("fp8_group", "fp8_block")])
def test_products(left, right):
    x, w = drawn(7, 256), drawn(256, 9, seed=1)
    runs(lambda x, w: oj.matmul(oj.quantize(x, left), oj.quantize(w, right, axis=0)), x, w,
         is_same=is_near(x, w) if "8" in left and left != "mxint8" else equal)


def test_a_plain_side():
    """f32 by mxfp4: within the bound of D6 in blocks of 32, that of AVX-512 for so many rows."""
    x, w = drawn(7, 64), drawn(64, 9, seed=1)
    lowered = jax.jit(lambda x, w: oj.matmul(x, oj.quantize(w, "mxfp4", axis=0))).lower(x, w)
    values = np.asarray(oj.dequantize(oj.quantize(w, "mxfp4", axis=0)), np.float64)
    wanted = x.astype(np.float64) @ values
    amax, sizes = np.abs(x).reshape(7, 2, 32).max(2), np.abs(values).reshape(2, 32, 9).sum(1)
    bound = 64 * 2.0**-24 * (np.abs(x) @ np.abs(values)) + 2.0**-22 * (amax @ sizes)
    for backend in ("compiled", "reference"):
        assert (np.abs(octavo.compile(lowered, backend=backend)(x, w) - wanted) <= bound).all()


@pytest.mark.parametrize("format", ["e4m3fn", "e5m2", "e2m1fn", "e3m2fn", "int8"])
def test_convert(format):
    runs(lambda x: oj.convert(x, format, overflow="saturate"), np.concatenate([drawn(100), SPECIAL[:4]]))


def test_a_training_step_with_fake_quantization():
    def step(w, x):
        loss, gradient = jax.value_and_grad(lambda w: jnp.sum(oj.fake_quantize(x, "mxfp8_e4m3") * oj.fake_quantize(w, "mxfp4")))(w)
        return loss, w - 0.5 * gradient
    x, w = np.full((4, 32), 0.5, np.float32), np.full((4, 32), 0.25, np.float32)
    runs(step, w, x)


def test_what_is_told():
    x = np.ones((4, 64), np.float32)
    lowered = jax.jit(lambda x: oj.quantize(x, "nvfp4", outer=0.5).scales).lower(x)
    with pytest.raises(octavo.ProgramError, match="octavo_quantize' is given an outer scale"):
        octavo.compile(lowered)(x)
    lowered = jax.jit(lambda x: oj.quantize(x, "mxfp4", nan="error").scales).lower(x)
    with pytest.raises(octavo.NonFiniteError, match='argument "x" has NaN at .0, 0., which its quantization refuses'):
        octavo.compile(lowered)(x * np.nan)
    text = jax.jit(lambda x: oj.quantize(x, "mxfp4").scales).lower(x).as_text()
    for old, new, message in (('"mxfp4"', '"mxfp5"', 'unknown format, "mxfp5"'), ("axis_from_end = 1", "axis_from_end = 3", "axis out of range"),
                              ('rule = ""', 'rule = "up"', 'unknown rule, "up"'), ("axis_from_end = 1 : i64, ", "", "has no number")):
        assert old in text
        with pytest.raises(octavo.ProgramError, match=message):
            octavo.compile(text.replace(old, new))(x)


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_bytes_that_are_no_codes_are_refused(backend):
    left, right = (oj.quantize(drawn(4, 64, seed=i), "mxfp6_e2m3") for i in range(2))

    def function(elements, scales, outer):
        array = oj.ScaledArray(elements, scales, outer, "mxfp6_e2m3", -1)
        return oj.dequantize(array), oj.matmul(array, right.T)
    arguments = [np.asarray(each) for each in parts(left)]
    program = octavo.compile(jax.jit(function).lower(*arguments), backend=backend)
    equal(program(*arguments), jax.jit(function)(*arguments))
    arguments[0] = arguments[0].copy()
    arguments[0][1, 2] = 64
    with pytest.raises(octavo.ProgramError, match="octavo_(dequantize|product)' has a byte that is no code of e2m3fn, 64 at index 66"):
        program(*arguments)
