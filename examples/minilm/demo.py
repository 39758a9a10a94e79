"""Runs the MiniLM sentence encoder in f32 and with its dots quantized to every scaled format.

    python demo.py --octavo build/release/bin/octavo

prints one table and writes OUT/minilm.json and OUT/minilm.png. minilm.json holds:

    sentences              the 24 sentences
    dots                   how many products were quantized, of `dots_in_program`
    f32                    max_difference_to_jax: largest absolute difference to embeddings-jax.npy;
                           weight_bytes: the weights of those products in f32; other_weight_bytes:
                           the weights that stay f32 in every row; seconds
    formats                one object a row of the table:
      name                 what the table calls it
      weights, activations scaled formats; activations is null where they stay f32
      bits_per_weight      bits per weight value, scales included
      weight_bytes         bytes of the quantized weights, scales included
      cosine_mean, _worst  cosine to the f32 embeddings over the sentences
      worst_sentence       index of the sentence whose cosine is the worst
      neighbours_kept      sentences whose nearest neighbour is the one that f32 finds
      neighbours_changed   the others: {sentence, f32, quantized}, indices of sentences
      seconds              wall time of the run, loading and quantizing included
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import encoder_inputs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# 4-bit weights are also used with f32 activations, where memory and not arithmetic is the limit.
WEIGHTS_ONLY = ("mxfp4", "nvfp4")


def rows_to_run(scaled_formats):
    """Name, weights' and activations' format of each row, from `octavo formats --json`. A format
    that only serves as another's activations (fp8_group) is no row."""
    partners = {f["activation"] for f in scaled_formats if f["activation"] != f["name"]}
    rows = [
        (f["name"], f["name"], f["activation"])
        for f in scaled_formats
        if f["name"] not in partners
    ]
    return rows + [(f"{name} (weights only)", name, None) for name in WEIGHTS_ONLY]


def fidelity(embeddings, reference):
    """How near `embeddings` are to `reference`, both [sentences, 384]."""

    def unit(x):
        x = x.astype(np.float64)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    def neighbours(x):
        similarity = x @ x.T
        np.fill_diagonal(similarity, -np.inf)
        return similarity.argmax(axis=1)

    x, f32 = unit(embeddings), unit(reference)
    cosine = (x * f32).sum(axis=1)
    found, expected = neighbours(x), neighbours(f32)
    changed = np.flatnonzero(found != expected)
    return {
        "cosine_mean": float(cosine.mean()),
        "cosine_worst": float(cosine.min()),
        "worst_sentence": int(cosine.argmin()),
        "neighbours_kept": len(found) - len(changed),
        "neighbours_changed": [
            {"sentence": int(i), "f32": int(expected[i]), "quantized": int(found[i])}
            for i in changed
        ],
    }
