"""octavo.recipes, and octavo.calibrate with the static scales of octavo.compile."""
import json

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR")
import octavo

recipes = octavo.recipes  # there without an import of its own

PROGRAM = """
func.func @main(%x: tensor<?x64xf32> {octavo.name = "x"}, %w: tensor<64x64xf32> {octavo.name = "w"})
    -> tensor<?x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32> loc("net/only")
  return %0 : tensor<?x64xf32>
}
"""
DRAWN = np.random.default_rng(3)
SETS = [DRAWN.normal(size=(rows, 64)).astype(np.float32) for rows in (5, 70, 1)]
# fp8_tensor holds it exactly: the scale is 1.
EYE = np.eye(64, dtype=np.float32) * np.float32(448)
WEIGHTS = {"w": EYE}


def test_named_recipes_are_read_and_checked():
    names = recipes.named()
    assert names["mxfp8"] == "MXFP8 E4M3, weights and activations"
    for name in names:
        recipe = recipes.read(name)
        assert recipes.check(recipe) == recipe and recipe["rules"]
    assert recipes.read("mxfp4-weights") == {"rules": [
        {"place": "router", "keep": "f32", "reason": "it chooses experts"}, {"weights": "mxfp4", "activations": "none"}]}


def test_recipes_are_made_of_rules():
    made = recipes.make({"dots": "net/only", "keep": "f32", "reason": "measured"}, {"weights": "mxfp4"})
    assert made == {"rules": [{"dots": "net/only", "keep": "f32", "reason": "measured"}, {"weights": "mxfp4"}]}
    [dot] = octavo.compile(PROGRAM, weights=WEIGHTS, recipe=recipes.make({"weights": "mxfp4"})).dots
    assert dot.rhs == "mxfp4"


def test_files_of_recipes(tmp_path):
    found = octavo.calibrate(PROGRAM, SETS, weights=WEIGHTS)
    (tmp_path / "found.json").write_text(json.dumps(found))
    (tmp_path / "recipe.json").write_text(json.dumps({"rules": [{"weights": "fp8_tensor", "scales": "found.json"}]}))
    recipe = recipes.read(tmp_path / "recipe.json")
    assert recipe["rules"][0]["scales"] == str(tmp_path / "found.json")
    by_mapping = octavo.compile(PROGRAM, weights=WEIGHTS, recipe=recipe)
    by_path = octavo.compile(PROGRAM, weights=WEIGHTS, recipe=tmp_path / "recipe.json")
    inline = octavo.compile(PROGRAM, weights=WEIGHTS,
                            recipe={"rules": [{"weights": "fp8_tensor", "scales": found}]})
    for program in (by_path, inline):
        np.testing.assert_array_equal(program(SETS[1]), by_mapping(SETS[1]))


@pytest.mark.parametrize("wrong, error, message", [
    ({"rules": [{"weight": "mxfp4"}]}, octavo.FormatError, r'recipe: rules\[0\].weight: no key "weight"; near it: weights'),
    ({"rules": []}, octavo.FormatError, "recipe: rules: the list is empty"),
    ({"rules": [{"weights": np.float32}]}, octavo.DtypeError, "recipe: not what JSON can hold"),
    ("mxfp8", octavo.FormatError, "octavo.recipes.read takes names and paths"),
    (3, octavo.DtypeError, 'recipe: expected a mapping with the list "rules"; found int'),
])
def test_wrong_recipes(wrong, error, message):
    with pytest.raises(error, match=message):
        recipes.check(wrong)


def test_wrong_files_of_recipes(tmp_path):
    with pytest.raises(octavo.FileError, match="no such file, and no recipe has this name; named: mxfp8, "):
        recipes.read("mxfp9")
    path = tmp_path / "recipe.json"
    for text, error in (("{", octavo.FileError), ("[]", octavo.DtypeError), ('{"rules": 3}', octavo.FormatError),
                        ('{"rules": [3]}', octavo.FormatError)):
        path.write_text(text)
        with pytest.raises(error, match="recipe"):
            recipes.read(path)


def test_a_calibration_is_what_the_values_are():
    found = octavo.calibrate(PROGRAM, SETS, weights=WEIGHTS, columns=True)
    side, of_weight = found["tensors"]
    assert of_weight["side"] == "rhs" and of_weight["column_amax"] == [448] * 64
    whole = np.concatenate(SETS)
    assert (found["octavo_calibration"], found["input_sets"]) == (1, 3)
    assert (side["dot"], side["side"], side["columns"]) == ("net/only", "lhs", 64)
    assert side["amax"] == np.abs(whole).max() and side["column_amax"] == np.abs(whole).max(0).tolist()
    bins = (np.abs(whole).view(np.uint32) >> 17).ravel()
    assert side["histogram"] == {"first": bins.min(), "counts": np.bincount(bins - bins.min()).tolist()}
    for form in ([(x,) for x in SETS], [{"x": x} for x in SETS], iter(SETS)):
        assert octavo.calibrate(PROGRAM, form, weights=WEIGHTS, columns=True) == found


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_static_scales(backend, tmp_path):
    found = octavo.calibrate(PROGRAM, SETS[:1], weights=WEIGHTS)
    (tmp_path / "found.json").write_text(json.dumps(found))
    scale = np.float32(found["tensors"][0]["amax"]) / np.float32(448)
    codes = np.clip(SETS[1] / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    expected = (codes.astype(np.float64) * np.float64(scale) * 448).astype(np.float32)
    for given in (found, tmp_path / "found.json"):
        program = octavo.compile(PROGRAM, weights=WEIGHTS, quantize="fp8_tensor", calibration=given,
                                 backend=backend)
        np.testing.assert_array_equal(program(SETS[1]), expected)
        # Whatever else is in the batch: the scale is a constant.
        np.testing.assert_array_equal(program(SETS[1][7:9]), expected[7:9])


def test_wrong_calibrations():
    def calibrate(inputs, **options):
        return octavo.calibrate(PROGRAM, inputs, weights=WEIGHTS, **options)
    bad = SETS[1].copy()
    bad[3, 9] = np.nan
    with pytest.raises(octavo.ProgramError, match=r'inputs\[1\]: .*the lhs of dot "net/only" has NaN at \[3, 9\]'):
        calibrate([SETS[0], bad])
    with pytest.raises(octavo.ProgramError, match=r'inputs\[0\]: @main has no argument "y"; did you mean'):
        calibrate([{"y": SETS[0]}])
    with pytest.raises(octavo.ProgramError, match="there is no set of inputs"):
        calibrate([])
    with pytest.raises(octavo.ProgramError, match="no dot was given a value"):
        calibrate([np.zeros((0, 64), np.float32)])
    for wrong in (3, {"x": SETS[0]}, "x", SETS[0], np.float32(3)):
        with pytest.raises(octavo.DtypeError, match="inputs: expected a list of sets of inputs"):
            calibrate(wrong)
    found = calibrate(SETS)

    def compiled(**options):
        return octavo.compile(PROGRAM, weights=WEIGHTS, **options)
    with pytest.raises(octavo.FormatError, match="those of mxfp4 are of its blocks"):
        compiled(quantize="mxfp4", calibration=found)
    with pytest.raises(octavo.FormatError, match='no range "most"'):
        compiled(quantize="fp8_tensor", calibration=found, range="most")
    with pytest.raises(octavo.ProgramError, match="give calibration="):
        compiled(quantize="fp8_tensor", range="amax")
    with pytest.raises(octavo.ProgramError, match="the rules of a recipe name their own"):
        compiled(recipe="mxfp8", calibration=found)
    with pytest.raises(octavo.FileError, match="calibration: it is no calibration"):
        compiled(quantize="fp8_tensor", calibration={})
    with pytest.raises(octavo.FileError, match="nowhere.json"):
        compiled(quantize="fp8_tensor", calibration="nowhere.json")
    with pytest.raises(octavo.DtypeError, match="calibration: expected a path or what octavo.calibrate gives"):
        compiled(quantize="fp8_tensor", calibration=3)
    found["tensors"][0]["dot"] = "net/onyl"
    with pytest.raises(octavo.ProgramError, match='nothing of the lhs of dot "net/only"; near it: net/onyl'):
        compiled(quantize="fp8_tensor", calibration=found)


def test_a_policy_that_is_none_is_told_by_its_argument():
    with pytest.raises(octavo.Error, match="^non_finite: .*ignore"):
        octavo.compile(PROGRAM, quantize="mxfp4", non_finite="ignore")
