"""`--recipe` of `octavo quantize` and `octavo run`: which dot gets what, on a real program, and what is
answered to recipes that are wrong."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from program_commands import BIN, octavo

pytestmark = pytest.mark.mlir

MINILM = Path(__file__).resolve().parents[2] / "examples/minilm/minilm.mlir"
QUERY = "jit(encode)/layer0/attention/query/dot_general"

# Of each of six layers: four matrices of 384 x 384 and two of 384 x 1536.
SQUARE, INNER = 384 * 384, 384 * 1536
MXFP8, MXFP4 = 8 + 8 / 32, 4 + 8 / 32  # bits a value: OCP MX table 1


@pytest.fixture
def written(tmp_path):
    def write(recipe):
        path = tmp_path / "recipe.json"
        path.write_text(recipe if isinstance(recipe, str) else json.dumps(recipe))
        return path
    return write


@pytest.fixture
def quantized(written):
    def report(*rules, more=()):
        text = octavo("quantize", MINILM, "--json", "--recipe", written({"rules": rules}), *more)
        return json.loads(text)
    return report


def test_each_dot_gets_the_format_of_the_first_rule_that_takes_it(quantized):
    report = quantized(
        {"dots": QUERY, "keep": "f32", "reason": "measured"},
        {"dots": ["re:layer0/", "encoder.layer.1.attention.self.key.weight"], "weights": "mxfp4",
         "activations": "none"},
        {"dots": "*", "weights": "mxfp8_e4m3"})
    narrow = [dot for dot in report["dots"] if dot["quantized"]]
    assert report["dots_quantized"] == len(narrow) == 35
    fours = {dot["name"] for dot in narrow if dot["rhs"] == "mxfp4"}
    assert len(fours) == 6 and "jit(encode)/layer1/attention/key/dot_general" in fours
    assert all(dot["lhs"] == (None if dot["name"] in fours else "mxfp8_e4m3") for dot in narrow)
    [query] = [dot for dot in report["dots"] if dot["name"] == QUERY]
    assert not query["quantized"] and query["reason"].endswith("rules[0] keeps it: measured")
    # Query in f32; five of layer 0 and one key in MXFP4; the other 29 in MXFP8.
    bits = SQUARE * 32 + (4 * SQUARE + 2 * INNER) * MXFP4 + (19 * SQUARE + 10 * INNER) * MXFP8
    assert report["weight_bytes_after"] == bits / 8
    assert report["weights_format"] is None and report["recipe"].endswith("recipe.json")


def test_one_rule_is_what_the_options_say(quantized):
    for rule, options in [
            ({"weights": "mxfp4"}, ["--format", "mxfp4"]),
            ({"weights": "fp8_block"}, ["--format", "fp8_block"]),
            ({"weights": "mxfp4", "activations": "none", "rule": "round-up"},
             ["--format", "mxfp4", "--activations", "none", "--rule", "round-up"])]:
        by_options = json.loads(octavo("quantize", MINILM, "--json", *options))
        by_rule = quantized(rule)
        assert by_rule["dots"] == by_options["dots"] and by_rule["weights"] == by_options["weights"]


def quantized_by_the_pass(program, options, output, code=0):
    done = subprocess.run([BIN / "octavo-opt", program, f"--octavo-quantize-dots={options}", "-o", output],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done.stderr


def without_locations(program):
    return subprocess.run([BIN / "octavo-opt", program], capture_output=True, text=True, check=True, timeout=120).stdout


def test_the_pass_takes_recipes(written, tmp_path):
    rules = written({"rules": [{"dots": QUERY, "keep": "f32", "reason": "measured"},
                               {"dots": "re:layer0/", "weights": "mxfp4", "activations": "none"},
                               {"weights": "mxfp8_e4m3"}]})
    for recipe in (rules, "mxfp8-inner"):
        told = quantized_by_the_pass(MINILM, f"recipe={recipe}", tmp_path / "pass.mlir")
        octavo("quantize", MINILM, "--recipe", recipe, "-o", tmp_path / "command.mlir")
        assert without_locations(tmp_path / "pass.mlir") == without_locations(tmp_path / "command.mlir")
    assert "left: mxfp8-inner: rules[1] keeps it: last layer of the program" in told


@pytest.mark.parametrize("options, says", [
    ("recipe=mxfp8-outer", 'mxfp8-outer'),
    ("recipe=mxfp8 weights=mxfp4", "weights= is given beside recipe=, whose rules say it; give one"),
    ("recipe=mxfp8 calibration=c.json", "calibration= is given beside recipe="),
    ("", "weights=FORMAT or recipe=FILE must be given"),
    ("weights=fp8_tensor calibration=missing.json", "missing.json"),
    ("weights=fp8_tensor range=mse", "range= chooses a range of a calibration: give calibration= too"),
    ("weights=fp8_tensor range=most", 'no range "most"; available: amax, percentile:P, mse'),
])
def test_wrong_options_of_the_pass(tmp_path, options, says):
    assert says in quantized_by_the_pass(MINILM, options, tmp_path / "out.mlir", code=1)


def test_first_last_and_small_dots(quantized):
    report = quantized(
        {"place": "first", "keep": "f32", "reason": "first"},
        {"place": "last", "keep": "f32", "reason": "last"},
        {"smaller_than": INNER, "weights": "mxfp8_e4m3"},
        {"weights": "mxfp4"})
    kept = {dot["reason"].split()[-1]: dot["name"] for dot in report["dots"]
            if " keeps it: " in dot["reason"]}
    assert kept == {"first": QUERY, "last": "jit(encode)/layer5/output/dot_general"}
    for dot in report["dots"]:
        if dot["quantized"]:
            assert dot["rhs"] == ("mxfp4" if dot["n"] * dot["k"] == INNER else "mxfp8_e4m3")


def test_a_dot_that_no_rule_takes_is_left(quantized):
    report = quantized({"dots": "re:layer3/", "weights": "nvfp4"})
    assert report["dots_quantized"] == 6
    assert {dot["reason"] for dot in report["dots"] if not dot["quantized"]} == {
        "no rule of the recipe takes it", "both operands are activations"}


def test_options_choose_among_the_dots_of_a_recipe(quantized):
    assert quantized({"weights": "mxfp4"}, more=["--match", "layer0/"])["dots_quantized"] == 6
    assert quantized({"weights": "mxfp4"}, more=["--both-activations"])["dots_quantized"] == 48


@pytest.mark.parametrize("name, pair, count", [
    ("mxfp8", ("mxfp8_e4m3", "mxfp8_e4m3"), 36), ("mxfp8-inner", ("mxfp8_e4m3", "mxfp8_e4m3"), 34),
    ("mxfp4-weights", (None, "mxfp4"), 36), ("mxfp4-mxfp8", ("mxfp8_e4m3", "mxfp4"), 36),
    ("nvfp4", ("nvfp4", "nvfp4"), 36), ("fp8-row", ("fp8_row", "fp8_row"), 36),
    ("fp8-block", ("fp8_group", "fp8_block"), 36)])
def test_named_recipes(name, pair, count):
    report = json.loads(octavo("quantize", MINILM, "--json", "--recipe", name))
    assert report["dots_quantized"] == count and report["recipe"] == name
    assert {(dot["lhs"], dot["rhs"]) for dot in report["dots"] if dot["quantized"]} == {pair}


RULE = {"weights": "mxfp4"}
A_RECIPE = 'a recipe is {"rules": [{"weights": "mxfp8_e4m3"}]} or {"kv_cache": "mxfp8_e4m3"}, or has both keys (docs/recipes.md)'
WRONG = [
    ({"rules": [RULE, {"weights": "mxfp9"}]}, 'rules[1].weights: no scaled format "mxfp9"; near it: mxfp'),
    ({"rules": [{**RULE, "activations": "fp8_row:16"}]}, 'rules[0].activations: no scaled format "fp8_row:16": fp8_row has no blocks'),
    ({"rules": [{**RULE, "activations": "nine"}]}, 'rules[0].activations: no scaled format "nine"; near it: none'),
    ({"rules": [{"weight": "mxfp4"}]}, 'rules[0].weight: no key "weight"; near it: weights'),
    ({"rule": [RULE]}, 'recipe.json: no key "rule"; near it: rules'),
    ({}, 'recipe.json: has neither of the keys "rules" and "kv_cache"; ' + A_RECIPE),
    ({"weights": "mxfp4"}, 'recipe.json: no key "weights"; available: rules, kv_cache; ' + A_RECIPE),
    ({"rules": []}, "rules: the list is empty; " + A_RECIPE),
    ({"rules": RULE}, "rules: expected a list of rules, found object; " + A_RECIPE),
    ([RULE], "recipe.json: expected an object, found array; " + A_RECIPE),
    (None, "recipe.json: expected an object, found null; " + A_RECIPE),
    ({"rules": ["mxfp4"]}, "rules[0]: expected an object, found string"),
    ({"rules": [{"weights": 4}]}, "rules[0].weights: expected a string, found number"),
    ({"rules": [{**RULE, "dots": 3}]}, "rules[0].dots: expected a string or a list of strings, found number"),
    ({"rules": [{**RULE, "dots": ["*", None]}]}, "rules[0].dots[1]: expected a string, found null"),
    ({"rules": [{**RULE, "dots": []}]}, "rules[0].dots: the list is empty"),
    ({"rules": [{**RULE, "dots": "re:("}]}, 'rules[0]: "(", given for dots, is not a regular expression'),
    ({"rules": [{**RULE, "place": "frist"}]}, 'rules[0].place: no place "frist"; near it: first'),
    ({"rules": [{**RULE, "smaller_than": 0}]}, "rules[0].smaller_than: expected a number of elements"),
    ({"rules": [{**RULE, "smaller_than": 1.5}]}, "rules[0].smaller_than: expected a number of elements"),
    ({"rules": [{**RULE, "smaller_than": 2**64 - 1}]}, "rules[0].smaller_than: expected a number of elements"),
    ({"rules": [{**RULE, "rule": "flor"}]}, 'rules[0].rule: no scale rule "flor"; near it: floor'),
    ({"rules": [{"weights": "nvfp4", "rule": "floor"}]}, "rules[0]: the rule floor is for E8M0 scales"),
    ({"rules": [{**RULE, "preset": "nobody"}]}, 'rules[0]: unknown preset "nobody" for mxfp4'),
    ({"rules": [{**RULE, "non_finite": "saturat"}]}, "near it: saturate"),
    ({"rules": [{"keep": "f32"}]}, 'rules[0]: "keep" needs a "reason"'),
    ({"rules": [{"keep": "bf16", "reason": "x"}]}, 'rules[0].keep: no way to keep a dot "bf16"'),
    ({"rules": [{**RULE, "keep": "f32", "reason": "x"}]}, 'rules[0]: it keeps its dots, and has "weights" too'),
    ({"rules": [{**RULE, "reason": "x"}]}, 'rules[0].reason: it says why dots are kept'),
    ({"rules": [{"dots": "*"}]}, 'rules[0]: expected "weights": FORMAT'),
    ({"rules": [{**RULE, "dots": QUERY.replace("query", "querry")}]}, f"near it: {QUERY}"),
    ({"rules": [RULE, {**RULE, "dots": "re:layer9/"}]}, 'rules[1].dots: "re:layer9/" is found in the name of no dot'),
    ('{"rules": [', "recipe.json"),
    ('{"rules": [], "rules": []}', "a key occurs twice"),
]


@pytest.mark.parametrize("recipe, says", WRONG)
def test_wrong_recipes(written, tmp_path, recipe, says):
    out = tmp_path / "out.mlir"
    message = octavo("quantize", MINILM, "--recipe", written(recipe), "-o", out, code=3)
    assert message.startswith("octavo: error: ") and says in message and "recipe.json" in message
    assert not out.exists()


def test_recipes_that_are_not_there(tmp_path):
    message = octavo("quantize", MINILM, "--recipe", "mxfp8-iner", code=3)
    assert 'no file or named recipe "mxfp8-iner"; near it: mxfp8-inner' in message
    assert "nowhere.json" in octavo("quantize", MINILM, "--recipe", tmp_path / "nowhere.json", code=3)


def test_a_recipe_stands_in_place_of_a_format():
    for option in ["--format", "--activations"]:
        assert option in octavo("quantize", MINILM, "--recipe", "mxfp8", option, "mxfp4", code=2)
    assert "--rule" in octavo("run", MINILM, "--recipe", "mxfp8", "--rule", "floor", code=2)
    assert "--recipe" in octavo("quantize", MINILM, code=2)


PROGRAM = """
func.func @main(%x: tensor<2x64xf32> {octavo.name = "x"},
                %w: tensor<64x32xf32> {octavo.name = "w", octavo.parameter}) -> tensor<2x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<2x64xf32>, tensor<64x32xf32>) -> tensor<2x32xf32>
  return %0 : tensor<2x32xf32>
}
"""


def test_run_by_a_recipe(tmp_path, written):
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM)
    rng = np.random.default_rng(3)
    np.save(tmp_path / "x.npy", rng.standard_normal((2, 64), np.float32))
    np.save(tmp_path / "w.npy", rng.standard_normal((64, 32), np.float32))
    inputs = [program, "--input", f"x={tmp_path}/x.npy", "--input", f"w={tmp_path}/w.npy", "--json"]
    recipe = written({"rules": [{"dots": "w", "weights": "mxfp4", "activations": "none"}]})
    by_recipe = json.loads(octavo("run", *inputs, "--recipe", recipe, "--compare", "f32",
                                  "--output", tmp_path / "a.npy"))
    octavo("run", *inputs, "--quantize", "mxfp4", "--activations", "none", "--output", tmp_path / "b.npy")
    assert by_recipe["quantization"]["recipe"] == str(recipe)
    assert by_recipe["quantization"]["dots_quantized"] == 1
    assert 0.9 < by_recipe["outputs"][0]["f32"]["cosine"] < 1
    assert np.load(tmp_path / "a.npy").tobytes() == np.load(tmp_path / "b.npy").tobytes()
    assert "by the recipe" in octavo("run", *inputs[:-1], "--recipe", recipe)
