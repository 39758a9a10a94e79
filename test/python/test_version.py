"""What `octavo --version` says of the commit: never one that the source is not of."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OCTAVO = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(folder, *arguments):
    names = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", *names, *arguments], cwd=folder, env=os.environ | ALONE, check=True,
                          capture_output=True, text=True).stdout.strip()


def commit_of(folder, output, environment=None):
    subprocess.run([shutil.which("cmake"), f"-DSOURCE={folder}", f"-DOUTPUT={output}", "-P",
                    ROOT / "tools/octavo/WriteCommit.cmake"], env=environment, check=True)
    return re.fullmatch(r'#define OCTAVO_COMMIT "(.*)"\n', output.read_text())[1]


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("one")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def test_the_command_prints_its_version():
    shown = subprocess.run([OCTAVO, "--version"], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"octavo \d+\.\d+\.\d+(, commit [0-9a-f]{12,}(, modified)?)?\n", shown), shown


def test_the_commit_and_whether_tracked_files_differ_from_it(checkout, tmp_path):
    commit = git(checkout, "rev-parse", "--short=12", "HEAD")
    assert commit_of(checkout, tmp_path / "out.h") == f", commit {commit}"
    (checkout / "untracked").write_text("a build's")
    assert commit_of(checkout, tmp_path / "out.h") == f", commit {commit}"
    (checkout / "inner" / "file").write_text("two")
    assert commit_of(checkout, tmp_path / "out.h") == f", commit {commit}, modified"


def test_an_archive_unpacked_in_another_project_has_no_commit(checkout, tmp_path):
    assert commit_of(checkout / "inner", tmp_path / "out.h") == ""


def test_without_a_checkout_there_is_no_commit(tmp_path):
    assert commit_of(tmp_path, tmp_path / "out.h", os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}) == ""


def test_an_unchanged_header_is_not_written_again(checkout, tmp_path):
    commit_of(checkout, tmp_path / "out.h")
    os.utime(tmp_path / "out.h", (1, 1))
    commit_of(checkout, tmp_path / "out.h")
    assert (tmp_path / "out.h").stat().st_mtime == 1
