"""Every operation of StableHLO, CHLO and Shardy that jaxlib registers:
record, round trip, verifier, evaluation, and a rule.

That every record has an evaluator is InterpreterTest's; here each operation is spelled by a test of
each kind. jaxlib's Python bindings are the list.
"""
import inspect
import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
WRITER = ROOT / "scripts/operations-page"

# A kernel of jaxlib's own legalization, which no program has.
INTERNAL = {"chlo._asin_acos_kernel"}
KINDS = {"round trip": lambda path: path.startswith(("test/StableHLO", "test/CHLO", "test/Sdy")) and "invalid" not in path,
         "verifier": lambda path: path.endswith("invalid.mlir"),
         "evaluation": lambda path: path.startswith(("test/Reference", "octavo/Interpreter")) or
                                    path.startswith("test/python") and "oracle" not in path}


def registered():
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo
    return {member.OPERATION_NAME for dialect in (stablehlo, chlo, sdy)
            for _, member in inspect.getmembers(dialect, inspect.isclass)
            if hasattr(member, "OPERATION_NAME")} - INTERNAL


@pytest.fixture(scope="module")
def operations():
    run = subprocess.run([sys.executable, WRITER, "--json"], capture_output=True, text=True, check=True)
    return {row["name"]: row for row in json.loads(run.stdout)}


def test_every_operation_of_jaxlib_has_a_record(operations):
    assert registered() - operations.keys() == set()


@pytest.mark.parametrize("kind", KINDS)
def test_every_operation_has_a_test_of_each_kind(operations, kind):
    assert [name for name, row in operations.items() if not any(map(KINDS[kind], row["tests"]))] == []


def test_every_operation_has_a_rule(operations):
    assert [name for name, row in operations.items() if not row["rules"]] == []


def test_the_page_is_current():
    run = subprocess.run([sys.executable, WRITER], capture_output=True, text=True, check=True)
    assert run.stdout == (ROOT / "docs/generated/operations.md").read_text(), (
        "docs/generated/operations.md is old; write it anew: scripts/operations-page > docs/generated/operations.md")
