"""Checkpoints of every producer's layout: weights by name, read when asked for.

    >>> import octavo.checkpoint
    >>> with_scales = octavo.checkpoint.open("model")             # doctest: +SKIP
    >>> with_scales["model.layers.0.mlp.down_proj.weight"]        # doctest: +SKIP
    <octavo.ScaledTensor fp8_block of shape (7168, 2048), ...>

``octavo checkpoint`` on the command line inspects, checks, converts and repairs them; its lint is
here too. Layouts and what each spells: docs/checkpoints.md.
"""
import json
import os
from typing import Any

from ._core import Checkpoint, Finding

__all__ = ["Checkpoint", "Finding", "config", "open"]


def open(path: str | os.PathLike[str]) -> Checkpoint:
    """Opens a folder of safetensors shards with its config.json, or one safetensors file.

    Names, shapes and scales' places are read and checked; values are not. Raises FileError.
    """
    return Checkpoint(os.fspath(path))


def config(checkpoint: Checkpoint) -> dict[str, Any] | None:
    """config.json as Python has it; None where there is none."""
    return json.loads(checkpoint.config_json)
