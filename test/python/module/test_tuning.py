"""octavo.tune: what it finds against what compile makes of it, metrics that are callables, and wrong
arguments. The search itself and the metrics are tested with the command, test_tune.py."""

import json
import os
import subprocess

import numpy as np
import octavo
import pytest

pytestmark = pytest.mark.mlir
pytest.importorskip("octavo._programs")

# x [8, 64] times a [64, 64], tanh, times b [64, 64].
PROGRAM = """
func.func @main(%x: tensor<8x64xf32> {octavo.name = "x"}, %a: tensor<64x64xf32> {octavo.name = "a"},
                %b: tensor<64x64xf32> {octavo.name = "b"}) -> tensor<8x64xf32> {
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = stablehlo.tanh %0 : tensor<8x64xf32>
  %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}
"""
FORMATS = ["mxint8", "mxfp6_e2m3", "mxfp4"]


@pytest.fixture
def given():
    random = np.random.default_rng(7)
    weights = {name: (random.standard_normal((64, 64)) * by).astype(np.float32)
               for name, by in {"a": 0.02, "b": 0.5}.items()}
    return weights, random.standard_normal((8, 64)).astype(np.float32)


def cosine(reference, value):
    reference, value = reference.astype(np.float64), value.astype(np.float64)
    return ((reference * value).sum(-1) / np.linalg.norm(reference, axis=-1)
            / np.linalg.norm(value, axis=-1)).min()


@pytest.mark.parametrize("inputs", [lambda x: {"x": x}, lambda x: (x,), lambda x: [(x,), {"x": x[::-1].copy()}]])
def test_the_recipe_gives_what_was_measured(given, inputs, tmp_path):
    weights, x = given
    tuning = octavo.tune(PROGRAM, inputs(x), weights=weights, budget="cosine >= 0.999", formats=FORMATS)
    assert tuning.is_met and tuning.chosen.value >= 0.999 and tuning.dots and not tuning.failures
    narrow = octavo.compile(PROGRAM, weights=weights, recipe=tuning.recipe)
    found = cosine(octavo.compile(PROGRAM, weights=weights)(x), narrow(x))
    assert tuning.chosen.value == pytest.approx(found, abs=1e-12)
    assert [dot.rhs or "f32" for dot in narrow.dots] == list(tuning.chosen.formats)
    assert [choice.formats for choice in tuning.uniform] == [(name,) * 2 for name in FORMATS]
    assert tuning.f32.bytes == 2 * 64 * 64 * 4 and tuning.f32.value == 1 and tuning.f32.seconds is None
    assert tuning.chosen in tuning.front and tuning.chosen.bytes < tuning.f32.bytes / 3
    path = tmp_path / "mixed.json"
    tuning.save(path)
    assert json.loads(path.read_text()) == tuning.recipe
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM)
    report = json.loads(subprocess.run(
        [os.path.join(os.environ["OCTAVO_BIN_DIR"], "octavo"), "quantize", program, "--parameters", "^[ab]$",
         "--recipe", path, "--json"], capture_output=True, text=True, check=True).stdout)
    assert report["weight_bytes_after"] == tuning.chosen.bytes


def test_a_callable_may_give_the_metric(given, tmp_path):
    weights, x = given
    reference = octavo.compile(PROGRAM, weights=weights)(x)
    runs = []

    def agreement(outputs):
        [y, of_half] = outputs
        assert y.shape == of_half.shape == (8, 64) and y.dtype == np.float32
        runs.append(1)
        return float((y.argmax(1) == reference.argmax(1)).mean())
    sets = [(x,), (x / 2,)]
    tuning = octavo.tune(PROGRAM, sets, weights=weights, budget="metric >= 1", metric=agreement, formats=FORMATS,
                         state=tmp_path / "state")
    assert len(runs) == tuning.measured and tuning.f32.value == 1
    y = octavo.compile(PROGRAM, weights=weights, recipe=tuning.recipe)(x)
    assert (y.argmax(1) == reference.argmax(1)).all()
    # Another bound goes on from the state.
    again = octavo.tune(PROGRAM, sets, weights=weights, budget="metric >= 0.5", metric=agreement, formats=FORMATS,
                        state=tmp_path / "state")
    assert again.measured_before >= 7 and again.chosen.bytes <= tuning.chosen.bytes


def test_what_a_metric_raises_is_raised(given, tmp_path):
    weights, x = given
    calls = []

    def fails_later(outputs):
        calls.append(1)
        if len(calls) == 3:
            raise KeyError("no such label")
        return 0.5
    with pytest.raises(KeyError, match="no such label"):
        octavo.tune(PROGRAM, (x,), weights=weights, budget="metric >= 0", metric=fails_later, formats=FORMATS,
                    state=tmp_path / "state")
    assert len(json.loads((tmp_path / "state").read_text())["measured"]) == 2
    with pytest.raises(TypeError):
        octavo.tune(PROGRAM, (x,), weights=weights, budget="metric >= 0", metric=lambda _: "much", formats=FORMATS)
    with pytest.raises(octavo.ProgramError, match="the metric of the program as it is is NaN"):
        octavo.tune(PROGRAM, (x,), weights=weights, budget="metric >= 0", metric=lambda _: np.nan, formats=FORMATS)


def test_a_budget_that_cannot_be_met_is_a_warning(given):
    weights, x = given
    with pytest.warns(UserWarning, match="cannot be met with these formats; the best found has"):
        tuning = octavo.tune(PROGRAM, (x,), weights=weights, budget="metric >= 2", metric=lambda outputs: 1,
                             formats=FORMATS)
    assert not tuning.is_met and tuning.chosen.value == 1


def test_the_time_of_a_run_may_be_the_cost(given):
    weights, x = given
    tuning = octavo.tune(PROGRAM, (x,), weights=weights, budget="cosine >= 0.9", cost="time", formats=FORMATS)
    assert tuning.f32.seconds > 0 and all(choice.seconds is not None for choice in tuning.front)


@pytest.mark.parametrize("changes, error, says", [
    ({"budget": "cosin >= 0.9"}, octavo.FormatError, "near it: cosine"),
    ({"budget": "metric >= 0.9"}, octavo.FormatError, "in Python metric="),
    ({"budget": "cosine >= 0.9", "metric": len}, octavo.FormatError, "write metric >= NUMBER"),
    ({"metric": 3}, octavo.DtypeError, "metric: expected a callable, found int"),
    ({"formats": ["mxfp5"]}, octavo.FormatError, "near it: mxfp4"),
    ({"formats": ["mxfp4", "mxfp4"]}, octavo.FormatError, "mxfp4 is there twice"),
    ({"formats": [4]}, octavo.DtypeError, "formats: expected names, found 4"),
    ({"cost": "bits"}, octavo.FormatError, 'there is no "bits"; there are: bytes, time'),
    ({"match": "("}, octavo.FormatError, "regular expression"),
    ({"inputs": []}, octavo.ProgramError, "the list is empty"),
    ({"inputs": ()}, octavo.ProgramError, 'argument "x" of @main has no value'),
    ({"inputs": {"z": np.ones(3)}}, octavo.ProgramError, 'no argument "z"'),
    ({"inputs": 3}, octavo.DtypeError, "inputs: expected a mapping"),
    ({"inputs": (np.ones((8, 64), np.float32),) * 2}, octavo.ProgramError, "@main takes 1 arguments, 2 were given"),
    ({"inputs": {"x": np.ones((8, 64), np.float32), "a": np.ones((64, 64), np.float32)}}, octavo.ProgramError,
     'argument "a" of @main is bound by weights already'),
    ({"inputs": (np.ones((8, 63), np.float32),)}, octavo.ShapeError, "shape"),
    ({"inputs": (np.full((8, 64), np.nan, np.float32),)}, octavo.ProgramError, "of the program as it is has NaN"),
    ({"weights": None, "inputs": (np.ones((8, 64), np.float32),) + (np.ones((64, 64), np.float32),) * 2},
     octavo.ProgramError, "none of the program's 2 dots can become narrow"),
])
def test_what_is_wrong_is_said(given, changes, error, says):
    weights, x = given
    arguments = {"inputs": (x,), "weights": weights, "budget": "cosine >= 0.9", "formats": FORMATS} | changes
    with pytest.raises(error, match=None) as raised:
        octavo.tune(PROGRAM, arguments.pop("inputs"), **arguments)
    assert says in str(raised.value)


def test_calibrations_are_candidates(given, tmp_path):
    """A calibration stands in the recipe as it was given: what it holds, or its path."""
    weights, x = given
    ranges = octavo.calibrate(PROGRAM, [{"x": x / 2}], weights=weights, columns=True)
    path = tmp_path / "ranges.json"
    path.write_text(json.dumps(ranges))
    reference = octavo.compile(PROGRAM, weights=weights)(x)
    for calibration in (ranges, path):
        tuning = octavo.tune(PROGRAM, {"x": x}, weights=weights, budget="cosine >= 0.9",
                             formats=["fp8_tensor+static", "mxint8+migrated"], calibration=calibration)
        assert [choice.formats[0] for choice in tuning.uniform] == ["fp8_tensor+static", "mxint8+migrated"]
        found = octavo.compile(PROGRAM, weights=weights, recipe=tuning.recipe)(x)
        assert tuning.chosen.value == pytest.approx(cosine(reference, found), abs=1e-12)
    (tmp_path / "recipes").mkdir()
    tuning.save(tmp_path / "recipes/mixed.json")
    saved = json.loads((tmp_path / "recipes/mixed.json").read_text())
    named = [rule[key] for rule in saved["rules"] for key in ("scales", "migrate") if key in rule]
    assert named and set(named) == {"../ranges.json"}
    again = octavo.compile(PROGRAM, weights=weights, recipe=tmp_path / "recipes/mixed.json")(x)
    np.testing.assert_array_equal(again, found)
    with pytest.raises(octavo.FormatError, match="none of the formats takes it"):
        octavo.tune(PROGRAM, {"x": x}, weights=weights, budget="cosine >= 0.9", formats=["mxint8"], calibration=path)
    with pytest.raises(octavo.FormatError, match="needs a calibration"):
        octavo.tune(PROGRAM, {"x": x}, weights=weights, budget="cosine >= 0.9", formats=["fp8_tensor+static"])
