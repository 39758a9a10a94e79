"""Modules that readers treat by their names: what `octavo checkpoint quantize` shares, leaves and refuses, with
amaxes by NumPy; and configurations of many parts, whose old description of the quantization no output keeps."""
import json
import pathlib

import ml_dtypes
import numpy as np
import pytest

import checkpoint_model as model
import checkpoints as cp
from checkpoints import L0, UP
from commands import as_json, octavo, tensors_of

PAGE = pathlib.Path(__file__).parents[2] / "docs/commands/checkpoint-quantize.md"

# Families as docs/commands/checkpoint-quantize.md lists them: what is before the module, and the members.
FUSED = [
    ("self_attn", ["q_proj", "k_proj", "v_proj"]), ("attention", ["wq", "wk", "wv"]),
    ("attention.self", ["query", "key", "value"]), ("mlp", ["gate_proj", "up_proj"]), ("mlp", ["c_fc_0", "c_fc_1"]),
    ("mlp.experts.3", ["w1", "w3"]), ("mlp.experts.12", ["gate_proj", "up_proj"]),
    ("self_attn", ["q_a_proj", "kv_a_proj_with_mqa"]), ("attn", ["wq_a", "wkv"]), ("attention", ["wq_a", "wkv_a_with_mqa"]),
    ("attn.compressor", ["wkv", "wgate"]), ("linear_attn", ["in_proj_qkv", "in_proj_z"]),
    ("linear_attn", ["in_proj_b", "in_proj_a"]), ("attn1", ["to_q", "to_k", "to_v"]),
    ("attn", ["add_q_proj", "add_k_proj", "add_v_proj"])]
WIDE = ["mlp.gate", "block_sparse_moe.gate", "mlp.gate.wg", "mlp.router_linear", "mlp.gate_linear", "router.proj",
        "feed_forward.router", "mixer.gate", "mlp.shared_expert_gate", "mlp.moe_gate", "self_attn.indexer.weights_proj",
        "self_attn.indexer.wk", "eh_proj", "shared_head.head"]
LINEAR = ["moe.gate_proj", "self_attn.indexer.wq_b", "linear_attn.out_proj", "attn.wq_b", "mlp.down_proj"]


def matrices(names, seed=3):
    """Each of another size, so that amaxes differ."""
    random = np.random.default_rng(seed)
    return {f"{name}.weight": (random.normal(0, 0.05, (64, 64)) * (i + 1)).astype(ml_dtypes.bfloat16)
            for i, name in enumerate(names)}


def write(folder, tensors, config=None):
    folder.mkdir()
    cp.write_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(config or {"model_type": "x"}))
    return folder


def quantize(source, out, format, *more, layout="compressed-tensors", code=0):
    return octavo("quantize", source, "-o", out, "--layout", layout, "--format", format, *more, code=code)


@pytest.mark.parametrize("parent, members", FUSED, ids=["-".join(members) for _, members in FUSED])
def test_fused_projections_share_the_outer_scale(tmp_path, parent, members):
    names = [f"model.layers.0.{parent}.{member}" for member in members]
    source = write(tmp_path / "in", matrices([*names, "model.layers.0.mlp.down_proj"]))
    quantize(source, tmp_path / "out", "nvfp4", "--weight-only")
    plain, made = tensors_of(source), tensors_of(tmp_path / "out")
    amax = max(np.abs(plain[name + ".weight"].astype(np.float32)).max() for name in names)
    assert {float(made[name + ".weight_global_scale"][0]) for name in names} == {
        float(np.float32(2688) / np.float32(amax))}
    own = np.abs(plain["model.layers.0.mlp.down_proj.weight"].astype(np.float32)).max()
    assert float(made["model.layers.0.mlp.down_proj.weight_global_scale"][0]) == float(
        np.float32(2688) / np.float32(own))
    findings = as_json("lint", tmp_path / "out")["findings"]
    assert [f for f in findings if f["severity"] != "note"] == []


def test_cross_attention_has_other_inputs(tmp_path):
    """In diffusers' second attention queries are of the image and keys of the text: no reader fuses them."""
    source = write(tmp_path / "in", matrices(["blocks.0.attn2.to_q", "blocks.0.attn2.to_k"]))
    quantize(source, tmp_path / "out", "nvfp4", "--weight-only")
    made = tensors_of(tmp_path / "out")
    assert made["blocks.0.attn2.to_q.weight_global_scale"] != made["blocks.0.attn2.to_k.weight_global_scale"]


@pytest.mark.parametrize("layout, format", [("compressed-tensors", "fp8_row"), ("deepseek", "fp8_block"),
                                            ("modelopt", "nvfp4"), ("quark", "mxfp4")])
def test_what_readers_keep_wide_is_left_and_listed(tmp_path, layout, format):
    wide = [f"model.layers.0.{name}" for name in WIDE] + ["lm_head", "mtp.fc", "output", "head"]
    linear = [f"model.layers.0.{name}" for name in LINEAR]
    source = write(tmp_path / "in", matrices(wide + linear + ["model.embed_tokens", "tok_emb"]))
    quantize(source, tmp_path / "out", format, "--weight-only", layout=layout)
    report = as_json("inspect", tmp_path / "out", "--tensors")
    text = json.dumps(report)
    made = tensors_of(tmp_path / "out")
    for name in wide:
        assert made[name + ".weight"].dtype == ml_dtypes.bfloat16, name
    for name in linear:
        assert f"{name}.weight" not in made or made[name + ".weight"].dtype != ml_dtypes.bfloat16, (name, text)
    block = json.loads((tmp_path / "out/config.json").read_text())["quantization_config"]
    (listed,) = [block[key] for key in ("ignore", "modules_to_not_convert", "exclude") if key in block]
    assert set(wide) <= set(listed)


def test_the_page_names_what_is_tried_here():
    text = PAGE.read_text()
    for _, members in FUSED:
        assert all(f"{member}`" in text for member in members), members
    for name in WIDE:
        assert any(f"`{part}`" in text for part in (name, name.split(".", 1)[-1], *name.split("."))), name


@pytest.mark.parametrize("preset, shared", [(None, True), ("compressed-tensors", False), ("quark", False),
                                            ("modelopt", True)])
def test_presets_share_scales_as_their_owners_do(tmp_path, preset, shared):
    """llm-compressor and Quark observe each module; Model-Optimizer's preprocess_linear_fusion takes the maximum."""
    names = [f"model.layers.0.self_attn.{x}_proj" for x in "qkv"]
    source = write(tmp_path / "in", matrices(names))
    quantize(source, tmp_path / "out", "fp8_tensor", *(["--preset", preset] if preset else []), layout="fp8")
    plain, made = tensors_of(source), tensors_of(tmp_path / "out")
    amaxes = [np.abs(plain[name + ".weight"].astype(np.float32)).max() for name in names]
    scales = [float(made[name + ".weight_scale"]) for name in names]
    if shared:
        assert len(set(scales)) == 1 and abs(scales[0] * 448 / max(amaxes) - 1) < 0.01
    else:
        assert all(abs(scale * 448 / amax - 1) < 0.01 for scale, amax in zip(scales, amaxes)), (scales, amaxes)


# Patterns.

@pytest.mark.parametrize("option", ["--ignore", "--only"])
@pytest.mark.parametrize("pattern", ["lm_haed", "*.q_porj", "re:.*mlp\\.gatte$", "model.layers.7"])
def test_a_pattern_that_names_nothing_stops_before_anything_is_written(tmp_path, option, pattern):
    model.write(tmp_path / "in", model.weights())
    more = ["--only", "*.q_proj"] if option == "--only" else []
    for dry in ([], ["--dry-run"]):
        done = quantize(tmp_path / "in", tmp_path / "out", "fp8_row", option, pattern, *more, *dry, code=3)
        assert f"{option} {pattern} names no weight" in done.stderr and "inspect --tensors" in done.stderr
        assert not (tmp_path / "out").exists()


def test_a_pattern_that_names_no_weight_but_something_is_noted(tmp_path):
    """A norm is there and is never quantized; a head that is tied has no tensor."""
    tensors = model.weights()
    tensors.pop("lm_head.weight", None)
    model.write(tmp_path / "in", tensors)
    done = quantize(tmp_path / "in", tmp_path / "out", "fp8_row", "--ignore", "*.input_layernorm", "--ignore", "lm_head",
                    "--json")
    notes = [note["what"] for note in json.loads(done.stdout)["notes"] if note["rule"] == "unused-pattern"]
    assert notes == ["--ignore *.input_layernorm names no weight", "--ignore lm_head names no weight"]


# Configurations of many parts.

PARTS = ["text_config", "language_config", "llm_config", "thinker_config", "thinker_config.text_config",
         "model_config.decoder.inner"]


def nested(config, path, block):
    """`block` as quantization_config of the part at `path`, and nowhere else."""
    part = config
    for key in path.split("."):
        part = part.setdefault(key, {"hidden_size": 64})
    part["quantization_config"] = block
    return config


def blocks_of(value):
    """All descriptions of a quantization, wherever they are."""
    found = []
    if isinstance(value, dict):
        found += [value[key] for key in ("quantization_config", "compression_config") if key in value]
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        found += blocks_of(each)
    return found


@pytest.mark.parametrize("path", PARTS)
@pytest.mark.parametrize("base", [cp.deepseek, cp.compressed_nvfp4, cp.autofp8], ids=["deepseek", "ct", "fp8"])
def test_no_part_keeps_the_old_description(tmp_path, base, path):
    checkpoint = base()
    block = checkpoint.config.pop("quantization_config")
    nested(checkpoint.config, path, block)
    checkpoint.config["vision_config"] = {"hidden_size": 32}
    folder = checkpoint.write(tmp_path / "in")
    assert block["quant_method"] in as_json("inspect", folder)["reason"], "it is read where it is"
    octavo("dequantize", folder, "-o", tmp_path / "plain")
    plain = json.loads((tmp_path / "plain/config.json").read_text())
    assert blocks_of(plain) == [] and plain["vision_config"] == {"hidden_size": 32}
    assert as_json("lint", tmp_path / "plain")["findings"] == []
    octavo("convert", folder, "-o", tmp_path / "out", "--layout", "quark", "--requantize", "--format", "fp8_row")
    (written,) = blocks_of(json.loads((tmp_path / "out/config.json").read_text()))
    assert written["quant_method"] == "quark"


def test_two_different_descriptions_are_reported_and_neither_is_kept(tmp_path):
    checkpoint = cp.deepseek()
    nested(checkpoint.config, "text_config", {"quant_method": "compressed-tensors", "config_groups": {}})
    folder = checkpoint.write(tmp_path / "in")
    rules = [f["rule"] for f in as_json("lint", folder, code=1)["findings"]]
    assert rules.count("configurations-disagree") == 1
    octavo("dequantize", folder, "-o", tmp_path / "plain")
    assert blocks_of(json.loads((tmp_path / "plain/config.json").read_text())) == []


def test_the_same_description_twice_is_no_disagreement(tmp_path):
    checkpoint = cp.deepseek()
    nested(checkpoint.config, "text_config", dict(checkpoint.quantization))
    assert as_json("lint", checkpoint.write(tmp_path / "in"), "--ignore", "negative-zero")["findings"] == []


@pytest.mark.parametrize("where", ["", "text_config", "language_config"])
def test_the_dtype_of_the_language_model_is_kept_true(tmp_path, where):
    checkpoint = cp.autofp8()
    part = checkpoint.config.setdefault(where, {}) if where else checkpoint.config
    part["torch_dtype"] = "float16"
    checkpoint.config["vision_config"] = {"torch_dtype": "float16"}
    octavo("dequantize", checkpoint.write(tmp_path / "in"), "-o", tmp_path / "out", "--dtype", "f32")
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert (config[where] if where else config)["torch_dtype"] == "float32"
    assert config["vision_config"]["torch_dtype"] == "float16"


@pytest.mark.parametrize("label, stored, wrong", [("fp4", 8, True), ("fp8", 8, False), ("bf16", 8, True)])
@pytest.mark.parametrize("where", ["", "text_config"])
def test_the_label_of_experts_is_held_to_them(tmp_path, label, stored, wrong, where):
    checkpoint = cp.deepseek({"mlp.experts.0.up_proj": (128, 128), "self_attn.q_proj": (128, 128)})
    (checkpoint.config.setdefault(where, {}) if where else checkpoint.config)["expert_dtype"] = label
    folder = checkpoint.write(tmp_path / "in")
    findings = as_json("lint", folder, code=1 if wrong else 0)["findings"]
    assert [f["what"] for f in findings if "expert_dtype" in f["what"]] == (
        [f'expert_dtype is "{label}"; 2 of 2 weights of experts are stored otherwise, the first is fp8_block']
        if wrong else [])
    octavo("dequantize", folder, "-o", tmp_path / "out")
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert (config[where] if where else config).get("expert_dtype") == (label if label == "bf16" else None)


# What a quantizer left, and scales of heads.

def test_buffers_of_the_quantizer_are_in_no_output(tmp_path):
    checkpoint = cp.modelopt_nvfp4()
    expected = {name for name in checkpoint.tensors}
    buffers = [f"{UP}.weight_quantizer._double_scale", f"{UP}.input_quantizer._amax", f"{UP}.weight_observer.max_val",
               L0 + "self_attn.k_bmm_quantizer._amax", f"{UP}._extra_state"]
    for name in buffers:
        checkpoint.tensors[name] = np.float32(0.5).reshape(())
    folder = checkpoint.write(tmp_path / "in")
    found = [f["tensor"] for f in as_json("lint", folder, code=1)["findings"] if f["rule"] == "leaked-quantizer-state"]
    assert sorted(found) == sorted(buffers)
    octavo("convert", folder, "-o", tmp_path / "same", "--layout", "modelopt")
    assert set(tensors_of(tmp_path / "same")) == expected
    done = octavo("dequantize", folder, "-o", tmp_path / "plain")
    assert not set(buffers) & set(tensors_of(tmp_path / "plain")) and "5 buffers of a quantizer" in done.stdout + done.stderr


def test_a_buffer_that_is_the_only_scale_is_none_that_leaked(tmp_path):
    """ModelOpt's compressed weights have no other scales than the quantizer's: nothing is read without them."""
    checkpoint = cp.modelopt_nvfp4()
    for part, buffer in (("weight_scale", "_scale"), ("weight_scale_2", "_double_scale")):
        checkpoint.tensors[f"{UP}.weight_quantizer.{buffer}"] = checkpoint.tensors.pop(f"{UP}.{part}")
    del checkpoint.tensors[UP + ".input_scale"]
    folder = checkpoint.write(tmp_path / "in")
    rules = {f["rule"] for f in as_json("lint", folder, code=1)["findings"]}
    assert "leaked-quantizer-state" not in rules and "missing-scale" in rules
    octavo("dequantize", folder, "-o", tmp_path / "out", code=3)


@pytest.mark.parametrize("layout, says", [("compressed-tensors", True), ("quark", False), ("fp8", False)])
def test_scales_of_heads_stay_scales_of_heads(tmp_path, layout, says):
    checkpoint = cp.compressed_fp8()
    checkpoint.config["num_key_value_heads"] = 2
    checkpoint.quantization["kv_cache_scheme"] = cp.scheme(8, "attn_head", dynamic=False)
    for i in range(2):
        for kind, first in (("k", 0.01), ("v", 0.03)):
            checkpoint.tensors[f"model.layers.{i}.self_attn.{kind}_scale"] = np.array(
                [first, 2 * first], np.float32).reshape(2, 1, 1)
    folder = checkpoint.write(tmp_path / "in")
    assert as_json("lint", folder)["findings"] == []
    format = ["--requantize", "--format", "fp8_tensor"] if layout == "fp8" else []
    done = octavo("convert", folder, "-o", tmp_path / "out", "--layout", layout, *format, "--json")
    notes = [note["rule"] for note in json.loads(done.stdout)["notes"]]
    assert ("kv-scale-per-head" in notes) == (not says)
    scale = next(t for n, t in tensors_of(tmp_path / "out").items() if n.startswith(L0) and t.size == 2 and "k_" in n)
    assert scale.reshape(-1).tolist() == np.array([0.01, 0.02], np.float32).tolist()
    block = json.loads((tmp_path / "out/config.json").read_text())["quantization_config"]
    if says:
        assert block["kv_cache_scheme"]["strategy"] == "attn_head" and scale.shape == (2, 1, 1)
        assert as_json("lint", tmp_path / "out")["findings"] == []
    else:
        assert any(f["rule"] == "kv-scale-per-head" for f in as_json("lint", tmp_path / "out", code=1)["findings"])


@pytest.mark.parametrize("value", [np.inf, 0.0, np.nan])
def test_a_scale_of_activations_is_not_said_to_be_one_of_weights(tmp_path, value):
    """What is told of it, and what to do, is of activations; two that are NaN do not differ."""
    checkpoint = cp.modelopt_nvfp4()
    for name in ("gate_proj", "up_proj"):
        checkpoint.tensors[f"{L0}mlp.{name}.input_scale"] = np.array(value, np.float32)
    findings = as_json("lint", checkpoint.write(tmp_path / "in"), code=1)["findings"]
    assert len(findings) == 2 and all("activations" in f["why"] and "calibrate again" in f["fix"] for f in findings)
    assert all("every value under it" not in f["why"] for f in findings)
