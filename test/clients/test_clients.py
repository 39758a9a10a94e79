"""Checkpoints between octavo and the libraries that people load them with: transformers and
compressed-tensors read what octavo writes, and octavo reads what compressed-tensors writes, with the
same values. `make clients` runs this; it needs torch, so CI does not.
"""
import json
import os
import pathlib
import subprocess

import compressed_tensors.quantization as ct
import numpy as np
import octavo.checkpoint
import pytest
import torch
import transformers
from compressed_tensors.compressors import ModelCompressor
from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam
from safetensors import safe_open
from safetensors.torch import save_file

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
MINILM = pathlib.Path(os.environ["OCTAVO_MINILM"])
SENTENCE = torch.tensor([[101, 1996, 4937, 4150, 2006, 1996, 13523, 102]])


def octavo_run(*arguments):
    done = subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def values(checkpoint, name):
    return torch.from_numpy(np.array(checkpoint.dequantize(name)))


# (layout, format) that transformers loads on a CPU, and the relative error of its own arithmetic:
# compressed-tensors dequantizes NVFP4 in bf16 (scale / global scale, then times the element).
LOADED = [("compressed-tensors", format, 0) for format in
          ("fp8_tensor", "fp8_row", "fp8_block", "mxfp4", "mxfp8_e4m3")]
LOADED += [("compressed-tensors", "nvfp4", 2.0 ** -7), ("deepseek", "fp8_block", 0)]


@pytest.fixture(scope="module")
def plain():
    return transformers.AutoModel.from_pretrained(MINILM).eval()


@pytest.mark.parametrize("layout, format, tolerance", LOADED)
def test_transformers_loads_what_octavo_writes(tmp_path, plain, layout, format, tolerance):
    octavo_run("checkpoint", "quantize", MINILM, "-o", tmp_path / "out", "--layout", layout, "--format", format)
    options = {"quantization_config": transformers.CompressedTensorsConfig(run_compressed=False)}
    model = transformers.AutoModel.from_pretrained(
        tmp_path / "out", **(options if layout == "compressed-tensors" else {})).eval()
    written, loaded = octavo.checkpoint.open(tmp_path / "out"), model.state_dict()
    layers = set(written.layers)
    assert len(layers) == 37
    for name, found in loaded.items():
        expected = values(written, name)
        bound = tolerance * expected.abs() if name in layers else torch.zeros_like(expected)
        assert ((found.float() - expected).abs() <= bound).all(), name
        assert name not in layers or (expected != plain.state_dict()[name]).any()
    with torch.no_grad():
        ours, theirs = (m.float()(SENTENCE).last_hidden_state.mean(1) for m in (model, plain))
    assert torch.cosine_similarity(ours, theirs).item() > (0.9 if "4" in format.split("_")[0] else 0.99)


@pytest.mark.parametrize("layout, format", [
    ("compressed-tensors", "nvfp4"), ("modelopt", "fp8_row"), ("modelopt", "nvfp4"), ("quark", "mxfp4"),
    ("quark", "mxfp6_e2m3"), ("fp8", "fp8_tensor"), ("deepseek", "fp8_block"), ("native", "mxfp4")])
def test_safetensors_opens_what_octavo_writes(tmp_path, layout, format):
    octavo_run("checkpoint", "quantize", MINILM, "-o", tmp_path / "out", "--layout", layout, "--format", format)
    written = octavo.checkpoint.open(tmp_path / "out")
    with safe_open(tmp_path / "out/model.safetensors", "pt") as file:
        names = set(file.keys())
        for name in written.keys():
            if name not in written.layers:
                assert torch.equal(file.get_tensor(name).float(), values(written, name)), name
    assert len(names) > len(written)  # parts of layers beside them


def tiny_model():
    torch.manual_seed(0)
    config = transformers.BertConfig(hidden_size=128, intermediate_size=256, num_hidden_layers=2,
                                     num_attention_heads=2, vocab_size=64, max_position_embeddings=16)
    return transformers.BertModel(config).to(torch.bfloat16)


def tiny_mixture():
    """Mixtral: experts that are modules one by one in files, of several blocks of every format."""
    torch.manual_seed(0)
    config = transformers.MixtralConfig(
        hidden_size=256, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        head_dim=128, vocab_size=64, max_position_embeddings=16, num_local_experts=4)
    return transformers.MixtralForCausalLM(config).to(torch.bfloat16)


@pytest.mark.parametrize("layout, format, rule", [
    ("compressed-tensors", "fp8_tensor", None), ("compressed-tensors", "fp8_row", None),
    ("compressed-tensors", "mxfp4", None), ("deepseek", "fp8_block", None),
    ("compressed-tensors", "nvfp4", "experts-outer-scales-dropped"),
    ("compressed-tensors", "fp8_group", "experts-blocks-stop"),
    ("compressed-tensors", "fp8_block", "experts-blocks-stop"),
    ("compressed-tensors", "mxfp8_e4m3", "experts-blocks-stop")])
def test_transformers_reads_experts_as_lint_says(tmp_path, layout, format, rule):
    tiny_mixture().save_pretrained(tmp_path / "in")
    octavo_run("checkpoint", "quantize", tmp_path / "in", "-o", tmp_path / "out", "--layout", layout, "--format", format)
    octavo_run("checkpoint", "dequantize", tmp_path / "out", "-o", tmp_path / "plain")
    linted = subprocess.run([OCTAVO, "checkpoint", "lint", tmp_path / "out", "--for", "transformers", "--json"],
                            capture_output=True, text=True)
    assert {f["rule"] for f in json.loads(linted.stdout)["findings"] if f["severity"] != "note"} == {rule} - {None}
    quantization = {"compressed-tensors": transformers.CompressedTensorsConfig(run_compressed=False),
                    "deepseek": transformers.FineGrainedFP8Config(dequantize=True)}[layout]

    def load():
        return transformers.AutoModelForCausalLM.from_pretrained(
            tmp_path / "out", quantization_config=quantization, dtype=torch.bfloat16).state_dict()

    if rule == "experts-blocks-stop":
        with pytest.raises(RuntimeError, match="conversion of the weights"):
            load()
        return
    expected = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "plain", dtype=torch.bfloat16).state_dict()
    errors = {name: ((found.float() - expected[name].float()).abs().max() / expected[name].float().abs().max()).item()
              for name, found in load().items()}
    wrong = {name for name, error in errors.items() if error > 2.0 ** -6}
    assert wrong == (set() if rule is None else {f"model.layers.{i}.mlp.experts.{name}" for i in range(2)
                                                 for name in ("gate_up_proj", "down_proj")})
    assert all(errors[name] > 1000 for name in wrong)


@pytest.mark.parametrize("columns, rules", [(480, {"ragged-groups-refused"}), (512, set())])
def test_transformers_refuses_groups_that_columns_cut_short_as_lint_says(tmp_path, columns, rules):
    torch.manual_seed(0)
    config = transformers.BertConfig(hidden_size=columns, intermediate_size=columns, num_hidden_layers=1,
                                     num_attention_heads=4, vocab_size=64, max_position_embeddings=16)
    transformers.BertModel(config).to(torch.bfloat16).save_pretrained(tmp_path / "in")
    octavo_run("checkpoint", "quantize", tmp_path / "in", "-o", tmp_path / "out", "--layout", "compressed-tensors",
               "--format", "fp8_group", "--weight-only")
    linted = subprocess.run([OCTAVO, "checkpoint", "lint", tmp_path / "out", "--for", "transformers", "--json"],
                            capture_output=True, text=True)
    assert {f["rule"] for f in json.loads(linted.stdout)["findings"] if f["severity"] != "note"} == rules

    def load():
        return transformers.AutoModel.from_pretrained(
            tmp_path / "out", quantization_config=transformers.CompressedTensorsConfig(run_compressed=False))

    if rules:
        with pytest.raises(RuntimeError, match="conversion of the weights"):
            load()
    else:
        load()(torch.tensor([[1, 2, 3]]))


def scales_of(weight, arguments):
    """What an observer of minimum and maximum gives: scale and, for NVFP4, global scale."""
    rows, columns = weight.shape
    strategy = arguments.strategy
    if strategy == "tensor":
        grouped = weight.reshape(1, -1)
    elif strategy == "channel":
        grouped = weight
    elif strategy == "block":
        height, width = arguments.block_structure
        grouped = weight.reshape(rows // height, height, columns // width, width).transpose(1, 2).flatten(2)
    else:
        grouped = weight.reshape(rows, -1, arguments.group_size)
    low, high = grouped.amin(-1), grouped.amax(-1)
    if strategy == "channel":
        low, high = low[:, None], high[:, None]
    shared = generate_gparam(weight.amin(), weight.amax()).reshape(1) if strategy == "tensor_group" else None
    return calculate_qparams(low, high, arguments, global_scale=shared)[0], shared


@pytest.mark.parametrize("preset, format", [("FP8", "fp8_tensor"), ("FP8_DYNAMIC", "fp8_row"), ("FP8_BLOCK", "fp8_block"),
                                            ("NVFP4A16", "nvfp4"), ("MXFP4A16", "mxfp4"), ("MXFP8A16", "mxfp8_e4m3")])
def test_octavo_reads_what_compressed_tensors_writes(tmp_path, preset, format):
    model = tiny_model()
    scheme = ct.preset_name_to_scheme(preset, ["Linear"])
    scheme.input_activations = None
    ct.apply_quantization_config(model, ct.QuantizationConfig(config_groups={"group_0": scheme}))
    for module in model.modules():
        if getattr(module, "quantization_scheme", None):
            scale, shared = scales_of(module.weight.data, scheme.weights)
            module.weight_scale.data.copy_(scale.reshape(module.weight_scale.shape))
            if shared is not None:
                module.weight_global_scale.data.copy_(shared)
    compressor = ModelCompressor.from_pretrained_model(model)
    compressor.compress_model(model)
    save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(model.config.to_json_string(use_diff=False))
    compressor.update_config(tmp_path)

    read = octavo.checkpoint.open(tmp_path)
    assert read.layout == "compressed-tensors" and not [f for f in read.findings if f.severity == "error"]
    assert len(read.layers) == 13 and read[read.layers[0]].format.name == format
    compressor.decompress_model(model)
    for name in read.layers:
        theirs = model.state_dict()[name].float()
        # They multiply in bf16: one rounding of the product, and for NVFP4 one of scale / global.
        bound = 2.0 ** (-7 if format == "nvfp4" else -8) * values(read, name).abs()
        assert ((theirs - values(read, name)).abs() <= bound).all(), name


def test_torch_takes_codes_as_docs_python_says():
    x = np.random.default_rng(0).standard_normal((4, 64), np.float32)
    codes, tensor = octavo.convert(x, "e4m3fn"), octavo.quantize(x, "mxfp8_e4m3")
    wide = octavo.convert(codes, "bf16")
    for given, dtype, expected in (
            (codes.view(np.uint8), torch.float8_e4m3fn, codes), (tensor.codes, torch.float8_e4m3fn, tensor.elements),
            (tensor.scales.view(np.uint8), torch.float8_e8m0fnu, tensor.scales),
            (wide.view(np.int16), torch.bfloat16, wide)):
        found = torch.from_numpy(given).view(dtype)
        assert found.data_ptr() == given.ctypes.data
        np.testing.assert_array_equal(found.float().numpy(), expected.astype(np.float32))


def test_transformers_loads_the_experts_of_gpt_oss_that_octavo_writes(tmp_path):
    """Stacks [E, K, N] of a plain model, as blocks of gpt-oss and back, in transformers' own arithmetic; as
    stacks under other layouts' names they are refused, since it would give them random values."""
    torch.manual_seed(0)
    config = transformers.GptOssConfig(hidden_size=128, intermediate_size=128, num_hidden_layers=1, vocab_size=64,
                                       num_attention_heads=2, num_key_value_heads=2, head_dim=64, num_local_experts=2,
                                       num_experts_per_tok=1)
    transformers.GptOssForCausalLM(config).to(torch.bfloat16).save_pretrained(tmp_path / "plain")
    octavo_run("checkpoint", "quantize", tmp_path / "plain", "-o", tmp_path / "out", "--layout", "gpt-oss",
               "--format", "mxfp4")
    model = transformers.GptOssForCausalLM.from_pretrained(
        tmp_path / "out", quantization_config=transformers.Mxfp4Config(dequantize=True))
    written, loaded = octavo.checkpoint.open(tmp_path / "out"), model.state_dict()
    assert sorted(written.layers) == [f"model.layers.0.mlp.experts.{name}" for name in ("down_proj", "gate_up_proj")]
    for name in written.layers:
        assert torch.equal(loaded[name].float(), values(written, name).transpose(1, 2)), name
    for layout in ("compressed-tensors", "quark"):
        refused = subprocess.run([OCTAVO, "checkpoint", "convert", tmp_path / "out", "-o", tmp_path / layout,
                                  "--layout", layout], capture_output=True, text=True)
        assert refused.returncode == 3 and "stacked experts" in refused.stderr
