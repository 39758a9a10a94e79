#!/usr/bin/env python3
"""Speed and memory of `octavo checkpoint` on a synthetic model, interleaved with `cp` of the same
bytes.

    benchmarks/checkpoint.py --octavo build/bench/bin/octavo --work DIR [--gb 8] [--rounds 3]

Writes a model of --gb gigabytes in DeepSeek's FP8 layout, converts it to compressed-tensors (names
and configuration change, bytes do not) and to FNUZ, requantizes and dequantizes it, and quantizes
what that gives, bf16, to several formats. Every run is a fresh process. Beside a run: `cp -r` of
the input where the job renames, of the output where it computes, each with `sync` of the copies,
since octavo syncs what it writes; and where it quantizes, the same work from memory to memory by as
many threads (quantize-in-memory, from the folder of octavo). Wall time and processor time of all threads; on a
shared machine only the latter says what the work costs. The runs of one kind and those beside it
go by turns, the best of each counts. DIR needs about four times the size; it is emptied again.
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
    """Wall seconds, processor seconds and peak resident megabytes."""
    start = time.monotonic()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"failed: {command}")
    seconds = time.monotonic() - start
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def size_of(folder):
    return sum(path.stat().st_size for path in folder.iterdir())


def copy_of(folder):
    """Wall and processor seconds of a copy that is on the disk."""
    copy = folder.with_name("copy")
    seconds, processor, _ = run("cp", "-r", folder, copy)
    synced, flushing, _ = run("sync", *copy.iterdir())
    shutil.rmtree(copy)
    return seconds + synced, processor + flushing


def in_memory(octavo, form, weights, threads=2):
    run_of = subprocess.run([octavo.with_name("quantize-in-memory"), form, str(weights), str(threads)],
                            check=True, capture_output=True, text=True)
    return json.loads(run_of.stdout)


def measure(what, source, command, out, options, weights, copies, form=None, works=()):
    """`copies`: the folder that cp copies, source or out. `works`: what of quantize-in-memory to
    `form` is the same work. The last output stays."""
    times, beside, memory, peak = [], [], [], 0
    for _ in range(options.rounds):
        shutil.rmtree(out, ignore_errors=True)
        seconds, processor, resident = run(*command, source, "-o", out)
        times.append((seconds, processor))
        peak = max(peak, resident)
        beside.append(copy_of(copies))
        if form:
            memory.append(in_memory(options.octavo, form, weights))
    wall, processor = (min(column) for column in zip(*times))
    copy_wall, copy_processor = (min(column) for column in zip(*beside))
    row = {"work": what, "in_gb": size_of(source) / 1e9, "out_gb": size_of(out) / 1e9, "s": wall,
           "processor_s": processor, "peak_mb": peak, "cp": copies.name, "cp_s": copy_wall,
           "cp_processor_s": copy_processor, "cp_ratio": copy_wall / wall,
           "load": os.getloadavg()[0]}
    for same in works:
        best = {key: min(m[f"{same}_{key}"] * weights / m["values"] for m in memory)
                for key in ("s", "processor_s")}
        row |= {f"memory_{same}_{key}": value for key, value in best.items()}
        row[f"memory_{same}_ratio"] = best["s"] / wall
        row[f"memory_{same}_processor_ratio"] = best["processor_s"] / processor
    print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}),
          flush=True)


def measure_readers(form, source, out, quantize, options):
    """verify, diff and report of what `quantize` writes, against its source; the last output stays."""
    page = out.with_name("page.html")
    readers = {"verify": [out, "--against", source], "diff": [out, source, "--tolerance", "1"],
               "report": [out, "--against", source, "-o", page]}
    times = {name: [] for name in ("quantize", *readers)}
    for _ in range(options.rounds):
        shutil.rmtree(out, ignore_errors=True)
        times["quantize"].append(run(*quantize, source, "-o", out))
        for name, arguments in readers.items():
            page.unlink(missing_ok=True)
            times[name].append(run(options.octavo, "checkpoint", name, *arguments, "--memory", options.memory))
    page.unlink()
    best = {name: [min(column) for column in zip(*rounds)] for name, rounds in times.items()}
    for name in readers:
        seconds, processor, _ = best[name]
        row = {"work": f"{name} bf16 and {form}", "s": seconds, "processor_s": processor,
               "peak_mb": max(peak for *_, peak in times[name]), "quantize_s": best["quantize"][0],
               "quantize_processor_s": best["quantize"][1], "quantize_ratio": seconds / best["quantize"][0],
               "quantize_processor_ratio": processor / best["quantize"][1], "load": os.getloadavg()[0]}
        print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}), flush=True)


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    flags.add_argument("--octavo", required=True, type=Path)
    flags.add_argument("--work", required=True, type=Path)
    flags.add_argument("--gb", type=float, default=8)
    flags.add_argument("--rounds", type=int, default=3)
    flags.add_argument("--memory", default="256MB")
    flags.add_argument("--formats", nargs="*", default=["nvfp4", "mxfp4", "fp8_row"])
    options = flags.parse_args()
    work = options.work / "octavo-checkpoint-benchmark"
    shutil.rmtree(work, ignore_errors=True)
    try:
        weights = make_model(work / "deepseek", options.gb * 1e9)
        print(f"{weights / 1e9:.2f} G weights, load {os.getloadavg()[0]:.1f}", flush=True)
        deepseek, plain = work / "deepseek", work / "plain"
        tail = ["--memory", options.memory]

        def step(what, source, command, flags, name, form=None, works=()):
            out = work / name
            copies = source if command == "convert" and not form else out
            measure(what, source, [options.octavo, "checkpoint", command, *flags, *tail], out,
                    options, weights, copies, form, works)

        step("convert deepseek to compressed-tensors", deepseek, "convert",
             ["--layout", "compressed-tensors"], "ct")
        shutil.rmtree(work / "ct")
        step("convert deepseek to FNUZ", deepseek, "convert", ["--fnuz"], "fnuz")
        shutil.rmtree(work / "fnuz")
        # To layouts that have no fp8_block: compressed-tensors has it, and would keep it.
        for form, layout in (("mxfp4", "quark"), ("nvfp4", "native")):
            step(f"requantize fp8_block to {form}", deepseek, "convert",
                 ["--layout", layout, "--requantize", "--format", form], form, form,
                 ("fp8_block", "fp8_block_measured"))
            shutil.rmtree(work / form)
        step("dequantize fp8_block to bf16", deepseek, "dequantize", [], "plain")
        shutil.rmtree(deepseek)
        for form in options.formats:
            step(f"quantize bf16 to {form}", plain, "quantize",
                 ["--layout", "compressed-tensors", "--format", form], form, form, ("f32", "bf16"))
            measure_readers(form, plain, work / form,
                            [options.octavo, "checkpoint", "quantize", "--layout", "compressed-tensors",
                             "--format", form, *tail], options)
            shutil.rmtree(work / form)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
