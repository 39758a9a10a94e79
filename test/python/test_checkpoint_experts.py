"""Stacked experts as ModelOpt exports those of Llama 4 and gpt-oss: bytes [E, K / 2, N] packed along
K, scales [E, K / 16, N], outer and input scales of all experts or one an expert. Expected values
are computed here, number by number, with ml_dtypes alone."""
import json

import numpy as np
import pytest

import checkpoints as cp
from commands import octavo, tensors_of

EXPERTS = "model.layers.0.feed_forward.experts."
E, N, K = 3, 24, 64


def experts(outer_shape=(), input_shape=()):
    """A checkpoint, and the values of its weights as the model has them, [E, K, N]."""
    random = np.random.default_rng(5)
    tensors, values = cp.plain(), {}
    for name in list(tensors):
        if cp.is_linear(name):
            del tensors[name]
    for parameter in ("gate_up_proj", "down_proj"):
        codes = random.integers(0, 16, (E, K, N)).astype(np.uint8)
        scales = random.uniform(1, 400, (E, K // 16, N)).astype(np.float32).astype(cp.E4M3)
        outer = random.uniform(1e-5, 1e-4, outer_shape).astype(np.float32)
        name = EXPERTS + parameter
        tensors[name] = codes[:, 0::2] | codes[:, 1::2] << 4
        tensors[name + "_weight_scale"] = scales
        tensors[name + "_weight_scale_2"] = np.asarray(outer, np.float32)
        tensors[name + "_input_scale"] = np.full(input_shape, 0.002, np.float32)
        sign = np.where(codes & 8, -1, 1).astype(np.float32)
        element = sign * cp.E2M1_VALUES[codes & 7]
        scale = np.repeat(scales.astype(np.float32), 16, axis=1)
        # A product of three: the outer scale enters last or first within one rounding of f32.
        values[name] = (element * scale).astype(np.float64) * np.broadcast_to(
            np.asarray(outer, np.float64).reshape(-1, 1, 1), (E, 1, 1))
    checkpoint = cp.Checkpoint(tensors, {"model_type": "llama4", "torch_dtype": "bfloat16"})
    checkpoint.quant_config = {
        "producer": {"name": "modelopt", "version": "0.47"},
        "quantization": {"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": None,
                         "exclude_modules": ["lm_head"]}}
    return checkpoint, values


SCALES = pytest.mark.parametrize("scales", [(), (E,)], ids=["of all", "of each"])


@SCALES
def test_inspect_and_lint_read_them(tmp_path, scales):
    folder = experts(scales, scales)[0].write(tmp_path / "experts")
    report = json.loads(octavo("inspect", folder, "--json").stdout)
    assert report["layout"] == "modelopt"
    findings = json.loads(octavo("lint", folder, "--json", "--fail-on", "warning").stdout)["findings"]
    assert findings == []


@SCALES
def test_dequantized_they_have_the_models_axes(tmp_path, scales):
    checkpoint, values = experts(scales, scales)
    folder = checkpoint.write(tmp_path / "experts")
    octavo("dequantize", folder, "-o", tmp_path / "plain", "--dtype", "f32")
    plain = tensors_of(tmp_path / "plain")
    for name, expected in values.items():
        assert plain[name].shape == (E, K, N)
        np.testing.assert_allclose(plain[name], expected, rtol=3e-7)
    same = {weight["name"]: weight for weight in json.loads(
        octavo("diff", folder, tmp_path / "plain", "--json", code=1).stdout)["weights"]}
    for name in values:
        assert same[name]["sameness"] == "equal values", same[name]


@SCALES
def test_to_another_layout_and_back_they_are_the_same_bytes(tmp_path, scales):
    folder = experts(scales, scales)[0].write(tmp_path / "experts")
    octavo("convert", folder, "-o", tmp_path / "native", "--layout", "native")
    same = {weight["name"]: weight for weight in json.loads(
        octavo("diff", folder, tmp_path / "native", "--json", code=1).stdout)["weights"]}
    assert same[EXPERTS + "down_proj"]["sameness"] == "equal values"
    octavo("convert", tmp_path / "native", "-o", tmp_path / "back", "--layout", "modelopt")
    # One input scale of a module cannot be that of two stacks: native has no place for them.
    original = {name: tensor for name, tensor in tensors_of(folder).items()
                if not name.endswith("input_scale")}
    back = tensors_of(tmp_path / "back")
    assert sorted(original) == sorted(back)
    for name, tensor in original.items():
        assert tensor.dtype == back[name].dtype and tensor.shape == back[name].shape, name
        assert tensor.tobytes() == back[name].tobytes(), name


def gpt_oss(folder):
    """Experts in blocks, as gpt-oss is published; no scale is one that a block's amax would not give."""
    random = np.random.default_rng(4)
    tensors = {name: tensor for name, tensor in cp.plain().items() if not cp.is_linear(name)}
    for parameter, (n, k) in {"gate_up_proj": (96, 64), "down_proj": (64, 64)}.items():
        name = "model.layers.0.mlp.experts." + parameter
        tensors[name + "_blocks"] = random.integers(0, 256, (E, n, k // 32, 16)).astype(np.uint8)
        tensors[name + "_scales"] = random.integers(115, 125, (E, n, k // 32)).astype(np.uint8)
    return cp.Checkpoint(tensors, {"model_type": "gpt_oss", "quantization_config": {
        "quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}}).write(folder)


@pytest.mark.parametrize("layout", ["compressed-tensors", "quark"])
@pytest.mark.parametrize("anew", [(), ("--requantize", "--format", "mxfp4")], ids=["kept", "anew"])
def test_a_layout_of_single_experts_takes_no_stack(tmp_path, layout, anew):
    folder, out = gpt_oss(tmp_path / "experts"), tmp_path / "out"
    refused = octavo("convert", folder, "-o", out, "--layout", layout, *anew, code=3).stderr
    for words in (f"2 of 2 layers do not have the shape that layout {layout} stores", "with each expert separate",
                  "down_proj and 1 more: stacked experts, which this layout stores one by one",
                  "choose a --layout that stores them in mxfp4: gpt-oss, native",
                  "`octavo checkpoint dequantize` gives plain weights"):
        assert words in refused, refused
    assert not out.exists()
    # What the message names can be done; the plain stacks are left where they are asked for.
    octavo("dequantize", folder, "-o", tmp_path / "plain")
    refused = octavo("quantize", tmp_path / "plain", "-o", out, "--layout", layout, "--format", "mxfp4",
                     "--only", "*experts*", code=3).stderr
    assert "2 left (stacked experts, which this layout stores one by one)" in refused, refused


@pytest.mark.parametrize("layout, listed", [
    ("compressed-tensors", lambda config: config["ignore"]), ("quark", lambda config: config["exclude"]),
    ("fp8", lambda config: config["ignored_layers"])])
def test_stacks_and_routers_that_stay_plain_are_named(tmp_path, layout, listed):
    """By module, as vLLM's lists have it, and once: its experts' two stacks are one module there."""
    mlp = "model.layers.0.mlp."
    tensors = cp.plain() | {mlp + "experts." + name: np.ones((E, 64, 128), cp.BF16)
                            for name in ("gate_up_proj", "down_proj")}
    routers = [mlp + "gate", mlp + "router", mlp + "router.layer", mlp + "shared_expert_gate"]
    tensors |= {name + ".weight": np.ones((1, 128), cp.BF16) for name in routers}
    tensors[mlp + "shared_expert.gate_proj.weight"] = np.ones((8, 128), cp.BF16)  # no router
    folder, out = cp.Checkpoint(tensors, {"model_type": "qwen3_moe"}).write(tmp_path / "plain"), tmp_path / "out"
    summary = json.loads(octavo("quantize", folder, "-o", out, "--layout", layout, "--format", "fp8_tensor",
                                "--json").stdout)
    left = {entry["name"]: entry["why"] for entry in summary["left"]}
    assert {left[name + ".weight"] for name in routers} == {"a router: small, and sensitive"}
    assert mlp + "shared_expert.gate_proj.weight" not in left
    config = json.loads((out / "config.json").read_text())["quantization_config"]
    assert sorted(listed(config)) == sorted(["lm_head", mlp + "experts", *routers])
    assert json.loads(octavo("lint", out, "--json", "--for", "vllm", "--fail-on", "never").stdout)["findings"] == []
    octavo("convert", out, "-o", tmp_path / "quark", "--layout", "quark" if layout != "quark" else "fp8")
    config = json.loads((tmp_path / "quark/config.json").read_text())["quantization_config"]
    assert sorted(config.get("exclude") or config["ignored_layers"]) == sorted(["lm_head", mlp + "experts", *routers])


def test_a_module_with_one_stack_of_two_quantized_is_not_named(tmp_path):
    checkpoint, values = experts()
    tensors = {name: value.astype(np.float32) for name, value in values.items()}
    folder = cp.Checkpoint(tensors, {"model_type": "llama4"}).write(tmp_path / "plain")
    octavo("quantize", folder, "-o", tmp_path / "out", "--layout", "modelopt", "--format", "nvfp4", "--weight-only",
           "--only", "*.down_proj")
    config = json.loads((tmp_path / "out/config.json").read_text())["quantization_config"]
    assert config["ignore"] == []


@pytest.mark.parametrize("source", ["compressed-tensors", "quark"])
def test_gpt_oss_takes_no_matrix(tmp_path, source):
    folder, out = cp.plain_checkpoint().write(tmp_path / "plain"), tmp_path / "out"
    octavo("quantize", folder, "-o", tmp_path / "from", "--layout", source, "--format", "mxfp4")
    refused = octavo("convert", tmp_path / "from", "-o", out, "--layout", "gpt-oss", code=3).stderr
    for words in ("14 of 14 layers do not have the shape that layout gpt-oss stores", "in one tensor [E, N, K]",
                  "not one of the stacked experts that this layout quantizes",
                  "in mxfp4: compressed-tensors, quark, native"):
        assert words in refused, refused
    refused = octavo("quantize", folder, "-o", out, "--layout", "gpt-oss", "--format", "mxfp4", "--only",
                     "*mlp*", code=3).stderr
    assert "6 left (not one of the stacked experts that this layout quantizes)" in refused, refused
    assert not out.exists()


def test_gpt_oss_to_native_and_back_with_the_models_axes(tmp_path):
    """down_proj is square, as in the published models: a swap of its axes would go unnoticed by its shape."""
    folder = gpt_oss(tmp_path / "experts")
    octavo("convert", folder, "-o", tmp_path / "native", "--layout", "native")
    octavo("verify", tmp_path / "native", "--against", folder)
    for name in ("experts", "native"):
        octavo("dequantize", tmp_path / name, "-o", tmp_path / f"{name}-plain")
    first, second = (tensors_of(tmp_path / f"{name}-plain") for name in ("experts", "native"))
    assert sorted(first) == sorted(second) and all(first[n].tobytes() == second[n].tobytes() for n in first)
    octavo("quantize", tmp_path / "native-plain", "-o", tmp_path / "again", "--layout", "native", "--format", "mxfp4",
           "--only", "*experts*")
    octavo("verify", tmp_path / "again", "--against", tmp_path / "native-plain")
    octavo("convert", tmp_path / "native", "-o", tmp_path / "back", "--layout", "gpt-oss")
    first, second = tensors_of(folder), tensors_of(tmp_path / "back")
    assert sorted(first) == sorted(second) and all(first[n].tobytes() == second[n].tobytes() for n in first)


def test_quantized_they_are_written_so(tmp_path):
    checkpoint, values = experts()
    tensors = {name: tensor for name, tensor in checkpoint.tensors.items()
               if not name.startswith(EXPERTS)}
    for name, value in values.items():
        tensors[name] = value.astype(np.float32)
    folder = cp.Checkpoint(tensors, {"model_type": "llama4"}).write(tmp_path / "plain")
    out = tmp_path / "out"
    octavo("quantize", folder, "-o", out, "--layout", "modelopt", "--format", "nvfp4",
           "--weight-only")
    written = tensors_of(out)
    name = EXPERTS + "gate_up_proj"
    assert written[name].shape == (E, K // 2, N)
    assert written[name + "_weight_scale"].shape == (E, K // 16, N)
    assert written[name + "_weight_scale_2"].shape == ()
    octavo("verify", out, "--against", folder)
    octavo("diff", folder, out, "--tolerance", "0.2")
