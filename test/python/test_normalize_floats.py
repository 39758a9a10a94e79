"""--octavo-normalize-floats: on every pair of codes the interpreter gives the same codes before and after."""

import subprocess

import ml_dtypes
import numpy as np
import pytest
from test_reference import NARROW, OCTAVO, assert_same, run

pytestmark = pytest.mark.mlir

BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder"]
UNARY = ["sqrt", "abs", "negate", "sign", "floor", "ceil", "round_nearest_even", "round_nearest_afz"]


def program(element, n):
    """Every operation on codes, its result as codes."""
    bits = {"f4": 4, "f6": 6, "f8": 8, "bf": 16, "f1": 16}[element[:2]]
    narrow, codes, integer = f"tensor<{n}x{element}>", f"tensor<{n}xui{max(bits, 8)}>", f"tensor<{n}xui{bits}>"
    lines, results, sums = [], [], f"tensor<{n // 16}x16x{element}>"
    for name in "xy":
        if bits == 6:  # no integer of 6 bits: the values are exact in f32
            lines.append(f"%{name}n = stablehlo.convert %{name} : (tensor<{n}xf32>) -> {narrow}")
            continue
        lines.append(f"%{name}i = stablehlo.convert %{name} : ({codes}) -> {integer}")
        lines.append(f"%{name}n = stablehlo.bitcast_convert %{name}i : ({integer}) -> {narrow}")
    lines += [f"%{name} = stablehlo.{name} %xn, %yn : {narrow}" for name in BINARY]
    lines += [f"%{name} = stablehlo.{name} %xn : {narrow}" for name in UNARY]
    lines += [f"%rows = stablehlo.reshape %xn : ({narrow}) -> {sums}",
              f"%zero = stablehlo.constant dense<{'1.0' if element == 'f8E8M0FNU' else '0.0'}> : tensor<{element}>",
              f"%sum = stablehlo.reduce(%rows init: %zero) applies stablehlo.add across dimensions = [1] : "
              f"({sums}, tensor<{element}>) -> tensor<{n // 16}x{element}>",
              f"%dot = stablehlo.dot_general %rows, %rows, batching_dims = [0] x [0], contracting_dims = [1] x [1] : "
              f"({sums}, {sums}) -> tensor<{n // 16}x{element}>"]
    for name in [*BINARY, *UNARY, "sum", "dot"]:
        size = n // 16 if name in ("sum", "dot") else n
        lines.append(f"%{name}w = stablehlo.convert %{name} : (tensor<{size}x{element}>) -> tensor<{size}xf32>")
        results.append((f"%{name}w", f"tensor<{size}xf32>"))
    argument = f"tensor<{n}xf32>" if bits == 6 else codes
    values, types = (", ".join(part) for part in zip(*results, strict=True))
    return "\n".join([f"func.func @main(%x: {argument}, %y: {argument}) -> ({types}) {{", *lines,
                      f"return {values} : {types}", "}"])


def normalized(text, target):
    ended = subprocess.run([OCTAVO.parent / "octavo-opt", f"--octavo-normalize-floats=target={target}", "-"], input=text,
                           capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("element, target", [*((element, "f32-only") for element in NARROW), ("f8E8M0FNU", "xla-cpu"),
                                             ("bf16", "xla-cpu"), ("f16", "f32-only")])
def test_no_code_changes(tmp_path, element, target):
    if element in ("bf16", "f16"):
        rng = np.random.default_rng(3)
        x, y = rng.integers(0, 2**16, (2, 1 << 20), np.uint16)
    else:
        bits = 8 if element == "f8E8M0FNU" else ml_dtypes.finfo(NARROW[element]).bits
        x, y = (np.ascontiguousarray(part.ravel()) for part in np.meshgrid(*[np.arange(2**bits, dtype=np.uint8)] * 2))
        if bits == 6:
            x, y = (part.view(NARROW[element]).astype(np.float32) for part in (x, y))
    before = program(element, x.size)
    after = normalized(before, target)
    assert before != after and f"stablehlo.add %xn, %yn : tensor<{x.size}x{element}>" not in after
    for found, expected in zip(run(tmp_path, after, x, y, backend="reference"),
                               run(tmp_path, before, x, y, backend="reference"), strict=True):
        assert_same(found, expected)
