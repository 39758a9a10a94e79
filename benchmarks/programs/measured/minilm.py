"""The MiniLM sentence encoder of examples/minilm, and its dense layers in bf16."""
import pathlib
import sys
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from program import Program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples" / "minilm"))
import encoder_inputs
import model


def build(name):
    """minilm-8x128 and the like: sentences x tokens; minilm-bf16-8x128."""
    import ml_dtypes
    from safetensors.numpy import load_file

    batch, tokens = map(int, name.rsplit("-", 1)[1].split("x"))
    stored = load_file(encoder_inputs.model_folder() / "model.safetensors")
    weights = {key: stored[key] for key in model.parameter_shapes()}
    if "bf16" in name:
        weights = {key: value.astype(ml_dtypes.bfloat16) if is_dense(key) else value
                   for key, value in weights.items()}
    ids = np.random.default_rng(0).integers(1000, 20000, (batch, tokens)).astype(np.int32)
    return Program(model.encode, weights, {"input_ids": ids, "attention_mask": np.ones_like(ids)},
                   batch * tokens, "tokens", encode, scaled_dots=None if "bf16" in name else scaled_dots)


def is_dense(name):
    return name.startswith("encoder.") and name.endswith(".weight") and "LayerNorm" not in name


def scaled_dots(weights):
    """The encoder in JAX with dense weights as pairs of elements and scales, and activations quantized in the program."""
    def function(weights, *inputs):
        with mock.patch.object(model, "_dense", scaled_dense):
            return model.encode(weights, *inputs)

    return function, {name: jax.jit(quantize_mxfp8)(value) if is_dense(name) else value
                      for name, value in weights.items()}


def quantize_mxfp8(x):
    """Elements in E4M3 and scales in E8M0 of blocks of 32 along the last axis, by the rule of OCP MX (section 6.3)."""
    blocks = x.reshape(*x.shape[:-1], -1, 32)
    _, exponent = jnp.frexp(jnp.max(jnp.abs(blocks), axis=-1, keepdims=True))
    scales = jnp.ldexp(jnp.float32(1), jnp.maximum(exponent - 1 - 8, -127))
    elements = jnp.clip(blocks / scales, -448, 448).astype(jnp.float8_e4m3fn)
    return elements.reshape(x.shape), scales[..., 0].astype(jnp.float8_e8m0fnu)


def scaled_dense(parameters, name, x):
    elements, scales = quantize_mxfp8(x.reshape(-1, x.shape[-1]))
    weight, weight_scales = parameters[name + ".weight"]
    product = jax.lax.scaled_dot(elements, weight, lhs_scale=scales, rhs_scale=weight_scales,
                                 dimension_numbers=(((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
    return product.reshape(*x.shape[:-1], -1) + parameters[name + ".bias"]


def encode(weights, input_ids, attention_mask):
    """model.encode in torch, by the functions that torch.compile and ONNX Runtime know."""
    import torch
    from torch.nn import functional

    def dense(name, x):
        weight = weights[name + ".weight"]
        return functional.linear(x.to(weight.dtype), weight, weights[name + ".bias"].to(weight.dtype)).to(x.dtype)

    def norm(name, x):
        return functional.layer_norm(x, (model.WIDTH,), weights[name + ".weight"], weights[name + ".bias"],
                                     model.LAYER_NORM_EPSILON)

    def heads(x):
        return x.view(x.shape[0], x.shape[1], model.HEADS, -1).transpose(1, 2)

    x = norm("embeddings.LayerNorm",
             functional.embedding(input_ids, weights["embeddings.word_embeddings.weight"])
             + weights["embeddings.position_embeddings.weight"][:input_ids.shape[1]]
             + weights["embeddings.token_type_embeddings.weight"][0])
    mask = attention_mask.to(x.dtype)
    unseen = (1 - mask)[:, None, None, :] * torch.finfo(x.dtype).min
    for layer in range(model.LAYERS):
        prefix = f"encoder.layer.{layer}."
        q, k, v = (heads(dense(f"{prefix}attention.self.{each}", x)) for each in ("query", "key", "value"))
        context = functional.scaled_dot_product_attention(q, k, v, attn_mask=unseen)
        attended = dense(prefix + "attention.output.dense", context.transpose(1, 2).reshape(x.shape))
        x = norm(prefix + "attention.output.LayerNorm", x + attended)
        inner = functional.gelu(dense(prefix + "intermediate.dense", x))
        x = norm(prefix + "output.LayerNorm", x + dense(prefix + "output.dense", inner))
    mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1e-9)
    return mean / mean.norm(dim=-1, keepdim=True).clamp(min=1e-12)
