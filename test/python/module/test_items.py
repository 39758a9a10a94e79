"""Programs that leave the number of their items open, a batch most often: one executable for any number of them."""

import os
import pathlib
import subprocess
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import octavo

RANDOM = np.random.default_rng(17)
W1, W2 = (RANDOM.integers(-2, 3, shape).astype(np.float32) for shape in [(16, 64), (64, 24)])
TABLE = RANDOM.integers(-9, 9, (50, 16)).astype(np.float32)


def mlp(x):
    return jnp.maximum(x @ W1, 0) @ W2 + 1


def attention(x):
    q = (x @ W1).reshape(x.shape[0], 6, 4, 16)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, q) / 64
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), q)


def norm(x):
    centered = x - x.mean(-1, keepdims=True)
    return centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + 1e-5)


def embedding(ids):
    return jnp.take(TABLE, ids, axis=0, mode="clip").sum(1) @ W1


def with_what_is_fixed(x):
    return x * 2, W1 @ W2, jnp.maximum(x, 0).sum(1)


def transformer(x):
    y = norm(x + attention(x).reshape(x.shape[0], 6, 64) @ W1.T)
    return norm(y + jax.nn.gelu(y @ W1, approximate=False) @ W1.T)


def in_turns(x):
    return jax.lax.fori_loop(0, 5, lambda i, y: y * 0.5 + x, x)


def halves(x):
    return (x.astype(jnp.bfloat16) @ W1.astype(jnp.bfloat16)).astype(jnp.float32)


def running_sums(x):
    return jax.lax.cumsum(x, axis=1) + jax.lax.cumsum(x, axis=2, reverse=True)


def decoded_keys(x):
    return jnp.einsum("bqd,bkd->bqk", (x * 2).astype(F32), x.astype(F32))


def convolved(x):
    images = x.reshape(x.shape[0], 6, 6, 16)
    weights = W1.reshape(4, 16, 16)[:, :, :8].reshape(2, 2, 16, 8)
    return jax.lax.conv_general_dilated(images, weights, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


NHWC = ("NHWC", "HWIO", "NHWC")


def gradients_of_weights(x):
    """Of convolutions: padded, with steps, dilated, in groups, of each feature by itself, of bf16, features first, of
    one place, and along the items."""
    images, line = x.reshape(x.shape[0], 6, 6, 16), x.reshape(1, -1, 16)
    turned = images.transpose(0, 3, 1, 2)

    def gradient(x, shape, **options):
        found, pull = jax.vjp(lambda w: jax.lax.conv_general_dilated(x, w, **options), jnp.ones(shape, x.dtype))
        return pull(jnp.roll(x.reshape(-1), 1)[: found.size].reshape(found.shape))[0].astype(F32)

    def of_images(shape, steps=(1, 1), **options):
        return gradient(images, shape, window_strides=steps, padding="SAME", dimension_numbers=NHWC, **options)
    return (of_images((3, 3, 16, 8)), of_images((3, 3, 16, 8), (2, 2)), of_images((2, 2, 16, 8), rhs_dilation=(2, 2)),
            of_images((3, 3, 4, 16), feature_group_count=4), of_images((3, 3, 1, 16), feature_group_count=16),
            gradient(images.astype(jnp.bfloat16), (3, 3, 16, 8), window_strides=(1, 1), padding="SAME", dimension_numbers=NHWC),
            gradient(turned, (8, 16, 3, 3), window_strides=(1, 1), padding="VALID"), of_images((1, 1, 16, 8)),
            gradient(line, (3, 16, 8), window_strides=(1,), padding="SAME", dimension_numbers=("NWC", "WIO", "NWC")))


def along_the_items(x):
    """Windows over the items, and as many features."""
    line = jax.lax.conv_general_dilated(x[None, :, 0], W3, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
    return line[0], jax.lax.conv_general_dilated(W3, x[:, :, :8].transpose(1, 2, 0), (1,), "SAME",
                                                 dimension_numbers=("NWC", "WIO", "NWC"))


def chosen(x):
    """What JAX gathers with extents that it computes from those that are open."""
    return jnp.take_along_axis(x, x.astype(I32)[:, :3] % 16, 1)


def slices(x):
    return jax.lax.dynamic_slice(x, (0, jnp.asarray(W1)[0, 0].astype(I32) + 3), (x.shape[0], 5)) + jax.lax.dynamic_slice(
        x, (0, 40), (x.shape[0], 5))


def updated(x):
    """As a cache of keys that a decoder appends to, on an axis between others."""
    place = jnp.asarray(W1)[0, 1].astype(I32) + 3
    longer = jax.lax.dynamic_update_slice(x, -x[:, :2], (0, place, 0))
    return jax.lax.dynamic_update_slice(longer, x[:, :, 2:4] * 2, (0, 0, place)), longer


def steps(x):
    """A scan over an axis that is turned to the front, of which kernels read rows of all items."""
    def step(h, now):
        h = jnp.maximum(now @ W1[:, :16] - h, 0)
        return h % 8, h
    return jax.lax.scan(step, jnp.zeros((x.shape[0], 16)), x.swapaxes(0, 1))


def lstm(x):
    def step(state, now):
        h, c = state
        i, f, o, u = jnp.split(now @ W1 + h @ W1[::-1], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zero = jnp.zeros((x.shape[0], 16))
    last, all_of_them = jax.lax.scan(step, (zero, zero), x.swapaxes(0, 1))
    return all_of_them.swapaxes(0, 1), *last


def gru_both_ways(x):
    def step(h, now):
        a, b = now @ W1[:, :48], h @ W1[:, 16:]
        z = jax.nn.sigmoid(a[:, :16] + b[:, :16])
        r = jax.nn.sigmoid(a[:, 16:32] + b[:, 16:32])
        h = (1 - z) * jnp.tanh(a[:, 32:] + r * b[:, 32:]) + z * h
        return h, h
    zero, turned = jnp.zeros((x.shape[0], 16)), x.swapaxes(0, 1)
    there, back = (jax.lax.scan(step, zero, turned, reverse=reverse)[1] for reverse in (False, True))
    return jnp.concatenate([there, back], -1).swapaxes(0, 1), back[0]


def scan_in_a_scan(x):
    """Of a matrix for each item: over its rows, and in each over the columns."""
    def row(total, line):
        def column(carried, each):
            carried = (carried * 2 + each) % 16
            return carried, carried - each
        total, parts = jax.lax.scan(column, total, line)
        return total, parts.sum(0)
    return jax.lax.scan(row, jnp.zeros(x.shape[0]), x.transpose(1, 2, 0))


def over_all(x):
    return x - x.max(0), x.sum(0), (x * x).sum(), x.argmin(0), jnp.any(x > 2, 0)


def ends(x):
    """What is joined along the items and along another axis, behind which they lie."""
    return jnp.concatenate([x, x * 2]), jnp.concatenate([x.T * 2, x.T + 1], 0), jnp.concatenate([x.T, x.T - 1], 1)


def means(x):
    return x.mean(0), x - x.mean((0, 1)), jnp.mean(x * x), x / x.shape[0]


def by_number(x):
    """What a run takes the number of items for."""
    rows = jnp.arange(x.shape[0])
    return x[rows, x.astype(I32)[:, 0] % 4], x[::-1] * 2, jnp.where(rows[:, None] < x.shape[0] - 2, x, -x), x[-1]


def over_items(x):
    """A loop of as many turns."""
    return jax.lax.fori_loop(0, x.shape[0], lambda i, h: (h * 2 + x[i]) % 16, jnp.zeros(x.shape[1:])), x * (x.shape[0] // 2)


def along_items(x):
    return jnp.cumsum(x, 0), jnp.sort(x, 0), jnp.argsort(x[:, 0]), jax.lax.cummax(x, 0, reverse=True)


def along_others(x):
    """Where items lie between what is sorted or summed."""
    turned = x.swapaxes(0, 1)
    return jnp.sort(turned, 0), jnp.cumsum(turned, 0), jnp.argsort(x.transpose(1, 2, 0), 1)


W3 = np.random.default_rng(4).integers(-1, 2, (3, 16, 8)).astype(np.float32)


def gradients(loss):
    """The step of a training on what the items give together."""
    def step(x):
        value, found = jax.value_and_grad(loss)((W1, W2), x)
        return value, *(w - each / 16 for w, each in zip((W1, W2), found))
    return step


def squares(weights, x):
    first, second = weights
    return jnp.sum((jnp.maximum(x @ first, 0) @ second) ** 2)


def entropy(weights, x):
    first, second = weights
    classes = jax.nn.log_softmax(jnp.tanh(x @ first) @ second)
    return -jnp.mean(classes[:, 3])


def in_attention(weights, x):
    first, second = weights
    keys = jnp.tanh(x @ first)
    scores = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", keys, keys) / 8)
    return jnp.mean((scores @ keys @ second) ** 2)


def softly(x):
    """Keys that are a right side twice, and the left one of the first of three products."""
    keys = jnp.tanh(x)
    return jnp.einsum("bqd,bkd->bqk", jnp.tanh(jnp.einsum("bqd,bkd->bqk", keys, keys) / 8) @ keys, keys)


def seen(weights, x):
    """By a network of convolutions."""
    first, second = weights[0].reshape(2, 2, 16, 16), weights[1].reshape(2, 2, 16, 24)
    images = jax.lax.conv_general_dilated(x.reshape(x.shape[0], 6, 6, 16), first, (2, 2), "SAME", dimension_numbers=NHWC)
    images = jax.lax.conv_general_dilated(jnp.tanh(images / 16), second, (1, 1), "SAME", dimension_numbers=NHWC)
    return jnp.mean(jax.nn.relu(images).mean((1, 2)) ** 2)


def recurrent(weights, x):
    def step(state, now):
        state = jnp.tanh(now @ weights[0] + state)
        return state, state @ weights[1]
    _, found = jax.lax.scan(step, jnp.zeros((x.shape[0], 64), x.dtype), x.swapaxes(0, 1))
    return jnp.mean(found ** 2)


def contracted(x):
    """Over the items, alone and with another axis, from the left and from the right, and from a part of what there is."""
    return (jnp.einsum("bti,btj->ij", x, x * 2), jnp.einsum("bti,btj->tij", x, x), jnp.einsum("bti,bsi->ts", x, x),
            x[:, 0].T @ x[:, 1:].reshape(-1, 32), jnp.einsum("bti,b->ti", x, x[:, 0, 0]))


def with_one_for_all(x):
    """Of as many rows or columns as there are items, which lie in memory once."""
    line = jnp.broadcast_to(W1[0], (x.shape[0], 64))
    ones = jnp.ones((x.shape[0], 1, 1, 64), x.dtype)
    return x.T @ line, jax.lax.conv_general_dilated(x.T.reshape(16, 1, 1, x.shape[0]), ones, (1, 1), "SAME",
                                                    dimension_numbers=("NHWC", "IHWO", "NHWC"))


def as_columns(x):
    """What is of the items from left to right, by one matrix and by one for each of several."""
    return W1.T @ x[:, 0].T, jnp.einsum("tij,bti->tjb", W3, x), jnp.einsum("tij,bti->tbj", W3, x)


def over_the_items(x):
    """Scans whose turns are the items."""
    last, all_of_them = jax.lax.scan(lambda state, now: ((state + now) % 8, state * 2), jnp.zeros(4, x.dtype), x)
    return last, all_of_them, jax.lax.map(lambda row: jnp.cumsum(row) * 2, x)


def products_over_the_items(x):
    return jax.lax.scan(lambda state, now: ((state @ W1[:, :16] + now) % 8, state), jnp.zeros(16, x.dtype), x)


def with_more(x):
    """Tensors of some more than the items."""
    more = jnp.concatenate([jnp.ones((2, 16), x.dtype), x])
    return more * 2, jnp.pad(x, ((1, 2), (0, 0))), more @ W1, more.sum(0), jnp.cumsum(more, 0)


def with_fewer(x):
    return jnp.diff(x, axis=0) @ W1, x[1:] - x[:-1]


def rolled(x):
    return jnp.roll(x, 1, axis=0), jnp.roll(x, -1, 0) * 2


def all_pairs(x):
    """Tensors of the items' square."""
    products = x @ x.T
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    return products, squares.argmin(1), squares.sum(), jnp.where(jnp.eye(x.shape[0], dtype=bool), 0, products).max(0), (products * 2) @ x


def heads(x, weights=(W1, W2)):
    return [(x @ w[:, :16] if w.shape[0] == 16 else x @ w[:16, :16]).reshape(-1, 4, 4) for w in (*weights, W1[:, 16:])]


def over_a_sequence(x):
    """Attention over an open length, each place to those before it."""
    q, k, v = heads(x)
    scores = jnp.einsum("qhd,khd->hqk", q, k) / 2
    places = jnp.arange(x.shape[0])
    scores = jnp.where(places[:, None] >= places, scores, -1e30)
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores), v).reshape(-1, 16) @ W1


def one_to_all(weights, x):
    """The loss of an attention over an open length."""
    q, k, v = heads(x, weights)
    return jnp.sum(jnp.tanh(jnp.einsum("hqk,khd->qhd", jax.nn.softmax(jnp.einsum("qhd,khd->hqk", q, k) / 4), v)) ** 2)


F32, I32 = np.float32, np.int32
ANY = {  # function, axes behind the items, type, range
    "mlp": (mlp, "16", F32), "attention": (attention, "6, 16", F32), "norm": (norm, "5, 16", F32),
    "embedding": (embedding, "7", I32), "what is fixed": (with_what_is_fixed, "16", F32),
    "transformer": (transformer, "6, 16", F32), "halves": (halves, "16", F32), "elementwise": (jnp.tanh, "3, 5", F32),
    "decoded keys": (decoded_keys, "6, 16", np.float16), "running sums": (running_sums, "20, 24", F32),
    "sorted": (lambda x: jnp.sort(x, axis=1), "7, 3", F32), "in order": (lambda x: jnp.argsort(x % 2), "33", I32),
    "largest": (lambda x: jax.lax.top_k(x, 4), "16", F32), "convolved": (convolved, "36, 16", F32),
    "chosen": (chosen, "16", F32), "slices": (slices, "16", F32), "updated": (updated, "6, 16", F32),
    "steps": (steps, "6, 16", F32), "lstm": (lstm, "6, 16", F32), "gru": (gru_both_ways, "5, 16", F32),
    "scan in a scan": (scan_in_a_scan, "3, 4", F32), "over all": (over_all, "16", F32), "ends": (ends, "5", F32),
    "swapped": (lambda x: (jnp.tanh(x).swapaxes(0, 1), x.transpose(2, 1, 0) * 2), "6, 16", F32),
    "decides by it": (lambda x: jnp.where(jnp.arange(x.shape[0]) < 3, x, -x), "", F32),
    "means": (means, "4, 16", F32), "by number": (by_number, "4", F32), "over items": (over_items, "4", F32),
    "along items": (along_items, "3", F32), "along others": (along_others, "20, 3", F32),
    "turned": (lambda x: (x @ W1).T, "16", F32), "contracted": (contracted, "3, 16", F32),
    "contracted, i8": (lambda x: jnp.einsum("bi,bj->ij", x, x, preferred_element_type=jnp.int32), "24", np.int8),
    "contracted, complex": (lambda x: jnp.real(jax.lax.complex(x, x + 1).T @ jax.lax.complex(x, x * 2)), "12", F32),
    "columns": (as_columns, "3, 16", F32), "squares": (gradients(squares), "16", F32),
    "gradients of weights": (gradients_of_weights, "36, 16", F32), "seen": (gradients(seen), "36, 16", F32),
    "one for all": (with_one_for_all, "16", F32), "along the items": (along_the_items, "3, 16", F32),
    "entropy": (gradients(entropy), "16", F32), "in attention": (gradients(in_attention), "6, 16", F32),
    "softly": (softly, "6, 64", F32),
    "recurrent": (gradients(recurrent), "5, 16", F32), "over the items": (over_the_items, "4", F32),
    "products over the items": (products_over_the_items, "16", F32), "more": (with_more, "16", F32),
    "fewer": (with_fewer, "16", F32), "rolled": (rolled, "4", F32), "the first": (lambda x: x[:4] * 2, "4", F32),
    "all pairs": (all_pairs, "16", F32), "over a sequence": (over_a_sequence, "16", F32),
    "one to all": (gradients(one_to_all), "16", F32),
    "places of each": (lambda x: x.T.reshape(-1)[:6] * 2, "6", F32),
}
EXACT = {"mlp", "what is fixed", "embedding", "halves", "decoded keys", "running sums", "sorted", "in order", "largest",
         "convolved", "chosen", "slices", "updated", "steps", "scan in a scan", "over all", "ends", "decides by it", "means",
         "by number", "over items", "along items", "along others", "turned", "contracted", "contracted, i8",
         "contracted, complex", "gradients of weights", "one for all", "along the items", "columns", "over the items", "products over the items", "more", "fewer", "rolled", "all pairs"}
SUMS_OF_ITEMS = {"entropy", "in attention", "recurrent", "seen", "over a sequence", "one to all"}
FROM = {name: f"any number of items from {fewest} on, fewer compiled for each" for name, fewest in [
    ("rolled", 2), ("the first", 4), ("places of each", 6)]}
NOT_ANY = {
    "the first half": (lambda x: x[: (x.shape[0] + 1) // 2] * 2, "4", F32),
}


def exported(function, axes, dtype, items="b"):
    shape = jax.export.symbolic_shape(f"{items}, {axes}")
    return jax.export.export(jax.jit(function))(jax.ShapeDtypeStruct(shape, dtype))


def drawn(items, axes, dtype):
    shape = (items, *(int(axis) for axis in axes.split(",") if axis.strip()))
    return np.random.default_rng(items).integers(-3, 4, shape).astype(dtype)


def listed(results):
    return jax.tree.leaves(results)


def assert_bits(found, wanted):
    for a, b in zip(listed(found), listed(wanted), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_array_equal(a.view(np.uint32), b.view(np.uint32))


@pytest.mark.parametrize("name", ANY)
def test_any_number_of_items(name):
    """The bits of a program that is exported for so many, but for sums along the items (C3), and where all sums are
    exact, the interpreter's."""
    function, axes, dtype = ANY[name]
    program = octavo.compile(exported(function, axes, dtype))
    reference = octavo.compile(exported(function, axes, dtype), backend="reference")
    for items in (3, 1, 2, 16, 17, 40, 3, 300, 1200):
        x = drawn(items, axes, dtype)
        found = program(x)
        assert program.explain()["open_extents"] == FROM.get(name, "any number of items")
        known = octavo.compile(exported(function, axes, dtype, items))(x)
        if name in SUMS_OF_ITEMS:
            for a, b in zip(found, known, strict=True):
                np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
        else:
            assert_bits(found, known)
        if name in EXACT and items < 50:
            assert_bits(found, reference(x))


@pytest.mark.parametrize("name", ["mlp", "transformer", "attention", "softly"])
@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "mxint8", "fp8_row"])
def test_any_number_of_quantized_items(name, format, tmp_path):
    """The bits of a program that is exported for so many, in a folder too, and near the interpreter's."""
    function, axes, dtype = ANY[name]
    options = {"quantize": format, "both_activations": True}
    program = octavo.compile(exported(function, axes, dtype), **options)
    (tmp_path / "p.bin").write_bytes(exported(function, axes, dtype).serialize())
    subprocess.run([pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo", "compile", tmp_path / "p.bin", "-o", tmp_path / "folder",
                    "--quantize", format, "--both-activations"], check=True, capture_output=True)
    folder = octavo.load_program(tmp_path / "folder")
    for items in (3, 1, 16, 17, 3, 300):
        x = drawn(items, axes, dtype)
        closed = octavo.compile(exported(function, axes, dtype, items), **options)
        found = program(x)
        assert_bits(found, closed(x))
        assert_bits(folder(x), found)
        if items < 10:
            near = octavo.compile(exported(function, axes, dtype, items), backend="reference", **options)(x)
            for a, b in zip(listed(found), listed(near), strict=True):
                assert np.abs(a - b).max() <= 0.05 * np.abs(b).max()  # codes beside each other, after other last bits


@pytest.mark.parametrize("name, format", [
    *((name, format) for name in ("squares", "columns") for format in ("mxfp8_e4m3", "mxfp4", "mxint8", "nvfp4", "fp8_row", "fp8_tensor")),
    ("contracted", "mxfp8_e4m3"), ("contracted", "mxfp4")])
def test_quantized_products_along_items(name, format):
    """Which contract them, in blocks that they do not fill, under one scale of all, or have them for columns: the bits
    of a program that is exported for so many, but for a sum of all items (C3)."""
    function, axes, dtype = ANY[name]
    options = {"quantize": format, "both_activations": True}
    program = octavo.compile(exported(function, axes, dtype), **options)
    for items in (3, 1, 2, 16, 17, 31, 32, 33, 64, 300, 3):
        x = drawn(items, axes, dtype)
        found = listed(program(x))
        known = listed(octavo.compile(exported(function, axes, dtype, items), **options)(x))
        assert program.explain()["open_extents"] == "any number of items" and not program.explain()["interpreted"]
        assert_bits([each for each in found if each.shape], [each for each in known if each.shape])
        for a, b in zip(found, known, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5)
        if items < 40:
            near = octavo.compile(exported(function, axes, dtype, items), backend="reference", **options)(x)
            for a, b in zip(found, listed(near), strict=True):
                assert np.abs(a - b).max() <= 1e-4 * np.abs(b).max()


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4"])
@pytest.mark.parametrize("name", ["entropy", "seen", "recurrent", "over a sequence", "one to all"])
def test_quantized_training_of_any_number_of_items(name, format):
    """Of layers, of a network of convolutions, of a scan and of an attention over the items. What a sum over the items
    scales may have other codes."""
    function, axes, dtype = ANY[name]
    options = {"quantize": format, "both_activations": True}
    program = octavo.compile(exported(function, axes, dtype), **options)
    for items in (3, 1, 33, 300):
        x = drawn(items, axes, dtype)
        known = octavo.compile(exported(function, axes, dtype, items), **options)(x)
        for a, b in zip(listed(program(x)), listed(known), strict=True):
            assert np.abs(a - b).max() <= 0.01 * np.abs(b).max()
        assert program.explain()["open_extents"] == "any number of items" and not program.explain()["interpreted"]


def test_scaled_tensors_along_items():
    """Quantized, with random bits too, taken apart and dequantized: the interpreter's bits."""
    text = """
!blocks = !octavo.scaled<6x?xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @main(%x: tensor<?x6xf32>, %bits: tensor<?x6xui32>) -> (tensor<6x?xf32>, tensor<6x6xf32>) {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x6xf32>) -> tensor<6x?xf32>
  %r = stablehlo.transpose %bits, dims = [1, 0] : (tensor<?x6xui32>) -> tensor<6x?xui32>
  %0 = octavo.quantize %t, rule = floor : tensor<6x?xf32> -> !blocks
  %1 = octavo.dequantize %0 : !blocks -> tensor<6x?xf32>
  %2 = octavo.quantize %t random(%r : tensor<6x?xui32>), rule = floor, rounding = stochastic : tensor<6x?xf32> -> !blocks
  %3 = octavo.dot_general %0, %2, contracting_dims = [1] x [1] : (!blocks, !blocks) -> tensor<6x6xf32>
  return %1, %3 : tensor<6x?xf32>, tensor<6x6xf32>
}
"""
    program, reference = octavo.compile(text), octavo.compile(text, backend="reference")
    for items in (3, 32, 1, 33, 100):
        x, bits = drawn(items, "6", F32), np.random.default_rng(items).integers(0, 2**32, (items, 6), np.uint32)
        assert_bits(program(x, bits), reference(x, bits))
        assert program.explain()["open_extents"] == "any number of items"


def test_tensors_of_any_size_besides_the_items():
    shapes = [jax.ShapeDtypeStruct((600, 600), F32), jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 600"), F32)]
    program = octavo.compile(jax.export.export(jax.jit(lambda w, x: jnp.tanh(x @ w)))(*shapes), quantize="mxfp8_e4m3", parameters="^w$")
    program(np.ones((600, 600), F32), drawn(3, "600", F32))
    assert program.explain()["open_extents"] == "any number of items"


@pytest.mark.parametrize("name", NOT_ANY)
def test_what_is_not_the_same_for_each_item_is_compiled_again(name):
    function, axes, dtype = NOT_ANY[name]
    program = octavo.compile(exported(function, axes, dtype))
    for items in (3, 1, 2, 5, 40):
        x = drawn(items, axes, dtype)
        assert_bits(program(x), octavo.compile(exported(function, axes, dtype, items))(x))
        assert program.explain()["open_extents"].startswith("compiled for each set of extents: ")


def test_rows_of_items_fit_a_stack():
    """A kernel keeps a row as long as there are items; of more than fit, each number has its own."""
    program = octavo.compile(exported(lambda x: jax.nn.softmax(x[:, :2].T, -1), "4", F32))
    for items, expected in ((5, "any number"), (65536, "any number"), (65537, "compiled for each"), (7, "any number")):
        x = drawn(items, "4", F32)
        wanted = np.exp(x[:, :2].T.astype(np.float64))
        np.testing.assert_allclose(program(x), wanted / wanted.sum(1, keepdims=True), rtol=1e-4)
        assert program.explain()["open_extents"].startswith(expected)


def test_a_scan_over_another_axis_is_compiled():
    program = octavo.compile(exported(steps, "6, 16", F32))
    explained = program.explain()
    assert explained["interpreted_whole"] == "" and explained["interpreted"] == [] and explained["kernels"] > 0
    assert explained["open_extents"] == "any number of items"


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxint8"])
def test_scans_of_quantized_items(format):
    program = octavo.compile(exported(lstm, "6, 16", F32), quantize=format)
    for items in (3, 1, 17, 40):
        x = drawn(items, "6, 16", F32)
        assert_bits(program(x), octavo.compile(exported(lstm, "6, 16", F32, items), quantize=format)(x))
        assert program.explain()["open_extents"] == "any number of items"


EXTENTS = """func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<i32>, tensor<i32>) {{
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %{other}, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.negate %x : tensor<?x4xf32>
  %1 = call @f(%n, %m) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = call @f({second}) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<i32>, tensor<i32>
}}
func.func private @f(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.subtract %a, %b : tensor<i32>
  %1 = stablehlo.clamp %zero, %0, %one : tensor<i32>
  return %1 : tensor<i32>
}}
"""


@pytest.mark.parametrize("other, second, wanted", [
    ("x", "%n, %m", lambda n, m: (0, 0)), ("y", "%n, %n", lambda n, m: (n > m, 0)),
    ("x", "%m, %three", lambda n, m: (0, n > 3))])
def test_numbers_that_extents_make_are_numbers_of_each(other, second, wanted):
    """Of many items the second function gives the same, whatever their number is."""
    program = octavo.compile(EXTENTS.format(other=other, second=second))
    for n, m in ((5, 5), (5, 4), (3, 3), (1, 7), (7, 7)):
        x = drawn(n, "4", F32)
        negated, first, then = program(x, drawn(m, "4", F32))
        assert_bits(negated, -x)
        assert (int(first), int(then)) == wanted(n, m)


def test_no_items():
    """Assertions of JAX want one; other programs have none. What is not of items is there all the same."""
    with pytest.raises(octavo.ShapeError, match="Expected value >= 1"):
        octavo.compile(exported(mlp, "16", F32))(np.zeros((0, 16), F32))
    program = octavo.compile("""func.func @main(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) -> (tensor<?x3xf32>, tensor<4x3xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %1 = stablehlo.tanh %0 : tensor<?x3xf32>
  %2 = stablehlo.negate %w : tensor<4x3xf32>
  return %1, %2 : tensor<?x3xf32>, tensor<4x3xf32>
}
""")
    w = np.arange(12, dtype=F32).reshape(4, 3)
    for items in (2, 0, 5, 0):
        x = drawn(items, "4", F32)
        y, fixed = program(x, w)
        np.testing.assert_allclose(y, np.tanh(x @ w), rtol=1e-6)
        np.testing.assert_array_equal(fixed, -w)
        assert y.shape == (items, 3)


def test_matrices_and_transforms_of_any_number():
    text = """func.func @main(%x: tensor<Ax5x5xf32>, %y: tensor<Ax5x5xf32>) -> (tensor<Ax5x5xf32>, tensor<Ax5x5xf32>) {
  %z = stablehlo.complex %x, %y : tensor<Ax5x5xcomplex<f32>>
  %p = stablehlo.dot_general %z, %z, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<Ax5x5xcomplex<f32>>, tensor<Ax5x5xcomplex<f32>>) -> tensor<Ax5x5xcomplex<f32>>
  %f = stablehlo.fft %p, type = FFT, length = [5, 5] : (tensor<Ax5x5xcomplex<f32>>) -> tensor<Ax5x5xcomplex<f32>>
  %re = stablehlo.real %f : (tensor<Ax5x5xcomplex<f32>>) -> tensor<Ax5x5xf32>
  %l = stablehlo.cholesky %x, lower = true : tensor<Ax5x5xf32>
  %v = "stablehlo.triangular_solve"(%l, %y) {left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<Ax5x5xf32>, tensor<Ax5x5xf32>) -> tensor<Ax5x5xf32>
  return %re, %v : tensor<Ax5x5xf32>, tensor<Ax5x5xf32>
}
"""
    program = octavo.compile(text.replace("Ax", "?x"))
    for items in (3, 1, 40, 2):
        x, y = drawn(items, "5, 5", F32), drawn(items + 50, "5, 5", F32)[:items]
        x = (x @ x.swapaxes(1, 2) + 6 * np.eye(5)).astype(F32)
        found = program(x, y)
        assert program.explain()["open_extents"] == "any number of items"
        assert_bits(found, octavo.compile(text.replace("Ax", f"{items}x"), backend="reference")(x, y))


def test_arguments_that_are_refused_say_nothing_of_others():
    b, = jax.export.symbolic_shape("b")
    shapes = [jax.ShapeDtypeStruct((b, columns), F32) for columns in (4, 3)]
    program = octavo.compile(jax.export.export(jax.jit(lambda x, y: (x * 2, y * 2)))(*shapes))
    with pytest.raises(octavo.ShapeError, match="Input shapes do not match"):
        program(drawn(5, "4", F32), drawn(4, "3", F32))
    assert_bits(program(drawn(5, "4", F32), drawn(5, "3", F32)), (drawn(5, "4", F32) * 2, drawn(5, "3", F32) * 2))
    assert program.explain()["open_extents"] == "any number of items"


def test_several_open_extents():
    """Of a batch of sequences, the batch is the items; each length of a sequence has an executable for any batch."""
    def function(x):
        return jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", x, x) / 16)
    program = octavo.compile(exported(function, "s, 16", F32))
    for items, length in [(2, 7), (3, 7), (7, 7), (5, 9), (9, 2), (1, 1), (4, 1)]:
        x = drawn(items, f"{length}, 16", F32)
        assert_bits(program(x), octavo.compile(exported(function, f"{length}, 16", F32, items))(x))
        assert program.explain()["open_extents"] == "any number of items"


def test_two_open_arguments():
    """Whose first extents are one number, or two: what is right for one number of both is not taken for two."""
    program = octavo.compile("""func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = stablehlo.add %x, %x : tensor<?x4xf32>
  %1 = stablehlo.multiply %y, %y : tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}
""")
    for first, second in [(3, 3), (2, 5), (5, 2), (4, 4), (4, 5), (1, 3), (2, 3)]:
        x, y = drawn(first, "4", F32), drawn(second, "4", F32)
        assert_bits(program(x, y), (x + x, y * y))
        assert program.explain()["open_extents"] == "any number of items"


def test_assertions_hold_for_each_number():
    shape = jax.export.symbolic_shape("b, 16", constraints=["b <= 64"])
    program = octavo.compile(jax.export.export(jax.jit(mlp))(jax.ShapeDtypeStruct(shape, F32)))
    for items in (3, 64, 5):
        program(drawn(items, "16", F32))
        assert program.explain()["open_extents"] == "any number of items"
    with pytest.raises(octavo.ShapeError, match="64"):
        program(drawn(65, "16", F32))
    program(drawn(6, "16", F32))


def test_what_reads_fixed_items_is_not_for_fewer():
    text = """func.func @main(%x: tensor<?x4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.slice %x [0:3, 0:4] : (tensor<?x4xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.negate %0 : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
"""
    program = octavo.compile(text)
    for items in (5, 3, 4):
        x = drawn(items, "4", F32)
        assert_bits(program(x), -x[:3])
        with pytest.raises(octavo.ShapeError, match="slice"):
            program(drawn(2, "4", F32))
    asserted = octavo.compile(text.replace("  %0", """  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %p = stablehlo.compare GE, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p, %n) {api_version = 2 : i32, error_message = "b >= 3, found {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %0""", 1))
    for items in (5, 3):
        x = drawn(items, "4", F32)
        assert_bits(asserted(x), -x[:3])
        assert asserted.explain()["open_extents"] == "any number of items"
    with pytest.raises(octavo.ShapeError, match="b >= 3, found 2"):
        asserted(drawn(2, "4", F32))


def test_results_in_the_callers_memory():
    program = octavo.compile(exported(mlp, "16", F32))
    for items in (3, 50, 7):
        x = drawn(items, "16", F32)
        out = np.full((items, 24), np.nan, F32)
        assert program(x, out=out) is out
        np.testing.assert_array_equal(out, np.maximum(x @ W1, 0) @ W2 + 1)
        with pytest.raises(octavo.ShapeError):
            program(x, out=np.zeros((items + 1, 24), F32))
    with pytest.raises(octavo.ShapeError):
        program(drawn(3, "17", F32))


def test_a_scan_in_the_callers_memory():
    program = octavo.compile(exported(lstm, "6, 16", F32))
    for items in (3, 50, 7):
        x = drawn(items, "6, 16", F32)
        out = [np.full(shape, np.nan, F32) for shape in ((items, 6, 16), (items, 16), (items, 16))]
        assert all(a is b for a, b in zip(program(x, out=out), out))
        assert_bits(tuple(out), program(x))


def test_donated_caches():
    """Which a loop appends to."""
    b, = jax.export.symbolic_shape("b")

    def append(cache, new):
        def step(cache, each):
            place, now = each
            return jax.lax.dynamic_update_slice(cache, now[:, None] * 2, (0, place, 0)), now.sum(1)
        return jax.lax.scan(step, cache, (jnp.arange(3) + 2, new.swapaxes(0, 1)))

    program = octavo.compile(jax.export.export(jax.jit(append, donate_argnums=0))(
        jax.ShapeDtypeStruct((b, 8, 4), F32), jax.ShapeDtypeStruct((b, 3, 4), F32)))
    for items in (3, 1, 17):
        cache, new = drawn(items, "8, 4", F32), drawn(items, "3, 4", F32)
        wanted = cache.copy(), new.sum(2).T
        wanted[0][:, 2:5] = new * 2
        found = program(cache, new, out=[cache, np.empty((3, items), F32)])
        assert found[0] is cache
        assert_bits(tuple(found), tuple(np.ascontiguousarray(each) for each in wanted))
        assert program.explain()["open_extents"] == "any number of items"


@pytest.mark.parametrize("function", [transformer, lstm])
def test_many_numbers_at_once(function):
    program = octavo.compile(exported(function, "6, 16", F32))
    numbers = [1, 2, 3, 5, 17, 33, 64, 120]
    wanted = {items: listed(program(drawn(items, "6, 16", F32))) for items in numbers}
    failed = []

    def call(first):
        for turn in range(24):
            items = numbers[(first + turn * 3) % len(numbers)]
            found = listed(program(drawn(items, "6, 16", F32)))
            if not all(np.array_equal(a, b) for a, b in zip(found, wanted[items], strict=True)):
                failed.append(items)

    threads = [threading.Thread(target=call, args=[i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_any_number_of_products_of_scaled_tensors():
    """A batch of them, which lie in codes and scales; whole numbers, so that the order of sums is nobody's."""
    program = octavo.compile("""
!codes = tensor<?x5x64xf8E4M3FN>
!scales = tensor<?x5x2xf8E8M0FNU>
!scaled = !octavo.scaled<?x5x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
func.func @main(%x: tensor<?x4x64xf32>, %codes: !codes, %scales: !scales) -> tensor<?x4x5xf32> {
  %k = octavo.pack %codes, %scales : (!codes, !scales) -> !scaled
  %y = octavo.dot_general %x, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<?x4x64xf32>, !scaled) -> tensor<?x4x5xf32>
  return %y : tensor<?x4x5xf32>
}
""")
    for items in (3, 1, 40, 3):
        x, codes = drawn(items, "4, 64", F32), drawn(items, "5, 64", F32).astype(jnp.float8_e4m3fn)
        scales = np.exp2(np.random.default_rng(items).integers(-2, 3, (items, 5, 2))).astype(jnp.float8_e8m0fnu)
        values = codes.astype(np.float64) * np.repeat(scales.astype(np.float64), 32, -1)
        np.testing.assert_array_equal(program(x, codes, scales), x @ values.swapaxes(1, 2))
        explained = program.explain()
        assert explained["open_extents"] == "any number of items" and not explained["interpreted"]
