"""Tesla's CFloat8 (S20) as formats of programs: chosen by `octavo tune`, quantized, run, explained. Values against
NumPy, with grids written from the paper's fields."""
import json
import subprocess

import numpy as np
import pytest
from program_commands import BIN, octavo
from test_tune import Case, worst_cosine

pytestmark = pytest.mark.mlir

# Exponent bits, trailing significand bits, bias.
FIELDS = {"cfloat8_1_4_3": (4, 3, 7), "cfloat8_1_5_2": (5, 2, 15)}
FORMATS = [f"{name}_tensor" for name in FIELDS]


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def grid(name):
    """All values that are not negative: no code is left for Inf and NaN."""
    exponents, trailing, bias = FIELDS[name]
    return np.array([(trail / 2 ** trailing + (exponent > 0)) * 2.0 ** (max(exponent, 1) - bias)
                     for exponent in range(2 ** exponents) for trail in range(2 ** trailing)])


def quantized(x, name):
    """One scale, the least power of two under which nothing saturates; to the nearest, of two to the even code."""
    values = grid(name)
    scale = 2.0 ** np.ceil(np.log2(np.abs(x).max() / values[-1]))
    y = np.abs(x / scale)
    below = np.clip(np.searchsorted(values, y, "right") - 1, 0, len(values) - 2)
    to_low, to_high = y - values[below], values[below + 1] - y
    code = below + ((to_high < to_low) | ((to_high == to_low) & (below % 2 == 1)))
    return np.copysign(values[code], x) * scale


def outputs(case, name):
    from safetensors.numpy import load_file
    weights, value = load_file(case.weights), np.load(case.x)
    for i, each in enumerate("abc"):
        value = quantized(value, name) @ quantized(weights[each].astype(np.float64), name)
        value = value if i == 2 else np.tanh(value).astype(np.float32)
    return value


def test_they_are_candidates_of_tune(case):
    report = case.tune("cosine >= 0.995", formats=[*FORMATS, "mxfp4"])
    reference = case.output()
    for name, uniform in zip(FIELDS, report["uniform"]):
        assert uniform["formats"] == [f"{name}_tensor"] * 3
        assert uniform["bytes"] == 3 * (64 * 64 + 1)
        # An activation that falls to another code moves it by less.
        assert uniform["value"] == pytest.approx(worst_cosine(reference, outputs(case, name)), abs=1e-4)
    assert report["is_met"] and set(FORMATS) & set(report["chosen"]["formats"])
    found = worst_cosine(reference, case.output(case.recipe))
    assert found == pytest.approx(report["chosen"]["value"], abs=1e-12) and found >= 0.995


@pytest.mark.parametrize("activations, preset", [
    (None, None), ("none", None), ("cfloat8_1_5_2_tensor", None), (None, "tesla"), ("cfloat8_1_5_2_tensor", "tesla")])
def test_programs_of_them_are_run_and_explained(case, activations, preset):
    rule = {"weights": "cfloat8_1_4_3_tensor"} | ({"activations": activations} if activations else {}) | (
        {"preset": preset} if preset else {})
    path = case.folder / "recipe.json"
    path.write_text(json.dumps({"rules": [rule]}))
    program = case.folder / "q.mlir"
    assert "3 of 3 dots quantized" in octavo("quantize", case.program, "--recipe", path, "-o", program)
    found = []
    for backend in ("compiled", "reference"):
        y = case.folder / f"{backend}.npy"
        octavo("run", program, "--weights", case.weights, "--input", case.x, "--backend", backend, "--output", y)
        found.append(np.load(y))
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found[0], case.output({"rules": [rule]}))
    explained = octavo("explain", program)
    side = {None: "cfloat8_1_4_3 by f8E8M0FNU, block [8, 64]", "none": "f32",
            "cfloat8_1_5_2_tensor": "cfloat8_1_5_2 by f8E8M0FNU, block [8, 64]"}[activations]
    assert explained.count(f"{side} x cfloat8_1_4_3 by f8E8M0FNU, block [64, 64]") == 3
    octavo("compile", program, "--weights", case.weights, "-o", case.folder / "compiled")


def test_a_dot_of_their_values_is_one_of_the_scaled_tensor(tmp_path):
    scaled = "!octavo.scaled<64x64xcfloat8_1_4_3, scale f8E8M0FNU, block [64, 64]>"
    program = tmp_path / "program.mlir"
    program.write_text(f"""
func.func @main(%x: tensor<8x64xf32>, %w: {scaled}) -> tensor<8x64xf32> {{
  %0 = octavo.dequantize %w : {scaled} -> tensor<64x64xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}}""")
    explained = octavo("explain", program)
    assert "f32 x cfloat8_1_4_3 by f8E8M0FNU, block [64, 64]" in explained and "0 missed" in explained


def test_they_are_written_as_codes_of_bytes(case):
    program, emitted = case.folder / "q.mlir", case.folder / "emitted.mlir"
    octavo("quantize", case.program, "--format", FORMATS[0], "-o", program)
    subprocess.run([BIN / "octavo-opt", program, "--octavo-emit", "-o", emitted], check=True)
    assert "octavo.quantize" not in emitted.read_text() and "tensor<64x64xui8>" in emitted.read_text()
    found = []
    for each in (program, emitted):
        y = case.folder / "y.npy"
        octavo("run", each, "--weights", case.weights, "--input", case.x, "--output", y)
        found.append(np.load(y))
    np.testing.assert_allclose(*found, rtol=1e-5, atol=1e-6)
