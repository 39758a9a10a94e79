"""The named recipes of training: no bias where they round stochastically, and gradients that overflow show."""
import math

import jax
import jax.numpy as jnp
import numpy as np
import octavo
import pytest
from octavo import recipes
from octavo.training import LossScale, ProgramState

pytestmark = pytest.mark.mlir

ROWS, WIDTH, OUT = 64, 64, 32
TRAINING = ["fp8-training", "fp8-delayed", "mxfp8-training", "nvfp4-training"]
RNG = np.random.default_rng(2)
W, X, G = (RNG.standard_normal(shape).astype(np.float32) for shape in ((WIDTH, OUT), (ROWS, WIDTH), (ROWS, OUT)))


def step(w, x, gradient):
    """The gradients of w and of x where that of x @ w is given, and the loss."""
    loss, (to_w, to_x) = jax.value_and_grad(lambda w, x: jnp.sum((x @ w) * gradient), (0, 1))(w, x)
    return to_w, to_x, loss


def compiled(recipe, backend="compiled", **options):
    return octavo.compile(jax.jit(step).lower(W, X, G), recipe=recipe, parameters="^w", backend=backend, **options)


def rules(recipe):
    return [rule for rule in (recipes.read(recipe) if isinstance(recipe, str) else recipe)["rules"] if "weights" in rule]


def stateless(program):
    return not any(argument.name.startswith("octavo.") for argument in program.arguments)


def run(program, state, *arguments):
    if state is None:
        return program(*arguments), None
    return state.run(program, *arguments)


def test_recipes_of_training_are_those():
    """A recipe that rounds stochastically, or has gradients of its own, is among those tested here."""
    found = [name for name in recipes.named() if any(
        rule.get("gradients") or rule.get("gradient_rounding") or rule.get("scaling") for rule in rules(name))]
    assert sorted(found) == sorted(TRAINING)


STOCHASTIC = {
    **{name: name for name in TRAINING if any(rule.get("gradient_rounding") == "stochastic" for rule in rules(name))},
    **{format: {"rules": [{"weights": "mxint8", "gradients": format, "gradient_rounding": "stochastic"}]}
       for format in ("mxfp8_e4m3", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8", "nvfp4", "fp8_row", "fp8_e5m2_tensor")},
    "nvfp4 beside a rule": {"rules": [{"weights": "mxfp8_e4m3", "gradients": "nvfp4", "rule": "ceil", "gradient_rounding": "stochastic"}]},
    "delayed": {"rules": [{"weights": "fp8_tensor", "gradients": "fp8_e5m2_tensor", "scaling": "delayed", "gradient_rounding": "stochastic"}]},
}


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("recipe", STOCHASTIC.values(), ids=STOCHASTIC)
def test_no_recipe_that_rounds_stochastically_is_biased(recipe, backend):
    """With w the identity the gradient of x is the one of the product, each element drawn n times from two
    neighbours: by Hoeffding's bound the means of all lie within `bound` of the values, but with probability
    1e-9. Amaxes of blocks lie on both sides of every power of two times the largest values: under `floor` and
    under E4M3 scales to nearest, elements would saturate."""
    n = 1500 if backend == "compiled" else 150
    w, x = np.eye(WIDTH, OUT, dtype=np.float32), np.zeros((ROWS, WIDTH), np.float32)
    g = (np.random.default_rng(3).uniform(0.3, 0.7, (ROWS, OUT)) * np.random.default_rng(4).choice([-1, 1], (ROWS, OUT)))
    g[:, 0] = np.linspace(0.76, 1.5, ROWS)
    g[:, 16] = np.linspace(1.5, 0.76, ROWS)
    g = g.astype(np.float32)
    program = compiled(recipe, backend)
    state = ProgramState.initial(program, seed=11)
    if state.scales is not None:  # one step, after which scales fit
        _, state = state.run(program, w, x, g)
    total, low, high = np.zeros((ROWS, OUT)), np.full((ROWS, OUT), np.inf), np.full((ROWS, OUT), -np.inf)
    for _ in range(n):
        (_, to_x, _), state = state.run(program, w, x, g)
        drawn = to_x[:, :OUT]
        total, low, high = total + drawn, np.minimum(low, drawn), np.maximum(high, drawn)
    assert ((high > low).mean() > 0.3) and (high - low).max() <= 0.6
    # The neighbours that were drawn; of an element next to one of them perhaps that one alone.
    apart = (high - low).max(1, keepdims=True)
    mean, bound = total / n, apart * math.sqrt(math.log(2 * g.size / 1e-9) / (2 * n))
    assert (np.abs(mean - g) <= bound).all(), np.abs(mean / g - 1).max()
    # The largest of each block, taken together: 128 elements, so that a bias of one percent shows.
    assert abs((mean / g)[:, [0, 16]].mean() - 1) < (0.005 if backend == "compiled" else 0.015)


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("recipe", TRAINING)
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_gradients_that_overflow_show(recipe, backend, bad):
    """Where the gradients of plain JAX are not finite, LossScale halves by the recipe's, too; histories keep
    finite amaxes, and the next step is as if this one had not been."""
    program = compiled(recipe, backend)
    state = None if stateless(program) else ProgramState.initial(program, seed=5)
    g = G.copy()
    g[3, 5] = bad
    loss_scale = LossScale.initial()
    _, state = run(program, state, W, X, G)
    (to_w, to_x, _), after = run(program, state, W, X, g)
    for found, plain in ((to_w, X.T @ g), (to_x, g @ W.T)):
        assert not np.isfinite(plain).all() and not np.isfinite(found).all()
        assert not bool(loss_scale.updated(found)[1])
    if after is not None and after.histories is not None:
        assert np.isfinite(after.histories).all() and np.isfinite(after.scales).all()
        finite = np.abs(np.where(np.isfinite(g), g, 0)).max()
        assert finite in after.histories[:, -1]
    (to_w, _, _), _ = run(program, after, W, X, G)
    assert np.linalg.norm(to_w - X.T @ G) < 0.3 * np.linalg.norm(X.T @ G)


@pytest.mark.parametrize("recipe", TRAINING)
def test_a_loss_scale_follows_as_with_plain_jax(recipe):
    """1000 * 2^118 is within float32, 1000 * 2^119 is not. x is small, so that no product's sum overflows; a
    Hadamard transform adds 16 gradients, a quarter of each."""
    x = X * np.float32(1e-4)
    program, loss_scale = compiled(recipe), LossScale.initial(2.0 ** 127)
    state, halved = None if stateless(program) else ProgramState.initial(program, seed=5), 0
    for _ in range(14):
        with np.errstate(over="ignore"):
            g = np.full((ROWS, OUT), np.float32(1000) * np.float32(loss_scale.scale))
        (to_w, _, _), state = run(program, state, W, x, g)
        loss_scale, fits = loss_scale.updated(loss_scale.unscaled(jnp.asarray(to_w)))
        assert not fits or np.isfinite(g).all()
        halved += not fits
    assert bool(fits) and (9 <= halved <= 11 if recipe == "nvfp4-training" else halved == 9)


def test_a_policy_beside_a_recipe_is_that_of_its_rules():
    g = G.copy()
    g[3, 5] = np.inf
    with pytest.raises(octavo.NonFiniteError):
        compiled("mxfp8")(W, X, g)
    assert np.isnan(compiled("mxfp8", non_finite="propagate")(W, X, g)[0]).any()
    assert not np.isnan(compiled("mxfp8", non_finite="saturate")(W, X, g)[0]).any()
    # A rule that says one keeps its own, and delayed scaling lets all through.
    own = {"rules": [{"weights": "mxfp8_e4m3", "non_finite": "propagate"}]}
    assert np.isnan(compiled(own, non_finite="saturate")(W, X, g)[0]).any()
    program = compiled("fp8-delayed", non_finite="saturate")
    assert not np.isfinite(ProgramState.initial(program).run(program, W, X, g)[0][0]).all()
