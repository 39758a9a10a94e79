"""A small model of transformers' names and shapes, with random weights, written as a checkpoint."""

import json

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

LAYERS, HIDDEN, INNER, VOCABULARY = 2, 128, 384, 64


def weights(seed=0, dtype=ml_dtypes.bfloat16):
    """Name -> array, in the order of the model."""
    random = np.random.default_rng(seed)

    def matrix(rows, columns):
        scale = 2.0 ** random.integers(-6, 2, size=(rows, 1))
        return (random.standard_normal((rows, columns)) * scale).astype(np.float32).astype(dtype)

    tensors = {"model.embed_tokens.weight": matrix(VOCABULARY, HIDDEN)}
    for i in range(LAYERS):
        layer = f"model.layers.{i}"
        for name in "qkvo":
            tensors[f"{layer}.self_attn.{name}_proj.weight"] = matrix(HIDDEN, HIDDEN)
        tensors[f"{layer}.self_attn.q_proj.bias"] = matrix(1, HIDDEN)[0]
        for name in ("gate", "up"):
            tensors[f"{layer}.mlp.{name}_proj.weight"] = matrix(INNER, HIDDEN)
        tensors[f"{layer}.mlp.down_proj.weight"] = matrix(HIDDEN, INNER)
        tensors[f"{layer}.input_layernorm.weight"] = np.ones(HIDDEN, dtype)
    tensors["lm_head.weight"] = matrix(VOCABULARY, HIDDEN)
    return tensors


def write(folder, tensors, shards=2, config=None):
    """Tensors dealt out to shards by turns, so that q, k and v of a layer lie apart."""
    folder.mkdir(parents=True)
    names = list(tensors)
    files = {}
    for i in range(shards):
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        part = {name: tensors[name] for name in names[i::shards]}
        safetensors.numpy.save_file(part, folder / file, metadata={"format": "pt"})
        files |= dict.fromkeys(part, file)
    size = sum(tensor.nbytes for tensor in tensors.values())
    index = {"metadata": {"total_size": size}, "weight_map": files}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    model = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16"}
    (folder / "config.json").write_text(json.dumps(model | (config or {})))
    (folder / "tokenizer.json").write_text("{}")


DTYPES = {
    "F32": np.float32,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "F8_E8M0": np.uint8,  # the bytes; ml_dtypes has it, but no arithmetic on it
    "U8": np.uint8,
    "I8": np.int8,
}


def read(folder):
    """Name -> array, of all shards. safetensors.numpy does not read the narrow dtypes."""
    tensors = {}
    for file in sorted(folder.glob("*.safetensors")):
        for name, entry in safetensors.deserialize(file.read_bytes()):
            array = np.frombuffer(bytes(entry["data"]), DTYPES[entry["dtype"]])
            tensors[name] = array.reshape(entry["shape"])
    return tensors
