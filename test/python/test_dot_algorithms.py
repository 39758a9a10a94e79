"""The algorithms of dot_general that the specification knows, against rule I12 in NumPy."""

import ml_dtypes
import numpy as np
import pytest
from test_reference import assert_same, run

pytestmark = pytest.mark.mlir

BF16, F16 = ml_dtypes.bfloat16, np.float16
SHAPE = (5, 24, 4)


def to_tf32(x):
    """f32 with 10 bits after the point, ties to even; exponents beyond f32's are not met here."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    bits += 0xFFF + ((bits >> 13) & 1)
    return (bits & 0xFFFFE000).astype(np.uint32).view(np.float32)


def to_type(dtype):
    return lambda x: np.asarray(x).astype(dtype).astype(np.float64 if dtype == np.float64 else np.float32)


ROUND = {"tf32": to_tf32, "bf16": to_type(BF16), "f16": to_type(F16), "f32": to_type(np.float32),
         "f64": to_type(np.float64), "f8E4M3FN": to_type(ml_dtypes.float8_e4m3fn), "f8E5M2": to_type(ml_dtypes.float8_e5m2),
         "f8E4M3FNUZ": to_type(ml_dtypes.float8_e4m3fnuz), "f8E4M3B11FNUZ": to_type(ml_dtypes.float8_e4m3b11fnuz)}
ACCUMULATE = {"f32": np.float32, "f64": np.float64, "f16": F16, "bf16": BF16}

# Precision types, accumulation, operations and whether it may be imprecise.
KNOWN = [("f8E4M3FN", "f8E5M2", "f32", 1, True), ("f8E4M3FNUZ", "f8E4M3B11FNUZ", "f32", 1, False),
         ("f16", "f16", "f16", 1, False), ("f16", "f16", "f32", 1, False), ("bf16", "bf16", "bf16", 1, False),
         ("bf16", "bf16", "f32", 1, False), ("bf16", "bf16", "f32", 3, False), ("bf16", "bf16", "f32", 6, False),
         ("bf16", "bf16", "f32", 9, False), ("tf32", "tf32", "f32", 1, False), ("tf32", "tf32", "f32", 3, False),
         ("f32", "f32", "f32", 1, False), ("f64", "f64", "f64", 1, False)]


def program(lhs, rhs, accumulation, operations, imprecise):
    rows, depth, columns = SHAPE
    element = "f64" if accumulation == "f64" else "f32"
    operands = f"tensor<{rows}x{depth}x{element}>, tensor<{depth}x{columns}x{element}>"
    left, right = operands.split(", ")
    result = f"tensor<{rows}x{columns}x{element}>"
    return f"""func.func @main(%a: {left}, %b: {right}) -> {result} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = {lhs}, rhs_precision_type = {rhs}, accumulation_type = {accumulation}, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {operations}, allow_imprecise_accumulation = {str(imprecise).lower()}> : ({operands}) -> {result}
  return %0 : {result}
}}
"""


def dot(a, b, dtype):
    """Products and sums each rounded, in increasing order of the contracted index, from +0."""
    total = np.zeros((a.shape[0], b.shape[1]), dtype)
    for k in range(a.shape[1]):
        total = (total + np.multiply(a[:, k, None].astype(dtype), b[None, k].astype(dtype))).astype(dtype)
    return total


def split(x, rounded, count):
    rest, parts = np.asarray(x, np.float64), []
    for _ in range(count):
        parts.append(rounded(rest if x.dtype == np.float64 else rest.astype(np.float32)))
        with np.errstate(invalid="ignore"):
            rest = rest - parts[-1]
    return parts


@pytest.mark.parametrize("lhs, rhs, accumulation, operations, imprecise", KNOWN)
def test_known_algorithms(tmp_path, lhs, rhs, accumulation, operations, imprecise):
    random = np.random.default_rng(5)
    dtype = np.float64 if accumulation == "f64" else np.float32
    a = random.normal(0, 3, SHAPE[:2]).astype(dtype)
    b = random.normal(0, 2, SHAPE[1:]).astype(dtype)
    count = {1: 1, 3: 2, 6: 3, 9: 3}[operations]
    left, right = split(a, ROUND[lhs], count), split(b, ROUND[rhs], count)
    # From the least significant pair of components on.
    order = sorted(((i + j, i, j) for i in range(count) for j in range(count) if operations == 9 or i + j < count),
                   key=lambda pair: (-pair[0], pair[1]))
    assert len(order) == operations
    total = None
    for _, i, j in order:
        partial = dot(left[i], right[j], ACCUMULATE[accumulation])
        total = partial if total is None else total + partial
    [found] = run(tmp_path, program(lhs, rhs, accumulation, operations, imprecise), a, b)
    assert_same(found, total.astype(dtype))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    if operations > 1:  # what the other components are for
        coarse = dot(left[0], right[0], np.float32)
        assert np.abs(found - exact).max() < np.abs(coarse - exact).max() / 20


@pytest.mark.parametrize("operations", [3, 6, 9])
def test_infinite_and_overflowing_operands_of_several_components(tmp_path, operations):
    """Results beyond the finite ones are those of the leading components."""
    a = np.zeros(SHAPE[:2], np.float32)
    b = np.full(SHAPE[1:], 1.1, np.float32)
    a[0, 0], a[1, 0], a[2, 0], a[3, :2], a[4, 0] = np.inf, -np.inf, np.nan, (np.inf, -np.inf), np.finfo(np.float32).max
    [found] = run(tmp_path, program("bf16", "bf16", "f32", operations, False), a, b)
    # The largest f32 rounds to Inf in bf16.
    assert_same(found, np.repeat(np.array([[np.inf], [-np.inf], [np.nan], [np.nan], [np.inf]], np.float32), SHAPE[2], 1))
