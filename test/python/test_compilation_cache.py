"""Programs and the machine code of their kernels, kept on disk: found again, never trusted blindly, never in the way."""
import os
import pathlib
import subprocess

import numpy as np
import pytest
from safetensors.numpy import save_file

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
SHIM = OCTAVO.parent / "octavo-file-operations.so"
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


def run(folder, x=None, umask=-1, **environment):
    command = [OCTAVO, "run", folder / "p.mlir", "--input", x or folder / "x.npy", "--output", folder / "y.npy"]
    return subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, umask=umask)


def assert_runs(folder, warning=None, **options):
    """Rightly, with a warning that has these words, or without one."""
    process = run(folder, **options)
    _, errors = process.communicate()
    said = errors.decode()
    assert process.returncode == 0 and (said.startswith("octavo: warning: ") and said.count("\n") == 1 and warning in said
                                        if warning else not said), said
    x = np.arange(1000, dtype=np.float32)
    np.testing.assert_array_equal(np.load(folder / "y.npy"), x * x - x)


def entries(cache):
    """Name and file number of each: an entry that is written again is another file."""
    return {each.name: each.stat().st_ino for each in cache.glob("llvmcache-*")}


def is_kernel(entry):
    return entry.read_bytes().startswith(b"\x7fELF")


def entry_of(cache, kind):
    (entry,) = (each for each in cache.glob("llvmcache-*") if is_kernel(each) == (kind == "kernel"))
    return entry


def entry_of_another(folder, kind):
    """Of another program, in a cache of its own."""
    other = folder / "other"
    other.mkdir()
    (other / "p.mlir").write_text(PROGRAM.replace("multiply %x, %x", "add %x, %x"))
    process = run(other, x=folder / "x.npy", OCTAVO_CACHE_DIR=str(other / "cache"))
    assert process.wait() == 0
    return entry_of(other / "cache", kind)


def test_a_program_and_its_kernel_are_compiled_once(program):
    cache = program / "cache"
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    written = entries(cache)
    assert len(written) == 2
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    assert entries(cache) == written


def test_another_program_is_another_entry(program):
    """Its operations, its locations (which errors and profiles tell), its function."""
    cache = program / "cache"
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    kernel = entry_of(cache, "kernel").name
    for number, (text, options) in enumerate([
            (PROGRAM.replace("multiply %x, %x", "add %x, %x"), []),
            ("\n" + PROGRAM, []),
            (PROGRAM + PROGRAM.replace("@main", "@other"), []),
            (PROGRAM + PROGRAM.replace("@main", "@other"), ["--function", "other"])]):
        before = entries(cache)
        (program / "p.mlir").write_text(text)
        subprocess.run([OCTAVO, "run", program / "p.mlir", "--input", program / "x.npy", *options],
                       env=os.environ | {"OCTAVO_CACHE_DIR": str(cache)}, stdout=subprocess.DEVNULL, check=True)
        kernels = 1 if number == 0 else 0  # of the others the kernel is the same
        assert len(entries(cache)) == len(before) + 1 + kernels
        assert entries(cache)[kernel] == before[kernel]


WEIGHTS = """
func.func @main(%x: tensor<?x64xf32>, %w: tensor<64x32xf32> loc("w"), %ids: tensor<?xi32>)
    -> (tensor<?x32xf32> {jax.result_info = "y"}, tensor<?x64xf32>) {
  %table = stablehlo.constant dense<"0xTABLE"> : tensor<16x64xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
  %1 = stablehlo.tanh %0 : tensor<?x32xf32>
  %2 = stablehlo.convert %ids : (tensor<?xi32>) -> tensor<?xi64>
  %3 = "stablehlo.gather"(%table, %2) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
                                            index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 64>}> : (tensor<16x64xf32>, tensor<?xi64>) -> tensor<?x64xf32>
  return %1, %3 : tensor<?x32xf32>, tensor<?x64xf32>
}
"""


@pytest.fixture
def weights(tmp_path):
    """A program of any number of items with a constant and a weight, and for five of them."""
    random = np.random.default_rng(7)
    table = random.standard_normal((16, 64), np.float32)
    text = WEIGHTS.replace("0xTABLE", "0x" + table.tobytes().hex())
    (tmp_path / "open.mlir").write_text(text)
    (tmp_path / "p.mlir").write_text(text.replace("?", "5"))
    np.save(tmp_path / "x.npy", random.standard_normal((5, 64), np.float32))
    save_file({"w": random.standard_normal((64, 32), np.float32)}, tmp_path / "w.safetensors")
    np.save(tmp_path / "ids.npy", np.array([3, 0, 15, 7, 3], np.int32))
    return tmp_path


@pytest.mark.parametrize("options", [
    [], ["--quantize", "mxfp8_e4m3", "--parameters", "w"],
    ["--quantize", "nvfp4", "--activations", "none", "--parameters", "w"]])
def test_a_program_from_the_cache_is_the_program(weights, options):
    """Its results, its steps, its stages, and the folder that `octavo compile` makes of it: files of equal bytes."""
    cache = str(weights / "cache")

    def files(name):
        out = weights / name
        environment = {"env": os.environ | {"OCTAVO_CACHE_DIR": cache}, "check": True}
        inputs = [part for each in ("x", "ids") for part in ("--input", weights / f"{each}.npy")]
        command = [OCTAVO, "run", weights / "p.mlir", "--weights", weights / "w.safetensors", *inputs, *options]
        subprocess.run([*command, "--output", f"{out}/"], stdout=subprocess.DEVNULL, **environment)
        explained = subprocess.run([*command, "--explain-compile", "--dump", out / "stages"],
                                   stdout=subprocess.PIPE, text=True, **environment).stdout
        if not options:
            for program in ("p", "open"):
                subprocess.run([OCTAVO, "compile", weights / f"{program}.mlir", "-o", out / f"folder-{program}"],
                               stdout=subprocess.DEVNULL, **environment)
        return (explained.replace(name, ""),
                {str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()})

    first = files("first")
    written = entries(weights / "cache")
    assert not all(is_kernel(weights / "cache" / name) for name in written)
    second = files("second")
    assert first == second
    assert entries(weights / "cache") == written


def test_large_constants_are_not_kept(program):
    """They would be written a second time, and push out what else is kept."""
    cache = program / "cache"
    table = np.random.default_rng(3).standard_normal(300_000, np.float32)
    (program / "p.mlir").write_text(f"""
func.func @main(%x: tensor<300000xf32>) -> tensor<300000xf32> {{
  %table = stablehlo.constant dense<"0x{table.tobytes().hex()}"> : tensor<300000xf32>
  %y = stablehlo.multiply %x, %table : tensor<300000xf32>
  return %y : tensor<300000xf32>
}}""")
    np.save(program / "x.npy", np.arange(300_000, dtype=np.float32))
    process = run(program, OCTAVO_CACHE_DIR=str(cache))
    assert process.wait() == 0
    assert len(entries(cache)) == 1
    assert entry_of(cache, "kernel")


@pytest.mark.parametrize("kind", ["kernel", "program"])
@pytest.mark.parametrize("damage", ["cut", "altered", "empty", "another's", "folder"])
def test_a_damaged_entry_is_compiled_again(program, damage, kind):
    cache = program / "cache"
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    entry = entry_of(cache, kind)
    whole = entry.read_bytes()
    if damage == "folder":
        entry.unlink()
        entry.mkdir()
    else:
        middle = len(whole) // 2
        entry.write_bytes({"cut": whole[:-7], "empty": b"", "another's": entry_of_another(program, kind).read_bytes(),
                           "altered": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:]}[damage])
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    if damage != "folder":
        assert entry.read_bytes() == whole


def test_a_cache_that_cannot_be_used_is_not(program):
    """Off, below a file, writable by others, another user's, below a folder that everybody may write to."""
    assert_runs(program, OCTAVO_CACHE_DIR="", HOME=str(program / "home"), XDG_CACHE_HOME="")
    assert not (program / "home").exists()
    assert_runs(program, OCTAVO_CACHE_DIR=str(program / "p.mlir" / "cache"))
    shared = program / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert_runs(program, f"others may write to it: chmod go-w {shared}", OCTAVO_CACHE_DIR=str(shared))
    shared.chmod(0o770)
    assert_runs(program, f"others may write to it: chmod go-w {shared}", OCTAVO_CACHE_DIR=str(shared))
    shared.chmod(0o755)
    assert_runs(program, "it is another user's: chown it", OCTAVO_CACHE_DIR=str(shared), LD_PRELOAD=str(SHIM),
                OCTAVO_EUID=str(os.geteuid() + 1))
    assert not list(shared.iterdir())
    above = program / "above"
    (above / "cache").mkdir(parents=True)
    above.chmod(0o777)
    assert_runs(program, f"everybody may write to {above}: chmod o-w {above}", OCTAVO_CACHE_DIR=str(above / "cache"))
    assert not list((above / "cache").iterdir())
    above.chmod(0o1777)  # whose entries are their owners' alone
    assert_runs(program, OCTAVO_CACHE_DIR=str(above / "cache"))
    assert len(entries(above / "cache")) == 2


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_a_folder_that_octavo_makes_is_used(program, monkeypatch, umask):
    """Whatever the umask lets others do."""
    monkeypatch.delenv("OCTAVO_CACHE_DIR", raising=False)
    (program / "home").mkdir()
    (program / "home").chmod(0o775)
    for place, environment in {"given/cache": {"OCTAVO_CACHE_DIR": str(program / "given/cache")},
                               "xdg/octavo/compiled": {"XDG_CACHE_HOME": str(program / "xdg")},
                               "home/.cache/octavo/compiled": {"XDG_CACHE_HOME": "", "HOME": str(program / "home")}}.items():
        for _ in range(2):
            assert_runs(program, umask=umask, **environment)
        assert len(entries(program / place)) == 2
        assert (program / place).stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_could_write_to_is_emptied(program, monkeypatch):
    """At the default place, where versions before have made it so."""
    monkeypatch.delenv("OCTAVO_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(program / "xdg"))
    cache = program / "xdg" / "octavo" / "compiled"
    assert_runs(program)
    before = entries(cache)
    (cache / "llvmcache-planted").write_text("code of others")
    cache.chmod(0o775)
    assert_runs(program, umask=0o002)
    after = entries(cache)
    assert after.keys() == before.keys() and cache.stat().st_mode & 0o777 == 0o700
    assert_runs(program, umask=0o002)
    assert entries(cache) == after


def test_an_entry_that_others_may_write_to_is_not_taken(program):
    cache = program / "cache"
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    before = entries(cache)
    for number, name in enumerate(sorted(before)):
        if number % 2:
            (cache / name).chmod(0o666)
        else:
            (cache / name).rename(program / "elsewhere")
            (cache / name).symlink_to(program / "elsewhere")
    assert_runs(program, OCTAVO_CACHE_DIR=str(cache))
    assert entries(cache).keys() == before.keys()
    assert not any((cache / name).is_symlink() or (cache / name).stat().st_mode & 0o022 for name in before)


def test_the_folder_is_the_users(program, monkeypatch):
    monkeypatch.delenv("OCTAVO_CACHE_DIR", raising=False)
    assert_runs(program, HOME=str(program), XDG_CACHE_HOME="")
    assert len(entries(program / ".cache" / "octavo" / "compiled")) == 2
    assert_runs(program, XDG_CACHE_HOME=str(program / "xdg"))
    assert len(entries(program / "xdg" / "octavo" / "compiled")) == 2


def test_processes_fill_it_together(program):
    cache = program / "cache"
    for _ in range(5):
        processes = [run(program, OCTAVO_CACHE_DIR=str(cache)) for _ in range(4)]
        assert [process.wait() for process in processes] == [0] * 4
        assert len(entries(cache)) == 2
        for entry in cache.glob("llvmcache-*"):
            entry.unlink()
