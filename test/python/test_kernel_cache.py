"""Machine code of kernels that is kept on disk: found again, never trusted blindly, never in the way."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
PROGRAM = """
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %y = stablehlo.multiply %x, %x : tensor<1000xf32>
  %z = stablehlo.subtract %y, %x : tensor<1000xf32>
  return %z : tensor<1000xf32>
}
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "p.mlir").write_text(PROGRAM)
    np.save(tmp_path / "x.npy", np.arange(1000, dtype=np.float32))
    return tmp_path


def run(folder, **environment):
    command = [OCTAVO, "run", folder / "p.mlir", "--input", folder / "x.npy", "--output", folder / "y.npy"]
    return subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def assert_runs(folder, **environment):
    process = run(folder, **environment)
    _, errors = process.communicate()
    assert process.returncode == 0 and not errors, errors
    x = np.arange(1000, dtype=np.float32)
    np.testing.assert_array_equal(np.load(folder / "y.npy"), x * x - x)


def test_a_kernel_is_compiled_once(program):
    cache = program / "cache"
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    (entry,) = cache.glob("llvmcache-*")
    written = entry.stat().st_ino
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    assert [each.stat().st_ino for each in cache.glob("llvmcache-*")] == [written]


@pytest.mark.parametrize("damage", ["cut", "altered", "empty", "folder"])
def test_a_damaged_entry_is_compiled_again(program, damage):
    cache = program / "cache"
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    (entry,) = cache.glob("llvmcache-*")
    whole = entry.read_bytes()
    if damage == "folder":
        entry.unlink()
        entry.mkdir()
    else:
        middle = len(whole) // 2
        entry.write_bytes({"cut": whole[:-7], "empty": b"",
                           "altered": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:]}[damage])
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    if damage != "folder":
        assert entry.read_bytes() == whole


def test_a_cache_that_cannot_be_used_is_not(program):
    """Off, below a file, writable by others."""
    assert_runs(program, OCTAVO_CACHE_DIR="", HOME=str(program / "home"), XDG_CACHE_HOME="")
    assert not (program / "home").exists()
    assert_runs(program, OCTAVO_CACHE_DIR=str(program / "p.mlir" / "cache"))
    shared = program / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert_runs(program, OCTAVO_CACHE_DIR=str(shared))
    assert not list(shared.iterdir())


def test_the_folder_is_the_users(program, monkeypatch):
    monkeypatch.delenv("OCTAVO_CACHE_DIR", raising=False)
    assert_runs(program, HOME=str(program), XDG_CACHE_HOME="")
    assert len(list((program / ".cache" / "octavo" / "kernels").glob("llvmcache-*"))) == 1
    assert_runs(program, XDG_CACHE_HOME=str(program / "xdg"))
    assert len(list((program / "xdg" / "octavo" / "kernels").glob("llvmcache-*"))) == 1


def test_processes_fill_it_together(program):
    cache = program / "cache"
    for _ in range(5):
        processes = [run(program, OCTAVO_CACHE_DIR=str(cache)) for _ in range(4)]
        assert [process.wait() for process in processes] == [0] * 4
        (entry,) = cache.glob("llvmcache-*")
        entry.unlink()
