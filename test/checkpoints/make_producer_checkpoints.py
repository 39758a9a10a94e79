"""Makes the small checkpoints beside it by running their producers, on a CPU.

    python -m venv v && v/bin/pip install torch transformers compressed-tensors==0.20.0 \
        nvidia-modelopt==0.47.0 amd-quark==0.13
    v/bin/python make_producer_checkpoints.py compressed-tensors|modelopt|quark

A checkpoint is NAME/ (model.safetensors, config.json, hf_quant_config.json); the values that its
producer says it has are NAME.expected.safetensors. The files hold a part of a tiny random model:
what one projection of each kind needs, and a plain tensor.
"""
import contextlib
import copy
import json
import pathlib
import shutil
import sys

import torch
from safetensors import safe_open
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent
KEPT = ("k_proj.", "v_proj.v_scale", "v_proj.output_scale", "layers.0.input_layernorm.")


def keep(name, expected):
    """Cuts a checkpoint of the tiny model down to KEPT, and stores what its values are."""
    folder = HERE / name
    for extra in [p for p in folder.iterdir() if p.name not in
                  ("model.safetensors", "config.json", "hf_quant_config.json")]:
        shutil.rmtree(extra) if extra.is_dir() else extra.unlink()
    path = folder / "model.safetensors"
    with safe_open(path, "pt") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys() if any(k in key for k in KEPT)}
    path.unlink()
    save_file(tensors, path)
    expected = {key: value.float().contiguous() for key, value in expected.items()
                if key.endswith("k_proj.weight")}
    assert len(expected) == 1, name
    save_file(expected, HERE / f"{name}.expected.safetensors")
    print(name, {key: (value.dtype, tuple(value.shape)) for key, value in tensors.items()})


def tiny_llama(hidden):
    import transformers
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        architectures=["LlamaForCausalLM"], hidden_size=hidden, intermediate_size=hidden,
        num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1, head_dim=32,
        vocab_size=16, max_position_embeddings=32, tie_word_embeddings=False)
    return transformers.LlamaForCausalLM(config).to(torch.bfloat16).eval()


def compressed_tensors():
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import (QuantizationConfig, apply_quantization_config,
                                                 preset_name_to_scheme)
    from compressed_tensors.quantization.utils.helpers import calculate_qparams, generate_gparam

    class Tiny(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.k_proj = torch.nn.Linear(64, 32, bias=False)
            self.gate = torch.nn.Linear(64, 4, bias=False)

    def extremes(weight, args):
        rows, columns = weight.shape
        if args.strategy == "tensor":
            return weight.min().reshape(1), weight.max().reshape(1)
        if args.strategy == "channel":
            return weight.amin(1, keepdim=True), weight.amax(1, keepdim=True)
        if args.strategy == "block":
            a, b = args.block_structure
            blocks = weight.reshape(rows // a, a, columns // b, b)
            return blocks.amin((1, 3)), blocks.amax((1, 3))
        groups = weight.reshape(rows, columns // args.group_size, args.group_size)
        return groups.amin(-1), groups.amax(-1)

    for preset in ("FP8", "FP8_DYNAMIC", "FP8_BLOCK", "NVFP4", "NVFP4A16", "MXFP4", "MXFP6A16",
                   "MXFP8"):
        torch.manual_seed(1)
        model = Tiny().to(torch.bfloat16)
        scheme = preset_name_to_scheme(preset, ["Linear"])
        if preset == "FP8_BLOCK":
            scheme.weights.block_structure = [16, 32]
        apply_quantization_config(
            model, QuantizationConfig(config_groups={"group_0": scheme}, ignore=["re:.*gate"]))
        layer, args, outer = model.k_proj, model.k_proj.quantization_scheme.weights, None
        if hasattr(layer, "weight_global_scale"):
            outer = generate_gparam(layer.weight.min(), layer.weight.max())
            layer.weight_global_scale.data = outer.reshape(1).float()
        scale, _ = calculate_qparams(*extremes(layer.weight, args), args, global_scale=outer)
        layer.weight_scale.data = scale.reshape(layer.weight_scale.shape).to(torch.bfloat16)
        for name, value in (("input_scale", 0.03125), ("input_global_scale", 840.0)):
            if hasattr(layer, name):
                getattr(layer, name).data.fill_(value)
        compressor = ModelCompressor.from_pretrained_model(model)
        compressor.compress_model(model)
        name = f"compressed-tensors-{preset.lower()}"
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        save_file({k: v.contiguous() for k, v in model.state_dict().items() if "gate" not in k},
                  folder / "model.safetensors")
        (folder / "config.json").write_text('{"model_type": "tiny"}')
        compressor.update_config(str(folder))
        compressor.decompress_model(model)
        keep(name, {"k_proj.weight": model.k_proj.weight.detach()})


def modelopt():
    import modelopt.torch.quantization as mtq
    from modelopt.torch.export import export_hf_checkpoint
    from modelopt.torch.quantization.qtensor import FP8QTensor, MXFP8QTensor, NVFP4QTensor

    def real(name, file, shape):
        codes, scale = file.get_tensor(name), file.get_tensor(name + "_scale")
        if codes.dtype == torch.uint8:
            return NVFP4QTensor(shape, torch.float32, codes).dequantize(
                scale=scale, double_scale=file.get_tensor(name + "_scale_2"), block_sizes={-1: 16})
        if scale.dtype == torch.float32:
            return FP8QTensor(shape, torch.float32, codes).dequantize(scale=scale)
        return MXFP8QTensor(shape, torch.float32, codes).dequantize(scale=scale)

    for name, config, hidden in (("fp8", "FP8_DEFAULT_CFG", 64),
                                 ("fp8_pc_pt", "FP8_PER_CHANNEL_PER_TOKEN_CFG", 64),
                                 ("fp8_pb_wo", "FP8_2D_BLOCKWISE_WEIGHT_ONLY_CFG", 256),
                                 ("nvfp4", "NVFP4_DEFAULT_CFG", 64),
                                 ("mxfp8", "MXFP8_DEFAULT_CFG", 64)):
        model = tiny_llama(hidden)
        config = copy.deepcopy(getattr(mtq, config))
        if name == "fp8":
            config["quant_cfg"] = [*config["quant_cfg"], *mtq.FP8_KV_CFG["quant_cfg"]] \
                if isinstance(config["quant_cfg"], list) \
                else {**config["quant_cfg"], **mtq.FP8_KV_CFG["quant_cfg"]}
        ids = torch.arange(16).reshape(1, 16)
        mtq.quantize(model, config, forward_loop=lambda m: m(ids))
        shapes = {n + ".weight": m.weight.shape for n, m in model.named_modules()
                  if hasattr(m, "weight_quantizer")}
        expected = {}
        for module_name, module in model.named_modules():
            if hasattr(module, "weight_quantizer") and module.weight_quantizer.is_enabled:
                with contextlib.suppress(Exception):  # NVFP4 and MXFP8 fake-quantize on GPUs only
                    expected[module_name + ".weight"] = module.weight_quantizer(
                        module.weight.float()).detach().clone()
        folder = HERE / f"modelopt-{name}"
        export_hf_checkpoint(model, export_dir=str(folder))
        if name in ("nvfp4", "mxfp8", "fp8"):  # the export gives q, k, v one FP8 scale
            with safe_open(folder / "model.safetensors", "pt") as file:
                expected = {key: real(key, file, shapes[key]) for key in shapes
                            if key in file.keys() and key + "_scale" in file.keys()}
        keep(f"modelopt-{name}", expected)


def quark():
    import quark.torch.quantization.config.config as qc
    from quark.torch import ModelQuantizer, export_safetensors

    def spec(kind, **options):
        return getattr(qc, kind)(**options).to_quantization_spec()

    def tensor8():
        return spec("FP8E4M3PerTensorSpec", observer_method="min_max", is_dynamic=False)

    def mx(kind, dynamic=False):
        return spec(f"OCP_MX{kind}Spec", ch_axis=-1, is_dynamic=dynamic)

    def layer(weight, inputs=None, outputs=None):
        return qc.QLayerConfig(weight=weight, input_tensors=inputs, output_tensors=outputs)

    def kv():
        return {name: layer(tensor8(), tensor8(), tensor8()) for name in ("*k_proj", "*v_proj")}

    cases = {
        "fp8": lambda: qc.QConfig(
            global_quant_config=layer(tensor8(), tensor8()), layer_quant_config=kv(),
            kv_cache_quant_config=kv(), kv_cache_group=["*k_proj", "*v_proj"],
            exclude=["lm_head"]),
        "fp8_channel": lambda: qc.QConfig(
            global_quant_config=layer(
                spec("FP8E4M3PerChannelSpec", is_dynamic=False, ch_axis=0),
                spec("FP8E4M3PerChannelSpec", is_dynamic=True, ch_axis=1)), exclude=["lm_head"]),
        "mxfp4": lambda: qc.QConfig(global_quant_config=layer(mx("FP4"), mx("FP4", True)),
                                    exclude=["lm_head"]),
        "mxfp6_e2m3": lambda: qc.QConfig(global_quant_config=layer(mx("FP6E2M3")),
                                         exclude=["lm_head"]),
        "mxfp6_e3m2": lambda: qc.QConfig(global_quant_config=layer(mx("FP6E3M2")),
                                         exclude=["lm_head"]),
    }
    for name, make in cases.items():
        quantizer = ModelQuantizer(make())
        model = quantizer.quantize_model(tiny_llama(64), [torch.arange(16).reshape(1, 16)])
        model = quantizer.freeze(model)
        expected = {n + ".weight": m.get_quant_weight(m.weight).detach().clone()
                    for n, m in model.named_modules() if hasattr(m, "get_quant_weight")}
        with torch.no_grad():
            export_safetensors(model, str(HERE / f"quark-{name}"))
        keep(f"quark-{name}", expected)


if __name__ == "__main__":
    {"compressed-tensors": compressed_tensors, "modelopt": modelopt, "quark": quark}[sys.argv[1]]()
