"""`octavo run --backend compiled` beside the interpreter and beside XLA: rules C1 to C4."""
import itertools
import json
import os
import pathlib
import re
import subprocess

import ml_dtypes
import jax
import numpy as np
import pytest
import scipy.special
from random_programs import Program
from safetensors.numpy import load_file, save_file
from test_jax_programs import FOLDER, TOLERANCES, arrays, assert_fits

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
EXHAUSTIVE = os.environ.get("OCTAVO_EXHAUSTIVE")
PROGRAMS = int(os.environ.get("OCTAVO_RANDOM_PROGRAMS", "100"))


def outputs(program, inputs, folder, backend, *options):
    arguments = []
    for i, array in enumerate(inputs):
        name = f"in{i}.{array.dtype}.npy" if array.dtype.isbuiltin == 2 else f"in{i}.npy"  # ml_dtypes
        np.save(folder / name, array)
        arguments += ["--input", folder / name]
    file = folder / f"{backend}.safetensors"
    run = subprocess.run([OCTAVO, "run", program, *arguments, *options, "--backend", backend, "--json", "--output",
                          file],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    stored = load_file(file)
    return [stored[row["name"]] for row in json.loads(run.stdout)["outputs"]]


@pytest.mark.parametrize("name", TOLERANCES)
def test_programs_of_jax(name, tmp_path):
    for found, wanted in zip(outputs(FOLDER / f"{name}.mlir", arrays(name, "in"), tmp_path, "compiled"),
                             arrays(name, "out"), strict=True):
        assert_fits(found, wanted, TOLERANCES[name])


@pytest.mark.parametrize("begin", range(0, PROGRAMS, 25))
def test_random_programs_have_the_bits_of_the_interpreter(begin, tmp_path):
    for seed in range(begin, begin + 25):
        drawn = Program(seed)
        program = tmp_path / f"{seed}.mlir"
        program.write_text(drawn.text())
        numbers = np.random.default_rng(seed)
        inputs = [(numbers.standard_normal(drawn.arguments[0][0]) * 4).astype(np.float32),
                  numbers.integers(-5, 9, drawn.arguments[1][0]).astype(np.int32)]
        wanted = outputs(program, inputs, tmp_path, "reference")
        found = outputs(program, inputs, tmp_path, "compiled")
        for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), (seed, i)
            if a.dtype.kind not in "iub":  # any NaN is as good as another; zeros have signs
                isnan = np.isnan(a.astype(np.float32))
                assert np.array_equal(isnan, np.isnan(b.astype(np.float32))), (seed, i)
                a, b = a[~isnan], b[~isnan]
            assert a.tobytes() == b.tobytes(), f"seed {seed}, result {i}: {a.ravel()[:8]} and {b.ravel()[:8]}"


# Rule C2: what is exact enough to count ulp with, and how many there may be.
FUNCTIONS = {
    "stablehlo.exponential": (np.exp, 1.05),
    "stablehlo.exponential_minus_one": (np.expm1, 1.55),
    "stablehlo.log": (np.log, 0.9),
    "stablehlo.log_plus_one": (np.log1p, 0.9),
    "stablehlo.logistic": (scipy.special.expit, 2),
    "stablehlo.tanh": (np.tanh, 1.4),
    "chlo.erf": (scipy.special.erf, 1.1),
    "chlo.erfc": (scipy.special.erfc, 1.8),
}


def functions_of(x, names, folder):
    """Each function of all elements, by the compiled program."""
    element = {np.dtype(np.float32): "f32", np.dtype(np.float16): "f16"}.get(x.dtype, "bf16")
    kind = f"tensor<{x.size}x{element}>"
    lines = [f"    %{i} = {name} %x : {kind}{f' -> {kind}' if name.startswith('chlo') else ''}"
             for i, name in enumerate(names)]
    results = ", ".join(f"%{i}" for i in range(len(names)))
    kinds = ", ".join([kind] * len(names))
    program = folder / "functions.mlir"
    program.write_text(f"func.func @main(%x: {kind}) -> ({kinds}) {{\n" + "\n".join(lines) +
                       f"\n    return {results} : {kinds}\n}}\n")
    return outputs(program, [x], folder, "compiled")


def ulps(found, exact):
    """How far f32 values are from exact ones in f64, in ulp of f32 there; 0 where both are NaN, or the value is
    what the exact one rounds to."""
    rounded = exact.astype(np.float32)
    same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    exponent = np.frexp(exact)[1] - 24
    unit = np.ldexp(1.0, np.maximum(np.where(np.isfinite(exact), exponent, 0), -149))
    with np.errstate(invalid="ignore"):
        apart = np.abs(found.astype(np.float64) - exact) / unit
    return np.where(same, 0, np.where(np.isnan(apart), np.inf, apart))


def assert_exact_enough(x, folder):
    with np.errstate(all="ignore"):
        for (name, (exact, bound)), found in zip(FUNCTIONS.items(), functions_of(x, FUNCTIONS, folder), strict=True):
            wanted = exact(x.astype(np.float64))
            apart = ulps(found, wanted)
            zero = found == 0
            assert np.array_equal(np.signbit(found[zero]), np.signbit(wanted[zero])), f"{name}: a zero's sign"
            worst = apart.argmax()
            assert apart[worst] <= bound, f"{name} of {x[worst]!r} is {found[worst]!r}, {apart[worst]:.2f} ulp off"


def test_functions_of_f32(tmp_path):
    """A spread of all codes, ordinary values, zeros, subnormals, infinities and NaN."""
    drawn = np.random.default_rng(1).integers(0, 2**32, 400_000, dtype=np.uint64).astype(np.uint32)
    ordinary = np.random.default_rng(2).normal(0, 4, 400_000).astype(np.float32).view(np.uint32)
    special = np.array([0, 0x80000000, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000], np.uint32)
    assert_exact_enough(np.concatenate([drawn, ordinary, special]).view(np.float32), tmp_path)


@pytest.mark.skipif(not EXHAUSTIVE, reason="make exhaustive: all 2^32 arguments")
@pytest.mark.parametrize("begin", range(0, 2**32, 2**28), ids=lambda begin: f"{begin:08x}")
def test_functions_of_every_f32(begin, tmp_path):
    for start in range(begin, begin + 2**28, 2**24):
        assert_exact_enough(np.arange(start, start + 2**24, dtype=np.uint32).view(np.float32), tmp_path)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_functions_of_16_bits_are_rounded_ones_of_f32(dtype, tmp_path):
    """All codes: what f32 gives, rounded once; signs of zeros too."""
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    for name, found, wide in zip(FUNCTIONS, functions_of(x, FUNCTIONS, tmp_path),
                                 functions_of(x.astype(np.float32), FUNCTIONS, tmp_path), strict=True):
        with np.errstate(over="ignore"):
            wanted = wide.astype(dtype)
        isnan = np.isnan(wanted.astype(np.float32))
        assert np.array_equal(isnan, np.isnan(found.astype(np.float32))), name
        assert found[~isnan].tobytes() == wanted[~isnan].tobytes(), name


def chained(rows):
    """Products and what goes over their rows, one of them twice, one result read by another product's columns."""
    def dot(name, x, w, m, k, n):
        return (f"  %{name} = stablehlo.dot_general %{x}, %{w}, contracting_dims = [1] x [0] : "
                f"(tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>\n")

    wide, narrow = f"tensor<{rows}x96xf32>", f"tensor<{rows}x64xf32>"
    return (f"func.func @main(%x: {narrow}, %a: tensor<64x96xf32>, %b: tensor<96x64xf32>, %bias: tensor<96xf32>) "
            f"-> ({wide}, {narrow}, tensor<{rows}x{rows}xf32>) {{\n" +
            dot("h", "x", "a", rows, 64, 96) +
            f"  %bb = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<96xf32>) -> {wide}\n"
            f"  %hb = stablehlo.add %h, %bb : {wide}\n"
            f"  %t = stablehlo.tanh %hb : {wide}\n" +
            dot("y", "t", "b", rows, 96, 64) +
            f"""  %r = stablehlo.add %y, %x : {narrow}
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [1] : ({narrow}, tensor<f32>) -> tensor<{rows}xf32>
  %each = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<{rows}xf32>) -> {narrow}
  %n = stablehlo.subtract %r, %each : {narrow}
""" + dot("h2", "n", "a", rows, 64, 96) +
            f"  %all = stablehlo.dot_general %n, %y, contracting_dims = [1] x [1] : ({narrow}, {narrow}) "
            f"-> tensor<{rows}x{rows}xf32>\n"
            f"  return %h2, %y, %all : {wide}, {narrow}, tensor<{rows}x{rows}xf32>\n}}\n")


@pytest.mark.parametrize("rows", [1, 3, 16, 17, 40, 65, 500])
def test_products_are_chained_over_rows(rows, tmp_path):
    """The bits of a row do not depend on how many there are; the values are NumPy's."""
    drawn = np.random.default_rng(rows)
    x, a, b, bias = [drawn.standard_normal(shape).astype(np.float32) / 4 for shape in ((500, 64), (64, 96), (96, 64), 96)]
    results = {}
    for count in {rows, 500}:
        program = tmp_path / f"{count}.mlir"
        program.write_text(chained(count))
        results[count] = outputs(program, [x[:count], a, b, bias], tmp_path, "compiled")
    for i in (0, 1):
        assert results[rows][i].tobytes() == results[500][i][:rows].tobytes()
    x, a, b, bias = [each.astype(np.float64) for each in (x[:rows], a, b, bias)]
    y = np.tanh(x @ a + bias) @ b
    n = y + x - (y + x).sum(1, keepdims=True)
    for found, wanted in zip(results[rows], (n @ a, y, n @ y.T), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


def attention(heads, rows, places, width, element, first, keeps):
    """Of queries to keys and values that are codes under scales of 32 of them, one head after the other, or with the
    places `first`; `keeps`: the values are results, too."""
    def decoded(name, codes, scales):
        blocks = f"tensor<{outer}x{width // 32}x32xf32>"
        return f"""  %{name}0 = stablehlo.convert %{codes} : ({cache}) -> {wide}
  %{name}1 = stablehlo.reshape %{name}0 : ({wide}) -> {blocks}
  %{name}2 = stablehlo.broadcast_in_dim %{scales}, dims = [0, 1, 2] : ({scale}) -> {blocks}
  %{name}3 = stablehlo.multiply %{name}1, %{name}2 : {blocks}
  %{name} = stablehlo.reshape %{name}3 : ({blocks}) -> {wide}
"""

    outer, head, place = (f"{places}x{heads}", 1, 0) if first == "places" else (f"{heads}x{places}", 0, 1)
    cache, wide = (f"tensor<{outer}x{width}x{of}>" for of in (element, "f32"))
    scale, query = f"tensor<{outer}x{width // 32}xf32>", f"tensor<{heads}x{rows}x{width}xf32>"
    scores = f"tensor<{heads}x{rows}x{places}xf32>"
    results = f"{query}, {scores}" + f", {wide}, {wide}" * keeps
    return (f"func.func @main(%q: {query}, %a: {cache}, %b: {cache}, %s: {scale}, %t: {scale}) -> ({results}) {{\n" +
            decoded("k", "a", "s") +
            f"  %p = stablehlo.dot_general %q, %k, batching_dims = [0] x [{head}], contracting_dims = [2] x [2] : "
            f"({query}, {wide}) -> {scores}\n"
            f"  %g = stablehlo.logistic %p : {scores}\n" + decoded("v", "b", "t") +
            f"  %c = stablehlo.dot_general %g, %v, batching_dims = [0] x [{head}], contracting_dims = [2] x [{place}] : "
            f"({scores}, {wide}) -> {query}\n"
            f"  return %c, %p{', %k, %v' * keeps} : {results}\n}}\n")


@pytest.mark.parametrize("first", ["heads", "places"])
@pytest.mark.parametrize("rows, places, width, element", [
    (1, 300, 64, "f8E4M3FN"), (1, 7, 32, "f4E2M1FN"), (3, 129, 96, "f8E5M2"), (40, 90, 64, "f8E4M3FN")])
def test_what_is_decoded_for_a_product_alone_gives_the_bits_of_values_in_memory(
        rows, places, width, element, first, tmp_path):
    drawn = np.random.default_rng(places)
    heads, code = 5, getattr(ml_dtypes, {"8": "float8_", "4": "float4_"}[element[1]] + element[2:].lower())
    outer = (places, heads) if first == "places" else (heads, places)
    cache = [drawn.standard_normal((*outer, width)).astype(code) for _ in range(2)]
    scales = [np.exp2(drawn.integers(-3, 4, (*outer, width // 32))).astype(np.float32) for _ in range(2)]
    query = drawn.standard_normal((heads, rows, width)).astype(np.float32)
    found = []
    for keeps in (False, True):
        program = tmp_path / "p.mlir"
        program.write_text(attention(heads, rows, places, width, element, first, keeps))
        found.append(outputs(program, [query, *cache, *scales], tmp_path, "compiled"))
        explained = subprocess.run([OCTAVO, "run", program, "--explain-compile"], stdout=subprocess.PIPE, text=True, check=True)
        assert explained.stdout.count("with a prologue") == (0 if keeps else 2)
        assert keeps or "arena 0 bytes" in explained.stdout
    keys = cache[0].astype(np.float32) * np.repeat(scales[0], 32, 2)
    np.testing.assert_array_equal(found[1][2], keys)
    keys = keys.swapaxes(0, 1) if first == "places" else keys
    np.testing.assert_allclose(found[1][1], query.astype(np.float64) @ keys.swapaxes(1, 2), atol=1e-3)
    for a, b in zip(*found):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("rows", [5, 17, 40, 65, 500])
@pytest.mark.parametrize("name", ["mxfp4", "mxint8", "nvfp4"])
def test_chains_of_scaled_products_have_the_interpreters_bits(rows, name, tmp_path):
    """Activations quantized by ranges of rows, or as a whole where one scale is of all of them; no function between
    the products, and sums of integers."""
    program = tmp_path / "p.mlir"
    text = chained(rows).replace("%t = stablehlo.tanh", "%t = stablehlo.negate")
    text = text[:text.index("  %sum")] + f"  return %r, %y : tensor<{rows}x64xf32>, tensor<{rows}x64xf32>\n}}\n"
    text = re.sub(r"-> \(.*\) {", f"-> (tensor<{rows}x64xf32>, tensor<{rows}x64xf32>) {{", text)
    program.write_text(text)
    drawn = np.random.default_rng(rows)
    x, a, b, bias = [drawn.standard_normal(shape).astype(np.float32) for shape in ((rows, 64), (64, 96), (96, 64), 96)]
    options = ["--quantize", name, "--parameters", "arg[12]"]
    wanted = outputs(program, [x, a, b, bias], tmp_path, "reference", *options)
    for a, b in zip(outputs(program, [x, a, b, bias], tmp_path, "compiled", *options), wanted, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("is_between", [False, True])
def test_heads_that_share_a_right_side(rows, is_between, tmp_path):
    """Three groups of two, which lie beside each other in a row of all, or one behind the other."""
    query = f"tensor<{rows}x3x2x16xf32>" if is_between else f"tensor<3x2x{rows}x16xf32>"
    group, row = ("[1, 2]", 0) if is_between else ("[0, 1]", 2)
    scores = f"tensor<3x2x{rows}x20xf32>"
    program = tmp_path / "p.mlir"
    program.write_text(f"""
func.func @main(%q: {query}, %k: tensor<3x20x16xf32>, %v: tensor<3x20x16xf32>) -> ({scores}, tensor<3x2x{rows}x16xf32>) {{
  %a = stablehlo.broadcast_in_dim %k, dims = [0, 2, 3] : (tensor<3x20x16xf32>) -> tensor<3x2x20x16xf32>
  %s = stablehlo.dot_general %q, %a, batching_dims = {group} x [0, 1], contracting_dims = [3] x [3] : ({query}, tensor<3x2x20x16xf32>) -> {scores}
  %n = stablehlo.negate %s : {scores}
  %b = stablehlo.broadcast_in_dim %v, dims = [0, 2, 3] : (tensor<3x20x16xf32>) -> tensor<3x2x20x16xf32>
  %c = stablehlo.dot_general %n, %b, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : ({scores}, tensor<3x2x20x16xf32>) -> tensor<3x2x{rows}x16xf32>
  return %s, %c : {scores}, tensor<3x2x{rows}x16xf32>
}}
""")
    drawn = np.random.default_rng(0)
    q = drawn.integers(-4, 5, (rows, 3, 2, 16) if is_between else (3, 2, rows, 16)).astype(np.float32)
    k, v = (drawn.integers(-4, 5, (3, 20, 16)).astype(np.float32) for _ in range(2))
    found, context = outputs(program, [q, k, v], tmp_path, "compiled")
    expected = np.einsum("thgd,hsd->hgts" if is_between else "hgtd,hsd->hgts", q, k)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(context, np.einsum("hgts,hsd->hgtd", -expected, v))


ELEMENTS = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f64": np.float64, "i8": np.int8, "i1": np.bool_}


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape, permutation", [((33, 70), (1, 0)), ((300, 17), (1, 0)), ((3, 40, 16), (0, 2, 1)),
                                                ((20, 5, 31), (2, 0, 1)), ((18, 19, 20), (2, 1, 0))])
def test_a_transpose_beside_what_lies_as_its_result(shape, permutation, element, tmp_path):
    """What lies across is read a line at a time, of lengths that are no multiple of a line too."""
    drawn = np.random.default_rng(0)
    x, y = [drawn.integers(0, 2 if element == "i1" else 60, [shape[i] for i in order]).astype(ELEMENTS[element])
            for order in (range(len(shape)), permutation)]
    kinds = ["tensor<" + "x".join(map(str, a.shape)) + f"x{element}>" for a in (x, y)]
    program = tmp_path / "p.mlir"
    program.write_text(f"""
func.func @main(%x: {kinds[0]}, %y: {kinds[1]}) -> ({kinds[1]}, {kinds[1]}) {{
  %t = stablehlo.transpose %x, dims = {list(permutation)} : ({kinds[0]}) -> {kinds[1]}
  %s = stablehlo.add %t, %y : {kinds[1]}
  return %t, %s : {kinds[1]}, {kinds[1]}
}}
""")
    found, added = outputs(program, [x, y], tmp_path, "compiled")
    wanted = x.transpose(permutation)
    assert np.array_equal(found, wanted) and np.array_equal(added, wanted + y)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape, axes", [((50, 70), (0,)), ((7, 300), (0,)), ((1, 64), (0,)), ((3, 40, 33), (1,)),
                                         ((4, 9, 65), (0, 1)), ((5, 16, 3, 2), (0,)),
                                         ((3, 2, 5, 128), (1, 2)), ((5, 7, 96), (1,)), ((2, 3, 4, 5, 32), (1, 3))])
def test_columns_are_reduced(shape, axes, element, tmp_path):
    """Sums and the largest, with what goes over the results: exact values, in any order of the sums."""
    x = np.random.default_rng(0).integers(0, 2, shape).astype(ELEMENTS[element])
    kept = [extent for axis, extent in enumerate(shape) if axis not in axes]
    whole, result = (f"tensor<{'x'.join(map(str, extents))}x{element}>" for extents in (shape, kept))
    zero, one = ("false", "true") if element == "i1" else ("0", "1") if element == "i8" else ("0.0", "1.0")
    program = tmp_path / "p.mlir"
    program.write_text(f"""
func.func @main(%x: {whole}) -> ({result}, {result}) {{
  %zero = stablehlo.constant dense<{zero}> : tensor<{element}>
  %one = stablehlo.constant dense<{one}> : {result}
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = {list(axes)} : ({whole}, tensor<{element}>) -> {result}
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = {list(axes)} : ({whole}, tensor<{element}>) -> {result}
  %2 = stablehlo.add %0, %one : {result}
  return %2, %1 : {result}, {result}
}}
""")
    sums, largest = outputs(program, [x], tmp_path, "compiled")
    wanted = x.any(axes) if element == "i1" else x.astype(np.int64).sum(axes).astype(x.dtype)
    assert np.array_equal(sums, wanted + np.ones_like(wanted)) and np.array_equal(largest, x.max(axes))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_sums_of_images_have_the_bits_of_their_own_sums(threads, tmp_path):
    """Wherever threads cut the rows: an image at a time, whose features lie beside each other, and all images at once."""
    x = np.random.default_rng(0).standard_normal((7, 37, 160)).astype(np.float32)

    def mean(images):
        program = tmp_path / "p.mlir"
        kinds = [f"tensor<{'x'.join(map(str, shape))}xf32>" for shape in (images.shape, (len(images), 160))]
        program.write_text(f"""
func.func @main(%x: {kinds[0]}) -> {kinds[1]} {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<37.0> : {kinds[1]}
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : ({kinds[0]}, tensor<f32>) -> {kinds[1]}
  %1 = stablehlo.divide %0, %n : {kinds[1]}
  return %1 : {kinds[1]}
}}
""")
        return outputs(program, [images], tmp_path, "compiled", "--threads", str(threads))[0]
    found = mean(x)
    assert found.tobytes() == b"".join(mean(x[i:i + 1]).tobytes() for i in range(7))
    assert (np.abs(found - x.astype(np.float64).mean(1)) <= 38 * 2.0**-24 * np.abs(x.astype(np.float64)).sum(1)).all()


@pytest.mark.parametrize("options", [["mxfp4", "--activations", "none"], ["mxfp8_e4m3", "--activations", "none"],
                                     ["mxfp8_e4m3"]], ids=" ".join)
def test_rows_of_chained_products_do_not_depend_on_where_they_are_cut(options, tmp_path):
    """However many rows and threads there are, none are summed as few rows alone are (rules D6 and D8)."""
    random = np.random.default_rng(0)
    x, first, second = (random.standard_normal(shape).astype(np.float32)
                        for shape in ((200, 96), (96, 4096), (4096, 32)))

    save_file({"v": first, "w": second}, tmp_path / "weights.safetensors")

    def products(rows, threads):
        program = tmp_path / "p.mlir"
        program.write_text(f"""
func.func @main(%x: tensor<{rows}x96xf32>, %v: tensor<96x4096xf32> {{octavo.name = "v", octavo.parameter}}, %w: tensor<4096x32xf32> {{octavo.name = "w", octavo.parameter}}) -> tensor<{rows}x32xf32> {{
  %0 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<{rows}x96xf32>, tensor<96x4096xf32>) -> tensor<{rows}x4096xf32>
  %1 = stablehlo.tanh %0 : tensor<{rows}x4096xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<{rows}x4096xf32>, tensor<4096x32xf32>) -> tensor<{rows}x32xf32>
  return %2 : tensor<{rows}x32xf32>
}}
""")
        return outputs(program, [x[:rows]], tmp_path, "compiled", "--weights", tmp_path / "weights.safetensors",
                       "--threads", str(threads), "--quantize", *options)[0]
    all_rows = products(200, 1)
    for rows, threads in itertools.product((17, 25, 33, 49, 65, 131), (1, 2, 3)):
        assert products(rows, threads).tobytes() == all_rows[:rows].tobytes()


def test_sums_of_columns_do_not_depend_on_threads(tmp_path):
    """An error bound of rule C3, the same bits with one thread and four, and a sum of products of two tensors."""
    x, y = (np.random.default_rng(i).standard_normal((1000, 700)).astype(np.float32) for i in range(2))
    program = tmp_path / "p.mlir"
    program.write_text("""
func.func @main(%x: tensor<1000x700xf32>, %y: tensor<1000x700xf32>) -> tensor<700xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.multiply %x, %y : tensor<1000x700xf32>
  %0 = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000x700xf32>, tensor<f32>) -> tensor<700xf32>
  return %0 : tensor<700xf32>
}
""")
    (one,), (four,) = (outputs(program, [x, y], tmp_path, "compiled", "--threads", str(n)) for n in (1, 4))
    assert np.array_equal(one, four)
    products = (x * y).astype(np.float64)
    assert (np.abs(one - products.sum(0)) <= 999 * 2.0**-24 * np.abs(products).sum(0)).all()


@pytest.mark.parametrize("part, none, axes, result", [
    ("0:0, 0:24", "0x24", "[0]", "24x8x"), ("0:6, 0:0", "6x0", "[1]", "6x8x"), ("0:0, 0:24", "0x24", "[0, 1]", "8x"),
    ("0:6, 0:0", "6x0", "[0, 1, 2]", "")])
def test_sums_of_no_elements_are_what_they_begin_with(part, none, axes, result, tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text(f"""
func.func @main(%x: tensor<6x24x8xf32>) -> tensor<{result}f32> {{
  %first = stablehlo.constant dense<3.0> : tensor<f32>
  %none = stablehlo.slice %x [{part}, 0:8] : (tensor<6x24x8xf32>) -> tensor<{none}x8xf32>
  %0 = stablehlo.reduce(%none init: %first) applies stablehlo.add across dimensions = {axes} : (tensor<{none}x8xf32>, tensor<f32>) -> tensor<{result}f32>
  return %0 : tensor<{result}f32>
}}
""")
    (found,) = outputs(program, [np.ones((6, 24, 8), np.float32)], tmp_path, "compiled")
    assert found.size and (found == 3).all()


@pytest.mark.parametrize("equation, permutation, kernels", [
    ("km,kn->mn", (1, 0), 1), ("bkm,bkn->bmn", (0, 2, 1), 1), ("kml,kn->mln", (2, 0, 1), 1), ("kml,kn->mln", (2, 1, 0), 2)])
def test_a_product_is_made_transposed(equation, permutation, kernels, tmp_path):
    """As the gradient of a weight is: the one kernel lays out the left side. The last has other axes in between."""
    extents = {"b": 3, "k": 17, "m": 40, "n": 33, "l": 5}
    lhs, rhs, result = re.split(",|->", equation)
    shapes = [[extents[axis] for axis in axes] for axes in (lhs, rhs, result)]
    types = ["tensor<" + "x".join(map(str, shape)) + "xf32>" for shape in (*shapes, np.array(shapes[2])[list(permutation)])]
    batch = "batching_dims = [0] x [0], " if "b" in result else ""
    dot = (f"  %0 = stablehlo.dot_general %a, %b, {batch}contracting_dims = [{lhs.index('k')}] x [{rhs.index('k')}] : "
           f"({types[0]}, {types[1]}) -> {types[2]}\n")
    begin = f"func.func @main(%a: {types[0]}, %b: {types[1]}) -> "
    turned, plain = tmp_path / "turned.mlir", tmp_path / "plain.mlir"
    turned.write_text(f"{begin}{types[3]} {{\n{dot}  %1 = stablehlo.transpose %0, dims = {list(permutation)} : "
                      f"({types[2]}) -> {types[3]}\n  return %1 : {types[3]}\n}}\n")
    plain.write_text(f"{begin}{types[2]} {{\n{dot}  return %0 : {types[2]}\n}}\n")
    drawn = np.random.default_rng(0)
    inputs = [drawn.standard_normal(shape).astype(np.float32) for shape in shapes[:2]]
    (found,), (untransposed,) = (outputs(program, inputs, tmp_path, "compiled") for program in (turned, plain))
    np.testing.assert_allclose(found, np.einsum(equation, *inputs).transpose(permutation), rtol=1e-5, atol=1e-5)
    assert np.array_equal(found, untransposed.transpose(permutation))
    explained = json.loads(subprocess.run([OCTAVO, "run", turned, "--explain-compile", "--json"], check=True,
                                          capture_output=True, text=True).stdout)
    assert explained["functions"][0]["kernels"]["steps"] == kernels


@pytest.mark.parametrize("layout", ["in x out", "out x in"])
@pytest.mark.parametrize("name", ["mxfp4", "mxint8", "nvfp4"])
def test_a_quantization_runs_before_its_product(name, layout, tmp_path):
    """Beside a chain that it has nothing to do with; the weight as either axis of it is contracted."""
    shape, axis = ("64x96", 0) if layout == "in x out" else ("96x64", 1)
    program = tmp_path / "p.mlir"
    program.write_text(f"""
func.func @main(%x: tensor<40x64xf32>, %a: tensor<{shape}xf32>) -> (tensor<40x40xf32>, tensor<40x96xf32>) {{
  %s = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x40xf32>
  %t = stablehlo.negate %s : tensor<40x40xf32>
  %n = stablehlo.sqrt %x : tensor<40x64xf32>
  %z = stablehlo.negate %n : tensor<40x64xf32>
  %y = stablehlo.dot_general %z, %a, contracting_dims = [1] x [{axis}] : (tensor<40x64xf32>, tensor<{shape}xf32>) -> tensor<40x96xf32>
  return %t, %y : tensor<40x40xf32>, tensor<40x96xf32>
}}
""")
    drawn = np.random.default_rng(0)
    inputs = [drawn.integers(0, 9, (40, 64)).astype(np.float32),
              drawn.standard_normal([int(extent) for extent in shape.split("x")]).astype(np.float32)]
    options = ["--quantize", name, "--parameters", "arg1"]
    for a, b in zip(outputs(program, inputs, tmp_path, "compiled", *options),
                    outputs(program, inputs, tmp_path, "reference", *options), strict=True):
        assert a.tobytes() == b.tobytes()
    explained = subprocess.run([OCTAVO, "run", program, *options, "--explain-compile"], capture_output=True, text=True)
    assert re.search(r"interpreted +0 operations", explained.stdout), explained.stdout


def test_a_loop_writes_into_what_it_carries(tmp_path):
    """dynamic_update_slice in a loop, on a cache that is also read."""
    program = tmp_path / "cache.mlir"
    program.write_text("""
func.func @main(%cache: tensor<8x4xf32>, %row: tensor<1x4xf32>) -> (tensor<8x4xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %r:3 = stablehlo.while(%i = %zero, %c = %cache, %s = %none) : tensor<i32>, tensor<8x4xf32>, tensor<f32>
   cond {
    %end = stablehlo.constant dense<6> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %new = stablehlo.dynamic_update_slice %c, %row, %i, %z : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %top = stablehlo.reduce(%new init: %low) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %sum = stablehlo.add %s, %top : tensor<f32>
    stablehlo.return %next, %new, %sum : tensor<i32>, tensor<8x4xf32>, tensor<f32>
  }
  return %r#1, %r#2 : tensor<8x4xf32>, tensor<f32>
}
""")
    cache = np.arange(32, dtype=np.float32).reshape(8, 4)
    given = cache.copy()
    found, total = outputs(program, [given, np.full((1, 4), 40, np.float32)], tmp_path, "compiled")
    cache[:6] = 40
    np.testing.assert_array_equal(found, cache)
    assert total == 240


MATRIX = "tensor<8x8xf32>"
BODIES = {  # what comes of %p and %m, and how many matrices are kept, results among them: two where both are written in place
    "elementwise": ("""%h = stablehlo.multiply %m, %half : M
    %m1 = stablehlo.add %h, %p : M
    %p1 = stablehlo.subtract %p, %m1 : M""", lambda p, m: (p - (m / 2 + p), m / 2 + p), 2),
    "read by a product before": ("""%g = stablehlo.dot_general %x, %p, contracting_dims = [1] x [0] : (M, M) -> M
    %h = stablehlo.multiply %m, %half : M
    %m1 = stablehlo.add %h, %g : M
    %p1 = stablehlo.subtract %p, %m1 : M""", lambda p, m: (p - (m / 2 + X @ p), m / 2 + X @ p), 4),
    "read by a product after": ("""%p1 = stablehlo.add %p, %half : M
    %t = stablehlo.transpose %p1, dims = [1, 0] : (M) -> M
    %g = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (M, M) -> M
    %d = stablehlo.dot_general %g, %p, contracting_dims = [1] x [0] : (M, M) -> M
    %h = stablehlo.multiply %d, %half : M
    %m1 = stablehlo.subtract %h, %m : M""", lambda p, m: (p + 0.5, X @ (p + 0.5).T @ p / 2 - m), None),
    "read elsewhere": ("""%t = stablehlo.transpose %p, dims = [1, 0] : (M) -> M
    %h = stablehlo.multiply %m, %half : M
    %m1 = stablehlo.add %h, %t : M
    %p1 = stablehlo.subtract %p, %t : M""", lambda p, m: (p - p.T, m / 2 + p.T), None),
    "by rows": ("""%sum = stablehlo.reduce(%p init: %none) applies stablehlo.add across dimensions = [1] : (M, tensor<f32>) -> tensor<8xf32>
    %b = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<8xf32>) -> M
    %p1 = stablehlo.subtract %b, %p : M
    %m1 = stablehlo.add %m, %b : M""", lambda p, m: (p.sum(1, keepdims=True) - p, m + p.sum(1, keepdims=True)), 2),
    "an epilogue": ("""%g = stablehlo.dot_general %x, %p, contracting_dims = [1] x [0] : (M, M) -> M
    %p1 = stablehlo.subtract %g, %p : M
    %m1 = stablehlo.subtract %half, %m : M""", lambda p, m: (X @ p - p, 0.5 - m), None),
    "read by a prologue after": ("""%p1 = stablehlo.add %p, %half : M
    %l = stablehlo.broadcast_in_dim %p1, dims = [1, 2] : (M) -> tensor<2x8x8xf32>
    %b = stablehlo.broadcast_in_dim %p, dims = [1, 2] : (M) -> tensor<2x8x8xf32>
    %halves = stablehlo.constant dense<0.5> : tensor<2x8x8xf32>
    %w = stablehlo.multiply %b, %halves : tensor<2x8x8xf32>
    %g = stablehlo.dot_general %l, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %s = stablehlo.slice %g [1:2, 0:8, 0:8] : (tensor<2x8x8xf32>) -> tensor<1x8x8xf32>
    %d = stablehlo.reshape %s : (tensor<1x8x8xf32>) -> M
    %m1 = stablehlo.subtract %d, %m : M""", lambda p, m: (p + 0.5, (p + 0.5) @ (p / 2) - m), None),
    "both ways": ("""%h = stablehlo.multiply %m, %half : M
    %m1 = stablehlo.add %p, %half : M
    %p1 = stablehlo.add %h, %p : M""", lambda p, m: (m / 2 + p, p + 0.5), None),
}
X = np.random.default_rng(3).integers(-1, 2, (8, 8)).astype(np.float32)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_a_loop_updates_what_it_carries_where_it_lies(name, keeps, tmp_path):
    """Elementwise, where nothing else reads what was there: an optimizer's steps. `keeps`: the turn before is carried, too."""
    body, turn, most = BODIES[name]
    more = (", %old = %p0", ", M", ", %p") if keeps else ("", "", "")
    program = tmp_path / "loop.mlir"
    program.write_text(f"""
func.func @main(%x: M, %p0: M, %m0: M) -> (M, M{more[1]}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : M
  %r:{4 if keeps else 3} = stablehlo.while(%i = %zero, %p = %p0, %m = %m0{more[0]}) : tensor<i32>, M, M{more[1]}
   cond {{
    %end = stablehlo.constant dense<3> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    {body}
    stablehlo.return %next, %p1, %m1{more[2]} : tensor<i32>, M, M{more[1]}
  }}
  return %r#1, %r#2{", %r#3" if keeps else ""} : M, M{more[1]}
}}
""".replace(" M", " " + MATRIX).replace("(M", "(" + MATRIX))
    random = np.random.default_rng(4)
    p, m = (random.integers(-4, 5, (8, 8)).astype(np.float32) for _ in range(2))
    found = outputs(program, [X, p, m], tmp_path, "compiled", "--dump", tmp_path / "dump")
    for _ in range(3):
        old, (p, m) = p, turn(p, m)
    for a, b in zip(found, [p, m, old][:len(found)], strict=True):
        np.testing.assert_array_equal(a, b)
    steps = (tmp_path / "dump/2-steps.txt").read_text()
    matrices = re.findall(r"(?:arena at|result) \d+, 256 bytes", steps)
    assert most is None or keeps or len(matrices) == most, matrices
    assert ("copy: func.return" in steps) == (len(matrices) > 2)


def test_a_scan_stacks_its_results_where_the_caller_has_them(tmp_path):
    def function(x, h):
        return jax.lax.scan(lambda h, row: (h * 0.5 + row, h - row), h, x)
    x, h = (np.random.default_rng(5).integers(-4, 5, shape).astype(np.float32) for shape in ((6, 40), (40,)))
    program = tmp_path / "scan.mlir"
    program.write_text(jax.jit(function).lower(x, h).as_text())
    found = outputs(program, [x, h], tmp_path, "compiled", "--dump", tmp_path / "dump")
    wanted = jax.jit(function)(x, h)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    steps = (tmp_path / "dump/2-steps.txt").read_text()
    assert "copy:" not in steps and steps.count(", 960 bytes") == 2, steps  # the argument and the result


def test_what_a_loop_hands_on_as_it_is_stays_as_it_is(tmp_path):
    """Its memory is not written to: by an update in the body, in the condition, or of the loop's result."""
    update = ("stablehlo.dynamic_update_slice {}, %row, %z, %z : (tensor<4x4xf32>, tensor<1x4xf32>, tensor<i32>, "
              "tensor<i32>) -> tensor<4x4xf32>")
    total = "stablehlo.reduce({} init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>"
    program = tmp_path / "same.mlir"
    program.write_text(f"""
func.func @main(%x: tensor<4x4xf32>, %row: tensor<1x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>) {{
  %z = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %w = stablehlo.add %x, %x : tensor<4x4xf32>
  %r:4 = stablehlo.while(%i = %z, %same = %w, %s = %none, %p = %x) : tensor<i32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>
   cond {{
    %d = {update.format("%same")}
    %t = {total.format("%d")}
    %end = stablehlo.constant dense<3> : tensor<i32>
    %less = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %finite = stablehlo.compare GT, %t, %low : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %more = stablehlo.and %less, %finite : tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %d = {update.format("%same")}
    %t = {total.format("%d")}
    %sum = stablehlo.add %s, %t : tensor<f32>
    %q = stablehlo.dot_general %p, %same, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %next, %same, %sum, %q : tensor<i32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>
  }}
  %after = {update.format("%r#1")}
  return %after, %r#3, %r#2, %w : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>
}}
""")
    x = np.arange(16, dtype=np.float32).reshape(4, 4) - 7
    row = np.full((1, 4), 40, np.float32)
    after, power, sums, kept = outputs(program, [x, row], tmp_path, "compiled")
    doubled = 2 * x
    updated = np.concatenate([row, doubled[1:]])
    np.testing.assert_array_equal(kept, doubled)
    np.testing.assert_array_equal(after, updated)
    np.testing.assert_array_equal(power, x @ doubled @ doubled @ doubled)
    assert sums == 3 * updated.sum()


def test_bits_are_what_they_are(tmp_path):
    """bitcast_convert in kernels, of types that registers widen too, and by the interpreter where the widths differ."""
    program = tmp_path / "bits.mlir"
    program.write_text("""
func.func @main(%x: tensor<6xf32>) -> (tensor<6xi32>, tensor<6xf32>, tensor<6x2xui16>, tensor<6xui16>) {
  %i = stablehlo.bitcast_convert %x : (tensor<6xf32>) -> tensor<6xi32>
  %one = stablehlo.constant dense<1> : tensor<6xi32>
  %next = stablehlo.add %i, %one : tensor<6xi32>
  %f = stablehlo.bitcast_convert %next : (tensor<6xi32>) -> tensor<6xf32>
  %halves = stablehlo.bitcast_convert %x : (tensor<6xf32>) -> tensor<6x2xui16>
  %b = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xbf16>
  %c = stablehlo.bitcast_convert %b : (tensor<6xbf16>) -> tensor<6xui16>
  return %i, %f, %halves, %c : tensor<6xi32>, tensor<6xf32>, tensor<6x2xui16>, tensor<6xui16>
}
""")
    x = np.array([0, -0.0, 1.5, -2, 1e-40, np.inf], np.float32)
    found = outputs(program, [x], tmp_path, "compiled")
    for a, b in zip(found, (x.view(np.int32), (x.view(np.int32) + 1).view(np.float32), x.view(np.uint16).reshape(6, 2),
                            x.astype(ml_dtypes.bfloat16).view(np.uint16)), strict=True):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


def test_an_unfitting_argument_is_named(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n")
    np.save(tmp_path / "x.npy", np.zeros(5, np.float32))
    run = subprocess.run([OCTAVO, "run", program, "--input", tmp_path / "x.npy", "--backend", "compiled"],
                         capture_output=True, text=True)
    assert run.returncode != 0 and "tensor<4xf32>" in run.stderr or "f32[4]" in run.stderr, run.stderr
