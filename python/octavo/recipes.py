"""Recipes for ``octavo.compile(..., recipe=)`` and ``octavo quantize --recipe``: which dots become what
(docs/recipes.md). A recipe is a mapping with the list ``"rules"``."""
from __future__ import annotations

import json
import os
from typing import Any

from .errors import FileError, FormatError
from .programs import programs_module, text_or_path

__all__ = ["check", "make", "named", "read"]


def named() -> dict[str, str]:
    """The recipes that have names, each with what it is."""
    return {name: summary for name, summary, _ in programs_module("octavo.recipes").recipes()}


def check(recipe: Any) -> dict[str, Any]:
    """The recipe, a mapping, as a dict of its own. Raises FormatError that names the place of what is
    wrong in it, DtypeError where it is not what JSON can hold. Whether the dots that it names exist, a
    program tells."""
    text, is_text = text_or_path("recipe", "a mapping with the list \"rules\"", recipe)
    if not is_text:
        raise FormatError(f"recipe: found the text {text!r}; octavo.recipes.read takes names and paths")
    programs_module("octavo.recipes").check_recipe(text)
    checked: dict[str, Any] = json.loads(text)
    return checked


def read(recipe: str | os.PathLike[str]) -> dict[str, Any]:
    """The recipe of that name, or else of the file of that path, as a mapping. Paths of calibrations in
    a file are from its folder on; here they begin with it. Raises FormatError for a recipe that is
    wrong, FileError for a file that cannot be read."""
    path = os.fspath(recipe)
    for name, _, text in programs_module("octavo.recipes").recipes():
        if name == path:
            return check(json.loads(text))
    if not os.path.exists(path):
        raise FileError(f"{path}: no such file, and no recipe has this name; named: {', '.join(named())}")
    try:
        with open(path, encoding="utf-8") as file:
            read_recipe = json.load(file)
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {error}") from error
    rules = read_recipe.get("rules") if isinstance(read_recipe, dict) else None
    for rule in rules if isinstance(rules, list) else []:
        for key in ("scales", "migrate"):
            if isinstance(rule, dict) and isinstance(rule.get(key), str):
                rule[key] = os.path.join(os.path.dirname(path), rule[key])
    try:
        return check(read_recipe)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error


def make(*rules: Any) -> dict[str, Any]:
    """A recipe of rules, each a mapping with the keys of docs/recipes.md:
    ``make({"place": "first", "keep": "f32", "reason": "reads the embeddings"}, {"weights": "mxfp4"})``.
    Raises as ``check``."""
    return check({"rules": list(rules)})
