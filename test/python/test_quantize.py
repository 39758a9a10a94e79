"""`octavo quantize` from the outside: what it says of the dots of a real program, what it writes, and
what it answers to wrong command lines."""

import json
import os
import re
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import program_commands
import pytest
import safetensors.numpy

pytestmark = pytest.mark.mlir

BIN = Path(os.environ["OCTAVO_BIN_DIR"])
ROOT = Path(__file__).resolve().parents[2]
MINILM = ROOT / "examples/minilm/minilm.mlir"

# Six layers: four matrices of 384 x 384, two of 384 x 1536.
LAYERS, HIDDEN, INNER = 6, 384, 1536
WEIGHTS = LAYERS * (4 * HIDDEN * HIDDEN + 2 * HIDDEN * INNER)


def octavo(*arguments, code=0):
    run = subprocess.run(
        [BIN / "octavo", "quantize", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    if code:
        assert run.stderr.startswith("octavo: error: "), run.stderr
        return run.stderr
    assert run.stderr == ""
    return run.stdout


def quantized(*arguments):
    return json.loads(octavo(MINILM, "--json", *arguments))


# Bits a value: OCP MX table 1 (element bits and 8 bits for 32 of them); NVFP4 4 bits, 8 for 16, and
# 32 for the tensor; FP8 with one f32 for a row or for a block of 128 x 128.
def bytes_of(element_bits, block, scale_bits, tensors=0):
    return (WEIGHTS * element_bits + WEIGHTS // block * scale_bits + tensors * 32) // 8


@pytest.mark.parametrize(
    "name, expected",
    [
        ("mxfp8_e4m3", bytes_of(8, 32, 8)),
        ("mxfp6_e2m3", bytes_of(6, 32, 8)),
        ("mxfp4", bytes_of(4, 32, 8)),
        ("mxint8", bytes_of(8, 32, 8)),
        ("nvfp4", bytes_of(4, 16, 8, tensors=6 * LAYERS)),
        ("fp8_block", bytes_of(8, 128 * 128, 32)),
    ],
)
def test_every_weight_of_minilm_is_quantized_ahead(name, expected):
    report = quantized("--format", name)
    assert report["weight_bytes_before"] == 4 * WEIGHTS
    assert report["weight_bytes_after"] == expected
    assert report["dots_quantized"] == 6 * LAYERS
    assert len(report["dots"]) == 8 * LAYERS
    assert len(report["weights"]) == 6 * LAYERS
    for dot in report["dots"]:
        pair = dot["name"].endswith(("scores/dot_general", "context/dot_general"))
        assert dot["quantized"] != pair
        assert (dot["weight"] is None) == pair
        if not pair:
            assert dot["reason"] == "weight quantized when it is bound"


def test_records_carry_source_names_and_shapes():
    dots = {dot["name"]: dot for dot in quantized("--format", "fp8_block")["dots"]}
    query = dots["jit(encode)/layer0/attention/query/dot_general"]
    assert query["weight"] == "encoder.layer.0.attention.self.query.weight"
    assert (query["batch"], query["n"], query["k"]) == (1, HIDDEN, HIDDEN)
    assert (query["lhs"], query["rhs"]) == ("fp8_group", "fp8_block")
    scores = dots["jit(encode)/layer5/attention/scores/dot_general"]
    assert scores["k"] == HIDDEN // 12 and scores["batch"] % 12 == 0
    assert scores["reason"] == "both operands are activations"


def test_choosing_dots():
    assert quantized("--format", "mxfp4", "--match", "layer0/")["dots_quantized"] == 6
    assert quantized("--format", "mxfp4", "--exclude", r"\.query\.weight")["dots_quantized"] == 30
    larger = quantized("--format", "mxfp4", "--min-size", HIDDEN * INNER)
    assert larger["dots_quantized"] == 2 * LAYERS
    everything = quantized("--format", "mxfp4", "--both-activations")
    assert everything["dots_quantized"] == 8 * LAYERS
    only = quantized("--format", "mxfp4", "--activations", "none")
    assert {dot["lhs"] for dot in only["dots"]} == {None}


def test_weights_in_the_program_keep_their_size():
    report = quantized("--format", "mxfp4", "--in-program")
    assert report["weight_bytes_after"] == report["weight_bytes_before"]
    assert report["dots_quantized"] == 6 * LAYERS


def test_weights_that_are_plain_arguments_are_told_of(tmp_path):
    program = tmp_path / "plain.mlir"
    program.write_text("""func.func @main(%w: tensor<64x32xf32> loc("layer.w"), %x: tensor<4x64xf32> loc("x")) -> tensor<4x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}
""")
    text = octavo(program, "--format", "mxfp8_e4m3")
    assert "0 of 1 dots quantized" in text
    assert "without a weight take: x, layer.w; --parameters REGEX makes" in text
    text = octavo(program, "--format", "mxfp8_e4m3", "--parameters", r"\.w$")
    assert "1 of 1 dots quantized" in text and "--parameters" not in text


def test_a_function_of_weights_and_of_activations_is_told(tmp_path):
    """Its dot is one of the program, whatever calls give it."""
    program = tmp_path / "net.mlir"
    program.write_text("""func.func @main(%w: tensor<64x64xf32> loc("w"), %x: tensor<4x64xf32> loc("x"), %k: tensor<64x64xf32> loc("k")) -> tensor<4x64xf32> {
  %0 = func.call @mm(%x, %w) : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %1 = func.call @mm(%0, %k) : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}
func.func private @mm(%a: tensor<4x64xf32>, %b: tensor<64x64xf32>) -> tensor<4x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32> loc("net/dot")
  return %0 : tensor<4x64xf32>
}
""")
    told = octavo(program, "--format", "mxfp8_e4m3", "--parameters", "^w")
    assert 'of net/dot: the function around it is called with the weight "w" and with activations: give the calls with weights' in told
    assert "1 of 1 dots quantized" in octavo(program, "--format", "mxfp8_e4m3", "--parameters", "^[wk]")


def test_why_no_dot_is_quantized_is_told(tmp_path):
    """Of a program whose dots nothing finds, and of one whose dots are narrow already."""
    program = tmp_path / "net.mlir"
    program.write_text("""func.func @main(%w: tensor<64x32xf32> loc("w"), %x: tensor<4x64xf32> loc("x")) -> tensor<4x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32> loc("net/dot")
  return %0 : tensor<4x32xf32>
}
""")
    options = ("--format", "mxfp8_e4m3", "--parameters", "^w")
    assert '0 of 1 dots quantized (of net/dot: its name is excluded by "dot"; --explain tells it of each)' in octavo(
        program, *options, "--exclude", "dot")
    assert 'match: "zzz" is found in the name of no dot and of no dot\'s weight' in octavo(
        program, *options, "--match", "zzz", code=3)
    assert "--min-size: expected 0 to 2^64 - 1, found -5" in octavo(program, *options, "--min-size", "-5", code=2)
    why = "of net/dot: both operands are activations (a weight among the arguments x, w is one that --weights gives or --parameters names, in Python weights= or parameters=)"
    assert why in octavo(program, *options[:2])
    for name, shape in (("x", (4, 64)), ("w", (64, 32))):
        np.save(tmp_path / f"{name}.npy", np.ones(shape, np.float32))
    assert f"why        {why}\n" in program_commands.octavo(
        "run", program, "--input", f"x={tmp_path}/x.npy", "--input", f"w={tmp_path}/w.npy", "--quantize", "mxfp4")
    octavo(program, *options, "-o", tmp_path / "narrow.mlir")
    again = octavo(tmp_path / "narrow.mlir", *options)
    assert "0 of 0 dots quantized, 1 product of other kinds left (of net/dot: it multiplies scaled tensors already;" in again


def test_explain_is_a_table_of_every_dot():
    lines = octavo(MINILM, "--format", "mxfp8_e4m3", "--explain").splitlines()
    assert re.fullmatch(r"dot +MxNxK +decision +why, and where +weight", lines[0])
    assert len([line for line in lines if "/dot_general" in line]) == 8 * LAYERS
    assert lines[-1].startswith("36 of 48 dots quantized; weights of dots: ")


def test_the_program_is_written_whole_and_can_be_read(tmp_path):
    path = tmp_path / "out.mlir"
    octavo(MINILM, "--format", "mxfp6_e3m2", "-o", path)
    text = path.read_text()
    assert text.count("octavo.dot_general") == 6 * LAYERS
    assert text.count("octavo.quantize = #octavo.quantization<rule = floor>") == 6 * LAYERS
    assert "jit(encode)/layer0/attention/query/dot_general" in text
    again = subprocess.run(
        [BIN / "octavo-opt", "-mlir-print-debuginfo", path], capture_output=True, text=True
    )
    assert again.returncode == 0, again.stderr
    assert again.stdout.strip() == text.strip()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.mlir"]


def test_a_program_quantized_twice_says_so(tmp_path):
    path = tmp_path / "out.mlir"
    octavo(MINILM, "--format", "mxfp4", "-o", path)
    assert json.loads(octavo(path, "--format", "mxfp4", "--json"))["dots_quantized"] == 0


MOVED = """
func.func public @main(
    %x: tensor<5x100xf32> {octavo.name = "x"},
    %w: tensor<6x100xf32> {octavo.name = "plain", octavo.parameter},
    %t: tensor<4x6xbf16> {octavo.name = "transposed", octavo.parameter})
    -> (tensor<5x4xf32> {octavo.name = "y"}, tensor<5x3xf32> {octavo.name = "z"}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
      : (tensor<5x100xf32>, tensor<6x100xf32>) -> tensor<5x6xf32>
  %1 = stablehlo.transpose %t, dims = [1, 0] : (tensor<4x6xbf16>) -> tensor<6x4xbf16>
  %2 = stablehlo.convert %1 : (tensor<6x4xbf16>) -> tensor<6x4xf32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0]
      : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  %c = stablehlo.constant dense<[[0.1, -0.7, 3.0], [0.2, 5.0, 1.1], [9.0, 0.3, -0.01], [2.0, 0.0, 1.0]]>
      : tensor<4x3xf32>
  %4 = stablehlo.dot_general %3, %c, contracting_dims = [1] x [0]
      : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return %3, %4 : tensor<5x4xf32>, tensor<5x3xf32>
}
"""


@pytest.mark.parametrize("name", ["mxfp8_e4m3", "mxint8", "nvfp4", "fp8_row", "fp8_tensor"])
def test_when_a_weight_is_quantized_changes_no_bit(tmp_path, name):
    """Ahead, in the program and by `octavo run` itself: one result of the interpreter. The wide run differs."""
    program = tmp_path / "moved.mlir"
    program.write_text(MOVED)
    generator = np.random.default_rng(7)
    tensors = {
        "x": generator.standard_normal((5, 100)).astype(np.float32),
        "plain": generator.standard_normal((6, 100)).astype(np.float32),
        "transposed": generator.standard_normal((4, 6)).astype(ml_dtypes.bfloat16),
    }
    safetensors.numpy.save_file(tensors, tmp_path / "tensors.safetensors")

    def run(path, *options):
        out = tmp_path / "out.safetensors"
        subprocess.run(
            [BIN / "octavo", "run", path, "--input", tmp_path / "tensors.safetensors"]
            + ["--output", out, "--backend", "reference", *options],
            check=True,
            capture_output=True,
            timeout=120,
        )
        return {key: value.tobytes() for key, value in safetensors.numpy.load_file(out).items()}

    octavo(program, "--format", name, "-o", tmp_path / "ahead.mlir")
    octavo(program, "--format", name, "--in-program", "-o", tmp_path / "inside.mlir")
    ahead = run(tmp_path / "ahead.mlir")
    assert set(ahead) == {"y", "z"}
    assert ahead == run(tmp_path / "inside.mlir")
    assert ahead == run(program, "--quantize", name)
    wide = run(program)
    assert ahead["y"] != wide["y"] and ahead["z"] != wide["z"]


def test_names_that_do_not_exist_are_answered_with_those_that_do():
    message = octavo(MINILM, "--format", "mxfp8", code=2)
    assert 'no scaled format "mxfp8"' in message
    assert "mxfp8_e4m3" in message and "nvfp4" in message and "fp8_block" in message
    assert 'no scaled format "x"' in octavo(
        MINILM, "--format", "mxfp4", "--activations", "x", code=2
    )
    message = octavo(MINILM, "--format", "mxfp4", "--rule", "up", code=2)
    assert 'no scale rule "up"' in message and "round-up" in message
    assert "--format" in octavo(MINILM, code=2)


def test_options_that_contradict_one_another():
    message = octavo(MINILM, "--format", "nvfp4", "--rule", "floor", code=2)
    assert "the rule floor is for E8M0 scales; nvfp4 has scales of e4m3fn" in message
    message = octavo(MINILM, "--format", "mxfp4", "--match", "(", code=2)
    assert '"(", given for match, is not a regular expression' in message


def test_a_constant_weight_with_a_nan(tmp_path):
    path = tmp_path / "nan.mlir"
    path.write_text(
        "func.func public @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
        "  %w = stablehlo.constant dense<[[1.0, 2.0], [0x7FC00000, 3.0]]> : tensor<2x2xf32>\n"
        "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]"
        " : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>\n"
        "  return %0 : tensor<2x2xf32>\n}\n"
    )
    message = octavo(path, "--format", "mxfp4", "-o", tmp_path / "out.mlir", code=3)
    assert "nan.mlir:3:8: the constant has a NaN at [1, 0], which its quantization refuses: --non-finite propagate" in message
    assert not (tmp_path / "out.mlir").exists()
    octavo(path, "--format", "mxfp4", "--non-finite", "propagate")


def test_not_a_program(tmp_path):
    path = tmp_path / "text.mlir"
    path.write_text("this is not MLIR\n")
    assert "text.mlir" in octavo(path, "--format", "mxfp4", code=3)
    assert "none.mlir" in octavo(tmp_path / "none.mlir", "--format", "mxfp4", code=3)


def test_products_that_are_no_dots_are_told(tmp_path):
    program = tmp_path / "net.mlir"
    program.write_text("""
func.func @main(%x: tensor<1x8x8x4xf32>, %w: tensor<2x2x2x4xf32>, %v: tensor<4x4xf32>) -> (tensor<1x7x7x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
      : (tensor<1x8x8x4xf32>, tensor<2x2x2x4xf32>) -> tensor<1x7x7x4xf32> loc("net/conv")
  %1 = stablehlo.dot %v, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("net/dot")
  return %0, %1 : tensor<1x7x7x4xf32>, tensor<4x4xf32>
}
""")
    report = json.loads(octavo(program, "--format", "mxfp8_e4m3", "--json"))
    assert report["others"] == [
        {"name": "net/conv", "function": "main",
         "reason": "it is a convolution, and its 2 groups have 2 features each, and those of 32 and more are dots"},
        {"name": "net/dot", "function": "main",
         "reason": "it is stablehlo.dot, and stablehlo.dot_general is quantized"}]
    text = octavo(program, "--format", "mxfp8_e4m3", "--explain")
    assert "net/conv  -      left      it is a convolution" in text
    assert "0 of 0 dots quantized, 2 products of other kinds left" in text
