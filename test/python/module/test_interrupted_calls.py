"""Ctrl-C ends every call of Python within half a second: while it compiles, while it runs, and while it waits for another
thread that does. The process goes on, and ends when it wants to, though work that was left behind still runs."""
import ast
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR, which runs the programs")
HERE = pathlib.Path(__file__).parent
SCRIPT = HERE / "interrupted_calls.py"

# What neither compiles nor runs a program, nor reads more of a checkpoint than is asked for: lists of texts, small files, and
# kernels on the arrays that they are given, as NumPy's.
SHORT = {
    "_core": {"amax", "analyze", "cap_fnuz", "check_edge", "convert", "current_scale", "dequantize", "formats", "get_threads", "isa",
              "load", "matmul", "pack", "presets", "quantize", "quantize_both", "samples", "save", "set_threads", "to_fnuz", "to_ocp",
              "unpack", "update_delayed_scale", "write_checkpoint", "Checkpoint", "ElementFormat", "ErrorRow", "Finding",
              "PackedWeight", "ScaledFormat", "ScaledTensor"},
    "_loaded": {"load"},
    "_programs": {"recipes", "check_recipe", "DotOptions.__init__", "Weights.__init__", "Program.__init__", "Calibrator.text"},
}


def names():
    """The cases' names, found in the script's text: it is imported in processes of its own alone."""
    (function,) = [each for each in ast.parse(SCRIPT.read_text()).body if getattr(each, "name", "") == "cases"]
    (returned,) = [each for each in ast.walk(function) if isinstance(each, ast.Return) and isinstance(each.value, ast.Dict)]
    return [key.value for key in returned.value.keys]


def test_every_function_is_interrupted_or_short():
    from calls_at_once import functions
    called, _ = functions()
    long = {name.partition(":")[0] for name in names()}
    for name in called:
        module, _, rest = name.partition(".")
        is_short = rest in SHORT[module] or rest.partition(".")[0] in SHORT[module] or rest.startswith("jax_")
        # A loaded program runs the steps of a compiled one, in the same way.
        assert (name in long) != is_short or name.startswith("_loaded.Program."), name


@pytest.mark.parametrize("name", names())
def test_ctrl_c_ends_a_call(tmp_path, name):
    process = subprocess.Popen([sys.executable, SCRIPT, name, tmp_path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
                               env=os.environ | {"OCTAVO_CACHE_DIR": ""})
    try:
        assert process.stdout.readline() == "begin\n", process.communicate()
        time.sleep(1)
        assert process.poll() is None, process.communicate()
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        said = process.stdout.readline()
        raised = time.monotonic() - begin
        assert said == "interrupted\n", (said, process.communicate())
        process.wait(30)
        ended = time.monotonic() - begin
        assert raised < 0.5, raised
        assert ended < 1 and process.returncode == 7, (ended, process.stderr.read())
    finally:
        process.kill()
