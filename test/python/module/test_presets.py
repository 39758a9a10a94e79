"""quantize(preset=): the settings of the libraries, where a few words say what comes out. The bytes of
the libraries themselves are compared in octavo/Numerics."""
import json
import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest

import octavo

BIN = os.environ.get("OCTAVO_BIN_DIR")  # a wheel has no commands

SCALED = [name for name, row in octavo.formats().items() if isinstance(row, octavo.ScaledFormat)]
PAIRS = [(name, preset) for name in SCALED for preset in octavo.presets(name)]


def draw(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("name, preset", PAIRS)
def test_every_preset_quantizes(name, preset):
    x = draw(256, 256)
    tensor = octavo.quantize(x, name, preset=preset)
    # Rounding and clipping together: a quarter of e2m1's largest value, an eighth of e5m2's; torch's
    # cast rounds the scale down by up to a third.
    error = np.abs(tensor.dequantize() - x).max() / np.abs(x).max()
    assert 0 < error < (0.34 if preset == "torch" else 0.15 if tensor.format.element.bits == 8 else 0.26)
    facts = octavo.presets(name)[preset]
    assert facts["source"] and "rule" in facts


@pytest.mark.skipif(not BIN, reason="OCTAVO_BIN_DIR is not set")
@pytest.mark.parametrize("name", [name for name in SCALED if octavo.presets(name)])
def test_the_command_shows_the_same(name):
    # Where the sanitizers' runtime is put before the interpreter, the command has it built in.
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    out = subprocess.run([pathlib.Path(BIN) / "octavo", "presets", "--format", name, "--json"], capture_output=True,
                         text=True, check=True, env=environment).stdout
    shown = {row["name"]: row["settings"] | {key: row[key] for key in ("source", "inputs", "differs")}
             for row in json.loads(out)["presets"]}
    assert shown == {preset: {key.replace(" ", "_").lower(): value for key, value in facts.items()}
                     for preset, facts in octavo.presets(name).items()}


def scales_of_zeros(name, preset):
    tensor = octavo.quantize(np.zeros(128, np.float32), name, preset=preset)
    return tensor.scales.view(np.uint8)[0]


def test_what_they_differ_in():
    zeros = {preset: scales_of_zeros("mxfp4", preset) for preset in ("ocp", "quark", "xla")}
    assert zeros == {"ocp": 0, "quark": 1, "xla": 255}
    x = draw(4, 128)
    for preset, rule in [("torchao-floor", "floor"), ("torchao-ceil", "ceil"),
                         ("torchao-even", "even"), ("torchao-rceil", "round-up")]:
        assert (octavo.quantize(x, "mxfp8_e4m3", preset=preset)
                == octavo.quantize(x, "mxfp8_e4m3", rule=rule))
    scales = octavo.quantize(x, "fp8_group", preset="deepseek-ue8m0").scales
    assert (np.frexp(scales)[0] == 0.5).all()  # powers of two in f32
    half = np.float32([4] + [0.25] * 31)  # 0.25 lies between 0 and 0.5 of e2m1fn
    away = octavo.quantize(half, "mxfp4", preset="microxcaling").dequantize()
    assert away[1] == 0.5 and octavo.quantize(half, "mxfp4", preset="ocp").dequantize()[1] == 0


def e4m3(quotients):
    return np.clip(quotients, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)


@pytest.mark.parametrize("type", [np.float32, ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_type_of_the_input_counts(type, axis):
    """compressed-tensors and Quark compute FP8 in it, as ml_dtypes' own arithmetic does here; 2 Mi
    values are quantized piece by piece."""
    x = np.moveaxis(draw(2048, 1024).astype(type), 1, axis)
    amax = np.abs(x).max(axis, keepdims=True)
    scale = amax / type(448)
    for preset in "compressed-tensors", "quark":
        tensor = octavo.quantize(x, "fp8_row", preset=preset, axis=axis)
        np.testing.assert_array_equal(tensor.scales, scale.astype(np.float32))
        np.testing.assert_array_equal(tensor.codes, e4m3((x / scale).astype(np.float32)))
    wide = octavo.quantize(x.astype(np.float32), "fp8_row", preset="quark", axis=axis)
    assert (wide == octavo.quantize(x, "fp8_row", preset="quark", axis=axis)) == (type is np.float32)
    both = octavo.quantize_both(x, "fp8_row", preset="quark")
    assert both[axis == 0] == octavo.quantize(x, "fp8_row", preset="quark", axis=axis)


@pytest.mark.parametrize("block", [8, 16, 64])
def test_block_sizes(block):
    x = draw(8, 256)
    tensor = octavo.quantize(x, f"mxfp4:{block}", preset="quark")
    assert tensor.scales.shape == (8, 256 // block) and tensor.format.name == f"mxfp4:{block}"
    # A block of its own size beside zeros has the scale of the block alone.
    for first in range(0, 256, block):
        alone = np.zeros((8, 32 * -(-block // 32)), np.float32)
        alone[:, :block] = x[:, first:first + block]
        scales = octavo.quantize(alone, "mxfp4", preset="quark").scales.view(np.uint8)
        np.testing.assert_array_equal(tensor.scales.view(np.uint8)[:, first // block], scales.max(1))
    assert octavo.dequantize(tensor.T.T).shape == (8, 256) and tensor[2:4].format.name == f"mxfp4:{block}"
    with pytest.raises(octavo.FormatError, match="mxfp4:12"):
        octavo.quantize(x, "mxfp4:12")


def test_what_is_named_replaces_a_setting():
    x = draw(4, 128)
    x[0, 0] = np.nan
    with pytest.raises(octavo.NonFiniteError):
        octavo.quantize(x, "mxfp8_e4m3", preset="ocp", nan="error")
    assert np.isnan(octavo.quantize(x, "mxfp8_e4m3", preset="ocp").dequantize()[0, :32]).all()
    assert (octavo.quantize(x[1:], "mxfp4", preset="microxcaling", rounding="ties-to-even")
            == octavo.quantize(x[1:], "mxfp4", preset="ocp"))


@pytest.mark.parametrize("name, preset", PAIRS)
def test_ragged_edges_are_refused_where_the_owner_refuses_them(name, preset):
    row = octavo.formats()[name]
    shape = [256, 256]
    for axis, extent in enumerate(row.block):
        shape[axis] += isinstance(extent, int) and extent > 1
    if octavo.presets(name)[preset]["ragged edge"] != "refused" or shape == [256, 256]:
        octavo.quantize(draw(*shape), name, preset=preset)
        return
    with pytest.raises(octavo.ShapeError, match=r"axis 1 of shape \(25[67], 257\) .*pad .* or (take|leave)"):
        octavo.quantize(draw(*shape), name, preset=preset)


def test_the_advice_for_a_ragged_edge():
    x = draw(1, 33)
    with pytest.raises(octavo.ShapeError, match='pad the axis to 64, or .*: rule="floor"'):
        octavo.quantize(x, "mxfp4", preset="torchao-floor")
    padded = np.pad(x, ((0, 0), (0, 31)))
    assert (octavo.quantize(padded, "mxfp4", preset="torchao-floor")
            == octavo.quantize(padded, "mxfp4", rule="floor"))
    octavo.quantize(x, "mxfp4", rule="floor")
    with pytest.raises(octavo.ShapeError, match="axis 0 of shape .*blocks of 16.*pad the axis to 16"):
        octavo.quantize(draw(5), "nvfp4", preset="jax")  # one block, a short one
    with pytest.raises(octavo.ShapeError, match="axis 0 of shape"):
        octavo.quantize_both(draw(33, 64), "mxfp4", preset="torchao-floor")


@pytest.mark.parametrize("call, words", [
    (lambda: octavo.quantize(draw(32), "mxfp4", preset="nobody"), "available: ocp, microxcaling"),
    (lambda: octavo.quantize(draw(32), "nvfp4", preset="ocp"), "nvfp4 has no preset"),
    (lambda: octavo.quantize(draw(32), "mxfp4", preset="ocp", rule="floor"), "one of them"),
    (lambda: octavo.presets("mxfp5"), "available: mxfp8_e4m3"),
])
def test_bad_input(call, words):
    with pytest.raises(octavo.FormatError, match=words):
        call()
