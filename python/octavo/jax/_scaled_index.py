"""Indexing of octavo.jax.ScaledArray: parts that consist of whole blocks, by the rules of octavo.ScaledTensor."""
import operator
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from .. import _core
from ..errors import ShapeError

_LONG = 1 << 40  # an extent at which a block of the whole axis differs from every block of fixed extent


def blocks(format: str, rank: int, axis: int) -> list[int | None]:
    """The extents of a format's blocks, axis by axis; None for an axis that a block spans."""
    grid = _core.jax_scale_shape(format, (_LONG,) * rank, rank + axis)
    return [None if scales == 1 else -(-_LONG // scales) for scales in grid]


def _one_per_axis(key: Any, rank: int) -> list[Any]:
    keys = list(key) if isinstance(key, tuple) else [key]
    ellipses = sum(each is Ellipsis for each in keys)
    if ellipses > 1 or len(keys) - ellipses > rank:
        raise IndexError("too many indices, or more than one ellipsis")
    if ellipses:
        place = next(i for i, each in enumerate(keys) if each is Ellipsis)
        keys[place:place + 1] = [slice(None)] * (rank + 1 - len(keys))
    return keys + [slice(None)] * (rank - len(keys))


def members(rank: int, least: int, format: str, axis: int, axes: Any) -> int:
    """The number of axes of a batch over `axes` leading axes. The array is already a batch over `least` axes."""
    try:
        count = operator.index(axes)
    except TypeError:
        raise ShapeError(f"axes: expected a number of axes, found {axes!r}") from None
    if not least <= count < rank:
        raise ShapeError(f"axes: expected {least} to {rank - 1} of an array of rank {rank}, found {count}")
    for at, block in enumerate(blocks(format, rank - least, axis), least):
        if at < count and (at == rank + axis or block not in (1, None)):
            raise ShapeError(f"axes: blocks of {format} lie along axis {at}, so that no batch goes over it; "
                             f"at most {at}")
    return count


def _is_traced_index(key: Any) -> bool:
    return isinstance(key, jax.Array) and key.ndim == 0 and jnp.issubdtype(key.dtype, jnp.integer)


def _slice(key: slice, axis: int, extent: int, block: int | None) -> tuple[slice, slice]:
    """The slices of the elements and of the scales."""
    if any(isinstance(each, jax.core.Tracer) for each in (key.start, key.stop, key.step)):
        raise ShapeError(f"axis {axis}: the edges of a slice are known numbers, found traced ones; an index "
                         "may be traced")
    start, stop, step = key.indices(extent)
    stop = max(start, stop)
    if step != 1:
        raise ShapeError(f"axis {axis}: a scaled array is cut in steps of 1, found {step}")
    if stop == start:
        return slice(0, 0), slice(0, 0)
    if block is None:
        return slice(start, stop), slice(0, 1)
    if start % block or (stop % block and stop != extent):
        raise ShapeError(f"axis {axis}: {start}:{stop} cuts blocks, whose edges are the multiples of "
                         f"{block}; slice on edges, or dequantize() first")
    return slice(start, stop), slice(start // block, -(-stop // block))


def _taken(array: Array, index: Any, axis: int) -> Array:
    taken: Array = lax.dynamic_index_in_dim(array, index, axis, keepdims=False)
    return taken


def parts(elements: Array, scales: Array, outer: Array, format: str, axis: int,
          key: Any) -> tuple[Array, Array, Array, int]:
    """Elements, scales, outer and axis of array[key]. Axes that vmap added, which `outer` has too, take any integer
    and any slice with step 1."""
    rank, members = elements.ndim, outer.ndim
    extents = [1] * members + blocks(format, rank - members, axis)
    if members and len(extents) != rank:
        raise ShapeError(f"outer: expected at most {rank} axes, found {members}")
    keys = _one_per_axis(key, rank)
    contracted = rank + axis
    removed: list[int] = []
    for at in reversed(range(rank)):  # removing an axis must not move those still to visit
        each, extent, block = keys[at], elements.shape[at], extents[at]
        if isinstance(each, slice):
            of_elements, of_scales = _slice(each, at, extent, block)
            elements = lax.slice_in_dim(elements, of_elements.start, of_elements.stop, axis=at)
            scales = lax.slice_in_dim(scales, of_scales.start, of_scales.stop, axis=at)
            if at < members:
                outer = lax.slice_in_dim(outer, of_elements.start, of_elements.stop, axis=at)
            continue
        if not _is_traced_index(each):
            try:
                if isinstance(each, bool):  # NumPy treats a bool as a mask
                    raise TypeError
                each = operator.index(each)
            except TypeError:
                raise ShapeError(f"axis {at}: a scaled array takes integers, slices and ... as indices; "
                                 "dequantize() gives an array, which takes others") from None
            if not -extent <= each < extent:
                raise IndexError(f"index {each} is out of range for axis {at} of extent {extent}")
            each += extent if each < 0 else 0
        if at == contracted or (block is not None and block != 1):
            raise ShapeError(f"axis {at}: blocks lie along it, so an index cannot take it away; slice on "
                             "edges of blocks, or dequantize() first")
        removed.append(at)
        elements = _taken(elements, each, at)
        scales = _taken(scales, 0 if block is None else each, at)
        if at < members:
            outer = _taken(outer, each, at)
    after = axis + sum(at > contracted for at in removed)
    kept = elements.ndim - outer.ndim
    if kept < 1 or _core.jax_scale_shape(format, elements.shape[outer.ndim:], kept + after) != list(
            scales.shape[outer.ndim:]):
        raise ShapeError(f"{format} has blocks on the last two axes: an index takes away one before them")
    return elements, scales, outer, after
