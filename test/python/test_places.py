"""Rules for the first and the last layer and for routers: which dots of a network and of its training step they
take. The networks say themselves what their layers are."""
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from program_commands import octavo

pytestmark = pytest.mark.mlir

TOKENS, WIDTH, EXPERTS, INNER = 16, 64, 8, 128
X = np.ones((TOKENS, WIDTH), np.float32)


def weights(**shapes):
    return {name: np.ones(shape, np.float32) for name, shape in shapes.items()}


def step(loss):
    def changed(p, x):
        value, gradient = jax.value_and_grad(loss)(p, x)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, p, gradient)
    return changed


def decided(tmp_path, function, parameters, *arguments, place):
    """Of each dot its sizes, and whether the rule keeps it."""
    (tmp_path / "net.mlir").write_text(jax.jit(function).lower(parameters, *arguments).as_text(debug_info=True))
    (tmp_path / "rules.json").write_text(json.dumps({"rules": [
        {"place": place, "keep": "f32", "reason": "of the place"}, {"weights": "mxfp8_e4m3"}]}))
    report = json.loads(octavo("quantize", tmp_path / "net.mlir", "--recipe", tmp_path / "rules.json",
                               "--parameters", "^p", "--json"))
    kept = [dot for dot in report["dots"] if dot["reason"].endswith("rules[0] keeps it: of the place")]
    return sorted((dot["m"], dot["n"], dot["k"]) for dot in kept), len(report["dots"])


def mlp(p, x):
    for name in ("a", "b", "c"):
        x = jnp.tanh(x @ p[f"{name}"])
    return jnp.sum(x ** 2)


MLP = weights(a=(WIDTH, 96), b=(96, 80), c=(80, 32))


@pytest.mark.parametrize("train, again", [
    (step, 0), (lambda loss: step(jax.checkpoint(loss)), 1),
    (lambda loss: jax.grad(jax.checkpoint(loss)), 0)])  # without the loss, what is recomputed is all of the forward pass
@pytest.mark.parametrize("place, kept", [
    # The product, the gradient of the weight, and that of what it multiplied but for the first, whose nobody asks for.
    ("first", [(TOKENS, 96, WIDTH), (96, WIDTH, TOKENS)]),
    ("last", [(TOKENS, 32, 80), (TOKENS, 80, 32), (32, 80, TOKENS)])])
def test_a_layer_is_kept_with_its_gradients(tmp_path, place, kept, train, again):
    found, count = decided(tmp_path, train(mlp), MLP, X, place=place)
    assert found == sorted(kept + [kept[0]] * again) and count == 8 + 3 * again


def test_layers_that_read_one_tensor_are_told_apart(tmp_path):
    """Query, key and value: as wide, but only one is the first."""
    def attention(p, x):
        h = jnp.tanh(x)
        q, k, v = (h @ p[name] for name in "qkv")
        return jnp.sum(jnp.tanh(q) * jnp.sin(k) * v)
    found, _ = decided(tmp_path, lambda p, x: jax.grad(attention, (0, 1))(p, x),
                       weights(q=(WIDTH, WIDTH), k=(WIDTH, WIDTH), v=(WIDTH, WIDTH)), X, place="first")
    assert len(found) == 3


def test_the_last_is_the_last_that_runs(tmp_path):
    """Bodies of loops are functions after the one that calls them."""
    def net(p, x):
        x = lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x @ p["a"], p["stack"])[0]
        return x @ p["z"]
    p = weights(a=(WIDTH, 96), stack=(3, 96, 96), z=(96, 32))
    assert decided(tmp_path, net, p, X, place="last") == ([(TOKENS, 32, 96)], 3)
    assert decided(tmp_path, net, p, X, place="first") == ([(TOKENS, 96, WIDTH)], 3)


def logits(p, x):
    return x @ p["router"]


def gathered(p, x):
    value, chosen = lax.top_k(jax.nn.softmax(logits(p, x)), 2)
    return jnp.einsum("tk,tkn->tn", value, jnp.einsum("td,tkdn->tkn", x, p["experts"][chosen]))


def one_hot(p, x):
    gates = jax.nn.one_hot(jnp.argmax(logits(p, x), -1), EXPERTS)
    return jnp.einsum("te,ten->tn", gates, jnp.einsum("td,edn->ten", x, p["experts"]))


def dispatched(p, x):
    order = jnp.argsort(jnp.argmax(logits(p, x), -1))
    return jnp.tanh(x[order]) @ p["experts"][0]


def one_at_a_time(p, x):
    def token(_, x):
        w = p["experts"][jnp.argmax(logits(p, x[None])[0])]
        return None, x @ w
    return lax.scan(token, None, x)[1]


ROUTED = weights(router=(WIDTH, EXPERTS), experts=(EXPERTS, WIDTH, INNER))


@pytest.mark.parametrize("net", [gathered, one_hot, dispatched, one_at_a_time])
def test_routers_are_found(tmp_path, net):
    found, count = decided(tmp_path, net, ROUTED, X, place="router")
    assert [(n, k) for _, n, k in found] == [(EXPERTS, WIDTH)] and count >= 2


def test_gradients_of_routers_are_kept(tmp_path):
    found, _ = decided(tmp_path, step(lambda p, x: jnp.sum(gathered(p, jnp.tanh(x @ p["a"])) ** 2)),
                       ROUTED | weights(a=(WIDTH, WIDTH)), X, place="router")
    assert found == sorted([(TOKENS, EXPERTS, WIDTH), (TOKENS, WIDTH, EXPERTS), (EXPERTS, WIDTH, TOKENS)])


VOCABULARY = 48
LANGUAGE = weights(table=(VOCABULARY, WIDTH), head=(WIDTH, VOCABULARY), a=(WIDTH, WIDTH))


def greedy(p, x):
    """The next token is looked up, in a table."""
    return p["table"][jnp.argmax(x @ p["head"], -1)] @ p["a"]


def greedy_by_one_hot(p, x):
    return jax.nn.one_hot(jnp.argmax(x @ p["head"], -1), VOCABULARY) @ p["table"]


def likelihood(p, x):
    scores = jax.nn.log_softmax(x @ p["head"])
    return jnp.take_along_axis(scores, jnp.argmax(scores, -1)[:, None], 1)


def accuracy(p, x, labels):
    return jnp.mean((jnp.argmax(x @ p["head"], -1) == labels) * 1.0)


@pytest.mark.parametrize("net", [greedy, greedy_by_one_hot, likelihood])
def test_what_chooses_tokens_is_no_router(tmp_path, net):
    assert decided(tmp_path, net, LANGUAGE, X, place="router")[0] == []


def test_what_is_measured_is_no_router(tmp_path):
    labels = np.zeros(TOKENS, np.int32)
    assert decided(tmp_path, accuracy, LANGUAGE, X, labels, place="router")[0] == []


def test_named_recipes_keep_routers(tmp_path):
    (tmp_path / "net.mlir").write_text(jax.jit(gathered).lower(ROUTED, X).as_text(debug_info=True))
    for recipe in ("mxfp8", "mxfp8-inner", "mxfp4-weights", "mxfp4-mxfp8", "nvfp4", "fp8-training", "fp8-delayed",
                   "mxfp8-training", "nvfp4-training", "fp8-row", "fp8-block"):
        report = json.loads(octavo("quantize", tmp_path / "net.mlir", "--recipe", recipe, "--parameters", "^p", "--json"))
        reasons = [dot["reason"] for dot in report["dots"] if dot["weight"] == "p['router']"]
        assert len(reasons) == 1 and "keeps it: " in reasons[0], recipe
