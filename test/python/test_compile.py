"""`octavo compile`: folders from which programs run without a compiler, called from C."""
import os
import pathlib
import shutil
import struct
import subprocess

import numpy as np
import pytest

pytestmark = pytest.mark.mlir

BIN = pathlib.Path(os.environ["OCTAVO_BIN_DIR"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "octavo" / "Standalone"

ELEMENTWISE = """
func.func @main(%x: tensor<5x7xf32>, %y: tensor<7xf32>) -> tensor<5x7xf32> {
  %wide = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<7xf32>) -> tensor<5x7xf32>
  %product = stablehlo.multiply %x, %wide : tensor<5x7xf32>
  %result = stablehlo.tanh %product : tensor<5x7xf32>
  return %result : tensor<5x7xf32>
}
"""


def octavo(*arguments, code=0, **environment):
    done = subprocess.run([BIN / "octavo", *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, env=os.environ | environment)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    """The example, compiled as C99 against the small library alone."""
    path = tmp_path_factory.mktemp("c") / "run"
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", ROOT / "examples/c/run.c",
                    "-I", HEADER, "-L", BIN, "-loctavo-program", f"-Wl,-rpath,{BIN}", "-o", path], check=True)
    return path


def numbered(folder, arrays):
    for i, array in enumerate(arrays):
        array.tofile(folder / f"argument{i}.bin")
    return [folder / f"argument{i}.bin" for i in range(len(arrays))]


def run_in_c(runner, folder, arrays, results, code=0, **environment):
    """The results' bytes, or the error."""
    work = folder.parent
    outputs = [work / f"result{i}.bin" for i in range(results)]
    done = subprocess.run([runner, folder, *numbered(work, arrays), "-o", *outputs], capture_output=True,
                          text=True, timeout=300, env=os.environ | environment)
    assert done.returncode == code, (done.stdout, done.stderr)
    return [output.read_bytes() for output in outputs] if code == 0 else done.stderr


def run_in_octavo(program, arrays, *options):
    work = program.parent
    files = []
    for i, array in enumerate(arrays):
        np.save(work / f"x{i}.npy", array)
        files += ["--input", work / f"x{i}.npy"]
    shutil.rmtree(work / "out", ignore_errors=True)
    octavo("run", program, *files, "--output", work / "out", *options)
    return [np.load(path).tobytes() for path in sorted((work / "out").iterdir())]


def assert_same(tmp_path, runner, text, arrays, *options):
    program, folder = tmp_path / "p.mlir", tmp_path / "folder"
    program.write_text(text)
    expected = run_in_octavo(program, arrays, *options)
    octavo("compile", program, "-o", folder, *options)
    assert run_in_c(runner, folder, arrays, len(expected)) == expected
    return folder


def f32(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def test_one_kernel(tmp_path, runner):
    x, y = f32(5, 7), f32(7, seed=1)
    folder = assert_same(tmp_path, runner, ELEMENTWISE, [x, y])
    assert sorted(path.name for path in folder.iterdir()) == ["kernels.so", "program.octavo", "weights.bin"]
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
        "octavo_program_run", "octavo_program_run_on", "octavo_last_error"}


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
    assert not (folder / "kernels.so").exists()


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


# What a folder cannot hold, and folders that are not what they were.


def refused(tmp_path, text, *options):
    (tmp_path / "p.mlir").write_text(text)
    message = octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder", *options, code=3)
    assert not (tmp_path / "folder" / "program.octavo").exists()
    return message


def test_operations_without_code_are_named(tmp_path):
    message = refused(tmp_path, """
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.cholesky %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}""")
    assert "1 operations" in message and "'stablehlo.cholesky'" in message and "p.mlir:3:" in message


def test_open_extents_are_refused(tmp_path):
    assert "leaves extents of its arguments open" in refused(tmp_path, """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}""")


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
    assert (tmp_path / "folder" / "weights.bin").stat().st_size < 64 * 32 * 4


@pytest.fixture
def folder(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text(ELEMENTWISE.replace("%result = stablehlo.tanh %product", """%c = stablehlo.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0]]> : tensor<5x1xf32>
  %d = stablehlo.dot_general %c, %y0, contracting_dims = [1] x [0] : (tensor<5x1xf32>, tensor<1x7xf32>) -> tensor<5x7xf32>
  %sum = stablehlo.add %product, %d : tensor<5x7xf32>
  %result = stablehlo.tanh %sum""").replace("%wide =", "%y0 = stablehlo.reshape %y : (tensor<7xf32>) -> tensor<1x7xf32>\n  %wide ="))
    octavo("compile", program, "-o", tmp_path / "folder")
    return tmp_path / "folder"


ARRAYS = [f32(5, 7), f32(7, seed=1)]


@pytest.mark.parametrize("name, words", [("program.octavo", "octavo compile"), ("weights.bin", "weights.bin"),
                                         ("kernels.so", "kernels.so")])
def test_a_missing_file_is_named(folder, runner, name, words):
    run_in_c(runner, folder, ARRAYS, 1)
    (folder / name).unlink()
    message = run_in_c(runner, folder, ARRAYS, 1, code=1)
    assert words in message and "No such file" in message


def test_a_file_that_is_cut_short_is_an_error(folder, runner):
    for name, words in (("program.octavo", ("damaged", "not what `octavo compile` writes")),
                        ("weights.bin", ("cut short", "size"))):
        whole = (folder / name).read_bytes()
        for size in (0, 1, 24, len(whole) // 2, len(whole) - 1):
            (folder / name).write_bytes(whole[:size])
            message = run_in_c(runner, folder, ARRAYS, 1, code=1)
            assert name in message and any(word in message for word in words), (size, message)
        (folder / name).write_bytes(whole)
    run_in_c(runner, folder, ARRAYS, 1)


def test_a_damaged_program_is_an_error(folder, runner):
    whole = bytearray((folder / "program.octavo").read_bytes())
    for at in range(0, len(whole), max(1, len(whole) // 40)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        (folder / "program.octavo").write_bytes(damaged)
        assert "program.octavo" in run_in_c(runner, folder, ARRAYS, 1, code=1)


def test_files_of_two_programs_are_told(folder, runner, tmp_path):
    other = tmp_path / "other"
    (tmp_path / "q.mlir").write_text(ELEMENTWISE.replace("tanh", "negate"))
    octavo("compile", tmp_path / "q.mlir", "-o", other)
    for name in ("weights.bin", "kernels.so"):
        kept = (folder / name).read_bytes()
        shutil.copy(other / name, folder / name)
        assert "belongs to another program" in run_in_c(runner, folder, ARRAYS, 1, code=1)
        (folder / name).write_bytes(kept)


def digest(data):
    """FNV-1a of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def patched(path, change):
    """Changes what follows the head, and makes the digest fit it."""
    data = path.read_bytes()
    body = change(data[24:])
    path.write_bytes(data[:16] + struct.pack("<Q", digest(body)) + body)


def test_a_processor_that_lacks_an_instruction_is_an_error(folder, runner):
    """A feature of another processor in place of one of this: of the same length, in the table."""
    def change(body):
        at = body.index(b"\x04\0\0\0\0\0\0\0sse3" if b"\x04\0\0\0\0\0\0\0sse3" in body else b"\x04\0\0\0\0\0\0\0avx2")
        return body[:at] + b"\x04\0\0\0\0\0\0\0fma4" + body[at + 12:]
    if "fma4" in pathlib.Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has fma4")
    patched(folder / "program.octavo", change)
    message = run_in_c(runner, folder, ARRAYS, 1, code=1)
    assert "a processor with fma4, which this one lacks" in message


def test_another_version_is_an_error(folder, runner):
    data = bytearray((folder / "program.octavo").read_bytes())
    data[8] = 99
    (folder / "program.octavo").write_bytes(data)
    assert "version 99" in run_in_c(runner, folder, ARRAYS, 1, code=1)


def test_scaled_weights_are_of_one_instruction_set(tmp_path, runner):
    from safetensors.numpy import save_file
    (tmp_path / "p.mlir").write_text("""
func.func @main(%x: tensor<3x64xf32>, %w: tensor<64x32xf32> {octavo.name = "w", octavo.parameter}) -> tensor<3x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x32xf32>) -> tensor<3x32xf32>
  return %0 : tensor<3x32xf32>
}""")
    save_file({"w": f32(64, 32, seed=2)}, tmp_path / "w.safetensors")
    octavo("compile", tmp_path / "p.mlir", "--weights", tmp_path / "w.safetensors", "--quantize", "mxfp4",
           "-o", tmp_path / "folder", OCTAVO_ISA="portable")
    run_in_c(runner, tmp_path / "folder", [f32(3, 64)], 1, OCTAVO_ISA="portable")
    message = run_in_c(runner, tmp_path / "folder", [f32(3, 64)], 1, code=1) \
        if "avx2" in pathlib.Path("/proc/cpuinfo").read_text() else "OCTAVO_ISA"
    assert "OCTAVO_ISA" in message


def test_threads_run_at_once(folder, tmp_path):
    """Four threads of C++ on one program, each with results of its own."""
    source = tmp_path / "threads.cpp"
    source.write_text("""
#include "octavo_program.h"
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>
int main(int, char** argv) {
  octavo_program* program = octavo_program_load(argv[1]);
  if (!program) { std::puts(octavo_last_error()); return 1; }
  std::vector<float> x(35, 0.5f), y(7, 0.25f), first(35);
  const void* arguments[] = {x.data(), y.data()};
  void* results[] = {first.data()};
  if (octavo_program_run(program, arguments, results) != 0) return 2;
  int wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        std::vector<float> own(35);
        void* memory[] = {own.data()};
        if (octavo_program_run_on(program, arguments, memory, 1 + t % 2) != 0 ||
            std::memcmp(own.data(), first.data(), 35 * sizeof(float)) != 0)
          ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  const void* none[] = {nullptr, y.data()};
  if (octavo_program_run(program, none, results) != -1 || !std::strstr(octavo_last_error(), "null pointer")) return 3;
  if (octavo_program_run_on(program, arguments, results, -1) != -1) return 4;
  const void* odd[] = {reinterpret_cast<const char*>(x.data()) + 1, y.data()};
  if (octavo_program_run(program, odd, results) != -1 || !std::strstr(octavo_last_error(), "aligned")) return 5;
  if (octavo_program_argument(program, 2).name != nullptr) return 6;
  octavo_program_free(program);
  octavo_program_free(nullptr);
  if (octavo_program_load(nullptr) || octavo_program_load("/nowhere")) return 7;
  return wrong != 0 ? 8 : 0;
}
""")
    subprocess.run(["c++", "-std=c++11", "-pthread", source, "-I", HEADER, "-L", BIN, "-loctavo-program",
                    f"-Wl,-rpath,{BIN}", "-o", tmp_path / "threads"], check=True)
    done = subprocess.run([tmp_path / "threads", folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)


def test_no_linker_is_an_error(tmp_path):
    (tmp_path / "p.mlir").write_text(ELEMENTWISE)
    message = octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "folder", code=3, PATH=str(tmp_path))
    assert "no linker" in message and "binutils" in message


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "p.mlir").write_text(ELEMENTWISE)
    (tmp_path / "file").write_text("")
    assert "file" in octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / "file", code=3)
