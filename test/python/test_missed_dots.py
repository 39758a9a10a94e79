"""The warning of dots that look narrow and are not, in `octavo run` and `octavo quantize`: which, why, what
to change; and none where there is nothing to tell."""

import os
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

pytestmark = pytest.mark.mlir

OCTAVO = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"

# Codes and their scale; %shifted and %logged are what keeps the products wide.
PROGRAM = """
func.func public @main(%x: tensor<4x64x{narrow}>, %s: tensor<f32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> {{
  %c = stablehlo.convert %x : (tensor<4x64x{narrow}>) -> tensor<4x64xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
  %v = stablehlo.multiply %c, %b : tensor<4x64xf32>
{body}
}}
"""
RETURN = "  return {} : tensor<4x32xf32>"


def dot(result, operand, name):
    return (f"  {result} = stablehlo.dot_general {operand}, %w, contracting_dims = [1] x [0] : "
            f'(tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32> loc("{name}")')


SHIFTED = "  %shifted = stablehlo.add %v, %b : tensor<4x64xf32> loc(\"zero/add\")"
LOGGED = "  %logged = stablehlo.exponential %v : tensor<4x64xf32> loc(\"act/exp\")"
MISSED = "\n".join([
    SHIFTED, LOGGED, dot("%0", "%shifted", "layer0/dot"), dot("%1", "%logged", "layer1/dot"),
    dot("%2", "%shifted", "layer2/dot"), dot("%3", "%shifted", "layer3/dot"),
    "  %4 = stablehlo.add %0, %1 : tensor<4x32xf32>", "  %5 = stablehlo.add %2, %3 : tensor<4x32xf32>",
    "  %6 = stablehlo.add %4, %5 : tensor<4x32xf32>", RETURN.format("%6")])
BY_HAND = "\n".join([dot("%0", "%v", "layer0/dot"), RETURN.format("%0")])


def octavo(*arguments, code=0):
    run = subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    return run


@pytest.fixture
def inputs(tmp_path):
    random = np.random.default_rng(1)
    x = random.standard_normal((4, 64)).astype(ml_dtypes.float8_e4m3fn)
    np.save(tmp_path / "x.float8_e4m3fn.npy", x.view(np.uint8))
    np.save(tmp_path / "wide.npy", x.astype(np.float32))
    np.save(tmp_path / "s.npy", np.float32(0.5))
    np.save(tmp_path / "w.npy", random.standard_normal((64, 32)).astype(np.float32))
    return [f"--input={name}={tmp_path / file}"
            for name, file in (("arg0", "x.float8_e4m3fn.npy"), ("arg1", "s.npy"), ("arg2", "w.npy"))]


def written(folder, body, narrow="f8E4M3FN"):
    path = folder / "p.mlir"
    path.write_text(PROGRAM.format(narrow=narrow, body=body))
    return path


def lines(run):
    found = run.stderr.splitlines()
    assert all(line.startswith("octavo: warning: ") for line in found), run.stderr
    return found


def test_one_line_a_reason(tmp_path, inputs):
    program = written(tmp_path, MISSED)
    shifted, logged = lines(octavo("run", program, *inputs))
    for word in (str(program), "layer0/dot", "and 2 dots like it", "'stablehlo.add' at zero/add",
                 "apply it before the quantization, or after the dot"):
        assert word in shifted
    for word in ("layer1/dot", "multiplies wide values", "'stablehlo.exponential' at act/exp"):
        assert word in logged
    assert "like it" not in logged
    assert len(lines(octavo("run", program, "--explain-compile"))) == 2
    assert len(lines(octavo("run", program, *inputs, "--compare", "reference"))) == 2


def test_the_place_in_a_file(tmp_path, inputs):
    program = written(tmp_path, "\n".join([SHIFTED, dot("%0", "%shifted", "n").replace(' loc("n")', ""),
                                           RETURN.format("%0")]))
    [line] = lines(octavo("run", program, *inputs))
    assert f"{program}: p.mlir:7:8 multiplies wide values" in line


def test_an_error_where_asked(tmp_path, inputs):
    program = written(tmp_path, MISSED)
    out = tmp_path / "y.npy"
    run = octavo("run", program, *inputs, "--fail-on-missed", "--output", out, code=1)
    assert run.stderr.splitlines()[-1] == (
        f"octavo: error: {program}: 4 dots multiply wide values, though narrow ones are behind them")
    assert run.stdout == "" and not out.exists()


def test_what_explain_would_make_narrow(tmp_path, inputs):
    """A dequantization by hand that is recognized runs wide as it stands; what explain writes does not."""
    program = written(tmp_path, BY_HAND)
    [line] = lines(octavo("run", program, *inputs))
    assert "layer0/dot" in line and "--recover-scaled" in line
    assert octavo("run", program, *inputs, "--recover-scaled", "--fail-on-missed").stderr == ""
    narrow = tmp_path / "narrow.mlir"
    assert "1 of 1 dots narrow" in octavo("explain", program, "-o", narrow).stdout
    assert octavo("run", narrow, *inputs, "--fail-on-missed").stderr == ""


def test_compile_tells_and_recovers(tmp_path, inputs):
    program = written(tmp_path, MISSED)
    folder = tmp_path / "folder"
    shifted, logged = lines(octavo("compile", program, "-o", folder))
    assert "layer0/dot" in shifted and "layer1/dot" in logged and (folder / "program.octavo").exists()
    failed = octavo("compile", program, "--fail-on-missed", "-o", tmp_path / "none", code=1)
    assert failed.stderr.splitlines()[-1] == (
        f"octavo: error: {program}: 4 dots multiply wide values, though narrow ones are behind them")
    assert not (tmp_path / "none").exists()
    by_hand = written(tmp_path, BY_HAND)
    [line] = lines(octavo("compile", by_hand, "-o", folder))
    assert "layer0/dot" in line and "--recover-scaled" in line
    assert octavo("compile", by_hand, "--recover-scaled", "--fail-on-missed", "-o", folder).stderr == ""


def test_one_side_is_told_before_and_after_the_other_is_recovered(tmp_path, inputs):
    program = written(tmp_path, "\n".join([
        SHIFTED, "  %q = stablehlo.convert %w : (tensor<64x32xf32>) -> tensor<64x32xf8E4M3FN>",
        "  %u = stablehlo.convert %q : (tensor<64x32xf8E4M3FN>) -> tensor<64x32xf32>",
        dot("%0", "%shifted", "layer0/dot").replace("%w", "%u"), RETURN.format("%0")]))
    side = " multiplies wide values on one side, though narrow ones are behind them: 'stablehlo.add' at zero/add"
    told, recovered = lines(octavo("run", program, *inputs))
    assert side in told and "--recover-scaled" in recovered
    [told] = lines(octavo("run", program, *inputs, "--recover-scaled"))
    assert side in told
    for option in [], ["--recover-scaled"]:
        failed = octavo("run", program, *inputs, *option, "--fail-on-missed", code=1)
        assert failed.stderr.splitlines()[-1].endswith(": 1 dot multiplies wide values, though narrow ones are behind them")


def test_nothing_of_wide_programs(tmp_path, inputs):
    program = written(tmp_path, MISSED, narrow="f32")
    wide = [f"--input=arg0={tmp_path / 'wide.npy'}", *inputs[1:]]
    assert octavo("run", program, *wide, "--fail-on-missed").stderr == ""
    parameters = ("--parameters", "arg2")
    assert octavo("run", program, *wide, "--quantize", "mxfp8_e4m3", *parameters, "--compare", "f32").stderr == ""
    assert octavo("quantize", program, "--format", "mxfp8_e4m3", *parameters).stderr == ""


def test_extents_that_inputs_give_are_no_obstacle(tmp_path, inputs):
    """They are known before the program runs."""
    program = written(tmp_path, MISSED)
    text = program.read_text()
    open_rows = text.replace("tensor<4x64xf8E4M3FN>, %s", "tensor<?x64xf8E4M3FN>, %s").replace(
        "  %c = stablehlo.convert %x : (tensor<4x64xf8E4M3FN>)",
        "  %c = stablehlo.convert %x : (tensor<?x64xf8E4M3FN>)")
    assert open_rows != text
    program.write_text(open_rows)
    assert not any("not known" in line for line in lines(octavo("run", program, *inputs)))


def test_quantize_tells(tmp_path, inputs):
    """What it makes narrow is not missed."""
    program = written(tmp_path, MISSED)
    shifted, logged = lines(octavo("quantize", program, "--format", "mxfp8_e4m3"))
    assert "layer0/dot" in shifted and "layer1/dot" in logged
    out = tmp_path / "out.mlir"
    failed = octavo("quantize", program, "--format", "mxfp8_e4m3", "--fail-on-missed", "-o", out, code=1)
    assert "4 dots multiply wide values" in failed.stderr and failed.stdout == "" and not out.exists()
    [logged] = lines(octavo("quantize", program, "--format", "mxfp8_e4m3", "--parameters", "arg2",
                            "--match", "layer[023]"))
    assert "layer1/dot" in logged


def test_programs_that_check_themselves_are_no_function(tmp_path):
    (tmp_path / "p.mlir").write_text(
        "func.func @main() {\n  %x = stablehlo.constant dense<1.0> : tensor<2xf32>\n"
        "  check.expect_eq_const %x, dense<1.0> : tensor<2xf32>\n  return\n}\n")
    assert "--function" in octavo("run", tmp_path / "p.mlir", "--fail-on-missed", code=2).stderr


@pytest.mark.parametrize("caller", ['stablehlo.composite "my.linear" %x, %w {{decomposition = @linear}}', "func.call @linear(%x, %w)"])
def test_a_narrow_product_of_another_function_is_no_miss(tmp_path, caller):
    sides = "(tensor<4x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>) -> tensor<4x8xf32>"
    (tmp_path / "p.mlir").write_text(f"""func.func public @main(%x: tensor<4x64xf8E4M3FN>, %w: tensor<64x8xf8E4M3FN>) -> tensor<4x8xf32> {{
  %0 = {caller.format()} : {sides}
  return %0 : tensor<4x8xf32>
}}
func.func private @linear(%x: tensor<4x64xf8E4M3FN>, %w: tensor<64x8xf8E4M3FN>) -> tensor<4x8xf32> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : {sides}
  return %0 : tensor<4x8xf32>
}}""")
    random = np.random.default_rng(2)
    files = []
    for i, shape in enumerate(((4, 64), (64, 8))):
        files.append(f"--input={tmp_path / f'{i}.float8_e4m3fn.npy'}")
        np.save(tmp_path / f"{i}.float8_e4m3fn.npy", random.standard_normal(shape).astype(ml_dtypes.float8_e4m3fn).view(np.uint8))
    assert octavo("run", tmp_path / "p.mlir", *files, "--fail-on-missed").stderr == ""
