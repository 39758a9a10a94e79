"""Checks and conversions of the arguments of octavo.jax for its kernels."""
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from .. import _core
from ..errors import DtypeError, FormatError, ShapeError

_FORMATS = _core.formats()
WIDE = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}


def element_format(format: str | _core.ElementFormat | DTypeLike,
                   widths: Sequence[int]) -> _core.ElementFormat:
    row = _core.ElementFormat(format)
    if row.bits not in widths:
        known = ", ".join(each for each, row in _FORMATS.items()
                          if isinstance(row, _core.ElementFormat) and row.bits in widths)
        raise FormatError(f"format: {row.name} has {row.bits} bits; available: {known}")
    return row


def is_in_bytes(format: _core.ElementFormat) -> bool:
    """Whether JAX holds the codes in uint8. XLA has no six-bit floats, and no formats that ml_dtypes lacks."""
    return format.bits == 6 or format.numpy is None


def codes_dtype(format: _core.ElementFormat) -> np.dtype[Any]:
    """The dtype of codes in JAX."""
    return np.dtype(jnp.uint8) if is_in_bytes(format) else jnp.dtype(format.numpy)


def as_array(x: ArrayLike, name: str) -> Array:
    if isinstance(x, _core.ScaledTensor):
        raise DtypeError(f"{name}: found an octavo.ScaledTensor; octavo.jax.from_tensor makes a "
                         "ScaledArray of it, octavo.dequantize its values")
    if not isinstance(x, Array) and (hasattr(x, "__array__") or hasattr(x, "__dlpack__")):
        x = _core.jax_array(x, name)  # refuses masked arrays, resolves torch's lazy views
    try:
        return jnp.asarray(x)
    except (TypeError, ValueError) as error:
        raise DtypeError(f"{name}: expected an array, found {type(x).__name__}: "
                         f"{error}") from error
    except jax.errors.JaxRuntimeError as error:
        if "Invalid XLA PrimitiveType" not in str(error):  # such as too little memory
            raise
        raise DtypeError(f"{name}: JAX has no arrays of {np.asarray(x).dtype}; x.view(numpy.uint8) "
                         "has its codes") from error


def as_floats(x: ArrayLike, name: str) -> Array:
    x = as_array(x, name)
    if x.dtype.name not in WIDE:
        raise DtypeError(f"{name}: expected float32, bfloat16 or float16, found {x.dtype}; "
                         "convert it with astype")
    return x.astype(jnp.float32)


def axis_from_end(axis: int, x: Array) -> int:
    """The axis counted from the end; 1 is the last axis. Raises DtypeError, ShapeError."""
    try:
        index = operator.index(axis)
    except TypeError:
        raise DtypeError(f"axis: expected an integer, found {axis!r}: blocks lie along one "
                         "axis") from None
    if x.ndim == 0:
        raise ShapeError("x: expected one axis or more, found none; reshape it to (1,)")
    if not -x.ndim <= index < x.ndim:
        raise ShapeError(f"axis: expected {-x.ndim} to {x.ndim - 1} for shape {x.shape}, found {index}")
    return x.ndim - index % x.ndim


def outer_operand(outer: ArrayLike | None) -> Array:
    """The caller's outer scale as the kernel takes it; an empty array for None."""
    if outer is None:
        return jnp.zeros((0,), jnp.float32)
    given = as_floats(np.float32(outer) if isinstance(outer, (int, float)) else outer, "outer")
    if given.ndim:
        raise ShapeError(f"outer: expected one number, found shape {given.shape}; jax.vmap "
                         "goes over several")
    constant: Array = without_gradient(lambda given: given, "outer has no gradient")(given)
    return constant


def random_bits(rounding: str | None, key: Array | None, shape: tuple[int, ...]) -> Array:
    if (rounding == "stochastic") != (key is not None):
        raise FormatError("rounding=\"stochastic\" and key=jax.random.key(...) go together")
    if key is None:
        return jnp.zeros((0,), jnp.uint32)
    try:
        return jax.random.bits(key, shape, jnp.uint32)
    except (TypeError, ValueError) as error:  # only the key of the three arguments comes from the caller
        found = f"{key.dtype} {list(key.shape)}" if hasattr(key, "dtype") else repr(key)
        raise DtypeError(f"key: expected one key of jax.random.key(...), found {found}; "
                         "jax.vmap goes over several") from error


def kernel(target: str, *results: tuple[Sequence[int], DTypeLike]) -> Callable[..., Any]:
    """The call of an octavo kernel by XLA, whose results have these shapes and dtypes. It returns an
    array, or a tuple of them if there are several results."""
    shape_and_dtype: Any = jax.ShapeDtypeStruct  # JAX declares no types for it
    shapes = tuple(shape_and_dtype(shape, dtype) for shape, dtype in results)
    call: Callable[..., Any] = jax.ffi.ffi_call(
        target, shapes[0] if len(shapes) == 1 else shapes, vmap_method="broadcast_all")
    return call


def without_gradient(function: Callable[..., Any], fix: str) -> Callable[..., Any]:
    """The function, whose derivative raises TypeError with the message `fix`."""
    wrapped = jax.custom_jvp(function)

    @wrapped.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        raise TypeError(fix)

    return wrapped
