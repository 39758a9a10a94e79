"""docs/compiler.md shows what --dump writes."""
import os
import pathlib
import re
import subprocess

import pytest

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_what_is_shown_is_what_is_dumped(tmp_path):
    page = (ROOT / "docs/compiler.md").read_text()
    subprocess.run([OCTAVO, "run", "test/Compiled/layer-norm-product.mlir", "--explain-compile", "--dump", tmp_path],
                   cwd=ROOT, check=True, capture_output=True)
    shown = re.findall(r"<!-- (\S+) -->\n```\w+\n(.*?)\n```", page, re.DOTALL)
    assert {file for file, _ in shown} == {"1-after-passes.mlir", "2-steps.txt", "3-kernels/000.ll"}
    for file, text in shown:
        assert text in (tmp_path / file).read_text(), f"{file} has become another; docs/compiler.md shows\n{text}"
