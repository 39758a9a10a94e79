"""The stub _core.pyi names and types everything public, and every public thing has a docstring."""
import ast
import pathlib

import octavo

STUB = pathlib.Path(octavo.__file__).with_name("_core.pyi")
DEFINED = {node.name: node for node in ast.parse(STUB.read_text()).body
           if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
FROM_CORE = [name for name in octavo.__all__ if not hasattr(octavo.errors, name)]


def functions(node):
    return [node] if isinstance(node, ast.FunctionDef) else [
        each for each in node.body if isinstance(each, ast.FunctionDef)]


def test_everything_public_is_in_the_stub():
    assert STUB.with_name("py.typed").exists()
    assert set(FROM_CORE) <= DEFINED.keys()
    public = {name for name in vars(octavo) if not name.startswith("_")}
    assert public - {"errors", "jax", "checkpoint"} == set(octavo.__all__)
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
