"""Checkpoints that a reader takes for something else."""
import ml_dtypes
import numpy as np

import checkpoints as cp
from broken.cases import breaks, case
from broken.numbers import a_code_is_nan, set_scale
from checkpoints import KV0, L0, UP


def reads(base, reader, rule, *words):
    return breaks(base, rule, *words, arguments=("--for", reader))


@reads(cp.autofp8, "vllm", "kv-value-scale-alone", "assertion", "46264")
def vllm_and_a_value_scale_alone(checkpoint):
    del checkpoint.tensors[KV0 + "k_scale"]


@reads(cp.autofp8, "vllm", "kv-scales-default-to-one", "1 of 2", "1.0")
def vllm_and_a_module_without_cache_scales(checkpoint):
    del checkpoint.tensors[KV0 + "k_scale"], checkpoint.tensors[KV0 + "v_scale"]


@reads(cp.autofp8, "vllm", "kv-one-scale-for-both", "copied to v_scale")
def vllm_and_the_old_name(checkpoint):
    del checkpoint.tensors[KV0 + "v_scale"]
    checkpoint.tensors[KV0 + "kv_scale"] = checkpoint.tensors.pop(KV0 + "k_scale")


@reads(cp.compressed_mxfp8, "vllm", "e8m0-bytes-shifted", "1 scale byte", "0.0")
def vllm_and_the_smallest_mx_scale(checkpoint):
    scales = checkpoint.tensors[UP + ".weight_scale"].copy()
    scales[0, 0] = 0
    checkpoint.tensors[UP + ".weight_scale"] = scales


@reads(cp.autofp8, "vllm", "fused-weights-requantized", "largest")
def vllm_and_scales_of_gate_and_up(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.float32(0.0004).reshape(())


@reads(cp.deepseek, "vllm", "blocks-want-dynamic", "static")
def vllm_and_static_blocks(checkpoint):
    checkpoint.quantization["activation_scheme"] = "static"


@reads(cp.autofp8, "vllm", "fnuz-nan-codes", "240")
def vllm_on_fnuz_and_nan_codes(checkpoint):
    a_code_is_nan(checkpoint)


@reads(cp.deepseek, "sglang", "fnuz-doubled-scale", "infinite")
def sglang_on_fnuz_and_a_huge_scale(checkpoint):
    set_scale(checkpoint, UP + ".weight_scale_inv", 3e38)


@reads(lambda: cp.deepseek({name: (200, 130) for name in cp.SHAPES}), "transformers",
       "ragged-blocks-misread", "silently wrong", "200 x 130")
def transformers_and_ragged_blocks(checkpoint):
    pass


@reads(lambda: cp.compressed_blocks({name: (200, 130) for name in cp.SHAPES}), "transformers",
       "ragged-activations-stop", "200 x 130", "the first product fails")
def transformers_and_ragged_compressed_blocks(checkpoint):
    pass


@reads(cp.compressed_groups, "transformers", "ragged-groups-refused", "128 x 480", "not a multiple of 128",
       "loading fails")
def transformers_and_ragged_groups(checkpoint):
    pass


@reads(lambda: cp.deepseek({name: (576, 128) for name in cp.SHAPES}), "transformers", "ragged-blocks-refused",
       "loading fails", "576 x 128")
def transformers_and_rows_that_their_scales_do_not_divide(checkpoint):
    """DeepSeek-V3's kv_a_proj_with_mqa: 5 rows of scales."""


@reads(cp.modelopt_nvfp4, "transformers", "packed-rows-refused", "64 bytes a row", "128 weights")
def transformers_and_modelopt_nvfp4(checkpoint):
    pass


@reads(cp.autofp8, "transformers", "raw-codes-loaded", "silently wrong", "without their scales")
def transformers_and_autofp8(checkpoint):
    pass


@reads(cp.autofp8, "trtllm", "kv-scale-clamped-to-one", "1.0")
def tensorrt_and_small_cache_scales(checkpoint):
    pass


@reads(cp.compressed_fp8, "vllm", "quark-export-missing", "export")
def vllm_and_quark_without_export(checkpoint):
    checkpoint.quantization["quant_method"] = "quark"


@reads(cp.autofp8, "vllm", "modelopt-algorithm-unknown", "FP5")
def vllm_and_an_unknown_algorithm(checkpoint):
    checkpoint.config["quantization_config"] = {"quant_method": "modelopt", "quant_algo": "FP5"}


@reads(cp.autofp8, "vllm", "modelopt-input-scale-unset", "lowest f32", "o_proj.input_scale")
def vllm_and_modelopt_without_input_scales(checkpoint):
    del checkpoint.tensors[L0 + "self_attn.o_proj.input_scale"]
    checkpoint.config["quantization_config"] = {"quant_method": "modelopt", "quant_algo": "FP8"}


@reads(cp.modelopt_nvfp4, "vllm", "modelopt-excluded-by-substring", '"mlp.gate" is excluded',
       "model.layers.0.mlp.gate_up_proj", "that it hides: 4")
def vllm_and_a_router_that_hides_a_projection(checkpoint):
    checkpoint.quant_config["quantization"]["exclude_modules"].append("mlp.gate")
    checkpoint.quantization["ignore"].append("mlp.gate")


@reads(lambda: cp.compressed_blocks({name: (256, 192) for name in cp.SHAPES}), "vllm",
       "modelopt-ragged-blocks", "256 x 192")
def vllm_and_ragged_modelopt_blocks(checkpoint):
    checkpoint.config["quantization_config"] = {"quant_method": "modelopt", "quant_algo": "FP8_PB_WO"}


@reads(cp.compressed_blocks, "vllm", "no-scheme-for-format", "fp8_group")
def vllm_and_fp8_groups(checkpoint):
    weights = checkpoint.quantization["config_groups"]["group_0"]["weights"]
    weights |= {"strategy": "group", "group_size": 128, "block_structure": None}
    for name in list(checkpoint.tensors):
        if name.endswith("_scale"):  # a row of its own for each of the 128 rows of a block
            checkpoint.tensors[name] = checkpoint.tensors[name].repeat(128, 0)


def as_quark(checkpoint, activations):
    tensor = {"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": False}
    checkpoint.config["quantization_config"] = {
        "quant_method": "quark", "export": {}, "exclude": ["lm_head"], "global_quant_config": {
            "weight": tensor, "input_tensors": activations}}


@reads(lambda: cp.autofp8(static=False, kv=False), "vllm", "quark-weights-alone", "fp8_tensor")
def vllm_and_quark_without_activations(checkpoint):
    as_quark(checkpoint, None)


@reads(cp.compressed_mxfp8, "transformers", "quark-groups-stop", "mxfp8_e4m3")
def transformers_and_quark_in_groups(checkpoint):
    as_quark(checkpoint, None)
    checkpoint.quantization["global_quant_config"]["weight"] = {
        "dtype": "fp8_e4m3", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}


@reads(cp.compressed_mxfp8, "vllm", "octavo-method-unknown", "native")
def vllm_and_the_native_layout(checkpoint):
    checkpoint.config["quantization_config"] = {"quant_method": "octavo"}


@reads(cp.deepseek, "sglang", "modelopt-inverse-name", "weight_scale_inv")
def sglang_and_modelopt_with_inverse_names(checkpoint):
    checkpoint.config["quantization_config"] = {"quant_method": "modelopt",
                                                "quant_algo": "FP8_PB_WO"}


@reads(cp.plain_checkpoint, "vllm", "dtype-without-torch", "F6_E2M3")
def vllm_and_six_bits(checkpoint):
    checkpoint.tensors["a"] = ("F6_E2M3", [4], b"\0\0\0")


@reads(cp.plain_checkpoint, "transformers", "f4-odd-row", "F4")
def transformers_and_an_odd_row_of_four_bits(checkpoint):
    checkpoint.tensors["a"] = ("F4", [2, 3], b"\0\0\0")


@reads(cp.plain_checkpoint, "sglang", "dtype-since-0.6", "F8_E8M0")
def sglang_and_a_new_dtype(checkpoint):
    checkpoint.tensors["a"] = np.ones(4, np.float32).astype(ml_dtypes.float8_e8m0fnu)


@reads(cp.plain_checkpoint, "vllm", "dtype-since-0.8", "FNUZ")
def vllm_and_the_newest_dtype(checkpoint):
    checkpoint.tensors["a"] = np.ones(4, np.float32).astype(ml_dtypes.float8_e4m3fnuz)


@case("kv-side-file-unread", "kv_cache_scales.json", arguments=("--for", "vllm"))
def vllm_and_the_side_file(folder):
    cp.autofp8(kv=False).write(folder)
    (folder / "kv_cache_scales.json").write_text("{}")


def one_stack(checkpoint, module="model.layers.0.mlp.experts", suffix="_packed"):
    """Puts two experts in one tensor where one layer was."""
    for part, stacked in (("weight_packed", "gate_up_proj" + suffix), ("weight_scale", "gate_up_proj_scale")):
        tensor = checkpoint.tensors.pop(f"{UP}.{part}" if f"{UP}.{part}" in checkpoint.tensors else f"{UP}.weight")
        checkpoint.tensors[f"{module}.{stacked}"] = np.stack([tensor, tensor])


@reads(cp.compressed_mxfp8, "transformers", "stacked-experts-unread", "random values", "gate_up_proj", "1 of 14")
def transformers_and_stacked_experts_in_compressed_tensors(checkpoint):
    one_stack(checkpoint, suffix="")


@reads(cp.compressed_mxfp8, "transformers", "stacked-experts-unread", "random values", "1 of 14")
def transformers_and_stacked_experts_in_quark(checkpoint):
    one_stack(checkpoint, suffix="")
    as_quark(checkpoint, None)
    checkpoint.quantization["global_quant_config"]["weight"] = {
        "dtype": "fp8_e4m3", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}


@reads(cp.plain_checkpoint, "transformers", "matrices-as-blocks-unread", "random values", "1 of 1",
       "up_proj.weight_blocks")
def transformers_and_a_matrix_in_blocks_of_gpt_oss(checkpoint):
    del checkpoint.tensors[UP + ".weight"]
    checkpoint.tensors[UP + ".weight_blocks"] = np.ones((8, 4, 16), np.uint8)
    checkpoint.tensors[UP + ".weight_scales"] = np.full((8, 4), 120, np.uint8)
    checkpoint.config["quantization_config"] = {"quant_method": "mxfp4"}


@reads(cp.compressed_fp8, "vllm", "quantized-router", "without quantization", "shared_expert_gate is a router")
def vllm_and_a_quantized_gate_of_a_shared_expert(checkpoint):
    for part in ("weight", "weight_scale"):
        checkpoint.tensors[f"{L0}mlp.shared_expert_gate.{part}"] = checkpoint.tensors.pop(f"{UP}.{part}")


def one_expert(checkpoint, number=0):
    """Makes the up projection of the first layer one of an expert that is modules."""
    for name in list(checkpoint.tensors):
        if name.startswith(UP + "."):
            part = name.removeprefix(UP)
            checkpoint.tensors[f"model.layers.0.mlp.experts.{number}.up_proj{part}"] = checkpoint.tensors.pop(name)


@reads(cp.compressed_nvfp4, "transformers", "experts-outer-scales-dropped", "silently wrong", "nvfp4",
       "experts.0.up_proj.weight_packed")
def transformers_and_outer_scales_of_experts(checkpoint):
    one_expert(checkpoint)


@reads(cp.compressed_mxfp8, "transformers", "experts-blocks-stop", "loading fails", "mxfp8_e4m3")
def transformers_and_blocks_of_experts(checkpoint):
    one_expert(checkpoint, 12)


@reads(lambda: cp.compressed_blocks({name: (256, 128) for name in cp.SHAPES}), "transformers",
       "experts-blocks-stop", "loading fails", "fp8_block")
def transformers_and_large_blocks_of_experts(checkpoint):
    one_expert(checkpoint)


@reads(lambda: cp.autofp8(static=False, kv=False), "transformers", "quark-experts-unread", "silently wrong",
       "fp8_tensor")
def transformers_and_quark_experts(checkpoint):
    as_quark(checkpoint, {"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": True})
    one_expert(checkpoint)


@reads(cp.compressed_fp8, "transformers", "llama4-stacks-unread", "random values", "experts.gate_up_proj is a stack")
def transformers_and_stacks_of_llama4(checkpoint):
    checkpoint.config["text_config"] = {"model_type": "llama4_text"}
    checkpoint.tensors["model.layers.0.feed_forward.experts.gate_up_proj"] = np.zeros((2, 64, 256), ml_dtypes.bfloat16)
