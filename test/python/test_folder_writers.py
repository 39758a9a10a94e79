"""Folders of `octavo compile` while they are written: by a process that is stopped, by two at once, and under
readers. A folder is of the program before or of the one after, whole, whenever somebody looks."""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

import disk
from compiled_folder import BIN, kernels_of, octavo, xxh64

pytestmark = pytest.mark.mlir
EXHAUSTIVE = os.environ.get("OCTAVO_EXHAUSTIVE")
SHIM = BIN / "octavo-file-operations.so"
X = np.arange(8, dtype=np.float32)


def text(factor):
    """x times a constant that lies in the file of weights, and plus one in a kernel."""
    values = ", ".join(f"{factor}.0" for _ in X)
    return f"""
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{
  %c = stablehlo.constant dense<[{values}]> : tensor<8xf32>
  %d = stablehlo.constant dense<[{values[:-3]}0.5]> : tensor<8xf32>
  %0 = stablehlo.multiply %x, %c : tensor<8xf32>
  %1 = stablehlo.subtract %0, %d : tensor<8xf32>
  return %1 : tensor<8xf32>
}}"""


def expected(factor):
    d = np.full(8, factor, np.float32)
    d[-1] = 0.5
    return X * np.float32(factor) - d


class Programs:
    """Two programs, and what folders of them are."""

    def __init__(self, place):
        self.place = place
        for factor in (2, 3):
            (place / f"{factor}.mlir").write_text(text(factor))
            octavo("compile", place / f"{factor}.mlir", "-o", place / f"whole{factor}")

    def command(self, factor, folder):
        return [BIN / "octavo", "compile", self.place / f"{factor}.mlir", "-o", folder]

    def copy(self, factor, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.place / f"whole{factor}", folder)

    def files(self, factor):
        return sorted(each.name for each in (self.place / f"whole{factor}").iterdir())


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return Programs(tmp_path_factory.mktemp("programs"))


READER = """
import ctypes
import sys
import numpy as np
library = ctypes.CDLL(sys.argv[1])
library.octavo_program_load.restype = ctypes.c_void_p
library.octavo_last_error.restype = ctypes.c_char_p
def listed(array):
    return (ctypes.c_void_p * 1)(array.ctypes.data)
for line in sys.stdin:
    program = ctypes.c_void_p(library.octavo_program_load(line[:-1].encode()))
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    if not program.value or library.octavo_program_run(program, listed(x), listed(y)) != 0:
        print(library.octavo_last_error().decode().splitlines()[0], flush=True)
    else:
        print(y.tolist(), flush=True)
    library.octavo_program_free(program)
"""


class Reader:
    """A process that loads folders, so that what crashes it fails a test alone."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", READER, BIN / "liboctavo-program.so"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def factor(self, folder):
        """Of the program of a folder; or why there is none."""
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        assert said, "the reader crashed"
        for factor in (2, 3):
            if said.strip() == str(expected(factor).tolist()):
                return factor
        return said.strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@pytest.fixture
def reader():
    made = Reader()
    yield made
    made.close()


def test_a_folder_is_one_of_both_programs_after_a_loss_of_power(programs, reader, tmp_path):
    root, trace = tmp_path / "root", tmp_path / "trace"
    trace.mkdir()
    root.mkdir()
    programs.copy(2, root / "folder")
    start = disk.read_tree(root)
    subprocess.run(programs.command(3, root / "folder"), check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"LD_PRELOAD": str(SHIM), "OCTAVO_TRACE": str(trace), "OCTAVO_ROOT": str(root)})
    operations = disk.read_trace(trace)
    end = disk.read_tree(root)
    assert sorted(pathlib.PurePath(name).name for name in end) == sorted(["folder", *programs.files(3)])

    def faults(dropped=()):
        """Trees in which the folder is of neither program; after the last operation, not of the new one."""
        seen = {}
        for n, tree in disk.trees_after(start, operations, dropped):
            tree = {path: content for path, content in tree.items() if not disk.TEMPORARY.fullmatch(path)}
            key = tuple(sorted(tree.items()))
            if key not in seen:
                shutil.rmtree(tmp_path / "again", ignore_errors=True)
                disk.write_tree(tmp_path / "again", tree)
                seen[key] = reader.factor(tmp_path / "again" / "folder")
            if seen[key] not in ((3,) if n == len(operations) else (2, 3)):
                yield n, sorted(tree), seen[key]

    assert next(faults(), None) is None
    syncs = [n for n, operation in enumerate(operations) if operation.kind.startswith("sync")]
    needless = [operations[n] for n in syncs if next(faults({n}), None) is None]
    assert len(syncs) == 5 and not needless, needless


def parts(folder):
    return [each.name for each in folder.iterdir() if each.name.startswith(".octavo-")]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interrupted_compile_leaves_no_litter(programs, reader, tmp_path, name):
    """A signal before each operation on the disk. Sooner or later there are fewer operations."""
    number = getattr(signal, name)
    folder, temporary = tmp_path / "folder", tmp_path / "tmp"
    temporary.mkdir()
    programs.copy(2, folder)
    for at in range(1, 40):
        done = subprocess.run(
            programs.command(3 if at % 2 else 2, folder), capture_output=True, timeout=60,
            env=os.environ | {"LD_PRELOAD": str(SHIM), "OCTAVO_ROOT": str(folder), "OCTAVO_SIGNAL": str(int(number)),
                              "OCTAVO_SIGNAL_AT": str(at), "TMPDIR": str(temporary)})
        assert reader.factor(folder) in (2, 3)
        assert not parts(folder) and not list(temporary.iterdir()), at
        if done.returncode == 0:
            break
        assert done.returncode == -number, (at, done)
    assert 5 < at < 39


def test_a_compile_removes_what_killed_ones_have_left(programs, reader, tmp_path):
    folder, temporary = tmp_path / "folder", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    left = 0
    for at in range(1, 40):
        done = subprocess.run(
            programs.command(3, folder), capture_output=True, timeout=60,
            env=os.environ | {"LD_PRELOAD": str(SHIM), "OCTAVO_ROOT": str(folder), "OCTAVO_SIGNAL": str(int(signal.SIGKILL)),
                              "OCTAVO_SIGNAL_AT": str(at), "TMPDIR": str(temporary)})
        if done.returncode == 0:
            break
        assert not (folder / "program.octavo").exists() or reader.factor(folder) == 3
        left = max(left, len(parts(folder)))
    assert left > 1 and 5 < at < 39
    (temporary / f"octavo-link.octavo-{'0' * 32}.part").mkdir()
    (temporary / f"octavo-link.octavo-{'0' * 32}.part" / "x.o").write_text("")
    subprocess.run(programs.command(2, folder), check=True, capture_output=True, env=os.environ | {"TMPDIR": str(temporary)})
    assert sorted(each.name for each in folder.iterdir()) == programs.files(2)
    assert not list(temporary.iterdir()) and reader.factor(folder) == 2


def test_of_two_writers_one_wins_whole(programs, tmp_path):
    """Readers meanwhile find one of both programs, too."""
    folder, rounds = tmp_path / "folder", 300 if EXHAUSTIVE else 8
    programs.copy(2, folder)
    isOver, wrong, loads = threading.Event(), [], []

    def read():
        mine = Reader()
        while not isOver.is_set():
            found = mine.factor(folder)
            loads.append(found)
            if found not in (2, 3):
                wrong.append(found)
        mine.close()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for each in readers:
        each.start()
    last = Reader()
    try:
        for number in range(rounds):
            processes = [subprocess.Popen(programs.command(factor, folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                         for factor in ((2, 3) if number % 2 else (3, 2))]
            for process in processes:
                _, errors = process.communicate(timeout=120)
                assert process.returncode == 0, errors
            factor = last.factor(folder)
            assert factor in (2, 3)
            assert sorted(each.name for each in folder.iterdir()) == programs.files(factor)
    finally:
        isOver.set()
        for each in readers:
            each.join()
        last.close()
    assert not wrong, wrong[:3]
    assert len(loads) > rounds and {2, 3} <= set(loads)


def test_a_folder_of_other_files_is_refused(programs, tmp_path):
    """Nothing of it is replaced or removed, and nothing is added."""
    for name, words in (("weights.bin", "has files (weights.bin)"), ("notes.txt", "has files (notes.txt)"),
                        ("program.octavo", "is not what `octavo compile` writes")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("mine")
        message = octavo("compile", programs.place / "2.mlir", "-o", folder, code=3)
        assert words in message, message
        assert [each.name for each in folder.iterdir()] == [name] and (folder / name).read_text() == "mine"
    (tmp_path / "empty").mkdir()
    octavo("compile", programs.place / "2.mlir", "-o", tmp_path / "empty")
    octavo("compile", programs.place / "3.mlir", "-o", tmp_path / "empty")


def test_other_files_of_a_compiled_folder_stay(programs, reader, tmp_path):
    folder = tmp_path / "folder"
    programs.copy(2, folder)
    mine = {"README.md": "mine", "weights.bin": "no weights of octavo's, but longer than their end",
            "kernels-of-mine.so": "mine", "weights-0123.bin": "mine"}
    for name, words in mine.items():
        (folder / name).write_text(words)
    subprocess.run(programs.command(3, folder), check=True, capture_output=True)
    assert reader.factor(folder) == 3
    assert sorted(each.name for each in folder.iterdir()) == sorted([*programs.files(3), *mine])
    assert {name: (folder / name).read_text() for name in mine} == mine


def test_files_of_the_version_before_are_removed(programs, reader, tmp_path):
    """Its weights had one name for all programs, and end with `octavo-w`, an id and their size."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "program.octavo").write_bytes(b"octavo-p" + bytes(100))
    (folder / "weights.bin").write_bytes(bytes(64) + b"octavo-w" + struct.pack("<QQ", 1, 88))
    (folder / "kernels-0123456789abcdef.so").write_bytes(b"\x7fELF")
    subprocess.run(programs.command(3, folder), check=True, capture_output=True)
    assert sorted(each.name for each in folder.iterdir()) == programs.files(3)
    assert reader.factor(folder) == 3


def test_weights_keep_the_mode_of_those_before(programs, tmp_path):
    folder = tmp_path / "folder"
    programs.copy(2, folder)
    (old,) = folder.glob("weights-*.bin")
    old.chmod(0o600)
    subprocess.run(programs.command(3, folder), check=True, capture_output=True)
    (new,) = folder.glob("weights-*.bin")
    assert new.name != old.name and new.stat().st_mode & 0o777 == 0o600


def test_every_byte_is_verified(programs, tmp_path):
    folder = tmp_path / "folder"
    programs.copy(2, folder)
    found = json.loads(octavo("verify", folder, "--json"))
    assert found["function"] == "main" and {each["name"]: each["bytes"] for each in found["files"]} == {
        each.name: each.stat().st_size for each in folder.iterdir()}
    assert "whole" in octavo("verify", folder)
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        step = 1 if EXHAUSTIVE and path.suffix != ".so" else max(1, len(whole) // 12)
        for at in sorted({*range(0, len(whole), step), len(whole) - 1}):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            assert path.name in octavo("verify", folder, code=3), at
        path.write_bytes(whole[:-1])
        assert path.name in octavo("verify", folder, code=3)
        path.unlink()
        assert path.name in octavo("verify", folder, code=3)
        path.write_bytes(whole)
    octavo("verify", folder)
    assert "octavo compile" in octavo("verify", tmp_path, code=3)


def test_the_names_are_the_digests(programs):
    """XXH64 of the kernels, and of the weights without their last 24 bytes."""
    folder = programs.place / "whole2"
    (weights,) = folder.glob("weights-*.bin")
    assert weights.name == f"weights-{xxh64(weights.read_bytes()[:-24]):016x}.bin"
    kernels = kernels_of(folder)
    assert kernels.name == f"kernels-{xxh64(kernels.read_bytes()):016x}.so"
