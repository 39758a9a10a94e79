"""The command with formats that only a build with OCTAVO_TRIAL_FORMATS has: elements of 5 bits, which
MLIR, ml_dtypes and files lack, and of e3m4, which files lack."""
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from trial_formats import TABLES, TRIAL

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
FORMATS = {row["name"]: row for table in TABLES.values() for row in table}
NAMES = ["mxfp5_e2m2", "mxfp8_e3m4"]
pytestmark = pytest.mark.skipif(not TRIAL, reason="a build without OCTAVO_TRIAL_FORMATS")


def octavo(*arguments, code=0):
    run = subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert run.returncode == code, (run.stdout, run.stderr)
    return run.stdout if code == 0 else run.stderr


# All magnitudes that the elements have: zero, three subnormals a quarter apart and four values an
# octave; of e3m4 what ml_dtypes says.
MAGNITUDES = {
    "mxfp5_e2m2": np.array([0, .25, .5, .75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7]),
    "mxfp8_e3m4": np.arange(0x70, dtype=np.uint8).view(ml_dtypes.float8_e3m4).astype(np.float64),
}


def fake_quantized(x, name):
    """OCP MX 6.3 along the last axis of a matrix of whole blocks, in NumPy."""
    magnitudes = MAGNITUDES[name]
    blocks = x.reshape(-1, 32).astype(np.float64)
    exponent = np.frexp(np.abs(blocks).max(-1, keepdims=True))[1] - np.frexp(magnitudes[-1])[1]
    scale = 2.0 ** exponent.astype(np.float64)
    distance = np.abs(np.abs(blocks / scale)[..., None] - magnitudes)
    codes = np.arange(len(magnitudes))
    # of two at the same distance the one whose code is even
    nearest = np.where(distance == distance.min(-1, keepdims=True), codes % 2, 2).argmin(-1)
    return (np.copysign(magnitudes[nearest], blocks) * scale).reshape(x.shape).astype(np.float32)


def test_the_tables_have_their_rows():
    five = FORMATS["e2m2fn"]
    assert (five["bits"], five["max"], five["min_normal"], five["min_subnormal"]) == (5, 7, 1, 0.25)
    assert [five[system] for system in ("mlir", "numpy", "torch", "safetensors", "ocp")] == [None] * 5
    assert [FORMATS[name]["bits_per_value"] for name in NAMES] == [5.25, 8.25]


@pytest.mark.parametrize("name", NAMES)
def test_checkpoints_refuse_them_by_name(name, tmp_path):
    (tmp_path / "in").mkdir()
    w = np.random.default_rng(0).standard_normal((64, 64), np.float32)
    safetensors.numpy.save_file({"model.layers.0.mlp.up_proj.weight": w}, tmp_path / "in/model.safetensors")
    (tmp_path / "in/config.json").write_text("{}")
    for layout in ("native", "compressed-tensors", "modelopt", "quark"):
        message = octavo("checkpoint", "quantize", tmp_path / "in", "-o", tmp_path / "out", "--layout", layout,
                         "--format", name, code=2)
        assert f'layout {layout}: no format "{name}"' in message and f"no layout has {name}" in message
        assert not (tmp_path / "out").exists()
    octavo("checkpoint", "quantize", tmp_path / "in", "-o", tmp_path / "mx", "--layout", "native", "--format", "mxfp4")
    for flags in ((), ("--requantize",)):
        message = octavo("checkpoint", "convert", tmp_path / "mx", "-o", tmp_path / "out", "--layout", "native",
                         "--format", name, *flags, code=2)
        assert name in message and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", NAMES)
def test_errors_of_values_are_those_of_numpy(name, tmp_path):
    x = np.random.default_rng(1).standard_normal((64, 256), np.float32)
    safetensors.numpy.save_file({"w": x}, tmp_path / "w.safetensors")
    source = json.loads(octavo("analyze", "--weights", tmp_path / "w.safetensors", "--tensor", "w", "--format", name,
                               "--json"))["sources"][0]
    (row,) = [row for row in source["rows"] if row["rule"] == "floor" and row["preset"] is None]
    error = fake_quantized(x, name).astype(np.float64) - x
    assert row["qsnr_db"] == pytest.approx(10 * np.log10((x.astype(np.float64) ** 2).sum() / (error ** 2).sum()), abs=1e-6)


@pytest.mark.mlir
@pytest.mark.parametrize("name", NAMES)
def test_a_program_runs_with_them(name, tmp_path):
    random = np.random.default_rng(2)
    w, x = random.standard_normal((4, 64), np.float32), random.standard_normal((3, 64), np.float32)
    (tmp_path / "p.mlir").write_text("""
func.func public @main(%w: tensor<4x64xf32> {octavo.name = "w", octavo.parameter}, %x: tensor<3x64xf32> {octavo.name = "x"})
    -> (tensor<3x4xf32> {octavo.name = "y"}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<3x64xf32>, tensor<4x64xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
""")
    safetensors.numpy.save_file({"w": w}, tmp_path / "w.safetensors")
    np.save(tmp_path / "x.npy", x)
    octavo("run", tmp_path / "p.mlir", "--weights", tmp_path / "w.safetensors", "--input", f"x={tmp_path}/x.npy",
           "--quantize", name, "--output", tmp_path / "y.npy")
    expected = fake_quantized(x, name).astype(np.float64) @ fake_quantized(w, name).T.astype(np.float64)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, rtol=1e-5, atol=1e-5)
