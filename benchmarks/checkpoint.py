#!/usr/bin/env python3
"""Speed and memory of `octavo checkpoint` on a synthetic model, interleaved with `cp` of the same
bytes.

    benchmarks/checkpoint.py --octavo build/release/bin/octavo --work DIR [--gb 8] [--rounds 3]

Writes a model of --gb gigabytes in DeepSeek's FP8 layout, converts it to compressed-tensors (names
and configuration change, bytes do not), dequantizes it to bf16, and quantizes that to NVFP4 and
MXFP4. Every run is a fresh process; `cp` is `cp -r` and then `sync` of the copies, since octavo
syncs what it writes. DIR needs about four times the size; it is emptied again.
"""
import argparse
import json
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path

import numpy as np

HIDDEN, INNER, SHARD = 4096, 14336, 1 << 30
MATRICES = [("self_attn.q_proj", HIDDEN, HIDDEN), ("self_attn.o_proj", HIDDEN, HIDDEN),
            ("mlp.gate_proj", INNER, HIDDEN), ("mlp.up_proj", INNER, HIDDEN),
            ("mlp.down_proj", HIDDEN, INNER)]


def write_shard(path, tensors):
    """name -> (dtype, shape, bytes); the bytes may be a view that is written as often as need be."""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


def make_model(folder, size):
    """Random codes without NaN under scales of 2^-12: values of the size of weights."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    codes = random.integers(0, 256, size=INNER * HIDDEN + (1 << 20), dtype=np.uint8)
    codes[(codes & 0x7F) == 0x7F] = 0x30
    codes = codes.data
    shard, layer, written, places = {}, 0, 0, {}
    shards = []

    def flush():
        name = f"model-{len(shards) + 1:05}.safetensors"
        write_shard(folder / name, shard)
        shards.append(name)
        places.update(dict.fromkeys(shard, name))
        shard.clear()

    while written < size:
        for name, rows, columns in MATRICES:
            grid = [-(-rows // 128), -(-columns // 128)]
            scales = np.full(grid, 2.0**-12, np.float32) * (1 + random.random(grid, np.float32))
            begin = (layer * 4099) % (1 << 20)  # another beginning for each layer
            prefix = f"model.layers.{layer}.{name}.weight"
            shard[prefix] = ("F8_E4M3", [rows, columns], codes[begin : begin + rows * columns])
            shard[prefix + "_scale_inv"] = ("F32", grid, scales.tobytes())
            written += rows * columns
        layer += 1
        if sum(len(data) for _, _, data in shard.values()) >= SHARD:
            flush()
    if shard:
        flush()
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": written}, "weight_map": places}))
    (folder / "config.json").write_text(json.dumps({
        "model_type": "deepseek_v3", "torch_dtype": "bfloat16",
        "quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
                                "weight_block_size": [128, 128]}}))
    return written


def run(*command):
    """Seconds and peak resident megabytes."""
    start = time.monotonic()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"failed: {command}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def size_of(folder):
    return sum(path.stat().st_size for path in folder.iterdir())


def measure(what, source, command, out, weights):
    seconds, peak = run(*command, source, "-o", out)
    read, written = size_of(source) / 1e9, size_of(out) / 1e9
    print(f"{what:38} {read:6.2f} GB in, {written:6.2f} GB out: {seconds:6.1f} s, "
          f"{weights / seconds / 1e9:.3f} G values/s, peak {peak:5.0f} MB, "
          f"load {os.getloadavg()[0]:.1f}", flush=True)


def compare(what, source, command, out, rounds):
    """Rounds of the command and of cp, by turns; the best of each."""
    times, peaks, copies = [], [], []
    copy = out.with_name("copy")
    for _ in range(rounds):
        shutil.rmtree(out, ignore_errors=True)
        seconds, peak = run(*command, source, "-o", out)
        times.append(seconds)
        peaks.append(peak)
        seconds, _ = run("cp", "-r", source, copy)
        synced, _ = run("sync", *copy.iterdir())
        copies.append(seconds + synced)
        shutil.rmtree(copy)
    read, written = size_of(source) / 1e9, size_of(out) / 1e9
    print(f"{what:38} {read:6.2f} GB in, {written:6.2f} GB out: {min(times):6.1f} s "
          f"(cp of the input {min(copies):6.1f} s, ratio {min(copies) / min(times):.2f}), "
          f"peak {max(peaks):5.0f} MB, load {os.getloadavg()[0]:.1f}", flush=True)


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    flags.add_argument("--octavo", required=True, type=Path)
    flags.add_argument("--work", required=True, type=Path)
    flags.add_argument("--gb", type=float, default=8)
    flags.add_argument("--rounds", type=int, default=3)
    flags.add_argument("--memory", default="256MB")
    options = flags.parse_args()
    work = options.work / "octavo-checkpoint-benchmark"
    shutil.rmtree(work, ignore_errors=True)
    try:
        weights = make_model(work / "deepseek", options.gb * 1e9)
        print(f"{weights / 1e9:.2f} G weights, load {os.getloadavg()[0]:.1f}", flush=True)
        octavo = [options.octavo, "checkpoint"]
        tail = ["--memory", options.memory]
        compare("convert deepseek -> compressed-tensors", work / "deepseek",
                [*octavo, "convert", "--layout", "compressed-tensors", *tail], work / "ct",
                options.rounds)
        shutil.rmtree(work / "ct")
        measure("dequantize fp8_block -> bf16", work / "deepseek", [*octavo, "dequantize", *tail],
                work / "plain", weights)
        shutil.rmtree(work / "deepseek")
        for form in ("nvfp4", "mxfp4"):
            measure(f"quantize bf16 -> {form}", work / "plain",
                    [*octavo, "quantize", "--layout", "compressed-tensors", "--format", form, *tail],
                    work / form, weights)
            shutil.rmtree(work / form)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
