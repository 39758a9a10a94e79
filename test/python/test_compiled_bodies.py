"""Operations whose body is on scalars, compiled, beside the interpreter: windows, reductions, scatters, sorts."""
import numpy as np
import pytest
from compiled_function import ELEMENTS, INITIAL, NUMPY, Function, body, drawn_values, kind_of, literal, value
from random_programs import tensor

pytestmark = pytest.mark.mlir

# Shape, window, strides, base dilations, window dilations, low and high padding.
WINDOWS = [
    ([7], [3], [2], [1], [1], [(0, 0)]),
    ([5, 6], [2, 2], [1, 2], [1, 1], [1, 1], [(1, 1), (0, 1)]),
    ([2, 5, 5, 3], [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], [(0, 0), (1, 1), (1, 1), (0, 0)]),
    ([3, 4, 33], [2, 1, 1], [1, 1, 1], [2, 1, 1], [1, 1, 1], [(1, 0), (0, 0), (0, 0)]),
    ([1, 9], [1, 4], [1, 1], [1, 2], [1, 3], [(0, 0), (-2, 5)]),
    ([40], [40], [1], [1], [1], [(39, 0)]),
    ([0, 3], [1, 2], [1, 1], [1, 1], [1, 1], [(2, 2), (0, 0)]),
    ([4, 3], [5, 1], [1, 1], [1, 1], [1, 1], [(0, 0), (0, 0)]),
]


def window_counts(shape, size, strides, base, dilation, padding):
    """The extents of reduce_window's results."""
    counts = []
    for i, extent in enumerate(shape):
        padded = ((extent - 1) * base[i] + 1 if extent else 0) + sum(padding[i])
        window = (size[i] - 1) * dilation[i] + 1
        counts.append((padded - window) // strides[i] + 1 if padded >= window and padded else 0)
    return counts


def window_attributes(shape, size, strides, base, dilation, padding):
    pads = ", ".join(f"[{low}, {high}]" for low, high in padding)
    return (f"<{{window_dimensions = array<i64: {str(size)[1:-1]}>, window_strides = array<i64: {str(strides)[1:-1]}>, "
            f"base_dilations = array<i64: {str(base)[1:-1]}>, window_dilations = array<i64: {str(dilation)[1:-1]}>, "
            f"padding = dense<[{pads}]> : tensor<{len(shape)}x2xi64>}}>")


@pytest.mark.parametrize("element", ELEMENTS)
def test_windows(element, tmp_path):
    function = Function()
    for case, window in enumerate(WINDOWS):
        shape, result = window[0], window_counts(*window)
        x = value(function, shape, element, case)
        for name in INITIAL:
            scalar = f"tensor<{element}>"
            initial = function.constant(literal(element, name), element)
            text = (f"\"stablehlo.reduce_window\"({x}, {initial}) {window_attributes(*window)} "
                    f"({{\n    ^bb0(%a: {scalar}, %b: {scalar}):\n"
                    f"      %r = stablehlo.{name} %a, %b : {scalar}\n      stablehlo.return %r : {scalar}\n  }}) : "
                    f"({tensor(shape, element)}, {scalar}) -> {tensor(result, element)}")
            function.give(function.emit(text), result, element)
    function.assert_bits(tmp_path)


def places_of_windows(shape, size, strides, base, dilation, padding):
    """For each window the places that it has in the operand, row-major; None for padding."""
    for window in np.ndindex(*window_counts(shape, size, strides, base, dilation, padding)):
        places = []
        for offset in np.ndindex(*size):
            at = [w * s + o * d - p[0] for w, s, o, d, p in zip(window, strides, offset, dilation, padding)]
            inside = all(0 <= a and a % b == 0 and a // b < n for a, b, n in zip(at, base, shape))
            places.append(tuple(a // b for a, b in zip(at, base)) if inside else None)
        yield window, places


@pytest.mark.parametrize("elements", [("f32", "i32"), ("bf16", "i64", "f64"), ("f64", "f32", "ui8"), ("i8", "i1"),
                                      ("f8E4M3FN", "i4", "f16"), ("ui16", "complex<f32>")])
def test_windows_of_several_tensors(elements, tmp_path):
    """The largest of each window, what lies there in the second tensor, and sums of the third, one of them used once more; Python's
    loops beside them."""
    function, wanted = Function(), []
    names = [f"%{side}{i}: tensor<{element}>" for side in "ab" for i, element in enumerate(elements)]
    scalars = ", ".join(f"tensor<{element}>" for element in elements)
    lines = [f"%k = stablehlo.compare GE, %a0, %b0, {kind_of(elements[0])} : (tensor<{elements[0]}>, tensor<{elements[0]}>) -> "
             "tensor<i1>"]
    lines += [f"%r{i} = stablehlo.select %k, %a{i}, %b{i} : tensor<i1>, tensor<{elements[i]}>" for i in range(2)]
    lines += [f"%r{i} = stablehlo.add %b{i}, %a{i} : tensor<{elements[i]}>" for i in range(2, len(elements))]
    body = "\n      ".join(lines)
    results = ", ".join(f"%r{i}" for i in range(len(elements)))
    for case, window in enumerate(WINDOWS):
        shape, result = window[0], window_counts(*window)
        xs, initials = [], []
        for i, element in enumerate(elements):
            if element == "complex<f32>":
                parts = [value(function, shape, "f32", case + k) for k in (7, 8)]
                xs.append(function.emit(f"stablehlo.complex {parts[0]}, {parts[1]} : {tensor(shape, element)}"))
                initials.append(function.constant("(1.0, 2.0)", element))
            else:
                xs.append(value(function, shape, element, case + i))
                initials.append(function.constant(literal(element, "maximum"), element))
        kinds = ", ".join(tensor(shape, element) for element in elements)
        counts = ", ".join(tensor(result, element) for element in elements)
        name = function.emit(f"\"stablehlo.reduce_window\"({', '.join(xs + initials)}) {window_attributes(*window)} "
                             f"({{\n    ^bb0({', '.join(names)}):\n      {body}\n      stablehlo.return {results} : {scalars}\n  }}) "
                             f": ({kinds}, {scalars}) -> ({counts})")
        function.lines[-1] = function.lines[-1].replace(f"{name} =", f"{name}:{len(elements)} =")
        for i, element in enumerate(elements):
            if element == "complex<f32>":
                function.give(function.emit(f"stablehlo.real {name}#{i} : ({tensor(result, element)}) -> {tensor(result, 'f32')}"),
                              result, "f32")
            elif case % 2 == 0 or i == 1:  # of others, one alone is used
                function.give(f"{name}#{i}", result, element)
        if elements == ("f32", "i32"):
            values, others = function.arrays[-2:]
            found = [np.zeros(result, each.dtype) for each in (values, others)]
            for at, places in places_of_windows(*window):
                best = (np.float32(-1), np.int32(0))
                for place in places:
                    candidate = (np.float32(-1), np.int32(0)) if place is None else (values[place], others[place])
                    best = best if best[0] >= candidate[0] else candidate
                for array, each in zip(found, best):
                    array[at] = each
            wanted += found if case % 2 == 0 else found[1:]
            doubled = function.emit(f"stablehlo.add {name}#1, {name}#1 : {tensor(result, 'i32')}")
            function.give(doubled, result, "i32")
            wanted.append(found[1] * 2)
    for found, expected in zip(function.assert_bits(tmp_path), wanted):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("element", ["i32", "f32", "bf16", "f8E5M2"])
def test_bodies_that_use_scalars_from_around_them(element, tmp_path):
    """Of reductions, windows and sorts, two scalars in one of them; what NumPy has of integers."""
    function = Function()
    scalar, shape = f"tensor<{element}>", [6, 9]
    of = tensor(shape, element)
    drawn = np.random.default_rng(5).integers(-9, 10, shape)
    arrays = [drawn, np.array(-3), np.array(2)]
    if element == "i32":
        x, s, t = (function.argument(each.astype(np.int32), "i32") for each in arrays)
    else:
        x, s, t = (function.convert(function.argument(each.astype(np.float32), "f32"), each.shape, "f32", element)
                   if element != "f32" else function.argument(each.astype(np.float32), "f32") for each in arrays)
    zero = function.constant("0" if element == "i32" else "0.0", element)
    head = f"({{\n    ^bb0(%a: {scalar}, %b: {scalar}):\n"
    name = function.emit(f"\"stablehlo.reduce\"({x}, {zero}) <{{dimensions = array<i64: 1>}}> {head}"
                         f"      %p = stablehlo.multiply %b, {s} : {scalar}\n      %m = stablehlo.maximum %a, %p : {scalar}\n"
                         f"      %r = stablehlo.minimum %m, {t} : {scalar}\n      stablehlo.return %r : {scalar}\n  }}) : "
                         f"({of}, {scalar}) -> {tensor([6], element)}")
    function.give(function.convert(name, [6], element, "f32"), [6], "f32")
    window = (shape, [1, 4], [1, 2], [1, 1], [1, 1], [(0, 0), (1, 0)])
    counts = window_counts(*window)
    name = function.emit(f"\"stablehlo.reduce_window\"({x}, {zero}) {window_attributes(*window)} {head}"
                         f"      %p = stablehlo.multiply %b, {s} : {scalar}\n      %r = stablehlo.add %a, %p : {scalar}\n"
                         f"      stablehlo.return %r : {scalar}\n  }}) : ({of}, {scalar}) -> {tensor(counts, element)}")
    function.give(function.convert(name, counts, element, "f32"), counts, "f32")
    name = function.emit(f"\"stablehlo.sort\"({x}) <{{dimension = 1 : i64}}> {head}"
                         f"      %p = stablehlo.multiply %a, {s} : {scalar}\n      %q = stablehlo.multiply %b, {s} : {scalar}\n"
                         f"      %r = stablehlo.compare LT, %p, %q, {kind_of(element)} : ({scalar}, {scalar}) -> tensor<i1>\n"
                         f"      stablehlo.return %r : tensor<i1>\n  }}) : ({of}) -> {of}")
    function.give(function.convert(name, shape, element, "f32"), shape, "f32")
    found = function.assert_bits(tmp_path)
    if element == "i32":
        assert np.array_equal(found[0], [min_after(row) for row in drawn])
        padded = np.pad(drawn, ((0, 0), (1, 0)))
        assert np.array_equal(found[1], np.lib.stride_tricks.sliding_window_view(padded, 4, 1)[:, ::2].sum(-1) * -3)
        assert np.array_equal(found[2], -np.sort(-drawn, 1))


@pytest.mark.parametrize("element", ["i32", "f32", "bf16", "f8E5M2", "f64"])
def test_bodies_of_scatters_that_use_scalars_from_around_them(element, tmp_path):
    """One of the elements' type, one of i32, one of a view and one of the step before; what NumPy has of integers."""
    function = Function()
    scalar, shape = f"tensor<{element}>", [7, 5]
    of, random = tensor(shape, element), np.random.default_rng(6)
    drawn, updates = random.integers(-9, 10, shape), random.integers(-9, 10, [11, 5])
    rows = random.integers(-1, 9, [11, 1]).astype(np.int32)

    def given(array):
        if element == "i32":
            return function.argument(array.astype(np.int32), "i32")
        name = function.argument(array.astype(np.float32), "f32")
        return name if element == "f32" else function.convert(name, list(array.shape), "f32", element)

    def kept(name, of_shape):
        function.give(name if element in ("i32", "f32", "f64") else function.convert(name, of_shape, element, "f32"),
                      of_shape, element if element in ("i32", "f32", "f64") else "f32")

    x, u, pair = given(drawn), given(updates), given(np.array([3, -2]))
    one = function.emit(f"stablehlo.slice {pair} [1:2] : ({tensor([2], element)}) -> {tensor([1], element)}")
    last = function.emit(f"stablehlo.reshape {one} : ({tensor([1], element)}) -> {scalar}")
    made = function.emit(f"stablehlo.subtract {last}, {last} : {scalar}")
    most = function.argument(np.array(4, np.int32), "i32")
    indices = function.argument(rows, "i32")
    numbers = ("update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1")
    body = (f"({{\n    ^bb0(%a: {scalar}, %b: {scalar}):\n      %m = stablehlo.multiply %b, {last} : {scalar}\n"
            f"      %s = stablehlo.add %a, %m : {scalar}\n      %c = stablehlo.convert {most} : (tensor<i32>) -> {scalar}\n"
            f"      %t = stablehlo.maximum %s, {made} : {scalar}\n      %r = stablehlo.minimum %t, %c : {scalar}\n"
            f"      stablehlo.return %r : {scalar}\n  }})")
    kept(function.emit(f"\"stablehlo.scatter\"({x}, {indices}, {u}) <{{scatter_dimension_numbers = "
                       f"#stablehlo.scatter<{numbers}>}}> {body} : ({of}, tensor<11x1xi32>, {tensor([11, 5], element)}) -> {of}"),
         shape)
    # Of two regions; and a body that gives what is around it alone.
    source = function.emit(f"stablehlo.slice {u} [0:4, 0:3] : ({tensor([11, 5], element)}) -> {tensor([4, 3], element)}")
    selects = (f"({{\n    ^bb0(%a: {scalar}, %b: {scalar}):\n      %m = stablehlo.multiply %a, {last} : {scalar}\n"
               f"      %n = stablehlo.multiply %b, {last} : {scalar}\n"
               f"      %r = stablehlo.compare GE, %m, %n : ({scalar}, {scalar}) -> tensor<i1>\n"
               f"      stablehlo.return %r : tensor<i1>\n  }}, ")
    kept(function.emit(f"\"stablehlo.select_and_scatter\"({x}, {source}, {made}) <{{window_dimensions = array<i64: 2, 3>, "
                       f"window_strides = array<i64: 2, 1>, padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>}}> "
                       f"{selects}{body[1:]} : ({of}, {tensor([4, 3], element)}, {scalar}) -> {of}"), shape)
    alone = f"({{\n    ^bb0(%a: {scalar}, %b: {scalar}):\n      stablehlo.return {last} : {scalar}\n  }})"
    kept(function.emit(f"\"stablehlo.scatter\"({x}, {indices}, {u}) <{{scatter_dimension_numbers = "
                       f"#stablehlo.scatter<{numbers}>}}> {alone} : ({of}, tensor<11x1xi32>, {tensor([11, 5], element)}) -> {of}"),
         shape)
    found = function.assert_bits(tmp_path)
    if element == "i32":
        summed, replaced = drawn.copy(), drawn.copy()
        for row, update in zip(rows[:, 0], updates):
            if 0 <= row < 7:
                summed[row] = np.clip(summed[row] - 2 * update, 0, 4)
                replaced[row] = -2
        assert np.array_equal(found[0], summed) and np.array_equal(found[2], replaced)
        least = np.zeros_like(drawn)
        for i in range(4):
            for j in range(3):
                places = [(2 * i - 1 + p, j + q) for p in range(2) for q in range(3) if 2 * i - 1 + p >= 0]
                at = min(places, key=lambda place: drawn[place])
                least[at] = np.clip(least[at] - 2 * updates[i, j], 0, 4)
        assert np.array_equal(found[1], least)


def min_after(row):
    """Of the body above."""
    running = 0
    for each in row:
        running = min(max(running, -3 * each), 2)
    return running


# Input, indices, updates, and the dimension numbers.
SCATTERS = [
    ([9, 5], [40, 1], [40, 5], "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                               "index_vector_dim = 1"),
    ([33], [70], [70], "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"),
    ([4, 6], [2, 11], [11], "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 0"),
    ([7, 6, 3], [5, 2], [2, 5, 3], "update_window_dims = [0, 2], inserted_window_dims = [1], "
                                   "scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1"),
    ([3, 8, 4], [5, 3, 1], [5, 3, 2, 4], "update_window_dims = [2, 3], input_batching_dims = [0], "
                                         "scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], "
                                         "index_vector_dim = 2"),
    ([10], [1], [4], "update_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0"),
    ([2, 3], [0, 1], [0, 3], "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                             "index_vector_dim = 1"),
    ([0, 3], [2, 1], [2, 3], "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                             "index_vector_dim = 1"),
    ([6, 70], [9, 1], [70, 9], "update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                               "index_vector_dim = 1"),
]


@pytest.mark.parametrize("element", ELEMENTS)
def test_scatter(element, tmp_path):
    """Indices of several types, below zero and beyond the input; each combiner, and two in a row."""
    function = Function()
    for case, (shape, index_shape, update_shape, numbers) in enumerate(SCATTERS):
        kind = ["i32", "i64", "ui8", "i8", "ui64"][case % 5]
        drawn = np.random.default_rng(case).integers(-2 if kind[0] == "i" else 0, max(shape) + 2, index_shape)
        drawn = drawn.astype(NUMPY[kind])
        if drawn.size > 3 and kind[0] == "i":
            drawn.ravel()[1] = np.iinfo(NUMPY[kind]).min
        if drawn.size > 3:
            drawn.ravel()[2] = np.iinfo(NUMPY[kind]).max
        indices = function.argument(drawn, kind)
        for names in (["add"], ["multiply"], ["maximum"], ["minimum"], [], ["add", "maximum"])[:6 if case == 0 else 1]:
            x, u = value(function, shape, element, case), value(function, update_shape, element, case + 50)
            function.give(function.emit(
                f"\"stablehlo.scatter\"({x}, {indices}, {u}) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> "
                f"{body(names, element)} : ({tensor(shape, element)}, {tensor(index_shape, kind)}, "
                f"{tensor(update_shape, element)}) -> {tensor(shape, element)}"), shape, element)
    function.assert_bits(tmp_path)


def test_scatter_of_several_tensors_into_what_the_program_made(tmp_path):
    function = Function()
    shape, updates = [9, 5], [40, 5]
    indices = function.argument(np.random.default_rng(0).integers(-1, 10, (40, 1)).astype(np.int32), "i32")
    of = tensor(shape, "f32")
    inputs = [function.emit(f"stablehlo.negate {value(function, shape, 'f32', i)} : {of}") for i in range(2)]
    given = [value(function, updates, "f32", i + 2) for i in range(2)]
    numbers = SCATTERS[0][3]
    name = function.emit(
        f"\"stablehlo.scatter\"({', '.join(inputs)}, {indices}, {', '.join(given)}) <{{scatter_dimension_numbers = "
        f"#stablehlo.scatter<{numbers}>}}> {body(['add'], 'f32', 2)} : ({of}, {of}, tensor<40x1xi32>, "
        f"{tensor(updates, 'f32')}, {tensor(updates, 'f32')}) -> ({of}, {of})")
    function.lines[-1] = function.lines[-1].replace(f"{name} =", f"{name}:2 =")
    function.give(f"{name}#0", shape, "f32")
    function.give(f"{name}#1", shape, "f32")
    function.give(inputs[1], shape, "f32")
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ELEMENTS)
def test_select_and_scatter(element, tmp_path):
    function = Function()
    for case, (shape, size, strides, padding) in enumerate([
            ([2, 6, 6, 3], [1, 2, 2, 1], [1, 2, 2, 1], [(0, 0)] * 4), ([1, 7, 5, 2], [1, 3, 3, 1], [1, 2, 1, 1],
                                                                      [(0, 0), (1, 1), (1, 0), (0, 0)]),
            ([9], [4], [1], [(2, 1)]), ([3, 4], [1, 1], [1, 1], [(0, 0)] * 2), ([2, 3, 40], [1, 1, 5], [1, 1, 5], [(0, 0)] * 3),
            ([0, 4], [1, 2], [1, 2], [(0, 0)] * 2)]):
        counts = [(extent + sum(pad) - window) // step + 1 if extent + sum(pad) >= window else 0
                  for extent, window, step, pad in zip(shape, size, strides, padding)]
        scalar, kind = f"tensor<{element}>", "SIGNED" if element[0] == "i" else "UNSIGNED" if element[0] == "u" else "FLOAT"
        kind = "UNSIGNED" if element == "i1" else kind
        pads = ", ".join(f"[{low}, {high}]" for low, high in padding)
        for direction in ("GE", "LT"):
            x, source = value(function, shape, element, case), value(function, counts, element, case + 9)
            initial = function.constant(literal(element, "add"), element)
            function.give(function.emit(
                f"\"stablehlo.select_and_scatter\"({x}, {source}, {initial}) <{{window_dimensions = array<i64: {str(size)[1:-1]}>, "
                f"window_strides = array<i64: {str(strides)[1:-1]}>, padding = dense<[{pads}]> : tensor<{len(shape)}x2xi64>}}> "
                f"({{\n    ^bb0(%a: {scalar}, %b: {scalar}):\n      %k = stablehlo.compare {direction}, %a, %b, {kind} : "
                f"({scalar}, {scalar}) -> tensor<i1>\n      stablehlo.return %k : tensor<i1>\n  }}, {body(['add'], element)[1:-1]}) : "
                f"({tensor(shape, element)}, {tensor(counts, element)}, {scalar}) -> {tensor(shape, element)}"), shape, element)
    function.assert_bits(tmp_path)


def comparator(elements, style):
    """Of the first of the tensors, of two one after the other, of a function of it, or none that is an order."""
    arguments = ", ".join(f"%{side}{i}: tensor<{element}>" for i, element in enumerate(elements) for side in "ab")
    scalar = f"tensor<{elements[0]}>"

    def compare(name, direction, left, right, i, total):
        of = f"tensor<{elements[i]}>"
        return (f"      %{name} = stablehlo.compare {direction}, {left}, {right}, {kind_of(elements[i], total)} : "
                f"({of}, {of}) -> tensor<i1>\n")

    if style in ("LT", "GT", "LE", "NE"):
        text = compare("r", style, "%a0", "%b0", 0, False)
    elif style == "total":
        text = compare("r", "LT", "%a0", "%b0", 0, True)
    elif style == "two":
        text = (compare("x", "GT", "%a0", "%b0", 0, True) + compare("e", "EQ", "%a0", "%b0", 0, True) +
                compare("y", "LT", "%a1", "%b1", 1, True) +
                "      %z = stablehlo.and %e, %y : tensor<i1>\n      %r = stablehlo.or %x, %z : tensor<i1>\n")
    else:
        text = (f"      %fa = stablehlo.maximum %a0, %low : {scalar}\n      %fb = stablehlo.maximum %b0, %low : {scalar}\n" +
                compare("r", "LT", "%fa", "%fb", 0, True))
    return f"({{\n    ^bb0({arguments}):\n{text}      stablehlo.return %r : tensor<i1>\n  }})"


@pytest.mark.parametrize("element", ELEMENTS)
def test_sort(element, tmp_path):
    function = Function()
    function.lines.append(f"  %low = stablehlo.constant dense<{literal(element, 'add')}> : tensor<{element}>")
    for case, (shape, axis) in enumerate([([7], 0), ([1], 0), ([0, 3], 0), ([3, 0], 1), ([5, 33], 1), ([33, 5], 0), ([2, 9, 3], 1),
                                          ([5000], 0), ([3, 1500], 1)]):
        array = drawn_values(shape, element, case)
        if element in ("f16", "f32", "f64") and array.size > 6:
            array.ravel()[:5] = [-0.0, 0.0, np.inf, -np.inf, 0.0]
            if case == 4:
                array.ravel()[40::7] = [-np.nan if i % 2 else np.nan for i in range(len(array.ravel()[40::7]))]
        if element in NUMPY:
            x = function.argument(array, element)
        else:
            x = value(function, shape, element, case)
        places = function.argument(np.arange(array.size, dtype=np.int32).reshape(shape) % 5, "i32")
        wide = value(function, shape, "f64", case)
        elements = [element, "i32", "f64"]
        kinds = ", ".join(tensor(shape, each) for each in elements)
        for style in ("LT", "GT", "total", "two", "function", "LE", "NE") if case in (0, 4, 5, 8) else ("LT", "two"):
            if style == "function" and case == 4:
                continue  # a NaN that was computed has any sign
            name = function.emit(f"\"stablehlo.sort\"({x}, {places}, {wide}) <{{dimension = {axis} : i64}}> "
                                 f"{comparator(elements, style)} : ({kinds}) -> ({kinds})")
            function.lines[-1] = function.lines[-1].replace(f"{name} =", f"{name}:3 =")
            for i, each in enumerate(elements):
                function.give(f"{name}#{i}", shape, each)
    function.assert_bits(tmp_path)
