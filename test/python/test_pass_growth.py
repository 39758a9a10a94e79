"""How the time and the memory of passes, and of commands on programs, grow with the program; and that a pass changes
nothing when it runs again.

Cost is a child's own processor time and its largest resident set, so that other processes do not count. Ten times the
program may cost fifteen times as much, and a second and 256 MB more: what is quadratic costs a hundred times as much. make
exhaustive takes every shape alone, at more lengths, so that none hides behind the others."""
import functools
import os
import pathlib
import re
import resource
import subprocess

import numpy as np
import pytest
from growing_programs import arguments, shapes
from program_commands import BIN, OCTAVO

pytestmark = pytest.mark.mlir

EXHAUSTIVE = os.environ.get("OCTAVO_EXHAUSTIVE")
OPT = BIN / "octavo-opt"
TESTS = pathlib.Path(__file__).resolve().parent.parent
MOST_SECONDS = 120  # of a child: far more than a linear one takes
LENGTHS = (10, 100, 1000) if EXHAUSTIVE else (100, 1000)

# What a pass is run with, where it does nothing or fails without.
OPTIONS = {"octavo-quantize-dots": "weights=mxfp8_e4m3", "octavo-narrow-collectives": "all-reduce",
           "octavo-fuse-scaled-dots": "overflow=allow", "octavo-simplify-converts": "reduce-precision=converts",
           "octavo-normalize-floats": "target=f32-only"}
# More that must change nothing the second time.
MORE_OPTIONS = {"octavo-quantize-dots": ["weights=nvfp4 both-activations"],
                "octavo-emit": ["xla-scaled-dot", "xla-custom-calls"],
                "octavo-simplify-converts": ["reduce-precision=operation"]}
# Passes that leave a program of wide values as it is take one that a pass before has made.
BEFORE = {"octavo-emit": "octavo-quantize-dots", "octavo-fuse-scaled-dots": "octavo-quantize-dots",
          "octavo-inline-fused-dots": "octavo-quantize-dots", "octavo-drop-scales": "octavo-quantize-dots"}
EMPTY = "func.func @main() {\n  return\n}\n"


@functools.cache
def passes():
    """The passes of Passes.td, as octavo-opt lists them, and those of MLIR that programs meet."""
    listed = subprocess.run([OPT, "--help"], capture_output=True, text=True, check=True).stdout
    found = sorted(set(re.findall(r"^ +--(octavo-[\w-]+)", listed, re.MULTILINE)))
    declared = re.findall(r'Octavo_Pass<"([\w-]+)">', (TESTS.parent / "octavo/Transforms/Passes.td").read_text())
    assert set(declared) == set(found)
    return [*found, "canonicalize", "cse"]


def flag(name, options=None):
    options = OPTIONS.get(name) if options is None else options
    return f"--{name}={options}" if options else f"--{name}"


def cost(*command):
    """(seconds of its processor time, bytes of its largest resident set)."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))

    command = [*map(str, command)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, f"{' '.join(command)}: {child.returncode}\n{errors[-2000:].decode()}"
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def too_much(small, large, least, factor):
    """What of the larger cost is more than half as much again for each part; `least` is that of a program of nothing. A
    child's resident set is at least what this process had when it started the child."""
    found = []
    for unit, spare, before, after, base in zip(("s", "bytes"), (1.0, 256 << 20), small, large, least):
        if after > base + 1.5 * factor * max(before - base, 0) + spare:
            found.append(f"{after:.4g} {unit} of {factor} times the program, {before:.4g} before, {base:.4g} of none")
    return found


def growth(run, lengths, least):
    """What grows too fast over these lengths, of run(length) -> cost."""
    costs = [run(n) for n in lengths]
    return [text for i in range(1, len(costs))
            for text in too_much(costs[i - 1], costs[i], least, lengths[i] // lengths[i - 1])]


def written(path, text):
    path.write_text(text)
    return path


# Those of elementwise operations are alike to passes.
SAMPLE = ["doubling", "newton", "nested selects", "gradient of newton", "one value", "reverses", "rolls", "normalizations", "scan",
          "called again", "called in turn", "calls in depth", "calls in a tree", "branches", "loops", "dots", "dots of weights",
          "dots of activations", "gradient of dots", "scales", "dequantized", "moved codes", "narrow activation", "narrow weight"]


def many_shapes(n):
    """One module with every shape of the sample."""
    return "".join(re.sub(r"@(\w+)", rf"@s{i}_\1", shapes()[name](n)) for i, name in enumerate(SAMPLE))


def test_growth_of_passes(tmp_path):
    """Every pass on a module of many shapes."""
    programs = {(None, n): written(tmp_path / f"all-{n}.mlir", many_shapes(n)) for n in LENGTHS[-2:]}
    for before in sorted(set(BEFORE.values())):
        for n in LENGTHS[-2:]:
            programs[before, n] = tmp_path / f"{before}-{n}.mlir"
            cost(OPT, programs[None, n], flag(before), "-o", programs[before, n])
    empty = written(tmp_path / "empty.mlir", EMPTY)
    least = cost(OPT, empty)
    failures = {}
    for name in passes():
        if name != "octavo-refine-shapes":  # of one function: below
            failures[name] = growth(lambda n, name=name: cost(OPT, programs[BEFORE.get(name), n], flag(name)), LENGTHS[-2:], least)
    assert not any(failures.values()), failures


# Nested calls end in an error there: "calls nest deeper than 256".
REFINED = ["called in turn", "called again", "calls in a tree", "branches", "loops", "scan", "dots", "newton"]


@pytest.mark.parametrize("shape", REFINED)
def test_growth_of_refine_shapes(shape, tmp_path):
    lengths = LENGTHS + ((4000,) if EXHAUSTIVE and shape.startswith("called") else ())
    least = cost(OPT, written(tmp_path / "empty.mlir", EMPTY), "--octavo-refine-shapes")
    assert not growth(lambda n: cost(OPT, written(tmp_path / "p.mlir", shapes()[shape](n)), "--octavo-refine-shapes"),
                      lengths, least)


@pytest.mark.skipif(not EXHAUSTIVE, reason="make exhaustive: each shape alone")
@pytest.mark.parametrize("shape", sorted(shapes()))
def test_growth_of_each_shape(shape, tmp_path):
    empty = written(tmp_path / "empty.mlir", EMPTY)
    failures = {}
    for name in passes():
        if name == "octavo-refine-shapes":
            continue
        least = cost(OPT, empty, flag(name))

        def run(n, name=name):
            program = written(tmp_path / "p.mlir", shapes()[shape](n))
            if before := BEFORE.get(name):
                cost(OPT, program, flag(before), "-o", tmp_path / "before.mlir")
                program = tmp_path / "before.mlir"
            return cost(OPT, program, flag(name))

        failures[name] = growth(run, LENGTHS, least)
    assert not any(failures.values()), failures


COMMANDS = {"quantize": ("--format", "mxfp8_e4m3", "--json"), "explain": ("--json",)}
COMMAND_SHAPES = ["dots", "dots of weights", "gradient of dots", "dequantized", "narrow activation", "scales", "calls in a tree"]


@pytest.mark.parametrize("command", COMMANDS)
def test_growth_of_commands(command, tmp_path):
    """On the shapes that have dots, or calls, which explain inlines."""
    least = cost(OCTAVO, command, written(tmp_path / "one.mlir", shapes()["dots"](1)), *COMMANDS[command])
    failures = {}
    for name in shapes() if EXHAUSTIVE else COMMAND_SHAPES:
        def run(n, name=name):
            return cost(OCTAVO, command, written(tmp_path / "p.mlir", shapes()[name](n)), *COMMANDS[command])

        if command == "explain" or "dot" in shapes()[name](1):
            failures[name] = growth(run, LENGTHS, least)
    assert not any(failures.values()), failures


RECIPES = {"one for all": lambda n: '[{"weights": "mxfp8_e4m3"}]',
           # As octavo tune writes it: a rule a dot, by the name of its weight.
           "a rule a dot": lambda n: "[" + ", ".join(f'{{"dots": "w{i}", "weights": "mxfp8_e4m3"}}' for i in range(n)) + "]",
           "places": lambda n: '[{"place": "router", "keep": "f32", "reason": "router"}, {"place": "last", "keep": "f32", "reason": "last"}, {"weights": "mxfp8_e4m3"}]'}


@pytest.mark.parametrize("recipe", RECIPES)
def test_growth_of_a_recipe(recipe, tmp_path):
    def run(n):
        named = re.sub(r"(%w(\d+): tensor<16x16xf32> \{)", r'\1octavo.name = "w\2", ', shapes()["dots of weights"](n))
        (tmp_path / "recipe.json").write_text(f'{{"rules": {RECIPES[recipe](n)}}}')
        return cost(OCTAVO, "quantize", written(tmp_path / "p.mlir", named), "--recipe", tmp_path / "recipe.json")

    assert not growth(run, LENGTHS, run(1))


def test_growth_of_tune(tmp_path):
    """It runs the program for each format that it tries of each dot: the time is quadratic in the dots, the memory not."""
    def run(n):
        text = shapes()["dots of weights"](n)
        inputs = []
        for i, (name, kind, extents) in enumerate(arguments(text)):
            np.save(tmp_path / f"{name}.npy", np.random.default_rng(i).normal(0, 0.3, extents).astype(kind))
            inputs += ["--input", f"{name}={tmp_path / f'{name}.npy'}"]
        named = re.sub(r"%(\w+): tensor<16x16xf32>( \{octavo.parameter\})?",
                       lambda found: f'%{found[1]}: tensor<16x16xf32> {{octavo.name = "{found[1]}"{", octavo.parameter" if found[2] else ""}}}',
                       text.splitlines()[0]) + "\n" + "\n".join(text.splitlines()[1:])
        return cost(OCTAVO, "tune", written(tmp_path / "p.mlir", named), *inputs, "--budget", "cosine >= 0.99",
                    "-o", tmp_path / f"recipe-{n}.json")

    lengths = (1, 10, 100) if EXHAUSTIVE else (1, 10)
    costs = [run(n) for n in lengths]
    for small, large in zip(costs[1:], costs[2:]):
        assert large[0] < 150 * small[0] and large[1] < 15 * small[1]
    assert costs[1][0] < costs[0][0] + 20 and costs[1][1] < costs[0][1] + (256 << 20)


def chunks():
    """The programs of the passes' own tests, and short ones of every shape, one behind the other as --split-input-file takes
    them; without those that a test expects to fail."""
    found = []
    for path in sorted((TESTS / "Transforms").glob("*.mlir")):
        text = path.read_text()
        if "errors" not in path.name:
            found += re.split(r"^// -----.*$", text, flags=re.MULTILINE)
    found = ["\n".join(line for line in chunk.splitlines() if not line.lstrip().startswith("//")) for chunk in found]
    return [chunk for chunk in found if "func.func" in chunk] + [shape(3) for shape in shapes().values()]


def run_on(folder, name, options, programs):
    """What a pass makes of programs, None of those that it refuses."""
    source = written(folder / "programs.mlir", "\n// -----\n".join(programs))
    done = subprocess.run([OPT, "--split-input-file", source, flag(name, options)], capture_output=True, text=True, timeout=300)
    return re.split(r"^// -----$", done.stdout, flags=re.MULTILINE)


def test_passes_run_twice(tmp_path):
    """The second run of every pass, with each of its options here, gives the text of the first."""
    different = {}
    for name in passes()[:-2]:
        for options in [None, *MORE_OPTIONS.get(name, [])]:
            once = [each for each in run_on(tmp_path, name, options, chunks()) if each.strip()]
            assert len(once) > 50, (name, options)
            twice = [each for each in run_on(tmp_path, name, options, once) if each.strip()]
            assert len(twice) == len(once), (name, options)
            changed = [(a, b) for a, b in zip(once, twice) if a.strip() != b.strip()]
            if changed:
                different[flag(name, options)] = changed[0]
    assert not different, "\n".join(f"{name}:\n{a}\nbecomes\n{b}" for name, (a, b) in different.items())
