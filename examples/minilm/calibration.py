"""What a calibration is good for: calibrates the encoder on the sentences of calibration_sentences.txt, of
other subjects than those of sentences.txt, and compares the embeddings of the latter with those of f32,
under static scales of activations and with powers of two moved from activations to weights.

    python calibration.py --octavo build/release/bin/octavo
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

import encoder_inputs
from demo import HERE, ROOT, Octavo, fidelity

RANGES = ["amax", "percentile:99.999", "percentile:99.99", "percentile:99.9", "mse"]
STATIC = {"fp8_tensor": RANGES, "nvfp4": RANGES[:-1], "fp8_row": [], "mxfp8_e4m3": []}
MOVED = ["mxint8", "mxfp6_e2m3", "mxfp4", "nvfp4"]


def rules():
    """What each row is called, and its one rule."""
    for name, ranges in STATIC.items():
        yield name, "dynamic", {"weights": name}
        for chosen in ranges:
            yield name, chosen, {"weights": name, "scales": "found.json", "range": chosen}
    for name in MOVED:
        yield name, "dynamic", {"weights": name}
        for strength in (0.25, 0.5, 0.75):
            rule = {"weights": name, "migrate": "found.json", "strength": strength}
            yield name, f"moved, {strength}", rule


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--octavo", type=Path, default=ROOT / "build/release/bin/octavo")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        octavo = Octavo(options.octavo, HERE / "minilm.mlir", folder)
        sentences = (HERE / "calibration_sentences.txt").read_text(encoding="utf-8").splitlines()
        samples = folder / "samples" / "1"
        samples.mkdir(parents=True)
        for name, array in zip(("input_ids", "attention_mask"), encoder_inputs.tokenize(sentences)):
            np.save(samples / f"{name}.npy", array)
        octavo.json(
            "calibrate",
            octavo.program,
            *("--weights", octavo.weights, "--ignore-unused", "--columns"),
            *("--inputs", samples.parent),
            *("-o", folder / "found.json"),
        )
        f32, _, f32_seconds = octavo.embeddings()
        print(f"{'format':<12}  {'scales':<18}  cosine: mean    worst  neighbours      ms")
        print(f"{'f32':<12}  {'':<18}  {'':>12}  {'':>7}  {'':>10}  {1e3 * f32_seconds:6.1f}")
        for name, what, rule in rules():
            (folder / "recipe.json").write_text(json.dumps({"rules": [rule]}))
            embeddings, _, seconds = octavo.embeddings("--recipe", folder / "recipe.json")
            figures = fidelity(embeddings, f32)
            print(
                f"{name:<12}  {what:<18}  {figures['cosine_mean']:12.5f}  "
                f"{figures['cosine_worst']:7.5f}  {figures['neighbours_kept']:>2} of {len(f32)}  "
                f"{1e3 * seconds:6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
