"""What the tests of checkpoint commands share: running one, and reading what it wrote."""
import json
import os
import pathlib
import subprocess

import numpy as np

import checkpoints as cp

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"


def octavo(*arguments, code=0):
    result = subprocess.run([OCTAVO, "checkpoint", *map(str, arguments)], capture_output=True,
                            text=True, timeout=120)
    assert result.returncode == code, (result.stdout, result.stderr)
    return result


def as_json(*arguments, code=0):
    return json.loads(octavo(*arguments, "--json", code=code).stdout)


def write(tmp_path, name, checkpoint):
    return checkpoint.write(tmp_path / name)


def tensors_of(folder):
    return {name: tensor for shard in sorted(folder.glob("*.safetensors"))
            for name, tensor in cp.read_safetensors(shard).items()}


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def dequantized(checkpoint):
    """The weights of an autofp8 or deepseek checkpoint, by hand, in f32."""
    values = {}
    for name, tensor in checkpoint.tensors.items():
        scale = checkpoint.tensors.get(name + "_scale")
        blocks = checkpoint.tensors.get(name + "_scale_inv")
        if scale is not None:
            values[name] = tensor.astype(np.float32) * scale.astype(np.float32)
        elif blocks is not None:
            grid = np.repeat(np.repeat(blocks, 128, 0), 128, 1)
            values[name] = tensor.astype(np.float32) * grid[:tensor.shape[0], :tensor.shape[1]]
        elif "scale" not in name:
            values[name] = tensor.astype(np.float32)
    return values
