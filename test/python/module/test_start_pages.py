"""docs/start-*.md from first to last, examples of Python and command lines as they follow one another, in a new
folder. Of start-pytorch the export needs torch: test/clients runs it, and here a program that torch_mlir exported
takes its place. docs/golden-model.md is in test_page_commands.py."""
import doctest
import json
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

import checkpoint_model
from page_commands import ROOT, blocks, commands_of

BIN = pathlib.Path(os.environ["OCTAVO_BIN_DIR"])
PRODUCERS = ROOT / "test/checkpoints"


def checkpoint(folder):
    checkpoint_model.write(folder / "model", checkpoint_model.weights())


def pytorch(folder):
    inputs = ROOT / "test/pytorch/Inputs"
    arrays = np.load(inputs / "arrays.npz")
    shutil.copy(inputs / "linear.mlir", folder / "model.mlir")
    np.save(folder / "x.npy", arrays["linear.input0"])
    np.save(folder / "torch.npy", arrays["linear.output"])


def run(command, folder):
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=300,
                          env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"})
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])


@pytest.mark.mlir
@pytest.mark.parametrize("name, prepare, least_commands, least_examples", [
    ("start-checkpoints", checkpoint, 10, 3), ("start-jax", lambda folder: None, 5, 15),
    ("start-pytorch", pytorch, 6, 7)])
def test_a_page_runs(name, prepare, least_commands, least_examples, tmp_path, monkeypatch):
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    names, ran, examples = {}, 0, 0
    for language, lines in blocks(f"docs/{name}.md"):
        text = "\n".join(lines) + "\n"
        if language == "python" and ">>> " in text:
            test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
            report, runner = [], doctest.DocTestRunner()
            runner.run(test, out=report.append, clear_globs=False)
            assert runner.summarize(verbose=False).failed == 0, "".join(report)
            names = test.globs
            examples += len(test.examples)
        elif language == "":
            for command in commands_of(lines):
                run(command, tmp_path)
                ran += 1
    assert ran >= least_commands and examples >= least_examples, (ran, examples)


def rows_of_formats():
    """Format, llm-compressor's scheme, ModelOpt's configuration: the table of start-checkpoints."""
    page = (ROOT / "docs/start-checkpoints.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| [\d.]+ \| `(\w+)` \| (?:`(\w+)` )?\|", page, re.M)
    assert len(rows) == 7
    return rows


def format_of(folder):
    done = subprocess.run([BIN / "octavo", "checkpoint", "inspect", folder, "--json"], capture_output=True, text=True)
    (row,) = json.loads(done.stdout)["formats"]
    # The sample of FP8_BLOCK has blocks of 16 x 32, so that it is small.
    return "fp8_block" if row["format"] == "e4m3fn x f32 [16, 32]" else row["format"]


def test_the_schemes_of_others_are_those_formats():
    """By what compressed-tensors and ModelOpt wrote under these names (make_producer_checkpoints.py)."""
    folders = dict(re.findall(r'\("(\w+)", "(\w+_CFG)"', (PRODUCERS / "make_producer_checkpoints.py").read_text()))
    folder_of = {configuration: name for name, configuration in folders.items()}
    seen = set()
    for name, scheme, configuration in rows_of_formats():
        assert format_of(PRODUCERS / f"compressed-tensors-{scheme.lower()}") == name
        if configuration in folder_of:  # of MXFP4 there is no sample of ModelOpt's
            assert format_of(PRODUCERS / f"modelopt-{folder_of[configuration]}") == name
            seen.add(configuration)
    assert seen == set(folder_of)
