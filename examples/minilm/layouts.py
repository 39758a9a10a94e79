"""Takes MiniLM's weights through every checkpoint layout and back, and runs the encoder on what
comes out.

    python layouts.py --octavo build/release/bin/octavo

For each layout and each format that it spells: `octavo checkpoint quantize`, `dequantize` to f32,
`octavo run` on the 24 sentences of the demo. Weights alone are quantized; the table says how large
they are and how near the embeddings stay to those of f32. Formats that need a calibration (stored
scales of the activations) are skipped, which the output says; --only LAYOUT names the layouts.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import encoder_inputs
from demo import HERE, Octavo, fidelity


def measure(octavo, folder, only, progress):
    """A row for each format, and the formats skipped because they need a calibration."""
    source = encoder_inputs.model_folder()
    f32 = octavo.embeddings()[0]
    rows, skipped, seen = [], [], set()
    for layout in octavo.json("checkpoint", "layouts")["layouts"]:
        for spelling in layout["spellings"]:
            format = spelling["format"]
            # Stacked experts alone: a BERT has none.
            if not spelling["written"] or layout["name"] == "gpt-oss":
                continue
            if only and layout["name"] not in only:
                continue
            if (layout["name"], format) in seen:  # a spelling of stacked experts besides
                continue
            seen.add((layout["name"], format))
            if spelling["input_scale_required"]:
                skipped.append(f"{layout['name']} {format}")
                continue
            progress(f"{layout['name']} {format}")
            quantized, plain = folder / "quantized", folder / "plain"
            octavo.json("checkpoint", "quantize", source, "-o", quantized, "--layout",
                        layout["name"], "--format", format)
            octavo.json("checkpoint", "dequantize", quantized, "-o", plain, "--dtype", "f32")
            octavo.weights = plain / "model.safetensors"
            rows.append((layout["name"], format,
                         (quantized / "model.safetensors").stat().st_size,
                         fidelity(octavo.embeddings()[0], f32)))
            shutil.rmtree(quantized)
            shutil.rmtree(plain)
    progress("")
    return rows, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--octavo", type=Path, required=True, help="the built program")
    parser.add_argument("--only", action="append", metavar="LAYOUT", help="may be repeated")
    arguments = parser.parse_args()

    def progress(text):
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="octavo-layouts-") as folder:
        octavo = Octavo(arguments.octavo, HERE / "minilm.mlir", Path(folder))
        rows, skipped = measure(octavo, Path(folder), arguments.only, progress)
    count = len(encoder_inputs.sentences())
    print(f"{'layout':<20}{'format':<12}{'file, MB':>9}{'cosine: mean':>14}{'worst':>9}{'neighbours':>12}")
    print("-" * 76)
    for layout, format, size, near in rows:
        print(f"{layout:<20}{format:<12}{size / 1e6:>9.2f}{near['cosine_mean']:>14.5f}"
              f"{near['cosine_worst']:>9.5f}{near['neighbours_kept']:>6} of {count}")
    if skipped:
        print(f"\nskipped, since they need a calibration: {', '.join(skipped)}")


if __name__ == "__main__":
    main()
