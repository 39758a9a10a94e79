"""Weights that a caller changes after they were bound: the program goes on with those that it was given."""
import gc
import weakref

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR, which runs programs")
import octavo

DRAWN = np.random.default_rng(0)
X = DRAWN.standard_normal((4, 64), dtype=np.float32)
W = DRAWN.standard_normal((64, 32), dtype=np.float32)
# A weight that a product reads, one that a kernel does, one that both do.
PROGRAM = """
func.func @main(%x: tensor<4x64xTYPE> {octavo.name = "x"}, %w: tensor<64x32xTYPE> {octavo.name = "w"}) -> (tensor<4x32xf32>, tensor<64x32xTYPE>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x64xTYPE>, tensor<64x32xTYPE>) -> tensor<4x32xf32>
  %1 = stablehlo.negate %w : tensor<64x32xTYPE>
  return %0, %1 : tensor<4x32xf32>, tensor<64x32xTYPE>
}"""


class OfAnother:
    """An array of some library, which gives NumPy its own memory."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __setitem__(self, key, value):
        self.array[key] = value


def torch_tensor(array):
    return pytest.importorskip("torch").from_numpy(array)


@pytest.mark.parametrize("given", [
    lambda w: w, lambda w: w[:], lambda w: w.T.copy().T, lambda w: np.asfortranarray(w), lambda w: np.repeat(w, 2, 0)[::2],
    lambda w: np.broadcast_to(w, w.shape), OfAnother, torch_tensor],
    ids=["array", "view", "transposed", "Fortran", "strided", "read-only view", "another library's", "torch"])
@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_a_weight_that_is_changed_in_place_is_as_it_was(given, backend):
    w = W.copy()
    bound = given(w)
    program = octavo.compile(PROGRAM.replace("TYPE", "f32"), weights={"w": bound}, backend=backend)
    expected = [np.asarray(each) for each in octavo.compile(PROGRAM.replace("TYPE", "f32"), backend=backend)(X, W)]
    for turn in range(3):  # before the first call, and between calls
        w[:] = turn * 100
        if isinstance(bound, np.ndarray) and bound.flags.writeable:
            bound[:] = turn * 100
        elif not isinstance(bound, np.ndarray):
            bound[:] = turn * 100
        for found, right in zip(program(X), expected):
            np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_of_other_types(dtype):
    w = W.astype(dtype)
    program = octavo.compile(PROGRAM.replace("TYPE", {"bfloat16": "bf16", "float16": "f16"}[np.dtype(dtype).name]), weights={"w": w})
    expected = -w
    w[:] = 3
    np.testing.assert_array_equal(program(X.astype(dtype))[1], expected)


def test_dot_errors_and_calibrations_are_of_the_weights_that_were_bound():
    text = PROGRAM.replace("TYPE", "f32")
    w = W.copy()
    program = octavo.compile(text, weights={"w": w})
    expected = octavo.compile(text, weights={"w": W}).dot_errors(X, quantize="mxfp4")
    w[:] = 0
    assert program.dot_errors(X, quantize="mxfp4") == expected


def test_what_nobody_can_write_to_is_held_and_what_anybody_can_is_not():
    """The copy is the program's: the caller's array goes when the caller lets it go."""
    for isReadOnly in (True, False):
        w = W.copy()
        w.flags.writeable = not isReadOnly
        program = octavo.compile(PROGRAM.replace("TYPE", "f32"), weights={"w": w})
        alive = weakref.ref(w)
        del w
        gc.collect()
        assert (alive() is not None) == isReadOnly
        np.testing.assert_array_equal(program(X)[1], -W)


def test_arrays_of_jax_are_held():
    jax = pytest.importorskip("jax")
    w = jax.numpy.asarray(W)
    program = octavo.compile(PROGRAM.replace("TYPE", "f32"), weights={"w": w})
    del w
    gc.collect()
    np.testing.assert_array_equal(program(X)[1], -W)
