"""Parts of octavo.jax.ScaledArray and its way to files and back, beside octavo.ScaledTensor, whose
slices another implementation cuts."""
import jax
import jax.numpy as jnp
import numpy as np
import octavo
import octavo.jax as oj
import pytest
from octavo.errors import DtypeError, ShapeError

FORMATS = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)]
X = np.random.default_rng(0).standard_normal((4, 256, 96)).astype(np.float32)
KEYS = [0, slice(1, 3), -1, (..., slice(0, 32)), (2, slice(128, 256)), (slice(None), 5), (-1, ...),
        (..., slice(64, None)), (..., slice(8, 16)), (..., 7), slice(3, 1), (slice(None), slice(5, 200)),
        (slice(None), slice(None, None, 2)), 4, (0, 0, 0, 0), (..., ...), "x", np.array([0, 1])]


def outcome(make):
    try:
        return make()
    except Exception as error:  # whatever it is, both must say the same
        return error


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("format", FORMATS)
def test_parts_are_those_of_scaled_tensors(format, axis):
    """octavo.jax's own values of them for one format: JAX compiles that for each shape of a part."""
    array = oj.quantize(X, format, axis=axis)
    tensor = array.to_tensor()
    seen = set()
    for key in KEYS:
        expected, found = outcome(lambda: tensor[key]), outcome(lambda: array[key])
        seen.add(type(expected))
        if isinstance(expected, Exception):
            assert type(found) is type(expected), (key, expected, found)
        else:
            assert found.axis == expected.axis - expected.ndim, key
            values = found if format == "nvfp4" else found.to_tensor()
            np.testing.assert_array_equal(values.dequantize(), expected.dequantize(), str(key))
    assert seen == {octavo.ScaledTensor, ShapeError, IndexError}


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "mxfp6_e2m3", "nvfp4", "fp8_row"])
def test_traced_indices_scans_and_members_of_vmap(format):
    array = oj.quantize(X, format)
    tensor = array.to_tensor()
    taken = jax.jit(lambda array, i: array[i].dequantize())
    for i in range(4):
        np.testing.assert_array_equal(taken(array, i), tensor[i].dequantize())
    each = jax.vmap(lambda x: oj.quantize(x, format))(X)
    alone = [octavo.quantize(x, format).dequantize() for x in X]
    np.testing.assert_array_equal(each[1:3].dequantize(), alone[1:3])
    np.testing.assert_array_equal(each[2, 17:18].dequantize(), alone[2][17:18])
    _, scanned = jax.lax.scan(lambda carry, member: (carry, member.dequantize()), 0, each)
    np.testing.assert_array_equal(scanned, alone)
    _, products = jax.lax.scan(lambda carry, member: (carry, member @ member.T), 0, each)
    np.testing.assert_allclose(products, [a @ a.T for a in alone], atol=2e-3)


@pytest.mark.parametrize("format", [name for name in FORMATS if octavo.formats()[name].element.safetensors])
def test_to_a_file_and_back(tmp_path, format):
    array = oj.quantize(X, format, axis=1)
    octavo.save(tmp_path / "x.safetensors", {"x": array.to_tensor()})
    back = oj.from_tensor(octavo.load(tmp_path / "x.safetensors")["x"])
    assert jax.tree.structure(back) == jax.tree.structure(array)
    for found, expected in zip(jax.tree.leaves(back), jax.tree.leaves(array), strict=True):
        assert found.dtype == expected.dtype
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()


def test_what_is_wrong_is_named():
    array = oj.quantize(X, "mxfp8_e4m3")
    with pytest.raises(ShapeError, match="axis 2: 8:16 cuts blocks, whose edges are the multiples of 32"):
        array[..., 8:16]
    with pytest.raises(ShapeError, match="axis 2: blocks lie along it"):
        jax.jit(lambda array, i: array[..., i])(array, 0)
    with pytest.raises(IndexError, match="index 4 is out of range for axis 0"):
        array[4]
    with pytest.raises(ShapeError, match="integers, slices"):
        array[jnp.arange(2)]
    with pytest.raises(ShapeError, match=r"one outer scale, found outer of shape \(4,\)"):
        jax.vmap(lambda x: oj.quantize(x, "nvfp4"))(X).to_tensor()
    with pytest.raises(DtypeError, match="expected an octavo.ScaledTensor, found ndarray"):
        oj.from_tensor(X)
