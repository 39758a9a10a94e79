"""Scales that no weight has, and block sizes that do not fit: `dequantize` and `convert` stop with the place, go
on where `--allow` says so, and the values are then what NumPy makes of the same scales. Scales of 0 over blocks
of zeros, and E8M0's byte 0, are no doubt."""
import ml_dtypes
import numpy as np
import pytest

import checkpoints as cp
from broken.numbers import set_scale
from checkpoints import L1, UP
from commands import as_json, octavo, tensors_of, write

VALUES = {"nan-scale": (np.nan, "nan"), "inf-scale": (np.inf, "inf"), "negative-scale": (-0.01, "-0."), "zero-scale": (0, "0")}
# What the scales of UP are, the tensor, where its last scale is.
BASES = {"tensor": (cp.autofp8, "weight_scale", ""), "rows": (cp.compressed_fp8, "weight_scale", " at [127, 0]"),
         "blocks": (cp.deepseek, "weight_scale_inv", " at [1, 0]"), "e4m3": (cp.compressed_nvfp4, "weight_scale", " at [127, 3]"),
         "outer": (cp.compressed_nvfp4, "weight_global_scale", "")}
CASES = [(base, doubt) for base in BASES for doubt in VALUES if (base, doubt) != ("e4m3", "inf-scale")]


def commands(base, folder, out):
    """Every command that reads the values, or keeps them under another spelling."""
    other = "quark" if base == "rows" else "modelopt" if base in ("e4m3", "outer") else "compressed-tensors"
    row = "nvfp4" if base in ("e4m3", "outer") else "fp8_row"
    yield "dequantize", folder, "-o", out
    yield "convert", folder, "-o", out, "--layout", other
    yield "convert", folder, "-o", out, "--layout", "compressed-tensors", "--requantize", "--format", "mxfp8_e4m3"
    yield "convert", folder, "-o", out, "--layout", "compressed-tensors", "--requantize", "--format", row
    if base not in ("e4m3", "outer"):
        yield "convert", folder, "-o", out, "--fnuz"


@pytest.mark.parametrize("base, doubt", CASES, ids=["-".join(case) for case in CASES])
def test_a_scale_that_no_weight_has_stops_with_its_place(tmp_path, base, doubt):
    make, part, place = BASES[base]
    checkpoint = make()
    value, word = VALUES[doubt]
    set_scale(checkpoint, f"{UP}.{part}", value)
    folder = write(tmp_path, "model", checkpoint)
    for command in commands(base, folder, tmp_path / "out"):
        said = octavo(*command, code=3).stderr
        assert f"{UP}.{part}" in said and f"found {word}" in said and f"--allow {doubt}" in said, said
        assert said.split("found ")[1].split(";")[0].endswith(place or said.split("found ")[1].split(";")[0]), said
        assert not (tmp_path / "out").exists()
    others = ",".join(name for name in VALUES if name != doubt)
    octavo("dequantize", folder, "-o", tmp_path / "out", "--allow", others, code=3)
    octavo("dequantize", folder, "-o", tmp_path / "plain", "--dtype", "f32", "--allow", doubt)
    assert np.array_equal(tensors_of(tmp_path / "plain")[UP + ".weight"], values_of(checkpoint), equal_nan=True)
    octavo(*list(commands(base, folder, tmp_path / "kept"))[1], "--allow", doubt)
    there = {"zero-scale": "inf-scale", "inf-scale": "zero-scale"}.get(doubt, doubt) if base == "outer" else doubt
    octavo("dequantize", tmp_path / "kept", "-o", tmp_path / "again", "--dtype", "f32", "--allow", there)
    assert np.array_equal(tensors_of(tmp_path / "again")[UP + ".weight"], values_of(checkpoint), equal_nan=True)


@np.errstate(all="ignore")
def values_of(checkpoint, module=UP):
    """Codes times scales in NumPy, each product rounded once (the outer factor is applied in f64)."""
    tensors = checkpoint.tensors
    if module + ".weight_packed" in tensors:
        packed = tensors[module + ".weight_packed"]
        nibbles = np.stack([packed & 15, packed >> 4], -1).reshape(len(packed), -1)
        codes = np.where(nibbles & 8, -1, 1) * cp.E2M1_VALUES[nibbles & 7].astype(np.float64)
        scales = tensors[module + ".weight_scale"].astype(np.float64).repeat(16, 1)
        outer = np.float64(np.float32(1) / tensors[module + ".weight_global_scale"][0])
        return (codes * scales * outer).astype(np.float32)
    codes = tensors[module + ".weight"].astype(np.float64)
    if module + ".weight_scale_inv" in tensors:
        scales = tensors[module + ".weight_scale_inv"].repeat(128, 0).repeat(128, 1)[:len(codes), :codes.shape[1]]
    else:
        scales = tensors[module + ".weight_scale"]
    return (codes * scales.astype(np.float64)).astype(np.float32)


def test_e8m0_has_a_nan_and_no_zero(tmp_path):
    checkpoint = cp.compressed_mxfp8()
    name = UP + ".weight_scale"
    scales = checkpoint.tensors[name].copy()
    scales[3, 1] = 0  # 2^-127, over whatever codes
    checkpoint.tensors[name] = scales
    folder = write(tmp_path, "smallest", checkpoint)
    octavo("dequantize", folder, "-o", tmp_path / "plain", "--dtype", "f32")
    found = tensors_of(tmp_path / "plain")[UP + ".weight"][3, 32:]
    codes = checkpoint.tensors[UP + ".weight"].astype(np.float64)[3, 32:]
    assert np.array_equal(found, (codes * 2.0 ** -127).astype(np.float32)) and found.any()
    scales[120, 0] = 0xFF
    folder = write(tmp_path, "nan", checkpoint)
    for command in (["dequantize", folder, "-o", tmp_path / "out"],
                    ["convert", folder, "-o", tmp_path / "out", "--layout", "quark"],
                    ["convert", folder, "-o", tmp_path / "out", "--fnuz"]):
        said = octavo(*command, code=3).stderr
        assert f'"{name}": has a scale that is NaN' in said and "found nan at [120, 0]" in said and "--allow nan-scale" in said, said
    octavo("convert", folder, "-o", tmp_path / "quark", "--layout", "quark", "--allow", "nan-scale")
    assert np.array_equal(tensors_of(tmp_path / "quark")[name], scales)


@pytest.mark.parametrize("base", ["tensor", "rows", "blocks", "e4m3", "outer"])
def test_a_zero_over_zeros_is_no_doubt(tmp_path, base):
    """As Transformer Engine and ModelOpt write a block, a row, a weight of zeros."""
    make, part, place = BASES[base]
    checkpoint = make()
    set_scale(checkpoint, f"{UP}.{part}", np.inf if base == "outer" else 0)  # this one divides
    codes = next(name for name in (UP + ".weight", UP + ".weight_packed") if name in checkpoint.tensors)
    raw = checkpoint.tensors[codes].view(np.uint8).copy()
    at = {"tensor": np.s_[:], "outer": np.s_[:], "rows": np.s_[127:], "blocks": np.s_[128:], "e4m3": np.s_[127:, -8:]}[base]
    raw[at] = raw[at] & (0x88 if raw.shape[1] == 32 else 0x80)  # either zero
    checkpoint.tensors[codes] = raw.view(checkpoint.tensors[codes].dtype)
    folder = write(tmp_path, "model", checkpoint)
    octavo("dequantize", folder, "-o", tmp_path / "plain", "--dtype", "f32")
    assert not tensors_of(tmp_path / "plain")[UP + ".weight"][-1, -16:].any()
    octavo("convert", folder, "-o", tmp_path / "out", "--layout", "modelopt" if base == "outer" else "compressed-tensors")
    octavo("dequantize", tmp_path / "out", "-o", tmp_path / "again")  # there it is 0, and multiplies


def test_scales_of_inputs_and_caches(tmp_path):
    for name in (UP + ".input_scale", L1 + "self_attn.v_scale"):
        checkpoint = cp.autofp8()
        set_scale(checkpoint, name, np.nan)
        folder = write(tmp_path, name, checkpoint)
        said = octavo("convert", folder, "-o", tmp_path / "out", "--layout", "compressed-tensors", code=3).stderr
        assert name in said and "--allow nan-scale" in said
        octavo("dequantize", folder, "-o", tmp_path / name / "plain/..", code=3)  # OUT in DIR
        octavo("dequantize", folder, "-o", tmp_path / (name + ".plain"))  # they say nothing of the values
        shown = octavo("scales", "show", folder)
        assert "(nan-scale)" in next(line for line in shown.stdout.splitlines() if line.startswith(name))
        assert shown.stdout.count("(") == 1 and "1 of 18 scales cannot be used" in shown.stderr
        doubts = {scale["name"]: scale["doubt"] for scale in as_json("scales", "show", folder)["scales"]}
        assert {name for name, doubt in doubts.items() if doubt} == {name} and doubts[name] == "nan-scale"


SIZES = {"no size": [0, 128], "one extent": [128], "a text": "128", "others than the scales": [64, 32]}


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_block_size_that_does_not_fit(tmp_path, size):
    """Weights [64, 64] with one scale each: blocks of 128 x 128, or of anything from 64 x 64 on."""
    checkpoint = cp.deepseek({name: (64, 64) for name in cp.SHAPES})
    known = write(tmp_path, "known", checkpoint)
    checkpoint.quantization["weight_block_size"] = size
    folder = write(tmp_path, "model", checkpoint)
    for command in (["dequantize", folder, "-o", tmp_path / "out"], ["convert", folder, "-o", tmp_path / "out", "--fnuz"],
                    ["convert", folder, "-o", tmp_path / "out", "--layout", "compressed-tensors"]):
        said = octavo(*command, code=3).stderr
        assert "has a block size" in said and "--allow block-size" in said, said
        assert "weight_block_size" in said and ("config.json" in said or "_proj.weight" in said), said
        assert not (tmp_path / "out").exists()
    octavo("dequantize", folder, "-o", tmp_path / "plain", "--allow", "block-size")
    octavo("verify", tmp_path / "plain", "--against", known)
    for good in ([64, 64], [128, 128], [256, 64]):
        checkpoint.quantization["weight_block_size"] = good
        octavo("dequantize", write(tmp_path, str(good), checkpoint), "-o", tmp_path / f"{good}-plain")


def test_a_doubt_that_does_not_exist(tmp_path):
    folder = write(tmp_path, "model", cp.autofp8())
    said = octavo("dequantize", folder, "-o", tmp_path / "out", "--allow", "nan-scales", code=2).stderr
    assert "nan-scale" in said
    for command in ("dequantize", "convert"):
        text = octavo(command, "--help").stdout
        assert "nan-scale, inf-scale, negative-scale, zero-scale, block-size" in " ".join(text.split())


def test_a_run_that_stopped_goes_on_with_allow(tmp_path):
    """The doubt is in the last of three shards: what was written before stays, and the bytes are those of one run."""
    checkpoint = cp.compressed_fp8()
    checkpoint.shards = 3
    name = L1 + "self_attn.v_proj.weight_scale"
    set_scale(checkpoint, name, -1.0)
    folder = write(tmp_path, "model", checkpoint)
    out = tmp_path / "out"
    said = octavo("dequantize", folder, "-o", out, "--threads", "1", code=3).stderr
    assert name in said and len(list(out.glob("*.safetensors"))) == 2
    octavo("dequantize", folder, "-o", out, "--allow", "negative-scale")
    octavo("dequantize", folder, "-o", tmp_path / "once", "--allow", "negative-scale")
    assert {p.name: p.read_bytes() for p in out.iterdir()} == {p.name: p.read_bytes() for p in (tmp_path / "once").iterdir()}
