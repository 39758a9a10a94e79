"""`octavo calibrate` and the static scales that follow from it: figures against NumPy, values against
ml_dtypes, and what is answered to inputs and files that are wrong."""

import json
import subprocess

import ml_dtypes
import numpy as np
import pytest
from program_commands import BIN, octavo

pytestmark = pytest.mark.mlir


# Two dots of one name and one of another; the branch of the last is taken where `flag` is.
PROGRAM = """
module {
  func.func @main(%x: tensor<?x64xf32> {octavo.name = "x"},
                  %w: tensor<64x64xf32> {octavo.name = "w", octavo.parameter},
                  %v: tensor<64x16xf32> {octavo.name = "v", octavo.parameter},
                  %flag: tensor<i1> {octavo.name = "flag"}) -> tensor<f32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32> loc("net/inner")
    %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
        : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32> loc("net/inner")
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = "stablehlo.if"(%flag) ({
      %3 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
          : (tensor<?x64xf32>, tensor<64x16xf32>) -> tensor<?x16xf32> loc("net/outer")
      %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1]
          : (tensor<?x16xf32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }, {
      stablehlo.return %zero : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    return %2 : tensor<f32>
  }
}
"""

# One dot of 256 rows by a diagonal matrix: what its left side becomes can be read from the result.
DIAGONAL = """
func.func @main(%x: tensor<256x64xf32> {octavo.name = "x"},
                %w: tensor<64x64xf32> {octavo.name = "w", octavo.parameter}) -> tensor<256x64xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<256x64xf32>
  %1 = stablehlo.subtract %0, %x : tensor<256x64xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
      : (tensor<256x64xf32>, tensor<64x64xf32>) -> tensor<256x64xf32> loc("net/only")
  return %2 : tensor<256x64xf32>
}
"""


@pytest.fixture
def net(tmp_path):
    """The program, its weights, and three sets of inputs of unlike sizes."""
    import safetensors.numpy

    random = np.random.default_rng(1)
    (tmp_path / "net.mlir").write_text(PROGRAM)
    weights = {"w": (random.standard_normal((64, 64)) / 8).astype(np.float32),
               "v": random.standard_normal((64, 16)).astype(np.float32)}
    safetensors.numpy.save_file(weights, tmp_path / "w.safetensors")
    sets = []
    for i, rows in enumerate([3, 40, 17]):
        x = (random.standard_normal((rows, 64)) * (i + 1)).astype(np.float32)
        x[0, :5] = 0
        folder = tmp_path / "sets" / f"set{i}"
        folder.mkdir(parents=True)
        np.save(folder / "x.npy", x)
        np.save(folder / "flag.npy", np.array(i == 1))
        sets.append(x)
    return tmp_path, weights, sets


def calibrate(folder, *more, inputs=None, output="found.json", code=0):
    given = inputs if inputs is not None else ["--inputs", folder / "sets"]
    text = octavo("calibrate", folder / "net.mlir", "--weights", folder / "w.safetensors", *given,
                  "-o", folder / output, *more, code=code)
    return text if code else json.loads((folder / output).read_text())


def expected_histogram(values):
    """Counts by the upper bits of the magnitudes' codes: 8 of the exponent, 6 below."""
    bins = (np.abs(values).view(np.uint32) >> 17).ravel()
    return bins.min(), np.bincount(bins - bins.min())


def test_figures_are_those_of_the_values(net):
    folder, weights, sets = net
    found = calibrate(folder, "--columns")
    assert found["octavo_calibration"] == 1 and found["input_sets"] == 3
    assert [(t["dot"], t["side"], t["columns"]) for t in found["tensors"]] == [
        (dot, side, 64) for dot in ("net/inner", "net/inner#2", "net/outer") for side in ("lhs", "rhs")]
    whole = np.concatenate(sets)
    first, of_weight, second, _, third, _ = found["tensors"]
    assert of_weight["column_amax"] == np.abs(weights["w"]).max(1).tolist()
    # Of the inputs themselves: exact.
    begin, counts = expected_histogram(whole)
    assert first["amax"] == np.abs(whole).max()
    assert first["histogram"] == {"first": begin, "counts": counts.tolist()}
    assert first["column_amax"] == np.abs(whole).max(0).tolist()
    assert np.isclose(second["amax"], np.abs(whole @ weights["w"]).max(), rtol=1e-5)
    assert sum(second["histogram"]["counts"]) == whole.size
    # The branch of the last dot was taken for the second set alone.
    assert sum(third["histogram"]["counts"]) == sets[1].size
    # Without columns, activations alone.
    assert [t["side"] for t in calibrate(folder)["tensors"]] == ["lhs"] * 3


def test_threads_and_the_order_of_sets_change_nothing(net):
    folder, _, _ = net
    calibrate(folder, "--threads", "1", output="one.json")
    calibrate(folder, "--threads", "5", output="five.json")
    calibrate(folder, inputs=[part for i in (2, 0, 1) for part in ("--inputs", folder / f"sets/set{i}")],
              output="order.json")
    one = (folder / "one.json").read_bytes()
    assert one == (folder / "five.json").read_bytes() == (folder / "order.json").read_bytes()


def test_both_backends_see_the_same_inputs(net):
    folder, _, _ = net
    compiled = calibrate(folder)
    reference = calibrate(folder, "--backend", "reference", output="reference.json")
    assert compiled["tensors"][0] == reference["tensors"][0]
    for a, b in zip(compiled["tensors"], reference["tensors"]):
        assert np.isclose(a["amax"], b["amax"], rtol=1e-5)


def test_merging_is_one_run_over_all(net):
    folder, _, _ = net
    calibrate(folder, "--columns", output="all.json")
    for i in range(3):
        calibrate(folder, "--columns", inputs=["--inputs", folder / f"sets/set{i}"], output=f"{i}.json")
    octavo("calibrate", "--merge", *(folder / f"{i}.json" for i in (1, 2, 0)), "-o", folder / "merged.json")
    assert (folder / "merged.json").read_bytes() == (folder / "all.json").read_bytes()


def test_sets_as_files(net):
    folder, _, sets = net
    import safetensors.numpy

    one = f"x={folder}/sets/set1/x.npy,flag={folder}/sets/set1/flag.npy"
    by_option = calibrate(folder, inputs=["--inputs", one])
    safetensors.numpy.save_file({"x": sets[1], "flag": np.array(True)}, folder / "one.safetensors")
    assert by_option == calibrate(folder, inputs=["--inputs", folder / "one.safetensors"], output="b.json")
    assert by_option == calibrate(folder, inputs=["--inputs", folder / "sets/set1"], output="c.json")
    positional = f"{folder}/sets/set1/x.npy,{folder}/sets/set1/flag.npy"
    assert by_option == calibrate(folder, inputs=["--inputs", positional], output="d.json")
    assert by_option["input_sets"] == 1


def test_inputs_by_position_are_those_that_weights_leave(net):
    """Weights that no attribute marks come before the inputs, from a file."""
    folder, _, sets = net
    text = PROGRAM.replace(", octavo.parameter", "")
    x = '%x: tensor<?x64xf32> {octavo.name = "x"},'
    text = text.replace(x, "").replace("%flag: tensor<i1>", x + " %flag: tensor<i1>")
    marked = calibrate(folder, inputs=["--inputs", folder / "sets/set1"])
    (folder / "net.mlir").write_text(text)
    positional = f"{folder}/sets/set1/x.npy,{folder}/sets/set1/flag.npy"
    assert calibrate(folder, "--parameters", "^[wv]$", inputs=["--inputs", positional], output="b.json") == marked


@pytest.mark.parametrize("value, name", [(np.nan, "NaN"), (np.inf, "Inf"), (-np.inf, "-Inf")])
def test_values_that_are_not_finite_are_refused(net, value, name):
    folder, _, sets = net
    sets[1][7, 3] = value
    np.save(folder / "sets/set1/x.npy", sets[1])
    message = calibrate(folder, code=3)
    assert f"inputs {folder}/sets/set1: " in message
    assert f'the lhs of dot "net/inner" has {name} at [7, 3]' in message
    assert not (folder / "found.json").exists()


def test_a_side_without_values_is_told(net):
    folder, _, _ = net
    run = subprocess.run([BIN / "octavo", "calibrate", folder / "net.mlir", "--weights", folder / "w.safetensors",
                          "--inputs", folder / "sets/set0", "-o", folder / "a.json"], capture_output=True, text=True)
    assert run.returncode == 0
    assert run.stderr == ('octavo: warning: the lhs of dot "net/outer" had no values in these inputs: no range, '
                          "and no static scale\n")
    message = octavo("quantize", folder / "net.mlir", "--format", "fp8_tensor", "--calibration",
                     folder / "a.json", code=3)
    assert 'a.json: the lhs of dot "net/outer" had no values when it was calibrated' in message
    np.save(folder / "sets/set0/x.npy", np.zeros((0, 64), np.float32))
    message = calibrate(folder, inputs=["--inputs", folder / "sets/set0"], code=3)
    assert 'no dot was given a value, among them the lhs of dot "net/inner"' in message


def test_a_side_of_zeros_alone_has_no_range(net):
    """In a static scale zeros count for none; a scale of 1 in its place would have others saturate."""
    folder, _, _ = net
    folder.joinpath("zeros").mkdir()
    np.save(folder / "zeros/x.npy", np.zeros((3, 64), np.float32))
    np.save(folder / "zeros/flag.npy", np.array(False))
    run = subprocess.run([BIN / "octavo", "calibrate", folder / "net.mlir", "--weights", folder / "w.safetensors",
                          "--inputs", folder / "zeros", "-o", folder / "a.json"], capture_output=True, text=True)
    assert run.returncode == 0
    assert run.stderr == ('octavo: warning: the lhs of dot "net/inner" and 2 other sides had no values other than '
                          "zero in these inputs: no range, and no static scale\n")
    for options in [("--format", "fp8_tensor"), ("--format", "fp8_tensor", "--range", "mse"),
                    ("--format", "nvfp4"), ("--format", "nvfp4", "--range", "percentile:99")]:
        message = octavo("quantize", folder / "net.mlir", *options, "--calibration", folder / "a.json", code=3)
        assert 'a.json: the lhs of dot "net/inner" had only zeros, which count for no range, when it was' in message
        assert "calibrate with inputs that reach it with other values than zero" in message
    # Beside inputs that have values they change nothing.
    calibrate(folder, output="whole.json")
    calibrate(folder, inputs=["--inputs", folder / "sets", "--inputs", folder / "zeros"], output="both.json")
    amaxes = [[dot["lhs_amax"] for dot in json.loads(octavo(
        "quantize", folder / "net.mlir", "--format", "fp8_tensor", "--calibration", folder / name, "--json"))["dots"]]
        for name in ("whole.json", "both.json")]
    assert amaxes[0] == amaxes[1] and all(amaxes[0])


def test_wrong_inputs_are_refused(net):
    folder, _, _ = net
    assert "give --inputs" in octavo("calibrate", folder / "net.mlir", "-o", folder / "a.json", code=2)
    assert "give PROGRAM and --inputs" in octavo("calibrate", "-o", folder / "a.json", code=2)
    assert "--output is required" in octavo("calibrate", folder / "net.mlir", code=2)
    (folder / "none").mkdir()
    assert "none: it has no inputs" in calibrate(folder, inputs=["--inputs", folder / "none"], code=3)
    (folder / "sets/notes.txt").write_text("")
    assert "notes.txt: cannot tell what it is among inputs" in calibrate(folder, code=3)
    message = calibrate(folder, inputs=["--inputs", f"y={folder}/sets/set0/x.npy"], code=3)
    assert 'has no argument "y"' in message and "available: x, w, v, flag" in message
    message = calibrate(folder, inputs=["--inputs", f"flag={folder}/sets/set0/flag.npy"], code=3)
    assert '"x" f32' in message and "an input with --inputs NAME=FILE.npy" in message
    (folder / "add.mlir").write_text("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> "
                                     "{ return %x : tensor<4xf32> }")
    message = octavo("calibrate", folder / "add.mlir", "--inputs", folder / "sets", "-o", folder / "a.json", code=3)
    assert "it has no dot with activations of f32, bf16 or f16" in message


def test_wrong_merges_are_refused(net):
    folder, _, _ = net
    calibrate(folder, output="a.json")
    calibrate(folder, "--columns", output="b.json")
    a, b = folder / "a.json", folder / "b.json"
    assert "--merge needs two" in octavo("calibrate", "--merge", a, "-o", folder / "c.json", code=2)
    assert "--merge takes calibrations alone" in octavo("calibrate", folder / "net.mlir", "--merge", a, b,
                                                       "-o", folder / "c.json", code=2)
    assert "calibrate both with --columns, or neither" in octavo("calibrate", "--merge", a, b, "-o",
                                                                folder / "c.json", code=3)
    b.write_text(a.read_text().replace("net/outer", "net/outre"))
    message = octavo("calibrate", "--merge", a, b, "-o", folder / "c.json", code=3)
    assert 'only the first has lhs of dot "net/outer"; near it in the other: net/outre' in message
    b.write_text("{}")
    assert "b.json: it is no calibration" in octavo("calibrate", "--merge", a, b, "-o", folder / "c.json", code=3)
    assert not (folder / "c.json").exists()


# Static scales.


def fp8(values, amax, element):
    """Under the scale for that amax: f32 arithmetic, one rounding, saturating."""
    largest = np.float32(ml_dtypes.finfo(element).max)
    scale = np.float32(amax) / largest
    codes = np.clip(values / scale, -largest, largest).astype(element)
    return codes.astype(np.float64) * np.float64(scale)


def nvfp4(values, amax):
    outer = np.float32(amax) / np.float32(2688)
    blocks = values.reshape(len(values), -1, 16)
    ratio = np.abs(blocks).max(-1, keepdims=True) / np.float32(6) / outer
    scale = np.minimum(ratio, np.float32(448)).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    scale[scale == 0] = 2.0**-9
    codes = np.clip(blocks / (scale * outer), -6, 6).astype(ml_dtypes.float4_e2m1fn).astype(np.float64)
    return (codes * scale.astype(np.float64) * np.float64(outer)).reshape(values.shape)


@pytest.fixture
def diagonal(tmp_path):
    """The program of one dot whose weight each format holds exactly, two sets of inputs to calibrate
    with, and a larger one to run."""
    import safetensors.numpy

    random = np.random.default_rng(2)
    (tmp_path / "net.mlir").write_text(DIAGONAL)
    for i in range(2):
        np.save(tmp_path / f"x{i}.npy", (random.standard_normal((256, 64)) * 2).astype(np.float32))
    x = (random.standard_normal((256, 64)) * 3).astype(np.float32)
    np.save(tmp_path / "x.npy", x)

    def made(largest):
        safetensors.numpy.save_file({"w": np.eye(64, dtype=np.float32) * np.float32(largest)},
                                    tmp_path / "w.safetensors")
        return calibrate(tmp_path, inputs=["--inputs", tmp_path / "x0.npy", "--inputs", tmp_path / "x1.npy"])
    seen = np.concatenate([np.load(tmp_path / f"x{i}.npy") for i in range(2)])
    return tmp_path, made, seen * seen - seen, x * x - x


def run(folder, *more, backend="compiled"):
    octavo("run", folder / "net.mlir", "--weights", folder / "w.safetensors", "--input", f"x={folder}/x.npy",
           "--output", folder / "y.npy", "--backend", backend, *more)
    return np.load(folder / "y.npy")


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("name, largest", [("fp8_tensor", 448), ("fp8_e5m2_tensor", 57344), ("nvfp4", 2688)])
def test_values_under_static_scales(diagonal, name, largest, backend):
    folder, made, seen, values = diagonal
    found = made(largest)
    amax = found["tensors"][0]["amax"]
    assert amax == np.abs(seen).max() < np.abs(values).max()  # so that some saturate
    static = run(folder, "--quantize", name, "--calibration", folder / "found.json", backend=backend)
    element = ml_dtypes.float8_e5m2 if "e5m2" in name else ml_dtypes.float8_e4m3fn
    expected = nvfp4(values, amax) if name == "nvfp4" else fp8(values, amax, element)
    # Each result is one product of the weight, exact in f64, rounded once.
    np.testing.assert_array_equal(static, (expected * largest).astype(np.float32))
    assert (run(folder, "--quantize", name, backend=backend) != static).any()


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_a_percentile_in_a_recipe(diagonal, backend):
    folder, made, seen, values = diagonal
    made(448)
    (folder / "recipe.json").write_text(json.dumps({"rules": [
        {"weights": "fp8_tensor", "scales": "found.json", "range": "percentile:99"}]}))
    found = run(folder, "--recipe", folder / "recipe.json", backend=backend)
    report = json.loads(octavo("quantize", folder / "net.mlir", "--recipe", folder / "recipe.json", "--json"))
    amax = report["dots"][0]["lhs_amax"]
    exact = np.sort(np.abs(seen).ravel())[int(np.ceil(0.99 * seen.size)) - 1]
    assert exact <= amax < exact * (1 + 1 / 64)
    assert "static scale of lhs for amax" in report["dots"][0]["reason"]
    np.testing.assert_array_equal(found, (fp8(values, amax, ml_dtypes.float8_e4m3fn) * 448).astype(np.float32))


def test_the_range_of_least_squares_is_better_on_the_values(diagonal):
    folder, made, seen, _ = diagonal
    made(448)
    amaxes = {}
    for kind in ["amax", "mse"]:
        report = json.loads(octavo("quantize", folder / "net.mlir", "--format", "fp8_tensor", "--calibration",
                                   folder / "found.json", "--range", kind, "--json"))
        amaxes[kind] = report["dots"][0]["lhs_amax"]
    assert amaxes["mse"] < amaxes["amax"]

    def squares(amax):
        return ((fp8(seen, amax, ml_dtypes.float8_e4m3fn) - seen) ** 2).sum()
    assert squares(amaxes["mse"]) < squares(amaxes["amax"])


def test_the_written_program_has_the_scale(diagonal):
    folder, made, _, _ = diagonal
    made(448)
    octavo("quantize", folder / "net.mlir", "--format", "fp8_tensor", "--calibration", folder / "found.json",
           "-o", folder / "narrow.mlir")
    text = (folder / "narrow.mlir").read_text()
    assert "rule = nearest, amax = " in text
    direct = run(folder, "--quantize", "fp8_tensor", "--calibration", folder / "found.json")
    octavo("run", folder / "narrow.mlir", "--weights", folder / "w.safetensors", "--input", f"x={folder}/x.npy",
           "--output", folder / "z.npy")
    np.testing.assert_array_equal(np.load(folder / "z.npy"), direct)


@pytest.mark.parametrize("kind", ["amax", "percentile:99", "mse"])
def test_the_pass_takes_a_calibration(diagonal, kind):
    folder, made, _, _ = diagonal
    made(448)
    octavo("quantize", folder / "net.mlir", "--format", "fp8_tensor", "--calibration", folder / "found.json",
           "--range", kind, "-o", folder / "command.mlir")
    options = f"weights=fp8_tensor calibration={folder}/found.json range={kind}"
    subprocess.run([BIN / "octavo-opt", folder / "net.mlir", f"--octavo-quantize-dots={options}", "-o",
                    folder / "pass.mlir"], check=True, capture_output=True, timeout=120)
    by_pass, by_command = (subprocess.run([BIN / "octavo-opt", folder / f"{name}.mlir"], check=True, capture_output=True,
                                          text=True, timeout=120).stdout for name in ("pass", "command"))
    assert "amax = " in by_pass and by_pass == by_command


@pytest.mark.parametrize("name, largest", [("fp8_tensor", 448), ("nvfp4", 2688)])
def test_plain_stablehlo_of_it_gives_the_same(diagonal, name, largest):
    folder, made, _, _ = diagonal
    made(largest)
    static = run(folder, "--quantize", name, "--calibration", folder / "found.json")
    octavo("quantize", folder / "net.mlir", "--format", name, "--calibration", folder / "found.json",
           "-o", folder / "narrow.mlir")
    subprocess.run([BIN / "octavo-opt", "--octavo-emit", folder / "narrow.mlir", "-o", folder / "plain.mlir"],
                   check=True, timeout=120)
    assert "octavo.quantize" not in (folder / "plain.mlir").read_text()
    octavo("run", folder / "plain.mlir", "--weights", folder / "w.safetensors", "--input", f"x={folder}/x.npy",
           "--output", folder / "plain.npy")
    np.testing.assert_allclose(np.load(folder / "plain.npy"), static, rtol=1e-6)


@pytest.mark.parametrize("name, policy", [  # e2m1 has no NaN that would stay one under skip-nan
    ("fp8_tensor", "propagate"), ("fp8_tensor", "saturate"), ("fp8_tensor", "skip-nan"),
    ("nvfp4", "propagate"), ("nvfp4", "saturate")])
def test_nan_under_static_scales_is_the_same_range_by_range(diagonal, name, policy):
    folder, made, _, _ = diagonal
    made(448 if name == "fp8_tensor" else 2688)
    x = np.load(folder / "x.npy")
    x[200, 3], x[17, 40] = np.nan, -np.inf  # NaN and Inf less -Inf
    np.save(folder / "x.npy", x)
    options = ["--quantize", name, "--calibration", folder / "found.json", "--non-finite"]
    found = run(folder, *options, policy)
    np.testing.assert_array_equal(found, run(folder, *options, policy, backend="reference"))
    rows = np.isnan(found).any(1)
    if name == "fp8_tensor" and policy != "skip-nan":  # S8: the scale of all is NaN
        assert rows.all()
    else:
        assert rows[200] and rows.sum() == (2 if policy == "propagate" else 1)
    message = octavo("run", folder / "net.mlir", "--weights", folder / "w.safetensors", "--input",
                     f"x={folder}/x.npy", *options, "error", code=3)
    assert "which its quantization refuses: --non-finite propagate" in message


def test_a_calibration_is_not_written_over_what_is_read(diagonal):
    folder, made, _, _ = diagonal
    made(448)
    weights = (folder / "w.safetensors").read_bytes()
    message = octavo("calibrate", folder / "net.mlir", "--weights", folder / "w.safetensors", "--inputs", f"x={folder}/x.npy",
                     "-o", folder / "w.safetensors", code=2)
    assert "w.safetensors: would overwrite what the command reads" in message
    assert (folder / "w.safetensors").read_bytes() == weights


WRONG = [
    (["--format", "mxfp8_e4m3", "--calibration", "found.json"], 2,
     "those of mxfp8_e4m3 are of its blocks, from the values of each run"),
    (["--format", "fp8_row", "--calibration", "found.json"], 2, "those of fp8_row are of its blocks"),
    (["--format", "fp8_tensor", "--activations", "none", "--calibration", "found.json"], 2,
     "static scales are of activations, which stay wide here"),
    (["--format", "nvfp4", "--range", "mse", "--calibration", "found.json"], 2, "the range mse is of elements"),
    (["--format", "fp8_tensor", "--range", "mse"], 2, "--range requires --calibration"),
    (["--format", "fp8_tensor", "--range", "most", "--calibration", "found.json"], 2,
     'no range "most"; available: amax, percentile:P, mse'),
    (["--format", "fp8_tensor", "--range", "percentile:0", "--calibration", "found.json"], 2,
     'no range "percentile:0"'),
    (["--format", "fp8_tensor", "--calibration", "none.json"], 3, "none.json"),
    (["--format", "fp8_tensor", "--calibration", "other.json"], 3,
     'other.json: the calibration has nothing of the lhs of dot "net/only"; near it: net/onyl'),
    (["--format", "fp8_tensor", "--calibration", "columns.json"], 3,
     'columns.json: the lhs of dot "net/only" had 65 columns when it was calibrated, and has 64'),
    (["--recipe", "mxfp8", "--calibration", "found.json"], 2, "excludes"),
]


@pytest.mark.parametrize("arguments, code, message", WRONG, ids=lambda value: str(value)[:40])
def test_wrong_options_are_refused(diagonal, arguments, code, message):
    folder, made, _, _ = diagonal
    made(448)
    text = (folder / "found.json").read_text()
    (folder / "other.json").write_text(text.replace("net/only", "net/onyl"))
    (folder / "columns.json").write_text(text.replace('"columns":64', '"columns":65'))
    arguments = [folder / each if each.endswith(".json") else each for each in arguments]
    assert message in octavo("quantize", folder / "net.mlir", *arguments, code=code)


WRONG_RULES = [
    ({"weights": "fp8_tensor", "scales": "nowhere.json"}, "rules[0].scales: "),
    ({"weights": "fp8_tensor", "scales": 3}, "rules[0].scales: expected the path of a calibration"),
    ({"weights": "fp8_tensor", "scales": {"a": 1}}, "rules[0].scales: it is no calibration"),
    ({"weights": "fp8_tensor", "range": "amax"}, 'rules[0].range: it chooses a range of a calibration'),
    ({"weights": "fp8_tensor", "scales": "found.json", "range": "mean"}, 'rules[0].range: no range "mean"'),
    ({"weights": "mxfp4", "scales": "found.json"}, "rules[0]: static scales are for formats with one"),
    ({"keep": "f32", "reason": "r", "scales": "found.json"}, 'it keeps its dots, and has "scales" too'),
    ({"weights": "fp8_tensor", "scale": "found.json"}, 'no key "scale"; near it: scales'),
]


@pytest.mark.parametrize("rule, message", WRONG_RULES, ids=lambda value: str(value)[:40])
def test_wrong_rules_are_refused(diagonal, rule, message):
    folder, made, _, _ = diagonal
    made(448)
    (folder / "recipe.json").write_text(json.dumps({"rules": [rule]}))
    assert message in octavo("quantize", folder / "net.mlir", "--recipe", folder / "recipe.json", code=3)
