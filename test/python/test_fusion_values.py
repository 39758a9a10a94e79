"""The values of fused dots, on both backends: products whose sums are exact, so that what follows them is NumPy's and
ml_dtypes', operation by operation. docs/fusion.md."""
import json
import os
import pathlib
import re
import subprocess

import ml_dtypes
import numpy as np
import pytest
import scipy.special
from random_programs import tensor
from test_compiled import outputs

pytestmark = pytest.mark.mlir

BIN = pathlib.Path(os.environ["OCTAVO_BIN_DIR"])
FORMATS = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "f8E4M3": ml_dtypes.float8_e4m3,
           "f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
           "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz}
ROWS, DEPTH, COLUMNS = 100, 32, 48


class Fused:
    """A program of a product of FP8 and its epilogue. Values are written as f32, and narrow ones bitcast to ui8."""

    def __init__(self, shape=(ROWS, COLUMNS)):
        self.shape, self.arguments, self.arrays, self.lines, self.results, self.types = shape, [], [], [], [], []

    def argument(self, array, element):
        name = f"%in{len(self.arrays)}"
        self.arguments.append(f"{name}: {tensor(array.shape, element)}")
        self.arrays.append(array)
        return name

    def emit(self, text):
        self.lines.append(f"  %v{len(self.lines)} = {text}")
        return f"%v{len(self.lines) - 1}"

    def fp8(self, array, element):
        """Values of a narrow type as an argument of it."""
        narrow = array.astype(FORMATS[element])
        assert (narrow.astype(np.float64) == array).all()
        return self.argument(narrow, element)

    def product(self, left="f8E4M3FN", right="f8E4M3FN"):
        drawn = np.random.default_rng(5)
        x = drawn.integers(-4, 5, (ROWS, DEPTH)).astype(np.float64)
        w = drawn.integers(-4, 5, (DEPTH, COLUMNS)).astype(np.float64)
        p = self.emit(f"stablehlo.dot_general {self.fp8(x, left)}, {self.fp8(w, right)}, contracting_dims = [1] x [0] : "
                      f"({tensor(x.shape, left)}, {tensor(w.shape, right)}) -> {tensor(self.shape, 'f32')}")
        return p, (x @ w).astype(np.float32)

    def apply(self, op, *operands, element="f32"):
        return self.emit(f"stablehlo.{op} {', '.join(operands)} : {tensor(self.shape, element)}")

    def full(self, value):
        bits = np.float32(value).view(np.uint32)
        return self.emit(f"stablehlo.constant dense<0x{bits:08X}> : {tensor(self.shape, 'f32')}")

    def broadcast(self, array, axes):
        name = self.argument(array, "f32")
        dims = ", ".join(map(str, axes))
        return self.emit(f"stablehlo.broadcast_in_dim {name}, dims = [{dims}] : ({tensor(array.shape, 'f32')}) -> "
                         f"{tensor(self.shape, 'f32')}")

    def amax(self, value, magnitude=True):
        if magnitude:
            value = self.apply("abs", value)
        zero = self.emit("stablehlo.constant dense<0.0> : tensor<f32>")
        axes = ", ".join(str(axis) for axis in range(len(self.shape)))
        return self.emit(f"stablehlo.reduce({value} init: {zero}) applies stablehlo.maximum across dimensions = "
                         f"[{axes}] : ({tensor(self.shape, 'f32')}, tensor<f32>) -> tensor<f32>")

    def narrow(self, value, element):
        """A clamp to the limits of the format, and the conversion."""
        most = float(ml_dtypes.finfo(FORMATS[element]).max)
        low, high = self.full(-most), self.full(most)
        value = self.apply("clamp", low, value, high)
        return self.emit(f"stablehlo.convert {value} : ({tensor(self.shape, 'f32')}) -> {tensor(self.shape, element)}")

    def give(self, value, element="f32", shape=None):
        shape = self.shape if shape is None else shape
        if element != "f32":
            value = self.emit(f"stablehlo.bitcast_convert {value} : ({tensor(shape, element)}) -> {tensor(shape, 'ui8')}")
            element = "ui8"
        self.results.append(value)
        self.types.append(tensor(shape, element))

    def write(self, file):
        types = ", ".join(self.types)
        file.write_text(f"func.func @main({', '.join(self.arguments)}) -> ({types}) {{\n" + "\n".join(self.lines) +
                        f"\n  return {', '.join(self.results)} : {types}\n}}\n")
        return file

    def run(self, folder):
        """What both backends give of the fused program, the compiled one by a product with an epilogue."""
        self.write(folder / "wide.mlir")
        made = subprocess.run([BIN / "octavo-opt", folder / "wide.mlir", "--octavo-fuse-scaled-dots", "-o",
                               folder / "p.mlir"], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        assert (folder / "p.mlir").read_text().count("octavo.fused_dot") == 1, made.stderr
        explained = subprocess.run([BIN / "octavo", "run", folder / "p.mlir", "--explain-compile", "--json"],
                                   capture_output=True, text=True)
        assert explained.returncode == 0, explained.stderr
        (function,) = json.loads(explained.stdout)["functions"]
        assert not function["interpreted"]
        self.products = [product["what"] for product in function["products"]]
        for backend in ("reference", "compiled"):
            yield outputs(folder / "p.mlir", self.arrays, folder, backend)


def assert_codes(found, wide, element):
    """`wide` in f32, clamped to the limits and converted by ml_dtypes; NaN stays one."""
    most = np.float32(float(ml_dtypes.finfo(FORMATS[element]).max))
    wanted = np.clip(wide, -most, most).astype(FORMATS[element])
    isnan = np.isnan(wide)
    assert np.array_equal(np.isnan(found.view(FORMATS[element]).astype(np.float32)), isnan)
    assert np.array_equal(found[~isnan], wanted.view(np.uint8)[~isnan])


def gelu_tanh(program, v, x):
    cube = program.apply("multiply", program.apply("multiply", v, v), v)
    inner = program.apply("add", v, program.apply("multiply", program.full(0.044715), cube))
    t = program.apply("tanh", program.apply("multiply", program.full(np.sqrt(2 / np.pi)), inner))
    half = program.apply("multiply", program.full(0.5), program.apply("add", program.full(1), t))
    return program.apply("multiply", v, half), x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def gelu_erf(program, v, x):
    scaled = program.apply("multiply", v, program.full(np.sqrt(0.5)))
    erf = program.emit(f"chlo.erf {scaled} : {tensor(program.shape, 'f32')} -> {tensor(program.shape, 'f32')}")
    half = program.apply("multiply", program.full(0.5), program.apply("add", program.full(1), erf))
    return program.apply("multiply", v, half), x * scipy.special.ndtr(x)


def gelu_erfc(program, v, x):
    scaled = program.apply("multiply", program.apply("negate", v), program.full(np.sqrt(0.5)))
    erfc = program.emit(f"chlo.erfc {scaled} : {tensor(program.shape, 'f32')} -> {tensor(program.shape, 'f32')}")
    half = program.apply("multiply", program.full(0.5), erfc)
    return program.apply("multiply", v, half), x * scipy.special.ndtr(x)


def silu(program, v, x):
    return program.apply("multiply", v, program.apply("logistic", v)), x * scipy.special.expit(x)


def relu(program, v, x):
    return program.apply("maximum", v, program.full(0)), np.maximum(x, 0)


def linear(program, v, x):
    return v, x


@pytest.mark.parametrize("activation", [linear, relu, gelu_tanh, gelu_erf, gelu_erfc, silu])
def test_activations(activation, tmp_path):
    """Scale and bias in f32, the activation within 4e-6 of its formula, then its code and amax exactly of that."""
    program = Fused()
    p, wanted = program.product()
    drawn = np.random.default_rng(7)
    scale, bias = np.float32(0.0234375), drawn.standard_normal(COLUMNS).astype(np.float32)
    v = program.apply("multiply", p, program.broadcast(np.array(scale), []))
    v = program.apply("add", v, program.broadcast(bias, [1]))
    wanted = wanted * scale + bias
    y, exact = activation(program, v, wanted.astype(np.float64))
    program.give(y)
    program.give(program.narrow(program.apply("divide", y, program.full(0.01)), "f8E4M3FN"), "f8E4M3FN")
    program.give(program.amax(y, magnitude=activation is not relu), shape=[])
    program.give(program.amax(v), shape=[])
    for found in program.run(tmp_path):
        np.testing.assert_allclose(found[0], exact, rtol=0, atol=4e-6)
        if activation in (linear, relu):
            assert np.array_equal(found[0], exact.astype(np.float32))
        assert_codes(found[1], found[0] / np.float32(0.01), "f8E4M3FN")
        assert found[2] == np.abs(found[0]).max() and found[3] == np.abs(wanted).max()
    assert program.products == ["bf16 x e4m3fn, and its epilogue"]


@pytest.mark.parametrize("element", FORMATS)
def test_output_formats_at_their_limits(element, tmp_path):
    """A matrix of biases has the format's limits, what is around them, halves of subnormals, infinities and NaN."""
    most = float(ml_dtypes.finfo(FORMATS[element]).max)
    least = float(ml_dtypes.finfo(FORMATS[element]).smallest_subnormal)
    probes = [most, most * 1.001, most * 1.5, 2 * most, 1e30, np.inf, least, least / 2, least * 0.501, least * 1.5, 0.0]
    probes += [np.nextafter(np.float32(most), np.float32(k)) for k in (0, np.inf)]
    values = np.array([sign * each for each in probes for sign in (1, -1)] + [np.nan], np.float32)
    bias = np.resize(values, (ROWS, COLUMNS)).astype(np.float32)
    program = Fused()
    p, exact = program.product("f8E5M2", "f8E5M2") if element == "f8E5M2" else program.product()
    zero = program.apply("multiply", p, program.full(0))
    v = program.apply("add", zero, program.argument(bias, "f32"))
    program.give(program.narrow(v, element), element)
    program.give(program.amax(v), shape=[])
    for found in program.run(tmp_path):
        assert_codes(found[0], exact * np.float32(0) + bias, element)
        assert np.isnan(found[1])
    assert program.products == [f"bf16 x {'e5m2' if element == 'f8E5M2' else 'e4m3fn'}, and its epilogue"]


@pytest.mark.parametrize("scales", ["scalar", "row", "column", "matrix"])
@pytest.mark.parametrize("operation", ["multiply", "divide"])
def test_scales_residual_and_bias_of_bf16(operation, scales, tmp_path):
    """An output scale of any shape, beta * C, a bias that is added in bf16: each rounded once, as NumPy does. The
    product is a result, too."""
    drawn = np.random.default_rng(11)
    shape, axes = {"scalar": ((), []), "row": ((ROWS,), [0]), "column": ((COLUMNS,), [1]),
                   "matrix": ((ROWS, COLUMNS), [0, 1])}[scales]
    scale = (0.5 + drawn.random(shape)).astype(np.float32)
    c = drawn.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    program = Fused()
    p, sums = program.product()
    residual = program.apply("multiply", program.argument(c, "f32"), program.full(0.3))
    v = program.apply("add", p, residual)
    wanted = sums + c * np.float32(0.3)
    v = program.apply(operation, v, program.broadcast(scale, axes))
    wide = scale[:, None] if scales == "row" else scale
    wanted = wanted * wide if operation == "multiply" else wanted / wide
    bias = drawn.standard_normal(COLUMNS).astype(ml_dtypes.bfloat16)
    name = program.argument(bias, "bf16")
    matrix, narrow = tensor(program.shape, "f32"), tensor(program.shape, "bf16")
    v = program.emit(f"stablehlo.convert {v} : ({matrix}) -> {narrow}")
    b = program.emit(f"stablehlo.broadcast_in_dim {name}, dims = [1] : ({tensor([COLUMNS], 'bf16')}) -> {narrow}")
    v = program.apply("add", v, b, element="bf16")
    v = program.emit(f"stablehlo.convert {v} : ({narrow}) -> {matrix}")
    program.give(v)
    program.give(p)
    wanted = wanted.astype(ml_dtypes.bfloat16) + bias
    for found in program.run(tmp_path):
        assert np.array_equal(found[0], wanted.astype(np.float32)) and np.array_equal(found[1], sums)
    assert program.products == ["bf16 x e4m3fn, and its epilogue"]


@pytest.mark.parametrize("movement", ["reshape", "transpose"])
def test_movement_before_the_rest(movement, tmp_path):
    """Rows that are cut into more of them are the epilogue's, and those of a product that is made transposed."""
    program = Fused()
    p, wanted = program.product()
    matrix = tensor(program.shape, "f32")
    program.shape = (10, ROWS // 10, COLUMNS) if movement == "reshape" else (COLUMNS, ROWS)
    how = "" if movement == "reshape" else ", dims = [1, 0]"
    v = program.emit(f"stablehlo.{movement} {p}{how} : ({matrix}) -> {tensor(program.shape, 'f32')}")
    bias = np.random.default_rng(23).standard_normal(program.shape[-1]).astype(np.float32)
    v = program.apply("add", v, program.broadcast(bias, [len(program.shape) - 1]))
    program.give(program.narrow(v, "f8E5M2"), "f8E5M2")
    wanted = (wanted.reshape(program.shape) if movement == "reshape" else wanted.T) + bias
    for found in program.run(tmp_path):
        assert_codes(found[0], wanted, "f8E5M2")
    assert program.products == ["bf16 x e4m3fn, and its epilogue"]


SHAPES = {  # of the left side, the right side, and the dot's axes, in the words of numpy.einsum
    "transposed right": ("mk,nk->mn", "contracting_dims = [1] x [1]"),
    "transposed left": ("km,kn->mn", "contracting_dims = [0] x [0]"),
    "batched": ("bmk,bkn->bmn", "batching_dims = [0] x [0], contracting_dims = [2] x [1]"),
    "two contracted": ("mkl,kln->mn", "contracting_dims = [1, 2] x [0, 1]"),
    "two free": ("bmk,kn->bmn", "contracting_dims = [2] x [0]"),
    "one row": ("k,kn->n", "contracting_dims = [0] x [0]"),
}
EXTENTS = {"b": 5, "m": 37, "n": 24, "k": 16, "l": 4}


@pytest.mark.parametrize("name", SHAPES)
def test_axes_of_the_product(name, tmp_path):
    equation, axes = SHAPES[name]
    left, rest = equation.split(",")
    right, result = rest.split("->")
    drawn = np.random.default_rng(13)
    x, w = (drawn.integers(-4, 5, [EXTENTS[axis] for axis in side]).astype(np.float64) for side in (left, right))
    program = Fused([EXTENTS[axis] for axis in result])
    p = program.emit(f"stablehlo.dot_general {program.fp8(x, 'f8E4M3FN')}, {program.fp8(w, 'f8E4M3FN')}, {axes} : "
                     f"({tensor(x.shape, 'f8E4M3FN')}, {tensor(w.shape, 'f8E4M3FN')}) -> {tensor(program.shape, 'f32')}")
    v = program.apply("multiply", p, program.full(0.7))
    v = program.apply("add", v, program.full(0.1))
    program.give(program.narrow(v, "f8E4M3FN"), "f8E4M3FN")
    program.give(program.amax(v), shape=[])
    wanted = np.einsum(equation, x, w).astype(np.float32) * np.float32(0.7) + np.float32(0.1)
    for found in program.run(tmp_path):
        assert_codes(found[0], wanted, "f8E4M3FN")
        assert found[1] == np.abs(wanted).max()
    kind = "bf16 x bf16, in batches, with a prologue" if name == "batched" else "bf16 x e4m3fn"
    assert program.products == [kind + ", and its epilogue"]


def dequantized(program, array, block, scale_type):
    """A side by hand: its elements, as e4m3fn, times scales that are powers of two, one a block. And its values."""
    grid = tuple(-(-extent // size) for extent, size in zip(array.shape, block))
    scales = 2.0 ** np.random.default_rng(17).integers(-3, 4, grid)
    numpy = ml_dtypes.float8_e8m0fnu if scale_type == "f8E8M0FNU" else np.float32
    codes, given = program.fp8(array, "f8E4M3FN"), program.argument(scales.astype(numpy), scale_type)
    wide, small = tensor(array.shape, "f32"), tensor(grid, "f32")
    values = program.emit(f"stablehlo.convert {codes} : ({tensor(array.shape, 'f8E4M3FN')}) -> {wide}")
    if scale_type != "f32":
        given = program.emit(f"stablehlo.convert {given} : ({tensor(grid, scale_type)}) -> {small}")
    split = [extent for pair in zip(grid, block) for extent in pair]
    axes = ", ".join(str(2 * axis) for axis in range(len(grid)))
    spread = program.emit(f"stablehlo.broadcast_in_dim {given}, dims = [{axes}] : ({small}) -> {tensor(split, 'f32')}")
    spread = program.emit(f"stablehlo.reshape {spread} : ({tensor(split, 'f32')}) -> {wide}")
    each = np.kron(scales, np.ones(block))
    return program.emit(f"stablehlo.multiply {values}, {spread} : {wide}"), array * each


@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize("style", ["tensor", "rows and columns", "blocks of 32", "blocks of 32 by 16"])
def test_what_is_dequantized_by_hand_is_multiplied_as_it_is_scaled(style, rows, tmp_path):
    depth = 64
    left, right, scale_type = {"tensor": ((rows, depth), (depth, COLUMNS), "f32"),
                               "rows and columns": ((1, depth), (depth, 1), "f32"),
                               "blocks of 32": ((1, 32), (32, 1), "f8E8M0FNU"),
                               "blocks of 32 by 16": ((1, 32), (32, 16), "f32")}[style]
    drawn = np.random.default_rng(19)
    program = Fused((rows, COLUMNS))
    x, exact_x = dequantized(program, drawn.integers(-4, 5, (rows, depth)).astype(np.float64), left, scale_type)
    w, exact_w = dequantized(program, drawn.integers(-4, 5, (depth, COLUMNS)).astype(np.float64), right, scale_type)
    bias = drawn.standard_normal(COLUMNS).astype(np.float32)
    p = program.emit(f"stablehlo.dot_general {x}, {w}, contracting_dims = [1] x [0] : ({tensor([rows, depth], 'f32')}, "
                     f"{tensor([depth, COLUMNS], 'f32')}) -> {tensor(program.shape, 'f32')}")
    v = program.apply("add", p, program.broadcast(bias, [1]))
    program.give(program.narrow(v, "f8E4M3FN"), "f8E4M3FN")
    program.give(program.amax(v), shape=[])
    file = program.write(tmp_path / "p.mlir")
    wanted = (exact_x @ exact_w).astype(np.float32) + bias
    for backend in ("reference", "compiled"):
        found = outputs(file, program.arrays, tmp_path, backend, "--recover-scaled")
        assert_codes(found[0], wanted, "f8E4M3FN")
        assert found[1] == np.abs(wanted).max()
    explained = subprocess.run([BIN / "octavo", "run", file, "--recover-scaled", "--explain-compile", "--json"],
                               capture_output=True, text=True)
    assert explained.returncode == 0, explained.stderr
    (function,) = json.loads(explained.stdout)["functions"]
    assert not function["interpreted"]
    (product,) = [each["what"] for each in function["products"]]
    sides = re.fullmatch("(.*) x (.*), in .*, and its epilogue", product)
    assert all(re.match("e4m3fn by|mxfp8_e4m3|fp8_", side) for side in sides.groups()), product


def both(folder, text, arrays):
    """What the program gives, and what it gives when fused, on both backends."""
    wide, fused = folder / "wide.mlir", folder / "fused.mlir"
    wide.write_text(text)
    made = subprocess.run([BIN / "octavo-opt", wide, "--octavo-fuse-scaled-dots", "-o", fused], capture_output=True, text=True)
    assert made.returncode == 0 and fused.read_text().count("octavo.fused_dot") == 1, made.stderr
    for program in (wide, fused):
        for backend in ("reference", "compiled"):
            yield outputs(program, arrays, folder, backend)


def test_batched_products(tmp_path):
    drawn = np.random.default_rng(3)
    x, w = drawn.integers(-4, 5, (3, 20, 16)), drawn.integers(-4, 5, (3, 12, 16))
    bias, scale = drawn.standard_normal((3, 12)).astype(np.float32), drawn.random(3).astype(np.float32)
    text = """func.func @main(%x: tensor<3x20x16xf8E4M3FN>, %w: tensor<3x12x16xf8E5M2>, %b: tensor<3x12xf32>, %s: tensor<3xf32>) -> (tensor<3x12x20xf32>, tensor<f32>) {
  %p = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x20x16xf8E4M3FN>, tensor<3x12x16xf8E5M2>) -> tensor<3x20x12xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<3xf32>) -> tensor<3x20x12xf32>
  %2 = stablehlo.multiply %p, %1 : tensor<3x20x12xf32>
  %t = stablehlo.transpose %2, dims = [0, 2, 1] : (tensor<3x20x12xf32>) -> tensor<3x12x20xf32>
  %3 = stablehlo.broadcast_in_dim %b, dims = [0, 1] : (tensor<3x12xf32>) -> tensor<3x12x20xf32>
  %4 = stablehlo.add %t, %3 : tensor<3x12x20xf32>
  %5 = stablehlo.abs %4 : tensor<3x12x20xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<3x12x20xf32>, tensor<f32>) -> tensor<f32>
  return %4, %6 : tensor<3x12x20xf32>, tensor<f32>
}"""
    product = np.einsum("bmk,bnk->bmn", x, w).astype(np.float32) * scale[:, None, None]
    wanted = product.transpose(0, 2, 1) + bias[:, :, None]
    arrays = [x.astype(FORMATS["f8E4M3FN"]), w.astype(FORMATS["f8E5M2"]), bias, scale]
    for found in both(tmp_path, text, arrays):
        assert np.array_equal(found[0], wanted) and found[1] == np.abs(wanted).max()


@pytest.mark.parametrize("sides", ["both", "left", "right"])
def test_outer_scales_are_of_the_epilogue(sides, tmp_path):
    """Sums that are exact, times the f32 product of outer scales that are no powers of two, then a bias: D5."""
    drawn = np.random.default_rng(4)
    names, arrays, body, exact, factor = [], [], "", [], np.float32(1)
    for i, rows in enumerate((24, 10)):
        codes, scales = drawn.integers(-3, 4, (rows, 64)), np.exp2(drawn.integers(-2, 3, (rows, 4)))
        exact.append(codes * np.repeat(scales, 16, 1))
        has_outer = sides == "both" or (sides == "left") == (i == 0)
        kind = f"!octavo.scaled<{rows}x64xf4E2M1FN, scale f8E4M3FN, block [1, 16]{', outer f32' if has_outer else ''}>"
        types = [f"tensor<{rows}x64xf4E2M1FN>", f"tensor<{rows}x4xf8E4M3FN>"] + ["tensor<f32>"] * has_outer
        arrays += [codes.astype(ml_dtypes.float4_e2m1fn), scales.astype(FORMATS["f8E4M3FN"])]
        if has_outer:
            outer = np.float32(0.7 + i)
            arrays.append(np.array(outer))
            factor = factor * outer
        own = [f"%a{len(names) + j}" for j in range(len(types))]
        names += [f"{name}: {each}" for name, each in zip(own, types, strict=True)]
        body += f"  %p{i} = octavo.pack {', '.join(own)} : ({', '.join(types)}) -> {kind}\n"
        exact[-1] = (exact[-1], kind)
    bias = drawn.standard_normal(10).astype(np.float32)
    text = f"""func.func @main({', '.join(names)}, %b: tensor<10xf32>) -> tensor<24x10xf32> {{
{body}  %d = octavo.dot_general %p0, %p1, contracting_dims = [1] x [1] : ({exact[0][1]}, {exact[1][1]}) -> tensor<24x10xf32>
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<10xf32>) -> tensor<24x10xf32>
  %1 = stablehlo.add %d, %0 : tensor<24x10xf32>
  return %1 : tensor<24x10xf32>
}}"""
    wanted = (exact[0][0] @ exact[1][0].T).astype(np.float32) * np.float32(factor) + bias
    for found in both(tmp_path, text, [*arrays, bias]):
        assert np.array_equal(found[0], wanted)
    assert "outer" not in (tmp_path / "fused.mlir").read_text()
