"""Formats that only a build with OCTAVO_TRIAL_FORMATS has: elements of 5 bits, which ml_dtypes and files
lack, and of e3m4, which safetensors lacks. The tests of all formats take them too; here is what
they mean, by hand and in NumPy."""
import pickle
import types

import elements
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import octavo.checkpoint
import octavo.jax as oj
import pytest

TRIAL = ["mxfp5_e2m2", "mxfp8_e3m4"]
pytestmark = pytest.mark.skipif(TRIAL[0] not in octavo.formats(), reason="a build without OCTAVO_TRIAL_FORMATS")

# Of codes 0 to 15: zero, three subnormals a quarter apart, then four values an octave from 1.
POSITIVE = [0, .25, .5, .75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7]


def draw(*shape, seed=0):
    random = np.random.default_rng(seed)
    return (random.standard_normal(shape) * 2.0 ** random.integers(-6, 6, shape)).astype(np.float32)


def row(name):
    return octavo.formats()[name]


def mx_values(x, name):
    """OCP MX 6.3 along whole blocks of the last axis, in NumPy."""
    element = row(name).element
    blocks = x.reshape(-1, 32).astype(np.float64)
    scale = 2.0 ** (np.frexp(np.abs(blocks).max(-1, keepdims=True))[1] - 1 - np.floor(np.log2(element.max)))
    codes = elements.rounded(np.clip(blocks / scale, -element.max, element.max).astype(np.float32), element)
    return (elements.values(codes, element) * scale).reshape(x.shape).astype(np.float32)


def test_the_statement_for_such_floats_is_that_of_ml_dtypes_where_it_has_them():
    x = np.concatenate([draw(4000), np.float32([0, -0.0, np.nan, -np.nan, np.inf, -np.inf])])
    for exponent, trailing in ((2, 1), (2, 3), (3, 2)):
        dtype = getattr(ml_dtypes, f"float{1 + exponent + trailing}_e{exponent}m{trailing}fn")
        stated = types.SimpleNamespace(name="", numpy=None, bits=1 + exponent + trailing, exponent_bits=exponent,
                                       trailing_significand_bits=trailing, bias=2 ** (exponent - 1) - 1,
                                       max=float(ml_dtypes.finfo(dtype).max))
        np.testing.assert_array_equal(elements.rounded(x, stated), x.astype(dtype).view(np.uint8))
        codes = np.arange(1 << stated.bits, dtype=np.uint8)
        np.testing.assert_array_equal(elements.values(codes, stated), codes.view(dtype).astype(np.float64))


def test_values_of_five_bits():
    codes = np.arange(32, dtype=np.uint8)
    values = octavo.convert(codes, "f32", source="e2m2fn")
    np.testing.assert_array_equal(values, np.float32(POSITIVE + [-value for value in POSITIVE]))
    found = octavo.convert(values, "e2m2fn")
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, codes)
    np.testing.assert_array_equal(octavo.convert(np.float32([0.125, 0.375, 4.5, 100]), "e2m2fn"), [0, 2, 12, 15])


def test_five_bits_are_packed():  # code i in the bits from 5 i on, as in TrialFormatsTest
    codes, packed = np.uint8([1, 2, 4, 8, 16, 31, 0, 21]), [0x41, 0x10, 0x04, 0x3F, 0xA8]
    for pack, unpack in ((octavo.pack, octavo.unpack), (oj.pack, oj.unpack), (jax.jit(oj.pack, static_argnums=1),
                                                                            jax.jit(oj.unpack, static_argnums=1))):
        np.testing.assert_array_equal(pack(codes, "e2m2fn"), packed)
        np.testing.assert_array_equal(unpack(np.uint8(packed), "e2m2fn"), codes)


@pytest.mark.parametrize("name", TRIAL)
def test_quantize_and_multiply(name):
    x, w = draw(5, 96), draw(7, 96, seed=1)
    q, r = octavo.quantize(x, name), octavo.quantize(w, name)
    assert q.codes.max() < 1 << row(name).element.bits
    np.testing.assert_array_equal(q.dequantize(), mx_values(x, name))
    exact = mx_values(x, name).astype(np.float64) @ mx_values(w, name).T.astype(np.float64)
    magnitudes = np.abs(mx_values(x, name)).astype(np.float64) @ np.abs(mx_values(w, name)).T
    for found in (octavo.matmul(q, r.T), oj.matmul(oj.quantize(x, name), oj.quantize(w, name).mT)):
        assert (np.abs(found - exact) <= 200 * 2.0 ** -24 * magnitudes).all()
    assert pickle.loads(pickle.dumps(q)) == q == octavo.ScaledTensor(q.codes, q.scales, name)
    np.testing.assert_array_equal(octavo.convert(q.codes, "f32", source=row(name).element.name),
                                  elements.values(q.codes, row(name).element))


@pytest.mark.parametrize("name", TRIAL)
def test_in_jax(name):
    x = draw(4, 64)
    found = jax.jit(lambda x: oj.quantize(x, name))(x)
    np.testing.assert_array_equal(np.asarray(found.elements).view(np.uint8), octavo.quantize(x, name).codes)
    np.testing.assert_array_equal(oj.fake_quantize(x, name), mx_values(x, name))
    np.testing.assert_array_equal(jax.grad(lambda x: oj.fake_quantize(x, name).sum())(jnp.asarray(x)), np.ones_like(x))


def test_what_is_no_code_of_five_bits_is_refused():
    codes, scales = np.full((1, 32), 32, np.uint8), np.full((1, 1), 127, np.uint8)
    with pytest.raises(octavo.FormatError, match="0x20 at index 0 .* not a code of e2m2fn, which has 5 bits"):
        octavo.ScaledTensor(codes, scales, "mxfp5_e2m2")
    with pytest.raises(octavo.DtypeError, match="elements: expected codes of e2m2fn in uint8, found float32"):
        octavo.ScaledTensor(codes.astype(np.float32), scales, "mxfp5_e2m2")


@pytest.mark.parametrize("name", TRIAL)
def test_files_refuse_them_by_name(name, tmp_path):
    w = octavo.quantize(draw(32, 64), name)
    path = tmp_path / "w.safetensors"
    with pytest.raises(octavo.DtypeError, match=f'"w".*no dtype for {row(name).element.name}.*{name}'):
        octavo.save(path, {"w": w})
    assert not path.exists()
    octavo.save(path, {"codes": w.codes, "scales": w.scales})  # which the message proposes
    found = octavo.load(path)
    assert octavo.ScaledTensor(found["codes"], found["scales"], name) == w
    for layout in ("native", "compressed-tensors"):
        with pytest.raises(octavo.Error, match=f"m.weight.*{name}"):
            octavo.checkpoint.write(tmp_path / "out", {"m.weight": w}, layout=layout)
        assert not (tmp_path / "out").exists()
