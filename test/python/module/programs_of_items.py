"""Programs that are of any number of items, a batch most often, and what is known of each."""
import jax
import jax.numpy as jnp
import numpy as np

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
EXACT = {"mlp", "what is fixed", "embedding", "halves", "decoded keys", "running sums", "sorted", "in order",
         "largest", "convolved", "chosen", "slices", "updated", "steps", "scan in a scan", "over all", "ends",
         "decides by it", "means", "by number", "over items", "along items", "along others", "turned", "contracted",
         "contracted, i8", "contracted, complex", "gradients of weights", "one for all", "along the items",
         "columns", "over the items", "products over the items", "more", "fewer", "rolled", "all pairs"}
SUMS_OF_ITEMS = {"entropy", "in attention", "recurrent", "seen", "over a sequence", "one to all"}
FROM = {name: f"any number of items from {fewest} on, fewer compiled for each" for name, fewest in [
    ("rolled", 2), ("the first", 4), ("places of each", 6)]}
NOT_ANY = {
    "the first half": (lambda x: x[: (x.shape[0] + 1) // 2] * 2, "4", F32),
}
