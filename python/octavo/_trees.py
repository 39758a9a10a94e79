"""Arguments that are trees: of a function that JAX lowered or exported, to the arrays of its program."""
from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["InputTrees", "input_trees", "leaves_left_out"]


class _Input:
    """An argument of the function: its tree, and for each leaf the index of the program's argument. The index is
    None if JAX dropped the leaf because the function does not use it."""

    def __init__(self, tree: Any, numbers: list[int | None]) -> None:
        self.tree = tree
        self.numbers = [number for number in numbers if number is not None]
        self.kept = [i for i, number in enumerate(numbers) if number is not None]

    def is_whole(self) -> bool:
        return bool(0 < self.tree.num_leaves == len(self.kept))

    def takes(self, given: Any) -> bool:
        return bool(sys.modules["jax"].tree_util.tree_structure(given) == self.tree)

    def leaves(self, given: Any) -> list[Any]:
        leaves = self.tree.flatten_up_to(given)
        return [leaves[i] for i in self.kept]


class InputTrees:
    """Converts the arguments of a function to those of its program. They differ if an argument has no array,
    or has a leaf that JAX dropped."""

    def __init__(self, positional: list[_Input], named: dict[str, _Input], names: list[str],
                 bound: Sequence[bool]) -> None:
        self._positional = positional
        # An argument by position is called by the root of the names that JAX gave its leaves.
        self._named = {re.split(r"[.\[]", names[each.numbers[0]])[0]: each for each in positional if each.numbers}
        self._named |= named
        self._names = names
        self._bound = bound
        count = sum(len(each.numbers) for each in [*positional, *named.values()])
        self._open = count - sum(bound[:count])
        self._states = names[count:]

    def passed(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of the program for a call of the function. Returns the arguments unchanged unless they
        have the function's trees: a call may also name the program's arguments directly."""
        rest = dict(named)
        by_number: dict[int, Any] = {}
        by_position = self._positional
        for name, each in self._named.items():
            if name in rest and self._is_open(each) and each.takes(rest[name]):
                by_number.update(zip(each.numbers, each.leaves(rest.pop(name))))
                by_position = [other for other in by_position if other is not each]
        states = sum(name not in named for name in self._states)
        # The call may omit trees whose arrays are all bound.
        open_ones = [each for each in by_position if not each.numbers or self._is_open(each)]
        for taken in (by_position, open_ones):
            if len(args) == len(taken) + states and all(
                    self._is_open(each) and each.takes(given) for each, given in zip(taken, args)):
                whole = dict(by_number)
                for each, given in zip(taken, args):
                    whole.update(zip(each.numbers, each.leaves(given)))
                if len(whole) == self._open:
                    return (*(whole[number] for number in sorted(whole)), *args[len(taken):]), rest
        return args, rest | {self._names[number]: leaf for number, leaf in by_number.items()}

    def _is_open(self, each: _Input) -> bool:
        return not any(self._bound[number] for number in each.numbers)


class _Function:
    """The arguments of a function that JAX lowered or exported."""

    def __init__(self, tree: Any, kept: Sequence[int]) -> None:
        numbers = {leaf: number for number, leaf in enumerate(sorted(kept))}
        leaf = 0

        def taken(below: Any) -> _Input:
            nonlocal leaf
            first, leaf = leaf, leaf + below.num_leaves
            return _Input(below, [numbers.get(i) for i in range(first, leaf)])

        of_args, of_named = tree.children()
        self.positional = [taken(below) for below in of_args.children()]
        self.named = {name: taken(below) for name, below in zip(of_named.node_data()[1], of_named.children())}
        self.inputs = [*self.positional, *self.named.values()]
        self.count = len(numbers)


def _function(program: Any, function: str) -> _Function | None:
    tree = getattr(program, "in_tree", None) if function in ("", "main") else None
    if tree is None:
        return None
    kept = getattr(program, "module_kept_var_idx", None)  # jax.export.Exported
    if kept is None:  # jax.stages.Lowered, which has no public name for it
        compiled = getattr(getattr(program, "_lowering", None), "compile_args", None)
        kept = (compiled or {}).get("kept_var_idx")
    return None if kept is None else _Function(tree, kept)


def leaves_left_out(program: Any, function: str, given: Mapping[str, Any]) -> set[str]:
    """The names of leaves in `given` that JAX dropped from the program. Arguments have no names here: a leaf
    counts as dropped if any argument with the same tree lacks it."""
    found = _function(program, function)
    if found is None:
        return set()
    tree_util = sys.modules["jax"].tree_util
    names: set[str] = set()
    for each in found.inputs:
        if each.is_whole() or tree_util.treedef_is_leaf(each.tree):
            continue
        for name, value in given.items():
            if each.takes(value):
                paths = [path for path, _ in tree_util.tree_flatten_with_path(value)[0]]
                names |= {name + tree_util.keystr(paths[i]) for i in set(range(len(paths))) - set(each.kept)}
    return names


def input_trees(program: Any, function: str, arguments: Sequence[tuple[Any, ...]]) -> InputTrees | None:
    """The conversion of arguments for a program that JAX lowered or exported; None if the program takes exactly
    the function's arrays in their order.

    arguments: of the program, each (name, shape, type, whether it is bound).
    """
    found = _function(program, function)
    if found is None:
        return None
    names = [name for name, *_ in arguments]
    # Further arguments must be states that a recipe appended; otherwise the order is unknown.
    if len(names) < found.count or not all(
            name.startswith("octavo.") or name.removesuffix(".scales") in names for name in names[found.count:]):
        return None
    if all(each.is_whole() for each in found.inputs):
        return None
    return InputTrees(found.positional, found.named, names, [is_bound for *_, is_bound in arguments])
