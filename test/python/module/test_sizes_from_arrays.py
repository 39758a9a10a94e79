"""A value whose size, which an array gives, is not the one declared raises in Python, and the program can be called again."""
import subprocess
import sys

import pytest
from sized_operations import CASES, OPERATIONS, arrays

pytestmark = pytest.mark.mlir

PYTHON = """
import sys, numpy as np, octavo
exec(open(sys.argv[1]).read())
for text, given in cases:
    program = octavo.compile(text)
    for _ in range(2):
        try:
            program(*given)
        except octavo.Error as error:
            print("refused:", str(error).splitlines()[0][:200])
        else:
            print("took")
"""


def test_python_raises(tmp_path):
    cases = [(OPERATIONS[name][0], arrays(name, sizes)) for name, sizes in CASES]
    (tmp_path / "cases.py").write_text("from numpy import array, int64, int32, float32\ncases = "
                                       + repr([(text, [[a.tolist(), str(a.dtype)] for a in given]) for text, given in cases])
                                       + "\ncases = [(t, [np.array(a, d) for a, d in g]) for t, g in cases]\n")
    (tmp_path / "run.py").write_text(PYTHON)
    ended = subprocess.run([sys.executable, tmp_path / "run.py", tmp_path / "cases.py"], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, (ended.returncode, ended.stderr[-2000:])
    lines = ended.stdout.splitlines()
    assert len(lines) == 2 * len(cases)
    for line, (name, sizes) in zip(lines[::2], CASES):
        assert line.startswith("refused: ") and f"stablehlo.{name}'" in line, (name, sizes, line)
