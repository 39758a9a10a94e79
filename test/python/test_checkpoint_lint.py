"""`octavo checkpoint lint`: more than a hundred broken checkpoints, each found or refused with the
right words, none crashing; and whole ones without a complaint."""
import json
import os
import pathlib
import re
import struct
import subprocess

import ml_dtypes
import numpy as np
import pytest

import checkpoints as cp

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
DOCS = pathlib.Path(__file__).parents[2] / "docs"

L0, L1 = "model.layers.0.", "model.layers.1."
UP, DOWN = L0 + "mlp.up_proj", L0 + "mlp.down_proj"


def lint(path, *arguments):
    return subprocess.run([OCTAVO, "checkpoint", "lint", path, "--json", "--fail-on", "note",
                           *arguments], capture_output=True, text=True, timeout=60)


# Each case: a name, a rule, words of the finding, and a function that makes the broken checkpoint in
# a folder. A rule of None: the checkpoint is refused (exit 3), and the words are in the error.
CASES = []


def case(rule, *words, arguments=()):
    def add(make):
        CASES.append(pytest.param(rule, words, arguments, make, id=make.__name__))
        return make
    return add


def breaks(base, rule, *words, arguments=()):
    """A case that changes a checkpoint before it is written."""
    def add(change):
        def make(folder):
            checkpoint = base()
            change(checkpoint)
            checkpoint.write(folder)
        make.__name__ = change.__name__
        CASES.append(pytest.param(rule, words, arguments, make, id=change.__name__))
        return change
    return add


def damages(rule, *words):
    """A case that writes the second shard of a checkpoint anew, as bytes."""
    def add(damage):
        def make(folder):
            cp.autofp8().write(folder)
            shard = folder / cp.Checkpoint.shard_name(1, 2)
            damage(shard, *cp.header_of(cp.read_safetensors(shard)))
        make.__name__ = damage.__name__
        CASES.append(pytest.param(rule, words, (), make, id=damage.__name__))
        return damage
    return add


# The second shard of two.

@damages("torn-shard", "too short")
def shard_is_empty(shard, header, data):
    shard.write_bytes(b"")


@damages("torn-shard", "too short")
def shard_of_seven_bytes(shard, header, data):
    shard.write_bytes(b"\0" * 7)


@damages("torn-shard", "header")
def header_is_longer_than_the_file(shard, header, data):
    shard.write_bytes(struct.pack("<Q", 10**6) + b"{}")


@damages("torn-shard", "header")
def header_is_longer_than_the_format_allows(shard, header, data):
    shard.write_bytes(struct.pack("<Q", 2**63) + b"{}")


@damages("torn-shard", "JSON")
def header_is_no_json(shard, header, data):
    cp.write_raw(shard, b'{"a": ', data)


@damages("torn-shard", "object")
def header_is_a_list(shard, header, data):
    cp.write_raw(shard, b"[1, 2, 3]", data)


@damages("torn-shard", "twice")
def header_has_a_name_twice(shard, header, data):
    entry = b'"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    cp.write_raw(shard, b"{" + entry + b"," + entry + b"}", b"\0")


@damages("torn-shard", "dtype", "F7")
def dtype_does_not_exist(shard, header, data):
    next(iter(header.values()))["dtype"] = "F7"
    cp.write_raw(shard, header, data)


@damages("torn-shard", "shape")
def extent_is_negative(shard, header, data):
    next(iter(header.values()))["shape"] = [-1]
    cp.write_raw(shard, header, data)


@damages("torn-shard", "shape")
def extents_overflow(shard, header, data):
    next(iter(header.values()))["shape"] = [2**62, 2**62]
    cp.write_raw(shard, header, data)


@damages("torn-shard", "offset")
def offsets_run_backwards(shard, header, data):
    entry = next(iter(header.values()))
    entry["data_offsets"] = entry["data_offsets"][::-1]
    cp.write_raw(shard, header, data)


@damages("torn-shard", "hole")
def data_has_a_hole(shard, header, data):
    for entry in header.values():
        entry["data_offsets"] = [offset + 8 for offset in entry["data_offsets"]]
    cp.write_raw(shard, header, b"\0" * 8 + data)


@damages("torn-shard", "overlap")
def tensors_overlap(shard, header, data):
    first, second = list(header.values())[:2]
    second["data_offsets"] = first["data_offsets"]
    second["shape"], second["dtype"] = first["shape"], first["dtype"]
    cp.write_raw(shard, header, data)


@damages("torn-shard", "bytes")
def shape_needs_more_bytes(shard, header, data):
    next(iter(header.values()))["shape"].append(2)
    cp.write_raw(shard, header, data)


@damages("torn-shard", "byte")
def bytes_follow_the_tensors(shard, header, data):
    cp.write_raw(shard, header, data + b"\0")


@damages("torn-shard", "byte")
def last_byte_is_missing(shard, header, data):
    cp.write_raw(shard, header, data[:-1])


@damages("torn-shard", "UTF-8")
def name_is_no_utf8(shard, header, data):
    cp.write_raw(shard, b'{"\xff":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"\0")


@damages("torn-shard", "__metadata__")
def metadata_is_a_number(shard, header, data):
    cp.write_raw(shard, header | {"__metadata__": {"format": 1}}, data)


@damages("torn-shard", "offset")
def offset_is_a_fraction(shard, header, data):
    next(iter(header.values()))["data_offsets"][0] = 0.5
    cp.write_raw(shard, header, data)


@damages("torn-shard", "data_offsets")
def entry_has_no_offsets(shard, header, data):
    del next(iter(header.values()))["data_offsets"]
    cp.write_raw(shard, header, data)


@damages("torn-shard", "whole bytes")
def four_bit_codes_do_not_fill_a_byte(shard, header, data):
    cp.write_raw(shard, {"a": {"dtype": "F4", "shape": [3], "data_offsets": [0, 2]}}, b"\0\0")


@damages("torn-shard", "begin")
def header_begins_with_a_blank(shard, header, data):
    cp.write_raw(shard, b" " + json.dumps(header).encode(), data)


@damages("missing-shard", "model-00002")
def shard_is_missing(shard, header, data):
    shard.unlink()


@damages("missing-shard", "model-00002")
def shard_is_a_link_to_nowhere(shard, header, data):
    shard.unlink()
    shard.symlink_to("nowhere.safetensors")


@damages("outside-folder", "leads out of the checkpoint")
def shard_is_a_link_to_elsewhere(shard, header, data):
    elsewhere = shard.parent.parent / "elsewhere.safetensors"
    shard.rename(elsewhere)
    shard.symlink_to(elsewhere)


# The index.

def breaks_index(rule, *words):
    def add(change):
        def make(folder):
            cp.autofp8().write(folder)
            path = folder / "model.safetensors.index.json"
            text = change(json.loads(path.read_text()))
            path.write_text(text if isinstance(text, str) else json.dumps(text))
        make.__name__ = change.__name__
        CASES.append(pytest.param(rule, words, (), make, id=change.__name__))
        return change
    return add


def with_place(index, name, place):
    index["weight_map"][name] = place
    return index


@breaks_index("bad-index", "model.safetensors.index.json", "JSON")
def index_is_no_json(index):
    return "{"


@breaks_index("bad-index", "weight_map", "twice")
def index_has_a_key_twice(index):
    return '{"weight_map": {}, "weight_map": {}}'


@breaks_index("bad-index", "weight_map")
def index_has_no_weight_map(index):
    return {}


@breaks_index("bad-index", "weight_map")
def weight_map_is_a_list(index):
    return {"weight_map": []}


@breaks_index("bad-index", "no file name")
def place_is_a_number(index):
    return with_place(index, UP + ".weight", 3)


@breaks_index("outside-folder", '".."')
def place_climbs_out(index):
    return with_place(index, UP + ".weight", "../model.safetensors")


@breaks_index("outside-folder", "/etc/passwd")
def place_is_absolute(index):
    return with_place(index, UP + ".weight", "/etc/passwd")


@breaks_index("outside-folder", "passwd")
def place_is_no_safetensors(index):
    return with_place(index, UP + ".weight", "passwd")


@breaks_index("missing-tensor", "nowhere")
def index_names_a_tensor_that_is_nowhere(index):
    return with_place(index, L0 + "extra.weight", cp.Checkpoint.shard_name(0, 2))


@breaks_index("misplaced-tensor", "wrong shard")
def index_has_a_tensor_in_the_wrong_shard(index):
    return with_place(index, "lm_head.weight", cp.Checkpoint.shard_name(1, 2))


@breaks_index("unlisted-tensor", "does not list")
def index_leaves_a_tensor_out(index):
    del index["weight_map"]["model.norm.weight"]
    return index


@breaks_index("index-total-size", "total_size is 17")
def total_size_is_wrong(index):
    return index | {"metadata": {"total_size": 17}}


@case("extra-shard", "other.safetensors")
def a_file_is_in_no_index(folder):
    cp.autofp8().write(folder)
    cp.write_safetensors(folder / "other.safetensors", {"a": np.zeros(4, np.float32)})


@case("duplicate-tensor", "model.norm.weight", "two shards")
def a_tensor_is_in_two_shards(folder):
    checkpoint = cp.autofp8()
    checkpoint.write(folder)
    for i in range(2):
        shard = folder / cp.Checkpoint.shard_name(i, 2)
        cp.write_safetensors(shard, cp.read_safetensors(shard)
                             | {"model.norm.weight": checkpoint.tensors["model.norm.weight"]})


# What is no checkpoint at all.

@case(None, "empty", "no safetensors file")
def empty(folder):
    folder.mkdir(parents=True)


@case(None, "pytorch_model.bin", "safetensors")
def pickles_alone(folder):
    folder.mkdir(parents=True)
    (folder / "pytorch_model.bin").write_bytes(b"PK\3\4")


@case(None, "absent")
def absent(folder):
    pass


# The configuration.

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


@breaks(cp.autofp8, "no-configuration", "no quantization_config")
def configuration_does_not_say_quantized(checkpoint):
    del checkpoint.config["quantization_config"]


@breaks(cp.autofp8, "no-configuration", "no config.json")
def configuration_is_not_there(checkpoint):
    checkpoint.config = None


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


@breaks(cp.compressed_fp8, "unknown-configuration-key", "magic")
def scheme_has_an_unknown_key(checkpoint):
    checkpoint.quantization["config_groups"]["group_0"]["weights"]["magic"] = True


@breaks(cp.compressed_fp8, "unknown-configuration-key", "zeal", "group_0")
def group_has_an_unknown_key(checkpoint):
    checkpoint.quantization["config_groups"]["group_0"]["zeal"] = 11


# Scales that are missing, extra, of the wrong kind.

@breaks(cp.autofp8, "missing-scale", UP)
def scale_is_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight_scale"]


@breaks(cp.deepseek, "missing-scale", UP)
def block_scales_are_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight_scale_inv"]


@breaks(cp.compressed_nvfp4, "missing-scale", UP)
def nvfp4_scales_are_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight_scale"]


@breaks(cp.compressed_nvfp4, "missing-outer-scale", UP)
def global_scale_is_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight_global_scale"]


@breaks(cp.autofp8, "missing-input-scale", UP)
def input_scale_is_missing(checkpoint):
    del checkpoint.tensors[UP + ".input_scale"]


@breaks(cp.autofp8, "orphan-scale", UP)
def weight_of_a_scale_is_missing(checkpoint):
    del checkpoint.tensors[UP + ".weight"]


@breaks(cp.deepseek, "configuration-mismatch", UP, "fp8_block")
def block_scales_are_too_few(checkpoint):
    checkpoint.tensors[UP + ".weight_scale_inv"] = np.full((1, 1), 1e-3, np.float32)


@breaks(cp.deepseek, "scale-shape", UP, "[3, 2]")
def block_scales_are_too_many(checkpoint):
    checkpoint.tensors[UP + ".weight_scale_inv"] = np.full((3, 2), 1e-3, np.float32)


@breaks(cp.compressed_fp8, "scale-shape", UP)
def row_scales_are_empty(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.zeros((0, 1), cp.BF16)


@breaks(cp.compressed_fp8, "scale-shape", UP)
def row_scales_are_transposed(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = checkpoint.tensors[UP + ".weight_scale"][:100]


@breaks(cp.autofp8, "scale-dtype", UP, "I32")
def scale_is_an_integer(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.array(1, np.int32)


@breaks(cp.compressed_nvfp4, "scale-dtype", UP)
def nvfp4_scales_are_signed_bytes(checkpoint):
    name = UP + ".weight_scale"
    checkpoint.tensors[name] = checkpoint.tensors[name].view(np.int8)


@breaks(cp.compressed_mxfp8, "scale-dtype", UP)
def mx_scales_are_integers(checkpoint):
    name = UP + ".weight_scale"
    checkpoint.tensors[name] = checkpoint.tensors[name].astype(np.int32)


# Scales of a wrong value.

def set_scale(checkpoint, name, value):
    old = checkpoint.tensors[name]
    scale = old.copy().reshape(-1)
    scale[-1] = np.array(value).astype(old.dtype)
    checkpoint.tensors[name] = scale.reshape(old.shape)


VALUES = {"zero-scale": (0.0, "0"), "nan-scale": (np.nan, "NaN"), "inf-scale": (np.inf, "infinite"),
          "negative-scale": (-0.01, "negative"), "subnormal-scale": (1e-40, "subnormal")}
BASES = {"autofp8": (cp.autofp8, UP + ".weight_scale"),
         "deepseek": (cp.deepseek, UP + ".weight_scale_inv"),
         "rows": (cp.compressed_fp8, UP + ".weight_scale"),
         "outer": (cp.compressed_nvfp4, UP + ".weight_global_scale"),
         "input": (cp.autofp8, UP + ".input_scale"),
         "cache": (cp.autofp8, L1 + "self_attn.v_scale")}
for base, (make_base, scale_name) in BASES.items():
    for rule, (value, word) in VALUES.items():
        def change(checkpoint, name=scale_name, value=value):
            set_scale(checkpoint, name, value)
        change.__name__ = f"{base}_{rule}"
        breaks(make_base, rule, scale_name, word)(change)


@breaks(cp.compressed_nvfp4, "nan-scale", UP, "1 of 512", "[127, 3]")
def nvfp4_block_scale_is_nan(checkpoint):
    set_scale(checkpoint, UP + ".weight_scale", np.nan)


@breaks(cp.compressed_nvfp4, "zero-scale", UP, "1 of these blocks holds codes that are not 0")
def nvfp4_block_scale_is_zero(checkpoint):
    set_scale(checkpoint, UP + ".weight_scale", 0.0)


@breaks(cp.compressed_nvfp4, "zero-scale-of-zeros", UP, "over blocks of zeros")
def nvfp4_zero_scale_of_a_block_of_zeros(checkpoint):
    set_scale(checkpoint, UP + ".weight_scale", 0.0)
    codes = checkpoint.tensors[UP + ".weight_packed"].copy()
    codes[-1, -8:] = 0
    checkpoint.tensors[UP + ".weight_packed"] = codes


@breaks(cp.compressed_mxfp8, "nan-scale", UP)
def mx_scale_is_nan(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = checkpoint.tensors[UP + ".weight_scale"] | 0xFF


@breaks(cp.autofp8, "inverted-scale", UP, "divided by")
def scale_is_the_reciprocal(checkpoint):
    for name in [n for n in checkpoint.tensors if n.endswith("weight_scale")]:
        checkpoint.tensors[name] = 1 / checkpoint.tensors[name]


@breaks(cp.deepseek, "inverted-scale", UP + ".weight_scale_inv", "multiplied by", "divided by")
def scale_inv_divides(checkpoint):
    checkpoint.tensors[UP + ".weight_scale_inv"] = 1 / checkpoint.tensors[UP + ".weight_scale_inv"]


@breaks(cp.compressed_nvfp4, "inverted-scale", UP + ".weight_global_scale", "divided by")
def global_scale_multiplies(checkpoint):
    name = UP + ".weight_global_scale"
    checkpoint.tensors[name] = 1 / checkpoint.tensors[name]


@breaks(cp.autofp8, "implausible-scale", UP, "whichever way")
def scale_is_the_default(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.float32(1).reshape(())


@breaks(cp.autofp8, "implausible-scale", UP)
def scale_is_tiny(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = np.float32(1e-20).reshape(())


# Codes.

def set_codes(checkpoint, name, codes):
    checkpoint.tensors[name] = np.asarray(codes, np.uint8).view(cp.E4M3)


@breaks(cp.autofp8, "nan-code", UP + ".weight", "1 of 8192 codes is NaN")
def a_code_is_nan(checkpoint):
    codes = checkpoint.tensors[UP + ".weight"].view(np.uint8).copy()
    codes[5, 5] = 0xFF
    set_codes(checkpoint, UP + ".weight", codes)


@breaks(cp.autofp8, "inf-code", UP + ".weight", "1 of 8192 codes is infinite (e5m2)")
def a_code_is_infinite(checkpoint):
    codes = checkpoint.tensors[UP + ".weight"].astype(np.float32).astype(ml_dtypes.float8_e5m2)
    codes[5, 5] = np.inf
    checkpoint.tensors[UP + ".weight"] = codes


@breaks(cp.autofp8, "negative-zero", UP + ".weight", "2 of 8192")
def codes_are_negative_zero(checkpoint):
    codes = checkpoint.tensors[UP + ".weight"].view(np.uint8).copy()
    codes[codes == 0x80] = 0
    codes[3, :2] = 0x80
    set_codes(checkpoint, UP + ".weight", codes)


@breaks(cp.autofp8, "zero-weight", UP + ".weight", "8192")
def codes_are_all_zero(checkpoint):
    set_codes(checkpoint, UP + ".weight", np.zeros((128, 64)))


@breaks(cp.autofp8, "clipped-range", UP + ".weight", "448", "%")
def codes_are_clipped(checkpoint):
    wide = checkpoint.tensors[UP + ".weight"].astype(np.float32) * 4
    checkpoint.tensors[UP + ".weight"] = np.clip(wide, -448, 448).astype(cp.E4M3)


@breaks(cp.autofp8, "wasted-range", UP + ".weight", "448")
def codes_use_a_part_of_the_range(checkpoint):
    narrow = checkpoint.tensors[UP + ".weight"].astype(np.float32) / 64
    checkpoint.tensors[UP + ".weight"] = narrow.astype(cp.E4M3)


@breaks(cp.compressed_nvfp4, "wasted-range", UP, "6")
def nvfp4_codes_use_a_part_of_the_range(checkpoint):
    name = UP + ".weight_packed"
    checkpoint.tensors[name] = checkpoint.tensors[name] & 0x99  # 0 and 0.5


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

KV0 = L0 + "self_attn."


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


@breaks(cp.autofp8, "kv-scale-deprecated-name", "kv_scale")
def cache_scale_has_the_old_name(checkpoint):
    del checkpoint.tensors[KV0 + "v_scale"]
    checkpoint.tensors[KV0 + "kv_scale"] = checkpoint.tensors.pop(KV0 + "k_scale")


@breaks(cp.autofp8, "kv-scale-implausible", "5000")
def cache_scale_is_the_reciprocal(checkpoint):
    checkpoint.tensors[KV0 + "k_scale"] = np.float32(5000).reshape(())


@breaks(cp.autofp8, "kv-scale-dtype", "I64")
def cache_scale_is_an_integer(checkpoint):
    checkpoint.tensors[KV0 + "k_scale"] = np.array(1, np.int64)


@breaks(cp.autofp8, "kv-scale-dtype", KV0 + "v_scale")
def cache_scale_is_a_matrix(checkpoint):
    checkpoint.tensors[KV0 + "v_scale"] = np.ones((4, 4), np.float32)


# What readers do.

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
       "ragged-blocks-refused", "200 x 130")
def transformers_and_ragged_compressed_blocks(checkpoint):
    pass


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


@pytest.mark.parametrize("rule, words, arguments, make", CASES)
def test_a_broken_checkpoint_is_found(tmp_path, rule, words, arguments, make):
    folder = tmp_path / make.__name__
    make(folder)
    result = lint(folder, *arguments)
    assert result.returncode in (1, 3), (result.returncode, result.stderr)
    if rule is None:
        assert result.returncode == 3 and result.stderr.startswith("octavo: error: "), result
        assert all(word in result.stderr for word in words), result.stderr
        return
    report = json.loads(result.stdout)
    found = [finding for finding in report["findings"] if finding["rule"] == rule]
    assert found, [finding["rule"] for finding in report["findings"]] or report
    texts = [" ".join(finding[key] for key in ("file", "tensor", "what", "why")) for finding in found]
    assert any(all(word in text for word in words) for text in texts), texts
    for finding in report["findings"]:
        assert finding["why"] and finding["fix"], finding
        assert not pathlib.PurePath(finding["file"]).is_absolute(), finding


def test_there_are_enough_of_them():
    assert len(CASES) >= 80
    names = [parameter.id for parameter in CASES]
    assert len(set(names)) == len(names)


WHOLE = {"plain": cp.plain_checkpoint, "autofp8": cp.autofp8, "deepseek": cp.deepseek,
         "compressed_fp8": cp.compressed_fp8, "compressed_nvfp4": cp.compressed_nvfp4,
         "compressed_mxfp8": cp.compressed_mxfp8, "compressed_blocks": cp.compressed_blocks,
         "modelopt_nvfp4": cp.modelopt_nvfp4}


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("make", WHOLE.values(), ids=WHOLE)
def test_a_whole_checkpoint_is_clean(tmp_path, make, shards):
    checkpoint = make()
    checkpoint.shards = shards
    result = lint(checkpoint.write(tmp_path / "model"), "--ignore", "negative-zero")
    assert result.returncode == 0, result.stdout
    assert json.loads(result.stdout)["findings"] == []


def test_the_exit_code_is_by_severity(tmp_path):
    checkpoint = cp.autofp8()
    checkpoint.tensors[UP + ".weight_scale"] = np.float32(0.0004).reshape(())  # a note
    folder = checkpoint.write(tmp_path / "note")
    run = lambda *a: subprocess.run([OCTAVO, "checkpoint", "lint", folder, "--ignore",  # noqa: E731
                                     "negative-zero", *a], capture_output=True).returncode
    assert [run("--fail-on", level) for level in ("note", "warning", "error", "never")] == [1, 0, 0, 0]
    assert run() == 0
    scale_is_the_default(checkpoint)  # a warning
    checkpoint.write(folder)
    assert [run("--fail-on", level) for level in ("note", "warning", "error", "never")] == [1, 1, 0, 0]
    assert run() == 1
    a_code_is_nan(checkpoint)  # an error
    checkpoint.write(folder)
    assert [run("--fail-on", level) for level in ("note", "warning", "error", "never")] == [1, 1, 1, 0]


def test_rules_can_be_chosen(tmp_path):
    checkpoint = cp.autofp8()
    a_code_is_nan(checkpoint)
    scale_is_the_default(checkpoint)
    folder = checkpoint.write(tmp_path / "model")
    rules = lambda *a: {f["rule"] for f in json.loads(lint(folder, *a).stdout)["findings"]}  # noqa: E731
    assert {"nan-code", "implausible-scale"} <= rules()
    assert rules("--only", "nan-code") == {"nan-code"}
    assert "nan-code" not in rules("--ignore", "nan-code,negative-zero")
    result = lint(folder, "--only", "nan-cod")
    assert result.returncode == 2 and "nan-code" in result.stderr
    result = lint(folder, "--for", "vlm")
    assert result.returncode == 2 and "vllm" in result.stderr


def test_the_page_of_rules_is_current():
    page = subprocess.run([OCTAVO, "checkpoint", "lint", "--rules", "--markdown"],
                          capture_output=True, text=True).stdout
    assert page == (DOCS / "lint-rules.md").read_text(), (
        "docs/lint-rules.md is old: octavo checkpoint lint --rules --markdown > docs/lint-rules.md")


def test_every_rule_is_broken_by_a_case():
    rules = json.loads(subprocess.run([OCTAVO, "checkpoint", "lint", "--rules", "--json"],
                                      capture_output=True, text=True).stdout)
    broken = {parameter.values[0] for parameter in CASES}
    assert broken - {None} <= {rule["rule"] for rule in rules}
    assert {rule["rule"] for rule in rules} - broken == set()
