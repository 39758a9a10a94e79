"""The MiniLM encoder in NumPy, the products of its dense layers fake-quantized: what octavo's whole
chain is compared with. Nothing here comes from octavo: the scale rules are written from OCP MX 1.0
(6.3), from the NVFP4 recipe of NVIDIA's Transformer Engine and from XLA's FP8 RFC, and elements are
rounded by ml_dtypes."""

import math
import re

import ml_dtypes
import numpy as np
from scipy.special import erf

ELEMENTS = {
    "mxfp8_e4m3": ml_dtypes.float8_e4m3fn,
    "mxfp8_e5m2": ml_dtypes.float8_e5m2,
    "mxfp6_e3m2": ml_dtypes.float6_e3m2fn,
    "mxfp6_e2m3": ml_dtypes.float6_e2m3fn,
    "mxfp4": ml_dtypes.float4_e2m1fn,
}


def _round_to(values, element):
    largest = np.float32(ml_dtypes.finfo(element).max)
    return np.clip(values, -largest, largest).astype(element).astype(np.float32)


def _power_of_two_scale(amax, emax):
    """2^(floor(log2 amax) - emax), at least 2^-127; a zero block takes that too (its elements are 0
    under any scale)."""
    _, exponent = np.frexp(amax)
    return np.ldexp(np.float64(1), np.where(amax > 0, np.maximum(exponent - 1 - emax, -127), -127))


def _mx(x, to_element, emax):
    blocks = x.reshape(*x.shape[:-1], -1, 32)
    scale = _power_of_two_scale(np.abs(blocks).max(-1, keepdims=True), emax)
    elements = to_element((blocks / scale).astype(np.float32))
    return (elements * scale).astype(np.float32).reshape(x.shape)


def _cfloat8(x, trailing_bits, largest, emin):
    """Tesla's CFloat8 of the whole tensor under the greatest exponent bias that does not clip."""
    scale = 2.0 ** np.ceil(np.log2(np.abs(x).max() / np.float64(largest)))
    elements = x / scale
    _, exponent = np.frexp(elements)
    step = 2.0 ** (np.maximum(exponent - 1, emin) - trailing_bits)
    return (np.rint(elements / step) * step * scale).astype(np.float32)


def _nvfp4(x):
    outer = np.float32(np.abs(x).max() / np.float32(448 * 6)) or np.float32(1)
    blocks = x.reshape(*x.shape[:-1], -1, 16)
    amax = np.abs(blocks).max(-1, keepdims=True)
    scale = _round_to(amax / outer / np.float32(6), ml_dtypes.float8_e4m3fn)
    scale = np.where(scale == 0, np.float32(2.0**-9), scale)
    elements = _round_to(blocks / (scale * outer), ml_dtypes.float4_e2m1fn)
    return (elements * scale * outer).reshape(x.shape)


def _fp8(x, amax, element=ml_dtypes.float8_e4m3fn):
    largest = np.float32(ml_dtypes.finfo(element).max)
    scale = np.where(amax > 0, amax / largest, np.float32(1)).astype(np.float32)
    return _round_to(x / scale, element) * scale


def _fp8_tiles(x, rows, columns):
    tiles = x.reshape(x.shape[0] // rows, rows, x.shape[1] // columns, columns)
    return _fp8(tiles, np.abs(tiles).max((1, 3), keepdims=True)).reshape(x.shape)


def fake_quantize(x, name, role):
    """`x` (f32, its last axis contracted) after a round trip through scaled format `name`; `role` is
    "weight" or "activation", which fp8_block blocks differently."""
    if name in ELEMENTS:
        element = ELEMENTS[name]
        emax = int(math.floor(math.log2(float(ml_dtypes.finfo(element).max))))
        return _mx(x, lambda v: _round_to(v, element), emax)
    if name == "mxint8":
        return _mx(x, lambda v: np.clip(np.rint(v * 64), -127, 127) / np.float32(64), 0)
    if name == "nvfp4":
        return _nvfp4(x)
    if name == "cfloat8_1_4_3_tensor":
        return _cfloat8(x, 3, 480, -6)
    if name == "cfloat8_1_5_2_tensor":
        return _cfloat8(x, 2, 114688, -14)
    if name in ("fp8_tensor", "fp8_row", "fp8_e5m2_tensor", "fp8_e5m2_row"):
        amax = np.abs(x).max() if name.endswith("tensor") else np.abs(x).max(-1, keepdims=True)
        return _fp8(x, amax, ml_dtypes.float8_e5m2 if "e5m2" in name else ml_dtypes.float8_e4m3fn)
    if name == "fp8_block":
        rows = x.reshape(-1, x.shape[-1])
        return _fp8_tiles(rows, 128 if role == "weight" else 1, 128).reshape(x.shape)
    raise ValueError(f"no oracle for {name}")


def encode(
    weights,
    input_ids,
    attention_mask,
    quantization=None,
    activations=True,
    layers=re.compile(""),
    dtype=np.float32,
):
    """Embeddings [batch, 384] in arithmetic of `dtype`. `weights` is the checkpoint; `quantization`
    names a scaled format for both operands of the products with a weight, or for the weight alone
    where `activations` is false; `layers` is found in the names of the weights it applies to."""
    batch, tokens = input_ids.shape
    heads, head_width = 12, 32

    def get(name):
        return weights[name].astype(dtype)

    def dense(name, x):
        weight = weights[f"{name}.weight"]
        if quantization and layers.search(name):
            weight = fake_quantize(weight, quantization, "weight")
            if activations:
                x = fake_quantize(x, quantization, "activation")
        return x @ weight.astype(dtype).T + get(f"{name}.bias")

    def norm(name, x):
        centered = x - x.mean(-1, keepdims=True)
        variance = (centered * centered).mean(-1, keepdims=True)
        return centered / np.sqrt(variance + dtype(1e-12)) * get(f"{name}.weight") + get(f"{name}.bias")

    def split(x):
        return x.reshape(batch, tokens, heads, head_width).transpose(0, 2, 1, 3)

    x = norm(
        "embeddings.LayerNorm",
        get("embeddings.word_embeddings.weight")[input_ids]
        + get("embeddings.position_embeddings.weight")[:tokens]
        + get("embeddings.token_type_embeddings.weight")[0],
    )
    for layer in range(6):
        prefix = f"encoder.layer.{layer}."
        attention = prefix + "attention."
        query, key, value = (split(dense(f"{attention}self.{n}", x)) for n in ("query", "key", "value"))
        scores = query @ key.swapaxes(-1, -2) / dtype(math.sqrt(head_width))
        scores = np.where(attention_mask[:, None, None, :] > 0, scores, -np.inf)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares = shares / shares.sum(-1, keepdims=True)
        context = (shares @ value).transpose(0, 2, 1, 3).reshape(batch, tokens, -1)
        x = norm(f"{attention}output.LayerNorm", x + dense(f"{attention}output.dense", context))
        inner = dense(f"{prefix}intermediate.dense", x)
        inner = inner * (1 + erf(inner / dtype(math.sqrt(2)))) / 2
        x = norm(f"{prefix}output.LayerNorm", x + dense(f"{prefix}output.dense", inner))
    mask = attention_mask[:, :, None].astype(dtype)
    mean = (x * mask).sum(1) / mask.sum(1)
    return mean / np.linalg.norm(mean, axis=-1, keepdims=True)
