#!/usr/bin/env python3
"""MiniLM compiled by octavo, in f32 and quantized, beside XLA on the CPU in f32, in turn.

A round runs each once: octavo as a process with `--repeat`, whose first run is left out (it packs the
weights), XLA as a compiled call that is waited for. Prints tokens a second (median, least, largest over all
runs of all rounds), the ratio of the medians to XLA's, and the time to compile.

  benchmarks/programs.py --octavo build/release/bin/octavo [--batch 8] [--tokens 128] [--threads N]
                         [--formats f32 mxfp8_e4m3 mxfp4] [--rounds 5] [--runs 5] [--json]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"
MINILM = pathlib.Path(__file__).resolve().parent.parent / "examples" / "minilm"
sys.path.insert(0, str(MINILM))

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--octavo", required=True)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--tokens", type=int, default=128)
parser.add_argument("--threads", type=int, help="of both; without it, as many as there are")
parser.add_argument("--formats", nargs="+", default=["f32", "mxfp8_e4m3", "mxfp4", "nvfp4"])
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--runs", type=int, default=5)
parser.add_argument("--json", action="store_true")
options = parser.parse_args()
if options.threads:  # XLA takes as many threads as it may run on
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:options.threads]))

import encoder_inputs
import export
import jax
import model
import numpy as np
from safetensors.numpy import load_file


def xla(ids, mask):
    """A call of the encoder by XLA, and the seconds that it took to compile."""
    stored = load_file(encoder_inputs.model_folder() / "model.safetensors")
    weights = {name: jax.device_put(stored[name]) for name in model.parameter_shapes()}
    lowered = jax.jit(model.encode).lower(weights, ids, mask)
    begin = time.perf_counter()
    compiled = lowered.compile()
    seconds = time.perf_counter() - begin
    return lambda: compiled(weights, ids, mask).block_until_ready(), seconds


def main():
    tokens = options.batch * options.tokens
    drawn = np.random.default_rng(0)
    ids = drawn.integers(1000, 20000, (options.batch, options.tokens)).astype(np.int32)
    mask = np.ones_like(ids)
    call, compile_seconds = xla(ids, mask)
    call()
    seconds = {"XLA f32": []} | {name: [] for name in options.formats}
    prepare = {"XLA f32": compile_seconds}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / "minilm.mlir"
        program.write_text(export.program_text(options.batch, options.tokens))
        np.save(folder / "ids.npy", ids)
        np.save(folder / "mask.npy", mask)
        command = [options.octavo, "run", program, "--weights", encoder_inputs.model_folder() / "model.safetensors",
                   "--ignore-unused", "--input", folder / "ids.npy", "--input", folder / "mask.npy", "--json",
                   "--backend", "compiled", "--repeat", str(options.runs)]
        for round_ in range(options.rounds):
            for name in options.formats:
                own = [] if name == "f32" else ["--quantize", name]
                report = json.loads(subprocess.run(command + own, check=True, capture_output=True, text=True).stdout)
                seconds[name] += report["seconds"]["repeated"]
                prepare[name] = report["seconds"]["prepare"]
            for _ in range(options.runs):
                begin = time.perf_counter()
                call()
                seconds["XLA f32"].append(time.perf_counter() - begin)
            if sys.stderr.isatty():
                print(f"round {round_ + 1} of {options.rounds}", file=sys.stderr)
    base = statistics.median(seconds["XLA f32"])
    rows = {name: {"tokens_per_second": {"median": tokens / statistics.median(each), "least": tokens / max(each),
                                         "largest": tokens / min(each)},
                   "ratio_to_xla": base / statistics.median(each), "prepare_seconds": prepare[name]}
            for name, each in seconds.items()}
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"MiniLM, {options.batch} x {options.tokens} tokens\n")
    print(f"{'':14}{'tokens/s':>10}{'least':>10}{'largest':>10}{'of XLA':>8}{'prepare':>10}")
    for name, row in rows.items():
        rate = row["tokens_per_second"]
        print(f"{name:14}{rate['median']:10.0f}{rate['least']:10.0f}{rate['largest']:10.0f}"
              f"{row['ratio_to_xla']:8.2f}{row['prepare_seconds']:9.2f}s")


main()
