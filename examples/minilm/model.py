"""The MiniLM sentence encoder (all-MiniLM-L6-v2) in plain JAX, in float32; the product of a dense weight in
another type is of that type, summed in float32.

Parameters are a dict of arrays under the names that the model's safetensors file gives them; a
dense weight has the file's shape, [out, in]. Scopes name every operation of the program, so that
the product of the first layer's queries reads "layer0/attention/query/dot_general".
"""

import jax
import jax.numpy as jnp
from jax import lax

LAYERS = 6
HEADS = 12
WIDTH = 384
INNER_WIDTH = 1536
VOCABULARY = 30522
POSITIONS = 512
TOKEN_TYPES = 2
LAYER_NORM_EPSILON = 1e-12


def parameter_shapes():
    """Name and shape of every parameter that the encoder reads, in the order of its arguments."""
    shapes = {
        "embeddings.word_embeddings.weight": (VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (TOKEN_TYPES, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        for name, out, contracted in (
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER_WIDTH, WIDTH),
            ("output.dense", WIDTH, INNER_WIDTH),
        ):
            shapes[f"{prefix}{name}.weight"] = (out, contracted)
            shapes[f"{prefix}{name}.bias"] = (out,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{prefix}{name}.weight"] = (WIDTH,)
            shapes[f"{prefix}{name}.bias"] = (WIDTH,)
    return shapes


def encode(parameters, input_ids, attention_mask):
    """Embeds sentences: i32[batch, tokens] ids and mask (1 = token, 0 = padding) to unit vectors
    f32[batch, 384]."""
    mask = attention_mask.astype(jnp.float32)
    with jax.named_scope("embeddings"):
        x = _embed(parameters, input_ids)
    for layer in range(LAYERS):
        with jax.named_scope(f"layer{layer}"):
            x = _layer(parameters, f"encoder.layer.{layer}.", x, mask)
    with jax.named_scope("pooling"):
        total = jnp.sum(x * mask[:, :, None], axis=1)
        mean = total / jnp.maximum(jnp.sum(mask, axis=1, keepdims=True), 1e-9)
    with jax.named_scope("normalize"):
        norm = jnp.sqrt(jnp.sum(mean * mean, axis=-1, keepdims=True))
        return mean / jnp.maximum(norm, 1e-12)


def _embed(parameters, input_ids):
    tokens = input_ids.shape[1]
    with jax.named_scope("words"):
        # A tokenizer's ids are in range: the default mode would compare and select every word.
        words = (
            parameters["embeddings.word_embeddings.weight"]
            .at[input_ids]
            .get(mode="promise_in_bounds", wrap_negative_indices=False)
        )
    with jax.named_scope("positions"):
        positions = parameters["embeddings.position_embeddings.weight"][:tokens]
    with jax.named_scope("token_types"):
        token_type = parameters["embeddings.token_type_embeddings.weight"][:1]
    return _layer_norm(parameters, "embeddings.LayerNorm", words + positions + token_type)


def _layer(parameters, prefix, x, mask):
    with jax.named_scope("attention"):
        attended = _attention(parameters, prefix, x, mask)
        x = _layer_norm(parameters, prefix + "attention.output.LayerNorm", x + attended)
    with jax.named_scope("intermediate"):
        inner = jax.nn.gelu(_dense(parameters, prefix + "intermediate.dense", x), approximate=False)
    with jax.named_scope("output"):
        y = _dense(parameters, prefix + "output.dense", inner)
        return _layer_norm(parameters, prefix + "output.LayerNorm", x + y)


def _attention(parameters, prefix, x, mask):
    batch, tokens, _ = x.shape
    heads = {}
    for name in ("query", "key", "value"):
        with jax.named_scope(name):
            projected = _dense(parameters, f"{prefix}attention.self.{name}", x)
            heads[name] = projected.reshape(batch, tokens, HEADS, WIDTH // HEADS)
    with jax.named_scope("scores"):
        scores = lax.dot_general(
            heads["query"], heads["key"], (((3,), (3,)), ((0, 2), (0, 2)))
        ) / jnp.sqrt(jnp.float32(WIDTH // HEADS))
    with jax.named_scope("softmax"):
        is_token = mask[:, None, None, :] > 0
        weights = jax.nn.softmax(jnp.where(is_token, scores, jnp.finfo(jnp.float32).min))
    with jax.named_scope("context"):
        context = lax.dot_general(weights, heads["value"], (((3,), (1,)), ((0, 1), (0, 2))))
        context = context.transpose(0, 2, 1, 3).reshape(batch, tokens, WIDTH)
    with jax.named_scope("output"):
        return _dense(parameters, prefix + "attention.output.dense", context)


def _dense(parameters, name, x):
    weight = parameters[name + ".weight"]
    product = lax.dot_general(
        x.astype(weight.dtype),
        weight,
        (((x.ndim - 1,), (1,)), ((), ())),
        preferred_element_type=jnp.float32,
    )
    return product + parameters[name + ".bias"]


def _layer_norm(parameters, name, x):
    with jax.named_scope("norm"):
        centered = x - jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean(centered * centered, axis=-1, keepdims=True)
        normal = centered * lax.rsqrt(variance + LAYER_NORM_EPSILON)
        return normal * parameters[name + ".weight"] + parameters[name + ".bias"]
