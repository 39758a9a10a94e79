"""--octavo-narrow-collectives on programs of four devices as JAX lowers them: codes and scales move, the amax of
all devices is asked for where a scale is of more than one device's part, and values stay the same."""
import pathlib
import pickle
import re
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from scaled_programs import run
from test_reference import OCTAVO

pytestmark = pytest.mark.mlir


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    path = tmp_path_factory.mktemp("spmd") / "programs.pickle"
    subprocess.run([sys.executable, pathlib.Path(__file__).with_name("scaled_spmd_programs.py"), path], check=True, timeout=300)
    return pickle.loads(path.read_bytes())


def opt(folder, text, *passes):
    before, after = folder / "before.mlir", folder / "after.mlir"
    before.write_text(text)
    ended = subprocess.run([OCTAVO.parent / "octavo-opt", before, *passes, "-o", after], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return before, after, ended.stderr


def moved(path):
    """What each collective takes."""
    names = "all_gather|all_to_all|collective_permute|reduce_scatter|all_reduce"
    return re.findall(rf'"stablehlo\.({names})"\(.*?(?:\}}>|\}}\)) : \((.*?)\) ->', path.read_text(), re.DOTALL)


# name: what is moved in the end, bytes to a process in place of those of f32
MOVED = {
    "all_gather": ("all_gather", "tensor<2x64xf8E4M3FN>, tensor<2x1xf32>", 8 * 64 + 8 * 4, 8 * 64 * 4),
    "all_gather of blocks": ("all_gather", "tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU>", 8 * 64 + 16, 8 * 64 * 4),
    "all_gather of a constant scale": ("all_gather", "tensor<2x64xf8E4M3FN>", 8 * 64, 8 * 64 * 4),
    "all_to_all": ("all_to_all", "tensor<2x64xf8E4M3FN>, tensor<2x4xf32>", 8 * 16 + 8 * 4, 8 * 16 * 4),
    "psum_scatter": ("all_to_all", "tensor<1x2x64xf8E4M3FN>, tensor<1x2x4xf32>", 8 * 16 + 8 * 4, 8 * 16 * 4),
    "a table": ("all_gather", "tensor<2x64xf8E4M3FN>, tensor<2x1xf32>", 8 * 64 + 8 * 4, 8 * 64 * 4),
}


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("name", MOVED)
def test_dequantized_values(tmp_path, programs, name, backend):
    q, found, _ = programs
    text, scales, expected = found[name]
    before, after, told = opt(tmp_path, text, "--inline", "--octavo-narrow-collectives")
    operation, operands, narrow, wide = MOVED[name]
    assert moved(after) == [(operation, operands)]
    assert f"moves codes and scales: {narrow} bytes to a process in place of {wide}" in told
    for path in (before, after):
        np.testing.assert_array_equal(run(path, [q, scales], tmp_path, "--backend", backend), expected)


QUANTIZED = {
    # weights' and activations' format; what moves; whether amax does
    "mxfp8_e4m3": ("tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU>", None),
    "fp8_row": ("tensor<2x64xf8E4M3FN>, tensor<2x1xf32>", None),
    "fp8_tensor": ("tensor<2x64xf8E4M3FN>", "tensor<1x1xf32>"),
    "nvfp4": ("tensor<2x64xf4E2M1FN>, tensor<2x4xf8E4M3FN>", "tensor<f32>"),
    "cfloat8_1_4_3_tensor": ("tensor<2x64xui8>", "tensor<1x1xf32>"),
}


@pytest.mark.parametrize("form", QUANTIZED)
def test_quantization_before_the_gather(tmp_path, programs, form):
    """Each process quantizes its part; a scale of all parts needs the amax of all."""
    _, found, _ = programs
    text, x, _ = found["activations"]
    before, quantized, _ = opt(tmp_path, text, "--inline", f"--octavo-quantize-dots=weights={form} activations={form}")
    quantized = quantized.rename(tmp_path / "quantized.mlir")
    _, after, told = opt(tmp_path, quantized.read_text(), "--octavo-narrow-collectives")
    operands, amax = QUANTIZED[form]
    assert moved(after) == ([("all_reduce", amax)] if amax else []) + [("all_gather", operands)]
    assert ("is preceded by an all_reduce of amax" in told) == (amax is not None)
    expected, result = (run(path, [x], tmp_path, "--backend", "reference") for path in (quantized, after))
    np.testing.assert_array_equal(result, expected)
    assert np.abs(result).max() > 0


def test_what_stays_wide_is_told(tmp_path, programs):
    _, found, _ = programs
    _, after, told = opt(tmp_path, found["all_to_all within blocks"][0], "--inline", "--octavo-narrow-collectives")
    assert "moves wide values, though narrow ones are behind them: 'stablehlo.all_to_all' cuts or mixes blocks; give each process whole blocks" in told
    assert [kind for kind, _ in moved(after)] == ["all_to_all"]
    _, after, told = opt(tmp_path, found["psum_scatter of what is no grid"][0], "--inline", "--octavo-narrow-collectives")
    assert "moves wide values, though narrow ones are behind them: 'stablehlo.reshape' cuts or mixes blocks" in told
    assert [kind for kind, _ in moved(after)] == ["reduce_scatter"]


def test_parts_that_cut_blocks_are_told(tmp_path):
    text = """module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%x: tensor<24x4xf32>) -> tensor<48x4xf32> {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<24x4xf32>) -> tensor<48x4xf32>
    %1 = octavo.quantize %0, rule = floor : tensor<48x4xf32> -> !octavo.scaled<48x4xf8E4M3FN, scale f8E8M0FNU, block [16, 1]>
    %2 = octavo.dequantize %1 : !octavo.scaled<48x4xf8E4M3FN, scale f8E8M0FNU, block [16, 1]> -> tensor<48x4xf32>
    return %2 : tensor<48x4xf32>
  }
}"""
    _, after, told = opt(tmp_path, text, "--octavo-narrow-collectives")
    assert "quantizes what all_gather brings: parts of 24 cut its blocks of 16" in told
    assert moved(after) == [("all_gather", "tensor<24x4xf32>")]


def quantized(x, form):
    """Values of e4m3fn under the format's scales (docs/semantics.md, S4 to S7), in NumPy."""
    blocks = x.reshape(len(x), -1, 32) if form == "psum of blocks" else x[:, None]
    axes = (-1,) if form != "psum of a scale a device" else (0, 1, 2)
    amax = np.abs(blocks).max(axes, keepdims=True)
    scale = (np.exp2(np.floor(np.log2(amax)) - 8) if form == "psum of blocks" else amax / np.float32(448)).astype(np.float32)
    codes = np.clip(blocks / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    return (codes.astype(np.float32) * scale).reshape(x.shape)


SUMS = {
    # what moves, whether an amax of all does, and bytes of the exchange and of the gathering
    "psum": ([("all_to_all", "tensor<8x64xf8E4M3FN>, tensor<8x1xf32>"), ("all_gather", "tensor<2x64xf8E4M3FN>, tensor<2x1xf32>")], False),
    "psum of blocks": ([("all_to_all", "tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>"),
                        ("all_gather", "tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU>")], False),
    "psum of a scale a device": ([("all_to_all", "tensor<8x64xf8E4M3FN>, tensor<1x1xf32>"), ("all_reduce", "tensor<1x1xf32>"),
                                  ("all_gather", "tensor<2x64xf8E4M3FN>")], True),
}


@pytest.mark.parametrize("form", SUMS)
def test_sums_are_rounded_on_request(tmp_path, programs, form):
    """reduce_scatter in f32, a quantization, all_gather: codes and scales move both times."""
    _, found, _ = programs
    text, scales, q = found[form]
    before, after, told = opt(tmp_path, text, "--inline", "--octavo-narrow-collectives")
    assert [kind for kind, _ in moved(after)] == ["all_reduce"] and told == ""  # nothing is rounded unasked
    before, after, told = opt(tmp_path, text, "--inline", "--octavo-narrow-collectives=all-reduce")
    expected, amax = SUMS[form]
    assert sorted(kind for kind, _ in moved(after)) == sorted(kind for kind, _ in expected)
    assert "the sum of this collective is rounded to" in told and "which changes values" in told
    assert told.count("moves codes and scales") == 2
    assert ("is preceded by an all_reduce of amax" in told) == amax
    parts = (q.astype(np.float32) * np.repeat(scales.astype(np.float32), 32 // len(scales), 0).repeat(64 // scales.shape[1], 1)).reshape(4, 8, 64)
    total = ((parts[0] + parts[1]) + parts[2]) + parts[3]
    wide = run(before, [q, scales], tmp_path)
    np.testing.assert_array_equal(wide, np.concatenate([total] * 4) if len(wide) == 32 else total)
    narrow = quantized(total, form)
    assert (narrow != total).any()
    for backend in ("reference", "compiled"):
        result = run(after, [q, scales], tmp_path, "--backend", backend)
        np.testing.assert_array_equal(result, np.concatenate([narrow] * 4) if len(result) == 32 else narrow)


def test_sums_without_whole_parts_are_told(tmp_path, programs):
    _, found, _ = programs
    _, after, told = opt(tmp_path, found["psum of odd extents"][0], "--inline", "--octavo-narrow-collectives=all-reduce")
    assert "no axis has parts of whole blocks of" in told and "for 4 processes" in told
    assert [kind for kind, _ in moved(after)] == ["all_reduce"]


@pytest.mark.parametrize("form", QUANTIZED)
def test_sums_that_are_quantized(tmp_path, programs, form):
    """What is quantized after an all_reduce is quantized between reduce_scatter and all_gather: equal values."""
    _, found, _ = programs
    text, x, _ = found["summed activations"]
    before, quantized, _ = opt(tmp_path, text, "--inline", f"--octavo-quantize-dots=weights={form} activations={form}")
    quantized = quantized.rename(tmp_path / "quantized.mlir")
    _, after, told = opt(tmp_path, quantized.read_text(), "--octavo-narrow-collectives")
    operands, amax = QUANTIZED[form]
    assert [kind for kind, _ in moved(after)] == ["reduce_scatter"] + ["all_reduce"] * (amax is not None) + ["all_gather"]
    assert moved(after)[-1] == ("all_gather", operands)
    expected, result = (run(path, [x], tmp_path, "--backend", "reference") for path in (quantized, after))
    np.testing.assert_array_equal(result, expected)
    assert np.abs(result).max() > 0
