"""Every example that `octavo checkpoint SUBCOMMAND --help` and the pages of the commands show runs as it
stands, in a folder with checkpoints of those names."""
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

import checkpoint_model as model
import checkpoints as cp

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
PAGES = pathlib.Path(__file__).parents[2] / "docs/commands"


def shell(command, root):
    """As a user types it, with octavo on the path."""
    return subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, timeout=120,
                          env=os.environ | {"PATH": f"{OCTAVO.parent}:{os.environ['PATH']}"})


def help_of(*names):
    return subprocess.run([OCTAVO, "checkpoint", *names, "--help"], capture_output=True, text=True).stdout


def subcommands(*names):
    """The names of all subcommands below, those with their own in their place."""
    section = re.search(r"^Subcommands:\n((?:  .*\n)+)", help_of(*names), re.M)
    if not section:
        return [names]
    found = re.findall(r"^  ([a-z]+)", section[1], re.M)
    return [below for name in found for below in subcommands(*names, name)]


COMMANDS = subcommands()
EXAMPLES = {}
for names in COMMANDS:
    for line in re.findall(r"^  (octavo .*)$", help_of(*names), re.M):
        EXAMPLES.setdefault(line, names)
for page in sorted(PAGES.glob("checkpoint-*.md")):
    for line in re.findall(r"^    (octavo checkpoint .*)$", page.read_text(), re.M):
        if not re.search(r"\b(DIR|OUT|A B|FILE)\b|\[--", line):  # the synopsis
            EXAMPLES.setdefault(line, tuple(page.stem.split("-")[1:]))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("examples")

    def make(name, checkpoint, shards=2):
        checkpoint.shards = shards
        checkpoint.write(root / name)

    def octavo(command):
        done = shell("octavo checkpoint " + command, root)
        assert done.returncode == 0, done.stderr

    for name in ("model", "Llama-FP8", "model-fp8"):
        make(name, cp.autofp8())
    make("DeepSeek-V3", cp.deepseek())
    make("Llama-NVFP4", cp.modelopt_nvfp4())
    model.write(root / "Qwen3-8B", model.weights())
    make("experts", cp.Checkpoint({f"model.layers.0.mlp.experts.{name}": np.full((2, 64, 64), 0.5, cp.BF16)
                                   for name in ("gate_up_proj", "down_proj")}, {"model_type": "gpt_oss"}))
    octavo("quantize experts -o gpt-oss-20b --layout gpt-oss --format mxfp4")
    octavo("quantize Qwen3-8B -o Qwen3-8B-NVFP4 --layout compressed-tensors --format nvfp4")
    octavo("convert Llama-FP8 -o Llama-FP8-FNUZ --fnuz")
    octavo("convert model-fp8 -o model-fp8-converted --layout compressed-tensors")
    octavo("dequantize model-fp8 -o model-bf16")
    for form in ("nvfp4", "mxfp4"):
        octavo(f"quantize model-bf16 -o model-{form} --layout compressed-tensors --format {form}")
    octavo("dequantize model-nvfp4 -o model-nvfp4-bf16")
    octavo("quantize model-nvfp4-bf16 -o model-again --layout compressed-tensors --format nvfp4")
    octavo("scales extract model -o calibrated.safetensors")
    for name in "ab":
        cp.write_safetensors(root / f"{name}.safetensors", {"w": np.ones(4, np.float32)})
    return root


def test_every_command_shows_examples_of_itself():
    assert len(COMMANDS) == 12
    for names in COMMANDS:
        shown = re.findall(r"^  octavo (.*)$", help_of(*names), re.M)
        own = [line for line in shown if line.split()[:1 + len(names)] == ["checkpoint", *names]]
        assert own, names
        if len(names) == 1:
            assert own == shown, names
    assert len(EXAMPLES) >= 35


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_runs(root, line):
    output = re.search(r" -o (\S+)", line)
    if output and output[1] in ("Qwen3-8B-NVFP4", "Llama-FP8-FNUZ"):  # other examples read it
        line = line.replace(output[0], output[0] + "-again", 1)
    elif output:
        subprocess.run(["rm", "-rf", root / output[1]])
    done = shell(line, root)
    assert done.returncode == 0 or ("lint" in line and "--for" in line and done.returncode == 1), done.stderr
