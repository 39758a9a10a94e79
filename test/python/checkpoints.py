"""Small quantized checkpoints, written byte by byte with NumPy and ml_dtypes alone, so that tests can
break them in any way."""
import json
import struct

import ml_dtypes
import numpy as np

DTYPES = {
    "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "F64": np.float64,
    "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
    "F8_E8M0": ml_dtypes.float8_e8m0fnu,
    "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "F8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "U8": np.uint8, "I8": np.int8, "I32": np.int32, "I64": np.int64,
}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
E4M3 = ml_dtypes.float8_e4m3fn
BF16 = ml_dtypes.bfloat16


def header_of(tensors):
    """The entries of a safetensors header, and the data behind it."""
    entries, data = {}, b""
    for name, tensor in tensors.items():
        dtype, shape, raw = tensor if isinstance(tensor, tuple) else (
            NAMES[tensor.dtype], list(tensor.shape), tensor.tobytes())
        entries[name] = {"dtype": dtype, "shape": shape,
                         "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    return entries, data


def write_raw(path, header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_safetensors(path, tensors):
    write_raw(path, *header_of(tensors))


def read_safetensors(path):
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    tensors = {}
    for name, entry in json.loads(raw[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(raw[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


class Checkpoint:
    """Tensors by name, a configuration, and the shard that each tensor goes to."""

    def __init__(self, tensors, config, shards=2):
        self.tensors, self.config, self.shards = tensors, config, shards
        self.quant_config = None
        self.index = {}  # what is written over the index
        self.moved = {}  # name -> number of the shard

    @property
    def quantization(self):
        return self.config["quantization_config"]

    def shard_of(self, name):
        default = sorted(self.tensors).index(name) * self.shards // len(self.tensors)
        return self.moved.get(name, default)

    @staticmethod
    def shard_name(i, n):
        return "model.safetensors" if n == 1 else f"model-{i + 1:05}-of-{n:05}.safetensors"

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        places = {name: self.shard_name(self.shard_of(name), self.shards)
                  for name in sorted(self.tensors)}
        for i in range(self.shards):
            shard = self.shard_name(i, self.shards)
            write_safetensors(folder / shard, {name: self.tensors[name]
                                               for name in places if places[name] == shard})
        if self.shards > 1:
            total = sum(len(header_of({name: t})[1]) for name, t in self.tensors.items())
            index = {"metadata": {"total_size": total}, "weight_map": places} | self.index
            (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        if self.config is not None:
            (folder / "config.json").write_text(json.dumps(self.config))
        if self.quant_config is not None:
            (folder / "hf_quant_config.json").write_text(json.dumps(self.quant_config))
        return folder


# Names in the checkpoints below.
L0, L1 = "model.layers.0.", "model.layers.1."
UP, DOWN = L0 + "mlp.up_proj", L0 + "mlp.down_proj"
KV0, KV1 = L0 + "self_attn.", L1 + "self_attn."

SHAPES = {"self_attn.q_proj": (64, 64), "self_attn.k_proj": (64, 64), "self_attn.v_proj": (64, 64),
          "self_attn.o_proj": (64, 64), "mlp.gate_proj": (128, 64), "mlp.up_proj": (128, 64),
          "mlp.down_proj": (64, 128)}


def plain(layers=2, shapes=SHAPES, seed=7):
    """Normal weights of size 0.05, as bf16."""
    random = np.random.default_rng(seed)
    tensors = {"model.embed_tokens.weight": random.normal(0, 0.05, (96, 64)),
               "lm_head.weight": random.normal(0, 0.05, (96, 64)),
               "model.norm.weight": np.ones(64)}
    for layer in range(layers):
        for name, shape in shapes.items():
            tensors[f"model.layers.{layer}.{name}.weight"] = random.normal(0, 0.05, shape)
        tensors[f"model.layers.{layer}.input_layernorm.weight"] = np.ones(64)
    return {name: tensor.astype(BF16) for name, tensor in tensors.items()}


def is_linear(name):
    return name.endswith("_proj.weight")


def plain_checkpoint(**arguments):
    return Checkpoint(plain(**arguments), {"model_type": "llama"})


def autofp8(static=True, kv=True):
    """AutoFP8: one f32 scale a tensor; q, k and v share theirs, as do gate and up."""
    tensors = plain()
    for name in list(tensors):
        if not is_linear(name):
            continue
        weight = tensors[name].astype(np.float32)
        module = name.removesuffix(".weight")
        parent, last = module.rsplit(".", 1)
        mates = {"q_proj": "qkv", "k_proj": "qkv", "v_proj": "qkv", "gate_proj": "gu",
                 "up_proj": "gu"}.get(last)
        scale = np.float32(0.25 / 448 if mates else np.abs(weight).max() / 448)
        tensors[name] = np.clip(weight / scale, -448, 448).astype(E4M3)
        tensors[module + ".weight_scale"] = scale.reshape(())
        if static:
            tensors[module + ".input_scale"] = np.float32(0.02).reshape(())
        if kv and last == "k_proj":
            tensors[parent + ".k_scale"] = np.float32(0.03).reshape(())
            tensors[parent + ".v_scale"] = np.float32(0.01).reshape(())
    quantization = {"quant_method": "fp8", "activation_scheme": "static" if static else "dynamic",
                    "ignored_layers": ["lm_head"]}
    if kv:
        quantization["kv_cache_scheme"] = "static"
    return Checkpoint(tensors, {"model_type": "llama", "quantization_config": quantization})


def deepseek(shapes=None):
    """128 x 128 blocks with weight_scale_inv, which multiplies."""
    shapes = shapes or {name: (256, 128) for name in SHAPES}
    tensors = plain(shapes=shapes)
    for name in list(tensors):
        if not is_linear(name):
            continue
        weight = tensors[name].astype(np.float32)
        rows, columns = (-(-extent // 128) for extent in weight.shape)
        scales = np.zeros((rows, columns), np.float32)
        codes = np.zeros(weight.shape, E4M3)
        for i in range(rows):
            for j in range(columns):
                at = np.s_[128 * i:128 * (i + 1), 128 * j:128 * (j + 1)]
                scales[i, j] = np.abs(weight[at]).max() / 448
                codes[at] = (weight[at] / scales[i, j]).astype(E4M3)
        tensors[name] = codes
        tensors[name.removesuffix(".weight") + ".weight_scale_inv"] = scales
    return Checkpoint(tensors, {"model_type": "deepseek_v3", "quantization_config": {
        "quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3",
        "weight_block_size": [128, 128]}})


def scheme(bits, strategy, **more):
    return {"num_bits": bits, "type": "float", "symmetric": True, "strategy": strategy} | more


def compressed(format_name, weights, activations, tensors):
    return Checkpoint(tensors, {"model_type": "llama", "quantization_config": {
        "quant_method": "compressed-tensors", "format": format_name,
        "quantization_status": "compressed", "ignore": ["lm_head"], "kv_cache_scheme": None,
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights,
                                      "input_activations": activations,
                                      "output_activations": None}}}})


def compressed_fp8():
    """compressed-tensors FP8_DYNAMIC: bf16 scales of rows."""
    tensors = plain()
    for name in list(tensors):
        if is_linear(name):
            weight = tensors[name].astype(np.float32)
            scale = (np.abs(weight).max(1, keepdims=True) / 448).astype(BF16)
            tensors[name] = np.clip(weight / scale.astype(np.float32), -448, 448).astype(E4M3)
            tensors[name + "_scale"] = scale
    return compressed("float-quantized", scheme(8, "channel", dynamic=False),
                      scheme(8, "token", dynamic=True), tensors)


E2M1_VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)


def to_e2m1(values):
    """Codes of the nearest values."""
    codes = np.abs(np.abs(values)[..., None] - E2M1_VALUES).argmin(-1).astype(np.uint8)
    return codes | (np.signbit(values).astype(np.uint8) << 3)


def pack4(codes):
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def compressed_nvfp4(outer=None):
    """compressed-tensors NVFP4A16: a global scale that divides, shared by q, k, v and by gate, up."""
    tensors = plain()
    for name in list(tensors):
        if not is_linear(name):
            continue
        weight = tensors.pop(name).astype(np.float32)
        module = name.removesuffix(".weight")
        fused = module.rsplit(".", 1)[1] in ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj")
        amax = 0.25 if fused else np.abs(weight).max()
        divisor = np.float32(2688 / amax)
        blocks = weight.reshape(weight.shape[0], -1, 16)
        scale = (np.abs(blocks).max(-1) / 6 * divisor).astype(E4M3)
        codes = to_e2m1(blocks * divisor / scale.astype(np.float32)[..., None])
        tensors[module + ".weight_packed"] = pack4(codes.reshape(weight.shape))
        tensors[module + ".weight_scale"] = scale
        tensors[module + ".weight_global_scale"] = divisor.reshape(1)
    weights = scheme(4, "tensor_group", group_size=16, dynamic=False)
    return compressed("nvfp4-pack-quantized", weights, None, tensors)


def compressed_mxfp8():
    """compressed-tensors MXFP8A16: E8M0 scales in U8."""
    tensors = plain()
    for name in list(tensors):
        if is_linear(name):
            weight = tensors[name].astype(np.float32)
            blocks = weight.reshape(weight.shape[0], -1, 32)
            exponent = np.floor(np.log2(np.abs(blocks).max(-1))).astype(int) - 8
            scaled = np.clip(blocks / 2.0 ** exponent[..., None], -448, 448)
            tensors[name] = scaled.astype(E4M3).reshape(weight.shape)
            tensors[name + "_scale"] = (exponent + 127).astype(np.uint8)
    weights = scheme(8, "group", group_size=32, dynamic=False, scale_dtype="torch.uint8")
    return compressed("mxfp8-quantized", weights, None, tensors)


def compressed_blocks(shapes=None):
    """compressed-tensors FP8_BLOCK: DeepSeek's blocks under the name weight_scale."""
    tensors = {name.replace("weight_scale_inv", "weight_scale"): tensor
               for name, tensor in deepseek(shapes).tensors.items()}
    return compressed("float-quantized",
                      scheme(8, "block", block_structure=[128, 128], dynamic=False),
                      scheme(8, "group", group_size=128, dynamic=True), tensors)


def store_natively(checkpoint):
    """The matrices as F4 under F8_E8M0 scales of 1, without a word in the configuration."""
    for name in filter(is_linear, list(checkpoint.tensors)):
        codes = to_e2m1(checkpoint.tensors[name].astype(np.float32))
        rows, columns = codes.shape
        checkpoint.tensors[name] = ("F4", [rows, columns], pack4(codes).tobytes())
        checkpoint.tensors[name + "_scale"] = ("F8_E8M0", [rows, columns // 32], bytes([127]) * (rows * columns // 32))


def compressed_groups():
    """One f32 scale for 128 columns, of which the last group has 96."""
    shapes = {name: (128, 480) for name in SHAPES}
    tensors = plain(shapes=shapes)
    for name in filter(is_linear, list(tensors)):
        weight = np.pad(tensors[name].astype(np.float32), ((0, 0), (0, 32))).reshape(128, 4, 128)
        scale = (np.abs(weight).max(2) / np.float32(448)).astype(np.float32)
        codes = (weight / scale[:, :, None]).astype(E4M3).reshape(128, 512)[:, :480]
        tensors[name], tensors[name + "_scale"] = codes.copy(), scale
    return compressed("float-quantized", scheme(8, "group", group_size=128), None, tensors)


def modelopt_nvfp4():
    """ModelOpt NVFP4: the outer scale multiplies, and inputs have one too."""
    tensors = {}
    for name, tensor in compressed_nvfp4().tensors.items():
        if name.endswith("weight_global_scale"):
            module = name.removesuffix(".weight_global_scale")
            tensors[module + ".weight_scale_2"] = (1 / tensor).reshape(())
            tensors[module + ".input_scale"] = np.float32(0.002).reshape(())
        else:
            tensors[name.replace("weight_packed", "weight")] = tensor
    checkpoint = Checkpoint(tensors, {"model_type": "llama", "quantization_config": {
        "quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"],
        "producer": {"name": "modelopt", "version": "0.47"},
        "config_groups": {"group_0": {
            "weights": {"dynamic": False, "num_bits": 4, "type": "float", "group_size": 16},
            "input_activations": {"dynamic": False, "num_bits": 4, "type": "float",
                                  "group_size": 16},
            "targets": ["Linear"]}}}})
    checkpoint.quant_config = {"producer": {"name": "modelopt", "version": "0.47"},
                               "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": None,
                                                "group_size": 16, "exclude_modules": ["lm_head"]}}
    return checkpoint
