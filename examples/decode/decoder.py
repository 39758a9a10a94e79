"""A decoder-only transformer in plain JAX that decodes one token with a KV cache, in float32; the cache is in
float32 too, or quantized entry by entry where it is appended.

Weights are random (`random_weights`), under names of their own. A dense weight is [out, in]. A cache of a layer is
[heads, places, width of a head]; quantized it is the codes of the elements, of that shape, and a scale for each
block of 32 of them along the last axis: OCP MX, its scales by the rule `floor` (docs/semantics.md, S3 and S7), at
least 2^-126.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

BLOCK = 32
ELEMENTS = {"f32": None, "mxfp8": jnp.float8_e4m3fn, "mxfp4": jnp.float4_e2m1fn}


class Sizes(NamedTuple):
    width: int = 1024
    inner: int = 4096
    heads: int = 16
    layers: int = 4
    vocabulary: int = 8192
    places: int = 512  # that the cache has

    @property
    def head(self):
        return self.width // self.heads


def random_weights(sizes, seed=0):
    """Every weight by its name, f32."""
    drawn = np.random.default_rng(seed)

    def dense(rows, columns):
        return drawn.standard_normal((rows, columns), np.float32) * np.float32(columns**-0.5)

    weights = {"embedding": drawn.standard_normal((sizes.vocabulary, sizes.width), np.float32)}
    for layer in range(sizes.layers):
        for name in ("query", "key", "value", "out"):
            weights[f"layer{layer}.{name}"] = dense(sizes.width, sizes.width)
        weights[f"layer{layer}.up"] = dense(sizes.inner, sizes.width)
        weights[f"layer{layer}.down"] = dense(sizes.width, sizes.inner)
        for name in ("attention_norm", "inner_norm"):
            weights[f"layer{layer}.{name}"] = np.ones(sizes.width, np.float32)
    weights["norm"] = np.ones(sizes.width, np.float32)
    weights["head"] = dense(sizes.vocabulary, sizes.width)
    return weights


def empty_caches(sizes, cache):
    """The caches' arrays by their names, in the order in which `step` takes and gives them."""
    shape = (sizes.heads, sizes.places, sizes.head)
    arrays = {}
    for layer in range(sizes.layers):
        for part in ("keys", "values"):
            name = f"layer{layer}.{part}"
            if cache == "f32":
                arrays[name] = np.zeros(shape, np.float32)
            else:
                arrays[name] = np.zeros(shape, ELEMENTS[cache])
                arrays[name + ".scales"] = np.zeros((*shape[:2], sizes.head // BLOCK), jnp.float8_e8m0fnu)
    return arrays


def step(sizes, cache, weights, token, position, caches):
    """Logits f32[1, vocabulary] of what follows `token`, i32[1], at the place `position`, i32[], and the
    caches with its entries."""
    new = {}
    with jax.named_scope("embedding"):
        # A token is in range: the default mode would compare and select.
        x = weights["embedding"].at[token].get(mode="promise_in_bounds", wrap_negative_indices=False)
    seen = jnp.arange(sizes.places) <= position
    for layer in range(sizes.layers):
        with jax.named_scope(f"layer{layer}"):
            prefix = f"layer{layer}."
            with jax.named_scope("attention"):
                normed = _norm(x, weights[prefix + "attention_norm"])
                heads = {
                    name: _dense(weights, prefix + name, normed).reshape(sizes.heads, 1, sizes.head)
                    for name in ("query", "key", "value")
                }
                query, key = (_rotated(heads[name], position) for name in ("query", "key"))
                keys = _appended(caches, prefix + "keys", key, position, new)
                values = _appended(caches, prefix + "values", heads["value"], position, new)
                scores = lax.dot_general(query, keys, (((2,), (2,)), ((0,), (0,)))) * sizes.head**-0.5
                shares = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))
                context = lax.dot_general(shares, values, (((2,), (1,)), ((0,), (0,))))
                x = x + _dense(weights, prefix + "out", context.reshape(1, sizes.width))
            with jax.named_scope("inner"):
                inner = _dense(weights, prefix + "up", _norm(x, weights[prefix + "inner_norm"]))
                x = x + _dense(weights, prefix + "down", jax.nn.gelu(inner, approximate=False))
    with jax.named_scope("head"):
        return _dense(weights, "head", _norm(x, weights["norm"])), new


def quantize(x, element):
    """Codes of `element` and scales e8m0 of x's blocks of 32 along the last axis."""
    largest = jnp.finfo(element).max.astype(jnp.float32)
    emax = int(np.log2(np.float32(largest)))
    blocks = x.reshape(*x.shape[:-1], -1, BLOCK)
    amax = jnp.max(jnp.abs(blocks), -1)
    # A float's exponent field is its e8m0 code. Code 0, 2^-127, is subnormal in f32, which XLA takes for zero.
    code = jnp.maximum((lax.bitcast_convert_type(amax, jnp.int32) >> 23) - emax, 1)
    scale = lax.bitcast_convert_type(code << 23, jnp.float32)
    codes = jnp.clip(blocks / scale[..., None], -largest, largest).astype(element)
    return codes.reshape(x.shape), lax.bitcast_convert_type(code.astype(jnp.uint8), jnp.float8_e8m0fnu)


def dequantize(codes, scales):
    blocks = codes.astype(jnp.float32).reshape(*codes.shape[:-1], -1, BLOCK)
    return (blocks * scales.astype(jnp.float32)[..., None]).reshape(codes.shape)


def _appended(caches, name, entry, position, new):
    """The values of a cache, f32, with `entry` at `position`; `new` takes what is stored of it."""
    with jax.named_scope(name.split(".")[1]):
        if name + ".scales" not in caches:
            new[name] = lax.dynamic_update_slice(caches[name], entry, (0, position, 0))
            return new[name]
        codes, scales = quantize(entry, caches[name].dtype)
        new[name] = lax.dynamic_update_slice(caches[name], codes, (0, position, 0))
        new[name + ".scales"] = lax.dynamic_update_slice(caches[name + ".scales"], scales, (0, position, 0))
        return dequantize(new[name], new[name + ".scales"])


def _rotated(x, position):
    """Rotary positions: pairs of the two halves of a head turn by an angle that grows with the position."""
    half = x.shape[-1] // 2
    angles = position.astype(jnp.float32) * 10000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half)
    a, b = x[..., :half], x[..., half:]
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def _dense(weights, name, x):
    return lax.dot_general(x, weights[name], (((1,), (1,)), ((), ())))


def _norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale
