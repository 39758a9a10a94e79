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


def renamed(checkpoint, *names):
    """The projections of the first layer's attention under other names, q, k and v in turn."""
    for old, new in zip(("q_proj", "k_proj", "v_proj"), names):
        prefix = f"{L0}self_attn.{old}."
        for name in [name for name in checkpoint.tensors if name.startswith(prefix)]:
            checkpoint.tensors[f"{L0}{new}.{name.removeprefix(prefix)}"] = checkpoint.tensors.pop(name)


@breaks(cp.compressed_nvfp4, "fused-outer-scales-differ", "in_proj_qkv", "in_proj_z", "in_proj_qkvz", "qwen3_5")
def global_scales_of_a_gated_delta_net_differ(checkpoint):
    renamed(checkpoint, "linear_attn.in_proj_qkv", "linear_attn.in_proj_z", "linear_attn.out_proj")
    checkpoint.tensors[L0 + "linear_attn.in_proj_z.weight_global_scale"] *= np.float32(0.25)


@breaks(cp.compressed_nvfp4, "fused-outer-scales-differ", "in_proj_b", "in_proj_a")
def global_scales_of_its_gates_differ(checkpoint):
    renamed(checkpoint, "linear_attn.in_proj_b", "linear_attn.in_proj_a", "linear_attn.out_proj")
    checkpoint.tensors[L0 + "linear_attn.in_proj_a.weight_global_scale"] *= np.float32(2)


@breaks(cp.compressed_nvfp4, "fused-outer-scales-differ", "wq_a", "wkv", "deepseek_v4")
def global_scales_of_latent_projections_differ(checkpoint):
    renamed(checkpoint, "attn.wq_a", "attn.wkv", "attn.wo_a")
    checkpoint.tensors[L0 + "attn.wkv.weight_global_scale"] *= np.float32(4)


@breaks(cp.compressed_nvfp4, "fused-outer-scales-differ", "to_q", "to_v")
def global_scales_of_a_diffusion_model_differ(checkpoint):
    renamed(checkpoint, "attn1.to_q", "attn1.to_k", "attn1.to_v")
    checkpoint.tensors[L0 + "attn1.to_v.weight_global_scale"] *= np.float32(2)


@breaks(cp.compressed_nvfp4, "fused-formats-differ", "in_proj_z is not quantized")
def half_of_a_gated_delta_net_is_ignored(checkpoint):
    renamed(checkpoint, "linear_attn.in_proj_qkv", "linear_attn.in_proj_z", "linear_attn.out_proj")
    module = L0 + "linear_attn.in_proj_z"
    for part in ("weight_packed", "weight_scale", "weight_global_scale"):
        del checkpoint.tensors[f"{module}.{part}"]
    checkpoint.tensors[module + ".weight"] = cp.plain()[L0 + "self_attn.k_proj.weight"]
    checkpoint.quantization["ignore"].append(module)


def as_experts(checkpoint, count=3):
    """The first layer's projections as experts, all alike."""
    prefix = L0 + "mlp."
    for name in [name for name in checkpoint.tensors if name.startswith(prefix)]:
        tensor = checkpoint.tensors.pop(name)
        for i in range(count):
            checkpoint.tensors[f"{prefix}experts.{i}.{name.removeprefix(prefix)}"] = tensor


@breaks(cp.compressed_nvfp4, "experts-differ", "down_proj", "expert 1 is BF16, not quantized", "2 of 3 are nvfp4")
def one_expert_is_plain(checkpoint):
    as_experts(checkpoint)
    module = L0 + "mlp.experts.1.down_proj"
    for part in ("weight_packed", "weight_scale", "weight_global_scale"):
        del checkpoint.tensors[f"{module}.{part}"]
    checkpoint.tensors[module + ".weight"] = cp.plain()[L0 + "mlp.down_proj.weight"]
    checkpoint.quantization["ignore"].append(module)


@breaks(cp.modelopt_nvfp4, "experts-differ", "gate_proj", "expert 2 has no input scale, which 3 of 4 have")
def one_expert_was_never_calibrated(checkpoint):
    as_experts(checkpoint, 4)
    for name in ("gate_proj", "up_proj", "down_proj"):
        del checkpoint.tensors[f"{L0}mlp.experts.2.{name}.input_scale"]


@breaks(cp.modelopt_nvfp4, "experts-differ", "expert 1 is not there")
def one_expert_is_not_there(checkpoint):
    as_experts(checkpoint, 5)
    for name in [name for name in checkpoint.tensors if ".experts.1." in name]:
        del checkpoint.tensors[name]


def routed(checkpoint, module):
    """A quantized matrix under the name of another module."""
    for name in [name for name in checkpoint.tensors if name.startswith(UP + ".")]:
        checkpoint.tensors[f"{L0}{module}.{name.removeprefix(UP + '.')}"] = checkpoint.tensors[name]


@breaks(cp.compressed_fp8, "quantized-router", "mlp.gate.wg is a router", "hunyuan")
def a_router_is_quantized(checkpoint):
    routed(checkpoint, "mlp.gate.wg")


@breaks(cp.compressed_fp8, "quantized-router", "mlp.router_linear is a router")
def a_router_of_another_name_is_quantized(checkpoint):
    routed(checkpoint, "mlp.router_linear")


@breaks(cp.compressed_fp8, "quantized-wide-module", "indexer.weights_proj", "deepseek_v2")
def weights_of_an_indexer_are_quantized(checkpoint):
    routed(checkpoint, "self_attn.indexer.weights_proj")


@breaks(cp.compressed_fp8, "quantized-wide-module", "eh_proj", "deepseek_mtp")
def the_projection_of_a_draft_layer_is_quantized(checkpoint):
    routed(checkpoint, "eh_proj")


# Key-value caches.

def per_head(checkpoint, count, heads=2):
    checkpoint.config["num_key_value_heads"] = heads
    for prefix in (KV0, "model.layers.1.self_attn."):
        for name in ("k_scale", "v_scale"):
            checkpoint.tensors[prefix + name] = np.linspace(0.01, 0.03, count, dtype=np.float32)


@breaks(cp.autofp8, "kv-scale-per-head", "2 scales, one a head")
def the_cache_has_a_scale_a_head(checkpoint):
    per_head(checkpoint, 2)


@breaks(cp.autofp8, "kv-scale-count", "4 scales", "2 heads")
def the_cache_has_scales_of_other_heads(checkpoint):
    per_head(checkpoint, 4)


@breaks(cp.autofp8, "kv-scale-count", "3 scales", "8 heads")
def the_heads_are_those_of_the_language_model(checkpoint):
    per_head(checkpoint, 3)
    del checkpoint.config["num_key_value_heads"]
    checkpoint.config["thinker_config"] = {"text_config": {"num_key_value_heads": 8}}


@breaks(cp.compressed_fp8, "configuration-mismatch", 'kv_cache_scheme says "tensor"', "are 2 scales")
def the_cache_has_a_scale_a_head_and_says_tensor(checkpoint):
    per_head(checkpoint, 2)
    checkpoint.quantization["kv_cache_scheme"] = cp.scheme(8, "tensor", dynamic=False)


@breaks(cp.compressed_fp8, "configuration-mismatch", 'kv_cache_scheme says "attn_head"', "is one scale")
def the_cache_has_one_scale_and_says_heads(checkpoint):
    per_head(checkpoint, 1)
    checkpoint.quantization["kv_cache_scheme"] = cp.scheme(8, "attn_head", dynamic=False)


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
