"""The programs of test/jax in the oldest text that MLIR reads: generic, with all attributes in one dictionary."""
import os
import pathlib
import re
import subprocess

os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np
import pytest
from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
FOLDER = pathlib.Path(__file__).parents[1] / "jax"
CLOSING = {"(": ")", "{": "}", "[": "]", "<": ">"}


def end_of(text, at):
    """Behind the bracket that closes the one at `at`; strings and arrows are none."""
    depth = 0
    while True:
        c = text[at]
        if c == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end()
            continue
        if c in CLOSING:
            depth += 1
        elif c in CLOSING.values() and text[at - 1:at + 1] != "->":
            depth -= 1
        at += 1
        if depth == 0:
            return at


def with_dictionaries(text):
    """Properties, `<{...}>` behind the operands, as attributes, `{...}` behind the regions."""
    while (at := text.rfind(") <{")) >= 0:  # from within outwards
        start = at + 2
        end = end_of(text, start)
        attributes = text[start + 2:end - 2]
        rest = end
        if text[rest:rest + 3] == " ({":
            rest = end_of(text, rest + 1)
        regions = text[end:rest]
        more = ""
        if text[rest:rest + 2] == " {":
            closed = end_of(text, rest + 1)
            more, rest = ", " + text[rest + 2:closed - 1], closed
        text = f"{text[:at + 1]}{regions} {{{attributes}{more}}}{text[rest:]}"
    return text


def evaluated(program, inputs, folder):
    run = subprocess.run([OCTAVO, "run", program, *inputs, "--output", folder], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return {path.name: np.load(path) for path in folder.iterdir()}


@pytest.mark.parametrize("program", sorted(FOLDER.glob("*.mlir")), ids=lambda path: path.stem)
def test_generic_form_gives_the_same(program, tmp_path):
    with make_ir_context():
        generic = ir.Module.parse(program.read_text()).operation.get_asm(print_generic_op_form=True)
    old = with_dictionaries(generic)
    assert "<{" in generic and "<{" not in old and "hlo." in old
    (tmp_path / "old.mlir").write_text(old)
    inputs = []
    with np.load(program.with_suffix(".npz")) as stored:
        for i in range(sum(key.startswith("in") for key in stored)):
            np.save(tmp_path / f"in{i}.npy", stored[f"in{i}"])
            inputs += ["--input", tmp_path / f"in{i}.npy"]
    (tmp_path / "new").mkdir()
    (tmp_path / "out").mkdir()
    found = evaluated(tmp_path / "old.mlir", inputs, tmp_path / "out")
    expected = evaluated(program, inputs, tmp_path / "new")
    assert found.keys() == expected.keys() and found
    for name, array in expected.items():
        assert array.dtype == found[name].dtype
        np.testing.assert_array_equal(found[name], array)
