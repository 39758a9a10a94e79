"""docs/generated/nothing-silent.md says what octavo answers today; its writer checks each answer by itself."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
WRITER = ROOT / "scripts/nothing-silent-page"
OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"


def page(octavo):
    return subprocess.run([sys.executable, WRITER, "--octavo", octavo], capture_output=True, text=True, timeout=300)


def test_the_page_is_current():
    run = page(OCTAVO)
    assert run.returncode == 0, run.stderr
    assert run.stdout == (ROOT / "docs/generated/nothing-silent.md").read_text(), (
        "docs/generated/nothing-silent.md is old; write it anew: scripts/nothing-silent-page > docs/generated/nothing-silent.md")


def test_a_silent_octavo_is_no_answer(tmp_path):
    mute = tmp_path / "octavo"
    mute.write_text("#!/bin/sh\nexit 0\n")
    mute.chmod(0o755)
    run = page(mute)
    assert run.returncode == 1 and "the answer lacks" in run.stderr
