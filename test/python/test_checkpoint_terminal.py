"""What a checkpoint command says and leaves where it is watched, interrupted or runs out of room."""
import contextlib
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from safetensors.numpy import save_file

import checkpoint_model as model
from commands import OCTAVO, bytes_of, octavo

ROWS = 1 << 12


def large(folder, shards):
    """Weights that keep a job busy for a few tenths of a second a shard."""
    values = np.random.default_rng(0).standard_normal((ROWS, ROWS)).astype(np.float32)
    model.write(folder, {f"model.layers.{i}.mlp.up_proj.weight": values for i in range(shards)}, shards=shards)
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return large(tmp_path_factory.mktemp("large") / "in", 3)


def arguments(source, out):
    return [OCTAVO, "checkpoint", "quantize", source, "-o", out, "--layout", "compressed-tensors", "--format", "mxfp4",
            "--weight-only", "--threads", "1"]


def stopped_at(process, path):
    """Stops the process as soon as the file is there, before it has ended."""
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.0005)
    process.send_signal(signal.SIGSTOP)
    assert process.poll() is None


def lines_on_a_terminal(text):
    """What a terminal shows of it in the end."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in line.split("\r"):
            if part.startswith("\x1b[K"):
                shown = part[3:]
            else:
                shown = part + shown[len(part):]
        lines.append(shown)
    return lines


def quantized_on_a_terminal(source, out):
    """What a job writes to a terminal that takes longer than two seconds, most of which it does not run."""
    terminal, other = pty.openpty()
    process = subprocess.Popen(arguments(source, out), stdout=other, stderr=other)
    os.close(other)
    stopped_at(process, out / ".octavo-job.json")
    time.sleep(2.5)  # the status is shown from the third second on
    for _ in range(20):
        process.send_signal(signal.SIGCONT)
        time.sleep(0.002)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.01)
    process.send_signal(signal.SIGCONT)
    text = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(terminal, 1 << 16):
            text += part
    os.close(terminal)
    assert process.wait(60) == 0
    return text.decode()


def test_the_summary_begins_on_a_line_of_its_own(tmp_path, source):
    for i in range(5):  # on a busy machine the job may be through before its other thread has had a turn
        text = quantized_on_a_terminal(source, tmp_path / f"out{i}")
        if "octavo: quantizing [" in text:
            break
    assert "octavo: quantizing [" in text
    lines = lines_on_a_terminal(text)
    assert lines[0].split() == ["from", "to", "weights", "values", "before", "after", "bits", "per", "value"], lines
    assert not [line for line in lines if "quantizing" in line]


def interrupted(process, name):
    process.send_signal(name)
    process.send_signal(signal.SIGCONT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 130, error
    return error


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_job_says_that_the_same_command_goes_on(tmp_path, source, name):
    command = arguments(source, tmp_path / "out")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first, second = (f"model-{i:05}-of-00003.safetensors" for i in (1, 2))
    stopped_at(process, tmp_path / "out" / first)
    error = interrupted(process, name)
    assert error.startswith("octavo: error: interrupted; the same command continues from what is in"), error
    names = set(os.listdir(tmp_path / "out"))
    assert {".octavo-job.json", first} <= names <= {".octavo-job.json", first, second}, "nothing half written"
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.search(r"[12] shards were there from an earlier run", again.stdout)
    subprocess.run(arguments(source, tmp_path / "whole"), capture_output=True, check=True)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_an_interrupted_job_that_has_written_nothing_leaves_nothing(tmp_path, source):
    process = subprocess.Popen(arguments(source, tmp_path / "a/b/out"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    stopped_at(process, tmp_path / "a/b/out/.octavo-job.json")
    error = interrupted(process, signal.SIGINT)
    assert "interrupted" in error and "nothing was left behind" in error
    assert not (tmp_path / "a").exists()


def test_a_limit_on_the_size_of_files_is_an_error(tmp_path, source):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    result = subprocess.run(arguments(source, tmp_path / "a/out"), capture_output=True, text=True, preexec_fn=limit)
    assert result.returncode == 3, result
    for words in ("File too large", "ulimit -f", "nothing was left behind"):
        assert words in result.stderr, result.stderr
    assert not (tmp_path / "a").exists()


def test_a_limit_on_the_size_of_files_is_an_error_of_a_report(tmp_path):
    model.write(tmp_path / "in", model.weights())
    result = subprocess.run([OCTAVO, "checkpoint", "report", tmp_path / "in", "-o", tmp_path / "page.html"],
                            capture_output=True, text=True,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert result.returncode == 3 and "File too large" in result.stderr, result
    assert os.listdir(tmp_path) == ["in"]


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
                             capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_disk_leaves_no_empty_folder(tmp_path, source):
    with small_disk(tmp_path / "small", "1m") as disk:
        result = subprocess.run(arguments(source, disk / "a/out"), capture_output=True, text=True)
        assert result.returncode == 3 and "not enough space" in result.stderr
        assert not list(disk.iterdir())


def test_what_is_left_on_a_full_disk_is_said(tmp_path, source):
    """Space for the first shard, which is taken away while the job runs."""
    with small_disk(tmp_path / "small", "64m") as disk:
        command = arguments(source, disk / "out")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = disk / "out/model-00001-of-00003.safetensors"
        stopped_at(process, first)
        with contextlib.suppress(OSError), open(disk / "balloon", "wb") as balloon:
            balloon.write(bytes(shutil.disk_usage(disk).free))
        process.send_signal(signal.SIGCONT)
        error = process.communicate(timeout=60)[1]
        assert process.returncode == 3, error
        assert "free some space" in error and "nothing was left" not in error
        assert f"what is in {disk / 'out'} stays, and the same command continues from there" in error
        assert first.exists()
        (disk / "balloon").unlink()
        again = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "from an earlier run" in again.stdout


LAYOUTS = ["fp8", "deepseek", "compressed-tensors", "modelopt", "quark", "gpt-oss", "comfyui", "mlx", "torchao", "native",
           "plain"]
FORMATS = ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8", "nvfp4", "fp8_tensor", "fp8_row",
           "fp8_block", "fp8_group"]
RULES = ["floor", "ceil", "even", "round-up", "nearest"]
PRESETS = ["ocp", "modelopt", "compressed-tensors", "quark", "torchao-floor", "jax"]


@pytest.mark.parametrize("command, option, values", [
    ("quantize", "--layout", LAYOUTS), ("quantize", "--format", FORMATS), ("quantize", "--rule", RULES),
    ("quantize", "--preset", PRESETS), ("convert", "--layout", LAYOUTS), ("convert", "--from", LAYOUTS),
    ("convert", "--format", FORMATS), ("convert", "--preset", PRESETS), ("convert", "--rule", RULES),
    *((command, "--from", LAYOUTS) for command in ("dequantize", "inspect", "lint", "verify", "diff", "report")),
    *((command, "--against-from", ["the same"]) for command in ("verify", "diff", "report"))])
def test_the_help_of_an_option_lists_its_values(command, option, values):
    text = octavo(command, "--help").stdout
    paragraph = re.search(rf"^ *{option} .*?(?=^ *-|\Z|^\S)", text, re.M | re.S)[0].lower()
    for value in values:
        assert value in paragraph, paragraph


def shown_on_a_terminal(arguments, cwd):
    terminal, other = pty.openpty()
    process = subprocess.Popen([OCTAVO, *arguments], stdout=other, stderr=subprocess.PIPE, cwd=cwd)
    os.close(other)
    text = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(terminal, 1 << 16):
            text += part
    os.close(terminal)
    assert process.wait(60) == 0, process.stderr.read()
    process.stderr.close()
    return text.decode().replace("\r\n", "\n")


LONG = "model.language_model.encoder.layers.the_first_of_all_layers.self_attention.query_key_value_projection.dense_layer"
PROGRAM = f"""
func.func @main(%x: tensor<4x64xf32> {{octavo.name = "x"}},
                %w: tensor<64x64xf32> {{octavo.name = "{LONG}.weight", octavo.parameter}}) -> tensor<4x64xf32> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32> loc("{LONG.replace('.', '/')}/dot_general")
  return %0 : tensor<4x64xf32>
}}"""
TABLES = [
    "formats", "presets", "analyze --format mxfp4", "checkpoint layouts", "checkpoint inspect model --tensors",
    "checkpoint inspect model", "checkpoint diff model model",
    "checkpoint quantize model -o a --layout compressed-tensors --format mxfp4 --dry-run",
    "checkpoint quantize model -o b --layout compressed-tensors --format mxfp4",
]
PROGRAM_TABLES = [
    "quantize p.mlir --format mxfp4 --explain", "explain p.mlir", "calibrate p.mlir --weights w.safetensors --inputs x.npy -o c.json",
    "run p.mlir --weights w.safetensors --input x.npy --quantize mxfp4 --compare f32 --per-op",
    "run p.mlir --weights w.safetensors --input x.npy --explain-compile",
    "tune p.mlir --weights w.safetensors --input x.npy --budget relative<=0.5 --formats mxfp4 -o r.json",
]


@pytest.fixture(scope="module")
def named_long(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    weights = np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64)
    (folder / "model").mkdir()
    save_file({f"{LONG}.weight": weights}, folder / "model/model.safetensors")
    (folder / "model/config.json").write_text("{}")
    save_file({f"{LONG}.weight": weights}, folder / "w.safetensors")
    np.save(folder / "x.npy", np.ones((4, 64), np.float32))
    (folder / "p.mlir").write_text(PROGRAM)
    return folder


@pytest.mark.parametrize("command", TABLES + [pytest.param(each, marks=pytest.mark.mlir) for each in PROGRAM_TABLES])
def test_tables_on_a_terminal_fit_100_columns(named_long, command):
    """With names longer than a line. A line of prose may be longer: the terminal wraps it."""
    rows = [line for line in shown_on_a_terminal(command.split(), named_long).splitlines() if "  " in line.strip()]
    assert rows and max(map(len, rows)) <= 100, max(rows, key=len)
