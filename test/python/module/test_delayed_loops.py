"""Delayed scaling of what loops, branches and private functions quantize: programs beside the same ones written out,
whose tensors all stand in the function itself."""
import jax
import jax.numpy as jnp
import numpy as np
import octavo
import pytest
from octavo.training import ProgramState

pytestmark = pytest.mark.mlir

BACKENDS = pytest.mark.parametrize("backend", ["compiled", "reference"])
LAYERS, BATCH, WIDTH, SLOTS, STEPS = 3, 8, 32, 3, 5
RULE = {"weights": "fp8_tensor", "gradients": "fp8_e5m2_tensor", "scaling": "delayed", "history": SLOTS}


def normal(*shape, seed=11):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def layer(h, w):
    return jnp.tanh(h @ w)


def written_out(w, x):
    for each in w:
        x = layer(x, each)
    return x


def scanned(w, x):
    return jax.lax.scan(lambda h, w: (layer(h, w), None), x, w)[0]


def indexed(w, x):
    return jax.lax.fori_loop(0, LAYERS, lambda i, h: layer(h, w[i]), x)


def twice(w, x):
    """A loop within a loop: the tensors of each round of both."""
    return jax.lax.fori_loop(0, 2, lambda _, h: scanned(w, h), x)


def called(w, x):
    """One private function that is called for each layer."""
    one = jax.jit(layer)
    for i in range(LAYERS):
        x = one(x, w[i])
    return x


def called_in_a_loop(w, x):
    one = jax.jit(lambda h, a, b: layer(layer(h, a), b))
    return jax.lax.scan(lambda h, w: (one(h, w[0], w[1]), None), x, w.reshape(2, 2, WIDTH, WIDTH))[0]


# The layers that each form goes through, in order.
FORMS = {scanned: [0, 1, 2], indexed: [0, 1, 2], twice: [0, 1, 2] * 2, called: [0, 1, 2], called_in_a_loop: [0, 1, 2, 3]}


def stack(layers):
    # Each layer is of another magnitude, so that a scale of one is not that of another.
    return normal(layers, WIDTH, WIDTH) / 6 * np.float32(2.0) ** np.arange(layers, dtype=np.float32)[:, None, None]


def compiled(function, *arguments, backend="compiled"):
    lowered = jax.jit(function).lower(*arguments)
    return octavo.compile(lowered, recipe={"rules": [RULE]}, parameters="^w", backend=backend)


def assert_same(found, expected):
    jax.tree.map(np.testing.assert_array_equal, found, expected)


@BACKENDS
@pytest.mark.parametrize("form", FORMS)
def test_steps_are_those_of_the_layers_written_out(form, backend):
    w, x = stack(max(FORMS[form]) + 1), normal(BATCH, WIDTH, seed=3)
    apart = [w[i] for i in FORMS[form]]
    made, expected = compiled(form, w, x, backend=backend), compiled(written_out, apart, x, backend=backend)
    assert all(dot.is_quantized for dot in made.dots), made.dots
    states = ProgramState.initial(made), ProgramState.initial(expected)
    assert states[0].scales.shape == (2 * len(apart),)  # of activations and of the weight, of each layer
    for step in range(STEPS):
        given = x * np.float32(2.0) ** -step  # the oldest amax leaves
        found, state = states[0].run(made, w, given)
        wanted, other = states[1].run(expected, apart, given)
        assert_same((found, state.scales, state.histories), (wanted, other.scales, other.histories))
        states = state, other
    assert len(set(state.scales.tolist())) > LAYERS


@BACKENDS
def test_branches_that_are_not_taken_keep_their_scales(backend):
    w, x = stack(3), normal(BATCH, WIDTH, seed=3)

    def deep(w, x):
        return layer(layer(x + 1, w[0]), w[1])

    def shallow(w, x):
        return layer(x - 1, w[0])

    made = compiled(lambda w, x, is_deep: jax.lax.cond(is_deep, lambda x: deep(w, x), lambda x: shallow(w[2:], x), x), w, x, True, backend=backend)
    layers = {True: [w[0], w[1]], False: [w[2]]}
    paths = {True: compiled(deep, layers[True], x, backend=backend), False: compiled(shallow, layers[False], x, backend=backend)}
    state, others = ProgramState.initial(made), {is_deep: ProgramState.initial(path) for is_deep, path in paths.items()}
    assert state.scales.shape == (6,)
    for is_deep in (True, False, True, True):
        before = {name: np.array(getattr(state, name)) for name in ("scales", "histories")}
        found, state = state.run(made, w, x, np.bool_(is_deep))
        wanted, others[is_deep] = others[is_deep].run(paths[is_deep], layers[is_deep], x)
        np.testing.assert_array_equal(found, wanted)
        rows = {False: slice(0, 2), True: slice(2, 6)}  # the branch for False stands first
        passed = rows[not is_deep]
        # An amax of 0 joins the history, which rolls (F2, F3): the next scale is that of the amaxes that are left.
        rolled = np.concatenate([np.zeros_like(before["histories"][passed, :1]), before["histories"][passed, 2:],
                                 np.zeros_like(before["histories"][passed, :1])], 1)
        np.testing.assert_array_equal(state.histories[passed], rolled)
        amax = before["histories"][passed].max(1)
        kept = np.where(amax > 0, np.float32(448) / np.where(amax > 0, amax, 1), before["scales"][passed])
        np.testing.assert_array_equal(state.scales[passed], kept)
    assert set(np.ravel(state.histories[rows[True]] > 0)) == {True, False}


def loss(w, x, run):
    return jnp.square(run(w, x)).sum()


@BACKENDS
def test_gradients_through_a_loop(backend):
    """The first step, whose scales are 1, so that it does not matter which tensors have one together."""
    w, x = stack(LAYERS), normal(BATCH, WIDTH, seed=3)
    made = compiled(lambda w, x: jax.value_and_grad(loss)(w, x, scanned), w, x, backend=backend)
    apart = list(w)
    expected = compiled(lambda w, x: jax.value_and_grad(loss)(w, x, written_out), apart, x, backend=backend)
    assert sum(dot.is_quantized for dot in made.dots) == 3, made.dots
    (value, gradient), state = ProgramState.initial(made).run(made, w, x)
    (wanted, each), other = ProgramState.initial(expected).run(expected, apart, x)
    # Where the elements lie decides the order of a compiled sum (C3).
    np.testing.assert_allclose(value, wanted, rtol=2 * x.size * 2.0**-24 if backend == "compiled" else 0)
    np.testing.assert_array_equal(gradient, np.stack(each))
    assert set(np.unique(state.histories)) >= set(np.unique(other.histories))


def test_loops_of_unknown_length_are_told():
    w, x = normal(WIDTH, WIDTH) / 6, normal(BATCH, WIDTH, seed=3)

    def until_small(w, x):
        return jax.lax.while_loop(lambda h: jnp.abs(h).max() > 0.01, lambda h: layer(h, w), x)

    with pytest.warns(UserWarning, match="of which the number of rounds is not known; count up to a constant, as jax.lax.scan does"):
        made = compiled(until_small, w, x)
    assert [dot.is_quantized for dot in made.dots] == [False]


def test_loops_of_too_many_rounds_are_told():
    w, x = normal(WIDTH, WIDTH) / 6, normal(BATCH, WIDTH, seed=3)

    def many(w, x):
        return jax.lax.fori_loop(0, 300, lambda _, h: jax.lax.fori_loop(0, 300, lambda _, h: layer(h, w), h), x)

    with pytest.warns(UserWarning, match="within loops of more than 65536 rounds"):
        compiled(many, w, x)
