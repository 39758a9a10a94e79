"""--octavo-emit of every setting of a quantization and of every conversion: codes, scales and values of the plain
program are those that the interpreter gives octavo.quantize and octavo.convert, on the interpreter and on XLA's CPU
compiler."""
import json
import os
import re
import subprocess

import ml_dtypes
import numpy as np
import pytest
from on_xla import on_xla
from preset_samples import sample
from test_emit import emitted
from test_reference import OCTAVO, assert_same, run

pytestmark = pytest.mark.mlir

EXHAUSTIVE = os.environ.get("OCTAVO_EXHAUSTIVE")
ROWS, COLUMNS = 8, 256
INPUTS = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
# Element, scale, block, outer or not.
FORMATS = {
    "mxfp8_e4m3": ("f8E4M3FN", "f8E8M0FNU", [1, 32], False),
    "mxfp8_e5m2": ("f8E5M2", "f8E8M0FNU", [1, 32], False),
    "mxfp6_e3m2": ("f6E3M2FN", "f8E8M0FNU", [1, 32], False),
    "mxfp6_e2m3": ("f6E2M3FN", "f8E8M0FNU", [1, 32], False),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", [1, 32], False),
    "mxint8": ("i8", "f8E8M0FNU", [1, 32], False),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", [1, 16], True),
    "fp8_tensor": ("f8E4M3FN", "f32", [ROWS, COLUMNS], False),
    "fp8_row": ("f8E4M3FN", "f32", [1, COLUMNS], False),
    "fp8_e5m2_tensor": ("f8E5M2", "f32", [ROWS, COLUMNS], False),
    "fp8_e5m2_row": ("f8E5M2", "f32", [1, COLUMNS], False),
    "fp8_block": ("f8E4M3FN", "f32", [ROWS, 128], False),
    "fp8_group": ("f8E4M3FN", "f32", [1, 128], False),
    "cfloat8_1_4_3_tensor": ("cfloat8_1_4_3", "f8E8M0FNU", [ROWS, COLUMNS], False),
    "cfloat8_1_5_2_tensor": ("cfloat8_1_5_2", "f8E8M0FNU", [ROWS, COLUMNS], False),
    "fnuz rows": ("f8E4M3FNUZ", "f32", [1, COLUMNS], False),
    "e8m0 below an outer scale": ("f8E4M3FN", "f8E8M0FNU", [1, 32], True),
    "bf16 scales": ("f8E3M4", "bf16", [4, 48], False),
}
SIX_BITS = {"mxfp6_e3m2", "mxfp6_e2m3"}  # which XLA does not have
UNTYPED = {"cfloat8_1_4_3_tensor", "cfloat8_1_5_2_tensor"}  # nor has MLIR


def shaped(extents, element):
    return f"tensor<{'x'.join(map(str, [*extents, element]))}>"


def program(cases, source="f32"):
    """@main of x (and of random bits, where a case takes them): of each case the dequantized values, the elements as
    f32 (of int8 as they are) and the bits of the scales. A case is a format and the settings."""
    shape = [ROWS, COLUMNS]
    body, results, types = "", [], []
    for i, (name, settings) in enumerate(cases):
        element, scale, block, has_outer = FORMATS[name]
        grid = [-(-extent // size) for extent, size in zip(shape, block, strict=True)]
        kind = f"!octavo.scaled<{'x'.join(map(str, [*shape, element]))}, scale {scale}, block {block}{', outer f32' if has_outer else ''}>"
        random = f" random(%r : {shaped(shape, 'ui32')})" if "stochastic" in settings else ""
        body += f"  %q{i} = octavo.quantize %x{random}, {settings} : {shaped(shape, source)} -> {kind}\n"
        body += f"  %d{i} = octavo.dequantize %q{i} : {kind} -> {shaped(shape, 'f32')}\n"
        results.append(f"%d{i}")
        types.append(shaped(shape, "f32"))
        if name in UNTYPED:
            continue
        outer = ", tensor<f32>" if has_outer else ""
        body += (f"  %e{i}, %s{i}{f', %o{i}' if has_outer else ''} = octavo.unpack %q{i} : ({kind}) -> "
                 f"({shaped(shape, element)}, {shaped(grid, scale)}{outer})\n")
        wide = element if element == "i8" else "f32"
        body += f"  %w{i} = stablehlo.convert %e{i} : ({shaped(shape, element)}) -> {shaped(shape, wide)}\n"
        bits = {"f32": "ui32", "bf16": "ui16"}.get(scale, "ui8")
        body += f"  %b{i} = stablehlo.bitcast_convert %s{i} : ({shaped(grid, scale)}) -> {shaped(grid, bits)}\n"
        results += [f"%w{i}", f"%b{i}"] + ([f"%o{i}"] if has_outer else [])
        types += [shaped(shape, wide), shaped(grid, bits)] + (["tensor<f32>"] if has_outer else [])
    takes = any("stochastic" in settings for _, settings in cases)
    random = f", %r: {shaped(shape, 'ui32')}" if takes else ""
    text = (f"func.func @main(%x: {shaped(shape, source)}{random}) -> ({', '.join(types)}) {{\n{body}"
            f"  return {', '.join(results)} : {', '.join(types)}\n}}\n")
    return text, [random_bits()] if takes else []


def random_bits():
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**32, (ROWS, COLUMNS), np.uint32, endpoint=False)
    bits[0, ::2], bits[1, ::3] = 0, 2**32 - 1
    return bits


def values(source="f32", exponents=(-140, 126)):
    x = sample(32, exponents, 3)
    x = x[[*range(0, 256, 32)][:ROWS - 3] + [128, 129, 130]]
    if exponents[0] > -100:  # what XLA does not take for 0
        x[np.abs(x) < 2.0**-100] = 0
    with np.errstate(over="ignore"):
        x = x.astype(INPUTS[source])
    x[~np.isfinite(x.astype(np.float32))] = 1
    return x


def with_a_block_of_nan(x):
    x = with_non_finite(x)
    x[3, 192:224] = np.nan
    return x


def with_non_finite(x):
    """Blocks with a NaN of either sign, an Inf of either sign, and both."""
    x = x.copy()
    x[0, 5], x[0, 40], x[1, 3], x[1, 70], x[2, 100:102], x[2, 130] = np.nan, -np.nan, np.inf, -np.inf, (np.nan, np.inf), np.nan
    return x


def as_file(x):
    return x.view(np.uint16) if x.dtype == ml_dtypes.bfloat16 else x


def assert_all(tmp_path, cases, x, source="f32", is_xla=False):
    text, random = program(cases, source)
    expected = wanted(tmp_path, text, x, *random)
    found = on_xla(emitted(text), x, *random) if is_xla else wanted(tmp_path, emitted(text), x, *random)
    assert len(found) == len(expected) >= len(cases)
    for i, (after, before) in enumerate(zip(found, expected, strict=True)):
        try:
            assert_same(after, before)
        except AssertionError:
            at = np.argwhere(~((after == before) | ((after != after) & (before != before))))[:4].tolist()
            raise AssertionError(f"{cases}: result {i} at {at}") from None


def wanted(tmp_path, text, x, *random, backend="reference"):
    if x.dtype == ml_dtypes.bfloat16:  # .npy has no bf16
        kind = shaped([ROWS, COLUMNS], "")[:-1]
        name = re.search(rf"(%\w+): {kind}bf16>", text)[1]
        text = text.replace(f"{name}: {kind}bf16>", f"%raw: {kind}ui16>", 1)
        body = re.search(r"func.func @main.*{\n", text).end()
        text = f"{text[:body]}  {name} = stablehlo.bitcast_convert %raw : ({kind}ui16>) -> {kind}bf16>\n{text[body:]}"
    return run(tmp_path, text, as_file(x), *random, backend=backend)


def presets():
    ended = subprocess.run([OCTAVO, "presets", "--json"], capture_output=True, text=True, check=True)
    rows = {}
    for row in json.loads(ended.stdout)["presets"]:
        rows.setdefault(row["name"], []).extend(name for name in row["formats"])
    return rows


PRESETS = presets()


@pytest.mark.parametrize("source", INPUTS)
@pytest.mark.parametrize("name", PRESETS)
def test_presets(tmp_path, name, source):
    cases = [(scaled, f'preset = "{name}"') for scaled in PRESETS[name]]
    assert_all(tmp_path, cases, values(source), source)


# What refuses NaN and Inf cannot be run on them.
TAKING = [name for name in PRESETS if name in ("ocp", "microxcaling", "torchao-floor", "torchao-even", "torch", "jax", "xla", "tesla",
                                                "quark", "quark-floor", "quark-ceil")]


@pytest.mark.parametrize("name", TAKING)
def test_presets_of_non_finite_values(tmp_path, name):
    cases = [(scaled, f'preset = "{name}"') for scaled in PRESETS[name] if FORMATS[scaled][1] == "f8E8M0FNU"]
    assert_all(tmp_path, cases, with_a_block_of_nan(values()))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_on_xla(tmp_path, name):
    cases = [(scaled, f'preset = "{name}"') for scaled in PRESETS[name] if scaled not in SIX_BITS]
    assert_all(tmp_path, by_turns(cases, [*PRESETS].index(name)), values(exponents=(-30, 30)), is_xla=True)


def by_turns(cases, turn):
    """Every third of the cases that XLA is to compile, which takes it up to half a second each; `make exhaustive` takes all."""
    return cases if EXHAUSTIVE or len(cases) < 3 else cases[turn % 3::3]


def test_xla_takes_no_floats_of_six_bits():
    text, _ = program([("mxfp6_e2m3", 'preset = "ocp"')])
    with pytest.raises(Exception, match="Failed to translate module to LLVM IR"):
        on_xla(emitted(text), values())


SETTINGS = {
    "roundings": [f"rounding = {rounding}" for rounding in ("ties-to-even", "ties-to-away", "ties-toward-zero", "toward-zero",
                                                             "toward-positive", "toward-negative", "stochastic")],
    "overflow": ["overflow = special", "overflow = special, rounding = toward-positive", "overflow = special, rounding = stochastic"],
    "integers": ["int8 = full", "int8 = full, rounding = toward-negative"],
    "zeros": [f"zero_sign = {sign}" for sign in ("positive", "negative", "positive-rounded")],
    "arithmetic of the scale": [f"ratio = {form}" for form in ("quotient", "joint-quotient", "outer-first", "inverse-last", "inverse-first", "inverted")],
    "outer scales": [f"outer = {form}" for form in ("inverse", "inverse-of-reciprocal", "one")],
    "arithmetic of the elements": [f"quotient = {form}" for form in ("divided-by-quotient", "successive", "times-inverse", "times-quotient", "times-inverted")],
    "the input's type": ["ratio_in_input_type = true", "outer_in_input_type = true", "quotient_in_input_type = true"],
    "least amax": ["least_amax = 0.5"],
}
POLICIES = ("propagate", "saturate", "skip-nan")


def cases_of(subject, formats):
    for name in formats:
        rule = "floor" if FORMATS[name][1] == "f8E8M0FNU" else "nearest"
        for settings in SETTINGS[subject]:
            yield name, f"rule = {rule}, {settings}"


@pytest.mark.parametrize("subject", SETTINGS)
def test_settings(tmp_path, subject):
    source = "bf16" if subject == "the input's type" else "f32"
    assert_all(tmp_path, list(cases_of(subject, FORMATS)), values(source, (-60, 60)), source)


@pytest.mark.parametrize("subject", SETTINGS)
def test_settings_on_xla(tmp_path, subject):
    source = "bf16" if subject == "the input's type" else "f32"
    names = ("mxfp8_e4m3", "mxfp4", "mxint8", "nvfp4", "fp8_row", "cfloat8_1_4_3_tensor")
    cases = [case for turn, name in enumerate(names) for case in by_turns(list(cases_of(subject, [name])), turn)]
    assert_all(tmp_path, cases, values(source, (-20, 20)), source, is_xla=True)


@pytest.mark.parametrize("is_xla", [False, True], ids=["interpreter", "xla"])
@pytest.mark.parametrize("policy", POLICIES)
def test_non_finite_values(tmp_path, policy, is_xla):
    # Below an outer scale the largest f32 makes quotients subnormal, and blocks of zeros have the divisor 2^-127.
    left = SIX_BITS | {"e8m0 below an outer scale", "nvfp4"} if is_xla else set()
    cases = [(name, f"rule = {'floor' if FORMATS[name][1] == 'f8E8M0FNU' else 'nearest'}, non_finite = {policy}{more}")
             for name in FORMATS if name not in left for more in ("", ", rounding = stochastic")]
    x = values(exponents=(-20, 20))
    if is_xla:
        cases = by_turns(cases, POLICIES.index(policy))
        # An Inf counts as the largest f32, whose scale makes subnormal quotients of small values.
        x[np.abs(x) < 0.5] = 0
    assert_all(tmp_path, cases, with_non_finite(x) if is_xla else with_a_block_of_nan(x), is_xla=is_xla)


EXPONENTS = [
    "rule = floor, exponent = log2", "rule = ceil, exponent = log2", "rule = round-up, exponent = log2",
    "rule = round-up, exponent = log2, ratio_in_input_type = true", "rule = floor, exponent = log2, ratio_in_input_type = true",
    "rule = round-up, ratio = inverted", "rule = nearest, ratio = quotient", "rule = even, even_bits = 1", "rule = even, past_range = 0x7FC00000"]


@pytest.mark.parametrize("source", INPUTS)
def test_exponents_of_amaxes_beside_every_switch(tmp_path, source):
    """An amax a block: powers of two, what is next to them, and every subnormal power."""
    kind = INPUTS[source]
    largest = ml_dtypes.finfo(kind)
    with np.errstate(all="ignore"):
        powers = np.float64(2.0) ** np.arange(int(largest.minexp) - largest.nmant, largest.maxexp)
        near = np.concatenate([np.float32(powers * factor) for factor in
                               (1, 1 - 2.0**-24, 1 + 2.0**-23, 1 - 2.0**-20, 1 + 2.0**-20, 1.5, 1.75, 1.9999)]).astype(kind)
    near = near[np.isfinite(near.astype(np.float32))]
    blocks = ROWS * COLUMNS // 32
    for start in range(0, len(near), 8 * blocks):
        some = np.resize(near[start:start + 8 * blocks:8], blocks)
        x = np.zeros((blocks, 32), kind)
        x[:, 7], x[:, 9] = some, (some.astype(np.float32) * np.float32(-0.37)).astype(kind)
        assert_all(tmp_path, [(name, settings) for settings in EXPONENTS for name in ("mxfp8_e4m3", "mxint8")], x.reshape(ROWS, COLUMNS), source)


def test_given_scales(tmp_path):
    """S12 and S18: scales that no rule gives, and an amax that is given."""
    corners = "zero_block = 0.25, nan_block = 0.5, inf_block = 4.0, least_scale = 0.125"
    cases = [(name, f"rule = even, non_finite = {policy}, {corners}{more}") for policy in ("propagate", "saturate", "skip-nan")
             for name, more in [("mxfp8_e4m3", ""), ("mxfp4", ", past_range = 8.0"), ("mxint8", ", int8 = full")]]
    cases += [("nvfp4", f"rule = nearest, non_finite = saturate, {corners}, underflow = 2.0"), ("nvfp4", "rule = nearest, non_finite = saturate, amax = 3.0"),
              ("fp8_row", "rule = round-up, scale_values = powers-of-two, non_finite = skip-nan, zero_block = 0x7FC00000"),
              ("fp8_tensor", "rule = nearest, non_finite = skip-nan, amax = 20.0"), ("fp8_row", "rule = nearest, input_epsilon = true, non_finite = propagate")]
    assert_all(tmp_path, cases, with_non_finite(values()))


def test_fused_dots_and_calls(tmp_path):
    """A fused dot is opened, and calls take and give the parts of scaled tensors."""
    kind = "!octavo.scaled<6x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>"
    text = f"""
func.func private @narrow(%x: tensor<6x64xf32>) -> {kind} {{
  %0 = octavo.quantize %x, rule = floor : tensor<6x64xf32> -> {kind}
  return %0 : {kind}
}}
func.func private @same(%x: {kind}, %y: tensor<6x64xf32>) -> (tensor<6x64xf32>, {kind}) {{
  return %y, %x : tensor<6x64xf32>, {kind}
}}
func.func @main(%x: tensor<6x64xf32>, %y: tensor<5x64xf32>) -> (tensor<6x64xf32>, tensor<6x5xf32>) {{
  %q = call @narrow(%x) : (tensor<6x64xf32>) -> {kind}
  %z, %r = call @same(%q, %x) : ({kind}, tensor<6x64xf32>) -> (tensor<6x64xf32>, {kind})
  %0 = octavo.fused_dot %r, %y : ({kind}, tensor<5x64xf32>) -> tensor<6x5xf32> {{
  ^bb0(%lhs: {kind}, %rhs: tensor<5x64xf32>):
    %product = octavo.dot_general %lhs, %rhs, contracting_dims = [1] x [1] : ({kind}, tensor<5x64xf32>) -> tensor<6x5xf32>
    %sum = stablehlo.add %product, %product : tensor<6x5xf32>
    octavo.yield %sum : tensor<6x5xf32>
  }}
  return %z, %0 : tensor<6x64xf32>, tensor<6x5xf32>
}}"""
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(shape).astype(np.float32) for shape in ((6, 64), (5, 64)))
    after = emitted(text)
    for found, expected in zip(run(tmp_path, after, x, y, backend="reference"), run(tmp_path, text, x, y, backend="reference"), strict=True):
        assert_same(found, expected)


ROUNDINGS = ("ties-to-even", "ties-to-away", "ties-toward-zero", "toward-zero", "toward-positive", "toward-negative", "stochastic")


@pytest.mark.parametrize("source", ["f64", "f32", "bf16"])
@pytest.mark.parametrize("target", ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E8M0FNU", "f6E2M3FN", "f4E2M1FN", "f16", "bf16", "f32", "f64"])
def test_conversions(tmp_path, source, target):
    """octavo.convert by every rounding, overflow and NaN, the results as f64."""
    if source == target:
        return
    shape = [ROWS, COLUMNS]
    body, results = "", []
    for i, (rounding, overflow, nan) in enumerate((r, o, n) for r in ROUNDINGS for o in ("special", "saturate") for n in ("negative-zero", "maximum")):
        random = f" random(%r : {shaped(shape, 'ui32')})" if rounding == "stochastic" else ""
        body += (f"  %c{i} = octavo.convert %v{random}, rounding = {rounding}, overflow = {overflow}, nan = {nan} : {shaped(shape, source)} -> {shaped(shape, target)}\n"
                 f"  %w{i} = stablehlo.convert %c{i} : ({shaped(shape, target)}) -> {shaped(shape, 'f64')}\n")
        results.append(f"%w{i}")
    types = ", ".join([shaped(shape, "f64")] * len(results))
    first = f"  %v = stablehlo.convert %x : ({shaped(shape, 'f64')}) -> {shaped(shape, source)}\n" if source != "f64" else ""
    argument = "%x" if first else "%v"
    text = (f"func.func @main({argument}: {shaped(shape, 'f64')}, %r: {shaped(shape, 'ui32')}) -> ({types}) {{\n{first}{body}"
            f"  return {', '.join(results)} : {types}\n}}\n")
    x = with_a_block_of_nan(values().astype(np.float64))
    x[4:6] = np.random.default_rng(2).standard_normal((2, COLUMNS)) * 2.0 ** np.random.default_rng(3).integers(-20, 20, (2, COLUMNS))
    x[6, :128] = np.ldexp(1.0, np.arange(-160, 160, 2.5).astype(int)) * np.repeat([1.0, -1.0, 1.5, 1.0000001], 32)
    bits = random_bits()
    for found, expected in zip(run(tmp_path, emitted(text), x, bits, backend="reference"), run(tmp_path, text, x, bits, backend="reference"), strict=True):
        assert_same(found, expected)


def opt(text, *passes):
    ended = subprocess.run([OCTAVO.parent / "octavo-opt", *passes, "-"], input=text, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def there_and_back(tmp_path, narrow, *arrays):
    """The products that recovery finds in the plain program are the ones that were written, with their values."""
    back = opt(narrow, "--octavo-emit", "--octavo-recover-scaled")
    assert back.count("octavo.dot_general") == narrow.count("octavo.dot_general") > 0
    kinds = [set(re.findall(r"!octavo\.scaled<[^>]*>", text)) for text in (back, narrow)]
    assert kinds[0] == kinds[1]
    pairs = zip(run(tmp_path, back, *arrays, backend="reference"), run(tmp_path, narrow, *arrays, backend="reference"), strict=True)
    for found, expected in pairs:
        assert_same(found, expected)


@pytest.mark.parametrize("extent", [256, 250])  # of which the last blocks are short
@pytest.mark.parametrize("name", [name for name in FORMATS if name.startswith(("mx", "nvfp", "fp8", "cfloat8"))])
def test_recovered(tmp_path, name, extent):
    text = f"""func.func @main(%x: tensor<8x{extent}xf32>, %w: tensor<{extent}x16xf32>) -> tensor<8x16xf32> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x{extent}xf32>, tensor<{extent}x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}}"""
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((8, extent), (extent, 16))]
    there_and_back(tmp_path, opt(text, f"--octavo-quantize-dots=weights={name} both-activations"), *arrays)


def packed(element, block, outer):
    """A product of codes and scales that are given in f32, and of an outer scale."""
    grid = "x".join(str(extent // each) for extent, each in zip((8, 64), block, strict=True))
    kind = f"!octavo.scaled<8x64x{element}, scale f8E8M0FNU, block {block}{', outer f32' if outer else ''}>"
    return f"""func.func @main(%ef: tensor<8x64xf32>, %sf: tensor<{grid}xf32>, %o: tensor<f32>, %y: tensor<5x64xf32>) -> tensor<8x5xf32> {{
  %e = stablehlo.convert %ef : (tensor<8x64xf32>) -> tensor<8x64x{element}>
  %s = stablehlo.convert %sf : (tensor<{grid}xf32>) -> tensor<{grid}xf8E8M0FNU>
  %0 = octavo.pack %e, %s{", %o" if outer else ""} : (tensor<8x64x{element}>, tensor<{grid}xf8E8M0FNU>{", tensor<f32>" if outer else ""}) -> {kind}
  %1 = octavo.dot_general %0, %y, contracting_dims = [1] x [1] : ({kind}, tensor<5x64xf32>) -> tensor<8x5xf32>
  return %1 : tensor<8x5xf32>
}}"""


@pytest.mark.parametrize("element", ["f8E4M3FN", "f4E2M1FN", "i8"])
@pytest.mark.parametrize("block, grid", [([1, 32], (8, 2)), ([4, 64], (2, 1))])
def test_e8m0_under_an_outer_scale_recovered(tmp_path, element, block, grid):
    """Scales of 2^120, which a value of f32 has under an outer one of 2^-130 alone."""
    rng = np.random.default_rng(2)
    arrays = [rng.integers(-3, 4, (8, 64)).astype(np.float32), np.exp2(rng.integers(112, 124, grid)).astype(np.float32), np.float32(2**-130),
              rng.standard_normal((5, 64)).astype(np.float32)]
    there_and_back(tmp_path, packed(element, block, True), *arrays)


def test_a_scale_for_each_element_is_told(tmp_path):
    done = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-emit", "-"], input=packed("f8E4M3FN", [1, 1], False),
                          capture_output=True, text=True, check=True)
    assert "remark: this tensor has a scale for each element" in done.stderr and "octavo." not in done.stdout
    assert "remark" not in subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-emit", "-"], input=packed("f8E4M3FN", [1, 32], False),
                                          capture_output=True, text=True, check=True).stderr


@pytest.mark.parametrize("recipe", ["fp8-training", "mxfp8-training", "nvfp4-training"])
def test_training_recipes_recovered(tmp_path, recipe):
    jax = pytest.importorskip("jax")
    from test_training_step import INNER, WIDTH, step

    rng = np.random.default_rng(3)
    p = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in (("down", (INNER, WIDTH)), ("up", (WIDTH, INNER)))}
    x, target = (rng.standard_normal((4, 16, WIDTH)).astype(np.float32) for _ in range(2))
    text = jax.jit(step).lower(p, x, target).as_text(debug_info=True)
    narrow = opt(text, f"--octavo-quantize-dots=recipe={recipe} parameters=^p")
    arrays = [p["down"], p["up"], x, target] + ([np.array([7, 0], np.uint64)] if recipe != "fp8-training" else [])
    there_and_back(tmp_path, narrow, *arrays)
    expected = {array.shape: array for array in run(tmp_path, narrow, *arrays, backend="reference")}  # in the order of their names
    for found in on_xla(opt(narrow, "--octavo-emit"), *arrays):
        wanted = expected.pop(found.shape)
        if wanted.dtype != np.float32:
            assert_same(found, wanted)  # the state of the random numbers
        else:  # sums in another order, which a rounding of what follows may take for the value beside
            assert np.abs(found - wanted).mean() <= 0.01 * np.abs(wanted).mean()
    assert not expected
