"""octavo.jax: the kernels inside JAX programs on the CPU, against NumPy statements of the rules and
JAX's own operations."""
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import octavo.jax as oj
import pytest

FORMATS = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)]
KEY = jax.random.key(7)


def draw(*shape, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 6, shape)).astype(dtype)


def codes(array):
    return np.asarray(array).view(np.uint8) if array.dtype != np.float32 else np.asarray(array)


def mxfp8(x):
    """OCP MX 6.3 for e4m3fn along the last axis, in NumPy: scale exponents and elements."""
    blocks = x.reshape(*x.shape[:-1], -1, 32).astype(np.float64)
    amax = np.abs(blocks).max(-1)
    exponent = np.clip(np.floor(np.log2(np.where(amax > 0, amax, 1))) - 8, -127, 127)
    exponent = np.where(amax > 0, exponent, -127)
    scaled = np.clip(blocks / 2.0 ** exponent[..., None], -448, 448).astype(np.float32)
    return exponent, scaled.astype(ml_dtypes.float8_e4m3fn).reshape(x.shape)


@pytest.mark.parametrize("compile", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_quantize_follows_ocp(compile):
    x = draw(5, 96)
    q = compile(lambda x: oj.quantize(x, "mxfp8_e4m3"))(x)
    exponent, elements = mxfp8(x)
    assert q.elements.dtype == jnp.float8_e4m3fn and q.scales.dtype == jnp.float8_e8m0fnu
    np.testing.assert_array_equal(codes(q.elements), elements.view(np.uint8))
    np.testing.assert_array_equal(codes(q.scales), (exponent + 127).astype(np.uint8))
    values = elements.astype(np.float32) * np.repeat(2.0 ** exponent, 32, -1)
    np.testing.assert_array_equal(q.dequantize(), values.astype(np.float32))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_every_format_is_that_of_the_numpy_module(format, axis):
    x = draw(70, 3, 65)  # odd counts of four-bit codes, short last blocks
    found = jax.jit(lambda x: oj.quantize(x, format, axis=axis))(x)
    expected = octavo.quantize(x, format, axis=axis)
    np.testing.assert_array_equal(codes(found.elements), np.asarray(expected.elements).view(np.uint8))
    np.testing.assert_array_equal(codes(found.scales).ravel(), codes(np.asarray(expected.scales)).ravel())
    assert float(found.outer) == expected.outer
    np.testing.assert_array_equal(oj.dequantize(found), expected.dequantize())


@pytest.mark.parametrize("format", ["mxfp4", "nvfp4", "fp8_tensor", "mxfp6_e2m3"])
def test_vmap_quantizes_each_member_alone(format):
    x = draw(3, 5, 40)
    q = jax.vmap(lambda x: oj.quantize(x, format))(x)
    assert q.outer.shape == (3,)
    values = oj.dequantize(q)
    for i in range(3):
        alone = oj.quantize(x[i], format)
        np.testing.assert_array_equal(codes(q.elements[i]), codes(alone.elements))
        np.testing.assert_array_equal(values[i], oj.dequantize(alone))
    np.testing.assert_array_equal(jax.vmap(oj.dequantize)(q), values)
    inner = jax.vmap(lambda x: oj.quantize(x, format), in_axes=1)(x)
    np.testing.assert_array_equal(codes(inner.elements[2]), codes(oj.quantize(x[:, 2], format).elements))


def test_the_gradient_of_fake_quantize_passes_straight_through():
    x = draw(4, 32)
    loss = jax.jit(jax.grad(lambda x: (3 * oj.fake_quantize(x, "mxfp4")).sum()))
    np.testing.assert_array_equal(loss(x), np.full((4, 32), 3, np.float32))
    assert oj.fake_quantize(jnp.asarray(x, jnp.bfloat16), "mxfp4").dtype == jnp.bfloat16
    per_row = jax.vmap(jax.grad(lambda x: oj.fake_quantize(x, "mxfp4").sum()))(x)
    np.testing.assert_array_equal(per_row, np.ones((4, 32), np.float32))
    with pytest.raises(TypeError, match="fake_quantize"):
        jax.grad(lambda x: oj.dequantize(oj.quantize(x, "mxfp4")).sum())(x)


def test_stochastic_rounding_takes_its_bits_from_the_key_and_has_the_right_mean():
    x = jnp.full((4096, 32), 2.25)  # between 2 and 3: a quarter goes up
    x = x.at[:, 0].set(4.0)
    once = oj.fake_quantize(x, "mxfp4", rounding="stochastic", key=KEY)
    np.testing.assert_array_equal(once, oj.fake_quantize(x, "mxfp4", rounding="stochastic", key=KEY))
    assert set(np.unique(once[:, 1:])) == {2, 3}
    assert abs(float(once[:, 1:].mean()) - 2.25) < 5 * np.sqrt(0.25 * 0.75 / (4096 * 31))
    keys = jax.random.split(KEY, 2)
    two = jax.vmap(lambda k: oj.fake_quantize(x[:4], "mxfp4", rounding="stochastic", key=k))(keys)
    assert (two[0] != two[1]).any()


@pytest.mark.parametrize("format, dtype", [("e4m3fn", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2),
                                           ("e2m1fn", ml_dtypes.float4_e2m1fn)])
def test_convert_is_astype(format, dtype):
    x = draw(3, 333)
    found = jax.jit(lambda x: oj.convert(x, format))(x)
    np.testing.assert_array_equal(codes(found), x.astype(dtype).view(np.uint8))
    gradient = jax.grad(lambda x: oj.convert(x, "e5m2").astype(jnp.float32).sum())(x)
    np.testing.assert_array_equal(gradient, np.ones_like(x))
    assert float(oj.convert(jnp.float32(1e6), "e4m3fn", overflow="saturate")) == 448


PAIRS = [("mxfp8_e4m3", "mxfp8_e4m3"), ("mxfp4", "mxfp4"), ("nvfp4", "nvfp4"), ("fp8_row", "fp8_row"),
         ("fp8_group", "fp8_block"), ("mxfp8_e4m3", "mxfp4"), ("mxfp6_e2m3", "mxfp6_e2m3"), ("mxint8", "mxint8"),
         ("nvfp4", "mxfp8_e4m3")]
LEADS = [((), ()), ((3,), (3,)), ((2, 3), ()), ((), (2,))]


@pytest.mark.parametrize("a_format, b_format, lead_a, lead_b",
                         [(*pair, *LEADS[i % 4]) for i, pair in enumerate(PAIRS)] +
                         [("nvfp4", "nvfp4", *lead) for lead in LEADS])
def test_matmul_is_the_product_of_the_values(a_format, b_format, lead_a, lead_b):
    a = oj.quantize(draw(*lead_a, 9, 80, seed=1), a_format)
    b = oj.quantize(draw(*lead_b, 80, 7, seed=2), b_format, axis=-2)
    found = jax.jit(oj.matmul)(a, b)
    x, y = (np.asarray(t.dequantize(), np.float64) for t in (a, b))
    # K + 3 roundings of 2^-24 each, of sums of at most |x| @ |y|.
    np.testing.assert_array_less(np.abs(found - x @ y), 83 * 2.0 ** -24 * (np.abs(x) @ np.abs(y)) + 1e-30)
    assert found.dtype == jnp.float32


def test_matmul_with_one_plain_side():
    x, w = draw(4, 64), oj.quantize(draw(64, 5, seed=1), "mxfp4", axis=0)
    exact = x.astype(np.float64) @ np.asarray(w.dequantize(), np.float64)
    np.testing.assert_allclose(oj.matmul(x, w), exact, rtol=0, atol=2e-5 * np.abs(exact).max())
    q = oj.quantize(x, "mxfp8_e4m3")
    y = draw(64, 5, seed=2)
    exact = np.asarray(q.dequantize(), np.float64) @ y
    np.testing.assert_allclose(oj.matmul(q, y), exact, rtol=0, atol=2e-5 * np.abs(exact).max())


@pytest.mark.parametrize("magnitudes", [(1, 1), (1e-20, 1e-16), (1e-4, 1e-32), (1e17, 1e19)])
@pytest.mark.parametrize("lead", [(), (3,)])
def test_outer_scales_multiply_last(magnitudes, lead):
    """By their product, as octavo.matmul has them; a batch by one matrix by one after the other where f32 lacks it."""
    x, w = (draw(*shape, seed=seed) * np.float32(magnitude)
            for seed, (shape, magnitude) in enumerate(zip(((*lead, 9, 64), (64, 7)), magnitudes)))
    found = np.asarray(oj.matmul(oj.quantize(x, "nvfp4"), oj.quantize(w, "nvfp4", axis=-2)))
    rounds_twice = lead and magnitudes[0] * magnitudes[1] < 1e-30
    wanted = octavo.matmul(octavo.quantize(x, "nvfp4"), octavo.quantize(w, "nvfp4", axis=-2))
    np.testing.assert_allclose(found, wanted, rtol=2.0 ** -22 if rounds_twice else 0)


@pytest.mark.parametrize("format", ["mxfp4", "nvfp4", "mxfp6_e2m3", "mxfp8_e4m3", "fp8_row"])
def test_a_weight_that_changes_in_its_place_is_packed_anew(format):
    """Kept packings are of the bytes that a call is given: those that a program computes lie where others lay."""
    x, values = draw(4, 64), draw(24, 64, seed=1)
    product = jax.jit(lambda x, w: oj.matmul(x, oj.quantize(w, format).T))
    for change in range(12):
        w = values.copy()
        w[change % 24 - 1, -1] += change // 2  # a value and some signs
        w[-1, change:] *= -1
        expected = octavo.matmul(x, octavo.quantize(w, format).T)
        for _ in range(2):
            np.testing.assert_array_equal(product(x, w), expected)


def test_matmul_under_vmap():
    a, b = draw(3, 4, 64, seed=3), draw(3, 64, 5, seed=4)
    def product(a, b):
        return oj.matmul(oj.quantize(a, "nvfp4"), oj.quantize(b, "nvfp4", axis=-2))
    found = jax.jit(jax.vmap(product))(a, b)
    for i in range(3):
        np.testing.assert_array_equal(found[i], product(a[i], b[i]))


SCALED = [(jnp.float8_e4m3fn, jnp.float8_e8m0fnu, 32), (jnp.float8_e5m2, jnp.float8_e8m0fnu, 32),
          (jnp.float4_e2m1fn, jnp.float8_e4m3fn, 16), (jnp.float8_e4m3fn, jnp.float8_e8m0fnu, 16),
          (jnp.bfloat16, jnp.float32, 64), (jnp.int8, jnp.float32, 64)]


@pytest.mark.parametrize("element, scale, block", SCALED)
@pytest.mark.parametrize("owner", ["octavo", "jax.nn"])
def test_scaled_matmul(owner, element, scale, block):
    oj.register()
    function = jax.nn.scaled_matmul if owner == "jax.nn" else oj.scaled_matmul
    rng = np.random.default_rng(5)
    a, b = (jnp.asarray(rng.integers(-4, 5, (2, rows, 128)), jnp.float32).astype(element) for rows in (6, 10))
    sa, sb = (jnp.asarray(2.0 ** rng.integers(-3, 4, (2, rows, 128 // block)), jnp.float32).astype(scale) for rows in (6, 10))
    found = function(a, b, sa, sb, preferred_element_type=jnp.float32)
    x, y = (np.asarray(t, np.float64) * np.repeat(np.asarray(s, np.float64), block, -1) for t, s in ((a, sa), (b, sb)))
    # Small integers and powers of two: every sum is exact in float32.
    np.testing.assert_array_equal(found, np.einsum("bmk,bnk->bmn", x, y))
    assert function(a, b, sa, sb, preferred_element_type=jnp.bfloat16).dtype == jnp.bfloat16


def test_jax_nn_scaled_dot_general_runs_on_the_cpu_with_its_gradient():
    oj.register()
    configs = [jax.nn.get_scaled_dot_general_config("mxfp8")] * 3
    lhs, rhs = draw(3, 64, 96, seed=1), draw(3, 32, 96, seed=2)
    numbers = (((2,), (2,)), ((0,), (0,)))
    exact = np.einsum("bmk,bnk->bmn", lhs.astype(np.float64), rhs)
    for dot in (jax.nn.scaled_dot_general, oj.scaled_dot_general):
        found = jax.jit(lambda a, b: dot(a, b, numbers, configs=configs))(lhs, rhs)
        assert np.linalg.norm(found - exact) < 0.05 * np.linalg.norm(exact)
        gradient = jax.jit(jax.grad(lambda a: dot(a, rhs, numbers, configs=configs).sum()))(lhs)
        assert gradient.shape == lhs.shape


@pytest.mark.parametrize("shape_a, shape_b, numbers", [
    ((4, 40), (40, 6), (((1,), (0,)), ((), ()))),
    ((4, 2, 40), (40, 6), (((2,), (0,)), ((), ()))),
    ((2, 40, 4), (2, 6, 40), (((1,), (2,)), ((0,), (0,)))),
    ((5, 8, 3, 2), (3, 7, 8), (((1, 2), (2, 0)), ((), ()))),
])
def test_scaled_dot_general_is_that_of_fake_quantized_operands(shape_a, shape_b, numbers):
    a, b = draw(*shape_a, seed=1), draw(*shape_b, seed=2)
    found = oj.scaled_dot_general(a, b, numbers, configs=["mxfp8_e4m3"] * 3)
    (ca, cb), (ba, bb) = numbers
    def fake(x, contract):  # quantized along the contracted axes, row-major as one
        order = [i for i in range(x.ndim) if i not in contract] + list(contract)
        y = x.transpose(order)
        flat = oj.fake_quantize(y.reshape(*y.shape[:y.ndim - len(contract)], -1), "mxfp8_e4m3")
        return np.asarray(flat).reshape(y.shape).transpose(np.argsort(order))
    exact = jax.lax.dot_general(fake(a, ca), fake(b, cb), numbers, precision="highest")
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-4 * np.abs(exact).max())
    ours = jax.jit(jax.grad(lambda a, b: (oj.scaled_dot_general(a, b, numbers, configs=["mxfp8_e4m3"] * 3) ** 2).sum(), (0, 1)))(a, b)
    plain = jax.jit(jax.grad(lambda a, b: (jax.lax.dot_general(a, b, numbers) ** 2).sum(), (0, 1)))(a, b)
    for x, y in zip(ours, plain):
        assert np.linalg.norm(x - y) < 0.15 * np.linalg.norm(y)


def test_configs_of_none_are_lax_dot_general():
    a, b = draw(4, 8), draw(8, 5)
    numbers = (((1,), (0,)), ((), ()))
    np.testing.assert_array_equal(oj.scaled_dot_general(a, b, numbers), jax.lax.dot_general(a, b, numbers))


def test_nan_makes_its_block_nan_or_the_program_fail():
    x = draw(2, 64)
    x[1, 40] = np.nan
    values = np.asarray(jax.jit(lambda x: oj.fake_quantize(x, "mxfp8_e4m3"))(x))
    assert np.isnan(values[1, 32:]).all() and np.isfinite(values[0]).all() and np.isfinite(values[1, :32]).all()
    with pytest.raises(Exception, match="nan at index 104"):
        jax.block_until_ready(jax.jit(lambda x: oj.quantize(x, "mxfp8_e4m3", nan="error").elements)(x))


@pytest.mark.parametrize("preset, format", [("torchao-rceil", "mxfp8_e4m3"), ("jax", "nvfp4"), ("modelopt", "mxfp4"),
                                            ("deepseek-ue8m0", "fp8_group"), ("quark", "fp8_row"),
                                            ("compressed-tensors", "nvfp4"), ("quark-floor", "mxfp4:16")])
@pytest.mark.parametrize("type", [jnp.float32, jnp.bfloat16, jnp.float16])
def test_presets_are_those_of_the_numpy_module(preset, format, type):
    x = draw(6, 128).astype(type)
    x[:3] = 0  # zero blocks too
    found, expected = oj.quantize(x, format, preset=preset), octavo.quantize(x, format, preset=preset)
    np.testing.assert_array_equal(codes(found.elements), np.asarray(expected.elements).view(np.uint8))
    np.testing.assert_array_equal(codes(found.scales), codes(np.asarray(expected.scales)))
    assert (codes(found.scales) != codes(oj.quantize(x, format, rule=None).scales)).any()


def test_overflow_and_nan_are_those_of_the_numpy_module():
    x = draw(4, 64) * np.float32(8)
    for overflow in ("saturate", "special"):
        found = oj.quantize(x, "mxfp8_e4m3", overflow=overflow)
        expected = octavo.quantize(x, "mxfp8_e4m3", overflow=overflow)
        np.testing.assert_array_equal(codes(found.elements), expected.codes)
    assert (codes(oj.quantize(x, "mxfp8_e4m3", overflow="saturate").elements)
            != codes(oj.quantize(x, "mxfp8_e4m3", overflow="special").elements)).any()
    bad = np.float32([np.nan, 1])
    for nan in ("negative-zero", "maximum"):
        np.testing.assert_array_equal(codes(oj.convert(bad, "e2m1fn", nan=nan)),
                                      octavo.convert(bad, "e2m1fn", nan=nan).view(np.uint8))


def test_formats_are_named_by_rows_and_dtypes_too():
    x, rows = draw(4, 64), octavo.formats()
    for named in (rows["mxfp4"], "mxfp4"):
        assert oj.quantize(x, named).format == "mxfp4"
        np.testing.assert_array_equal(codes(oj.quantize(x, named).elements), octavo.quantize(x, "mxfp4").codes)
        np.testing.assert_array_equal(oj.fake_quantize(x, named), octavo.quantize(x, "mxfp4").dequantize())
    for named in (rows["e4m3fn"], jnp.float8_e4m3fn, np.dtype("float8_e4m3fn"), "float8_e4m3fn"):
        assert oj.convert(x, named).dtype == jnp.float8_e4m3fn
    numbers = (((1,), (1,)), ((), ()))
    np.testing.assert_array_equal(oj.scaled_dot_general(x, x, numbers, configs=[rows["mxfp4"]] * 3),
                                  oj.scaled_dot_general(x, x, numbers, configs=["mxfp4"] * 3))


@pytest.mark.parametrize("format", [name for name, row in octavo.formats().items()
                                    if isinstance(row, octavo.ElementFormat) and row.bits <= 8])
def test_the_gradient_of_convert_passes_straight_through_or_is_refused(format):
    """Codes that JAX has in integers have no gradient there: it was silently 0."""
    def loss(x):
        return (oj.convert(x, format).astype(jnp.float32) * jnp.float32([1, 2, 4])).sum()
    x = jnp.float32([0.25, 0.5, 1])
    if jnp.issubdtype(oj.convert(x, format).dtype, jnp.floating):
        np.testing.assert_array_equal(jax.grad(loss)(x), [1, 2, 4])
    else:
        assert format == "int8" or octavo.formats()[format].bits == 6 or not octavo.formats()[format].numpy
        with pytest.raises(TypeError, match=f"convert to {format} has no gradient"):
            jax.grad(loss)(x)


@pytest.mark.parametrize("compile", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("format", ["e2m1fn", "e2m3fn", "e3m2fn"])
def test_pack_and_unpack_are_those_of_the_numpy_module(format, compile):
    values = octavo.convert(draw(3, 5, 16), format)
    given = oj.convert(draw(3, 5, 16), format)
    packed = compile(lambda x: oj.pack(x, format))(given)
    np.testing.assert_array_equal(packed, octavo.pack(values))
    back = compile(lambda x: oj.unpack(x, format))(packed)
    assert back.dtype == given.dtype
    np.testing.assert_array_equal(codes(back), values.view(np.uint8))
    if format == "e2m1fn":
        np.testing.assert_array_equal(compile(oj.pack)(given), packed)


def test_amax():
    for x in (draw(4, 5), draw(4, 5).astype(ml_dtypes.bfloat16), np.float32([-3, 1]), np.zeros((0,), np.float32)):
        assert float(jax.jit(oj.amax)(x)) == octavo.amax(x) and oj.amax(x).dtype == jnp.float32
    assert np.isnan(oj.amax(np.float32([1, np.nan])))


def test_empty_arrays():
    assert oj.unpack(jnp.zeros((0, 0), jnp.uint8), "e3m2fn").shape == oj.pack(jnp.zeros((0, 0), jnp.uint8), "e3m2fn").shape == (0, 0)
    assert oj.dequantize(oj.quantize(jnp.zeros((0, 32)), "mxfp4")).shape == (0, 32)
    assert oj.matmul(oj.quantize(jnp.zeros((0, 32)), "mxfp4"), oj.quantize(jnp.zeros((32, 4)), "mxfp4", axis=0)).shape == (0, 4)


@pytest.mark.parametrize("call, error, words", [
    (lambda x: oj.quantize(x, "mxfp9"), octavo.FormatError, "no scaled format .mxfp9"),
    (lambda x: oj.quantize(x, "mxfp4", axis=2), octavo.ShapeError, "expected -2 to 1"),
    (lambda x: oj.quantize(x[0, 0], "mxfp4"), octavo.ShapeError, "reshape it to"),
    (lambda x: oj.quantize(x.astype(jnp.int32), "mxfp4"), octavo.DtypeError, "found int32"),
    (lambda x: oj.quantize(x, "mxfp4", rule="up"), octavo.FormatError, "up"),
    (lambda x: oj.quantize(x, "mxfp4", preset="deepseek-ue8m0"), octavo.FormatError, "torchao-rceil"),
    (lambda x: jax.jit(lambda x: oj.quantize(x[:, :5], "mxfp4", preset="modelopt"))(x), octavo.ShapeError,
     "pad the axis to 32"),
    (lambda x: oj.quantize(x, "nvfp4", rule="floor"), octavo.FormatError, "not powers of two"),
    (lambda x: oj.quantize(x, "mxfp4", rounding="stochastic"), octavo.FormatError, "key="),
    (lambda x: oj.quantize(x, "mxfp4", key=KEY), octavo.FormatError, "stochastic"),
    (lambda x: oj.quantize(x, "mxfp4", rounding="stochastic", key=5), octavo.DtypeError,
     r"expected one key of jax.random.key.*, found 5"),
    (lambda x: jax.jit(lambda k: oj.fake_quantize(x, "mxfp4", rounding="stochastic", key=k))(jnp.uint32(7)),
     octavo.DtypeError, r"found uint32 \[\]"),
    (lambda x: oj.convert(x, "e4m3fn", rounding="stochastic", key="k"), octavo.DtypeError, "found 'k'"),
    (lambda x: oj.quantize(x, "mxfp4", rounding="stochastic", key=jax.random.split(KEY)), octavo.DtypeError,
     r"one key.*, found key<fry> \[2\]; jax.vmap"),
    (lambda x: oj.convert(x, "e9m9"), octavo.FormatError, "unknown element format .e9m9"),
    (lambda x: oj.quantize(x, "mxfp4", rule="even", preset="quark"), octavo.FormatError, "give one of them"),
    (lambda x: oj.quantize(x, "mxfp4", overflow="wrap"), octavo.FormatError, "saturate, special"),
    (lambda x: oj.quantize(x, None), octavo.DtypeError, "found None"),
    (lambda x: oj.quantize(x, 3), octavo.DtypeError, "found 3"),
    (lambda x: oj.convert(x, jnp.int32), octavo.FormatError, "unknown element format .int32"),
    (lambda x: oj.convert(x, "e2m1fn", nan="zero"), octavo.FormatError, "negative-zero, maximum"),
    (lambda x: oj.amax(x.astype(jnp.int32)), octavo.DtypeError, "found int32"),
    (lambda x: oj.pack(x), octavo.FormatError, "available: .*e2m1fn"),
    (lambda x: oj.pack(octavo.convert(np.ones(4, np.float32), "e2m3fn")), octavo.DtypeError,
     "no arrays of float6_e2m3fn; x.view"),
    (lambda x: oj.pack(x, "e2m1fn"), octavo.DtypeError, "found float32"),
    (lambda x: oj.pack(oj.convert(x[:, :3], "e2m1fn")), octavo.ShapeError, "pad it"),
    (lambda x: oj.unpack(x, "e2m1fn"), octavo.DtypeError, "found float32"),
    (lambda x: oj.unpack(jnp.zeros(4, jnp.uint8), "e2m3fn"), octavo.ShapeError, "multiple of 3"),
    (lambda x: oj.convert(x, "e4m3fn", overflow="wrap"), octavo.FormatError, "wrap"),
    (lambda x: oj.matmul(x, x), octavo.ShapeError, "the same K"),
    (lambda x: oj.matmul(x, x.T), octavo.DtypeError, "expected a ScaledArray"),
    (lambda x: oj.matmul(x, oj.quantize(x, "mxfp4")), octavo.ShapeError, "axis=-2"),
    (lambda x: oj.scaled_matmul(x, x, x, x), octavo.ShapeError, "expected four operands"),
    (lambda x: oj.scaled_matmul(*[x[None]] * 2, *[jnp.ones((1, 4, 5))] * 2), octavo.ShapeError, "lhs_scales"),
    (lambda x: oj.scaled_dot_general(x, x, (((1,), (1,)), ((), ())), configs=["mxfp4"]), octavo.ShapeError, "three"),
    *((lambda x, numbers=numbers: oj.scaled_dot_general(x, x, numbers, configs=["mxfp4"] * 3), octavo.ShapeError,
       "dimension_numbers: expected axes of .hs, 0 to 1, each once")
      for numbers in ((((2,), (1,)), ((), ())), (((1,), (1,)), ((1,), (0,))), (((1,), (-1,)), ((), ())))),
])
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call(jnp.ones((4, 32)))
