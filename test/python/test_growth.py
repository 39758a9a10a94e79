"""Programs ten times as long take ten times as long to compile and run, however often their values are used: no analysis is
quadratic, and none goes through a program's paths. Compiling takes less time than XLA takes, which `make exhaustive` measures.
"""
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import growth
from growth import OCTAVO, SHAPES, assert_linear, cost, octavo_command

pytestmark = pytest.mark.mlir
EXHAUSTIVE = os.environ.get("OCTAVO_EXHAUSTIVE")

# Twenty, of which each is of a kind of its own.
FEW = ["doubling", "horner", "clenshaw", "newton", "runge kutta", "leaky relu", "gelu", "where", "nested selects", "mandelbrot",
       "gradient descent", "recurrent", "gradient of newton", "gradient of where", "one value", "rolls", "normalizations",
       "scan", "random bits", "calls in depth", "calls in a tree", "branches", "loops", "narrow activation", "dots of weights"]
LIMIT = 60  # seconds, of which all take few
LARGE_KERNELS = ["recurrent", "scan"]  # which take LLVM long: as many steps as tell linear from quadratic in `make test`


def sizes(shape):
    return (10, 100) if shape in LARGE_KERNELS and not EXHAUSTIVE else (100, 1000)


@pytest.mark.parametrize("shape", SHAPES if EXHAUSTIVE else FEW)
def test_running_grows_with_the_program(tmp_path, shape):
    small, large = (cost(octavo_command("run", tmp_path, shape, n), LIMIT) for n in sizes(shape))
    assert_linear(shape, small, large)


@pytest.mark.parametrize("shape", SHAPES if EXHAUSTIVE else FEW[::8])
def test_compiling_grows_with_the_program(tmp_path, shape):
    small, large = (cost(octavo_command("compile", tmp_path, shape, n), LIMIT) for n in sizes(shape))
    assert_linear(shape, small, large)


@pytest.mark.skipif(not EXHAUSTIVE, reason="make exhaustive: programs of ten thousand steps")
@pytest.mark.parametrize("shape", SHAPES)
def test_running_grows_on(tmp_path, shape):
    small, large = (cost(octavo_command("run", tmp_path, shape, n), 10 * LIMIT) for n in (1000, 10000))
    assert_linear(shape, small, large)


# XLA's processor time for one program without what Python takes to begin. More of it than the second argument ends the process.
XLA = """
import signal
import sys
import time
import jax
from jax._src.interpreters import mlir
from jaxlib import xla_client
from jaxlib.mlir import ir
device = jax.devices("cpu")[0]
with mlir.make_ir_context(), ir.Location.unknown():
    text = str(ir.Module.parse(open(sys.argv[1]).read()))
begin = time.process_time()
signal.setitimer(signal.ITIMER_PROF, float(sys.argv[2]))
device.client.compile_and_load(text.encode(), xla_client.DeviceList((device,)), xla_client.CompileOptions())
signal.setitimer(signal.ITIMER_PROF, 0)
print(time.process_time() - begin)
"""


def xla_seconds(text, folder, most):
    """The processor time that XLA takes to compile a program. None: it was stopped after `most` seconds."""
    program = folder / "xla.mlir"
    program.write_text(text.replace(" {octavo.parameter}", ""))
    done = subprocess.run([sys.executable, "-c", XLA, program, str(most)], capture_output=True, text=True)
    if done.returncode == -signal.SIGPROF:
        return None
    assert done.returncode == 0, done.stderr[-2000:]
    return float(done.stdout)


def test_xla_is_stopped_when_its_time_is_over(tmp_path):
    """XLA is measured, not the limit: a small program ends, and one that takes XLA long is stopped."""
    pytest.importorskip("jax")
    text = SHAPES["doubling"](100)
    measured = xla_seconds(text, tmp_path, 60)
    assert 0 < measured < 60
    assert xla_seconds(text, tmp_path, measured / 10) is None


@pytest.mark.skipif(not EXHAUSTIVE, reason="make exhaustive: XLA's time for each shape")
@pytest.mark.parametrize("n", [10, 100, 1000])
@pytest.mark.parametrize("shape", SHAPES)
def test_compiling_takes_less_time_than_xla(tmp_path, shape, n):
    pytest.importorskip("jax")
    own = cost(octavo_command("run FILE --explain-compile", tmp_path, shape, n), 600).seconds
    xla = xla_seconds(SHAPES[shape](n), tmp_path, own)
    print(f"{shape} {n}: {own:.2f} s, XLA {'stopped' if xla is None else f'{xla:.2f} s'}", flush=True)
    # The start of a process is part of octavo's time and not of XLA's.
    assert xla is None or own <= max(xla, 0.3)


def chain(kind, n):
    """n operations in a row, each of the one before."""
    rows = {"reverse": "stablehlo.reverse {}, dims = [0] : tensor<8xf32>", "add": "stablehlo.add {0}, {0} : tensor<8xf32>",
            "mix": "stablehlo.add {}, %a : tensor<8xf32>", "tanh": "stablehlo.tanh {} : tensor<8xf32>"}
    lines, y = [], "%a"
    for i in range(n):
        each = rows["reverse"] if kind == "mix" and i % 2 else rows[kind]
        lines.append(f"  %v{i} = {each.format(y)}")
        y = f"%v{i}"
    return "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n" + "\n".join(lines) + f"\n  return {y} : tensor<8xf32>\n}}\n"


def run(tmp_path, text, *arrays, flags=(), limit=LIMIT):
    program, output = tmp_path / "program.mlir", tmp_path / "output.npy"
    program.write_text(text)
    inputs = []
    for i, array in enumerate(arrays):
        np.save(tmp_path / f"input{i}.npy", array)
        inputs += ["--input", tmp_path / f"input{i}.npy"]
    cost([OCTAVO, "run", program, *inputs, "--output", output, *flags], limit)
    return np.load(output)


@pytest.mark.parametrize("kind", ["reverse", "add", "mix", "tanh"] if EXHAUSTIVE else ["reverse"])
def test_no_recursion_is_as_deep_as_a_program(tmp_path, kind):
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    found = run(tmp_path, chain(kind, 35000), x)
    if kind == "reverse":
        np.testing.assert_array_equal(found, x)


def called_twice(levels):
    """Functions that each call the next twice: 2^levels calls of the last one."""
    text = "func.func private @f0(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = stablehlo.negate %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n"
    call = "func.call @f{}({}) : (tensor<4xf32>) -> tensor<4xf32>"
    for i in range(1, levels + 1):
        text += (f"func.func private @f{i}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = {call.format(i - 1, '%x')}\n"
                 f"  %1 = {call.format(i - 1, '%0')}\n  return %1 : tensor<4xf32>\n}}\n")
    return text + f"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = {call.format(levels, '%x')}\n  return %0 : tensor<4xf32>\n}}\n"


def test_calls_of_calls_do_not_multiply_a_program(tmp_path):
    """A million calls take as little memory as a thousand; 2^60 are compiled, though nobody will see them run."""
    x = np.float32([1, -2, 3, -4])
    np.testing.assert_array_equal(run(tmp_path, called_twice(20), x), x)
    for levels in (20, 60):
        program = tmp_path / f"{levels}.mlir"
        program.write_text(called_twice(levels))
        taken = cost([OCTAVO, "compile", program, "-o", tmp_path / f"{levels}"], 20)
        assert taken.bytes < 400 << 20, taken


def interrupted(command, after, limit=20):
    """Seconds that a process needs to end when it is interrupted, and its exit code."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
                               env=os.environ | {"OCTAVO_CACHE_DIR": ""})
    time.sleep(after)
    assert process.poll() is None, "it ended before it was interrupted: the program is too small"
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        process.wait(limit)
    finally:
        process.kill()
    return time.monotonic() - begin, process.returncode


@pytest.mark.parametrize("command", ["run", "compile"])
def test_ctrl_c_ends_a_compilation(tmp_path, command):
    program = tmp_path / "long.mlir"
    program.write_text(growth.slow_to_compile())
    np.save(tmp_path / "a.npy", np.zeros(64, np.float32))
    flags = ["--input", tmp_path / "a.npy"] if command == "run" else ["-o", tmp_path / "folder"]
    seconds, code = interrupted([OCTAVO, command, program, *flags], 1.5)
    assert seconds < 0.5 and code != 0
    assert not (tmp_path / "folder").exists() or not list((tmp_path / "folder").iterdir())


@pytest.mark.parametrize("program, flags", [
    (growth.slow_dot(), []), (growth.slow_dot(), ["--cost", "time"]), (growth.long_dot(), []), (growth.long_dot(), ["--cost", "time"]),
    (growth.long_dot(), ["--backend", "reference"])],  # which compiles nothing
    ids=["bytes-compiles", "time-compiles", "bytes-runs", "time-runs", "reference-runs"])
def test_ctrl_c_ends_tuning(tmp_path, program, flags):
    """Also while a trial is compiled or runs; what was there stays, and nothing is there beside it."""
    (tmp_path / "p.mlir").write_text(program)
    for name in "aw":
        np.save(tmp_path / f"{name}.npy", np.eye(64, dtype=np.float32))
    for name in ("recipe.json", "front.svg"):
        (tmp_path / name).write_text("as it was")
    before = sorted(tmp_path.iterdir())
    seconds, code = interrupted([OCTAVO, "tune", tmp_path / "p.mlir", "--input", f"a={tmp_path / 'a.npy'}", "--input",
                                 f"w={tmp_path / 'w.npy'}", "--parameters", "^w$", "--budget", "relative <= 0.1", "--formats", "mxfp4",
                                 "-o", tmp_path / "recipe.json", "--plot", tmp_path / "front.svg", *flags], 4)
    assert seconds < 0.5 and code == 130
    assert sorted(tmp_path.iterdir()) == before
    assert all((tmp_path / name).read_text() == "as it was" for name in ("recipe.json", "front.svg"))


def test_ctrl_c_ends_tuning_that_computes_a_metric(tmp_path):
    """A score that takes long is not waited for; the signal goes to octavo alone, as that of `kill`."""
    (tmp_path / "p.mlir").write_text(growth.slow_dot(3))
    for name in "aw":
        np.save(tmp_path / f"{name}.npy", np.eye(64, dtype=np.float32))
    seconds, code = interrupted([OCTAVO, "tune", tmp_path / "p.mlir", "--input", f"a={tmp_path / 'a.npy'}", "--input",
                                 f"w={tmp_path / 'w.npy'}", "--parameters", "^w$", "--budget", "metric >= 1", "--metric",
                                 "sleep 60; echo {outputs}", "-o", tmp_path / "recipe.json"], 1.5)
    assert seconds < 0.5 and code == 130
    assert not (tmp_path / "recipe.json").exists()
