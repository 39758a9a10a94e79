"""What octavo cannot read or does not apply is named and refused, not left out: tensors beside a weight
that change its values, transforms at run time, formats and producers of others. And activations stay
what they are, layer by layer, where the new layout can say it. Checkpoints are made by hand, as the
producers write them."""
import json

import ml_dtypes
import numpy as np
import pytest

import checkpoints as cp
from checkpoints import BF16, DOWN, E4M3, UP
from commands import as_json, octavo, tensors_of, write


def refused(folder, tmp_path, *words):
    for command in (("dequantize",), ("convert", "--layout", "compressed-tensors", "--requantize", "--format",
                                      "mxfp8_e4m3")):
        said = octavo(command[0], folder, "-o", tmp_path / "out", *command[1:], code=3).stderr
        assert all(word in said for word in words), said
        assert not (tmp_path / "out").exists()


def rules(folder):
    findings = json.loads(octavo("lint", folder, "--json", "--fail-on", "never").stdout)["findings"]
    return {finding["rule"] for finding in findings if finding["severity"] != "note"}


def in_groups(order):
    """FP8 in groups of 32 columns, as compressed-tensors has them with actorder."""
    checkpoint = cp.compressed_fp8()
    for name in [name for name in checkpoint.tensors if name.endswith("weight_scale")]:
        groups = checkpoint.tensors[name[:-6]].shape[1] // 32
        checkpoint.tensors[name] = np.repeat(checkpoint.tensors[name], groups, 1)
        checkpoint.tensors[name.replace("weight_scale", "weight_g_idx")] = order(np.repeat(np.arange(groups), 32))
    weights = checkpoint.config["quantization_config"]["config_groups"]["group_0"]["weights"]
    weights.update(strategy="group", group_size=32, actorder="group")
    return checkpoint


def with_zero_points(value):
    checkpoint = cp.compressed_fp8()
    for name in [name for name in checkpoint.tensors if name.endswith("weight_scale")]:
        checkpoint.tensors[name.replace("scale", "zero_point")] = np.full(
            checkpoint.tensors[name].shape, value, E4M3)
    return checkpoint


def with_pre_quant_scale(values):
    checkpoint = cp.modelopt_nvfp4()
    checkpoint.tensors[DOWN + ".pre_quant_scale"] = np.asarray(values, BF16)
    return checkpoint


UNAPPLIED = {
    "columns in another order": (lambda: in_groups(lambda g: g[::-1].astype(np.int32)), "weight_g_idx"),
    "columns of 64 bits": (lambda: in_groups(lambda g: g[::-1].astype(np.int64)), "weight_g_idx"),
    "zero points": (lambda: with_zero_points(3), "weight_zero_point"),
    "scale of the input": (lambda: with_pre_quant_scale(np.linspace(.5, 2, 128)), DOWN + ".pre_quant_scale"),
}


@pytest.mark.parametrize("make, name", UNAPPLIED.values(), ids=UNAPPLIED)
def test_tensors_that_are_not_applied(tmp_path, make, name):
    folder = write(tmp_path, "model", make())
    assert "unapplied-tensor" in rules(folder)
    refused(folder, tmp_path, name, "not its codes times its scales", "tool that wrote it")
    found = as_json("diff", folder, write(tmp_path, "same", make()))["weights"]  # as bytes they can be compared
    assert {each["sameness"] for each in found} == {"identical"}


IDLE = {
    "columns in order": lambda: in_groups(lambda g: g.astype(np.int32)),
    "no order set": lambda: in_groups(lambda g: np.full_like(g, -1, np.int32)),
    "zero points of 0": lambda: with_zero_points(0),
    "ones": lambda: with_pre_quant_scale(np.ones(128)),
}


@pytest.mark.parametrize("make", IDLE.values(), ids=IDLE)
def test_tensors_that_change_nothing_are_dropped(tmp_path, make):
    folder = write(tmp_path, "model", make())
    assert "unapplied-tensor" not in rules(folder)
    octavo("dequantize", folder, "-o", tmp_path / "plain")
    names = tensors_of(tmp_path / "plain")
    assert not [name for name in names if name.endswith(("g_idx", "zero_point", "pre_quant_scale"))]
    octavo("verify", tmp_path / "plain", "--against", folder)


def transform(*locations):
    return {"config_groups": {"u": {"type": "hadamard", "apply": [
        {"targets": ["Linear"], "location": location} for location in locations]}}}


@pytest.mark.parametrize("locations, isRefused", [
    (("weight_input", "input"), True), (("output",), True), (("weight_input", "weight_output"), False)])
def test_transforms_at_run_time(tmp_path, locations, isRefused):
    checkpoint = cp.compressed_nvfp4()
    checkpoint.config["quantization_config"]["transform_config"] = transform(*locations)
    folder = write(tmp_path, "model", checkpoint)
    assert ("runtime-transform" in rules(folder)) == isRefused
    if isRefused:
        refused(folder, tmp_path, "transform_config", locations[-1])
    else:
        octavo("dequantize", folder, "-o", tmp_path / "out")


def quark(**more):
    """MXFP4 weights as Quark has them, and what else its configuration says."""
    return {"quant_method": "quark", "exclude": ["lm_head"], "layer_quant_config": {},
            "layer_type_quant_config": {}, "export": {"kv_cache_group": []}, **more}


def quark_tensor(dtype, group=None, dynamic=True):
    return {"dtype": dtype, "is_dynamic": dynamic, "qscheme": "per_group" if group else "per_tensor",
            "ch_axis": -1 if group else None, "group_size": group, "symmetric": None if group else True,
            "scale_format": "e8m0" if group else None}


def quark_mxfp4(tmp_path, inputs, **more):
    plain = write(tmp_path, "plain", cp.plain_checkpoint())
    octavo("quantize", plain, "-o", tmp_path / "quark", "--layout", "quark", "--format", "mxfp4")
    path = tmp_path / "quark/config.json"
    config = json.loads(path.read_text())
    config["quantization_config"] = quark(global_quant_config={
        "weight": quark_tensor("fp4", 32, dynamic=False), "input_tensors": inputs}, **more)
    path.write_text(json.dumps(config))
    if inputs and not inputs["is_dynamic"]:
        for shard in (tmp_path / "quark").glob("*.safetensors"):
            tensors = cp.read_safetensors(shard)
            cp.write_safetensors(shard, tensors | {
                name.replace("weight_scale", "input_scale"): np.asarray(.01, np.float32)
                for name in tensors if name.endswith("weight_scale")})
        (tmp_path / "quark/model.safetensors.index.json").unlink(missing_ok=True)
    return tmp_path / "quark"


@pytest.mark.parametrize("algorithm, isRefused", [
    ({"name": "quarot"}, True), ({"name": "rotation", "online_r1_rotation": True}, True),
    ({"name": "quarot", "r3": False, "r4": False}, False), ({"name": "awq"}, False)])
def test_rotations_of_quark(tmp_path, algorithm, isRefused):
    folder = quark_mxfp4(tmp_path, quark_tensor("fp4", 32), algo_config=[algorithm])
    assert ("runtime-transform" in rules(folder)) == isRefused
    if isRefused:
        refused(folder, tmp_path, "algo_config", algorithm["name"])


def test_formats_and_producers_of_others(tmp_path):
    checkpoint = cp.compressed_fp8()
    weights = checkpoint.config["quantization_config"]["config_groups"]["group_0"]["weights"]
    weights.update(type="int")
    for name in [name for name in checkpoint.tensors if checkpoint.tensors[name].dtype == E4M3]:
        checkpoint.tensors[name] = checkpoint.tensors[name].view(np.int8)
    refused(write(tmp_path, "integers", checkpoint), tmp_path, "config_groups.group_0", "and 13 more")

    gptq = cp.plain_checkpoint()
    gptq.tensors[UP + ".qweight"] = np.zeros((8, 128), np.int32)
    gptq.tensors[UP + ".scales"] = np.ones((1, 128), np.float16)
    del gptq.tensors[UP + ".weight"]
    gptq.config["quantization_config"] = {"quant_method": "gptq", "bits": 4}
    folder = write(tmp_path, "gptq", gptq)
    refused(folder, tmp_path, 'quant_method is "gptq"', "tool that wrote it")
    said = octavo("quantize", folder, "-o", tmp_path / "out", "--layout", "fp8", "--format", "fp8_tensor", code=3)
    assert 'quant_method is "gptq"' in said.stderr
    assert 'quant_method is "gptq"' in octavo("inspect", folder).stdout


def without_zeros(checkpoint, format):
    """Every second weight of a row, as compressed-tensors before 0.12 has sparse ones."""
    for name in [name for name in checkpoint.tensors if cp.is_linear(name)]:
        weight, module = checkpoint.tensors.pop(name), name.removesuffix(".weight")
        rows, columns = weight.shape
        checkpoint.tensors |= {module + ".compressed": np.ascontiguousarray(weight[:, ::2]),
                               module + ".bitmask": np.full((rows, columns // 8), 0x55, np.uint8),
                               module + ".shape": np.array(weight.shape, np.int64)}
    checkpoint.config.setdefault("quantization_config", {
        "quant_method": "compressed-tensors", "format": "dense", "config_groups": {}})
    checkpoint.config["quantization_config"]["sparsity_config"] = {"format": format, "targets": ["Linear"], "ignore": []}
    return checkpoint


@pytest.mark.parametrize("make, format", [(cp.compressed_fp8, "sparse-24-bitmask"), (cp.plain_checkpoint, "sparse-bitmask")])
def test_weights_without_their_zeros(tmp_path, make, format):
    folder = write(tmp_path, "sparse", without_zeros(make(), format))
    assert {"unsupported-format"} <= rules(folder) <= {"unsupported-format", "nothing-quantized"}
    refused(folder, tmp_path, "compressed", "its zeros are left out", format, "and 13 more")
    said = octavo("quantize", folder, "-o", tmp_path / "out", "--layout", "fp8", "--format", "fp8_tensor", code=3)
    assert not (tmp_path / "out").exists() and said.stderr


def test_codes_that_no_layer_claims_are_not_left_alone(tmp_path):
    """A configuration that octavo reads, over tensors of names that it does not."""
    checkpoint = cp.compressed_fp8()
    for name in [name for name in checkpoint.tensors if name.endswith((".weight_scale", "_proj.weight"))]:
        checkpoint.tensors[name.replace(".", "/").replace("_scale", "/scale")] = checkpoint.tensors.pop(name)
    folder = write(tmp_path, "renamed", checkpoint)
    said = octavo("dequantize", folder, "-o", tmp_path / "out", code=3).stderr
    assert "has no quantized layers in layout compressed-tensors" in said and "_proj/weight" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("more", [{}, {"model.position_ids": np.arange(64).reshape(1, 64)}])
def test_a_plain_model_loses_its_configuration(tmp_path, more):
    checkpoint = cp.plain_checkpoint()
    checkpoint.tensors |= more
    checkpoint.config["quantization_config"] = {"quant_method": "compressed-tensors", "config_groups": {}}
    octavo("dequantize", write(tmp_path, "plain", checkpoint), "-o", tmp_path / "out")
    assert "quantization_config" not in json.loads((tmp_path / "out/config.json").read_text())


def activations(folder):
    """Format of the weights -> what becomes of activations."""
    return {use["format"]: use["activations"] for use in as_json("inspect", folder)["formats"]}


@pytest.mark.parametrize("first", ["fp8_row", "mxfp8_e4m3"])
def test_each_layer_keeps_its_activations(tmp_path, first):
    """FP8 with dynamic activations beside MXFP4 with wide ones."""
    plain = write(tmp_path, "plain", cp.plain_checkpoint())
    parts = {}
    for name, flags in {first: ("--only", "*self_attn*"), "mxfp4": ("--only", "*mlp*", "--weight-only")}.items():
        octavo("quantize", plain, "-o", tmp_path / name, "--layout", "compressed-tensors", "--format", name, *flags)
        parts[name] = tensors_of(tmp_path / name), json.loads((tmp_path / name / "config.json").read_text())
    tensors = {name: value for name, value in parts[first][0].items() if ".mlp." not in name} | {
        name: value for name, value in parts["mxfp4"][0].items() if ".mlp." in name}
    config = parts[first][1]
    block = config["quantization_config"]
    groups = [part[1]["quantization_config"]["config_groups"]["group_0"] for part in parts.values()]
    block["config_groups"] = {"group_0": groups[0] | {"targets": ["re:.*self_attn.*"]},
                              "group_1": groups[1] | {"targets": ["re:.*mlp.*"]}}
    block |= {"format": "mixed-precision", "ignore": ["lm_head"]}
    mixed = write(tmp_path, "mixed", cp.Checkpoint(tensors, config))
    expected = {first: "dynamic " + first, "mxfp4": "-"}
    assert activations(mixed) == expected
    for layout in ("compressed-tensors", "quark"):
        summary = as_json("convert", mixed, "-o", tmp_path / layout, "--layout", layout)
        assert activations(tmp_path / layout) == expected and not summary["notes"]
        octavo("verify", tmp_path / layout, "--against", mixed)
    if first == "fp8_row":
        return  # native has it not
    summary = as_json("convert", mixed, "-o", tmp_path / "native", "--layout", "native")
    assert [note["rule"] for note in summary["notes"]] == ["activations-change"]
    assert "dynamic mxfp8_e4m3 become wide ones" in summary["notes"][0]["what"]
    octavo("verify", tmp_path / "native", "--against", mixed)


@pytest.mark.parametrize("inputs, what", [
    (quark_tensor("fp6_e3m2", 32), "dynamic mxfp6_e3m2"),
    (quark_tensor("fp8_e4m3", dynamic=False), "static fp8_tensor"), (None, "-")])
def test_activations_of_another_format_than_the_weights(tmp_path, inputs, what):
    folder = quark_mxfp4(tmp_path, inputs)
    assert activations(folder) == {"mxfp4": what} and not rules(folder)
    summary = as_json("convert", folder, "-o", tmp_path / "again", "--layout", "quark")
    assert activations(tmp_path / "again") == {"mxfp4": what} and not summary["notes"]
    before, after = tensors_of(folder), tensors_of(tmp_path / "again")
    assert all(np.array_equal(after[name], value) for name, value in before.items() if "input_scale" in name)
    # compressed-tensors has no such pair: wide, and said.
    summary = as_json("convert", folder, "-o", tmp_path / "other", "--layout", "compressed-tensors")
    assert activations(tmp_path / "other") == {"mxfp4": "-"}
    assert {note["rule"] for note in summary["notes"]} == {
        "-": set(), "s": {"dropped-input-scale", "activations-change"}, "d": {"activations-change"}}[what[0]]
    assert not [name for name in tensors_of(tmp_path / "other") if "input" in name.rsplit(".", 1)[1]]
    for out in ("again", "other"):
        octavo("verify", tmp_path / out, "--against", folder)


def test_an_input_scale_of_another_format_is_not_taken_for_nvfp4s(tmp_path):
    checkpoint = cp.modelopt_nvfp4()
    for settings in (checkpoint.config["quantization_config"], checkpoint.quant_config["quantization"]):
        settings["quant_algo"] = "W4A8_NVFP4_FP8"
    folder = write(tmp_path, "model", checkpoint)
    assert activations(folder) == {"nvfp4": "static fp8_tensor"}
    for layout in ("compressed-tensors", "modelopt"):
        summary = as_json("convert", folder, "-o", tmp_path / layout, "--layout", layout)
        assert activations(tmp_path / layout) == {"nvfp4": "-"}
        assert {note["rule"] for note in summary["notes"]} >= {"dropped-input-scale", "activations-change"}
        octavo("verify", tmp_path / layout, "--against", folder)


def test_names_come_before_expressions_in_the_targets_of_groups(tmp_path):
    """compressed-tensors utils/match.py: whatever the order of the groups."""
    checkpoint = cp.compressed_fp8()
    groups = checkpoint.config["quantization_config"]["config_groups"]
    fp8 = groups.pop("group_0")
    nvfp4 = {"targets": ["re:.*mlp.*"], "weights": {
        "num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": True}}
    groups |= {"group_0": nvfp4, "group_1": fp8 | {
        "targets": ["re:.*self_attn.*"] + [name[:-7] for name in checkpoint.tensors if name.endswith("_proj.weight")]}}
    assert not rules(write(tmp_path, "model", checkpoint))


def test_expressions_with_look_around_name_what_they_name_in_python(tmp_path):
    """As recipes of llm-compressor have them; the layers that they leave plain are no finding."""
    checkpoint = cp.compressed_fp8()
    for name in [name for name in checkpoint.tensors if "down_proj.weight" in name]:
        del checkpoint.tensors[name]
    plain = {name: tensor for name, tensor in cp.plain().items() if "down_proj" in name}
    checkpoint.tensors |= plain
    block = checkpoint.config["quantization_config"]
    block["ignore"] = ["re:(?!.*(gate|up|q|k|v|o)_proj).*"]
    block["config_groups"]["group_0"]["targets"] = ["re:.*mlp\\.(?!down)", "re:.*self_attn"]
    assert not rules(write(tmp_path, "model", checkpoint))
    block["ignore"] = ["re:(?!.*(gate|down|q|k|v|o)_proj).*"]
    assert rules(write(tmp_path, "model", checkpoint)) == {"ignored-layer-quantized"}


@pytest.mark.parametrize("make, layout", [
    (cp.autofp8, "fp8"), (cp.deepseek, "deepseek"), (cp.compressed_fp8, "compressed-tensors"),
    (cp.compressed_nvfp4, "compressed-tensors"), (cp.compressed_mxfp8, "compressed-tensors")])
@pytest.mark.parametrize("method", ["fp9", "torchao", 5])
def test_a_method_that_is_not_known_stops_until_the_layout_is_named(tmp_path, make, layout, method):
    """Its block is another tool's: no key of it is taken for the one of the layout that the tensors fit."""
    checkpoint = make()
    known = write(tmp_path, "known", checkpoint)
    checkpoint.config["quantization_config"] = {
        "quant_method": method, "quant_type": {"default": {"_type": "Float8WeightOnlyConfig"}}, "ignore": ["x"],
        "modules_to_not_convert": ["y"], "activation_scheme": "z", "config_groups": {"group_0": {"targets": ["z"]}}}
    folder = write(tmp_path, "model", checkpoint)
    assert rules(folder) <= {"unsupported-layout", "ambiguous-layout"}
    words = [f"quant_method is {json.dumps(method)}", "which octavo does not read", "--from LAYOUT"] + [
        f"{name} (quant_method {methods})" for name, methods in [
            ("fp8", "fp8, fbgemm_fp8"), ("deepseek", "fp8, mxfp8"), ("compressed-tensors", "compressed-tensors"),
            ("modelopt", "modelopt"), ("quark", "quark"), ("gpt-oss", "mxfp4"), ("native", "octavo")]]
    refused(folder, tmp_path, *words)
    for command in (["convert", folder, "-o", tmp_path / "out", "--fnuz"], ["verify", folder, "--against", known],
                    ["convert", folder, "-o", tmp_path / "out", "--layout", layout],
                    ["verify", known, "--against", folder]):
        said = octavo(*command, code=3).stderr
        assert all(word in said for word in words), said
    assert not (tmp_path / "out").exists()
    octavo("dequantize", folder, "-o", tmp_path / "plain", "--from", layout)
    octavo("verify", tmp_path / "plain", "--against", known)


def test_e8m0_scales_of_fp8_blocks_widen(tmp_path):
    """DeepSeek's ue8m0 as F8_E8M0: every 2^(b - 127) is an F32."""
    checkpoint = cp.deepseek()
    for name in [name for name in checkpoint.tensors if name.endswith("_scale_inv")]:
        shape = checkpoint.tensors[name].shape
        codes = (120 + np.arange(np.prod(shape)) % 5).astype(np.uint8).reshape(shape)
        checkpoint.tensors[name] = codes.view(ml_dtypes.float8_e8m0fnu)
    checkpoint.config["quantization_config"]["scale_fmt"] = "ue8m0"
    folder = write(tmp_path, "model", checkpoint)
    for layout, name in {"deepseek": "weight_scale_inv", "compressed-tensors": "weight_scale"}.items():
        octavo("convert", folder, "-o", tmp_path / layout, "--layout", layout)
        after = tensors_of(tmp_path / layout)
        for key, value in checkpoint.tensors.items():
            if key.endswith("_scale_inv"):
                found = after[key.replace("weight_scale_inv", name)]
                assert found.dtype in (np.float32, BF16) and np.array_equal(
                    found.astype(np.float32).ravel(), value.astype(np.float32).ravel())
        octavo("verify", tmp_path / layout, "--against", folder)


def without_configuration(checkpoint):
    del checkpoint.config["quantization_config"]
    return checkpoint


def test_codes_that_fit_no_layout_and_no_configuration(tmp_path):
    """Such a checkpoint is not plain: dequantize left the codes in it and reported success."""
    e5m2, narrow, lacking = (without_configuration(each) for each in (cp.autofp8(), cp.deepseek(), cp.autofp8()))
    for name, tensor in e5m2.tensors.items():
        if tensor.dtype == E4M3:
            e5m2.tensors[name] = tensor.astype(np.float32).astype(ml_dtypes.float8_e5m2)
    for name in [name for name in narrow.tensors if name.endswith("_scale_inv")]:
        narrow.tensors[name] = narrow.tensors[name].astype(BF16)
    del lacking.tensors[UP + ".weight_scale"]
    for name, checkpoint in {"e5m2": e5m2, "bf16 scales": narrow, "one lacks its scale": lacking}.items():
        folder = write(tmp_path, name, checkpoint)
        assert "unsupported-layout" in rules(folder), name
        refused(folder, tmp_path, "fit no layout exactly", "--from LAYOUT")
        octavo("quantize", folder, "-o", tmp_path / "out", "--layout", "fp8", "--format", "fp8_tensor", code=3)
    octavo("dequantize", tmp_path / "bf16 scales", "-o", tmp_path / "out", "--from", "deepseek")
    assert not [t for t in tensors_of(tmp_path / "out").values() if t.dtype == E4M3]


@pytest.mark.parametrize("make, weight", [(cp.autofp8, ".weight"), (cp.compressed_nvfp4, ".weight_packed")])
def test_scales_without_their_weight(tmp_path, make, weight):
    """The layer is lost: what is left of it is no model's."""
    checkpoint = make()
    del checkpoint.tensors[cp.UP + weight]
    refused(write(tmp_path, "model", checkpoint), tmp_path, cp.UP + ".weight", "there is no", "again")


def test_a_scale_of_some_input_without_a_weight_stops_nothing(tmp_path):
    checkpoint = cp.autofp8()
    checkpoint.tensors[cp.KV0 + "softmax.input_scale"] = np.float32(1).reshape(())
    folder = write(tmp_path, "model", checkpoint)
    assert rules(folder) == {"orphan-scale"}
    octavo("dequantize", folder, "-o", tmp_path / "out")


def test_a_layout_that_finds_no_layer(tmp_path):
    folder = write(tmp_path, "model", cp.autofp8())
    for layout in ("gpt-oss", "plain"):
        said = octavo("dequantize", folder, "-o", tmp_path / "out", "--from", layout, code=3).stderr
        assert f"no quantized layers in layout {layout}" in said and not (tmp_path / "out").exists()


def test_an_embedding_is_quantized_where_readers_look_for_it_alone(tmp_path):
    plain = write(tmp_path, "plain", cp.plain_checkpoint())
    name = next(name for name in cp.plain() if "embed" in name)
    flags = ("--format", "mxfp4", "--only", name)
    said = octavo("quantize", plain, "-o", tmp_path / "out", "--layout", "quark", *flags, code=3).stderr
    assert "an embedding is looked up" in said and "readers of layout quark" in said
    octavo("quantize", plain, "-o", tmp_path / "native", "--layout", "native", *flags)
    assert activations(tmp_path / "native").keys() == {"mxfp4"}


def test_attention_that_is_called_attn(tmp_path):
    """GPT-2's and DBRX's; and vLLM's own name of the module inside, which is not in the model."""
    checkpoint = cp.autofp8()
    checkpoint.tensors = {name.replace("self_attn", "attn"): tensor for name, tensor in checkpoint.tensors.items()}
    folder = write(tmp_path, "model", checkpoint)
    shown = {scale["name"]: scale["tier"] for scale in as_json("scales", "show", folder)["scales"]}
    assert shown["model.layers.0.attn.k_scale"] == "checkpoint" and "default" not in shown.values()
    octavo("convert", folder, "-o", tmp_path / "out", "--layout", "compressed-tensors")
    names = tensors_of(tmp_path / "out")
    assert {"model.layers.0.attn.k_scale", "model.layers.1.attn.v_scale"} <= names.keys()
    checkpoint.tensors = {name.replace("attn.k_scale", "attn.attn.k_scale"): tensor
                          for name, tensor in checkpoint.tensors.items()}
    shown = {scale["name"]: scale["tier"] for scale in
             as_json("scales", "show", write(tmp_path, "inside", checkpoint))["scales"]}
    assert shown["model.layers.0.attn.k_scale"] == "checkpoint" and "default" not in shown.values()
