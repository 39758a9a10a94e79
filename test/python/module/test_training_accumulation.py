"""States of delayed scaling where JAX adds gradients up, gradients that overflow, and the bias of products
that round stochastically: against rules F1 to F3 stated in NumPy, plain JAX, and exact values."""
import math
import pickle

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import octavo.training as training
import pytest
from octavo.training import DelayedScales, ProgramState

OVER_LAST = (((1,), (0,)), ((), ()))
RNG = np.random.default_rng(0)
W = RNG.standard_normal((64, 32)).astype(np.float32)
X = RNG.standard_normal((16, 64)).astype(np.float32)
BATCHES = np.stack([X, 3 * X, 0.5 * X])
START = DelayedScales(np.float32([8, 4, 2]), np.float32([[0, 1, 2, 1], [0, 3, 1, 1], [0, 0, 0, 0]]))
MOST = np.float32([448, 448, 57344])


def loss(w, scales, x):
    return (training.delayed_dot_general(x, w, OVER_LAST, scales) ** 2).mean()


states_of = jax.grad(loss, 1)
both = jax.grad(loss, (0, 1))


def looped(scales):
    """A loss that is a scan over microbatches: the product's state is added within the gradient."""
    return jax.grad(lambda s: jax.lax.scan(lambda c, x: (c + loss(W, s, x), None), 0.0, BATCHES)[0])(scales)


def accumulated(scales):
    """Microbatches whose gradients a scan adds up."""
    zeros = jax.tree.map(jnp.zeros_like, (W, scales))
    return jax.lax.scan(lambda c, x: (jax.tree.map(jnp.add, c, both(W, scales, x)), None), zeros, BATCHES)[0][1]


def collected(scales, collective):
    return jax.tree.map(lambda x: x[0], jax.vmap(
        lambda x: collective(states_of(W, scales, x), "batch"), axis_name="batch")(BATCHES))


WAYS = {
    "sum in a scan": accumulated,
    "mean": lambda s: jax.tree.map(lambda a, b: (a + b) / 2, states_of(W, s, X), states_of(W, s, 3 * X)),
    "two uses": lambda s: jax.grad(lambda s: loss(W, s, X) + loss(W, s, 3 * X))(s),
    "loss over a scan": looped,
    "vmap within the loss": lambda s: jax.grad(lambda s: jax.vmap(lambda x: loss(W, s, x))(BATCHES).sum())(s),
    "mean over vmap": lambda s: jax.tree.map(lambda a: a.mean(0), jax.vmap(lambda x: states_of(W, s, x))(BATCHES)),
    "psum": lambda s: collected(s, jax.lax.psum),
    "pmean": lambda s: collected(s, jax.lax.pmean),
    "scaled": lambda s: jax.tree.map(lambda a: a / 8, states_of(W, s, X)),
    "average with the state before": lambda s: jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, s, states_of(W, s, X)),
    "rounded": lambda s: jax.tree.map(lambda a: a.astype(jnp.bfloat16), states_of(W, s, X)),
    "zeros": lambda s: jax.tree.map(jnp.zeros_like, s),
}


@pytest.mark.parametrize("way, compile", [
    *(pytest.param(way, jax.jit, id=f"jit-{name}") for name, way in WAYS.items()),
    *(pytest.param(WAYS[name], lambda f: f, id=f"eager-{name}") for name in ("mean", "two uses", "zeros"))])
def test_a_sum_of_states_is_refused(way, compile):
    made = compile(way)(START)
    for use in (lambda: made.scale, lambda: made.history, lambda: training.delayed_dot_general(X, W, OVER_LAST, made),
                lambda: made.updated([1, 1, 1]), lambda: DelayedScales.merged(made, START)):
        with pytest.raises(octavo.errors.Error, match="DelayedScales"):
            use()


@pytest.mark.parametrize("way", [way for name, way in WAYS.items() if name != "rounded"],
                         ids=[name for name in WAYS if name != "rounded"])
def test_a_sum_of_states_within_a_program_makes_it_fail(way):
    """The sum is made and used within one compiled program, where no number is known."""
    def step(scales):
        made = way(scales)
        return loss(W, made, X), states_of(W, made, X)
    with pytest.raises(Exception, match=r"DelayedScales\.merged"):
        jax.block_until_ready(jax.jit(step)(START))


def one_step(start, amaxes):
    """F1 to F3 for the amaxes of one step; scale and history."""
    scale, history = np.array(start.scale), np.array(start.history)
    history[:, 0] = amaxes
    most = history.max(1)
    with np.errstate(divide="ignore"):
        scale = np.where(most > 0, np.minimum(MOST / most, np.finfo(np.float32).max), scale)
    return scale.astype(np.float32), np.concatenate([np.zeros((3, 1), np.float32), history[:, 2:], history[:, :1]], 1)


def gradient_amaxes(batches):
    """The largest magnitudes of x, w and the loss's gradient over microbatches."""
    amaxes = []
    for x in batches:
        narrow = [np.clip(value * scale, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float64) / scale
                  for value, scale in ((x, 8.0), (W, 4.0))]
        result = narrow[0] @ narrow[1]
        amaxes.append([np.abs(x).max(), np.abs(W).max(), np.abs(2 * result / result.size).max()])
    return np.float32(amaxes).max(0)


MERGES = {
    "states": lambda s: DelayedScales.merged(*(states_of(W, s, x) for x in BATCHES)),
    "a batch of states": lambda s: DelayedScales.merged(jax.vmap(lambda x: states_of(W, s, x))(BATCHES)),
    "a scan's": lambda s: DelayedScales.merged(jax.lax.scan(lambda c, x: (c, states_of(W, s, x)), 0, BATCHES)[1]),
    "one by one": lambda s: DelayedScales.merged(DelayedScales.merged(states_of(W, s, BATCHES[2]), states_of(W, s, BATCHES[1])),
                                                 states_of(W, s, BATCHES[0])),
    "along an axis": lambda s: jax.tree.map(lambda a: a[1], jax.vmap(
        lambda x: DelayedScales.merged(states_of(W, s, x), axis_name="batch"), axis_name="batch")(BATCHES)),
}


@pytest.mark.parametrize("merge", MERGES.values(), ids=MERGES)
def test_merged_states_are_one_step_of_the_largest_amaxes(merge):
    found = jax.jit(merge)(START)
    scale, history = one_step(START, gradient_amaxes(BATCHES))
    np.testing.assert_array_equal(found.scale[:2], scale[:2])
    np.testing.assert_array_equal(found.history[:2], history[:2])
    # The gradient's amax comes from a product in f32.
    np.testing.assert_allclose(found.scale[2], scale[2], rtol=1e-6)
    np.testing.assert_allclose(found.history[2], history[2], rtol=1e-6)
    loss(W, found, X)  # is a state


@pytest.mark.parametrize("amaxes", [([0, 1, 2], [3, 0, 1]), ([0, 0, 0], [0, 0, 0]), ([0, 0, 0], [1e-3, 5, 0]),
                                    ([np.inf, 1, 0], [2, np.inf, 0])])
@pytest.mark.parametrize("slots", [1, 2, 4])
def test_merging_keeps_a_scale_where_no_part_decides(amaxes, slots):
    start = DelayedScales(np.float32([2, 3, 5]), np.zeros((3, slots), np.float32))
    merged = DelayedScales.merged(*(start.updated(np.float32(each)) for each in amaxes))
    expected = start.updated(np.float32(amaxes).max(0))
    np.testing.assert_array_equal(merged.scale, expected.scale)
    np.testing.assert_array_equal(merged.history, expected.history)


def test_what_keeps_a_state_is_allowed():
    state = states_of(W, START, X)
    for kept in (jax.tree.map(lambda a, b: jnp.where(True, a, b), state, START), jax.tree.map(jnp.copy, state),
                 jax.tree.map(jnp.add, jax.tree.map(jnp.zeros_like, state), state),
                 pickle.loads(pickle.dumps(state)),
                 jax.tree.map(lambda a: (a + a) / 2, state),  # of one state
                 jax.tree.map(lambda a: a[1], jax.tree.map(lambda a, b: jnp.stack([a, b]), START, state))):
        np.testing.assert_array_equal(kept.scale, state.scale)
        jax.jit(loss)(W, kept, X)
    loss_scale = training.LossScale.initial()
    assert loss_scale.unscaled((jnp.ones(2), state))[1].scale.tolist() == state.scale.tolist()
    assert bool(loss_scale.updated((jnp.ones(2), state))[1])
    with pytest.raises(AttributeError):
        state.scale = 3


def test_seals_are_those_of_the_kernels():
    """The seal of a state that NumPy, JAX and C++ compute: NaN, infinities, zeros, subnormals among its numbers."""
    history = np.float32([[0, np.nan, 1e-40, np.inf], [-0.0, 1, -np.nan, 2], [0, 0, 0, 3e38]])
    state = DelayedScales(np.float32([1, 1e-39, 3]), history)
    leaves = jax.tree.leaves(state)
    sealed = jax.jit(lambda scale, history: DelayedScales(scale, history))(np.float32([1, 1e-39, 3]), history)
    np.testing.assert_array_equal(jax.tree.leaves(sealed)[2], leaves[2])
    x = np.eye(4, dtype=np.float32)
    jax.jit(lambda s: training.delayed_dot_general(x, x, OVER_LAST, s))(state)
    for i in range(3):
        changed = [leaf.at[(0,) * leaf.ndim].add(0.5) if k == i else leaf for k, leaf in enumerate(leaves)]
        with pytest.raises(octavo.ProgramError):
            jax.tree.unflatten(jax.tree.structure(state), changed).scale


@pytest.mark.parametrize("formats", [("e4m3fn", "e4m3fn", "e5m2"), ("e4m3fn",) * 3, ("e5m2",) * 3, ("e4m3fnuz", "e4m3fnuz", "e5m2fnuz")],
                         ids=lambda formats: formats[2])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", ["lhs", "rhs", "gradient"])
def test_overflow_shows_in_results_and_not_in_histories(formats, bad, place):
    """Where plain JAX has a result that is not finite, so has the product; no history has it."""
    values = {"lhs": X.copy(), "rhs": W.copy(), "gradient": RNG.standard_normal((16, 32)).astype(np.float32)}
    finite = {name: np.abs(np.where(np.arange(value.size).reshape(value.shape) == 37, 0, value)).max() for name, value in values.items()}
    values[place].flat[37] = bad
    scales = DelayedScales.initial(4)

    def run(a, b, scales, g):
        result, backward = jax.vjp(lambda a, b, s: training.delayed_dot_general(a, b, OVER_LAST, s, formats=formats), a, b, scales)
        return result, *backward(g)
    result, to_a, to_b, following = jax.jit(run)(values["lhs"], values["rhs"], scales, values["gradient"])
    plain, backward = jax.vjp(lambda a, b: a @ b, values["lhs"], values["rhs"])
    for found, wanted in zip((result, to_a, to_b), (plain, *backward(values["gradient"])), strict=True):
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
    np.testing.assert_array_equal(np.asarray(following.history)[:, -1],
                                  [finite[name] if name == place else np.abs(values[name]).max() for name in ("lhs", "rhs", "gradient")])
    assert np.isfinite(following.scale).all()


def test_a_loss_scale_that_is_too_large_halves():
    """1000 * 2^118 is within float32, 1000 * 2^119 is not: the scale halves from 2^127 to 2^118, as with plain
    JAX. x is small, so that no sum overflows."""
    x, state, scales, halved = X * np.float32(1e-3), training.LossScale.initial(2.0 ** 127), DelayedScales.initial(4), 0
    for _ in range(12):
        def scaled(w, scales, state=state):
            return state.scaled(1e3 * training.delayed_dot_general(x, w, OVER_LAST, scales).sum())
        plain = jax.grad(lambda w, state=state: state.scaled(1e3 * (x @ w).sum()))(W)
        gradient, scales = jax.grad(scaled, (0, 1))(W, scales)
        fits = bool(state.updated(plain)[1])
        state, found = state.updated(state.unscaled(gradient))
        assert bool(found) == fits
        assert np.isfinite(scales.history).all()
        halved += not fits
    assert halved == 9 and float(state.scale) == 2.0 ** 118


@pytest.mark.parametrize("formats", [("mxfp8_e4m3", "mxfp8_e4m3", "mxfp8_e5m2"), ("nvfp4",) * 3, ("fp8_tensor",) * 3, ("mxint8",) * 3],
                         ids=lambda formats: formats[2])
def test_block_products_show_overflow(formats):
    scale = training.LossScale.initial(2.0 ** 127)
    gradient = jax.grad(lambda w: scale.scaled(1e3 * training.dot_general(X, w, OVER_LAST, formats).sum()))(W)
    assert not bool(scale.updated(scale.unscaled(gradient))[1])


STOCHASTIC = ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8", "nvfp4", "fp8_tensor", "fp8_e5m2_tensor", "fp8_row"]


@pytest.mark.parametrize("format", STOCHASTIC)
def test_gradients_rounded_stochastically_are_not_biased(format):
    """The gradient of x @ I by x is the one that is given. Each element is drawn n times from two neighbours:
    by Hoeffding's bound the means of all lie within `bound` of the values, but with probability 1e-9. Under
    `floor`, and under E4M3 scales to nearest, the largest elements of some blocks would saturate."""
    n, unit = 1500, np.eye(32, dtype=np.float32)
    g = (np.random.default_rng(5).uniform(0.5, 1, (8, 32)) * np.random.default_rng(6).choice([-1, 1], (8, 32))).astype(np.float32)
    g[:, 0] = np.float32([0.99, 0.97, 0.94, 0.9, 0.87, 0.84, 0.8, 0.79])  # amaxes on both sides of every scale
    g[:, 1:] *= 0.75

    @jax.jit
    def gradient(key):
        return jax.vjp(lambda x: training.dot_general(x, unit, OVER_LAST, ("mxint8", "mxint8", format), key=key), unit[:8])[1](jnp.asarray(g))[0]

    found = np.asarray(jax.lax.map(gradient, jax.random.split(jax.random.key(3), n)), np.float64)
    # The neighbours that were drawn; of an element next to one of them perhaps that one alone.
    apart = (found.max(0) - found.min(0)).max(1, keepdims=True)
    bound = apart * math.sqrt(math.log(2 * g.size / 1e-9) / (2 * n))
    assert apart.max() < 0.7
    assert (np.abs(found.mean(0) - g) <= bound).all(), np.abs(found.mean(0) / g - 1).max()
    # Elements of the largest of each row, in whose block they decide the scale.
    assert abs((found.mean(0) / g)[:, 0].mean() - 1) < 0.01


@pytest.mark.mlir
def test_means_of_a_programs_states_are_refused():
    def step(w, x):
        value, gradient = jax.value_and_grad(lambda w: (jnp.square(x @ w)).mean())(w)
        return w - gradient, value
    program = octavo.compile(jax.jit(step).lower(W, X), recipe="fp8-delayed", parameters="^w$")
    state = ProgramState.initial(program)
    _, one = state.run(program, W, X)
    _, two = state.run(program, W, 3 * X)
    one.run(program, W, X)
    for wrong in (jax.tree.map(lambda a, b: (a + b) / 2, one, two), jax.tree.map(np.add, one, two), jax.tree.map(np.zeros_like, one)):
        with pytest.raises(octavo.ProgramError, match="ProgramState: .*added"):
            wrong.run(program, W, X)
    ProgramState(one.scales, one.histories, one.random).run(program, W, X)


def test_scales_of_nvfp4_are_rounded_up_for_stochastic_rounding():
    """S5: of the values that ml_dtypes has, the least from the ratio on; and elements are the two beside each."""
    x = (np.random.default_rng(7).standard_normal((64, 96)) * 2.0 ** np.arange(-6, 6).repeat(8)).astype(np.float32)
    found = octavo.quantize(x, "nvfp4", rule="round-up", rounding="stochastic", key=5)
    outer = np.float32(np.abs(x).max()) / np.float32(2688)
    ratio = np.abs(x.reshape(64, 6, 16)).max(-1) / np.float32(6) / outer
    values = np.arange(0x7F, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    codes = np.minimum(np.searchsorted(values, ratio, "left"), 0x7E).clip(1)
    assert found.outer == outer
    np.testing.assert_array_equal(found.scales.view(np.uint8), codes)
    assert (np.abs(x.reshape(64, 6, 16)) / (values[codes] * outer)[..., None]).max() <= 6.000001
    assert (np.abs(found.dequantize()) <= np.abs(x) + (2 * values[codes] * outer).repeat(16, 1)).all()
