"""--octavo-emit: programs of the octavo dialect as plain StableHLO give the same codes, scales and values on
octavo's interpreter and on XLA's CPU compiler."""

import subprocess

import numpy as np
import pytest
from on_xla import on_xla
from test_reference import OCTAVO, assert_same, run

pytestmark = pytest.mark.mlir

# Element, scale, block of a 6x64 tensor, outer or not, rules.
TYPES = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", [1, 32], False),
    "mxfp8 e5m2, short blocks": ("f8E5M2", "f8E8M0FNU", [4, 48], False),
    "mxfp6": ("f6E2M3FN", "f8E8M0FNU", [1, 32], False),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", [1, 16], False),
    "mxint8": ("i8", "f8E8M0FNU", [1, 32], False),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", [1, 16], True),
    "tensor": ("f8E4M3FN", "f32", [6, 64], False),
    "fnuz rows": ("f8E4M3FNUZ", "f32", [1, 64], False),
    "blocks": ("f8E5M2", "bf16", [4, 32], False),
}
CASES = [(name, rule) for name, (_, scale, _, _) in TYPES.items()
         for rule in (["floor", "nearest", "round-up", "even", "ceil"] if scale == "f8E8M0FNU" else ["nearest"])]


def program(name, rule):
    """A tensor quantized; its elements as f32, its scales as f32, the tensor dequantized, and its product with
    another."""
    element, scale, block, has_outer = TYPES[name]
    grid = "x".join(str(-(-extent // size)) for extent, size in zip((6, 64), block, strict=True))
    kind = f"!octavo.scaled<6x64x{element}, scale {scale}, block {block}{', outer f32' if has_outer else ''}>"
    outer_type = ", tensor<f32>" if has_outer else ""
    scales = "%s" if scale == "f32" else "%sw"
    widened = "" if scale == "f32" else f"%sw = stablehlo.convert %s : (tensor<{grid}x{scale}>) -> tensor<{grid}xf32>"
    return f"""
func.func @main(%x: tensor<6x64xf32>, %y: tensor<5x64xf32>) -> (tensor<6x64xf32>, tensor<{grid}xf32>, tensor<6x64xf32>, tensor<6x5xf32>{outer_type}) {{
  %q = octavo.quantize %x, rule = {rule} : tensor<6x64xf32> -> {kind}
  %e, %s{", %o" if has_outer else ""} = octavo.unpack %q : ({kind}) -> (tensor<6x64x{element}>, tensor<{grid}x{scale}>{outer_type})
  %p = octavo.pack %e, %s{", %o" if has_outer else ""} : (tensor<6x64x{element}>, tensor<{grid}x{scale}>{outer_type}) -> {kind}
  %ew = stablehlo.convert %e : (tensor<6x64x{element}>) -> tensor<6x64xf32>
  {widened}
  %d = octavo.dequantize %p : {kind} -> tensor<6x64xf32>
  %z = octavo.dot_general %p, %y, contracting_dims = [1] x [1] : ({kind}, tensor<5x64xf32>) -> tensor<6x5xf32>
  return %ew, {scales}, %d, %z{", %o" if has_outer else ""} : tensor<6x64xf32>, tensor<{grid}xf32>, tensor<6x64xf32>, tensor<6x5xf32>{outer_type}
}}"""


def emitted(text):
    ended = subprocess.run([OCTAVO.parent / "octavo-opt", "--octavo-emit", "-"], input=text, capture_output=True,
                           text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "octavo." not in ended.stdout
    return ended.stdout


def inputs(exponents):
    """Blocks of every magnitude, amax beside every switch of the rules, zeros, and negative values."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((6, 64)) * 2.0 ** rng.integers(*exponents, (6, 64))
    x[1] *= 2.0**-20
    x[2, :32], x[2, 32:] = 0, np.linspace(-1, 1, 32) * 1.75
    x[3] = np.sign(x[3]) * np.linspace(0, 1.5, 64)
    x[4] = np.linspace(-1, 1, 64) * (448 * 1.0000001)
    return x.astype(np.float32), rng.standard_normal((5, 64)).astype(np.float32)


@pytest.mark.parametrize("name, rule", CASES)
# The last has subnormal products and scales at both ends of E8M0.
@pytest.mark.parametrize("exponents", [(-6, 6), (90, 126), (-149, -120)])
def test_on_the_interpreter(tmp_path, name, rule, exponents):
    before = program(name, rule)
    x, y = inputs(exponents)
    found = run(tmp_path, emitted(before), x, y, backend="reference")
    expected = run(tmp_path, before, x, y, backend="reference")
    for after, wanted in zip(found, expected, strict=True):
        assert_same(after, wanted)


@pytest.mark.parametrize("name, rule", [case for case in CASES if case[0] != "mxfp6"])  # XLA has no 6-bit floats
def test_on_xla(tmp_path, name, rule):
    before = program(name, rule)
    x, y = inputs((-6, 6))
    found = on_xla(emitted(before), x, y)
    expected = run(tmp_path, before, x, y, backend="reference")
    for i, (after, wanted) in enumerate(zip(found, expected, strict=True)):
        if i == 3:  # 64 products, in another order
            bound = 64 * 2.0**-23 * (np.abs(expected[2]).astype(np.float64) @ np.abs(y).T.astype(np.float64))
            assert (np.abs(after - wanted) <= bound).all()
        else:
            assert_same(after, wanted)
