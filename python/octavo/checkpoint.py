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
    """Opens a checkpoint. It reads and checks names, shapes and dtypes, but no values.

    path: a folder of safetensors shards with its config.json, or a safetensors file.
    layout: the layout of the quantized weights (`octavo checkpoint layouts` lists them); None detects it
        from the configuration and the tensors.

    Raises FileError if the checkpoint cannot be read, or if it is quantized in a way that octavo does not
    know and `layout` is None. Raises FormatError for an unknown layout.
    """
    return Checkpoint(path, layout)


def config(checkpoint: Checkpoint) -> dict[str, Any] | None:
    """The content of the checkpoint's config.json; None if there is no such file.

    checkpoint: what octavo.checkpoint.open returned.
    """
    values: dict[str, Any] | None = json.loads(checkpoint.config_json)
    return values


def lint(path: _Path, readers: Sequence[str] = ()) -> list[Finding]:
    """Checks a checkpoint, values included, as `octavo checkpoint lint` does.

    path: as for octavo.checkpoint.open.
    readers: programs that will load the checkpoint; problems that only they have are reported too. Known are
        "vllm", "transformers", "sglang" and "trtllm".

    Returns the findings, errors first. Damage is a finding, not an exception. Raises FileError if no
    checkpoint can be opened, FormatError for an unknown reader.
    """
    return lint_checkpoint(path, list(readers))


def write(path: _Path, weights: Mapping[str, ScaledTensor | ArrayLike],
          layout: str = "compressed-tensors", config: Mapping[str, Any] | None = None) -> list[Finding]:
    """Writes a checkpoint: model.safetensors and config.json in a new folder. Files appear whole or not at all.

    path: the folder to make.
    weights: by name ("model.layers.0.mlp.up_proj.weight"). A ScaledTensor with blocks along its last axis is
        stored as the layout stores quantized weights; an array is stored unchanged.
    layout: "compressed-tensors", "modelopt", ...; `octavo checkpoint layouts` lists the layouts and the
        formats that each can store.
    config: the model's config.json, to which the layout's quantization is added.

    Returns a finding for each weight whose stored values differ from the given ones; usually none. They differ
    if the layout stores the inverse of an outer scale (compressed-tensors' NVFP4) and no float32 has that
    inverse, as for about one scale in seven. The stored values are then off by at most 2.4e-7 of
    themselves (rounded-divisor). Two kinds of weights are always exact: those quantized with the layout's preset,
    which computes the inverse as the library does, and those read from a checkpoint that stores inverses.

    Raises FileError, FormatError, DtypeError, ShapeError.
    """
    return write_checkpoint(path, dict(weights), layout, json.dumps(dict(config or {})))
