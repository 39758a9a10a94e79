"""Weights that loops carry unchanged are quantized once, before the loop or when they are bound: programs of
jax.lax.scan, fori_loop and while_loop beside the same steps written out, whose weights no loop carries."""
import json
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import octavo
import pytest
from on_xla import on_xla
from program_commands import OCTAVO
from program_commands import octavo as command

pytestmark = pytest.mark.mlir

STEPS, BATCH, WIDTH = 4, 8, 32
BACKENDS = pytest.mark.parametrize("backend", ["compiled", "reference"])


def arrays():
    rng = np.random.default_rng(2)
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    weights = {"input": normal(WIDTH, 4 * WIDTH) / 6, "hidden": normal(WIDTH, 4 * WIDTH) / 6, "bias": normal(4 * WIDTH) / 9}
    return weights, normal(STEPS, BATCH, WIDTH)


def cell(weights, state, x):
    h, c = state
    i, f, g, o = jnp.split(x @ weights["input"] + h @ weights["hidden"] + weights["bias"], 4, -1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def begin():
    return jnp.zeros((BATCH, WIDTH)), jnp.zeros((BATCH, WIDTH))


def written_out(weights, xs):
    state = begin()
    for i in range(STEPS):
        state = cell(weights, state, xs[i])
    return state[0]


def scanned(weights, xs):
    return jax.lax.scan(lambda state, x: (cell(weights, state, x), None), begin(), xs)[0][0]


def counted(weights, xs):
    """fori_loop whose carry has the weights."""
    def one(i, carry):
        weights, state = carry
        return weights, cell(weights, state, xs[i])
    return jax.lax.fori_loop(0, STEPS, one, (weights, begin()))[1][0]


def until(weights, xs):
    """The weights come back from a call of a branch in the body."""
    @jax.jit
    def one(carry):
        i, weights, state = carry
        weights, state = jax.lax.cond(i < 100, lambda: (weights, cell(weights, state, xs[i])), lambda: (weights, state))
        return i + 1, weights, state
    return jax.lax.while_loop(lambda carry: carry[0] < STEPS, one, (0, weights, begin()))[2][0]


def nested(weights, xs):
    """A loop in a loop, which hands on the weights that the inner one has carried."""
    def outer(carry, xs):
        def inner(carry, x):
            weights, state = carry
            return (weights, cell(weights, state, x)), None
        return jax.lax.scan(inner, carry, xs)[0], None
    pairs = xs.reshape(2, STEPS // 2, BATCH, WIDTH)
    return jax.lax.scan(outer, (weights, begin()), pairs)[0][1][0]


def turned(weights, xs):
    """The loop is given the weights the other way round and turns them in each round."""
    other = {**weights, "hidden": weights["hidden"].T}
    def one(carry, x):
        other, state = carry
        return (other, cell({**other, "hidden": other["hidden"].T}, state, x)), None
    return jax.lax.scan(one, (other, begin()), xs)[0][1][0]


LOOPS = [scanned, counted, until, nested, turned]


def lowered(function, *arguments):
    return jax.jit(function).lower(*arguments)


def quantized(function, tmp_path, *options):
    weights, xs = arrays()
    (tmp_path / "program.mlir").write_text(lowered(function, weights, xs).as_text(debug_info=True))
    told = command("quantize", tmp_path / "program.mlir", "--format", "mxfp8_e4m3", *options, "-o", tmp_path / "q.mlir")
    report = json.loads(command("quantize", tmp_path / "program.mlir", "--format", "mxfp8_e4m3", *options, "--json"))
    return (tmp_path / "q.mlir").read_text(), report, told


def weights_quantized_in(text):
    """The function and the loops about it of each octavo.quantize of a weight, turned or not."""
    found, loops = [], 0
    function = ""
    for line in text.splitlines():
        if match := re.search(r"func\.func (?:public |private )?@(\w+)", line):
            function, loops = match[1], 0
        loops += "stablehlo.while(" in line
        if re.search(rf"octavo\.quantize .*tensor<({WIDTH}x{4 * WIDTH}|{4 * WIDTH}x{WIDTH})xf32>", line) and "func.func" not in line:
            found.append((function, loops))
        if loops and re.match(r"    \}", line) and "do {" not in line:
            loops = 0
    return found


@BACKENDS
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxint8", "fp8_tensor"])
@pytest.mark.parametrize("function", LOOPS)
def test_values_are_those_of_the_steps_written_out(function, format, backend):
    weights, xs = arrays()
    options = {"quantize": format, "parameters": "^weights", "backend": backend}
    expected = octavo.compile(lowered(written_out, weights, xs), **options)(weights, xs)
    np.testing.assert_array_equal(octavo.compile(lowered(function, weights, xs), **options)(weights, xs), expected)


@pytest.mark.parametrize("function", LOOPS)
def test_bound_weights_are_quantized_when_they_are_bound(function, tmp_path):
    text, report, told = quantized(function, tmp_path, "--parameters", "^weights")
    assert {dot["reason"] for dot in report["dots"]} == {"weight quantized when it is bound"}
    assert weights_quantized_in(text) == []
    scaled = rf"!octavo\.scaled<{WIDTH}x{4 * WIDTH}xf8E4M3FN, [^>]*> \{{[^}}]*octavo\.quantize ="
    assert len(re.findall(scaled, re.search(r"func\.func public @main\(.*", text)[0])) == 2
    assert report["weight_bytes_after"] * 3 < report["weight_bytes_before"]


@BACKENDS
def test_constants_that_a_loop_carries_are_weights(backend):
    weights, xs = arrays()
    closed = octavo.compile(lowered(lambda xs: scanned(weights, xs), xs), quantize="mxint8", backend=backend)
    assert [dot.reason for dot in closed.dots] == ["weight quantized ahead"] * 2
    expected = octavo.compile(lowered(lambda xs: written_out(weights, xs), xs), quantize="mxint8", backend=backend)(xs)
    np.testing.assert_array_equal(closed(xs), expected)


@BACKENDS
def test_a_function_that_is_called_with_several_weights_takes_each_scaled(backend):
    def layers(weights, xs):
        layer = jax.jit(lambda w, h: jnp.tanh(h @ w))
        return jax.lax.scan(lambda h, x: (layer(weights[1], layer(weights[0], h + x)), None), jnp.zeros((BATCH, WIDTH)), xs)[0]

    def expected(weights, xs):
        h = jnp.zeros((BATCH, WIDTH))
        for i in range(STEPS):
            h = jnp.tanh(jnp.tanh((h + xs[i]) @ weights[0]) @ weights[1])
        return h

    rng = np.random.default_rng(4)
    weights = [rng.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 6 for _ in range(2)]
    xs = arrays()[1]
    options = {"quantize": "mxint8", "parameters": "^weights", "backend": backend}
    made = octavo.compile(lowered(layers, weights, xs), **options)
    assert [dot.reason for dot in made.dots] == ["weight quantized when it is bound"]
    assert [argument.type for argument in made.arguments[:2]] == [f"int8[{WIDTH}, {WIDTH}] scaled by e8m0fnu a block of [32, 1]"] * 2
    np.testing.assert_array_equal(made(weights, xs), octavo.compile(lowered(expected, weights, xs), **options)(weights, xs))


def test_weights_that_a_loop_changes_are_quantized_in_each_round():
    def trained(weights, xs):
        def one(w, x):
            return w - jax.grad(lambda w: jnp.square(x @ w).sum())(w) / 64, None
        return jax.lax.scan(one, weights, xs)[0]

    weights, xs = arrays()
    made = octavo.compile(lowered(trained, weights["input"], xs), quantize="mxint8", parameters="^weights")
    reasons = [dot.reason for dot in made.dots if dot.is_quantized]
    assert "weight quantized in the program: it is used by stablehlo.subtract as well" in reasons


@pytest.mark.parametrize("function", LOOPS)
def test_a_hint_names_weights_that_reach_dots_through_loops_and_calls(function, tmp_path):
    _, report, told = quantized(function, tmp_path)
    assert report["dots_quantized"] == 0
    assert "Arguments that dots without a weight take: " in told
    assert "weights['hidden']" in told and "weights['input']" in told and "weights['bias']" not in told
    assert "--parameters REGEX makes those that it finds weights" in told


@pytest.mark.parametrize("function", LOOPS)
def test_such_programs_are_emitted_for_xla(function, tmp_path):
    """Codes and scales go into loops and calls; XLA's sums are in another order."""
    quantized(function, tmp_path, "--parameters", "^weights")
    weights, xs = arrays()
    done = subprocess.run([OCTAVO.parent / "octavo-opt", tmp_path / "q.mlir", "--octavo-emit"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = on_xla(done.stdout, *jax.tree.leaves(weights), xs)[0]
    expected = octavo.compile(lowered(written_out, weights, xs), quantize="mxfp8_e4m3", parameters="^weights")(weights, xs)
    # A code of an activation that falls to the other side is 2^-4 of it.
    assert np.linalg.norm(found - expected) < 1e-2 * np.linalg.norm(expected)
