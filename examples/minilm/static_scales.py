"""Static scales of activations beside dynamic ones: calibrates the encoder on the sentences of
calibration_sentences.txt, of other subjects than those of sentences.txt, and compares the embeddings of
the latter with those of f32.

    python static_scales.py --octavo build/release/bin/octavo
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import encoder_inputs
from demo import HERE, ROOT, Octavo, fidelity

RANGES = ["amax", "percentile:99.999", "percentile:99.99", "percentile:99.9", "mse"]
ROWS = (
    [("fp8_tensor", None), *(("fp8_tensor", name) for name in RANGES)]
    + [("nvfp4", None), *(("nvfp4", name) for name in RANGES if name != "mse")]
    + [("fp8_row", None), ("mxfp8_e4m3", None)]
)


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
        found = octavo.json(
            "calibrate",
            octavo.program,
            *("--weights", octavo.weights, "--ignore-unused"),
            *("--inputs", samples.parent),
            *("-o", folder / "minilm.json"),
        )
        size = (folder / "minilm.json").stat().st_size
        print(f"{len(found['tensors'])} sides of dots, {size / 1e6:.1f} MB\n")
        f32, _, f32_seconds = octavo.embeddings()
        print(f"{'format':<12}  {'range':<18}  cosine: mean    worst  neighbours      ms")
        print(f"{'f32':<12}  {'':<18}  {'':>12}  {'':>7}  {'':>10}  {1e3 * f32_seconds:6.1f}")
        for name, chosen in ROWS:
            more = ["--calibration", folder / "minilm.json", "--range", chosen] if chosen else []
            embeddings, _, seconds = octavo.embeddings("--quantize", name, *more)
            figures = fidelity(embeddings, f32)
            print(
                f"{name:<12}  {chosen or 'dynamic':<18}  {figures['cosine_mean']:12.5f}  "
                f"{figures['cosine_worst']:7.5f}  {figures['neighbours_kept']:>2} of {len(f32)}  "
                f"{1e3 * seconds:6.1f}"
            )


if __name__ == "__main__":
    main()
