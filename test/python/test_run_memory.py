"""What a run holds in memory: weights as products read them, and not as their files have them, too."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
MIB = 2 ** 20


# A process of its own, since a child's peak begins with that of the process which it came from.
MEASURE = """import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
child.returncode = os.waitstatus_to_exitcode(status)
print(1024 * usage.ru_maxrss)
sys.exit(child.returncode)"""


def run(folder, program, *options):
    """The result of a program, and the peak of the process's memory in bytes."""
    (folder / "p.mlir").write_text(program)
    done = subprocess.run([sys.executable, "-c", MEASURE, OCTAVO, "run", folder / "p.mlir", "--output",
                           folder / "out.safetensors", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(iter(load_file(folder / "out.safetensors").values())), int(done.stdout)


MOST = 1.25  # times the bytes of a file of weights


def measure(*command):
    """The peak of a process's memory in bytes."""
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def chain(n, count, rows):
    """A program of `count` products with square weights, of so many rows."""
    x = f"tensor<{rows}x{n}xf32>"
    weights = ", ".join(f'%w{i}: tensor<{n}x{n}xf32> loc("w{i}")' for i in range(count))
    lines, last = [], "%x"
    for i in range(count):
        lines.append(f"  %{i} = stablehlo.dot_general {last}, %w{i}, contracting_dims = [1] x [0]\n"
                     f"      : ({x}, tensor<{n}x{n}xf32>) -> {x}\n")
        last = f"%{i}"
    return f'func.func @main(%x: {x} loc("x"), {weights}) -> {x} {{\n{"".join(lines)}  return {last} : {x}\n}}'


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    """Programs and weights of 2 small matrices, and of 8 that take 134 MB; each doubles its rows."""
    folder = tmp_path_factory.mktemp("chains")
    for name, n, count in ("small", 64, 2), ("large", 2048, 8):
        save_file({f"w{i}": 2 * np.eye(n, dtype=np.float32) for i in range(count)}, folder / f"{name}.safetensors")
        np.save(folder / f"{name}.npy", np.ones((8, n), np.float32))
        for batch, rows in ("fixed", 8), ("open", "?"):
            (folder / f"{name}-{batch}.mlir").write_text(chain(n, count, rows))
    return folder


FORMATS = ["f32", "mxfp8_e4m3", "mxfp4", "nvfp4"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("batch", ["fixed", "open"])
def test_run_holds_the_weights_of_a_file_once(batch, format, chains, tmp_path):
    quantize = [] if format == "f32" else ["--quantize", format]
    small, large = (measure(OCTAVO, "run", chains / f"{name}-{batch}.mlir", "--weights", chains / f"{name}.safetensors",
                            "--input", f"x={chains / name}.npy", "--output", tmp_path / f"{name}.safetensors", *quantize)
                    for name in ("small", "large"))
    assert np.all(load_file(tmp_path / "large.safetensors").popitem()[1] == 2.0 ** 8)
    assert large - small <= MOST * (chains / "large.safetensors").stat().st_size


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("batch", ["fixed", "open"])
def test_compile_holds_the_weights_of_a_file_once(batch, format, chains, tmp_path):
    quantize = [] if format == "f32" else ["--quantize", format]
    small, large = (measure(OCTAVO, "compile", chains / f"{name}-{batch}.mlir", "--weights",
                            chains / f"{name}.safetensors", "-o", tmp_path / name, *quantize)
                    for name in ("small", "large"))
    assert large - small <= MOST * (chains / "large.safetensors").stat().st_size
    subprocess.run([OCTAVO, "run", tmp_path / "large", "--input", f"x={chains / 'large.npy'}", "--output",
                    tmp_path / "out.safetensors"], check=True, capture_output=True)
    assert np.all(load_file(tmp_path / "out.safetensors").popitem()[1] == 2.0 ** 8)


SMALL = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
# The second weight is a product's right side as PyTorch stores it, and read from within a loop.
TWO_PRODUCTS = """
func.func @main(%x: tensor<64x4096xf32> loc("x"), %w: tensor<4096x4096xf32> loc("w"),
                %v: tensor<4096x4096xf32> loc("v")) -> tensor<64x4096xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x4096xf32>, tensor<4096x4096xf32>) -> tensor<64x4096xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %1:3 = stablehlo.while(%i = %zero, %y = %0, %held = %v)
      : tensor<i32>, tensor<64x4096xf32>, tensor<4096x4096xf32>
   cond {
    %2 = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.dot_general %y, %held, contracting_dims = [1] x [1]
        : (tensor<64x4096xf32>, tensor<4096x4096xf32>) -> tensor<64x4096xf32>
    stablehlo.return %2, %3, %held : tensor<i32>, tensor<64x4096xf32>, tensor<4096x4096xf32>
  }
  return %1#1 : tensor<64x4096xf32>
}"""


@pytest.mark.parametrize("repeat", [(), ("--repeat", "2")])
def test_weights_of_products_are_in_memory_once(repeat, tmp_path):
    np.save(tmp_path / "small.npy", np.ones(4, np.float32))
    _, empty = run(tmp_path, SMALL, "--input", tmp_path / "small.npy")
    numbers = np.random.default_rng(0)
    w, v = (numbers.integers(-2, 3, (4096, 4096)).astype(np.float32) for _ in range(2))  # of 64 MiB
    x = np.eye(64, 4096, dtype=np.float32)
    save_file({"w": w, "v": v}, tmp_path / "weights.safetensors")
    np.save(tmp_path / "x.npy", x)
    found, peak = run(tmp_path, TWO_PRODUCTS, "--weights", tmp_path / "weights.safetensors", "--input",
                      f"x={tmp_path / 'x.npy'}", *repeat)
    assert np.array_equal(found, w[:64] @ v.T)  # sums of 4096 integers up to 4: exact in any order
    # The code generator, which the small program has in memory at its peak, has made way for them.
    assert peak - empty < 128 * MIB


def test_a_weight_that_is_also_read_as_it_is(tmp_path):
    program = """
func.func @main(%x: tensor<3x40xf32> loc("x"), %w: tensor<40x40xf32> loc("w")) -> tensor<3x40xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<3x40xf32>, tensor<40x40xf32>) -> tensor<3x40xf32>
  %1 = stablehlo.slice %w [2:5, 0:40] : (tensor<40x40xf32>) -> tensor<3x40xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x40xf32>
  return %2 : tensor<3x40xf32>
}"""
    numbers = np.random.default_rng(1)
    w, x = numbers.integers(-2, 3, (40, 40)).astype(np.float32), numbers.integers(-2, 3, (3, 40)).astype(np.float32)
    save_file({"w": w, "x": x}, tmp_path / "weights.safetensors")
    found, _ = run(tmp_path, program, "--weights", tmp_path / "weights.safetensors")
    assert np.array_equal(found, x @ w + w[2:5])
