"""Narrow floating point for arrays: FP8, OCP Microscaling (MX), NVFP4.

Arrays come in as NumPy arrays (with the dtypes of ml_dtypes), or as anything that has DLPack or
``__array__``, such as torch tensors and JAX arrays on the CPU; they are not copied if they are
contiguous. Results are NumPy arrays and ``ScaledTensor``. docs/semantics.md states what the numbers
mean, rule by rule. The number of threads changes no bit. Conversions, quantization, dequantization
and products of two tensors of 4-bit, 6-bit or int8 elements have the bits of these rules on every
instruction set. Products with 8-bit floats or with plain arrays stay within a stated bound; their
last bits depend on the instruction set.
"""
import importlib as _importlib
import typing as _typing

import ml_dtypes as _ml_dtypes  # registers its dtypes with NumPy  # noqa: F401

from ._core import (
    ElementFormat,
    ErrorRow,
    PackedWeight,
    ScaledFormat,
    ScaledTensor,
    __version__,
    amax,
    analyze,
    cap_fnuz,
    convert,
    current_scale,
    dequantize,
    formats,
    get_threads,
    isa,
    load,
    matmul,
    pack,
    presets,
    quantize,
    quantize_both,
    samples,
    save,
    set_threads,
    to_fnuz,
    to_ocp,
    unpack,
    update_delayed_scale,
)
from . import _signatures, recipes as recipes
from .cfloat8 import cfloat8_bias, from_cfloat8
from .errors import (DtypeError, Error, FileError, FormatError, NonFiniteError, ProgramError,
                     ShapeError)
from .programs import LoadedProgram, Program, calibrate, compile, load_program
from .tuning import Tuning, tune

if _typing.TYPE_CHECKING:
    from . import checkpoint as checkpoint

__all__ = [
    "DtypeError",
    "ElementFormat",
    "Error",
    "ErrorRow",
    "FileError",
    "FormatError",
    "LoadedProgram",
    "NonFiniteError",
    "PackedWeight",
    "Program",
    "ProgramError",
    "ScaledFormat",
    "ScaledTensor",
    "ShapeError",
    "Tuning",
    "amax",
    "analyze",
    "calibrate",
    "cap_fnuz",
    "cfloat8_bias",
    "compile",
    "convert",
    "current_scale",
    "dequantize",
    "formats",
    "from_cfloat8",
    "get_threads",
    "isa",
    "load",
    "load_program",
    "matmul",
    "pack",
    "presets",
    "quantize",
    "quantize_both",
    "samples",
    "save",
    "set_threads",
    "to_fnuz",
    "to_ocp",
    "tune",
    "unpack",
    "update_delayed_scale",
]

_signatures.describe(globals(), __all__)


def __getattr__(name: str) -> _typing.Any:
    """octavo.checkpoint, imported when it is first asked for."""
    if name == "checkpoint":
        return _importlib.import_module("octavo.checkpoint")
    raise AttributeError(f"module 'octavo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "checkpoint"})
