"""Parts of quantized weights whose use nothing says, parts that a header lists and the file lacks, and commands
that compare: codes are never taken for values."""
import json

import numpy as np
import pytest

import producers as p
from commands import octavo
from test_checkpoint_producers import LAYERS, READ, check_values, findings, foreign


def with_tensor(folder, name, dtype, shape, raw):
    """Adds a tensor to the only file of a folder."""
    file = next(folder.glob("*.safetensors"))
    stored = file.read_bytes()
    length = int.from_bytes(stored[:8], "little")
    header, data = json.loads(stored[8:8 + length]), stored[8 + length:]
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + data + raw)


@pytest.mark.parametrize("part", ["weight_shift", "weight_offset", "weight_scalar", "weight_bitmask", "weight.lut"])
@pytest.mark.parametrize("name", LAYERS)
def test_parts_of_no_known_use_stop_by_name(tmp_path, name, part):
    """Such as weight_scalar of files with both kinds of scales, or the mask of a sparse weight."""
    make, how, _ = READ[name]
    folder, wanted = make(tmp_path / "model", 15, **how)
    weight = next(weight for weight in wanted if not weight.endswith("bias"))
    module, parameter = weight.rsplit(".", 1)
    with_tensor(folder, module + "." + part.replace("weight", parameter), "F32", [1], b"\0\0\0\x40")
    for command in (("dequantize",), ("convert", "--layout", "native")):
        said = octavo(command[0], folder, "-o", tmp_path / "out", *command[1:], code=3).stderr
        assert part.replace("weight", parameter) in said and not (tmp_path / "out").exists()
    assert "unused-scale" in {finding["rule"] for finding in findings(folder, "error")}


@pytest.mark.parametrize("extra", ["smooth", "channel_factor", "lora_A"])
def test_parameters_of_no_known_use_are_reported(tmp_path, extra):
    folder, wanted = p.fp8_names(tmp_path / "model", 16, "mistral-hf")
    assert "unapplied-tensor" not in {finding["rule"] for finding in findings(folder, "warning")}
    with_tensor(folder, "layers.0.attention.wq." + extra, "F32", [1], b"\0\0\0\x40")
    with_tensor(folder, "layers.0.attention.wq.bias", "F32", [48], bytes(192))
    said = {finding["tensor"] for finding in findings(folder, "warning") if finding["rule"] == "unapplied-tensor"}
    assert said == {"layers.0.attention.wq." + extra}
    check_values(folder, wanted | {"layers.0.attention.wq." + extra: np.full(1, 2, np.float32),
                                   "layers.0.attention.wq.bias": np.zeros(48, np.float32)}, tmp_path)


def test_a_part_that_torchao_lists_must_be_there(tmp_path):
    """Without its outer scale the tensor fits NVFP4 that has none: other values."""
    folder, _ = p.torchao(tmp_path / "model", 17, "nvfp4")
    file = folder / "model.safetensors"
    lost = b"up_proj._weight_per_tensor_scale"
    file.write_bytes(file.read_bytes().replace(lost, b"norm.weight".ljust(len(lost), b"_")))
    said = octavo("dequantize", folder, "-o", tmp_path / "out", code=3).stderr
    assert "_weight_per_tensor_scale" in said and not (tmp_path / "out").exists()
    assert "missing-scale" in {finding["rule"] for finding in findings(folder, "error")}


def test_diff_stops_at_codes_that_are_not_read(tmp_path):
    folder = p.save(tmp_path / "model", foreign("GPTQ"), p.config(quantization_config={"quant_method": "gptq", "bits": 4}))
    plain = p.save(tmp_path / "plain", {"m.weight": p.f32(np.ones((4, 32)))}, p.config())
    for pair in ((folder, folder), (folder, plain), (plain, folder)):
        assert "cannot read" in octavo("diff", *pair, code=3).stderr
    assert "cannot read" in octavo("report", plain, "--against", folder, "-o", tmp_path / "page.html", code=3).stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("lost", ["order", "tensor"])
@pytest.mark.parametrize("kind", ["nvfp4", "mxfp8", "mxfp4"])
def test_torchao_without_its_order_is_asked_about(tmp_path, kind, lost):
    folder, wanted = p.torchao(tmp_path / "model", 23, kind, 128, 128, True)
    file = folder / "model.safetensors"
    raw = file.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + length])
    about = header["__metadata__"]
    name = "model.layers.0.mlp.up_proj.weight"
    if lost == "tensor":
        del about[name]
    else:
        said = json.loads(about[name])
        del said["_data"]["is_swizzled_scales"]
        about[name] = json.dumps(said)
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + raw[8 + length:])
    said = octavo("dequantize", folder, "-o", tmp_path / "out", code=3).stderr
    assert "cuBLAS' tiles" in said and "--allow ambiguous-format" in said and not (tmp_path / "out").exists()
    assert "ambiguous-format" in {finding["rule"] for finding in findings(folder, "error")}
