"""octavo.tune: a format for each matrix product of a program, as cheap as an error budget allows."""
from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import DtypeError, ProgramError
from ._trees import input_trees
from .programs import _source, given_weights, text_or_path

__all__ = ["Choice", "Tuning", "tune"]


@dataclass(frozen=True)
class Choice:
    """A format for each dot, and what a run with these formats measured.

    formats: of each dot, in the order of ``Tuning.dots``; "f32" leaves the dot unchanged.
    value: of the metric; NaN or infinity if the program could not run.
    bytes: of all weights.
    bits_per_weight: of one value of the weights, on average.
    seconds: the predicted time of a run if ``cost="time"``, else None.
    """
    formats: tuple[str, ...]
    value: float
    bytes: int
    bits_per_weight: float
    seconds: float | None


@dataclass(frozen=True)
class Tuning:
    """The result of ``octavo.tune``.

    recipe: the chosen formats as a recipe for ``octavo.compile(..., recipe=)``.
    is_met: whether the choice is within the budget.
    dots: the names of each tuned dot. Dots that share a weight are tuned as one and have several names.
    f32: the program without quantization.
    chosen: the cheapest choice within the budget; the most accurate one if ``is_met`` is False.
    uniform: the choices with the same format for all dots.
    front: the choices that no other choice beats in both cost and value, cheapest first.
    measured: the number of choices that were run, of which ``measured_before`` by an earlier call.
    measured_before: the number of choices whose results came from the file ``state``.
    failures: why choices could not be run.
    """
    recipe: dict[str, Any]
    is_met: bool
    dots: list[tuple[str, ...]]
    f32: Choice
    chosen: Choice
    uniform: list[Choice]
    front: list[Choice]
    measured: int
    measured_before: int
    failures: list[str]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the recipe to the file ``path`` for ``octavo quantize --recipe`` and ``octavo run --recipe``. The
        file appears whole or not at all. Paths of calibrations in it are relative to its folder.

        Raises OSError.
        """
        recipe = json.loads(json.dumps(self.recipe))
        for rule in recipe["rules"]:
            for key in ("scales", "migrate"):
                if isinstance(rule.get(key), str):  # relative to the folder of the file
                    rule[key] = os.path.relpath(rule[key], os.path.dirname(os.path.abspath(path)))
        beside = f"{os.fspath(path)}.{os.getpid()}.new"
        try:
            with open(beside, "w", encoding="utf-8") as file:
                file.write(json.dumps(recipe, indent=1) + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        finally:
            if os.path.exists(beside):
                os.remove(beside)


class _Progress:
    """A line of progress on the terminal, shown from the third second on."""

    def __init__(self) -> None:
        self.begin = self.shown = time.monotonic()
        self.has_shown = False

    def __call__(self, phase: str, done: int, of: int) -> None:
        now = time.monotonic()
        if now - self.begin < 2 or now - self.shown < 0.5:
            return
        self.shown, self.has_shown = now, True
        print(f"\r\033[Koctavo: tune: {phase}, {done + 1} of {of}, {now - self.begin:.0f} s", end="",
              file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.has_shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _set(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and the named arguments of a run."""
    if isinstance(inputs, Mapping):
        if unnamed := [name for name in inputs if not isinstance(name, str)]:
            raise DtypeError(f"inputs: expected names of arguments, found {unnamed[0]!r}")
        return (), dict(inputs)
    if isinstance(inputs, tuple):
        return inputs, {}
    raise DtypeError("inputs: expected a mapping of names to arrays, a tuple of arrays by position, or a "
                     f"list of these; found {type(inputs).__name__}")


def tune(program: Any, inputs: Any, *, budget: str, weights: Any = None,
         metric: Callable[[list[Any]], float] | None = None, formats: Iterable[str] = (),
         calibration: Any = None,
         cost: str = "bytes", state: str | os.PathLike[str] | None = None, match: str = "",
         exclude: str = "", parameters: str = "", min_size: int = 0, tries: int | None = None,
         function: str = "", backend: str = "compiled", ignore_unused: bool = False) -> Tuning:
    """Chooses a format for each dot (matrix product) of a program, as cheap as an error budget allows. It runs the
    program with many choices and compares the results.

    program, weights, function, backend, ignore_unused: as in ``octavo.compile``.
    inputs: the arguments of a run: a mapping from names to arrays, or a tuple of arrays by position. A list of
        such sets is also possible; the budget then holds for every set.
    budget: ``"METRIC >= NUMBER"`` or ``"METRIC <= NUMBER"``. A metric compares the outputs with those of the
        program without quantization:
        ``cosine``: the similarity of a row, the worst of all rows. A row of one element, such as a loss, has
        no cosine. Beside longer rows it counts as ``1 - r**2 / 2``, where r is its relative error; if all
        rows are that short, ``cosine`` is an error.
        ``relative``: the relative error of an output in 2-norms, the worst of all outputs.
        ``sqnr``: the signal to quantization noise of an output in dB, the worst of all outputs.
        ``max``: the largest difference, in magnitude, between an element and its unquantized value.
    metric: a callable for the budget ``"metric >= NUMBER"`` (or ``<=``), such as a task's score. Its argument is a
        list with the outputs of each set of inputs: an array, or a tuple of arrays. It returns a number.
        An exception that it raises ends the search.
    formats: the candidates. ``"mxfp4"`` quantizes weights and activations; ``"mxfp4/none"`` and
        ``"mxfp6_e2m3/mxint8"`` name the activations' format; ``"mxfp6_e2m3/mxfp6_e2m3/even"`` also names the
        scale rule. The default is all scaled formats except those of E5M2. A dot can always stay unquantized.
    calibration: a path, or what ``octavo.calibrate`` returned. A candidate with ``"+static"`` at its end then has
        static scales of activations; ``"+migrated"`` balances the columns of activations by powers of two
        (docs/recipes.md). By default both are among the candidates wherever they are possible.
    cost: what to minimize: ``"bytes"`` of the weights, or ``"time"`` of a run on this machine.
    state: a file to which measurements are written. After an interruption the next call continues from it, and a
        call with another bound repeats no run.
    match, exclude, parameters, min_size: the dots to tune, as in ``octavo.compile``.
    tries: how many further choices to run at the end that predictions had excluded. By default these are all
        cheaper choices if the program has at most 1,024 choices, else the larger of 128 and 4 for each dot.

    Returns a Tuning. If no choice is within the budget, it warns and returns the most accurate choice. Raises
    ProgramError, FormatError, DtypeError and ShapeError as ``octavo.compile`` does. Also raises ProgramError for
    outputs with NaN, for a program without a dot to tune, and if ``match`` or ``exclude`` matches no dot.
    """
    try:
        from . import _programs
    except ImportError as error:
        raise ImportError("octavo.tune needs MLIR 22, which this build of octavo has not or cannot "
                          f"load ({error}); `make test` in a checkout builds the module with it") \
            from error
    if metric is not None and not callable(metric):
        raise DtypeError(f"metric: expected a callable, found {type(metric).__name__}")
    if isinstance(formats, str):
        formats = [formats]
    names = list(formats)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise DtypeError(f"formats: expected names, found {wrong[0]!r}")
    sets = [_set(each) for each in inputs] if isinstance(inputs, list) else [_set(inputs)]
    if not sets:
        raise ProgramError("inputs: the list is empty; give at least one set of inputs")
    source, is_path = _source(program)
    found_ranges, is_text = ("", False) if calibration is None else text_or_path(
        "calibration", "a path or what octavo.calibrate gives", calibration)
    progress = _Progress() if sys.stderr.isatty() else None
    # The state file identifies the metric by this name.
    name = f"{getattr(metric, '__module__', '')}.{getattr(metric, '__qualname__', '')}" if metric else ""


    def passed(arguments: list[tuple[str, tuple[int | None, ...], str, bool]],
               ) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        trees = input_trees(program, function, arguments)
        return sets if trees is None else [trees.passed(*each) for each in sets]

    try:
        found = _programs.tune(source, is_path, given_weights(weights, program, function, ignore_unused),
                               function, backend, passed, budget, names, cost, metric, name, os.fspath(state) if state is not None else "",
                               match, exclude, parameters, min_size, found_ranges, is_text, tries,
                               progress)
    finally:
        if progress is not None:
            progress.close()
    result = Tuning(
        json.loads(found["recipe"]), found["is_met"], found["dots"], Choice(**found["f32"]),
        Choice(**found["chosen"]), [Choice(**each) for each in found["uniform"]],
        [Choice(**each) for each in found["front"]], found["measured"], found["measured_before"],
        found["failures"])
    if not result.is_met:
        warnings.warn(f"the budget {budget!r} cannot be met with these formats; the best found has "
                      f"{result.chosen.value:g}", stacklevel=2)
    return result
