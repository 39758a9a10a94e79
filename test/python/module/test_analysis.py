"""octavo.analyze and octavo.samples, against their definitions in NumPy."""
import numpy as np
import pytest

import octavo


def test_figures_are_their_definitions():
    x = np.random.default_rng(0).normal(size=(128, 128)).astype(np.float32)  # whole blocks of every format
    x[0, :5] = 0
    rows = octavo.analyze(x)
    assert {row.format.name for row in rows} == {
        name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)}
    for row in rows:
        tensor = octavo.quantize(x, row.format.name, preset=row.preset,
                                 rule=None if row.preset else row.rule)
        y, exact = tensor.dequantize().astype(np.float64), x.astype(np.float64)
        error, some = np.abs(y - exact), exact != 0
        assert row.bits_per_value == pytest.approx(tensor.bits_per_value)
        assert row.mean_relative_error == pytest.approx((error[some] / np.abs(exact[some])).mean())
        assert row.qsnr == pytest.approx(10 * np.log10((exact ** 2).sum() / (error ** 2).sum()))
        assert row.format.name in repr(row)


def test_one_format_has_a_row_a_rule_and_a_preset():
    x = np.ones((2, 64), np.float32)
    rows = octavo.analyze(x, "mxfp4")
    assert [row.rule for row in rows if not row.preset] == ["floor", "ceil", "even", "round-up",
                                                            "nearest"]
    assert [row.preset for row in rows if row.preset] == list(octavo.presets("mxfp4"))
    assert [row.rule for row in octavo.analyze(x, "nvfp4") if not row.preset] == ["nearest"]
    assert octavo.analyze(x, "mxfp4")[0].bytes_per_block == 17
    assert octavo.analyze(x, "fp8_row")[0].bytes_per_block is None


def test_samples():
    x = octavo.samples("uniform:-2,3", 1 << 16, seed=1)
    assert x.dtype == np.float32 and -2 <= x.min() < -1.99 and 2.99 < x.max() <= 3
    assert abs(octavo.samples("normal", 1 << 16).std() - 1) < 0.02
    np.testing.assert_array_equal(octavo.samples("normal", 100), octavo.samples("normal", 200)[:100])
    assert octavo.samples("normal", 0).shape == (0,)


@pytest.mark.parametrize("call, error, words", [
    (lambda: octavo.analyze(np.float32(1)), octavo.ShapeError, "one axis"),
    (lambda: octavo.analyze(np.ones(2)), octavo.DtypeError, "float64"),
    (lambda: octavo.analyze(np.float32([np.inf])), octavo.NonFiniteError, "finite"),
    (lambda: octavo.analyze(np.ones(2, np.float32), "mxfp5"), octavo.FormatError, "available: "),
    (lambda: octavo.samples("cauchy", 3), octavo.FormatError, "student-t"),
])
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
