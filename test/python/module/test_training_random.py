"""Training steps as JAX exports them, with gradients that are rounded stochastically (N5) and products
that are rotated by random Hadamard transforms: random numbers from XLA, values from NumPy and ml_dtypes."""
import json
import math

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from program_commands import octavo
from rounding import blocks

import octavo as module

pytestmark = pytest.mark.mlir

ROWS, WIDTH, OUT = 64, 64, 32
STOCHASTIC = {"weights": "mxfp8_e4m3", "gradients": "mxfp8_e5m2", "gradient_rounding": "stochastic"}


def step(w, x, gradient):
    """The gradients of w and of x where that of x @ w is given, and the loss."""
    loss, (to_w, to_x) = jax.value_and_grad(lambda w, x: jnp.sum((x @ w) * gradient), (0, 1))(w, x)
    return to_w, to_x, loss


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(7)
    return [rng.standard_normal(shape).astype(np.float32) for shape in ((WIDTH, OUT), (ROWS, WIDTH), (ROWS, OUT))]


@pytest.fixture(scope="module")
def program(tmp_path_factory, arrays):
    path = tmp_path_factory.mktemp("step") / "step.mlir"
    path.write_text(jax.jit(step).lower(*arrays).as_text(debug_info=True))
    return path


@pytest.fixture
def written(tmp_path):
    def write(*rules):
        path = tmp_path / "recipe.json"
        path.write_text(json.dumps({"rules": rules}))
        return path
    return write


def compiled(program, rule, backend="compiled"):
    return module.compile(program, recipe={"rules": [rule]}, parameters="^w", backend=backend)


def state(seed, counter=0):
    return np.array([seed, counter], np.uint64)


def random_numbers(start, shape):
    """Philox of XLA, from that state on."""
    words = np.frombuffer(start.tobytes(), np.uint32)
    return np.asarray(jax.lax.rng_bit_generator(words, shape, jnp.uint32, jax.lax.RandomAlgorithm.RNG_PHILOX)[1])


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_values_are_those_of_the_rule_and_of_xlas_numbers(program, arrays, backend):
    w, x, g = arrays
    e4m3, e5m2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
    made = compiled(program, STOCHASTIC, backend)
    names = [argument.name for argument in made.arguments]
    assert names == ["w", "x", "gradient", "octavo.random"]
    random = state(1234567890123, 5)
    for _ in range(2):
        to_w, to_x, _, after = made(w, x, g, random)
        # The gradient is drawn for along its rows for one product, along its columns for the other,
        # each in the layout that it has and in the order of the program: four numbers a counter.
        first, second = random, random + state(0, g.size // 4)
        by_first, by_second = random_numbers(first, g.shape), random_numbers(second, g.shape)
        expected_w = [blocks(x.T, e4m3) @ blocks(g.T, e5m2, r.T).T for r in (by_first, by_second)]
        expected_x = [blocks(g, e5m2, r) @ blocks(w, e4m3).T for r in (by_second, by_first)]
        order = [np.abs(to_w - each).max() < 1e-5 * np.abs(each).max() for each in expected_w].index(True)
        np.testing.assert_allclose(to_x, expected_x[order], atol=1e-5 * np.abs(expected_x[order]).max())
        np.testing.assert_array_equal(after, random + state(0, g.size // 2))
        random = after


def test_state_is_donated_and_told(program, written, tmp_path):
    quantized = tmp_path / "q.mlir"
    text = octavo("quantize", program, "--recipe", written(STOCHASTIC), "--parameters", "^w", "-o", quantized)
    assert "@main takes and returns octavo.random ui64[2]" in text
    assert 'octavo.name = "octavo.random", tf.aliasing_output = 3 : i32' in quantized.read_text()
    report = json.loads(octavo("quantize", program, "--recipe", written(STOCHASTIC), "--parameters", "^w", "--json"))
    assert report["random"] == ["main"]
    assert sum(dot["reason"].endswith("; gradient rounded stochastically") for dot in report["dots"]) == 2


def test_numbers_depend_on_the_seed_alone(program, arrays):
    made = compiled(program, STOCHASTIC)
    once, again, other = (made(*arrays, state(seed)) for seed in (3, 3, 4))
    for a, b in zip(once, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert (once[0] != other[0]).mean() > 0.5


def test_rounding_is_unbiased(program):
    """The mean of N roundings lies within Hoeffding's bound of the value: each is within a step of two
    neighbours, so that all elements do but with probability 1e-9. Rounding to nearest does not."""
    n, g = 2000, np.random.default_rng(9).uniform(1, 2, (ROWS, OUT)).astype(np.float32)
    w, x = np.zeros((WIDTH, OUT), np.float32), np.eye(ROWS, WIDTH, dtype=np.float32)
    # round-up: no scale is so small that its largest element saturates, which would be a bias.
    means = {}
    for rounding in ("stochastic", "nearest"):
        made = compiled(program, STOCHASTIC | {"rule": "round-up", "gradient_rounding": rounding})
        total, random = np.zeros((WIDTH, OUT)), [state(11)] if rounding == "stochastic" else []
        for _ in range(n if random else 1):
            to_w, _, _, *random = made(w, x, g, *random)
            total += to_w
        means[rounding] = total / (n if rounding == "stochastic" else 1)
    step = 2.0 ** -2  # of e5m2, from 1 to 2, under any power of two
    bound = step * math.sqrt(math.log(2 * g.size / 1e-9) / (2 * n))
    assert np.abs(means["stochastic"] - g).max() < bound
    assert np.abs(means["nearest"] - g).max() > 2 * bound


@pytest.mark.parametrize("size", [4, 16, 64])
@pytest.mark.parametrize("rows", [64, 40])  # 40: padded with zeros
def test_a_rotated_product_is_the_product_where_nothing_is_rounded(size, rows, tmp_path):
    """Integers of -1 to 1 become multiples of size^-1/2 within size^1/2 of 0, which MXINT8 has exactly:
    the product of rotated sides is that of the sides in f64."""
    rng = np.random.default_rng(size)
    w, x, g = (rng.integers(-1, 2, shape).astype(np.float32) for shape in ((32, 32), (rows, 32), (rows, 32)))
    program = tmp_path / "step.mlir"
    program.write_text(jax.jit(step).lower(w, x, g).as_text(debug_info=True))
    for backend in ("compiled", "reference"):
        made = compiled(program, {"weights": "mxint8", "hadamard": size, "gradient_rounding": "stochastic"}, backend)
        to_w, to_x, _, _ = made(w, x, g, state(5))
        np.testing.assert_array_equal(to_w, x.T.astype(np.float64) @ g)
        np.testing.assert_array_equal(to_x, g.astype(np.float64) @ w.T)


def test_rotation_spreads_outliers_by_signs_of_the_seed(program, arrays):
    """Against the matrix by hand: signs of XLA's numbers, Sylvester's matrix."""
    two = np.array([[1, 1], [1, -1]])
    matrix = np.kron(np.kron(two, two), np.kron(two, two)) / 4
    w, x, g = arrays
    e4m3 = ml_dtypes.float8_e4m3fn
    made = compiled(program, {"weights": "mxfp8_e4m3", "hadamard": 16})
    for seed in (1, 2):
        to_w, _, _, after = made(w, x, g, state(seed))
        signs = 1 - 2.0 * (random_numbers(state(seed), (16,)) & 1)
        rotation = np.kron(np.eye(ROWS // 16), signs[:, None] * matrix)
        expected = blocks((x.T @ rotation).astype(np.float32), e4m3) @ blocks((g.T @ rotation).astype(np.float32), e4m3).T
        # Sums of 16 f32 are in an order of their own: one rounding in many may go another way.
        assert np.linalg.norm(to_w - expected) < 2e-3 * np.linalg.norm(expected)
        assert np.linalg.norm(to_w - x.T @ g) > 1e-2 * np.linalg.norm(expected)
        np.testing.assert_array_equal(after, state(seed, 4))


@pytest.mark.parametrize("rows", [64, 40])  # 40: the last blocks are short
def test_products_of_gradients_have_the_interpreters_bits(rows, tmp_path):
    """C1: those of integers."""
    rng = np.random.default_rng(rows)
    w, x, g = (rng.standard_normal(shape).astype(np.float32) for shape in ((48, 24), (rows, 48), (rows, 24)))
    program = tmp_path / "step.mlir"
    program.write_text(jax.jit(step).lower(w, x, g).as_text(debug_info=True))
    rule = {"weights": "mxint8", "gradient_rounding": "stochastic"}
    made = compiled(program, rule)
    assert made.explain()["interpreted"] == []
    to_w, to_x, _, after = made(w, x, g, state(6))
    expected_w, expected_x, _, expected_after = compiled(program, rule, "reference")(w, x, g, state(6))
    np.testing.assert_array_equal(to_w, expected_w)
    np.testing.assert_array_equal(to_x, expected_x)
    np.testing.assert_array_equal(after, expected_after)


@pytest.mark.parametrize("name", ["mxfp8-training", "nvfp4-training"])
def test_named_recipes_train(name, program, arrays):
    w, x, g = arrays
    made = module.compile(program, recipe=name, parameters="^w")
    to_w, to_x, _, _ = made(w, x, g, state(1))
    bound = 0.1 if name == "mxfp8-training" else 0.3
    assert np.linalg.norm(to_w - x.T @ g) < bound * np.linalg.norm(x.T @ g)
    assert np.linalg.norm(to_x - g @ w.T) < bound * np.linalg.norm(g @ w.T)
    reasons = "\n".join(dot.reason for dot in made.dots)
    assert reasons.count("rounded stochastically") == 2
    assert reasons.count("both sides rotated, 16 elements at a time") == (name == "nvfp4-training")
    explained = made.explain()
    assert explained["interpreted"] == [] and explained["interpreted_whole"] == ""
    narrow = name.split("-")[0]
    assert sum(count for what, count in explained["products"] if what.count(narrow) == 2) == 3


# Bits are the same on both backends (C1: products of integers).
INTEGERS = {"weights": "mxint8", "gradient_rounding": "stochastic"}
RATE = 0.125


def update(w, batch):
    x, gradient = batch
    to_w = jax.grad(lambda w: jnp.sum(jnp.square(x @ w) * gradient))(w)
    return w - RATE * to_w, None


def scanned(w, xs, gradients):
    return jax.lax.scan(update, w, (xs, gradients))[0]


def nested(w, xs, gradients):
    batches = jax.tree.map(lambda a: a.reshape(2, 3, *a.shape[1:]), (xs, gradients))
    return jax.lax.scan(lambda w, each: jax.lax.scan(update, w, each), w, batches)[0]


def called(w, xs, gradients):
    half = jax.jit(scanned)
    return half(half(w, xs[:3], gradients[:3]), xs[3:], gradients[3:])


def branching(w, xs, gradients):
    def one(w, batch):
        trains = jnp.any(batch[1] != 0)
        return jax.lax.cond(trains, lambda: update(w, batch)[0], lambda: w), trains
    return jax.lax.scan(one, w, (xs, gradients))[0]


def in_a_branch(w, xs, gradients):
    return jax.lax.cond(jnp.any(xs != 0), lambda: scanned(w, xs, gradients), lambda: w)


def until(w, xs, gradients):
    def one(state):
        i, w = state
        return i + 1, update(w, (xs[i], gradients[i]))[0]
    return jax.lax.while_loop(lambda state: state[0] < jnp.sum(xs[:, 0, 0] < 1e9), one, (0, w))[1]


@pytest.fixture(scope="module")
def batches():
    rng = np.random.default_rng(21)
    return [rng.standard_normal(shape).astype(np.float32) for shape in ((32, 16), (6, 8, 32), (6, 8, 16))]


def text(function, *arrays):
    return jax.jit(function).lower(*arrays).as_text(debug_info=True)


def compiled_text(program, parameters, backend="compiled", **options):
    return module.compile(program, recipe={"rules": [INTEGERS]}, parameters=parameters, backend=backend, **options)


@pytest.mark.parametrize("function, backends", [
    (scanned, ["compiled", "reference"]), (nested, ["compiled", "reference"]), (called, ["compiled"]),
    (branching, ["compiled", "reference"]), (in_a_branch, ["compiled", "reference"]), (until, ["compiled"])])
def test_a_loop_of_steps_is_the_runs_of_its_step(function, backends, batches):
    """Each round goes on with the state that the one before has left; the step by itself is above."""
    w, xs, gradients = batches
    if function is branching:
        gradients = gradients * np.arange(6)[:, None, None].clip(0, 1).astype(np.float32)
    once = compiled_text(text(update, w, (xs[0], gradients[0])), "^w")
    random = start = state(17, 3)
    expected = w
    for x, gradient in zip(xs, gradients, strict=True):
        if gradient.any():
            expected, random = once(expected, x, gradient, random)
    program = text(function, w, xs, gradients)
    for backend in backends:
        # What a function makes of its parameter is no weight where it is called again.
        made = compiled_text(program, "^w", backend, both_activations=function is called)
        assert all(dot.lhs and dot.rhs for dot in made.dots)
        assert sum("rounded stochastically" in dot.reason for dot in made.dots) == 1
        found, after = made(w, xs, gradients, start)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(after, random)
    if function is scanned:
        assert compiled_text(program, "^w").explain()["interpreted"] == []


def test_what_a_loop_makes_of_a_parameter_is_a_weight(batches):
    def evaluated(w, xs, gradients):
        return xs[0] @ scanned(w, xs, gradients)

    made = compiled_text(text(evaluated, *batches), "^w", "reference")
    assert made.dots[0].reason == "weight quantized in the program: it is a result of stablehlo.while"


def test_rounds_draw_numbers_of_their_own(batches):
    """The same step twice: N5 with XLA's numbers from the state that each round begins with."""
    def twice(w, x, gradient):
        def one(w, _):
            return w, jax.value_and_grad(lambda w: jnp.sum((x @ w) * gradient))(w)
        return jax.lax.scan(one, w, length=2)[1]

    w, x, gradient = batches[0], batches[1][0], batches[2][0]
    rule = {"weights": "mxfp8_e4m3", "gradients": "mxfp8_e5m2", "gradient_rounding": "stochastic"}
    made = module.compile(text(twice, w, x, gradient), recipe={"rules": [rule]}, parameters="^w")
    start, counters = state(5), gradient.size // 4
    _, found, after = made(w, x, gradient, start)
    for i, each in enumerate(found):
        r = random_numbers(start + state(0, i * counters), gradient.shape)
        expected = short(x.T, ml_dtypes.float8_e4m3fn) @ short(gradient.T, ml_dtypes.float8_e5m2, r.T).T
        np.testing.assert_allclose(each, expected, atol=1e-5 * np.abs(expected).max())
    assert (found[0] != found[1]).mean() > 0.5
    np.testing.assert_array_equal(after, start + state(0, 2 * counters))
    for a, b in zip(made(w, x, gradient, start)[1:], (found, after), strict=True):
        np.testing.assert_array_equal(a, b)


def short(x, dtype, r=None):
    """`blocks` of rows shorter than a block."""
    padded = np.zeros((len(x), 32), np.float32)
    padded[:, :x.shape[1]] = x
    bits = None if r is None else np.zeros(padded.shape, np.uint32)
    if r is not None:
        bits[:, :x.shape[1]] = r
    return blocks(padded, dtype, bits)[:, :x.shape[1]]


def layered(ws, x, gradient):
    return jax.value_and_grad(lambda ws, x: jnp.sum(jax.lax.scan(lambda x, w: (x @ w, None), x, ws)[0] * gradient),
                              (0, 1))(ws, x)[1]


def unrolled(ws, x, gradient):
    def forward(ws, x):
        for w in ws:
            x = x @ w
        return jnp.sum(x * gradient)
    return jax.value_and_grad(forward, (0, 1))(ws, x)[1]


def test_layers_in_a_loop_are_the_unrolled_layers(batches):
    """The gradient is what the backward loop carries; its name is outside, at the calls of the body."""
    rng = np.random.default_rng(3)
    ws, x, gradient = (rng.standard_normal(shape).astype(np.float32) for shape in ((3, 32, 32), (8, 32), (8, 32)))
    results = []
    for function in (layered, unrolled):
        made = compiled_text(text(function, ws, x, gradient), "", both_activations=True)
        assert all("rounded stochastically" in dot.reason for dot in made.dots if "transpose" in dot.name)
        results.append(made(ws, x, gradient, state(4)))
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


def test_dots_that_no_state_reaches_are_left(tmp_path):
    program = tmp_path / "left.mlir"
    dot = """
  %g = stablehlo.negate %x : tensor<32x32xf32> loc("transpose(jvp())/neg")
  %y = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0]
      : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>"""
    program.write_text("""
func.func @main(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %y = stablehlo.composite "a.product" %x, %w {decomposition = @inner}
      : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}
func.func private @inner(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {""" + dot + """
  return %y : tensor<32x32xf32>
}
func.func @loop(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %r = stablehlo.while(%i = %x) : tensor<32x32xf32>
  cond {""" + dot + """
    %a = stablehlo.slice %y [0:1, 0:1] : (tensor<32x32xf32>) -> tensor<1x1xf32>
    %b = stablehlo.reshape %a : (tensor<1x1xf32>) -> tensor<f32>
    %c = stablehlo.compare LT, %b, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return %i : tensor<32x32xf32>
  }
  return %r : tensor<32x32xf32>
}
""")
    report = json.loads(octavo("quantize", program, "--recipe", "mxfp8-training", "--both-activations", "--json"))
    assert report["random"] == []
    start = "random numbers are state of the program, which does not reach the dot: "
    assert [dot["reason"] for dot in report["dots"]] == [
        start + "@inner is private and is not, or not only, called",
        start + "it is within the condition of stablehlo.while"]


@pytest.mark.parametrize("rule, message", [
    ({"gradient_rounding": "stochastik"}, 'rules[0].gradient_rounding: no rounding of gradients "stochastik"; near it: '
     "stochastic"),
    ({"hadamard": 8}, "rules[0].hadamard: expected 4, 16, 64 or 256 elements, found 8"),
    ({"hadamard": "16"}, 'rules[0].hadamard: expected 4, 16, 64 or 256 elements, found "16"'),
    ({"hadamard": 2 ** 32 + 16}, "rules[0].hadamard: expected 4, 16, 64 or 256 elements, found 4294967312"),
    ({"preset": "torchao-rceil", "gradient_rounding": "stochastic"}, 'the preset "torchao-rceil" decides the rounding')])
def test_rules_that_are_wrong(program, written, rule, message):
    assert message in octavo("quantize", program, "--recipe", written({"weights": "mxfp8_e4m3"} | rule), code=3)


def test_a_calibration_is_not_of_rotated_values(program, arrays, written, tmp_path):
    for name, array in zip(("w", "x", "gradient"), arrays):
        np.save(tmp_path / f"{name}.npy", array)
    inputs = ",".join(f"{name}={tmp_path / name}.npy" for name in ("w", "x", "gradient"))
    octavo("calibrate", program, "--inputs", inputs, "--parameters", "^w", "-o", tmp_path / "c.json")
    rule = {"weights": "fp8_tensor", "scales": str(tmp_path / "c.json"), "hadamard": 16}
    assert "a Hadamard transform changes the values" in octavo("quantize", program, "--recipe", written(rule), code=3)

def test_errors_of_dots_are_of_programs_without_random_numbers(program, arrays):
    made = module.compile(program)
    with pytest.raises(module.ProgramError, match="gradients to nearest"):
        made.dot_errors(*arrays, recipe={"rules": [STOCHASTIC]}, parameters="^w")


def test_a_state_without_a_value_says_where_it_comes_from(program, arrays):
    with pytest.raises(module.ProgramError, match=r"octavo\.random is any seed and 0 before the first step, then "
                                                  r"what the step before returned; in Python "
                                                  r"octavo\.training\.ProgramState\.initial\(program, seed\) makes it"):
        compiled(program, STOCHASTIC)(*arrays)
