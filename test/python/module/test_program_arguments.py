"""What a compiled program is called with: arrays, trees of them, numbers, and the first errors one makes."""
import dataclasses
import os
from collections import namedtuple
from types import MappingProxyType

import numpy as np
import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")
import jax.export
import jax.numpy as jnp
import octavo
from two_layers import PARAMS, X, close, drawn, lowered, program


def test_arrays_of_others(program):
    close(program(X))
    close(program(jnp.asarray(X)))
    close(program(x=X))
    close(program(np.asfortranarray(X)))
    close(program(np.stack([X, X], -1)[..., 0]))
    unaligned = np.zeros(X.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(X.shape)
    unaligned[...] = X
    close(program(unaligned))


Layer = namedtuple("Layer", "w b")


def test_trees_are_arguments_by_the_names_of_their_leaves(lowered):
    whole = octavo.compile(lowered)
    without = {name: PARAMS[name] for name in ("w1", "w2")}
    for found in (whole(PARAMS, X), whole(PARAMS, x=X), whole(params=PARAMS, x=X),
                  whole(x=X, params=MappingProxyType(PARAMS)), whole(params=without, x=X, **{"params['b']": PARAMS["b"]})):
        close(found)
    partly = octavo.compile(lowered, weights={"params['w1']": PARAMS["w1"]})
    close(partly({name: PARAMS[name] for name in ("w2", "b")}, X))

    def deep(scale, layers, x):
        for layer in layers:
            x = jnp.tanh(x @ layer["pair"][0].w + layer["pair"][0].b) * scale
        return x

    layers = [{"pair": (Layer(drawn(16, 16), drawn(16)), None)} for _ in range(11)]
    x = drawn(4, 16)
    program = octavo.compile(jax.jit(deep).lower(np.float32(0.5), layers, x))
    for found in (program(0.5, layers, x), program(0.5, tuple(layers), x), program(0.5, x=x, layers=layers)):
        np.testing.assert_allclose(found, deep(np.float32(0.5), layers, x), rtol=1e-4, atol=1e-4)


def test_wrong_trees(lowered):
    whole = octavo.compile(lowered)
    for call, error, says in (
            (lambda: whole({**PARAMS, "w3": X}, X), octavo.ProgramError, r"no argument \"params\['w3'\]\"; did you mean"),
            (lambda: whole({"b": PARAMS["b"]}, X), octavo.ProgramError, r"\"params\['w1'\]\" of @main has no value"),
            (lambda: whole(params={"b": PARAMS["b"]}, x=X), octavo.ProgramError, r"\"params\['w1'\]\" of @main has no value"),
            (lambda: whole(PARAMS, X, params=PARAMS), octavo.ProgramError, "given twice"),
            (lambda: whole({**PARAMS, "b": X}, X), octavo.ShapeError, r"params\['b'\]"),
            (lambda: whole([PARAMS], X), octavo.DtypeError, "params"),
            (lambda: whole(PARAMS, {"x": X}), octavo.ProgramError, '"x" of @main is one array, and a mapping was given'),
            (lambda: whole(PARAMS, x={"x": X}), octavo.ProgramError, r"no argument \"x\['x'\]\""),
            (lambda: octavo.compile(lowered.as_text())(PARAMS, X), octavo.ProgramError, "jax.tree.leaves"),
            (lambda: octavo.compile(lowered, weights={"params": PARAMS})(PARAMS, X), octavo.ProgramError, "takes 1 arguments, 2 were given")):
        with pytest.raises(error, match=says):
            call()


def test_wrong_arguments(program, lowered):
    for call, error, says in (
            (lambda: program(), octavo.ProgramError, 'argument "x" of @main has no value: give f32\\[8, 64\\]'),
            (lambda: program(X, X), octavo.ProgramError, "takes 1 arguments, 2 were given"),
            (lambda: program(X, x=X), octavo.ProgramError, "by position and by name"),
            (lambda: program(y=X), octavo.ProgramError, 'no argument "y"; did you mean x'),
            (lambda: program(X, **{"params['b']": X}), octavo.ProgramError, "is bound by weights"),
            (lambda: program(X.astype(np.float64)), octavo.DtypeError, "expected float32, found float64"),
            (lambda: program(X.T), octavo.ShapeError, r"found shape \(64, 8\)"),
            (lambda: program("x"), octavo.DtypeError, "expected an array"),
            (lambda: program(None), octavo.DtypeError, "expected an array"),
            (lambda: octavo.compile(lowered, weights={"parms": PARAMS}), octavo.ProgramError, "did you mean"),
            (lambda: octavo.compile(lowered, weights={"params": X}), octavo.ProgramError, "params"),
            (lambda: octavo.compile(lowered, weights={1: X}), octavo.DtypeError, "found 1"),
            (lambda: octavo.compile(lowered, weights=3), octavo.DtypeError, "mapping"),
            (lambda: octavo.compile(lowered, quantize="mxfp5"), octavo.FormatError, "mxfp4"),
            (lambda: octavo.compile(lowered, backend="gpu"), octavo.FormatError, "reference, compiled, guarded"),
            (lambda: octavo.compile(lowered, function="f"), octavo.ProgramError, "no function @f"),
            (lambda: octavo.compile(3), octavo.DtypeError, "found int"),
            (lambda: octavo.compile("nowhere.mlir"), octavo.ProgramError, "nowhere.mlir"),
            (lambda: octavo.compile("module {\n x }"), octavo.ProgramError, "not a program"),
            (lambda: octavo.compile(b"\0\1"), octavo.ProgramError, "neither MLIR's text")):
        with pytest.raises(error, match=says):
            call()
    nan = {**PARAMS, "w1": np.where(PARAMS["w1"] > 2, np.nan, PARAMS["w1"]).astype(np.float32)}
    with pytest.raises(octavo.NonFiniteError, match="nan"):
        octavo.compile(lowered, weights={"params": nan}, quantize="mxfp4")


def test_numbers_take_the_dtype_of_their_argument():
    for dtype, taken, refused in (("i8", [3, True], [2.5, 1j]), ("i1", [False], [1, 0.5]), ("f32", [2.5, 3, True], [])):
        program = octavo.compile(f"func.func @main(%x: tensor<{dtype}>) -> tensor<{dtype}> {{\n  return %x : tensor<{dtype}>\n}}")
        for number in taken:
            assert program(number) == number
        for number in refused:
            with pytest.raises(octavo.DtypeError, match="found " + type(number).__name__):
                program(number)


def test_quantized_arguments_are_their_storage():
    """Its range is of what is stored, not of what that stands for."""
    quantized = "tensor<2x!quant.uniform<i8<-10:10>:f32, 100.0:3>>"
    program = octavo.compile(f"func.func @main(%x: {quantized}) -> {quantized} {{\n  return %x : {quantized}\n}}")
    assert program.results[0].dtype == "int8"
    assert program(np.array([-10, 10], np.int8)).tolist() == [-10, 10]
    with pytest.raises(octavo.DtypeError, match=r"element \[1\] is -11, and its storage goes from -10 to 10"):
        program(np.array([0, -11], np.int8))


def test_names_that_are_no_text(lowered, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.mlir"
    with open(path, "w") as file:
        file.write(lowered.as_text())
    close(octavo.compile(os.fsdecode(path))(PARAMS["b"], PARAMS["w1"], PARAMS["w2"], X))
    with pytest.raises(octavo.ProgramError):
        octavo.compile("a\udc80\n")


def test_an_error_of_the_run_says_where():
    program = octavo.compile("func.func @main(%x: tensor<f32>) {\n"
                             "  check.expect_eq_const %x, dense<1.0> : tensor<f32>\n  return\n}")
    assert program(np.float32(1)) == ()
    with pytest.raises(octavo.ProgramError, match="check.expect_eq_const"):
        program(2.0)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Dense:
    kernel: jax.Array
    inner: dict


def test_classes_that_jax_knows_as_trees():
    layer = Dense(drawn(64, 16), {"bias": [drawn(16)]})
    lowered = jax.jit(lambda layer, x: x @ layer.kernel + layer.inner["bias"][0]).lower(layer, X)
    wanted = X.astype(np.float64) @ layer.kernel + layer.inner["bias"][0]
    program = octavo.compile(lowered)
    assert [argument.name for argument in program.arguments] == ["layer.kernel", "layer.inner['bias'][0]", "x"]
    for found in (program(layer, X), program(layer=layer, x=X), octavo.compile(lowered, weights={"layer": layer})(X)):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    with pytest.raises(octavo.ProgramError, match=r"no argument \"layer.inner\['scale'\]\""):
        program(Dense(layer.kernel, {"scale": 1}), X)
    with pytest.raises(octavo.DtypeError, match='argument "x" of @main: expected an array .*, found Dense'):
        program(layer, layer)


def test_numbers_that_json_has_not_are_told(lowered):
    calibration = {"octavo_calibration": 1, "input_sets": 1, "tensors": [
        {"dot": "a", "side": "lhs", "columns": 1, "amax": np.nan, "histogram": {"first": 0, "counts": []}}]}
    rule = {"weights": "fp8_tensor"}
    for options, words in (({"recipe": {"rules": [rule, {**rule, "smaller_than": np.inf}]}}, r"recipe: rules\[1\].smaller_than: .* found inf"),
                           ({"recipe": {"rules": [{**rule, "strength": np.nan}]}}, r"recipe: rules\[0\].strength: .* found nan"),
                           ({"recipe": {"rules": [{**rule, "scales": calibration}]}}, r"recipe: rules\[0\].scales.tensors\[0\].amax: "),
                           ({"quantize": "fp8_tensor", "calibration": calibration}, r"calibration: tensors\[0\].amax: ")):
        with pytest.raises(octavo.DtypeError, match=words.replace(": .*", ": expected a finite number,")):
            octavo.compile(lowered, **options)


@pytest.mark.parametrize("name", ["rule", "non_finite", "preset", "match", "exclude", "parameters", "range", "function", "backend"])
def test_options_that_are_no_text(lowered, name):
    for wrong in (None, 5):
        with pytest.raises(octavo.DtypeError, match=f"^{name}: expected a str, found {type(wrong).__name__}; "):
            octavo.compile(lowered, **{"quantize": "mxfp4", name: wrong})


def test_long_patterns_are_told_in_short(lowered):
    for options in ({"match": "(" + "a" * 100000}, {"exclude": "(" + "a" * 100000}):
        with pytest.raises(octavo.FormatError, match="bytes left out.* is not a regular expression: missing \\)") as raised:
            octavo.compile(lowered, quantize="mxfp4", **options)
        assert len(str(raised.value)) < 500
    with pytest.raises(octavo.FormatError, match="is not a regular expression: missing \\)") as raised:
        octavo.compile(lowered, recipe={"rules": [{"dots": "re:(" + "a" * 100000, "weights": "mxfp4"}]})
    assert len(str(raised.value)) < 500
    with pytest.raises(octavo.ProgramError, match="match: .*bytes left out.* is found in the name of no dot") as raised:
        octavo.compile(lowered, quantize="mxfp4", match="b" * 1000)
    assert len(str(raised.value)) < 500
    with pytest.warns(UserWarning, match="is excluded by .*bytes left out"):
        left = octavo.compile(lowered, quantize="mxfp4", exclude="." + "|b" * 500)
    assert len(left.dots[0].reason) < 300


def test_options_say_which_of_them_is_wrong(lowered):
    for options, words in (({"quantize": "mxfp5"}, "^quantize: "), ({"quantize": np.float32}, "^quantize: expected the name"),
                           ({"quantize": "mxfp4", "activations": "non"}, "^activations: .*; near it: none"),
                           ({"quantize": "mxfp4", "min_size": -1}, "number of elements of -1")):
        with pytest.raises(octavo.Error, match=words):
            octavo.compile(lowered, **options)
    with pytest.raises(octavo.DtypeError, match="program: expected a path or the program's text; found an empty text"):
        octavo.compile("")


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_shapes_that_do_not_fit_together(backend):
    """They are told by the names of arguments beside what JAX asserts, which knows them by number, the first call as the next."""
    b, = jax.export.symbolic_shape("b")
    shapes = [jax.ShapeDtypeStruct(shape, np.float32) for shape in ((2 * b, 8), (8,), (b, 8))]
    program = octavo.compile(jax.export.export(jax.jit(lambda x, w, y: x * w + jnp.tile(y, (2, 1))))(*shapes), backend=backend)
    for _ in range(2):
        with pytest.raises(octavo.ShapeError, match=r'^@main does not take "x" f32\[6, 8\], "y" f32\[2, 8\]:\n.*args\[2\]\.shape\[0\] \(= 2\)'):
            program(drawn(6, 8), drawn(8), drawn(2, 8))
        with pytest.raises(octavo.ShapeError, match="remainder 1"):
            program(drawn(5, 8), drawn(8), drawn(2, 8))
        assert program(drawn(4, 8), drawn(8), drawn(2, 8)).shape == (4, 8)


def lowering(function, *arguments, **options):
    return jax.jit(function, **options).lower(*arguments)


def exporting(function, *arguments, **options):
    return jax.export.export(jax.jit(function, **options))(*arguments)


@pytest.mark.parametrize("made", [lowering, exporting])
def test_arguments_that_jax_leaves_out(made):
    """A function's are taken as it took them, where that is known; else the error says why there are fewer."""
    def second(x, y):
        return y + 1
    text = lowering(second, X, X).as_text(debug_info=True)
    with pytest.raises(octavo.ProgramError, match=r"takes 1 arguments, 2 were given; it takes: y \(trees .*; JAX leaves out .* keep_unused=True"):
        octavo.compile(text)(X, X)
    program = octavo.compile(made(second, X, X))
    for arguments, named in (((X,), {}), ((X * 0, X), {}), ((), {"y": X}), ((X * 0,), {"y": X})):
        np.testing.assert_array_equal(program(*arguments, **named), X + 1)
    with pytest.raises(octavo.ProgramError, match="takes 1 arguments, 3 were given"):
        program(X, X, X)
    np.testing.assert_array_equal(octavo.compile(made(second, X, X, keep_unused=True))(X * 0, X), X + 1)


@pytest.mark.parametrize("made", [lowering, exporting])
def test_leaves_that_jax_leaves_out_and_trees_without_any(made):
    w, x = drawn(4, 64), X.T
    wanted = w.astype(np.float64) @ x

    def function(params, empty, x, none):
        return params["w"] @ x
    tree = {"w": w, "unused": [w, w]}
    program = octavo.compile(made(function, tree, {}, x, None))
    for arguments, named in (((tree, {}, x, None), {}), (({"w": w}, x), {}), ((w, x), {}), ((tree, {}, None), {"x": x}),
                             (({}, x, None), {"params": tree}), ((), {"params": {"w": w}, "x": x})):
        np.testing.assert_allclose(program(*arguments, **named), wanted, rtol=1e-4, atol=1e-4)
    bound = octavo.compile(made(function, tree, {}, x, None), weights={"params": {"w": w}})
    for arguments in ((x,), ({}, x, None)):
        np.testing.assert_allclose(bound(*arguments), wanted, rtol=1e-4, atol=1e-4)
    with pytest.raises(octavo.ProgramError, match="is bound|takes 1 arguments"):
        bound(tree, {}, x, None)
    # Another tree than the function took, and one that is not known.
    for other in (program, octavo.compile(lowering(function, tree, {}, x, None).as_text(debug_info=True))):
        with pytest.raises(octavo.ProgramError, match=r"no argument \"params\['unused'\]\".* \(JAX leaves out .* keep_unused=True"):
            other({"w": w, "unused": w}, x)


@pytest.mark.parametrize("made", [lowering, exporting])
def test_weights_with_leaves_that_jax_leaves_out(made):
    w, x = drawn(4, 64), X.T
    wanted = w.astype(np.float64) @ x

    def function(params, momentum, x):
        return params["w"] @ x + momentum["unused"][0]
    tree = {"w": w, "unused": [np.zeros(1, np.float32), w], "none": None}
    program = made(function, tree, tree, x)
    bound = octavo.compile(program, weights={"params": tree, "momentum": tree})
    np.testing.assert_allclose(bound(x), wanted, rtol=1e-4, atol=1e-4)
    bound = octavo.compile(program, weights={"params": tree})
    np.testing.assert_allclose(bound(tree, x), wanted, rtol=1e-4, atol=1e-4)
    tuned = octavo.tune(program, [(tree, x), {"momentum": tree, "x": x}], budget="cosine >= 0.9", weights={"params": tree})
    assert tuned.is_met and len(tuned.dots) == 1
    assert octavo.calibrate(program, [(tree, x)], weights={"params": tree})["input_sets"] == 1
    # Another tree is not what the function took; a name that no argument has stays an error.
    for other in ({"params": tree | {"wider": w}}, {"parameters": tree}):
        with pytest.raises(octavo.ProgramError, match="@main has no argument"):
            octavo.compile(program, weights=other)
        np.testing.assert_allclose(octavo.compile(program, weights=other, ignore_unused=True)(*(
            (tree, x) if "params" in other else (tree, tree, x))), wanted, rtol=1e-4, atol=1e-4)


def test_empty_trees_beside_all_arguments():
    w, x = drawn(4, 64), X.T
    lowered = jax.jit(lambda p, e, x: p["w"] @ x, keep_unused=True).lower({"w": w}, {}, x)
    np.testing.assert_array_equal(octavo.compile(lowered)({"w": w}, {}, x), octavo.compile(lowered)({"w": w}, x))
    ranges = octavo.calibrate(lowered, [({"w": w}, {}, x)], weights={})
    assert ranges == octavo.calibrate(lowered, [(w, x)])


def test_named_arguments_of_a_function_that_jax_leaves_out():
    w, x = drawn(4, 64), X.T
    program = octavo.compile(jax.jit(lambda p, x: p["w"] @ x).lower(p={"w": w, "unused": w}, x=x))
    np.testing.assert_array_equal(program(p={"w": w, "unused": w}, x=x), program(p={"w": w}, x=x))


def test_results_whose_extents_are_computed():
    text = """
func.func @main(%n: tensor<1xi32>) -> tensor<?xi32> {
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}"""
    with pytest.raises(octavo.ProgramError, match=r'result "output0" of @main is i32\[\?\]: its extents depend on values'):
        octavo.compile(text)(np.array([3], np.int32))
