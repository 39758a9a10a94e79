"""Tesla's CFloat8: 8-bit codes whose exponent bias is a 6-bit setting. octavo's CFloat8 formats have a fixed
bias; a power of two as the scale of the tensor expresses any other bias (docs/semantics.md, S20)."""
from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing

from ._core import ElementFormat, ScaledFormat, ScaledTensor, formats
from .errors import DtypeError, FormatError, ShapeError

__all__ = ["cfloat8_bias", "from_cfloat8"]

_NAMES = ("cfloat8_1_4_3", "cfloat8_1_5_2")
_BIASES = range(64)
_BYTE_OF_ONE = 127  # the E8M0 code of the scale 1


def _element(format: str | ElementFormat) -> ElementFormat:
    name = format.name if isinstance(format, ElementFormat) else format
    row = formats()[name] if name in _NAMES else None
    if not isinstance(row, ElementFormat):
        raise FormatError(f"format: expected {' or '.join(_NAMES)}, found {name!r}")
    return row


def _with_shape(codes: Any) -> Any:
    if hasattr(codes, "shape"):
        return codes
    if hasattr(codes, "__dlpack__"):
        return np.from_dlpack(codes)
    if hasattr(codes, "__array__"):
        return np.asarray(codes)
    raise DtypeError("codes: expected an array of uint8 (NumPy, or with DLPack or __array__), found "
                     f"{type(codes).__name__}; numpy.asarray(codes, numpy.uint8) makes one of a list")


def from_cfloat8(codes: numpy.typing.ArrayLike, format: str | ElementFormat, *, bias: SupportsIndex) -> ScaledTensor:
    """Makes a tensor of CFloat8 codes and their exponent bias. Its one scale is 2**(format's bias - bias).

    codes: uint8 of any shape; the tensor shares their memory.
    format: "cfloat8_1_4_3" or "cfloat8_1_5_2".
    bias: the exponent bias of the codes, an integer from 0 to 63.

    Raises FormatError for another format or bias, DtypeError, ShapeError.
    """
    element = _element(format)
    try:
        given = operator.index(bias)
    except TypeError:
        raise DtypeError(f"bias: expected an integer, found {type(bias).__name__}") from None
    if given not in _BIASES:
        raise FormatError(f"bias: expected 0 to {_BIASES[-1]}, which 6 bits hold, found {given}")
    codes = _with_shape(codes)
    grid = [min(extent, 1) for extent in np.shape(codes)]
    scales = np.full(grid, _BYTE_OF_ONE + element.bias - given, np.uint8)
    return ScaledTensor(codes, scales, f"{element.name}_tensor")


def cfloat8_bias(tensor: ScaledTensor) -> int:
    """The exponent bias with which CFloat8 hardware reads ``tensor.codes`` as the tensor's values.

    tensor: a ScaledTensor of the format "cfloat8_1_4_3_tensor" or "cfloat8_1_5_2_tensor".

    Raises DtypeError for another object, ShapeError for a tensor without values, and FormatError for another
    format or a scale that no bias from 0 to 63 expresses. Scales that
    ``octavo.quantize(x, format, preset="tesla")`` makes are neither too small nor NaN.
    """
    found: Any = tensor
    if not isinstance(found, ScaledTensor):
        raise DtypeError(f"tensor: expected an octavo.ScaledTensor, found {type(found).__name__}")
    row: ScaledFormat = tensor.format
    if row.element.name not in _NAMES:
        raise FormatError(f"tensor: expected the format {' or '.join(name + '_tensor' for name in _NAMES)}, "
                          f"found {row.name}")
    if tensor.scales.size == 0:
        raise ShapeError(f"tensor: its shape {tensor.shape} has no values, and so no scale")
    byte = int(tensor.scales.view(np.uint8).flat[0])
    bias = row.element.bias + _BYTE_OF_ONE - byte
    if bias not in _BIASES:
        isnan = byte == 255
        scale = "NaN" if isnan else f"2^{byte - _BYTE_OF_ONE}"
        fix = (f"its values divided by 2^{-bias} have one" if bias < 0 and not isnan
               else 'quantize(..., preset="tesla") gives it one')
        raise FormatError(f"tensor: no bias of 0 to {_BIASES[-1]} gives its scale, {scale}; {fix}")
    return bias
