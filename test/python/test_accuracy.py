"""Functions of f32 and f64 within 1 ulp of mpmath, parts of complex ones within 3, CHLO's within their
bounds after they are legalized: a slice of what scripts/function-accuracy measures, and the page that it
wrote."""

import re
from pathlib import Path

import accuracy
import pytest

pytestmark = pytest.mark.mlir

PAGE = Path(__file__).parents[2] / "docs/generated/accuracy.md"


def test_slice(tmp_path):
    beyond = [worst for pair in accuracy.measure(tmp_path, 6) for is_legalized, worst in enumerate(pair)
              if worst and accuracy.is_beyond(worst, is_legalized)]
    assert not beyond, "\n".join(map(str, beyond))


def test_page():
    tables = re.split(r"^## .*$", PAGE.read_text(), flags=re.M)[1:]
    for text, (_, functions, kinds, is_legalized) in zip(tables, accuracy.tables(), strict=True):
        rows = re.findall(r"^\| `(\S+)` \| (\S+) \| .*? \| (\S+) \|", text, re.M)
        assert [name for name, *_ in rows] == list(functions), "write the page anew: scripts/function-accuracy"
        for name, *numbers in rows:
            for kind, worst in zip(kinds, map(float, numbers), strict=True):
                assert not accuracy.is_beyond(accuracy.Worst(name, kind, worst, (), 0), is_legalized), name
