"""Families of operations, compiled, beside the interpreter: rule C1's bits over types and shapes, none of them handed
back to the interpreter; convolutions within the bound of products."""
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest
from random_programs import tensor
from test_compiled import outputs
from test_legalize_chlo import samples

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
NARROW = {"f8E4M3FN": 8, "f8E5M2": 8, "f8E4M3": 8, "f8E3M4": 8, "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "f8E4M3B11FNUZ": 8,
          "f8E8M0FNU": 8, "f6E3M2FN": 6, "f6E2M3FN": 6, "f4E2M1FN": 4}
NUMPY = {"i1": np.bool_, "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "ui16": np.uint16, "i32": np.int32,
         "ui32": np.uint32, "i64": np.int64, "ui64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64}


class Function:
    """A function @main whose arguments have types of NumPy, and its text."""

    def __init__(self):
        self.arguments, self.arrays, self.lines, self.results, self.kinds = [], [], [], [], []

    def argument(self, array, element):
        self.arguments.append(f"%in{len(self.arrays)}: {tensor(array.shape, element)}")
        self.arrays.append(array)
        return f"%in{len(self.arrays) - 1}"

    def emit(self, text):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def convert(self, name, shape, before, after):
        return self.emit(f"stablehlo.convert {name} : ({tensor(shape, before)}) -> {tensor(shape, after)}")

    def constant(self, literal, element):
        return self.emit(f"stablehlo.constant dense<{literal}> : tensor<{element}>")

    def give(self, name, shape, element):
        """As a result of a type that files have: a narrow float as what it stands for, which tells codes apart."""
        if element in NARROW:
            name, element = self.convert(name, shape, element, "f32"), "f32"
        if element in ("i4", "ui4", "i2", "ui2"):
            name, element = self.convert(name, shape, element, "i8"), "i8"
        self.results.append(name)
        self.kinds.append(tensor(shape, element))

    def text(self):
        kinds = ", ".join(self.kinds)
        return (f"func.func @main({', '.join(self.arguments)}) -> ({kinds}) {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(self.results)} : {kinds}\n}}\n")

    def run(self, folder, backend):
        program = folder / "program.mlir"
        program.write_text(self.text())
        return outputs(program, self.arrays, folder, backend)

    def assert_all_is_compiled(self, folder):
        explained = subprocess.run([OCTAVO, "run", folder / "program.mlir", "--explain-compile", "--json"],
                                   capture_output=True, text=True)
        assert explained.returncode == 0, explained.stderr
        for function in json.loads(explained.stdout)["functions"]:
            assert function["compiled"] and not function["interpreted"], function["interpreted"]

    def assert_bits(self, folder):
        """The results, which both backends have."""
        wanted, found = self.run(folder, "reference"), self.run(folder, "compiled")
        for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), (self.results[i], self.kinds[i])
            if a.dtype.kind not in "iub":  # any NaN is as good as another; zeros have signs
                isnan = np.isnan(b)
                assert np.array_equal(isnan, np.isnan(a)), i
                a, b = np.where(isnan, 0, a), np.where(isnan, 0, b)
            different = np.flatnonzero(np.frombuffer(a.tobytes(), np.uint8) != np.frombuffer(b.tobytes(), np.uint8))
            assert different.size == 0, (
                f"{self.results[i]}: {a.ravel()[different[0] // a.itemsize]!r} and "
                f"{b.ravel()[different[0] // a.itemsize]!r} at {different[0] // a.itemsize}\n{self.text()[:4000]}")
        self.assert_all_is_compiled(folder)
        return found


def codes(function, element):
    """All codes of a narrow float as its elements, 256 of them."""
    numbers = np.arange(256, dtype=np.uint8)
    if NARROW[element] == 8:
        return function.emit(f"stablehlo.bitcast_convert {function.argument(numbers, 'ui8')} : "
                             f"(tensor<256xui8>) -> {tensor([256], element)}")
    finite = np.concatenate([np.linspace(-8, 8, 255), [-0.0]]).astype(np.float32)
    return function.convert(function.argument(finite, "f32"), [256], "f32", element)


def spread(element):
    """Values of a wider type, among them all that rounding to a narrow format could get wrong."""
    drawn = np.random.default_rng(3)
    if NUMPY[element] == np.bool_:
        return np.arange(4096) % 3 == 0
    if NUMPY[element] in (np.float32, np.float64, np.float16):
        bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[NUMPY[element]().itemsize]
        ties = [sign * (1 + k / 32) * 2.0**e for e in range(-24, 20) for k in range(32) for sign in (1, -1)]
        ties = np.array(ties, np.float64)
        with np.errstate(over="ignore"):
            exact = np.concatenate([ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf),
                                    [0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 2.0**-127, 1.5 * 2.0**-127, 2.0**-149, 2.0**127,
                                     1.5 * 2.0**127, 1e300]]).astype(NUMPY[element])
        return np.concatenate([exact, drawn.integers(0, np.iinfo(bits).max, 4096, dtype=bits).view(NUMPY[element])])
    limits = np.iinfo(NUMPY[element])
    return np.concatenate([drawn.integers(limits.min, limits.max, 2048, dtype=NUMPY[element], endpoint=True),
                           (drawn.integers(0, 60000, 2048) - (30000 if limits.min else 0)).astype(NUMPY[element]),
                           np.array([limits.min, limits.max, 0], NUMPY[element])])


@pytest.mark.parametrize("element", NARROW)
def test_conversions_of_narrow_floats(element, tmp_path):
    function = Function()
    x = codes(function, element)
    for other in [*NUMPY, *NARROW]:
        if other != element:
            function.give(function.convert(x, [256], element, other), [256], other)
    for other in NUMPY:
        values = spread(other)
        given = function.argument(values, other)
        function.give(function.convert(given, values.shape, other, element), values.shape, element)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_bits_of_floats_that_registers_widen(element, tmp_path):
    """Every code as a float and back, as the other float, and the bits of a computed one."""
    function = Function()
    every, shape = np.arange(2**16, dtype=np.uint16), [2**16]
    of = {name: tensor(shape, name) for name in ("ui16", "i16", "f16", "bf16")}

    def bits(name, before, after):
        return function.emit(f"stablehlo.bitcast_convert {name} : ({of[before]}) -> {of[after]}")
    number = bits(function.argument(every, "ui16"), "ui16", element)
    function.give(bits(number, element, "i16"), shape, "i16")
    function.give(function.convert(number, shape, element, "f32"), shape, "f32")
    other = "bf16" if element == "f16" else "f16"
    function.give(function.convert(bits(number, element, other), shape, other, "f32"), shape, "f32")
    kinds = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
    numbers = every[(every & 0x7FFF) <= {"f16": 0x7C00, "bf16": 0x7F80}[element]]  # which NaN arithmetic gives is not told
    few, of_few = tensor(numbers.shape, "ui16"), tensor(numbers.shape, element)
    number = function.emit(f"stablehlo.bitcast_convert {function.argument(numbers, 'ui16')} : ({few}) -> {of_few}")
    magnitude = function.emit(f"stablehlo.abs {number} : {of_few}")
    function.give(function.emit(f"stablehlo.bitcast_convert {magnitude} : ({of_few}) -> {few}"), numbers.shape, "ui16")
    found = function.assert_bits(tmp_path)
    np.testing.assert_array_equal(found[0], every.view(np.int16))
    np.testing.assert_array_equal(found[1], every.view(kinds[element]).astype(np.float32))
    np.testing.assert_array_equal(found[2], every.view(kinds[other]).astype(np.float32))
    np.testing.assert_array_equal(found[3], numbers & 0x7FFF)


@pytest.mark.parametrize("element", NARROW)
def test_arithmetic_of_narrow_floats(element, tmp_path):
    """Of every code with every code."""
    function = Function()
    x, shape = codes(function, element), [256, 256]
    of = tensor(shape, element)
    left, right = [function.emit(f"stablehlo.broadcast_in_dim {x}, dims = [{axis}] : ({tensor([256], element)}) -> {of}")
                   for axis in (0, 1)]
    if element != "f8E8M0FNU":
        for name in ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"):
            function.give(function.emit(f"stablehlo.{name} {left}, {right} : {of}"), shape, element)
        for name in ("negate", "abs", "sign", "sqrt", "rsqrt", "floor", "ceil", "round_nearest_even", "exponential",
                     "tanh"):
            function.give(function.emit(f"stablehlo.{name} {x} : {tensor([256], element)}"), [256], element)
    for direction in ("EQ", "NE", "LT", "GE"):
        for kind in ("FLOAT", "TOTALORDER"):
            less = function.emit(f"stablehlo.compare {direction}, {left}, {right}, {kind} : ({of}, {of}) -> "
                                 f"{tensor(shape, 'i1')}")
            function.give(less, shape, "i1")
    function.give(function.emit(f"stablehlo.select {less}, {left}, {right} : {tensor(shape, 'i1')}, {of}"), shape, element)
    function.assert_bits(tmp_path)


# Rows whose largest or smallest is a zero of either sign, or that have a NaN at some place, or infinities.
EXTREMES = np.array([[sign * each for each in row] for sign in (1, -1) for row in
                     [[-0.0] * 37, [0.0] * 37, [0.0] + [-0.0] * 36, [-0.0] * 36 + [0.0], [-1.0] * 20 + [-0.0] * 17,
                      [-1.0] * 20 + [-0.0] * 16 + [0.0], [*range(-30, 7)], [np.nan] + [5.0] * 36, [5.0] * 36 + [-np.nan],
                      [7.0] * 11 + [np.nan] + [-0.0] * 25, [-np.inf] * 37, [np.inf] + [0.0] * 36, [1e-45] * 5 + [-1e-45] * 32,
                      [np.inf] * 9 + [-np.nan] * 28]])


@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "f16"])
def test_largest_and_smallest(element, tmp_path):
    """Of rows, from initial values of all kinds on, and beside constants on either side."""
    function, shape = Function(), list(EXTREMES.shape)
    x = function.convert(function.argument(EXTREMES, "f64"), shape, "f64", element) if element != "f64" else \
        function.argument(EXTREMES, "f64")
    of = tensor(shape, element)

    def give(name, shape):
        is_bf16 = element == "bf16"
        function.give(function.convert(name, shape, element, "f32") if is_bf16 else name, shape, "f32" if is_bf16 else element)

    hexadecimal = {"f32": "0x{}{:07X}", "f64": "0x{}{:07X}00000000", "bf16": "0x{}{:03X}", "f16": "0x{}{:03X}"}[element]
    inf = {"f32": 0xF800000, "f64": 0xFF00000, "bf16": 0xF80, "f16": 0xC00}[element]
    bounds = ["0.0", "-0.0", "5.0", "-1.5", *[hexadecimal.format(each, inf) for each in "7F"]]
    bounds.append(hexadecimal.format("7", inf + {"f32": 0x400000, "f64": 0x80000, "bf16": 0x40, "f16": 0x200}[element]))
    for name in ("maximum", "minimum"):
        for bound in bounds:
            scalar = function.constant(bound, element)
            give(function.emit(f"stablehlo.reduce({x} init: {scalar}) applies stablehlo.{name} across dimensions = [1] : "
                               f"({of}, tensor<{element}>) -> {tensor(shape[:1], element)}"), shape[:1])
            wide = function.emit(f"stablehlo.broadcast_in_dim {scalar}, dims = [] : (tensor<{element}>) -> {of}")
            for sides in ((x, wide), (wide, x)):
                give(function.emit(f"stablehlo.{name} {', '.join(sides)} : {of}"), shape)
    low, high = function.constant("-0.0", element), function.constant("0.0", element)
    for a, b in ((low, high), (high, low), (low, low), (high, high)):
        give(function.emit(f"stablehlo.clamp {a}, {x}, {b} : (tensor<{element}>, {of}, tensor<{element}>) -> {of}"), shape)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ["i4", "ui4", "i2", "ui2"])
def test_integers_of_fewer_than_8_bits(element, tmp_path):
    function = Function()
    given = function.argument(np.arange(-128, 128).astype(np.int8), "i8")
    x, shape = function.convert(given, [256], "i8", element), [256, 256]
    of = tensor(shape, element)
    left, right = [function.emit(f"stablehlo.broadcast_in_dim {x}, dims = [{axis}] : ({tensor([256], element)}) -> {of}")
                   for axis in (0, 1)]
    for name in ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
                 "shift_left", "shift_right_logical", "shift_right_arithmetic"):
        function.give(function.emit(f"stablehlo.{name} {left}, {right} : {of}"), shape, element)
    for name in ("not", "popcnt", "count_leading_zeros", "negate", "abs", "sign"):
        if element[0] == "u" and name in ("negate", "abs", "sign"):
            continue
        function.give(function.emit(f"stablehlo.{name} {x} : {tensor([256], element)}"), [256], element)
    kind = "UNSIGNED" if element[0] == "u" else "SIGNED"
    function.give(function.emit(f"stablehlo.compare LT, {left}, {right}, {kind} : ({of}, {of}) -> {tensor(shape, 'i1')}"),
                  shape, "i1")
    for other in [*NUMPY, "f8E4M3FN", "f4E2M1FN"]:
        function.give(function.convert(x, [256], element, other), [256], other)
    for other in NUMPY:
        values = spread(other)
        function.give(function.convert(function.argument(values, other), values.shape, other, element), values.shape,
                      element)
    zero = function.constant(0, element)
    function.give(function.emit(f"stablehlo.reduce({left} init: {zero}) applies stablehlo.add across dimensions = [1] : "
                                f"({of}, tensor<{element}>) -> {tensor([256], element)}"), [256], element)
    function.assert_bits(tmp_path)


def drawn_values(shape, element, seed=0):
    drawn = np.random.default_rng(seed)
    kind = NUMPY.get(element, np.float32)
    if kind == np.bool_:
        return drawn.integers(0, 2, shape).astype(bool)
    if np.issubdtype(kind, np.integer):
        limits = np.iinfo(kind)
        return drawn.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)
    return (drawn.standard_normal(shape) * 4).astype(kind)


def value(function, shape, element, seed=0):
    array = drawn_values(shape, element, seed)
    if element in NUMPY:
        return function.argument(array, element)
    if element in ("i4", "ui4"):
        return function.convert(function.argument(drawn_values(shape, "i8", seed), "i8"), shape, "i8", element)
    return function.convert(function.argument(array, "f32"), shape, "f32", element)


ELEMENTS = [*NUMPY, "bf16", "f8E5M2", "f8E4M3FNUZ", "f4E2M1FN", "i4", "ui4"]
INITIAL = {"maximum": {"f": "-1.0", "i": "0"}, "minimum": {"f": "1.0", "i": "0"}, "add": {"f": "0.5", "i": "1"},
           "multiply": {"f": "1.0", "i": "1"}}


def literal(element, operation):
    if element == "i1":
        return "true" if operation in ("multiply", "minimum") else "false"
    return INITIAL[operation]["f" if element[0] in "fb" else "i"]


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


@pytest.mark.parametrize("left,right,result", [("i8", "i8", "i32"), ("i32", "i32", "i32"), ("ui8", "i8", "i32"), ("i4", "i4", "i8")])
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


def roundings(arrays, element, folder):
    """What the arrays are in another type."""
    function = Function()
    for array in arrays:
        kind = {np.dtype(np.float16): "f16", np.dtype(np.float32): "f32"}[array.dtype]
        name = function.argument(array, kind)
        if element != kind:
            name = function.convert(name, array.shape, kind, element)
        function.give(function.convert(name, array.shape, element, "f32"), array.shape, "f32")
    return function.run(folder, "reference")


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


def body(names, element, count=1):
    """A region of `count` arguments before and as many after: an operation of each pair, or what comes after."""
    scalar = f"tensor<{element}>"
    arguments = ", ".join(f"%{side}{i}: {scalar}" for side in "ab" for i in range(count))
    lines, results = [], []
    for i in range(count):
        result = f"%b{i}"
        for k, name in enumerate(names):
            lines.append(f"      %r{i}{k} = stablehlo.{name} %a{i}, {result} : {scalar}")
            result = f"%r{i}{k}"
        results.append(result)
    return (f"({{\n    ^bb0({arguments}):\n" + "\n".join(lines) +
            f"\n      stablehlo.return {', '.join(results)} : {', '.join([scalar] * count)}\n  }})")


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


def kind_of(element, total=False):
    if element[0] in "fb":
        return "TOTALORDER" if total else "FLOAT"
    return "UNSIGNED" if element[0] == "u" or element == "i1" else "SIGNED"


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


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_complex_numbers(part, tmp_path):
    """Arithmetic, data movement, sums and scatters, with infinities, NaN and both zeros among the parts."""
    function, element = Function(), f"complex<{part}>"
    parts = np.array([0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan, 1e-42, 3e38, 0.1, 7], NUMPY[part])
    shape = [121, 121]
    grid = [each.ravel() for each in np.meshgrid(parts, parts)]
    sides = []
    for axis in (0, 1):
        names = [function.argument(each, part) for each in grid]
        of, line = tensor(shape, element), tensor([121], element)
        number = function.emit(f"stablehlo.complex {names[0]}, {names[1]} : {line}")
        sides.append(function.emit(f"stablehlo.broadcast_in_dim {number}, dims = [{axis}] : ({line}) -> {of}"))

    def give(name, extents):
        for which in ("real", "imag"):
            function.give(function.emit(f"stablehlo.{which} {name} : ({tensor(extents, element)}) -> "
                                        f"{tensor(extents, part)}"), extents, part)

    for name in ("add", "subtract", "multiply", "divide"):
        give(function.emit(f"stablehlo.{name} {sides[0]}, {sides[1]} : {of}"), shape)
    give(function.emit(f"stablehlo.negate {number} : {line}"), [121])
    function.give(function.emit(f"stablehlo.abs {number} : ({line}) -> {tensor([121], part)}"), [121], part)
    for direction in ("EQ", "NE"):
        less = function.emit(f"stablehlo.compare {direction}, {sides[0]}, {sides[1]}, FLOAT : ({of}, {of}) -> "
                             f"{tensor(shape, 'i1')}")
        function.give(less, shape, "i1")
    give(function.emit(f"stablehlo.select {less}, {sides[0]}, {sides[1]} : {tensor(shape, 'i1')}, {of}"), shape)
    for other in ("f32", "f64", "i32", "i1", "f8E5M2"):
        function.give(function.convert(number, [121], element, other), [121], other)
        back = function.convert(function.argument(drawn_values([121], other), other) if other in NUMPY else
                                value(function, [121], other), [121], other, element)
        give(back, [121])
    zero = function.constant("(0.0, 0.0)", element)
    finite = [value(function, [9, 33], part, i) for i in range(2)]
    finite = function.emit(f"stablehlo.complex {finite[0]}, {finite[1]} : {tensor([9, 33], element)}")
    for name in ("add", "multiply"):
        give(function.emit(f"stablehlo.reduce({finite} init: {zero}) applies stablehlo.{name} across dimensions = [1] : "
                           f"({tensor([9, 33], element)}, tensor<{element}>) -> {tensor([9], element)}"), [9])
    give(function.emit(f"stablehlo.pad {finite}, {zero}, low = [1, 0], high = [0, 2], interior = [0, 1] : "
                       f"({tensor([9, 33], element)}, tensor<{element}>) -> {tensor([10, 67], element)}"), [10, 67])
    give(function.emit(f"stablehlo.concatenate {finite}, {finite}, dim = 1 : ({tensor([9, 33], element)}, "
                       f"{tensor([9, 33], element)}) -> {tensor([9, 66], element)}"), [9, 66])
    indices = function.argument(np.array([[1], [8], [1], [3]], np.int32), "i32")
    updates = function.emit(f"stablehlo.slice {finite} [0:4, 0:33] : ({tensor([9, 33], element)}) -> {tensor([4, 33], element)}")
    give(function.emit(
        f"\"stablehlo.scatter\"({finite}, {indices}, {updates}) <{{scatter_dimension_numbers = #stablehlo.scatter<"
        f"{SCATTERS[0][3]}>}}> {body(['add'], element)} : ({tensor([9, 33], element)}, tensor<4x1xi32>, "
        f"{tensor([4, 33], element)}) -> {tensor([9, 33], element)}"), [9, 33])
    function.assert_bits(tmp_path)


COMPLEX_FUNCTIONS = {
    "stablehlo.exponential": np.exp, "stablehlo.exponential_minus_one": np.expm1, "stablehlo.log": np.log,
    "stablehlo.log_plus_one": np.log1p, "stablehlo.logistic": lambda x: 1 / (1 + np.exp(-x)), "stablehlo.tanh": np.tanh,
    "stablehlo.sine": np.sin, "stablehlo.cosine": np.cos, "stablehlo.tan": np.tan, "stablehlo.sqrt": np.sqrt,
    "stablehlo.rsqrt": lambda x: 1 / np.sqrt(x), "stablehlo.cbrt": lambda x: np.abs(x)**(1 / 3) * np.exp(1j * np.angle(x) / 3),
    "stablehlo.sign": lambda x: np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x))),
    "chlo.acos": np.arccos, "chlo.acosh": np.arccosh, "chlo.asin": np.arcsin, "chlo.asinh": np.arcsinh,
    "chlo.atan": np.arctan, "chlo.atanh": np.arctanh, "chlo.cosh": np.cosh, "chlo.sinh": np.sinh, "chlo.square": np.square,
}


@pytest.mark.parametrize("name", COMPLEX_FUNCTIONS)
@pytest.mark.parametrize("part", ["f32", "f64"])
def test_functions_of_complex_numbers(name, part, tmp_path):
    """On and beside the axes, with infinities and NaN, and drawn ones, which NumPy computes, too."""
    function, element = Function(), f"complex<{part}>"
    special = np.array([0, -0.0, 1, -1, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e-42, -1e-8, 3e38, 89, 710], NUMPY[part])
    real, imaginary = (each.ravel() for each in np.meshgrid(special, special))
    drawn = np.random.default_rng(7).normal(0, 1.5, (2, 2000)).astype(NUMPY[part])
    real, imaginary = np.concatenate([real, drawn[0]]), np.concatenate([imaginary, drawn[1]])
    shape = [real.size]
    of = tensor(shape, element)
    sides = [function.argument(each, part) for each in (real, imaginary)]
    number = function.emit(f"stablehlo.complex {sides[0]}, {sides[1]} : {of}")
    value = function.emit(f"{name} {number} : {of}" + (f" -> {of}" if name.startswith("chlo") else ""))
    for which in ("real", "imag"):
        function.give(function.emit(f"stablehlo.{which} {value} : ({of}) -> {tensor(shape, part)}"), shape, part)
    found = function.assert_bits(tmp_path)
    with np.errstate(all="ignore"):
        expected = COMPLEX_FUNCTIONS[name](drawn[0].astype(np.complex128) + 1j * drawn[1])
    found = found[0][-2000:].astype(np.complex128) + 1j * found[1][-2000:]
    assert np.max(np.abs(found - expected) / np.abs(expected)) < (1e-6 if part == "f32" else 1e-13)


def complex_value(function, shape, part, seed=0):
    """Its name, and what it is to NumPy."""
    element = f"complex<{part}>"
    sides = [drawn_values(shape, part, seed + 100 * i) for i in range(2)]
    names = [function.argument(each, part) for each in sides]
    return (function.emit(f"stablehlo.complex {names[0]}, {names[1]} : {tensor(shape, element)}"),
            (sides[0] + 1j * sides[1].astype(np.complex128 if part == "f64" else np.complex64)))


def give_parts(function, name, shape, part):
    for which in ("real", "imag"):
        function.give(function.emit(f"stablehlo.{which} {name} : ({tensor(shape, f'complex<{part}>')}) -> {tensor(shape, part)}"),
                      shape, part)


def complex_results(found):
    return [np.asarray(real, np.float64) + 1j * imaginary for real, imaginary in zip(found[::2], found[1::2], strict=True)]


# Left, right, batching and contracting dimensions, and NumPy's notation.
COMPLEX_DOTS = [
    ([5, 33], [33, 7], "", "[1] x [0]", "mk,kn->mn"), ([1, 9], [9, 1], "", "[1] x [0]", "mk,kn->mn"),
    ([67, 300], [300, 19], "", "[1] x [0]", "mk,kn->mn"), ([40, 130], [3, 130], "", "[1] x [1]", "mk,nk->mn"),
    ([33, 21], [33, 8], "", "[0] x [0]", "km,kn->mn"), ([7], [7, 5], "", "[0] x [0]", "k,kn->n"),
    ([6, 7], [7], "", "[1] x [0]", "mk,k->m"), ([8], [8], "", "[0] x [0]", "k,k->"), ([3], [4], "", "[] x []", "m,n->mn"),
    ([3, 4, 16], [3, 16, 9], "batching_dims = [0] x [0], ", "[2] x [1]", "bmk,bkn->bmn"),
    ([5, 2, 3, 4], [2, 4, 5, 6], "batching_dims = [1, 0] x [0, 2], ", "[3] x [1]", "cbmk,bkcn->bcmn"),
    ([2, 6, 3, 5], [5, 6, 7], "", "[1, 3] x [1, 0]", "akbl,lkn->abn"),
    ([3, 0], [0, 4], "", "[1] x [0]", "mk,kn->mn"), ([0, 5], [5, 2], "", "[1] x [0]", "mk,kn->mn"),
    ([2, 3, 4], [2, 4, 0], "batching_dims = [0] x [0], ", "[2] x [1]", "bmk,bkn->bmn"),
]


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_dots_of_complex_numbers(part, tmp_path):
    """NumPy's within n ulp of the sum of magnitudes."""
    function, wanted = Function(), []
    unit = 2.0**-24 if part == "f32" else 2.0**-53
    for case, (left, right, batching, contracting, notation) in enumerate(COMPLEX_DOTS):
        (x, a), (y, b) = complex_value(function, left, part, case), complex_value(function, right, part, case + 50)
        exact = np.einsum(notation, a.astype(np.complex128), b.astype(np.complex128))
        kinds = [tensor(shape, f"complex<{part}>") for shape in (left, right, exact.shape)]
        name = function.emit(f"stablehlo.dot_general {x}, {y}, {batching}contracting_dims = {contracting} : "
                             f"({kinds[0]}, {kinds[1]}) -> {kinds[2]}")
        give_parts(function, name, list(exact.shape), part)
        wanted.append((exact, np.einsum(notation, np.abs(a), np.abs(b)).astype(np.float64) * 4 * unit * max(*left, *right, 1)))
    # To a wider type, and read through a transpose and a slice.
    (x, _), (y, _) = complex_value(function, [9, 40], part, 7), complex_value(function, [40, 12], part, 8)
    name = function.emit(f"stablehlo.dot_general {x}, {y}, contracting_dims = [1] x [0] : "
                         f"({tensor([9, 40], f'complex<{part}>')}, {tensor([40, 12], f'complex<{part}>')}) -> "
                         "tensor<9x12xcomplex<f64>>")
    give_parts(function, name, [9, 12], "f64")
    (x, a), (y, b) = complex_value(function, [40, 9], part, 9), complex_value(function, [50, 12], part, 10)
    of = [tensor(shape, f"complex<{part}>") for shape in ([40, 9], [9, 40], [50, 12], [40, 12], [9, 12])]
    x = function.emit(f"stablehlo.transpose {x}, dims = [1, 0] : ({of[0]}) -> {of[1]}")
    y = function.emit(f"stablehlo.slice {y} [10:50, 0:12] : ({of[2]}) -> {of[3]}")
    name = function.emit(f"stablehlo.dot_general {x}, {y}, contracting_dims = [1] x [0] : ({of[1]}, {of[3]}) -> {of[4]}")
    give_parts(function, function.emit(f"stablehlo.multiply {name}, {name} : {of[4]}"), [9, 12], part)
    for found, (exact, bound) in zip(complex_results(function.assert_bits(tmp_path)), wanted):
        assert found.shape == exact.shape and (np.abs(found - exact) <= bound).all()


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_convolutions_of_complex_numbers(part, tmp_path):
    """Beside those of the parts in f64."""
    function, parts = Function(), Function()
    for case, each in enumerate(CONVOLUTIONS):
        shape, kernel, numbers, window, groups, batch_groups = each
        sides = [complex_value(function, extents, part, case + i) for i, extents in enumerate((shape, kernel))]
        names = {}
        for left, right in ((0, 0), (1, 1), (0, 1), (1, 0)):
            arrays = [np.asarray((side[1].real, side[1].imag)[which], np.float64) for side, which in zip(sides, (left, right))]
            given = [parts.argument(array, "f64") for array in arrays]
            text, extents = convolution_of(*given, each, "f64", "f64", "f64")
            names[left, right] = parts.emit(text)
        of = tensor(extents, "f64")
        parts.give(parts.emit(f"stablehlo.subtract {names[0, 0]}, {names[1, 1]} : {of}"), extents, "f64")
        parts.give(parts.emit(f"stablehlo.add {names[0, 1]}, {names[1, 0]} : {of}"), extents, "f64")
        text, extents = convolution_of(sides[0][0], sides[1][0], each, *[f"complex<{part}>"] * 3)
        give_parts(function, function.emit(text), extents, part)
    function.assert_bits(tmp_path)
    found, exact = (complex_results(each.run(tmp_path, backend)) for each, backend in ((function, "compiled"), (parts, "reference")))
    for i, (a, b) in enumerate(zip(found, exact, strict=True)):
        depth = int(np.prod(CONVOLUTIONS[i][1]))  # of values of 4, about
        assert a.shape == b.shape and (np.abs(a - b) <= depth * (1e-4 if part == "f32" else 1e-12)).all(), i


def matrix_value(function, array, element):
    """A matrix of any float or complex type: its name, and what it is in f64."""
    if element.startswith("complex"):
        part = element[8:-1]
        parts = [np.ascontiguousarray(each, NUMPY[part]) for each in (array.real, array.imag)]
        names = [function.argument(each, part) for each in parts]
        return (function.emit(f"stablehlo.complex {names[0]}, {names[1]} : {tensor(array.shape, element)}"),
                parts[0] + 1j * parts[1].astype(np.float64))
    if element in ("f32", "f64"):
        return function.argument(array.real.astype(NUMPY[element]), element), array.real.astype(NUMPY[element]).astype(np.float64)
    name = function.argument(array.real.astype(np.float32), "f32")
    return function.convert(name, array.shape, "f32", element), array.real


def give_matrix(function, name, shape, element):
    if element.startswith("complex"):
        give_parts(function, name, shape, element[8:-1])
    elif element == "bf16":
        function.give(function.convert(name, shape, element, "f32"), shape, "f32")
    else:
        function.give(name, shape, element)


MATRIX_ELEMENTS = ["f32", "f64", "complex<f32>", "complex<f64>", "bf16", "f16", "f8E4M3FN"]
MATRIX_ERRORS = {"f32": 2e-7, "f64": 1e-13, "complex<f32>": 2e-7, "complex<f64>": 1e-13}


def drawn_matrix(shape, seed):
    drawn = np.random.default_rng(seed)
    return drawn.standard_normal(shape) + 1j * drawn.standard_normal(shape)


@pytest.mark.parametrize("element", MATRIX_ELEMENTS)
def test_cholesky(element, tmp_path):
    """Of either triangle, with anything in the other one; NaN of what is not positive definite. NumPy's factors beside them."""
    function, wanted = Function(), []
    for case, shape in enumerate([[1, 1], [2, 2], [5, 5], [3, 8, 8], [2, 2, 33, 33], [70, 70], [0, 0], [2, 0, 0], [0, 3, 3]]):
        n = shape[-1]
        for lower in (True, False):
            m = drawn_matrix(shape, case)
            if not element.startswith("complex"):
                m = m.real
            a = m @ np.conj(np.swapaxes(m, -1, -2)) / max(n, 1) + np.eye(n)
            given = np.where(np.tril(np.ones((n, n))) > 0 if lower else np.triu(np.ones((n, n))) > 0, a, 77)
            if case == 3:
                given[1, 4, 4] = -1
            if case == 4:
                given[1, 0, 0, 0] = np.nan
            name, exact = matrix_value(function, given + 0j if element.startswith("complex") else given, element)
            of = tensor(shape, element)
            result = function.emit(f"stablehlo.cholesky {name}, lower = {str(lower).lower()} : {of}" if lower else
                                   f"stablehlo.cholesky {name} : {of}")
            give_matrix(function, result, shape, element)
            if element in MATRIX_ERRORS and exact.size and case not in (3, 4):
                full = np.tril(exact) if lower else np.conj(np.swapaxes(np.triu(exact), -1, -2))
                full = full + np.conj(np.swapaxes(np.tril(full, -1), -1, -2))
                factor = np.linalg.cholesky(full)
                wanted.append(factor if lower else np.conj(np.swapaxes(factor, -1, -2)))
            else:
                wanted.append(None)
    found = function.assert_bits(tmp_path)
    found = complex_results(found) if element.startswith("complex") else found
    for a, b in zip(found, wanted, strict=True):
        if b is not None:
            assert np.max(np.abs(a - b)) <= MATRIX_ERRORS[element] * max(1, np.max(np.abs(b)))
    assert np.isnan(found[6][1]).any() and not np.isnan(found[6][0]).any() and not np.isnan(found[6][2]).any()


SYSTEMS = [(left, lower, unit, form) for left in (True, False) for lower in (True, False) for unit in (True, False)
           for form in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")]


@pytest.mark.parametrize("element", MATRIX_ELEMENTS)
def test_triangular_solve(element, tmp_path):
    """From each side, of each form, with NaN in the triangle that is not read; multiplied back in f64."""
    function, checks = Function(), []
    for number, (left, lower, unit, form) in enumerate(SYSTEMS):
        shapes = [((), 5, 3), ((2,), 9, 1), ((), 33, 17), ((3, 2), 4, 8), ((), 1, 1)][:5 if number % 4 == 0 else 3]
        for batch, n, others in [*shapes, ((), 0, 4), ((), 4, 0), ((0,), 3, 3)][:None if number % 8 == 0 else 3]:
            a = drawn_matrix([*batch, n, n], number) / max(n, 1) + 2 * np.eye(n)
            b = drawn_matrix([*batch, n, others] if left else [*batch, others, n], number + 100)
            a = np.where(np.tril(np.ones((n, n)), -1 if unit else 0) > 0 if lower
                         else np.triu(np.ones((n, n)), 1 if unit else 0) > 0, a, np.nan)
            if not element.startswith("complex"):
                a, b = a.real, b.real
            (x, exact), (y, right) = (matrix_value(function, each, element) for each in (a, b))
            kinds = tensor(a.shape, element), tensor(b.shape, element)
            name = function.emit(
                f"\"stablehlo.triangular_solve\"({x}, {y}) {{left_side = {str(left).lower()}, lower = {str(lower).lower()}, "
                f"unit_diagonal = {str(unit).lower()}, transpose_a = #stablehlo<transpose {form}>}} : ({kinds[0]}, {kinds[1]}) -> "
                f"{kinds[1]}")
            give_matrix(function, name, list(b.shape), element)
            read = np.nan_to_num(exact) + (np.eye(n) if unit else 0)
            read = {"NO_TRANSPOSE": read, "TRANSPOSE": np.swapaxes(read, -1, -2),
                    "ADJOINT": np.conj(np.swapaxes(read, -1, -2))}[form]
            checks.append((left, read, right))
    found = function.assert_bits(tmp_path)
    for x, (left, a, b) in zip(complex_results(found) if element.startswith("complex") else found, checks, strict=True):
        assert x.shape == b.shape and not np.isnan(x).any()
        if element in MATRIX_ERRORS and x.size:
            back = a @ x if left else x @ a
            assert np.max(np.abs(back - b)) <= 8 * MATRIX_ERRORS[element] * max(1, np.max(np.abs(x)))


# Extents of an operand of as many numbers as are transformed, and how many axes are.
TRANSFORMS = [([1], 1), ([2], 1), ([7], 1), ([64], 1), ([100], 1), ([3, 31], 1), ([9, 12], 1), ([17, 30], 1), ([2, 8, 45], 1),
              ([6, 10], 2), ([3, 7, 4], 2), ([2, 3, 1, 9], 2), ([4, 5, 6], 3), ([2, 3, 4, 5], 3), ([4, 0], 1), ([0, 4], 1),
              ([3, 0, 2], 2), ([1025], 1)]


@pytest.mark.parametrize("part", ["f32", "f64"])
@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
def test_fft(kind, part, tmp_path):
    """NumPy's transforms beside them; zeros of either sign among the numbers."""
    function, wanted = Function(), []
    for case, (shape, axes) in enumerate(TRANSFORMS):
        half = [*shape[:-1], shape[-1] // 2 + 1 if shape[-1] else 0]
        before, after = (shape, half) if kind == "RFFT" else (half, shape) if kind == "IRFFT" else (shape, shape)
        if kind == "RFFT":
            exact = np.round(drawn_values(before, part, case), 1)
            name, exact = function.argument(exact, part), exact.astype(np.float64)
        else:
            numbers = drawn_matrix(before, case)
            numbers = np.where(np.abs(numbers.real) < 0.3, -0.0 * numbers.real + 1j * numbers.imag, numbers)
            name, exact = matrix_value(function, numbers, f"complex<{part}>")
        operand, result = (part if real else f"complex<{part}>" for real in (kind == "RFFT", kind == "IRFFT"))
        name = function.emit(f"stablehlo.fft {name}, type = {kind}, length = {shape[-axes:]} : "
                             f"({tensor(before, operand)}) -> {tensor(after, result)}")
        give_matrix(function, name, after, result)
        of = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}[kind]
        wanted.append(of(exact, shape[-axes:], range(len(shape) - axes, len(shape))) if exact.size else np.zeros(after))
    found = function.assert_bits(tmp_path)
    for i, (a, b) in enumerate(zip(found if kind == "IRFFT" else complex_results(found), wanted, strict=True)):
        assert a.shape == b.shape and np.allclose(a, b, rtol=0, atol=(1e-6 if part == "f32" else 1e-13) * np.max(np.abs(b), initial=1)), i


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_two_complex_numbers(part, tmp_path):
    """Powers, angles, the larger and the smaller one, and every order: by the real part, then by the imaginary part."""
    function, element = Function(), f"complex<{part}>"
    parts = np.array([0, -0.0, 1, -2.5, np.inf, -np.inf, np.nan, 0.1, 7], NUMPY[part])
    grid = [each.ravel() for each in np.meshgrid(parts, parts)]
    shape = [81, 81]
    of, line = tensor(shape, element), tensor([81], element)
    names = [function.argument(each, part) for each in grid]
    number = function.emit(f"stablehlo.complex {names[0]}, {names[1]} : {line}")
    sides = [function.emit(f"stablehlo.broadcast_in_dim {number}, dims = [{axis}] : ({line}) -> {of}") for axis in (0, 1)]
    for name in ("power", "atan2", "maximum", "minimum"):
        value = function.emit(f"stablehlo.{name} {sides[0]}, {sides[1]} : {of}")
        for which in ("real", "imag"):
            function.give(function.emit(f"stablehlo.{which} {value} : ({of}) -> {tensor(shape, part)}"), shape, part)
    for direction in ("LT", "LE", "GT", "GE"):
        function.give(function.emit(f"stablehlo.compare {direction}, {sides[0]}, {sides[1]}, FLOAT : ({of}, {of}) -> "
                                    f"{tensor(shape, 'i1')}"), shape, "i1")
    found = function.assert_bits(tmp_path)
    numbers = list(zip(*(each.tolist() for each in grid), strict=True))
    with np.errstate(all="ignore"):
        for axis0, axis1 in np.ndindex(81, 81):
            x, y = numbers[axis0], numbers[axis1]
            if not any(map(np.isnan, x + y)):
                assert [bool(each[axis0, axis1]) for each in found[8:]] == [x < y, x <= y, x > y, x >= y]
                assert (found[4][axis0, axis1], found[5][axis0, axis1]) == max(x, y)
                assert (found[6][axis0, axis1], found[7][axis0, axis1]) == min(x, y)
                if x == (7, 1) and y == (1, -2.5):
                    power = found[0][axis0, axis1] + 1j * found[1][axis0, axis1]
                    assert np.isclose(power, complex(*x)**complex(*y), rtol=1e-5)


@pytest.mark.parametrize("element", ["f32", "f64"])
def test_next_after(element, tmp_path):
    x, y = samples(np.random.default_rng(16), NUMPY[element])
    function = Function()
    names = [function.argument(each, element) for each in (x, y)]
    of = tensor(x.shape, element)
    function.give(function.emit(f"\"chlo.next_after\"({', '.join(names)}) : ({of}, {of}) -> {of}"), x.shape, element)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ["f32", "bf16", "i32", "ui8", "f8E4M3FN"])
def test_top_k(element, tmp_path):
    function = Function()
    for case, (shape, k) in enumerate([([33], 5), ([3, 40], 40), ([2, 2, 7], 1), ([4, 9], 0), ([2, 3000], 50)]):
        x = value(function, shape, element, case)
        result = [*shape[:-1], k]
        name = function.emit(f"chlo.top_k({x}, k = {k}) : {tensor(shape, element)} -> ({tensor(result, element)}, "
                             f"{tensor(result, 'i32')})")
        function.lines[-1] = function.lines[-1].replace(f"{name} =", f"{name}:2 =")
        function.give(f"{name}#0", result, element)
        function.give(f"{name}#1", result, "i32")
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_reduced_precision(element, tmp_path):
    function = Function()
    values = spread("f32" if element == "bf16" else element)
    x = function.argument(values, "f32" if element == "bf16" else element)
    if element == "bf16":
        x = function.convert(x, values.shape, "f32", element)
    for exponent, mantissa in [(8, 7), (5, 10), (5, 2), (4, 3), (1, 0), (2, 1), (11, 52), (8, 23), (15, 60), (3, 0), (8, 0)]:
        name = function.emit(f"stablehlo.reduce_precision {x}, format = e{exponent}m{mantissa} : {tensor(values.shape, element)}")
        if element == "bf16":
            name = function.convert(name, values.shape, element, "f32")
        function.give(name, values.shape, "f32" if element == "bf16" else element)
    function.assert_bits(tmp_path)


# Shape and feature axis.
FEATURES = [([4, 3], 1), ([2, 3, 5, 4], 1), ([2, 5, 4, 3], 3), ([3, 9], 0), ([5], 0), ([0, 3], 1), ([2, 300, 7], 2)]
BATCH_NORM_ELEMENTS = ["f16", "bf16", "f32", "f64", "f8E5M2", "f8E4M3FNUZ", "f8E4M3FN"]


def batch_norm(function, name, case, element, results):
    """The operation of drawn values, the variances among them not negative."""
    shape, feature = FEATURES[case]
    operands = {"inference": "xlllv", "training": "xll", "grad": "xllvx"}[name]
    names, kinds = [], []
    for i, which in enumerate(operands):
        extents = shape if which == "x" else [shape[feature]]
        names.append(value(function, extents, element, 7 * case + i))
        kinds.append(tensor(extents, element))
        if which == "v":
            names[-1] = function.emit(f"stablehlo.abs {names[-1]} : {kinds[-1]}")
    of = [tensor(shape, element), *[tensor([shape[feature]], element)] * (results - 1)]
    given = of[0] if results == 1 else f"({', '.join(of)})"
    found = function.emit(f"\"stablehlo.batch_norm_{name}\"({', '.join(names)}) {{epsilon = 1.0e-3 : f32, "
                          f"feature_index = {feature} : i64}} : ({', '.join(kinds)}) -> {given}")
    if results == 1:
        function.give(found, shape, element)
        return
    function.lines[-1] = function.lines[-1].replace(f"{found} =", f"{found}:{results} =")
    for i in range(results):
        function.give(f"{found}#{i}", shape if i == 0 else [shape[feature]], element)


@pytest.mark.parametrize("element", BATCH_NORM_ELEMENTS)
def test_batch_norm_inference(element, tmp_path):
    function = Function()
    for case in range(len(FEATURES)):
        batch_norm(function, "inference", case, element, 1)
    function.assert_bits(tmp_path)


@pytest.mark.parametrize("name", ["training", "grad"])
@pytest.mark.parametrize("element", BATCH_NORM_ELEMENTS)
def test_batch_norm_sums(element, name, tmp_path):
    """Sums of f64 in another order: of f64 what they are off by, else a rounding that falls on the other side of a tie."""
    function = Function()
    for case in range(len(FEATURES)):
        batch_norm(function, name, case, element, 3)
    ulp = {"f64": 2.0**-44, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}.get(element, 0.25)
    wanted, found = function.run(tmp_path, "reference"), function.run(tmp_path, "compiled")
    different = total = 0
    for a, b in zip(found, wanted, strict=True):
        largest = np.max(np.abs(b), initial=0, where=np.isfinite(b))
        np.testing.assert_allclose(a, b, rtol=ulp, atol=2.0**-44 * float(largest))
        different += np.count_nonzero((a != b) & ~(np.isnan(a) & np.isnan(b)))
        total += b.size
    assert element == "f64" or different <= total / 1000
    function.assert_all_is_compiled(tmp_path)


# States whose counters carry into the next word, and into nothing.
STATES = [[0, 0], [5, 2**64 - 2], [2**64 - 1, 2**32 - 1], [1, 2, 3], [5, 2**64 - 1, 11], [7, 2**64 - 3, 2**64 - 1]]


@pytest.mark.parametrize("algorithm", ["THREE_FRY", "PHILOX", "DEFAULT"])
@pytest.mark.parametrize("element", [*(each for each in NUMPY if each != "i1"), "bf16", "i2", "i4", "ui2", "ui4", *NARROW])
def test_random_bits(element, algorithm, tmp_path):
    """Both results, of extents that are odd, even and none, and of more than one thread takes at a time."""
    function = Function()
    shapes = [[], [1], [7], [2, 3], [3, 2], [3, 5, 3], [1, 1], [0], [3, 0], [4, 0, 3], [40, 151, 3]]
    for case, shape in enumerate(shapes):
        state = STATES[case % (3 if algorithm == "THREE_FRY" else 6)]
        state = function.argument(np.array(state, np.uint64), "ui64")
        of = tensor(function.arrays[-1].shape, "ui64")
        name = function.emit(f"stablehlo.rng_bit_generator {state}, algorithm = {algorithm} : ({of}) -> "
                             f"({of}, {tensor(shape, element)})")
        function.lines[-1] = function.lines[-1].replace(f"{name} =", f"{name}:2 =")
        function.give(f"{name}#0", function.arrays[-1].shape, "ui64")
        bits = f"{name}#1"
        if element in ("f32", "f64"):  # the bits of a NaN count, too
            of = f"ui{element[1:]}"
            bits = function.emit(f"stablehlo.bitcast_convert {bits} : ({tensor(shape, element)}) -> {tensor(shape, of)}")
            function.give(bits, shape, of)
        elif element == "bf16":
            function.give(function.convert(bits, shape, element, "f32"), shape, "f32")
        else:
            function.give(bits, shape, element)
    function.assert_bits(tmp_path)


def test_random_bits_in_a_loop(tmp_path):
    """Dropout's: a state that a loop carries, the sum of what is drawn."""
    function = Function()
    state = function.argument(np.array([3, 2**64 - 40], np.uint64), "ui64")
    function.lines.append(f"""  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<5x9xui32>
  %r:3 = stablehlo.while(%i = %zero, %s = {state}, %sum = %none) : tensor<i32>, tensor<2xui64>, tensor<5x9xui32>
   cond {{
    %end = stablehlo.constant dense<4> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %t, %bits = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x9xui32>)
    %more = stablehlo.add %sum, %bits : tensor<5x9xui32>
    stablehlo.return %next, %t, %more : tensor<i32>, tensor<2xui64>, tensor<5x9xui32>
  }}""")
    function.give("%r#1", [2], "ui64")
    function.give("%r#2", [5, 9], "ui32")
    function.assert_bits(tmp_path)


def test_steps_in_a_loop_write_into_what_it_carries(tmp_path):
    """A scatter into one of two tensors that change places, a sort and a convolution of the other."""
    function = Function()
    x, y = value(function, [1, 9, 4], "i32", 1), value(function, [1, 9, 4], "i32", 2)
    of = "tensor<1x9x4xi32>"
    function.lines.append(f"""  %zero = stablehlo.constant dense<0> : tensor<i32>
  %w = stablehlo.constant dense<[[[1, 2, 0, 1], [0, 1, 3, 0], [2, 0, 1, 1], [1, 1, 0, 2]]]> : tensor<1x4x4xi32>
  %at = stablehlo.constant dense<[[0, 1], [0, 8], [0, 1]]> : tensor<3x2xi32>
  %r:3 = stablehlo.while(%i = %zero, %a = {x}, %b = {y}) : tensor<i32>, {of}, {of}
   cond {{
    %end = stablehlo.constant dense<5> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %c = stablehlo.convolution(%b, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({of}, tensor<1x4x4xi32>) -> {of}
    %s = "stablehlo.sort"(%c) <{{dimension = 1 : i64}}> ({{
    ^bb0(%l: tensor<i32>, %g: tensor<i32>):
      %less = stablehlo.compare LT, %l, %g, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    }}) : ({of}) -> {of}
    %u = stablehlo.slice %s [0:1, 0:3, 0:4] : ({of}) -> tensor<1x3x4xi32>
    %v = stablehlo.reshape %u : (tensor<1x3x4xi32>) -> tensor<3x4xi32>
    %n = "stablehlo.scatter"(%a, %at, %v) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}}> ({{
    ^bb0(%l: tensor<i32>, %g: tensor<i32>):
      %sum = stablehlo.add %l, %g : tensor<i32>
      stablehlo.return %sum : tensor<i32>
    }}) : ({of}, tensor<3x2xi32>, tensor<3x4xi32>) -> {of}
    stablehlo.return %next, %s, %n : tensor<i32>, {of}, {of}
  }}""")
    function.give("%r#1", [1, 9, 4], "i32")
    function.give("%r#2", [1, 9, 4], "i32")
    function.assert_bits(tmp_path)


SCALED = {
    "mxfp8_e4m3": ("f8E4M3FN", "scale f8E8M0FNU, block [1, 32]"), "mxfp4": ("f4E2M1FN", "scale f8E8M0FNU, block [1, 32]"),
    "mxfp6_e3m2": ("f6E3M2FN", "scale f8E8M0FNU, block [1, 32]"), "mxint8": ("i8", "scale f8E8M0FNU, block [1, 32]"),
    "nvfp4": ("f4E2M1FN", "scale f8E4M3FN, block [1, 16], outer f32"), "rows": ("f8E5M2", "scale bf16, block [1, 70]"),
    "blocks": ("f8E4M3FN", "scale f32, block [2, 32]"),
}


@pytest.mark.parametrize("name", SCALED)
def test_scaled_tensors_and_their_parts(name, tmp_path):
    """Quantized, dequantized and taken apart; of parts again. Ragged: 5 rows of 70."""
    function = Function()
    element, rest = SCALED[name]
    scaled = f"!octavo.scaled<5x70x{element}, {rest}>"
    block = [int(n) for n in rest.split("block [")[1].split("]")[0].split(", ")]
    grid = tensor([-(-5 // block[0]), -(-70 // block[1])], rest.split()[1].rstrip(","))
    drawn = np.random.default_rng(2).normal(0, 3, (5, 70)).astype(np.float32)
    drawn[1] *= 1e-3
    drawn[2, :40] = 0
    rule = "floor" if "f8E8M0FNU" in rest else "nearest"
    x = function.argument(drawn, "f32")
    quantized = function.emit(f"octavo.quantize {x}, rule = {rule} : tensor<5x70xf32> -> {scaled}")
    back = function.emit(f"octavo.dequantize {quantized} : {scaled} -> tensor<5x70xf32>")
    function.give(back, [5, 70], "f32")
    parts = [tensor([5, 70], element), grid, *(["tensor<f32>"] if "outer" in rest else [])]
    names = [f"%part{i}" for i in range(len(parts))]
    function.lines.append(f"  {', '.join(names)} = octavo.unpack {quantized} : ({scaled}) -> ({', '.join(parts)})")
    function.give(names[0], [5, 70], element)
    again = function.emit(f"octavo.pack {', '.join(names)} : ({', '.join(parts)}) -> {scaled}")
    function.give(function.emit(f"octavo.dequantize {again} : {scaled} -> tensor<5x70xf32>"), [5, 70], "f32")
    first, elements, second = function.assert_bits(tmp_path)
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - drawn).max() < np.abs(drawn).max() / 3 and not first[2, :32].any() and elements.any()
