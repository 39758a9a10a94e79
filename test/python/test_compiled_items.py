"""Folders of programs of any number of items, called from C."""
import subprocess

import numpy as np
import pytest
from compiled_folder import BIN, HEADER, f32, octavo, run_in_c, run_in_octavo, runner

pytestmark = pytest.mark.mlir

ITEMS = """
func.func @main(%x: tensor<?x16xf32> {octavo.name = "x"}, %y: tensor<?x3xi32> {octavo.name = "y"},
                %w: tensor<16x24xf32> {octavo.name = "w", octavo.parameter}, %v: tensor<3xi32> {octavo.name = "v"})
    -> (tensor<?x24xf32>, tensor<?x3xi32>, tensor<3xi32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x16xf32>, tensor<16x24xf32>) -> tensor<?x24xf32>
  %1 = stablehlo.negate %0 : tensor<?x24xf32>
  %2 = stablehlo.multiply %y, %y : tensor<?x3xi32>
  %3 = stablehlo.negate %v : tensor<3xi32>
  return %1, %2, %3 : tensor<?x24xf32>, tensor<?x3xi32>, tensor<3xi32>
}"""


@pytest.mark.parametrize("options", [[], ["--quantize", "mxfp8_e4m3"], ["--quantize", "mxfp4", "--activations", "none"]])
def test_any_number_of_items(tmp_path, runner, options):
    """One folder, with the bits of the interpreter, and of `octavo run` for each number where products are quantized."""
    from safetensors.numpy import save_file
    drawn = np.random.default_rng(7)
    w = drawn.integers(-3, 4, (16, 24)).astype(np.float32)
    save_file({"w": w}, tmp_path / "w.safetensors")
    options = [*options, "--weights", tmp_path / "w.safetensors"]
    (tmp_path / "p.mlir").write_text(ITEMS)
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder", *options)
    for items in (1, 2, 7, 1009, 16, 17, 3):
        arrays = [drawn.integers(-3, 4, (items, 16)).astype(np.float32),
                  drawn.integers(-9, 9, (items, 3), dtype=np.int32), np.array([1, -2, 3], np.int32)]
        found = run_in_c(runner, tmp_path / "folder", arrays, 3)
        backend = [] if "--quantize" in options else ["--backend", "reference"]
        assert found == run_in_octavo(tmp_path / "p.mlir", arrays, *options, *backend)
        assert found[1:] == [(arrays[1] ** 2).tobytes(), (-arrays[2]).tobytes()]
    # Of no items, what is not of items is there all the same.
    none = [np.zeros((0, 16), np.float32), np.zeros((0, 3), np.int32), np.array([4, 5, 6], np.int32)]
    assert run_in_c(runner, tmp_path / "folder", none, 3) == [b"", b"", np.array([-4, -5, -6], np.int32).tobytes()]


@pytest.mark.parametrize("options", [[], ["--quantize", "mxfp8_e4m3"]])
def test_convolutions_of_any_number_of_images(tmp_path, runner, options):
    """Padded windows that overlap and, on bf16, windows side by side, and the gradient of a weight, which contracts the
    images, of numbers whose sums are exact."""
    from safetensors.numpy import save_file
    drawn = np.random.default_rng(8)
    save_file({"w": drawn.integers(-1, 2, (3, 3, 32, 8)).astype(np.float32)}, tmp_path / "w.safetensors")
    (tmp_path / "p.mlir").write_text("""
func.func @main(%x: tensor<?x4x6x32xf32> {octavo.name = "x"}, %w: tensor<3x3x32x8xf32> {octavo.name = "w", octavo.parameter})
    -> (tensor<?x4x6x8xf32>, tensor<?x1x2x8xf32>, tensor<3x3x32x8xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<?x4x6x32xf32>, tensor<3x3x32x8xf32>) -> tensor<?x4x6x8xf32>
  %n = stablehlo.negate %0 : tensor<?x4x6x8xf32>
  %1 = stablehlo.convert %x : (tensor<?x4x6x32xf32>) -> tensor<?x4x6x32xbf16>
  %2 = stablehlo.convert %w : (tensor<3x3x32x8xf32>) -> tensor<3x3x32x8xbf16>
  %3 = stablehlo.convolution(%1, %2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [3, 3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<?x4x6x32xbf16>, tensor<3x3x32x8xbf16>) -> tensor<?x1x2x8xf32>
  %sizes = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4x6x32xf32>) -> tensor<i32>
  %count = stablehlo.reshape %sizes : (tensor<i32>) -> tensor<1xi32>
  %rest = stablehlo.constant dense<[4, 6, 8]> : tensor<3xi32>
  %end = stablehlo.concatenate %count, %rest, dim = 0 : (tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>
  %begin = stablehlo.constant dense<0> : tensor<4xi32>
  %step = stablehlo.constant dense<1> : tensor<4xi32>
  %4 = stablehlo.real_dynamic_slice %x, %begin, %end, %step : (tensor<?x4x6x32xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<?x4x6x8xf32>
  %5 = stablehlo.convolution(%x, %4) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<?x4x6x32xf32>, tensor<?x4x6x8xf32>) -> tensor<3x3x32x8xf32>
  return %n, %3, %5 : tensor<?x4x6x8xf32>, tensor<?x1x2x8xf32>, tensor<3x3x32x8xf32>
}""")
    options = [*options, "--weights", tmp_path / "w.safetensors"]
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder", *options)
    for items in (3, 1, 1009):
        x = drawn.integers(-3, 4, (items, 4, 6, 32)).astype(np.float32)
        found = run_in_c(runner, tmp_path / "folder", [x], 3)
        assert found == run_in_octavo(tmp_path / "p.mlir", [x], *options, "--backend", "reference")


@pytest.mark.parametrize("options", [[], ["--quantize", "mxfp4"]])
def test_loops_and_branches_of_any_number_of_items(tmp_path, runner, options):
    """A loop over layers carries two tensors of items, of which each becomes the other, and a branch gives one."""
    from safetensors.numpy import save_file
    drawn = np.random.default_rng(9)
    w = drawn.integers(-1, 2, (3, 32, 32)).astype(np.float32)
    save_file({"w": w}, tmp_path / "w.safetensors")
    (tmp_path / "p.mlir").write_text("""
func.func @main(%x: tensor<?x32xf32> {octavo.name = "x"}, %k: tensor<i32> {octavo.name = "k"},
                %w: tensor<3x32x32xf32> {octavo.name = "w", octavo.parameter}) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %n = stablehlo.negate %x : tensor<?x32xf32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %n) : tensor<i32>, tensor<?x32xf32>, tensor<?x32xf32>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %slice = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 32, 32] : (tensor<3x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x32xf32>
    %layer = stablehlo.reshape %slice : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    %d = stablehlo.dot_general %a, %layer, contracting_dims = [1] x [0] : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
    %s = stablehlo.add %d, %b : tensor<?x32xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %s, %a : tensor<i32>, tensor<?x32xf32>, tensor<?x32xf32>
  }
  %1 = "stablehlo.case"(%k) ({
    %m = stablehlo.negate %0#2 : tensor<?x32xf32>
    stablehlo.return %m : tensor<?x32xf32>
  }, {
    stablehlo.return %x : tensor<?x32xf32>
  }) : (tensor<i32>) -> tensor<?x32xf32>
  return %0#1, %1 : tensor<?x32xf32>, tensor<?x32xf32>
}""")
    options = [*options, "--weights", tmp_path / "w.safetensors"]
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder", *options)
    for items in (3, 1, 1009, 0):
        x = drawn.integers(-2, 3, (items, 32)).astype(np.float32)
        for k in (0, 1):
            arrays = [x, np.array(k, np.int32)]
            found = run_in_c(runner, tmp_path / "folder", arrays, 2)
            assert found == run_in_octavo(tmp_path / "p.mlir", arrays, *options, "--backend", "reference")
            if "--quantize" not in options:
                a, b = x, -x
                for layer in w:
                    a, b = a @ layer + b, a
                assert found == [a.tobytes(), (x if k else -b).tobytes()]


def test_scans_and_sums_of_any_number_of_items(tmp_path, runner):
    """What JAX scans over the second axis, and sums over the items, with whole numbers: numpy's bits."""
    jax = pytest.importorskip("jax")
    import jax.export
    import jax.numpy as jnp
    drawn = np.random.default_rng(10)
    w = drawn.integers(-1, 2, (16, 16)).astype(np.float32)

    def function(x):
        def step(h, now):
            h = jnp.maximum(now @ w - h, 0) % 8
            return h, h * 2
        h, all_of_them = jax.lax.scan(step, jnp.zeros((x.shape[0], 16)), x.swapaxes(0, 1))
        return h, all_of_them, x.sum(0)

    shape = jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 5, 16"), np.float32)
    exported = jax.export.export(jax.jit(function))(shape)
    (tmp_path / "p.mlir").write_text(exported.mlir_module())
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder")
    for items in (3, 1, 1009, 16):
        x = drawn.integers(-3, 4, (items, 5, 16)).astype(np.float32)
        h, turns = np.zeros((items, 16), np.float32), []
        for turn in range(5):
            h = np.maximum(x[:, turn] @ w - h, 0) % 8
            turns.append(h * 2)
        found = run_in_c(runner, tmp_path / "folder", [x], 3)
        assert found == [h.tobytes(), np.stack(turns).tobytes(), x.sum(0).tobytes()]


def test_what_items_give_together(tmp_path, runner):
    """Gradients of weights, columns of items, and some rows more than items: whole numbers, numpy's bits."""
    (tmp_path / "p.mlir").write_text("""
func.func @main(%x: tensor<?x6xf32>, %w: tensor<5x6xf32>) -> (tensor<6x6xf32>, tensor<5x?xf32>, tensor<?x6xf32>, tensor<?x6xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<6x6xf32>
  %1 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [1] : (tensor<5x6xf32>, tensor<?x6xf32>) -> tensor<5x?xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.pad %x, %zero, low = [2, 0], high = [1, 0], interior = [0, 0] : (tensor<?x6xf32>, tensor<f32>) -> tensor<?x6xf32>
  %3 = stablehlo.dot_general %2, %0, contracting_dims = [1] x [0] : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  return %0, %1, %2, %3 : tensor<6x6xf32>, tensor<5x?xf32>, tensor<?x6xf32>, tensor<?x6xf32>
}""")
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder")
    drawn = np.random.default_rng(11)
    w = drawn.integers(-2, 3, (5, 6)).astype(np.float32)
    for items in (3, 1, 64, 1009, 2):
        x = drawn.integers(-2, 3, (items, 6)).astype(np.float32)
        padded = np.pad(x, ((2, 1), (0, 0)))
        found = run_in_c(runner, tmp_path / "folder", [x, w], 4)
        assert found == [each.tobytes() for each in (x.T @ x, w @ x.T, padded, padded @ (x.T @ x))]


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "fp8_row"])
def test_quantized_products_along_items(tmp_path, runner, format):
    """The gradient of a weight, in blocks of items, and columns of items: the bits of `octavo run` for each number."""
    (tmp_path / "p.mlir").write_text("""
func.func @main(%x: tensor<?x16xf32> {octavo.name = "x"}, %y: tensor<?x24xf32> {octavo.name = "y"}) -> (tensor<16x24xf32>, tensor<24x?xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<?x16xf32>, tensor<?x24xf32>) -> tensor<16x24xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [0] x [1] : (tensor<16x24xf32>, tensor<?x16xf32>) -> tensor<24x?xf32>
  return %0, %1 : tensor<16x24xf32>, tensor<24x?xf32>
}""")
    options = ["--quantize", format, "--both-activations"]
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder", *options)
    drawn = np.random.default_rng(11)
    for items in (3, 1, 33, 1009, 32):
        arrays = [drawn.standard_normal((items, columns), np.float32) for columns in (16, 24)]
        assert run_in_c(runner, tmp_path / "folder", arrays, 2) == run_in_octavo(tmp_path / "p.mlir", arrays, *options)


def test_pairs_of_items(tmp_path, runner):
    """What each item has with each, within the program: whole numbers, numpy's bits. C is not told of such results."""
    text = """
func.func @main(%x: tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<f32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.abs %0 : tensor<?x?xf32>
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0] : (tensor<?x?xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%0 init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<f32>
  return %2, %3 : tensor<?x6xf32>, tensor<f32>
}"""
    (tmp_path / "p.mlir").write_text(text)
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder")
    drawn = np.random.default_rng(12)
    for items in (3, 1, 500, 17):
        x = drawn.integers(-2, 3, (items, 6)).astype(np.float32)
        pairs = x @ x.T
        assert run_in_c(runner, tmp_path / "folder", [x], 2) == [(abs(pairs) @ x).tobytes(), np.maximum(pairs.max(), 0).tobytes()]
    (tmp_path / "q.mlir").write_text(text.replace("(tensor<?x6xf32>, tensor<f32>) {", "tensor<?x?xf32> {").replace(
        "return %2, %3 : tensor<?x6xf32>, tensor<f32>", "return %1 : tensor<?x?xf32>"))
    assert "more than one axis" in octavo("compile", tmp_path / "q.mlir", "-o", tmp_path / "other", code=3)


def test_sums_of_no_items_are_not_for_folders(tmp_path, runner):
    """A loop over the items goes round at least once; a program that asserts nothing is for one and more."""
    (tmp_path / "p.mlir").write_text("""
func.func @main(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}""")
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder")
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert run_in_c(runner, tmp_path / "folder", [x], 1) == [x.sum(0).tobytes()]
    assert "@main takes 1 to " in run_in_c(runner, tmp_path / "folder", [x[:0]], 1, code=1)
    assert run_in_octavo(tmp_path / "p.mlir", [x[:0]]) == [np.zeros(4, np.float32).tobytes()]


def test_no_items_are_none_where_a_fixed_one_is_read(tmp_path, runner):
    """The first item is there of one and more; of none there is no slice of it."""
    (tmp_path / "p.mlir").write_text("""
func.func @main(%x: tensor<?x4xf32>) -> tensor<1x4xf32> {
  %0 = stablehlo.slice %x [0:1, 0:4] : (tensor<?x4xf32>) -> tensor<1x4xf32>
  %1 = stablehlo.negate %0 : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}""")
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder")
    x = f32(3, 4)
    assert run_in_c(runner, tmp_path / "folder", [x], 1) == [(-x[0]).tobytes()]
    assert "@main takes 1 to " in run_in_c(runner, tmp_path / "folder", [x[:0]], 1, code=1)
    (tmp_path / "three.mlir").write_text("""
func.func @main(%x: tensor<?x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.slice %x [0:3, 0:4] : (tensor<?x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}""")
    octavo("compile", tmp_path / "three.mlir", "-o", tmp_path / "other")
    x = f32(5, 4)
    assert run_in_c(runner, tmp_path / "other", [x], 1) == [x[:3].tobytes()]
    assert "@main takes 3 to " in run_in_c(runner, tmp_path / "other", [x[:2]], 1, code=1)


def test_items_in_c(tmp_path):
    """What the library says of items, and refuses."""
    (tmp_path / "p.mlir").write_text(ITEMS)
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder")
    source = tmp_path / "items.c"
    source.write_text("""
#include "octavo_program.h"
#include <string.h>
int main(int argc, char** argv) {
  octavo_program* program = octavo_program_load(argv[argc - 1]);
  if (!program) return 1;
  if (octavo_program_least_items(program) != 0 || octavo_program_most_items(program) < 1000000) return 2;
  octavo_tensor x = octavo_program_argument(program, 0), w = octavo_program_argument(program, 2);
  octavo_tensor given = octavo_program_result(program, 0), fixed = octavo_program_result(program, 2);
  if (x.items_axis != 0 || x.shape[0] != 1 || x.shape[1] != 16 || x.bytes != 64 || x.item_extent != 1 || x.item_bytes != 64) return 3;
  if (w.items_axis != -1 || w.bytes != 16 * 24 * 4 || w.item_extent != 0 || w.item_bytes != 0) return 4;
  if (given.items_axis != 0 || given.bytes != 96 || fixed.items_axis != -1 || fixed.bytes != 12) return 5;
  float xs[2][16], ws[16][24], ys[2][24];
  int ids[2][3], squares[2][3], v[3] = {1, 2, 3}, negated[3];
  for (int i = 0; i < 16; ++i) {
    xs[0][i] = 1;
    xs[1][i] = 2;
    for (int j = 0; j < 24; ++j) ws[i][j] = (float)j;
  }
  for (int i = 0; i < 3; ++i) ids[0][i] = ids[1][i] = i + 5;
  const void* arguments[] = {xs, ids, ws, v};
  void* results[] = {ys, squares, negated};
  ys[1][1] = 7;
  if (octavo_program_run(program, arguments, results) != 0 || ys[0][1] != -16 || ys[1][1] != 7) return 6;
  if (octavo_program_run_items(program, 2, arguments, results, 1) != 0) return 7;
  for (int j = 0; j < 24; ++j)
    if (ys[0][j] != -16.0f * (float)j || ys[1][j] != -32.0f * (float)j) return 8;
  if (squares[1][2] != 49 || negated[2] != -3) return 9;
  if (octavo_program_run_items(program, -1, arguments, results, 0) != -1 ||
      !strstr(octavo_last_error(), "and -1 were given")) return 10;
  if (octavo_program_run_items(program, INT64_MAX, arguments, results, 0) != -1) return 11;
  octavo_program_free(program);
  return 0;
}
""")
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", source, "-I", HEADER, "-L", BIN, "-loctavo-program",
                    f"-Wl,-rpath,{BIN}", "-o", tmp_path / "items"], check=True)
    done = subprocess.run([tmp_path / "items", tmp_path / "folder"], capture_output=True, timeout=120)
    assert done.returncode == 0, done
