"""Programs of StableHLO, compiled and called like functions."""
from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._trees import InputTrees, input_trees, leaves_left_out
from .errors import DtypeError, ProgramError

if TYPE_CHECKING:
    from ._loaded import Program as _Loaded
    from ._programs import Program as _Compiled

__all__ = ["Argument", "Dot", "LoadedProgram", "OtherProduct", "Program", "Result", "calibrate", "compile", "load_program"]


@dataclass(frozen=True)
class Argument:
    """What a program takes: its name, its shape (None for an extent that may be any), its type as
    text, and whether it was bound when the program was compiled."""
    name: str
    shape: tuple[int | None, ...]
    type: str
    is_bound: bool


@dataclass(frozen=True)
class Result:
    """What a program gives: its name, its shape (None for an extent that arguments decide), NumPy's
    name of its dtype, and its type as text."""
    name: str
    shape: tuple[int | None, ...]
    dtype: str
    type: str


@dataclass(frozen=True)
class Dot:
    """What ``quantize`` made of a dot: its name in the source, its sizes (MxNxK), whether it became
    narrow, the scaled formats of its sides (None: as it was), and why."""
    name: str
    sizes: str
    is_quantized: bool
    lhs: str | None
    rhs: str | None
    reason: str


@dataclass(frozen=True)
class OtherProduct:
    """A product that is no dot, so that ``quantize`` left it wide: its name in the source, and what it
    is instead."""
    name: str
    reason: str


class LoadedProgram:
    """A program that can be called. Called with its open arguments by position or by name, it gives a
    NumPy array, or a tuple of them where it has several results. Any number of threads may call it.

    Arguments are NumPy arrays, tensors of torch, JAX arrays on the CPU, and ScaledTensor where the
    program takes one; row-major arrays of the right dtype are not copied. Trees of them (mappings,
    lists, tuples) stand for the arguments that JAX named after their leaves: ``program(params, x)``
    gives ``params['w']`` and ``x``, and so does ``program(params=params, x=x)``. ``out`` is an array, or a
    tuple of one a result, that the results are written to: row-major, of their dtypes and shapes,
    sharing no memory with the arguments.

    A call raises ShapeError for a shape that the program does not take, by itself or beside those of
    other arguments, DtypeError for a dtype, NonFiniteError for values that its quantizations refuse,
    and ProgramError for arguments that are missing or too many and a run that fails."""

    # JAX's tree of what the function gave before a recipe added results; None: an array or a tuple.
    _own_tree: Any = None

    def __init__(self, called: _Loaded | _Compiled) -> None:
        self._called = called

    def __call__(self, *args: Any, out: Any = None, **named: Any) -> Any:
        return self._called(*args, out=out, **named)

    @property
    def function(self) -> str:
        """The name of its function."""
        return self._called.function

    @property
    def arguments(self) -> list[Argument]:
        """All arguments, in their order; of a program that was loaded, those that are not bound."""
        return [Argument(*row) for row in self._called.arguments]

    @property
    def results(self) -> list[Result]:
        """What it gives, in its order."""
        return [Result(*row) for row in self._called.results]

    def __repr__(self) -> str:
        arguments = self.arguments
        takes = ", ".join(each.type for each in arguments if not each.is_bound)
        gives = ", ".join(each.type for each in self.results)
        bound = sum(each.is_bound for each in arguments)
        return (f"<octavo.{type(self).__name__} @{self.function}: ({takes}) -> ({gives})"
                f"{f', {bound} arguments bound' if bound else ''}>")


class Program(LoadedProgram):
    """A program that was compiled in this process: what it was made of can be asked. One that JAX
    lowered or exported gives what its function gave, a tree, with arrays in the leaves, and takes
    such a tree for ``out``, too; one that has more results, as a recipe's states are, gives them all in
    one tuple."""

    _called: _Compiled

    def __init__(self, called: _Compiled, tree: Any = None, inputs: InputTrees | None = None) -> None:
        super().__init__(called)
        self._own_tree = None if tree is None or _is_plain(tree) else tree
        fits = self._own_tree is not None and self._own_tree.num_leaves == len(called.results)
        self._tree = self._own_tree if fits else None
        self._inputs = inputs

    def __call__(self, *args: Any, out: Any = None, **named: Any) -> Any:
        if self._inputs is not None:
            args, named = self._inputs.passed(args, named)
        if self._tree is None:
            return self._called(*args, out=out, **named)
        if out is not None:
            out = self._arrays(out)
        given = self._called(*args, out=out, **named)
        return self._tree.unflatten([given] if self._tree.num_leaves == 1 else given)

    def _arrays(self, out: Any) -> Any:
        """One array or a tuple of them, of a tree of those that results are written to."""
        assert self._tree is not None
        try:
            leaves = self._tree.flatten_up_to(out)
        except ValueError:  # of another structure
            if isinstance(out, np.ndarray) or type(out) in (tuple, list) and all(
                    isinstance(each, np.ndarray) for each in out):
                return out
            found = sys.modules["jax"].tree_util.tree_structure(out)
            raise DtypeError(f"out: expected a tree of arrays as the program gives it, {self._tree}, or a "
                             f"tuple of {self._tree.num_leaves} arrays, one for each result; found "
                             f"{found}") from None
        return leaves[0] if len(leaves) == 1 else tuple(leaves)

    @property
    def dots(self) -> list[Dot]:
        """What became of each dot, in the order of the program; empty without ``quantize``."""
        return [Dot(*row) for row in self._called.dots]

    @property
    def others(self) -> list[OtherProduct]:
        """The products that are no dots, in the order of the program; empty without ``quantize``."""
        return [OtherProduct(*row) for row in self._called.others]

    def dot_widths(self) -> dict[str, Any]:
        """Which dots of what was compiled multiply scaled tensors, and what keeps those that look narrow
        from it: what ``octavo explain --json`` says (docs/commands/explain.md), but the name of the
        program. Dots that ``recover_scaled=True`` would have multiply scaled tensors count as narrow, as
        there."""
        found: dict[str, Any] = json.loads(self._called.dot_widths())
        return found

    def dot_errors(self, *args: Any, quantize: Any = None, recipe: Any = None, activations: Any = None,
                   rule: str = "", non_finite: str = "", preset: str = "", match: str = "",
                   exclude: str = "", parameters: str = "", min_size: int = 0,
                   both_activations: bool = False, calibration: Any = None, range: str = "",
                   **named: Any) -> dict[str, Any]:
        """Where the error comes from if the program's dots are quantized so: what ``octavo run --compare
        f32 --per-op --json`` has under ``per_op`` (docs/commands/run.md), on these arguments, which are
        those of a call. ``dots`` in it is a list of dicts, one a dot, in the order of the program, with
        the SQNR (dB) of its result, alone and with the errors of the dots before it, and of both
        operands, their amax, the shares of their elements that
        saturated and underflowed, and ``share``, the dot's share of the final error; None where there is
        no figure. ``quantize`` or ``recipe`` and the options after them are those of ``octavo.compile``,
        and what was bound there is a weight.

        The program is one compiled without them. It runs three times and once for each quantized dot.
        Raises ProgramError where no dot is quantized, too, and what a call and ``octavo.compile``
        raise."""
        dots = _dot_options(quantize, recipe, activations, rule, non_finite, preset, match, exclude,
                            parameters, min_size, both_activations, calibration, range)
        if dots is None:
            raise ProgramError("dot_errors says what quantized dots lose: give quantize=FORMAT or recipe=")
        if self._inputs is not None:
            args, named = self._inputs.passed(args, named)
        found: dict[str, Any] = json.loads(self._called.dot_errors(dots, *args, **named))
        return found

    def explain(self) -> dict[str, Any]:
        """What it was compiled to: the numbers of operations, kernels and products, the bytes that it
        works on, and under ``interpreted`` what the interpreter evaluates, where and why. A reason
        under ``interpreted_whole`` says that all of it is interpreted. ``open_extents`` says of a
        program that leaves extents open whether it runs on any number of items, whose bytes are then
        those of one, or is compiled for each set of extents, and why: such a program is explained
        once it was called, for the last call. Before that it raises ProgramError."""
        return self._called.explain()


def load_program(folder: str | bytes | os.PathLike[str]) -> LoadedProgram:
    """The program of a folder that ``octavo compile`` wrote, with the bits that it has there. Its code
    runs in this process: load no folder that you would not run. Weights are mapped, so that processes
    share them. No MLIR is needed.

    Raises ProgramError for a folder that is none, is damaged, or was compiled for instructions that
    this processor lacks, and DtypeError for what is no path."""
    from . import _loaded

    if not isinstance(folder, (str, bytes, os.PathLike)):
        raise DtypeError(f"folder: expected a path, found {type(folder).__name__}")
    return LoadedProgram(_loaded.load(os.fsencode(folder)))


def _source(program: Any) -> tuple[bytes, bool]:
    """The program's bytes or its path, and whether it is the path."""
    if isinstance(program, str) and not program:
        raise DtypeError("program: expected a path or the program's text; found an empty text")
    if isinstance(program, os.PathLike):
        return os.fsencode(program), True
    if isinstance(program, str):
        is_path = "\n" not in program
        return os.fsencode(program) if is_path else program.encode(errors="surrogateescape"), is_path
    if isinstance(program, (bytes, bytearray, memoryview)):
        return bytes(program), False
    if hasattr(program, "mlir_module_serialized"):  # jax.export.Exported
        return bytes(program.mlir_module_serialized), False
    if hasattr(program, "compiler_ir"):  # jax.stages.Lowered, with the names of its arguments
        module = program.compiler_ir("stablehlo")
        return module.operation.get_asm(enable_debug_info=True).encode(), False
    raise DtypeError(
        "program: expected a path, the program's text or bytes, jax.export.export(...)(...) or "
        f"jax.jit(...).lower(...); found {type(program).__name__}")


def _result_tree(program: Any, function: str) -> Any:
    """JAX's tree of what a function gives, of that which JAX lowered or exported; else None."""
    return getattr(program, "out_tree", None) if function in ("", "main") else None


def _is_plain(tree: Any) -> bool:
    """Whether a tree is one array or a tuple of several, which a program gives without it."""
    if tree.num_nodes == 1:
        return bool(tree.num_leaves == 1)
    return bool(tree.num_leaves > 1 and tree.num_nodes == tree.num_leaves + 1 and tree.node_data()[0] is tuple)


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays of a tree by the names that JAX gives a program's arguments: params['w'][0]. As in
    JAX, None within a tree is no leaf."""
    if isinstance(value, Mapping):
        below = [(f"{name}[{key!r}]", each) for key, each in value.items()]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        below = [(f"{name}.{field}", each) for field, each in zip(value._fields, value)]
    elif isinstance(value, (list, tuple)):
        below = [(f"{name}[{i}]", each) for i, each in enumerate(value)]
    else:
        yield from _leaves_by_jax(name, value)
        return
    for path, each in below:
        if each is not None:
            yield from leaves(path, each)


def _leaves_by_jax(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Those of a class that JAX knows as a tree; a program that takes one was made where JAX is."""
    jax = sys.modules.get("jax")
    if jax is None:
        yield name, value
        return
    for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
        yield name + jax.tree_util.keystr(path), leaf


def given_weights(weights: Any, program: Any, function: str, ignore_unused: bool) -> Any:
    """Those of ``compile`` for the extension module."""
    files: list[Any] = []
    arrays: dict[str, Any] = {}
    left_out: set[str] = set()
    if isinstance(weights, Mapping):
        if unnamed := [name for name in weights if not isinstance(name, str)]:
            raise DtypeError(f"weights: expected names of arguments, found {unnamed[0]!r}")
        arrays = dict(pair for name, value in weights.items() for pair in leaves(name, value))
        left_out = leaves_left_out(program, function, weights)
    elif weights is not None:
        is_list = isinstance(weights, Iterable) and not isinstance(weights, str)
        files = list(weights) if is_list else [weights]
    if not all(isinstance(file, (str, os.PathLike)) for file in files):
        raise DtypeError("weights: expected a mapping of names to arrays, or paths of .safetensors files; "
                         f"found {type(weights).__name__}")
    return programs_module("octavo.compile").Weights([os.fspath(file) for file in files], arrays, left_out,
                                                     ignore_unused)


def _not_finite(given: Any, path: str = "") -> tuple[str, float] | None:
    """The first number that JSON has not, and the place of it in what JSON can hold."""
    if isinstance(given, float):
        return None if math.isfinite(given) else (path, given)
    below: Iterable[tuple[str, Any]] = ()
    if isinstance(given, Mapping):
        below = ((f"{path}.{key}" if path else str(key), each) for key, each in given.items())
    elif isinstance(given, (list, tuple)):
        below = ((f"{path}[{i}]", each) for i, each in enumerate(given))
    return next((found for at, each in below if (found := _not_finite(each, at))), None)


def _require_texts(**options: Any) -> None:
    for name, given in options.items():
        if not isinstance(given, str):
            raise DtypeError(f"{name}: expected a str, found {type(given).__name__}; leave it out for the default")


def text_or_path(what: str, expected: str, given: Any) -> tuple[str, bool]:
    """The JSON of a mapping or the path that stands for it, and whether it is the JSON."""
    if isinstance(given, Mapping):
        try:
            text = json.dumps(given)
        except (TypeError, ValueError) as error:
            raise DtypeError(f"{what}: not what JSON can hold: {error}") from error
        if found := _not_finite(given):
            raise DtypeError("{}: {}: expected a finite number, found {}".format(what, *found))
        return text, True
    if isinstance(given, (str, os.PathLike)) and isinstance(os.fspath(given), str):
        return os.fspath(given), False
    raise DtypeError(f"{what}: expected {expected}; found {type(given).__name__}")


def _recipe(recipe: Any) -> tuple[str, bool]:
    """A recipe's name or path, or its text, and whether it is the text."""
    return text_or_path("recipe", "a name, a path or a mapping with the list \"rules\"", recipe)


def programs_module(what: str) -> Any:
    """The extension module that needs MLIR."""
    try:
        from . import _programs
    except ImportError as error:
        raise ImportError(f"{what} needs MLIR 22, which this build of octavo has not or cannot "
                          f"load ({error}); `make test` in a checkout builds the module with it") \
            from error
    return _programs


def _dot_options(quantize: Any, recipe: Any, activations: Any, rule: str, non_finite: str, preset: str,
                 match: str, exclude: str, parameters: str, min_size: int, both_activations: bool,
                 calibration: Any, range: str) -> Any:
    """How dots are quantized; None: they are not."""
    _programs = programs_module("octavo.compile")
    _require_texts(rule=rule, non_finite=non_finite, preset=preset, match=match, exclude=exclude,
                   parameters=parameters, range=range)
    if range and calibration is None:
        raise ProgramError("range chooses a range of a calibration: give calibration=")
    if calibration is not None and quantize is None:
        raise ProgramError("calibration goes with quantize=FORMAT; the rules of a recipe name their own "
                           "(\"scales\")")
    if quantize is not None and recipe is not None:
        raise ProgramError("quantize gives one format to all dots, recipe gives each its own: give one "
                           "of the two")
    if recipe is not None:
        if activations is not None or rule or preset:
            raise ProgramError("activations, rule and preset are said by the rules of a recipe")
        text, is_text = _recipe(recipe)
        return _programs.DotOptions(
            None, recipe=text, recipe_is_text=is_text, non_finite=non_finite, match=match, exclude=exclude,
            parameters=parameters, min_size=min_size, both_activations=both_activations)
    if quantize is not None:
        found, is_text = ("", False) if calibration is None else text_or_path(
            "calibration", "a path or what octavo.calibrate gives", calibration)
        return _programs.DotOptions(
            quantize, activations=activations, rule=rule, non_finite=non_finite, preset=preset,
            match=match, exclude=exclude, parameters=parameters, min_size=min_size,
            both_activations=both_activations, calibration=found, calibration_is_text=is_text,
            range=range)
    if activations is not None or rule or non_finite or preset or match or exclude or parameters \
            or min_size or both_activations:
        raise ProgramError("activations, rule, non_finite, preset, match, exclude, parameters, min_size "
                           "and both_activations say how dots are quantized: give quantize=FORMAT or recipe=")
    return None


def compile(program: Any, *, weights: Any = None, quantize: Any = None, recipe: Any = None,
            activations: Any = None, rule: str = "", non_finite: str = "", preset: str = "", match: str = "",
            exclude: str = "", parameters: str = "", min_size: int = 0,
            both_activations: bool = False, calibration: Any = None, range: str = "",
            recover_scaled: bool = False, drop_scales: bool = False, function: str = "", backend: str = "compiled",
            ignore_unused: bool = False) -> Program:
    """Compiles a program of StableHLO, as JAX and torch export it, for this machine.

    ``program`` is the path of a file that ``octavo run`` takes; its text (a str of more than one line)
    or bytes; what ``jax.export.export(f)(...)`` gives; or ``jax.jit(f).lower(...)``.

    ``weights`` binds arguments for all calls: a mapping from their names to arrays or ScaledTensor,
    where trees go by JAX's names (``{"params": params}`` binds ``params['w']``), or one or more
    .safetensors files that have tensors of those names. The program keeps the values that arrays have
    now: arrays that can be written to are copied, read-only ones of NumPy (with what they are views of)
    and JAX's are held.

    ``quantize`` names the scaled format that dots with a weight become narrow in, ``activations`` that
    of their other side (``"none"``: left as it is); these and the options after them are those of
    ``octavo quantize``. What ``weights`` binds is a weight, and is quantized when it is bound.
    ``Program.dots`` tells what became of each dot; a warning, that none became narrow. Another warns of
    dots that multiply wide values though narrow ones are behind them (``octavo explain``).

    ``recipe`` in place of ``quantize`` gives each dot the format of the first rule that takes it: the
    name of a recipe, the path of a file, or the mapping that such a file holds
    (``{"rules": [{"dots": "re:embed", "keep": "f32", "reason": "..."}, {"weights": "mxfp4"}]}``).

    ``calibration``, beside ``quantize``, makes the scales of activations constants of the program: what
    ``octavo.calibrate`` gave, or the path of a file of ``octavo calibrate``. ``range`` says for which
    magnitude: ``"amax"`` (the default), ``"percentile:P"`` or ``"mse"``. In a recipe, ``"scales"`` and
    ``"range"`` of a rule say both. The formats are those with a scale of the whole tensor
    (``fp8_tensor``, ``fp8_e5m2_tensor``, ``nvfp4``).

    ``recover_scaled`` makes products of scaled tensors of dots whose operands the program dequantizes
    by hand, as ``octavo explain`` lists them, before anything is quantized; sums are then rounded in
    another order.

    ``drop_scales`` leaves tensors wide that the program quantizes only to dequantize them, so that their
    scales and amaxes are not computed; their roundings are left out, which changes values.
    ``Program.explain()["dropped_scales"]`` says how many.

    ``function`` is needed where the program has no ``main``. ``backend="reference"`` is the
    interpreter. Files and mappings may have what no argument is for with ``ignore_unused``; a tree that
    the function took may have, without it, the leaves that the function does not use.

    Raises ProgramError for a program that cannot be read or run and for weights that it does not take,
    FormatError for a name that nothing has, FileError for files of weights or a calibration that cannot
    be read, DtypeError, ShapeError and NonFiniteError for arrays that do not fit."""
    _programs = programs_module("octavo.compile")
    _require_texts(function=function, backend=backend)
    dots = _dot_options(quantize, recipe, activations, rule, non_finite, preset, match, exclude, parameters,
                        min_size, both_activations, calibration, range)
    source, is_path = _source(program)
    called = _programs.compile(source, is_path, given_weights(weights, program, function, ignore_unused),
                               function, backend, recover_scaled, drop_scales, dots)
    made = Program(called, _result_tree(program, function),
                   input_trees(program, function, called.arguments))
    if dots is not None and not any(dot.is_quantized for dot in made.dots):
        wide: list[Dot | OtherProduct] = [*made.dots, *made.others]
        left = [(each.name, each.reason) for each in wide]
        why = "of {}: {}".format(*left[0]) if left else "the program has no dots"
        given = f"quantize={quantize!r}" if recipe is None else f"recipe={recipe!r}"
        warnings.warn(f"{given} left every dot as it was; {why}", stacklevel=2)
    for warning in [*called.warnings, *called.missed]:
        warnings.warn(warning, stacklevel=2)
    return made


def calibrate(program: Any, inputs: Iterable[Any], *, weights: Any = None, columns: bool = False,
              parameters: str = "", function: str = "", backend: str = "compiled",
              ignore_unused: bool = False) -> dict[str, Any]:
    """Runs a program on sets of inputs and gives the ranges of what its dots are given, as a mapping:
    what the file of ``octavo calibrate`` holds (docs/commands/calibrate.md). ``octavo.compile(...,
    calibration=)`` makes static scales of it, ``json.dump`` the file.

    ``program``, ``weights``, ``function``, ``backend`` and ``ignore_unused`` are those of
    ``octavo.compile``. Each of ``inputs`` is a set, the arguments of one run: a mapping from their names,
    a tuple or a list by position, or the one array where there is but one. Their shapes may differ where
    the program leaves extents open. ``columns`` keeps the largest magnitude of each column, too.
    ``parameters`` (RE2) finds arguments that are weights and are not bound.

    Raises ProgramError with the number of the set (from 0) where a run fails or a dot is given NaN or an
    infinity, where there is no set, and where no dot was given a value; a dot that was given none has
    an empty histogram. Otherwise as ``octavo.compile``."""
    _programs = programs_module("octavo.calibrate")
    _require_texts(parameters=parameters, function=function, backend=backend)
    source, is_path = _source(program)
    calibrator = _programs.Calibrator(source, is_path, given_weights(weights, program, function, ignore_unused),
                                      function, backend, parameters, columns)
    is_one_array = hasattr(inputs, "__array__") or hasattr(inputs, "__dlpack__")
    if isinstance(inputs, (str, bytes, Mapping)) or is_one_array or not isinstance(inputs, Iterable):
        raise DtypeError("inputs: expected a list of sets of inputs, each a mapping, a tuple or an array; "
                         f"found {type(inputs).__name__}")
    trees = input_trees(program, function, calibrator.arguments)
    for number, given in enumerate(inputs):
        args: tuple[Any, ...] = ()
        named: dict[str, Any] = {}
        if isinstance(given, Mapping):
            named = dict(given)
        else:
            args = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        if trees is not None:
            args, named = trees.passed(args, named)
        try:
            calibrator.run(*args, **named)
        except ProgramError as error:
            raise ProgramError(f"inputs[{number}]: {error}") from error
    found: dict[str, Any] = json.loads(calibrator.text())
    if found["input_sets"] == 0:
        raise ProgramError("inputs: there is no set of inputs, so there is no range")
    if not any(each["histogram"]["counts"] for each in found["tensors"]):
        raise ProgramError("inputs: no dot was given a value, so there is no range")
    return found
