"""Each command that `lint` prints as a remedy is run as it stands, in a folder where DIR is a checkpoint with the
finding; afterwards lint, asked the same, no longer has it. The help's example of requantizing does what it says."""
import json
import os
import re
import subprocess

import numpy as np
import pytest

import checkpoint_model as model
import checkpoints as cp
from broken import CASES
from checkpoints import L0, L1, UP
from commands import OCTAVO, as_json, octavo, tensors_of


def shell(command, cwd):
    return subprocess.run(["bash", "-c", command], cwd=cwd, capture_output=True, text=True, timeout=120,
                          env=os.environ | {"PATH": f"{OCTAVO.parent}:{os.environ['PATH']}"})


RULES = {rule["rule"]: rule["fix"] for rule in json.loads(
    subprocess.run([OCTAVO, "checkpoint", "lint", "--rules", "--json"], capture_output=True, text=True).stdout)}
LOOKS = ("octavo checkpoint diff", "octavo checkpoint inspect", "octavo checkpoint lint")
REMEDIES = [(rule, command) for rule, fix in RULES.items() for command in re.findall(r"`(octavo checkpoint [^`]*)`", fix)
            if not command.startswith(LOOKS)]


def changed(base, change):
    def make(folder):
        checkpoint = base()
        change(checkpoint)
        checkpoint.write(folder)
    return make


def quantized(layout, format):
    def make(folder):
        model.write(folder.parent / "source", model.weights())
        octavo("quantize", folder.parent / "source", "-o", folder, "--layout", layout, "--format", format)
    return make


def side_file(folder):
    cp.autofp8(kv=False).write(folder)
    (folder / "kv_cache_scales.json").write_text(json.dumps({"model_type": "llama", "kv_cache": {
        "dtype": "float8_e4m3fn", "scaling_factor": {"0": {"0": 0.02, "1": 0.03}}}}))


def as_block_scales(checkpoint):
    checkpoint.config["quantization_config"] = {"quant_method": "modelopt", "quant_algo": "FP8_PB_REAL"}


# Where the first case of a rule is not one that its remedy is for.
TRIGGERS = {
    "dtype-without-torch": (quantized("native", "mxfp6_e2m3"), ["--for", "vllm"]),
    "dtype-since-0.6": (quantized("native", "mxfp4"), ["--for", "sglang"]),
    "modelopt-algorithm-unknown": (changed(cp.compressed_blocks, as_block_scales), ["--for", "vllm"]),
    "kv-side-file-unread": (side_file, ["--for", "vllm"]),
}
# What FILE holds: a calibration's numbers, or the tensor that was lost.
FILES = {
    "missing-scale": lambda: {UP + ".weight_scale": cp.autofp8().tensors[UP + ".weight_scale"]},
    "missing-outer-scale": lambda: {UP + ".weight_global_scale": cp.compressed_nvfp4().tensors[UP + ".weight_global_scale"]},
    "fused-input-scales-differ": lambda: {f"{L1}self_attn.{name}_proj.input_scale": np.array(0.03, np.float32)
                                          for name in "qkv"},
    "modelopt-input-scale-unset": lambda: {L0 + "self_attn.o_proj.input_scale": np.array(0.02, np.float32)},
}


def cache_scales():
    return {f"model.layers.{i}.self_attn.{kind}_scale": np.array(0.02, np.float32) for i in range(2) for kind in "kv"}


def rules_of(folder, arguments):
    report = json.loads(octavo("lint", folder, "--json", "--fail-on", "never", *arguments).stdout)
    return {finding["rule"] for finding in report["findings"]}, report["layout"]


@pytest.mark.parametrize("rule, command", REMEDIES, ids=[f"{rule}-{i}" for i, (rule, _) in enumerate(REMEDIES)])
def test_a_remedy_cures_what_it_is_printed_for(tmp_path, rule, command):
    if rule in TRIGGERS:
        make, arguments = TRIGGERS[rule]
    else:
        _, _, arguments, make = next(case.values for case in CASES if case.values[0] == rule)
    make(tmp_path / "DIR")
    found, layout = rules_of(tmp_path / "DIR", arguments)
    assert rule in found
    cp.write_safetensors(tmp_path / "FILE.safetensors", FILES.get(rule, cache_scales)())
    if "scales extract" in command:
        (tmp_path / "FILE.safetensors").unlink()
    done = shell(command.replace("LAYOUT", layout).replace("FILE", "FILE.safetensors"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert ("OUT" in command) == (tmp_path / "OUT").exists()
    after, _ = rules_of(tmp_path / ("OUT" if "OUT" in command else "DIR"), arguments)
    assert rule not in after, after


def test_remedies_are_there():
    """What issues and users name: the sentence of each has a command, and no command is a fragment of one."""
    with_commands = {rule for rule, _ in REMEDIES}
    assert {"ragged-activations-stop", "modelopt-ragged-blocks", "no-scheme-for-format", "experts-outer-scales-dropped",
            "experts-blocks-stop", "quark-experts-unread"} <= with_commands
    for rule, fix in RULES.items():
        outside = re.sub(r"`[^`]*`", "", fix)
        assert "octavo checkpoint" not in outside and "--requantize" not in outside, (rule, fix)
    for rule, command in REMEDIES:
        assert " DIR" in command and (" -o " in command or "--into-checkpoint" in command), (rule, command)


def test_the_example_of_the_help(tmp_path):
    """DeepSeek-V3 to MXFP8: what is written is MXFP8, whatever compressed-tensors has besides."""
    cp.deepseek().write(tmp_path / "DeepSeek-V3")
    (line,) = [line for line in octavo("convert", "--help").stdout.splitlines() if "--format mxfp8_e4m3" in line]
    done = shell(line, tmp_path)
    assert done.returncode == 0 and "requantized" in done.stdout, (done.stdout, done.stderr)
    out = tmp_path / "DeepSeek-V3-MXFP8"
    assert {use["format"] for use in as_json("inspect", out)["formats"]} == {"mxfp8_e4m3"}
    tensors = tensors_of(out)
    assert tensors[UP + ".weight_scale"].dtype == np.uint8 and tensors[UP + ".weight_scale"].shape == (256, 4)
    octavo("verify", out, "--against", tmp_path / "DeepSeek-V3")
