"""Shards, the index and folders that are broken."""
import functools
import json
import struct

import numpy as np

import checkpoints as cp
from broken.cases import case, damages
from checkpoints import L0, UP

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


@damages("torn-shard", "gap")
def data_has_a_gap(shard, header, data):
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


@damages("outside-folder", "points outside the checkpoint")
def shard_is_a_link_to_elsewhere(shard, header, data):
    elsewhere = shard.parent.parent / "elsewhere.safetensors"
    shard.rename(elsewhere)
    shard.symlink_to(elsewhere)


# The only shard.

def only_shard(rule, *words):
    def add(damage):
        @case(rule, "model.safetensors", *words)
        @functools.wraps(damage)
        def make(folder):
            checkpoint = cp.autofp8()
            checkpoint.shards = 1
            checkpoint.write(folder)
            damage(folder / "model.safetensors")
        return damage
    return add


@only_shard("torn-shard", "beyond the end of the file")
def the_only_shard_is_torn(shard):
    shard.write_bytes(shard.read_bytes()[:-1])


@only_shard("torn-shard", "too short")
def the_only_shard_is_empty(shard):
    shard.write_bytes(b"")


@only_shard("outside-folder", "points outside the checkpoint")
def the_only_shard_is_a_link_to_elsewhere(shard):
    elsewhere = shard.parent.parent / "the-only.safetensors"
    shard.rename(elsewhere)
    shard.symlink_to(elsewhere)


# The index.

def breaks_index(rule, *words):
    def add(change):
        @case(rule, *words)
        @functools.wraps(change)
        def make(folder):
            cp.autofp8().write(folder)
            path = folder / "model.safetensors.index.json"
            text = change(json.loads(path.read_text()))
            path.write_text(text if isinstance(text, str) else json.dumps(text))
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


@breaks_index("bad-index", "is not a string")
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


@breaks_index("missing-tensor", "that no shard has")
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


@case("unfinished-job", ".octavo-job.json", "still be missing")
def a_job_of_octavo_was_interrupted(folder):
    cp.autofp8().write(folder)
    (folder / ".octavo-job.json").write_text("{}")


@case(None, "holds no safetensors file", "unfinished octavo job", "again")
def a_job_of_octavo_was_interrupted_at_once(folder):
    folder.mkdir()
    (folder / ".octavo-job.json").write_text("{}")


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


@damages("unprintable-name", "0x00", "zero byte")
def a_name_has_a_zero_byte(shard, header, data):
    name = next(iter(header))
    cp.write_raw(shard, {(key if key != name else name + "\0hidden"): entry for key, entry in header.items()}, data)


@case("many-axes", "it has 64", "NumPy")
def a_tensor_has_64_axes(folder):
    checkpoint = cp.plain_checkpoint()
    checkpoint.tensors["many"] = ("F32", [1] * 64, b"\0\0\0\0")
    checkpoint.write(folder)


@case("odd-packed-row", "F4 [2, 3]", "rows of 3 elements of 4 bits")
def rows_of_four_bits_end_within_a_byte(folder):
    checkpoint = cp.plain_checkpoint()
    checkpoint.tensors["odd"] = ("F4", [2, 3], b"\0\0\0")
    checkpoint.write(folder)


@case("kv-side-file-unusable", "rank 1 and rank 0 have different scales")
def the_side_file_has_two_ranks(folder):
    cp.autofp8().write(folder)
    factors = {str(rank): {str(layer): 0.02 + rank for layer in range(2)} for rank in range(2)}
    (folder / "kv_cache_scales.json").write_text(json.dumps(
        {"model_type": "llama", "kv_cache": {"dtype": "float8_e4m3fn", "scaling_factor": factors}}))


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
