"""Modules that do not go together: fused projections, and the scales of key-value caches."""
import numpy as np

import checkpoints as cp
from broken.cases import breaks
from checkpoints import KV0, L0, L1, UP

# Fused projections.

@breaks(cp.compressed_nvfp4, "fused-outer-scales-differ", "q_proj", "k_proj")
def global_scales_of_q_and_k_differ(checkpoint):
    checkpoint.tensors[L0 + "self_attn.k_proj.weight_global_scale"] *= np.float32(2)


@breaks(cp.compressed_nvfp4, "fused-outer-scales-differ", "gate_proj", "up_proj")
def global_scales_of_gate_and_up_differ_across_shards(checkpoint):
    name = L0 + "mlp.gate_proj.weight_global_scale"
    checkpoint.tensors[name] *= np.float32(1.5)
    checkpoint.moved[name] = 1 - checkpoint.shard_of(name)


@breaks(cp.autofp8, "fused-tensor-scales-differ", "gate_proj", "up_proj")
def scales_of_gate_and_up_differ(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.float32(0.0004).reshape(())


@breaks(cp.autofp8, "fused-input-scales-differ", "v_proj")
def input_scales_of_q_and_v_differ(checkpoint):
    checkpoint.tensors[L1 + "self_attn.v_proj.input_scale"] = np.float32(0.03).reshape(())


@breaks(cp.autofp8, "fused-formats-differ", "v_proj is not quantized")
def one_of_q_k_v_is_plain(checkpoint):
    module = L1 + "self_attn.v_proj"
    del checkpoint.tensors[module + ".weight_scale"], checkpoint.tensors[module + ".input_scale"]
    checkpoint.tensors[module + ".weight"] = cp.plain()[module + ".weight"]
    checkpoint.quantization["ignored_layers"].append(module)


# Key-value caches.

@breaks(cp.autofp8, "kv-scale-missing", "model.layers.0.self_attn")
def a_module_has_no_cache_scales(checkpoint):
    del checkpoint.tensors[KV0 + "k_scale"], checkpoint.tensors[KV0 + "v_scale"]


@breaks(lambda: cp.autofp8(kv=False), "kv-scale-missing", "self_attn")
def no_module_has_cache_scales(checkpoint):
    checkpoint.quantization["kv_cache_scheme"] = "static"


@breaks(cp.autofp8, "kv-scale-partial", "none for keys")
def cache_has_the_value_scale_alone(checkpoint):
    del checkpoint.tensors[KV0 + "k_scale"]


@breaks(cp.autofp8, "kv-scale-partial", "none for values")
def cache_has_the_key_scale_alone(checkpoint):
    del checkpoint.tensors[KV0 + "v_scale"]


@breaks(cp.autofp8, "kv-scale-outweighed", "0.5 for keys and values", "0.03 for keys", "0.01 for values")
def a_scale_of_both_says_something_else(checkpoint):
    checkpoint.tensors[KV0 + "kv_scale"] = np.float32(0.5).reshape(())


@breaks(cp.autofp8, "kv-scale-deprecated-name", "kv_scale")
def cache_scale_has_the_old_name(checkpoint):
    del checkpoint.tensors[KV0 + "v_scale"]
    checkpoint.tensors[KV0 + "kv_scale"] = checkpoint.tensors.pop(KV0 + "k_scale")


@breaks(cp.autofp8, "kv-scales-disagree", KV0 + "k_scale", KV0 + "k_proj.k_scale", "0.5", "0.03")
def a_cache_scale_has_two_names_and_two_values(checkpoint):
    checkpoint.tensors[KV0 + "k_proj.k_scale"] = np.float32(0.5).reshape(())


@breaks(cp.autofp8, "kv-scale-implausible", "5000")
def cache_scale_is_the_reciprocal(checkpoint):
    checkpoint.tensors[KV0 + "k_scale"] = np.float32(5000).reshape(())


@breaks(cp.autofp8, "kv-scale-dtype", "I64")
def cache_scale_is_an_integer(checkpoint):
    checkpoint.tensors[KV0 + "k_scale"] = np.array(1, np.int64)


@breaks(cp.autofp8, "kv-scale-dtype", KV0 + "v_scale")
def cache_scale_is_a_matrix(checkpoint):
    checkpoint.tensors[KV0 + "v_scale"] = np.ones((4, 4), np.float32)
