"""Programs compiled by octavo beside XLA, ONNX Runtime and torch.compile, interleaved in one run.

Each peer is a process of its own that waits while others run; octavo is `octavo run --repeat`, whose first run
is left out (it packs the weights). A round has some runs of each in turn. The table tells, over all runs of all
rounds, the rate at the median, least and largest, the ratio to XLA of the medians and of the fastest runs, the
seconds to compile (octavo: with an empty cache of kernels, and with a filled one), the peak of memory from
compiling on, weights included, over a process that has loaded its libraries and nothing else, and the cosine of the first result to XLA's.

  python benchmarks/programs --octavo build/release/bin/octavo [--threads N] [--rounds 5] [--seconds 0.5]
                             [--json] [PROGRAM]...

Without names, all programs. minilm-BxT and minilm-bf16-BxT take other numbers of sentences and tokens. Peers that
are not installed (`make bench-peers` installs them) are named below the table.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FORMATS = {"f32": [], "bf16": []} | {name: ["--quantize", name] for name in ("mxfp8_e4m3", "mxfp4", "nvfp4")}
FORMATS |= {f"{name} weights": ["--quantize", name, "--activations", "none"] for name in ("mxfp8_e4m3", "mxfp4")}
PEERS = {"XLA f32": ("xla", "f32"), "XLA bf16": ("xla", "bf16"),
         "XLA scaled_dot mxfp8": ("xla", "scaled_dot"),
         "ONNX Runtime f32": ("onnx_runtime", "f32"), "ONNX Runtime int8": ("onnx_runtime", "int8"),
         "torch.compile f32": ("torch_compile", "f32"), "torch.compile bf16": ("torch_compile", "bf16"),
         "torch.compile bf16 products": ("torch_compile", "f32")}
PLAIN = ["XLA f32", "ONNX Runtime f32", "torch.compile f32"]
INFERENCE = PLAIN + ["ONNX Runtime int8", "torch.compile bf16"]
SCALED = INFERENCE + ["XLA scaled_dot mxfp8"]
PROGRAMS = {
    "minilm-8x128": (["f32", "mxfp8_e4m3", "mxfp4", "nvfp4", "mxfp4 weights"], SCALED),
    "minilm-1x16": (["f32", "mxfp8_e4m3", "mxfp4", "mxfp4 weights"], SCALED),
    "minilm-bf16-8x128": (["bf16"], ["XLA bf16", "torch.compile bf16 products"]),
    "mlp-training": (["f32"], ["XLA f32", "torch.compile f32"]),
    "cnn": (["f32"], PLAIN),
    "lstm": (["f32", "mxfp8_e4m3", "mxfp4"], PLAIN),
    "decode": (["f32", "mxfp8_e4m3 weights", "mxfp4 weights", "mxfp4"], INFERENCE),
    "decode-mxfp8": (["f32", "mxfp4 weights"], ["XLA f32"]),
    "softmax": (["f32"], PLAIN),
    "layer-norm": (["f32"], PLAIN),
    "gelu": (["f32"], PLAIN),
    "x-plus-1": (["f32"], PLAIN),
}


def columns_of(name):
    if name in PROGRAMS:
        return PROGRAMS[name]
    if found := re.fullmatch(r"(minilm(?:-bf16)?)-[1-9]\d*x[1-9]\d*", name):
        return PROGRAMS[found[1] + "-8x128"]
    sys.exit(f"no program {name}; there are {', '.join(PROGRAMS)}, and minilm with other sizes")


class Worker:
    """A peer's process (worker.py)."""

    def __init__(self, peer, kind, name, folder, threads):
        folder = folder / f"{peer}-{kind}"
        folder.mkdir()
        os.symlink("../expected.npy", folder / "expected.npy")
        self.log = open(folder / "log", "w+")
        self.process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", peer, kind, name, folder, str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.facts = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            sys.exit("a peer's process ended:\n" + self.log.read()[-2000:])
        return json.loads(line)

    def run(self, times):
        self.process.stdin.write(f"{times}\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


def ask(*arguments):
    done = subprocess.run([sys.executable, HERE / "worker.py", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


class NothingQuantized(Exception):
    pass


class Octavo:
    """One column of octavo: `octavo run` in a process for each round."""

    def __init__(self, binary, form, folder, threads, empty):
        self.cache = tempfile.mkdtemp(dir=folder)
        self.command = [binary, "run", folder / "program.mlir", "--weights", folder / "weights.safetensors",
                        "--input", folder / "inputs.safetensors", "--threads", str(threads), "--json", *FORMATS[form]]
        outputs = folder / "outputs"
        cold, peak, _ = self.process("--output", f"{outputs}/")
        cached, _, _ = self.process()
        self.facts = {"compile_seconds": cold, "cached_compile_seconds": cached,
                      "memory": peak - empty, **ask("compare", "-", "-", folder, "-")}
        for file in outputs.iterdir():
            file.unlink()

    def process(self, *more):
        """Seconds to prepare, the peak of the process's memory, and the seconds of each repeated run."""
        environment = os.environ | {"OCTAVO_CACHE_DIR": self.cache}
        child = subprocess.Popen([*self.command, *more], stdout=subprocess.PIPE, env=environment, text=True)
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stdout.close()
        if child.returncode != 0:
            sys.exit(f"octavo run ended with {child.returncode}")
        report = json.loads(text)
        if report["quantization"] and report["quantization"]["dots_quantized"] == 0:
            raise NothingQuantized(f"none of its {report['quantization']['dots']} dots is quantized")
        seconds = report["seconds"]
        return seconds["prepare"], 1024 * usage.ru_maxrss, seconds.get("repeated")

    def run(self, times):
        return self.process("--repeat", str(times))[2]

    def end(self):
        pass


def empty_process(binary, folder):
    """The peak memory of `octavo run` of next to nothing, compiled."""
    (folder / "empty.mlir").write_text("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                                       "  %0 = stablehlo.add %x, %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n")
    child = subprocess.Popen([binary, "run", folder / "empty.mlir", "--explain-compile"], stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return 1024 * usage.ru_maxrss


def measure(name, options, folder):
    forms, peers = columns_of(name)
    work = ask("export", "-", name, folder, "-")
    empty = empty_process(options.octavo, folder)
    columns, missing = {}, {}
    for form in forms:
        try:
            columns[f"octavo {form}"] = Octavo(options.octavo, form, folder, options.threads, empty)
        except NothingQuantized as why:
            missing[f"octavo {form}"] = str(why)
    for label in peers:
        worker = Worker(*PEERS[label], name, folder, options.threads)
        if "missing" in worker.facts:
            missing[label] = worker.facts["missing"]
            worker.end()
        else:
            columns[label] = worker
    seconds = {label: [] for label in columns}
    times = {}
    for label, column in columns.items():  # as many runs as take --seconds
        taken = min(column.run(2))
        times[label] = max(1, min(2000, int(options.seconds / taken)))
    for round_ in range(options.rounds):
        for label, column in columns.items():
            seconds[label] += column.run(times[label])
        if sys.stderr.isatty():
            print(f"{name}: round {round_ + 1} of {options.rounds}", file=sys.stderr)
    rows = {}
    base = next((each for label, each in seconds.items() if label.startswith("XLA")), None)
    for label, each in seconds.items():
        rows[label] = {"median_seconds": statistics.median(each), "least_seconds": min(each),
                       "largest_seconds": max(each), "runs": len(each), **columns[label].facts}
        if base:
            rows[label]["ratio_to_xla"] = statistics.median(base) / statistics.median(each)
            rows[label]["ratio_of_fastest"] = min(base) / min(each)
    for column in columns.values():
        column.end()
    return work | {"rows": rows, "missing": missing}


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def table(name, result):
    print(f"\n{name}: {result['unit']} a second\n")
    print(f"{'':28}{'median':>11}{'least':>11}{'largest':>11}{'of XLA':>8}{'fastest':>8}{'compile s':>17}"
          f"{'MB':>8}{'cosine':>10}")
    for label, row in result["rows"].items():
        rates = [result["work"] / row[f"{which}_seconds"] for which in ("median", "largest", "least")]
        compiling = f"{row['compile_seconds']:.3f}"
        if "cached_compile_seconds" in row:
            compiling += f" / {row['cached_compile_seconds']:.3f}"
        print(f"{label:28}" + "".join(f"{number(rate):>11}" for rate in rates) +
              f"{row.get('ratio_to_xla', float('nan')):8.2f}{row.get('ratio_of_fastest', float('nan')):8.2f}"
              f"{compiling:>17}{row['memory'] / 1e6:8.0f}{row['cosine']:10.6f}")
    for label, why in result["missing"].items():
        print(f"{label:28} not measured: {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--octavo", required=True)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of runs, for each in a round")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for name in options.programs:
        columns_of(name)
    # XLA takes as many threads as it may run on; the others are told, too.
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:options.threads]))
    results = {}
    for name in options.programs:
        with tempfile.TemporaryDirectory() as folder:
            results[name] = measure(name, options, pathlib.Path(folder))
        if not options.json:
            table(name, results[name])
    if options.json:
        print(json.dumps(results, indent=2))


main()
