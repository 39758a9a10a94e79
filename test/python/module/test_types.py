"""mypy --strict accepts octavo and a user's program that is typed throughout, and refuses misuse."""
import os
import pathlib
import subprocess
import sys

import octavo
import octavo.recipes
import pytest
import typed_program

PACKAGES = pathlib.Path(octavo.__file__).parents[1]
MISUSE = """
import octavo
import octavo.checkpoint
import octavo.jax
from octavo import training

octavo.quantize("text", "mxfp4", axes=1)
octavo.formats().nothing
octavo.compile(b"", quantise="mxfp4")
octavo.tune(b"", {}, budget=0.99)
octavo.compile(b"").dots[0].format
octavo.jax.quantize([1.0], 4)
octavo.checkpoint.open("model", layout=3)
training.DelayedScales.initial(length="16")
"""


def test_mypy_accepts_what_runs_and_refuses_what_does_not(tmp_path):
    """One run, for a third of the time of three: the package, the user's program, and MISUSE, each line of
    which is refused."""
    (tmp_path / "misuse.py").write_text(MISUSE)
    paths = os.pathsep.join([str(tmp_path), str(pathlib.Path(__file__).parent)])
    # Beside the package, and so in the build folder, where a later run finds it.
    judged = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", PACKAGES / ".mypy_cache", "--no-error-summary",
         "-p", "octavo", "-m", "typed_program", "-m", "misuse"],
        capture_output=True, text=True, cwd=PACKAGES, env=os.environ | {"MYPYPATH": paths}, timeout=600)
    refused = [line for line in judged.stdout.splitlines() if ": error:" in line]
    assert judged.returncode == 1, (judged.stdout, judged.stderr)
    assert all("misuse.py:" in line for line in refused), judged.stdout
    wrong = [number for number, line in enumerate(MISUSE.splitlines(), 1) if line and "import" not in line]
    assert {int(line.split(":")[1]) for line in refused} == set(wrong), judged.stdout


def test_the_typed_program_runs(tmp_path):
    typed_program.arrays(tmp_path)
    typed_program.checkpoints(tmp_path / "model")
    typed_program.in_jax()
    typed_program.train()


@pytest.mark.mlir
def test_the_typed_program_compiles_and_tunes(tmp_path):
    typed_program.compile_and_tune(tmp_path)
    text = tmp_path / "p.mlir"
    text.write_text("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n")
    subprocess.run([pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo", "compile", text, "-o", tmp_path / "folder"],
                   check=True, capture_output=True, timeout=60)
    typed_program.load(tmp_path / "folder")
