"""octavo.jax.ScaledArray: a quantized tensor in JAX programs."""
import dataclasses
import functools
import json
import operator
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from .. import _core
from ..errors import DtypeError, ShapeError
from . import _scaled_index
from ._operands import as_array, codes_dtype, kernel, without_gradient


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=["elements", "scales", "outer"],
    meta_fields=["format", "axis"])
@dataclasses.dataclass(frozen=True, eq=False)
class ScaledArray:
    """A quantized tensor: value = element * scale of its block * outer. A pytree; quantize makes it.

    elements: of the tensor's shape, in the dtype of the format's elements (uint8 for six-bit floats).
    scales: one for each block, in the shape of the grid of blocks.
    outer: float32 [], or with the leading axes that ``jax.vmap`` added.
    format: the name of the scaled format.
    axis: the axis that a product contracts, counted from the end: -1 is the last axis.
    """

    elements: Array
    scales: Array
    outer: Array
    format: str
    axis: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values."""
        return self.elements.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.elements.ndim

    @property
    def size(self) -> int:
        """Number of values."""
        return self.elements.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values: float32. ``elements.dtype`` is the dtype of the elements."""
        return np.dtype(np.float32)

    @property
    def nbytes(self) -> int:
        """Bytes of elements, scales and outer scale in memory."""
        return self.elements.nbytes + self.scales.nbytes + self.outer.nbytes

    def __len__(self) -> int:
        if self.ndim == 0:
            raise ShapeError("len: expected one axis or more, found none")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        """Whether format, axis and all arrays are equal bit for bit. Only outside of jit; raises DtypeError."""
        if not isinstance(other, ScaledArray):
            return NotImplemented
        if (self.format, self.axis) != (other.format, other.axis):
            return False
        parts = [[_concrete(getattr(array, name), "==") for name in ("elements", "scales", "outer")]
                 for array in (self, other)]
        return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
                   for a, b in zip(*parts))

    __hash__ = None  # type: ignore[assignment]

    @property
    def T(self) -> "ScaledArray":
        """The transposed matrix. Raises ShapeError unless there are two axes."""
        if self.ndim != 2:
            raise ShapeError(f"T: expected a matrix, found shape {self.shape}; mT swaps the last two axes")
        return self.mT

    @property
    def mT(self) -> "ScaledArray":
        """The array with its last two axes exchanged. Raises ShapeError unless blocks lie along one of them."""
        if self.ndim < 2 or self.axis not in (-1, -2):
            raise ShapeError("mT: expected blocks along one of the last two axes, which it swaps; "
                             f"found shape {self.shape}, axis {self.axis}")
        return ScaledArray(self.elements.swapaxes(-1, -2), self.scales.swapaxes(-1, -2), self.outer,
                           self.format, -3 - self.axis)

    def __getitem__(self, key: Any) -> "ScaledArray":
        """A part of the array.

        key: integers, which may be traced, for axes without blocks; slices that begin and end at block boundaries;
            and ``...``.

        Raises ShapeError, IndexError.
        """
        checked_parts(self)
        elements, scales, outer, axis = _scaled_index.parts(
            self.elements, self.scales, self.outer, self.format, self.axis, key)
        return ScaledArray(elements, scales, outer, self.format, axis)

    def batched(self, axes: int = 1) -> "ScaledArray":
        """The array as a batch, over which ``jax.vmap`` and ``jax.lax.scan`` can iterate.

        axes: the number of leading axes of the batch.

        Each member gets its own scales; scales that several members shared are repeated. ``jax.vmap`` of quantize makes
        such batches. Raises ShapeError if blocks lie along one of the axes.
        """
        array, _, _ = checked_parts(self)
        members = _scaled_index.members(array.elements.ndim, array.outer.ndim, array.format, array.axis, axes)
        lead = array.shape[:members]
        outer = array.outer.reshape(array.outer.shape + (1,) * (members - array.outer.ndim))
        return ScaledArray(
            array.elements, jnp.broadcast_to(array.scales, lead + array.scales.shape[members:]),
            jnp.broadcast_to(outer, lead), array.format, array.axis)

    def to_tensor(self) -> _core.ScaledTensor:
        """The array as an octavo.ScaledTensor, which octavo.save stores. Only outside of jit. Raises DtypeError for
        traced arrays, ShapeError if ``outer`` has axes, as after ``jax.vmap``."""
        checked_parts(self)
        if self.outer.ndim != 0:
            raise ShapeError("to_tensor: expected one outer scale, found outer of shape "
                             f"{self.outer.shape}; take one member, as in array[0]")
        elements, scales, outer = (_concrete(part, "to_tensor")
                                   for part in (self.elements, self.scales, self.outer))
        return _core.ScaledTensor(elements, scales, self.format, axis=self.axis, outer=float(outer))

    def dequantize(self) -> Array:
        """The values as float32: octavo.jax.dequantize(self)."""
        return dequantize(self)

    def __matmul__(self, other: "ScaledArray | ArrayLike") -> Array:
        from ._products import matmul  # which needs this class

        return matmul(self, other)

    def __rmatmul__(self, other: ArrayLike) -> Array:
        from ._products import matmul

        return matmul(other, self)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise DtypeError("a ScaledArray is not an array: dequantize() gives its values, to_tensor() an "
                         "octavo.ScaledTensor, elements and scales are its codes")

    __array_ufunc__ = None  # NumPy leaves array @ scaled to __rmatmul__ and raises TypeError for array + scaled


def _concrete(part: ArrayLike, name: str) -> np.ndarray:
    if isinstance(part, jax.core.Tracer):
        raise DtypeError(f"{name}: found arrays that are traced; it is for outside of jit, vmap and grad")
    return np.asarray(part)


def _register_with_export() -> None:
    """Lets jax.export write programs with ScaledArray as arguments and results."""
    from jax import export

    export.register_pytree_node_serialization(
        ScaledArray, serialized_name="octavo.jax.ScaledArray",
        serialize_auxdata=lambda meta: json.dumps(meta).encode(),
        deserialize_auxdata=lambda text: tuple(json.loads(text)))


_register_with_export()


def from_tensor(tensor: _core.ScaledTensor) -> ScaledArray:
    """A ScaledArray of an octavo.ScaledTensor, such as octavo.load and octavo.checkpoint return.

    tensor: a ScaledTensor.

    Raises DtypeError for another object.
    """
    if not isinstance(tensor, _core.ScaledTensor):
        raise DtypeError(f"tensor: expected an octavo.ScaledTensor, found {type(tensor).__name__}")
    held = np.uint8 if codes_dtype(tensor.format.element) == np.uint8 else tensor.elements.dtype
    return ScaledArray(jnp.asarray(tensor.elements.view(held)), jnp.asarray(tensor.scales),
                       jnp.float32(tensor.outer), tensor.format.name, tensor.axis - tensor.ndim)


def checked_parts(array: ScaledArray) -> tuple[ScaledArray, list[int], list[int]]:
    """The array with its parts as JAX arrays; the shape of a member of the batch; the shape of a block. Raises
    DtypeError, ShapeError or FormatError if the parts do not fit the format."""
    if not isinstance(array, ScaledArray):
        raise DtypeError(f"array: expected a ScaledArray, found {type(array).__name__}; "
                         "quantize makes one")
    row = _core.ScaledFormat(array.format)
    parts = {name: as_array(getattr(array, name), name) for name in ("elements", "scales", "outer")}
    axis = operator.index(array.axis) if hasattr(array.axis, "__index__") else 0
    if axis >= 0:
        raise ShapeError("axis: expected a negative number, counted from the end, found "
                         f"{array.axis!r}")
    member, block = _core.jax_parts(row.name, -axis, *(
        (str(part.dtype), part.shape) for part in parts.values()))
    return ScaledArray(**parts, format=row.name, axis=axis), member, block


def dequantize(array: ScaledArray) -> Array:
    """The values of a quantized array as float32: element * scale * outer, rounded once (docs/semantics.md, S1).

    array: a ScaledArray.

    It has no gradient. Raises DtypeError, ShapeError or FormatError if the parts do not fit the format.
    """
    array, _, _ = checked_parts(array)
    call = functools.partial(kernel("octavo_dequantize", (array.shape, jnp.float32)),
                             format=array.format, axis_from_end=np.int64(-array.axis))
    values: Array = without_gradient(
        call, "octavo.jax.dequantize has no gradient; fake_quantize passes it straight through")(
            array.elements, array.scales, array.outer)
    return values
