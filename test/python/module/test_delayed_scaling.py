"""octavo.update_delayed_scale and octavo.current_scale against the rules F1 to F5 of docs/semantics.md
in NumPy."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import octavo

MAX = {"e4m3fn": np.float32(448), "e5m2": np.float32(57344)}
LARGEST = np.finfo(np.float32).max
FORMAT = st.sampled_from(list(MAX))


def stated(history, scale, format, choice="max", zero_amax="roll", margin=0):
    """One history of F1 to F4."""
    if zero_amax == "keep" and history[0] == 0:
        return history, scale, 1 / scale
    amax = history[0] if choice == "most-recent" else max(
        [each for each in history if not np.isnan(each)], default=np.float32(0))
    with np.errstate(over="ignore", divide="ignore"):
        if amax > 0 and np.isfinite(amax):
            scale = min(np.float32(MAX[format] * np.float32(2.0 ** -margin)) / amax, LARGEST)
        rolled = history.copy()
        rolled[1:-1] = history[2:]
        rolled[-1] = history[0]
        rolled[0] = 0
        return rolled, scale, 1 / scale


def equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.float32


def test_worked_by_hand():
    history = np.float32([3.5, 7, 14, 1])
    equal(octavo.update_delayed_scale(history, 5.0, "e4m3fn"), (
        np.float32([0, 14, 1, 3.5]), np.float32(32), np.float32(0.03125)))  # 448 / 14
    assert history.tolist() == [3.5, 7, 14, 1]
    assert octavo.update_delayed_scale(history, 5, "e5m2", choice="most-recent")[1] == 16384
    assert octavo.update_delayed_scale(history, 5, "e4m3fn", margin=3)[1] == 4
    assert octavo.current_scale(14.0, "e4m3fn") == (32, 0.03125)
    assert octavo.current_scale(3, "e4m3fn", scales="powers-of-two") == (128, 1 / 128)
    assert octavo.current_scale(octavo.amax(history), octavo.formats()["e4m3fn"].numpy) == (32, 0.03125)


@given(history=hnp.arrays(np.float32, st.integers(1, 9), elements=st.one_of(
           st.floats(0, width=32), st.just(0.0), st.sampled_from([np.nan, np.inf, -1.0]))),
       scale=st.floats(2.0 ** -40, 2.0 ** 40, width=32), format=FORMAT,
       choice=st.sampled_from(["max", "most-recent"]), zero_amax=st.sampled_from(["roll", "keep"]),
       margin=st.integers(-5, 20))
def test_a_step(history, scale, format, choice, zero_amax, margin):
    options = {"choice": choice, "zero_amax": zero_amax, "margin": margin}
    equal(octavo.update_delayed_scale(history, np.float32(scale), format, **options),
          stated(history, np.float32(scale), format, **options))


def test_histories_of_many_tensors_are_each_by_itself():
    history = np.abs(np.random.default_rng(0).normal(size=(3, 4, 16))).astype(np.float32)
    scale = np.random.default_rng(1).uniform(1, 2, size=(3, 4)).astype(np.float32)
    found = octavo.update_delayed_scale(history, scale, "e4m3fn")
    strided = octavo.update_delayed_scale(np.asfortranarray(history), scale.astype(">f4"), "e4m3fn")
    for at in np.ndindex(3, 4):
        expected = octavo.update_delayed_scale(history[at], scale[at], "e4m3fn")
        for one, other, wanted in zip(found, strided, expected):
            np.testing.assert_array_equal(one[at], wanted)
            np.testing.assert_array_equal(other[at], wanted)
    nothing = octavo.update_delayed_scale(history[:0], scale[:0], "e4m3fn")
    assert [each.shape for each in nothing] == [(0, 4, 16), (0, 4), (0, 4)]


def test_a_tensor_of_a_recipe_stays_within_the_format():
    """Three steps of a training loop: the scale follows amaxes of the steps before."""
    history, scale = np.zeros(4, np.float32), np.float32(1)
    for step, size in enumerate((1, 10, 10)):
        x = size * np.random.default_rng(step).normal(size=1000).astype(np.float32)
        codes = octavo.convert(x * scale, "e4m3fn", overflow="saturate")
        assert np.isfinite(codes.astype(np.float32)).all()
        history[0] = octavo.amax(x)
        history, scale, inverse = octavo.update_delayed_scale(history, scale, "e4m3fn")
    assert octavo.amax(x) * scale <= 448 and scale * inverse == pytest.approx(1)


@given(amax=hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=2, max_side=5),
                       elements=st.floats(width=32)), format=FORMAT,
       epsilon=st.sampled_from([0.0, 1e-12, 14.0]), scales=st.sampled_from(["all", "powers-of-two"]))
def test_current_scales(amax, format, epsilon, scales):
    with np.errstate(all="ignore"):
        least = np.where(amax < np.float32(epsilon), np.float32(epsilon), amax)
        scale = np.minimum(MAX[format] / least, LARGEST)
        scale = np.where((least > 0) & np.isfinite(least), scale, np.float32(1))
        if scales == "powers-of-two":
            fraction, exponent = np.frexp(scale)
            scale = np.ldexp(np.float32(0.5), exponent)
        equal(octavo.current_scale(amax, format, epsilon=epsilon, scales=scales), (scale, 1 / scale))


ONE = np.ones(1, np.float32)


@pytest.mark.parametrize("call, error, words", [
    (lambda: octavo.update_delayed_scale(ONE[:0], 1.0, "e4m3fn"), octavo.ShapeError, r"shape \(0,\)"),
    (lambda: octavo.update_delayed_scale(1.0, 1.0, "e4m3fn"), octavo.ShapeError, r"shape \(\)"),
    (lambda: octavo.update_delayed_scale(ONE, ONE, "e4m3fn"), octavo.ShapeError,
     r"scale: expected shape \(\), one scale a history, found \(1,\)"),
    (lambda: octavo.update_delayed_scale(ONE.astype(float), 1.0, "e4m3fn"), octavo.DtypeError, "float64"),
    (lambda: octavo.update_delayed_scale(ONE, "1", "e4m3fn"), octavo.DtypeError, "scale.*found str"),
    (lambda: octavo.update_delayed_scale(ONE, 1.0, "bf16"), octavo.FormatError, "at most 8 bits"),
    (lambda: octavo.update_delayed_scale(ONE, 1.0, "e4m3fn", choice="min"), octavo.FormatError,
     "max, most-recent"),
    (lambda: octavo.update_delayed_scale(ONE, 1.0, "e4m3fn", zero_amax="no"), octavo.FormatError,
     "roll, keep"),
    (lambda: octavo.update_delayed_scale(ONE, 1.0, "e4m3fn", margin=200), octavo.FormatError,
     "margin: 448 / 2.200 is beyond float32"),
    (lambda: octavo.update_delayed_scale(ONE, 1.0, "e4m3fn", margin=-200), octavo.FormatError, "margin"),
    (lambda: octavo.current_scale(ONE, "e4m3fn", epsilon=-1), octavo.FormatError, "at least 0"),
    (lambda: octavo.current_scale(ONE, "e4m3fn", epsilon=np.nan), octavo.FormatError, "at least 0"),
    (lambda: octavo.current_scale(ONE, "e4m3fn", scales="some"), octavo.FormatError, "powers-of-two"),
    (lambda: octavo.current_scale(ONE.astype(int), "e4m3fn"), octavo.DtypeError, "found int64"),
])
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
