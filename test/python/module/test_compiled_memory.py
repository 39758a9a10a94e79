"""What `octavo.compile` holds in memory: each weight of a file once, in the form that products read."""
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save_file

N = 2048  # a matrix takes 16 MiB
MOST = 1.25  # times the bytes of the file

# A process of its own, since a child's peak begins with that of the process which it came from.
PROGRAM = """
import resource, sys
import numpy as np
import octavo
path, weights, format, rounds = sys.argv[1:]
given = {} if format == "f32" else {"quantize": format}
compiled = octavo.compile(path, weights=weights, **given)
n = 2048
for rows in rounds.split(","):
    result = compiled(x=np.ones((int(rows), n), np.float32))
    assert np.isfinite(result).all()
    print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, float(result[0, 0]))
"""
MEASURE = """import subprocess, sys
done = subprocess.run(sys.argv[1:])
sys.exit(done.returncode)"""


def text(n, count, rows):
    """A program of `count` products with square weights, of so many rows."""
    x = f"tensor<{rows}x{n}xf32>"
    weights = ", ".join(f'%w{i}: tensor<{n}x{n}xf32> loc("w{i}")' for i in range(count))
    lines, last = [], "%x"
    for i in range(count):
        lines.append(f"  %{i} = stablehlo.dot_general {last}, %w{i}, contracting_dims = [1] x [0]\n"
                     f"      : ({x}, tensor<{n}x{n}xf32>) -> {x}\n")
        last = f"%{i}"
    return f'func.func @main(%x: {x} loc("x"), {weights}) -> {x} {{\n{"".join(lines)}  return {last} : {x}\n}}'


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Programs and weights of 4 and of 8 matrices, whose products are the identity times 2 each."""
    folder = tmp_path_factory.mktemp("memory")
    for count in (4, 8):
        save_file({f"w{i}": 2 * np.eye(N, dtype=np.float32) for i in range(count)},
                  folder / f"{count}.safetensors")
        for name, rows in ("fixed", 8), ("open", "?"):
            (folder / f"{count}-{name}.mlir").write_text(text(N, count, rows))
    (folder / "program.py").write_text(PROGRAM)
    return folder


def peaks(files, count, batch, format, rows):
    """The peak of the process in bytes after each call, and what each call gave."""
    done = subprocess.run([sys.executable, "-c", MEASURE, sys.executable, files / "program.py",
                           files / f"{count}-{batch}.mlir", files / f"{count}.safetensors", format, rows],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    return [int(peak) for peak, _ in lines], [float(value) for _, value in lines]


@pytest.mark.parametrize("format", ["f32", "mxfp8_e4m3", "mxfp4", "nvfp4"])
@pytest.mark.parametrize("batch, rows", [("fixed", "8,8"), ("open", "3,40,3,24")])
def test_weights_are_in_memory_once(batch, rows, format, files):
    few, found = peaks(files, 4, batch, format, rows)
    assert found == [2.0 ** 4] * len(found)
    many, found = peaks(files, 8, batch, format, rows)
    assert found == [2.0 ** 8] * len(found)
    size = (files / "8.safetensors").stat().st_size
    # What the process takes besides weights is in both.
    assert many[-1] - few[-1] <= MOST * size / 2
    # Further calls, of other sizes, pack nothing in f32; of narrow weights a decoded form may come.
    if format == "f32":
        assert many[-1] - many[0] < size / 16
