"""octavo.jax.ScaledArray in hands that do not read the manual: each use gives values, held against NumPy on
the dequantized ones, or an error that says what is wrong."""
import copy
import dataclasses
import pickle

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import octavo.jax as oj
import pytest
from jax import export, lax
from octavo.errors import DtypeError, FormatError, ShapeError

FORMATS = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)]
KINDS = ["mxfp8_e4m3", "mxfp6_e2m3", "mxfp4", "nvfp4", "fp8_tensor", "fp8_row", "fp8_block"]
STORED = [name for name in FORMATS if octavo.formats()[name].element.safetensors]
X = np.random.default_rng(0).standard_normal((4, 256, 96)).astype(np.float32)
SHAPES = [(64,), (33,), (1,), (1, 1), (4, 64), (130, 40), (2, 3, 40), (2, 1, 2, 33), (0, 32), (3, 0), (0, 0), (2, 0, 32)]


def draw(shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def values(array):
    return np.asarray(oj.dequantize(array))


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_rank_and_empty_ones(shape):
    """All kinds in one program: what costs time is to compile it."""
    x = draw(shape)
    for axis in {-1, -min(2, len(shape)), -len(shape)}:
        @jax.jit
        def uses(x):
            arrays = [oj.quantize(x, format, axis=axis) for format in KINDS]
            products = [(q if axis == -1 else q.T) @ (q.T if axis == -1 else q) for q in arrays] if len(shape) == 2 else []
            return arrays, [q.dequantize() for q in arrays], products

        arrays, found, products = uses(x)
        for format, q, each in zip(KINDS, arrays, found, strict=True):
            expected = octavo.quantize(x, format, axis=axis)
            np.testing.assert_array_equal(each, expected.dequantize(), err_msg=f"{format} {axis}")
            assert (q.shape, q.ndim, q.size, len(q)) == (shape, len(shape), int(np.prod(shape)), shape[0])
            assert q.to_tensor() == expected, (format, axis)
        for each, product in zip(found, products):
            each = np.asarray(each)
            close(product, each @ each.T if axis == -1 else each.T @ each)


@pytest.mark.parametrize("format", KINDS)
def test_from_tensor_is_what_quantize_gives(format):
    for axis in (-1, -2):
        expected = octavo.quantize(X[0, :130], format, axis=axis)
        q = oj.quantize(X[0, :130], format, axis=axis)
        assert q.to_tensor() == expected and oj.from_tensor(expected) == q


@pytest.mark.parametrize("format", FORMATS)
def test_pickled_copied_and_in_trees(format):
    q = oj.quantize(X[0], format)
    for back in (pickle.loads(pickle.dumps(q)), copy.copy(q), copy.deepcopy(q), jax.device_get(q), jax.device_put(q),
                 jax.tree.map(lambda leaf: leaf, q), dataclasses.replace(q)):
        assert back == q and not back != q
    tree = {"a": q, "b": None, "c": (None, [q])}
    leaves, structure = jax.tree.flatten(tree)
    assert len(leaves) == 6 and jax.tree.unflatten(structure, leaves) == tree
    both = jax.tree.map(lambda *parts: jnp.stack(parts), q, q)
    np.testing.assert_array_equal(values(both), np.stack([values(q)] * 2))
    assert jax.eval_shape(lambda q: q.T, q).shape == (96, 256)


@pytest.mark.parametrize("format", STORED)
def test_saved_as_it_is(format, tmp_path):
    q = oj.quantize(X, format, axis=-2)
    octavo.save(tmp_path / "q.safetensors", {"q": q, "mT": q.mT, "plain": X[0]})
    found = octavo.load(tmp_path / "q.safetensors")
    assert oj.from_tensor(found["q"]) == q and oj.from_tensor(found["mT"]) == q.mT


def test_equal_is_all_of_it():
    q = oj.quantize(X[0], "mxfp8_e4m3")
    assert q == oj.quantize(X[0], "mxfp8_e4m3") and q != oj.quantize(X[0], "mxfp8_e5m2") and q != oj.quantize(-X[0], "mxfp8_e4m3")
    assert q != q[:128] and q != X[0] and q != None and q not in [q.T]  # noqa: E711
    with pytest.raises(TypeError, match="unhashable type: 'ScaledArray'"):
        {q}
    with pytest.raises(DtypeError, match="==: found arrays that are traced; it is for outside of jit"):
        jax.jit(lambda q: q == q)(q)


@pytest.mark.parametrize("format", FORMATS)
def test_batches_over_first_axes(format):
    """What was quantized as a whole is mapped and scanned over like what vmap quantized."""
    @jax.jit
    def uses(q, x):
        batch = q.batched()
        _, scanned = lax.scan(lambda carry, member: (carry, member.dequantize()), 0, batch)
        return (batch, batch.dequantize(), jax.vmap(oj.dequantize)(batch), scanned,
                jax.vmap(lambda x, member: x @ member.T)(x, batch))

    q = oj.quantize(X[:, :130], format)
    batch, whole, mapped, scanned, products = uses(q, X)
    assert batch.shape == q.shape and batch.outer.shape == (4,)
    expected = values(q)
    for found in (whole, mapped, scanned):
        np.testing.assert_array_equal(found, expected)
    close(products, X @ expected.swapaxes(-1, -2))
    for i in range(4):
        np.testing.assert_array_equal(batch[i].to_tensor().dequantize(), expected[i])
    assert jax.eval_shape(lambda batch: batch.batched(), batch).outer.shape == (4,)


def test_batches_over_several_axes_and_rows():
    q = oj.quantize(X.reshape(2, 2, 256, 96), "nvfp4")
    twice = jax.vmap(jax.vmap(oj.dequantize))(q.batched(2))
    np.testing.assert_array_equal(twice, values(q))
    rows = oj.quantize(X[0], "mxfp4").batched()
    np.testing.assert_array_equal(jax.vmap(oj.dequantize)(rows), octavo.quantize(X[0], "mxfp4").dequantize())
    members = jax.vmap(lambda x: oj.quantize(x, "nvfp4"))(X)  # each an outer scale of its own
    np.testing.assert_array_equal(values(members.batched(2)), values(members))
    with pytest.raises(ShapeError, match="axes: expected 1 to 2 of an array of rank 3, found 0"):
        members.batched(0)
    with pytest.raises(ShapeError, match="blocks of mxfp4 lie along axis 0, so that no batch goes over it"):
        oj.quantize(X, "mxfp4", axis=0).batched()
    with pytest.raises(ShapeError, match="blocks of fp8_block lie along axis 1.*; at most 1"):
        oj.quantize(X, "fp8_block").batched(2)
    with pytest.raises(ShapeError, match="axes: expected a number of axes, found 'all'"):
        members.batched("all")


@pytest.mark.parametrize("format", KINDS)
def test_gradients_of_the_plain_side(format):
    w = oj.quantize(draw((48, 96)), format)
    batch = oj.quantize(draw((4, 48, 96)), format).batched()
    weights, g, h = values(w), draw((256, 48)), draw((48, 3))
    expected = g @ weights

    @jax.jit
    def gradients(w, batch, x, y):
        def product(x):
            return (x @ w.T * g).sum()

        return (jax.grad(product)(x[0]), jax.grad(jax.jit(product))(x[0]), jax.grad(jax.checkpoint(product))(x[0]),
                jax.vmap(jax.grad(product))(x), jax.grad(lambda x: (x @ w.T * jnp.stack([g] * 4)).sum())(x),
                jax.grad(lambda y: (w @ y * h).sum())(y),
                jax.grad(lambda x: jax.vmap(lambda x, w: x @ w.T)(x, batch).sum())(x))

    *alone, mapped, of_stack, of_right, of_batch = gradients(w, batch, X, draw((96, 3)))
    for found in (*alone, jax.grad(lambda x: (x @ w.T * g).sum())(X[0])):  # of a program, and outside of one
        close(found, expected)
    for found in (mapped, of_stack):
        close(found, np.stack([expected] * 4))
    close(of_right, weights.T @ h)
    close(of_batch, values(batch).sum(1, keepdims=True).repeat(256, 1))


def test_what_has_no_gradient_says_so():
    w = oj.quantize(X[0], "nvfp4")
    with pytest.raises(TypeError, match="no gradient by them"):
        jax.grad(lambda outer: (X[0] @ dataclasses.replace(w, outer=outer).T).sum())(w.outer)
    with pytest.raises(TypeError, match="no gradient by them"):
        jax.grad(lambda w: (w @ w.T).sum(), allow_int=True)(w)
    with pytest.raises(TypeError, match="dequantize has no gradient"):
        jax.grad(lambda w: w.dequantize().sum(), allow_int=True)(w)


def test_loops_and_branches():
    q = oj.quantize(X[0], "nvfp4")
    halved, _ = lax.scan(lambda carry, _: (oj.quantize(carry.dequantize() / 2, "nvfp4"), None), q, None, length=3)
    np.testing.assert_array_equal(values(halved), values(q) / 8)
    assert lax.while_loop(lambda state: state[0] < 3, lambda state: (state[0] + 1, state[1]), (0, q))[1] == q
    assert lax.cond(True, lambda q: q, lambda q: oj.quantize(-X[0], "nvfp4"), q) == q
    with pytest.raises(TypeError, match="nvfp4.*mxfp4|mxfp4.*nvfp4"):
        lax.cond(True, lambda: q, lambda: oj.quantize(X[0], "mxfp4"))
    assert lax.stop_gradient(q) == q and jax.jit(lambda q: q)(q) == q


def test_exported_with_arrays_as_arguments():
    q = oj.quantize(X[0], "nvfp4")
    written = export.export(jax.jit(lambda q: (q.dequantize(), q.T)))(q).serialize()
    found, transposed = export.deserialize(written).call(q)
    np.testing.assert_array_equal(found, values(q))
    assert transposed == q.T


def test_slices():
    ragged = oj.quantize(draw((130, 40)), "fp8_block")
    for part in (np.s_[128:], np.s_[:128], np.s_[:, :], np.s_[()], np.s_[...], np.s_[130:], np.s_[5:5]):
        np.testing.assert_array_equal(values(ragged[part]), values(ragged)[part])
    q = oj.quantize(X[0], "mxfp8_e4m3")
    for index in (np.int64(3), np.array(3), jnp.array(3), -1):
        np.testing.assert_array_equal(values(q[index]), values(q)[int(index)])
    assert [row.shape for row in q[:2]] == [(96,)] * 2
    for tensor in (q, q.to_tensor()):
        for key in (True, False, None, 0.5, "x", np.ones(256, bool), [0, 1]):
            with pytest.raises(ShapeError, match="integers, slices and ... as indices"):
                tensor[key]
        with pytest.raises(ShapeError, match="steps of 1, found -1"):
            tensor[::-1]
        with pytest.raises(ShapeError, match="axis 1: 1:33 cuts blocks"):
            tensor[:, 1:33]
    with pytest.raises(ShapeError, match="axis 0: the edges of a slice are known numbers, found traced ones"):
        jax.jit(lambda q, i: q[i:i + 32])(q, 0)
    whole = oj.quantize(X[0], "fp8_tensor")
    np.testing.assert_array_equal(values(whole[3:5, 7:11]), values(whole)[3:5, 7:11])
    close(whole[3:5, 7:11] @ X[0].T[7:11], values(whole)[3:5, 7:11] @ X[0].T[7:11])


def test_products_with_what_is_no_array():
    q = oj.quantize(X[0], "mxfp8_e4m3")
    close([[1.0] * 96] @ q.T, np.ones((1, 96)) @ values(q).T)
    close(q @ np.ones((96, 2), ml_dtypes.bfloat16), values(q) @ np.ones((96, 2)))
    cases = [
        (lambda: q @ None, DtypeError, "b: expected an array, found NoneType"),
        (lambda: q @ "x", DtypeError, "b: expected an array, found str"),
        (lambda: q @ np.ones((96, 2), np.int32), DtypeError, "b: expected float32, bfloat16 or float16, found int32"),
        (lambda: q @ X[0, 0], ShapeError, r"b: expected two axes or more, found shape \(96,\)"),
        (lambda: q[0] @ q.T, ShapeError, r"a: expected two axes or more, found shape \(96,\); quantize it as a matrix"),
        (lambda: q @ q, ShapeError, r"b: expected an array quantized along axis -2, found axis -1"),
        (lambda: q @ oj.quantize(X[0, :, :64], "mxfp4").T, ShapeError, "expected the same K, found 96 and 64"),
        (lambda: q @ octavo.quantize(X[0], "mxfp4").T, DtypeError, "b: found an octavo.ScaledTensor; octavo.jax.from_tensor"),
        (lambda: octavo.quantize(X[0], "mxfp4") @ q.T, DtypeError, r"to_tensor\(\) an octavo.ScaledTensor"),
        (lambda: np.asarray(q), DtypeError, r"dequantize\(\) gives its values"),
        (lambda: q + 1, TypeError, "unsupported operand"), (lambda: 2 * q, TypeError, "unsupported operand"),
        (lambda: jnp.concatenate([q, q]), TypeError, "ScaledArray"), (lambda: jnp.dot(q, q.T), TypeError, "ScaledArray"),
        (lambda: q.T.T.T @ jnp.ones((3, 3)), ShapeError, "axis -1"),
        (lambda: oj.quantize(X[0, 0], "mxfp4").T, ShapeError, "T: expected a matrix"),
        (lambda: oj.quantize(X, "mxfp4", axis=0).mT, ShapeError, "mT: expected blocks along one of the last two axes"),
    ]
    for use, error, message in cases:
        with pytest.raises(error, match=message):
            use()


def test_parts_by_hand():
    q = oj.quantize(X[0], "nvfp4")
    numpy = oj.ScaledArray(np.asarray(q.elements), np.asarray(q.scales), np.asarray(q.outer), "nvfp4", np.int64(-1))
    np.testing.assert_array_equal(values(numpy), values(q))
    np.testing.assert_array_equal(numpy @ numpy.T, q @ q.T)
    assert q.nbytes == q.elements.nbytes + q.scales.nbytes + 4
    cases = [
        (dataclasses.replace(q, elements=q.elements[:2]), ShapeError, r"scales: expected shape \(2, 6\)"),
        (dataclasses.replace(q, format="nvfp5"), FormatError, 'no scaled format "nvfp5"'),
        (dataclasses.replace(q, axis=1), ShapeError, "axis: expected a negative number, counted from the end, found 1"),
        (dataclasses.replace(q, axis="last"), ShapeError, "found 'last'"),
        (dataclasses.replace(q, elements=X[0]), DtypeError, "elements"),
        (dataclasses.replace(q, scales=None), DtypeError, "scales: expected an array, found NoneType"),
        (jax.tree.map(lambda leaf: None, q), DtypeError, "elements: expected an array, found NoneType"),
    ]
    for array, error, message in cases:
        with pytest.raises(error, match=message):
            array.dequantize()
    with pytest.raises(dataclasses.FrozenInstanceError):
        q.format = "mxfp4"
    with pytest.raises(TypeError, match="does not support item assignment"):
        q[0] = 1


def test_values_that_are_no_floats():
    for x, message in ((np.int32([[1]]), "found int32"), (np.complex64([[1]]), "found complex64"), (np.array([[None]]), "x: expected"),
                       ([["a"]], "x: expected an array"), (np.bool_([[1]]), "found bool")):
        with pytest.raises(DtypeError, match=message):
            oj.quantize(x, "mxfp4")
    with pytest.raises(ShapeError, match="one axis or more, found none"):
        oj.quantize(np.float32(3), "mxfp4")
    with pytest.raises(DtypeError, match="to_tensor: found arrays that are traced"):
        jax.jit(lambda q: q.to_tensor())(oj.quantize(X[0], "mxfp4"))
