"""What `octavo checkpoint quantize` writes is what readers load: every layout with every format that
it is written in passes lint for every reader, but for the pairs that docs/commands/checkpoint-quantize.md
lists with the rule that says why."""
import json
import os
import pathlib
import re
import subprocess

import ml_dtypes
import numpy as np
import pytest

import checkpoint_model as model

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
PAGE = pathlib.Path(__file__).parents[2] / "docs/commands/checkpoint-quantize.md"
READERS = ["vllm", "transformers", "sglang", "trtllm"]


def run(*arguments):
    return subprocess.run([OCTAVO, "checkpoint", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60)


SPELLINGS = [(layout["name"], row) for layout in json.loads(run("layouts", "--json").stdout)["layouts"]
             for row in layout["spellings"] if row["written"]]
PAIRS = sorted({(layout, row["format"]) for layout, row in SPELLINGS})
NEED_CALIBRATION = sorted({(layout, row["format"]) for layout, row in SPELLINGS
                           if row["input_scale_required"]})


def documented(begin, end):
    """(layout, format, weight only) -> {(reader, rule)}, of the page's table between these words."""
    text = PAGE.read_text().split(begin)[1].split(end)[0]
    found = {(*pair, alone): set() for pair in PAIRS for alone in (False, True)}
    for line in re.findall(r"^\| `.*$", text, re.M):
        layout, formats, readers, rule = (cell.strip() for cell in line.strip("|").split("|"))
        layout, rule = layout.strip("`"), rule.strip("`")
        names = re.findall(r"`([a-z0-9_]+)`", formats) or [f for other, f in PAIRS if other == layout]
        for name in names:
            for alone in (True,) if "--weight-only" in formats else (False, True):
                found[layout, name, alone] |= {(reader, rule) for reader in readers.split(", ")}
    return found


DOCUMENTED = documented("## Who loads it", "Mixtures of experts")
OF_EXPERTS = documented("Mixtures of experts", "Both vLLM")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Dense layers; stacked experts of their own, for the layout that quantizes nothing else; and experts
    that are modules one by one, in several blocks of every format."""
    folder = tmp_path_factory.mktemp("readers")
    weights = model.weights()
    model.write(folder / "dense", weights)
    random = np.random.default_rng(1)
    experts = {f"model.layers.{i}.mlp.experts.{name}": random.normal(0, 0.1, shape).astype(ml_dtypes.bfloat16)
               for i in range(model.LAYERS)
               for name, shape in [("gate_up_proj", (2, 128, 256)), ("down_proj", (2, 128, 128))]}
    modules = {f"model.layers.{i}.mlp.experts.{j}.{name}_proj.weight":
               random.normal(0, 0.1, (256, 256)).astype(ml_dtypes.bfloat16)
               for i in range(model.LAYERS) for j in range(2) for name in ("gate", "up", "down")}
    attention = {k: v for k, v in weights.items() if ".mlp." not in k}
    model.write(folder / "stacks", attention | experts)
    model.write(folder / "modules", attention | modules)
    return folder


@pytest.mark.parametrize("alone", [False, True], ids=["activations", "weights-alone"])
@pytest.mark.parametrize("layout, format", [pair for pair in PAIRS if pair not in NEED_CALIBRATION])
def test_what_is_written_passes_lint_for_every_reader(tmp_path, plain, layout, format, alone):
    source = plain / ("stacks" if layout == "gpt-oss" else "dense")
    assert rules_of(source, tmp_path / "out", layout, format, alone) == DOCUMENTED[layout, format, alone]


@pytest.mark.parametrize("layout, format", [pair for pair in PAIRS if pair not in NEED_CALIBRATION
                                            and pair[0] != "gpt-oss"])
def test_what_is_written_of_a_mixture_of_experts(tmp_path, plain, layout, format):
    pair = (layout, format, False)
    assert rules_of(plain / "modules", tmp_path / "out", *pair) == DOCUMENTED[pair] | OF_EXPERTS[pair]


@pytest.mark.parametrize("shape, layout, alone, rules", [
    # As transformers 5.23 with compressed-tensors 0.20 ran them.
    ((64, 128), "deepseek", False, []), ((64, 64), "deepseek", False, []),
    ((192, 128), "deepseek", False, ["ragged-blocks-misread"]), ((128, 192), "deepseek", False, ["ragged-blocks-misread"]),
    ((160, 320), "deepseek", False, ["ragged-blocks-refused"]), ((320, 128), "deepseek", False, ["ragged-blocks-refused"]),
    ((64, 128), "compressed-tensors", False, []), ((320, 128), "compressed-tensors", False, []),
    ((128, 64), "compressed-tensors", False, ["ragged-activations-stop"]),
    ((128, 192), "compressed-tensors", False, ["ragged-activations-stop"]),
    ((160, 320), "compressed-tensors", True, [])])
def test_blocks_that_sides_cut_short(tmp_path, shape, layout, alone, rules):
    model.write(tmp_path / "in", {"model.layers.0.self_attn.k_proj.weight": np.full(shape, 0.5, np.float32)})
    found = rules_of(tmp_path / "in", tmp_path / "out", layout, "fp8_block", alone)
    assert found == {("transformers", rule) for rule in rules}


@pytest.mark.parametrize("columns, rules", [(480, {"ragged-groups-refused"}), (100, {"ragged-groups-refused"}),
                                            (512, set()), (128, set())])
def test_groups_that_columns_cut_short(tmp_path, columns, rules):
    """As compressed-tensors 0.20's _process_group has it: "tensor column shape must be divisble by the given
    group_size"."""
    model.write(tmp_path / "in", {"model.layers.0.self_attn.k_proj.weight": np.full((64, columns), 0.5, np.float32)})
    found = rules_of(tmp_path / "in", tmp_path / "out", "compressed-tensors", "fp8_group", True)
    assert {rule for reader, rule in found if reader == "transformers"} == rules
    text = PAGE.read_text().split("Rows that are not whole groups")[1].split("`modelopt` with")[0]
    assert "| `compressed-tensors` | `fp8_group` | transformers | `ragged-groups-refused` |" in text


def rules_of(source, out, layout, format, alone):
    """{(reader, rule)} of what is written."""
    done = run("quantize", source, "-o", out, "--layout", layout, "--format", format,
               *["--weight-only"] * alone)
    assert done.returncode == 0, done.stderr
    linted = run("lint", out, "--json", "--fail-on", "never")
    assert [f for f in json.loads(linted.stdout)["findings"] if f["severity"] != "note"] == []
    found = set()
    for reader in READERS:
        linted = run("lint", out, "--json", "--for", reader)
        rules = {f["rule"] for f in json.loads(linted.stdout)["findings"] if f["severity"] != "note"}
        assert linted.returncode == (1 if rules else 0), linted.stderr
        found |= {(reader, rule) for rule in rules}
    return found


def test_some_pair_loads_everywhere_and_the_default_readers_have_a_choice():
    both = {pair for pair in PAIRS if not {reader for reader, _ in DOCUMENTED[*pair, False]}
            & {"vllm", "transformers"} and pair not in NEED_CALIBRATION}
    assert {("compressed-tensors", name) for name in ("fp8_tensor", "fp8_row", "fp8_block", "mxfp4",
                                                      "mxfp8_e4m3", "nvfp4")} <= both
    assert {layout for layout, _ in both} == {"compressed-tensors", "deepseek", "gpt-oss", "quark"}


def test_what_needs_a_calibration_is_refused_with_what_does_not(tmp_path, plain):
    assert NEED_CALIBRATION == [("modelopt", "fp8_tensor")]
    done = run("quantize", plain / "dense", "-o", tmp_path / "out", "--layout", "modelopt", "--format",
               "fp8_tensor")
    assert done.returncode == 3 and not (tmp_path / "out").exists()
    for words in ("layout modelopt", "stores fp8_tensor only with a scale of the activations", "calibration",
                  "--format fp8_row, fp8_block, mxfp8_e4m3, nvfp4", "octavo checkpoint convert"):
        assert words in done.stderr, done.stderr


@pytest.mark.parametrize("layout", ["fp8", "compressed-tensors", "quark"])
def test_a_calibrated_checkpoint_converts_to_it_and_another_does_not(tmp_path, plain, layout):
    run("quantize", plain / "dense", "-o", tmp_path / "dynamic", "--layout", layout, "--format", "fp8_tensor")
    convert = ("-o", tmp_path / "out", "--layout", "modelopt")
    refused = run("convert", tmp_path / "dynamic", *convert)
    assert refused.returncode == 3 and "static activation scale, and there is none" in refused.stderr
    again = run("convert", tmp_path / "dynamic", *convert, "--requantize", "--format", "fp8_tensor")
    assert again.returncode == 3 and "static activation scale, and there is none" in again.stderr
    assert not (tmp_path / "out").exists()


def test_fused_projections_share_the_scale_of_their_tensors(tmp_path, plain):
    """AMAX of q, k and v together over 448, as ml_dtypes-free arithmetic of f32 has it."""
    run("quantize", plain / "dense", "-o", tmp_path / "out", "--layout", "fp8", "--format", "fp8_tensor")
    source, written = model.weights(), model.read(tmp_path / "out")
    for group in (("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), ("mlp.gate_proj", "mlp.up_proj"),
                  ("self_attn.o_proj",), ("mlp.down_proj",)):
        names = [f"model.layers.1.{name}.weight" for name in group]
        amax = max(np.abs(source[name].astype(np.float32)).max() for name in names)
        assert {float(written[name + "_scale"]) for name in names} == {float(np.float32(amax) / np.float32(448))}
