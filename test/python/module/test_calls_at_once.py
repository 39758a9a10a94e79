"""No call waits for another one for good: every function, method and property of the extension modules is called
while a slow call of another thread runs."""
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR, which runs the programs")
HERE = pathlib.Path(__file__).parent


def test_every_call_comes_back_beside_a_slow_one():
    done = subprocess.run([sys.executable, HERE / "calls_at_once.py"], capture_output=True, text=True, timeout=540)
    said = done.stdout.splitlines()
    assert done.returncode == 0 and said[-1] == "all", (said[-3:], done.stderr[-4000:])


def test_threads_that_call_for_the_first_time_do_not_wait_for_one_another():
    """What is looked up once is looked up under Python's lock, which imports let go of."""
    program = """
import sys, threading
sys.setswitchinterval(1e-6)
import octavo, numpy as np
go = threading.Barrier(8)
def work(number):
    go.wait()
    octavo.amax(np.ones(4, np.float32))
    octavo.quantize(np.ones((1, 32), np.float32), "mxfp4")
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for each in threads: each.start()
for each in threads: each.join()
print("all")
"""
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert done.stdout == "all\n", done.stderr
