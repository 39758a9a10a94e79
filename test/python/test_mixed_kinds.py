"""Dots and convolutions whose operands and result are of different kinds (integers, floats, complex numbers): the
values of rule I12, which are XLA's."""
import ml_dtypes
import numpy as np
import pytest
from on_xla import on_xla
from test_compiled import outputs

pytestmark = pytest.mark.mlir

TYPES = {"i1": np.bool_, "i8": np.int8, "ui8": np.uint8, "i32": np.int32, "ui32": np.uint32, "i64": np.int64,
         "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "complex<f32>": np.complex64}
# 2^24 + 1 is no f32, 2.6 no integer.
VALUES = {"i1": [1, 1], "i8": [-100, 127], "ui8": [200, 255], "i32": [16777217, 3], "ui32": [2**32 - 1, 1],
          "i64": [16777217, 2**40 + 1], "bf16": [255, 0.5], "f32": [1.7, 2.6], "f64": [1.7, 2.6],
          "complex<f32>": [2 + 1j, 1]}


def kind(element):
    return "complex" if "complex" in element else "float" if "f" in element else "integer"


MIXED = [(operand, result) for operand in TYPES for result in TYPES if kind(operand) != kind(result)]


def dot(operand, result):
    a, b, c = f"tensor<1x2x{operand}>", f"tensor<2x1x{operand}>", f"tensor<1x1x{result}>"
    return f"""func.func public @main(%a: {a}, %b: {b}) -> {c} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}
  return %0 : {c}
}}
"""


def convolution(operand, result):
    a, b, c = f"tensor<1x2x1x{operand}>", f"tensor<2x1x1x{operand}>", f"tensor<1x1x1x{result}>"
    return f"""func.func public @main(%a: {a}, %b: {b}) -> {c} {{
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({a}, {b}) -> {c}
  return %0 : {c}
}}
"""


@pytest.mark.parametrize("operand, result", MIXED)
def test_a_dot_of_another_kind_than_its_result(operand, result, tmp_path):
    x = np.array(VALUES[operand]).astype(TYPES[operand])
    text = dot(operand, result)
    (expected,) = on_xla(text, x.reshape(1, 2), x.reshape(2, 1))
    (tmp_path / "p.mlir").write_text(text)
    for backend in ("compiled", "reference"):
        (found,) = outputs(tmp_path / "p.mlir", [x.reshape(1, 2), x.reshape(2, 1)], tmp_path, backend)
        assert found.dtype == expected.dtype and found == expected, backend


@pytest.mark.parametrize("operand, result", [pair for pair in MIXED if "complex<f32>" not in pair])
def test_a_convolution_of_another_kind_than_its_result(operand, result, tmp_path):
    x = np.array(VALUES[operand]).astype(TYPES[operand])
    text = convolution(operand, result)
    (expected,) = on_xla(text, x.reshape(1, 2, 1), x.reshape(2, 1, 1))
    (tmp_path / "p.mlir").write_text(text)
    for backend in ("compiled", "reference"):
        (found,) = outputs(tmp_path / "p.mlir", [x.reshape(1, 2, 1), x.reshape(2, 1, 1)], tmp_path, backend)
        assert found.dtype == expected.dtype and found == expected, backend
