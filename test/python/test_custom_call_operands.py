"""Custom calls of programs from files, whose operands and functions are not of the types that the call reads."""

import subprocess

import numpy as np
import pytest
from commands import OCTAVO

pytestmark = pytest.mark.mlir


def run(folder, text, *arrays):
    (folder / "p.mlir").write_text(text)
    inputs = []
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", array)
        inputs += ["--input", folder / f"{i}.npy"]
    return subprocess.run([OCTAVO, "run", folder / "p.mlir", *inputs], capture_output=True, text=True, timeout=60)


def assert_refused(ended, *words):
    assert ended.returncode in (1, 3), (ended.returncode, ended.stderr)
    for word in words:
        assert word in ended.stderr, (word, ended.stderr)


CONVERT = """func.func @main(%x: tensor<4096xf32>, %r: tensor<4096xBITS>) -> tensor<4096xui8> {
  %0 = stablehlo.custom_call @octavo_convert(%x, %r) {backend_config = {format = "e4m3fn", rounding = "stochastic", overflow = "saturate", nan = "own"}, api_version = 4 : i32} : (tensor<4096xf32>, tensor<4096xBITS>) -> tensor<4096xui8>
  return %0 : tensor<4096xui8>
}
"""
QUANTIZE = """func.func @main(%x: tensor<64x64xf32>, %r: tensor<64x64xBITS>) -> tensor<64x64xui8> {
  %n = stablehlo.constant dense<> : tensor<0xf32>
  %0:3 = stablehlo.custom_call @octavo_quantize(%x, %r, %n) {backend_config = {format = "mxfp8_e4m3", input = "f32", preset = "", rule = "", rounding = "stochastic", overflow = "", nan = "", axis_from_end = 1 : i64}, api_version = 4 : i32} : (tensor<64x64xf32>, tensor<64x64xBITS>, tensor<0xf32>) -> (tensor<64x64xui8>, tensor<64x2xui8>, tensor<f32>)
  return %0#0 : tensor<64x64xui8>
}
"""


@pytest.mark.parametrize("text", [CONVERT, QUANTIZE], ids=["convert", "quantize"])
@pytest.mark.parametrize("bits", ["ui8", "i32", "i1", "f32", "ui64"])
def test_random_bits_of_another_type_are_refused(tmp_path, text, bits):
    """Of bytes there are a quarter of those that are read."""
    shape = (4096,) if text is CONVERT else (64, 64)
    dtype = {"ui8": np.uint8, "i32": np.int32, "i1": np.bool_, "f32": np.float32, "ui64": np.uint64}[bits]
    ended = run(tmp_path, text.replace("BITS", bits), np.ones(shape, np.float32), np.zeros(shape, dtype))
    assert_refused(ended, "random", "p.mlir:")


TOP_K = """func.func @main(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %z, %n) {called_computations = [@less], mhlo.backend_config = {reduction_dim = 0 : i64}, backend_config = {reduction_dim = 0 : i64}, api_version = 4 : i32} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}
func.func private @less(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<TYPE> {
BODY
}
"""


def test_comparators_give_a_truth(tmp_path):
    x, i = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32), np.arange(8, dtype=np.int32)
    good = TOP_K.replace("TYPE", "i1").replace("BODY", """  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>""")
    ended = run(tmp_path, good, x, i)
    assert ended.returncode == 0, ended.stderr
    wide = TOP_K.replace("TYPE", "complex<f64>").replace("BODY", """  %0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f64>>
  return %0 : tensor<complex<f64>>""")
    assert_refused(run(tmp_path, wide, x, i), "gives an i1")
