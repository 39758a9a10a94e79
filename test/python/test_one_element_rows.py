"""Outputs whose rows have one element (a loss, a regression head): no metric is met by construction,
and no share of an error is one that only signs decide."""

import json

import numpy as np
import pytest
from program_commands import octavo
from safetensors.numpy import save_file

pytestmark = pytest.mark.mlir


def program(result, ending):
    return f"""
func.func @main(%x: tensor<8x64xf32> {{octavo.name = "x"}},
                %a: tensor<64x64xf32> {{octavo.name = "a", octavo.parameter}},
                %b: tensor<64x64xf32> {{octavo.name = "b", octavo.parameter}}) -> ({result}) {{
  %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = stablehlo.tanh %0 : tensor<8x64xf32>
  %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [0]
      : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  {ending}
}}"""


LOSS = program('tensor<f32> {octavo.name = "loss"}', """
  %r = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>""")
HEAD = program('tensor<8x1xf32> {octavo.name = "head"}', """
  %r = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x64xf32>, tensor<f32>) -> tensor<8xf32>
  %s = stablehlo.reshape %r : (tensor<8xf32>) -> tensor<8x1xf32>
  return %s : tensor<8x1xf32>""")
BOTH = program('tensor<8x64xf32> {octavo.name = "y"}, tensor<f32> {octavo.name = "loss"}', """
  %r = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64xf32>, tensor<f32>) -> tensor<f32>
  return %2, %r : tensor<8x64xf32>, tensor<f32>""")


NONE = program('tensor<0x64xf32> {octavo.name = "none"}, tensor<8x64xi32> {octavo.name = "whole"}', """
  %r = stablehlo.slice %2 [0:0, 0:64] : (tensor<8x64xf32>) -> tensor<0x64xf32>
  %w = stablehlo.convert %2 : (tensor<8x64xf32>) -> tensor<8x64xi32>
  return %r, %w : tensor<0x64xf32>, tensor<8x64xi32>""")


@pytest.fixture
def case(tmp_path):
    random = np.random.default_rng(46)
    np.save(tmp_path / "x.npy", random.standard_normal((8, 64)).astype(np.float32))
    save_file({name: (random.standard_normal((64, 64)) * 0.2).astype(np.float32) for name in "ab"},
              tmp_path / "w.safetensors")

    def given(text):
        (tmp_path / "p.mlir").write_text(text)
        return ["p.mlir", "--weights", "w.safetensors", "--input", "x.npy"]
    given.folder = tmp_path
    return given


@pytest.mark.parametrize("text, name", [(LOSS, "loss"), (HEAD, "head")])
def test_a_cosine_of_them_alone_is_refused(case, text, name):
    said = octavo("tune", *case(text), "--budget", "cosine >= 0.99", "-o", "r.json", code=3, cwd=case.folder)
    assert f"output {name} has rows of one element, whose cosine is 1 whatever they lose" in said
    for metric in ("relative <=", "sqnr >=", "max <="):
        assert metric in said
    assert not (case.folder / "r.json").exists() and not (case.folder / "r.json.state").exists()


@pytest.mark.parametrize("budget", ["cosine >= 0.99", "relative <= 0.1", "sqnr >= 20", "max <= 0.1"])
def test_outputs_without_elements_are_refused(case, budget):
    said = octavo("tune", *case(NONE), "--formats", "mxfp4", "--budget", budget, "-o", "r.json", code=3, cwd=case.folder)
    assert "the outputs of floats of @main have no elements, so that every choice would keep the budget" in said
    assert not (case.folder / "r.json").exists()


@pytest.mark.parametrize("text, name", [(LOSS, "loss"), (HEAD, "head")])
def test_the_metrics_that_it_names_hold(case, text, name):
    given = case(text)
    octavo("run", *given, "--output", "f32.npy", cwd=case.folder)
    reference = np.load(case.folder / "f32.npy").astype(np.float64)
    for bound in (0.02, 0.002):
        octavo("tune", *given, "--formats", "mxfp4,mxfp6_e2m3,mxint8", "--budget", f"relative <= {bound}",
               "-o", "r.json", cwd=case.folder)
        octavo("run", *given, "--recipe", "r.json", "--output", "y.npy", cwd=case.folder)
        value = np.load(case.folder / "y.npy").astype(np.float64)
        assert np.linalg.norm(value - reference) <= bound * np.linalg.norm(reference)


def test_beside_longer_rows_they_count_by_their_relative_error(case):
    """1 - r^2 / 2 of each, and the worst row's cosine of the others: NumPy's."""
    given = case(BOTH)
    octavo("run", *given, "--output", "f32.safetensors", cwd=case.folder)
    text = octavo("tune", *given, "--formats", "mxfp4", "--budget", "cosine >= 0.5", "-o", "r.json", cwd=case.folder)
    assert "loss has rows of one element" in text
    report = json.loads(octavo("tune", *given, "--formats", "mxfp4", "--budget", "cosine >= 0.5", "-o", "r.json",
                               "--json", cwd=case.folder))
    assert report["rows_of_one"] == ["loss"]
    octavo("run", *given, "--quantize", "mxfp4", "--output", "q.safetensors", cwd=case.folder)
    from safetensors.numpy import load_file
    want, have = (load_file(case.folder / f"{name}.safetensors") for name in ("f32", "q"))
    y, z = want["y"].astype(np.float64), have["y"].astype(np.float64)
    rows = (y * z).sum(-1) / np.linalg.norm(y, axis=-1) / np.linalg.norm(z, axis=-1)
    relative = float(have["loss"]) / float(want["loss"]) - 1
    expected = min(rows.min(), 1 - min(relative ** 2 / 2, 2))
    [all_mxfp4] = report["uniform"]
    assert all_mxfp4["value"] == pytest.approx(expected, abs=1e-12)


def test_a_comparison_shows_no_cosine_of_one_number(case):
    given = [*case(LOSS), "--quantize", "mxfp4", "--compare", "f32"]
    text = octavo("run", *given, cwd=case.folder)
    assert "cosine" not in text and "relative" in text
    [output] = json.loads(octavo("run", *given, "--json", cwd=case.folder))["outputs"]
    assert output["f32"]["cosine"] is None and output["f32"]["relative"] > 0
    assert "cosine" in octavo("run", *case(BOTH), "--quantize", "mxfp4", "--compare", "f32", cwd=case.folder)


@pytest.mark.parametrize("text, counted, left", [(LOSS, 0, 1), (HEAD, 0, 1), (BOTH, 1, 1)])
def test_there_are_no_shares_of_what_signs_decide(case, text, counted, left):
    given = [*case(text), "--quantize", "mxfp4", "--compare", "f32", "--per-op"]
    shown = octavo("run", *given, "--page", "page.html", cwd=case.folder)
    per_op = json.loads(octavo("run", *given, "--json", cwd=case.folder))["per_op"]
    assert (per_op["outputs_counted"], per_op["outputs_of_one_element_rows"]) == (counted, left)
    shares = [dot["share"] for dot in per_op["dots"]]
    if counted:
        assert all(-1 < share < 2 for share in shares)
        assert "1 output with rows of one element has no part in it" in shown
    else:
        assert shares == [None, None] and per_op["error"] == 0
        assert "errors of dots cancel or add by their signs alone: there are no shares" in shown
        assert "there are no shares" in (case.folder / "page.html").read_text()


F64_4_ULP = """
func.func @main() -> tensor<1x1xf64> {
  %x = stablehlo.constant dense<[[-1.0, -1.0, -2.0]]> : tensor<1x3xf64>
  %y = stablehlo.constant dense<[[1.7733081084817144], [-3.5500692345678901], [1.2318585671234567]]> : tensor<3x1xf64>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<1x3xf64>, tensor<3x1xf64>) -> tensor<1x1xf64>
  return %0 : tensor<1x1xf64>
}"""


def test_ulp_of_f64_are_counted(case):
    """The distance of the two results in codes, as NumPy has them."""
    (case.folder / "d.mlir").write_text(F64_4_ULP)
    results = []
    for backend in ("compiled", "reference"):
        octavo("run", "d.mlir", "--backend", backend, "--output", "y.npy", cwd=case.folder)
        results.append(np.load(case.folder / "y.npy").view(np.int64).item())
    apart = abs(results[0] - results[1])
    [output] = json.loads(octavo("run", "d.mlir", "--compare", "reference", "--json", cwd=case.folder))["outputs"]
    assert output["reference"]["ulps"] == apart
    if apart:
        assert f"{apart} ulp from the reference" in octavo(
            "run", "d.mlir", "--compare", "reference", "--bound", apart - 1, code=1, cwd=case.folder)
    octavo("run", "d.mlir", "--compare", "reference", "--bound", apart, cwd=case.folder)
