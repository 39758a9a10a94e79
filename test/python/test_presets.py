"""Presets against the arithmetic of their owners, written again in NumPy with ml_dtypes, and
docs/scale-rules.md against the table (docs/semantics.md, S11 to S16).

The test program octavo-numerics-probe does octavo's side.
"""
import json
import os
import pathlib
import re
import subprocess

import ml_dtypes
import numpy as np
import pytest
from preset_samples import sample

BIN = pathlib.Path(os.environ["OCTAVO_BIN_DIR"])
PAGE = pathlib.Path(__file__).parents[2] / "docs/scale-rules.md"
F32 = np.float32
F32_MAX = np.finfo(np.float32).max
E4M3 = ml_dtypes.float8_e4m3fn
ELEMENTS = {  # type, largest value, exponent of its largest power of two, significand bits
    "mxfp8_e4m3": (E4M3, 448, 8, 3),
    "mxfp8_e5m2": (ml_dtypes.float8_e5m2, 57344, 15, 2),
    "mxfp6_e3m2": (ml_dtypes.float6_e3m2fn, 28, 4, 2),
    "mxfp6_e2m3": (ml_dtypes.float6_e2m3fn, 7.5, 2, 3),
    "mxfp4": (ml_dtypes.float4_e2m1fn, 6, 2, 1),
    "nvfp4": (ml_dtypes.float4_e2m1fn, 6, 2, 1),
    "fp8_tensor": (E4M3, 448, 8, 3),
    "fp8_row": (E4M3, 448, 8, 3),
    "fp8_group": (E4M3, 448, 8, 3),
    "fp8_e5m2_tensor": (ml_dtypes.float8_e5m2, 57344, 15, 2),
    "fp8_e5m2_row": (ml_dtypes.float8_e5m2, 57344, 15, 2),
}
INPUTS = {"f32": F32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
MX = [name for name in ELEMENTS if name.startswith("mx")]


def octavo(*arguments):
    return subprocess.run([BIN / "octavo", *arguments], capture_output=True, text=True, check=True)


def by_preset(name, scaled_format, values, block, input="f32"):
    """Outer scale, its inverse, codes of scales and of elements."""
    rows, columns = values.shape
    out = subprocess.run([BIN / "octavo-numerics-probe", "preset", name, scaled_format, str(columns), input],
                         input=np.ascontiguousarray(values, F32).tobytes(), capture_output=True,
                         check=True).stdout
    outer, inverse = np.frombuffer(out[:8], F32)
    blocks = rows * columns // block
    scales = np.frombuffer(out[8:8 + 4 * blocks], np.uint32)
    if blocks >= rows:
        scales = scales.reshape(rows, -1)
    codes = np.frombuffer(out[8 + 4 * blocks:], np.uint8).reshape(rows, columns)
    return outer, inverse, scales, codes


def exponent_and_bits(amax):
    bits = amax.view(np.uint32).astype(np.int64)
    return (bits >> 23) - 127, bits & 0x7FFFFF


def scale_bytes(rule, amax, scaled_format, even_bits=None):
    """E8M0 bytes of f32 amaxes in integer arithmetic; amaxes below 2^-126 are the caller's."""
    _, largest, emax, trailing = ELEMENTS[scaled_format]
    exponent, significand = exponent_and_bits(amax)
    if rule == "floor":
        e = exponent - emax
    elif rule == "ceil":
        e = exponent - emax + (significand > 0)
    elif rule == "even":
        raised = amax.view(np.uint32) + np.uint32(1 << (22 - (even_bits or trailing)))
        e = (raised >> 23).astype(np.int64) - 127 - emax
    elif rule == "nearest":
        between = exponent - emax == -127  # the two smallest scales: up
        e = exponent - emax + np.where(between, significand > 0, significand >= 0x400000)
    elif rule == "cast":
        return (amax / F32(largest)).astype(ml_dtypes.float8_e8m0fnu).view(np.uint8)
    elif rule.startswith("log2"):
        value = amax / F32(largest) if rule == "log2 of quotient" else amax
        log2 = np.log2(value.astype(np.float64)).astype(F32)
        e = np.ceil(log2) if rule == "log2 of quotient" else (np.floor(log2) if rule == "log2 down" else np.ceil(log2)) - emax
    else:
        d = amax * F32(1 / largest) if rule == "reciprocal" else amax / F32(largest)
        exponent, significand = exponent_and_bits(d)
        e = np.where(d < 2.0**-126, np.where(d > 2.0**-127, -126, -127), exponent + (significand > 0))
    return np.clip(e, -127, 127) + 127


def element_codes(scaled_format, quotients):
    dtype, largest, _, _ = ELEMENTS[scaled_format]
    return np.clip(quotients, -largest, largest).astype(dtype).view(np.uint8)


POWER_ROWS = [
    ("ocp", "floor", {}),
    ("torchao-floor", "floor", {}),
    ("torchao-ceil", "ceil", {}),
    ("torchao-even", "even", {}),
    ("torchao-rceil", "reciprocal", {}),
    ("transformer-engine", "reciprocal", {}),
    ("torch", "cast", {}),
    ("quark", "even", {"least": 1, "zero": 1}),
    ("quark-floor", "log2 down", {"least": 1, "zero": 104}),
    ("quark-ceil", "log2 up", {"least": 1, "zero": 104}),
    ("modelopt", "log2 of quotient", {}),
    ("jax", "quotient", {}),
    ("compressed-tensors", "even", {"even_bits": {"mxfp8_e4m3": 1}}),
    ("xla", "nearest", {}),
]


def presets():
    return json.loads(octavo("presets", "--json").stdout)["presets"]


@pytest.mark.parametrize("name, rule, settings", POWER_ROWS, ids=[row[0] for row in POWER_ROWS])
def test_power_of_two_scales(name, rule, settings):
    compared = 0
    for row in presets():
        if row["name"] != name:
            continue
        for scaled_format in sorted(set(row["formats"]) & set(MX)):
            x = sample(32, (-140, 126), len(scaled_format))
            amax = np.abs(x.reshape(256, 8, 32)).max(-1)
            with np.errstate(divide="ignore"):
                expected = scale_bytes(rule, amax, scaled_format,
                                       settings.get("even_bits", {}).get(scaled_format))
            expected = np.maximum(expected, settings.get("least", 0))
            expected[amax == 0] = 0xFF if name == "xla" else settings.get("zero", 0)
            _, _, scales, codes = by_preset(name, scaled_format, x, 32)
            # A subnormal amax is far below every format's least scale.
            expected[(amax < 2.0**-126) & (amax > 0)] = settings.get("least", 0)
            np.testing.assert_array_equal(scales, expected, scaled_format)
            factor = np.ldexp(F32(1), 127 - scales.astype(np.int32)).astype(np.float64)
            quotients = x.reshape(256, 8, 32) * factor[..., None]
            found = codes.reshape(256, 8, 32)
            with np.errstate(over="ignore"):
                if name == "xla":
                    wanted = quotients.astype(F32).astype(ELEMENTS[scaled_format][0]).view(np.uint8)
                    wanted[scales == 0xFF] = 0
                else:
                    wanted = element_codes(scaled_format, quotients.astype(F32))
            if row["settings"]["rounding"] == "ties-toward-zero":
                wanted = e2m1_ties_toward_zero(quotients)
            if row["settings"]["zero"] == "+0":
                wanted = np.where(x.reshape(wanted.shape) == 0, 0, wanted)
            if row["settings"]["zero"] == "+0, rounded ones too":
                wanted = np.where(wanted.view(ELEMENTS[scaled_format][0]).astype(F32) == 0, 0, wanted)
            np.testing.assert_array_equal(found, wanted, scaled_format)
            compared += codes.size
    assert compared >= 65536


def e2m1_ties_toward_zero(quotients):
    """The index among the upper bounds of e2m1fn's values that lie strictly below |x|; the sign bit
    is set where x is not positive."""
    bounds = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5])
    codes = (np.abs(quotients)[..., None] > bounds).sum(-1)
    return (codes + 8 * ~(quotients.astype(F32) > 0)).astype(np.uint8)


def nvfp4_owner(name, x, input=F32):
    """Inverse or outer scale, scale codes and element codes; every step in f32, but for what
    compressed-tensors does in the type of its input."""
    six, block = F32(6), np.abs(x.reshape(256, -1, 16)).max(-1)
    amax = np.abs(x).max()
    level = F32(1) if name.endswith("single-level") else amax / F32(2688)
    with np.errstate(all="ignore"):
        if name.startswith("torchao"):
            outer = level
            s = np.clip(block / six / outer, F32(2.0**-6), F32(448)).astype(E4M3)
            q = x.reshape(256, -1, 16) * (F32(1) / outer / s.astype(F32))[..., None]
        elif name == "modelopt":
            outer = amax / F32(2688)
            ratio = block / (six * outer)
            ratio[block == 0] = 1
            s = np.clip(ratio, F32(2.0**-9), F32(448)).astype(E4M3)
            q = x.reshape(256, -1, 16) / (s.astype(F32) * outer)[..., None]
            q[q == 0] = 0
        elif name == "compressed-tensors":
            reciprocal = (F32(1) / amax).astype(input).astype(F32)
            g = (reciprocal * F32(2688)).astype(input).astype(F32)
            s = np.minimum(g * (block / six).astype(input).astype(F32), F32(448)).astype(E4M3)
            s[s == 0] = 0.125
            q = x.reshape(256, -1, 16) / (s.astype(F32) / g)[..., None]
            q[q == 0] = 0
            return g, s.view(np.uint8), element_codes("nvfp4", q)
        elif name == "transformer-engine":
            g = F32(2688) / amax
            s = np.minimum(block * (g * (F32(1) / six)), F32(448)).astype(E4M3)
            factor = np.minimum(F32(1) / (s.astype(F32) * (F32(1) / g)), F32_MAX)
            return g, s.view(np.uint8), element_codes("nvfp4", x.reshape(256, -1, 16) *
                                                      factor[..., None])
        else:
            outer = level
            scaled = (x / outer).reshape(256, -1, 16)
            s = np.clip(np.abs(scaled).max(-1) / six, 0, F32(448)).astype(E4M3)
            q = scaled / s.astype(F32)[..., None]
            q = np.where(scaled == 0, scaled, q)
    return outer, s.view(np.uint8), element_codes("nvfp4", q)


@pytest.mark.parametrize("name", ["torchao", "torchao-single-level", "modelopt", "compressed-tensors",
                                  "transformer-engine", "jax", "jax-single-level"])
@pytest.mark.parametrize("factor", [1.0, 1.37, 0.003])
@pytest.mark.parametrize("input", ["f32", "bf16"])
def test_nvfp4(name, factor, input):
    x = (sample(16, (-13, 12), 5) * F32(factor)).astype(INPUTS[input]).astype(F32)
    x[129] = 0  # subnormals leave f32 between two divisions: the owner's own corner
    outer, inverse, scales, codes = by_preset(name, "nvfp4", x, 16, input)
    wanted_outer, wanted_scales, wanted_codes = nvfp4_owner(name, x, INPUTS[input])
    assert wanted_outer == (inverse if name in ("compressed-tensors", "transformer-engine")
                            else outer)
    np.testing.assert_array_equal(scales, wanted_scales)
    np.testing.assert_array_equal(codes.reshape(wanted_codes.shape), wanted_codes)


def fp8_owner(name, scaled_format, x, input):
    """Scales (f32) and quotients. PyTorch computes in the type of its input, unless an f32 tensor
    of one dimension and more has a part: then in f32; a scale of a tensor has none."""
    largest = F32(ELEMENTS[scaled_format][1])
    amax = np.abs(x).max(-1, keepdims=True)
    with np.errstate(all="ignore"):
        if name == "modelopt":
            scale = amax / largest
            scale[scale == 0] = 1
            quotients = x / scale
            return scale, (quotients.astype(input).astype(F32) if scaled_format == "fp8_tensor"
                           else quotients)
        if name == "quark":
            scale = (amax / largest).astype(input).astype(F32)
            scale[scale == 0] = F32(2.0**-23)
            return scale, (x / scale).astype(input).astype(F32)
        if name == "transformer-engine":
            s = np.minimum(largest / amax, F32_MAX)
            return F32(1) / s, x * s
        if name == "deepseek-ue8m0":
            d = np.maximum(amax, F32(1e-4)) * F32(1 / 448)
            exponent, significand = exponent_and_bits(d)
            scale = np.ldexp(F32(1), exponent + (significand > 0))
            return scale, x / scale
        scale = (amax / largest).astype(input).astype(F32)
        scale[scale == 0] = F32(ml_dtypes.finfo(input).eps)
        return scale, (x / scale).astype(input).astype(F32)


@pytest.mark.parametrize("name, scaled_format, block", [
    ("transformer-engine", "fp8_tensor", 256 * 256), ("deepseek-ue8m0", "fp8_group", 128),
    ("compressed-tensors", "fp8_group", 128), ("compressed-tensors", "fp8_row", 256),
    ("compressed-tensors", "fp8_tensor", 256 * 256), ("modelopt", "fp8_tensor", 256 * 256),
    ("modelopt", "fp8_row", 256), ("quark", "fp8_tensor", 256 * 256), ("quark", "fp8_row", 256),
    ("quark", "fp8_e5m2_tensor", 256 * 256), ("quark", "fp8_e5m2_row", 256)])
@pytest.mark.parametrize("input", INPUTS)
def test_f32_scales(name, scaled_format, block, input):
    x = sample(32, (-9, 9), 6).astype(INPUTS[input]).astype(F32)
    if name == "modelopt":
        x[129] = 0  # it takes 2^-126 for what is below
    _, _, scales, codes = by_preset(name, scaled_format, x, block, input)
    scale, quotients = fp8_owner(name, scaled_format, x.reshape(-1, block), INPUTS[input])
    np.testing.assert_array_equal(scales.reshape(-1), scale.astype(F32).reshape(-1).view(np.uint32))
    np.testing.assert_array_equal(codes.reshape(quotients.shape),
                                  element_codes(scaled_format, quotients))


def test_the_bits_that_even_keeps():
    """Its rows show the element's own trailing significand bits, but where an owner has others."""
    others = {("compressed-tensors", "mxfp8_e4m3"): 1}
    shown = {(row["name"], scaled_format): row["settings"].get("even_to_bits")
             for row in presets() for scaled_format in row["formats"]
             if row["settings"]["rule"] == "even"}
    assert {"torchao-even", "quark", "compressed-tensors"} == {name for name, _ in shown}
    for (name, scaled_format), bits in shown.items():
        own = ml_dtypes.finfo(ELEMENTS[scaled_format][0]).nmant
        assert bits == str(others.get((name, scaled_format), own)), (name, scaled_format)
        text = octavo("presets", name, "--format", scaled_format).stdout
        assert re.search(rf"^even to bits +{bits}$", text, re.M), text


def test_the_page_shows_the_table():
    assert octavo("presets", "--markdown").stdout in PAGE.read_text(), (
        "docs/scale-rules.md is old; put what octavo presets --markdown prints between its marks")
