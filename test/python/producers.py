"""Small checkpoints as producers write them whose names, packing or order of scales are their own, and
the values that they stand for: codes by ml_dtypes, everything else by NumPy from the producers' sources."""
import json
import struct

import ml_dtypes
import numpy as np

E4M3 = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
E5M2 = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e5m2).astype(np.float64)
E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])
BITS = {"U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F4": 4, "U32": 32, "I32": 32, "F32": 32,
        "BF16": 16, "F16": 16, "I64": 64, "I16": 16}


def bf16(values):
    return np.asarray(values, np.float32).astype(ml_dtypes.bfloat16)


def entry(dtype, shape, data):
    raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
    assert len(raw) * 8 == BITS[dtype] * int(np.prod(shape, dtype=np.int64)), (dtype, shape)
    return dtype, list(shape), raw


def of(dtype, array):
    return entry(dtype, np.shape(array), array)


def f32(values):
    return of("F32", np.asarray(values, np.float32))


def save(folder, tensors, config=None, metadata=None, file="model.safetensors", others=()):
    folder.mkdir(parents=True)
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    (folder / file).write_bytes(struct.pack("<Q", len(text)) + text + data)
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    for name, body in dict(others).items():
        (folder / name).write_text(json.dumps(body))
    return folder


def low_first(codes):
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def high_first(codes):
    return (codes[..., 0::2] << 4 | codes[..., 1::2]).astype(np.uint8)


def tiled(scales):
    """cuBLAS: 128 x 4 tiles, row of tiles after row of tiles, each [row % 32][row / 32][column], padded with 0."""
    rows, columns = scales.shape
    padded = np.zeros((-(-rows // 128) * 128, -(-columns // 4) * 4), scales.dtype)
    padded[:rows, :columns] = scales
    parts = padded.reshape(padded.shape[0] // 128, 4, 32, padded.shape[1] // 4, 4)
    return np.ascontiguousarray(parts.transpose(0, 3, 2, 1, 4)).reshape(padded.shape)


def blocks(scales, across, along, shape):
    return np.repeat(np.repeat(scales, across, -2), along, -1)[..., :shape[-2], :shape[-1]]


class Source:
    """Random codes and scales of one model, under a seed."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def fp8(self, *shape):
        codes = self.random.integers(0, 256, shape).astype(np.uint8)
        codes[codes & 127 == 127] = 0x38  # no NaN
        return codes

    def fp4(self, *shape):
        return self.random.integers(0, 16, shape).astype(np.uint8)

    def float_scales(self, *shape):
        return (self.random.uniform(.5, 2, shape) / 4096).astype(np.float32)

    def e4m3_scales(self, *shape):
        return self.random.integers(0x20, 0x70, shape).astype(np.uint8)

    def e8m0_scales(self, *shape):
        return self.random.integers(100, 125, shape).astype(np.uint8)

    def plain(self, *shape):
        return bf16(self.random.normal(0, .05, shape))


def config(**more):
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
            "tie_word_embeddings": False, "torch_dtype": "bfloat16", **more}


def value(table, codes, *scales):
    """One product of doubles, rounded once; the last scale may be a number of f32."""
    result = table[codes]
    for scale in scales:
        result = result * np.asarray(scale, np.float64)
    return result.astype(np.float32)


def nvfp4(source, rows, columns):
    codes, scales = source.fp4(rows, columns), source.e4m3_scales(rows, columns // 16)
    return codes, scales, np.repeat(E4M3[scales], 16, 1)


def mx(source, rows, columns, element=4):
    codes = source.fp4(rows, columns) if element == 4 else source.fp8(rows, columns)
    scales = source.e8m0_scales(rows, columns // 32)
    return codes, scales, np.repeat(np.ldexp(1., scales.astype(int) - 127), 32, 1)


def comfy(folder, seed, kind, rows=192, columns=96, said="header"):
    """ComfyUI: kind is nvfp4, mxfp8, float8_e4m3fn, float8_e5m2, or scaled (the first files' names)."""
    source, tensors, wanted, layers = Source(seed), {}, {}, {}
    for module in ("model.diffusion_model.blocks.0.attn.qkv", "model.diffusion_model.blocks.1.mlp.fc1"):
        if kind == "nvfp4":
            codes, scales, grid = nvfp4(source, rows, columns)
            outer = source.float_scales()
            tensors |= {module + ".weight": of("U8", high_first(codes)),
                        module + ".weight_scale": of("F8_E4M3", tiled(scales)),
                        module + ".weight_scale_2": f32(outer)}
            wanted[module + ".weight"] = value(E2M1, codes, grid, outer)
        elif kind == "mxfp8":
            codes, scales, grid = mx(source, rows, columns, 8)
            tensors |= {module + ".weight": of("F8_E4M3", codes),
                        module + ".weight_scale": of(source.random.choice(["U8", "F8_E8M0"]), tiled(scales))}
            wanted[module + ".weight"] = value(E4M3, codes, grid)
        else:
            codes, scale = source.fp8(rows, columns), source.float_scales()
            is5 = kind == "float8_e5m2"
            codes = codes & 0x5F | codes & 0x80 if is5 else codes
            tensors[module + ".weight"] = of("F8_E5M2" if is5 else "F8_E4M3", codes)
            if kind == "scaled":
                tensors |= {module + ".scale_weight": f32([scale]), module + ".scale_input": f32([.02])}
            else:
                tensors[module + ".weight_scale"] = f32(scale)
            wanted[module + ".weight"] = value(E5M2 if is5 else E4M3, codes, scale)
        layers[module] = {"format": kind}
        if said == "markers":
            text = json.dumps({"format": kind}).encode()
            tensors[module + ".comfy_quant"] = entry("U8", [len(text)], text)
        bias = source.plain(rows)
        tensors[module + ".bias"] = of("BF16", bias)
        wanted[module + ".bias"] = bias.astype(np.float32)
    metadata = {"_quantization_metadata": json.dumps({"format_version": "1.0", "layers": layers})}
    if kind == "scaled":
        tensors["scaled_fp8"] = entry("F8_E4M3", [2], b"\0\0")
    return save(folder, tensors, None, metadata if said == "header" and kind != "scaled" else None), wanted


def mlx(folder, seed, mode, rows=48, columns=128, key="quantization"):
    source, tensors, wanted = Source(seed), {}, {}
    for module in ("model.embed_tokens", "model.layers.0.mlp.up_proj"):
        if mode == "nvfp4":
            codes, scales, grid = nvfp4(source, rows, columns)
        else:
            codes, scales, grid = mx(source, rows, columns, 4 if mode == "mxfp4" else 8)
        raw = codes if mode == "mxfp8" else low_first(codes)
        tensors |= {module + ".weight": of("U32", raw.reshape(rows, -1, 4).view("<u4")[..., 0]),
                    module + ".scales": of("U8", scales)}
        wanted[module + ".weight"] = value(E4M3 if mode == "mxfp8" else E2M1, codes, grid)
    norm = source.plain(columns)
    tensors["model.norm.weight"] = of("BF16", norm)
    wanted["model.norm.weight"] = norm.astype(np.float32)
    block = {"group_size": 16 if mode == "nvfp4" else 32, "bits": 8 if mode == "mxfp8" else 4, "mode": mode}
    blocks_of = {"quantization": {"quantization": block}, "none": {},
                 "both": {"quantization": block, "quantization_config": block}}[key]
    return save(folder, tensors, config(**blocks_of), {"format": "mlx"}), wanted


def torchao(folder, seed, kind, rows=160, columns=128, swizzled=False):
    """kind: tensor, row, block, group (Float8Tensor), mxfp8, mxfp4 (MXTensor), nvfp4, nvfp4-alone."""
    source, tensors, wanted, metadata = Source(seed), {}, {}, {}
    module = "model.layers.0.mlp.up_proj"
    part = module + "._weight_"
    data = {"is_swizzled_scales": swizzled}
    order = tiled if swizzled else (lambda scales: scales)
    if kind in ("mxfp8", "mxfp4"):
        codes, scales, grid = mx(source, rows, columns, int(kind[-1]))
        tensors |= {part + "qdata": of("F8_E4M3", codes) if kind == "mxfp8" else of("U8", low_first(codes)),
                    part + "scale": of("F8_E8M0", order(scales))}
        wanted[module + ".weight"] = value(E4M3 if kind == "mxfp8" else E2M1, codes, grid)
        type_, data["block_size"] = "MXTensor", 32
    elif kind.startswith("nvfp4"):
        codes, scales, grid = nvfp4(source, rows, columns)
        outer = source.float_scales() if kind == "nvfp4" else np.float32(1)
        tensors |= {part + "qdata": of("U8", low_first(codes)), part + "scale": of("F8_E4M3", order(scales))}
        if kind == "nvfp4":
            tensors[part + "per_tensor_scale"] = f32(outer)
        wanted[module + ".weight"] = value(E2M1, codes, grid, outer)
        type_, data["block_size"] = "NVFP4Tensor", 16
    else:
        across, along = {"tensor": (rows, columns), "row": (1, columns), "block": (128, 128), "group": (1, 64)}[kind]
        codes = source.fp8(rows, columns)
        scales = source.float_scales(-(-rows // across), -(-columns // along))
        tensors |= {part + "qdata": of("F8_E4M3", codes), part + "scale": f32(scales)}
        wanted[module + ".weight"] = value(E4M3, codes, blocks(scales, across, along, codes.shape))
        type_, data["block_size"] = "Float8Tensor", [across, along]
        del data["is_swizzled_scales"]
    norm = source.plain(columns)
    tensors["model.norm.weight"] = of("BF16", norm)
    wanted["model.norm.weight"] = norm.astype(np.float32)
    names = [name.split("._weight_")[1] for name in tensors if "._weight_" in name]
    metadata[module + ".weight"] = json.dumps({"_type": type_, "_data": data, "_tensor_data_names": names})
    metadata["model.norm.weight"] = json.dumps({"_type": "Tensor"})
    metadata["tensor_names"] = json.dumps([module + ".weight", "model.norm.weight"])
    return save(folder, tensors, config(), metadata), wanted


def fp8_names(folder, seed, kind, rows=48, columns=64):
    """FP8 with one scale, under the names of: mistral (params.json), mistral-hf (BF16), mistral-hf-f32, mistral-hf-scale,
    trtllm, transformer-engine."""
    source, tensors, wanted = Source(seed), {}, {}
    names = {"mistral": (".qscale_weight", ".qscale_act"), "mistral-hf": (".weight_scale_inv", ".activation_scale"),
             "mistral-hf-f32": (".weight_scale_inv", ".activation_scale"),
             "mistral-hf-scale": (".weight_scale", ".activation_scale"),
             "trtllm": (".weights_scaling_factor", ".activation_scaling_factor"),
             "transformer-engine": (".weight._scale_inv", None)}[kind]
    for module in ("layers.0.attention.wq", "layers.0.feed_forward.w1"):
        codes, scale, act = source.fp8(rows, columns), source.float_scales(), np.float32(.0123)
        put = (lambda x: of("BF16", bf16(x))) if kind in ("mistral", "mistral-hf") else (lambda x: f32([x]) if kind[0] == "t" else f32(x))
        scale = np.float32(bf16(scale)) if kind in ("mistral", "mistral-hf") else scale
        tensors |= {module + ".weight": of("F8_E4M3", codes), module + names[0]: put(scale)}
        if names[1]:
            tensors[module + names[1]] = put(act)
        wanted[module + ".weight"] = value(E4M3, codes, scale)
    block = {"quant_method": "fp8", "activation_scheme": "static", "weight_block_size": None,
             "modules_to_not_convert": []}
    if kind.startswith("mistral-hf"):
        return save(folder, tensors, config(quantization_config=block)), wanted
    return save(folder, tensors, None, None, "consolidated.safetensors", {"params.json": {"dim": columns}}), wanted


def quark_blocks(folder, seed, size=(128, 128), scale="F32", key="model.layers.*.self_attn.*"):
    source, tensors, wanted = Source(seed), {}, {}
    mxfp4 = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "ch_axis": -1, "scale_format": "e8m0",
             "is_dynamic": False}
    spec = {"dtype": "fp8_e4m3", "qscheme": "per_block", "block_size": list(size), "ch_axis": None,
            "group_size": None, "is_dynamic": False, "symmetric": True}
    module = "model.layers.0.self_attn.q_proj"
    codes = source.fp8(160, 192)
    grid = (-(-160 // size[0]), -(-192 // size[1]))
    if scale == "F32":
        scales = source.float_scales(*grid)
        tensors[module + ".weight_scale"] = f32(scales)
    else:
        powers = source.e8m0_scales(*grid)
        tensors[module + ".weight_scale"] = of(scale, powers)
        scales = np.ldexp(1., powers.astype(int) - 127)
    tensors[module + ".weight"] = of("F8_E4M3", codes)
    wanted[module + ".weight"] = value(E4M3, codes, blocks(scales, *size, codes.shape))
    module = "model.layers.0.mlp.up_proj"
    codes, scales, grid = mx(source, 32, 64)
    tensors |= {module + ".weight": of("U8", low_first(codes)), module + ".weight_scale": of("U8", scales)}
    wanted[module + ".weight"] = value(E2M1, codes, grid)
    quantization = {"quant_method": "quark", "global_quant_config": {"weight": mxfp4, "input_tensors": None},
                    "exclude": ["lm_head"], "layer_quant_config": {key: {"weight": spec, "input_tensors": None}},
                    "layer_type_quant_config": {}, "export": {"kv_cache_group": []}}
    return save(folder, tensors, config(quantization_config=quantization)), wanted


def quark_nvfp4(folder, seed):
    """FP4 under FP8 scales that have a scale of their own (Quark's SequentialRealQuantizer)."""
    source, module = Source(seed), "model.layers.0.mlp.up_proj"
    codes, scales, grid = nvfp4(source, 32, 64)
    outer = np.float32(bf16(source.float_scales()))
    weight = [{"dtype": "fp4", "qscheme": "per_group", "group_size": 16, "ch_axis": -1, "scale_format": None,
               "is_dynamic": False, "is_scale_quant": False},
              {"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": False, "is_scale_quant": True}]
    quantization = {"quant_method": "quark", "global_quant_config": {"weight": weight, "input_tensors": None},
                    "exclude": ["lm_head"], "layer_quant_config": {}, "layer_type_quant_config": {}, "export": {}}
    return save(folder, {module + ".weight": of("U8", low_first(codes)), module + ".weight_scale": of("F8_E4M3", scales),
                         module + ".weight_scale_2": of("BF16", bf16(outer))},
                config(quantization_config=quantization)), {module + ".weight": value(E2M1, codes, grid, outer)}


def modelopt_blocks(folder, seed, algorithm, name="weight_scale_inv", rank4=False):
    source, tensors, wanted, layers = Source(seed), {}, {}, {}
    for module in (f"model.layers.0.block_sparse_moe.experts.{i}.w1" for i in range(2)):
        codes, scales = source.fp8(256, 128), source.float_scales(2, 1)
        tensors |= {module + ".weight": of("F8_E4M3", codes),
                    f"{module}.{name}": f32(scales.reshape(2, 1, 1, 1) if rank4 else scales)}
        wanted[module + ".weight"] = value(E4M3, codes, blocks(scales, 128, 128, codes.shape))
        layers[module] = {"quant_algo": algorithm}
    quantization = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers,
                    "ignore": [], "producer": {"name": "modelopt", "version": "0.46.0"}}
    return save(folder, tensors, config(quantization_config=quantization)), wanted


def deepseek_fp4(folder, seed, group, scale=".scale"):
    source, module = Source(seed), "layers.0.ffn.experts.0.w1"
    codes, powers = source.fp4(32, 256), source.e8m0_scales(32, 256 // group)
    quantization = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": [128, 128]}
    return save(folder, {module + ".weight": of("I8", low_first(codes)),
                         module + (scale if scale == ".scale" else ".weight_scale_inv"): of("F8_E8M0", powers)},
                config(quantization_config=quantization, expert_dtype="fp4")), {
        module + ".weight": value(E2M1, codes, np.repeat(np.ldexp(1., powers.astype(int) - 127), group, 1))}


def fused_parts(folder, seed, kind):
    """One scale for each projection of a fused weight: qkv (16 * 4 + 2 * 16 * 2 rows), gate-up, experts."""
    source = Source(seed)
    block = {"quant_method": "fp8", "activation_scheme": "dynamic", "ignored_layers": []}
    if kind == "experts":
        codes, scales = source.fp8(3, 32, 64), source.float_scales(3, 2)
        names = ("model.layers.0.mlp.experts.gate_up_proj", "model.layers.0.mlp.experts.gate_up_proj_scale")
        grid = np.repeat(scales, 16, 1)[..., None]
    else:
        sizes = (64, 32, 32) if kind == "qkv" else (48, 48)
        codes, scales = source.fp8(sum(sizes), 64), source.float_scales(len(sizes))
        name = "model.layers.0.self_attn.qkv_proj" if kind == "qkv" else "model.layers.0.mlp.gate_up_proj"
        names = (name + ".weight", name + ".weight_scale")
        grid = np.repeat(scales, sizes)[:, None]
    return save(folder, {names[0]: of("F8_E4M3", codes), names[1]: f32(scales)},
                config(quantization_config=block)), {names[0]: value(E4M3, codes, grid)}
