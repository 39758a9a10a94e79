"""StableHLO programs as Python functions: compile, calibrate, load and call them."""
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
    """An argument of a program.

    name: by which a call can pass it.
    shape: None stands for an open extent.
    type: the StableHLO type as text.
    is_bound: whether ``weights=`` of ``octavo.compile`` has bound it, so that calls omit it.
    """
    name: str
    shape: tuple[int | None, ...]
    type: str
    is_bound: bool


@dataclass(frozen=True)
class Result:
    """A result of a program.

    name: of the result.
    shape: None stands for an extent that depends on the arguments.
    dtype: NumPy's name of the array's dtype.
    type: the StableHLO type as text.
    """
    name: str
    shape: tuple[int | None, ...]
    dtype: str
    type: str


@dataclass(frozen=True)
class Dot:
    """A dot (matrix product) of a program, and whether it was quantized.

    name: in the program's source.
    sizes: "MxNxK".
    is_quantized: whether it multiplies in a scaled format.
    lhs, rhs: the scaled formats of its operands; None if the operand is not quantized.
    reason: why it was quantized or left alone.
    """
    name: str
    sizes: str
    is_quantized: bool
    lhs: str | None
    rhs: str | None
    reason: str


@dataclass(frozen=True)
class OtherProduct:
    """A product that ``quantize`` left alone because it is not a dot, such as a grouped convolution.

    name: in the program's source.
    reason: what it is, and why octavo does not treat it as a dot.
    """
    name: str
    reason: str


class LoadedProgram:
    """A compiled program, called like a function: ``program(x, y)`` or ``program(x=x, y=y)``.

    A call takes the arguments that are not bound, and returns a NumPy array, or a tuple of arrays if the
    program has several results. Threads may call it concurrently.

    Arguments are NumPy arrays, torch tensors, JAX arrays on the CPU, or ScaledTensor if the program takes one.
    Row-major arrays of the right dtype are not copied. A tree of arrays (mapping, list, tuple) stands for
    the arguments that JAX named after its leaves: ``program(params, x)`` and ``program(params=params, x=x)``
    pass ``params['w']`` and ``x``.

    ``out`` is an array to write the result to, or a tuple with an array for each result. These arrays must be
    row-major, have the results' dtypes and shapes, and share no memory with the arguments.

    A call raises
    ShapeError for a shape that the program does not take, or that contradicts another argument's;
    DtypeError for a dtype that the program does not take;
    NonFiniteError for NaN or infinity that a quantization refuses;
    ProgramError for missing or surplus arguments, and for a run that fails.
    """

    # The tree of the JAX function's results, without those that a recipe added; None for an array or a tuple.
    _own_tree: Any = None

    def __init__(self, called: _Loaded | _Compiled) -> None:
        self._called = called

    def __call__(self, *args: Any, out: Any = None, **named: Any) -> Any:
        return self._called(*args, out=out, **named)

    @property
    def function(self) -> str:
        """The name of the program's function."""
        return self._called.function

    @property
    def arguments(self) -> list[Argument]:
        """The arguments in their order. A loaded program lists only those that are not bound."""
        return [Argument(*row) for row in self._called.arguments]

    @property
    def results(self) -> list[Result]:
        """The results in their order."""
        return [Result(*row) for row in self._called.results]

    def __repr__(self) -> str:
        arguments = self.arguments
        takes = ", ".join(each.type for each in arguments if not each.is_bound)
        gives = ", ".join(each.type for each in self.results)
        bound = sum(each.is_bound for each in arguments)
        return (f"<octavo.{type(self).__name__} @{self.function}: ({takes}) -> ({gives})"
                f"{f', {bound} arguments bound' if bound else ''}>")


class Program(LoadedProgram):
    """A program that ``octavo.compile`` compiled. It is called as a LoadedProgram, and can also report how its dots
    were quantized and compiled.

    If JAX lowered or exported the program, a call returns the tree that the JAX function returns, with NumPy
    arrays as leaves; ``out`` may be such a tree. If a recipe added results (states), a call returns all
    results in one tuple.
    """

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
        """The arrays of ``out``, a tree, in the order of the results: one array or a tuple."""
        assert self._tree is not None
        try:
            leaves = self._tree.flatten_up_to(out)
        except ValueError:  # the tree has another structure
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
        """The dots in the order of the program; empty if the program was compiled without ``quantize`` and
        ``recipe``."""
        return [Dot(*row) for row in self._called.dots]

    @property
    def others(self) -> list[OtherProduct]:
        """The products that are not dots, in the order of the program; empty if the program was compiled without
        ``quantize`` and ``recipe``."""
        return [OtherProduct(*row) for row in self._called.others]

    def dot_widths(self) -> dict[str, Any]:
        """Which dots of the compiled program multiply in a scaled format, and what prevents that for dots whose
        operands come from narrow values.

        Returns the output of ``octavo explain --json`` (docs/commands/explain.md) without the program's name. As
        there, a dot that ``recover_scaled=True`` would convert counts as narrow.
        """
        found: dict[str, Any] = json.loads(self._called.dot_widths())
        return found

    def dot_errors(self, *args: Any, quantize: Any = None, recipe: Any = None, activations: Any = None,
                   rule: str = "", non_finite: str = "", preset: str = "", match: str = "",
                   exclude: str = "", parameters: str = "", min_size: int = 0,
                   both_activations: bool = False, calibration: Any = None, range: str = "",
                   **named: Any) -> dict[str, Any]:
        """Measures how much of the program's error each dot would cause if it were quantized.

        args, named: the arguments of a call.
        quantize, recipe, activations, rule, non_finite, preset, match, exclude, parameters, min_size,
        both_activations, calibration, range: as in ``octavo.compile``. The program itself must be compiled
        without them. Arguments that ``weights=`` has bound are weights.

        Returns the value of ``per_op`` in ``octavo run --compare f32 --per-op --json`` (docs/commands/run.md). Its
        list ``dots`` has a dict for each dot, in the order of the program:
        the SQNR of the dot's result in dB, with its own error alone and with the errors of earlier dots;
        for both operands the SQNR, the amax, and the shares of elements that saturated and underflowed;
        ``share``, the dot's share of the final error.
        A figure that does not exist is None.

        The program runs three times, and once for each quantized dot. Raises the errors of a call and of
        ``octavo.compile``, and ProgramError if no dot is quantized.
        """
        dots = _dot_options(quantize, recipe, activations, rule, non_finite, preset, match, exclude,
                            parameters, min_size, both_activations, calibration, range)
        if dots is None:
            raise ProgramError("dot_errors says what quantized dots lose: give quantize=FORMAT or recipe=")
        if self._inputs is not None:
            args, named = self._inputs.passed(args, named)
        found: dict[str, Any] = json.loads(self._called.dot_errors(dots, *args, **named))
        return found

    def explain(self) -> dict[str, Any]:
        """Describes the compiled program: numbers of operations, kernels and products, and bytes of memory.

        ``interpreted`` lists the operations that the interpreter evaluates, with place and reason.
        ``interpreted_whole`` is the reason if the interpreter evaluates the whole program.
        ``open_extents`` is there if the program has open extents. It says whether the program is compiled once
        for every batch size (bytes are then those of one item), or once for each set of extents, and why.

        A program that is compiled for each set of extents is described as of its last call. Before the first call
        explain raises ProgramError.
        """
        return self._called.explain()


def load_program(folder: str | bytes | os.PathLike[str]) -> LoadedProgram:
    """Loads a program from a folder that ``octavo compile`` wrote. MLIR is not needed.

    folder: the path. The folder contains machine code that runs in this process: load only folders that you trust.

    Weights are memory-mapped, so processes that load the folder share them. Raises ProgramError if the path is
    not such a folder, if the folder is damaged, or if this processor lacks instructions of the code. Raises
    DtypeError if ``folder`` is not a path.
    """
    from . import _loaded

    if not isinstance(folder, (str, bytes, os.PathLike)):
        raise DtypeError(f"folder: expected a path, found {type(folder).__name__}")
    return LoadedProgram(_loaded.load(os.fsencode(folder)))


def _source(program: Any) -> tuple[bytes, bool]:
    """The program's bytes or its path, and whether it is a path."""
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
    """The tree of the function's results if JAX lowered or exported the program, else None."""
    return getattr(program, "out_tree", None) if function in ("", "main") else None


def _is_plain(tree: Any) -> bool:
    """Whether a tree is one array or a tuple of several, as programs return them anyway."""
    if tree.num_nodes == 1:
        return bool(tree.num_leaves == 1)
    return bool(tree.num_leaves > 1 and tree.num_nodes == tree.num_leaves + 1 and tree.node_data()[0] is tuple)


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of a tree by the names that JAX gives a program's arguments: params['w'][0]. As in JAX, None
    inside a tree is not a leaf."""
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
    """The leaves of an object of a class that JAX knows as a tree. Without JAX the object is a leaf: a program
    with such an argument can only be made with JAX."""
    jax = sys.modules.get("jax")
    if jax is None:
        yield name, value
        return
    for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
        yield name + jax.tree_util.keystr(path), leaf


def given_weights(weights: Any, program: Any, function: str, ignore_unused: bool) -> Any:
    """The argument ``weights`` of ``compile`` as the extension module takes it."""
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
    """The place and the value of the first NaN or infinity, which JSON cannot hold; None if there is none."""
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
    """The JSON text of a mapping, or the given path; and whether it is the text."""
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
    """A recipe's JSON text, or its name or path; and whether it is the text."""
    return text_or_path("recipe", "a name, a path or a mapping with the list \"rules\"", recipe)


def programs_module(what: str) -> Any:
    """The extension module that compiles programs. Raises ImportError with ``what`` if MLIR is missing."""
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
    """The options of quantizing dots; None if dots are not quantized."""
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
    """Compiles a StableHLO program, as JAX and torch export it, for this machine's CPU.

    program: ``jax.jit(f).lower(...)``, ``jax.export.export(f)(...)``, the path of a file that ``octavo run``
        takes, or the content of such a file: bytes, or a str of more than one line.
    weights: arguments to bind for all calls. Either a mapping from names to arrays or ScaledTensor, or one or more
        .safetensors files with tensors of these names. A tree stands for arguments by JAX's names:
        ``{"params": params}`` binds ``params['w']``. The program keeps the current values: it copies writable
        arrays, and shares JAX arrays and NumPy arrays that nobody can write to.
    quantize: the scaled format of weights in dots (matrix products), such as "mxfp8_e4m3"; None quantizes no dot.
        Only dots with a weight are quantized. Arguments that ``weights`` binds are weights and are quantized
        once, when they are bound. ``Program.dots`` lists what happened to each dot.
    recipe: instead of ``quantize``, a format for each dot by rules (docs/recipes.md): the name of a recipe, the path
        of a file, or a mapping such as
        ``{"rules": [{"dots": "re:embed", "keep": "f32", "reason": "..."}, {"weights": "mxfp4"}]}``.
        A dot gets the format of the first rule that matches it.
    activations: the scaled format of the other operand; None chooses the one that belongs to the weights' format,
        ``"none"`` leaves the operand unquantized.
    rule, non_finite, preset: settings of the quantization, as rule, nan and preset of ``octavo.quantize``.
    match, exclude: regular expressions (RE2). Only dots are quantized whose name or weight's name matches ``match`` and
        does not match ``exclude``.
    parameters: a regular expression for the names of arguments that are weights although they are not bound.
    min_size: the least number of elements of a weight that is quantized.
    both_activations: True also quantizes dots of two activations.
    calibration: what ``octavo.calibrate`` returned, or the path of a file that ``octavo calibrate`` wrote. The
        scales of activations become constants of the program. This needs formats with a scale of the whole tensor:
        fp8_tensor, fp8_e5m2_tensor, nvfp4. In a recipe, the keys "scales" and "range" of a rule take its place.
    range: the calibrated magnitude that decides the scale: "amax" (default), "percentile:P" or "mse".
    recover_scaled: True finds dots whose operands the program dequantizes itself, and multiplies the quantized tensors
        instead (``octavo explain`` lists these dots). Sums are then rounded in another order.
    drop_scales: True removes quantizations whose results are only dequantized again, with their scales. Values then
        lack that rounding. ``Program.explain()["dropped_scales"]`` is their number.
    function: the function to compile; needed if the program has no ``main``.
    backend: "compiled", or "reference" for the interpreter.
    ignore_unused: True allows weights that match no argument. Leaves of a tree that JAX dropped because the function
        does not use them are always allowed.

    Returns a Program. Warns if ``quantize`` or ``recipe`` left every dot unquantized, and of dots that multiply wide
    values although their operands come from narrow ones.

    Raises ProgramError for a program that cannot be read or compiled, or weights that match no argument;
    FormatError for an unknown name; FileError for weights or a calibration that cannot be read; DtypeError,
    ShapeError and NonFiniteError for arrays that do not fit.
    """
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
    """Runs a program on sample inputs and records the range of values of each dot's operands.

    program, weights, function, backend, ignore_unused: as in ``octavo.compile``.
    inputs: sets of arguments, one set for each run: a mapping from names to arrays, a tuple or list by position, or
        an array if the program takes one. Shapes may differ between sets if the program has open extents.
    columns: True also records the largest magnitude of each column.
    parameters: a regular expression (RE2) for the names of arguments that are weights although they are not bound.

    Returns the content of the file that ``octavo calibrate`` writes (docs/commands/calibrate.md); ``json.dump``
    writes the same file. ``octavo.compile(..., calibration=)`` makes static scales of it. A dot that no run
    reached has an empty histogram.

    Raises ProgramError, with the index of the set (from 0), if a run fails or an operand has NaN or infinity; also if
    there is no set, or if no run reached a dot. Otherwise raises the errors of ``octavo.compile``.
    """
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
