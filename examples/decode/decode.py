"""Decodes token by token with `octavo run`, the KV cache in f32 and quantized, and prints how far they are apart.

    python examples/decode/decode.py --octavo build/release/bin/octavo [--tokens 16] [--reference]

Each step is a run of the exported program, whose caches are the files that the step before has written. The f32
cache chooses the tokens, always the likeliest; the other caches are given the same ones. Options that are not known here go to `octavo run`, such as
`--quantize mxfp4 --activations none`.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import ml_dtypes  # names the types of the caches' files to NumPy  # noqa: F401
import numpy as np

import decoder
import export_step


class Decoder:
    """A program that keeps its caches in files."""

    def __init__(self, octavo, programs, folder, sizes, cache, options):
        self.folder = folder
        self.caches = {}
        self.folder.mkdir(parents=True)
        for name, array in decoder.empty_caches(sizes, cache).items():
            # numpy.save does not write the names of narrow types; octavo takes them from the file's.
            self.caches[name] = self.folder / f"{name}.{array.dtype.name}.npy"
            np.save(self.caches[name], array)
        self.command = [octavo, "run", programs / f"decode-{cache}.mlir", "--weights"]
        self.command += [programs / "weights.safetensors", "--json", *options]
        self.position = 0

    def step(self, token, *options):
        """The logits after `token`, and octavo's report."""
        outputs = self.folder / f"step{self.position}"
        inputs = {"token": self.folder / "token.npy", "position": self.folder / "position.npy"}
        np.save(inputs["token"], np.array([token], np.int32))
        np.save(inputs["position"], np.array(self.position, np.int32))
        command = [*self.command, "--output", f"{outputs}/", *options]
        for name, file in (inputs | self.caches).items():
            command += ["--input", f"{name}={file}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        for name, old in self.caches.items():
            old.unlink()
            self.caches[name] = outputs / f"{name}.npy"
        self.position += 1
        return np.load(outputs / "logits.npy")[0], json.loads(done.stdout)

    def bytes(self):
        """What the caches hold, elements of four bits packed."""
        total = 0
        for file in self.caches.values():
            array = np.load(file)
            total += array.size * (0.5 if array.dtype.name.startswith("float4") else array.dtype.itemsize)
        return total


def cosine(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def decode(octavo, folder, sizes, tokens, options=(), reference=False):
    """For each form of the cache a dict: cosine of the logits to those with f32 of each step, steps whose
    likeliest token is the same, bytes of the cache and seconds of the last step; with `reference` the cosine to the
    logits of the interpreter, which is given the same tokens."""
    export_step.write(folder, sizes, list(decoder.ELEMENTS))
    results, chosen, plain = {}, [1], []
    for cache in decoder.ELEMENTS:
        decoding = Decoder(octavo, folder, folder / cache, sizes, cache, options)
        if reference:
            interpreted = Decoder(
                octavo, folder, folder / "reference" / cache, sizes, cache, [*options, "--backend", "reference"]
            )
        found, apart = [], []
        for i in range(tokens):
            logits, report = decoding.step(chosen[i], *(["--repeat", "5"] if i + 1 == tokens else []))
            found.append(logits)
            if cache == "f32":
                chosen.append(int(logits.argmax()))
            if reference:
                apart.append(cosine(interpreted.step(chosen[i])[0], logits))
        if cache == "f32":
            plain = found
        results[cache] = {
            "cosine to reference": apart,
            "cosine": [cosine(a, b) for a, b in zip(plain, found)],
            "same token": sum(int(a.argmax() == b.argmax()) for a, b in zip(plain, found)),
            "bytes": decoding.bytes(),
            "seconds": float(np.median(report["seconds"]["repeated"])),
        }
    return results


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--octavo", required=True)
    parser.add_argument("--tokens", type=int, default=16, help="to decode")
    parser.add_argument("--reference", action="store_true", help="decode by the interpreter, too")
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        results = decode(
            arguments.octavo, Path(folder), decoder.Sizes(), arguments.tokens, options, arguments.reference
        )
    print("cache       MB   cosine: mean    worst   same token    ms a step" + "   to reference" * arguments.reference)
    for cache, row in results.items():
        print(
            f"{cache:8}{row['bytes'] / 1e6:6.1f}{np.mean(row['cosine']):15.6f}{min(row['cosine']):9.6f}"
            f"{row['same token']:7} of {arguments.tokens}{1e3 * row['seconds']:13.1f}"
            + (f"{min(row['cosine to reference']):15.9f}" if arguments.reference else "")
        )


if __name__ == "__main__":
    main()
