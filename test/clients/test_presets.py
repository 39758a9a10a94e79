"""Presets against the libraries that they are named after, run here: every scale and every code of
sampled tensors, but for what `octavo presets` says differs. In each type of input that a row names."""
import numpy as np
import octavo
import owners
import pytest
import torch
from preset_samples import sample

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
MX = ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"]
FP8 = ["fp8_tensor", "fp8_row", "fp8_e5m2_tensor", "fp8_e5m2_row"]
LARGEST = {"mxfp8_e4m3": 448, "mxfp8_e5m2": 57344, "mxfp6_e3m2": 28, "mxfp6_e2m3": 7.5, "mxfp4": 6}


def tensors(format, type):
    """Samples of what a type and the blocks of a format can hold: 0.5 Mi values."""
    if format.startswith("mx"):
        block, exponents = 32, (-140, 126) if type != "f16" else (-12, 10)
    else:
        block, exponents = (16, (-13, 12)) if format == "nvfp4" else (32, (-8, 8))
    for seed in range(8):
        x = sample(block, exponents, seed)
        if not format.startswith("mx"):
            x[129] = 0  # subnormals of f32: what `differs` names
        x = torch.from_numpy(x).to(TYPES[type])
        x[~torch.isfinite(x)] = 1
        yield x


def rows(presets, formats, **arguments):
    """Preset, format and type of input, of the types that `octavo presets` names."""
    for preset, extra in presets.items():
        for format in formats:
            for type in octavo.presets(format)[preset]["inputs"].split(", "):
                yield pytest.param(preset, format, type, arguments | extra, id=f"{preset}-{format}-{type}")


def compare(preset, format, x, made, comparable=None):
    """`comparable`: of amaxes of blocks and scales, which blocks are not among those that differ."""
    outer, scales, codes = made
    found = octavo.quantize(x, format, preset=preset)
    if outer is not None:
        divides = preset == "compressed-tensors"
        assert np.float32(found.outer) == (np.float32(1) / np.float32(outer) if divides else np.float32(outer))
    ours = found.scales if format.startswith("fp8") else found.scales.view(np.uint8)
    scales = np.asarray(scales).reshape(ours.shape)
    kept = np.ones(ours.shape, bool)
    if comparable:
        amax = x.float().abs().reshape(*ours.shape, -1).amax(-1).numpy()
        kept = comparable(amax, ours)
        assert kept.mean() > 0.7
    np.testing.assert_array_equal(ours[kept], scales[kept])
    same = found.codes == codes
    if comparable:
        same |= ~np.repeat(kept, x.shape[1] // ours.shape[1], 1)
    assert same.all(), (np.argwhere(~same)[:5], found.codes[~same][:5], codes[~same][:5])


@pytest.mark.parametrize("preset, format, type, extra", rows({"compressed-tensors": {}}, [
    "mxfp4", "mxfp6_e2m3", "mxfp8_e4m3", "nvfp4", "fp8_tensor", "fp8_row", "fp8_block", "fp8_group"]))
def test_compressed_tensors(preset, format, type, extra):
    for x in tensors(format, type):
        compare(preset, format, x, owners.compressed_tensors(x, format))


@pytest.mark.parametrize("preset, format, type, extra", rows({"modelopt": {}}, [
    "mxfp4", "mxfp8_e4m3", "nvfp4", "fp8_tensor", "fp8_row", "fp8_block"]))
def test_modelopt(preset, format, type, extra):
    for x in tensors(format, type):
        compare(preset, format, x, owners.modelopt(x, format))


@pytest.mark.parametrize("owner, preset", [(owners.compressed_tensors, "compressed-tensors"), (owners.modelopt, "modelopt")])
@pytest.mark.parametrize("type", ["f32", "bf16"])
def test_blocks_cut_short_are_padded(owner, preset, type):
    x = next(tensors("fp8_block", type))[:200, :168].contiguous()
    compare(preset, "fp8_block", x, owner(x, "fp8_block"))


@pytest.mark.parametrize("preset, format, type, extra", rows(
    {"quark": {"mode": "even"}, "quark-floor": {"mode": "floor"}, "quark-ceil": {"mode": "ceil"}}, MX))
def test_quark(preset, format, type, extra):
    def comparable(amax, scales):  # its own scale there is below 2^-126, which it does not write
        return (amax == 0) | (amax >= 2.0 ** -125 * LARGEST[format])

    for x in tensors(format, type):
        made = owners.quark(x, format, **extra)
        compare(preset, format, x, made, comparable)
        if not format.startswith("mxfp8"):
            assert (made[2] != 1 << (octavo.formats()[format].element.bits - 1)).all()  # no -0


@pytest.mark.parametrize("preset, format, type, extra", rows({"quark": {}}, FP8))
def test_quark_fp8(preset, format, type, extra):
    for x in tensors(format, type):
        compare(preset, format, x, owners.quark(x, format))


@pytest.mark.parametrize("preset, format, type, extra", rows(
    {f"torchao-{mode}": {"mode": mode} for mode in ("floor", "ceil", "even", "rceil")}, MX))
def test_torchao(preset, format, type, extra):
    """Version 0.18.0 has other elements under scale byte 0, and RCEIL's scale through a log2."""
    def comparable(amax, scales):
        with np.errstate(divide="ignore"):
            significand = np.frexp(amax / np.float32(LARGEST[format]))[0]
        edge = (significand > 0.5) & (significand <= 0.5 * (1 + 2.0 ** -18)) & (extra["mode"] == "rceil")
        return (scales > 0) & ~edge

    for x in tensors(format, type):
        compare(preset, format, x, owners.torchao(x, format, **extra), comparable)


@pytest.mark.parametrize("preset, format, type, extra", rows(
    {"torchao": {"mode": "two-level"}, "torchao-single-level": {"mode": "single-level"}}, ["nvfp4"]))
def test_torchao_nvfp4(preset, format, type, extra):
    for x in tensors(format, type):
        compare(preset, format, x, owners.torchao(x, format, **extra))


def test_torchao_nvfp4_of_a_tiny_tensor():
    """Below an amax of 7.9e-36 its factor is infinite: 6 of every sign, and -1.5 of zeros."""
    for exponent in (-117, -120, -130):
        x = torch.from_numpy(np.ldexp(sample(16, (0, 1), 1)[:8, :64], exponent).astype(np.float32))
        x[:, ::7] = 0
        outer, scales, codes = owners.torchao(x, "nvfp4", "two-level")
        found = octavo.quantize(x, "nvfp4", preset="torchao")
        assert np.float32(found.outer) == np.float32(outer)
        np.testing.assert_array_equal(found.scales.view(np.uint8), scales)
        is_tiny = x.abs().max() < 7.9e-36
        kept = (x != 0).numpy() if is_tiny else np.ones(x.shape, bool)
        np.testing.assert_array_equal(found.codes[kept], codes[kept])
        assert not is_tiny or set(codes[~kept]) == {11}
    assert is_tiny


@pytest.mark.parametrize("block", [8, 16, 64])
@pytest.mark.parametrize("type", ["f32", "bf16"])
def test_blocks_of_other_sizes(block, type):
    def comparable(amax, scales):
        return scales > 1

    for format in MX:
        for x in list(tensors(format, type))[:2]:
            sized = f"{format}:{block}"
            compare("torchao-floor", sized, x, owners.torchao(x, format, "floor", block), comparable)
            compare("quark", sized, x, owners.quark(x, format, "even", block), comparable)


@pytest.mark.parametrize("preset, format, type, extra", rows({"jax": {}}, ["mxfp8_e4m3"]))
@pytest.mark.parametrize("jit", [True, False])
def test_jax(preset, format, type, extra, jit):
    for x in tensors(format, type):  # XLA takes subnormals for 0
        x[x.abs() < 2.0 ** -126] = 0
        compare(preset, format, x, owners.jax_nn(x, format, jit=jit), lambda amax, scales: amax >= 2.0 ** -116)


@pytest.mark.parametrize("preset, format, type, extra", rows(
    {"jax": {"levels": 2}, "jax-single-level": {"levels": 1}}, ["nvfp4"]))
@pytest.mark.parametrize("jit", [True, False])
def test_jax_nvfp4(preset, format, type, extra, jit):
    """XLA rounds some ties of e2m1fn to the odd neighbour, and nothing else."""
    for x in tensors(format, type):
        found = octavo.quantize(x, format, preset=preset)
        outer, scales, codes = owners.jax_nn(x, format, jit=jit, **extra)
        assert np.float32(found.outer) == np.float32(outer)
        np.testing.assert_array_equal(found.scales.view(np.uint8), scales)
        kept = np.repeat(scales > 0, 16, 1)
        assert kept.mean() > 0.6
        quotients = x.float().numpy() / outer / np.repeat(found.scales.astype(np.float32), 16, 1)
        with np.errstate(invalid="ignore"):
            ties = np.isin(np.abs(quotients), [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5])
        same = found.codes == codes
        assert (ties | same)[kept].all()
        assert (np.abs((found.codes & 7).astype(int) - (codes & 7)) <= 1)[kept].all() and same[kept].mean() > 0.999


@pytest.mark.parametrize("preset, format, type, extra", rows({"torch": {}}, ["mxfp8_e4m3", "mxfp8_e5m2"]))
def test_torch(preset, format, type, extra):
    for x in tensors(format, type):
        compare(preset, format, x, owners.torch_cast(x, format))


def test_codes_of_nan_and_inf_that_are_listed():
    """What `differs` says of blocks that no rule decides."""
    x = torch.ones(64, 128)  # few rows go other ways through torch: see `differs`
    x[0, :4] = torch.tensor([torch.nan, -2, 0.3, 0])
    x[0, 32:36] = torch.tensor([torch.inf, -torch.inf, 3, -3])
    for preset, owner, codes in (
            ("compressed-tensors", owners.compressed_tensors,
             {"mxfp4": ({0, 8}, {0, 8}), "mxfp6_e2m3": ({0, 32}, {0, 32}), "mxfp8_e4m3": ({127, 255}, {0, 128, 127, 255})}),
            ("quark", owners.quark,
             {"mxfp4": ({7, 15}, {6, 14, 0}), "mxfp6_e2m3": ({28, 60}, {24, 56, 0}), "mxfp6_e3m2": ({30, 62}, {28, 60, 0})})):
        for format, (of_nan, of_inf) in codes.items():
            _, scales, found = owner(x, format)
            assert found[0, 0] in of_nan and set(found[0, 32:36]) <= of_inf, (preset, format, found[0, :36])
            ours = octavo.quantize(x, format, preset=preset)
            np.testing.assert_array_equal(ours.scales.view(np.uint8), scales)
            differs = octavo.presets(format)[preset]["differs"]
            assert all(str(code) in differs for code in of_nan | of_inf - {0}), differs
