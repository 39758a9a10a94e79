"""What commands do to files: those of others beside their own, modes, names with any bytes, and files
that become shorter while they are read."""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess

import numpy as np
import pytest
import safetensors.numpy

import checkpoints as cp
from commands import OCTAVO

SHIM = OCTAVO.parent / "octavo-file-operations.so"
PROGRAM = """
func.func @main(%x: tensor<2x4xf32> loc("x"), %w: tensor<4x4xf32> loc("w")) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
"""


def run(*arguments, cwd, **environment):
    return subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, timeout=120, cwd=cwd,
                          env=os.environ | environment)


def checked(*arguments, cwd):
    result = run(*arguments, cwd=cwd)
    assert result.returncode == 0, (result.stdout, result.stderr)
    return result


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with inputs of all commands."""
    root = tmp_path_factory.mktemp("inputs")
    cp.plain_checkpoint(layers=1).write(root / "plain")
    cp.autofp8().write(root / "fp8")
    cp.autofp8(kv=False).write(root / "without-kv")
    cp.write_safetensors(root / "scales.safetensors", {
        module + name: np.float32(0.02).reshape(()) for module in (cp.KV0, cp.KV1) for name in ("k_scale", "v_scale")})
    (root / "program.mlir").write_text(PROGRAM)
    np.save(root / "x.npy", np.ones((2, 4), np.float32))
    safetensors.numpy.save_file({"w": np.ones((4, 4), np.float32)}, root / "w.safetensors")
    return root


# The arguments of each command that writes, and what it writes.
WRITERS = {
    "quantize": (["checkpoint", "quantize", "plain", "-o", "out/new", "--layout", "fp8", "--format", "fp8_tensor"], "new"),
    "convert": (["checkpoint", "convert", "fp8", "-o", "out/new", "--layout", "compressed-tensors"], "new"),
    "convert --fnuz": (["checkpoint", "convert", "fp8", "-o", "out/new", "--fnuz"], "new"),
    "dequantize": (["checkpoint", "dequantize", "fp8", "-o", "out/new"], "new"),
    "scales extract": (["checkpoint", "scales", "extract", "fp8", "-o", "out/new.safetensors"], "new.safetensors"),
    "scales extract, JSON": (["checkpoint", "scales", "extract", "fp8", "-o", "out/new.json"], "new.json"),
    "scales apply": (["checkpoint", "scales", "apply", "without-kv", "--scales", "scales.safetensors",
                      "-o", "out/new.safetensors"], "new.safetensors"),
    "report": (["checkpoint", "report", "fp8", "-o", "out/new.html"], "new.html"),
    "analyze": (["analyze", "--format", "mxfp4", "--samples", "4096", "--plot", "out/new.svg"], "new.svg"),
    "octavo quantize": (["quantize", "program.mlir", "--format", "mxfp4", "-o", "out/new.mlir"], "new.mlir"),
    "run": (["run", "program.mlir", "--weights", "w.safetensors", "--input", "x=x.npy", "--output", "out/new.safetensors"],
            "new.safetensors"),
    "run, npy": (["run", "program.mlir", "--weights", "w.safetensors", "--input", "x=x.npy", "--output", "out/new.npy"],
                 "new.npy"),
    "run, folder": (["run", "program.mlir", "--weights", "w.safetensors", "--input", "x=x.npy", "--output", "out/new"],
                    "new"),
}
WITH_MLIR = {"octavo quantize", "run", "run, npy", "run, folder"}
writers = [pytest.param(name, id=name, marks=[pytest.mark.mlir] if name in WITH_MLIR else []) for name in WRITERS]


def neighbours(folder, *names):
    """Files that people keep beside theirs, and their bytes."""
    suffixes = (".backup", ".before", ".sha256", ".abcdef", ".XXXXXX", ".tmp", ".part", "~")
    files = {name + suffix for name in names for suffix in suffixes}
    files |= {".octavo-notes", ".octavo-backup", ".octavo-abcdef", ".octavo", ".octavo.part", "notes.part"}
    for name in files:
        (folder / name).write_text("of " + name)
    return {name: b"of " + name.encode() for name in files}


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", writers)
def test_files_beside_the_output_stay(inputs, tmp_path, name):
    work = shutil.copytree(inputs, tmp_path / "work")
    arguments, output = WRITERS[name]
    (work / "out").mkdir()
    kept = neighbours(work / "out", output)
    checked(*arguments, cwd=work)
    assert (work / "out" / output).exists()
    assert {name: content for name, content in files_of(work / "out").items() if name != output} == kept


def test_files_beside_rewritten_shards_stay(inputs, tmp_path):
    folder = shutil.copytree(inputs / "without-kv", tmp_path / "checkpoint")
    shards = [path.name for path in folder.glob("*.safetensors")]
    kept = neighbours(folder, *shards, "model.safetensors.index.json", "config.json")
    before = files_of(folder)
    checked("checkpoint", "scales", "apply", folder, "--scales", inputs / "scales.safetensors", "--into-checkpoint",
            cwd=tmp_path)
    after = files_of(folder)
    assert set(after) == set(before) and kept.items() <= after.items()
    assert all(after[name] != before[name] for name in shards)


def test_rewritten_files_keep_their_modes(inputs, tmp_path):
    folder = shutil.copytree(inputs / "without-kv", tmp_path / "checkpoint")
    modes = {}
    for path, mode in zip(sorted(folder.iterdir()), (0o640, 0o600, 0o604, 0o660)):
        path.chmod(mode)
        modes[path.name] = mode
    checked("checkpoint", "scales", "apply", folder, "--scales", inputs / "scales.safetensors", "--into-checkpoint",
            cwd=tmp_path)
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == modes


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_new_files_have_the_modes_of_new_files(inputs, tmp_path, mask):
    result = subprocess.run([OCTAVO, "checkpoint", "dequantize", inputs / "fp8", "-o", tmp_path / "out"], timeout=120,
                            capture_output=True, preexec_fn=lambda: os.umask(mask))
    assert result.returncode == 0, result.stderr
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()} == {0o666 & ~mask}


# Names from files

HOSTILE = "\x1b[2J\x1b]0;owned\x07 \n\r\t \x7f \u202egnp.exe \u2066 \x9b31m \u2028 "
SEEN = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


def hostile_checkpoint(folder):
    checkpoint = cp.autofp8()
    module = f"model.layers.0.mlp{HOSTILE}.up_proj"
    for part in (".weight", ".weight_scale", ".input_scale"):
        checkpoint.tensors[module + part] = checkpoint.tensors.pop(cp.UP + part)
    checkpoint.tensors[HOSTILE] = np.ones(3, np.float32)
    checkpoint.tensors[f"a{HOSTILE}.weight_scale"] = np.float32(1).reshape(())
    checkpoint.tensors[f"b{HOSTILE}.weight"] = np.full((64, 64), np.nan, np.float32)
    checkpoint.config["model_type"] = HOSTILE
    checkpoint.quantization["ignored_layers"].append(HOSTILE)
    checkpoint.write(folder)
    shard = f"model{HOSTILE}.safetensors".replace("\\", "")
    (folder / "model-00002-of-00002.safetensors").rename(folder / shard)
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    index["weight_map"] = {name: shard if "00002." in place else place for name, place in index["weight_map"].items()}
    index["weight_map"]["gone" + HOSTILE] = shard
    index["metadata"][HOSTILE] = HOSTILE
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


COMMANDS_ON_NAMES = [
    ["inspect", "F"], ["inspect", "F", "--tensors"], ["inspect", "F", "--json"], ["inspect", "F", "--tensor", "up_proj"],
    ["inspect", "F", "--tensor", HOSTILE],
    ["lint", "F", "--all"], ["lint", "F", "--all", "--for", "vllm"], ["lint", "F", "--json"],
    ["convert", "F", "-o", "out", "--layout", "compressed-tensors"],
    ["convert", "F", "-o", "dry", "--layout", "compressed-tensors", "--dry-run"],
    ["convert", "F", "-o", "dry", "--layout", "modelopt", "--dry-run", "--json"],
    ["dequantize", "F", "-o", "out2", "--dry-run"], ["dequantize", "F", "-o", "out2"],
    ["quantize", "F", "-o", "out3", "--layout", "fp8", "--format", "fp8_tensor", "--dry-run"],
    ["diff", "F", "P"], ["diff", "P", "F"], ["verify", "F", "--against", "P", "--all"], ["verify", "P", "--against", "F", "--all"],
    ["report", "F", "--json"], ["scales", "show", "F"], ["scales", "extract", "F", "-o", "scales.safetensors"],
    ["scales", "apply", "P", "--scales", "F/model-00001-of-00002.safetensors", "-o", "x.safetensors"],
]


@pytest.mark.parametrize("arguments", COMMANDS_ON_NAMES, ids=lambda arguments: " ".join(arguments).split("\x1b")[0])
@pytest.mark.parametrize("isWhole", [True, False], ids=["whole", "with errors"])
def test_no_name_of_a_file_reaches_the_terminal_as_it_is(tmp_path, arguments, isWhole):
    folder = hostile_checkpoint(tmp_path / "F")
    cp.autofp8().write(tmp_path / "P")
    if isWhole:
        index = json.loads((folder / "model.safetensors.index.json").read_text())
        del index["weight_map"]["gone" + HOSTILE]
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    result = run("checkpoint", *arguments, cwd=tmp_path)
    assert result.returncode in (0, 1, 2, 3), result.stderr
    assert b"defect" not in result.stderr
    for text in (result.stdout, result.stderr):
        assert not SEEN.search(text), SEEN.search(text)
        text.decode()
    if "--json" in arguments and result.returncode in (0, 1) and result.stdout:
        json.loads(result.stdout)


def test_names_that_are_not_utf8_are_escaped(tmp_path):
    name = b"model-\xff\xfe.safetensors"
    folder = cp.autofp8().write(tmp_path / "F")
    os.rename(os.fsencode(folder / "model-00001-of-00002.safetensors"), os.fsencode(folder) + b"/" + name)
    (folder / "model-00002-of-00002.safetensors").rename(folder / "model-b.safetensors")
    (folder / "model.safetensors.index.json").unlink()
    for arguments in (["inspect", "F", "--tensors"], ["lint", "F", "--all"], ["dequantize", "F", "-o", "out", "--dry-run"],
                      ["dequantize", "F", "-o", "out"]):
        result = run("checkpoint", *arguments, cwd=tmp_path)
        (result.stdout + result.stderr).decode()
    os.truncate(os.fsencode(folder) + b"/" + name, 4)
    result = run("checkpoint", "inspect", "F", cwd=tmp_path)
    assert result.returncode == 3 and rb"model-\xff\xfe.safetensors: too short" in result.stderr


# Files that become shorter

READERS = {
    "lint": ["checkpoint", "lint", "F", "--for", "vllm"],
    "inspect": ["checkpoint", "inspect", "F"],
    "inspect a layer": ["checkpoint", "inspect", "F", "--tensor", cp.DOWN],
    "diff": ["checkpoint", "diff", "F", "P"],
    "verify": ["checkpoint", "verify", "F", "--against", "P"],
    "report": ["checkpoint", "report", "F", "--against", "P", "-o", "page.html"],
    "dequantize": ["checkpoint", "dequantize", "F", "-o", "out"],
    "convert": ["checkpoint", "convert", "F", "-o", "out", "--layout", "compressed-tensors"],
    "convert --fnuz": ["checkpoint", "convert", "F", "-o", "out", "--fnuz"],
    "quantize": ["checkpoint", "quantize", "B", "-o", "out", "--layout", "fp8", "--format", "fp8_tensor"],
    "scales show": ["checkpoint", "scales", "show", "F"],
    "scales extract": ["checkpoint", "scales", "extract", "F", "-o", "out.safetensors"],
    "scales apply": ["checkpoint", "scales", "apply", "F", "--scales", "scales.safetensors", "--into-checkpoint"],
    "analyze": ["analyze", "--format", "mxfp4", "--weights", "B/model.safetensors", "--tensor", "lm_head.weight"],
    "run": ["run", "program.mlir", "--weights", "w.safetensors", "--input", "x=x.npy"],
    "run, input": ["run", "program.mlir", "--weights", "w.safetensors", "--input", "x=x.npy"],
}
TARGETS = {"quantize": "B/model.safetensors", "analyze": "B/model.safetensors", "run": "w.safetensors", "run, input": "x.npy"}
readers = [pytest.param(name, id=name, marks=[pytest.mark.mlir] if name.startswith("run") else []) for name in READERS]


@pytest.mark.parametrize("name", readers)
def test_a_file_that_becomes_shorter_is_an_error_that_names_it(tmp_path, name):
    checkpoint = cp.autofp8()
    checkpoint.shards = 1
    source = tmp_path / "source"
    checkpoint.write(source / "F")
    plain = cp.plain_checkpoint(layers=1)
    plain.shards = 1
    plain.write(source / "B")
    other = cp.autofp8()
    other.tensors[cp.UP + ".weight_scale"] *= 2
    other.write(source / "P")
    cp.write_safetensors(source / "scales.safetensors", {cp.KV0 + "k_scale": np.float32(0.5).reshape(())})
    (source / "program.mlir").write_text(PROGRAM)
    np.save(source / "x.npy", np.ones((2, 4), np.float32))
    safetensors.numpy.save_file({"w": np.ones((4, 4), np.float32)}, source / "w.safetensors")
    target = TARGETS.get(name, "F/model.safetensors")
    size = (source / target).stat().st_size
    named = 0
    reads = 1
    while True:
        work = tmp_path / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(source, work)
        result = run(*READERS[name], cwd=work, LD_PRELOAD=str(SHIM), OCTAVO_TRUNCATE=str(work / target),
                     OCTAVO_TRUNCATE_AT=str(reads))
        if (work / target).stat().st_size == size or reads > 400:
            break
        text = (result.stdout + result.stderr).decode()
        assert result.returncode in (0, 1, 3), (reads, result.returncode, text)
        assert "defect" not in text and "out of memory" not in text, (reads, text)
        named += bool(re.search(rf"{pathlib.Path(target).name}: .*became shorter while it was being read \(at byte \d+\)", text))
        assert not list(work.rglob(".octavo-*.part")), reads
        reads += 1 if reads < 40 else 7
    assert reads > 2 and named > 0, (reads, named)  # it was met while it was read
