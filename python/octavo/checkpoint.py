"""Checkpoints in the layouts that ``octavo checkpoint layouts`` lists: weights by name, read when asked for.

    >>> import os, tempfile, octavo.checkpoint
    >>> folder = os.path.join(tempfile.mkdtemp(), "model")
    >>> weight = octavo.quantize(octavo.samples("normal", 256 * 256).reshape(256, 256), "fp8_block")
    >>> octavo.checkpoint.write(folder, {"model.layers.0.mlp.down_proj.weight": weight}, "deepseek")
    []
    >>> checkpoint = octavo.checkpoint.open(folder)
    >>> checkpoint["model.layers.0.mlp.down_proj"]
    <octavo.ScaledTensor fp8_block of shape (256, 256), axis 1, blocks of (128, 128), 8.002 bits a value>

``octavo checkpoint`` on the command line inspects, checks, converts and repairs them; its lint is
here too. More examples: docs/python.md; layouts and what each spells: docs/checkpoints.md.
"""
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from . import _signatures
from ._core import Checkpoint, Finding, ScaledTensor, lint_checkpoint, write_checkpoint

Mapping.register(Checkpoint)

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

__all__ = ["Checkpoint", "Finding", "config", "lint", "open", "write"]

_signatures.describe(globals(), ["Checkpoint"])


def open(path: _Path, layout: str | None = None) -> Checkpoint:
    """Opens a folder of safetensors shards with its config.json, or one safetensors file.

    layout: how to read it, where its configuration does not say or says otherwise
        (`octavo checkpoint layouts` lists them).

    Names, shapes and scales' places are read and checked; values are not. Raises FileError, also
    where it is quantized in a way that octavo cannot read and no layout is named, and FormatError
    for a layout that does not exist.
    """
    return Checkpoint(path, layout)


def config(checkpoint: Checkpoint) -> dict[str, Any] | None:
    """config.json as Python has it; None where there is none."""
    values: dict[str, Any] | None = json.loads(checkpoint.config_json)
    return values


def lint(path: _Path, readers: Sequence[str] = ()) -> list[Finding]:
    """What `octavo checkpoint lint` finds, errors first; a damaged checkpoint raises no error.

    readers: programs whose ways with it are told too: "vllm", "transformers", "sglang", "trtllm".

    Raises FileError where nothing can be opened, FormatError for an unknown reader.
    """
    return lint_checkpoint(path, list(readers))


def write(path: _Path, weights: Mapping[str, ScaledTensor | ArrayLike],
          layout: str = "compressed-tensors", config: Mapping[str, Any] | None = None) -> list[Finding]:
    """Writes a checkpoint: model.safetensors and config.json in a new folder.

    weights: by name ("model.layers.0.mlp.up_proj.weight"); a ScaledTensor of blocks along its last
        axis is spelled as the layout has it, an array is stored as it is.
    layout: "compressed-tensors", "modelopt", ... (`octavo checkpoint layouts` lists which spells
        what).
    config: the model's config.json, to which the layout's quantization is added.

    Returns what is not stored as it was given; nothing mostly. A layout that stores the inverse of
    an outer scale (compressed-tensors' NVFP4) has for about one in seven only a nearest one, and
    values come back changed by at most 2.4e-7 of themselves: rounded-divisor. Weights quantized
    with that layout's preset, whose outer scale is an inverse, are always stored exactly: with the
    very divisor that the library computes. So are weights of a checkpoint that has divisors.

    Files appear whole or not at all. Raises FileError, FormatError, DtypeError, ShapeError.
    """
    return write_checkpoint(path, dict(weights), layout, json.dumps(dict(config or {})))
