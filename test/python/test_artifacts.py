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
from test_jax_values import CLOSE, EXACT

pytestmark = pytest.mark.mlir

BIN = Path(os.environ["OCTAVO_BIN_DIR"])
ROOT = Path(__file__).resolve().parents[2]
# One of each version of MLIR's bytecode, and some whose operations changed.
VERSIONS = ["0.9.0", "0.10.0", "0.12.0", "0.14.0", "1.0.0", "1.6.0", "1.15.0", "1.16.3", "1.17.0"]
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


# What JAX does not write, or only with a mesh: an attribute or a type of each kind, and its version.
LISTED = {
    "empty lists": ("0.9.0", """func.func @main(%arg0: tensor<f32>, %arg1: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""),
    "accuracy": ("1.10.0", """func.func @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.sine %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-03, rtol = 2.5e-01, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2xf32>
  %1 = stablehlo.tanh %0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>
  %2 = stablehlo.log %1 : tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}"""),
    "bounds": ("0.9.0", """func.func @main(%arg0: tensor<?x3xf32, #stablehlo.bounds<5, ?>>, %arg1: tensor<?x?xf32>) -> (tensor<?x3xf32, #stablehlo.bounds<5, ?>>, tensor<?x?xf32>) {
  %0 = stablehlo.add %arg0, %arg0 : tensor<?x3xf32, #stablehlo.bounds<5, ?>>
  return %0, %arg1 : tensor<?x3xf32, #stablehlo.bounds<5, ?>>, tensor<?x?xf32>
}"""),
    "quantized": ("0.9.0", """func.func @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>, tensor<2x!quant.uniform<u8:f32, 5.0e-01:128>>) {
  %0 = stablehlo.uniform_quantize %arg0 : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 3.4e-02:-7>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 3.4e-02:-7>>) -> tensor<2xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<2xf32>) -> tensor<2x!quant.uniform<u8:f32, 5.0e-01:128>>
  return %1, %2 : tensor<2xf32>, tensor<2x!quant.uniform<u8:f32, 5.0e-01:128>>
}"""),
    "quantized by axis": ("0.18.0", """func.func @main(%arg0: tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {1.0e-01, 2.0e-01:4}>> {
  %0 = stablehlo.uniform_quantize %arg0 : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {1.0e-01, 2.0e-01:4}>>
  return %0 : tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {1.0e-01, 2.0e-01:4}>>
}"""),
    "custom call": ("1.3.0", """func.func private @helper(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  return %arg0 : tensor<2xf32>
}
func.func @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.custom_call @a(%arg0) {api_version = 4 : i32, backend_config = {f = 1.5 : f32, i = -5 : i64, s = "text"}, has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.custom_call @b(%arg0) {api_version = 2 : i32, backend_config = "opaque", called_computations = [@helper], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}"""),
    "composite": ("0.19.0", """func.func private @body(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  return %arg0 : tensor<2xf32>
}
func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.composite "my.op" %arg0 {composite_attributes = {k = 1 : i64, t = dense<[1, 2]> : tensor<2xi64>}, decomposition = @body, version = 3 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""),
    "tuples and tokens": ("0.9.0", """func.func @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>, !stablehlo.token) {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %0, %0 : !stablehlo.token
  %2 = stablehlo.tuple %arg0, %1 : tuple<tensor<2xf32>, !stablehlo.token>
  %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<2xf32>, !stablehlo.token>) -> tensor<2xf32>
  return %3, %1 : tensor<2xf32>, !stablehlo.token
}"""),
    "asynchronous": ("1.15.0", """func.func @main(%arg0: tensor<8xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%arg0) ({
  ^bb0(%arg1: tensor<8xf32>):
    %2 = stablehlo.slice %arg1 [2:6] : (tensor<8xf32>) -> tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<8xf32>) -> !stablehlo.future<tensor<4xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""),
    "linear algebra": ("0.9.0", """func.func @main(%arg0: tensor<3x3xf32>, %arg1: tensor<3x2xf32>) -> (tensor<3x3xf32>, tensor<3x2xf32>) {
  %0 = stablehlo.cholesky %arg0, lower = true : tensor<3x3xf32>
  %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0, %1 : tensor<3x3xf32>, tensor<3x2xf32>
}"""),
    "random": ("0.9.0", """func.func @main(%arg0: tensor<f32>, %arg1: tensor<2xi64>, %arg2: tensor<2xui64>) -> (tensor<2x3xf32>, tensor<2xui64>, tensor<4xui32>) {
  %0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1, %2 = stablehlo.rng_bit_generator %arg2, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2xui64>, tensor<4xui32>
}"""),
    "deprecated": ("0.9.0", """func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<2xi32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<4x2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.dot %arg0, %arg1, precision = [HIGH, HIGHEST] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.einsum %arg0, %arg1, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.unary_einsum %arg0, config = "ab->a" : (tensor<2x3xf32>) -> tensor<2xf32>
  %3 = stablehlo.broadcast %arg0, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %4 = "stablehlo.torch_index_select"(%arg0, %arg2) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<4x2x3xf32>, tensor<2x3xf32>
}"""),
    "batch norm": ("0.9.0", """func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0, %1, %2 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.0e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %3 = "stablehlo.batch_norm_inference"(%0, %1, %2, %1, %2) <{epsilon = 1.0e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4, %5, %6 = "stablehlo.batch_norm_grad"(%3, %1, %2, %2, %0) <{epsilon = 1.0e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0, %3, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}"""),
    "dynamic": ("0.9.0", """func.func @main(%arg0: tensor<?x3xf32>, %arg1: tensor<2xi32>, %arg2: tensor<f32>, %arg3: tensor<3xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x3xf32>, tensor<4x?x3xf32>, tensor<i32>) {
  %0 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.dynamic_pad %0, %arg2, %arg1, %arg1, %arg1 : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %2 = stablehlo.dynamic_iota %arg1, dim = 1 : (tensor<2xi32>) -> tensor<?x?xf32>
  %3 = stablehlo.real_dynamic_slice %0, %arg1, %arg1, %arg1 : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %4 = "stablehlo.dynamic_gather"(%arg0, %arg1, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf32>
  %5 = "stablehlo.dynamic_broadcast_in_dim"(%arg0, %arg3) <{broadcast_dimensions = array<i64: 1, 2>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>}> : (tensor<?x3xf32>, tensor<3xi32>) -> tensor<4x?x3xf32>
  %6 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x3xf32>, tensor<4x?x3xf32>, tensor<i32>
}"""),
    "dynamic convolution": ("0.9.0", """func.func @main(%arg0: tensor<1x4x4x1xf32>, %arg1: tensor<2x2x1x1xf32>, %arg2: tensor<2x2xi64>) -> tensor<1x?x?x1xf32> {
  %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: true, false>, window_strides = array<i64: 1, 2>}> : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>, tensor<2x2xi64>) -> tensor<1x?x?x1xf32>
  return %0 : tensor<1x?x?x1xf32>
}"""),
    "older and newer elements": ("1.8.0", """func.func @main(%arg0: tensor<f8E4M3FNUZ>, %arg1: tensor<f8E5M2FNUZ>, %arg2: tensor<f8E4M3B11FNUZ>, %arg3: tensor<i2>, %arg4: tensor<ui2>, %arg5: tensor<f8E4M3>, %arg6: tensor<f8E3M4>, %arg7: tensor<f6E2M3FN>, %arg8: tensor<f6E3M2FN>, %arg9: tensor<f8E8M0FNU>, %arg10: tensor<f8E5M2>, %arg11: tensor<ui4>, %arg12: tensor<complex<f64>>) -> tensor<4xf6E2M3FN> {
  %0 = stablehlo.constant dense<[0.0, -1.0, 7.5, 0.125]> : tensor<4xf6E2M3FN>
  %1 = stablehlo.constant dense<[(1.0, -2.0), (0.5, 0.0)]> : tensor<2xcomplex<f64>>
  %2 = stablehlo.constant dense<[1, -2]> : tensor<2xi2>
  return %0 : tensor<4xf6E2M3FN>
}"""),
}
PROGRAMS.update(LISTED)


def number(version):
    return tuple(map(int, version.split(".")))


# Reading one is what makes jaxlib's contexts know quantized types.
QUANTIZED = stablehlo.serialize_portable_artifact_str(LISTED["quantized"][1], "1.0.0")


def canonical(program):
    """What jaxlib prints of a program, text or bytes."""
    with jax_mlir.make_ir_context() as context:
        stablehlo.deserialize_portable_artifact(context, QUANTIZED)
        return str(ir.Module.parse(program))


def through_jaxlib(text, version):
    """What jaxlib makes of the program by writing and reading it: attributes that say what holds
    without them are gone."""
    return canonical(stablehlo.deserialize_portable_artifact_str(
        stablehlo.serialize_portable_artifact_str(text, version)))


def pairs():
    """Each program at the first version that can hold it and at the newest, those of JAX at all."""
    return [pytest.param(name, version, id=f"{name}-{version}") for name, (first, _) in PROGRAMS.items()
            for version in (sorted({first, VERSIONS[-1]}) if name in LISTED else VERSIONS)
            if number(version) >= number(first)]


@pytest.mark.parametrize("name, version", pairs())
def test_what_jaxlib_writes_is_read(tmp_path, name, version):
    text = PROGRAMS[name][1]
    (tmp_path / "in.mlirbc").write_bytes(stablehlo.serialize_portable_artifact_str(text, version))
    octavo("convert", tmp_path / "in.mlirbc", "-o", tmp_path / "out.mlir")
    assert canonical((tmp_path / "out.mlir").read_text()) == through_jaxlib(text, version)


@pytest.mark.parametrize("name, version", pairs())
def test_jaxlib_reads_what_is_written(tmp_path, name, version):
    text = PROGRAMS[name][1]
    (tmp_path / "in.mlir").write_text(text)
    said = octavo("convert", tmp_path / "in.mlir", "-o", tmp_path / "out.mlirbc", "--target", version)
    written = (tmp_path / "out.mlirbc").read_bytes()
    assert said == f"{tmp_path}/out.mlirbc: {len(written)} bytes, artifact of VHLO {version}\n"
    assert f"StableHLO_v{version}\0".encode() in written[:40]
    expected = through_jaxlib(text, version)
    assert canonical(stablehlo.deserialize_portable_artifact_str(written)) == expected
    octavo("convert", tmp_path / "out.mlirbc", "-o", tmp_path / "back.mlir")
    assert canonical((tmp_path / "back.mlir").read_text()) == expected


JAX_PROGRAMS = EXACT | CLOSE
OLDEST = "1.4.0"  # the first that has them all


@pytest.mark.parametrize("name", JAX_PROGRAMS)
def test_programs_of_jax(tmp_path, name):
    """Each to an artifact that jaxlib reads, and jaxlib's own, of an older version, to text. CHLO has
    no place in an artifact: jax.export makes StableHLO of it, and what it wrote is read."""
    function, *arrays = JAX_PROGRAMS[name]
    (tmp_path / "in.mlir").write_text(lowered(function, *arrays))
    text = (tmp_path / "in.mlir").read_text()
    if " chlo." in text:
        message = octavo("convert", tmp_path / "in.mlir", "-o", tmp_path / "out.mlirbc", code=3)
        assert "'chlo." in message and "jax.export makes StableHLO of it" in message
        artifact = export.export(jax.jit(function))(*arrays).mlir_module_serialized
        expected = canonical(stablehlo.deserialize_portable_artifact_str(artifact))
    else:
        expected = through_jaxlib(text, DEFAULT)
        octavo("convert", tmp_path / "in.mlir", "-o", tmp_path / "out.mlirbc")
        written = (tmp_path / "out.mlirbc").read_bytes()
        assert canonical(stablehlo.deserialize_portable_artifact_str(written)) == expected
        artifact = stablehlo.serialize_portable_artifact_str(text, OLDEST)
    (tmp_path / "in.mlirbc").write_bytes(artifact)
    octavo("convert", tmp_path / "in.mlirbc", "-o", tmp_path / "back.mlir")
    assert canonical((tmp_path / "back.mlir").read_text()) == expected


def test_an_export_with_symbolic_shapes(tmp_path):
    b, c = export.symbolic_shape("b,c")
    exported = export.export(jax.jit(lambda x: jnp.concatenate([x, 2 * x]).reshape(-1).sum()))(
        jax.ShapeDtypeStruct((b, c), np.float32))
    (tmp_path / "in.bin").write_bytes(exported.serialize())
    octavo("convert", tmp_path / "in.bin", "-o", tmp_path / "out.mlir")
    expected = stablehlo.deserialize_portable_artifact_str(exported.mlir_module_serialized)
    assert canonical((tmp_path / "out.mlir").read_text()) == canonical(expected)


@pytest.mark.parametrize("name, version, first", [
    ("batched take", "1.0.0", "operand_batching_dims = dense<0> : tensor<1xi64> came with VHLO 1.1.0"),
    ("four bits", "1.7.0", "the type 'tensor<4xf4E2M1FN>' came with VHLO 1.8.0"),
    ("algorithm", "1.5.0", "came with VHLO 1.6.0"),
    ("accuracy", "1.9.0", "'stablehlo.sine': the attribute result_accuracy = #stablehlo.result_accuracy<"),
    ("quantized by axis", "0.17.0", "came with VHLO 0.18.0"),
    ("custom call", "1.2.0", "'stablehlo.custom_call': a custom call with a dictionary for its "
                             "configuration came with VHLO 1.3.0"),
    ("composite", "0.18.0", "'stablehlo.composite' (1 in the program) came with VHLO 0.19.0"),
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


def test_buffers_are_refused_where_they_are_used(tmp_path):
    text = """func.func @main(%x: memref<2xf32>) -> memref<2xf32> {
      %0 = stablehlo.custom_call @fill(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<
        output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<2xf32>) -> memref<2xf32>
      return %0 : memref<2xf32>
    }"""
    (tmp_path / "buffer.mlirbc").write_bytes(stablehlo.serialize_portable_artifact_str(text, "1.15.0"))
    message = octavo("convert", tmp_path / "buffer.mlirbc", "-o", tmp_path / "out.mlir", code=3)
    assert "'stablehlo.custom_call' op operand #0" in message and "got 'memref<2xf32>'" in message


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


def of_octavo(folder):
    """A program whose attributes are of MLIR's own dialects, constants and wide numbers among them."""
    (folder / "own.mlir").write_text("""
        module attributes {a.dense = dense<[1, 2, 3]> : tensor<3xi32>, a.array = array<i64: 1, 2>,
            a.strings = dense<["x", "y"]> : tensor<2x!a.b>, a.vector = dense<1.5> : vector<2xf32>,
            a.sparse = sparse<[[0]], [1]> : tensor<4xi32>, a.wide = 5 : i128, a.long = 1.0 : f80,
            a.type = memref<2xf32>, a.scalable = vector<[4]xf32>, a.complex = complex<f32>,
            a.quantized = !quant.uniform<i8:f32, 0.5>, a.bits = dense<[true, false]> : tensor<2xi1>} {
          func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
        }""")
    octavo("convert", folder / "own.mlir", "-o", folder / "own.mlirbc")
    return (folder / "own.mlirbc").read_bytes()


KINDS = {
    "artifact": lambda _: stablehlo.serialize_portable_artifact_str(PROGRAMS["calls"][1], DEFAULT),
    "container": lambda _: exported().serialize(),
    "sharded": lambda _: (ROOT / "test" / "jax" / "sharded_ring.jax").read_bytes(),
    "of octavo": of_octavo,
}


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_end_in_an_error(tmp_path, kind):
    good = KINDS[kind](tmp_path)
    path = tmp_path / "bad.bin"
    for bad in damaged(bytes(good), 200, seed=16):
        path.write_bytes(bad)
        run = subprocess.run([BIN / "octavo", "convert", path, "-o", tmp_path / "out.mlir"],
                             capture_output=True, text=True, errors="replace", timeout=60)
        assert run.returncode in (0, 3), (run.returncode, run.stderr)
        if run.returncode == 3:
            assert run.stderr.startswith("octavo: error: ") and str(path) in run.stderr


def test_attributes_of_mlir_keep_their_values(tmp_path):
    of_octavo(tmp_path)
    octavo("convert", tmp_path / "own.mlirbc", "-o", tmp_path / "again.mlir")
    text = (tmp_path / "again.mlir").read_text()
    for value in ("dense<[1, 2, 3]> : tensor<3xi32>", "array<i64: 1, 2>", "1.500000e+00> : vector<2xf32>",
                  'dense<["x", "y"]> : tensor<2x!a.b>', "sparse<0, 1> : tensor<4xi32>", "5 : i128",
                  "1.000000e+00 : f80", "memref<2xf32>", "vector<[4]xf32>", "complex<f32>",
                  "!quant.uniform<i8:f32, 5.000000e-01>", "dense<[true, false]> : tensor<2xi1>"):
        assert value in text, value


def test_attributes_that_contain_one_another(tmp_path):
    """A sharding whose mesh is, around three corners, the sharding: MLIR's reader has no end of it."""
    path = ROOT / "test" / "fuzz" / "Artifact" / "circle-of-attributes.mlirbc"
    message = octavo("convert", path, "-o", tmp_path / "out.mlir", code=3)
    assert "the file is damaged: an attribute that contains itself at byte " in message


def test_operations_that_nest_too_deep(tmp_path):
    depth = 2100
    lines = ["func.func @main(%c: tensor<i32>) -> tensor<i32> {"]
    lines += [f'%r{i} = "stablehlo.case"(%c) ({{' for i in range(depth)]
    lines += ["stablehlo.return %c : tensor<i32>"]
    for i in reversed(range(depth)):
        lines += ["}) : (tensor<i32>) -> tensor<i32>",
                  f"stablehlo.return %r{i} : tensor<i32>" if i else "return %r0 : tensor<i32>"]
    (tmp_path / "deep.mlir").write_text("\n".join([*lines, "}"]))
    # Neither jaxlib nor MLIR's parser of text gets this far on a stack of the usual size.
    subprocess.run(f"ulimit -s {1 << 18} && '{BIN}/octavo' convert deep.mlir -o deep.mlirbc",
                   shell=True, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    message = octavo("convert", tmp_path / "deep.mlirbc", "-o", tmp_path / "out.mlir", code=3)
    assert "operations in one another deeper than 2000 levels at byte" in message
