"""Runs octavo for the tests of commands on programs."""
import os
import pathlib
import subprocess

BIN = pathlib.Path(os.environ["OCTAVO_BIN_DIR"])
OCTAVO = BIN / "octavo"


def octavo(*arguments, code=0, cwd=None, timeout=120):
    """What it prints to stdout, or to stderr where `code` says that it fails."""
    run = subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, cwd=cwd)
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    return run.stderr if code else run.stdout
