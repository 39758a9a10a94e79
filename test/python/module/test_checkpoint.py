"""octavo.checkpoint against files written here byte by byte and values computed in NumPy."""
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
from collections.abc import Mapping

import ml_dtypes
import numpy as np
import octavo
import octavo.checkpoint
import pytest

DTYPES = {"float32": "F32", "bfloat16": "BF16", "uint8": "U8", "float8_e4m3fn": "F8_E4M3", "bool": "BOOL",
          "int64": "I64", "complex64": "C64", "float16": "F16"}


def write(path, tensors, packed={}):
    """A safetensors file. `packed`: name -> (dtype, shape, bytes) as they are."""
    header, data = {}, b""
    entries = {name: (DTYPES[str(x.dtype)], list(x.shape), x.tobytes()) for name, x in tensors.items()} | packed
    for name, (dtype, shape, raw) in entries.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + data)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.fixture
def deepseek(tmp_path):
    """DeepSeek-V3's layout: 128 x 128 blocks, ragged at both edges."""
    codes = draw(200, 300).astype(ml_dtypes.float8_e4m3fn)
    scales = 2.0 ** np.random.default_rng(1).integers(-9, 3, (2, 3)).astype(np.float32) * np.float32(1.25)
    write(tmp_path / "model.safetensors", {
        "model.layers.0.mlp.down_proj.weight": codes,
        "model.layers.0.mlp.down_proj.weight_scale_inv": scales,
        "model.norm.weight": draw(300).astype(ml_dtypes.bfloat16),
        "flags": np.array([True, False]), "ids": np.arange(3)})
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {
        "activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]}}))
    return tmp_path, codes, scales


def test_layers_are_scaled_tensors_and_the_rest_arrays(deepseek):
    path, codes, scales = deepseek
    opened = octavo.checkpoint.open(path)
    assert opened.layout == "deepseek" and not opened.findings
    name = "model.layers.0.mlp.down_proj.weight"
    assert opened.layers == [name]
    assert list(opened) == opened.keys() == ["flags", "ids", name, "model.norm.weight"] and len(opened) == 4
    layer = opened[name]
    assert isinstance(layer, octavo.ScaledTensor) and layer.format.name == "fp8_block"
    np.testing.assert_array_equal(np.asarray(layer.elements).view(np.uint8), codes.view(np.uint8))
    np.testing.assert_array_equal(layer.scales, scales)
    values = codes.astype(np.float32) * np.repeat(np.repeat(scales, 128, 0), 128, 1)[:200, :300]
    np.testing.assert_array_equal(layer.dequantize(), values)
    np.testing.assert_array_equal(opened.dequantize(name), values)
    assert opened.input_scale(name) is None
    assert octavo.checkpoint.config(opened)["quantization_config"]["fmt"] == "e4m3"
    assert "deepseek" in repr(opened) and "1 quantized" in repr(opened)


def test_a_checkpoint_is_a_mapping(deepseek):
    opened = octavo.checkpoint.open(deepseek[0])
    assert isinstance(opened, Mapping)
    name = "model.layers.0.mlp.down_proj.weight"
    assert [key for key, _ in opened.items()] == opened.keys() and len(opened.items()) == len(opened.values()) == 4
    assert [type(value) for value in opened.values()] == [np.ndarray, np.ndarray, octavo.ScaledTensor, np.ndarray]
    assert dict(opened)["ids"].tolist() == [0, 1, 2] and dict(opened)[name] == opened[name]
    assert opened.get(name) == opened[name] and opened.get("nothing") is None and opened.get("nothing", 3) == 3
    assert name in opened and "nothing" not in opened and 3 not in opened


def test_a_layers_name_is_its_weights(deepseek):
    """As octavo checkpoint inspect --tensor takes it; keys() has one name of each."""
    opened = octavo.checkpoint.open(deepseek[0])
    layer = "model.layers.0.mlp.down_proj"
    assert opened[layer] == opened[layer + ".weight"] and layer in opened and layer not in opened.keys()
    np.testing.assert_array_equal(opened.dequantize(layer), opened.dequantize(layer + ".weight"))
    assert opened.input_scale(layer) is None
    with pytest.raises(KeyError, match="model.norm"):
        opened["model.norm"]  # no layer of this layout


def test_plain_tensors_are_copies_that_outlive_the_checkpoint_and_its_files(deepseek, tmp_path):
    path = shutil.copytree(deepseek[0], tmp_path / "copy")
    opened = octavo.checkpoint.open(path)
    norm = opened["model.norm.weight"]
    assert norm.dtype == ml_dtypes.bfloat16 and norm.flags.writeable
    assert opened["flags"].dtype == np.bool_ and opened["ids"].tolist() == [0, 1, 2]
    for file in path.glob("*.safetensors"):
        os.truncate(file, 0)
    with pytest.raises(octavo.FileError, match=r"became shorter while it was being read \(at byte \d+\)"):
        opened["model.norm.weight"]
    with pytest.raises(octavo.FileError, match=r"became shorter while it was being read \(at byte \d+\)"):
        opened.dequantize("model.layers.0.mlp.down_proj")
    del opened
    np.testing.assert_array_equal(norm, draw(300).astype(ml_dtypes.bfloat16))


def test_packed_elements_and_divided_outer_scales(tmp_path):
    """compressed-tensors' NVFP4: low nibble first, value = code * scale / global scale."""
    codes = np.random.default_rng(3).integers(0, 16, (4, 32)).astype(np.uint8)
    scales = np.full((4, 2), 2.5, ml_dtypes.float8_e4m3fn)
    write(tmp_path / "model.safetensors", {
        "a.q_proj.weight_packed": codes[:, 0::2] | codes[:, 1::2] << 4,
        "a.q_proj.weight_scale": scales,
        "a.q_proj.weight_global_scale": np.array([8], np.float32),
        "a.q_proj.input_global_scale": np.array([4], np.float32)})
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {
        "quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "quantization_status": "compressed",
        "ignore": [], "config_groups": {"group_0": {"targets": ["Linear"], "weights": {
            "num_bits": 4, "type": "float", "symmetric": True, "strategy": "tensor_group", "group_size": 16, "dynamic": False},
            "input_activations": {"num_bits": 4, "type": "float", "symmetric": True, "strategy": "tensor_group",
                                  "group_size": 16, "dynamic": "local"}}}}}))
    opened = octavo.checkpoint.open(tmp_path)
    layer = opened["a.q_proj.weight"]
    assert layer.format.name == "nvfp4" and layer.outer == 0.125
    values = np.array([0, .5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * np.where(codes & 8, -1, 1) * 2.5 / 8
    np.testing.assert_array_equal(layer.dequantize(), values.astype(np.float32))
    assert opened.input_scale("a.q_proj.weight") == 0.25


@pytest.mark.parametrize("shape", [(), (1,), (3,), (3, 1)])
def test_scales_of_each_expert_are_arrays(tmp_path, shape):
    """ModelOpt's stacked experts: bytes [E, K / 2, N], scales [E, K / 16, N]; an outer and an input
    scale of all experts, or one each."""
    experts = shape in ((3,), (3, 1))
    codes = np.random.default_rng(4).integers(0, 16, (3, 32, 8)).astype(np.uint8)  # [E, K, N]
    scales = np.random.default_rng(5).uniform(1, 9, (3, 2, 8)).astype(ml_dtypes.float8_e4m3fn)
    outer = np.array([.5, .25, 2] if experts else .5, np.float32).reshape(shape)
    inputs = np.array([1, 3, .125] if experts else .75, np.float32).reshape(shape)
    name = "m.experts.down_proj"
    write(tmp_path / "model.safetensors", {
        name: codes[:, 0::2] | codes[:, 1::2] << 4, name + "_weight_scale": scales,
        name + "_weight_scale_2": outer, name + "_input_scale": inputs, "m.norm.weight": draw(3)})
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {
        "quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": []}}))
    opened = octavo.checkpoint.open(tmp_path)
    assert opened.findings == [] and opened.layers == [name]
    found = opened.outer_scale(name), opened.input_scale(name)
    if experts:
        assert [x.dtype for x in found] == [np.float32] * 2
        assert [x.tolist() for x in found] == [[.5, .25, 2], [1, 3, .125]]
        with pytest.raises(octavo.FormatError, match=r"3 experts have an outer scale each.*outer_scale\(name\)"):
            opened[name]
    else:
        assert found == (.5, .75) and all(type(x) is float for x in found)
        assert opened[name].outer == .5
    values = np.array([0, .5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * np.where(codes & 8, -1, 1)
    values = values * np.repeat(scales.astype(np.float32), 16, 1) * outer.reshape((-1, 1, 1))
    np.testing.assert_allclose(opened.dequantize(name), values.swapaxes(1, 2), rtol=2e-7)
    assert opened.outer_scale("m.norm.weight") is None and opened.input_scale("m.norm.weight") is None
    with pytest.raises(KeyError, match="m.nrom"):
        opened.outer_scale("m.nrom")


def test_cache_scales_of_each_head_are_arrays(tmp_path):
    write(tmp_path / "model.safetensors", {
        "m.self_attn.q_proj.weight": draw(4, 4), "m.self_attn.k_proj.weight": draw(4, 4),
        "m.self_attn.k_scale": np.array([[[.5]], [[.25]]], np.float32),
        "m.self_attn.v_scale": np.array([4], np.float32)})
    scales = octavo.checkpoint.open(tmp_path).kv_scales["m.self_attn"]
    assert sorted(scales) == ["key", "value"]
    assert scales["key"].tolist() == [.5, .25] and scales["value"] == 4


def test_every_dtype_of_plain_tensors(tmp_path):
    tensors = {"c": np.array([1 + 2j], np.complex64), "f": draw(3).astype(np.float16), "z": np.zeros((0, 4), np.float32),
               "s": np.array(2.5, np.float32)}
    write(tmp_path / "x.safetensors", tensors, {"four": ("F4", [3, 2], bytes([0x21, 0x43, 0x65]))})
    opened = octavo.checkpoint.open(tmp_path / "x.safetensors")
    for name, x in tensors.items():
        np.testing.assert_array_equal(opened[name], x)
        assert opened[name].dtype == x.dtype and opened[name].shape == x.shape
    assert opened["four"].astype(np.float32).tolist() == [[.5, 1], [1.5, 2], [3, 4]]
    assert octavo.checkpoint.config(opened) is None and opened.layout == "plain"


@pytest.mark.parametrize("layout, format, parts", [
    ("compressed-tensors", "nvfp4", {"weight_packed": ("U8", [128, 80]), "weight_scale": ("F8_E4M3", [128, 10]),
                                     "weight_global_scale": ("F32", [1])}),
    ("compressed-tensors", "mxfp8_e4m3", {"weight": ("F8_E4M3", [128, 160]), "weight_scale": ("U8", [128, 5])}),
    ("deepseek", "fp8_block", {"weight": ("F8_E4M3", [128, 160]), "weight_scale_inv": ("F32", [1, 2])}),
    ("quark", "mxfp6_e2m3", {"weight": ("U8", [128, 120]), "weight_scale": ("U8", [128, 5])}),
    ("modelopt", "fp8_row", {"weight": ("F8_E4M3", [128, 160]), "weight_scale": ("F32", [128])})])
def test_what_is_written_is_spelled_by_the_layout_and_read_back(tmp_path, layout, format, parts):
    weights = {"a.up_proj.weight": octavo.quantize(draw(128, 160), format), "a.norm.weight": draw(7),
               "four": octavo.convert(draw(2, 2), "e2m1fn"), "lm_head.weight": draw(4, 160).astype(ml_dtypes.bfloat16)}
    octavo.checkpoint.write(tmp_path / "new", weights, layout, {"model_type": "x"})
    raw = (tmp_path / "new/model.safetensors").read_bytes()
    header = json.loads(raw[8:8 + int.from_bytes(raw[:8], "little")])
    for part, (dtype, shape) in parts.items():
        assert (header["a.up_proj." + part]["dtype"], header["a.up_proj." + part]["shape"]) == (dtype, shape)
    assert len(header) == len(parts) + 3
    read = octavo.checkpoint.open(tmp_path / "new")
    assert read.layout == layout and read.layers == ["a.up_proj.weight"]
    assert not [f for f in read.findings if f.severity == "error"]
    assert octavo.checkpoint.config(read)["model_type"] == "x"
    np.testing.assert_array_equal(read["a.up_proj.weight"].dequantize(), weights["a.up_proj.weight"].dequantize())
    for name in ("a.norm.weight", "four", "lm_head.weight"):
        assert read[name].dtype == weights[name].dtype
        np.testing.assert_array_equal(read[name].view(np.uint8), np.asarray(weights[name]).view(np.uint8))


@pytest.mark.parametrize("layout, format", [
    ("compressed-tensors", "mxfp4"), ("compressed-tensors", "nvfp4"), ("compressed-tensors", "mxfp8_e4m3"),
    ("deepseek", "fp8_block"), ("quark", "mxfp6_e2m3"), ("modelopt", "nvfp4")])
@pytest.mark.parametrize("shape", [(0, 64), (4, 0)])
def test_layers_without_elements_are_read_back(tmp_path, layout, format, shape):
    octavo.checkpoint.write(tmp_path / "new", {"a.up_proj.weight": octavo.quantize(np.ones(shape, np.float32), format)},
                            layout)
    layer = octavo.checkpoint.open(tmp_path / "new")["a.up_proj.weight"]
    assert layer.format == octavo.ScaledFormat(format) and layer.dequantize().shape == shape


@pytest.mark.parametrize("type", ["float32", "bfloat16"])
def test_the_owners_divisor_is_stored(tmp_path, type):
    """compressed-tensors stores (1 / amax) * 2688, each step in the weight's type. The inverse of that
    has other inverses than the divisor itself."""
    weights, divisors = {}, {}
    for seed in range(40):
        w = (draw(16, 32, seed=seed) * np.float32(0.5 + seed / 10)).astype(type)
        name = f"m.{seed}.weight"
        weights[name] = octavo.quantize(w, "nvfp4", preset="compressed-tensors")
        divisors[name] = np.float32((w.dtype.type(1) / np.abs(w).max()) * w.dtype.type(2688))
    inverses = [np.float32(1) / (np.float32(1) / divisor) for divisor in divisors.values()]
    assert any(inverse != divisor for inverse, divisor in zip(inverses, divisors.values()))
    for step in ("first", "again"):  # read from a checkpoint, too, transposed and pickled
        assert octavo.checkpoint.write(tmp_path / step, weights) == []
        opened = octavo.checkpoint.open(tmp_path / step)
        with open(tmp_path / step / "model.safetensors", "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            begin = file.tell()
            for name, divisor in divisors.items():
                file.seek(begin + header[name + "_global_scale"]["data_offsets"][0])
                assert np.frombuffer(file.read(4), np.float32)[0] == divisor, name
        weights = {name: pickle.loads(pickle.dumps(opened[name].mT.mT)) for name in weights}


def test_divisors_that_are_no_inverse_are_told_of(tmp_path):
    """compressed-tensors stores 1 / outer. The divisor of these outer scales is searched for here in
    all f32 near it: where there is none, values change, and `write` says of which weights."""
    weights = {f"m.{seed}.weight": octavo.quantize(draw(16, 32, seed=seed) * np.float32(1.4), "nvfp4") for seed in range(40)}
    rounded = []
    for name, tensor in weights.items():
        outer = np.float32(tensor.outer)
        divisors = (np.float32(1) / outer).view(np.int32) + np.arange(-4, 5, dtype=np.int32)
        if outer not in np.float32(1) / divisors.view(np.float32):
            rounded.append(name)
    assert 3 < len(rounded) < 37
    notes = octavo.checkpoint.write(tmp_path / "new", weights)
    assert [(note.rule, note.severity, note.tensor) for note in notes] == [("rounded-divisor", "warning", rounded[0])]
    assert f"{len(rounded)} outer scales" in notes[0].what
    read = octavo.checkpoint.open(tmp_path / "new")
    assert [name for name in weights if read[name] != weights[name]] == rounded
    for name in rounded:
        np.testing.assert_allclose(read.dequantize(name), weights[name].dequantize(), rtol=2.4e-7)
    assert octavo.checkpoint.write(tmp_path / "modelopt", weights, "modelopt") == []
    inverses = {name: octavo.quantize(draw(16, 32, seed=seed), "nvfp4", preset="compressed-tensors")
                for seed, name in enumerate(weights)}
    assert octavo.checkpoint.write(tmp_path / "exact", inverses) == []
    read = octavo.checkpoint.open(tmp_path / "exact")
    assert all(read[name] == inverses[name] for name in inverses)


def test_static_activation_scales_are_written_beside_the_weights(tmp_path):
    weights = {"a.up_proj.weight": octavo.quantize(draw(128, 160), "fp8_tensor")}
    with pytest.raises(octavo.FileError, match="a static activation scale, and there is none"):
        octavo.checkpoint.write(tmp_path / "new", weights, "modelopt")
    weights["a.up_proj.input_scale"] = np.float32(0.25)
    octavo.checkpoint.write(tmp_path / "new", weights, "modelopt")
    read = octavo.checkpoint.open(tmp_path / "new")
    assert read.findings == [] and read.input_scale("a.up_proj.weight") == 0.25
    octavo.checkpoint.write(tmp_path / "fp8", weights, "fp8", {"model_type": "x"})
    assert octavo.checkpoint.config(octavo.checkpoint.open(tmp_path / "fp8"))["quantization_config"][
        "activation_scheme"] == "static"


def test_what_stays_plain_is_named_once(tmp_path):
    """Matrices, and stacked experts: two stacks are one module, and a half quantized one is none."""
    stack, plain = octavo.quantize(draw(2, 64, 64), "mxfp4"), draw(2, 64, 64).astype(ml_dtypes.bfloat16)
    weights = {"m.0.experts.down_proj": plain, "m.0.experts.gate_up_proj": plain, "m.gate.weight": plain[0],
               "m.1.experts.down_proj": plain, "m.1.experts.gate_up_proj": stack}
    octavo.checkpoint.write(tmp_path / "a", weights, "gpt-oss", {"model_type": "x"})
    config = octavo.checkpoint.config(octavo.checkpoint.open(tmp_path / "a"))
    assert sorted(config["quantization_config"]["modules_to_not_convert"]) == ["m.0.experts", "m.gate"]


def test_writing_refuses_what_it_cannot_say(tmp_path):
    tensor = octavo.quantize(draw(64, 64), "mxfp4")
    with pytest.raises(octavo.FormatError, match="unknown layout \"quarks\"; available: .*compressed-tensors"):
        octavo.checkpoint.write(tmp_path / "a", {"m.weight": tensor}, "quarks")
    with pytest.raises(octavo.FileError, match="deepseek cannot express its format: expected one of fp8_block"):
        octavo.checkpoint.write(tmp_path / "a", {"m.weight": tensor}, "deepseek")
    with pytest.raises(octavo.FileError, match="one of fp8_tensor, fp8_row, fp8_block, mxfp8_e4m3, nvfp4, found mxfp4"):
        octavo.checkpoint.write(tmp_path / "a", {"m.weight": tensor}, "modelopt")
    with pytest.raises(octavo.ShapeError, match="axis=-1"):
        octavo.checkpoint.write(tmp_path / "a", {"m.weight": octavo.quantize(draw(64, 64), "mxfp4", axis=0)})
    with pytest.raises(octavo.FileError, match="cannot express its format"):
        octavo.checkpoint.write(tmp_path / "deep/er", {"m.weight": tensor}, "deepseek")
    with pytest.raises(octavo.FileError, match="two tensors would have this name"):
        octavo.checkpoint.write(tmp_path / "deep/er", {"m.weight": tensor, "m.weight_packed": draw(2)})
    assert list(tmp_path.iterdir()) == []  # no folder of a failure
    # What readers of the layout would not find: they look for other names and ranks.
    stack = octavo.quantize(draw(2, 64, 64), "mxfp4")
    for layout in ("compressed-tensors", "quark"):
        with pytest.raises(octavo.FileError, match="expected matrices .*stacked experts, which this layout stores one"):
            octavo.checkpoint.write(tmp_path / "a", {"m.experts.down_proj": stack}, layout)
    for name, value in {"m.weight": tensor, "m.down_proj": stack}.items():
        with pytest.raises(octavo.FileError, match='expected "experts.gate_up_proj" or .*not one of the stacked'):
            octavo.checkpoint.write(tmp_path / "a", {name: value}, "gpt-oss")
    assert not (tmp_path / "a/model.safetensors").exists()
    octavo.checkpoint.write(tmp_path / "stack", {"m.experts.down_proj": stack}, "gpt-oss")
    assert octavo.checkpoint.open(tmp_path / "stack").layers == ["m.experts.down_proj"]
    octavo.checkpoint.write(tmp_path / "a", {"m.weight": tensor})
    with pytest.raises(octavo.FileError, match="this folder already holds a checkpoint"):
        octavo.checkpoint.write(tmp_path / "a", {"m.weight": tensor})


def test_lint_is_the_commands(deepseek):
    path, *_ = deepseek
    assert [f for f in octavo.checkpoint.lint(path) if f.severity == "error"] == []
    codes = np.arange(128 * 128).astype(np.uint8).reshape(128, 128).view(ml_dtypes.float8_e4m3fn)
    write(path / "model.safetensors", {"model.layers.0.mlp.down_proj.weight": codes,
                                       "model.layers.0.mlp.down_proj.weight_scale_inv": np.zeros((1, 1), np.float32)})
    rules = {finding.rule for finding in octavo.checkpoint.lint(path)}
    assert {"zero-scale", "nan-code"} <= rules


def test_errors_say_what_and_where(tmp_path, deepseek):
    with pytest.raises(octavo.FileError, match="no such file"):
        octavo.checkpoint.open(tmp_path / "nowhere")
    (tmp_path / "torn.safetensors").write_bytes(b"torn")
    with pytest.raises(octavo.FileError, match="too short"):
        octavo.checkpoint.open(tmp_path / "torn.safetensors")
    with pytest.raises(KeyError, match="model.nrom.weight"):
        octavo.checkpoint.open(deepseek[0])["model.nrom.weight"]


def test_files_beside_what_is_written_stay(tmp_path):
    kept = {name + suffix: (name + suffix).encode() for name in ("w.safetensors", "model.safetensors", "config.json")
            for suffix in (".backup", ".before", ".sha256", ".abcdef", ".tmp", ".part")} | {".octavo-backup": b"mine"}
    for name, content in kept.items():
        (tmp_path / name).write_bytes(content)
    weight = octavo.quantize(draw(4, 32), "mxfp4")
    octavo.save(tmp_path / "w.safetensors", {"w": weight})
    octavo.checkpoint.write(tmp_path, {"m.weight": weight}, layout="native")
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(found) == set(kept) | {"w.safetensors", "model.safetensors", "config.json"}
    assert kept.items() <= found.items()


def test_a_file_that_becomes_shorter_while_it_is_open_is_an_error(tmp_path):
    octavo.save(tmp_path / "a.safetensors", {"x": draw(64), "w": octavo.quantize(draw(4, 32), "mxfp4")})
    opened = octavo.checkpoint.open(tmp_path / "a.safetensors")
    os.truncate(tmp_path / "a.safetensors", (tmp_path / "a.safetensors").stat().st_size - 1)
    failed = 0
    for name in opened:
        try:
            opened[name]
        except octavo.FileError as error:
            failed += 1
            assert "a.safetensors" in str(error) and "became shorter while it was being read (at byte " in str(error)
    assert failed > 0


def test_names_that_are_not_utf8_are_escaped(tmp_path):
    name = os.fsencode(tmp_path) + b"/\x1b\xff.safetensors"
    with open(name, "wb") as file:
        file.write(b"torn")
    with pytest.raises(octavo.FileError, match=r"\\x1b\\xff.safetensors: too short"):
        octavo.load(os.fsdecode(name))


def test_an_unknown_method_is_refused_until_the_layout_is_named(deepseek):
    path, codes, _ = deepseek
    before = octavo.checkpoint.open(path)
    name = before.layers[0]
    for method, said in (("fp9", '"fp9"'), (5, "5, not a string")):
        (path / "config.json").write_text(json.dumps({"quantization_config": {"quant_method": method}}))
        with pytest.raises(octavo.FileError, match="quant_method is " + said) as refused:
            octavo.checkpoint.open(path)
        for words in ("cannot read", "deepseek (quant_method fp8, mxfp8)", "layout= in Python"):
            assert words in str(refused.value)
        opened = octavo.checkpoint.open(path, layout="deepseek")
        assert opened.layout == "deepseek" and opened[name] == before[name]
    with pytest.raises(octavo.FormatError, match='unknown layout "deepsek"; available: fp8, deepseek'):
        octavo.checkpoint.open(path, "deepsek")


def native_f4(path, method):
    """F4 elements beside F8_E8M0 scales, and a configuration that may name a method."""
    codes = np.arange(2 * 32, dtype=np.uint8).reshape(2, 32)
    scales = np.array([127, 128, 126, 127], np.uint8)
    path.mkdir()
    write(path / "model.safetensors", {}, {"a.weight": ("F4", [2, 64], codes.tobytes()),
                                           "a.weight_scale": ("F8_E8M0", [2, 2], scales.tobytes())})
    config = {"model_type": "llama"} | ({"quantization_config": {"quant_method": method}} if method else {})
    (path / "config.json").write_text(json.dumps(config))
    unpacked = np.stack([codes & 15, codes >> 4], -1).reshape(2, 64)
    values = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], np.float32)[unpacked]
    return values * np.repeat(2.0 ** (scales.reshape(2, 2).astype(int) - 127), 32, 1)


@pytest.mark.parametrize("method", [None, "mxfp4", "compressed-tensors", "fp8", "octavo"])
def test_native_elements_are_known_by_their_dtypes(tmp_path, method):
    values = native_f4(tmp_path / "model", method)
    opened = octavo.checkpoint.open(tmp_path / "model")
    assert opened.layout == "native" and opened.layers == ["a.weight"]
    assert isinstance(opened["a.weight"], octavo.ScaledTensor)
    assert np.array_equal(opened.dequantize("a.weight"), values)
    found = [finding.rule for finding in opened.findings]
    assert found == ([] if method in (None, "octavo") else ["configuration-mismatch"])
    linted = [finding.rule for finding in octavo.checkpoint.lint(tmp_path / "model")]
    assert set(found) <= set(linted)


def test_codes_that_no_layer_claims_are_refused(tmp_path):
    """As octavo checkpoint dequantize refuses them: a method that is known, over tensors that are not its own."""
    tensors = {"a.weight": np.zeros((4, 64), np.uint8), "a.exponents": np.zeros((4, 2), np.uint8)}
    (tmp_path / "model").mkdir()
    write(tmp_path / "model/model.safetensors", tensors)
    (tmp_path / "model/config.json").write_text(json.dumps({"quantization_config": {"quant_method": "mxfp4"}}))
    with pytest.raises(octavo.FileError, match="a[.](exponents|weight).*no quantized layers in layout gpt-oss"):
        octavo.checkpoint.open(tmp_path / "model")


def test_it_is_an_attribute_of_the_package_and_imported_when_it_is_asked_for():
    run = subprocess.run([sys.executable, "-c", """
import sys, octavo
assert "octavo.checkpoint" not in sys.modules and "checkpoint" in dir(octavo)
assert octavo.checkpoint.open is sys.modules["octavo.checkpoint"].open
try:
    octavo.chekpoint
except AttributeError as error:
    assert "'octavo' has no attribute 'chekpoint'" in str(error)
else:
    raise SystemExit("no error")
"""], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
