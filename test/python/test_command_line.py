"""What `octavo` says of itself and of command lines that it does not understand, with MLIR and without."""

import json
import os
import re
import shlex
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
    return [name for names in groups().values() for name in names]


def groups():
    """The names of the subcommands in the help, by group."""
    found, group = {}, ""
    for line in octavo("--help", code=0).split("Examples:")[0].split("Options:")[1].splitlines():
        if line.endswith(":") and not line.startswith(" "):
            group = line[:-1]
        elif group and re.match("  [a-z]", line):
            found.setdefault(group, []).append(line.split()[0])
    return found


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


def test_subcommands_are_in_groups():
    found = groups()
    assert set(found) == {"Checkpoints", "Formats", "Help"} | ({"Programs"} if HAS_MLIR else set())
    assert found["Checkpoints"] == ["checkpoint"] and found["Help"] == ["help", "completion"]
    assert set(found["Formats"]) == {"formats", "presets", "analyze", "vectors"}
    if HAS_MLIR:
        assert set(found["Programs"]) == {"run", "quantize", "explain", "tune", "calibrate", "compile", "verify", "convert"}


def command_names():
    """All commands, those with subcommands too, as lists of words."""
    script = octavo("completion", "bash", code=0)
    return [name.split()[1:] for name in re.findall(r"^    '(octavo[a-z ]*)'\) candidates=", script, re.M)]


def test_options_and_subcommands_in_every_help_fit_100_columns():
    """But for lists of options that exclude one another."""
    assert ["checkpoint", "quantize"] in command_names() and [] in command_names()
    for names in command_names():
        shown = octavo(*names, "--help", code=0)
        for line in shown.split("Usage:", 1)[1].split("Examples:")[0].splitlines():
            assert len(line) <= 100 or "Excludes:" in line, line


@pytest.mark.parametrize("names", [[], ["formats"], ["checkpoint"], ["checkpoint", "quantize"]], ids=" ".join)
def test_help_is_a_command(names):
    assert octavo("help", *names, code=0) == octavo(*names, "--help", code=0)


def test_help_of_what_is_no_command():
    assert "did you mean quantize?" in octavo("help", "checkpoint", "quantise", code=2)
    assert "octavo formats has no subcommands" in octavo("help", "formats", "more", code=2)


def test_all_that_is_missing_is_named_at_once():
    assert "error: DIR, --output, --layout and --format are required\n" in octavo("checkpoint", "quantize", code=2)
    assert "error: --layout and --format are required\n" in octavo("checkpoint", "quantize", "m", "-o", "n", code=2)
    assert "error: --format is required\n" in octavo("checkpoint", "quantize", "m", "-o", "n", "--layout", "fp8", code=2)
    if HAS_MLIR:
        assert "error: PROGRAM and --format or --recipe are required\n" in octavo("quantize", code=2)


def complete(line, cwd):
    """What bash's completion of octavo gives for the last word of a line."""
    words = re.findall("=|[^ =]+", line) + ([""] if line.endswith((" ", "=")) else [])
    script = f"""source <({shlex.quote(str(OCTAVO))} completion bash) || exit 9
    complete -p octavo
    COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}
    _octavo
    printf '%s\n' "${{COMPREPLY[@]}}" """
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=cwd, timeout=60)
    assert run.returncode == 0 and not run.stderr, run.stderr
    said = run.stdout.splitlines()
    assert said[0] == "complete -F _octavo octavo"
    return set(said[1:]) - {""}


def test_bash_completes_commands_options_values_and_files(tmp_path):
    (tmp_path / "my model").mkdir()
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert {"checkpoint", "formats", "help", "completion"} <= complete("octavo ", tmp_path)
    assert complete("octavo check", tmp_path) == {"checkpoint"}
    assert complete("octavo checkpoint qu", tmp_path) == {"quantize"}
    assert complete("octavo help checkpoint de", tmp_path) == {"dequantize"}
    assert complete("octavo completion ", tmp_path) == {"bash", "zsh", "fish"}
    assert complete("octavo checkpoint quantize --l", tmp_path) == {"--layout"}
    assert complete("octavo checkpoint quantize --format mxfp6", tmp_path) == {"mxfp6_e2m3", "mxfp6_e3m2"}
    assert complete("octavo checkpoint quantize --format=nv", tmp_path) == {"nvfp4"}
    assert complete("octavo checkpoint quantize --rule ro", tmp_path) == {"round-up"}
    assert complete("octavo checkpoint quantize --layout quark --memory ", tmp_path) == set()
    assert complete("octavo checkpoint quantize m", tmp_path) == {"my model", "model.safetensors"}
    assert complete("octavo checkpoint quantize x -o m", tmp_path) == {"my model", "model.safetensors"}


def test_completion_knows_every_option():
    """Those of --option-table, which the command line is made of."""
    script = {shell: octavo("completion", shell, code=0) for shell in ("bash", "zsh", "fish")}
    for line in octavo("--option-table", code=0).splitlines():
        row = json.loads(line)
        if row["positional"] or row["option"] == "--option-table":
            continue
        for shell in ("bash", "zsh"):
            assert f"'{row['command']} {row['option']}'" in script[shell]
        assert re.search(f"'__octavo_is {row['command']}' -l {row['option'][2:]} ", script["fish"])


def test_a_shell_that_is_not_known():
    assert 'no shell "tcsh"' in octavo("completion", "tcsh", code=2)


@pytest.mark.parametrize("given, found", [
    ("FP8_DYNAMIC", "fp8_row"), ("FP8_BLOCK", "fp8_block"), ("MXFP4", "mxfp4"), ("NVFP4", "nvfp4"),
    ("FP8_PER_CHANNEL_PER_TOKEN_CFG", "fp8_row")])
def test_formats_in_any_case_and_schemes_that_are_ours(given, found):
    """docs/start-checkpoints.md has the table."""
    name = "--format"
    assert octavo("analyze", name, given, code=0) == octavo("analyze", name, found, code=0)


@pytest.mark.parametrize("given, answer", [
    ("FP8", "llm-compressor's FP8 is fp8_tensor"), ("NVFP4A16", "llm-compressor's NVFP4A16 is nvfp4 with activations in 16 bits"),
    ("W4A16", "llm-compressor's W4A16 is integers"), ("mxfp8", "llm-compressor's MXFP8 is mxfp8_e4m3"),
    ("FP8_DEFAULT_CFG", "ModelOpt's FP8_DEFAULT_CFG is fp8_tensor")])
def test_other_schemes_are_answered_by_ours(tmp_path, given, answer):
    commands = [["analyze", "--format", given], ["checkpoint", "quantize", tmp_path, "-o", tmp_path / "out",
                                                 "--layout", "compressed-tensors", "--format", given]]
    if HAS_MLIR:
        commands += [["quantize", "p.mlir", "--format", given], ["run", "p.mlir", "--quantize", given],
                     ["compile", "p.mlir", "-o", tmp_path / "out", "--quantize", given]]
    for command in commands:
        assert answer in octavo(*command, code=2)
    assert not (tmp_path / "out").exists()


CHECKPOINT_COMMANDS = ["inspect", "lint", "quantize -o out --layout fp8 --format fp8_row", "dequantize -o out",
                       "convert -o out --layout fp8", "verify --against .", "report -o r.html", "scales show",
                       "diff ."]


@pytest.mark.parametrize("command", CHECKPOINT_COMMANDS)
def test_a_program_given_as_a_checkpoint(tmp_path, command):
    (tmp_path / "p.mlir").write_text("func.func @main() { return }")
    (tmp_path / "artifact").write_bytes(b"ML\xefR\x0d")
    (tmp_path / "made").mkdir()
    (tmp_path / "made/program.octavo").write_bytes(b"")
    for name, answer in (("p.mlir", "is a program, not a checkpoint; `octavo quantize p.mlir"),
                         ("artifact", "is a program, not a checkpoint; `octavo quantize artifact"),
                         ("made", "is a compiled program, not a checkpoint; `octavo run made` runs it")):
        run = subprocess.run([OCTAVO, "checkpoint", *command.split(), name], capture_output=True, text=True,
                             timeout=60, cwd=tmp_path)
        assert run.returncode == 3 and f"{name}: {answer}" in run.stderr, run.stderr
    assert not (tmp_path / "out").exists() and not (tmp_path / "r.html").exists()


def test_a_model_of_the_hub(tmp_path):
    download = "hf download Qwen/Qwen3-8B --local-dir Qwen3-8B\n"
    for command in ["checkpoint inspect"] + (["run", "quantize --format mxfp4"] if HAS_MLIR else []):
        assert download in octavo(*command.split(), "Qwen/Qwen3-8B", code=3)
    snapshot = tmp_path / "models--Qwen--Qwen3-8B/snapshots/0123abcd"
    snapshot.mkdir(parents=True)
    (tmp_path / "models--Qwen--Qwen3-8B/refs").mkdir()
    assert f"its checkpoint is the folder {snapshot}\n" in octavo("checkpoint", "inspect", snapshot.parent.parent, code=3)
