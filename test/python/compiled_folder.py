"""Folders that `octavo compile` writes, for tests: their results, called from C and by `octavo run`."""
import os
import pathlib
import shutil
import struct
import subprocess

import numpy as np
import pytest

BIN = pathlib.Path(os.environ["OCTAVO_BIN_DIR"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "octavo" / "Program" / "Folder"
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


def kernels_of(folder):
    (path,) = folder.glob("kernels-*.so")
    return path


def weights_of(folder):
    (path,) = folder.glob("weights-*.bin")
    return path


def xxh64(data):
    """https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md"""
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                          0x27D4EB2F165667C5)
    mask = 2**64 - 1

    def rotated(x, n):
        return (x << n | x >> (64 - n)) & mask

    def mixed(lane, word):
        return rotated((lane + word * p2) & mask, 31) * p1 & mask

    lanes, at = [p1 + p2 & mask, p2, 0, -p1 & mask], 0
    while len(data) - at >= 32:
        lanes = [mixed(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
        at += 32
    value = p5
    if len(data) >= 32:
        value = sum(rotated(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & mask
        for lane in lanes:
            value = ((value ^ mixed(0, lane)) * p1 + p4) & mask
    value = value + len(data) & mask
    while len(data) - at >= 8:
        value = (rotated(value ^ mixed(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & mask
        at += 8
    if len(data) - at >= 4:
        value = (rotated(value ^ struct.unpack_from("<I", data, at)[0] * p1 & mask, 23) * p2 + p3) & mask
        at += 4
    for byte in data[at:]:
        value = rotated(value ^ byte * p5 & mask, 11) * p1 & mask
    value = (value ^ value >> 33) * p2 & mask
    value = (value ^ value >> 29) * p3 & mask
    return value ^ value >> 32


def f32(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


# What a folder cannot hold, and folders that are not what they were.

def refused(tmp_path, text, *options, folder="folder"):
    (tmp_path / "p.mlir").write_text(text)
    message = octavo("compile", tmp_path / "p.mlir", "-o", tmp_path / folder, *options, code=3)
    assert not (tmp_path / folder / "program.octavo").exists()
    return message
