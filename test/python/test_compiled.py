"""`octavo run --backend compiled` beside the interpreter and beside XLA: rules C1 to C4."""
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest
from random_programs import Program
from safetensors.numpy import load_file
from test_jax_programs import FOLDER, TOLERANCES, arrays, assert_fits

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
PROGRAMS = int(os.environ.get("OCTAVO_RANDOM_PROGRAMS", "100"))


def outputs(program, inputs, folder, backend):
    arguments = []
    for i, array in enumerate(inputs):
        name = f"in{i}.bfloat16.npy" if array.dtype == ml_dtypes.bfloat16 else f"in{i}.npy"
        np.save(folder / name, array)
        arguments += ["--input", folder / name]
    file = folder / f"{backend}.safetensors"
    run = subprocess.run([OCTAVO, "run", program, *arguments, "--backend", backend, "--json", "--output", file],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    stored = load_file(file)
    return [stored[row["name"]] for row in json.loads(run.stdout)["outputs"]]


@pytest.mark.parametrize("name", TOLERANCES)
def test_programs_of_jax(name, tmp_path):
    for found, wanted in zip(outputs(FOLDER / f"{name}.mlir", arrays(name, "in"), tmp_path, "compiled"),
                             arrays(name, "out"), strict=True):
        assert_fits(found, wanted, TOLERANCES[name])


@pytest.mark.parametrize("begin", range(0, PROGRAMS, 25))
def test_random_programs_have_the_bits_of_the_interpreter(begin, tmp_path):
    for seed in range(begin, begin + 25):
        drawn = Program(seed)
        program = tmp_path / f"{seed}.mlir"
        program.write_text(drawn.text())
        numbers = np.random.default_rng(seed)
        inputs = [(numbers.standard_normal(drawn.arguments[0][0]) * 4).astype(np.float32),
                  numbers.integers(-5, 9, drawn.arguments[1][0]).astype(np.int32)]
        wanted = outputs(program, inputs, tmp_path, "reference")
        found = outputs(program, inputs, tmp_path, "compiled")
        for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), (seed, i)
            if a.dtype.kind not in "iub":  # any NaN is as good as another; zeros have signs
                isnan = np.isnan(a.astype(np.float32))
                assert np.array_equal(isnan, np.isnan(b.astype(np.float32))), (seed, i)
                a, b = a[~isnan], b[~isnan]
            assert a.tobytes() == b.tobytes(), f"seed {seed}, result {i}: {a.ravel()[:8]} and {b.ravel()[:8]}"


FUNCTIONS = ["stablehlo.exponential", "stablehlo.exponential_minus_one", "stablehlo.log", "stablehlo.log_plus_one",
             "stablehlo.logistic", "stablehlo.tanh", "chlo.erf", "chlo.erfc"]


@pytest.mark.parametrize("element", ["f32", "bf16", "f16"])
def test_functions_have_nearly_all_bits_of_the_interpreter(element, tmp_path):
    """All codes of 16 bits; of f32 a spread of them, zeros, subnormals, infinities and NaN among them."""
    if element == "f32":
        drawn = np.random.default_rng(1).integers(0, 2**32, 200_000, dtype=np.uint64).astype(np.uint32)
        ordinary = np.random.default_rng(2).normal(0, 4, 200_000).astype(np.float32).view(np.uint32)
        special = np.array([0, 0x80000000, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000], np.uint32)
        x = np.concatenate([drawn, ordinary, special]).view(np.float32)
        code = np.uint32
    else:
        x = np.arange(1 << 16, dtype=np.uint16).view({"bf16": ml_dtypes.bfloat16, "f16": np.float16}[element])
        code = np.uint16
    kind = f"tensor<{x.size}x{element}>"
    lines = [f"    %{i} = {name} %x : {kind}{f' -> {kind}' if name.startswith('chlo') else ''}"
             for i, name in enumerate(FUNCTIONS)]
    results = ", ".join(f"%{i}" for i in range(len(FUNCTIONS)))
    kinds = ", ".join([kind] * len(FUNCTIONS))
    program = tmp_path / "functions.mlir"
    program.write_text(f"func.func @main(%x: {kind}) -> ({kinds}) {{\n" + "\n".join(lines) +
                       f"\n    return {results} : {kinds}\n}}\n")
    for name, a, b in zip(FUNCTIONS, outputs(program, [x], tmp_path, "compiled"),
                          outputs(program, [x], tmp_path, "reference"), strict=True):
        isnan = np.isnan(a.astype(np.float64))
        assert np.array_equal(isnan, np.isnan(b.astype(np.float64))), name
        found, wanted = a[~isnan].view(code).astype(np.int64), b[~isnan].view(code).astype(np.int64)
        apart = np.abs(found - wanted)
        worst = x[~isnan][apart.argmax()]
        assert apart.max() <= 1, f"{name} of {worst!r}"
        assert np.count_nonzero(apart) <= 1e-6 * apart.size, name


def test_a_loop_writes_into_what_it_carries(tmp_path):
    """dynamic_update_slice in a loop, on a cache that is also read."""
    program = tmp_path / "cache.mlir"
    program.write_text("""
func.func @main(%cache: tensor<8x4xf32>, %row: tensor<1x4xf32>) -> (tensor<8x4xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %r:3 = stablehlo.while(%i = %zero, %c = %cache, %s = %none) : tensor<i32>, tensor<8x4xf32>, tensor<f32>
   cond {
    %end = stablehlo.constant dense<6> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %new = stablehlo.dynamic_update_slice %c, %row, %i, %z : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %top = stablehlo.reduce(%new init: %low) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %sum = stablehlo.add %s, %top : tensor<f32>
    stablehlo.return %next, %new, %sum : tensor<i32>, tensor<8x4xf32>, tensor<f32>
  }
  return %r#1, %r#2 : tensor<8x4xf32>, tensor<f32>
}
""")
    cache = np.arange(32, dtype=np.float32).reshape(8, 4)
    given = cache.copy()
    found, total = outputs(program, [given, np.full((1, 4), 40, np.float32)], tmp_path, "compiled")
    cache[:6] = 40
    np.testing.assert_array_equal(found, cache)
    assert total == 240


def test_an_unfitting_argument_is_named(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n")
    np.save(tmp_path / "x.npy", np.zeros(5, np.float32))
    run = subprocess.run([OCTAVO, "run", program, "--input", tmp_path / "x.npy", "--backend", "compiled"],
                         capture_output=True, text=True)
    assert run.returncode != 0 and "tensor<4xf32>" in run.stderr or "f32[4]" in run.stderr, run.stderr
