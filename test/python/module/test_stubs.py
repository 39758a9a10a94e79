"""The stub _core.pyi names and types everything public, and every public thing has a docstring and a
signature."""
import ast
import inspect
import os
import pathlib
import pickle
import subprocess
import sys

import octavo
import octavo.cfloat8
import octavo.checkpoint
import octavo.jax
import octavo.recipes
import octavo.training
import octavo.tuning
import pytest

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


USE = """
import pathlib
from typing import Any, assert_type
import jax
import numpy as np
from numpy.typing import NDArray
import octavo
import octavo.checkpoint
import octavo.jax as oj

x = np.ones((4, 64), np.float32)
q = octavo.quantize(x, "nvfp4", axis=-1, preset="jax", outer=0.5)
assert_type(q, octavo.ScaledTensor)
assert_type(q.T, octavo.ScaledTensor)
assert_type(q.shape, tuple[int, ...])
assert_type(q.ndim, int)
assert_type(q.dequantize(), NDArray[np.float32])
assert_type(q @ x.T, NDArray[np.float32])
assert_type(octavo.matmul(x, q.T, return_amax=True), tuple[NDArray[Any], np.float32])
assert_type(octavo.convert(x, octavo.ElementFormat("e4m3fn").name), NDArray[Any])
octavo.save(pathlib.Path("x"), {"q": q, "x": x})
octavo.save(b"x", {"q": q})
checkpoint = octavo.checkpoint.open(b"x")
assert_type(checkpoint, octavo.checkpoint.Checkpoint)
s = oj.quantize(x, "mxfp4")
assert_type(s, oj.ScaledArray)
assert_type(s @ s.T, jax.Array)
assert_type(oj.fake_quantize(x, "mxfp4"), jax.Array)
"""
MISUSE = """
import octavo
octavo.quantize("text", "mxfp4", axes=1)
octavo.formats().nothing
"""


def test_mypy_takes_what_runs_and_refuses_what_does_not(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "misuse.py").write_text(MISUSE)
    package = [STUB.with_name(name) for name in ("_core.pyi", "__init__.py", "checkpoint.py", "errors.py", "_signatures.py")]
    # octavo/jax itself is judged by what it offers: JAX types too little for --strict.
    judged = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "--no-error-summary",
                             "--follow-imports=silent", *package, tmp_path / "use.py", tmp_path / "misuse.py"],
                            capture_output=True, text=True, cwd=STUB.parents[1])
    assert judged.returncode == 1, (judged.stdout, judged.stderr)
    refused = judged.stdout.splitlines()
    assert all("misuse.py:" in line for line in refused), judged.stdout
    assert any('"quantize"' in line and "axes" in line for line in refused) and any("nothing" in line for line in refused)


def columns(stub, name):
    """How many types the rows have that a property of Program is said to give."""
    tree = ast.parse(STUB.with_name(stub).read_text())
    [program] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Program"]
    [found] = [node for node in program.body if isinstance(node, ast.FunctionDef) and node.name == name]
    [row] = [node for node in ast.walk(found.returns) if isinstance(node, ast.Subscript) and node.value.id == "list"]
    return len(row.slice.slice.elts)


@pytest.mark.mlir
def test_rows_have_the_columns_that_the_stubs_say(tmp_path):
    text = tmp_path / "p.mlir"
    text.write_text("""
func.func @main(%x: tensor<2x32xf32> {octavo.name = "x"}, %w: tensor<32x32xf32> {octavo.name = "w", octavo.parameter})
    -> tensor<2x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
  return %0 : tensor<2x32xf32>
}""")
    program = octavo.compile(text, quantize="mxfp8_e4m3")
    subprocess.run([pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo", "compile", text, "-o", tmp_path / "folder"],
                   check=True, capture_output=True, timeout=60)
    loaded = octavo.load_program(tmp_path / "folder")
    for stub, called, names in (("_programs.pyi", program._called, ("arguments", "results", "dots")),
                                ("_loaded.pyi", loaded._called, ("arguments", "results"))):
        for name in names:
            rows = getattr(called, name)
            assert rows and {len(row) for row in rows} == {columns(stub, name)}, (stub, name)
