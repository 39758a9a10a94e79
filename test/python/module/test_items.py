"""Programs that leave the number of their items open, a batch most often: one executable for any number of them."""

import os
import pathlib
import subprocess
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import octavo
from programs_of_items import (ANY, EXACT, F32, FROM, NOT_ANY, SUMS_OF_ITEMS, W1, W2, lstm, mlp, steps,
                               transformer)


def exported(function, axes, dtype, items="b"):
    shape = jax.export.symbolic_shape(f"{items}, {axes}")
    return jax.export.export(jax.jit(function))(jax.ShapeDtypeStruct(shape, dtype))


def drawn(items, axes, dtype):
    shape = (items, *(int(axis) for axis in axes.split(",") if axis.strip()))
    return np.random.default_rng(items).integers(-3, 4, shape).astype(dtype)


def listed(results):
    return jax.tree.leaves(results)


def assert_bits(found, wanted):
    for a, b in zip(listed(found), listed(wanted), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_array_equal(a.view(np.uint32), b.view(np.uint32))


@pytest.mark.parametrize("name", ANY)
def test_any_number_of_items(name):
    """The bits of a program that is exported for so many, but for sums along the items (C3), and where all sums are
    exact, the interpreter's."""
    function, axes, dtype = ANY[name]
    program = octavo.compile(exported(function, axes, dtype))
    reference = octavo.compile(exported(function, axes, dtype), backend="reference")
    for items in (3, 1, 2, 16, 17, 40, 3, 300, 1200):
        x = drawn(items, axes, dtype)
        found = program(x)
        assert program.explain()["open_extents"] == FROM.get(name, "any number of items")
        known = octavo.compile(exported(function, axes, dtype, items))(x)
        if name in SUMS_OF_ITEMS:
            for a, b in zip(found, known, strict=True):
                np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
        else:
            assert_bits(found, known)
        if name in EXACT and items < 50:
            assert_bits(found, reference(x))


@pytest.mark.parametrize("name", ["mlp", "transformer", "attention", "softly"])
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "mxint8", "fp8_row"])
def test_any_number_of_quantized_items(name, format, tmp_path):
    """The bits of a program that is exported for so many, in a folder too, and near the interpreter's."""
    function, axes, dtype = ANY[name]
    options = {"quantize": format, "both_activations": True}
    program = octavo.compile(exported(function, axes, dtype), **options)
    (tmp_path / "p.bin").write_bytes(exported(function, axes, dtype).serialize())
    subprocess.run([pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo", "compile", tmp_path / "p.bin", "-o", tmp_path / "folder",
                    "--quantize", format, "--both-activations"], check=True, capture_output=True)
    folder = octavo.load_program(tmp_path / "folder")
    for items in (3, 1, 16, 17, 3, 300):
        x = drawn(items, axes, dtype)
        closed = octavo.compile(exported(function, axes, dtype, items), **options)
        found = program(x)
        assert_bits(found, closed(x))
        assert_bits(folder(x), found)
        if items < 10:
            near = octavo.compile(exported(function, axes, dtype, items), backend="reference", **options)(x)
            for a, b in zip(listed(found), listed(near), strict=True):
                assert np.abs(a - b).max() <= 0.05 * np.abs(b).max()  # codes beside each other, after other last bits


@pytest.mark.parametrize("name, format", [
    *((name, format) for name in ("squares", "columns") for format in ("mxfp8_e4m3", "mxfp4", "mxint8", "nvfp4", "fp8_row", "fp8_tensor")),
    ("contracted", "mxfp8_e4m3"), ("contracted", "mxfp4")])
def test_quantized_products_along_items(name, format):
    """Which contract them, in blocks that they do not fill, under one scale of all, or have them for columns: the bits
    of a program that is exported for so many, but for a sum of all items (C3)."""
    function, axes, dtype = ANY[name]
    options = {"quantize": format, "both_activations": True}
    program = octavo.compile(exported(function, axes, dtype), **options)
    for items in (3, 1, 2, 16, 17, 31, 32, 33, 64, 300, 3):
        x = drawn(items, axes, dtype)
        found = listed(program(x))
        known = listed(octavo.compile(exported(function, axes, dtype, items), **options)(x))
        assert program.explain()["open_extents"] == "any number of items" and not program.explain()["interpreted"]
        assert_bits([each for each in found if each.shape], [each for each in known if each.shape])
        for a, b in zip(found, known, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5)
        if items < 40:
            near = octavo.compile(exported(function, axes, dtype, items), backend="reference", **options)(x)
            for a, b in zip(found, listed(near), strict=True):
                assert np.abs(a - b).max() <= 1e-4 * np.abs(b).max()


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4"])
@pytest.mark.parametrize("name", ["entropy", "seen", "recurrent", "over a sequence", "one to all"])
def test_quantized_training_of_any_number_of_items(name, format):
    """Of layers, of a network of convolutions, of a scan and of an attention over the items. What a sum over the items
    scales may have other codes."""
    function, axes, dtype = ANY[name]
    options = {"quantize": format, "both_activations": True}
    program = octavo.compile(exported(function, axes, dtype), **options)
    for items in (3, 1, 33, 300):
        x = drawn(items, axes, dtype)
        known = octavo.compile(exported(function, axes, dtype, items), **options)(x)
        for a, b in zip(listed(program(x)), listed(known), strict=True):
            assert np.abs(a - b).max() <= 0.01 * np.abs(b).max()
        assert program.explain()["open_extents"] == "any number of items" and not program.explain()["interpreted"]


def test_scaled_tensors_along_items():
    """Quantized, with random bits too, taken apart and dequantized: the interpreter's bits."""
    text = """
!blocks = !octavo.scaled<6x?xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @main(%x: tensor<?x6xf32>, %bits: tensor<?x6xui32>) -> (tensor<6x?xf32>, tensor<6x6xf32>) {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x6xf32>) -> tensor<6x?xf32>
  %r = stablehlo.transpose %bits, dims = [1, 0] : (tensor<?x6xui32>) -> tensor<6x?xui32>
  %0 = octavo.quantize %t, rule = floor : tensor<6x?xf32> -> !blocks
  %1 = octavo.dequantize %0 : !blocks -> tensor<6x?xf32>
  %2 = octavo.quantize %t random(%r : tensor<6x?xui32>), rule = floor, rounding = stochastic : tensor<6x?xf32> -> !blocks
  %3 = octavo.dot_general %0, %2, contracting_dims = [1] x [1] : (!blocks, !blocks) -> tensor<6x6xf32>
  return %1, %3 : tensor<6x?xf32>, tensor<6x6xf32>
}
"""
    program, reference = octavo.compile(text), octavo.compile(text, backend="reference")
    for items in (3, 32, 1, 33, 100):
        x, bits = drawn(items, "6", F32), np.random.default_rng(items).integers(0, 2**32, (items, 6), np.uint32)
        assert_bits(program(x, bits), reference(x, bits))
        assert program.explain()["open_extents"] == "any number of items"


def test_tensors_of_any_size_besides_the_items():
    shapes = [jax.ShapeDtypeStruct((600, 600), F32), jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 600"), F32)]
    program = octavo.compile(jax.export.export(jax.jit(lambda w, x: jnp.tanh(x @ w)))(*shapes), quantize="mxfp8_e4m3", parameters="^w$")
    program(np.ones((600, 600), F32), drawn(3, "600", F32))
    assert program.explain()["open_extents"] == "any number of items"


@pytest.mark.parametrize("name", NOT_ANY)
def test_what_is_not_the_same_for_each_item_is_compiled_again(name):
    function, axes, dtype = NOT_ANY[name]
    program = octavo.compile(exported(function, axes, dtype))
    for items in (3, 1, 2, 5, 40):
        x = drawn(items, axes, dtype)
        assert_bits(program(x), octavo.compile(exported(function, axes, dtype, items))(x))
        assert program.explain()["open_extents"].startswith("compiled for each set of extents: ")


def test_rows_of_items_fit_a_stack():
    """A kernel keeps a row as long as there are items; of more than fit, each number has its own."""
    program = octavo.compile(exported(lambda x: jax.nn.softmax(x[:, :2].T, -1), "4", F32))
    for items, expected in ((5, "any number"), (65536, "any number"), (65537, "compiled for each"), (7, "any number")):
        x = drawn(items, "4", F32)
        wanted = np.exp(x[:, :2].T.astype(np.float64))
        np.testing.assert_allclose(program(x), wanted / wanted.sum(1, keepdims=True), rtol=1e-4)
        assert program.explain()["open_extents"].startswith(expected)


def test_a_scan_over_another_axis_is_compiled():
    program = octavo.compile(exported(steps, "6, 16", F32))
    explained = program.explain()
    assert explained["interpreted_whole"] == "" and explained["interpreted"] == [] and explained["kernels"] > 0
    assert explained["open_extents"] == "any number of items"


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxint8"])
def test_scans_of_quantized_items(format):
    program = octavo.compile(exported(lstm, "6, 16", F32), quantize=format)
    for items in (3, 1, 17, 40):
        x = drawn(items, "6, 16", F32)
        assert_bits(program(x), octavo.compile(exported(lstm, "6, 16", F32, items), quantize=format)(x))
        assert program.explain()["open_extents"] == "any number of items"


EXTENTS = """func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<i32>, tensor<i32>) {{
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %{other}, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.negate %x : tensor<?x4xf32>
  %1 = call @f(%n, %m) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = call @f({second}) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<i32>, tensor<i32>
}}
func.func private @f(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.subtract %a, %b : tensor<i32>
  %1 = stablehlo.clamp %zero, %0, %one : tensor<i32>
  return %1 : tensor<i32>
}}
"""


@pytest.mark.parametrize("other, second, wanted", [
    ("x", "%n, %m", lambda n, m: (0, 0)), ("y", "%n, %n", lambda n, m: (n > m, 0)),
    ("x", "%m, %three", lambda n, m: (0, n > 3))])
def test_numbers_that_extents_make_are_numbers_of_each(other, second, wanted):
    """Of many items the second function gives the same, whatever their number is."""
    program = octavo.compile(EXTENTS.format(other=other, second=second))
    for n, m in ((5, 5), (5, 4), (3, 3), (1, 7), (7, 7)):
        x = drawn(n, "4", F32)
        negated, first, then = program(x, drawn(m, "4", F32))
        assert_bits(negated, -x)
        assert (int(first), int(then)) == wanted(n, m)


def test_no_items():
    """Assertions of JAX want one; other programs have none. What is not of items is there all the same."""
    with pytest.raises(octavo.ShapeError, match="Expected value >= 1"):
        octavo.compile(exported(mlp, "16", F32))(np.zeros((0, 16), F32))
    program = octavo.compile("""func.func @main(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) -> (tensor<?x3xf32>, tensor<4x3xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %1 = stablehlo.tanh %0 : tensor<?x3xf32>
  %2 = stablehlo.negate %w : tensor<4x3xf32>
  return %1, %2 : tensor<?x3xf32>, tensor<4x3xf32>
}
""")
    w = np.arange(12, dtype=F32).reshape(4, 3)
    for items in (2, 0, 5, 0):
        x = drawn(items, "4", F32)
        y, fixed = program(x, w)
        np.testing.assert_allclose(y, np.tanh(x @ w), rtol=1e-6)
        np.testing.assert_array_equal(fixed, -w)
        assert y.shape == (items, 3)


def test_matrices_and_transforms_of_any_number():
    text = """func.func @main(%x: tensor<Ax5x5xf32>, %y: tensor<Ax5x5xf32>) -> (tensor<Ax5x5xf32>, tensor<Ax5x5xf32>) {
  %z = stablehlo.complex %x, %y : tensor<Ax5x5xcomplex<f32>>
  %p = stablehlo.dot_general %z, %z, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<Ax5x5xcomplex<f32>>, tensor<Ax5x5xcomplex<f32>>) -> tensor<Ax5x5xcomplex<f32>>
  %f = stablehlo.fft %p, type = FFT, length = [5, 5] : (tensor<Ax5x5xcomplex<f32>>) -> tensor<Ax5x5xcomplex<f32>>
  %re = stablehlo.real %f : (tensor<Ax5x5xcomplex<f32>>) -> tensor<Ax5x5xf32>
  %l = stablehlo.cholesky %x, lower = true : tensor<Ax5x5xf32>
  %v = "stablehlo.triangular_solve"(%l, %y) {left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<Ax5x5xf32>, tensor<Ax5x5xf32>) -> tensor<Ax5x5xf32>
  return %re, %v : tensor<Ax5x5xf32>, tensor<Ax5x5xf32>
}
"""
    program = octavo.compile(text.replace("Ax", "?x"))
    for items in (3, 1, 40, 2):
        x, y = drawn(items, "5, 5", F32), drawn(items + 50, "5, 5", F32)[:items]
        x = (x @ x.swapaxes(1, 2) + 6 * np.eye(5)).astype(F32)
        found = program(x, y)
        assert program.explain()["open_extents"] == "any number of items"
        assert_bits(found, octavo.compile(text.replace("Ax", f"{items}x"), backend="reference")(x, y))


def test_arguments_that_are_refused_say_nothing_of_others():
    b, = jax.export.symbolic_shape("b")
    shapes = [jax.ShapeDtypeStruct((b, columns), F32) for columns in (4, 3)]
    program = octavo.compile(jax.export.export(jax.jit(lambda x, y: (x * 2, y * 2)))(*shapes))
    with pytest.raises(octavo.ShapeError, match="Input shapes do not match"):
        program(drawn(5, "4", F32), drawn(4, "3", F32))
    assert_bits(program(drawn(5, "4", F32), drawn(5, "3", F32)), (drawn(5, "4", F32) * 2, drawn(5, "3", F32) * 2))
    assert program.explain()["open_extents"] == "any number of items"


def test_several_open_extents():
    """Of a batch of sequences, the batch is the items; each length of a sequence has an executable for any batch."""
    def function(x):
        return jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", x, x) / 16)
    program = octavo.compile(exported(function, "s, 16", F32))
    for items, length in [(2, 7), (3, 7), (7, 7), (5, 9), (9, 2), (1, 1), (4, 1)]:
        x = drawn(items, f"{length}, 16", F32)
        assert_bits(program(x), octavo.compile(exported(function, f"{length}, 16", F32, items))(x))
        assert program.explain()["open_extents"] == "any number of items"


def test_two_open_arguments():
    """Whose first extents are one number, or two: what is right for one number of both is not taken for two."""
    program = octavo.compile("""func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = stablehlo.add %x, %x : tensor<?x4xf32>
  %1 = stablehlo.multiply %y, %y : tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}
""")
    for first, second in [(3, 3), (2, 5), (5, 2), (4, 4), (4, 5), (1, 3), (2, 3)]:
        x, y = drawn(first, "4", F32), drawn(second, "4", F32)
        assert_bits(program(x, y), (x + x, y * y))
        assert program.explain()["open_extents"] == "any number of items"


def test_assertions_hold_for_each_number():
    shape = jax.export.symbolic_shape("b, 16", constraints=["b <= 64"])
    program = octavo.compile(jax.export.export(jax.jit(mlp))(jax.ShapeDtypeStruct(shape, F32)))
    for items in (3, 64, 5):
        program(drawn(items, "16", F32))
        assert program.explain()["open_extents"] == "any number of items"
    with pytest.raises(octavo.ShapeError, match="64"):
        program(drawn(65, "16", F32))
    program(drawn(6, "16", F32))


def test_what_reads_fixed_items_is_not_for_fewer():
    text = """func.func @main(%x: tensor<?x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.slice %x [0:3, 0:4] : (tensor<?x4xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.negate %0 : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
"""
    program = octavo.compile(text)
    for items in (5, 3, 4):
        x = drawn(items, "4", F32)
        assert_bits(program(x), -x[:3])
        with pytest.raises(octavo.ShapeError, match="slice"):
            program(drawn(2, "4", F32))
    asserted = octavo.compile(text.replace("  %0", """  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %p = stablehlo.compare GE, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p, %n) {api_version = 2 : i32, error_message = "b >= 3, found {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %0""", 1))
    for items in (5, 3):
        x = drawn(items, "4", F32)
        assert_bits(asserted(x), -x[:3])
        assert asserted.explain()["open_extents"] == "any number of items"
    with pytest.raises(octavo.ShapeError, match="b >= 3, found 2"):
        asserted(drawn(2, "4", F32))


def test_results_in_the_callers_memory():
    program = octavo.compile(exported(mlp, "16", F32))
    for items in (3, 50, 7):
        x = drawn(items, "16", F32)
        out = np.full((items, 24), np.nan, F32)
        assert program(x, out=out) is out
        np.testing.assert_array_equal(out, np.maximum(x @ W1, 0) @ W2 + 1)
        with pytest.raises(octavo.ShapeError):
            program(x, out=np.zeros((items + 1, 24), F32))
    with pytest.raises(octavo.ShapeError):
        program(drawn(3, "17", F32))


def test_a_scan_in_the_callers_memory():
    program = octavo.compile(exported(lstm, "6, 16", F32))
    for items in (3, 50, 7):
        x = drawn(items, "6, 16", F32)
        out = [np.full(shape, np.nan, F32) for shape in ((items, 6, 16), (items, 16), (items, 16))]
        assert all(a is b for a, b in zip(program(x, out=out), out))
        assert_bits(tuple(out), program(x))


def test_donated_caches():
    """Which a loop appends to."""
    b, = jax.export.symbolic_shape("b")

    def append(cache, new):
        def step(cache, each):
            place, now = each
            return jax.lax.dynamic_update_slice(cache, now[:, None] * 2, (0, place, 0)), now.sum(1)
        return jax.lax.scan(step, cache, (jnp.arange(3) + 2, new.swapaxes(0, 1)))

    program = octavo.compile(jax.export.export(jax.jit(append, donate_argnums=0))(
        jax.ShapeDtypeStruct((b, 8, 4), F32), jax.ShapeDtypeStruct((b, 3, 4), F32)))
    for items in (3, 1, 17):
        cache, new = drawn(items, "8, 4", F32), drawn(items, "3, 4", F32)
        wanted = cache.copy(), new.sum(2).T
        wanted[0][:, 2:5] = new * 2
        found = program(cache, new, out=[cache, np.empty((3, items), F32)])
        assert found[0] is cache
        assert_bits(tuple(found), tuple(np.ascontiguousarray(each) for each in wanted))
        assert program.explain()["open_extents"] == "any number of items"


@pytest.mark.parametrize("function", [transformer, lstm])
def test_many_numbers_at_once(function):
    program = octavo.compile(exported(function, "6, 16", F32))
    numbers = [1, 2, 3, 5, 17, 33, 64, 120]
    wanted = {items: listed(program(drawn(items, "6, 16", F32))) for items in numbers}
    failed = []

    def call(first):
        for turn in range(24):
            items = numbers[(first + turn * 3) % len(numbers)]
            found = listed(program(drawn(items, "6, 16", F32)))
            if not all(np.array_equal(a, b) for a, b in zip(found, wanted[items], strict=True)):
                failed.append(items)

    threads = [threading.Thread(target=call, args=[i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_any_number_of_products_of_scaled_tensors():
    """A batch of them, which lie in codes and scales; whole numbers, so that the order of sums is nobody's."""
    program = octavo.compile("""
!codes = tensor<?x5x64xf8E4M3FN>
!scales = tensor<?x5x2xf8E8M0FNU>
!scaled = !octavo.scaled<?x5x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
func.func @main(%x: tensor<?x4x64xf32>, %codes: !codes, %scales: !scales) -> tensor<?x4x5xf32> {
  %k = octavo.pack %codes, %scales : (!codes, !scales) -> !scaled
  %y = octavo.dot_general %x, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<?x4x64xf32>, !scaled) -> tensor<?x4x5xf32>
  return %y : tensor<?x4x5xf32>
}
""")
    for items in (3, 1, 40, 3):
        x, codes = drawn(items, "4, 64", F32), drawn(items, "5, 64", F32).astype(jnp.float8_e4m3fn)
        scales = np.exp2(np.random.default_rng(items).integers(-2, 3, (items, 5, 2))).astype(jnp.float8_e8m0fnu)
        values = codes.astype(np.float64) * np.repeat(scales.astype(np.float64), 32, -1)
        np.testing.assert_array_equal(program(x, codes, scales), x @ values.swapaxes(1, 2))
        explained = program.explain()
        assert explained["open_extents"] == "any number of items" and not explained["interpreted"]
