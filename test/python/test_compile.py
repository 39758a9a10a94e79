"""`octavo compile`: folders from which programs run without a compiler, called from C: each kind of step."""
import json
import subprocess

import numpy as np
import pytest
from compiled_folder import (
    BIN, ELEMENTWISE, HEADER, assert_same, f32, kernels_of, octavo, run_in_c, run_in_octavo, runner, weights_of
)

pytestmark = pytest.mark.mlir


def test_one_kernel(tmp_path, runner):
    x, y = f32(5, 7), f32(7, seed=1)
    folder = assert_same(tmp_path, runner, ELEMENTWISE, [x, y])
    assert sorted(path.name for path in folder.iterdir()) == [
        kernels_of(folder).name, "program.octavo", weights_of(folder).name]
    # Not only the same as the compiler that wrote it: what tanh is.
    (result,) = run_in_c(runner, folder, [x, y], 1)
    np.testing.assert_allclose(np.frombuffer(result, np.float32), np.tanh(x * y).ravel(), rtol=1e-6)


def test_the_library_needs_no_compiler():
    needed = subprocess.run(["readelf", "-d", BIN / "liboctavo-program.so"], capture_output=True, text=True,
                            check=True).stdout
    assert "NEEDED" in needed and "LLVM" not in needed and "MLIR" not in needed
    symbols = subprocess.run(["nm", "-C", "--defined-only", BIN / "liboctavo-program.so"], capture_output=True,
                             text=True).stdout
    assert " mlir::" not in symbols and " llvm::" not in symbols
    visible = subprocess.run(["nm", "-D", "--defined-only", BIN / "liboctavo-program.so"], capture_output=True,
                             text=True, check=True).stdout
    assert {line.split()[-1] for line in visible.splitlines() if "octavo" in line} == {
        "octavo_program_load", "octavo_program_free", "octavo_program_argument_count",
        "octavo_program_result_count", "octavo_program_argument", "octavo_program_result",
        "octavo_program_run", "octavo_program_run_on", "octavo_program_run_items", "octavo_program_least_items",
        "octavo_program_most_items", "octavo_last_error"}


def test_the_header_is_c_and_cxx():
    for language, standard in (("c", "c99"), ("c++", "c++11")):
        subprocess.run(["cc", f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
                        "-x", language, HEADER / "octavo_program.h"], check=True)


# What a step is in a file: one program of each kind, with the bits of `octavo run`.

def test_a_program_without_kernels(tmp_path, runner):
    folder = assert_same(tmp_path, runner, """
func.func @main(%x: tensor<3x4xf32>, %y: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}""", [f32(3, 4), f32(4, 2, seed=1)])
    assert not list(folder.glob("kernels-*"))


@pytest.mark.parametrize("rows", [1, 24, 300])
def test_products_of_constants_and_a_chain(tmp_path, runner, rows):
    assert_same(tmp_path, runner, f"""
func.func @main(%x: tensor<{rows}x64xf32>) -> tensor<{rows}x48xf32> {{
  %w = stablehlo.iota dim = 1 : tensor<64x96xf32>
  %c = stablehlo.constant dense<0.03125> : tensor<64x96xf32>
  %scaled = stablehlo.multiply %w, %c : tensor<64x96xf32>
  %v = stablehlo.constant dense<0.25> : tensor<96x48xf32>
  %0 = stablehlo.dot_general %x, %scaled, contracting_dims = [1] x [0] : (tensor<{rows}x64xf32>, tensor<64x96xf32>) -> tensor<{rows}x96xf32>
  %1 = stablehlo.tanh %0 : tensor<{rows}x96xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<{rows}x96xf32>, tensor<96x48xf32>) -> tensor<{rows}x48xf32>
  return %2 : tensor<{rows}x48xf32>
}}""", [f32(rows, 64)])


def test_batches(tmp_path, runner):
    assert_same(tmp_path, runner, """
func.func @main(%x: tensor<6x5x8xf32>, %y: tensor<6x7x8xf32>) -> tensor<6x5x7xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<6x5x8xf32>, tensor<6x7x8xf32>) -> tensor<6x5x7xf32>
  return %0 : tensor<6x5x7xf32>
}""", [f32(6, 5, 8), f32(6, 7, 8, seed=1)])


def test_bf16(tmp_path, runner):
    assert_same(tmp_path, runner, """
func.func @main(%x: tensor<9x33xf32>) -> tensor<9x16xf32> {
  %w = stablehlo.constant dense<0.375> : tensor<33x16xbf16>
  %b = stablehlo.convert %x : (tensor<9x33xf32>) -> tensor<9x33xbf16>
  %0 = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<9x33xbf16>, tensor<33x16xbf16>) -> tensor<9x16xf32>
  return %0 : tensor<9x16xf32>
}""", [f32(9, 33)])


def test_loops_and_branches(tmp_path, runner):
    text = """
func.func @main(%x: tensor<4x4xf32>, %n: tensor<i32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w = stablehlo.constant dense<0.5> : tensor<4x4xf32>
  %start = stablehlo.constant dense<1.0> : tensor<4xf32>
  %r:3 = stablehlo.while(%i = %zero, %a = %x, %b = %start) : tensor<i32>, tensor<4x4xf32>, tensor<4xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %m = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %odd = stablehlo.and %i, %one : tensor<i32>
      %c = "stablehlo.case"(%odd) ({
        %k = stablehlo.negate %b : tensor<4xf32>
        stablehlo.return %k : tensor<4xf32>
      }, {
        %k = stablehlo.add %b, %b : tensor<4xf32>
        stablehlo.return %k : tensor<4xf32>
      }) : (tensor<i32>) -> tensor<4xf32>
      stablehlo.return %next, %m, %c : tensor<i32>, tensor<4x4xf32>, tensor<4xf32>
    }
  return %r#1, %r#2 : tensor<4x4xf32>, tensor<4xf32>
}"""
    for turns in (0, 1, 4):
        assert_same(tmp_path, runner, text, [f32(4, 4), np.int32(turns)])


TOKENS = """
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %start = stablehlo.create_token : !stablehlo.token
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %t = %start, %y = %x) : tensor<i32>, !stablehlo.token, tensor<4xf32>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %other = stablehlo.create_token : !stablehlo.token
    %isEven = stablehlo.remainder %i, %n : tensor<i32>
    %1:2 = "stablehlo.case"(%isEven) ({
      %a = stablehlo.after_all %t, %other, %start : !stablehlo.token
      %b = stablehlo.add %y, %y : tensor<4xf32>
      stablehlo.return %a, %b : !stablehlo.token, tensor<4xf32>
    }, {
      %b = stablehlo.multiply %y, %y : tensor<4xf32>
      stablehlo.return %t, %b : !stablehlo.token, tensor<4xf32>
    }) : (tensor<i32>) -> (!stablehlo.token, tensor<4xf32>)
    %2:2 = stablehlo.optimization_barrier %1#0, %1#1 : !stablehlo.token, tensor<4xf32>
    stablehlo.return %next, %2#0, %2#1 : tensor<i32>, !stablehlo.token, tensor<4xf32>
  }
  %p = stablehlo.compare EQ, %0#0, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %3:2 = "stablehlo.if"(%p) ({
    %b = stablehlo.negate %0#2 : tensor<4xf32>
    stablehlo.return %b, %0#1 : tensor<4xf32>, !stablehlo.token
  }, {
    %a = stablehlo.after_all : !stablehlo.token
    stablehlo.return %0#2, %a : tensor<4xf32>, !stablehlo.token
  }) : (tensor<i1>) -> (tensor<4xf32>, !stablehlo.token)
  return %3#0 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_tokens(tmp_path, runner, turns):
    x = np.array([1.5, -2, 0.25, 3], np.float32)
    assert_same(tmp_path, runner, TOKENS, [x, np.int32(turns)])
    expected = x
    for i in range(turns):
        expected = expected + expected if i % turns == 0 else expected * expected
    assert run_in_octavo(tmp_path / "p.mlir", [x, np.int32(turns)])[0] == (-expected).tobytes()
    shown = octavo("run", tmp_path / "p.mlir", "--explain-compile")
    assert "interpreted 0 operations" in shown


def test_a_token_is_no_output(tmp_path):
    (tmp_path / "p.mlir").write_text("""
func.func @main(%x: tensor<2xf32>) -> (!stablehlo.token, tensor<2xf32>) {
  %t = stablehlo.create_token : !stablehlo.token
  return %t, %x : !stablehlo.token, tensor<2xf32>
}
""")
    np.save(tmp_path / "x.npy", np.ones(2, np.float32))
    for backend in "compiled", "reference":
        shown = octavo("run", tmp_path / "p.mlir", "--input", tmp_path / "x.npy", "--backend", backend)
        assert "output1 f32[2]" in shown and "output0 " not in shown
    assert "result 0 of @main is !stablehlo.token" in octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "f",
                                                            code=3)


def test_sorts(tmp_path, runner):
    x = f32(3, 50)
    x[0, 7] = np.nan
    assert_same(tmp_path, runner, """
func.func @main(%x: tensor<3x50xf32>) -> (tensor<3x50xf32>, tensor<3x50xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<3x50xi32>
  %0:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<3x50xf32>, tensor<3x50xi32>) -> (tensor<3x50xf32>, tensor<3x50xi32>)
  return %0#0, %0#1 : tensor<3x50xf32>, tensor<3x50xi32>
}""", [x])


@pytest.mark.parametrize("algorithm, words", [("THREE_FRY", 2), ("PHILOX", 3)])
def test_random_bits(tmp_path, runner, algorithm, words):
    assert_same(tmp_path, runner, f"""
func.func @main(%s: tensor<{words}xui64>) -> (tensor<{words}xui64>, tensor<3x5xui32>) {{
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : (tensor<{words}xui64>) -> (tensor<{words}xui64>, tensor<3x5xui32>)
  return %0#0, %0#1 : tensor<{words}xui64>, tensor<3x5xui32>
}}""", [np.arange(1, words + 1, dtype=np.uint64)])


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_complex_numbers_and_matrices(tmp_path, runner, part):
    """A product, each transform, along several axes too, a factorization and both sides' solutions."""
    c, n = f"complex<{part}>", {"f32": np.float32, "f64": np.float64}[part]
    assert_same(tmp_path, runner, f"""
func.func @main(%x: tensor<2x6x6x{part}>, %y: tensor<2x6x6x{part}>) -> (tensor<2x6x6x{part}>, tensor<2x6x6x{part}>, tensor<2x6x6x{part}>, tensor<2x6x6x{part}>) {{
  %z = stablehlo.complex %x, %y : tensor<2x6x6x{c}>
  %p = stablehlo.dot_general %z, %z, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x6x6x{c}>, tensor<2x6x6x{c}>) -> tensor<2x6x6x{c}>
  %f = stablehlo.fft %p, type = FFT, length = [6] : (tensor<2x6x6x{c}>) -> tensor<2x6x6x{c}>
  %i = stablehlo.fft %f, type = IFFT, length = [2, 6, 6] : (tensor<2x6x6x{c}>) -> tensor<2x6x6x{c}>
  %h = stablehlo.fft %y, type = RFFT, length = [6, 6] : (tensor<2x6x6x{part}>) -> tensor<2x6x4x{c}>
  %b = stablehlo.fft %h, type = IRFFT, length = [6, 6] : (tensor<2x6x4x{c}>) -> tensor<2x6x6x{part}>
  %re = stablehlo.real %i : (tensor<2x6x6x{c}>) -> tensor<2x6x6x{part}>
  %t = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<2x6x6x{part}>) -> tensor<2x6x6x{part}>
  %s = stablehlo.dot_general %x, %t, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x6x6x{part}>, tensor<2x6x6x{part}>) -> tensor<2x6x6x{part}>
  %l = stablehlo.cholesky %s, lower = true : tensor<2x6x6x{part}>
  %v = "stablehlo.triangular_solve"(%l, %y) {{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}} : (tensor<2x6x6x{part}>, tensor<2x6x6x{part}>) -> tensor<2x6x6x{part}>
  return %re, %b, %l, %v : tensor<2x6x6x{part}>, tensor<2x6x6x{part}>, tensor<2x6x6x{part}>, tensor<2x6x6x{part}>
}}""", [f32(2, 6, 6).astype(n), f32(2, 6, 6, seed=1).astype(n)])


def test_convolution(tmp_path, runner):
    assert_same(tmp_path, runner, """
func.func @main(%x: tensor<2x9x8x16xf32>) -> tensor<2x9x8x32xf32> {
  %w = stablehlo.constant dense<0.0625> : tensor<3x3x16x32xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x9x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<2x9x8x32xf32>
  return %0 : tensor<2x9x8x32xf32>
}""", [f32(2, 9, 8, 16)])


def test_updates_in_place(tmp_path, runner):
    assert_same(tmp_path, runner, """
func.func @main(%x: tensor<8x4xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<1x4xf32>, %at: tensor<i32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %new = stablehlo.dynamic_update_slice %x, %y, %at, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %new : tensor<8x4xf32>
}""", [f32(8, 4), f32(1, 4, seed=1), np.int32(5)])


def test_scatters_and_gathers(tmp_path, runner):
    assert_same(tmp_path, runner, """
func.func @main(%x: tensor<10x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> tensor<10x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}
    : (tensor<10x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}""", [f32(10, 4), np.array([[3], [0], [3]], np.int32), f32(3, 4, seed=1)])


@pytest.mark.parametrize("name", ["exponential", "log", "erf", "sine", "logistic", "cbrt", "tan"])
def test_functions_of_the_library(tmp_path, runner, name):
    """f64 goes through the C library, whose addresses the kernels are given when they are loaded."""
    operation = f"chlo.erf %x : tensor<5xf64> -> tensor<5xf64>" if name == "erf" \
        else f"stablehlo.{name} %x : tensor<5xf64>"
    assert_same(tmp_path, runner, f"""
func.func @main(%x: tensor<5xf64>) -> tensor<5xf64> {{
  %0 = {operation}
  return %0 : tensor<5xf64>
}}""", [np.linspace(0.1, 3, 5)])


@pytest.mark.parametrize("right", ["argument", "constant"])
def test_products_of_int8(tmp_path, runner, right):
    drawn = np.random.default_rng(3)
    x, y = (drawn.integers(-128, 128, shape, dtype=np.int8) for shape in ((9, 37), (37, 20)))
    constant = f"""%y = stablehlo.constant dense<"0x{y.tobytes().hex()}"> : tensor<37x20xi8>"""
    text = f"""
func.func @main(%x: tensor<9x37xi8>{", %y: tensor<37x20xi8>" if right == "argument" else ""}) -> tensor<9x20xi32> {{
  {constant if right == "constant" else ""}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<9x37xi8>, tensor<37x20xi8>) -> tensor<9x20xi32>
  return %0 : tensor<9x20xi32>
}}"""
    arrays = [x, y] if right == "argument" else [x]
    folder = assert_same(tmp_path, runner, text, arrays)
    (result,) = run_in_c(runner, folder, arrays, 1)
    np.testing.assert_array_equal(np.frombuffer(result, np.int32).reshape(9, 20), x.astype(np.int32) @ y)


@pytest.mark.parametrize("rows", [1, 40])
def test_prologues(tmp_path, runner, rows):
    """The kernel that makes rows of a product's right side is one step with it."""
    text = f"""
func.func @main(%q: tensor<3x{rows}x64xf32>, %k: tensor<3x70x64xf16>) -> tensor<3x{rows}x70xf32> {{
  %w = stablehlo.convert %k : (tensor<3x70x64xf16>) -> tensor<3x70x64xf32>
  %s = stablehlo.dot_general %q, %w, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x{rows}x64xf32>, tensor<3x70x64xf32>) -> tensor<3x{rows}x70xf32>
  return %s : tensor<3x{rows}x70xf32>
}}"""
    q, k = f32(3, rows, 64), f32(3, 70, 64, seed=1).astype(np.float16)
    folder = assert_same(tmp_path, runner, text, [q, k])
    assert "with a prologue" in octavo("run", tmp_path / "p.mlir", "--explain-compile")
    (result,) = run_in_c(runner, folder, [q, k], 1)
    np.testing.assert_allclose(np.frombuffer(result, np.float32).reshape(3, rows, 70),
                               q.astype(np.float64) @ k.swapaxes(1, 2), atol=1e-4)


@pytest.mark.parametrize("rows", [1, 40, 700])
def test_epilogues(tmp_path, runner, rows):
    """The kernel that reads rows of a product is one step with it."""
    text = f"""
func.func @main(%x: tensor<{rows}x64xf32>, %w: tensor<64x48xf32>, %b: tensor<48xf32>) -> tensor<{rows}x48xf32> {{
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<{rows}x64xf32>, tensor<64x48xf32>) -> tensor<{rows}x48xf32>
  %wide = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<48xf32>) -> tensor<{rows}x48xf32>
  %s = stablehlo.add %p, %wide : tensor<{rows}x48xf32>
  %r = stablehlo.tanh %s : tensor<{rows}x48xf32>
  return %r : tensor<{rows}x48xf32>
}}"""
    x, w, b = f32(rows, 64), f32(64, 48, seed=1), f32(48, seed=2)
    folder = assert_same(tmp_path, runner, text, [x, w, b])
    assert "and its epilogue" in octavo("run", tmp_path / "p.mlir", "--explain-compile")
    (result,) = run_in_c(runner, folder, [x, w, b], 1)
    np.testing.assert_allclose(np.frombuffer(result, np.float32).reshape(rows, 48),
                               np.tanh(x.astype(np.float64) @ w + b), atol=1e-5)


PARTS = """
!w = !octavo.scaled<8x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
!x = !octavo.scaled<5x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @main(%x: tensor<5x64xf32>, %e: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>)
    -> tensor<5x8xf32> {
  %w = octavo.pack %e, %s : (tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>) -> !w
  %q = octavo.quantize %x, rule = floor : tensor<5x64xf32> -> !x
  %p = octavo.dot_general %q, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<5x8xf32>
  return %p : tensor<5x8xf32>
}"""


def test_scaled_tensors_of_parts(tmp_path, runner):
    import ml_dtypes
    # Whole numbers that quantizing leaves as they are.
    x = np.random.default_rng(0).integers(-8, 9, (5, 64)).astype(np.float32)
    w = f32(8, 64, seed=1).astype(ml_dtypes.float8_e4m3fn)
    scales = np.array([126, 127, 128, 125] * 4, np.uint8).reshape(8, 2).view(ml_dtypes.float8_e8m0fnu)
    (tmp_path / "p.mlir").write_text(PARTS)
    octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder")
    inputs = {"x.npy": x, "e.f8e4m3fn.npy": w.view(np.uint8), "s.f8e8m0fnu.npy": scales.view(np.uint8)}
    for name, array in inputs.items():
        np.save(tmp_path / name, array)
    octavo("run", tmp_path / "p.mlir", *(f"--input={tmp_path / name}" for name in inputs), "--output", tmp_path / "y.npy")
    (found,) = run_in_c(runner, tmp_path / "folder", [x, w, scales], 1)
    assert found == np.load(tmp_path / "y.npy").tobytes()
    values = w.astype(np.float64) * np.repeat(scales.astype(np.float64), 32, axis=1)
    np.testing.assert_allclose(np.frombuffer(found, np.float32).reshape(5, 8), x @ values.T, rtol=1e-5, atol=1e-5)


def test_scaled_products_in_batches(tmp_path, runner):
    """By parts that are given, by constant ones and by a bound weight, which the folder keeps packed; the left side is
    of parts and quantized."""
    import ml_dtypes
    from safetensors.numpy import save_file
    of = {n: f"!octavo.scaled<3x{n}x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>" for n in (5, 8)}
    elements, scales = "tensor<3x{}x64xf8E4M3FN>", "tensor<3x{}x2xf8E8M0FNU>"
    dots = "batching_dims = [0] x [0], contracting_dims = [2] x [2]"
    text = f"""
func.func @main(%x: tensor<3x5x64xf32>, %e: {elements.format(8)}, %s: {scales.format(8)},
                %w: {of[8]} {{octavo.name = "w", octavo.parameter, octavo.quantize = #octavo.quantization<rule = floor>}})
    -> (tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x8x8xf32>) {{
  %given = octavo.pack %e, %s : ({elements.format(8)}, {scales.format(8)}) -> {of[8]}
  %two = stablehlo.constant dense<2.0> : {elements.format(8)}
  %half = stablehlo.constant dense<0.5> : {scales.format(8)}
  %ones = octavo.pack %two, %half : ({elements.format(8)}, {scales.format(8)}) -> {of[8]}
  %q = octavo.quantize %x, rule = floor : tensor<3x5x64xf32> -> {of[5]}
  %0 = octavo.dot_general %q, %given, {dots} : ({of[5]}, {of[8]}) -> tensor<3x5x8xf32>
  %1 = octavo.dot_general %x, %ones, {dots} : (tensor<3x5x64xf32>, {of[8]}) -> tensor<3x5x8xf32>
  %2 = octavo.dot_general %given, %w, {dots} : ({of[8]}, {of[8]}) -> tensor<3x8x8xf32>
  return %0, %1, %2 : tensor<3x5x8xf32>, tensor<3x5x8xf32>, tensor<3x8x8xf32>
}}"""
    # Whole numbers that quantizing leaves as they are, and sums that every order gives.
    drawn = np.random.default_rng(0)
    x, e, w = (drawn.integers(-8, 9, shape).astype(np.float32) for shape in ((3, 5, 64), (3, 8, 64), (3, 8, 64)))
    s = np.exp2(drawn.integers(-2, 3, (3, 8, 2))).astype(ml_dtypes.float8_e8m0fnu)
    save_file({"w": w}, tmp_path / "w.safetensors")
    (tmp_path / "p.mlir").write_text(text)
    weights = "--weights", tmp_path / "w.safetensors"
    octavo("compile", tmp_path / "p.mlir", *weights, "-o", tmp_path / "folder")
    given = e.astype(np.float64) * np.repeat(s.astype(np.float64), 32, axis=2)
    expected = [x @ given.swapaxes(1, 2), x @ np.ones((3, 64, 8)), given @ w.swapaxes(1, 2)]
    found = run_in_c(runner, tmp_path / "folder", [x, e.astype(ml_dtypes.float8_e4m3fn), s], 3)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.frombuffer(a, np.float32).reshape(b.shape), b)


@pytest.mark.parametrize("weight", ["argument", "constant"])
def test_convolutions_of_bf16(tmp_path, runner, weight):
    import ml_dtypes
    w = f32(3, 3, 8, 24, seed=1)
    given = "tensor<3x3x8x24xf32>"
    text = f"""
func.func @main(%x: tensor<2x9x8x16xf32>{f", %f: {given}" if weight == "argument" else ""}) -> tensor<2x5x4x24xf32> {{
  {"" if weight == "argument" else f'%f = stablehlo.constant dense<"0x{w.tobytes().hex()}"> : {given}'}
  %w = stablehlo.convert %f : ({given}) -> tensor<3x3x8x24xbf16>
  %b = stablehlo.convert %x : (tensor<2x9x8x16xf32>) -> tensor<2x9x8x16xbf16>
  %0 = stablehlo.convolution(%b, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {{stride = [2, 2], pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 2 : i64}}
    : (tensor<2x9x8x16xbf16>, tensor<3x3x8x24xbf16>) -> tensor<2x5x4x24xf32>
  return %0 : tensor<2x5x4x24xf32>
}}"""
    x = f32(2, 9, 8, 16)
    arrays = [x, w] if weight == "argument" else [x]
    folder = assert_same(tmp_path, runner, text, arrays)
    (result,) = run_in_c(runner, folder, arrays, 1)
    wide = np.pad(x.astype(ml_dtypes.bfloat16).astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    w = w.astype(ml_dtypes.bfloat16).astype(np.float64)
    expected = np.zeros((2, 5, 4, 24))
    for i, j, group in np.ndindex(3, 3, 2):
        expected[..., group * 12:(group + 1) * 12] += \
            wide[:, i:i + 9:2, j:j + 7:2, group * 8:(group + 1) * 8] @ w[i, j, :, group * 12:(group + 1) * 12]
    np.testing.assert_allclose(np.frombuffer(result, np.float32).reshape(expected.shape), expected, atol=1e-4)


def test_branches_within_loops_within_branches(tmp_path, runner):
    text = """
func.func @main(%x: tensor<6xf32>, %n: tensor<i32>) -> (tensor<6xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %some = stablehlo.compare GT, %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r:2 = "stablehlo.if"(%some) ({
    %l:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<6xf32>
      cond {
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %k = stablehlo.remainder %i, %two : tensor<i32>
        %even = stablehlo.compare EQ, %k, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %b = "stablehlo.if"(%even) ({
          %s = stablehlo.add %a, %a : tensor<6xf32>
          stablehlo.return %s : tensor<6xf32>
        }, {
          %t = stablehlo.reverse %a, dims = [0] : tensor<6xf32>
          stablehlo.return %t : tensor<6xf32>
        }) : (tensor<i1>) -> tensor<6xf32>
        stablehlo.return %next, %b : tensor<i32>, tensor<6xf32>
      }
    stablehlo.return %l#1, %l#0 : tensor<6xf32>, tensor<i32>
  }, {
    %m = stablehlo.negate %x : tensor<6xf32>
    stablehlo.return %m, %n : tensor<6xf32>, tensor<i32>
  }) : (tensor<i1>) -> (tensor<6xf32>, tensor<i32>)
  return %r#0, %r#1 : tensor<6xf32>, tensor<i32>
}"""
    x = f32(6)
    for turns, expected in ((-1, -x), (0, -x), (1, 2 * x), (2, 2 * x[::-1]), (3, 4 * x[::-1])):
        folder = assert_same(tmp_path, runner, text, [x, np.int32(turns)])
        found = run_in_c(runner, folder, [x, np.int32(turns)], 2)
        np.testing.assert_array_equal(np.frombuffer(found[0], np.float32), expected)
        assert np.frombuffer(found[1], np.int32)[0] == turns


def test_sorts_by_a_comparator_of_two_keys(tmp_path, runner):
    """No order of one key: by the first tensor's remainder, then the second from above."""
    drawn = np.random.default_rng(5)
    a, b = drawn.integers(0, 40, (31, 3), dtype=np.int32), drawn.integers(0, 9, (31, 3), dtype=np.int64)
    folder = assert_same(tmp_path, runner, """
func.func @main(%x: tensor<31x3xi32>, %y: tensor<31x3xi64>) -> (tensor<31x3xi32>, tensor<31x3xi64>) {
  %0:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i64>, %d: tensor<i64>):
    %seven = stablehlo.constant dense<7> : tensor<i32>
    %ra = stablehlo.remainder %a, %seven : tensor<i32>
    %rb = stablehlo.remainder %b, %seven : tensor<i32>
    %less = stablehlo.compare LT, %ra, %rb : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %same = stablehlo.compare EQ, %ra, %rb : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %more = stablehlo.compare GT, %c, %d : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %then = stablehlo.and %same, %more : tensor<i1>
    %p = stablehlo.or %less, %then : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<31x3xi32>, tensor<31x3xi64>) -> (tensor<31x3xi32>, tensor<31x3xi64>)
  return %0#0, %0#1 : tensor<31x3xi32>, tensor<31x3xi64>
}""", [a, b])
    found = run_in_c(runner, folder, [a, b], 2)
    for column in range(3):
        order = sorted(range(31), key=lambda row: (a[row, column] % 7, -b[row, column]))
        np.testing.assert_array_equal(np.frombuffer(found[0], np.int32).reshape(31, 3)[:, column], a[order, column])
        np.testing.assert_array_equal(np.frombuffer(found[1], np.int64).reshape(31, 3)[:, column], b[order, column])


@pytest.mark.parametrize("type", ["ui8", "i16", "ui32", "i64"])
def test_random_bits_of_every_width(tmp_path, runner, type):
    assert_same(tmp_path, runner, f"""
func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<70x5x{type}>) {{
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<70x5x{type}>)
  return %0#0, %0#1 : tensor<2xui64>, tensor<70x5x{type}>
}}""", [np.array([3, 1 << 63], np.uint64)])


X8 = "!octavo.scaled<5x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>"
W8 = "!octavo.scaled<64x64xf8E4M3FN, scale f8E8M0FNU, block [32, 1]>"


def test_scaled_tensors_through_loops_and_branches(tmp_path, runner):
    """Their parts are carried. In each turn halved, but for every second one, in which they go on; 0 turns, too."""
    parts = "tensor<5x64xf8E4M3FN>, tensor<5x2xf8E8M0FNU>"
    text = f"""
func.func @main(%x: tensor<5x64xf32>, %n: tensor<i32>) -> (tensor<5x64xf32>, {parts}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<5x64xf32>
  %q0 = octavo.quantize %x, rule = floor : tensor<5x64xf32> -> {X8}
  %e0, %s0 = octavo.unpack %q0 : ({X8}) -> ({parts})
  %r:3 = stablehlo.while(%i = %zero, %e = %e0, %s = %s0) : tensor<i32>, {parts}
    cond {{
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %next = stablehlo.add %i, %one : tensor<i32>
      %odd = stablehlo.and %i, %one : tensor<i32>
      %q = octavo.pack %e, %s : ({parts}) -> {X8}
      %c:2 = "stablehlo.case"(%odd) ({{
        %d = octavo.dequantize %q : {X8} -> tensor<5x64xf32>
        %h = stablehlo.multiply %d, %half : tensor<5x64xf32>
        %z = octavo.quantize %h, rule = floor : tensor<5x64xf32> -> {X8}
        %f, %t = octavo.unpack %z : ({X8}) -> ({parts})
        stablehlo.return %f, %t : {parts}
      }}, {{
        stablehlo.return %e, %s : {parts}
      }}) : (tensor<i32>) -> ({parts})
      stablehlo.return %next, %c#0, %c#1 : tensor<i32>, {parts}
    }}
  %w = octavo.pack %r#1, %r#2 : ({parts}) -> {X8}
  %y = octavo.dequantize %w : {X8} -> tensor<5x64xf32>
  return %y, %r#1, %r#2 : tensor<5x64xf32>, {parts}
}}"""
    import ml_dtypes
    # Whole numbers that the format holds, so that halving them is exact.
    x = np.random.default_rng(0).integers(-8, 9, (5, 64)).astype(np.float32)
    program, folder = tmp_path / "p.mlir", tmp_path / "folder"
    program.write_text(text)
    octavo("compile", program, "-o", folder)
    for turns, times in ((0, 1), (1, 0.5), (2, 0.5), (5, 0.125)):
        y, e, s = run_in_c(runner, folder, [x, np.int32(turns)], 3)
        np.testing.assert_array_equal(np.frombuffer(y, np.float32).reshape(5, 64), x * np.float32(times))
        elements = np.frombuffer(e, ml_dtypes.float8_e4m3fn).reshape(5, 64).astype(np.float32)
        scales = np.frombuffer(s, ml_dtypes.float8_e8m0fnu).reshape(5, 2).astype(np.float32)
        np.testing.assert_array_equal(elements * np.repeat(scales, 32, axis=1), x * np.float32(times))


@pytest.mark.parametrize("format, block", [("mxint8", 32), ("mxint8", 64), ("nvfp4", 16)])
def test_products_that_contract_first_axes(tmp_path, runner, format, block):
    """A weight's gradient: matrices are quantized transposed, the left one by random bits in the order that these
    had. Of integers, so that the interpreter's bits are expected."""
    element, scale, outer, rule = {"mxint8": ("i8", "f8E8M0FNU", "", "floor"),
                                   "nvfp4": ("f4E2M1FN", "f8E4M3FN", ", outer f32", "nearest")}[format]
    g, x = (f"!octavo.scaled<70x{n}x{element}, scale {scale}, block [{block}, 1]{outer}>" for n in (5, 33))
    text = f"""
func.func @main(%g: tensor<70x5xf32>, %x: tensor<70x33xf32>, %s: tensor<3xui64>) -> (tensor<5x33xf32>, tensor<5x70xf32>) {{
  %after, %bits = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<70x5xui32>)
  %a = octavo.quantize %g random(%bits : tensor<70x5xui32>), rule = {rule}, rounding = stochastic : tensor<70x5xf32> -> {g}
  %b = octavo.quantize %x, rule = {rule} : tensor<70x33xf32> -> {x}
  %y = octavo.dot_general %a, %b, contracting_dims = [0] x [0] : ({g}, {x}) -> tensor<5x33xf32>
  %d = octavo.dequantize %a : {g} -> tensor<70x5xf32>
  %t = stablehlo.transpose %d, dims = [1, 0] : (tensor<70x5xf32>) -> tensor<5x70xf32>
  return %y, %t : tensor<5x33xf32>, tensor<5x70xf32>
}}"""
    arrays = [f32(70, 5), f32(70, 33, seed=1), np.arange(1, 4, dtype=np.uint64)]
    folder = assert_same(tmp_path, runner, text, arrays)
    assert run_in_c(runner, folder, arrays, 2) == run_in_octavo(tmp_path / "p.mlir", arrays, "--backend", "reference")


def test_bound_scaled_weights_that_more_than_products_read(tmp_path, runner):
    """One that a loop multiplies by, and dequantizes afterwards, and one that is taken apart: the folder keeps them."""
    from safetensors.numpy import save_file
    argument = "{{octavo.name = \"{}\", octavo.parameter, octavo.quantize = #octavo.quantization<rule = floor>}}"
    text = f"""
func.func @main(%x: tensor<5x64xf32>, %w: {W8} {argument.format("w")}, %v: {W8} {argument.format("v")},
                %n: tensor<i32>) -> (tensor<5x64xf32>, tensor<64x64xf32>, tensor<64x64xf8E4M3FN>, tensor<2x64xf8E8M0FNU>) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<5x64xf32>
    cond {{
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %next = stablehlo.add %i, %one : tensor<i32>
      %q = octavo.quantize %a, rule = floor : tensor<5x64xf32> -> {X8}
      %m = octavo.dot_general %q, %w, contracting_dims = [1] x [0] : ({X8}, {W8}) -> tensor<5x64xf32>
      stablehlo.return %next, %m : tensor<i32>, tensor<5x64xf32>
    }}
  %d = octavo.dequantize %w : {W8} -> tensor<64x64xf32>
  %e, %s = octavo.unpack %v : ({W8}) -> (tensor<64x64xf8E4M3FN>, tensor<2x64xf8E8M0FNU>)
  return %r#1, %d, %e, %s : tensor<5x64xf32>, tensor<64x64xf32>, tensor<64x64xf8E4M3FN>, tensor<2x64xf8E8M0FNU>
}}"""
    import ml_dtypes
    program, folder = tmp_path / "p.mlir", tmp_path / "folder"
    program.write_text(text)
    w, v = f32(64, 64, seed=1), np.random.default_rng(2).integers(-8, 9, (64, 64)).astype(np.float32)
    save_file({"w": w, "v": v}, tmp_path / "w.safetensors")
    octavo("compile", program, "--weights", tmp_path / "w.safetensors", "-o", folder)
    x, close = f32(5, 64), f32(5, 64)
    for turns in range(3):
        found = run_in_c(runner, folder, [x, np.int32(turns)], 4)
        elements = np.frombuffer(found[2], ml_dtypes.float8_e4m3fn).reshape(64, 64).astype(np.float32)
        scales = np.frombuffer(found[3], ml_dtypes.float8_e8m0fnu).reshape(2, 64).astype(np.float32)
        np.testing.assert_array_equal(elements * np.repeat(scales, 32, axis=0), v)
        held = np.frombuffer(found[1], np.float32).reshape(64, 64)
        assert np.abs(held - w).max() <= np.abs(w).max() / 8
        # By the weight as the folder has it; activations lose as much in each turn.
        assert np.abs(np.frombuffer(found[0], np.float32).reshape(5, 64) - close).max() <= 0.1 * np.abs(close).max()
        close = close @ held


def test_donated_arguments_may_be_bound(tmp_path, runner):
    """Each run begins with what the folder keeps, whatever the runs before wrote."""
    from safetensors.numpy import save_file
    kept = f32(8, 4, seed=4)
    save_file({"cache": kept}, tmp_path / "w.safetensors")
    text = """
func.func @main(%cache: tensor<8x4xf32> {octavo.name = "cache", tf.aliasing_output = 0 : i32},
                %row: tensor<1x4xf32>, %at: tensor<i32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %new = stablehlo.dynamic_update_slice %cache, %row, %at, %zero : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %new : tensor<8x4xf32>
}"""
    (tmp_path / "p.mlir").write_text(text)
    octavo("compile", tmp_path / "p.mlir", "--weights", tmp_path / "w.safetensors", "-o", tmp_path / "folder")
    for at in (5, 2, 5):
        row = f32(1, 4, seed=at)
        (found,) = run_in_c(runner, tmp_path / "folder", [row, np.int32(at)], 1)
        expected = kept.copy()
        expected[at] = row
        np.testing.assert_array_equal(np.frombuffer(found, np.float32).reshape(8, 4), expected)


OVERWRITTEN = """
func.func @main(%a: tensor<64x40xf32> {octavo.name = "a", tf.aliasing_output = 0 : i32},
                %b: tensor<64x40xf32> {octavo.name = "b", tf.aliasing_output = 1 : i32},
                %c: tensor<64x40xf32> {octavo.name = "c"}) -> (tensor<64x40xf32>, tensor<64x40xf32>) {
  %s = stablehlo.add %a, %c : tensor<64x40xf32>
  %t = stablehlo.subtract %b, %c : tensor<64x40xf32>
  return %s, %t : tensor<64x40xf32>, tensor<64x40xf32>
}"""


def test_kernels_that_write_over_their_arguments(tmp_path, runner):
    """With one of two donated arguments bound, which no run changes."""
    from safetensors.numpy import save_file
    arrays = {name: f32(64, 40, seed=i) for i, name in enumerate("abc")}
    folder = assert_same(tmp_path, runner, OVERWRITTEN, list(arrays.values()))
    expected = [(arrays["a"] + arrays["c"]).tobytes(), (arrays["b"] - arrays["c"]).tobytes()]
    assert run_in_c(runner, folder, list(arrays.values()), 2) == expected
    for name in "ab":
        save_file({name: arrays[name]}, tmp_path / "w.safetensors")
        octavo("compile", tmp_path / "p.mlir", "--weights", tmp_path / "w.safetensors", "-o", tmp_path / name)
        given = [array for each, array in arrays.items() if each != name]
        for _ in range(2):
            assert run_in_c(runner, tmp_path / name, given, 2) == expected


def test_weights_are_bound(tmp_path, runner):
    from safetensors.numpy import save_file
    text = """
func.func @main(%x: tensor<3x64xf32>, %w: tensor<64x32xf32> {octavo.name = "w", octavo.parameter},
                %b: tensor<32xf32> {octavo.name = "b"}) -> tensor<3x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x32xf32>) -> tensor<3x32xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<3x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x32xf32>
  return %2 : tensor<3x32xf32>
}"""
    save_file({"w": f32(64, 32, seed=2), "b": f32(32, seed=3)}, tmp_path / "w.safetensors")
    for options in ([], ["--quantize", "mxfp8_e4m3"], ["--quantize", "mxfp4", "--activations", "none"],
                    ["--quantize", "nvfp4"]):
        assert_same(tmp_path, runner, text, [f32(3, 64)], "--weights", tmp_path / "w.safetensors", *options)
    # Of the weight only what products read is kept.
    assert weights_of(tmp_path / "folder").stat().st_size < 64 * 32 * 4


@pytest.mark.parametrize("operation, said", [("dot_general %x, %x, contracting_dims = [1] x [0]", "1 of 1 dots"),
                                             ("add %x, %x", "0 of 0 dots (the program has no dots)")])
def test_what_is_quantized_is_told(tmp_path, operation, said):
    types = ": (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>" if "dot" in operation else ": tensor<32x32xf32>"
    (tmp_path / "p.mlir").write_text(f"""func.func @main(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {{
  %0 = stablehlo.{operation} {types}
  return %0 : tensor<32x32xf32>
}}""")
    quantize = ["--quantize", "mxfp4", "--both-activations"]
    assert f"quantized: {said}\n" in octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder", *quantize)
    report = json.loads(octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder", "--json", *quantize))
    assert (report["dots_quantized"], report["dots"]) == tuple(int(word) for word in said.split() if word.isdigit())
