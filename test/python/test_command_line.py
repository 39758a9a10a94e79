"""What `octavo` says of itself and of command lines that it does not understand, with MLIR and without."""

import os
import subprocess
from pathlib import Path

import pytest

OCTAVO = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
HAS_MLIR = os.environ.get("OCTAVO_MLIR", "ON") != "OFF"
PROGRAM_COMMANDS = ("run", "quantize")


def octavo(*arguments, code):
    run = subprocess.run([OCTAVO, *arguments], capture_output=True, text=True, timeout=60)
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    return run.stdout if code == 0 else run.stderr


def subcommands():
    listed = octavo("--help", code=0).split("Subcommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def test_help_lists_what_this_build_has():
    names = subcommands()
    assert {"formats", "analyze", "checkpoint"} <= set(names)
    assert (set(PROGRAM_COMMANDS) <= set(names)) == HAS_MLIR
    assert ("need the build with MLIR" in octavo("--help", code=0)) == (not HAS_MLIR)
    for name in names:
        assert f"octavo {name} " in octavo(name, "--help", code=0)


@pytest.mark.parametrize("name", ["analyze", "checkpoint", "formats", "presets"])
def test_help_shows_examples_of_the_command_itself(name):
    shown = octavo(name, "--help", code=0).split("Examples:\n")[1]
    assert shown.startswith(f"  octavo {name}") and "model.mlir" not in shown


def test_a_negative_seed():
    assert "expected 0 to 2^64 - 1, found -1" in octavo("analyze", "--seed", "-1", code=2)


@pytest.mark.parametrize("given", ["-1", "18446744073709551616", "99999999999999999999", "1.5", "nan", "0x", "one"])
@pytest.mark.parametrize("command", ["analyze --seed", "tune p.mlir --budget relative<=1 -o r.json --tries",
                                     "quantize p.mlir --format mxfp4 --min-size", "run p.mlir --repeat"])
def test_a_number_that_is_no_whole_number(command, given):
    """It is not taken for another one, as -1 for 2^64 - 1 or what is too large for the largest."""
    if not command.startswith("analyze") and not HAS_MLIR:
        pytest.skip("built without MLIR")
    option = command.split()[-1]
    assert f"{option}: expected 0 to 2^64 - 1, found {given}\n" in octavo(*command.split(), given, code=2)


@pytest.mark.skipif(not HAS_MLIR, reason="built without MLIR")
@pytest.mark.parametrize("given", ["nan", "-nan", "-1", "-inf", "one"])
def test_a_bound_that_no_error_is_beyond(given):
    """A bound of NaN is no bound: no comparison with it is true, and the check would always hold."""
    assert f"--bound: expected a number from 0 on, found {given}\n" in octavo(
        "run", "p.mlir", "--compare", "reference", f"--bound={given}", code=2)


def test_a_path_that_is_not_there_is_not_for_lint(tmp_path):
    assert "lint" not in octavo("checkpoint", "inspect", tmp_path / "nope", code=3)


@pytest.mark.parametrize("arguments", [("extract", "-o", "s.txt"),
                                       ("apply", "--scales", "s.json", "-o", "s.bin")])
def test_a_scale_file_whose_name_does_not_say_its_kind(tmp_path, arguments):
    message = octavo("checkpoint", "scales", arguments[0], tmp_path, *arguments[1:], code=2)
    assert "expected a name that ends in .safetensors, or in .json" in message


@pytest.mark.parametrize("command", ["run p.mlir --output", "run p.mlir --page", "run", "compile p.mlir -o", "quantize p.mlir -o",
                                     "checkpoint report model -o", "analyze --plot"])
def test_an_empty_name_is_no_place(command):
    """As an unset variable leaves it: it is not taken for an option that is not given."""
    if command.startswith(PROGRAM_COMMANDS + ("compile",)) and not HAS_MLIR:
        pytest.skip("built without MLIR")
    assert "the name is empty: give F" in octavo(*command.split(), "", code=2).replace("give OUT", "give FILE")


def test_no_arguments_give_the_help():
    assert octavo(code=2) == octavo("--help", code=0)


@pytest.mark.parametrize("name", PROGRAM_COMMANDS)
def test_a_command_that_this_build_lacks(name):
    if HAS_MLIR:
        assert octavo(name, "--help", code=0)
    else:
        message = octavo(name, "x.mlir", code=2)
        assert f'no subcommand "{name}"' in message and "cmake -DOCTAVO_MLIR=ON" in message


def test_the_help_that_is_named_is_there():
    message = octavo("formats", "--jsno", code=2)
    assert "did you mean --json?" in message and message.endswith("try: octavo formats --help\n")
    assert octavo("checkpoint", code=2).endswith("try: octavo checkpoint --help\n")
    assert octavo("--jsno", code=2).endswith("try: octavo --help\n")
    message = octavo("format", code=2)
    assert "did you mean formats?" in message and "octavo: error: " in message


@pytest.mark.parametrize("closed, code", [(">&-", 3), (">&- 2>&-", 3), ("<&- >&- 2>&-", 3), ("2>&-", 0), ("<&-", 0)])
def test_standard_streams_that_are_closed(tmp_path, closed, code):
    """Their numbers are those of the next files that are opened, and what is printed would go there."""
    (tmp_path / "in.safetensors").write_bytes(b"\x02" + bytes(7) + b"{}")
    run = subprocess.run(f"{OCTAVO} checkpoint inspect in.safetensors {closed}; {OCTAVO} formats {closed}", shell=True,
                         cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.returncode == code
    assert ("cannot be written" in run.stderr) == (closed == ">&-")
    assert (tmp_path / "in.safetensors").read_bytes() == b"\x02" + bytes(7) + b"{}"
