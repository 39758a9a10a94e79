"""Programs that torch_mlir exported from PyTorch, with torch's own outputs (test/pytorch), and MLIR's
own dialects in them."""

import pathlib

import numpy as np
import pytest

from test_run import assert_has, octavo, write

pytestmark = pytest.mark.mlir

FOLDER = pathlib.Path(__file__).parents[1] / "pytorch" / "Inputs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.mlir"))
# Of the last bit of the largest magnitude of the output: torch sums in another order, and its vector
# functions are within a few units.
ULPS = 32


@pytest.fixture(scope="module")
def arrays():
    return np.load(FOLDER / "arrays.npz")


def run(tmp_path, program, arrays, name, *options):
    arguments = ["run", program, "--output", tmp_path / "y.npy", *options]
    for i in range(2):
        if f"{name}.input{i}" in arrays:
            np.save(tmp_path / f"x{i}.npy", arrays[f"{name}.input{i}"])
            arguments += ["--input", tmp_path / f"x{i}.npy"]
    octavo(*arguments)
    return np.load(tmp_path / "y.npy")


def test_all_are_here():
    assert len(NAMES) == 31


@pytest.mark.parametrize("name", NAMES)
def test_gives_what_torch_gives(tmp_path, arrays, name):
    expected = arrays[f"{name}.output"]
    found = run(tmp_path, FOLDER / f"{name}.mlir", arrays, name)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if expected.dtype.kind == "f":
        largest = np.abs(expected).max()
        assert np.abs(found - expected).max() <= ULPS * np.spacing(largest)
    else:
        np.testing.assert_array_equal(found, expected)


def test_weights_in_resources_are_quantized_ahead(tmp_path, arrays):
    """Named after their resources, and no longer in the program."""
    program = FOLDER / "linear.mlir"
    explained = octavo("quantize", program, "--format", "mxfp8_e4m3", "--explain", "-o", tmp_path / "q.mlir")
    assert_has(explained, "torch_tensor_8_8_torch.float32", "1 of 1 dots quantized")
    text = (tmp_path / "q.mlir").read_text()
    assert "octavo.pack" in text
    assert "dense_resource<torch_tensor_8_torch.float32>" in text  # of the norm
    assert "torch_tensor_8_8_torch.float32" not in text
    assert text.count("octavo.quantize ") == 1  # the activation
    whole = run(tmp_path, program, arrays, "linear")
    found = run(tmp_path, tmp_path / "q.mlir", arrays, "linear")
    assert 0.99 < (found * whole).sum() / np.linalg.norm(found) / np.linalg.norm(whole) < 1


# (program, the words of the error)
FOREIGN = {
    "tf": ("""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tf.AddV2"(%x, %x) {device = ""} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32> }""", ["tf.AddV2 (once)", "tf-to-stablehlo-translate"]),
    "tf_executor": ("""func.func @main() {
  tf_executor.graph {
    tf_executor.fetch
  }
  return }""", ["tf_executor.graph (once)", "tf_executor.fetch (once)", "tf-to-stablehlo-translate"]),
    "tosa": ("""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tosa.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = tosa.add %0, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32> }""", ["tosa.add (2 times)", "torch_mlir.fx.export_and_import", "nothing turns TOSA"]),
    "onnx": ("""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32> }""", ["onnx.Relu (once)", "onnx-mlir-opt --convert-onnx-to-stablehlo"]),
    "torch": ("""func.func @main() {
  %0 = torch.constant.int 1
  return }""", ["torch.constant.int (once)", 'output_type="stablehlo"']),
    "vhlo": ("""vhlo.func_v1 @main() -> () {
  vhlo.return_v1
}""", ["vhlo.func_v1 (once)", "vhlo.return_v1 (once)", "portable artifacts"]),
    "arith, custom": ("""func.func @main(%x: i32) {
  %0 = arith.frobnicate %x : i32
  return }""", ["arith.frobnicate (once)", "p.mlir:2:8"]),
    "shape, generic": ("""func.func @main(%x: tensor<2xf32>) {
  %0 = "shape.shape_or"(%x) : (tensor<2xf32>) -> tensor<1xindex>
  %1 = "sdy.a"(%x) : (tensor<2xf32>) -> tensor<1xindex>
  return }""", ["shape.shape_or (once)", "sdy.a (once)", "did you mean 'shape.shape_of'?"]),
}  # fmt: skip


@pytest.mark.parametrize("program, words", FOREIGN.values(), ids=FOREIGN)
def test_operations_of_others_are_named(tmp_path, program, words):
    path = write(tmp_path / "p.mlir", program)
    error = octavo("run", path, code=3)
    assert_has(error, "is not among the operations that octavo has", *words)
    assert "unregistered" not in error and "allowUnregistered" not in error and "unknown" not in error


def nested(levels):
    """A program of that many regions, one in another."""
    return ("func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {\n"
            + '%0 = "stablehlo.if"(%p) ({\n' * (levels - 1)
            + "stablehlo.return %x : tensor<f32>\n"
            + '}, { stablehlo.return %x : tensor<f32> }) : (tensor<i1>) -> tensor<f32>\nstablehlo.return %0 : tensor<f32>\n' * (levels - 2)
            + '}, { stablehlo.return %x : tensor<f32> }) : (tensor<i1>) -> tensor<f32>\nreturn %0 : tensor<f32>\n}\n')


def test_nesting(tmp_path):
    octavo("convert", write(tmp_path / "p.mlir", nested(2000)), "-o", tmp_path / "q.mlir")
    assert (tmp_path / "q.mlir").read_text().count("stablehlo.if") == 1999
    error = octavo("convert", write(tmp_path / "p.mlir", nested(100_000)), "-o", tmp_path / "r.mlir", code=3)
    assert_has(error, "p.mlir:", "nests deeper than 2500 levels of '{'")
    for bracket in ("[", "tuple<", "("):
        text = "func.func private @f() attributes {a = " + bracket * 100_000
        assert_has(octavo("run", write(tmp_path / "p.mlir", text), code=3), "nests deeper than 2500 levels")
