"""What a folder of `octavo compile` cannot hold, folders that are not what they were, and `octavo run` of them."""
import fnmatch
import json
import pathlib
import re
import shutil
import struct
import subprocess

import numpy as np
import pytest
from compiled_folder import (
    BIN, ELEMENTWISE, HEADER, ROOT, f32, kernels_of, octavo, refused, run_in_c, runner, weights_of
)

pytestmark = pytest.mark.mlir


def test_operations_without_code_are_named(tmp_path):
    message = refused(tmp_path, """
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = chlo.digamma %x : tensor<4x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}""")
    assert "1 operations" in message and "'chlo.digamma'" in message and "p.mlir:3:" in message


def test_open_extents_that_are_no_items_are_refused(tmp_path):
    assert 'argument "arg0" of @main leaves an extent open besides the first' in refused(tmp_path, """
func.func @main(%x: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %0 = stablehlo.add %x, %x : tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}""")
    assert "is not the same for each" in refused(tmp_path, """
func.func @main(%x: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [] x [] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""")
    message = refused(tmp_path, """
func.func @main(%x: tensor<?x5xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.cholesky %0, lower = true : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}""")
    assert "p.mlir:4:" in message and "depends on the number of items otherwise than by sizes; export" in message


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


@pytest.mark.parametrize("name, words", [("program.octavo", "octavo compile"), ("weights-*", "weights-"),
                                         ("kernels-*", "kernels-")])
def test_a_missing_file_is_named(folder, runner, name, words):
    run_in_c(runner, folder, ARRAYS, 1)
    (path,) = folder.glob(name)
    path.unlink()
    message = run_in_c(runner, folder, ARRAYS, 1, code=1)
    assert words in message and "No such file" in message


def test_a_file_that_is_cut_short_is_an_error(folder, runner):
    for name, words in (("program.octavo", ("damaged", "not what `octavo compile` writes")),
                        (weights_of(folder).name, ("cut short", "size")), (kernels_of(folder).name, ("damaged",))):
        whole = (folder / name).read_bytes()
        for size in (0, 1, 24, len(whole) // 2, len(whole) - 1):
            (folder / name).write_bytes(whole[:size])
            message = run_in_c(runner, folder, ARRAYS, 1, code=1)
            assert name in message and any(word in message for word in words), (size, message)
            assert name == "program.octavo" or "compile the program again" in message
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
    text = (tmp_path / "p.mlir").read_text()
    (tmp_path / "q.mlir").write_text(text.replace("tanh", "negate").replace("[1.0], [2.0]", "[1.5], [2.5]"))
    octavo("compile", tmp_path / "q.mlir", "-o", other)
    for name, given, words in ((weights_of(folder).name, weights_of(other), "belongs to another program"),
                               (kernels_of(folder).name, kernels_of(other), "damaged")):
        kept = (folder / name).read_bytes()
        shutil.copy(given, folder / name)
        assert words in run_in_c(runner, folder, ARRAYS, 1, code=1)
        (folder / name).write_bytes(kept)


def test_a_folder_that_is_written_again_has_the_kernels_of_one_program(folder, runner, tmp_path):
    before = kernels_of(folder).name
    (tmp_path / "q.mlir").write_text(ELEMENTWISE.replace("tanh", "negate"))
    (folder / "kernels-of-mine.so").write_text("")
    octavo("compile", tmp_path / "q.mlir", "-o", folder)
    (folder / "kernels-of-mine.so").unlink()
    assert kernels_of(folder).name != before
    (found,) = run_in_c(runner, folder, ARRAYS, 1)
    np.testing.assert_array_equal(np.frombuffer(found, np.float32).reshape(5, 7), -(ARRAYS[0] * ARRAYS[1]))


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


def steps_of(body):
    """Where the steps begin in what follows the head: they are the last run of bytes."""
    return next(at + 8 for at in range(len(body) - 8) if struct.unpack_from("<Q", body, at)[0] == len(body) - at - 8)


KERNELS = 9 * 8  # the number of kernels stands behind nine words (ProgramFile.cpp, whole())


@pytest.mark.parametrize("kernels", [0, 2, 3, 40, 5000])
def test_a_forged_number_of_kernels_is_an_error(folder, runner, kernels):
    """It is the shared object's own number that says how many it has."""
    def change(body):
        at = steps_of(body) + KERNELS
        assert body[at:at + 8] == struct.pack("<Q", 1)
        return body[:at] + struct.pack("<Q", kernels) + body[at + 8:]
    patched(folder / "program.octavo", change)
    message = run_in_c(runner, folder, ARRAYS, 1, code=1)
    assert "its kernels are of another program" in message or "program.octavo" in message


def text_of(name):
    return struct.pack("<Q", len(name)) + name


@pytest.mark.parametrize("old, new", [("main", "mine"), ("arg1", "arg2"), ("stablehlo.tanh", "stablehlo.cosh"),
                                      ("octavo_cosh", "octavo_sinh"), ("octavo_cosh", "memcpy"), ("octavo_cosh", "")])
def test_what_the_kernels_are_of_is_not_altered(folder, runner, old, new):
    """Names, steps and what the kernels call, with a digest that fits: the kernels have one of their own."""
    def change(body):
        assert text_of(old.encode()) in body
        return body.replace(text_of(old.encode()), text_of(new.encode()), 1)
    patched(folder / "program.octavo", change)
    message = run_in_c(runner, folder, ARRAYS, 1, code=1)
    assert "its kernels are of another program" in message or "its parts do not fill it" in message


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
    data = (folder / "program.octavo").read_bytes()
    (folder / "program.octavo").write_bytes(data[:8] + struct.pack("<Q", 99) + data[16:])
    message = run_in_c(runner, folder, ARRAYS, 1, code=1)
    assert "version 0000000000000063" in message and "compile the program again" in message


def folder_version(source):
    """The number that a build of these sources has."""
    subprocess.run(["cmake", f"-DSOURCE={source}", f"-DOUTPUT={source}/version.h", "-P",
                    ROOT / "octavo/Program/Folder/FolderVersion.cmake"], check=True)
    (word,) = re.findall(r"0x([0-9a-f]{16})u", (source / "version.h").read_text())
    return word


def test_the_version_is_made_of_the_fields(tmp_path, folder):
    sources = ["octavo/Program/Folder", "octavo/Program/Steps", "octavo/Kernels/Product", "octavo/Numerics"]
    for name in sources:
        shutil.copytree(ROOT / name, tmp_path / name)
    version = folder_version(tmp_path)
    assert struct.unpack("<Q", (folder / "program.octavo").read_bytes()[8:16]) == (int(version, 16),)

    def changed(name, old, new):
        text = (tmp_path / name).read_text()
        assert old in text, (name, old)
        (tmp_path / name).write_text(text.replace(old, new, 1))
        found = folder_version(tmp_path)
        (tmp_path / name).write_text(text)
        return found != version

    assert not changed("octavo/Program/Steps/StepFields.cpp", "// ", "// not code: ")
    assert not changed("octavo/Program/Steps/Products/ScaledFields.cpp", "  fields.number(rows);\n", "  fields.number( rows );\n\n")
    for name, old, new in [
            ("octavo/Program/Steps/Products/ScaledFields.cpp", "  fields.number(rows);", "  fields.number(rows);\n  fields.number(rows);"),
            ("octavo/Program/Steps/File/ProgramFields.cpp", "number(integer.width, 1, 64);", "number(integer.width, 1, 32);"),
            ("octavo/Program/Steps/File/ProgramFile.cpp", "number(all.arenaBytes);", ""),
            ("octavo/Program/Steps/Step.h", "  Copy,\n", "  Copied,\n"),
            ("octavo/Program/Steps/Program.h", "Arena, Argument", "Argument, Arena"),
            ("octavo/Kernels/Product/PlainProduct.h", "F32, Bf16", "Bf16, F32"),
            ("octavo/Numerics/QuantizeOptions.h", "SkipNan", "Skip"),
            ("octavo/Program/Folder/FolderFile.cpp", '"octavo-p"', '"octavo-q"')]:
        assert changed(name, old, new), name


def test_every_step_s_fields_are_in_the_version():
    defined = {path.name for path in (ROOT / "octavo/Program/Steps").rglob("*.cpp")
               if re.search(r"[fF]ields\(ProgramFields& fields\)", path.read_text())}
    in_version = re.findall(r'/octavo/Program/Steps/(?:\*/|\w+/)?([^"/]+\.cpp)\"', (ROOT / "octavo/Program/Folder/FolderVersion.cmake").read_text())
    assert defined and all(any(fnmatch.fnmatch(name, each) for each in in_version) for name in defined)


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


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp4", "mxint8"])
@pytest.mark.parametrize("rows", [1, 40])
def test_weights_far_from_one(tmp_path, runner, format, rows):
    """Columns whose scales f32 does not multiply (D9)."""
    from safetensors.numpy import save_file
    (tmp_path / "p.mlir").write_text(f"""
func.func @main(%x: tensor<{rows}x64xf32>, %w: tensor<64x32xf32> {{octavo.name = "w", octavo.parameter}}) -> tensor<{rows}x32xf32> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<{rows}x64xf32>, tensor<64x32xf32>) -> tensor<{rows}x32xf32>
  return %0 : tensor<{rows}x32xf32>
}}""")
    w, x = np.abs(f32(64, 32, seed=2)), np.abs(f32(rows, 64))
    w[:, 3] *= np.float32(1e-33)
    w[:32, 5] *= np.float32(1e33)
    w[:, 17] *= np.float32(1e36)
    save_file({"w": w}, tmp_path / "w.safetensors")
    octavo("compile", tmp_path / "p.mlir", "--weights", tmp_path / "w.safetensors", "--quantize", format,
           "--activations", "none", "-o", tmp_path / "folder")
    found = np.frombuffer(run_in_c(runner, tmp_path / "folder", [x], 1)[0], np.float32).reshape(rows, 32)
    np.testing.assert_allclose(found, x.astype(np.float64) @ w, rtol=0.1)


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


ADDED = """
func.func @main(%x: tensor<?x3xf32> {octavo.name = "x"}, %y: tensor<?x3xf32> {octavo.name = "y"},
                %w: tensor<3xf32> {octavo.name = "w", octavo.parameter}) -> (tensor<?x3xf32> {octavo.name = "sum"}) {
  %s = stablehlo.add %x, %y : tensor<?x3xf32>
  return %s : tensor<?x3xf32>
}"""


def saved(path, array):
    np.save(path, array)
    return path


@pytest.mark.parametrize("repeat", [0, 3])
def test_octavo_run_runs_folders(tmp_path, repeat):
    """With the bytes, the words and the JSON of the program; what is donated is what the run before left there."""
    text = """
func.func @main(%x: tensor<3x4xf32> {octavo.name = "x", tf.aliasing_output = 0 : i32}, %y: tensor<4xf32> {octavo.name = "y"},
                %w: tensor<4xf32> {octavo.name = "w", octavo.parameter})
    -> (tensor<3x4xf32> {octavo.name = "sum"}, tensor<4xi32> {octavo.name = "rounded"}) {
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %s = stablehlo.add %x, %b : tensor<3x4xf32>
  %m = stablehlo.multiply %y, %w : tensor<4xf32>
  %r = stablehlo.convert %m : (tensor<4xf32>) -> tensor<4xi32>
  return %s, %r : tensor<3x4xf32>, tensor<4xi32>
}"""
    from safetensors.numpy import save_file
    program, folder = tmp_path / "p.mlir", tmp_path / "folder"
    program.write_text(text)
    x, y, w = f32(3, 4), f32(4, seed=1) * 9, f32(4, seed=2)
    save_file({"w": w}, tmp_path / "w.safetensors")
    weights = "--weights", tmp_path / "w.safetensors"
    octavo("compile", program, *weights, "-o", folder)
    given = ["--input", f"y={saved(tmp_path / 'y.npy', y)}", "--input", saved(tmp_path / "x.npy", x), "--repeat", repeat,
             "--threads", 1]
    shown, reports = [], []
    for number, (what, bound) in enumerate([(program, weights), (folder, ())]):
        octavo("run", what, *bound, *given, "--output", tmp_path / f"out{number}")
        reports.append(json.loads(octavo("run", what, *bound, *given, "--json")))
        shown.append(octavo("run", what, *bound, *given).split("output", 1)[1])
    for name in "sum", "rounded":
        assert (tmp_path / "out0" / f"{name}.npy").read_bytes() == (tmp_path / "out1" / f"{name}.npy").read_bytes()
    np.testing.assert_array_equal(np.load(tmp_path / "out1" / "sum.npy"), x + y)
    assert shown[0] == shown[1]
    assert reports[0].keys() == reports[1].keys()
    for key in "function", "backend", "outputs":
        assert reports[0][key] == reports[1][key], key
    assert len(reports[1]["seconds"].get("repeated", [])) == repeat and reports[1]["program"] == str(folder)


def test_octavo_run_of_a_folder_says_what_is_wrong(tmp_path):
    program, folder = tmp_path / "p.mlir", tmp_path / "folder"
    program.write_text(ADDED)
    from safetensors.numpy import save_file
    save_file({"w": f32(3)}, tmp_path / "w.safetensors")
    octavo("compile", program, "--weights", tmp_path / "w.safetensors", "-o", folder)
    x, y, long = (saved(tmp_path / f"{name}.npy", f32(n, 3)) for name, n in (("x", 5), ("y", 5), ("long", 6)))
    octavo("run", folder, "--input", x, "--input", y, "--output", tmp_path / "sum.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "sum.npy"), 2 * f32(5, 3))
    wrong = {
        ("--input", f"x={x}"): '"y" f32[?, 3]',
        ("--input", f"z={x}"): '@main has no argument "z"',
        ("--input", x, "--input", long): 'along axis 0, "x" is of 5',
        ("--input", x, "--input", f"y={saved(tmp_path / 'flat.npy', f32(5))}"): "y",
        ("--input", x, "--input", f"y={saved(tmp_path / 'ints.npy', np.ones((5, 3), np.int32))}"): "i32",
        ("--weights", tmp_path / "w.safetensors"): '"w"',
    }
    for arguments, words in wrong.items():
        assert words in octavo("run", folder, *arguments, code=3), arguments
    (tmp_path / "empty").mkdir()
    assert "octavo compile" in octavo("run", tmp_path / "empty", code=3)


REFUSED = {"--quantize mxfp4": "octavo compile", "--recipe mixed.json": "octavo compile", "--activations none": "octavo compile",
           "--drop-scales": "octavo compile", "--function main": "octavo compile --function", "--backend reference": "--backend",
           "--dump d": "octavo run PROGRAM", "--profile t.json": "octavo run PROGRAM", "--compare reference": "octavo run PROGRAM",
           "--per-op": "octavo run PROGRAM", "--page p.html": "octavo run PROGRAM", "--bound 2": "octavo run PROGRAM",
           "--bisect": "octavo run PROGRAM", "--explain-compile": "octavo run PROGRAM", "--fail-on-missed": "octavo run PROGRAM",
           "--recover-scaled": "octavo run PROGRAM", "--infeed x.npy": "no infeed", "--probes p": "no probes"}


@pytest.mark.parametrize("given", REFUSED)
def test_options_that_need_the_program_are_refused_by_name(folder, given):
    said = octavo("run", folder, *given.split(), code=2)
    assert f"{given.split()[0]} is not for a folder" in said and REFUSED[given] in said
