"""What `octavo calibrate` says of a convolution is of its input: each value counts once, however many
windows see it, and a value that none sees does not. Percentiles are NumPy's, by nearest rank."""

import json
import math

import numpy as np
import pytest
from program_commands import octavo
from safetensors.numpy import save_file

pytestmark = pytest.mark.mlir


def convolution(places, window, stride, pad, channels=4):
    out = (places + 2 * pad - window) // stride + 1
    return f"""
func.func @main(%x: tensor<2x{places}x{places}x{channels}xf32> {{octavo.name = "x"}},
                %w: tensor<{window}x{window}x{channels}x8xf32> {{octavo.name = "w", octavo.parameter}})
    -> tensor<2x{out}x{out}x8xf32> {{
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {{stride = [{stride}, {stride}], pad = [[{pad}, {pad}], [{pad}, {pad}]]}}
      {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
      : (tensor<2x{places}x{places}x{channels}xf32>, tensor<{window}x{window}x{channels}x8xf32>) -> tensor<2x{out}x{out}x8xf32>
  return %0 : tensor<2x{out}x{out}x8xf32>
}}"""


def seen(places, window, stride, pad):
    """The places along an axis that some window covers."""
    out = (places + 2 * pad - window) // stride + 1
    return sorted({place * stride + at - pad for place in range(out) for at in range(window)} & set(range(places)))


def nearest_rank(values, percent):
    values = np.sort(np.abs(values[values != 0]))
    return values[max(math.ceil(percent * len(values) / 100), 1) - 1]


@pytest.mark.parametrize("places, window, stride, pad", [
    (12, 3, 1, 1),  # windows overlap, and those at the edge see padding
    (12, 5, 1, 0),  # a corner is seen once, the middle 25 times
    (12, 3, 2, 1),
    (13, 2, 3, 0),  # of three places one is seen by no window
    (12, 3, 3, 0),  # tiles
    (4, 3, 2, 0),   # fewer windows than places of one
])
def test_each_value_that_is_seen_counts_once(tmp_path, places, window, stride, pad):
    random = np.random.default_rng(places + 10 * window + 100 * stride)
    x = random.standard_normal((2, places, places, 4)).astype(np.float32)
    x[:, 0, :, :] *= 12  # edges are what windows see least
    x[:, :, -1, :] *= 9
    (tmp_path / "p.mlir").write_text(convolution(places, window, stride, pad))
    np.save(tmp_path / "x.npy", x)
    save_file({"w": random.standard_normal((window, window, 4, 8)).astype(np.float32)}, tmp_path / "w.safetensors")
    shown = json.loads(octavo("calibrate", "p.mlir", "--weights", "w.safetensors", "--inputs", "x.npy", "--columns",
                              "-o", "c.json", "--json", cwd=tmp_path))
    [tensor] = [each for each in shown["tensors"] if each["side"] == "lhs"]
    axis = seen(places, window, stride, pad)
    values = x[:, axis][:, :, axis].ravel()
    assert tensor["values"] == values.size
    assert tensor["amax"] == np.abs(values).max()
    for percent, value in tensor["percentiles"].items():
        exact = nearest_rank(values, float(percent))
        assert exact <= value <= exact * (1 + 1 / 64), percent
    # The columns are those of the patches, whose magnitudes are their own.
    assert tensor["columns"] == window * window * 4
    [kept] = [each for each in json.loads((tmp_path / "c.json").read_text())["tensors"] if each["side"] == "lhs"]
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    out = (places + 2 * pad - window) // stride + 1
    amax = [np.abs(padded[:, i:i + stride * out:stride, j:j + stride * out:stride, c][:, :out, :out]).max()
            for i in range(window) for j in range(window) for c in range(4)]
    np.testing.assert_array_equal(sorted(np.float32(kept["column_amax"])), sorted(np.float32(amax)))


def test_static_ranges_by_mse_lose_no_more_than_by_amax(tmp_path):
    """The squared error of the values themselves, under ml_dtypes' FP8, for tensors of many kinds."""
    import ml_dtypes

    random = np.random.default_rng(15)
    (tmp_path / "p.mlir").write_text("""
func.func @main(%x: tensor<64x64xf32> {octavo.name = "x"}, %w: tensor<64x64xf32> {octavo.name = "w", octavo.parameter})
    -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}""")
    save_file({"w": np.eye(64, dtype=np.float32)}, tmp_path / "w.safetensors")
    normal = random.standard_normal((64, 64)).astype(np.float32)
    outlier = normal.copy()
    outlier[3, 5] = 4e4
    for name, values in {"normal": normal, "outlier": outlier, "grid": np.round(normal * 4) / 4,
                         "tail": normal ** 5, "few": np.where(random.random((64, 64)) < 0.01, normal, 0)}.items():
        x = values.astype(np.float32)
        np.save(tmp_path / "x.npy", x)
        octavo("calibrate", "p.mlir", "--weights", "w.safetensors", "--inputs", "x.npy", "-o", "c.json", cwd=tmp_path)
        errors = {}
        for choice in ("amax", "mse"):
            [dot] = json.loads(octavo("quantize", "p.mlir", "--format", "fp8_tensor", "--calibration", "c.json",
                                      "--range", choice, "--json", cwd=tmp_path))["dots"]
            scale = np.float32(dot["lhs_amax"]) / np.float32(448)
            codes = np.clip(x / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float64)
            errors[choice] = ((codes * scale - x) ** 2).sum()
        assert errors["mse"] <= errors["amax"] * (1 + 1e-6), name
