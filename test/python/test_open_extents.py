"""Dots of extents that a program leaves open become scaled as those of known extents do."""

import json
import subprocess

import numpy as np
import pytest
from commands import OCTAVO
from test_reference import assert_same

pytestmark = pytest.mark.mlir

FORMATS = ["mxfp8_e4m3", "mxfp6_e2m3", "mxfp4", "mxint8", "nvfp4", "fp8_tensor", "fp8_row", "fp8_block", "fp8_group"]


def program(batch, rows, depth, columns):
    x, y, z = f"tensor<{batch}x{rows}x{depth}xf32>", f"tensor<{batch}x{depth}x{columns}xf32>", f"tensor<{batch}x{rows}x{columns}xf32>"
    return f"""func.func @main(%x: {x}, %y: {y}) -> {z} {{
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : ({x}, {y}) -> {z}
  return %0 : {z}
}}
"""


def octavo(*arguments):
    return subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def quantized(folder, name, text, *options):
    path = folder / f"{name}.mlir"
    path.write_text(text)
    out = folder / f"{name}.quantized.mlir"
    ended = octavo("quantize", path, "-o", out, "--both-activations", *options)
    assert ended.returncode == 0 and "1 of 1 dots quantized" in ended.stdout + ended.stderr, ended.stdout + ended.stderr
    return out


def evaluated(folder, path, *options):
    out = folder / f"{path.stem}.npy"
    ended = octavo("run", path, "--input", folder / "x.npy", "--input", folder / "y.npy", "--output", out, *options)
    assert ended.returncode == 0, ended.stderr
    return np.load(out)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", [(2, 3, 96, 5), (1, 130, 20, 7), (3, 1, 45, 1)])
def test_open_extents_give_the_bits_of_known_ones(tmp_path, format, shape):
    random = np.random.default_rng(1)
    batch, rows, depth, columns = shape
    np.save(tmp_path / "x.npy", random.normal(0, 3, (batch, rows, depth)).astype(np.float32))
    np.save(tmp_path / "y.npy", random.normal(0, 1, (batch, depth, columns)).astype(np.float32))
    known = evaluated(tmp_path, quantized(tmp_path, "known", program(*shape), "--format", format))
    # Any axis may be open: the batch, rows, what is summed over, all.
    for name, extents in [("rows", (batch, "?", depth, columns)), ("depth", (batch, rows, "?", columns)),
                          ("all", ("?", "?", "?", "?"))]:
        text = program(*extents)
        assert_same(evaluated(tmp_path, quantized(tmp_path, name, text, "--format", format)), known)
        (tmp_path / "plain.mlir").write_text(text)
        assert_same(evaluated(tmp_path, tmp_path / "plain.mlir", "--quantize", format, "--both-activations"), known)


def test_extents_that_only_the_data_says(tmp_path):
    """What refinement leaves open is evaluated all the same: rows here are those before the first zero."""
    text = """func.func @main(%x: tensor<8x40xf32>, %y: tensor<40x3xf32>, %n: tensor<i32>) -> tensor<?x3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %columns = stablehlo.constant dense<40> : tensor<1xi32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %limits = stablehlo.concatenate %rows, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %some = stablehlo.real_dynamic_slice %x, %zero, %limits, %one : (tensor<8x40xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x40xf32>
  %0 = stablehlo.dot_general %some, %y, contracting_dims = [1] x [0] : (tensor<?x40xf32>, tensor<40x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
"""
    random = np.random.default_rng(2)
    x, y = random.normal(0, 2, (8, 40)).astype(np.float32), random.normal(0, 2, (40, 3)).astype(np.float32)
    np.save(tmp_path / "n.npy", np.int32(5))
    np.save(tmp_path / "y.npy", y)
    path = quantized(tmp_path, "some", text, "--format", "mxfp8_e4m3")
    np.save(tmp_path / "x.npy", x)
    found = evaluated(tmp_path, path, "--input", tmp_path / "n.npy")
    np.save(tmp_path / "x.npy", x[:5])
    whole = text.split("\n")[0].replace("8x40", "5x40").replace(", %n: tensor<i32>", "").replace("?x3", "5x3")
    whole += """
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<5x40xf32>, tensor<40x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
"""
    assert_same(found, evaluated(tmp_path, quantized(tmp_path, "whole", whole, "--format", "mxfp8_e4m3")))


def test_reports_say_what_is_unknown(tmp_path):
    (tmp_path / "p.mlir").write_text(program(2, "?", 64, 5))
    ended = octavo("quantize", tmp_path / "p.mlir", "-o", tmp_path / "q.mlir", "--format", "mxfp4", "--both-activations", "--json")
    [dot] = json.loads(ended.stdout)["dots"]
    assert (dot["batch"], dot["m"], dot["n"], dot["k"], dot["quantized"]) == (2, None, 5, 64, True)
    ended = octavo("quantize", tmp_path / "p.mlir", "-o", tmp_path / "q.mlir", "--format", "mxfp4", "--both-activations", "--explain")
    assert "2 of ?x5x64" in ended.stdout


def test_a_preset_that_refuses_short_blocks_wants_to_know_the_extent(tmp_path):
    presets = json.loads(octavo("presets", "--json").stdout)
    refusing = next(p["name"] for p in presets["presets"] if "mxfp8_e4m3" in json.dumps(p) and "refuse" in json.dumps(p))
    for depth, decided in [("?", "is not known to be a multiple of 32"), (64, None), (65, "is not a multiple of 32")]:
        (tmp_path / "p.mlir").write_text(program(2, "?", depth, 5))
        ended = octavo("quantize", tmp_path / "p.mlir", "-o", tmp_path / "q.mlir", "--format", "mxfp8_e4m3", "--both-activations",
                       "--preset", refusing, "--explain")
        assert (f"{refusing} refuses axis 2" in ended.stdout and decided in ended.stdout) if decided else "1 of 1 dots" in ended.stdout


def exported(items):
    """A step of two layers, with the parameters of a tree; of open rows wrapped by jax.export in a function of its own."""
    import jax
    import jax.numpy as jnp

    def layers(p, x):
        return jax.nn.relu(x @ p["a"] + p["c"]) @ p["b"]
    shapes = {"a": (64, 96), "b": (96, 32), "c": (96,)}
    params = {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in shapes.items()}
    rows = jax.ShapeDtypeStruct(jax.export.symbolic_shape(f"{items}, 64"), jnp.float32)
    random = np.random.default_rng(4)
    return (jax.export.export(jax.jit(layers))(params, rows).mlir_module(),
            {f"p['{name}']": random.normal(0, 0.2, shape).astype(np.float32) for name, shape in shapes.items()})


@pytest.mark.parametrize("options", [["--format", "mxfp8_e4m3"], ["--format", "nvfp4"], ["--recipe", "fp8-row"]])
def test_weights_of_exported_programs_are_quantized_once(tmp_path, options):
    """Their arguments are those of the function that jax.export wraps, by its names; bits are those of the closed program."""
    from safetensors.numpy import save_file
    save_file(exported("b")[1], tmp_path / "w.safetensors")
    found = {}
    for items in ("b", 3, 17):
        (tmp_path / f"{items}.mlir").write_text(exported(items)[0])
        ended = octavo("quantize", tmp_path / f"{items}.mlir", "-o", tmp_path / f"{items}.quantized.mlir", "--parameters", "^p", *options, "--json")
        told = json.loads(ended.stdout)
        assert told["dots_quantized"] == 2 and told["weight_bytes_after"] < 0.4 * told["weight_bytes_before"]
        assert [dot["weight"] for dot in told["dots"]] == ["p['a']", "p['b']"]
        found[items] = told["weight_bytes_after"]
    assert len(set(found.values())) == 1
    for items in (3, 17):
        np.save(tmp_path / "x.npy", np.random.default_rng(items).normal(0, 1, (items, 64)).astype(np.float32))
        results = []
        for program, more in [(f"{items}.quantized", []), ("b.quantized", []), ("b", ["--parameters", "^p", "--compare", "f32", "--per-op",
                              *(["--quantize", options[1]] if options[0] == "--format" else options)])]:
            ended = octavo("run", tmp_path / f"{program}.mlir", "--weights", tmp_path / "w.safetensors", "--input", f"x={tmp_path / 'x.npy'}",
                           "--output", tmp_path / "y.npy", *more)
            assert ended.returncode == 0, ended.stderr
            results.append(np.load(tmp_path / "y.npy"))
        assert_same(results[1], results[0])
        assert_same(results[2], results[0])


def test_what_open_extents_have_no_form_for_is_told(tmp_path):
    """By its own reason, not by the function that jax.export put it into."""
    (tmp_path / "b.mlir").write_text(exported("b")[0])
    ended = octavo("quantize", tmp_path / "b.mlir", "-o", tmp_path / "q.mlir", "--parameters", "^p", "--recipe", "fp8-delayed", "--json")
    assert {dot["reason"] for dot in json.loads(ended.stdout)["dots"]} == {"delayed scales need tensors of known extents"}
