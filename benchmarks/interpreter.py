#!/usr/bin/env python3
"""How long `octavo run` takes beside XLA on the CPU, the two in turn: the start of a command, and the
operations that move, slide and sort over 10^7 elements.

octavo's seconds are those of its evaluation, as --json gives them; XLA's those of a compiled call that
is waited for. Prints median, minimum and maximum, and the ratio of the medians.

  benchmarks/interpreter.py --octavo build/release/bin/octavo [--rounds 5] [--json]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

N = 10**7
DRAWN = np.random.default_rng(1)


def values(*shape):
    return DRAWN.standard_normal(shape, dtype=np.float32)


def places(high, *shape):
    return DRAWN.integers(0, high, shape, dtype=np.int32)


CASES = {
    "negate": (lambda x: -x, values(N)),
    "add": (lambda x, y: x + y, values(N), values(N)),
    "exponential": (jnp.exp, values(N)),
    "transpose": (lambda x: x.T, values(2500, 4000)),
    "reduce, add": (lambda x: x.sum(1), values(2500, 4000)),
    "reduce, a region of its own": (
        lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b * b, (1,)), values(250, 400)),
    "convolution 3x3": (
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        values(1, 500, 1250, 16), values(3, 3, 16, 16)),
    "reduce_window 3x3, max": (
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3, 3), (1, 1), "SAME"), values(2500, 4000)),
    "gather of rows": (lambda x, i: x[i], values(100000, 100), places(100000, 100000)),
    "gather of elements": (lambda x, i: x[i], values(N), places(N, N)),
    "scatter, add": (lambda x, i, u: x.at[i].add(u), values(N), places(N, N), values(N)),
    "sort": (lambda x: jnp.sort(x), values(N)),
    "sort of rows by keys": (lambda x, y: lax.sort((x, y), num_keys=1), values(2500, 4000), values(2500, 4000)),
}


def spread(seconds):
    return {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}


def compare(octavo, folder, name, rounds):
    function, *inputs = CASES[name]
    compiled = jax.jit(function).lower(*inputs)
    program = folder / "program.mlir"
    program.write_text(compiled.as_text())
    compiled = compiled.compile()
    command = [octavo, "run", program, "--json", "--backend", "reference"]
    for i, array in enumerate(inputs):
        np.save(folder / f"in{i}.npy", array)
        command += ["--input", folder / f"in{i}.npy"]
    placed = [jax.device_put(array) for array in inputs]
    jax.block_until_ready(compiled(*placed))
    ours, theirs = [], []
    for _ in range(rounds):
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        ours.append(json.loads(run.stdout)["seconds"]["evaluate"])
        begin = time.perf_counter()
        jax.block_until_ready(compiled(*placed))
        theirs.append(time.perf_counter() - begin)
    return {"name": name, "elements": int(max(a.size for a in inputs)), "octavo": spread(ours), "xla": spread(theirs)}


def start(octavo, folder, rounds):
    program = folder / "small.mlir"
    program.write_text(jax.jit(lambda x: x + 1).lower(np.zeros(4, np.float32)).as_text())
    np.save(folder / "small.npy", np.zeros(4, np.float32))
    for name, command in {"octavo --version": [octavo, "--version"],
                          "octavo run, x + 1": [octavo, "run", program, "--input", folder / "small.npy", "--backend", "reference"]}.items():
        seconds = []
        for _ in range(4 * rounds):
            begin = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            seconds.append(time.perf_counter() - begin)
        yield {"name": name, "octavo": spread(seconds), "xla": None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--octavo", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    octavo = arguments.octavo.resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = list(start(octavo, folder, arguments.rounds))
        rows += [compare(octavo, folder, name, arguments.rounds) for name in CASES]
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'':30} {'octavo: ms (min, max)':>32} {'XLA: ms (min, max)':>32}   octavo / XLA")
    for row in rows:
        cells = [f"{v['median'] * 1e3:10.1f} ({v['min'] * 1e3:.1f}, {v['max'] * 1e3:.1f})" if v else ""
                 for v in (row["octavo"], row["xla"])]
        ratio = f"{row['octavo']['median'] / row['xla']['median']:.1f}" if row["xla"] else ""
        print(f"{row['name']:30} {cells[0]:>32} {cells[1]:>32} {ratio:>14}")


if __name__ == "__main__":
    main()
