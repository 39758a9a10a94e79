"""quantize(preset=): the settings of the libraries, where a few words say what comes out. The bytes of
the libraries themselves are compared in octavo/Numerics."""
import json
import os
import pathlib
import subprocess

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
    # Rounding and clipping together: a quarter of e2m1's largest value, an eighth of e5m2's.
    error = np.abs(tensor.dequantize() - x).max() / np.abs(x).max()
    assert 0 < error < (0.15 if tensor.format.element.bits == 8 else 0.26)
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
