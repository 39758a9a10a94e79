"""octavo.jax.quantize, fake_quantize, convert and amax."""
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from .. import _core
from ._operands import (
    WIDE, as_array, axis_from_end, codes_dtype, element_format, as_floats, kernel, outer_operand,
    random_bits, without_gradient)
from ._scaled_array import ScaledArray, dequantize


def quantize(x: ArrayLike, format: str | _core.ScaledFormat, *, axis: int = -1,
             rule: str | None = None, preset: str | None = None, rounding: str | None = None,
             overflow: str | None = None, nan: str | None = None,
             key: Array | None = None, outer: ArrayLike | None = None) -> ScaledArray:
    """Quantizes an array, with the bits of octavo.quantize (docs/semantics.md, S2 to S9).

    x: float32, bfloat16 or float16 of one axis or more.
    format: a scaled format or its name: "mxfp8_e4m3", "mxfp4", "nvfp4", "fp8_row", ...
    axis: the axis that a product contracts. Blocks lie along it.
    rule: how the largest magnitude of a block decides its scale. None uses the format's rule.
    preset: the name of a library's settings, such as "torchao-rceil" or "jax" (docs/scale-rules.md). rule, rounding,
        overflow and nan override its settings.
    rounding: of elements: "ties-to-even", the default without a preset, or "stochastic", which needs ``key``.
    overflow: for elements beyond the largest: "saturate" or "special" (Inf or NaN). None saturates.
    nan: for NaN and infinite values. "propagate", the default without a preset, makes their blocks NaN, as JAX
        programs expect. "error" makes the program fail. "saturate" saturates infinities and propagates NaN.
    key: of jax.random, for stochastic rounding.
    outer: for formats with an outer scale (nvfp4): a scale that was calibrated, or that several tensors share. None
        computes it from x. It multiplies. The program fails unless it is positive and finite.

    Returns a ScaledArray of x's shape. It has no gradient; fake_quantize and scaled_dot_general have one.
    Raises FormatError, DtypeError, ShapeError.
    """
    x, row = as_array(x, "x"), _core.ScaledFormat(format)
    options = _options(row, rule, preset, rounding, overflow, nan, outer)
    return _quantize(x, random_bits(rounding, key, x.shape), outer_operand(outer), row, axis,
                     options)


def _options(row: _core.ScaledFormat, rule: str | None, preset: str | None, rounding: str | None,
             overflow: str | None, nan: str | None, outer: ArrayLike | None) -> dict[str, str]:
    """The settings as the kernel takes them. An empty text stands for the preset's setting or the default."""
    _core.jax_check_options(row.name, rule, preset, rounding, overflow, nan, outer is not None)
    return dict(rule=rule or "", preset=preset or "", rounding=rounding or "",
                overflow=overflow or "", nan=nan or ("" if preset else "propagate"))


def _quantize(x: Array, bits: Array, outer: Array, row: _core.ScaledFormat, axis: int,
              options: dict[str, str]) -> ScaledArray:
    given = x.dtype
    x = as_floats(x, "x")
    from_end = axis_from_end(axis, x)
    if options["preset"]:
        _core.check_edge(row.name, options["preset"], x.shape, x.ndim - from_end)
    grid = _core.jax_scale_shape(row.name, x.shape, x.ndim - from_end)
    call = kernel("octavo_quantize", (x.shape, codes_dtype(row.element)), (grid, codes_dtype(row.scale)),
                  ((), jnp.float32))
    call = functools.partial(call, format=row.name, axis_from_end=np.int64(from_end),
                             input=WIDE[given.name], **options)
    elements, scales, outer = without_gradient(
        call, "octavo.jax.quantize has no gradient; fake_quantize and scaled_dot_general pass it "
        "straight through")(x, bits, outer)
    return ScaledArray(elements, scales, outer, row.name, -from_end)


def fake_quantize(x: ArrayLike, format: str | _core.ScaledFormat, *, axis: int = -1,
                  rule: str | None = None, preset: str | None = None, rounding: str | None = None,
                  overflow: str | None = None, nan: str | None = None,
                  key: Array | None = None, outer: ArrayLike | None = None) -> Array:
    """dequantize(quantize(x)) in the dtype of x.

    The derivative by x is that of the identity, forward and backward (straight-through estimator, arXiv
    1308.3432). There is no derivative by outer.

    x, format, axis, rule, preset, rounding, overflow, nan, key, outer: as in quantize, whose errors it raises.
    """
    x, row = as_array(x, "x"), _core.ScaledFormat(format)
    options = _options(row, rule, preset, rounding, overflow, nan, outer)

    @jax.custom_jvp
    def through(x: Array, bits: Array, outer: Array) -> Array:
        quantized = _quantize(x, bits, outer, row, axis, options)
        return dequantize(quantized).astype(x.dtype)

    @through.defjvp
    def _(primals: Any, tangents: Any) -> tuple[Array, Array]:
        return through(*primals), tangents[0]

    values: Array = through(x, random_bits(rounding, key, x.shape), outer_operand(outer))
    return values


def convert(x: ArrayLike, format: str | _core.ElementFormat | DTypeLike, *,
            rounding: str = "ties-to-even", overflow: str = "special", nan: str = "negative-zero",
            key: Array | None = None) -> Array:
    """Converts an array to an element format. Each element is rounded once (docs/semantics.md, N2 to N8).

    x: float32, bfloat16 or float16 of any shape.
    format: "e4m3fn", "e5m2", "e2m1fn", ..., an octavo.ElementFormat of at most 8 bits, or a dtype.
    rounding: as in octavo.convert; "stochastic" needs ``key``.
    overflow: for values beyond the largest: "special" (Inf or NaN if the format has them, as astype does) or
        "saturate".
    nan: for NaN, if the format has none: "negative-zero" or "maximum".
    key: of jax.random, for stochastic rounding.

    Returns codes of x's shape in the format's dtype; uint8 for six-bit floats. The derivative is that of the identity,
    forward and backward. Codes that are integers in JAX (six-bit floats, int8) have no derivative; taking one raises
    TypeError. Raises FormatError, DtypeError.
    """
    row = element_format(format, range(1, 9))
    _core.jax_check_conversion(rounding, overflow, nan)
    x = as_array(x, "x")
    bits = random_bits(rounding, key, x.shape)

    def codes(x: Array, bits: Array) -> Array:
        call = kernel("octavo_convert", (x.shape, codes_dtype(row)))
        made: Array = call(as_floats(x, "x"), bits, format=row.name, rounding=rounding, overflow=overflow,
                           nan=nan)
        return made

    if not jnp.issubdtype(codes_dtype(row), jnp.floating):
        made: Array = without_gradient(
            codes, f"octavo.jax.convert to {row.name} has no gradient: its codes are {codes_dtype(row)} "
            "in JAX; fake_quantize to a scaled format passes it straight through")(x, bits)
        return made
    through = jax.custom_jvp(codes)

    @through.defjvp
    def _(primals: Any, tangents: Any) -> tuple[Array, Array]:
        return through(*primals), tangents[0].astype(codes_dtype(row))

    converted: Array = through(x, bits)
    return converted


def amax(x: ArrayLike) -> Array:
    """The largest magnitude of an array's values.

    x: float32, bfloat16 or float16 of any shape.

    Returns float32 []: 0 for an empty array, NaN if a value is NaN. Raises DtypeError.
    """
    return jnp.max(jnp.abs(as_floats(x, "x")), initial=0.0)
