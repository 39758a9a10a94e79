"""`octavo checkpoint convert --fnuz` and `--ocp`: the same values in AMD's FP8 formats and back,
against ml_dtypes; and what the other commands make of such a checkpoint."""
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest

import checkpoints as cp
from commands import tensors_of

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
M = "model.layers.0.mlp.up_proj"
TWINS = {ml_dtypes.float8_e4m3fn: ml_dtypes.float8_e4m3fnuz,
         ml_dtypes.float8_e5m2: ml_dtypes.float8_e5m2fnuz}
E4M3, E5M2 = TWINS
FNUZ = TWINS[E4M3]


def octavo(*arguments, code=0):
    run = subprocess.run([OCTAVO, "checkpoint", *map(str, arguments)], capture_output=True, text=True,
                         timeout=120)
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    return run.stderr if code else run.stdout


def convert(source, out, *flags, code=0):
    """The summary, or the message of a refusal."""
    text = octavo("convert", source, "-o", out, *flags, "--json", code=code)
    return text if code else json.loads(text)


def losses(summary):
    return {loss["name"]: {k: v for k, v in loss.items() if k != "name" and v}
            for loss in summary["losses"]}


def finite_codes(dtype, zeros=1):
    """Every code but NaN, Inf and -0; `zeros` times that of 0."""
    codes = np.arange(256, dtype=np.uint8)
    values = codes.view(dtype).astype(np.float32)
    kept = codes[np.isfinite(values) & (codes != 0x80)]
    return np.concatenate([kept, np.zeros(zeros - 1, np.uint8)])


def rows_of_all(dtype, columns=256):
    """[4, columns] codes that hold every finite one, in other orders."""
    codes = finite_codes(dtype)
    random = np.random.default_rng(5)
    return np.stack([np.resize(random.permutation(codes), columns) for _ in range(4)])


def scales(shape, dtype=np.float32, seed=6):
    random = np.random.default_rng(seed)
    return (2.0 ** random.integers(-9, 3, shape) * random.uniform(1, 2, shape)).astype(dtype)


def fp8(dtype=E4M3, codes=None, scale=None):
    codes = rows_of_all(dtype) if codes is None else codes
    scale = scales(()) if scale is None else np.asarray(scale, np.float32)
    tensors = {M + ".weight": codes.view(dtype), M + ".weight_scale": scale,
               M + ".input_scale": np.float32(0.03).reshape(()),
               "model.norm.weight": np.ones(64, cp.BF16)}
    return cp.Checkpoint(tensors, {"model_type": "llama", "quantization_config": {
        "quant_method": "fp8", "activation_scheme": "static"}}, shards=1)


def rows(dtype=E4M3):
    tensors = {M + ".weight": rows_of_all(dtype).view(dtype),
               M + ".weight_scale": scales((4, 1), cp.BF16)}
    weights = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True,
               "dynamic": False}
    activations = weights | {"strategy": "token", "dynamic": True}
    return cp.Checkpoint(tensors, {"model_type": "llama", "quantization_config": {
        "quant_method": "compressed-tensors", "format": "float-quantized", "config_groups": {
            "group_0": {"targets": ["Linear"], "weights": weights,
                        "input_activations": activations}}}}, shards=1)


def blocks(codes=None):
    codes = np.tile(rows_of_all(E4M3), (33, 1)) if codes is None else codes
    grid = [-(-extent // 128) for extent in codes.shape]
    tensors = {M + ".weight": codes.view(E4M3), M + ".weight_scale_inv": scales(grid)}
    return cp.Checkpoint(tensors, {"model_type": "deepseek_v3", "quantization_config": {
        "quant_method": "fp8", "weight_block_size": [128, 128]}}, shards=1)


def mx(dtype, least=1, most=253):
    codes = rows_of_all(dtype)
    exponents = np.random.default_rng(7).integers(least, most + 1, (4, 8)).astype(np.uint8)
    tensors = {M + ".weight": codes.view(dtype),
               M + ".weight_scale": exponents.view(ml_dtypes.float8_e8m0fnu)}
    return cp.Checkpoint(tensors, {"model_type": "llama", "quantization_config": {
        "quant_method": "octavo", "activations": "none"}}, shards=1)


def scale_name(tensors):
    return next(n for n in (M + ".weight_scale", M + ".weight_scale_inv") if n in tensors)


def dequantized(tensors):
    """code * scale, exactly, as f64."""
    weight = tensors[M + ".weight"].astype(np.float64)
    scale = tensors[scale_name(tensors)]
    grid = np.asarray(scale.astype(np.float64)).reshape(-1, scale.shape[-1] if scale.ndim else 1)
    across, along = (-(-weight.shape[i] // grid.shape[i]) for i in (0, 1))
    if scale_name(tensors).endswith("_inv"):
        across = along = 128
    return weight * grid.repeat(across, 0).repeat(along, 1)[:len(weight), :weight.shape[1]]


KINDS = {"tensor": fp8, "tensor-e5m2": lambda: fp8(E5M2), "row": rows, "block": blocks,
         "mx": lambda: mx(E4M3), "mx-e5m2": lambda: mx(E5M2)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_code_there_and_back(tmp_path, kind):
    source = KINDS[kind]().write(tmp_path / "ocp")
    summary = convert(source, tmp_path / "fnuz", "--fnuz")
    assert summary["losses"] == [] and len(summary["weights"]) == 1
    before, after = tensors_of(source), tensors_of(tmp_path / "fnuz")
    assert set(after) == set(before)
    assert after[M + ".weight"].dtype == TWINS[before[M + ".weight"].dtype.type]
    assert after[M + ".weight"].tobytes() == before[M + ".weight"].tobytes()
    name = scale_name(before)
    assert after[name].dtype == before[name].dtype and after[name].shape == before[name].shape
    np.testing.assert_array_equal(dequantized(after), dequantized(before))
    if kind.startswith("tensor"):
        assert after[M + ".input_scale"] == 2 * before[M + ".input_scale"]
    if "model.norm.weight" in before:
        assert after["model.norm.weight"].tobytes() == before["model.norm.weight"].tobytes()

    convert(tmp_path / "fnuz", tmp_path / "back", "--ocp")
    for file in source.iterdir():
        again = (tmp_path / "back" / file.name).read_bytes()
        same = json.loads(again) == json.loads(file.read_bytes()) if file.suffix == ".json" else (
            tensors_of(tmp_path / "back").keys() == before.keys())
        assert same, file
    back = tensors_of(tmp_path / "back")
    assert all(back[n].dtype == t.dtype and back[n].tobytes() == t.tobytes() for n, t in before.items())


def test_other_commands_read_it(tmp_path):
    source = cp.autofp8()
    for name, tensor in source.tensors.items():
        if tensor.dtype == E4M3:
            raw = tensor.view(np.uint8).copy()
            raw[raw == 0x80] = 0
            source.tensors[name] = raw.view(E4M3)
    source = source.write(tmp_path / "ocp")
    out = tmp_path / "fnuz"
    text = octavo("convert", source, "-o", out, "--fnuz")
    assert "key-value cache stay" in text and "e4m3fnuz" in text
    before, after = tensors_of(source), tensors_of(out)
    for name, tensor in after.items():
        if name.endswith(("k_scale", "v_scale")):
            assert tensor == before[name]
        elif name.endswith("_scale"):
            assert tensor == 2 * before[name]
    shown = json.loads(octavo("inspect", out, "--json"))
    assert "e4m3fnuz" in json.dumps(shown)
    findings = json.loads(octavo("lint", out, "--json"))["findings"]
    assert not [f for f in findings if f["severity"] == "error"], findings
    diff = json.loads(subprocess.run([OCTAVO, "checkpoint", "diff", source, out, "--json"],
                                     capture_output=True, text=True).stdout)
    sameness = {w["name"]: w["sameness"] for w in diff["weights"]}
    assert all(sameness[n] == ("different" if n.endswith("input_scale") else "equal values")
               for n in sameness if "_proj" in n), sameness
    octavo("verify", out, "--against", source)
    for folder in (source, out):
        octavo("dequantize", folder, "-o", tmp_path / (folder.name + "-plain"))
    for file in (tmp_path / "ocp-plain").glob("*.safetensors"):
        assert file.read_bytes() == (tmp_path / "fnuz-plain" / file.name).read_bytes()


@pytest.mark.parametrize("wrong", [np.float32(0.0601), np.full(2, 0.06, np.float32)], ids=["not doubled", "two"])
def test_verify_holds_input_scales_to_the_double(tmp_path, wrong):
    source = fp8().write(tmp_path / "ocp")
    convert(source, tmp_path / "fnuz", "--fnuz")
    octavo("verify", tmp_path / "fnuz", "--against", source)
    file = tmp_path / "fnuz/model.safetensors"
    cp.write_safetensors(file, cp.read_safetensors(file) | {M + ".input_scale": np.asarray(wrong)})
    run = subprocess.run([OCTAVO, "checkpoint", "verify", tmp_path / "fnuz", "--against", source],
                         capture_output=True, text=True)
    assert run.returncode == 1 and "input_scale" in run.stdout, run.stdout + run.stderr


def test_negative_zero_loses_its_sign(tmp_path):
    codes = np.array([[0x80, 0x01, 0x80, 0x81]] * 2, np.uint8)
    summary = convert(fp8(codes=codes).write(tmp_path / "ocp"), tmp_path / "fnuz", "--fnuz")
    assert losses(summary) == {M + ".weight": {"negative_zeros": 4}}
    found = tensors_of(tmp_path / "fnuz")[M + ".weight"].view(np.uint8)
    np.testing.assert_array_equal(found, [[0, 1, 0, 0x81]] * 2)


@pytest.mark.parametrize("dtype, nan, largest", [(E4M3, 0x7F, 0x7E), (E5M2, 0x7D, 0x7B), (E5M2, 0x7C, 0x7B)])
def test_codes_of_nan(tmp_path, dtype, nan, largest):
    codes = np.array([[1, 2, 3, 4], [5, nan, 6, nan | 0x80]], np.uint8)
    source = fp8(dtype, codes).write(tmp_path / "ocp")
    message = convert(source, tmp_path / "no", "--fnuz", code=3)
    assert M + ".weight" in message and "row 1, column 1" in message and "--nan-codes" in message
    assert f"0x{nan:02X}" in message and not list((tmp_path / "no").glob("*.safetensors"))
    for policy, expected in (("nan", [5, 0x80, 6, 0x80]),
                             ("saturate", [5, largest, 6, largest | 0x80])):
        summary = convert(source, tmp_path / policy, "--fnuz", "--nan-codes", policy)
        assert losses(summary) == {M + ".weight": {"nan_codes": 2}}
        found = tensors_of(tmp_path / policy)[M + ".weight"].view(np.uint8)
        np.testing.assert_array_equal(found[1], expected)


def test_fnuz_nan_becomes_ocp_nan(tmp_path):
    codes = np.array([[1, 0x80], [2, 3]], np.uint8)
    source = fp8(FNUZ, codes).write(tmp_path / "fnuz")
    assert "row 0, column 1" in convert(source, tmp_path / "no", "--ocp", code=3)
    convert(source, tmp_path / "nan", "--ocp", "--nan-codes", "nan")
    values = tensors_of(tmp_path / "nan")[M + ".weight"].astype(np.float32)
    assert np.isnan(values[0, 1]) and np.isnan(values).sum() == 1


def by_value(codes, fnuz):
    """The codes of OCP's format next to each value."""
    ocp = next(o for o, twin in TWINS.items() if twin == fnuz)
    return codes.view(fnuz).astype(np.float32).astype(ocp)


@pytest.mark.parametrize("fnuz", TWINS.values())
def test_values_beyond(tmp_path, fnuz):
    """+-240 doubled is 480, which E4M3 does not have."""
    codes = np.arange(256, dtype=np.uint8)
    codes[0x80] = 0
    limit = {FNUZ: 0x7E}.get(fnuz, 0x7B)
    source = fp8(fnuz, codes.reshape(2, 128)).write(tmp_path / "fnuz")
    message = convert(source, tmp_path / "no", "--ocp", code=3)
    assert f"row 0, column {limit + 1}" in message and "--beyond" in message
    beyond = int(((codes & 0x7F) > limit).sum())
    summary = convert(source, tmp_path / "saturate", "--ocp", "--beyond", "saturate")
    assert losses(summary) == {M + ".weight": {"beyond": beyond}}
    found = tensors_of(tmp_path / "saturate")
    np.testing.assert_array_equal(found[M + ".weight"].view(np.uint8).ravel(),
                                  np.minimum(codes & 0x7F, limit) | (codes & 0x80))
    scale = tensors_of(source)[M + ".weight_scale"]
    assert found[M + ".weight_scale"] == scale / 2
    summary = convert(source, tmp_path / "requantize", "--ocp", "--beyond", "requantize")
    found = tensors_of(tmp_path / "requantize")
    assert found[M + ".weight_scale"] == scale
    expected = by_value(codes, fnuz)
    np.testing.assert_array_equal(found[M + ".weight"].ravel().view(np.uint8), expected.view(np.uint8))
    inexact = int((expected.astype(np.float32) != codes.view(fnuz).astype(np.float32)).sum())
    assert losses(summary) == {M + ".weight": {"inexact": inexact}} and inexact > 0


def test_only_the_blocks_with_such_values_are_requantized(tmp_path):
    codes = np.tile(rows_of_all(E4M3), (70, 1))  # 280 x 256: 3 x 2 blocks
    codes[130, 200] = 0xFF  # block (1, 1)
    checkpoint = blocks(codes)
    checkpoint.tensors[M + ".weight"] = codes.view(FNUZ)
    source = checkpoint.write(tmp_path / "fnuz")
    scale = tensors_of(source)[M + ".weight_scale_inv"]
    convert(source, tmp_path / "ocp", "--ocp", "--beyond", "requantize")
    found = tensors_of(tmp_path / "ocp")
    halved = np.full(scale.shape, 0.5, np.float32)
    halved[1, 1] = 1
    np.testing.assert_array_equal(found[M + ".weight_scale_inv"], scale * halved)
    at = np.s_[128:256, 128:256]
    expected = codes.copy()
    expected[at] = by_value(codes[at].copy(), FNUZ).view(np.uint8)
    np.testing.assert_array_equal(found[M + ".weight"].view(np.uint8), expected)


def many_pieces():
    """Codes of more than kPieceValues, 2^22, of octavo/Checkpoint/Jobs/Job.h."""
    return np.resize(rows_of_all(E4M3), (2560, 2048))


def test_one_scale_of_many_pieces(tmp_path):
    """A tensor that is read in several pieces, of which only the last has such a value."""
    codes = many_pieces()
    codes[-1, 1] = 0x7F
    source = fp8(FNUZ, codes).write(tmp_path / "fnuz")
    scale = tensors_of(source)[M + ".weight_scale"]
    summary = convert(source, tmp_path / "ocp", "--ocp", "--beyond", "requantize", "--threads", "2")
    found = tensors_of(tmp_path / "ocp")
    assert found[M + ".weight_scale"] == scale
    np.testing.assert_array_equal(found[M + ".weight"].view(np.uint8), by_value(codes, FNUZ).view(np.uint8))
    again = convert(source, tmp_path / "one", "--ocp", "--beyond", "requantize", "--threads", "1")
    assert again["losses"] == summary["losses"]
    assert ((tmp_path / "one/model.safetensors").read_bytes()
            == (tmp_path / "ocp/model.safetensors").read_bytes())
    codes[-1, 1] = 0
    tame = convert(fp8(FNUZ, codes).write(tmp_path / "tame"), tmp_path / "bytes", "--ocp", "--beyond",
                   "requantize")
    assert tame["losses"] == []
    assert tensors_of(tmp_path / "bytes")[M + ".weight_scale"] == scale / 2


@pytest.mark.parametrize("each", [False, True], ids=["scale of all", "scale of each"])
def test_stacked_experts_that_lie_across(tmp_path, each):
    """ModelOpt's FP8 experts, [E, K, N]: a scale and an input scale of all, or of each expert."""
    name, (experts, inner, outer) = "m.experts.down_proj", (3, 64, 24)
    codes = np.random.default_rng(8).choice(finite_codes(E4M3), (experts, inner, outer))
    shape = (experts,) if each else ()
    tensors = {name: codes.view(E4M3), name + "_weight_scale": np.asarray(scales(shape)),
               name + "_input_scale": np.asarray(scales(shape, seed=9)),
               "model.norm.weight": np.ones(64, cp.BF16)}
    config = {"model_type": "llama4", "quantization_config": {
        "quant_method": "modelopt", "quant_algo": "FP8", "ignore": []}}
    source = cp.Checkpoint(tensors, config, shards=1).write(tmp_path / "ocp")
    assert convert(source, tmp_path / "fnuz", "--fnuz")["losses"] == []
    after = tensors_of(tmp_path / "fnuz")
    assert after[name].dtype == FNUZ and after[name].tobytes() == tensors[name].tobytes()
    for scale in ("_weight_scale", "_input_scale"):
        assert after[name + scale].shape == shape
        np.testing.assert_array_equal(after[name + scale], 2 * tensors[name + scale])
    plain = codes.view(E4M3).astype(np.float32) * np.reshape(tensors[name + "_weight_scale"], (-1, 1, 1))
    for folder in ("ocp", "fnuz"):
        octavo("dequantize", tmp_path / folder, "-o", tmp_path / (folder + "-plain"), "--dtype", "f32")
        np.testing.assert_array_equal(tensors_of(tmp_path / (folder + "-plain"))[name], plain)
    octavo("verify", tmp_path / "fnuz", "--against", source)

    codes[1, 5, 7] = 0x7F  # 240, of expert 1
    tensors |= {name: codes.view(FNUZ)}
    source = cp.Checkpoint(tensors, config, shards=1).write(tmp_path / "beyond")
    message = convert(source, tmp_path / "no", "--ocp", code=3)
    assert f"row {inner + 5}, column 7" in message and name in message
    convert(source, tmp_path / "back", "--ocp", "--beyond", "requantize")
    found, by_code = tensors_of(tmp_path / "back"), np.array([each, False, each])
    np.testing.assert_array_equal(found[name].view(np.uint8)[by_code], codes[by_code])
    np.testing.assert_array_equal(found[name].view(np.uint8)[~by_code],
                                  by_value(codes[~by_code], FNUZ).view(np.uint8))
    halved = np.where(by_code, np.float32(0.5), np.float32(1)) if each else np.float32(1)
    np.testing.assert_array_equal(found[name + "_weight_scale"], tensors[name + "_weight_scale"] * halved)


@pytest.mark.parametrize("flag, scale, word", [("--fnuz", 2.0e38, "doubled"), ("--ocp", 2.0**-149, "halved")])
def test_scales_without_a_double_or_half(tmp_path, flag, scale, word):
    source = fp8(E4M3 if flag == "--fnuz" else FNUZ, scale=scale).write(tmp_path / "in")
    if flag == "--ocp":
        checkpoint = fp8(FNUZ, codes=np.ones((2, 2), np.uint8), scale=scale)
        source = checkpoint.write(tmp_path / "in")
    message = convert(source, tmp_path / "no", flag, code=3)
    assert "weight_scale" in message and word in message and "--scale-range" in message
    summary = convert(source, tmp_path / "out", flag, "--scale-range", "saturate")
    assert losses(summary) == {M + ".weight": {"scales_out_of_range": 1}}
    found = tensors_of(tmp_path / "out")[M + ".weight_scale"]
    assert found == (np.finfo(np.float32).max if flag == "--fnuz" else np.float32(2.0**-149))


def test_a_scale_of_many_pieces_is_counted_once(tmp_path):
    source = fp8(codes=many_pieces(), scale=2.0e38).write(tmp_path / "in")
    summary = convert(source, tmp_path / "out", "--fnuz", "--scale-range", "saturate")
    assert losses(summary) == {M + ".weight": {"scales_out_of_range": 1}}
    assert tensors_of(tmp_path / "out")[M + ".weight_scale"] == np.finfo(np.float32).max


@pytest.mark.parametrize("kind", ["row", "block"])
def test_scales_of_every_piece_are_doubled(tmp_path, kind):
    codes = many_pieces()
    checkpoint = blocks(codes) if kind == "block" else rows()
    if kind == "row":
        checkpoint.tensors |= {M + ".weight": codes.view(E4M3), M + ".weight_scale": scales((len(codes), 1), cp.BF16)}
    source = checkpoint.write(tmp_path / "in")
    convert(source, tmp_path / "out", "--fnuz")
    before, after = tensors_of(source), tensors_of(tmp_path / "out")
    name = scale_name(before)
    np.testing.assert_array_equal(after[name].astype(np.float32), 2 * before[name].astype(np.float32))
    assert after[M + ".weight"].tobytes() == codes.tobytes()
    bad = codes.copy()
    bad[-9, 77] = 0x7F  # NaN, in the last piece
    checkpoint.tensors[M + ".weight"] = bad.view(E4M3)
    message = convert(checkpoint.write(tmp_path / "bad"), tmp_path / "no", "--fnuz", code=3)
    assert f"row {len(codes) - 9}, column 77" in message, message


def test_nan_beside_values_beyond(tmp_path):
    """By value NaN stays NaN, which is no value that changed."""
    codes = np.array([[1, 0x80, 0x7F, 0xFF], [2, 3, 0x80, 0x80]], np.uint8)
    source = fp8(FNUZ, codes).write(tmp_path / "fnuz")
    summary = convert(source, tmp_path / "ocp", "--ocp", "--beyond", "requantize", "--nan-codes", "nan")
    found = tensors_of(tmp_path / "ocp")[M + ".weight"]
    expected = by_value(codes, FNUZ)
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))
    changed = np.isfinite(codes.view(FNUZ).astype(np.float32)) & (
        expected.astype(np.float32) != codes.view(FNUZ).astype(np.float32))
    counted = {"nan_codes": 3} | ({"inexact": int(changed.sum())} if changed.any() else {})
    assert losses(summary) == {M + ".weight": counted}


def test_the_largest_scale_of_mx_cannot_be_doubled(tmp_path):
    source = mx(E4M3, least=254, most=254).write(tmp_path / "in")
    assert "doubled" in convert(source, tmp_path / "no", "--fnuz", code=3)


def test_cap(tmp_path):
    codes = np.array([[0x7F, 0xFF, 0x7E, 0xFE, 1, 0x80]] * 2, np.uint8)
    source = fp8(FNUZ, codes).write(tmp_path / "in")
    summary = convert(source, tmp_path / "out", "--fnuz", "--cap")
    assert losses(summary) == {M + ".weight": {"capped": 4}}
    found = tensors_of(tmp_path / "out")
    np.testing.assert_array_equal(found[M + ".weight"].view(np.uint8),
                                  [[0x7E, 0xFE, 0x7E, 0xFE, 1, 0x80]] * 2)
    assert found[M + ".weight"].dtype == FNUZ
    assert found[M + ".weight_scale"] == tensors_of(source)[M + ".weight_scale"]
    assert found[M + ".input_scale"] == tensors_of(source)[M + ".input_scale"]


def test_refusals(tmp_path):
    source = fp8().write(tmp_path / "ocp")
    out = tmp_path / "out"
    assert "FNUZ" in convert(source, out, "--ocp", code=3)
    assert "one of --layout, --fnuz and --ocp" in convert(source, out, code=2)
    assert "one of" in convert(source, out, "--fnuz", "--layout", "fp8", code=2)
    convert(source, out, "--fnuz", "--ocp", code=2)
    convert(source, out, "--fnuz", "--beyond", "saturate", code=2)
    assert "saturate" in convert(source, out, "--fnuz", "--nan-codes", "keep", code=2)
    convert(source, out, "--fnuz")
    assert "has no FP8 weights" in convert(out, tmp_path / "again", "--fnuz", code=3)
    assert not (tmp_path / "again").exists()
    plain = cp.plain_checkpoint().write(tmp_path / "plain")
    assert "has no FP8 weights" in convert(plain, tmp_path / "none", "--fnuz", code=3)
