"""scripts/check-style: which lines of which files it holds to the configuration."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOOD = "int first() { return 1; }\n"
BAD = "int  second( ) {return 2;}\n"


def git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True,
                   env=os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}, capture_output=True)


def check(folder):
    done = subprocess.run([folder / "scripts/check-style"], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/check-style", folder / "scripts")
    shutil.copy(ROOT / ".clang-format", folder)
    (folder / "old.cpp").write_text(GOOD + BAD)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def test_a_single_commit_without_changes_passes(checkout, tmp_path):
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{checkout}", "clone")
    code, text = check(tmp_path / "clone")
    assert code == 0 and "0 C++ files changed" in text


def test_only_changed_lines_count(checkout):
    (checkout / "old.cpp").write_text(GOOD + BAD + "int third() { return 3; }\n")
    assert check(checkout)[0] == 0
    (checkout / "old.cpp").write_text(GOOD + BAD + "int third(){return 3;}\n")
    code, text = check(checkout)
    assert code == 1 and "old.cpp:3:" in text and "old.cpp:2:" not in text
    assert "clang-format-22 -i --lines=3:3 old.cpp" in text


def test_on_main_the_last_commit_counts(checkout):
    (checkout / "new.cpp").write_text(BAD)
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "two")
    assert check(checkout)[0] == 1
    git(checkout, "commit", "-qm", "three", "--allow-empty")
    assert check(checkout)[0] == 0


def test_a_branch_is_compared_with_where_it_left_main(checkout):
    git(checkout, "checkout", "-qb", "branch")
    (checkout / "new.cpp").write_text(BAD)
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "two")
    git(checkout, "commit", "-qm", "three", "--allow-empty")
    assert check(checkout)[0] == 1


def test_untracked_files_count(checkout):
    (checkout / "new.h").write_text(BAD)
    code, text = check(checkout)
    assert code == 1 and "new.h:1:" in text
