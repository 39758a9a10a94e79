"""A token of the transformer of examples/decode, all of whose products are of one row, with a cache in f32 or
quantized: decode and decode-mxfp8."""
import pathlib
import sys

import numpy as np
from program import Program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples" / "decode"))
import decoder

SIZES = decoder.Sizes(layers=8, places=256)  # weights beyond the last cache even in 4 bits
POSITION = 200


def build(name):
    cache = name.partition("-")[2] or "f32"
    inputs = {"token": np.array([17], np.int32), "position": np.array(POSITION, np.int32)}
    drawn = np.random.default_rng(1)
    for key, array in decoder.empty_caches(SIZES, cache).items():
        if key.endswith(".scales"):
            inputs[key] = np.ones(array.shape, array.dtype)
            continue
        values = drawn.standard_normal(array.shape, np.float32)
        values[:, POSITION:] = 0
        inputs[key] = values.astype(array.dtype)
    names = list(inputs)[2:]

    def step(weights, token, position, *caches):
        logits, new = decoder.step(SIZES, cache, weights, token, position, dict(zip(names, caches)))
        return logits, *new.values()

    donated = {name: 1 + i for i, name in enumerate(names)}
    return Program(step, decoder.random_weights(SIZES), inputs, 1, "tokens",
                   step_in_torch if cache == "f32" else None, donated)


def step_in_torch(weights, token, position, *caches):
    """decoder.step with a cache in f32."""
    import torch
    from torch.nn import functional

    def norm(x, name):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weights[name]

    def product(x, name):
        return functional.linear(x, weights[name])

    new = []
    x = functional.embedding(token, weights["embedding"])
    places, half = torch.arange(SIZES.places), SIZES.head // 2
    unseen = torch.where(places <= position, 0.0, -torch.inf).to(x.dtype)
    here = (places == position)[None, :, None]
    angles = position.to(torch.float32) * 10000.0 ** (-torch.arange(half, dtype=torch.float32) / half)
    cos, sin = torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype)

    def rotated(x):
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    for layer in range(SIZES.layers):
        prefix = f"layer{layer}."
        normed = norm(x, prefix + "attention_norm")
        query, key, value = (product(normed, prefix + each).reshape(SIZES.heads, 1, SIZES.head)
                             for each in ("query", "key", "value"))
        keys = torch.where(here, rotated(key), caches[2 * layer])
        values = torch.where(here, value, caches[2 * layer + 1])
        new += [keys, values]
        shares = torch.softmax(rotated(query) @ keys.transpose(1, 2) * SIZES.head ** -0.5 + unseen, -1)
        x = x + product((shares @ values).reshape(1, SIZES.width), prefix + "out")
        inner = functional.gelu(product(norm(x, prefix + "inner_norm"), prefix + "up"))
        x = x + product(inner, prefix + "down")
    return product(norm(x, "norm"), "head"), *new
