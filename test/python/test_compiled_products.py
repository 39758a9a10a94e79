"""Dots and convolutions, compiled, beside the interpreter: rule C1's bits, or within the bound of products."""
import ml_dtypes
import numpy as np
import pytest
from compiled_function import Function, drawn_values, roundings, value
from random_programs import tensor

pytestmark = pytest.mark.mlir


@pytest.mark.parametrize("left,right,result", [
    ("i8", "i8", "i32"), ("ui8", "i8", "i32"), ("i32", "i32", "i32"), ("i64", "i64", "i64"), ("i4", "i4", "i32"),
    ("i16", "i16", "i16"), ("ui8", "ui8", "ui32"), ("i1", "i1", "i1")])
def test_dots_of_integers(left, right, result, tmp_path):
    function = Function()
    for batch, m, k, n in [((), 5, 33, 7), ((3,), 4, 16, 1), ((), 1, 1, 9), ((), 3, 0, 4), ((2,), 0, 5, 2), ((), 17, 130, 19)]:
        axes = list(range(len(batch)))
        batching = f"batching_dims = {axes} x {axes}, " if batch else ""
        d = len(batch)
        for left_shape, right_shape, contracted in [
                ([*batch, m, k], [*batch, k, n], f"[{d + 1}] x [{d}]"), ([*batch, m, k], [*batch, n, k], f"[{d + 1}] x [{d + 1}]"),
                ([*batch, k, m], [*batch, k, n], f"[{d}] x [{d}]")]:
            x, y = value(function, left_shape, left, 1), value(function, right_shape, right, 2)
            shape = [*batch, m, n]
            function.give(function.emit(
                f"stablehlo.dot_general {x}, {y}, {batching}contracting_dims = {contracted} : "
                f"({tensor(left_shape, left)}, {tensor(right_shape, right)}) -> {tensor(shape, result)}"), shape, result)
    function.assert_bits(tmp_path)


def test_dots_of_f64(tmp_path):
    """Within n ulp of the sum of magnitudes, as rule C3 says; NumPy beside it."""
    function, wanted = Function(), []
    for m, k, n in [(5, 33, 7), (1, 1, 1), (16, 500, 3), (2, 0, 3)]:
        x, y = drawn_values([m, k], "f64", 1), drawn_values([k, n], "f64", 2)
        names = function.argument(x, "f64"), function.argument(y, "f64")
        function.give(function.emit(f"stablehlo.dot_general {names[0]}, {names[1]}, contracting_dims = [1] x [0] : "
                                    f"({tensor([m, k], 'f64')}, {tensor([k, n], 'f64')}) -> {tensor([m, n], 'f64')}"),
                      [m, n], "f64")
        wanted.append((x @ y, np.abs(x) @ np.abs(y) * k * 2.0**-52))
    for found, (exact, bound) in zip(function.run(tmp_path, "compiled"), wanted, strict=True):
        assert (np.abs(found - exact) <= bound).all()
    function.assert_all_is_compiled(tmp_path)


# Input, kernel, dimension numbers, window, feature groups, batch groups.
CONVOLUTIONS = [
    ([2, 9, 8, 5], [3, 3, 5, 7], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "pad = [[1, 1], [1, 1]]", 1, 1),
    ([2, 5, 9, 8], [7, 5, 3, 3], "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "stride = [2, 1], pad = [[0, 1], [2, 0]]", 1, 1),
    ([1, 6, 7, 4], [2, 3, 4, 6], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
     "pad = [[1, 2], [3, 0]], lhs_dilate = [2, 3], rhs_dilate = [2, 1], reverse = [true, false]", 1, 1),
    ([3, 6, 6, 8], [3, 3, 4, 10], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "pad = [[1, 1], [1, 1]]", 2, 1),
    ([3, 6, 6, 6], [3, 3, 1, 12], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "stride = [2, 2]", 6, 1),
    ([4, 5, 5, 3], [2, 2, 3, 6], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "pad = [[0, 1], [0, 1]]", 1, 2),
    ([2, 4, 5, 6], [1, 1, 6, 9], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "", 1, 1),
    ([2, 6, 4, 5], [9, 6, 1, 1], "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "", 1, 1),
    ([6, 4, 5, 2], [1, 9, 1, 6], "[f, 0, 1, b]x[0, o, 1, i]->[0, f, b, 1]", "", 1, 1),
    ([5, 9, 8, 2], [3, 7, 5, 3], "[f, 0, 1, b]x[0, o, i, 1]->[1, f, b, 0]", "rhs_dilate = [1, 3]", 1, 1),
    ([3, 17, 4], [5, 4, 33], "[b, 0, f]x[0, i, o]->[b, 0, f]", "pad = [[4, 0]]", 1, 1),
    ([2, 4, 3, 5, 2], [2, 2, 3, 2, 3], "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]", "pad = [[0, 1], [1, 0], [1, 1]]",
     1, 1),
    ([7, 3], [3, 2], "[b, f]x[i, o]->[b, f]", "", 1, 1),
    ([7, 6], [2, 9], "[b, f]x[i, o]->[b, f]", "", 3, 1),
    ([1, 3, 3, 2], [3, 3, 2, 1], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "pad = [[-1, 2], [0, 0]]", 1, 1),
    ([0, 3, 3, 2], [3, 3, 2, 4], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "", 1, 1),
    ([1, 3, 3, 0], [3, 3, 0, 4], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "", 1, 1),
    ([1, 30, 31, 16], [3, 3, 16, 24], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "pad = [[1, 1], [1, 1]]", 1, 1),
    # Windows that see runs of 8 elements and more, so that f32 is multiplied where it lies, or line by line.
    ([2, 8, 9, 8], [3, 3, 8, 5], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "rhs_dilate = [1, 2]", 1, 1),
    ([2, 7, 9, 8], [3, 2, 8, 5], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "stride = [2, 3], pad = [[2, 1], [0, 0]]", 1, 1),
    ([2, 7, 9, 16], [3, 3, 8, 10], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "stride = [1, 2], pad = [[1, 0], [2, 1]]", 2, 1),
    ([2, 6, 6, 16], [3, 1, 8, 4], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "", 2, 1),
    ([4, 5, 5, 8], [2, 2, 8, 6], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "pad = [[0, 1], [-1, 1]]", 1, 2),
    ([1, 5, 6, 8], [2, 3, 8, 5], "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
     "pad = [[1, 2], [3, 0]], lhs_dilate = [2, 3], rhs_dilate = [2, 2], reverse = [true, false]", 1, 1),
    ([2, 8, 5, 6], [5, 8, 3, 3], "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", "pad = [[1, 1], [1, 1]]", 1, 1),
    ([2, 3, 4, 5, 8], [2, 3, 3, 8, 6], "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]",
     "stride = [1, 2, 1], pad = [[1, 0], [1, 1], [0, 2]]", 1, 1),
    ([2, 1500, 8], [3, 8, 5], "[b, 0, f]x[0, i, o]->[b, 0, f]", "pad = [[1, 2]]", 1, 1),
]


def convolution_of(x, w, case, left, right, result):
    """Its text and shape, as the rule of extents has it."""
    shape, kernel, numbers, window, groups, batch_groups = case
    lists = {}
    for name, width in (("stride", 1), ("lhs_dilate", 1), ("rhs_dilate", 1)):
        found = window.split(f"{name} = [")
        lists[name] = [int(each) for each in found[1].split("]")[0].split(",")] if len(found) > 1 else [1] * 8
    pads = window.split("pad = [[")
    pads = [[int(each) for each in pair.split(",")] for pair in pads[1].split("]]")[0].split("], [")] if len(pads) > 1 \
        else [[0, 0]] * 8
    input_names, rest = numbers.split("x")
    kernel_names, result_names = rest.split("->")
    input_names, kernel_names, result_names = ([each.strip() for each in names.strip("[]").split(",")]
                                               for names in (input_names, kernel_names, result_names))
    extents = []
    for name in result_names:
        if name == "b":
            extents.append(shape[input_names.index("b")] // batch_groups)
        elif name == "f":
            extents.append(kernel[kernel_names.index("o")])
        else:
            extent, size, i = shape[input_names.index(name)], kernel[kernel_names.index(name)], int(name)
            padded = (extent - 1) * lists["lhs_dilate"][i] + 1 + sum(pads[i])
            extents.append((padded - (size - 1) * lists["rhs_dilate"][i] - 1) // lists["stride"][i] + 1)
    return (
        f"stablehlo.convolution({x}, {w}) dim_numbers = {numbers}, window = {{{window}}} "
        f"{{batch_group_count = {batch_groups} : i64, feature_group_count = {groups} : i64}} : "
        f"({tensor(shape, left)}, {tensor(kernel, right)}) -> {tensor(extents, result)}"), extents


def convolution(function, case, left, right, result, seed=0):
    x, w = value(function, case[0], left, seed), value(function, case[1], right, seed + 1)
    text, extents = convolution_of(x, w, case, left, right, result)
    return function.emit(text), extents


@pytest.mark.parametrize("left,right,result", [("i8", "i8", "i32"), ("i32", "i32", "i32"), ("ui8", "ui8", "i32"), ("i4", "i4", "i8")])
def test_convolutions_of_integers(left, right, result, tmp_path):
    function = Function()
    for i, case in enumerate(CONVOLUTIONS):
        name, shape = convolution(function, case, left, right, result, i)
        function.give(name, shape, result)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element,rounding", [("f32", 2.0**-24), ("bf16", 2.0**-8), ("f16", 2.0**-11), ("f8E5M2", 2.0**-3),
                                              ("f64", 2.0**-53)])
def test_convolutions_of_floats(element, rounding, tmp_path):
    """Within what P10 says of a product's error: that of magnitudes is the sum of |a b|."""
    function = Function()
    for i, case in enumerate(CONVOLUTIONS):
        name, shape = convolution(function, case, element, element, element, i)
        function.give(function.convert(name, shape, element, "f32") if element == "bf16" else name, shape,
                      "f32" if element == "bf16" else element)
    found = function.run(tmp_path, "compiled")
    function.assert_all_is_compiled(tmp_path)
    exact, magnitudes = Function(), Function()
    for target, keep in ((exact, lambda x: x), (magnitudes, np.abs)):
        # The same values in f64; the interpreter's sums of f64 are off by nothing that counts here.
        for i, case in enumerate(CONVOLUTIONS):
            name, shape = convolution(target, case, "f64", "f64", "f64", i)
            target.give(name, shape, "f64")
        given = [array for array in function.arrays]
        rounded = given if element in ("f32", "f64") else [np.asarray(each) for each in roundings(given, element, tmp_path)]
        target.arrays = [keep(np.asarray(each, np.float64)) for each in rounded]
    unit = 2.0**-53 if element == "f64" else 2.0**-24
    for i, (a, b, sizes) in enumerate(zip(found, exact.run(tmp_path, "reference"), magnitudes.run(tmp_path, "reference"),
                                          strict=True)):
        depth = int(np.prod(CONVOLUTIONS[i][1]))
        bound = sizes * ((1 + unit) ** (depth + 1) - 1) + rounding * (np.abs(b) + sizes * unit * depth) + 1e-30
        assert (np.abs(a.astype(np.float64) - b) <= bound).all(), (i, CONVOLUTIONS[i])


@pytest.mark.parametrize("scale", ["f8E4M3FN", "f8E8M0FNU"])
@pytest.mark.parametrize("outer", ["", ", outer f32"])
def test_a_left_side_has_the_outer_scale_that_its_type_has(scale, outer, tmp_path):
    """Products quantize themselves under E4M3 scales with one and under E8M0 scales without; others are quantized before."""
    function = Function()
    x, w = value(function, [3, 64], "f32", 1), value(function, [5, 64], "f32", 2)
    rule = "nearest" if scale == "f8E4M3FN" else "floor"

    def quantized(name, rows):
        kind = f"!octavo.scaled<{rows}x64xf4E2M1FN, scale {scale}, block [1, 16]{outer}>"
        return function.emit(f"octavo.quantize {name}, rule = {rule} : {tensor([rows, 64], 'f32')} -> {kind}"), kind
    (a, left), (b, right) = quantized(x, 3), quantized(w, 5)
    function.give(function.emit(f"octavo.dot_general {a}, {b}, contracting_dims = [1] x [1] : ({left}, {right}) -> "
                                f"{tensor([3, 5], 'f32')}"), [3, 5], "f32")
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("exponents", [(80, 84), (126, 126), (-70, -60), (-120, 110)])
@pytest.mark.parametrize("block", [64, 256])
def test_f32_scales_far_from_one(exponents, block, tmp_path):
    """D3: a piece is scaled in f64, whatever the product of its scales is in f32."""
    drawn = np.random.default_rng(5)
    function = Function()
    exact, sides = [], []
    for rows, exponent in zip((20, 6), exponents):
        numbers = np.ldexp(drawn.uniform(-1, 1, (rows, 256)), exponent).astype(np.float32)
        numbers[:: 1 + len(sides), 1 - len(sides)::2] = 0  # so that every second column of the result is sums of zeros
        scales = np.abs(numbers).reshape(rows, -1, block).max(2) / np.float32(448)
        scales[scales == 0] = 1
        wide = np.repeat(scales, block, 1)
        exact.append((numbers / wide).astype(ml_dtypes.float8_e4m3fn).astype(np.float64) * wide)
        kind = f"!octavo.scaled<{rows}x256xf8E4M3FN, scale f32, block [1, {block}]>"
        name = function.argument(numbers, "f32")
        sides.append((function.emit(f"octavo.quantize {name}, rule = nearest : {tensor([rows, 256], 'f32')} -> {kind}"), kind))
    (a, left), (b, right) = sides
    function.give(function.emit(f"octavo.dot_general {a}, {b}, contracting_dims = [1] x [1] : ({left}, {right}) -> "
                                f"{tensor([20, 6], 'f32')}"), [20, 6], "f32")
    value, magnitudes = exact[0] @ exact[1].T, np.abs(exact[0]) @ np.abs(exact[1].T)
    bound = ((1 + 2.0 ** -24) ** 264 - 1) * magnitudes + 8 * 2.0 ** -149
    for backend in ("compiled", "reference"):
        found, = function.run(tmp_path, backend)
        assert (found[:, ::2] == 0).all()
        beyond = np.abs(value) > 2.0 ** 129
        assert np.isinf(found[beyond]).all() or block < 256
        assert (np.abs(found - value) <= bound)[magnitudes < 2.0 ** 127].all()
    function.assert_all_is_compiled(tmp_path)
