"""`octavo checkpoint verify`: each promise kept by what NumPy or octavo wrote, and broken by a change."""
import json

import numpy as np
import pytest

import checkpoints as cp
import producers
from checkpoints import DOWN, KV0, UP
from commands import as_json, dequantized, octavo, tensors_of, write


def verified(tmp_path, output, source, code=0):
    folders = [write(tmp_path, n, c) for n, c in (("out", output), ("in", source))]
    report = as_json("verify", folders[0], "--against", folders[1], code=code)
    assert report["kept"] == (code == 0)
    return {promise["promise"]: promise for promise in report["promises"]}


# autofp8 adds scales of caches and inputs, which the plain source does not have.
MADE = {"fp8": lambda: cp.autofp8(static=False, kv=False), "fp8 rows": cp.compressed_fp8,
        "nvfp4": cp.compressed_nvfp4, "mxfp8": cp.compressed_mxfp8}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_numpy_quantized_is_within_its_format(tmp_path, make):
    output = make()
    promises = verified(tmp_path, output, cp.plain_checkpoint())
    assert promises["quantized-within-format"]["checked"] == 14
    assert promises["plain-identical"]["checked"] == 5
    assert promises["weights-complete"]["checked"] == 19


def test_blocks_of_128_are_within_their_format(tmp_path):
    shapes = {name: (200, 130) for name in cp.SHAPES}
    verified(tmp_path, cp.deepseek(shapes), cp.plain_checkpoint(shapes=shapes))


def test_dequantized_values_are_exact(tmp_path):
    source = cp.deepseek()
    codes = source.tensors[UP + ".weight"].view(np.uint8).copy()
    codes[3, 4] = 0x7F  # NaN stays NaN
    source.tensors[UP + ".weight"] = codes.view(cp.E4M3)
    values = {name: tensor.astype(cp.BF16) for name, tensor in dequantized(source).items()}
    promises = verified(tmp_path, cp.Checkpoint(values, {"model_type": "deepseek_v3"}), source)
    assert promises["dequantized-exactly"]["checked"] == 14
    values[UP + ".weight"].view(np.uint16)[7, 9] += 1  # one ulp
    promises = verified(tmp_path, cp.Checkpoint(values, {}), source, code=1)
    (broken,) = promises["dequantized-exactly"]["broken"]
    assert UP in broken and "row 7, column 9" in broken


def breaks(promise, *words, make=cp.compressed_fp8):
    def add(change):
        BROKEN.append(pytest.param(make, change, promise, words, id=change.__name__))
        return change
    return add


BROKEN = []


@breaks("quantized-within-format", UP, "row 5, column 6")
def a_code_is_off_by_one(checkpoint):
    codes = checkpoint.tensors[UP + ".weight"].view(np.uint8).copy()
    codes[5, 6] ^= 4  # half of its size away
    checkpoint.tensors[UP + ".weight"] = codes.view(cp.E4M3)


@breaks("quantized-within-format", UP, "row 0")
def scales_are_too_small(checkpoint):
    checkpoint.tensors[UP + ".weight_scale"] = checkpoint.tensors[UP + ".weight_scale"] / cp.BF16(2)


@breaks("quantized-within-format", UP, "far below its scale", make=cp.compressed_mxfp8)
def a_scale_is_too_large_for_its_block(checkpoint):
    name = UP + ".weight_scale"
    weight = cp.plain()[UP + ".weight"].astype(np.float32)
    scales = checkpoint.tensors[name].copy()
    scales[2, 1] += 3
    codes = checkpoint.tensors[UP + ".weight"].copy()
    codes[2, 32:] = (weight[2, 32:] / 2.0 ** (int(scales[2, 1]) - 127)).astype(cp.E4M3)
    checkpoint.tensors[name], checkpoint.tensors[UP + ".weight"] = scales, codes


@breaks("quantized-within-format", UP, "row 9, column 9: 0 became", make=cp.compressed_nvfp4)
def a_zero_became_something(checkpoint):
    pass  # the source is changed in the test


@breaks("plain-identical", "model.norm.weight")
def a_plain_value_changed(checkpoint):
    checkpoint.tensors["model.norm.weight"][0] = 2


@breaks("plain-identical", "lm_head.weight")
def a_plain_dtype_changed(checkpoint):
    checkpoint.tensors["lm_head.weight"] = checkpoint.tensors["lm_head.weight"].astype(np.float32) + 1
    checkpoint.tensors["lm_head.weight"] = checkpoint.tensors["lm_head.weight"].astype(cp.BF16)


@breaks("weights-complete", "lm_head.weight is not in the output")
def a_weight_is_missing(checkpoint):
    del checkpoint.tensors["lm_head.weight"]


@breaks("nothing-extra", "bonus is not in the source")
def a_weight_is_extra(checkpoint):
    checkpoint.tensors["bonus"] = np.ones(3, np.float32)


@breaks("configuration-consistent", "no configuration says so")
def the_configuration_does_not_say_quantized(checkpoint):
    del checkpoint.config["quantization_config"]


@breaks("configuration-consistent", "ignored-layer-quantized")
def the_configuration_ignores_a_quantized_layer(checkpoint):
    checkpoint.quantization["ignore"].append(UP)


@breaks("index-consistent", "total_size is 5")
def the_total_size_is_wrong(checkpoint):
    checkpoint.index = {"metadata": {"total_size": 5}}


@pytest.mark.parametrize("make, change, promise, words", BROKEN)
def test_a_broken_promise_is_found(tmp_path, make, change, promise, words):
    output, source = make(), cp.plain_checkpoint()
    change(output)
    if change is a_zero_became_something:
        source.tensors[UP + ".weight"][9, 9] = 0
    promises = verified(tmp_path, output, source, code=1)
    broken = promises[promise]["broken"]
    assert any(all(word in text for word in words) for text in broken), promises


def change_inputs(folder, change):
    config = json.loads((folder / "config.json").read_text())
    change(config["quantization_config"])
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("format_name, flags, before, inputs, after", [
    ("mxfp4", ["--weight-only"], "wide", cp.scheme(4, "group", group_size=32, dynamic=True), "dynamic mxfp4"),
    ("mxfp4", [], "dynamic mxfp4", None, "wide"),
    ("fp8_row", [], "dynamic fp8_row", cp.scheme(8, "tensor", dynamic=False), "static fp8_tensor")])
def test_inputs_that_are_quantized_otherwise_break_a_promise(tmp_path, format_name, flags, before, inputs, after):
    """W4A16 that became W4A4, and the like: no value of a weight differs."""
    plain = write(tmp_path, "plain", cp.plain_checkpoint())
    quantized, output = tmp_path / "quantized", tmp_path / "out"
    octavo("quantize", plain, "-o", quantized, "--layout", "compressed-tensors", "--format", format_name, *flags)
    octavo("convert", quantized, "-o", output, "--layout", "compressed-tensors")
    promises = as_json("verify", output, "--against", quantized)["promises"]
    assert {p["promise"]: p["checked"] for p in promises}["activations-kept"] == 14
    change_inputs(output, lambda block: block["config_groups"]["group_0"].update(input_activations=inputs))
    report = as_json("verify", output, "--against", quantized, code=1)
    broken = {p["promise"]: p["broken"] for p in report["promises"] if not p["kept"]}["activations-kept"]
    assert len(broken) == 14 and f"inputs are {after} where the source's are {before}" in broken[0], broken


def test_inputs_as_near_as_a_layout_can_say(tmp_path):
    """DeepSeek's has no word for wide inputs, nor for static ones: the conversion says so."""
    for static in (True, False):
        source = write(tmp_path, f"in{static}", cp.autofp8(static=static, kv=False))
        summary = as_json("convert", source, "-o", tmp_path / f"out{static}", "--layout", "deepseek",
                          "--requantize", "--format", "fp8_block")
        assert {"dropped-input-scale"} >= {note["rule"] for note in summary["notes"]}
        octavo("verify", tmp_path / f"out{static}", "--against", source)
    wide = cp.compressed_blocks()
    wide.quantization["config_groups"]["group_0"]["input_activations"] = None
    source = write(tmp_path, "wide", wide)
    summary = as_json("convert", source, "-o", tmp_path / "out", "--layout", "deepseek")
    assert [note["rule"] for note in summary["notes"]] == ["activations-change"]
    octavo("verify", tmp_path / "out", "--against", source)


def test_the_other_files_are_held_too(tmp_path):
    source, output = (write(tmp_path, n, c()) for n, c in
                      (("in", cp.plain_checkpoint), ("out", cp.compressed_fp8)))
    (source / "tokenizer.json").write_text("{}")
    report = as_json("verify", output, "--against", source, code=1)
    (promise,) = [p for p in report["promises"] if not p["kept"]]
    assert promise["promise"] == "other-files-identical" and "tokenizer.json" in promise["broken"][0]
    for other in ("[]", "{}\n", "{"):
        (output / "tokenizer.json").write_text(other)
        octavo("verify", output, "--against", source, code=1)
    (output / "tokenizer.json").write_text("{}")
    octavo("verify", output, "--against", source)
    (output / ".octavo-job.json").write_text("{}")
    assert "run the same command again" in octavo("verify", output, "--against", source, code=1).stdout


def test_shards_without_an_index_break_a_promise(tmp_path):
    source, output = (write(tmp_path, n, c()) for n, c in
                      (("in", cp.plain_checkpoint), ("out", cp.compressed_fp8)))
    (output / "model.safetensors.index.json").unlink()
    assert "several shards and no index" in octavo("verify", output, "--against", source, code=1).stdout


def test_whole_numbers_are_not_rounded_to_another_dtype(tmp_path):
    source, output = cp.plain_checkpoint(), cp.compressed_fp8()
    source.tensors["position_ids"] = np.arange(8, dtype=np.int64)
    output.tensors["position_ids"] = np.arange(8, dtype=np.int32)
    promises = verified(tmp_path, output, source, code=1)
    (broken,) = promises["plain-identical"]["broken"]
    assert "position_ids has different bytes, or another dtype" in broken


def test_equal_values_under_other_blocks_are_equal(tmp_path):
    """A scale of the tensor that is stored again for each row changes no value."""
    source, output = cp.autofp8(static=False, kv=False), cp.compressed_fp8()
    for name in filter(cp.is_linear, source.tensors):
        output.tensors[name] = source.tensors[name]
        output.tensors[name + "_scale"] = np.full(
            (len(source.tensors[name]), 1), source.tensors[name + "_scale"], np.float32)
    promises = verified(tmp_path, output, source)
    assert promises["values-equal"]["checked"] == 14
    assert promises["quantized-within-format"]["checked"] == 0


def test_stochastic_rounding_is_no_fault_where_it_is_expected(tmp_path):
    """Each weight on one of its two neighbours; then one weight on the neighbour beyond."""
    source = write(tmp_path, "in", cp.plain_checkpoint())
    weights, narrow = cp.plain(), cp.autofp8(static=False, kv=False)
    random = np.random.default_rng(11)
    for name in filter(cp.is_linear, weights):
        scale = narrow.tensors[name + "_scale"]
        wanted = np.abs(np.clip(weights[name].astype(np.float32) / scale, -448, 448))
        codes = narrow.tensors[name].view(np.uint8)
        sizes = np.abs(narrow.tensors[name].astype(np.float32))
        other = np.where(sizes < wanted, codes + 1, np.where(sizes > wanted, codes - 1, codes))
        chosen = np.where(random.random(codes.shape) < 0.5, other, codes).astype(np.uint8)
        narrow.tensors[name] = chosen.view(cp.E4M3)
    out = write(tmp_path, "out", narrow)
    assert "half a step" in octavo("verify", out, "--against", source, code=1).stdout
    assert "BROKEN" not in octavo("verify", out, "--against", source, "--rounding", "stochastic").stdout
    far = narrow.tensors[DOWN + ".weight"].view(np.uint8).copy()
    at = np.unravel_index(np.argmax((far & 0x7F > 0x30) & (far & 0x7F < 0x70)), far.shape)
    far[at] += 3
    narrow.tensors[DOWN + ".weight"] = far.view(cp.E4M3)
    out = write(tmp_path, "far", narrow)
    text = octavo("verify", out, "--against", source, "--rounding", "stochastic", code=1).stdout
    assert f"{DOWN}.weight: row {at[0]}, column {at[1]}" in text and "within a step" in text


def test_input_scales_that_divide_mean_what_those_that_multiply_mean(tmp_path):
    """ModelOpt multiplies by an activation's outer scale, compressed-tensors divides by its inverse."""
    source = write(tmp_path, "in", cp.modelopt_nvfp4())
    out = tmp_path / "out"
    octavo("convert", source, "-o", out, "--layout", "compressed-tensors")
    octavo("verify", out, "--against", source)
    name = UP + ".input_global_scale"
    (shard,) = (path for path in out.glob("*.safetensors") if name in cp.read_safetensors(path))
    tensors = cp.read_safetensors(shard)
    assert tensors[name] == np.float32(1) / np.float32(0.002)
    cp.write_safetensors(shard, tensors | {name: np.float32([0.002])})  # as if it multiplied
    text = octavo("verify", out, "--against", source, code=1).stdout
    assert f"{UP}.input_scale" in text and "where the source gives 0.002" in text


def test_a_scale_inverted_twice_may_be_off_by_its_roundings_and_no_more(tmp_path):
    number, one = np.nextafter(np.float32(2), np.float32(0)), np.float32(1)
    assert one / (one / number) != number
    source = cp.modelopt_nvfp4()
    for name in source.tensors:
        if name.endswith("input_scale"):
            source.tensors[name] = np.full_like(source.tensors[name], number)
    source, out = write(tmp_path, "in", source), tmp_path / "out"
    octavo("convert", source, "-o", out, "--layout", "compressed-tensors")
    octavo("verify", out, "--against", source)
    name = UP + ".input_global_scale"
    (shard,) = (path for path in out.glob("*.safetensors") if name in cp.read_safetensors(path))
    tensors = cp.read_safetensors(shard)
    cp.write_safetensors(shard, tensors | {name: tensors[name] * np.float32(1 + 2**-21)})
    assert f"{UP}.input_scale" in octavo("verify", out, "--against", source, code=1).stdout


def test_a_plain_output_has_no_scales_of_activations_and_caches_and_another_has_them(tmp_path):
    source = write(tmp_path, "in", cp.autofp8())
    octavo("dequantize", source, "-o", tmp_path / "plain", "--dtype", "bf16")
    octavo("verify", tmp_path / "plain", "--against", source)
    lacking = cp.autofp8()
    del lacking.tensors[KV0 + "k_scale"]
    text = octavo("verify", write(tmp_path, "out", lacking), "--against", source, code=1).stdout
    assert KV0 + "k_scale is not in the output" in text


def test_scales_put_into_what_was_quantized_are_no_extra_weights(tmp_path):
    """quantize, then scales apply: a plain source can have none of them. A weight is extra all the same."""
    source, side = write(tmp_path, "in", cp.plain_checkpoint()), tmp_path / "side.json"
    octavo("scales", "extract", write(tmp_path, "calibrated", cp.autofp8()), "-o", side)
    octavo("quantize", source, "-o", tmp_path / "out", "--layout", "fp8", "--format", "fp8_tensor")
    octavo("scales", "apply", tmp_path / "out", "--scales", side, "--into-checkpoint")
    promises = as_json("verify", tmp_path / "out", "--against", source)["promises"]
    assert {p["promise"]: p["checked"] for p in promises}["nothing-extra"] == 19
    # Of a source with scales of its own these are extra.
    lacking = cp.autofp8()
    del lacking.tensors[KV0 + "k_scale"]
    text = octavo("verify", write(tmp_path, "more", cp.autofp8()), "--against", write(tmp_path, "less", lacking),
                  code=1).stdout
    assert KV0 + "k_scale is not in the source" in text
    extra = cp.compressed_fp8()
    extra.tensors["model.extra.weight"] = np.ones((2, 2), cp.BF16)
    text = octavo("verify", write(tmp_path, "extra", extra), "--against", source, code=1).stdout
    assert "model.extra.weight is not in the source" in text


def test_input_scales_that_the_layout_has_no_use_for_are_no_loss(tmp_path):
    """deepseek's activations are dynamic: converting to it drops static scales, and says so."""
    source = write(tmp_path, "model", cp.autofp8())
    summary = as_json("convert", source, "-o", tmp_path / "out", "--layout", "deepseek", "--requantize", "--format",
                      "fp8_block")
    assert "dropped-input-scale" in {note["rule"] for note in summary["notes"]}
    octavo("verify", tmp_path / "out", "--against", source)


@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("layout, format", [("compressed-tensors", "fp8_row"), ("compressed-tensors", "fp8_tensor"),
                                            ("deepseek", "fp8_block"), ("compressed-tensors", "nvfp4")])
def test_weights_that_were_plain_on_the_way(tmp_path, layout, format, dtype):
    """Dequantized, and quantized into the same format again: other values, each the nearest under its scale."""
    random = np.random.default_rng(31)
    name = "model.layers.0.mlp.up_proj.weight"
    folder = producers.save(tmp_path / "model", {name: producers.f32(random.normal(0, .05, (256, 256)))}, producers.config())
    to = ("--layout", layout, "--format", format, "--weight-only")
    octavo("quantize", folder, "-o", tmp_path / "first", *to[:4 if layout == "deepseek" else 5])
    # No value is the largest of its block any more, so that quantizing again finds other scales.
    smaller(tmp_path / "first")
    octavo("dequantize", tmp_path / "first", "-o", tmp_path / "plain", "--dtype", dtype)
    octavo("quantize", tmp_path / "plain", "-o", tmp_path / "again", *to[:4 if layout == "deepseek" else 5])
    said = octavo("verify", tmp_path / "again", "--against", tmp_path / "first", code=1).stdout
    assert "BROKEN  values-equal" in said and "--through" in said
    octavo("verify", tmp_path / "again", "--against", tmp_path / "first", "--through", dtype)
    # It is still held to what rounding leaves: a scale that is a tenth off is none.
    part = name.replace("weight", "weight_global_scale" if format == "nvfp4" else
                        "weight_scale_inv" if layout == "deepseek" else "weight_scale")
    numbers(tmp_path / "again", part, lambda x: x * np.float32(1.1))
    said = octavo("verify", tmp_path / "again", "--against", tmp_path / "first", "--through", dtype, code=1).stdout
    assert "BROKEN  quantized-within-format" in said


def numbers(folder, name, change):
    """Changes the numbers of a tensor in place."""
    file = folder / "model.safetensors"
    raw = bytearray(file.read_bytes())
    length = int.from_bytes(raw[:8], "little")
    entry = json.loads(bytes(raw[8:8 + length]))[name]
    begin, end = (8 + length + offset for offset in entry["data_offsets"])
    dtype = {"F32": np.float32, "F16": np.float16, "BF16": producers.ml_dtypes.bfloat16, "U8": np.uint8, "F8_E4M3": np.uint8}[entry["dtype"]]
    raw[begin:end] = np.asarray(change(np.frombuffer(bytes(raw[begin:end]), dtype)), dtype).tobytes()
    file.write_bytes(raw)


def smaller(folder):
    """Makes the largest elements smaller: FP8 codes from 0x70 up, FP4 code 7."""
    for name, tensor in tensors_of(folder).items():
        if name.endswith("weight"):
            numbers(folder, name, lambda x: np.where(x & 0x7F >= 0x70, x - 6, x))
        elif name.endswith("weight_packed"):
            numbers(folder, name, lambda x: x - np.where(x & 7 == 7, 1, 0) - np.where(x >> 4 & 7 == 7, 16, 0))
