"""Programs that nest deeper than a stack is are errors in Python, in its main thread and in others."""
import subprocess
import sys

import pytest
from deep_programs import HIDDEN, PROGRAM, TEXTS, with_text
from jaxlib.mlir.dialects import stablehlo

pytestmark = pytest.mark.mlir

PYTHON = """
import sys, threading, octavo
def read(path):
    for given in (path, open(path, "rb").read()):
        try:
            octavo.compile(given)
        except octavo.Error as error:
            print(type(error).__name__)
for path in sys.argv[1:]:
    read(path)
    thread = threading.Thread(target=read, args=[path])
    thread.start()
    thread.join()
"""


def test_python_lives(tmp_path):
    data = stablehlo.serialize_portable_artifact_str(PROGRAM, "1.17.0")
    paths = []
    for i, text in enumerate(HIDDEN.values()):
        paths.append(tmp_path / f"{i}.mlirbc")
        paths[-1].write_bytes(with_text(data, 0, text)[0])
    for i, text in enumerate(TEXTS.values()):
        paths.append(tmp_path / f"{i}.mlir")
        paths[-1].write_text(text)
    # Within the limits, but deeper than the stack of a thread holds where MLIR reads on it.
    paths.append(tmp_path / "within.mlirbc")
    paths[-1].write_bytes(with_text(data, 0, b"[" * 900 + b"]" * 900)[0])
    ended = subprocess.run([sys.executable, "-c", PYTHON, *map(str, paths)], capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, (ended.returncode, ended.stderr[-2000:])
    assert ended.stdout.splitlines() == ["ProgramError"] * 4 * len(paths), ended.stderr[-2000:]
