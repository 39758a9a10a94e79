"""octavo.ScaledTensor: parts, indices, transposes, pickling, files."""
import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as st

import elements
import octavo

SCALED = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)]


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def by_definition(tensor):
    """S1 in NumPy: element * scale * outer, exact in f64, rounded once to f32."""
    values = elements.values(tensor.elements, tensor.format.element)
    scales = tensor.scales.astype(np.float64)
    for axis, extent in enumerate(tensor.block):
        scales = np.repeat(scales, extent, axis=axis)
    scales = scales[tuple(slice(n) for n in tensor.shape)]
    return (values * scales * np.float64(tensor.outer)).astype(np.float32)


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("shape", [(70,), (5, 70), (130, 200), (2, 3, 70)])
def test_values_are_element_times_scale_times_outer(name, shape):
    tensor = octavo.quantize(draw(*shape), name)
    np.testing.assert_array_equal(tensor.dequantize(), by_definition(tensor))
    np.testing.assert_array_equal(octavo.dequantize(tensor), tensor.dequantize())


@pytest.mark.parametrize("name", SCALED)
def test_what_it_says_of_itself(name):
    tensor = octavo.quantize(draw(4, 256), name)
    row = octavo.formats()[name]
    assert tensor.format.name == name and name in repr(tensor) and "(4, 256)" in repr(tensor)
    assert tensor.axis == 1 and tensor.shape == (4, 256) and len(tensor) == 4
    assert tensor.elements.dtype == elements.dtype(row.element) and tensor.scales.dtype == row.scale.numpy
    assert tensor.nbytes == (tensor.elements.nbytes + tensor.scales.nbytes
                             + 4 * row.has_outer_scale)
    assert tensor.bits_per_value == pytest.approx(
        row.element.bits + (tensor.scales.size * row.scale.bits + 32 * row.has_outer_scale) / 1024)


def test_bits_per_value_of_the_standard():  # OCP MX 5.2: 32 elements and 8 bits
    assert octavo.quantize(draw(64, 64), "mxfp4").bits_per_value == 4.25


def test_it_is_made_of_parts_without_copies():
    elements = np.arange(128, dtype=np.uint8).reshape(2, 64) % 16
    scales = np.full((2, 2), 127, np.uint8)
    tensor = octavo.ScaledTensor(elements, scales, "mxfp4")
    assert np.shares_memory(tensor.elements, elements)
    assert np.shares_memory(tensor.scales, scales)
    np.testing.assert_array_equal(tensor.dequantize(),
                                  elements.view(ml_dtypes.float4_e2m1fn).astype(np.float32))
    elements[:] = 0  # the caller's array stays the caller's
    with pytest.raises(ValueError, match="read-only"):
        tensor.elements[0, 0] = 1


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("key", [
    np.s_[128:256], np.s_[:, 128:], np.s_[..., :128], np.s_[-128:, 128:256], np.s_[:], np.s_[...],
    np.s_[256:, :], np.s_[300:300], np.s_[()],
])
def test_slices_on_edges_are_slices_of_the_values(name, key):
    tensor = octavo.quantize(draw(384, 300), name)
    np.testing.assert_array_equal(tensor[key].dequantize(), tensor.dequantize()[key])
    assert tensor[key].format is tensor.format or tensor[key].format.name == name


@given(st.data())
def test_any_slice_is_the_values_or_an_error(data):
    tensor = octavo.quantize(draw(3, 40, 70), "mxfp4", axis=data.draw(st.integers(0, 2)))
    ends = st.one_of(st.none(), st.integers(-80, 80))
    key = tuple(data.draw(st.one_of(st.builds(slice, ends, ends), st.integers(-2, 2)))
                for _ in range(data.draw(st.integers(0, 3))))
    try:
        part = tensor[key]
    except octavo.ShapeError:
        return
    except IndexError:
        with pytest.raises(IndexError):
            tensor.dequantize()[key]
        return
    np.testing.assert_array_equal(part.dequantize(), tensor.dequantize()[key])


def test_slices_share_memory():
    tensor = octavo.quantize(draw(4, 64), "mxfp4")
    assert np.shares_memory(tensor[1:3].elements, tensor.elements)


def test_an_index_takes_an_axis_away():
    tensor = octavo.quantize(draw(3, 4, 64), "mxfp4")
    assert tensor[1].shape == (4, 64) and tensor[1].axis == 1
    np.testing.assert_array_equal(tensor[1].dequantize(), tensor.dequantize()[1])
    assert [row.shape for row in tensor] == [(4, 64)] * 3
    experts = octavo.quantize(draw(2, 130, 140), "fp8_block")
    np.testing.assert_array_equal(experts[1].dequantize(), experts.dequantize()[1])


@pytest.mark.parametrize("name, key, words", [
    ("mxfp4", np.s_[:, 5:], "5:70 cuts blocks, whose edges are the multiples of 32"),
    ("mxfp4", np.s_[:, :33], "0:33 cuts"),
    ("mxfp4", np.s_[:, 0], "blocks of 32 lie along it"),
    ("mxfp4", np.s_[::2], "steps of 1, found 2"),
    ("mxfp4", np.s_[::-1], "steps of 1, found -1"),
    ("mxfp4", [0, 1], "integers, slices"),
    ("mxfp4", None, "integers, slices"),
    ("fp8_block", np.s_[:2], "multiples of 128"),
])
def test_what_cuts_blocks_is_refused(name, key, words):
    tensor = octavo.quantize(draw(200, 70), name)
    with pytest.raises(octavo.ShapeError, match=words):
        tensor[key]


def test_indices_out_of_range():
    tensor = octavo.quantize(draw(2, 64), "mxfp4")
    for key in [2, -3, (0, 0, 0), (..., ...)]:
        with pytest.raises(IndexError):
            tensor[key]


@pytest.mark.parametrize("name", SCALED)
def test_transposes(name):
    tensor = octavo.quantize(draw(150, 140), name)
    assert tensor.T.shape == (140, 150) and tensor.T.axis == 0
    assert np.shares_memory(tensor.T.elements, tensor.elements)
    np.testing.assert_array_equal(tensor.T.dequantize(), tensor.dequantize().T)
    assert tensor.T.T == tensor
    stack = octavo.quantize(draw(2, 30, 64), name)
    np.testing.assert_array_equal(stack.mT.dequantize(), np.swapaxes(stack.dequantize(), 1, 2))
    with pytest.raises(octavo.ShapeError, match="mT"):
        stack.T


def test_equality():
    x = draw(4, 64)
    tensor = octavo.quantize(x, "mxfp4")
    assert tensor == octavo.quantize(x.copy(), "mxfp4")
    assert not tensor != octavo.quantize(x, "mxfp4")
    assert tensor != octavo.quantize(x, "mxfp4", rule="ceil")
    assert tensor != octavo.quantize(x, "mxfp4", axis=0)
    assert tensor != octavo.quantize(x, "nvfp4")
    assert tensor != octavo.quantize(x[:2], "mxfp4")
    assert octavo.quantize(x, "nvfp4") != octavo.quantize(x * 2, "nvfp4")  # the outer scale alone
    assert tensor != 3 and tensor != x.tolist()
    with pytest.raises(TypeError):
        hash(tensor)


def test_equality_is_of_codes():  # two NaN with the same code are the same
    x = draw(4, 64)
    x[0, 0] = np.nan
    first, second = (octavo.quantize(x, "mxfp4", nan="propagate") for _ in range(2))
    assert np.isnan(first.dequantize()).any() and first == second


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("shape", [(), (0, 3), (5, 70)])
def test_pickle(name, shape):
    tensor = octavo.quantize(draw(*shape) if shape else np.float32(3), name, axis=0 if shape else -1)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(tensor, protocol)) == tensor
    assert copy.copy(tensor) == tensor and copy.deepcopy(tensor.mT if shape else tensor) == (
        tensor.mT if shape else tensor)


@pytest.mark.parametrize("name", [name for name in SCALED if octavo.formats()[name].element.safetensors])
def test_save_and_load(name, tmp_path):
    path = tmp_path / "t.safetensors"
    tensors = {"w": octavo.quantize(draw(6, 64), name), "v": octavo.quantize(draw(8, 6, seed=1), name,
                                                                           axis=0),
               "x": draw(3, 2), "codes": draw(2, 8).astype(ml_dtypes.float4_e2m1fn),
               "n": np.arange(5), "mask": np.array([True, False]), "empty": draw(0, 3),
               "scalar": np.float32(7)}
    octavo.save(path, tensors, metadata={"made by": "a test"})
    found = octavo.load(path)
    assert found.keys() == tensors.keys()
    for key, tensor in tensors.items():
        if isinstance(tensor, octavo.ScaledTensor):
            assert found[key] == tensor
        else:
            assert found[key].dtype == tensor.dtype and found[key].shape == tensor.shape
            np.testing.assert_array_equal(found[key].astype(np.float64),
                                          np.asarray(tensor).astype(np.float64))
    with safetensors.safe_open(path, "numpy") as file:  # the format's own package reads it
        assert file.metadata()["made by"] == "a test"
        np.testing.assert_array_equal(file.get_tensor("x"), tensors["x"])
        assert file.get_slice("w").get_shape() == [6, 64]


def test_files_that_are_not_whole_are_refused(tmp_path):
    path = tmp_path / "t.safetensors"
    with pytest.raises(octavo.FileError, match="t.safetensors"):
        octavo.load(path)
    path.write_bytes(b"not a file of this kind")
    with pytest.raises(octavo.FileError, match="t.safetensors"):
        octavo.load(path)
    octavo.save(path, {"w": octavo.quantize(draw(6, 64), "nvfp4")})
    whole = path.read_bytes()
    for old, new in [(b"nvfp4", b"nvfp9"), (b"w_scale", b"w_scalf"), (b"w_outer_scale", b"w_outer_scalf"),
                     (b'\\"axis\\":1', b'\\"axis\\":7'), (b'\\"axis\\":1', b'\\"axjs\\":1'),
                     (b'{\\"w\\"', b'[\\"w\\"'), (b"[6,4]", b"[4,6]")]:
        assert old in whole
        path.write_bytes(whole.replace(old, new))
        with pytest.raises(octavo.FileError, match="t.safetensors"):
            octavo.load(path)


def test_what_cannot_be_saved_leaves_no_file(tmp_path):
    path = tmp_path / "t.safetensors"
    for tensors, error in [({"x": draw(2).astype(object)}, octavo.DtypeError),
                           ({1: draw(2)}, octavo.DtypeError),
                           ({"x": octavo.quantize(draw(3, 5), "mxfp4")}, octavo.FileError),
                           ({"w": octavo.quantize(draw(2, 32), "mxfp4"), "w_scale": draw(1)},
                            octavo.FileError)]:
        with pytest.raises(error):
            octavo.save(path, tensors)
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(octavo.FormatError, match="octavo's own"):
        octavo.save(path, {"x": draw(2)}, metadata={"octavo": "{}"})


def test_at_is_matmul():
    x, q = draw(3, 64), octavo.quantize(draw(5, 64), "mxfp4")
    for a, b in ((x, q.T), (q, x.T), (octavo.quantize(x, "mxfp4"), q.T)):
        np.testing.assert_array_equal(a @ b, octavo.matmul(a, b))
    with pytest.raises(octavo.ShapeError, match="do not fit"):
        x @ q


@pytest.mark.parametrize("call", [np.asarray, np.array, lambda q: np.add(q, 1), lambda q: q + np.ones(64),
                                  lambda q: np.ones(64) + q, lambda q: octavo.quantize(q, "mxfp4")])
def test_a_tensor_is_no_array(call):
    with pytest.raises(TypeError):
        call(octavo.quantize(draw(5, 64), "mxfp4"))


def test_what_a_tensor_says_to_those_who_want_an_array():
    with pytest.raises(octavo.DtypeError, match=r"dequantize\(\) gives its values"):
        np.asarray(octavo.quantize(draw(5, 64), "mxfp4"))


@pytest.mark.parametrize("key", [np.ones(4, bool), np.arange(2), [0], {}, "a", None, 1.0])
def test_other_indices_are_refused(key):
    with pytest.raises(octavo.ShapeError, match="takes integers, slices"):
        octavo.quantize(draw(4, 64), "mxfp4")[key]


def test_an_index_beyond_every_integer():
    with pytest.raises(IndexError):
        octavo.quantize(draw(4, 64), "mxfp4")[1 << 70]
    assert octavo.quantize(draw(4, 64), "mxfp4")[np.int8(-1)].shape == (64,)


CODES, SCALES = np.zeros((4, 64), np.uint8), np.zeros((4, 2), np.uint8)


@pytest.mark.parametrize("state", [
    (), (CODES, SCALES, "mxfp4", 1, 1.0), (CODES + 16, SCALES, "mxfp4", 1, 1.0, None),
    (CODES, SCALES[:1], "mxfp4", 1, 1.0, None), (CODES, SCALES, "mxfp4", 2, 1.0, None),
    (CODES, SCALES, "mxfp4", 1, 2.0, None), (CODES, SCALES, "mxfp", 1, 1.0, None), (CODES, SCALES, None, 1, 1.0, None),
    (None, None, "mxfp4", 1, 1.0, None), (CODES, SCALES, "fp8_row", 1, 1.0, None), (CODES, SCALES, "mxfp4", "1", 1.0, None),
    (CODES, np.asfortranarray(SCALES), "fp8_row", 1, 1.0, None), (CODES.astype(np.uint16), SCALES, "mxfp4", 1, 1.0, None),
    (CODES, SCALES, "mxfp4", 1, None, None), (CODES, SCALES, "mxfp4", 1, 1.0, "2")])
def test_a_pickle_of_something_else_is_refused(state):
    tensor = octavo.ScaledTensor.__new__(octavo.ScaledTensor)
    with pytest.raises(octavo.Error):
        tensor.__setstate__(state)


@pytest.mark.parametrize("name", SCALED)
def test_a_row_of_formats_is_its_name(name):
    row, x = octavo.formats()[name], draw(4, 64)
    q = octavo.quantize(x, row)
    assert q == octavo.quantize(x, name) == octavo.ScaledTensor(q.elements, q.scales, row, outer=q.outer)
    assert octavo.presets(row) == octavo.presets(name)
    found, expected = octavo.convert(x, row.element), octavo.convert(x, row.element.name)
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


def test_format_rows_pickle_as_the_rows_that_they_are():
    for name, row in octavo.formats().items():
        assert pickle.loads(pickle.dumps(row)) is row and copy.deepcopy(row) is row, name
        assert type(row)(name) is row
    with pytest.raises(octavo.FormatError, match="mxfp4"):
        octavo.ScaledFormat("e4m3fn")
    with pytest.raises(octavo.FormatError, match="e4m3fn"):
        octavo.ElementFormat("mxfp4")
