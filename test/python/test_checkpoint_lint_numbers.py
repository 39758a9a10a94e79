"""Where the thresholds of `octavo checkpoint lint` lie, and what it counts: each finding that is there
on one side of a bound and not on the other. Expected values are computed by hand from the codes."""
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest

import checkpoints as cp
from checkpoints import L0, UP

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
O = L0 + "self_attn.o_proj"


def findings(folder, *arguments):
    done = subprocess.run([OCTAVO, "checkpoint", "lint", folder, "--json", "--fail-on", "never", *arguments],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["findings"]


def of(checkpoint, folder, rule, *arguments):
    """tensor -> what, of one rule."""
    return {f["tensor"]: f["what"] for f in findings(checkpoint.write(folder), *arguments) if f["rule"] == rule}


def changed(base, **tensors):
    checkpoint = base()
    for name, tensor in tensors.items():
        checkpoint.tensors[name] = tensor
    return checkpoint


def scalar(x):
    return np.float32(x).reshape(())


# Scales.

def test_one_scale_has_no_place(tmp_path):
    checkpoint = changed(cp.autofp8, **{UP + ".weight_scale": scalar(0)})
    assert of(checkpoint, tmp_path, "zero-scale")[UP + ".weight_scale"].startswith("the scale is 0")


def test_a_zero_scale_is_held_against_its_own_block(tmp_path):
    """Blocks of 32 codes under a scale of 0: of zeros between blocks that are not, of which one lies to the
    left and one to the right."""
    checkpoint = cp.compressed_nvfp4()
    packed = checkpoint.tensors[UP + ".weight_packed"].copy()
    scales = checkpoint.tensors[UP + ".weight_scale"].copy()
    packed[3, 8:16] = 0  # block 1 of row 3: codes 16 to 31
    scales[3, 1] = 0
    checkpoint.tensors |= {UP + ".weight_packed": packed, UP + ".weight_scale": scales}
    assert "zeros" in of(checkpoint, tmp_path / "zeros", "zero-scale-of-zeros")[UP + ".weight_scale"]
    assert of(checkpoint, tmp_path / "zeros", "zero-scale") == {}
    for place in (8, 15):  # its first and its last byte
        other = packed.copy()
        other[3, place] = 0x20
        checkpoint.tensors[UP + ".weight_packed"] = other
        what = of(checkpoint, tmp_path / str(place), "zero-scale")[UP + ".weight_scale"]
        assert "[3, 1]" in what and "1 of these blocks holds codes" in what


def test_zeros_say_nothing_of_their_scale(tmp_path):
    zeros = np.zeros((128, 64), cp.E4M3)
    checkpoint = changed(cp.autofp8, **{UP + ".weight": zeros, UP + ".weight_scale": scalar(1e-9)})
    assert of(checkpoint, tmp_path, "implausible-scale") == {}
    assert UP + ".weight" in of(checkpoint, tmp_path, "zero-weight")


def test_an_inverted_scale_makes_weights_large_not_small(tmp_path):
    """Codes of 2^-9 alone under 1e-4: 2e-7 as read, 19.5 turned over, but no reciprocal is so small."""
    codes = np.full((128, 64), 0x01, np.uint8).view(cp.E4M3)
    checkpoint = changed(cp.autofp8, **{UP + ".weight": codes, UP + ".weight_scale": scalar(1e-4)})
    assert of(checkpoint, tmp_path, "inverted-scale") == {}
    what = of(checkpoint, tmp_path, "implausible-scale")[UP + ".weight_scale"]
    assert "1.953e-07" in what and "19.53" in what


@pytest.mark.parametrize("largest, is_found", [(255, False), (257, True), (2.0**-20 * 1.01, False), (2.0**-20 * .99, True)])
def test_sizes_of_weights(tmp_path, largest, is_found):
    codes = np.zeros((128, 64), np.uint8)
    codes[0, 0] = 0x7E  # 448
    checkpoint = changed(cp.autofp8, **{UP + ".weight": codes.view(cp.E4M3), UP + ".weight_scale": scalar(largest / 448)})
    found = of(checkpoint, tmp_path, "implausible-scale") | of(checkpoint, tmp_path, "inverted-scale")
    assert (UP + ".weight_scale" in found) == is_found, found


@pytest.mark.parametrize("name", ["k_scale", "v_scale", "q_scale", "prob_output_scale"])
def test_every_scale_of_the_cache_is_looked_at(tmp_path, name):
    checkpoint = cp.autofp8()
    checkpoint.tensors[L0 + "self_attn." + name] = scalar(np.nan)
    assert list(of(checkpoint, tmp_path, "nan-scale")) == [L0 + "self_attn." + name]


@pytest.mark.parametrize("scale, is_found", [(127, False), (129, True), (2.0**-20, False), (2.0**-21, True), (0, False), (-200, False)])
@pytest.mark.parametrize("name", ["k_scale", "q_scale", "prob_output_scale"])
def test_sizes_of_the_cache(tmp_path, name, scale, is_found):
    """Zero and negative ones have rules of their own."""
    checkpoint = cp.autofp8()
    checkpoint.tensors[L0 + "self_attn." + name] = scalar(scale)
    found = of(checkpoint, tmp_path, "kv-scale-implausible")
    assert list(found) == [L0 + "self_attn." + name] * is_found


@pytest.mark.parametrize("tower", ["vision_tower.encoder.layers.0.self_attn", "visual.blocks.0.attn", "model.audio_tower.layers.0.self_attn"])
def test_towers_keep_no_keys_and_values(tmp_path, tower):
    """Attention over an image or a sound sees all of it at once."""
    checkpoint = cp.autofp8()
    name = f"{tower}.qkv" if "blocks" in tower else f"{tower}.k_proj"
    checkpoint.tensors[name + ".weight"] = np.full((64, 64), 0.01, cp.BF16)
    checkpoint.quantization["ignored_layers"] = ["lm_head", name]
    assert of(checkpoint, tmp_path / "lint", "kv-scale-missing", "--for", "vllm") == {}
    assert of(checkpoint, tmp_path / "reader", "kv-scales-default-to-one", "--for", "vllm") == {}
    decoder = name.replace(tower, "model.layers.2.self_attn")
    checkpoint.tensors[decoder + ".weight"] = checkpoint.tensors.pop(name + ".weight")
    assert len(of(checkpoint, tmp_path / "decoder", "kv-scale-missing")) == 1


@pytest.mark.parametrize("stored, is_found", [(2.0**-126, False), (2.0**-127, True)])
def test_subnormal_scales(tmp_path, stored, is_found):
    checkpoint = cp.compressed_mxfp8()
    scales = checkpoint.tensors[UP + ".weight_scale"].copy()
    scales[5, 1] = int(np.log2(stored)) + 127
    checkpoint.tensors[UP + ".weight_scale"] = scales
    found = of(checkpoint, tmp_path, "subnormal-scale")
    assert list(found) == [UP + ".weight_scale"] * is_found
    assert all("1 of 256 scales is subnormal, the first at [5, 1]" in what for what in found.values())


@pytest.mark.parametrize("scale, is_found", [(-1e-3, True), (-1e-38, True), (0.0004, False)])
def test_negative_scales(tmp_path, scale, is_found):
    checkpoint = changed(cp.autofp8, **{O + ".weight_scale": scalar(scale)})
    assert list(of(checkpoint, tmp_path, "negative-scale")) == [O + ".weight_scale"] * is_found


# Codes.

def test_negative_zero_is_of_formats_of_a_byte(tmp_path):
    """Four-bit codes have no twin with an unsigned zero."""
    checkpoint = cp.compressed_nvfp4()
    packed = checkpoint.tensors[UP + ".weight_packed"].copy()
    packed[0, 0] = 0x88
    checkpoint.tensors[UP + ".weight_packed"] = packed
    assert of(checkpoint, tmp_path / "four", "negative-zero") == {}
    checkpoint = cp.autofp8()
    codes = checkpoint.tensors[UP + ".weight"].view(np.uint8).copy()
    codes[codes == 0x80] = 0
    codes[2, 2:5] = 0x80
    checkpoint.tensors[UP + ".weight"] = codes.view(cp.E4M3)
    assert of(checkpoint, tmp_path / "eight", "negative-zero")[UP + ".weight"] == "3 of 8192 codes are -0 (0x80)"


def test_an_integer_of_the_sign_alone_is_a_number(tmp_path):
    codes = np.arange(-128, 128, dtype=np.int8).reshape(8, 32)
    exponents = np.full((8, 1), 120, np.uint8).view(ml_dtypes.float8_e8m0fnu)
    checkpoint = cp.Checkpoint({"m.weight": codes, "m.weight_scale": exponents},
                               {"quantization_config": {"quant_method": "octavo"}}, shards=1)
    assert of(checkpoint, tmp_path, "negative-zero") == {}


def test_a_weight_of_no_codes_is_not_zero(tmp_path):
    checkpoint = cp.Checkpoint({"m.weight": np.zeros((0, 32), cp.E4M3), "m.weight_scale": scalar(1)},
                               {"quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic"}}, shards=1)
    assert of(checkpoint, tmp_path, "zero-weight") == {}


# Range.

def lattice(at_max, below, rest=8192):
    """Codes of E4M3 with so many at 448, so many at 416, the others at 208."""
    codes = np.full(rest, 0x75, np.uint8)
    codes[:at_max] = 0x7E
    codes[at_max:at_max + below] = 0x7D
    return codes.reshape(128, 64).view(cp.E4M3)


@pytest.mark.parametrize("at_max, below, is_found", [
    # A scale of f32 leaves [432, 448] to 448 and [400, 432] to 416: half as many. More than 1 + twice that.
    (101, 100, False), (102, 100, True),
    # at most one in two hundred
    (40, 10, False), (41, 10, True),
    # none below: a lattice
    (1000, 0, False)])
def test_clipped_range(tmp_path, at_max, below, is_found):
    checkpoint = changed(cp.autofp8, **{UP + ".weight": lattice(at_max, below)})
    assert list(of(checkpoint, tmp_path, "clipped-range")) == [UP + ".weight"] * is_found


@pytest.mark.parametrize("at_max, is_found", [(356, False), (357, True)])
def test_clipped_range_of_blocks_under_powers_of_two(tmp_path, at_max, is_found):
    """Rounded down, a scale lets the maximum lie up to 512: [432, 512] go to 448 and [400, 432] to 416, 2.5 for
    one. Of 256 blocks one each may be there: 256 + 2 * 2.5 * 20."""
    checkpoint = changed(cp.compressed_mxfp8, **{UP + ".weight": lattice(at_max, 20)})
    assert list(of(checkpoint, tmp_path, "clipped-range")) == [UP + ".weight"] * is_found


@pytest.mark.parametrize("code, is_found", [(0x5F, False), (0x5E, True)])
def test_wasted_range(tmp_path, code, is_found):
    """448 / 16 is 28, the code 0x5E: four octaves that stay unused."""
    codes = np.full((64, 64), code, np.uint8).view(cp.E4M3)
    checkpoint = changed(cp.autofp8, **{O + ".weight": codes})
    assert list(of(checkpoint, tmp_path, "wasted-range")) == [O + ".weight"] * is_found


@pytest.mark.parametrize("code, is_found", [(4, False), (3, True)])
def test_wasted_range_of_four_bits(tmp_path, code, is_found):
    """6 / 4 is 1.5, the code 3: two octaves of the three and a half that there are."""
    packed = np.full((64, 32), code | code << 4, np.uint8)
    checkpoint = changed(cp.compressed_nvfp4, **{O + ".weight_packed": packed})
    assert list(of(checkpoint, tmp_path, "wasted-range")) == [O + ".weight_packed"] * is_found


def test_zeros_waste_no_range(tmp_path):
    checkpoint = changed(cp.autofp8, **{O + ".weight": np.zeros((64, 64), cp.E4M3)})
    found = {f["rule"] for f in findings(checkpoint.write(tmp_path)) if f["tensor"] == O + ".weight"}
    assert found == {"zero-weight"}


# Configuration and files.

def rules(folder, *arguments):
    return {f["rule"] for f in findings(folder, *arguments)}


def test_a_single_file_needs_no_configuration(tmp_path):
    checkpoint = cp.autofp8()
    checkpoint.shards, checkpoint.config = 1, None
    folder = checkpoint.write(tmp_path)
    assert "no-configuration" in rules(folder)
    assert "no-configuration" not in rules(folder / "model.safetensors")


@pytest.mark.parametrize("spelled", [int, float])
def test_the_total_size_may_be_written_as_a_float(tmp_path, spelled):
    checkpoint = cp.autofp8()
    total = sum(tensor.nbytes for tensor in checkpoint.tensors.values())
    for off, is_found in ((0, False), (8, True)):
        checkpoint.index = {"metadata": {"total_size": spelled(total + off)}}
        assert ("index-total-size" in rules(checkpoint.write(tmp_path / str(off)))) == is_found


def test_the_total_size_of_a_part_is_not_held_against_the_whole(tmp_path):
    folder = cp.autofp8().write(tmp_path)
    (folder / "model-00002-of-00002.safetensors").unlink()
    assert "missing-shard" in rules(folder) and "index-total-size" not in rules(folder)


@pytest.mark.parametrize("place, words", [
    ("config_groups.group_0", "group_0 has the key"),
    ("config_groups.group_0.weights", "weights of group_0 has the key"),
    ("config_groups.group_0.input_activations", "input_activations of group_0 has the key"),
    ("config_groups.group_0.output_activations", "output_activations of group_0 has the key"),
    ("kv_cache_scheme", "kv_cache_scheme has the key")])
def test_keys_that_readers_refuse(tmp_path, place, words):
    checkpoint = cp.compressed_fp8()
    at = checkpoint.quantization
    for key in place.split("."):
        at[key] = at.get(key) or {"num_bits": 8, "type": "float"}
        at = at[key]
    at["strange"] = 1
    found = [f["what"] for f in findings(checkpoint.write(tmp_path)) if f["rule"] == "unknown-configuration-key"]
    assert found == [words + ' "strange"']


# Fused projections.

def test_fused_rows_have_scales_of_their_own(tmp_path):
    """Scales of rows differ, and no reader minds; those of whole tensors are named."""
    assert rules(cp.compressed_fp8().write(tmp_path / "rows")) & {"fused-tensor-scales-differ", "fused-outer-scales-differ"} == set()
    checkpoint = changed(cp.autofp8, **{UP + ".weight_scale": scalar(0.0004)})
    found = of(checkpoint, tmp_path / "tensor", "fused-tensor-scales-differ")
    assert list(found) == [L0 + "mlp.gate_proj.weight_scale"] and "mlp.up_proj has 0.0004" in found[L0 + "mlp.gate_proj.weight_scale"]


def test_one_row_of_blocks_is_no_scale_of_the_whole(tmp_path):
    """A weight of 128 x 128 has one scale of a block: to readers a block."""
    checkpoint = cp.deepseek({name: (128, 128) for name in cp.SHAPES})
    assert rules(checkpoint.write(tmp_path)) <= {"negative-zero"}


def test_fused_formats(tmp_path):
    """k_proj of another format than q_proj and v_proj, all quantized."""
    checkpoint = cp.compressed_nvfp4()
    module = L0 + "self_attn.k_proj"
    weight = cp.plain()[module + ".weight"].astype(np.float32)
    for part in ("weight_packed", "weight_scale", "weight_global_scale"):
        del checkpoint.tensors[f"{module}.{part}"]
    scale = (np.abs(weight).max(1, keepdims=True) / 448).astype(cp.BF16)
    checkpoint.tensors |= {module + ".weight": (weight / scale.astype(np.float32)).astype(cp.E4M3),
                           module + ".weight_scale": scale}
    groups = checkpoint.quantization["config_groups"]
    groups["group_1"] = {"targets": [module], "weights": cp.scheme(8, "channel", dynamic=False),
                         "input_activations": None, "output_activations": None}
    found = of(checkpoint, tmp_path, "fused-formats-differ")
    assert len(found) == 1 and "k_proj is fp8_row" in next(iter(found.values()))


@pytest.mark.parametrize("rule, part", [("fused-outer-scales-differ", "weight_scale_2"),
                                        ("fused-input-scales-differ", "input_scale")])
def test_fused_stacks_of_experts(tmp_path, rule, part):
    """Stacks of gate and of up with a scale for each expert: all have to agree, not the first alone."""
    tensors = {}
    for name in ("gate_proj", "up_proj"):
        tensors |= {f"m.experts.{name}.weight": np.full((3, 8, 32), 0x31, np.uint8),
                    f"m.experts.{name}.weight_scale": np.full((3, 8, 4), 1, np.float32).astype(cp.E4M3),
                    f"m.experts.{name}.weight_scale_2": np.array([.5, .25, .125], np.float32),
                    f"m.experts.{name}.input_scale": np.array([1, 2, 3], np.float32)}
    checkpoint = cp.Checkpoint(tensors, {"quantization_config": {
        "quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": []}}, shards=1)
    assert of(checkpoint, tmp_path / "same", rule) == {}
    other = tensors[f"m.experts.up_proj.{part}"].copy()
    other[2] *= 2
    checkpoint.tensors[f"m.experts.up_proj.{part}"] = other
    found = of(checkpoint, tmp_path / "other", rule)
    assert list(found) == [f"m.experts.gate_proj.{part}"]
    assert f"m.experts.up_proj has {', '.join(f'{x:.6g}' for x in other)}" in found[f"m.experts.gate_proj.{part}"]


# The cache.

def test_old_names_of_the_cache_are_one_scale(tmp_path):
    """kv_scale is both: neither partial nor reported twice."""
    checkpoint = cp.autofp8()
    del checkpoint.tensors[L0 + "self_attn.v_scale"], checkpoint.tensors[L0 + "self_attn.k_scale"]
    checkpoint.tensors[L0 + "self_attn.kv_scale"] = scalar(500)
    found = [f["rule"] for f in findings(checkpoint.write(tmp_path)) if f["tensor"] == L0 + "self_attn.kv_scale"]
    assert sorted(found) == ["kv-scale-deprecated-name", "kv-scale-implausible"]


def test_a_module_without_scales_beside_others(tmp_path):
    """Also where the configuration asks for no FP8 cache."""
    checkpoint = cp.autofp8()
    del checkpoint.quantization["kv_cache_scheme"]
    for name in ("k_scale", "v_scale"):
        del checkpoint.tensors[f"{L0}self_attn.{name}"]
    assert list(of(checkpoint, tmp_path, "kv-scale-missing")) == [L0 + "self_attn.k_scale"]


# The report.

def test_files_are_named_from_the_checkpoint_and_errors_come_first(tmp_path):
    checkpoint = changed(cp.autofp8, **{UP + ".weight_scale": scalar(0), O + ".weight_scale": scalar(1e9)})
    found = findings(checkpoint.write(tmp_path))
    severities = [f["severity"] for f in found]
    assert severities == sorted(severities, key=["error", "warning", "note"].index) and len(set(severities)) > 1
    assert all(not f["file"] or (tmp_path / f["file"]).exists() and "/" not in f["file"] for f in found)


def test_readers_of_one_mind_are_one_finding(tmp_path):
    checkpoint = changed(cp.deepseek, **{UP + ".weight_scale_inv": np.full((2, 1), 3e38, np.float32)})
    both = of(checkpoint, tmp_path, "fnuz-doubled-scale", "--for", "vllm,sglang")
    found = [(f["rule"], f["tensor"]) for f in findings(tmp_path, "--for", "vllm,sglang")]
    assert list(both) == [UP + ".weight_scale_inv"] and len(set(found)) == len(found) and all(rule for rule, _ in found)


# Readers.

def of_reader(checkpoint, folder, reader, rule):
    return of(checkpoint, folder, rule, "--for", reader)


@pytest.mark.parametrize("scale, is_found", [(0.999, True), (1, False), (1.5, False)])
def test_scales_of_the_cache_that_trtllm_has_at_least_one(tmp_path, scale, is_found):
    checkpoint = cp.autofp8()
    for name in checkpoint.tensors:
        if name.endswith(("k_scale", "v_scale")):
            checkpoint.tensors[name] = scalar(1)
    checkpoint.tensors[L0 + "self_attn.k_scale"] = scalar(scale)
    assert list(of_reader(checkpoint, tmp_path, "trtllm", "kv-scale-clamped-to-one")) == [L0 + "self_attn.k_scale"] * is_found


@pytest.mark.parametrize("shape, is_found", [((200, 128), True), ((256, 130), True), ((256, 128), False)])
def test_blocks_are_ragged_in_rows_or_in_columns(tmp_path, shape, is_found):
    checkpoint = cp.deepseek({name: shape for name in cp.SHAPES})
    assert (UP + ".weight" in of_reader(checkpoint, tmp_path, "transformers", "ragged-blocks-misread")) == is_found


def test_scale_bytes_that_vllm_shifts(tmp_path):
    """Of 8-bit elements, byte 0 and byte 255; of 4-bit ones it reads scales another way."""
    checkpoint = cp.compressed_mxfp8()
    scales = checkpoint.tensors[UP + ".weight_scale"].copy()
    scales[0, :2] = 255
    checkpoint.tensors[UP + ".weight_scale"] = scales
    assert of_reader(checkpoint, tmp_path / "eight", "vllm", "e8m0-bytes-shifted") == {
        UP + ".weight_scale": "0 scale bytes over codes that are not all 0 are 0, and 2 are 255"}
    weights = cp.scheme(4, "group", group_size=32, dynamic=False, scale_dtype="torch.uint8")
    four = cp.compressed("mxfp4-pack-quantized", weights, None, {
        "m.weight_packed": np.full((4, 32), 0x42, np.uint8), "m.weight_scale": np.array([[0, 255]] * 4, np.uint8)})
    assert of_reader(four, tmp_path / "four", "vllm", "e8m0-bytes-shifted") == {}


def test_the_smallest_scale_byte_over_zeros_is_one_that_vllm_may_shift(tmp_path):
    """0 * 0.0 is 0 * 2^-127: what quantizers write for a block of zeros."""
    checkpoint = cp.compressed_mxfp8()
    weight, scales = (checkpoint.tensors[UP + name].copy() for name in (".weight", ".weight_scale"))
    weight[3, 32:] = 0
    scales[3, 1] = 0
    checkpoint.tensors |= {UP + ".weight": weight, UP + ".weight_scale": scales}
    assert of_reader(checkpoint, tmp_path / "zeros", "vllm", "e8m0-bytes-shifted") == {}
    scales[3, 0] = 0
    assert of_reader(checkpoint, tmp_path / "codes", "vllm", "e8m0-bytes-shifted") == {
        UP + ".weight_scale": "1 scale bytes over codes that are not all 0 are 0, and 0 are 255"}


def test_experts_of_modelopt_have_an_input_scale_of_one(tmp_path):
    """vLLM has 1.0 for experts without one; of a Linear, the lowest f32."""
    for name, shape, found in (("m.weight", (8, 64), ["m.weight"]), ("m.experts.down_proj", (2, 64, 8), [])):
        scale = name + "_weight_scale" if "experts" in name else "m.weight_scale"
        checkpoint = cp.Checkpoint({name: np.ones(shape, cp.E4M3), scale: scalar(0.01)}, {"quantization_config": {
            "quant_method": "modelopt", "quant_algo": "FP8", "ignore": []}}, shards=1)
        assert list(of_reader(checkpoint, tmp_path / name, "vllm", "modelopt-input-scale-unset")) == found


def test_fnuz_is_e4m3s(tmp_path):
    """NaN codes and scales that cannot be doubled, of E4M3 and of E5M2."""
    for dtype, nan, found in ((cp.E4M3, 0x7F, 1), (ml_dtypes.float8_e5m2, 0x7D, 0)):
        codes = np.full((128, 64), 0x31, np.uint8)
        codes[0, 0] = nan
        checkpoint = changed(cp.autofp8, **{UP + ".weight": codes.view(dtype), UP + ".weight_scale": scalar(2e38)})
        folder = checkpoint.write(tmp_path / np.dtype(dtype).name)
        rules = [f["rule"] for f in findings(folder, "--for", "vllm") if f["tensor"].startswith(UP)]
        assert (rules.count("fnuz-nan-codes"), rules.count("fnuz-doubled-scale")) == (found, found)


def test_a_pair_of_cache_scales_is_not_alone(tmp_path):
    assert of_reader(cp.autofp8(), tmp_path, "vllm", "kv-value-scale-alone") == {}
