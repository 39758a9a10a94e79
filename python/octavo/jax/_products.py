"""Products of scaled arrays, and jax.nn's scaled products built on them."""
import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike, DTypeLike

from .. import _core
from ..errors import DtypeError, FormatError, ShapeError
from ._operands import as_array, as_floats, is_in_bytes, kernel, without_gradient
from ._quantization import quantize
from ._scaled_array import ScaledArray, checked_parts

_F32 = _core.ElementFormat("f32")
_NO_GRADIENT = "a product of scaled arrays has no gradient by them; scaled_dot_general has"


@dataclasses.dataclass(frozen=True)
class Side:
    """An operand [..., rows, K] of a product, contracted along its last axis."""

    elements: Array
    scales: Array
    outer: Array
    element: str  # names of formats; an empty scale stands for plain float32
    scale: str
    across: int
    along: int

    @property
    def lead(self) -> tuple[int, ...]:
        return self.elements.shape[:-2]

    def values(self) -> Array:
        """The values, computed by JAX's own operations."""
        if not self.scale:
            return self.elements
        element = _core.ElementFormat(self.element)
        values = (_decode(self.elements, element) if is_in_bytes(element)
                  else self.elements.astype(jnp.float32) / (64 if element.name == "int8" else 1))
        rows, depth = self.elements.shape[-2:]
        scales = jnp.repeat(jnp.repeat(self.scales.astype(jnp.float32), self.across, -2)
                            [..., :rows, :], self.along, -1)[..., :depth]
        return values * scales * self.outer[..., None, None]

    def broadcast(self, lead: tuple[int, ...]) -> "Side":
        def spread(array: Array) -> Array:
            return jnp.broadcast_to(array, lead + array.shape[-2:])

        return dataclasses.replace(
            self, elements=spread(self.elements), scales=spread(self.scales) if self.scale
            else jnp.zeros(lead + (0,), jnp.float32), outer=jnp.broadcast_to(self.outer, lead))


def _decode(codes: Array, format: _core.ElementFormat) -> Array:
    return jnp.asarray(_core.jax_values(format.name), jnp.float32)[codes]


def side_of_array(array: ScaledArray, name: str) -> Side:
    """The operand of an array that is quantized along its last axis."""
    array, member, block = checked_parts(array)
    if len(member) < 2:
        raise ShapeError(f"{name}: expected two axes or more in each member of a batch of shape "
                         f"{array.outer.shape}, found shape {array.shape}")
    row = _core.ScaledFormat(array.format)
    lead = array.ndim - 2
    outer = array.outer.reshape(array.outer.shape + (1,) * (lead - array.outer.ndim))
    return Side(array.elements, array.scales, jnp.broadcast_to(outer, array.shape[:-2]),
                 row.element.name, row.scale.name, block[-2], block[-1])


def _side_of_floats(x: Array) -> Side:
    return Side(x, jnp.zeros((), jnp.float32), jnp.ones(x.shape[:-2], jnp.float32), "", "", 1, 1)


def product(left: Side, right: Side) -> Array:
    """[..., M, K] times [..., N, K] over K, in float32. The kernels multiply if they know this pair of formats and
    blocks (docs/semantics.md, D3 to D5); otherwise JAX multiplies the values in float32."""
    depth = left.elements.shape[-1]
    lead = jnp.broadcast_shapes(left.lead, right.lead)
    rows, columns = left.elements.shape[-2], right.elements.shape[-2]
    if not right.scale or _core.jax_product_refusal(
            left.element, left.scale, left.across, left.along, right.element, right.scale, right.across,
            right.along, depth) is not None:
        return jnp.einsum("...mk,...nk->...mn", left.values(), right.values(),
                          precision=lax.Precision.HIGHEST)
    if left.across == 1 and not right.lead and left.lead:
        # One matrix multiplies the rows of all members: one product, for which the matrix is packed once.
        # Outer scales differ between members and multiply last (D5).
        flat = dataclasses.replace(
            left, elements=left.elements.reshape(math.prod(left.lead) * rows, depth),
            scales=left.scales.reshape(math.prod(left.lead) * rows, left.scales.shape[-1])
            if left.scale else left.scales,
            outer=jnp.ones((), jnp.float32))
        if not left.scale:
            return product(flat, right).reshape(*lead, rows, columns)
        alone = dataclasses.replace(right, outer=jnp.ones((), jnp.float32))
        sums = product(flat, alone).reshape(*lead, rows, columns)
        scaled: Array = without_gradient(kernel("octavo_outer", (sums.shape, jnp.float32)), _NO_GRADIENT)(
            sums, jnp.broadcast_to(left.outer, lead), jnp.broadcast_to(right.outer, lead))
        return scaled
    left, right = left.broadcast(lead), right.broadcast(lead)
    call = functools.partial(
        kernel("octavo_product", ((*lead, rows, columns), jnp.float32)),
        left_element=left.element, left_scale=left.scale, left_across=np.int64(left.across),
        left_along=np.int64(left.along), right_element=right.element, right_scale=right.scale,
        right_across=np.int64(right.across), right_along=np.int64(right.along))
    parts = left.scales, left.outer, right.elements, right.scales, right.outer
    if left.scale:
        values: Array = without_gradient(call, _NO_GRADIENT)(left.elements, *parts)
        return values

    by_floats: Any = jax.custom_vjp(call)

    def forward(x: Any, *parts: Any) -> tuple[Array, tuple[Array, Array, Array]]:
        if any(part.perturbed for part in parts):
            raise TypeError(_NO_GRADIENT)
        *_, elements, scales, outer = values = [part.value for part in parts]
        return call(x.value, *values), (elements, scales, outer)

    def backward(kept: tuple[Array, Array, Array], gradient: Array) -> tuple[Array | None, ...]:
        elements, scales, outer = kept
        values = dataclasses.replace(right, elements=elements, scales=scales, outer=outer).values()
        return (jnp.einsum("...mn,...nk->...mk", gradient, values, precision=lax.Precision.HIGHEST),
                *[None] * len(parts))

    by_floats.defvjp(forward, backward, symbolic_zeros=True)
    sums_of_floats: Array = by_floats(left.elements, *parts)
    return sums_of_floats


def matmul(a: ScaledArray | ArrayLike, b: ScaledArray | ArrayLike) -> Array:
    """a @ b in float32, where a or b or both are quantized.

    a: [..., M, K], a ScaledArray with axis -1, or an array.
    b: [..., K, N], a ScaledArray with axis -2, or an array. Leading axes broadcast.

    A plain operand is not quantized; octavo.matmul states the error bound. It has a gradient, computed with the
    other operand's values in float32. A ScaledArray has no gradient.
    Returns float32 [..., M, N]. Raises ShapeError, DtypeError.
    """
    def side(operand: ScaledArray | ArrayLike, name: str, axis: int) -> Side:
        if isinstance(operand, ScaledArray):
            if operand.ndim < 2:
                raise ShapeError(f"{name}: expected two axes or more, found shape {operand.shape}; "
                                 "quantize it as a matrix of one row or column")
            if operand.axis != axis:
                raise ShapeError(f"{name}: expected an array quantized along axis {axis}, "
                                 f"found axis {operand.axis} of shape {operand.shape}; quantize it "
                                 f"with axis={axis}")
            return side_of_array(operand if axis == -1 else operand.mT, name)
        x = as_floats(operand, name)
        if x.ndim < 2:
            raise ShapeError(f"{name}: expected two axes or more, found shape {x.shape}")
        return _side_of_floats(x if axis == -1 else x.swapaxes(-1, -2))

    left, right = side(a, "a", -1), side(b, "b", -2)
    if left.elements.shape[-1] != right.elements.shape[-1]:
        raise ShapeError(f"a and b: expected the same K, found {left.elements.shape[-1]} and "
                         f"{right.elements.shape[-1]}")
    if not left.scale and not right.scale:
        raise DtypeError("a or b: expected a ScaledArray, found plain arrays; jnp.matmul multiplies those")
    return product(left, right)


def scaled_matmul(lhs: Array, rhs: Array, lhs_scales: Array, rhs_scales: Array,
                  preferred_element_type: DTypeLike = jnp.float32) -> Array:
    """jax.nn.scaled_matmul on the CPU: [B, M, K] times [B, N, K] over K, with a scale for each block.

    lhs, rhs: elements [B, M, K] and [B, N, K].
    lhs_scales, rhs_scales: [B, M, K_a] and [B, N, K_b]; K is a multiple of K_a and of K_b.
    preferred_element_type: the dtype of the result.

    Sums are in float32 and rounded once to preferred_element_type. If the kernels do not know the formats or the block
    size, the operands are dequantized and multiplied in float32.
    Raises ShapeError, a ValueError as jax.nn.scaled_matmul raises it.
    """
    operands = {"lhs": lhs, "rhs": rhs, "lhs_scales": lhs_scales, "rhs_scales": rhs_scales}
    if any(x.ndim != 3 for x in operands.values()):
        raise ShapeError("scaled_matmul: expected four operands [B, rows, K], found " +
                         ", ".join(f"{name} {x.shape}" for name, x in operands.items()))
    if lhs.shape[0] != rhs.shape[0] or lhs.shape[2] != rhs.shape[2]:
        raise ShapeError(f"lhs and rhs: expected the same B and K, found {lhs.shape} and {rhs.shape}")
    sides = []
    for name, x, scales in (("lhs", lhs, lhs_scales), ("rhs", rhs, rhs_scales)):
        blocks = scales.shape[2]
        if scales.shape[:2] != x.shape[:2] or blocks == 0 or x.shape[2] % blocks != 0:
            raise ShapeError(f"{name}_scales: expected {(*x.shape[:2], 'K / block')} for {name} "
                             f"{x.shape}, found {scales.shape}")
        try:
            element, scale = (_core.ElementFormat(each.dtype) for each in (x, scales))
        except FormatError:
            element = scale = _F32
        if element.bits > 8 or element.name == "int8":
            x, scales = x.astype(jnp.float32), scales.astype(jnp.float32)
            element = scale = _F32
        sides.append(Side(x, scales, jnp.ones(x.shape[:1], jnp.float32), element.name, scale.name,
                           1, x.shape[2] // blocks))
    return product(*sides).astype(preferred_element_type)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _dot(a: Array, b: Array, formats: tuple[str, str, str]) -> Array:
    """[B, M, K] times [B, N, K] over K, where both operands are quantized along K."""
    left, right = (side_of_array(quantize(x, format), name)
                   for x, format, name in zip((a, b), formats, ("lhs", "rhs")))
    return product(left, right)


def _dot_forward(a: Array, b: Array, formats: tuple[str, str, str]) -> tuple[Array, tuple[Array, Array]]:
    return _dot(a, b, formats), (a, b)


def _dot_backward(formats: tuple[str, str, str], operands: tuple[Array, Array],
                  gradient: Array) -> tuple[Array, Array]:
    # These products contract other axes than the forward product, so operands are quantized again along
    # those axes, as recipes of MXFP8 training do.
    a, b = operands
    left, right, narrow = formats
    to_a = _dot(gradient, b.swapaxes(-1, -2), (narrow, right, narrow))
    to_b = _dot(gradient.swapaxes(-1, -2), a.swapaxes(-1, -2), (narrow, left, narrow))
    return to_a.astype(a.dtype), to_b.astype(b.dtype)


_dot.defvjp(_dot_forward, _dot_backward)


def scaled_dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: lax.DotDimensionNumbers,
                       preferred_element_type: DTypeLike = jnp.float32,
                       configs: Sequence[Any] | None = None,
                       implementation: str | None = None) -> Array:
    """jax.nn.scaled_dot_general on the CPU: quantizes both operands along the contracted axes and multiplies
    them. The products of its gradient are quantized likewise.

    lhs, rhs, dimension_numbers, preferred_element_type: as in lax.dot_general. Contracted extents need not be
        multiples of the block.
    configs: the scaled formats, or their names, of lhs, rhs and the gradient, such as ["mxfp8_e4m3", "mxfp8_e4m3",
        "mxfp8_e5m2"]. Three configurations of jax.nn.get_scaled_dot_general_config are also possible and use
        JAX's quantization. None is lax.dot_general.
    implementation: ignored; jax.nn.scaled_dot_general has it.

    Raises ShapeError, FormatError, DtypeError.
    """
    if configs is None:
        return lax.dot_general(lhs, rhs, dimension_numbers,
                               preferred_element_type=preferred_element_type)
    if len(configs) != 3:
        raise ShapeError(f"configs: expected three (lhs, rhs, gradients), found {len(configs)}")
    configs = [config.name if isinstance(config, _core.ScaledFormat) else config
               for config in configs]
    if not all(isinstance(config, str) for config in configs):
        register()
        return jax.nn.scaled_dot_general(lhs, rhs, dimension_numbers, preferred_element_type,
                                         configs)
    for config in configs:
        _core.ScaledFormat(config)
    a, b, shape = matrices(lhs, rhs, dimension_numbers)
    return _dot(a, b, tuple(configs)).reshape(shape).astype(preferred_element_type)


def matrices(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: lax.DotDimensionNumbers) -> (
        tuple[Array, Array, tuple[int, ...]]):
    """The operands of a dot_general, reshaped to [B, M, K] and [B, N, K], and the shape of its result."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers

    def batch_of(x: Array, contract: Sequence[int], batch: Sequence[int],
                 name: str) -> tuple[Array, list[list[int]]]:
        axes = [*contract, *batch]
        if not set(axes) <= set(range(x.ndim)) or len(set(axes)) < len(axes):
            raise ShapeError(f"dimension_numbers: expected axes of {name}, 0 to {x.ndim - 1}, each "
                             f"once, found contracted {tuple(contract)} and batch {tuple(batch)}")
        kept = [axis for axis in range(x.ndim) if axis not in contract and axis not in batch]
        extents = [[x.shape[axis] for axis in axes] for axes in (batch, kept, contract)]
        return (x.transpose(*batch, *kept, *contract).reshape([math.prod(e) for e in extents]),
                extents)

    lhs, rhs = _checked(lhs, "lhs"), _checked(rhs, "rhs")
    a, (batch, rows, depth) = batch_of(lhs, lhs_contract, lhs_batch, "lhs")
    b, (rhs_batch_extents, columns, rhs_depth) = batch_of(rhs, rhs_contract, rhs_batch, "rhs")
    if batch != rhs_batch_extents or depth != rhs_depth:
        raise ShapeError(f"dimension_numbers: expected extents that agree, found batch {batch} and "
                         f"{rhs_batch_extents}, contracted {depth} and {rhs_depth}")
    return a, b, (*batch, *rows, *columns)


def _checked(x: ArrayLike, name: str) -> Array:
    x = as_array(x, name)
    as_floats(x, name)
    return x


def register() -> None:
    """Makes octavo's kernels run jax.nn.scaled_matmul and jax.nn.scaled_dot_general on the CPU.

    It may be called more than once. Raises ImportError if this version of JAX does not have the primitive where
    JAX 0.10 has it.
    """
    try:
        from jax._src.cudnn.scaled_matmul_stablehlo import _scaled_matmul_p
        from jax._src.interpreters import mlir
    except ImportError as error:
        raise ImportError(f"jax {jax.__version__} does not have jax.nn.scaled_matmul where octavo "
                          "looks for it (JAX 0.10 does); use octavo.jax.scaled_matmul") from error

    def lowered(lhs: Array, rhs: Array, lhs_scales: Array, rhs_scales: Array, *,
                preferred_element_type: DTypeLike) -> list[Array]:
        return [scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type)]

    mlir.register_lowering(_scaled_matmul_p, mlir.lower_fun(lowered, multiple_results=True),
                           platform="cpu")
