"""Exports two PyTorch models to StableHLO with torch_mlir and runs them in octavo, in f32 and with
their dots quantized to every scaled format, beside what torch itself computes.

    python run.py --octavo build/release/bin/octavo --minilm DIR

prints a table for each model and writes OUT/NAME.mlir, its inputs, and OUT/pytorch.json:

    models       one object a model: name, dots, dots_quantized, f32_max_difference (largest absolute
                 difference to torch's outputs, without quantization), and formats, one object each:
                 weights, activations, bits_per_weight, cosine_mean and cosine_worst to torch's
                 outputs, over the rows of the result
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
import torch
from torch_mlir import fx

import models

ROOT = Path(__file__).resolve().parent.parent.parent


def scaled_formats(octavo):
    """The formats that weights are given: those that only serve as another's activations, those of
    gradients, and those of Tesla's hardware are none."""
    listed = json.loads(subprocess.check_output([octavo, "formats", "--json"]))["scaled_formats"]
    partners = {f["activation"] for f in listed if f["activation"] != f["name"]}
    return [f["name"] for f in listed
            if f["name"] not in partners and "e5m2_" not in f["name"] and "cfloat8" not in f["name"]]


def exported(model, arguments):
    """The program as text; without locations, as torch_mlir prints it."""
    return str(fx.export_and_import(model, *arguments, output_type="stablehlo"))


def run(octavo, program, inputs, output, *options):
    """What `octavo run` says as JSON, and the result."""
    command = [octavo, "run", program, "--json", "--output", output, *options]
    for path in inputs:
        command += ["--input", path]
    return json.loads(subprocess.check_output(command)), np.load(output)


def cosines(result, reference):
    norms = np.linalg.norm(result, axis=1) * np.linalg.norm(reference, axis=1)
    return (result * reference).sum(1) / norms


def measure(octavo, out, name, model, arguments, formats):
    """Exports one model, runs it in every format; the object of pytorch.json."""
    with torch.no_grad():
        reference = model(*arguments).numpy()
    program = out / f"{name}.mlir"
    program.write_text(exported(model, arguments))
    inputs = []
    for i, argument in enumerate(arguments):
        inputs.append(out / f"{name}-{i}.npy")
        np.save(inputs[-1], argument.numpy())
    output = out / f"{name}-output.npy"
    _, result = run(octavo, program, inputs, output)
    rows = []
    for format in formats:
        report, quantized = run(octavo, program, inputs, output, "--quantize", format)
        quantization = report["quantization"]
        listed = json.loads(subprocess.check_output([octavo, "quantize", program, "--format", format, "--json"]))
        elements = sum(weight["elements"] for weight in listed["weights"])
        found = cosines(quantized, reference)
        rows.append({"weights": format, "activations": quantization["activations"],
                     "bits_per_weight": 8 * listed["weight_bytes_after"] / elements,
                     "cosine_mean": float(found.mean()), "cosine_worst": float(found.min())})  # fmt: skip
    return {"name": name, "dots": quantization["dots"], "dots_quantized": quantization["dots_quantized"],
            "f32_max_difference": float(np.abs(result - reference).max()), "formats": rows}  # fmt: skip


def table(entry):
    lines = [f"{entry['name']}: {entry['dots_quantized']} of {entry['dots']} dots quantized; in f32 within "
             f"{entry['f32_max_difference']:.1e} of torch", "",
             f"{'weights':<16}{'activations':<16}{'bits':>6}{'cosine: mean':>15}{'worst':>10}"]  # fmt: skip
    for row in entry["formats"]:
        lines.append(f"{row['weights']:<16}{row['activations'] or 'f32':<16}{row['bits_per_weight']:>6.3g}"
                     f"{row['cosine_mean']:>15.5f}{row['cosine_worst']:>10.5f}")  # fmt: skip
    return "\n".join(lines) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--octavo", required=True)
    parser.add_argument("--minilm", required=True, help="folder with MiniLM's config and weights")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "pytorch")
    parser.add_argument("--sentences", type=int, default=8, help="of the 24 in examples/minilm")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    tokens = [torch.from_numpy(np.load(ROOT / "examples/minilm" / f"{name}.npy")[: options.sentences]).long()
              for name in ("input_ids", "attention_mask")]  # fmt: skip
    formats = scaled_formats(options.octavo)
    found = []
    for name, model, inputs in (
        ("residual-net", models.residual_net(), [models.sample_images()]),
        ("minilm", models.SentenceEncoder(options.minilm).eval(), tokens),
    ):
        found.append(measure(options.octavo, options.out, name, model, inputs, formats))
        print(table(found[-1]), flush=True)
    (options.out / "pytorch.json").write_text(json.dumps({"models": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
