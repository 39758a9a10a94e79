"""Functions of f32 and f64 within 1 ulp of mpmath, parts of complex ones within 3: a slice of what
scripts/function-accuracy measures, and the page that it wrote."""

import re
from pathlib import Path

import accuracy
import pytest

pytestmark = pytest.mark.mlir

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"


def bound(kind):
    return accuracy.COMPLEX_BOUND if kind.startswith("complex") else accuracy.BOUND


def test_slice(tmp_path):
    beyond = [worst for worst in accuracy.measure(tmp_path, 6) if worst.ulps > bound(worst.type)]
    assert not beyond, "\n".join(map(str, beyond))


def test_page():
    real, complex_numbers = PAGE.read_text().split("## Parts of complex numbers")
    for text, functions, limit in [(real, accuracy.REAL, accuracy.BOUND),
                                   (complex_numbers, accuracy.COMPLEX, accuracy.COMPLEX_BOUND)]:
        rows = re.findall(r"^\| `(\S+)` \| (\S+) \| .*? \| (\S+) \|", text, re.M)
        assert [name for name, *_ in rows] == list(functions), "write the page anew: scripts/function-accuracy"
        for name, *worst in rows:
            assert max(map(float, worst)) <= limit, name
