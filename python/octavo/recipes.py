"""Recipes: rules that choose a format for each matrix product of a program (docs/recipes.md).

A recipe is a mapping with the list ``"rules"``, for ``octavo.compile(..., recipe=)`` and
``octavo quantize --recipe``.
"""
from __future__ import annotations

import json
import os
from typing import Any

from .errors import FileError, FormatError
from .programs import programs_module, text_or_path

__all__ = ["check", "make", "named", "read"]


def named() -> dict[str, str]:
    """The named recipes that come with octavo: a dict from names to one-line summaries."""
    return {name: summary for name, summary, _ in programs_module("octavo.recipes").recipes()}


def check(recipe: Any) -> dict[str, Any]:
    """Checks a recipe and returns a copy of it.

    recipe: a mapping with the list "rules". Only octavo.compile can check that the dots it names exist.

    Raises FormatError, which names the place of the mistake, and DtypeError for what JSON cannot hold.
    """
    text, is_text = text_or_path("recipe", "a mapping with the list \"rules\"", recipe)
    if not is_text:
        raise FormatError(f"recipe: found the text {text!r}; octavo.recipes.read takes names and paths")
    programs_module("octavo.recipes").check_recipe(text)
    checked: dict[str, Any] = json.loads(text)
    return checked


def read(recipe: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a recipe by name or from a file.

    recipe: a name that octavo.recipes.named() lists, or the path of a JSON file. Paths of calibrations in the
        file are relative to its folder; the folder is prepended to them.

    Returns the recipe as a dict. Raises FormatError for a wrong recipe, FileError for a file that cannot be
    read.
    """
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
    """Makes a recipe of rules. A dot gets the format of the first rule that matches it.

    rules: mappings with the keys of docs/recipes.md, such as
        ``{"place": "first", "keep": "f32", "reason": "reads the embeddings"}, {"weights": "mxfp4"}``.

    Returns the recipe as a dict. Raises the errors of ``check``.
    """
    return check({"rules": list(rules)})
