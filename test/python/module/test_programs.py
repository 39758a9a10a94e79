"""octavo.compile beside JAX and NumPy: what is called, and what it gives."""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")
import jax.export
import jax.numpy as jnp
import octavo
from program_commands import octavo as octavo_command
from two_layers import PARAMS, X, close, drawn, lowered, mlp, program


def test_every_form_of_a_program(lowered, tmp_path):
    exported = jax.export.export(jax.jit(mlp))(PARAMS, X)
    text = lowered.as_text()
    for name, content in (("text.mlir", text.encode()), ("export", exported.serialize())):
        (tmp_path / name).write_bytes(content)
    arguments = (PARAMS["b"], PARAMS["w1"], PARAMS["w2"], X)
    for form in (text, text.encode(), exported, tmp_path / "text.mlir", str(tmp_path / "export"), lowered):
        close(octavo.compile(form)(*arguments))


@pytest.mark.parametrize("shape", [(101,), (8, 32), (1, 16, 16)])
def test_a_mask_of_many_elements(shape, tmp_path):
    """JAX prints more than 100 booleans in hexadecimal, a byte for each."""
    mask = np.random.default_rng(0).random(shape) < 0.5
    x = np.arange(mask.size, dtype=np.float32).reshape(shape) + 1
    lowered = jax.jit(lambda x: jnp.where(mask, x, -x)).lower(x)
    (tmp_path / "masked.mlir").write_text(lowered.as_text())
    for form in (lowered, lowered.as_text(), tmp_path / "masked.mlir"):
        np.testing.assert_array_equal(octavo.compile(form)(x), np.where(mask, x, -x))


def test_arguments_and_results_say_what_they_are(program, lowered):
    assert [(each.name, each.is_bound) for each in program.arguments] == [
        ("params['b']", True), ("params['w1']", True), ("params['w2']", True), ("x", False)]
    assert program.arguments[3].shape == (8, 64) and program.function == "main"
    assert [(each.shape, each.dtype) for each in program.results] == [((8, 32), "float32")]
    assert repr(program) == "<octavo.Program @main: (f32[8, 64]) -> (f32[8, 32]), 3 arguments bound>"
    assert program.explain()["interpreted"] == [] and program.explain()["interpreted_whole"] == ""
    assert octavo.compile(lowered, backend="reference").explain()["interpreted_whole"] != ""


def test_weights_in_files(lowered, tmp_path):
    named = {f"params[{key!r}]": value for key, value in PARAMS.items()}
    octavo.save(tmp_path / "w.safetensors", named)
    octavo.save(tmp_path / "more.safetensors", {**named, "more": X})
    close(octavo.compile(lowered, weights=tmp_path / "w.safetensors")(X))
    with pytest.raises(octavo.ProgramError, match="(?s)more.*or pass ignore_unused=True$"):
        octavo.compile(lowered, weights=[tmp_path / "more.safetensors"])
    with pytest.raises(octavo.ProgramError, match="give a single array with weights={NAME: array}$"):
        octavo.compile(lowered, weights=[tmp_path / "w.npy"])
    close(octavo.compile(lowered, weights=[tmp_path / "more.safetensors"], ignore_unused=True)(X))


@pytest.mark.parametrize("quantize", [None, "mxfp4"])
def test_files_of_weights_that_cannot_be_read(lowered, tmp_path, quantize):
    (tmp_path / "short.safetensors").write_bytes(b"short")
    for name, words in ("none.safetensors", "No such file"), ("short.safetensors", "short.safetensors"):
        with pytest.raises(octavo.FileError, match=words):
            octavo.compile(lowered, weights=tmp_path / name, quantize=quantize)


def test_a_file_of_many_weights(lowered, tmp_path):
    """As a shard of a large model has them, most of them other programs'."""
    named = {f"params[{key!r}]": value for key, value in PARAMS.items()}
    many = {f"model.layers.0.mlp.experts.{i}.down_proj.weight": np.zeros(1, np.float32) for i in range(40000)}
    octavo.save(tmp_path / "w.safetensors", {**many, **named})
    program = octavo.compile(lowered, weights=tmp_path / "w.safetensors", quantize="mxfp4", ignore_unused=True)
    assert all(dot.is_quantized for dot in program.dots) and program(X).shape == (8, 32)


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "nvfp4", "fp8_row"])
def test_quantize_is_that_of_the_module(format):
    weight, x = drawn(32, 64), drawn(8, 64)
    lowered = jax.jit(lambda w, x: jax.lax.dot_general(x, w, (((1,), (1,)), ((), ())))).lower(weight, x)
    program = octavo.compile(lowered, weights={"w": weight}, quantize=format, activations="none")
    assert [dot.rhs for dot in program.dots] == [format] and program.dots[0].lhs is None
    narrow = octavo.quantize(weight, format)
    values = narrow.dequantize().astype(np.float64)
    np.testing.assert_allclose(program(x), x.astype(np.float64) @ values.T, rtol=1e-4, atol=1e-4)
    # A ScaledTensor where it takes one: the same bits.
    given = octavo.compile(lowered, quantize=format, activations="none", parameters="^w$")
    np.testing.assert_array_equal(given(narrow, x), program(x))
    np.testing.assert_array_equal(given(weight, x), program(x))
    with pytest.raises(octavo.DtypeError, match="ScaledTensor"):
        given(octavo.quantize(weight, "mxint8"), x)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "nvfp4"])
def test_a_weight_that_the_program_rounds_is_quantized_as_it_multiplies_it(format, dtype):
    """The weight lies with its columns last and is quantized along its rows, in the program, by the interpreter."""
    draw = np.random.default_rng(5)
    w, x = (draw.choice(np.float32([-6, -1, 0, 1, 2, 4]), shape) for shape in [(64, 48), (3, 64)])
    w[::16], x[:, ::16] = 6, 6  # each block has the largest magnitude, so that the formats have all of these numbers
    narrow = jax.jit(lambda w, x: x @ w.astype(dtype)).lower(w, x.astype(dtype))
    program = octavo.compile(narrow, quantize=format, parameters="^w")
    assert "stablehlo.convert" in program.dots[0].reason
    result = np.asarray(program(w, x.astype(dtype)), np.float32)
    np.testing.assert_allclose(result, x @ w, rtol=2.0**-8, atol=1e-3)  # bf16, and a scale of f32


def test_a_recipe_gives_each_dot_its_format():
    w1, w2, x = drawn(64, 96), drawn(96, 32), drawn(8, 64)
    lowered = jax.jit(lambda w1, w2, x: x @ w1 @ w2).lower(w1, w2, x)
    rules = [{"dots": "w1", "weights": "mxfp4", "activations": "none"},
             {"weights": "mxfp8_e4m3", "activations": "none"}]
    program = octavo.compile(lowered, weights={"w1": w1, "w2": w2}, recipe={"rules": rules})
    assert [dot.rhs for dot in program.dots] == ["mxfp4", "mxfp8_e4m3"]
    narrow = [octavo.quantize(w1, "mxfp4", axis=0), octavo.quantize(w2, "mxfp8_e4m3", axis=0)]
    first, second = (each.dequantize().astype(np.float64) for each in narrow)
    np.testing.assert_allclose(program(x), x.astype(np.float64) @ first @ second, rtol=1e-4, atol=1e-3)


def test_what_dots_share_is_quantized_for_each_of_them():
    """One weight for two formats, one activation for two scale rules: each result has the bits that it
    has where both dots have its rule."""
    w, x, y = drawn(64, 32), drawn(8, 64), drawn(8, 64)

    def outputs(first, second):
        def two(w, v, x, y):
            with jax.named_scope("first"):
                a = x @ w
            with jax.named_scope("second"):
                b = y @ w
            with jax.named_scope("third"):
                c = x @ v
            return a, b, c
        program = octavo.compile(
            jax.jit(two).lower(w, w, x, y), weights={"w": w, "v": w[::-1].copy()},
            recipe={"rules": [{"dots": "re:first/", **first}, {**second}]})
        assert all(dot.is_quantized for dot in program.dots)
        return program(x, y), [dot.reason for dot in program.dots]

    for one, other in [({"weights": "mxfp4"}, {"weights": "mxfp8_e4m3"}),
                       ({"weights": "mxfp4", "rule": "floor"}, {"weights": "mxfp4", "rule": "round-up"})]:
        mixed, reasons = outputs(one, other)
        assert "its dots need different" in reasons[0] and "its dots need different" in reasons[1]
        alone, others = outputs(one, one)[0], outputs(other, other)[0]
        np.testing.assert_array_equal(mixed[0], alone[0])
        np.testing.assert_array_equal(mixed[1], others[1])
        np.testing.assert_array_equal(mixed[2], others[2])
        assert np.any(np.asarray(alone[0]) != np.asarray(others[0]))


def test_recipes_that_do_not_fit(lowered):
    rule = {"weights": "mxfp4"}
    for recipe, error, says in [
            ("mxfp8-iner", octavo.FormatError, "near it: mxfp8-inner"),
            ({"rules": [{"weights": "mxfp5"}]}, octavo.FormatError, r"rules\[0\].weights: no scaled format"),
            ({"rules": [{**rule, "smaller_than": 1.5}]}, octavo.FormatError, "smaller_than"),
            ({"rules": [{**rule, "dots": "nobody"}]}, octavo.ProgramError, "nobody"),
            ({"rules": [{**rule, "dots": {1}}]}, octavo.DtypeError, "JSON"),
            (3, octavo.DtypeError, "found int")]:
        with pytest.raises(error, match=says):
            octavo.compile(lowered, recipe=recipe)
    with pytest.raises(octavo.ProgramError, match="one of the two"):
        octavo.compile(lowered, recipe="mxfp8", quantize="mxfp4")
    with pytest.raises(octavo.ProgramError, match="rules of a recipe"):
        octavo.compile(lowered, recipe="mxfp8", rule="floor")


def test_a_quantization_that_finds_no_dot_warns(lowered):
    with pytest.warns(UserWarning, match="both operands are activations"):
        octavo.compile(lowered, quantize="mxfp4")
    with pytest.raises(octavo.ProgramError, match="quantize=FORMAT"):
        octavo.compile(lowered, rule="floor")


def test_narrow_and_small_types():
    lowered = jax.jit(lambda a, b, c: (a.astype(jnp.float8_e4m3fn), ~b, c + 1)).lower(
        jnp.ones(5, jnp.bfloat16), jnp.ones(2, bool), jnp.ones(3, jnp.int4))
    a = np.array([1, 2.3, -448, 1e4, 0], ml_dtypes.bfloat16)
    c = np.array([-8, 3, 6], ml_dtypes.int4)
    narrow, inverted, sums = octavo.compile(lowered)(a, np.array([1, 2], np.uint8).view(bool), c)
    np.testing.assert_array_equal(narrow.view(np.uint8),
                                  np.asarray(jnp.asarray(a).astype(jnp.float8_e4m3fn)).view(np.uint8))
    assert inverted.dtype == bool and not inverted.any()
    assert sums.dtype == ml_dtypes.int4 and sums.astype(int).tolist() == [-7, 4, 7]


def test_out(program, lowered):
    out = np.empty((8, 32), np.float32)
    assert program(X, out=out) is out
    np.testing.assert_array_equal(out, program(X))
    assert octavo.compile(lowered, weights={"params": PARAMS}, backend="reference")(X, out=(out,)) is out
    close(out)
    same = octavo.compile(jax.jit(lambda a: (a + 1, a * 2)).lower(X))
    memory = np.zeros((16, 64), np.float32)
    for wrong, error, says in (
            (np.empty((8, 64), np.float32), octavo.DtypeError, "a tuple"),
            ((memory[:8],), octavo.ShapeError, "expected 2 arrays"),
            ((memory[:8], memory[:7]), octavo.ShapeError, r"\(7, 64\)"),
            ((memory[:8], memory[8:].astype(np.float64)), octavo.DtypeError, "float64"),
            ((memory[:8], memory[4:12]), octavo.ShapeError, "shares memory with that of another"),
            ((memory[:8], X), octavo.ShapeError, "shares memory with argument \"a\", which the program does not donate"),
            ((memory[:8], memory[8:].T.copy().T), octavo.ShapeError, "row-major"),
            ((memory[:8], [1]), octavo.DtypeError, "NumPy array"),
            ((memory[:8], np.broadcast_to(np.float32(0), (8, 64))), octavo.DtypeError, "read-only")):
        before = memory.copy()
        with pytest.raises(error, match=says):
            same(X, out=wrong)
        np.testing.assert_array_equal(memory, before)


class Pair(NamedTuple):
    first: object
    second: object


class Reversed(NamedTuple):
    second: object
    first: object


@pytest.mark.parametrize("function, wrong, says", [
    (lambda x: Pair(x, x + 1), lambda a, b: Reversed(a, b), r"namedtuple\[Pair\].* tuple of 2 arrays.*; found .*Reversed"),
    (lambda x: Pair(x, x + 1), lambda a, b: {"first": a, "second": b}, r"namedtuple\[Pair\].*; found PyTreeDef\({'first': \*, 'second': \*}\)"),
    (lambda x: {"a": x, "b": x + 1}, lambda a, b: {"a": a, "c": b}, r"PyTreeDef\({'a': \*, 'b': \*}\).*; found PyTreeDef\({'a': \*, 'c': \*}\)"),
    (lambda x: {"a": x, "b": x + 1}, lambda a, b: Pair(a, b), r"PyTreeDef\({'a': \*, 'b': \*}\).*; found .*namedtuple\[Pair\]")])
def test_out_of_another_tree(function, wrong, says):
    program = octavo.compile(jax.jit(function).lower(X))
    a, b = np.zeros_like(X), np.zeros_like(X)
    with pytest.raises(octavo.DtypeError, match="^out: expected a tree of arrays as the program gives it, .*" + says):
        program(X, out=wrong(a, b))
    assert not a.any() and not b.any()
    for out in ((a, b), [b, a]):
        program(X, out=out)
        np.testing.assert_array_equal(out, (X, X + 1))


@pytest.mark.parametrize("function", [
    lambda x: {"sum": x + 1, "pair": Pair(x * 2, [x - 1, None])}, lambda x: (x + 1,), lambda x: [x + 1, x * 2], lambda x: (x + 1, x * 2), lambda x: x + 1, lambda x: (x, (x + 1, x * 2))])
@pytest.mark.parametrize("made", [lambda f: f.lower(X), lambda f: jax.export.export(f)(X)])
def test_results_are_the_tree_of_the_function(function, made):
    program = octavo.compile(made(jax.jit(function)))
    expected = function(X)
    found = program(X)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(found))
    jax.tree.map(np.testing.assert_array_equal, found, expected)
    out = jax.tree.map(np.zeros_like, expected)
    kept = program(X, out=out)
    assert jax.tree.structure(kept) == jax.tree.structure(expected)
    assert all(a is b for a, b in zip(jax.tree.leaves(kept), jax.tree.leaves(out), strict=True))
    jax.tree.map(np.testing.assert_array_equal, out, expected)


def test_text_has_no_trees():
    lowered = jax.jit(lambda x: {"b": x + 1, "a": x * 2}).lower(X)
    found = octavo.compile(lowered.as_text(debug_info=True))(X)
    assert isinstance(found, tuple) and [each.tolist() for each in found] == [(X * 2).tolist(), (X + 1).tolist()]


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_donated_arguments_are_updated_where_they_lie(backend):
    def step(cache, at, entry, old, new, weight):
        moved = cache.at[jnp.array([3, 1])].add(entry)
        cache = jax.lax.dynamic_update_slice(moved, entry, (at, 0))
        return new, old, cache, weight - cache[:2], weight * 2

    entry, pair = drawn(1, 8), [drawn(4), drawn(4)]
    given, weight = drawn(16, 8), drawn(2, 8)
    lowered = jax.jit(step, donate_argnums=(0, 3, 4, 5)).lower(given, np.int32(0), entry, *pair, weight)
    assert lowered.as_text().count("tf.aliasing_output") + lowered.as_text().count("jax.buffer_donor") == 4
    program = octavo.compile(lowered, backend=backend)
    wanted = given.copy()
    wanted[[3, 1]] += entry
    wanted[5] = entry[0]
    results = [pair[1], pair[0], wanted, weight - wanted[:2], weight * 2]
    arrays = [given, np.int32(5), entry, *pair, weight]

    copies = [np.copy(a) for a in arrays]
    found = program(*copies)  # without out= nothing is written to
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    own = np.empty_like(weight)
    before = copies[0], copies[3], copies[4], copies[5]
    # Donated arguments of one type take the results in their order.
    out = (before[1], before[2], before[0], before[3], own)
    assert all(a is b for a, b in zip(program(*copies, out=out), out, strict=True))
    for which in (found, out):
        for array, value in zip(which, results, strict=True):
            np.testing.assert_array_equal(array, value)


def test_out_of_arguments_that_it_may_not_be():
    lowered = jax.jit(lambda a, b: (a + b, a - b), donate_argnums=0).lower(X, X)
    program = octavo.compile(lowered)
    memory, other = np.zeros((17, 64), np.float32), np.zeros_like(X)
    own = np.empty_like(X)
    for arguments, out, says in (((other, memory[:8]), (memory[:8], own), 'argument "b", which the program does not'),
                                 ((memory[:8], memory[:8]), (memory[:8], own), 'argument "b", which'),
                                 ((memory[:8], other), (own, memory[:8]), 'argument "a", which'),
                                 ((memory[:8], other), (memory[1:9], own), "is not the same array")):
        with pytest.raises(octavo.ShapeError, match=says):
            program(*arguments, out=out)
        assert not memory.any()
    fixed = memory[:8]
    fixed.flags.writeable = False
    with pytest.raises(octavo.DtypeError, match="read-only"):
        program(fixed, other, out=(fixed, own))
    bound = octavo.compile(lowered, weights={"a": other})
    for _ in range(2):  # what is bound is the program's own: it goes on with the zeros that it was given
        bound(X, out=(other, own))
        assert (other == X).all() and (own == -X).all()


def test_extents_of_each_call():
    shape = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n, 8"), np.float32)
    program = octavo.compile(jax.export.export(jax.jit(lambda x: jnp.tanh(x).sum(1)))(shape))
    assert program.arguments[0].shape == (None, 8) and program.results[0].shape == (None,)
    before = program.explain()
    assert before["open_extents"] == "any number of items" and before["kernels"] > 0
    for n in (1, 5, 3, 5):
        x = drawn(n, 8)
        np.testing.assert_allclose(program(x), np.tanh(x).sum(1), rtol=1e-5, atol=1e-5)
    with pytest.raises(octavo.ShapeError):
        program(drawn(3, 9))


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_many_calls_at_once(lowered, backend):
    program = octavo.compile(lowered, weights={"params": PARAMS}, backend=backend)
    inputs = [drawn(8, 64) for _ in range(8)]
    alone = [program(x) for x in inputs]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, found in enumerate(pool.map(lambda i: program(inputs[i % 8]), range(80))):
            np.testing.assert_array_equal(found, alone[i % 8])


def test_threads_do_not_change_results(program):
    found = program(X)
    for threads in (1, 2, 5):
        octavo.set_threads(threads)
        try:
            np.testing.assert_array_equal(program(X), found)
        finally:
            octavo.set_threads(0)


def test_arguments_that_change_between_calls(lowered):
    """A weight that each call gives is read anew, also where it lies at the same place."""
    program = octavo.compile(lowered)
    params = {key: value.copy() for key, value in PARAMS.items()}
    for _ in range(3):
        close(program(params["b"], params["w1"], params["w2"], X), params=params)
        for value in params.values():
            value *= -0.5


def test_the_program_holds_what_was_bound(lowered):
    program = octavo.compile(lowered, weights={"params": {key: value.copy() for key, value in PARAMS.items()}})
    for _ in range(3):
        drawn(128, 128)
        close(program(X))


def test_an_interrupted_call():
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 10**9, lambda i, c: jnp.sin(c) + i, x))
    program = octavo.compile(loop.lower(np.zeros(4, np.float32)))
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        program(np.zeros(4, np.float32))
    assert time.monotonic() - begin < 30


def test_an_interrupted_product():
    """Its last rows are not computed."""
    x = np.ones((4096, 4096), np.float32)
    program = octavo.compile(jax.jit(jnp.matmul).lower(x, x))
    out = np.full((4096, 4096), -1, np.float32)
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        program(x, x, out=out)
    assert out[0, 0] == 4096 and out[-1, -1] == -1


BF16_DOTS = {
    "few rows": ("mk,kn->mn", (3, 257), (257, 100)),
    "one row": ("mk,kn->mn", (1, 1024), (1024, 33)),
    "rows": ("mk,kn->mn", (130, 65), (65, 31)),
    "transposed": ("km,nk->mn", (64, 33), (31, 64)),
    "scores": ("bqhd,bkhd->bhqk", (2, 16, 3, 8), (2, 17, 3, 8)),
    "values": ("bhqk,bkhd->bqhd", (2, 3, 16, 17), (2, 17, 3, 8)),
    "several axes": ("abc,bcd->ad", (5, 6, 7), (6, 7, 9)),
    "vectors": ("k,k->", (99,), (99,)),
    "nothing to add": ("mk,kn->mn", (5, 0), (0, 9)),
    "no rows": ("mk,kn->mn", (0, 5), (5, 9)),
}


@pytest.mark.parametrize("is_bound", [False, True])
@pytest.mark.parametrize("result", [jnp.bfloat16, jnp.float32])
@pytest.mark.parametrize("name", BF16_DOTS)
def test_dots_of_bf16(name, result, is_bound):
    """Rule P10 on NumPy's sums of f64: K + 1 roundings to f32 and one to the result; small integers are exact."""
    equation, *shapes = BF16_DOTS[name]
    generator = np.random.default_rng(6)
    for draw in (lambda shape: generator.normal(size=shape), lambda shape: generator.integers(-4, 5, shape)):
        x, w = (np.asarray(draw(shape)).astype(ml_dtypes.bfloat16) for shape in shapes)
        program = octavo.compile(
            jax.jit(lambda x, w: jnp.einsum(equation, x, w, preferred_element_type=result)).lower(x, w),
            weights={"w": w} if is_bound else None)
        found = program(x) if is_bound else program(x, w)
        wide = [each.astype(np.float64) for each in (x, w)]
        exact, magnitudes = np.einsum(equation, *wide), np.einsum(equation, *map(np.abs, wide))
        depth = max(1, x.size) * max(1, w.size) // max(1, exact.size)
        rounding = 2.0**-8 if result == jnp.bfloat16 else 0
        bound = (1 + rounding) * (depth + 1) * 2.0**-24 * magnitudes + rounding * np.abs(exact)
        assert found.dtype == result and found.shape == exact.shape
        assert (np.abs(found.astype(np.float64) - exact) <= bound).all()
        if np.array_equal(x, x.astype(np.float32).round()):
            np.testing.assert_array_equal(found, exact.astype(found.dtype))
        if x.size:
            assert [what.partition(",")[0] for what, _ in program.explain()["products"]] == ["bf16 x bf16"]


def test_parts_of_a_long_product_are_its_rows():
    """Of 2^25 operations a row: parts of 512 rows, and of the 76 that are left."""
    generator = np.random.default_rng(5)
    x = generator.integers(-4, 5, (1100, 64)).astype(np.float32)
    w = generator.integers(-4, 5, (64, 1 << 18)).astype(np.float32)
    program = octavo.compile(jax.jit(jnp.matmul).lower(x, w))
    found = program(x, w)
    for rows in (slice(0, 3), slice(510, 514), slice(1021, 1027), slice(1097, 1100)):
        np.testing.assert_array_equal(found[rows], x[rows].astype(np.float64) @ w)


SHIFTED = """func.func public @main(%x: tensor<4x64x{narrow}>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> {{
  %c = stablehlo.convert %x : (tensor<4x64x{narrow}>) -> tensor<4x64xf32>
  %e = stablehlo.exponential %c : tensor<4x64xf32> loc("act/exp")
  %y = stablehlo.dot_general %e, %w, contracting_dims = [1] x [0]
      : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32> loc("layer/dot")
  return %y : tensor<4x32xf32>
}}
"""


def test_dots_that_look_narrow_and_are_not_are_told():
    with pytest.warns(UserWarning) as told:
        octavo.compile(SHIFTED.format(narrow="f8E4M3FN"))
    [warning] = told
    assert warning.filename == __file__
    for word in ("layer/dot", "multiplies wide values", "'stablehlo.exponential' at act/exp"):
        assert word in str(warning.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        octavo.compile(SHIFTED.format(narrow="f32"))


def in_mxfp8(x):
    """Values after MXFP8 E4M3 in blocks of 32 along the first axis, by the floor rule of OCP MX 6.3."""
    blocks = x.reshape(-1, 32, x.shape[-1])
    scale = 2.0 ** (np.floor(np.log2(np.abs(blocks).max(1, keepdims=True))) - 8)
    codes = np.clip(blocks / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    return (codes.astype(np.float64) * scale).reshape(x.shape)


def decibels(wide, narrow):
    return 10 * np.log10((wide.astype(np.float64)**2).sum() / ((narrow - wide)**2).sum())


def test_where_the_error_comes_from(program):
    found = program.dot_errors(x=X, quantize="mxfp8_e4m3")
    first, second = found["dots"]
    assert [dot["quantized"] for dot in found["dots"]] == [True, True] and second["from"] == [0]
    w1, w2 = PARAMS["w1"], PARAMS["w2"]
    narrow_x, narrow_w1, narrow_w2 = in_mxfp8(X.T).T, in_mxfp8(w1), in_mxfp8(w2)
    assert first["rhs"]["is"] == "weight" and first["lhs"]["format"] == "mxfp8_e4m3"
    assert first["rhs"]["sqnr"] == pytest.approx(decibels(w1, narrow_w1), abs=1e-3)
    assert first["lhs"]["sqnr"] == pytest.approx(decibels(X, narrow_x), abs=1e-3)
    assert first["sqnr"] == pytest.approx(decibels(X.astype(np.float64) @ w1, narrow_x @ narrow_w1), abs=1e-2)
    assert first["lhs"]["amax"] == np.abs(X).max()

    def output(narrows_first, narrows_second):
        hidden = narrow_x @ narrow_w1 if narrows_first else X.astype(np.float64) @ w1
        hidden = np.maximum((hidden + PARAMS["b"]).astype(np.float32), 0)
        return in_mxfp8(hidden.T).T @ narrow_w2 if narrows_second else hidden @ w2.astype(np.float64)

    def error(*narrows):
        return ((output(*narrows) - output(False, False))**2).sum() / (output(False, False)**2).sum()

    assert found["error"] == pytest.approx(error(True, True), rel=1e-2)
    assert first["share"] == pytest.approx(1 - error(False, True) / error(True, True), abs=1e-2)
    assert second["share"] == pytest.approx(1 - error(True, False) / error(True, True), abs=1e-2)
    close(program(X))  # which is as it was


def test_errors_of_dots_of_weights_in_files(lowered, tmp_path):
    """Which are read for them, also where the compiled program has packed them from the file; what is refused is named."""
    from safetensors.numpy import save_file
    named = {f"params['{name}']": weight for name, weight in PARAMS.items()}
    save_file(named, tmp_path / "weights.safetensors")
    of_file = octavo.compile(lowered, weights=tmp_path / "weights.safetensors")
    of_arrays = octavo.compile(lowered, weights={"params": PARAMS})
    for _ in range(2):
        assert of_file.dot_errors(X, quantize="mxfp4") == of_arrays.dot_errors(X, quantize="mxfp4")
        close(of_file(X))
    named["params['w1']"] = np.where(np.arange(64 * 128).reshape(64, 128) == 130, np.nan, PARAMS["w1"]).astype(np.float32)
    with pytest.raises(octavo.NonFiniteError, match=r"argument \"params\['w1'\]\": element \[1, 2\] is nan, .*--non-finite"):
        octavo.compile(lowered, weights=named).dot_errors(X, quantize="mxfp4")


def test_errors_of_dots_need_quantized_ones(program, lowered):
    with pytest.raises(octavo.ProgramError, match="give quantize=FORMAT or recipe="):
        program.dot_errors(X)
    with pytest.raises(octavo.ProgramError, match="none of the 2 dots is quantized"):
        program.dot_errors(X, quantize="mxfp4", exclude="dot")
    with pytest.raises(octavo.ProgramError, match="compile it without"):
        octavo.compile(lowered, weights={"params": PARAMS}, quantize="mxfp4").dot_errors(X, quantize="mxfp4")
    with pytest.raises(octavo.ProgramError, match="has no value"):
        program.dot_errors(quantize="mxfp4")
    with pytest.raises(octavo.ShapeError):
        program.dot_errors(X[:, :3], quantize="mxfp4")
    with pytest.raises(octavo.NonFiniteError, match="NaN"):
        program.dot_errors(np.full_like(X, np.nan), quantize="mxfp4")
    with pytest.raises(octavo.ProgramError, match="no results"):
        program.dot_errors(X, quantize="mxfp4", out=X)
    with pytest.raises(octavo.FormatError, match="mxfp4"):
        program.dot_errors(X, quantize="mxfp5")


def test_errors_of_dots_with_open_extents():
    rows, = jax.export.symbolic_shape("n")
    exported = jax.export.export(jax.jit(lambda w, x: x @ w))(
        jax.ShapeDtypeStruct((64, 32), np.float32), jax.ShapeDtypeStruct((rows, 64), np.float32))
    program = octavo.compile(exported)
    for n in (1, 5):
        [dot] = program.dot_errors(PARAMS["w1"][:, :32], X[:n], quantize="mxfp8_e4m3", parameters="arg0|w")["dots"]
        assert dot["lhs"]["values"] == 64 * n and dot["share"] == pytest.approx(1)


def test_what_is_compiled_for_each_call_is_explained_after_one():
    width = jax.ShapeDtypeStruct(jax.export.symbolic_shape("3, n"), np.float32)
    batch = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n, 3"), np.float32)
    def triples(x):
        return jnp.tanh(x[:, None, None] + x[:, None] + x).sum()

    for shape, why in ((width, "an extent open besides the first"), (batch, "otherwise than by sizes")):
        program = octavo.compile(jax.export.export(jax.jit(triples))(shape))
        with pytest.raises(octavo.ProgramError, match=f"leaves extents open, .*{why}.*call it first"):
            program.explain()
        program(drawn(3, 3))
        explained = program.explain()
        assert explained["open_extents"].startswith("compiled for each set of extents") and explained["kernels"] > 0


def test_products_that_are_no_dots_are_listed_beside_those_that_are():
    def net(w, filters, x):
        return jax.lax.conv_general_dilated(x @ w, filters, (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"),
                                            feature_group_count=4)

    w, filters, x = drawn(64, 4), drawn(3, 1, 4), drawn(2, 9, 64)
    program = octavo.compile(jax.jit(net).lower(w, filters, x), quantize="mxfp8_e4m3", parameters="^w")
    assert [dot.is_quantized for dot in program.dots] == [True]
    (other,) = program.others
    assert "conv_general_dilated" in other.name
    assert other.reason == ("it is a convolution, and its 4 groups have 1 feature each, and those of 32 and more are dots")
    assert octavo.compile(jax.jit(net).lower(w, filters, x)).others == []


def test_the_widths_of_dots_are_those_of_octavo_explain(tmp_path):
    """One dequantized by hand, one through an addition, one of f32."""
    def net(codes, scale, w, x):
        values = codes.astype(jnp.float32) * scale
        return x @ values, x @ (values + 1), x @ w

    codes = np.ones((64, 8), ml_dtypes.float8_e4m3fn)
    lowered = jax.jit(net).lower(codes, np.float32(2), drawn(64, 8), drawn(4, 64))
    (tmp_path / "net.mlir").write_text(lowered.as_text(debug_info=True))
    expected = json.loads(octavo_command("explain", tmp_path / "net.mlir", "--json"))
    assert [dot["is"] for dot in expected["dots"]] == ["narrow", "missed", "wide"]
    del expected["program"]
    with pytest.warns(UserWarning):
        for options in ({}, {"recover_scaled": True}):
            assert octavo.compile(lowered, **options).dot_widths() == expected
    narrow = octavo.compile(lowered, quantize="mxfp8_e4m3", parameters="^w").dot_widths()
    assert [dot["is"] for dot in narrow["dots"]][2] == "narrow"


def test_what_is_dequantized_by_hand_is_multiplied_as_it_is_scaled():
    """Small integers under powers of two: the sums are exact in any order."""
    def dequantized(codes, scale, x):
        return jnp.maximum(x @ (codes.astype(jnp.float32) * scale), 0)

    codes = np.random.default_rng(3).integers(-4, 5, (64, 48)).astype(ml_dtypes.float8_e4m3fn)
    scale = (2.0 ** np.random.default_rng(4).integers(-3, 4, (1, 48))).astype(np.float32)
    x = np.random.default_rng(5).integers(-4, 5, (20, 64)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = octavo.compile(jax.jit(dequantized).lower(codes, scale, x), recover_scaled=True)
    assert np.array_equal(program(codes, scale, x), np.maximum(x @ (codes.astype(np.float32) * scale), 0))
    explained = program.explain()
    ((what, count),) = explained["products"]
    assert count == 1 and what.startswith("f32 x fp8_row") and what.endswith(", and its epilogue")
    assert not explained["interpreted"]


def test_recovered_values_that_differ_are_told():
    """1 / 2^-130 is beyond f32, in which scales are: once for each dot."""
    def dequantized(codes, x):
        wide = codes.astype(jnp.float32) / np.float32(2**-130)
        return wide @ x, wide.T @ x.T
    codes = np.ones((32, 32), ml_dtypes.float8_e4m3fn)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        octavo.compile(jax.jit(dequantized).lower(codes, X[:1].repeat(32, 0)[:, :32]), recover_scaled=True)
    assert len(told) == 2
    for each in told:
        assert str(each.message).endswith(", whose scales are recovered, has inf for a scale of 1.36113e+39, which is beyond f32")


def test_scales_that_nothing_needs_are_dropped_on_request():
    def function(x):
        scale = jnp.max(jnp.abs(x)) / 448
        return jnp.tanh((x / scale).astype(jnp.float8_e4m3fn).astype(jnp.float32) * scale)

    x = np.random.default_rng(0).standard_normal((4, 64)).astype(np.float32)
    lowered = jax.jit(function).lower(x)
    as_it_is, wide = octavo.compile(lowered), octavo.compile(lowered, drop_scales=True)
    assert as_it_is.explain()["dropped_scales"] is None and wide.explain()["dropped_scales"] == 1
    np.testing.assert_allclose(wide(x), np.tanh(x), atol=1.2e-7)
    assert np.abs(as_it_is(x) - np.tanh(x)).max() > 1e-3


def test_what_the_interpreter_takes_is_explained_with_open_extents():
    symbolic = jax.export.symbolic_shape("n, m")
    exported = jax.export.export(jax.jit(lambda x, y: x @ y.T))(*(jax.ShapeDtypeStruct((each, 8), np.float32) for each in symbolic))
    program = octavo.compile(exported, backend="reference")
    assert program.explain()["interpreted_whole"]
    assert repr(program) == "<octavo.Program @main: (f32[?, 8], f32[?, 8]) -> (f32[?, ?])>"
    np.testing.assert_allclose(program(drawn(3, 8), drawn(2, 8)).shape, (3, 2))
    assert program.explain()["interpreted_whole"]


def test_more_threads_than_the_machine_has(lowered):
    """Nothing is said of them: TBB would warn."""
    code = ("import numpy as np, octavo; octavo.set_threads(4096); octavo.quantize(np.ones((512, 4096), np.float32), 'mxfp4')\n"
            "text = 'func.func @main(%x: tensor<f32>) -> tensor<f32> {\\nreturn %x : tensor<f32> }'\n"
            "octavo.compile(text)(np.float32(1)); assert octavo.get_threads() == 4096")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
