"""octavo.training: products for training in JAX, against NumPy statements of their rules, JAX's own
derivatives, and octavo's functions outside of JAX."""
import json
import math
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import octavo.training as training
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

OVER_LAST = (((1,), (0,)), ((), ()))
KEY = jax.random.key(3)
NARROW = {"e4m3fn": (ml_dtypes.float8_e4m3fn, 448), "e5m2": (ml_dtypes.float8_e5m2, 57344)}
EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples/decoder_training/train.py"


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def cosine(a, b):
    a, b = np.ravel(a).astype(np.float64), np.ravel(b).astype(np.float64)
    return a @ b / np.sqrt((a @ a) * (b @ b))


@settings(max_examples=60, deadline=None)
@given(history=hnp.arrays(np.float32, st.tuples(st.just(3), st.sampled_from([1, 2, 6])), elements=st.one_of(
           st.floats(0, width=32, allow_subnormal=False), st.just(0.0), st.sampled_from([np.nan, np.inf, -1.0]))),
       amaxes=hnp.arrays(np.float32, 3, elements=st.one_of(
           st.floats(0, 100, width=32, allow_subnormal=False), st.sampled_from([np.nan, np.inf, 0.0]))),
       margin=st.integers(-3, 5))
def test_scales_follow_f1_to_f3(history, amaxes, margin):
    """As octavo.update_delayed_scale, which test_delayed_scaling holds against a statement of the rules."""
    scale = np.float32([2, 3, 5])
    formats = ("e4m3fn", "e4m3fn", "e5m2")
    found = training.DelayedScales(jnp.asarray(scale), jnp.asarray(history)).updated(amaxes, formats, margin)
    history[:, 0] = amaxes
    for i, format in enumerate(formats):
        rolled, expected, _ = octavo.update_delayed_scale(history[i], scale[i], format, margin=margin)
        np.testing.assert_array_equal(found.history[i], rolled)
        assert found.scale[i] == expected or expected < np.finfo(np.float32).tiny  # XLA flushes subnormals


def fp8(x, scale, format):
    """Codes of x times scale, saturated, as values: seed 003's RFC, Scaling."""
    dtype, largest = NARROW[format]
    return np.clip(x * np.float32(scale), -largest, largest).astype(dtype).astype(np.float64)


@pytest.mark.parametrize("compile", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_a_delayed_product_and_its_gradients(compile):
    a, b, g = draw(5, 48), draw(48, 7, seed=1), draw(5, 7, seed=2)
    scales = training.DelayedScales(jnp.float32([8, 300, 4]), jnp.zeros((3, 4), jnp.float32))

    def product(a, b, scales):
        return training.delayed_dot_general(a, b, OVER_LAST, scales)

    result, backward = jax.vjp(compile(product), a, b, scales)
    to_a, to_b, following = backward(jnp.asarray(g))
    left, right, narrow = fp8(a, 8, "e4m3fn"), fp8(b, 300, "e4m3fn"), fp8(g, 4, "e5m2")
    # Products of codes are exact in f64; what is left is the order of sums in f32.
    for found, expected in ((result, left @ right / (8 * 300)), (to_a, narrow @ right.T / (4 * 300)),
                            (to_b, left.T @ narrow / (8 * 4))):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    amaxes = [np.abs(x).max() for x in (a, b, g)]
    np.testing.assert_array_equal(following.history[:, -1], amaxes)
    np.testing.assert_array_equal(following.scale, np.float32([448, 448, 57344]) / np.float32(amaxes))


def test_a_key_rounds_the_gradient_of_a_delayed_product_at_random():
    """N5: to one of the two codes beside it, and right on average; both products take the same codes."""
    g, scale, n = draw(8, 8, seed=2), 4, 4000
    unit = np.eye(8, dtype=np.float32)
    scales = training.DelayedScales(jnp.float32([1, 1, scale]), jnp.zeros((3, 4), jnp.float32))

    @jax.jit
    def gradients(key):
        return jax.vjp(lambda a, b: training.delayed_dot_general(a, b, OVER_LAST, scales, key=key), unit, unit)[1](g)

    codes = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e5m2).astype(np.float64)
    grid = np.unique(codes[np.isfinite(codes)])
    above = np.searchsorted(grid, g.astype(np.float64) * scale)
    to_a, to_b = jax.lax.map(gradients, jax.random.split(KEY, n))
    np.testing.assert_array_equal(to_a, to_b)
    low, high = grid[above - 1] / scale, grid[above] / scale
    assert ((np.asarray(to_a) == low) | (np.asarray(to_a) == high)).all()
    # Hoeffding's bound for all elements but with probability 1e-9; rounding to nearest is beyond it.
    bound = (high - low) * math.sqrt(math.log(2 * g.size / 1e-9) / (2 * n))
    assert (np.abs(np.mean(np.asarray(to_a, np.float64), 0) - g) <= bound).all()
    assert (np.abs(np.asarray(gradients(None)[0]) - g) > bound).any()


def test_scales_go_through_a_scan():
    x, w = draw(8, 32), draw(32, 4, seed=1)

    def step(scales, _):
        following = jax.grad(lambda s: (training.delayed_dot_general(x, w, OVER_LAST, s) ** 2).sum())(scales)
        return following, following.scale

    last, seen = jax.lax.scan(step, training.DelayedScales.initial(3), length=5)
    assert seen.shape == (5, 3) and last.history.shape == (3, 3)
    np.testing.assert_array_equal(seen[:, 0], np.full(5, np.float32(448) / np.abs(x).max()))
    np.testing.assert_array_equal(np.asarray(last.history)[0], [0, np.abs(x).max(), np.abs(x).max()])


def test_a_value_beyond_the_scale_saturates():
    x = np.float32([[1000, 1, 0, 0]])
    result = training.delayed_dot_general(x, np.eye(4, dtype=np.float32), OVER_LAST, training.DelayedScales.initial())
    assert result.tolist() == [[448, 1, 0, 0]]


@pytest.mark.parametrize("depth", [16, 48, 20])
def test_a_hadamard_rotation_is_orthogonal(depth):
    a, b = draw(6, depth), draw(9, depth, seed=1)
    turned = [np.asarray(training.hadamard(jnp.asarray(x), KEY), np.float64) for x in (a, b)]
    assert turned[0].shape == (6, -(-depth // 16) * 16)
    np.testing.assert_allclose(turned[0] @ turned[1].T, a.astype(np.float64) @ b.T, atol=2e-5)
    spread = training.hadamard(jnp.zeros(16).at[5].set(8.0), KEY)
    np.testing.assert_array_equal(np.abs(spread), np.full(16, 2.0))  # 8 / sqrt(16), any column


@pytest.mark.parametrize("formats", [("mxfp8_e4m3", "mxfp8_e4m3", "mxfp8_e5m2"), ("nvfp4",) * 3, ("mxfp4", "mxfp6_e2m3", "mxfp8_e4m3")],
                         ids=lambda formats: formats[0])
@pytest.mark.parametrize("rotated", [False, True])
def test_gradients_of_block_scaled_products(formats, rotated):
    a, b, g = draw(32, 64), draw(64, 16, seed=1), jnp.asarray(draw(32, 16, seed=2))
    result, backward = jax.vjp(lambda a, b: training.dot_general(a, b, OVER_LAST, formats, key=KEY, rotated=rotated), a, b)
    # Each side is quantized along the contracted axis, to nearest in the product itself.
    left, right = octavo.quantize(a, formats[0]), octavo.quantize(b, formats[1], axis=0)
    np.testing.assert_allclose(result, left.dequantize() @ right.dequantize(), atol=1e-4)
    to_a, to_b = backward(g)
    assert cosine(to_a, g @ b.T) > 0.95 and cosine(to_b, a.T @ g) > 0.95


def test_stochastic_gradients_are_right_on_average():
    """Unlike those to nearest, whose error stays: N5."""
    a, b, g = draw(4, 32), draw(32, 32, seed=1), jnp.asarray(draw(4, 32, seed=2))
    formats = ("mxfp8_e4m3", "mxfp8_e4m3", "mxfp4")

    @jax.jit
    def to_a(key):
        return jax.vjp(lambda a: training.dot_general(a, b, OVER_LAST, formats, key=key), a)[1](g)[0]

    exact = np.asarray(octavo.matmul(np.asarray(g), octavo.quantize(b.T.copy(), "mxfp8_e4m3", axis=0)))
    many = np.mean(jax.lax.map(to_a, jax.random.split(KEY, 400)), 0)
    # e2m1fn saturates what lies above 6 of its block's scale, so that a little bias is left.
    error = [np.linalg.norm(found - exact) / np.linalg.norm(exact) for found in (many, to_a(KEY), to_a(None))]
    assert error[0] < 0.05 < error[1] and error[0] < error[2] / 2, error
    assert not np.array_equal(to_a(KEY), to_a(jax.random.key(4)))
    np.testing.assert_array_equal(to_a(KEY), to_a(KEY))


@pytest.mark.parametrize("call, message", [
    (lambda x, s: training.delayed_dot_general(x, x, OVER_LAST, None), "DelayedScales.initial"),
    (lambda x, s: training.delayed_dot_general(x, x, OVER_LAST, s, formats=("e4m3fn", "mxfp4", "e5m2")), "mxfp4"),
    (lambda x, s: training.delayed_dot_general(x, x, OVER_LAST, s, formats=("e4m3fn", "bf16", "e5m2")), "bf16"),
    (lambda x, s: training.delayed_dot_general(x, x[:2], OVER_LAST, s), r"contracted \[4\] and \[2\]"),
    (lambda x, s: training.delayed_dot_general(x.astype(int), x, OVER_LAST, s), "lhs"),
    (lambda x, s: training.delayed_dot_general(x, x, OVER_LAST, training.DelayedScales(s.scale, s.history[0])), r"history \[3, N\]"),
    (lambda x, s: training.DelayedScales(s.scale, s.history[0]).updated([1, 1, 1]), r"history \[3, N\]"),
    (lambda x, s: training.DelayedScales.initial(0), "at least 1 step"),
    (lambda x, s: training.dot_general(x, x, OVER_LAST, ("mxfp8_e4m3",)), "expected three"),
    (lambda x, s: training.dot_general(x, x, OVER_LAST, ("mxfp8_e4m3", "mxfp9", "mxfp4")), "mxfp9"),
    (lambda x, s: training.dot_general(x, x, OVER_LAST, ("mxfp4",) * 3, rotated=True), "go together"),
], ids=range(11))
def test_what_is_wrong_is_named(call, message):
    x, scales = np.eye(4, dtype=np.float32), training.DelayedScales.initial()
    with pytest.raises((octavo.errors.FormatError, octavo.errors.ShapeError, octavo.errors.DtypeError), match=message):
        call(x, scales)


def test_the_example_trains(tmp_path):
    """With one layer of its two, for which XLA compiles the same operations in less time."""
    script = f"import sys; sys.path.insert(0, {str(EXAMPLE.parent)!r}); import train; train.LAYERS = 1; train.main()"
    done = subprocess.run([sys.executable, "-c", script, "--steps", "25", "--output", tmp_path / "losses.png"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "losses.png").read_bytes().startswith(b"\x89PNG") and done.stderr == ""
    results = json.loads((tmp_path / "losses.json").read_text())
    assert len(results) == 4
    first = {name: np.mean(runs[0]["losses"][:3]) for name, runs in results.items()}
    last = {name: np.mean(runs[0]["losses"][-5:]) for name, runs in results.items()}
    f32 = last["f32"]
    assert all(last[name] < first[name] - 1 and abs(last[name] - f32) < 0.1 for name in results), last


def test_a_loss_scale_halves_where_gradients_overflow_and_doubles_after_its_interval():
    state = training.LossScale.initial(scale=8, interval=3)
    finite, infinite = {"w": np.ones(3, np.float32)}, {"w": np.ones(3, np.float32), "b": np.float32("inf")}
    nan = {"w": np.array([0, np.nan], np.float32)}
    seen = []
    for gradients in (finite, finite, infinite, finite, finite, finite, nan, finite):
        state, fits = jax.jit(training.LossScale.updated)(state, gradients)
        seen.append((float(state.scale), int(state.steps), bool(fits)))
    assert seen == [(8, 1, True), (8, 2, True), (4, 0, False), (4, 1, True), (4, 2, True), (8, 0, True),
                    (4, 0, False), (4, 1, True)]


def test_a_loss_scale_keeps_gradients_that_e5m2_would_lose():
    tiny = np.float32(2.0 ** -20)  # half of it is below the smallest of e5m2, 2^-16

    def loss(w, scale):
        narrowed = training.dot_general(w, jnp.eye(32), OVER_LAST, ("fp8_tensor",) * 3)
        return scale.scaled((narrowed * tiny).sum())

    def gradient(scale):
        # The gradient of a product as its codes would have it, without a scale of the tensor's own.
        found = jax.grad(loss)(jnp.ones((2, 32)), scale)
        return scale.unscaled(found.astype(jnp.float8_e5m2))
    assert not np.any(gradient(training.LossScale.initial(scale=1)))
    np.testing.assert_array_equal(gradient(training.LossScale.initial(scale=2.0 ** 10)), np.full((2, 32), tiny))


def test_a_loss_scale_stays_within_float32():
    largest = training.LossScale.initial(scale=2.0 ** 127, interval=1)
    assert float(largest.updated({"w": np.ones(1)})[0].scale) == 2.0 ** 127
    least = training.LossScale.initial(scale=2.0 ** -126)
    assert float(least.updated({"w": np.array([np.inf])})[0].scale) == 2.0 ** -126
    assert bool(training.LossScale.initial().updated({})[1])  # nothing overflows


@pytest.mark.parametrize("arguments, message", [
    ({"scale": 3}, "scale: expected a power of two"), ({"scale": 0}, "scale: expected a power of two"),
    ({"scale": float("nan")}, "scale: expected"), ({"scale": 2.0 ** 128}, "from 2^-126 to 2^127"),
    ({"interval": 0}, "interval: expected at least 1 step, found 0")])
def test_loss_scales_that_are_none(arguments, message):
    with pytest.raises(octavo.FormatError, match=message.replace("^", r"\^")):
        training.LossScale.initial(**arguments)
