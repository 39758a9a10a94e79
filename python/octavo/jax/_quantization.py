"""Arrays quantized to scaled formats and converted to element formats."""
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
    """Quantizes an array (docs/semantics.md, S2 to S9).

    x: one axis or more; float32, bfloat16 or float16.
    format: a scaled format or its name: "mxfp8_e4m3", "mxfp4", "nvfp4", "fp8_row", ...
    axis: the axis that a product contracts; blocks lie along it.
    rule: how a block's scale comes from its largest magnitude; the format's own if None.
    preset: the settings of an owner ("torchao-rceil", "jax", ...: docs/scale-rules.md), a rule
        among them. What follows replaces a preset's setting.
    rounding: of elements, "ties-to-even" if neither it nor a preset is given; "stochastic" takes
        its bits from ``key``.
    overflow: "saturate" (None) or "special", for elements beyond the element format.
    nan: "propagate", if neither it nor a preset is given, makes the blocks of NaN and infinities
        NaN, as JAX programs expect; "error" makes the program fail; "saturate" lets infinities
        saturate.
    outer: for NVFP4, a scale of the whole tensor that was calibrated, or that tensors share; None
        takes it from the tensor. It multiplies; a program fails where it is not positive and finite.

    It has no gradient of its own: fake_quantize and scaled_dot_general have.
    Raises FormatError, DtypeError, ShapeError.
    """
    x, row = as_array(x, "x"), _core.ScaledFormat(format)
    options = _options(row, rule, preset, rounding, overflow, nan, outer)
    return _quantize(x, random_bits(rounding, key, x.shape), outer_operand(outer), row, axis,
                     options)


def _options(row: _core.ScaledFormat, rule: str | None, preset: str | None, rounding: str | None,
             overflow: str | None, nan: str | None, outer: ArrayLike | None) -> dict[str, str]:
    """The settings as the kernel takes them: empty where the preset's or the default holds."""
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
    """dequantize(quantize(x)) in the dtype of x. Its derivative passes straight through, forward
    and backward (arXiv 1308.3432); there is none by outer. Arguments and errors are those of
    quantize."""
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
    """Codes of an element format (docs/semantics.md, N2 to N8), in its dtype (uint8 for six-bit
    floats). The derivative passes straight through, forward and backward; codes in integers, those
    of six-bit floats and of int8, have none in JAX and refuse to be differentiated.

    x: any shape; float32, bfloat16 or float16.
    format: "e4m3fn", "e5m2", "e2m1fn", ...; a row of octavo.formats(), or a dtype.
    overflow: "special" (Inf or NaN where the format has one, as astype does) or "saturate".
    nan: what NaN becomes in a format without one: "negative-zero" or "maximum".
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
    """The largest magnitude of float32, bfloat16 or float16 values, a float32; 0 of none, NaN if
    one is NaN. Raises DtypeError."""
    return jnp.max(jnp.abs(as_floats(x, "x")), initial=0.0)
