"""Portable artifacts and jax.export's containers, held against jaxlib: what it writes is read as the
program that it was made of, and what octavo writes, jaxlib reads as the same program."""

import os
import random
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import export
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

pytestmark = pytest.mark.mlir

BIN = Path(os.environ["OCTAVO_BIN_DIR"])
ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ["0.9.0", "0.10.0", "0.12.0", "0.14.0", "0.19.0", "1.0.0", "1.1.0", "1.6.0", "1.8.0",
            "1.15.0", "1.16.3", "1.17.0"]
DEFAULT = "1.15.0"


def octavo(*arguments, code=0):
    run = subprocess.run([BIN / "octavo", *map(str, arguments)], capture_output=True, text=True,
                         timeout=120)
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    if code:
        assert run.stderr.startswith("octavo: error: "), run.stderr
        return run.stderr
    return run.stdout


def lowered(function, *arguments):
    return jax.jit(function).lower(*arguments).as_text()


def loop(x):
    return jax.lax.fori_loop(0, 5, lambda i, v: v * 2 + i.astype(v.dtype), x)


def narrow(x):
    y = x.astype(ml_dtypes.float8_e4m3fn) + jnp.float8_e4m3fn(1.5)
    return y.astype(jnp.bfloat16), x.astype(jnp.int4), x > 0


# The version from which an artifact can hold the program.
PROGRAMS = {
    "network": ("0.9.0", lowered(lambda x, w, b: jnp.tanh(jnp.maximum(x @ w + b, 0)),
                                 np.zeros((4, 8), np.float32), np.zeros((8, 3), np.float32),
                                 np.zeros(3, np.float32))),
    "softmax": ("0.9.0", lowered(lambda x: jax.nn.softmax(x, axis=1), np.zeros((3, 7), np.float32))),
    "loop": ("0.9.0", lowered(loop, np.zeros(3, np.float32))),
    "branches": ("0.9.0", lowered(lambda i, x: jax.lax.switch(i, [jnp.sin, jnp.cos, jnp.abs], x),
                                  np.int32(1), np.zeros(3, np.float32))),
    "take": ("0.9.0", lowered(lambda x, i: jnp.take(x, i, axis=0), np.zeros((5, 6), np.float32),
                              np.zeros((2, 3), np.int32))),
    "batched take": ("1.1.0", lowered(jax.vmap(lambda x, i: x[i]), np.zeros((4, 5), np.float32),
                                      np.zeros((4, 2), np.int32))),
    "narrow": ("0.9.0", lowered(narrow, np.zeros((2, 3), np.float32))),
    "four bits": ("1.8.0", lowered(lambda x: x.astype(ml_dtypes.float4_e2m1fn),
                                   np.zeros(4, np.float32))),
    "algorithm": ("1.6.0", """func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
"""),
    "constants": ("0.9.0", """module {
  func.func public @main() -> (tensor<9xi1>, tensor<9xi1>, tensor<i1>, tensor<4xi4>, tensor<2xui16>, tensor<3xf64>, tensor<0x2xf32>, tensor<2x2xbf16>) {
    %0 = stablehlo.constant dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
    %1 = stablehlo.constant dense<true> : tensor<9xi1>
    %2 = stablehlo.constant dense<true> : tensor<i1>
    %3 = stablehlo.constant dense<[-8, -1, 0, 7]> : tensor<4xi4>
    %4 = stablehlo.constant dense<[65535, 3]> : tensor<2xui16>
    %5 = stablehlo.constant dense<[1.0e-300, -0.0, 0x7FF0000000000000]> : tensor<3xf64>
    %6 = stablehlo.constant dense<> : tensor<0x2xf32>
    %7 = stablehlo.constant dense<1.5> : tensor<2x2xbf16>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<9xi1>, tensor<9xi1>, tensor<i1>, tensor<4xi4>, tensor<2xui16>, tensor<3xf64>, tensor<0x2xf32>, tensor<2x2xbf16>
  }
}
"""),
    "calls": ("0.9.0", """module @calls attributes {mhlo.num_partitions = 1 : i32} {
  func.func private @twice(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @main(%arg0: tensor<2xf32> {jax.buffer_donor = true, octavo.name = "x"}) -> (tensor<2xf32> {jax.result_info = "result"}) {
    %0 = call @twice(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
"""),
}


def number(version):
    return tuple(map(int, version.split(".")))


def canonical(program):
    """What jaxlib prints of a program, text or bytes."""
    with jax_mlir.make_ir_context():
        return str(ir.Module.parse(program))


def pairs():
    return [pytest.param(name, version, id=f"{name}-{version}") for name in PROGRAMS
            for version in VERSIONS if number(version) >= number(PROGRAMS[name][0])]


@pytest.mark.parametrize("name, version", pairs())
def test_what_jaxlib_writes_is_read(tmp_path, name, version):
    text = PROGRAMS[name][1]
    (tmp_path / "in.mlirbc").write_bytes(stablehlo.serialize_portable_artifact_str(text, version))
    octavo("convert", tmp_path / "in.mlirbc", "-o", tmp_path / "out.mlir")
    assert canonical((tmp_path / "out.mlir").read_text()) == canonical(text)


@pytest.mark.parametrize("name, version", pairs())
def test_jaxlib_reads_what_is_written(tmp_path, name, version):
    text = PROGRAMS[name][1]
    (tmp_path / "in.mlir").write_text(text)
    said = octavo("convert", tmp_path / "in.mlir", "-o", tmp_path / "out.mlirbc", "--target", version)
    written = (tmp_path / "out.mlirbc").read_bytes()
    assert said == f"{tmp_path}/out.mlirbc: {len(written)} bytes, artifact of VHLO {version}\n"
    assert f"StableHLO_v{version}\0".encode() in written[:40]
    assert canonical(stablehlo.deserialize_portable_artifact_str(written)) == canonical(text)
    octavo("convert", tmp_path / "out.mlirbc", "-o", tmp_path / "back.mlir")
    assert canonical((tmp_path / "back.mlir").read_text()) == canonical(text)


@pytest.mark.parametrize("name, version, first", [
    ("batched take", "1.0.0", "operand_batching_dims = dense<0> : tensor<1xi64> came with VHLO 1.1.0"),
    ("four bits", "1.7.0", "the type 'tensor<4xf4E2M1FN>' came with VHLO 1.8.0"),
    ("algorithm", "1.5.0", "came with VHLO 1.6.0"),
])
def test_what_an_older_version_lacks_is_refused(tmp_path, name, version, first):
    (tmp_path / "in.mlir").write_text(PROGRAMS[name][1])
    message = octavo("convert", tmp_path / "in.mlir", "-o", tmp_path / "out", "--target", version,
                     code=3)
    assert first in message and f"the target is {version}" in message
    assert not (tmp_path / "out").exists()
    with pytest.raises(Exception):  # and so it is by jaxlib
        stablehlo.serialize_portable_artifact_str(PROGRAMS[name][1], version)


def exported():
    def function(x, unused, y):
        return {"dot": jnp.dot(x, y) + 1.0, "sum": x.sum()}

    return export.export(jax.jit(function))(np.zeros((2, 3), np.float32), np.zeros(4, np.int32),
                                            np.zeros((3, 5), np.float32))


X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.linspace(-1, 1, 15, dtype=np.float32).reshape(3, 5)


def test_a_container_of_jax_export_runs(tmp_path):
    (tmp_path / "model.bin").write_bytes(exported().serialize())
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    octavo("run", tmp_path / "model.bin", "--input", tmp_path / "x.npy", "--input",
           tmp_path / "y.npy", "--output", tmp_path / "out.safetensors")
    import safetensors.numpy
    results = list(safetensors.numpy.load_file(tmp_path / "out.safetensors").values())
    dots = [value for value in results if value.shape == (2, 5)]
    np.testing.assert_allclose(dots[0], X @ Y + 1, rtol=1e-6)
    assert [value for value in results if value.shape == ()] == [X.sum()]


def test_a_container_keeps_all_but_its_artifact(tmp_path):
    """Through octavo and back, JAX calls it with the same trees, and unused arguments stay out."""
    before = exported()
    (tmp_path / "in.bin").write_bytes(before.serialize())
    said = octavo("convert", tmp_path / "in.bin", "-o", tmp_path / "out.bin", "--target", "1.8.0")
    assert "artifact of VHLO 1.8.0 in jax.export's container" in said
    after = export.deserialize((tmp_path / "out.bin").read_bytes())
    assert after.in_tree == before.in_tree and after.out_tree == before.out_tree
    assert after.in_avals == before.in_avals and after.out_avals == before.out_avals
    assert after.module_kept_var_idx == before.module_kept_var_idx == (0, 2)
    assert after.calling_convention_version == before.calling_convention_version
    result = after.call(X, np.zeros(4, np.int32), Y)
    np.testing.assert_allclose(result["dot"], X @ Y + 1, rtol=1e-6)


def test_a_program_of_text_becomes_a_container(tmp_path):
    (tmp_path / "in.mlir").write_text(PROGRAMS["network"][1])
    octavo("convert", tmp_path / "in.mlir", "-o", tmp_path / "out.bin", "--to", "jax-export")
    called = export.deserialize((tmp_path / "out.bin").read_bytes())
    w, b = np.ones((8, 3), np.float32), np.full(3, -0.5, np.float32)
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)
    np.testing.assert_allclose(called.call(x, w, b), np.tanh(np.maximum(x @ w + b, 0)), rtol=1e-5,
                               atol=1e-6)


def test_quantize_reads_and_writes_binary_programs(tmp_path):
    (tmp_path / "in.bin").write_bytes(exported().serialize())
    said = octavo("quantize", tmp_path / "in.bin", "--format", "mxfp8_e4m3", "--both-activations",
                  "-o", tmp_path / "out.bin")
    assert said.startswith("1 of 1 dots quantized")
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    np.save(tmp_path / "y.npy", np.ones((3, 5), np.float32))
    octavo("run", tmp_path / "out.bin", "--input", tmp_path / "x.npy", "--input",
           tmp_path / "y.npy", "--output", tmp_path / "out.safetensors")
    import safetensors.numpy
    results = safetensors.numpy.load_file(tmp_path / "out.safetensors").values()
    # Ones are exact in every format: 1 + 1 + 1 + 1.
    assert [value for value in results if value.shape == (2, 5)][0].tolist() == [[4.0] * 5] * 2


def test_a_newer_version_is_refused(tmp_path):
    artifact = stablehlo.serialize_portable_artifact_str(PROGRAMS["network"][1], "1.17.0")
    (tmp_path / "new.mlirbc").write_bytes(artifact.replace(b"v1.17.0", b"v1.99.0"))
    message = octavo("run", tmp_path / "new.mlirbc", code=3)
    assert "is an artifact of VHLO 1.99.0; octavo reads versions from 0.9.0 to 1.20.0" in message


def test_operations_that_octavo_does_not_know_are_all_named(tmp_path):
    """A stand-in for an operation of a later VHLO: no name of the table is this one."""
    text = PROGRAMS["softmax"][1]
    artifact = stablehlo.serialize_portable_artifact_str(text, "1.0.0")
    assert artifact.count(b"divide_v1") == 1
    (tmp_path / "new.mlirbc").write_bytes(artifact.replace(b"divide_v1", b"divide_v7"))
    message = octavo("convert", tmp_path / "new.mlirbc", "-o", tmp_path / "new.mlir", code=3)
    assert "divide_v7" in message and "unregistered" not in message


def test_a_version_that_is_none(tmp_path):
    (tmp_path / "in.mlir").write_text(PROGRAMS["network"][1])
    for target in ("0.8.0", "1.21.0", "new", "1.8", "1..0", "-1.0.0"):
        message = octavo("convert", tmp_path / "in.mlir", "-o", tmp_path / "out", f"--target={target}",
                         code=2)
        assert "expected a version of VHLO from 0.9.0 to 1.20.0" in message
    assert "no form of a program" in octavo("convert", tmp_path / "in.mlir", "-o", tmp_path / "out",
                                            "--to", "txt", code=2)


def damaged(good, count, seed):
    """Copies that are cut short, or have bytes changed, put in or left out."""
    source = random.Random(seed)
    for length in sorted(source.sample(range(len(good)), min(count // 2, len(good)))):
        yield good[:length]
    for _ in range(count // 2):
        bad = bytearray(good)
        for _ in range(source.choice((1, 1, 2, 5))):
            at = source.randrange(len(bad))
            kind = source.randrange(3)
            if kind == 0:
                bad[at] = source.randrange(256)
            elif kind == 1:
                bad.insert(at, source.randrange(256))
            else:
                del bad[at]
        yield bytes(bad)


@pytest.mark.parametrize("kind", ["artifact", "container"])
def test_damaged_files_end_in_an_error(tmp_path, kind):
    good = (stablehlo.serialize_portable_artifact_str(PROGRAMS["calls"][1], DEFAULT)
            if kind == "artifact" else exported().serialize())
    path = tmp_path / "bad.bin"
    for bad in damaged(bytes(good), 200, seed=16):
        path.write_bytes(bad)
        run = subprocess.run([BIN / "octavo", "convert", path, "-o", tmp_path / "out.mlir"],
                             capture_output=True, text=True, errors="replace", timeout=60)
        assert run.returncode in (0, 3), (run.returncode, run.stderr)
        if run.returncode == 3:
            assert run.stderr.startswith("octavo: error: ") and str(path) in run.stderr
