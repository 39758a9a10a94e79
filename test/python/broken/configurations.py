"""Configurations that are broken, or that their tensors do not fit."""
import numpy as np

import checkpoints as cp
from broken.cases import breaks, case
from checkpoints import DOWN, UP


@case("unreadable-config", "config.json", "JSON")
def configuration_is_no_json(folder):
    cp.autofp8().write(folder)
    (folder / "config.json").write_text("{'model_type': 1}")


@case("unreadable-config", "config.json", "twice")
def configuration_has_a_key_twice(folder):
    cp.autofp8().write(folder)
    (folder / "config.json").write_text('{"a": 1, "a": 2}')


@case("unreadable-config", "config.json", "deep")
def configuration_is_nested_too_deep(folder):
    cp.autofp8().write(folder)
    (folder / "config.json").write_text("[" * 100_000)


@case("unreadable-config", "hf_quant_config.json")
def modelopt_configuration_is_cut(folder):
    cp.autofp8().write(folder)
    (folder / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "FP8"')


@breaks(cp.autofp8, "kv-scheme-missing", "does not mention the cache", "2 attention modules")
def the_cache_has_scales_and_no_scheme(checkpoint):
    del checkpoint.quantization["kv_cache_scheme"]


@breaks(cp.plain_checkpoint, "configuration-mismatch", "quant_method is mxfp4", "layout native")
def configuration_says_mxfp4_of_native_tensors(checkpoint):
    """gpt-oss's method over F4 elements beside F8_E8M0 scales."""
    cp.store_natively(checkpoint)
    checkpoint.config["quantization_config"] = {"quant_method": "mxfp4"}


@breaks(cp.autofp8, "no-configuration", "no quantization_config")
def configuration_does_not_say_quantized(checkpoint):
    del checkpoint.config["quantization_config"]


@breaks(cp.autofp8, "no-configuration", "no config.json")
def configuration_is_not_there(checkpoint):
    checkpoint.config = None


@case("no-configuration", "config.json cannot be read")
def configuration_is_there_and_unreadable(folder):
    cp.autofp8().write(folder)
    (folder / "config.json").write_text("[]")


@breaks(cp.autofp8, "no-configuration", "quantization_config of config.json is of type array, not an object")
def quantization_is_a_list(checkpoint):
    checkpoint.config["quantization_config"] = [1]


@breaks(cp.autofp8, "no-configuration", "quantization_config of config.json is null")
def quantization_is_null(checkpoint):
    checkpoint.config["quantization_config"] = None


@breaks(cp.compressed_nvfp4, "configuration-mismatch", "nvfp4-pack-quantized", 'format is "float-quantized"')
def format_is_another(checkpoint):
    checkpoint.quantization["format"] = "float-quantized"


@breaks(cp.compressed_fp8, "configuration-mismatch", "fp8_row", 'its format is "nvfp4-pack-quantized"')
def format_of_the_group_is_another(checkpoint):
    checkpoint.quantization["config_groups"]["group_0"]["format"] = "nvfp4-pack-quantized"


@breaks(cp.autofp8, "unsupported-layout", "quant_method is 5, not a string")
def method_is_a_number(checkpoint):
    checkpoint.quantization["quant_method"] = 5


@breaks(cp.autofp8, "unsupported-layout", "quant_method is null, not a string")
def method_is_null(checkpoint):
    checkpoint.quantization["quant_method"] = None


@breaks(cp.autofp8, "unsupported-layout", "quantization_config has no quant_method")
def method_is_not_there(checkpoint):
    del checkpoint.quantization["quant_method"]


@breaks(cp.autofp8, "unsupported-layout", "shiny")
def method_is_unknown(checkpoint):
    checkpoint.quantization["quant_method"] = "shiny"


@breaks(cp.plain_checkpoint, "nothing-quantized", "no tensor is the weight of a quantized layer")
def configuration_says_quantized_and_nothing_is(checkpoint):
    checkpoint.config["quantization_config"] = cp.autofp8().quantization


@breaks(cp.compressed_fp8, "configuration-mismatch", "nvfp4")
def labelled_nvfp4_stored_fp8(checkpoint):
    checkpoint.quantization["format"] = "nvfp4-pack-quantized"
    checkpoint.quantization["config_groups"]["group_0"]["weights"] = cp.scheme(
        4, "tensor_group", group_size=16, dynamic=False)


@breaks(cp.compressed_fp8, "ignore-matches-nothing", "lm_haed")
def ignored_name_is_misspelt(checkpoint):
    checkpoint.quantization["ignore"].append("lm_haed")


@breaks(cp.compressed_fp8, "ignored-layer-quantized", DOWN)
def ignored_layer_is_quantized(checkpoint):
    checkpoint.quantization["ignore"].append(DOWN)


@breaks(cp.compressed_fp8, "ignored-layer-quantized", "down_proj")
def ignored_pattern_hides_quantized_layers(checkpoint):
    checkpoint.quantization["ignore"].append("re:.*down_proj")


@breaks(cp.compressed_fp8, "unquantized-layer", DOWN)
def plain_layer_is_not_ignored(checkpoint):
    del checkpoint.tensors[DOWN + ".weight_scale"]
    checkpoint.tensors[DOWN + ".weight"] = cp.plain()[DOWN + ".weight"]


@breaks(cp.compressed_fp8, "bad-pattern", "(")
def pattern_is_broken(checkpoint):
    checkpoint.quantization["ignore"].append("re:(")


@breaks(cp.compressed_fp8, "bad-pattern", "too many steps", "((.+)+)+")
def pattern_takes_forever(checkpoint):
    checkpoint.quantization["ignore"].append("re:(?!x)((.+)+)+[!?]")


@breaks(cp.compressed_fp8, "unknown-configuration-key", "magic")
def scheme_has_an_unknown_key(checkpoint):
    checkpoint.quantization["config_groups"]["group_0"]["weights"]["magic"] = True


@breaks(cp.compressed_fp8, "unknown-configuration-key", "zeal", "group_0")
def group_has_an_unknown_key(checkpoint):
    checkpoint.quantization["config_groups"]["group_0"]["zeal"] = 11


# What reading a layout finds, beyond the parts that are missing or misshapen.

@breaks(cp.autofp8, "bad-configuration", "activation_scheme", "sometimes")
def activations_are_neither_static_nor_dynamic(checkpoint):
    checkpoint.quantization["activation_scheme"] = "sometimes"


@breaks(cp.modelopt_nvfp4, "bad-configuration", "hf_quant_config.json", "NVFP4", "FP8")
def two_configurations_that_disagree(checkpoint):
    checkpoint.quant_config["quantization"]["quant_algo"] = "FP8"


@breaks(cp.modelopt_nvfp4, "unsupported-format", "INT4_AWQ")
def the_algorithm_is_no_float(checkpoint):
    checkpoint.quantization["quant_algo"] = "INT4_AWQ"
    checkpoint.quant_config["quantization"]["quant_algo"] = "INT4_AWQ"


@breaks(cp.deepseek, "other-spelling", "up_proj.weight", "weight_scale")
def the_scale_has_another_layouts_name(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = checkpoint.tensors.pop(UP + ".weight_scale_inv")


def bare(tensors, quantization=None):
    config = {"quantization_config": quantization} if quantization else {"model_type": "llama"}
    return lambda: cp.Checkpoint(dict(tensors), config, shards=1)


E8M0 = np.full((4, 2), 120, np.uint8)


@breaks(bare({"m.weight": ("F4", [4, 63], bytes(126)), "m.weight_scale": ("F8_E8M0", [4, 2], bytes(8))},
             {"quant_method": "octavo"}), "element-shape", "m.weight", "fill whole bytes")
def rows_that_end_within_a_byte(checkpoint):
    pass


@breaks(bare({"m.weight": np.zeros((4, 48), np.uint8), "m.weight_scale": E8M0}), "ambiguous-format", "m.weight")
def six_bits_that_do_not_say_which(checkpoint):
    pass


@breaks(bare({"m.weight": np.zeros((4, 64), cp.E4M3), "m.weight_scale": E8M0}), "ambiguous-layout",
        "compressed-tensors, modelopt, quark")
def a_layout_that_fits_three(checkpoint):
    pass


@breaks(bare({"model.layers.0.mlp.experts.gate_up_proj_blocks": np.zeros((3, 8, 2, 16), np.uint8),
              "model.layers.0.mlp.experts.gate_up_proj_scales": np.full((3, 8, 2), 120, np.uint8)},
             {"quant_method": "mxfp4"}), "interleaved-gate-up", "gate_up_proj_blocks")
def rows_of_gate_and_up_by_turns(checkpoint):
    pass


@breaks(cp.compressed_nvfp4, "runtime-transform", "transform_config", "u transforms each input")
def inputs_are_rotated_at_run_time(checkpoint):
    checkpoint.config["quantization_config"]["transform_config"] = {
        "config_groups": {"u": {"type": "hadamard", "apply": [{"targets": ["Linear"], "location": "input"}]}}}


@breaks(cp.compressed_fp8, "unapplied-tensor", UP + ".weight_zero_point", "subtracted from its codes")
def codes_have_a_zero_point(checkpoint):
    scale = checkpoint.tensors[UP + ".weight_scale"]
    checkpoint.tensors[UP + ".weight_zero_point"] = np.full(scale.shape, 3, cp.E4M3)


@breaks(cp.autofp8, "unused-scale", UP + ".weight_scale_2", "whose format fp8_tensor has no such scale")
def a_second_scale_is_beside_a_weight(checkpoint):
    checkpoint.tensors[UP + ".weight_scale_2"] = np.float32([2])


@breaks(cp.plain_checkpoint, "foreign-codes", UP + ".qweight", "codes of GPTQ: I32 [8, 128]")
def a_weight_is_gptq(checkpoint):
    del checkpoint.tensors[UP + ".weight"]
    checkpoint.tensors |= {UP + ".qweight": np.zeros((8, 128), np.int32), UP + ".g_idx": np.zeros(64, np.int32),
                           UP + ".scales": np.ones((1, 128), np.float16)}


# Modules that are left out and not listed.

def plain_module(checkpoint, module, like="lm_head"):
    checkpoint.tensors[module + ".weight"] = cp.plain()[like + ".weight"]


@breaks(cp.compressed_fp8, "unquantized-layer", "lm_head", "does not exclude this one")
def the_head_is_plain_and_not_listed(checkpoint):
    checkpoint.quantization["ignore"].remove("lm_head")


@breaks(cp.modelopt_nvfp4, "unquantized-layer", "mtp.fc", "does not exclude this one")
def a_draft_module_is_plain_and_not_listed(checkpoint):
    plain_module(checkpoint, "mtp.fc")


@breaks(cp.autofp8, "unquantized-layer", "multi_modal_projector.linear_1")
def a_projector_is_plain_and_not_listed(checkpoint):
    plain_module(checkpoint, "multi_modal_projector.linear_1")


# Two descriptions of one quantization.

@breaks(cp.modelopt_nvfp4, "configurations-disagree", "not quantized", "hf_quant_config.json has 8 more",
        "model.layers.0.self_attn.k_proj")
def exclusions_of_two_files_differ(checkpoint):
    checkpoint.quant_config["quantization"]["exclude_modules"].append("model.layers.*.self_attn*")


@breaks(cp.modelopt_nvfp4, "configurations-disagree", "config.json has 1 more", '"lm_head"')
def one_file_excludes_nothing(checkpoint):
    checkpoint.quant_config["quantization"]["exclude_modules"] = []


@breaks(cp.modelopt_nvfp4, "configurations-disagree", "cache is wide in config.json and fp8 in hf_quant_config.json")
def caches_of_two_files_differ(checkpoint):
    checkpoint.quant_config["quantization"]["kv_cache_quant_algo"] = "FP8"


@breaks(cp.modelopt_nvfp4, "configurations-disagree", "group_size is 16 in config.json and 32")
def group_sizes_of_two_files_differ(checkpoint):
    checkpoint.quant_config["quantization"]["group_size"] = 32


@breaks(cp.modelopt_nvfp4, "configurations-disagree", "quantized_layers", "hf_quant_config.json has 1 more")
def layers_of_two_files_differ(checkpoint):
    checkpoint.quant_config["quantization"]["quantized_layers"] = {UP: {"quant_algo": "FP8"}}


@breaks(cp.autofp8, "configurations-disagree", "quantization_config (quant_method fp8)",
        "thinker_config.text_config.quantization_config (quant_method compressed-tensors)")
def two_blocks_of_one_file_differ(checkpoint):
    checkpoint.config["thinker_config"] = {"text_config": {"quantization_config": {
        "quant_method": "compressed-tensors"}}}


@breaks(lambda: cp.deepseek({"mlp.experts.0.up_proj": (256, 128)}), "configuration-mismatch", 'expert_dtype is "fp4"',
        "2 of 2 weights of experts", "fp8_block")
def experts_are_said_to_be_fp4(checkpoint):
    checkpoint.config["expert_dtype"] = "fp4"


@breaks(cp.modelopt_nvfp4, "leaked-quantizer-state", "up_proj.weight_quantizer._amax", "buffer of the quantizer")
def buffers_of_the_quantizer_are_left(checkpoint):
    for buffer in ("weight_quantizer._double_scale", "weight_quantizer._amax", "input_quantizer._amax"):
        checkpoint.tensors[f"{UP}.{buffer}"] = np.float32(0.5).reshape(())


@breaks(cp.compressed_fp8, "leaked-quantizer-state", "self_attn.k_bmm_quantizer._amax")
def a_buffer_of_the_cache_is_left(checkpoint):
    checkpoint.tensors["model.layers.0.self_attn.k_bmm_quantizer._amax"] = np.ones(1, np.float32)
