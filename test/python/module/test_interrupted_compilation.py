"""Ctrl-C during a compilation in Python."""
import os
import signal
import subprocess
import sys
import time

import growth
import pytest

pytestmark = pytest.mark.mlir

SCRIPT = """
import sys, time, octavo
try:
    octavo.compile(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", flush=True)
    if sys.argv[2] == "raise":
        raise
    # Octavo goes on working.
    small = octavo.compile(b"func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { %b = stablehlo.add %a, %a : tensor<2xf32> return %b : tensor<2xf32> }")
    import numpy
    assert (small(numpy.float32([1, 2])) == [2, 4]).all()
    sys.exit(7)
"""


@pytest.mark.parametrize("then, code", [("raise", -signal.SIGINT), ("go on", 7)])
def test_ctrl_c_ends_a_compilation_in_python(tmp_path, then, code):
    """The exception is raised at once, and the process ends at once, though the compiler still works in another thread."""
    program = tmp_path / "long.mlir"
    program.write_text(growth.slow_to_compile())
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, program, then], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
                               env=os.environ | {"OCTAVO_CACHE_DIR": ""})
    time.sleep(3)
    assert process.poll() is None, process.communicate()
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    said = process.stdout.readline()
    raised = time.monotonic() - begin
    _, errors = process.communicate(timeout=30)
    assert said == "interrupted\n" and process.returncode == code, errors
    assert raised < 0.5
    assert then == "go on" or time.monotonic() - begin < 1
