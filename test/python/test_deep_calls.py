"""Calls that nest as deep as a program is long: passes follow them in lists, or leave what is deeper than a limit and say so."""
import json

import pytest

from program_commands import octavo

pytestmark = pytest.mark.mlir
SQUARE = "tensor<32x32xf32>"


def nested(levels, is_wrapped=False):
    """A dot of an input and a weight within so many calls, each of a function that does no more, or that adds its input to the result."""
    pair = f"(%x: {SQUARE}, %w: {SQUARE}) -> {SQUARE}"
    lines = [f"func.func private @f0{pair} {{", f"  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({SQUARE}, {SQUARE}) -> {SQUARE}",
             f"  return %y : {SQUARE}", "}"]
    for i in range(1, levels):
        lines += [f"func.func private @f{i}{pair} {{", f"  %y = func.call @f{i - 1}(%x, %w) : ({SQUARE}, {SQUARE}) -> {SQUARE}",
                  f"  %z = stablehlo.add %y, %x : {SQUARE}", f"  return {'%y' if is_wrapped else '%z'} : {SQUARE}", "}"]
    lines += [f"func.func @main(%x: {SQUARE}, %w: {SQUARE} {{octavo.parameter}}) -> {SQUARE} {{",
              f"  %y = func.call @f{levels - 1}(%x, %w) : ({SQUARE}, {SQUARE}) -> {SQUARE}", f"  return %y : {SQUARE}", "}"]
    return "\n".join(lines) + "\n"


def test_wrappers_of_any_depth_are_opened(tmp_path):
    """Calls of functions that do nothing else are inlined, and a location names few of them: MLIR prints it by recursion."""
    program = tmp_path / "p.mlir"
    program.write_text(nested(20000, is_wrapped=True).replace(f"  %z = stablehlo.add %y, %x : {SQUARE}\n", ""))
    report = json.loads(octavo("quantize", program, "--recipe", "fp8-delayed", "-o", tmp_path / "q.mlir", "--json"))
    assert [dot["quantized"] for dot in report["dots"]] == [True]


@pytest.mark.parametrize("levels, is_quantized", [(100, True), (257, True), (258, False), (20000, False)])
def test_scales_are_brought_through_calls_up_to_a_limit(tmp_path, levels, is_quantized):
    """fp8-delayed takes scales from the program's arguments down to the dot, and brings its amax back. @main's own call is inlined,
    since @main does nothing else; the others are within at most 256."""
    program = tmp_path / "p.mlir"
    program.write_text(nested(levels))
    report = json.loads(octavo("quantize", program, "--recipe", "fp8-delayed", "-o", tmp_path / "q.mlir", "--json"))
    (dot,) = report["dots"]
    assert dot["quantized"] == is_quantized, dot
    assert is_quantized or "is within more than 256 calls" in dot["reason"], dot
