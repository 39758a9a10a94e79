"""Operations whose sizes are numbers of an input: programs, the sizes that fit, and sizes that do not."""
import numpy as np

F, L = np.float32, np.int64


def function(arguments, result, body):
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %r : {result}\n}}\n"


def sized(operation, result, arguments="%s: tensor<1xi64>", before=""):
    return function(arguments, result, f"{before}\n  %r = {operation}")


ONE = "  %a = stablehlo.constant dense<1.5> : tensor<f32>\n  %b = stablehlo.constant dense<2.5> : tensor<f32>"
X = np.arange(9, dtype=F)
GATHER = ("#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>")
CONVOLUTION = "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>"

# Of each operation: a program whose result is declared of four, what it is given besides the sizes, the
# sizes that make four with the value that they make, and sizes that make more, fewer, none, and too many.
OPERATIONS = {
    "rng": (
        sized("stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>",
              "tensor<4xf32>", before=ONE),
        [], [[4]], None, [[[5]], [[5_000_000]], [[1]], [[0]], [[2**40]], [[-4]], [[2**63 - 1]]]),
    "dynamic_iota": (
        sized("stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<4xi32>", "tensor<4xi32>"),
        [], [[4]], np.arange(4, dtype=np.int32),
        [[[5]], [[5_000_000]], [[1]], [[0]], [[2**40]], [[-1]], [[-2**63]], [[2**63 - 1]]]),
    "dynamic_broadcast_in_dim": (
        sized("stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<4xf32>",
              "tensor<4xf32>", before=ONE),
        [], [[4]], np.full(4, 1.5, F), [[[5]], [[5_000_000]], [[1]], [[0]], [[2**40]], [[-1]], [[2**63 - 1]]]),
    "dynamic_reshape": (
        sized("stablehlo.dynamic_reshape %x, %s : (tensor<8xf32>, tensor<2xi64>) -> tensor<2x4xf32>", "tensor<2x4xf32>",
              "%x: tensor<8xf32>, %s: tensor<2xi64>"),
        [X[:8]], [[2, 4]], X[:8].reshape(2, 4), [[[8, 1]], [[4, 2]], [[1, 8]], [[-2, -4]], [[0, 2**62]]]),
    "dynamic_pad": (
        sized("stablehlo.dynamic_pad %x, %a, %l, %h, %i : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>",
              "tensor<4xf32>", "%x: tensor<2xf32>, %l: tensor<1xi64>, %h: tensor<1xi64>, %i: tensor<1xi64>", ONE),
        [X[1:3]], [[1], [0], [1]], np.array([1.5, 1, 1.5, 2], F),
        [[[5_000_000], [1], [0]], [[0], [0], [0]], [[-2], [0], [0]], [[0], [0], [2**63 - 1]], [[2**63 - 1], [2**63 - 1], [2]],
         [[0], [0], [-1]], [[-3], [0], [0]], [[2**62], [-2**62], [0]]]),
    "real_dynamic_slice": (
        sized("stablehlo.real_dynamic_slice %x, %b, %e, %t : (tensor<9xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>",
              "tensor<4xf32>", "%x: tensor<9xf32>, %b: tensor<1xi64>, %e: tensor<1xi64>, %t: tensor<1xi64>"),
        [X], [[1], [8], [2]], X[1:8:2],
        [[[0], [9], [1]], [[0], [3], [1]], [[2], [2], [1]], [[0], [9], [2**63 - 1]], [[0], [4], [0]], [[100_000], [100_004], [1]],
         [[-1], [3], [1]], [[4], [0], [1]]]),
    "dynamic_gather": (
        sized(f'"stablehlo.dynamic_gather"(%x, %i, %z) {{dimension_numbers = {GATHER}}} : (tensor<9x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x4xf32>',
              "tensor<2x4xf32>", "%x: tensor<9x5xf32>, %i: tensor<2xi64>, %z: tensor<2xi64>"),
        [np.arange(45, dtype=F).reshape(9, 5), np.array([2, 7])], [[1, 4]], np.arange(45, dtype=F).reshape(9, 5)[[2, 7], :4],
        [[[1, 5]], [[1, 3]], [[1, 0]], [[1, 2**62]], [[1, -4]], [[2, 4]]]),
    "dynamic_conv": (
        sized(f'"stablehlo.dynamic_conv"(%x, %w, %p) {{dimension_numbers = {CONVOLUTION}, feature_group_count = 1 : i64, batch_group_count = 1 : i64}} : (tensor<1x4x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi64>) -> tensor<1x4x1xf32>',
              "tensor<1x4x1xf32>", "%x: tensor<1x4x1xf32>, %w: tensor<2x1x1xf32>, %p: tensor<1x2xi64>"),
        [np.ones((1, 4, 1), F), np.ones((2, 1, 1), F)], [[[1, 0]]], np.array([1, 2, 2, 2], F).reshape(1, 4, 1),
        [[[[1_000_000, 1]]], [[[0, 0]]], [[[-4, 0]]], [[[-9, 0]]], [[[2**63 - 1, 2**63 - 1]]], [[[2**40, 0]]]]),
    "set_dimension_size": (
        sized("stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>", "tensor<4xf32>",
              "%x: tensor<4xf32>, %n: tensor<i32>"),
        [X[:4]], [4], X[:4], [[2], [0], [5], [-1], [2**31 - 1]]),
}


def arrays(name, sizes):
    dtype = np.int32 if name == "set_dimension_size" else L
    return [*OPERATIONS[name][1], *(np.array(each, dtype) for each in sizes)]


CASES = [(name, sizes) for name, row in OPERATIONS.items() for sizes in row[4]]
