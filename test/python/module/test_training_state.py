"""Training steps as JAX exports them with both kinds of state: scales of earlier steps (F1 to F3) and
random numbers (N5). Every product here is of few bits under powers of two, so that no order of sums
rounds and every bit follows from the rules, stated in NumPy with XLA's random numbers."""
import itertools
import json

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import octavo
import pytest
from octavo.training import ProgramState
from program_commands import octavo as command
from rounding import blocks, nearest, stochastic

pytestmark = pytest.mark.mlir

ROWS, WIDTH, OUT, SLOTS = 64, 64, 32, 3
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
DELAYED = {"weights": "fp8_tensor", "gradients": "fp8_e5m2_tensor", "scaling": "delayed", "history": SLOTS,
           "gradient_rounding": "stochastic"}
BLOCKS = {"weights": "mxfp8_e4m3", "gradients": "mxfp8_e5m2", "gradient_rounding": "stochastic"}
RULES = [{"dots": "re:delayed", **DELAYED}, BLOCKS]
PARTS = "delayed", "blocks"
BACKENDS = pytest.mark.parametrize("backend", ["compiled", "reference"])


def loss(params, x, gradients):
    total = 0.0
    for name in PARTS:
        with jax.named_scope(name):
            total += jnp.sum((x @ params[name]) * gradients[name])
    return total


def step(params, momentum, x, gradients):
    """The gradient of a product is what it is multiplied by; an optimizer with momentum."""
    value, (gradient, to_x) = jax.value_and_grad(loss, (0, 1))(params, x, gradients)
    momentum = jax.tree.map(lambda m, g: 0.5 * m + g, momentum, gradient)
    return jax.tree.map(lambda p, m: p - m / 4096, params, momentum), momentum, to_x, value


def drawn(rng, *shape):
    """Within three octaves, and an element in the last column that brings amax to the largest value of
    e4m3fn and of e5m2 under a power of two: both are 1.75 times one."""
    x = (rng.uniform(0.25, 1.7, shape) * rng.choice([-1, 1], shape)).astype(np.float32)
    x[0, -1] = 1.75
    return x


@pytest.fixture(scope="module")
def start():
    rng = np.random.default_rng(7)
    params = {name: drawn(rng, WIDTH, OUT) for name in PARTS}
    return params, jax.tree.map(np.zeros_like, params)


@pytest.fixture(scope="module")
def batches():
    """Magnitudes change from step to step, so that scales do, and some elements saturate."""
    rng = np.random.default_rng(8)
    made = []
    for octave in (0, -2, 3, 1, 0):
        gradients = {name: drawn(rng, ROWS, OUT) * np.float32(2.0 ** octave) for name in PARTS}
        x = drawn(rng, ROWS, WIDTH) * np.float32(2.0 ** -octave)
        x[0, :] = 0  # so that what is largest in the gradient meets nothing, and that of a weight stays
        x[1, -1] = 1.75 * 2.0 ** -octave
        for gradient in gradients.values():
            gradient[1:, -1] = 0
        made.append((x, gradients))
    return made


@pytest.fixture(scope="module")
def lowered(start, batches):
    return jax.jit(step, donate_argnums=(0, 1)).lower(*start, *batches[0])


@pytest.fixture(scope="module")
def programs(lowered):
    return {backend: octavo.compile(lowered, recipe={"rules": RULES}, parameters="^params", backend=backend)
            for backend in ("compiled", "reference")}


def random_numbers(words, counter, shape):
    """Philox of XLA from that many counters after the state on."""
    state = words.view(np.uint64) + np.array([0, counter], np.uint64)
    return np.asarray(jax.lax.rng_bit_generator(state.view(np.uint32), shape, jnp.uint32,
                                                jax.lax.RandomAlgorithm.RNG_PHILOX)[1])


class Rules:
    """Steps by the rules. `order` is that of the three draws in the program: for the gradient of the
    delayed product, which both products of it take, and of the other along its columns and its rows.
    `places` are the rows of the state for x, the weight and the gradient."""

    def __init__(self, order, places):
        self.order, self.places = order, list(places)

    def step(self, params, momentum, state, x, gradients):
        draws = dict(zip(self.order, range(3)))
        numbers = {name: random_numbers(state.random, i * ROWS * OUT // 4, (ROWS, OUT)) for name, i in draws.items()}
        names = [(x, E4M3), (params["delayed"], E4M3), (gradients["delayed"], E5M2)]
        amaxes = np.array([np.abs(value).max() for value, _ in names], np.float32)
        narrow = []
        for (value, dtype), scale in zip(names, state.scales[self.places]):
            round = stochastic if dtype is E5M2 else nearest
            narrow.append(round(value * scale, numbers["delayed"], dtype) / scale)
        xs, ws, gs = narrow
        g = gradients["blocks"]
        to = {"delayed": xs.T @ gs,
              "blocks": blocks(x.T, E4M3) @ blocks(g.T, E5M2, numbers["columns"].T).T}
        to_x = (gs @ ws.T).astype(np.float32) + (
            blocks(g, E5M2, numbers["rows"]) @ blocks(params["blocks"], E4M3).T).astype(np.float32)
        momentum = {name: np.float32(0.5) * momentum[name] + to[name].astype(np.float32) for name in PARTS}
        params = {name: params[name] - momentum[name] / np.float32(4096) for name in PARTS}
        return params, momentum, to_x, self.next(state, amaxes)

    def next(self, state, amaxes):
        """F1 to F3: slot 0 decides with the others, then all move."""
        history = np.array(state.histories)
        history[self.places, 0] = amaxes
        most = np.empty(3, np.float32)
        most[self.places] = [448, 448, 57344]
        scales = most / history.max(1)
        rolled = np.concatenate([np.zeros((3, 1), np.float32), history[:, 2:], history[:, :1]], 1)
        random = state.random.view(np.uint64) + np.array([0, 3 * ROWS * OUT // 4], np.uint64)
        return ProgramState(scales, rolled, random.view(np.uint32))


def all_rules():
    """Which row of the state is which tensor's, and which draw comes first, is the program's choice."""
    orders = itertools.permutations(("delayed", "columns", "rows"))
    return [Rules(*each) for each in itertools.product(orders, itertools.permutations(range(3)))]


def assert_same(found, expected):
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def is_same(found, expected):
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True))


def run(program, params, momentum, state, x, gradients):
    """The step's results come in the trees that it gives, without the loss."""
    (params, momentum, to_x, _), state = state.run(program, params, momentum, x, gradients)
    return params, momentum, to_x, state


@BACKENDS
def test_every_bit_of_steps_is_that_of_the_rules(programs, start, batches, backend):
    program = programs[backend]
    (params, momentum), state = start, ProgramState.initial(program, seed=1234567890123)
    candidates = all_rules()
    for batch in batches:
        found = run(program, params, momentum, state, *batch)
        stated = [(rules, rules.step(params, momentum, state, *batch)) for rules in candidates]
        candidates = [rules for rules, expected in stated if is_same(found, expected)]
        assert candidates, assert_same(found, stated[0][1])
        params, momentum, _, state = found
    assert len(candidates) == 1
    assert len(set(np.asarray(state.scales).tolist())) > 1


def test_state_comes_in_one_order_and_is_donated(lowered, tmp_path):
    text = tmp_path / "step.mlir"
    text.write_text(lowered.as_text(debug_info=True))
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({"rules": RULES}))
    told = command("quantize", text, "--recipe", recipe, "--parameters", "^params", "-o", tmp_path / "q.mlir")
    assert "octavo.scales f32[3]" in told and "octavo.histories f32[3, 3]" in told and "octavo.random ui64[2]" in told
    assert "interpreted 0 operations" in command("run", tmp_path / "q.mlir", "--explain-compile")
    quantized = (tmp_path / "q.mlir").read_text()
    places = [quantized.index(f'octavo.name = "octavo.{name}", tf.aliasing_output = {6 + i} : i32')
              for i, name in enumerate(("scales", "histories", "random"))]
    assert places == sorted(places)


def test_all_state_is_updated_where_it_lies(programs, start, batches):
    """What out= gives back is what a call without it gives."""
    program = programs["compiled"]
    (params, momentum), (x, gradients) = jax.tree.map(np.copy, start), batches[0]
    state = ProgramState.initial(program, seed=3)
    expected = run(program, params, momentum, state, x, gradients)
    arrays = {"octavo.scales": np.copy(state.scales), "octavo.histories": np.copy(state.histories),
              "octavo.random": state.random.view(np.uint64).copy()}
    out = (params["blocks"], params["delayed"], momentum["blocks"], momentum["delayed"],
           np.empty((ROWS, WIDTH), np.float32), np.empty((), np.float32), *arrays.values())
    program(params, momentum, x, gradients, out=out, **arrays)
    assert_same(out[:5], [expected[0]["blocks"], expected[0]["delayed"], expected[1]["blocks"],
                          expected[1]["delayed"], expected[2]])
    assert_same(ProgramState(arrays["octavo.scales"], arrays["octavo.histories"], arrays["octavo.random"].view(np.uint32)),
                expected[3])


def test_training_goes_on_from_a_checkpoint(lowered, programs, start, batches, tmp_path):
    program = programs["compiled"]
    (params, momentum), state = start, ProgramState.initial(program, seed=5)
    for i, batch in enumerate(batches):
        if i == 2:  # a pytree: saved leaf by leaf, through JAX's arrays
            tree = jax.tree.map(jnp.asarray, (params, momentum, state))
            leaves, treedef = jax.tree.flatten(tree)
            octavo.save(tmp_path / "state.safetensors", {str(i): np.asarray(leaf) for i, leaf in enumerate(leaves)})
        params, momentum, _, state = run(program, params, momentum, state, *batch)

    loaded = octavo.load(tmp_path / "state.safetensors")
    again = jax.tree.unflatten(treedef, [loaded[str(i)] for i in range(len(leaves))])
    fresh = octavo.compile(lowered, recipe={"rules": RULES}, parameters="^params")
    for batch in batches[2:]:
        *again, = run(fresh, again[0], again[1], again[-1], *batch)
    assert_same((again[0], again[1], again[-1]), (params, momentum, state))
    assert not is_same(ProgramState.initial(program, seed=5), state)


def test_rotated_tensors_have_scales_of_their_own():
    """Both sides of a weight's gradient, rotated by Hadamard's matrix with random signs, exact in f32."""
    def gradients(w, x, g):
        return jax.value_and_grad(lambda w, x: jnp.sum((x @ w) * g), (0, 1))(w, x)

    rng = np.random.default_rng(5)
    w, x, g = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((WIDTH, OUT), (ROWS, WIDTH), (ROWS, OUT)))
    rule = {"weights": "fp8_tensor", "scaling": "delayed", "history": 2, "hadamard": 16}
    made = octavo.compile(jax.jit(gradients).lower(w, x, g), recipe={"rules": [rule]}, parameters="^w")
    state = ProgramState.initial(made, seed=9)
    signs = 1 - 2.0 * (random_numbers(state.random, 0, (16,)) & 1)
    two = np.array([[1, 1], [1, -1]])
    matrix = signs[:, None] * np.kron(np.kron(two, two), np.kron(two, two)) / 4
    turned = [np.kron(np.eye(ROWS // 16), matrix).T @ each for each in (x, g)]
    (_, (to_w, to_x)), after = state.run(made, w, x, g)
    assert sorted(np.asarray(after.histories)[:, 1]) == sorted(np.abs(each).max() for each in (w, x, g, *turned))
    assert_same(after.random.view(np.uint64), np.array([9, 4], np.uint64))
    (_, (to_w, to_x)), _ = after.run(made, w, x, g)  # now with scales of these values
    assert np.linalg.norm(to_w - x.T @ g) < 0.05 * np.linalg.norm(x.T @ g)
    assert np.linalg.norm(to_x - g @ w.T) < 0.05 * np.linalg.norm(g @ w.T)


def test_a_loop_that_draws_stands_beside_scales_of_the_program(start):
    """Each kind goes where it goes alone: random numbers into the loop, scales to the function's own dots."""
    def update(w, batch):
        x, g = batch
        return w - jax.grad(lambda w: jnp.sum(jnp.square(x @ w) * g))(w) / 8, None

    def trained(w, xs, gs, v, x):
        with jax.named_scope("outside"):
            y = x @ v
        return jax.lax.cond(jnp.any(xs != 0), lambda: jax.lax.scan(update, w, (xs, gs))[0], lambda: w), y

    rng = np.random.default_rng(3)
    w, xs, gs, v, x = (rng.standard_normal(shape).astype(np.float32)
                       for shape in ((32, 16), (6, 8, 32), (6, 8, 16), (32, 8), (4, 32)))
    lowered = jax.jit(trained).lower(w, xs, gs, v, x)
    outside = {"dots": "re:outside", "weights": "fp8_tensor", "scaling": "delayed"}
    integers = {"weights": "mxint8", "gradient_rounding": "stochastic"}  # whose bits are those of both backends
    both = octavo.compile(lowered, recipe={"rules": [outside, integers]}, parameters="^[wv]$")
    alone = [octavo.compile(lowered, recipe={"rules": [outside, {"keep": "f32", "reason": "alone"}]}, parameters="^[wv]$"),
             octavo.compile(lowered, recipe={"rules": [{"dots": "re:outside", "keep": "f32", "reason": "alone"}, integers]},
                            parameters="^[wv]$")]
    states = [ProgramState.initial(made, seed=6) for made in (both, *alone)]
    assert states[1].random is None and states[2].scales is None
    for _ in range(2):
        (w_both, y_both), states[0] = states[0].run(both, w, xs, gs, v, x)
        (_, y), states[1] = states[1].run(alone[0], w, xs, gs, v, x)
        (w, _), states[2] = states[2].run(alone[1], w, xs, gs, v, x)
        assert_same((w_both, y_both, states[0]), (w, y, ProgramState(states[1].scales, states[1].histories, states[2].random)))


@pytest.mark.parametrize("make, message", [
    (lambda made: ProgramState.initial(made, seed=-1), "seed: expected an integer from 0 to 2^64 - 1, found -1"),
    (lambda made: ProgramState.initial(octavo.compile("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                                                      "  return %x : tensor<2xf32>\n}\n")),
     "program: it has neither scales of earlier steps nor random numbers")])
def test_what_is_no_state_is_said(programs, make, message):
    with pytest.raises(octavo.Error) as error:
        make(programs["compiled"])
    assert message in str(error.value)
