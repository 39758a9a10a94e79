"""Formats found for the dots of a program: the cheapest that keep a budget."""
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
    """A format for each dot, as it was measured: the formats, in the order of ``Tuning.dots`` ("f32": as
    the program has it), the value of the metric (NaN or an infinity where it could not be run), the
    bytes of the weights and the bits of one of their values, and with ``cost="time"`` the seconds that
    a run was predicted to take."""
    formats: tuple[str, ...]
    value: float
    bytes: int
    bits_per_weight: float
    seconds: float | None


@dataclass(frozen=True)
class Tuning:
    """What ``tune`` found. ``chosen`` is the cheapest choice within the budget, or with ``is_met`` False
    the one that loses least; ``recipe`` is the mapping that ``octavo.compile(..., recipe=)`` takes for
    it. ``dots`` has the names of each dot that was tuned, several where they share a weight.
    ``uniform`` has all dots alike, ``front`` the choices that no other is better than, cheapest first.
    ``measured`` choices were run, ``measured_before`` of them by a call before; ``failures`` says of
    those that could not be run why."""
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
        """Writes the recipe to a file, which ``octavo quantize --recipe`` and ``octavo run --recipe`` take."""
        recipe = json.loads(json.dumps(self.recipe))
        for rule in recipe["rules"]:
            for key in ("scales", "migrate"):
                if isinstance(rule.get(key), str):  # paths in a file are from its folder on
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
    """A line on the terminal, from the third second on."""

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
    """The arguments of a run, by position and by name."""
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
    """Finds for each dot of a program the cheapest format that keeps a budget, by running it.

    ``program`` and ``weights`` are those of ``compile``. ``inputs`` is a mapping of the other arguments'
    names to arrays, a tuple of arrays by position, or a list of such sets, all of which must keep the
    budget.

    ``budget`` is ``"METRIC >= NUMBER"`` or ``"METRIC <= NUMBER"``. The metrics hold the outputs against
    those of the program as it is: ``cosine`` (of each row, the worst), ``relative`` and ``sqnr`` (of
    each output, the worst; dB) and ``max``. A row of one element, such as a loss, has no cosine: it counts
    as ``1 - r**2 / 2`` of its relative error ``r`` beside outputs of longer rows, and where there are none
    ``cosine`` is an error. With ``metric`` it is ``"metric >= NUMBER"`` (or ``<=``):
    the callable is given a list with the outputs for each set of inputs, an array or a tuple of them,
    and gives a number. What it raises ends the search.

    ``formats`` are the candidates: scaled formats of weights with their own activations
    (``"mxfp4"``), or with others (``"mxfp4/none"``, ``"mxfp6_e2m3/mxint8"``), or with a scale rule too
    (``"mxfp6_e2m3/mxfp6_e2m3/even"``); by default the scaled formats but those of E5M2. A dot may stay
    as it is, too. With ``calibration``, a path or what ``octavo.calibrate`` gives, ``"+static"`` at the
    end is static scales of activations, ``"+migrated"`` evens out their columns by powers of two
    (docs/recipes.md); by default these are candidates where they can be.

    ``cost`` is what is to be least: ``"bytes"`` of the weights, or ``"time"`` of a run on this machine.
    ``state`` is a file that keeps what was measured: a call that was interrupted goes on from it, and
    one with another bound runs nothing twice. ``match``, ``exclude``, ``parameters`` and ``min_size``
    choose the dots, as in ``compile``. ``tries`` is how many choices are run at the end that predictions
    left out: by default all that would be cheaper where a program has at most 1,024 choices, else 128 or
    four a dot, whichever is more.

    A budget that cannot be met is a warning, and the result is the best that was found. Raises
    ProgramError, FormatError, DtypeError and ShapeError as ``compile`` does; ProgramError also for
    outputs with NaN, for a program that has nothing to tune, and for ``match`` or ``exclude`` that finds
    no dot."""
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
    # Two callables of one name are taken for one: a state goes with what is called.
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
