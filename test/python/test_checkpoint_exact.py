"""`convert --format`: where another scaled format has every value of a layer, it gets the same values, codes kept,
and the summary says exact; else the command says why not, or quantizes anew and says so. What is written is read
here with NumPy alone."""
import ml_dtypes
import numpy as np
import pytest

import checkpoints as cp
from checkpoints import DOWN, E4M3, L0, UP
from commands import as_json, octavo, tensors_of, write

PROJECTIONS = [f"model.layers.{i}.{name}" for i in range(2) for name in cp.SHAPES]


def nibbles(packed):
    codes = np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)
    return np.where(codes & 8, -1.0, 1.0) * cp.E2M1_VALUES[codes & 7]


def values(tensors, module):
    """Of a layer under any of the layouts' names: f64, so that no product is rounded."""
    get = lambda *parts: next((tensors[f"{module}.{part}"] for part in parts if f"{module}.{part}" in tensors), None)  # noqa: E731
    codes, scales = get("weight_packed", "weight"), get("weight_scale", "weight_scale_inv")
    elements = nibbles(codes) if codes.dtype == np.uint8 else codes.astype(np.float64)
    if scales.dtype in (np.uint8, ml_dtypes.float8_e8m0fnu):
        scales = np.exp2(scales.view(np.uint8).astype(np.float64) - 127)
    grid = scales.astype(np.float64)
    if grid.ndim == 4:
        grid = grid[:, 0, :, 0]
    grid = grid.reshape(-1, 1) if grid.ndim < 2 else grid
    rows, columns = elements.shape
    tall = {1: rows, rows: 1}.get(grid.shape[0], 128)
    wide = {1: columns, columns // 16: 16, columns // 32: 32}.get(grid.shape[1], 128)
    grid = grid.repeat(tall, 0)[:rows].repeat(wide, 1)[:, :columns]
    outer = get("weight_scale_2")
    divisor = get("weight_global_scale")
    factor = float(outer) if outer is not None else 1 / float(divisor[0]) if divisor is not None else 1.0
    return elements * grid * factor


def codes_of(tensors, module):
    name = next(f"{module}.{part}" for part in ("weight_packed", "weight") if f"{module}.{part}" in tensors)
    return tensors[name].view(np.uint8)


def convert(folder, out, layout, format, *more, code=0):
    return octavo("convert", folder, "-o", out, "--layout", layout, "--format", format, *more, code=code)


def expect_exact(folder, out, layout, format, keepsCodes=True, modules=PROJECTIONS):
    """Without --requantize, so that nothing but an exact result is written."""
    summary = as_json("convert", folder, "-o", out, "--layout", layout, "--format", format)
    assert {(w["to"], w["accuracy"]) for w in summary["weights"]} == {(format, "exact")}
    assert len(summary["weights"]) == len(modules) and not summary["losses"]
    before, after = tensors_of(folder), tensors_of(out)
    for module in modules:
        assert np.array_equal(values(after, module), values(before, module)), module
        if keepsCodes:
            assert np.array_equal(codes_of(after, module), codes_of(before, module)), module
    octavo("verify", out, "--against", folder)
    found = {use["format"] for use in as_json("inspect", out)["formats"]}
    assert found == {format}
    assert "error" not in {f["severity"] for f in as_json("lint", out, "--fail-on", "never")["findings"]}
    return summary, after


def wide(shape=(256, 256)):
    return {name: shape for name in cp.SHAPES}


def fp8_tensor():
    """AutoFP8 of weights that are several blocks long, one of them ragged."""
    checkpoint = cp.autofp8(kv=False)
    plain = cp.plain(shapes=wide((320, 384)))
    for name in [name for name in checkpoint.tensors if cp.is_linear(name)]:
        scale = np.float32(np.abs(plain[name].astype(np.float32)).max() / 448)
        checkpoint.tensors[name] = (plain[name].astype(np.float32) / scale).astype(E4M3)
        checkpoint.tensors[name + "_scale"] = scale.reshape(())
    return checkpoint


@pytest.mark.parametrize("layout, format", [
    ("compressed-tensors", "fp8_row"), ("compressed-tensors", "fp8_block"), ("compressed-tensors", "fp8_group"),
    ("deepseek", "fp8_block"), ("modelopt", "fp8_row"), ("modelopt", "fp8_block"), ("quark", "fp8_row"), ("quark", "fp8_group")])
def test_one_scale_is_repeated(tmp_path, layout, format):
    folder = write(tmp_path, "model", fp8_tensor())
    summary, after = expect_exact(folder, tmp_path / "out", layout, format)
    keeps = layout != "modelopt" and format == "fp8_row"
    assert (f"{UP}.input_scale" in after) == keeps
    assert ("dropped-input-scale" in {note["rule"] for note in summary["notes"]}) != keeps
    if layout == "compressed-tensors":  # and back: all scales of a row, of a block, are one
        expect_exact(tmp_path / "out", tmp_path / "back", layout, "fp8_tensor")


def test_blocks_to_groups_and_back(tmp_path):
    folder = write(tmp_path, "model", cp.deepseek(wide((320, 256))))
    expect_exact(folder, tmp_path / "groups", "compressed-tensors", "fp8_group")
    _, after = expect_exact(tmp_path / "groups", tmp_path / "back", "deepseek", "fp8_block")
    for name, tensor in tensors_of(folder).items():
        assert tensor.dtype == after[name].dtype and np.array_equal(tensor, after[name]), name
    said = convert(folder, tmp_path / "no", "compressed-tensors", "fp8_tensor", code=3).stderr
    assert "several scales in a block of 320 x 256" in said and not (tmp_path / "no").exists()


def powers(dtype):
    """DeepSeek's ue8m0: a power of two for each 128 x 128."""
    checkpoint = cp.deepseek(wide((320, 288)))
    random = np.random.default_rng(3)
    for name in [name for name in checkpoint.tensors if name.endswith("_scale_inv")]:
        exponents = random.integers(-20, -5, checkpoint.tensors[name].shape)
        scales = np.exp2(exponents).astype(np.float32)
        checkpoint.tensors[name] = scales if dtype == "F32" else (exponents + 127).astype(np.uint8).view(
            ml_dtypes.float8_e8m0fnu)
    return checkpoint


@pytest.mark.parametrize("dtype", ["F32", "F8_E8M0"])
@pytest.mark.parametrize("layout", ["compressed-tensors", "modelopt", "quark", "native"])
def test_powers_of_two_over_blocks_are_mxfp8(tmp_path, dtype, layout):
    folder = write(tmp_path, "model", powers(dtype))
    _, after = expect_exact(folder, tmp_path / "out", layout, "mxfp8_e4m3")
    assert after[UP + ".weight_scale"].shape == (320, 9)
    octavo("convert", tmp_path / "out", "-o", tmp_path / "back", "--layout", "deepseek", "--format", "fp8_block")
    assert np.array_equal(values(tensors_of(tmp_path / "back"), UP), values(after, UP))


def test_scales_that_are_no_powers_of_two_are_not_mxfp8(tmp_path):
    checkpoint = powers("F32")
    name = DOWN + ".weight_scale_inv"
    checkpoint.tensors[name] = checkpoint.tensors[name].copy()
    checkpoint.tensors[name][1, 2] = 0.011
    folder = write(tmp_path, "model", checkpoint)
    said = convert(folder, tmp_path / "out", "quark", "mxfp8_e4m3", code=3).stderr
    assert "1 of 14 layers" in said and DOWN in said and "e8m0fnu has no scale of 0.011" in said, said
    assert "--requantize" in said and not (tmp_path / "out").exists()
    summary = as_json("convert", folder, "-o", tmp_path / "out", "--layout", "quark", "--requantize", "--format", "mxfp8_e4m3")
    how = {w["name"]: w["accuracy"] for w in summary["weights"]}
    assert {name for name, accuracy in how.items() if accuracy == "requantized"} == {DOWN + ".weight"}
    assert [loss["name"] for loss in summary["losses"]] == [DOWN + ".weight"]
    assert sum(accuracy == "exact" for accuracy in how.values()) == 13


def mxfp4(exponents, shapes=cp.SHAPES, zeros=True, seed=5):
    """compressed-tensors MXFP4A16, scales 2^e with e from `exponents`; some blocks of zeros under byte 0."""
    random = np.random.default_rng(seed)
    tensors = {name: tensor for name, tensor in cp.plain(shapes=shapes).items() if not cp.is_linear(name)}
    for module in [f"model.layers.{i}.{name}" for i in range(2) for name in shapes]:
        rows, columns = shapes[module.split(".", 3)[3]]
        codes = random.integers(0, 256, (rows, columns // 2)).astype(np.uint8)
        scales = (127 + random.choice(exponents, (rows, columns // 32))).astype(np.uint8)
        scales[0, 0], scales[1, 0] = 127 + min(exponents), 127 + max(exponents)
        codes[0, 0] = codes[1, 0] = 0x21  # values in those
        if zeros:
            codes[2, :16], scales[2, 0] = 0x80, 0  # zeros of both signs
        tensors |= {module + ".weight_packed": codes, module + ".weight_scale": scales}
    weights = cp.scheme(4, "group", group_size=32, dynamic=False, scale_dtype="torch.uint8")
    return cp.compressed("mxfp4-pack-quantized", weights, None, tensors)


@pytest.mark.parametrize("layout", ["compressed-tensors", "modelopt", "native"])
@pytest.mark.parametrize("exponents", [range(-12, -3), range(-14, 4), [3], range(-125, -110)], ids=["9", "18", "one", "small"])
def test_mxfp4_is_nvfp4_where_the_range_allows(tmp_path, layout, exponents):
    """E4M3 has 18 powers of two, 2^-9 to 2^8, so scales of 2^e to 2^(e + 17) are exact under an outer 2^k. An outer
    scale below 2^-126 would have no inverse."""
    folder = write(tmp_path, "model", mxfp4(list(exponents)))
    if layout == "native":
        octavo("convert", folder, "-o", tmp_path / "out", "--layout", layout, "--format", "nvfp4")
        octavo("verify", tmp_path / "out", "--against", folder)
        return  # safetensors for NumPy has no F4
    _, after = expect_exact(folder, tmp_path / "out", layout, "nvfp4")
    assert after[UP + ".weight_scale"].dtype == E4M3 and after[UP + ".weight_scale"].shape == (128, 4)
    outer = float(after[UP + ".weight_scale_2"]) if layout == "modelopt" else 1 / float(after[UP + ".weight_global_scale"][0])
    assert outer == 2.0 ** max(max(exponents) - 8, -126)
    octavo("dequantize", tmp_path / "out", "-o", tmp_path / "plain", "--dtype", "f32")
    octavo("dequantize", folder, "-o", tmp_path / "before", "--dtype", "f32")
    assert np.array_equal(tensors_of(tmp_path / "plain")[UP + ".weight"].view(np.uint32),
                          tensors_of(tmp_path / "before")[UP + ".weight"].view(np.uint32))
    if len(exponents) == 9:
        back, _ = expect_exact(tmp_path / "out", tmp_path / "back", "compressed-tensors", "mxfp4")


@pytest.mark.parametrize("exponents, shown", [(range(-15, 4), "e4m3fn"), ([-127, 3], "e4m3fn")])
def test_mxfp4_beyond_that_range_is_not(tmp_path, exponents, shown):
    folder = write(tmp_path, "model", mxfp4(list(exponents), zeros=False))
    said = convert(folder, tmp_path / "out", "compressed-tensors", "nvfp4", code=3).stderr
    assert f"more powers of two than {shown} has" in said and not (tmp_path / "out").exists(), said
    summary = as_json("convert", folder, "-o", tmp_path / "out", "--layout", "compressed-tensors", "--format", "nvfp4", "--requantize")
    assert {w["accuracy"] for w in summary["weights"]} == {"requantized"}


def test_fused_projections_share_the_outer_scale(tmp_path):
    """q up to 2^3, k up to 2^-4: both under q's; where one is not exact, none of the three is."""
    checkpoint = mxfp4(list(range(-8, -3)))
    scales = checkpoint.tensors[L0 + "self_attn.q_proj.weight_scale"].copy()
    scales[5, 0] = 127 + 3
    checkpoint.tensors[L0 + "self_attn.q_proj.weight_scale"] = scales
    folder = write(tmp_path, "model", checkpoint)
    _, after = expect_exact(folder, tmp_path / "out", "compressed-tensors", "nvfp4")
    assert {float(after[f"{L0}self_attn.{name}_proj.weight_global_scale"][0]) for name in "qkv"} == {2.0 ** 5}
    assert float(after[UP + ".weight_global_scale"][0]) == 2.0 ** 12
    scales[5, 0] = 127 + 12  # k's 2^-8 is 20 below
    folder = write(tmp_path, "wide", checkpoint)
    said = convert(folder, tmp_path / "no", "compressed-tensors", "nvfp4", code=3).stderr
    assert "3 of 14 layers" in said, said
    summary = as_json("convert", folder, "-o", tmp_path / "anew", "--layout", "compressed-tensors", "--format", "nvfp4", "--requantize")
    assert {w["name"].split(".")[4] for w in summary["weights"] if w["accuracy"] == "requantized"} == {"q_proj", "k_proj", "v_proj"}
    after = tensors_of(tmp_path / "anew")
    assert len({float(after[f"{L0}self_attn.{name}_proj.weight_global_scale"][0]) for name in "qkv"}) == 1
    rules = {f["rule"] for f in as_json("lint", tmp_path / "anew", "--fail-on", "never")["findings"]}
    assert "fused-outer-scales-differ" not in rules


def test_wider_elements_hold_narrower_ones(tmp_path):
    """E2M1 is part of E2M3, and both of E4M3: other codes, the same values."""
    folder = write(tmp_path, "model", mxfp4(list(range(-9, 2))))
    expect_exact(folder, tmp_path / "mxfp8", "compressed-tensors", "mxfp8_e4m3", keepsCodes=False)
    octavo("convert", folder, "-o", tmp_path / "mxfp6", "--layout", "quark", "--format", "mxfp6_e2m3")
    octavo("verify", tmp_path / "mxfp6", "--against", folder)
    summary = as_json("convert", tmp_path / "mxfp6", "-o", tmp_path / "from6", "--layout", "quark", "--format", "mxfp8_e4m3")
    assert {w["accuracy"] for w in summary["weights"]} == {"exact"}
    for module in PROJECTIONS:
        assert np.array_equal(values(tensors_of(tmp_path / "from6"), module), values(tensors_of(folder), module))
    said = convert(tmp_path / "mxfp8", tmp_path / "no", "compressed-tensors", "mxfp4", code=3).stderr
    assert "values of e4m3fn are not all values of e2m1fn" in said


def test_experts_of_gpt_oss_in_modelopt(tmp_path):
    """[E, N, K / 32, 16] to [E, K / 2, N] under scales [E, K / 16, N]."""
    random = np.random.default_rng(2)
    blocks = random.integers(0, 256, (3, 64, 3, 16)).astype(np.uint8)
    scales = random.integers(115, 127, (3, 64, 3)).astype(np.uint8)
    name = "model.layers.0.mlp.experts.gate_up_proj"
    folder = write(tmp_path, "model", cp.Checkpoint({name + "_blocks": blocks, name + "_scales": scales}, {
        "model_type": "gpt_oss", "quantization_config": {"quant_method": "mxfp4"}}, shards=1))
    summary = as_json("convert", folder, "-o", tmp_path / "out", "--layout", "modelopt", "--format", "nvfp4")
    assert [w["accuracy"] for w in summary["weights"]] == ["exact"]
    after = tensors_of(tmp_path / "out")
    values = nibbles(blocks.reshape(3, 64, 48)) * np.exp2(scales - 127.0).repeat(32, 2)
    codes, grid = after[name].transpose(0, 2, 1), after[name + "_weight_scale"].astype(np.float64).transpose(0, 2, 1)
    assert grid.shape == (3, 64, 6)
    assert np.array_equal(nibbles(codes) * grid.repeat(16, 2) * float(after[name + "_weight_scale_2"]), values)


def test_the_format_asked_for_is_what_is_written(tmp_path):
    """Also where the layout could say the old one; a layer that is in it already stays bit for bit."""
    folder = write(tmp_path, "model", cp.compressed_blocks(wide()))
    summary = as_json("convert", folder, "-o", tmp_path / "row", "--layout", "compressed-tensors", "--requantize", "--format", "fp8_row")
    assert {(w["from"], w["to"], w["accuracy"]) for w in summary["weights"]} == {("fp8_block", "fp8_row", "requantized")}
    assert {use["format"] for use in as_json("inspect", tmp_path / "row")["formats"]} == {"fp8_row"}
    assert all(loss["sqnr_db"] > 25 for loss in summary["losses"]) and len(summary["losses"]) == 14
    octavo("verify", tmp_path / "row", "--against", folder)
    text = octavo("convert", folder, "-o", tmp_path / "same", "--layout", "deepseek", "--requantize", "--format", "fp8_block").stdout
    assert "exact" in text and "requantized" not in text
    for module in PROJECTIONS:
        assert np.array_equal(codes_of(tensors_of(tmp_path / "same"), module), codes_of(tensors_of(folder), module))


def test_a_refusal_names_the_formats_that_keep_all_values(tmp_path):
    folder = write(tmp_path, "model", powers("F32"))
    said = octavo("convert", folder, "-o", tmp_path / "out", "--layout", "quark", code=3).stderr
    assert "layout quark cannot store fp8_block" in said
    assert "--format fp8_group or --format mxfp8_e4m3 keeps all values; or --requantize --format F" in said, said


def test_activations_that_become_wide_are_said(tmp_path):
    checkpoint = mxfp4(list(range(-9, 2)))
    checkpoint.quantization["config_groups"]["group_0"]["input_activations"] = cp.scheme(
        4, "group", group_size=32, dynamic=True, scale_dtype="torch.uint8")
    folder = write(tmp_path, "model", checkpoint)
    summary = as_json("convert", folder, "-o", tmp_path / "out", "--layout", "compressed-tensors", "--format", "nvfp4")
    (note,) = [note for note in summary["notes"] if note["rule"] == "activations-change"]
    assert "dynamic mxfp4 become wide ones" in note["what"]
    assert as_json("inspect", tmp_path / "out")["formats"][0]["activations"] == "-"
