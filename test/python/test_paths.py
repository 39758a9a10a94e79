"""No command writes over what it reads, nor two outputs to one place: every pair of options that name
paths, of every subcommand, as `octavo --option-table` lists them. Files are told apart by what they are:
a link, a hard link, another spelling and a folder that has the file are the same."""

import hashlib
import itertools
import json
import os
import re
import subprocess

import numpy as np
import pytest
from program_commands import OCTAVO, octavo
from safetensors.numpy import save_file

TABLE = [json.loads(line) for line in
         subprocess.run([OCTAVO, "--option-table"], capture_output=True, text=True, check=True).stdout.splitlines()]
COMMANDS = sorted({row["command"] for row in TABLE})
# Values of options that must be given and are no paths.
VALUES = {"--budget": "cosine >= 0.9", "--format": "mxfp4", "--layout": "modelopt"}
# What an option does not go without.
BESIDE = {("octavo analyze", "--plot"): ["--tensor", "t"]}
# The folder is compared by what writes it, which is the library's (test_checkpoint_messages.py).
FOLDERS = {("octavo checkpoint quantize", "--output"), ("octavo checkpoint convert", "--output"),
           ("octavo checkpoint dequantize", "--output")}


def rows(use):
    return [(row["command"], row["option"]) for row in TABLE if row["use"] == use]


def row_of(command, option):
    [row] = [row for row in TABLE if (row["command"], row["option"]) == (command, option)]
    return row


PAIRS = [(command, read, write) for (command, read), (other, write)
         in itertools.product(rows("reads"), rows("writes")) if command == other]
TWO = [(command, a, b) for (command, a), (other, b)
       in itertools.combinations(rows("writes"), 2) if command == other]


def digests(folder):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def command_line(command, given, folder):
    """The command with these options and those that it must have, each a file of its own."""
    words = command.split()[1:]
    rest = []
    for row in TABLE:
        if row["command"] != command or (not row["required"] and row["option"] not in given):
            continue
        name = row["option"]
        value = given.get(name)
        if value is None:
            value = VALUES.get(name) if row["use"] == "neither" else folder / f"own-{name.strip('-')}"
            if row["use"] == "reads":
                value.write_text("own")
        rest += [value] if row["positional"] else [name, value]
    return [*words, *rest, *BESIDE.get((command, next(iter(given))), [])]


def refused(arguments, folder, said):
    before = digests(folder)
    run = subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=folder)
    assert run.returncode in (2, 3), (arguments, run.stdout, run.stderr)
    assert said in run.stderr, (arguments, run.stderr)
    assert digests(folder) == before


@pytest.mark.mlir
def test_every_option_with_a_value_is_declared():
    assert {row["use"] for row in TABLE} == {"reads", "writes", "neither"}
    # Options that a new one would be like: the table is of what the commands have.
    for command, option in [("octavo run", "--input"), ("octavo run", "--weights"), ("octavo run", "--infeed"),
                            ("octavo calibrate", "--merge"), ("octavo quantize", "--recipe"),
                            ("octavo tune", "--calibration"), ("octavo checkpoint diff", "B")]:
        assert row_of(command, option)["use"] == "reads"
    for command, option in [("octavo run", "--output"), ("octavo run", "--profile"), ("octavo run", "--page"),
                            ("octavo run", "--dump"), ("octavo run", "--probes"), ("octavo tune", "--plot"),
                            ("octavo analyze", "--plot"), ("octavo compile", "--output"),
                            ("octavo checkpoint report", "--output")]:
        assert row_of(command, option)["use"] == "writes"


def test_what_help_calls_a_file_is_declared_one():
    """A placeholder of a path is one of a path that is read or written."""
    for command in COMMANDS:
        shown = octavo(*command.split()[1:], "--help")
        for row in TABLE:
            if row["command"] != command or row["positional"]:
                continue
            placeholder = re.search(rf"^ +(?:-\w,)?{row['option']} (\S+)", shown, re.M)
            if placeholder and re.search(r"FILE|FOLDER|\bOUT\b|\bDIR\b|\.json|\.svg", placeholder[1]):
                assert row["use"] != "neither", (command, row["option"])


@pytest.mark.parametrize("spelling", ["itself", "./", "link", "hard link", "through a folder's link"])
@pytest.mark.parametrize("command, read, write", PAIRS)
def test_no_output_is_an_input(tmp_path, command, read, write, spelling):
    file = tmp_path / "given.npy"
    file.write_bytes(b"what the user has")
    other = tmp_path / "other.npy"
    if spelling == "itself":
        other = file
    elif spelling == "./":
        other = f"./{file.name}"
    elif spelling == "link":
        other.symlink_to(file)
    elif spelling == "hard link":
        os.link(file, other)
    else:
        (tmp_path / "folder").symlink_to(tmp_path, target_is_directory=True)
        other = tmp_path / "folder" / file.name
    refused(command_line(command, {write: other, read: file}, tmp_path), tmp_path, "would overwrite what the command reads")
    refused(command_line(command, {write: file, read: other}, tmp_path), tmp_path, "would overwrite what the command reads")


@pytest.mark.parametrize("command, read, write", PAIRS)
def test_no_output_is_a_file_in_a_folder_that_is_read(tmp_path, command, read, write):
    folder = tmp_path / "read"
    folder.mkdir()
    # Of a compiled folder the program, its weights and its kernels are read, of others everything.
    names = ["program.octavo"] if (command, read) == ("octavo run", "PROGRAM") else ["config.json", "x.npy"]
    for name in names:
        (folder / name).write_text("{}")
    for name in names:
        for output in (folder / name, tmp_path / "read" / ".." / "read" / name):
            refused(command_line(command, {write: output, read: folder}, tmp_path), tmp_path, "would overwrite")


@pytest.mark.parametrize("command, first, second", TWO)
def test_two_outputs_have_two_places(tmp_path, command, first, second):
    for one, other in [("new", "new"), ("new", "./new"), (tmp_path / "new", "new"), ("folder/../new", "new")]:
        (tmp_path / "folder").mkdir(exist_ok=True)
        refused(command_line(command, {first: one, second: other}, tmp_path), tmp_path, "would overwrite one another")


@pytest.mark.mlir
@pytest.mark.parametrize("given, output", [
    ("NAME=FILE", ["run", "p.mlir", "--input", "x=x.npy", "--output", "x.npy"]),
    ("NAME=FILE of a set", ["calibrate", "p.mlir", "--inputs", "a=a.npy,x=x.npy", "-o", "x.npy"]),
    ("FILE of a feed", ["run", "p.mlir", "--infeed", "a.npy,x.npy", "--output", "x.npy"]),
    ("a process's own", ["run", "p.mlir", "--input", "x-{process}.npy", "--output", "x-1.npy"]),
    ("for every process", ["run", "p.mlir", "--input", "x-1.npy", "--output", "x-{process}.npy"]),
    ("the second that is merged", ["calibrate", "--merge", "a.npy", "x.npy", "-o", "x.npy"]),
    ("the state of a search", ["tune", "x.json.state", "--budget", "max <= 1", "-o", "x.json"]),
    ("a probe's file", ["run", "p.mlir", "--input", "probe1.npy", "--probes", "."]),
    ("the probes' index", ["run", "index.csv", "--probes", "."]),
    ("an output among probes", ["run", "p.mlir", "--output", "./probe2.npy", "--probes", "."]),
])
def test_paths_within_values(tmp_path, given, output):
    for name in ("p.mlir", "a.npy", "x.npy", "x-0.npy", "x-1.npy", "x.json.state", "probe1.npy", "index.csv"):
        (tmp_path / name).write_text("what the user has")
    refused(output, tmp_path, "would overwrite")


PROGRAM = """
func.func @main(%x: tensor<2x32xf32> {octavo.name = "x"}, %w: tensor<32x32xf32> {octavo.name = "w", octavo.parameter})
    -> (tensor<2x32xf32> {octavo.name = "y"}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
  return %0 : tensor<2x32xf32>
}"""


@pytest.fixture
def linear(tmp_path):
    (tmp_path / "p.mlir").write_text(PROGRAM)
    x = np.random.default_rng(0).standard_normal((2, 32)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x)  # the name of the output
    save_file({"w": np.eye(32, dtype=np.float32)}, tmp_path / "w.safetensors")
    return tmp_path


@pytest.mark.mlir
def test_the_files_of_an_output_folder_are_compared(linear):
    """Which files a folder gets is known when the program is."""
    given = ["run", "p.mlir", "--weights", "w.safetensors", "--input"]
    refused([*given, "y.npy", "--output", "."], linear, "y.npy: would overwrite what the command reads")
    octavo(*given, "x.npy", "--output", ".", cwd=linear)  # another name in the same folder
    assert np.array_equal(np.load(linear / "y.npy"), np.load(linear / "x.npy"))
    octavo("compile", "p.mlir", "--weights", "w.safetensors", "-o", "compiled", cwd=linear)
    refused(["run", "compiled", "--input", "y.npy", "--output", "."], linear, "y.npy: would overwrite")


@pytest.mark.mlir
def test_the_stages_of_a_dump_are_compared(linear):
    (linear / "1-after-passes.mlir").write_text(PROGRAM)
    refused(["run", "1-after-passes.mlir", "--weights", "w.safetensors", "--input", "x.npy", "--dump", "."], linear,
            "1-after-passes.mlir: would overwrite what the command reads")
    octavo("run", "p.mlir", "--weights", "w.safetensors", "--input", "x.npy", "--dump", ".", cwd=linear)


@pytest.mark.mlir
def test_a_calibration_that_a_recipe_names_is_read(linear):
    octavo("calibrate", "p.mlir", "--weights", "w.safetensors", "--inputs", "x.npy", "-o", "c.json", cwd=linear)
    (linear / "r.json").write_text(json.dumps({"rules": [{"weights": "fp8_tensor", "scales": "c.json"}]}))
    refused(["quantize", "p.mlir", "--recipe", "r.json", "-o", "c.json"], linear, "c.json: would overwrite")
    refused(["run", "p.mlir", "--weights", "w.safetensors", "--input", "x.npy", "--recipe", "r.json",
             "--profile", "c.json"], linear, "c.json: would overwrite")


@pytest.mark.mlir
def test_a_recipe_of_a_name_is_no_file(linear):
    octavo("quantize", "p.mlir", "--recipe", "mxfp8", "-o", "mxfp8", cwd=linear)
    refused(["quantize", "p.mlir", "--recipe", "mxfp8", "-o", "mxfp8"], linear, "would overwrite")


def test_the_folder_of_a_job_is_not_its_input(tmp_path):
    for command, option in FOLDERS & set(rows("writes")):
        folder = tmp_path / command.split()[-1]
        folder.mkdir()
        save_file({"model.layers.0.mlp.up_proj.weight": np.ones((64, 64), np.float32)}, folder / "model.safetensors")
        (folder / "config.json").write_text("{}")
        refused(command_line(command, {option: folder, "DIR": folder}, tmp_path), tmp_path, "")
