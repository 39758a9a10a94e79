"""Operations on quantized tensors against the specification's formulas (docs/semantics.md, I25)."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from quantized_types import EXPRESSED, RANDOM, Program, Type, tensor
from test_reference import run

pytestmark = pytest.mark.mlir


TYPES = [
    Type("i8", (0.5,), (3,)),
    Type("i8", (0.1,), (-7,), range=(-100, 100)),
    Type("i4", (0.25,), (-1,)),
    Type("ui8", (0.0123,), (128,)),
    Type("ui4", (0.3,), (7,)),
    Type("i2", (1.5,), (0,)),
    Type("ui2", (0.7,), (1,)),
    Type("i16", (0.003,), (1000,)),
    Type("ui16", (0.02,), (30000,)),
    Type("i32", (0.001,), (12345,)),
    Type("ui32", (0.5,), (4000000000,)),
    Type("i8", (0.1,), (3,), expressed="bf16"),
    Type("i8", (0.03,), (-3,), expressed="f16"),
    Type("i16", (0.01,), (301,), expressed="f64"),
]


def sign(x):
    return np.where((x == 0) | np.isnan(x), x, np.copysign(1.0, x))


UNARY = {
    "abs": np.abs, "cbrt": np.cbrt, "ceil": np.ceil, "cosine": np.cos, "exponential": np.exp,
    "exponential_minus_one": np.expm1, "floor": np.floor, "log": np.log, "log_plus_one": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)), "negate": np.negative,
    "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "round_nearest_even": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x), "sign": sign, "sine": np.sin, "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh,
}
BINARY = {
    "add": np.add, "atan2": np.arctan2, "divide": np.divide, "maximum": np.maximum, "minimum": np.minimum,
    "multiply": np.multiply, "power": np.power, "remainder": np.fmod, "subtract": np.subtract,
}


def by_numbers(function, types, codes, result):
    """Dequantized, computed once in f64 and rounded to the expressed type, quantized."""
    with np.errstate(all="ignore"):
        numbers = [type.dequantize(array).astype(np.float64) for type, array in zip(types, codes)]
        return result.quantize(function(*numbers).astype(EXPRESSED[result.expressed]))


def elementwise(p):
    for i, (name, function) in enumerate(UNARY.items()):
        for type in (TYPES[i % len(TYPES)], TYPES[(i + 5) % len(TYPES)]):
            codes = type.random(12)
            shape = tensor(codes.shape, type.text)
            p.expect(f"{name} {type.text}", p.call(name, [p.quantized(codes, type)], shape),
                     by_numbers(function, [type], [codes], type), type)
    for i, (name, function) in enumerate(BINARY.items()):
        # Scales and zero points differ between operands and result.
        for j in (i, i + 7):
            lhs = TYPES[j % len(TYPES)]
            rhs = replace(lhs, scales=(lhs.scales[0] * 0.75,), zeros=(lhs.zeros[0] + 1,))
            result = replace(lhs, scales=(lhs.scales[0] * 1.25,))
            codes = [lhs.random(14), rhs.random(14)]
            operands = [p.quantized(codes[0], lhs), p.quantized(codes[1], rhs)]
            p.expect(f"{name} {lhs.text}", p.call(name, operands, tensor((14,), result.text)),
                     by_numbers(function, [lhs, rhs], codes, result), result)


def mixed(p):
    """Operations of one element that take more than numbers."""
    for type in (TYPES[0], TYPES[3], TYPES[11]):
        other = replace(type, scales=(type.scales[0] / 2,), zeros=(type.zeros[0] - 2,))
        x, y, z = type.random(16), other.random(16), other.random(16)
        a, b, c = p.quantized(x, type), p.quantized(y, other), p.quantized(z, other)
        shape = tensor((16,), type.text)
        numbers = [type.dequantize(x), other.dequantize(y), other.dequantize(z)]
        for direction, compare in [("LT", np.less), ("EQ", np.equal), ("GE", np.greater_equal)]:
            p.expect(f"compare {direction} {type.text}", p.call(
                "compare", [a, b], tensor((16,), "i1"),
                f"comparison_direction = #stablehlo<comparison_direction {direction}>"),
                compare(numbers[0], numbers[1]))
        p.expect(f"clamp {type.text}", p.call("clamp", [b, a, c], shape),
                 type.quantize(np.minimum(np.maximum(numbers[0], numbers[1]), numbers[2])), type)
        predicate = RANDOM.integers(0, 2, 16).astype(bool)
        mask = p.value(f"stablehlo.constant dense<{str(predicate.tolist()).lower()}> : tensor<16xi1>", "tensor<16xi1>")
        p.expect(f"select {type.text}", p.call("select", [mask, a, b], shape),
                 type.quantize(np.where(predicate, numbers[0], numbers[1])), type)
        p.expect(f"is_finite {type.text}", p.call("is_finite", [a], tensor((16,), "i1")), np.ones(16, bool))
        # Two bits of the significand: the format of f8E5M2, whose exponents are in range.
        p.expect(f"reduce_precision {type.text}", p.call(
            "reduce_precision", [a], shape, "exponent_bits = 5 : i32, mantissa_bits = 2 : i32"),
            type.quantize(numbers[0].astype(ml_dtypes.float8_e5m2).astype(np.float64)), type)
        p.expect(f"map {type.text}", p.call(
            "map", [a, b], shape, "dimensions = array<i64: 0>",
            f""" ({{ ^bb0(%x: tensor<{type.text}>, %y: tensor<{other.text}>):
            %s = stablehlo.add %x, %y : (tensor<{type.text}>, tensor<{other.text}>) -> tensor<{type.text}>
            stablehlo.return %s : tensor<{type.text}> }})"""), type.quantize(numbers[0] + numbers[1]), type)


PER_AXIS = Type("i8", (0.5, 0.25, 0.1), (3, 0, -4), axis=1)


def conversions(p):
    x = RANDOM.normal(0, 20, (4, 3)).astype(np.float32)
    x[0] = [np.inf, -np.inf, np.nan]
    text = "[[0x7F800000, 0xFF800000, 0x7FC00000], " + str(x[1:].astype(float).tolist())[1:]
    floats = p.value(f"stablehlo.constant dense<{text}> : tensor<4x3xf32>", "tensor<4x3xf32>")
    wide = Type("i16", (0.01, 0.02, 0.03), (0, 5, -700), axis=1)
    for type in [*TYPES[:11], PER_AXIS, wide]:
        q = p.call("uniform_quantize", [floats], tensor((4, 3), type.text))
        codes = type.quantize(x)
        p.expect(f"uniform_quantize {type.text}", q, codes, type)
        p.expect(f"uniform_dequantize {type.text}", p.call("uniform_dequantize", [q], "tensor<4x3xf32>"),
                 type.dequantize(codes))
        p.expect(f"requantize {type.text}", p.call("uniform_quantize", [q], tensor((4, 3), wide.text)),
                 wide.quantize(type.dequantize(codes)), wide)
    for type in TYPES[11:]:
        codes = type.random(9)
        found = p.call("uniform_dequantize", [p.quantized(codes, type)], tensor((9,), type.expressed))
        p.expect(f"uniform_dequantize {type.text}", p.call("convert", [found], tensor((9,), "f64")),
                 type.dequantize(codes))


def per_axis_sums(p):
    per_tensor = Type("i8", (0.2,), (1,))
    x, y = PER_AXIS.random(4, 3), per_tensor.random(4, 3)
    for name, types, codes in [("add per axis", (PER_AXIS, per_tensor), (x, y)),
                               ("add to per axis", (per_tensor, PER_AXIS), (y, x)),
                               ("add of two per axis", (PER_AXIS, PER_AXIS), (x, x))]:
        operands = [p.quantized(array, type) for array, type in zip(codes, types)]
        p.expect(name, p.call("add", operands, tensor((4, 3), PER_AXIS.text)),
                 by_numbers(np.add, types, codes, PER_AXIS), PER_AXIS)


def dot_sum(x, y):
    """A matrix product in f32, each product and each sum rounded, in order (I12)."""
    result = np.zeros((x.shape[0], y.shape[1]), np.float32)
    for k in range(x.shape[1]):
        result = result + x[:, k, None].astype(np.float32) * y[None, k].astype(np.float32)
    return result


KERNELS = [Type("i8", (0.04,), (0,)), Type("i8", (0.04, 0.02, 0.1), (0, 0, 0), axis=1),
           Type("i4", (0.3, 0.2, 0.5), (0, 0, 0), axis=1)]


def products(p):
    for kernel in KERNELS:
        lhs = Type(kernel.storage, (0.1,), (-2,))
        x, y = lhs.random(5, 7), kernel.random(7, 3)
        a, b = p.quantized(x, lhs), p.quantized(y, kernel)
        exact = dot_sum(lhs.dequantize(x), kernel.dequantize(y))
        results = [Type("i32", (0.01,), (0,)), Type("i8", (0.5,), (4,))]
        if kernel.axis is not None:
            results.append(Type("i8", (0.5, 0.25, 1.0), (0, 3, -3), axis=1))
        numbers = ("dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
                   "rhs_contracting_dimensions = [0]>")
        for result in results:
            p.expect(f"dot_general {kernel.text} to {result.text}", p.call(
                "dot_general", [a, b], tensor((5, 3), result.text), numbers), result.quantize(exact), result)
        floats = RANDOM.normal(size=(5, 7)).astype(np.float32)
        f = p.floats(floats)
        hybrid = dot_sum(floats, kernel.dequantize(y))
        p.expect(f"hybrid dot_general {kernel.text}", p.call("dot_general", [f, b], "tensor<5x3xf32>", numbers), hybrid)
        if kernel.axis is None:
            for operation, extra in [("dot", ""), ("einsum", 'einsum_config = "ab,bc->ac"')]:
                result = results[1]
                p.expect(f"{operation} {kernel.text}", p.call(
                    operation, [a, b], tensor((5, 3), result.text), extra), result.quantize(exact), result)


def windows_of(x, size):
    return [(i, x[:, i:i + size]) for i in range(x.shape[1] - size + 1)]


def convolutions(p):
    """One spatial axis, so that a convolution is a product for each place."""
    for kernel in KERNELS:
        kernel = replace(kernel, axis=None if kernel.axis is None else 2)
        lhs = Type(kernel.storage, (0.1,), (-2,))
        x, k = lhs.random(2, 6, 4), kernel.random(3, 4, 3)  # batch, place, feature; place, feature, output
        a, b = p.quantized(x, lhs), p.quantized(k, kernel)
        floats = RANDOM.normal(size=x.shape).astype(np.float32)
        attributes = ("dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, padding = "
                      "dense<[[1, 1]]> : tensor<1x2xi64>, feature_group_count = 1 : i64, batch_group_count = 1 : i64")

        def convolved(numbers, kernel=kernel, k=k):
            padded = np.pad(numbers, [(0, 0), (1, 1), (0, 0)])  # zeros of the expressed type
            columns = np.stack([part.reshape(2, -1) for _, part in windows_of(padded, 3)], 1)
            flat = kernel.dequantize(k).reshape(-1, 3)
            return np.stack([dot_sum(image, flat) for image in columns])
        results = [Type("i32", (0.01,), (0,)), Type("i8", (0.5,), (4,))]
        if kernel.axis is not None:
            results.append(Type("i8", (0.5, 0.25, 1.0), (0, 3, -3), axis=2))
        for result in results:
            p.expect(f"convolution {kernel.text} to {result.text}", p.call(
                "convolution", [a, b], tensor((2, 6, 3), result.text), attributes),
                result.quantize(convolved(lhs.dequantize(x))), result)
        p.expect(f"hybrid convolution {kernel.text}", p.call(
            "convolution", [p.floats(floats), b], "tensor<2x6x3xf32>", attributes), convolved(floats))
        if kernel.axis is None:
            padding = p.value("stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi32>", "tensor<1x2xi32>")
            dynamic = attributes.replace("padding = dense<[[1, 1]]> : tensor<1x2xi64>, ", "")
            p.expect(f"dynamic_conv {kernel.text}", p.call(
                "dynamic_conv", [a, b, padding], tensor((2, 6, 3), results[1].text), dynamic),
                results[1].quantize(convolved(lhs.dequantize(x))), results[1])


def body(operation, type):
    scalar = f"tensor<{type.text}>"
    return (f" ({{ ^bb0(%x: {scalar}, %y: {scalar}): %r = stablehlo.{operation} %x, %y : {scalar} "
            f"stablehlo.return %r : {scalar} }})")


def reductions(p):
    """A body on quantized scalars quantizes each step."""
    for operation, function in [("add", np.add), ("maximum", np.maximum)]:
        for type in (TYPES[1], TYPES[3], TYPES[4]):
            def fold(values, type=type, function=function):
                total = values[0]
                for value in values[1:]:
                    total = by_numbers(function, [type, type], [total, value], type)
                return total
            case = f"{operation} {type.text}"
            x, init = type.random(3, 8), np.array(type.zeros[0])
            a, z = p.quantized(x, type), p.quantized(init, type)
            p.expect(f"reduce {case}", p.call("reduce", [a, z], tensor((3,), type.text), "dimensions = array<i64: 1>",
                                              body(operation, type)),
                     fold([np.full(3, init), *x.T]), type)
            padded = np.pad(x, [(0, 0), (1, 1)], constant_values=init)
            p.expect(f"reduce_window {case}", p.call(
                "reduce_window", [a, z], tensor((3, 4), type.text),
                "window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, "
                "padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>", body(operation, type)),
                fold([np.full((3, 4), init), *(padded[:, k:k + 7:2] for k in range(3))]), type)
            # Two updates to the first place, one to the third, one outside.
            updates = type.random(4, 3)
            expected = x.T.copy()
            for place, update in zip([0, 2, 0], updates[:3]):
                expected[place] = by_numbers(function, [type, type], [expected[place], update], type)
            places = p.value("stablehlo.constant dense<[[0], [2], [0], [9]]> : tensor<4x1xi32>", "tensor<4x1xi32>")
            p.expect(f"scatter {case}", p.call(
                "scatter", [p.quantized(x.T.copy(), type), places, p.quantized(updates, type)],
                tensor((8, 3), type.text),
                "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
                "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>", body(operation, type)), expected, type)
    # A reduction in a type of more bits: operands are quantized anew first.
    narrow, wide = Type("i4", (0.5,), (1,)), Type("i8", (0.25,), (-5,))
    x = narrow.random(6)
    total = np.array(wide.quantize(np.float32(0)))
    for value in x:
        total = by_numbers(np.add, [wide, wide], [total, wide.quantize(narrow.dequantize(value))], wide)
    zero = p.quantized(np.array(1), narrow)
    p.expect("reduce in a wider type", p.call(
        "reduce", [p.quantized(x, narrow), zero], tensor((), wide.text), "dimensions = array<i64: 0>",
        body("add", wide)), total, wide)
    type = TYPES[1]
    x, source = type.random(8), type.random(4)
    winners = np.argmax(x.reshape(4, 2), 1) + 2 * np.arange(4)
    expected = np.full(8, type.zeros[0])
    expected[winners] = by_numbers(np.add, [type, type], [expected[winners], source], type)
    select = (f"{{ ^bb0(%x: tensor<{type.text}>, %y: tensor<{type.text}>): %c = stablehlo.compare GE, %x, %y : "
              f"(tensor<{type.text}>, tensor<{type.text}>) -> tensor<i1> stablehlo.return %c : tensor<i1> }}, ")
    p.expect("select_and_scatter", p.call(
        "select_and_scatter", [p.quantized(x, type), p.quantized(source, type), p.quantized(np.array(type.zeros[0]), type)],
        tensor((8,), type.text), "window_dimensions = array<i64: 2>, window_strides = array<i64: 2>",
        " (" + select + body("add", type)[2:]), expected, type)


def movement(p):
    """Codes move as they are; the axis of scales with its axis."""
    for type in (TYPES[0], TYPES[4], TYPES[7]):
        x = type.random(4, 6)
        a = p.quantized(x, type)
        q = type.text
        index = [p.value(f"stablehlo.constant dense<{i}> : tensor<i32>", "tensor<i32>") for i in (1, 2)]
        pad = p.quantized(np.array(type.zeros[0]), type)
        y = type.random(2, 3)
        update = p.quantized(y, type)
        updated, padded = x.copy(), np.full((9, 7), type.zeros[0])
        updated[1:3, 2:5] = y
        padded[1:8:2, 1:] = x
        rows = p.value("stablehlo.constant dense<[3, 0]> : tensor<2xi32>", "tensor<2xi32>")
        cases = {
            "reshape": ([a], "", x.reshape(3, 8)),
            "transpose": ([a], "permutation = array<i64: 1, 0>", x.T),
            "reverse": ([a], "dimensions = array<i64: 1>", x[:, ::-1]),
            "broadcast_in_dim": ([a], "broadcast_dimensions = array<i64: 1, 2>", np.broadcast_to(x, (2, 4, 6))),
            "broadcast": ([a], "broadcast_sizes = array<i64: 2>", np.broadcast_to(x, (2, 4, 6))),
            "slice": ([a], "start_indices = array<i64: 1, 0>, limit_indices = array<i64: 4, 5>, strides = array<i64: 1, 2>",
                      x[1:4, 0:5:2]),
            "concatenate": ([a, a], "dimension = 1 : i64", np.concatenate([x, x], 1)),
            "pad": ([a, pad], "edge_padding_low = array<i64: 1, 1>, edge_padding_high = array<i64: 1, 0>, "
                    "interior_padding = array<i64: 1, 0>", padded),
            "dynamic_slice": ([a, *index], "slice_sizes = array<i64: 2, 3>", x[1:3, 2:5]),
            "dynamic_update_slice": ([a, update, *index], "", updated),
            "gather": ([a, rows], "dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
                       "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>", x[[3, 0]]),
            "torch_index_select": ([a, rows], "dim = 0 : i64, batch_dims = 0 : i64", x[[3, 0]]),
            "optimization_barrier": ([a], "", x),
        }
        for name, (operands, attributes, expected) in cases.items():
            p.expect(f"{name} {q}", p.call(name, operands, tensor(expected.shape, q), attributes), expected, type)
        steps = np.arange(9)
        p.expect(f"iota {q}", p.value(f"stablehlo.iota dim = 0 : tensor<9x{q}>", f"tensor<9x{q}>"),
                 type.quantize(steps), type)
        shape = p.value("stablehlo.constant dense<9> : tensor<1xi32>", "tensor<1xi32>")
        p.expect(f"dynamic_iota {q}", p.call("dynamic_iota", [shape], f"tensor<9x{q}>", "iota_dimension = 0 : i64"),
                 type.quantize(steps), type)
        scalar = f"tensor<{q}>"
        p.expect(f"sort {q}", p.call(
            "sort", [a], tensor(x.shape, q), "dimension = 1 : i64, is_stable = true",
            f" ({{ ^bb0(%x: {scalar}, %y: {scalar}): %c = stablehlo.compare LT, %x, %y : ({scalar}, {scalar}) -> tensor<i1> "
            "stablehlo.return %c : tensor<i1> })"), np.sort(x, 1), type)
    type, x = PER_AXIS, PER_AXIS.random(4, 3)
    a = p.quantized(x, type)
    for name, attributes, axis, expected in [
            ("transpose", "permutation = array<i64: 1, 0>", 0, x.T),
            ("reshape", "", 2, x.reshape(2, 2, 3)),
            ("broadcast_in_dim", "broadcast_dimensions = array<i64: 0, 2>", 2, np.repeat(x[:, None], 5, 1))]:
        result = replace(type, axis=axis)
        found = p.call(name, [a], tensor(expected.shape, result.text), attributes)
        p.expect(f"{name} per axis", found, expected, result)
        p.expect(f"{name} per axis, its numbers", p.call("uniform_dequantize", [found], tensor(expected.shape, "f32")),
                 result.dequantize(expected))
    one = Type("i8", (0.5,), (3,), axis=0)
    stretched = Type("i8", (0.5, 0.5), (3, 3), axis=1)
    p.expect("broadcast_in_dim of a quantized axis of one", p.call(
        "broadcast_in_dim", [p.quantized(np.array([7]), one)], tensor((3, 2), stretched.text),
        "broadcast_dimensions = array<i64: 1>"), np.full((3, 2), 7), stretched)


def linear_algebra(p):
    """Small integers, so that every step of any order is exact."""
    type = Type("i8", (1.0,), (2,))
    lower = np.array([[2, 0, 0], [1, 3, 0], [-1, 2, 1]])
    a = p.quantized(lower @ lower.T + 2, type)
    p.expect("cholesky", p.call("cholesky", [a], tensor((3, 3), type.text), "lower = true"), lower + 2, type)
    x = np.array([[1, -2], [3, 0], [2, 1]])
    p.expect("triangular_solve", p.call(
        "triangular_solve", [p.quantized(lower + 2, type), p.quantized(lower @ x + 2, type)], tensor((3, 2), type.text),
        "left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"),
        x + 2, type)


def batch_norm(p):
    type = Type("i8", (0.125,), (-3,))
    vectors = [type.random(3) for _ in range(3)]
    variance = np.array([-1, 20, 61])  # 0.25, 2.875, 8
    x, gradient = type.random(5, 3), type.random(5, 3)
    n, g = (type.dequantize(array).astype(float) for array in (x, gradient))
    scale, offset, mean = (type.dequantize(array).astype(float) for array in vectors)
    v = type.dequantize(variance).astype(float) + 0.5
    attributes = "epsilon = 0.5 : f32, feature_index = 1 : i64"
    operand, grad = p.quantized(x, type), p.quantized(gradient, type)
    lists = [p.quantized(array, type) for array in [*vectors, variance]]
    shape, line = tensor((5, 3), type.text), tensor((3,), type.text)

    def normalized(mean, v):
        return scale * ((n - mean) / np.sqrt(v)) + offset
    p.expect("batch_norm_inference", p.call("batch_norm_inference", [operand, *lists], shape, attributes),
             type.quantize(normalized(mean, v).astype(np.float32)), type)

    def several(name, operands, types, cases):
        base = f"%m{len(p.lines)}"
        names, given = zip(*operands)
        p.lines.append(f'{base}:{len(types)} = "stablehlo.{name}"({", ".join(names)}) {{{attributes}}} : '
                       f'({", ".join(given)}) -> ({", ".join(types)})')
        for i, (case, expected) in enumerate(cases.items()):
            p.expect(f"{name} {case}", (f"{base}#{i}", types[i]), type.quantize(expected.astype(np.float32)), type)
    several("batch_norm_training", [operand, *lists[:2]], [shape, line, line],
            {"output": normalized(n.mean(0), n.var(0) + 0.5), "mean": n.mean(0), "variance": n.var(0)})
    c, m = n - mean, 5
    several("batch_norm_grad", [operand, lists[0], lists[2], lists[3], grad], [shape, line, line], {
        "operand": scale / np.sqrt(v) / m * (g * m - g.sum(0) - (g * c).sum(0) * c / v),
        "scale": (g * c / np.sqrt(v)).sum(0), "offset": g.sum(0)})


def build():
    program = Program()
    for family in (elementwise, mixed, conversions, per_axis_sums, products, convolutions, reductions, movement,
                   linear_algebra, batch_norm):
        family(program)
    return program


PROGRAM = build()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    arrays = run(tmp_path_factory.mktemp("quantized"), PROGRAM.text())
    return dict(zip(PROGRAM.expected, arrays, strict=True))


@pytest.mark.parametrize("case", PROGRAM.expected)
def test_formula(found, case):
    expected = np.asarray(PROGRAM.expected[case])
    values = found[case]
    if expected.dtype.kind not in "iub":
        expected, values = expected.astype(np.float64), values.astype(np.float64)
    assert values.shape == expected.shape
    np.testing.assert_array_equal(values, expected)
