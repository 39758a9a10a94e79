"""quantize(..., outer=): scales of a whole tensor that were calibrated, or that tensors share, against
S5 to S7 of docs/semantics.md in NumPy and ml_dtypes."""
import json

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import octavo.checkpoint
import octavo.jax as oj
import pytest

FAILURES = (ValueError, jax.errors.JaxRuntimeError)  # of a program, eager or compiled
KEY = jax.random.key(3)
X = (np.random.default_rng(0).normal(size=(6, 80)) * 2.0 ** np.random.default_rng(1).integers(-6, 6, (6, 80))).astype(np.float32)
PRESETS = octavo.presets("nvfp4")
TWO_LEVELS = [name for name, facts in PRESETS.items() if facts["outer scale"] != "1"]
OWN = octavo.quantize(X, "nvfp4").outer


def nvfp4(x, outer):
    """Codes and scales along the last axis."""
    blocks = x.reshape(*x.shape[:-1], -1, 16)
    outer = np.float32(outer)
    ratio = np.abs(blocks).max(-1) / np.float32(6) / outer
    scales = np.minimum(ratio, np.float32(448)).astype(ml_dtypes.float8_e4m3fn)
    scales = np.where(scales == 0, np.where(ratio == 0, 1, 2.0 ** -9), scales.astype(np.float32)).astype(np.float32)
    quotients = blocks / (scales * outer)[..., None]
    codes = np.clip(quotients, -6, 6).astype(ml_dtypes.float4_e2m1fn)
    return codes.reshape(x.shape).view(np.uint8), scales.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)


@pytest.mark.parametrize("factor", [1, 4, 0.25, 1000, 1e-3])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_a_given_outer_scale_takes_the_place_of_the_tensors_own(factor, dtype):
    x, outer = X.astype(dtype), np.float32(OWN * factor)
    tensor = octavo.quantize(x, "nvfp4", outer=float(outer))
    codes, scales = nvfp4(x.astype(np.float32), outer)
    np.testing.assert_array_equal(tensor.codes, codes)
    np.testing.assert_array_equal(tensor.scales.view(np.uint8), scales)
    assert tensor.outer == outer
    if factor == 1 and dtype == np.float32:
        assert tensor == octavo.quantize(x, "nvfp4")
    for given in (outer, np.float64(outer), np.array(outer)):
        assert octavo.quantize(x, "nvfp4", outer=given) == tensor


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_parts_of_a_tensor_under_its_outer_scale_are_the_parts_of_the_whole(dtype):
    """What q, k and v have of one scale; the bfloat16 one is quantized in pieces."""
    x = np.tile(X, (400, 10)).astype(dtype)
    for options in ({}, {"rounding": "stochastic", "key": 5}):
        whole = octavo.quantize(x, "nvfp4", **options)
        assert octavo.quantize(x, "nvfp4", outer=whole.outer, **options) == whole
        part = octavo.quantize(x[:100], "nvfp4", outer=whole.outer, **options)
        assert part == whole[:100]
        assert octavo.quantize(x[:0], "nvfp4", outer=whole.outer).outer == whole.outer


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("preset", TWO_LEVELS)
def test_presets_take_one_too(preset, axis):
    """S15: an owner who stores the inverse g computes with f32(1 / outer), which for a power of two is
    the one that it stored."""
    x = X[:, :80] if axis else np.ascontiguousarray(X[:, :64].T)
    top = np.float32(2688) * np.float32(2.0 ** -4)  # amax of the first: g is 16 in every form
    x = np.clip(x, -top, top)
    x.flat[0] = top
    own = octavo.quantize(x, "nvfp4", preset=preset, axis=axis)
    assert own.outer == 2.0 ** -4
    assert octavo.quantize(x, "nvfp4", preset=preset, axis=axis, outer=2.0 ** -4) == own


@pytest.mark.parametrize("preset", sorted(PRESETS.keys() - set(TWO_LEVELS)))
def test_presets_of_one_level_refuse_one(preset):
    for quantize in (octavo.quantize, octavo.quantize_both, oj.quantize, oj.fake_quantize):
        with pytest.raises(octavo.FormatError, match="one level of scales"):
            quantize(np.ones((64, 64), np.float32), "nvfp4", preset=preset, outer=0.5)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("outer", [0.03, 1e-39])
def test_checkpoints_get_the_divisor_of_a_given_one(tmp_path, dtype, outer):
    """S15: f32(1 / outer), at most the largest f32, whatever the input's type: what codes are computed
    with is what is stored."""
    tensor = octavo.quantize(X[:, :64].astype(dtype), "nvfp4", preset="compressed-tensors", outer=outer)
    assert tensor.outer == np.float32(outer)
    octavo.checkpoint.write(tmp_path / "m", {"a.weight": tensor})
    with open(tmp_path / "m" / "model.safetensors", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        file.seek(header["a.weight_global_scale"]["data_offsets"][0], 1)
        stored = np.frombuffer(file.read(4), np.float32)[0]
    assert stored == np.float32(min(np.float64(1) / np.float32(outer), np.finfo(np.float32).max))


@pytest.mark.parametrize("shape", [(64, 96), (2, 33, 48), (0, 16)])
@pytest.mark.parametrize("options", [{}, {"rounding": "stochastic", "key": 5}])
def test_quantize_both_takes_one(shape, options):
    x = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    rows, columns = octavo.quantize_both(x, "nvfp4", outer=0.01, **options)
    assert rows == octavo.quantize(x, "nvfp4", outer=0.01, **options)
    assert columns == octavo.quantize(x, "nvfp4", axis=-2, outer=0.01, **options)
    x.flat[:1] = np.nan
    rows, columns = octavo.quantize_both(x, "nvfp4", outer=0.01, nan="propagate")
    assert rows == octavo.quantize(x, "nvfp4", outer=0.01, nan="propagate")
    assert columns == octavo.quantize(x, "nvfp4", axis=-2, outer=0.01, nan="propagate")


def test_in_jax_programs_it_is_a_value_like_others():
    expected = octavo.quantize(X, "nvfp4", outer=0.03)
    found = jax.jit(lambda x, s: oj.quantize(x, "nvfp4", outer=s))(X, jnp.float32(0.03))
    np.testing.assert_array_equal(np.asarray(found.elements).view(np.uint8), expected.codes)
    np.testing.assert_array_equal(found.scales, expected.scales)
    np.testing.assert_array_equal(oj.fake_quantize(X, "nvfp4", outer=0.03), expected.dequantize())
    outers = jnp.float32([0.03, 0.3])
    each = jax.vmap(lambda s: oj.quantize(X, "nvfp4", outer=s))(outers)
    np.testing.assert_array_equal(each.outer, outers)
    np.testing.assert_array_equal(each.dequantize()[0], expected.dequantize())
    drawn = jax.vmap(lambda s: oj.fake_quantize(X, "nvfp4", outer=s, rounding="stochastic", key=KEY))(outers)
    np.testing.assert_array_equal(drawn[1], oj.fake_quantize(X, "nvfp4", outer=outers[1], rounding="stochastic", key=KEY))


@pytest.mark.parametrize("outer, error, words", [
    (0, octavo.FormatError, "outer: expected a positive, finite float32, found 0"),
    (-1.0, octavo.FormatError, "found -1"),
    (np.nan, octavo.FormatError, "found nan"),
    (1e300, octavo.FormatError, "found inf"),
    ("1", octavo.DtypeError, "outer: expected a number, found '1'"),
    (X, octavo.DtypeError, "outer: expected a number"),
])
def test_numbers_that_are_no_outer_scale(outer, error, words):
    for call in (octavo.quantize, octavo.quantize_both):
        with pytest.raises(error, match=words):
            call(X, "nvfp4", outer=outer)


def test_formats_without_one():
    for quantize in (octavo.quantize, oj.quantize, oj.fake_quantize):
        with pytest.raises(octavo.FormatError, match="fp8_tensor has no scale above .*octavo.convert"):
            quantize(X, "fp8_tensor", outer=0.5)
    # what the message says gives what it promises
    scale = np.float32(0.5)
    tensor = octavo.ScaledTensor(octavo.convert(X / scale, "e4m3fn", overflow="saturate"), scale.reshape(1, 1), "fp8_tensor")
    assert np.abs(tensor.dequantize() - X).max() <= 2.0 ** -4 * np.abs(X).max()


@pytest.mark.parametrize("outer, error, words", [
    (jnp.ones(3), octavo.ShapeError, "outer: expected one number"),
    (jnp.int32(1), octavo.DtypeError, "outer: expected float32"),
    (jnp.float32(0), FAILURES, "outer: expected a positive"),
    (jnp.float32(np.nan), FAILURES, "found nan"),
])
def test_arrays_that_are_no_outer_scale(outer, error, words):
    with pytest.raises(error, match=words):
        jax.block_until_ready(oj.quantize(X, "nvfp4", outer=outer).elements)


def test_it_has_no_gradient():
    assert float(jax.grad(lambda x: oj.fake_quantize(x, "nvfp4", outer=0.03).sum())(X)[0, 0]) == 1
    with pytest.raises(TypeError, match="outer has no gradient"):
        jax.grad(lambda s: oj.fake_quantize(X, "nvfp4", outer=s).sum())(0.03)
