"""The stubs of the three extension modules are what the modules have, name by name and type by type, and
every public thing has a docstring and a signature."""
import ast
import importlib
import inspect
import os
import pathlib
import pickle
import re
import subprocess
import types
import typing

import jax
import numpy as np
import octavo
import octavo.cfloat8
import octavo.checkpoint
import octavo.jax
import octavo.recipes
import octavo.training
import octavo.tuning
import pytest
from numpy.typing import NDArray

STUB = pathlib.Path(octavo.__file__).with_name("_core.pyi")
DEFINED = {node.name: node for node in ast.parse(STUB.read_text()).body
           if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
FROM_CORE = [name for name in octavo.__all__ if name not in octavo.cfloat8.__all__
             and not any(hasattr(module, name) for module in (octavo.errors, octavo.programs, octavo.tuning))]


def functions(node):
    return [node] if isinstance(node, ast.FunctionDef) else [
        each for each in node.body if isinstance(each, ast.FunctionDef)]


def test_everything_public_is_in_the_stub():
    assert STUB.with_name("py.typed").exists()
    assert set(FROM_CORE) <= DEFINED.keys()
    public = {name for name in vars(octavo) if not name.startswith("_")}
    assert public - {"cfloat8", "errors", "jax", "checkpoint", "programs", "recipes", "training", "tuning"} == set(octavo.__all__)
    assert octavo.__all__ == sorted(octavo.__all__)
    assert "__version__: str" in STUB.read_text()


def test_every_argument_and_result_has_a_type():
    for name in FROM_CORE:
        for function in functions(DEFINED[name]):
            arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            untyped = [each.arg for each in arguments if each.arg != "self" and not each.annotation]
            if function.name.startswith("__") and function.name != "__init__":
                continue  # nanobind's own: __getstate__ and their like
            assert not untyped, f"{name}.{function.name}: {untyped}"
            assert function.returns is not None, f"{name}.{function.name}"


def test_every_public_thing_says_what_it_is():
    for name in octavo.__all__:
        thing = getattr(octavo, name)
        assert (thing.__doc__ or "").strip(), name
        if isinstance(thing, type) and not issubclass(thing, Exception):
            for attribute in vars(thing):
                if not attribute.startswith("_"):
                    assert getattr(thing, attribute).__doc__, f"{name}.{attribute}"


def parameters(node):
    """Names, kinds and defaults of a function of the stub, but for self."""
    given, kinds = node.args, inspect.Parameter
    defaults = [inspect.Parameter.empty] * (len(given.args) - len(given.defaults)) + given.defaults
    rows = [(each, kinds.POSITIONAL_OR_KEYWORD, default) for each, default in zip(given.args, defaults)]
    rows += [(each, kinds.KEYWORD_ONLY, default or inspect.Parameter.empty)
             for each, default in zip(given.kwonlyargs, given.kw_defaults)]
    return [(each.arg, kind, default if default is inspect.Parameter.empty else ast.literal_eval(default))
            for each, kind, default in rows if each.arg != "self"]


@pytest.mark.parametrize("name", [name for name in FROM_CORE if name != "matmul"])
def test_signatures_are_those_of_the_stub(name):
    """inspect.signature raised ValueError: editors and help() had no arguments to show."""
    thing, node = getattr(octavo, name), DEFINED[name]
    if isinstance(thing, type):
        made = [each for each in functions(node) if each.name == "__init__"]
        if name != "ScaledTensor":
            return  # rows come from calls
        (node,) = made
    found = inspect.signature(thing)
    assert [(each.name, each.kind, each.default) for each in found.parameters.values()] == parameters(node)
    assert found.return_annotation is not inspect.Signature.empty


def public_functions():
    """Every public function and method of the package that has a signature, by its name."""
    for module in (octavo, octavo.jax, octavo.checkpoint, octavo.recipes, octavo.training):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield f"{module.__name__}.{name}", thing
            elif isinstance(thing, type) and not issubclass(thing, Exception):
                for own, method in vars(thing).items():
                    method = method.__func__ if isinstance(method, staticmethod) else method
                    if inspect.isfunction(method) and not own.startswith(("_", "tree_")):
                        yield f"{module.__name__}.{name}.{own}", method


@pytest.mark.parametrize("name, function", list(public_functions()))
def test_docstrings_name_every_parameter_and_no_other(name, function):
    text = function.__doc__
    parameters = [each for each in inspect.signature(function).parameters if each != "self"]
    assert [each for each in parameters if not re.search(rf"\b{each}\b", text)] == []
    # Lines such as "lhs, rhs: ..." at the docstring's own indentation, which may go on over a line's end.
    lists = re.findall(r"^((?:[a-z_]+, *\n?)*[a-z_]+): ", inspect.cleandoc(text), re.MULTILINE)
    listed = [each for found in lists for each in re.split(r",\s*", found)]
    assert set(listed) <= set(parameters)


def test_functions_are_like_pythons_own():
    """
    >>> import inspect, octavo
    >>> str(inspect.signature(octavo.amax))
    "(x: 'numpy.typing.ArrayLike') -> 'float'"
    >>> [name for name, each in inspect.signature(octavo.matmul).parameters.items() if each.default is each.empty]
    ['a', 'b']
    >>> octavo.amax
    <function amax at ...>
    """
    for name in FROM_CORE:
        thing = getattr(octavo, name)
        assert pickle.loads(pickle.dumps(thing)) is thing
        assert thing.__module__.startswith("octavo") and thing.__name__ == name
        inspect.signature(thing) if inspect.isfunction(thing) else None
    for module in (octavo.jax, octavo.checkpoint, octavo.recipes, octavo.training):
        for name in module.__all__:
            if name != "Finding":  # findings come from lint
                inspect.signature(getattr(module, name))
    import doctest
    tests = doctest.DocTestFinder().find(test_functions_are_like_pythons_own, globs={})
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert sum(runner.run(test).failed for test in tests) == 0 and runner.tries == 4


def members(node):
    """The functions and properties of a module's or class's stub by name, all overloads of each; None for
    what has only a type."""
    found = {}
    for each in node.body:
        if isinstance(each, ast.FunctionDef):
            found.setdefault(each.name, []).append(each)
        elif isinstance(each, ast.ClassDef):
            found[each.name] = each
        elif isinstance(each, ast.AnnAssign):
            found[each.target.id] = None
    return found


def described(function):
    """A function of an extension as nanobind describes it: the parsed definitions of its overloads."""
    texts = [re.sub(r"\\(\d+)", lambda place: repr(defaults[int(place[1])]), text)
             for text, _, defaults in function.__nb_signature__]
    return [ast.parse(text.replace("def (", "def _(", 1) + ": ...").body[0] for text in texts]


def defined(thing):
    """The same of everything in a module or class."""
    found = {}
    for name, each in vars(thing).items():
        if isinstance(each, property):
            found[name] = described(each.fget)
        elif isinstance(each, type):
            found[name] = each
        elif hasattr(each, "__nb_signature__"):
            found[name] = described(each)
    if isinstance(thing, type):
        for node in found.pop("__new__", []):  # a class that returns an existing object
            if [each.arg for each in node.args.args[:1]] == ["cls"]:
                found["__init__"] = [node]
    return found


def every_parameter(node):
    """Name, kind, default and annotation of each parameter but self."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults, *given.kw_defaults]
    kinds = ["position"] * len(given.posonlyargs) + ["either"] * len(given.args) + ["name"] * len(given.kwonlyargs)
    rows = [(each.arg, kind, default and ast.unparse(default), each.annotation)
            for each, kind, default in zip([*plain, *given.kwonlyargs], kinds, defaults)]
    rows += [(each.arg, kind, None, each.annotation)
             for each, kind in ((given.vararg, "*"), (given.kwarg, "**")) if each]
    return [row for row in rows if row[0] not in ("self", "cls")]


def alternatives(annotation):
    """A union's members as text, without the names of modules."""
    if isinstance(annotation, ast.BinOp):
        return alternatives(annotation.left) | alternatives(annotation.right)
    return {re.sub(r"\b(?:\w+\.)+(?=\w)", "", ast.unparse(annotation))}


def agree(found, stated):
    """Whether the stub's type is the extension's, or says more where the extension has only `object`, `list`
    and their like."""
    if found is None:
        return True
    known, told = alternatives(found), alternatives(stated)
    if "object" in known:
        return True
    plain = {each for each in known if "[" not in each}
    return known == told or {each.split("[")[0] if each.split("[")[0] in plain else each for each in told} == known


MODULES = ["_core", "_loaded", pytest.param("_programs", marks=pytest.mark.mlir)]


@pytest.mark.parametrize("name", MODULES)
def test_stubs_have_every_name_and_signature_of_the_extensions(name):
    """In both directions: the stub has every name of the extension, and no other name."""
    module = importlib.import_module(f"octavo.{name}")
    stub = members(ast.parse(STUB.with_name(f"{name}.pyi").read_text()))
    constants = {each for each, value in vars(module).items() if isinstance(value, str)} - {
        "__name__", "__doc__", "__package__", "__file__"}
    classes = [(each, node, defined(vars(module)[each])) for each, node in stub.items() if isinstance(node, ast.ClassDef)]
    assert stub.keys() == defined(module).keys() | constants
    pairs = [(each, nodes, defined(module)[each]) for each, nodes in stub.items() if isinstance(nodes, list)]
    for owner, node, own in classes:
        written = members(node)
        assert {each for each, nodes in written.items() if nodes} == own.keys(), owner
        pairs += [(f"{owner}.{each}", nodes, own[each]) for each, nodes in written.items() if nodes]
        for constant in (each for each, nodes in written.items() if not nodes):
            assert hasattr(vars(module)[owner], constant), (owner, constant)
    assert len(pairs) > 4
    for called, nodes, real in pairs:
        if len(nodes) > len(real):  # overloads that tell types of results apart
            [whole] = [every_parameter(node) for node in real]
            for node in nodes:
                for parameter, kind, default, _ in every_parameter(node):
                    [(_, known, value, _)] = [row for row in whole if row[0] == parameter]
                    assert known == kind and default in (value, None), (called, parameter)
            named = {row[0] for node in nodes for row in every_parameter(node)}
            assert named == {row[0] for row in whole}, called
            continue
        for node, found in zip(nodes, real, strict=True):
            given, known = every_parameter(node), every_parameter(found)
            unnamed = [each[0].startswith("arg") for each in known]
            assert [(is_unnamed or row[0], *row[1:3]) for row, is_unnamed in zip(given, unnamed, strict=True)] == [
                (is_unnamed or row[0], *row[1:3]) for row, is_unnamed in zip(known, unnamed)], called
            wrong = [row[0] for row, other in zip(given, known) if not agree(other[3], row[3])]
            assert not wrong, (called, wrong, ast.unparse(found))
            result = ast.unparse(found.returns)
            assert node.name == "__init__" or agree(found.returns, node.returns), (called, result)


def fits(value, kind):
    """Whether a value is of a type that a stub names."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is typing.Any:
        return True
    if kind is None or kind is type(None):
        return value is None
    if origin in (types.UnionType, typing.Union):
        return any(fits(value, each) for each in inner)
    if origin is np.ndarray:
        [dtype] = typing.get_args(inner[1])
        return isinstance(value, np.ndarray) and (dtype is typing.Any or value.dtype == np.dtype(dtype))
    if origin is list:
        return isinstance(value, list) and all(fits(each, inner[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits(key, inner[0]) and fits(each, inner[1]) for key, each in value.items())
    if origin is tuple and inner[-1] is Ellipsis:
        return isinstance(value, tuple) and all(fits(each, inner[0]) for each in value)
    if origin is tuple:
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(fits, value, inner))
    return type(value) is kind or isinstance(value, kind) and not isinstance(value, bool)


def result_type(module, called):
    """The type that the stub of a module says a function or a property gives."""
    *owner, name = called.split(".")
    body = members(ast.parse(STUB.with_name(f"{module}.pyi").read_text()))
    names = vars(importlib.import_module(f"octavo.{module}")) | vars(typing) | {"numpy": np, "pathlib": pathlib}
    return eval(ast.unparse((members(body[owner[0]]) if owner else body)[name][-1].returns), names)


def test_fits_tells_types_apart():
    row = list[tuple[str, tuple[int | None, ...], bool]]
    assert fits([("x", (2, None), True)], row) and fits([], row)
    assert not any(fits(each, row) for each in ([("x", (2, None))], [("x", (2, None), True, 1)], [("x", (2,), 1)],
                                                [("x", ("2",), True)], (("x", (2,), True),), None))
    assert fits(np.ones(2, np.float32), NDArray[np.float32]) and not fits(np.ones(2), NDArray[np.float32])


def test_results_have_the_types_of_the_stub(tmp_path):
    """Those that the source writes by hand, which nanobind does not check."""
    x = np.linspace(-3, 3, 2 * 128, dtype=np.float32).reshape(2, 128)
    codes, scales = octavo.convert(x, "e4m3fn"), np.ones(2, np.float32)
    fnuz = octavo.to_fnuz(codes, scales)
    q = octavo.quantize(x, "mxfp4")
    weight = octavo.quantize(np.ones((128, 128), np.float32), "fp8_block")
    octavo.checkpoint.write(tmp_path / "model", {"a.weight": weight, "b": x}, "deepseek")
    checkpoint = octavo.checkpoint.open(tmp_path / "model")
    octavo.save(tmp_path / "file", {"q": q, "x": x})
    results = {
        "formats": octavo.formats(), "presets": octavo.presets("mxfp4"), "to_fnuz": fnuz, "convert": codes,
        "to_ocp": octavo.to_ocp(*fnuz[:2]), "cap_fnuz": octavo.cap_fnuz(fnuz[0]), "amax": octavo.amax(x),
        "update_delayed_scale": octavo.update_delayed_scale(np.ones((2, 4), np.float32), scales, "e4m3fn"),
        "current_scale": octavo.current_scale(scales, "e4m3fn"), "samples": octavo.samples("normal", 3),
        "quantize": q, "quantize_both": octavo.quantize_both(x, "mxfp4"), "dequantize": octavo.dequantize(q),
        "pack": octavo.pack(q.elements), "unpack": octavo.unpack(octavo.pack(q.elements), "e2m1fn"),
        "matmul": octavo.matmul(x, q.T, to="e4m3fn", return_amax=True), "load": octavo.load(tmp_path / "file"),
        "analyze": octavo.analyze(x, "mxfp4"), "isa": octavo.isa(), "get_threads": octavo.get_threads(),
        "jax_targets": octavo._core.jax_targets(), "jax_scale_shape": octavo._core.jax_scale_shape("mxfp4", [2, 64], 1),
        "lint_checkpoint": octavo.checkpoint.lint(tmp_path / "model"), "Checkpoint.layers": checkpoint.layers,
        "Checkpoint.kv_scales": checkpoint.kv_scales, "Checkpoint.keys": checkpoint.keys(),
        "Checkpoint.input_scale": checkpoint.input_scale("a.weight"), "Checkpoint.path": checkpoint.path,
        "ScaledTensor.shape": q.shape, "ScaledTensor.block": q.block, "ScaledTensor.codes": q.codes,
        "PackedWeight.shape": octavo.PackedWeight(q.T).shape, "ScaledFormat.block": q.format.block,
        "ElementFormat.inf_code": q.format.element.inf_code, "ErrorRow.preset": octavo.analyze(x, "mxfp4")[0].preset,
    }
    wrong = {called: value for called, value in results.items() if not fits(value, result_type("_core", called))}
    assert not wrong


def grouped(w, filters, x):
    """A dot, and a product that is no dot."""
    return jax.lax.conv_general_dilated(x @ w, filters, (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"),
                                        feature_group_count=4)


MISSED = """func.func public @main(%x: tensor<4x64xf8E4M3FN>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> {
  %c = stablehlo.convert %x : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %e = stablehlo.exponential %c : tensor<4x64xf32>
  %y = stablehlo.dot_general %e, %w, contracting_dims = [1] x [0]
      : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}
"""


@pytest.mark.mlir
def test_rows_of_programs_have_the_types_of_the_stubs(tmp_path):
    """Each column of each row: programs.py makes dataclasses of rows by position."""
    from octavo import _loaded, _programs
    text = tmp_path / "p.mlir"
    text.write_text("""
func.func @main(%x: tensor<2x32xf32> {octavo.name = "x"}, %w: tensor<32x32xf32> {octavo.name = "w", octavo.parameter})
    -> tensor<2x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
  return %0 : tensor<2x32xf32>
}""")
    x, w = np.ones((2, 32), np.float32), np.ones((32, 32), np.float32)
    weights = _programs.Weights([], {"w": w}, set(), False)
    options = _programs.DotOptions("mxfp8_e4m3")
    narrow = _programs.compile(bytes(text), True, weights, "", "compiled", False, False, options)
    wide = _programs.compile(bytes(text), True, weights, "", "compiled", False, False, None)
    calibrator = _programs.Calibrator(bytes(text), True, weights, "", "compiled", "", False)
    calibrator.run(x)
    subprocess.run([pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo", "compile", text, "-o", tmp_path / "folder"],
                   check=True, capture_output=True, timeout=60)
    loaded = _loaded.load(os.fsencode(tmp_path / "folder"))
    assert narrow.arguments and narrow.results and narrow.dots and _programs.recipes()
    with_others = octavo.compile(jax.jit(grouped).lower(np.ones((64, 4), np.float32), np.ones((3, 1, 4), np.float32),
                                                        np.ones((2, 9, 64), np.float32)),
                                 quantize="mxfp8_e4m3", parameters="^w")._called
    with pytest.warns(UserWarning, match="multiplies wide values"):
        with_missed = octavo.compile(MISSED)._called
    assert with_others.others and with_missed.missed
    for rows, kind in ((with_others.others, "Program.others"), (with_missed.missed, "Program.missed")):
        assert fits(rows, result_type("_programs", kind)), kind
    programs = {f"Program.{name}": getattr(narrow, name)
                for name in ("function", "arguments", "results", "dots", "others", "missed", "warnings")}
    programs |= {"Program.dot_errors": wide.dot_errors(options, x), "Program.dot_widths": narrow.dot_widths(),
                 "Program.explain": narrow.explain(), "Calibrator.arguments": calibrator.arguments,
                 "Calibrator.text": calibrator.text(), "recipes": _programs.recipes()}
    wrong = {called: value for called, value in programs.items() if not fits(value, result_type("_programs", called))}
    wrong |= {called: getattr(loaded, called.split(".")[1]) for called in ("Program.function", "Program.arguments", "Program.results")
              if not fits(getattr(loaded, called.split(".")[1]), result_type("_loaded", called))}
    assert not wrong
