"""A token of a decoder-only transformer with a KV cache in f32: all products are of one row."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from program import Program, normal

WIDTH, INNER, HEADS, LAYERS = 1024, 4096, 16, 8
VOCABULARY = 8192
CACHED = 256
POSITION = 200
PRODUCTS = {"query": (WIDTH, WIDTH), "key": (WIDTH, WIDTH), "value": (WIDTH, WIDTH), "out": (WIDTH, WIDTH),
            "up": (INNER, WIDTH), "down": (WIDTH, INNER)}


def build(name):
    weights = {"embedding": normal(VOCABULARY, WIDTH), "head": normal(VOCABULARY, WIDTH, scale=WIDTH ** -0.5),
               "norm": np.ones(WIDTH, np.float32)}
    inputs = {"token": np.array([17], np.int32), "position": np.array(POSITION, np.int32)}
    for layer in range(LAYERS):
        for i, (product, shape) in enumerate(PRODUCTS.items()):
            weights[f"{layer}.{product}"] = normal(*shape, seed=100 * layer + i, scale=shape[1] ** -0.5)
        weights[f"{layer}.norm1"] = weights[f"{layer}.norm2"] = np.ones(WIDTH, np.float32)
    for layer in range(LAYERS):
        for i, part in enumerate(("keys", "values")):
            rows = normal(HEADS, CACHED, WIDTH // HEADS, seed=layer * 2 + i)
            rows[:, POSITION:] = 0
            inputs[f"{layer}.{part}"] = rows
    return Program(step, weights, inputs, 1, "tokens", step_in_torch)


def rms_norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def step(weights, token, position, *caches):
    """Logits of the next token, and the caches with this one's entries."""
    def product(x, name):
        return lax.dot_general(x, weights[name], (((1,), (1,)), ((), ())))

    new = []
    x = weights["embedding"].at[token].get(mode="promise_in_bounds", wrap_negative_indices=False)
    seen = jnp.arange(CACHED) <= position
    for layer in range(LAYERS):
        normed = rms_norm(x, weights[f"{layer}.norm1"])
        query, key, value = (product(normed, f"{layer}.{each}").reshape(HEADS, 1, -1)
                             for each in ("query", "key", "value"))
        keys = lax.dynamic_update_slice(caches[2 * layer], key, (0, position, 0))
        values = lax.dynamic_update_slice(caches[2 * layer + 1], value, (0, position, 0))
        new += [keys, values]
        scores = lax.dot_general(query, keys, (((2,), (2,)), ((0,), (0,)))) * (WIDTH // HEADS) ** -0.5
        shares = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))
        context = lax.dot_general(shares, values, (((2,), (1,)), ((0,), (0,))))
        x = x + product(context.reshape(1, WIDTH), f"{layer}.out")
        inner = jax.nn.gelu(product(rms_norm(x, weights[f"{layer}.norm2"]), f"{layer}.up"), approximate=False)
        x = x + product(inner, f"{layer}.down")
    return product(rms_norm(x, weights["norm"]), "head"), *new


def step_in_torch(weights, token, position, *caches):
    import torch
    from torch.nn import functional

    def norm(x, name):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weights[name]

    def product(x, name):
        return functional.linear(x, weights[name])

    new = []
    x = functional.embedding(token, weights["embedding"])
    places = torch.arange(CACHED)
    unseen = torch.where(places <= position, 0.0, -torch.inf).to(x.dtype)
    here = (places == position)[None, :, None]
    for layer in range(LAYERS):
        normed = norm(x, f"{layer}.norm1")
        query, key, value = (product(normed, f"{layer}.{each}").reshape(HEADS, 1, -1)
                             for each in ("query", "key", "value"))
        keys, values = torch.where(here, key, caches[2 * layer]), torch.where(here, value, caches[2 * layer + 1])
        new += [keys, values]
        shares = torch.softmax(query @ keys.transpose(1, 2) * (WIDTH // HEADS) ** -0.5 + unseen, -1)
        x = x + product((shares @ values).reshape(1, WIDTH), f"{layer}.out")
        x = x + product(functional.gelu(product(norm(x, f"{layer}.norm2"), f"{layer}.up")), f"{layer}.down")
    return product(norm(x, "norm"), "head"), *new
