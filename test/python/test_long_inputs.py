"""What an input is called or lists may be of any length: commands stay within seconds, and an error
within 2 KB, which says how much it leaves out."""
import json
import os
import pathlib
import re
import struct
import subprocess

import pytest

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
LONGEST = 2048
HUGE = 100_000


def run(*arguments, seconds=60, **environment):
    return subprocess.run([OCTAVO, *arguments], capture_output=True, timeout=seconds,
                          env={**os.environ, **environment})


def write(path, tensors):
    """A safetensors file of `tensors`: name to (dtype, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


ONE = ("F32", [1], bytes(4))


def error_of(result, code):
    assert result.returncode == code, result.stderr[-2000:]
    lines = result.stderr.split(b"\n  try: ")[0].rstrip(b"\n")
    assert lines.startswith(b"octavo: error: ")
    assert len(lines) <= LONGEST, lines[:300]
    return lines.decode()


@pytest.mark.parametrize("code, arguments", [
    (3, ["checkpoint", "inspect", "model.safetensors", "--tensor", "a" * HUGE]),
    (3, ["checkpoint", "inspect", "a/" * (HUGE // 2)]),
    (2, ["formats", "--" + "a" * HUGE]),
    (2, ["a" * HUGE]),
    (2, ["checkpoint", "lint", "model.safetensors", "--only", "a" * HUGE]),
    (2, ["checkpoint", "quantize", "model.safetensors", "-o", "out", "--layout", "a" * HUGE, "--format", "mxfp4"]),
    (3, ["checkpoint", "quantize", "model.safetensors", "-o", "out", "--layout", "fp8", "--format", "fp8_tensor",
         "--only", "re:(" + "é" * (HUGE // 2)]),
])
def test_an_error_has_less_than_two_kilobytes(tmp_path, monkeypatch, code, arguments):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "model.safetensors", {"model.layers.0.mlp.up_proj.weight": ("BF16", [16, 16], bytes(512))})
    error_of(run(*arguments), code)
    assert not (tmp_path / "out").exists()


def test_what_is_left_out_is_counted(tmp_path):
    message = error_of(run("checkpoint", "inspect", "a" * HUGE), 3)
    left = int(re.search(r" \.\.\. \((\d+) bytes left out\) \.\.\. ", message)[1])
    whole = len(message) - len(f" ... ({left} bytes left out) ... ") + left
    assert whole == len("octavo: error: ") + HUGE + len(message.rsplit("a:", 1)[1]) + 1


def test_names_near_one_among_many(tmp_path):
    """7 MB of names, all about as near."""
    path = tmp_path / "model.safetensors"
    write(path, {f"model.layers.{i}.mlp.down_proj.weight".ljust(100, "a"): ONE for i in range(70_000)})
    wanted = "model.layers.x.mlp.down_proj.weight".ljust(100, "a")
    message = error_of(run("checkpoint", "inspect", path, "--tensor", wanted, seconds=60), 3)
    assert message.count("model.layers.") <= 11 and "did you mean model.layers." in message


def test_a_pattern_for_each_of_4000_layers(tmp_path):
    """Ignored are half of the layers, one by one; the others are targets of a group, one by one. These
    took minutes where each pattern was held against each name."""
    layers = 4000
    modules = [f"model.layers.{i}.mlp.down_proj" for i in range(layers)]
    pattern = lambda module: "re:.*" + re.escape(module.removeprefix("model.")) + "$"
    tensors = {}
    for i, module in enumerate(modules):
        if i % 2:
            tensors[module + ".weight"] = ("BF16", [1, 16], bytes(32))
        else:
            tensors[module + ".weight"] = ("F8_E4M3", [1, 16], b"\x38" * 16)
            tensors[module + ".weight_scale"] = ("F32", [1, 1], struct.pack("<f", 0.01))
    write(tmp_path / "model.safetensors", tensors)
    weights = {"num_bits": 8, "type": "float", "symmetric": True, "strategy": "channel", "dynamic": False}
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {
        "quant_method": "compressed-tensors", "format": "float-quantized", "quantization_status": "compressed",
        "config_groups": {"group_0": {"targets": [pattern(m) for m in modules[::2]], "weights": weights}},
        "ignore": [pattern(m) for m in modules[1::2]]}}))
    result = run("checkpoint", "lint", tmp_path, "--json", seconds=120)
    report = json.loads(result.stdout)
    assert {f["rule"] for f in report["findings"]} & {
        "bad-pattern", "ignore-matches-nothing", "unquantized-layer", "ignored-layer-quantized"} == set()
    inspected = json.loads(run("checkpoint", "inspect", tmp_path, "--json", seconds=120).stdout)
    assert [row["layers"] for row in inspected["formats"]] == [layers // 2]


def test_an_instruction_set_that_is_none(tmp_path):
    write(tmp_path / "model.safetensors", {"a": ONE})
    message = error_of(run("checkpoint", "lint", tmp_path, OCTAVO_ISA="sse9"), 2)
    assert "environment variable OCTAVO_ISA: unknown instruction set 'sse9'" in message
