"""Runs the MiniLM sentence encoder in f32 and with its dots quantized to every scaled format.

    python demo.py --octavo build/release/bin/octavo

prints one table and writes OUT/minilm.json and OUT/minilm.png. minilm.json holds:

    sentences              the 24 sentences
    dots                   how many products were quantized, of `dots_in_program`
    f32                    max_difference_to_jax: largest absolute difference to embeddings-jax.npy;
                           weight_bytes: the weights of those products in f32; other_weight_bytes:
                           the weights that stay f32 in every row; seconds
    formats                one object a row of the table:
      name                 what the table calls it
      weights, activations scaled formats; activations is null where they stay f32
      bits_per_weight      bits per weight value, scales included
      weight_bytes         bytes of the quantized weights, scales included
      cosine_mean, _worst  cosine to the f32 embeddings over the sentences
      worst_sentence       index of the sentence whose cosine is the worst
      neighbours_kept      sentences whose nearest neighbour is the one that f32 finds
      neighbours_changed   the others: {sentence, f32, quantized}, indices of sentences
      seconds              a run of the compiled program: the median of REPEAT after the first
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import encoder_inputs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# 4-bit weights are also used with f32 activations, where memory and not arithmetic is the limit.
WEIGHTS_ONLY = ("mxfp4", "nvfp4")
REPEAT = 15


# Formats of gradients, of which a run has none, and those of Tesla's hardware.
LEFT_OUT = {"fp8_e5m2_tensor", "fp8_e5m2_row", "cfloat8_1_4_3_tensor", "cfloat8_1_5_2_tensor"}


def rows_to_run(scaled_formats):
    """Name, weights' and activations' format of each row, from `octavo formats --json`. A format
    that only serves as another's activations (fp8_group) is no row."""
    partners = {f["activation"] for f in scaled_formats if f["activation"] != f["name"]} | LEFT_OUT
    rows = [
        (f["name"], f["name"], f["activation"])
        for f in scaled_formats
        if f["name"] not in partners
    ]
    return rows + [(f"{name} (weights only)", name, None) for name in WEIGHTS_ONLY]


def fidelity(embeddings, reference):
    """How near `embeddings` are to `reference`, both [sentences, 384]."""

    def unit(x):
        x = x.astype(np.float64)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    def neighbours(x):
        similarity = x @ x.T
        np.fill_diagonal(similarity, -np.inf)
        return similarity.argmax(axis=1)

    x, f32 = unit(embeddings), unit(reference)
    cosine = (x * f32).sum(axis=1)
    found, expected = neighbours(x), neighbours(f32)
    changed = np.flatnonzero(found != expected)
    return {
        "cosine_mean": float(cosine.mean()),
        "cosine_worst": float(cosine.min()),
        "worst_sentence": int(cosine.argmin()),
        "neighbours_kept": len(found) - len(changed),
        "neighbours_changed": [
            {"sentence": int(i), "f32": int(expected[i]), "quantized": int(found[i])}
            for i in changed
        ],
    }


class Octavo:
    """The built program, and the files that every run of it gets."""

    def __init__(self, executable, program, folder):
        if not executable.is_file():
            raise SystemExit(f"octavo is not built: there is no {executable}; run `make demo`")
        self.executable = executable
        self.program = program
        self.folder = folder
        self.weights = encoder_inputs.model_folder() / "model.safetensors"
        input_ids, attention_mask = encoder_inputs.tokenize(encoder_inputs.sentences())
        np.save(folder / "input_ids.npy", input_ids)
        np.save(folder / "attention_mask.npy", attention_mask)

    def json(self, *arguments):
        command = [str(self.executable), *map(str, arguments), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
        return json.loads(done.stdout)

    def embeddings(self, *options):
        """The embeddings of the sentences, the report of `octavo run`, and the seconds of a run once the program
        is compiled and its weights are packed."""
        output = self.folder / "embeddings.npy"
        report = self.json(
            "run",
            self.program,
            *("--weights", self.weights, "--ignore-unused"),
            *("--input", f"input_ids={self.folder / 'input_ids.npy'}"),
            *("--input", f"attention_mask={self.folder / 'attention_mask.npy'}"),
            *("--output", output),
            *("--repeat", REPEAT),
            *options,
        )
        return np.load(output), report, statistics.median(report["seconds"]["repeated"])


def measure(octavo, progress):
    """The report (see the top of this file)."""
    rows = rows_to_run(octavo.json("formats")["scaled_formats"])
    progress(f"[1/{1 + len(rows)}] f32")
    f32, _, f32_seconds = octavo.embeddings()
    formats = []
    for index, (name, weights, activations) in enumerate(rows):
        progress(f"[{index + 2}/{1 + len(rows)}] {name}")
        options = ["--quantize", weights, "--activations", activations or "none"]
        embeddings, run, seconds = octavo.embeddings(*options)
        quantized = run["weights"]["quantized"]
        formats.append(
            {
                "name": name,
                "weights": weights,
                "activations": activations,
                "bits_per_weight": quantized["bits_per_value"],
                "weight_bytes": quantized["bytes"],
                **fidelity(embeddings, f32),
                "seconds": seconds,
            }
        )
    progress("")
    jax = np.load(HERE / "embeddings-jax.npy")
    return {
        "sentences": encoder_inputs.sentences(),
        "dots": run["quantization"]["dots_quantized"],
        "dots_in_program": run["quantization"]["dots"],
        "f32": {
            "max_difference_to_jax": float(np.abs(f32 - jax).max()),
            "weight_bytes": quantized["bytes_f32"],
            "other_weight_bytes": run["weights"]["bytes_f32"] - quantized["bytes_f32"],
            "seconds": f32_seconds,
        },
        "formats": formats,
    }


def table(report):
    """The report as text."""
    f32, count = report["f32"], len(report["sentences"])
    head = ("weights", "activations", "bits", "MB", "cosine: mean", "worst", "neighbours", "time")
    size = f"{f32['weight_bytes'] / 1e6:.2f}"
    same = f"{count} of {count}"
    lines = [("f32", "f32", "32", size, "1", "1", same, f"{f32['seconds'] * 1e3:.0f} ms")]
    for row in report["formats"]:
        lines.append(
            (
                row["weights"],
                row["activations"] or "f32",
                f"{row['bits_per_weight']:.4g}",
                f"{row['weight_bytes'] / 1e6:.2f}",
                f"{row['cosine_mean']:.5f}",
                f"{row['cosine_worst']:.5f}",
                f"{row['neighbours_kept']} of {count}",
                f"{row['seconds'] * 1e3:.0f} ms",
            )
        )
    widths = [max(len(line[column]) for line in [head, *lines]) for column in range(len(head))]

    def text(line):
        words = [
            word.ljust(width) if column < 2 else word.rjust(width)
            for column, (word, width) in enumerate(zip(line, widths))
        ]
        return "  ".join(words).rstrip()

    rule = "-" * len(text(head))
    return "\n".join([text(head), rule, *map(text, lines)])


def write_whole(path, write):
    """Lets `write` fill a file beside `path`, then puts it in its place."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=path.suffix, delete=False) as file:
        beside = Path(file.name)
    try:
        write(beside)
        beside.chmod(0o644)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--octavo", type=Path, required=True, help="the built program")
    parser.add_argument("--program", type=Path, default=HERE / "minilm.mlir")
    parser.add_argument("--out", type=Path, default=ROOT / "out", help="folder of the results")
    arguments = parser.parse_args()

    def progress(text):
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="octavo-minilm-") as folder:
        octavo = Octavo(arguments.octavo, arguments.program, Path(folder))
        report = measure(octavo, progress)

    arguments.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=1) + "\n"
    write_whole(arguments.out / "minilm.json", lambda path: path.write_text(text))

    import picture

    write_whole(arguments.out / "minilm.png", lambda path: picture.draw(report, path))
    print(table(report))
    f32 = report["f32"]
    print(
        f"\n{report['dots']} of {report['dots_in_program']} products quantized: those with a"
        f" weight. The other weights ({f32['other_weight_bytes'] / 1e6:.1f} MB) stay f32.\n"
        f"f32 embeddings within {f32['max_difference_to_jax']:.1e} of JAX's own.\n"
        f"Also in {arguments.out / 'minilm.json'} and {arguments.out / 'minilm.png'}."
    )
    if not f32["max_difference_to_jax"] <= 1e-5:
        raise SystemExit("the f32 embeddings are not JAX's: 1e-5 is the most that they may differ")


if __name__ == "__main__":
    main()
