"""Checkpoints of producers with names, packing and orders of scales of their own: read as they are, with
the values that ml_dtypes and the producers' sources give, or stopped by name. Nothing that is codes is
ever taken for values, and no scale is left out in silence."""
import json
import os

import numpy as np
import pytest

import producers as p
from commands import as_json, octavo, tensors_of

EXHAUSTIVE = os.environ.get("OCTAVO_EXHAUSTIVE")


def findings(folder, *severities):
    said = json.loads(octavo("lint", folder, "--json", "--fail-on", "never").stdout)["findings"]
    return [finding for finding in said if finding["severity"] in severities]


def check_values(folder, wanted, tmp_path, *flags):
    octavo("dequantize", folder, "-o", tmp_path / "plain", "--dtype", "f32", *flags)
    found = tensors_of(tmp_path / "plain")
    assert set(found) == set(wanted)
    for name, values in wanted.items():
        assert found[name].shape == values.shape, name
        assert np.array_equal(np.asarray(found[name], np.float32).view(np.uint32), values.view(np.uint32)), name


READ = {
    "comfyui nvfp4": (p.comfy, {"kind": "nvfp4"}, "comfyui"),
    "comfyui nvfp4, padded tiles": (p.comfy, {"kind": "nvfp4", "rows": 130, "columns": 80}, "comfyui"),
    "comfyui nvfp4, whole tiles": (p.comfy, {"kind": "nvfp4", "rows": 256, "columns": 128}, "comfyui"),
    "comfyui nvfp4, markers": (p.comfy, {"kind": "nvfp4", "said": "markers"}, "comfyui"),
    "comfyui mxfp8": (p.comfy, {"kind": "mxfp8"}, "comfyui"),
    "comfyui mxfp8, markers": (p.comfy, {"kind": "mxfp8", "rows": 64, "columns": 160, "said": "markers"}, "comfyui"),
    "comfyui fp8": (p.comfy, {"kind": "float8_e4m3fn"}, "comfyui"),
    "comfyui e5m2": (p.comfy, {"kind": "float8_e5m2", "said": "markers"}, "comfyui"),
    "comfyui scale_weight": (p.comfy, {"kind": "scaled"}, "comfyui"),
    "mlx mxfp4": (p.mlx, {"mode": "mxfp4"}, "mlx"),
    "mlx mxfp8": (p.mlx, {"mode": "mxfp8", "key": "both"}, "mlx"),
    "mlx nvfp4": (p.mlx, {"mode": "nvfp4"}, "mlx"),
    "mlx nvfp4 without a configuration": (p.mlx, {"mode": "nvfp4", "key": "none"}, "mlx"),
    "torchao tensor": (p.torchao, {"kind": "tensor"}, "torchao"),
    "torchao row": (p.torchao, {"kind": "row"}, "torchao"),
    "torchao block": (p.torchao, {"kind": "block"}, "torchao"),
    "torchao group": (p.torchao, {"kind": "group"}, "torchao"),
    "torchao mxfp8": (p.torchao, {"kind": "mxfp8"}, "torchao"),
    "torchao mxfp8, tiles": (p.torchao, {"kind": "mxfp8", "swizzled": True}, "torchao"),
    "torchao mxfp4, tiles": (p.torchao, {"kind": "mxfp4", "swizzled": True, "rows": 256}, "torchao"),
    "torchao nvfp4": (p.torchao, {"kind": "nvfp4"}, "torchao"),
    "torchao nvfp4, tiles": (p.torchao, {"kind": "nvfp4", "swizzled": True, "rows": 128}, "torchao"),
    "torchao nvfp4 without an outer scale": (p.torchao, {"kind": "nvfp4-alone"}, "torchao"),
    "mistral": (p.fp8_names, {"kind": "mistral"}, "fp8"),
    "mistral, hugging face": (p.fp8_names, {"kind": "mistral-hf"}, "fp8"),
    "mistral, hugging face, f32": (p.fp8_names, {"kind": "mistral-hf-f32"}, "fp8"),
    "mistral, hugging face, weight_scale": (p.fp8_names, {"kind": "mistral-hf-scale"}, "fp8"),
    "tensorrt-llm": (p.fp8_names, {"kind": "trtllm"}, "fp8"),
    "transformer engine": (p.fp8_names, {"kind": "transformer-engine"}, "fp8"),
    "quark blocks": (p.quark_blocks, {}, "quark"),
    "quark blocks, e8m0 in u8": (p.quark_blocks, {"scale": "U8", "key": "re:model\\.layers\\.\\d+\\.self_attn\\.[qkvo]_proj"}, "quark"),
    "quark blocks of 32": (p.quark_blocks, {"size": (32, 32), "scale": "F8_E8M0"}, "quark"),
    "quark blocks of 32, u8": (p.quark_blocks, {"size": (32, 32), "scale": "U8"}, "quark"),
    "quark nvfp4": (p.quark_nvfp4, {}, "quark"),
    "modelopt FP8_BLOCK_SCALES": (p.modelopt_blocks, {"algorithm": "FP8_BLOCK_SCALES"}, "modelopt"),
    "modelopt FP8_PB": (p.modelopt_blocks, {"algorithm": "FP8_PB", "name": "weight_scale", "rank4": True}, "modelopt"),
    "modelopt fp8_pb_wo": (p.modelopt_blocks, {"algorithm": "fp8_pb_wo", "name": "weight_scale", "rank4": True}, "modelopt"),
    "deepseek fp4": (p.deepseek_fp4, {"group": 32}, "deepseek"),
    "deepseek fp4 in groups of 128": (p.deepseek_fp4, {"group": 128}, "deepseek"),
    "deepseek fp4 in groups of 128, renamed": (p.deepseek_fp4, {"group": 128, "scale": ""}, "deepseek"),
    "scales of q, k and v": (p.fused_parts, {"kind": "qkv"}, "fp8"),
    "scales of gate and up": (p.fused_parts, {"kind": "gate-up"}, "fp8"),
    "scales of gate and up of experts": (p.fused_parts, {"kind": "experts"}, "fp8"),
}


@pytest.mark.parametrize("make, how, layout", READ.values(), ids=READ)
def test_they_are_read_as_they_are(tmp_path, make, how, layout):
    folder, wanted = make(tmp_path / "model", 5, **how)
    assert as_json("inspect", folder)["layout"] == layout
    errors = {finding["rule"] for finding in findings(folder, "error")}
    assert errors <= {"implausible-scale", "inverted-scale", "raw-codes-loaded"}, errors
    check_values(folder, wanted, tmp_path)
    octavo("verify", tmp_path / "plain", "--against", folder)
    assert as_json("inspect", tmp_path / "plain")["layout"] == "plain"


@pytest.mark.parametrize("seed", range(200 if EXHAUSTIVE else 8))
def test_other_shapes_of_each(tmp_path, seed):
    """Random extents: grids that fill their tiles, and grids that do not."""
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(1, 300)), int(random.integers(1, 9)) * 32
    for kind in ("nvfp4", "mxfp8"):
        folder, wanted = p.comfy(tmp_path / kind, seed, kind, rows, columns, random.choice(["header", "markers"]))
        check_values(folder, wanted, tmp_path / (kind + " of comfyui"))
        folder, wanted = p.torchao(tmp_path / ("ao" + kind), seed, kind, rows, columns, bool(random.integers(2)))
        check_values(folder, wanted, tmp_path / (kind + " of torchao"))


@pytest.mark.parametrize("name, target, format", [
    ("comfyui nvfp4, padded tiles", "modelopt", "nvfp4"), ("comfyui nvfp4", "compressed-tensors", "nvfp4"),
    ("comfyui mxfp8", "compressed-tensors", "mxfp8_e4m3"), ("mlx mxfp4", "quark", "mxfp4"),
    ("mlx nvfp4", "modelopt", "nvfp4"), ("torchao nvfp4, tiles", "modelopt", "nvfp4"),
    ("scales of q, k and v", "compressed-tensors", "fp8_row"), ("mistral", "fp8", "fp8_tensor"),
    ("mistral, hugging face", "fp8", "fp8_tensor"), ("torchao row", "compressed-tensors", "fp8_row")])
def test_they_convert_without_loss(tmp_path, name, target, format):
    make, how, _ = READ[name]
    folder, wanted = make(tmp_path / "model", 6, **how)
    said = as_json("convert", folder, "-o", tmp_path / "out", "--layout", target)
    assert {weight["to"] for weight in said["weights"]} == {format}
    octavo("verify", tmp_path / "out", "--against", folder)
    check_values(tmp_path / "out", wanted, tmp_path)


def test_mistral_keeps_its_calibration(tmp_path):
    folder, _ = p.fp8_names(tmp_path / "model", 7, "mistral-hf")
    assert not findings(folder, "error", "warning")
    octavo("convert", folder, "-o", tmp_path / "out", "--layout", "fp8")
    after = tensors_of(tmp_path / "out")
    assert after["layers.0.attention.wq.input_scale"] == np.float32(p.bf16(.0123))
    assert json.loads((tmp_path / "out/config.json").read_text())["quantization_config"]["activation_scheme"] == "static"


def test_what_is_only_read_is_not_written(tmp_path):
    plain = p.save(tmp_path / "plain", {"m.weight": p.of("BF16", p.Source(1).plain(64, 64))}, p.config())
    folder, _ = p.quark_nvfp4(tmp_path / "model", 1)
    for layout in ("comfyui", "mlx", "torchao"):
        said = octavo("quantize", plain, "-o", tmp_path / "out", "--layout", layout, "--format", "nvfp4", code=2).stderr
        assert layout in said
        said = octavo("convert", folder, "-o", tmp_path / "out", "--layout", layout, code=3).stderr
        assert f"layout {layout} cannot store nvfp4" in said
    assert not (tmp_path / "out").exists()


def foreign(kind, source=None):
    """Tensors of a module as tools write them that octavo does not read, and what is said of them."""
    source = source or p.Source(3)
    m, random = "model.layers.0.mlp.up_proj.", source.random
    words = lambda *shape: p.of("I32", random.integers(0, 1 << 30, shape).astype(np.int32))
    bytes_ = lambda dtype, *shape: p.of(dtype, random.integers(0, 128, shape).astype(np.uint8))
    half = lambda *shape: p.of("F16", random.uniform(.5, 2, shape).astype(np.float16))
    return {
        "GPTQ": {m + "qweight": words(8, 64), m + "qzeros": words(2, 8), m + "scales": half(2, 64),
                 m + "g_idx": p.of("I32", np.zeros(64, np.int32))},
        "AWQ": {m + "qweight": words(64, 8), m + "qzeros": words(2, 8), m + "scales": half(2, 64)},
        "bitsandbytes": {m + "weight": bytes_("U8", 2048, 1), m + "weight.absmax": bytes_("U8", 64),
                         m + "weight.quant_map": p.f32(np.zeros(16)),
                         m + "weight.quant_state.bitsandbytes__nf4": bytes_("U8", 70)},
        "LLM.int8": {m + "weight": bytes_("I8", 64, 64), m + "SCB": p.f32(np.ones(64)), m + "weight_format": bytes_("U8")},
        "MLX": {m + "weight": p.of("U32", random.integers(0, 1 << 30, (64, 8)).astype(np.uint32)), m + "scales": half(64, 1),
                m + "biases": half(64, 1)},
        "ExLlamaV2": {m + "q_weight": words(8, 64), m + "q_scale": words(2, 8)},
        "AQLM": {m + "codes": bytes_("I8", 64, 8, 1), m + "codebooks": half(1, 256, 1, 8), m + "scales": half(64, 1, 1, 1)},
        "HQQ": {m + "W_q": bytes_("U8", 32, 64), m + "scale": half(64, 1), m + "zero": half(64, 1)},
        "quanto": {m + "weight._data": bytes_("I8", 64, 64), m + "weight._scale": half(64, 1)},
        "Transformer Engine": {m + "weight._data": bytes_("U8", 64, 64), m + "weight._scale_inv": p.f32([1])},
        "INT8": {m + "weight": bytes_("I8", 64, 64), m + "weight_scale": p.f32(np.ones((64, 1)))},
        "U8": {m + "weight": bytes_("U8", 64, 64), m + "weight_scale": p.f32(1)},
        "": {m + "weight": p.of("F8_E4M3", source.fp8(64, 64)), m + "dequant_scale": p.f32(1)},
        " ": {m + "packed_weight": words(64, 8)},
    }[kind]


KINDS = ["GPTQ", "AWQ", "bitsandbytes", "LLM.int8", "MLX", "ExLlamaV2", "AQLM", "HQQ", "quanto",
         "Transformer Engine", "INT8", "U8", "", " "]


def stops(folder, tmp_path, *words):
    for command in (("dequantize",), ("convert", "--layout", "compressed-tensors"),
                    ("quantize", "--layout", "compressed-tensors", "--format", "fp8_row")):
        said = octavo(command[0], folder, "-o", tmp_path / "out", *command[1:], code=3).stderr
        assert all(word in said for word in words), said
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("configuration", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_codes_of_others_stop_by_name(tmp_path, kind, configuration):
    plain = p.Source(4).plain(64, 64)
    tensors = foreign(kind) | {"model.layers.0.mlp.down_proj.weight": p.of("BF16", plain)}
    block = {"quantization_config": {"quant_method": "gptq", "bits": 4}} if configuration else {}
    folder = p.save(tmp_path / "model", tensors, p.config(**block))
    stops(folder, tmp_path, kind.strip())
    said = octavo("dequantize", folder, "-o", tmp_path / "out", "--from", "plain", code=3).stderr
    assert "up_proj" in said and not (tmp_path / "out").exists()
    first = findings(folder, "error")[0]
    assert first["rule"] == "foreign-codes" and kind.strip() in first["what"]
    assert "quantization_config" not in first["fix"]
    seen = as_json("inspect", folder)
    assert seen["unread_bytes"] > 0 and kind.strip() in seen["producer"]
    # Packed words are not counted as weights of 30 bits.
    scales = sum(int(np.prod(shape)) for name, (dtype, shape, _) in tensors.items()
                 if dtype in ("F16", "F32", "U8") and len(shape) < 2)
    assert seen["weights"] < plain.size + 64 * 64 + scales


@pytest.mark.parametrize("make", [
    lambda folder: p.save(folder, foreign("MLX"), p.config(quantization={"group_size": 64, "bits": 4})),
    lambda folder: p.save(folder, foreign("MLX"), p.config(quantization={"group_size": 64, "bits": 4, "mode": "affine"},
                                                           quantization_config={"group_size": 64, "bits": 4})),
    lambda folder: p.save(folder, {"b.0.fc1.weight": p.of("I8", np.ones((64, 64), np.int8)), "b.0.fc1.weight_scale": p.f32(1)}, None,
                          {"_quantization_metadata": json.dumps({"layers": {"b.0.fc1": {"format": "int8_tensorwise"}}})}),
    lambda folder: p.save(folder, {"l.0.up._weight_qdata": p.of("U8", np.ones((64, 32), np.uint8)),
                                   "l.0.up._weight_scale": p.of("BF16", p.bf16(np.ones((1, 64)))),
                                   "l.0.up._weight_zero_point": p.of("BF16", p.bf16(np.ones((1, 64))))}, p.config(), {
        "l.0.up.weight": json.dumps({"_type": "Int4Tensor", "_data": {"block_size": [1, 64]}}),
        "tensor_names": json.dumps(["l.0.up.weight"])})], ids=["mlx", "mlx affine", "comfyui int8", "torchao int4"])
def test_other_formats_of_those_that_are_read(tmp_path, make):
    folder = make(tmp_path / "model")
    for command in (("dequantize",), ("convert", "--layout", "compressed-tensors")):
        octavo(command[0], folder, "-o", tmp_path / "out", *command[1:], code=3)
        assert not (tmp_path / "out").exists()
    assert findings(folder, "error")[0]["rule"] == "foreign-codes"
    seen = as_json("inspect", folder)
    assert seen["producer"] in ("MLX", "ComfyUI", "torchao") and seen["unread_bytes"] == 64 * 32 * (
        2 if seen["producer"] == "ComfyUI" else 1)


def test_a_model_that_was_cast_is_asked_about(tmp_path):
    codes = p.Source(9).fp8(64, 32)
    folder = p.save(tmp_path / "model", {"m.weight": p.of("F8_E4M3", codes), "m.bias": p.f32(np.ones(64))}, p.config())
    said = octavo("dequantize", folder, "-o", tmp_path / "out", code=3).stderr
    assert "m.weight" in said and "--allow unscaled-codes" in said and not (tmp_path / "out").exists()
    said = octavo("quantize", folder, "-o", tmp_path / "out", "--layout", "native", "--format", "mxfp4", code=3).stderr
    assert "without a scale" in said
    check_values(folder, {"m.weight": p.value(p.E4M3, codes), "m.bias": np.ones(64, np.float32)}, tmp_path,
                 "--allow", "unscaled-codes")


def test_buffers_of_integers_are_no_codes(tmp_path):
    tensors = {"model.layers.0.mlp.up_proj.weight": p.of("BF16", p.Source(2).plain(64, 64)),
               "model.position_ids": p.of("I32", np.zeros((1, 64), np.int32)),
               "h.0.attn.bias": p.of("U8", np.zeros((1, 1, 8, 8), np.uint8)),
               "encoder.relative_position_index": p.of("I64", np.zeros((49, 49), np.int64))}
    folder = p.save(tmp_path / "model", tensors, p.config())
    octavo("quantize", folder, "-o", tmp_path / "out", "--layout", "compressed-tensors", "--format", "fp8_row")
    assert not findings(folder, "error", "warning")


SECOND = ["weight_scale_2", "weight_global_scale", "weight_scale_inv", "weight_scale", "scale", "weight_scales", "scale_weight",
          "qscale_weight", "weight_zero_scale", "dequant_scale", "weight._scale_inv", "output_scale", "input_global_scale",
          "weights_scaling_factor", "scaling_factor", "Scale", "weight_absmax"]
LAYERS = ["comfyui fp8", "torchao row", "mistral, hugging face", "quark nvfp4", "modelopt FP8_PB", "deepseek fp4",
          "scales of gate and up", "mlx mxfp4", "quark blocks of 32, u8"]


@pytest.mark.parametrize("seed", range(600 if EXHAUSTIVE else 24))
def test_a_second_scale_stops_by_name(tmp_path, seed):
    """Any scale beside a quantized weight that its format does not use, of any dtype and shape."""
    random = np.random.default_rng(seed)
    make, how, _ = READ[LAYERS[seed % len(LAYERS)]]
    folder, _ = make(tmp_path / "model", seed, **how)
    file = next(folder.glob("*.safetensors"))
    raw = file.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header, data = json.loads(raw[8:8 + length]), raw[8 + length:]
    weights = [name for name in header if name.endswith((".weight", "_weight_qdata"))
               and header[name]["dtype"] in ("F8_E4M3", "U8", "I8", "U32")]
    module = str(random.choice(weights)).rsplit(".", 1)[0]
    names = [f"{module}.{name}" for name in SECOND if f"{module}.{name}" not in header]
    # Those that make it another layout, or the one that the configuration has, are other tests'.
    known = {"scale_weight"} if "comfyui" in LAYERS[seed % len(LAYERS)] else set()
    known |= {"output_scale"} if module.endswith("q_proj") else set()  # of the cache's queries
    name = str(random.choice([name for name in names if name.rsplit(".", 1)[1] not in known]))
    dtype = str(random.choice(["F32", "BF16", "F16", "F8_E4M3", "U8"]))
    shape = [[], [1], [header[weights[0]]["shape"][0]], [header[weights[0]]["shape"][0], 1]][int(random.integers(4))]
    size = int(np.prod(shape, dtype=np.int64)) * p.BITS[dtype] // 8
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + data + b"\x38" * size)
    for command in (("dequantize",), ("convert", "--layout", "native")):
        said = octavo(command[0], folder, "-o", tmp_path / "out", *command[1:], code=3).stderr
        assert module in said, said
        assert not (tmp_path / "out").exists()
    assert findings(folder, "error")


def fp6(folder):
    source = p.Source(8)
    codes = source.random.integers(0, 256, (32, 48)).astype(np.uint8)
    return p.save(folder, {"m.weight": p.of("U8", codes), "m.weight_scale": p.of("U8", source.e8m0_scales(32, 2))}, p.config())


def test_bytes_that_two_formats_have_are_asked_about(tmp_path):
    folder = fp6(tmp_path / "model")
    said = octavo("dequantize", folder, "-o", tmp_path / "out", code=3).stderr
    assert "mxfp6_e3m2 or mxfp6_e2m3" in said and "--allow ambiguous-format" in said
    octavo("dequantize", folder, "-o", tmp_path / "out", "--allow", "ambiguous-format")


@pytest.mark.parametrize("file", ["", "model.safetensors"])
@pytest.mark.parametrize("kind, other, module", [("nvfp4", "modelopt", "up"), ("mxfp8", "compressed-tensors", "down"),
                                                 ("mixed", "modelopt", "up")])
def test_two_orders_that_both_fit_are_asked_about(tmp_path, kind, other, module, file):
    """A file of ComfyUI's without its label, whose grids fill their tiles: nothing in it says which order it has."""
    source, stored, wanted = p.Source(21), {}, {"comfyui": {}, other: {}}
    for name in ("l.0.up", "l.0.down") if kind == "mixed" else ("l.0.up",):
        if kind == "mxfp8":
            codes, scales, _ = p.mx(source, 256, 128, 8)
            raw, outer, table = codes, [], p.E4M3
            readings = {"comfyui": codes, other: codes}
            grids = {"comfyui": untiled(scales), other: scales}
            numbers = {key: np.repeat(np.ldexp(1., grid.astype(int) - 127), 32, 1) for key, grid in grids.items()}
            stored[name + ".weight_scale"] = p.of("U8", scales)
        elif name == "l.0.down":
            codes, scale = source.fp8(128, 128), source.float_scales()
            stored |= {name + ".weight": p.of("F8_E4M3", codes), name + ".weight_scale": p.f32(scale)}
            for each in wanted.values():
                each[name + ".weight"] = p.value(p.E4M3, codes, scale)
            continue
        else:
            codes, scales, _ = p.nvfp4(source, 128, 64)
            raw, outer, table = p.low_first(codes), [source.float_scales()], p.E2M1
            swapped = np.stack([codes[:, 1::2], codes[:, 0::2]], -1).reshape(codes.shape)
            readings = {"comfyui": swapped, other: codes}
            numbers = {"comfyui": np.repeat(p.E4M3[untiled(scales)], 16, 1), other: np.repeat(p.E4M3[scales], 16, 1)}
            stored |= {name + ".weight_scale": p.of("F8_E4M3", scales), name + ".weight_scale_2": p.f32(outer[0])}
        stored[name + ".weight"] = p.of("F8_E4M3" if kind == "mxfp8" else "U8", raw)
        for key in wanted:
            wanted[key][name + ".weight"] = p.value(table, readings[key], numbers[key], *outer)
    folder = p.save(tmp_path / "model", stored)
    path = folder / file
    for command in (("dequantize",), ("convert", "--layout", "native"), ("quantize", "--layout", "native", "--format", "mxfp4")):
        said = octavo(command[0], path, "-o", tmp_path / "out", *command[1:], code=3).stderr
        assert f"--from {other} or --from comfyui" in said and not (tmp_path / "out").exists()
    assert {"ambiguous-format"} <= {finding["rule"] for finding in findings(path, "error")}
    for layout, values in wanted.items():
        out = tmp_path / layout
        out.mkdir()
        check_values(path, values, out, "--from", layout)


def untiled(stored):
    """The grid of scales whose tiles are `stored`."""
    place = p.tiled(np.arange(stored.size, dtype=np.int64).reshape(stored.shape)).reshape(-1)
    grid = np.empty_like(stored).reshape(-1)
    grid[place] = stored.reshape(-1)
    return grid.reshape(stored.shape)


@pytest.mark.parametrize("kind", ["nvfp4", "mxfp8"])
def test_padded_tiles_need_no_label(tmp_path, kind):
    folder, wanted = p.comfy(tmp_path / "model", 21, kind, 192, 96, "nothing")
    assert as_json("inspect", folder)["layout"] == "comfyui"
    check_values(folder, wanted, tmp_path)


def test_what_was_found_in_the_place_of_scales_is_said(tmp_path):
    source, name = p.Source(1), "model.layers.0.mlp.experts.down_proj"
    tensors = {name: p.of("F8_E4M3", source.fp8(8, 16, 32)), name + "_scale": p.f32(source.float_scales(8, 2))}
    folder = p.save(tmp_path / "model", tensors, p.config(quantization_config={
        "quant_method": "fp8", "activation_scheme": "dynamic"}))
    said = octavo("dequantize", folder, "-o", tmp_path / "out", code=3).stderr
    assert "_scale F32 [8, 2]" in said and "found none" not in said


@pytest.mark.parametrize("number", [0, np.inf, np.nan])
def test_a_scale_of_inputs_is_refused_for_what_it_is(tmp_path, number):
    codes, scales, _ = p.nvfp4(p.Source(1), 32, 64)
    tensors = {"l.0.m.weight_packed": p.of("U8", p.low_first(codes)), "l.0.m.weight_scale": p.of("F8_E4M3", scales),
               "l.0.m.weight_global_scale": p.f32([1024]), "l.0.m.input_global_scale": p.f32([number])}
    arguments = {"num_bits": 4, "type": "float", "symmetric": True, "strategy": "tensor_group", "group_size": 16}
    folder = p.save(tmp_path / "model", tensors, p.config(quantization_config={
        "quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "ignore": [], "config_groups": {"group_0": {
            "targets": ["Linear"], "weights": dict(arguments, dynamic=False),
            "input_activations": dict(arguments, dynamic="local")}}}))
    said = octavo("convert", folder, "-o", tmp_path / "out", "--layout", "modelopt", code=3).stderr
    assert "input_global_scale" in said and "no weight changes" in said
    assert "every value" not in said
    octavo("dequantize", folder, "-o", tmp_path / "out")  # no weight is under it


def nvfp4_of_compressed_tensors(folder, divisor, seed=2):
    codes, scales, _ = p.nvfp4(p.Source(seed), 32, 64)
    tensors = {"l.0.m.weight_packed": p.of("U8", p.low_first(codes)), "l.0.m.weight_scale": p.of("F8_E4M3", scales),
               "l.0.m.weight_global_scale": p.f32([divisor])}
    arguments = {"num_bits": 4, "type": "float", "symmetric": True, "strategy": "tensor_group", "group_size": 16, "dynamic": False}
    return p.save(folder, tensors, p.config(quantization_config={
        "quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "ignore": [],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": arguments, "input_activations": None}}}))


@pytest.mark.parametrize("seed", range(300 if EXHAUSTIVE else 12))
def test_a_divisor_comes_back_or_is_not_called_exact(tmp_path, seed):
    divisor = np.float32(np.random.default_rng(seed).uniform(256, 65536))
    folder = nvfp4_of_compressed_tensors(tmp_path / "model", divisor)
    there = as_json("convert", folder, "-o", tmp_path / "modelopt", "--layout", "modelopt")
    octavo("convert", tmp_path / "modelopt", "-o", tmp_path / "again", "--layout", "compressed-tensors")
    back = tensors_of(tmp_path / "again")["l.0.m.weight_global_scale"]
    assert (there["weights"][0]["accuracy"] == "exact") == (back == divisor)
    assert np.float32(1) / back == np.float32(1) / divisor  # the values are the same all the same


def test_requantizing_rounds_under_the_divisor_that_is_stored(tmp_path):
    source = p.Source(11)
    codes, scale = source.fp8(64, 64), source.float_scales()
    folder = p.save(tmp_path / "model", {"l.0.up_proj.weight": p.of("F8_E4M3", codes), "l.0.up_proj.weight_scale": p.f32(scale)},
                    p.config(quantization_config={"quant_method": "fp8", "activation_scheme": "dynamic"}))
    flags = ("--layout", "compressed-tensors", "--format", "nvfp4")
    octavo("convert", folder, "-o", tmp_path / "out", "--requantize", *flags)
    octavo("dequantize", folder, "-o", tmp_path / "plain", "--dtype", "f32")
    octavo("quantize", tmp_path / "plain", "-o", tmp_path / "anew", *flags)
    found, wanted = tensors_of(tmp_path / "out"), tensors_of(tmp_path / "anew")
    assert set(found) == set(wanted)
    for name in wanted:
        assert found[name].tobytes() == wanted[name].tobytes(), name


def altered(folder, name, change):
    file = next(path for path in folder.glob("*.safetensors") if name.encode() in path.read_bytes())
    raw = bytearray(file.read_bytes())
    length = int.from_bytes(raw[:8], "little")
    begin, end = json.loads(bytes(raw[8:8 + length]))[name]["data_offsets"]
    raw[8 + length + begin:8 + length + end] = change(bytes(raw[8 + length + begin:8 + length + end]))
    file.write_bytes(raw)


@pytest.mark.parametrize("name, target, scale", [
    ("torchao row", "compressed-tensors", "weight_scale"), ("torchao block", "deepseek", "weight_scale_inv"),
    ("scales of q, k and v", "compressed-tensors", "weight_scale"), ("mistral", "modelopt", "weight_scale")])
def test_verify_sees_a_scale_that_is_a_little_off(tmp_path, name, target, scale):
    make, how, _ = READ[name]
    folder, wanted = make(tmp_path / "model", 12, **how)
    octavo("convert", folder, "-o", tmp_path / "out", "--layout", target)
    octavo("verify", tmp_path / "out", "--against", folder)
    part = next(iter(wanted)).replace(".weight", "." + scale)
    dtype = tensors_of(tmp_path / "out")[part].dtype

    def off(data):
        numbers = np.frombuffer(data, dtype).copy()
        numbers.reshape(-1)[0] = np.float32(numbers.reshape(-1)[0]) * np.float32(1.026)
        return numbers.tobytes()

    altered(tmp_path / "out", part, off)
    said = octavo("verify", tmp_path / "out", "--against", folder, code=1).stdout
    assert "values-equal" in said


def test_diff_and_verify_see_the_sign_of_a_zero(tmp_path):
    folder, wanted = p.torchao(tmp_path / "model", 13, "row")
    octavo("dequantize", folder, "-o", tmp_path / "plain", "--dtype", "f32")
    octavo("dequantize", folder, "-o", tmp_path / "other", "--dtype", "f32")
    name = next(iter(wanted))
    place = int(np.flatnonzero(wanted[name].reshape(-1) == 0)[0])

    def flipped(data):
        return data[:4 * place + 3] + bytes([data[4 * place + 3] ^ 0x80]) + data[4 * place + 4:]

    altered(tmp_path / "other", name, flipped)
    said = octavo("diff", tmp_path / "plain", tmp_path / "other", code=1).stdout
    assert "0 of another sign: 1" in said  # equal values, but not the same
    octavo("diff", tmp_path / "plain", tmp_path / "other", "--tolerance", "1e-6")
    assert "dequantized-exactly" in octavo("verify", tmp_path / "other", "--against", folder, code=1).stdout


@pytest.mark.parametrize("name", ["scales of q, k and v", "comfyui mxfp8", "torchao mxfp8, tiles"])
def test_fnuz_needs_scales_in_rows(tmp_path, name):
    make, how, _ = READ[name]
    folder, _ = make(tmp_path / "model", 14, **how)
    said = octavo("convert", folder, "-o", tmp_path / "out", "--fnuz", code=3).stderr
    assert "not one a block" in said and not (tmp_path / "out").exists()


def test_many_codes_of_one_module_are_looked_at_once(tmp_path):
    """20,000 names without a dot: quadratic in them it would take minutes."""
    tensors = {}
    for i in range(10000):
        tensors |= {f"w{i}": p.entry("I32", [2, 2], bytes(16)), f"s{i}_scale": p.entry("F32", [], bytes(4))}
    folder = p.save(tmp_path / "model", tensors, p.config())
    assert "9999 tensors like it" in findings(folder, "error")[0]["what"]
