"""Products of scaled tensors in batches, compiled: values whose sums every order gives exactly, beside NumPy and the
interpreter, none of them handed back to it."""
import json
import math
import subprocess

import numpy as np
import pytest
from compiled_function import OCTAVO, Function
from random_programs import tensor

pytestmark = pytest.mark.mlir

#        element, scale, its block along what is contracted (None: all there is), outer scale, quantization that is exact
FORMATS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32, None, "rule = floor"),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32, None, "rule = floor"),
    "mxint8": ("i8", "f8E8M0FNU", 32, None, "rule = floor"),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16, 0.25, "rule = nearest, amax = 2.688000e+03"),
    "fp8 by rows": ("f8E4M3FN", "f32", 64, None, None),
    "int8 by rows": ("i8", "f32", 64, None, None),
    "fp8 by tensor": ("f8E4M3FN", "f32", None, None, "rule = nearest, amax = 4.480000e+02"),
}
DEPTH = 64
#        batch, free axes of the left and of the right side, whether the right side is [depth, columns]
SHAPES = [((3,), (5,), (7,), False), ((3,), (5,), (33,), True), ((1,), (1,), (20,), False), ((2, 3), (40,), (16,), False),
          ((2, 3), (), (9,), False), ((4,), (2, 3), (3, 5), False), ((2,), (17,), (2, 9), True), ((0,), (3,), (4,), False)]


class Scaled:
    """A tensor [batch, free, depth], or [batch, depth, free], of small whole numbers under powers of two."""

    def __init__(self, drawn, name, batch, free, is_transposed):
        self.element, self.scale, along, outer, _ = FORMATS[name]
        order = [*batch, DEPTH, *free] if is_transposed else [*batch, *free, DEPTH]
        self.block = order if along is None else [1] * len(order)
        if along is not None:
            self.block[len(batch) if is_transposed else -1] = along
        self.shape = order
        self.numbers = drawn.integers(-4, 5, order).astype(np.float32)
        grid = [-(-n // b) if b else 0 for n, b in zip(order, self.block)]
        self.scales = np.exp2(drawn.integers(-2, 3, grid)).astype(np.float32)
        self.outer = outer

    def type(self):
        block = ", ".join(map(str, self.block))
        rest = ", outer f32" if self.outer else ""
        return f"!octavo.scaled<{'x'.join(map(str, self.shape))}x{self.element}, scale {self.scale}, block [{block}]{rest}>"

    def values(self):
        """As [batch, free, depth] or [batch, depth, free]; an element of int8 is its code over 64."""
        scales = self.scales
        for axis, extent in enumerate(self.block):
            scales = np.repeat(scales, extent, axis)
        values = self.numbers.astype(np.float64) / (64 if self.element == "i8" else 1)
        return values * scales[tuple(map(slice, self.shape))] * (self.outer or 1)

    def packed(self, function):
        def part(array, element):
            if element == "f32":
                return function.argument(array, element)
            if element == "i8":
                return function.argument(array.astype(np.int8), element)
            return function.convert(function.argument(array, "f32"), array.shape, "f32", element)

        parts = [part(self.numbers, self.element), part(self.scales, self.scale)]
        kinds = [tensor(self.shape, self.element), tensor(self.scales.shape, self.scale)]
        if self.outer:
            parts.append(function.argument(np.float32(self.outer), "f32"))
            kinds.append("tensor<f32>")
        return function.emit(f"octavo.pack {', '.join(parts)} : ({', '.join(kinds)}) -> {self.type()}")


def product(function, left, kind, right, batch, is_transposed):
    axes = list(range(len(batch)))
    shape = [*batch, *left.shape[len(batch):-1], *(right.shape[len(batch) + 1:] if is_transposed else right.shape[len(batch):-1])]
    dims = f"batching_dims = {axes} x {axes}, " if axes else ""
    result = function.emit(
        f"octavo.dot_general {kind[0]}, {right.packed(function)}, {dims}contracting_dims = [{len(left.shape) - 1}] x "
        f"[{len(batch) if is_transposed else len(right.shape) - 1}] : ({kind[1]}, {right.type()}) -> {tensor(shape, 'f32')}")
    function.give(result, shape, "f32")


def wanted(left, right, batch, is_transposed):
    count, columns = math.prod(batch), math.prod(right.shape[len(batch):]) // DEPTH
    b = right.reshape(count, DEPTH, columns) if is_transposed else right.reshape(count, columns, DEPTH).swapaxes(1, 2)
    return left.reshape(count, math.prod(left.shape[len(batch):-1]), DEPTH) @ b


LEFTS = ["f32", "parts", "quantized", "stored"]
# Of some formats no quantization is exact.
SIDES = pytest.mark.parametrize(("name", "left"), [(name, left) for name in FORMATS for left in LEFTS
                                                   if FORMATS[name][-1] or left in ("f32", "parts")])


@SIDES
def test_products_of_a_batch(name, left, tmp_path):
    drawn, function, exact = np.random.default_rng(0), Function(), []
    quantization = FORMATS[name][-1]
    for batch, rows, columns, is_transposed in SHAPES:
        if name == "fp8 by tensor" and 0 in batch:
            continue  # a block has an extent
        a, b = Scaled(drawn, name, batch, rows, False), Scaled(drawn, name, batch, columns, is_transposed)
        if left == "parts":
            kind, values = (a.packed(function), a.type()), a.values()
        else:
            whole = tensor(a.shape, "f32")
            kind, values = (function.argument(a.numbers, "f32"), whole), a.numbers.astype(np.float64)
            if left != "f32":
                kind = function.emit(f"octavo.quantize {kind[0]}, {quantization} : {whole} -> {a.type()}"), a.type()
            if left == "stored":
                function.give(function.emit(f"octavo.dequantize {kind[0]} : {kind[1]} -> {whole}"), a.shape, "f32")
                exact.append(None)
        product(function, a, kind, b, batch, is_transposed)
        is_exact = not (name == "nvfp4" and left in ("quantized", "stored"))
        exact.append(wanted(values, b.values(), batch, is_transposed) if is_exact else None)
    function.assert_bits(tmp_path)
    for found, values in zip(function.run(tmp_path, "compiled"), exact, strict=True):
        if values is not None:
            np.testing.assert_array_equal(found.ravel(), values.ravel().astype(np.float32))
            assert not values.size or np.count_nonzero(values) > values.size / 2


class Moved:
    """A side [batch, free, depth] whose axes lie in another order: axis i of it is number order[i] of these."""

    def __init__(self, drawn, name, batch, free, order):
        self.side = Scaled(drawn, name, batch, free, False)
        self.exact = self.side.values()
        for each in ("numbers", "scales"):
            setattr(self.side, each, np.ascontiguousarray(np.transpose(getattr(self.side, each), order)))
        for each in ("shape", "block"):
            setattr(self.side, each, [getattr(self.side, each)[axis] for axis in order])
        self.batching = [order.index(axis) for axis in range(len(batch))]
        self.contracting = order.index(len(order) - 1)


# Axes of batch, rows and columns, then where they lie; of those contracted, the last, too.
ORDERS = [((3,), (5,), (7,), (1, 0, 2), (1, 0, 2)), ((3,), (5,), (33,), (1, 2, 0), (2, 0, 1)), ((3,), (40,), (9,), (0, 2, 1), (0, 2, 1)),
          ((2, 3), (5,), (7,), (1, 0, 2, 3), (2, 1, 3, 0)), ((2, 3), (4, 2), (7,), (2, 0, 3, 1, 4), (3, 2, 0, 1)),
          ((), (6, 2), (7, 3), (0, 2, 1), (0, 2, 1)), ((), (20,), (9,), (1, 0), (1, 0)), ((0,), (3,), (4,), (1, 0, 2), (1, 0, 2))]


@SIDES
def test_axes_of_a_batch_may_lie_anywhere(name, left, tmp_path):
    """And what is contracted; every other product is in a branch, where the sides are not made beside it."""
    drawn, function, exact = np.random.default_rng(1), Function(), []
    quantization = FORMATS[name][-1]
    yes = function.argument(np.array(True), "i1")
    for number, (batch, rows, columns, left_order, right_order) in enumerate(ORDERS):
        if name == "fp8 by tensor" and 0 in batch:
            continue  # a block has an extent
        a, b = Moved(drawn, name, batch, rows, list(left_order)), Moved(drawn, name, batch, columns, list(right_order))
        if left == "parts":
            kind, values = (a.side.packed(function), a.side.type()), a.exact
        else:
            whole = tensor(a.side.shape, "f32")
            back = np.transpose(a.side.numbers, np.argsort(left_order)).astype(np.float64)
            kind, values = (function.argument(a.side.numbers, "f32"), whole), back
            if left != "f32":
                kind = function.emit(f"octavo.quantize {kind[0]}, {quantization} : {whole} -> {a.side.type()}"), a.side.type()
            if left == "stored":
                function.give(function.emit(f"octavo.dequantize {kind[0]} : {kind[1]} -> {whole}"), a.side.shape, "f32")
                exact.append(None)
        right = b.side.packed(function)
        shape = [*batch, *rows, *columns]
        dims = f"batching_dims = {a.batching} x {b.batching}, " if batch else ""
        dot = (f"octavo.dot_general {kind[0]}, {right}, {dims}contracting_dims = [{a.contracting}] x "
               f"[{b.contracting}] : ({kind[1]}, {b.side.type()}) -> {tensor(shape, 'f32')}")
        if (number + LEFTS.index(left)) % 2:
            branch = f"{{\n    %dot = {dot}\n    stablehlo.return %dot : {tensor(shape, 'f32')}\n  }}"
            dot = f"\"stablehlo.if\"({yes}) ({branch}, {branch}) : (tensor<i1>) -> {tensor(shape, 'f32')}"
        result = function.emit(dot)
        function.give(result, shape, "f32")
        is_exact = not (name == "nvfp4" and left in ("quantized", "stored"))
        exact.append(wanted(values, b.exact, batch, False) if is_exact else None)
    function.assert_bits(tmp_path)
    for found, values in zip(function.run(tmp_path, "compiled"), exact, strict=True):
        if values is not None:
            np.testing.assert_array_equal(found.ravel(), values.ravel().astype(np.float32))
            assert not values.size or np.count_nonzero(values) > values.size / 2
