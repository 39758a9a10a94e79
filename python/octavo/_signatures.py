"""Signatures of the extensions' functions for inspect, editors and help(). nanobind stores a signature only
as text in an attribute of its own, and its functions accept no new attributes."""
import ast
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def _signature(function: Any) -> inspect.Signature:
    """Parses the signature that nanobind stores as text, such as "def f(x: int = 1) -> str"."""
    text = function.__nb_signature__[0][0]
    node = ast.parse(text + ": ...").body[0]
    assert isinstance(node, ast.FunctionDef)
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults))
    rows = [*zip(plain, [*defaults, *given.defaults]), *zip(given.kwonlyargs, given.kw_defaults)]
    parameters = []
    for i, (argument, default) in enumerate(rows):
        kind = (inspect.Parameter.POSITIONAL_ONLY if i < len(given.posonlyargs)
                else inspect.Parameter.POSITIONAL_OR_KEYWORD if i < len(plain)
                else inspect.Parameter.KEYWORD_ONLY)
        parameters.append(inspect.Parameter(
            argument.arg, kind,
            default=inspect.Parameter.empty if default is None else ast.literal_eval(default),
            annotation=ast.unparse(argument.annotation) if argument.annotation
            else inspect.Parameter.empty))
    result = ast.unparse(node.returns) if node.returns else inspect.Signature.empty
    return inspect.Signature(parameters, return_annotation=result)


def _described(function: Any, module: str) -> Callable[..., Any]:
    """A Python function that calls `function` and has its signature."""
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.__module__, call.__name__ = module, function.__name__
    call.__qualname__, call.__doc__ = function.__name__, function.__nb_signature__[0][1]
    setattr(call, "__signature__", _signature(function))
    return call


def describe(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Adds signatures to the names of a module that an extension defines. A class gets an attribute. A function
    is replaced by a Python function of the module, which can also be pickled."""
    for name in names:
        thing = namespace[name]
        if isinstance(thing, type):
            maker = vars(thing).get("__init__")
            if hasattr(maker, "__nb_signature__"):
                made = _signature(maker)
                setattr(thing, "__signature__", made.replace(
                    parameters=list(made.parameters.values())[1:], return_annotation=name))
        elif type(thing).__name__ == "nb_func":
            namespace[name] = _described(thing, namespace["__name__"])
