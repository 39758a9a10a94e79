"""The closing lines of `make test`: scripts/run-tests on results as GoogleTest, pytest and ctest write them."""
import importlib.machinery
import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/run-tests"
GOOGLETEST = """<testsuites><testsuite name="S">
<testcase name="runs/portable" status="run" result="completed" classname="S" />
<testcase name="runs/avx512" status="run" result="skipped" classname="S">
  <skipped message="octavo/Kernels/OnEachIsa.h:17&#x0A;not run: the machine lacks AVX-512"><![CDATA[...]]></skipped>
</testcase>
<testcase name="left_out" status="notrun" result="suppressed" classname="S" />
<testcase name="breaks" status="run" result="completed" classname="S"><failure message="1 != 2"/></testcase>
</testsuite></testsuites>"""
PYTEST = """<testsuites><testsuite>
<testcase classname="test_a" name="test_one" />
<testcase classname="test_a" name="test_two"><skipped type="pytest.skip" message="JAX is not installed">x</skipped></testcase>
<testcase classname="test_a" name="test_three"><error message="failed on setup">x</error></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def counts():
    loader = importlib.machinery.SourceFileLoader("run_tests", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    loader.exec_module(module)
    return module.Counts()


def write(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def test_single_tests_are_counted_and_skips_listed_by_reason(counts, tmp_path):
    counts.add_entry("KernelsTests", True, write(tmp_path, "g.xml", GOOGLETEST))
    counts.add_entry("ProductsTests", True, write(tmp_path, "g2.xml", GOOGLETEST))
    counts.add_entry("pytest", True, write(tmp_path, "p.xml", PYTEST))
    assert str(counts).splitlines() == [
        "failed: KernelsTests: S.breaks",
        "failed: ProductsTests: S.breaks",
        "failed: pytest: test_a.test_three",
        "skipped: 1 tests: JAX is not installed (pytest 1)",
        "skipped: 2 tests: not run: the machine lacks AVX-512 (KernelsTests 1, ProductsTests 1)",
        "3 passed, 3 failed, 3 skipped",
    ]


def test_an_entry_without_results_is_one_test(counts, tmp_path):
    counts.add_entry("NpyFuzz", False, tmp_path / "none.xml")
    counts.add_entry("LayoutFuzz", True, tmp_path / "none.xml")
    assert str(counts) == "failed: LayoutFuzz\n1 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize("written", ["", GOOGLETEST[:200], '<testsuite><testcase classname="S" name="passes"/></testsuite>'])
def test_a_runner_that_died_has_failed_whatever_it_wrote(counts, tmp_path, written):
    counts.add_entry("KernelsTests", True, write(tmp_path, "died.xml", written))
    assert counts.failed == ["KernelsTests"]
