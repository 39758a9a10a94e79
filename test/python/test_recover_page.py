"""Each line of docs/recover.md and docs/fusion.md names tests that are there."""
import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PYTHON = "\n".join((pathlib.Path(__file__).parent / f"{name}.py").read_text() for name in (
    "test_recover_scaled", "test_recover_not_scaled", "test_recover_loops", "test_recover_sharded", "test_narrow_collectives", "test_emit", "test_emit_forms", "test_emit_settings", "scaled_spmd_programs", "test_drop_scales", "module/test_open_recovered"))
LIT = (pathlib.Path(__file__).parents[1] / "Transforms" / "recover-scaled.mlir").read_text()
LINES = [line for line in (DOCS / "recover.md").read_text().splitlines()
         if line.startswith("| ") and not re.match(r"\| (form|---)", line)]


@pytest.mark.parametrize("line", LINES)
def test_the_tests_of_a_line_exist(line):
    names = re.findall(r"`([^`]+)`", line.rstrip(" |").rpartition("|")[2])
    assert names
    for name in names:
        is_there = f"def {name}(" in PYTHON if name.startswith("test_") else f'"{name}"' in PYTHON or f"func.func @{name}(" in LIT
        assert is_there, name


def test_the_lines_on_fusion():
    lit = (pathlib.Path(__file__).parents[1] / "Transforms" / "fuse-scaled-dots.mlir").read_text()
    lines = [line for line in (DOCS / "fusion.md").read_text().splitlines() if line.startswith("| ") and not line.startswith("| form")]
    for line in lines:
        names = re.findall(r"`(\w+)`", line.rstrip(" |").rpartition("|")[2])
        assert names and all(f"func.func @{name}(" in lit for name in names), line


def test_every_form_has_its_line():
    from test_recover_loops import LOOPS, TO_LOOPS
    from test_recover_not_scaled import NOT_SCALED
    from test_recover_scaled import CONVOLUTIONS, FORMS, SCALED_DOT
    page = (DOCS / "recover.md").read_text()
    opened = (pathlib.Path(__file__).parent / "module" / "test_open_recovered.py").read_text()
    tables = opened[opened.index("OPEN = {"):opened.index("def exported")] + opened[opened.index("NOT_SCALED = {"):opened.index("def written")]
    assert [name for name in re.findall(r'^    "([^"]+)": \(', tables, re.M) if f"`{name}`" not in page] == []
    assert [name for name in FORMS | LOOPS | TO_LOOPS | NOT_SCALED | SCALED_DOT | CONVOLUTIONS if f"`{name}`" not in page] == []
