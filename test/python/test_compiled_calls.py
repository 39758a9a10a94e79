"""Functions that stay functions in compiled programs (`no_inline`, as those do whose calls would make a program too large) give
what they give where they are inlined."""
import json
import re
import subprocess

import numpy as np
import pytest

from program_commands import OCTAVO, octavo
from test_compiled import outputs

pytestmark = pytest.mark.mlir

ROW = "tensor<8xf32>"
SQUARE = "tensor<8x8xf32>"
CALLED = {
    "twice, one in the other": f"""
func.func private @g(%x: {ROW}) -> {ROW} attributes {{no_inline}} {{
  %0 = stablehlo.tanh %x : {ROW}
  %1 = stablehlo.add %0, %x : {ROW}
  return %1 : {ROW}
}}
func.func private @f(%x: {ROW}, %y: {ROW}) -> ({ROW}, {ROW}) attributes {{no_inline}} {{
  %0 = func.call @g(%x) : ({ROW}) -> {ROW}
  %1 = func.call @g(%0) : ({ROW}) -> {ROW}
  %2 = stablehlo.multiply %1, %y : {ROW}
  return %2, %0 : {ROW}, {ROW}
}}
func.func @main(%x: {ROW}, %y: {ROW}) -> ({ROW}, {ROW}) {{
  %0:2 = func.call @f(%x, %y) : ({ROW}, {ROW}) -> ({ROW}, {ROW})
  %1:2 = func.call @f(%0#1, %0#0) : ({ROW}, {ROW}) -> ({ROW}, {ROW})
  return %1#0, %1#1 : {ROW}, {ROW}
}}""",
    "what it is given, a constant, and what nothing reads": f"""
func.func private @f(%x: {ROW}, %y: {ROW}, %unused: {ROW}) -> ({ROW}, {ROW}, {ROW}, {ROW}) attributes {{no_inline}} {{
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : {ROW}
  %1 = stablehlo.reverse %x, dims = [0] : {ROW}
  return %y, %x, %0, %1 : {ROW}, {ROW}, {ROW}, {ROW}
}}
func.func @main(%x: {ROW}, %y: {ROW}) -> ({ROW}, {ROW}, {ROW}, {ROW}) {{
  %0:4 = func.call @f(%x, %y, %x) : ({ROW}, {ROW}, {ROW}) -> ({ROW}, {ROW}, {ROW}, {ROW})
  %1:4 = func.call @f(%0#0, %0#3, %0#2) : ({ROW}, {ROW}, {ROW}) -> ({ROW}, {ROW}, {ROW}, {ROW})
  return %1#0, %1#1, %1#2, %1#3 : {ROW}, {ROW}, {ROW}, {ROW}
}}""",
    "weights that differ from call to call": f"""
func.func private @layer(%x: {SQUARE}, %w: {SQUARE}) -> {SQUARE} attributes {{no_inline}} {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({SQUARE}, {SQUARE}) -> {SQUARE}
  %1 = stablehlo.tanh %0 : {SQUARE}
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [1] : ({SQUARE}, {SQUARE}) -> {SQUARE}
  %3 = stablehlo.add %2, %x : {SQUARE}
  return %3 : {SQUARE}
}}
func.func @main(%x: {SQUARE}, %v: {SQUARE}, %w: {SQUARE}) -> {SQUARE} {{
  %0 = func.call @layer(%x, %v) : ({SQUARE}, {SQUARE}) -> {SQUARE}
  %1 = func.call @layer(%0, %w) : ({SQUARE}, {SQUARE}) -> {SQUARE}
  %2 = func.call @layer(%1, %v) : ({SQUARE}, {SQUARE}) -> {SQUARE}
  return %2 : {SQUARE}
}}""",
    "in a loop, in branches, and with a loop in it": f"""
func.func private @f(%x: {ROW}, %n: tensor<i32>) -> {ROW} attributes {{no_inline}} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, {ROW}
   cond {{
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.cosine %y : {ROW}
    stablehlo.return %j, %z : tensor<i32>, {ROW}
  }}
  return %0#1 : {ROW}
}}
func.func @main(%x: {ROW}, %y: {ROW}) -> {ROW} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, {ROW}
   cond {{
    %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %one : tensor<i32>
    %odd = stablehlo.and %i, %one : tensor<i32>
    %q = stablehlo.compare EQ, %odd, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %b = "stablehlo.if"(%q) ({{
      %c = func.call @f(%a, %three) : ({ROW}, tensor<i32>) -> {ROW}
      stablehlo.return %c : {ROW}
    }}, {{
      %c = func.call @f(%y, %j) : ({ROW}, tensor<i32>) -> {ROW}
      %d = stablehlo.add %c, %a : {ROW}
      stablehlo.return %d : {ROW}
    }}) : (tensor<i1>) -> {ROW}
    stablehlo.return %j, %b : tensor<i32>, {ROW}
  }}
  %1 = func.call @f(%0#1, %one) : ({ROW}, tensor<i32>) -> {ROW}
  return %1 : {ROW}
}}""",
}


def arrays_of(text):
    generator = np.random.default_rng(5)
    (parameters,) = re.findall(r"func\.func @main\(([^)]*)\)", text)
    return [generator.uniform(-1, 1, (8, 8) if SQUARE in each else 8).astype(np.float32) for each in parameters.split(", ")]


def explained(program):
    (function,) = json.loads(octavo("run", program, "--explain-compile", "--json"))["functions"]
    return function


@pytest.mark.parametrize("case", CALLED)
def test_calls_give_what_they_give_inlined(tmp_path, case):
    results = {}
    for form, text in (("called", CALLED[case]), ("inlined", CALLED[case].replace(" attributes {no_inline}", ""))):
        folder = tmp_path / form
        folder.mkdir()
        program = folder / "program.mlir"
        program.write_text(text)
        others = {each["what"] for each in explained(program)["others"]}
        assert ({"function", "call"} <= others) == (form == "called")
        results[form] = outputs(program, arrays_of(text), folder, "compiled")
        if form == "called":
            results["interpreted"] = outputs(program, arrays_of(text), folder, "reference")
    for called, inlined, interpreted in zip(results["called"], results["inlined"], results["interpreted"]):
        np.testing.assert_array_equal(called, inlined)
        np.testing.assert_allclose(called, interpreted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", CALLED)
def test_folders_hold_functions(tmp_path, case):
    program, folder = tmp_path / "program.mlir", tmp_path / "folder"
    program.write_text(CALLED[case])
    arrays = arrays_of(CALLED[case])
    octavo("compile", program, "-o", folder)
    inputs = []
    for i, array in enumerate(arrays):
        np.save(tmp_path / f"{i}.npy", array)
        inputs += ["--input", tmp_path / f"{i}.npy"]
    for what, where in ((program, "run.safetensors"), (folder, "folder.safetensors")):
        octavo("run", what, *inputs, "--output", tmp_path / where)
    assert (tmp_path / "run.safetensors").read_bytes() == (tmp_path / "folder.safetensors").read_bytes()


def test_functions_that_call_themselves_are_interpreted(tmp_path):
    program = tmp_path / "program.mlir"
    program.write_text(f"""
func.func private @f(%x: {ROW}) -> {ROW} {{
  %0 = func.call @g(%x) : ({ROW}) -> {ROW}
  return %0 : {ROW}
}}
func.func private @g(%x: {ROW}) -> {ROW} {{
  %0 = func.call @f(%x) : ({ROW}) -> {ROW}
  return %0 : {ROW}
}}
func.func @main(%x: {ROW}) -> {ROW} {{
  %0 = func.call @f(%x) : ({ROW}) -> {ROW}
  return %0 : {ROW}
}}""")
    run = subprocess.run([OCTAVO, "run", program, "--explain-compile", "--json"], capture_output=True, text=True, timeout=60)
    if run.returncode == 0:  # else the program is refused before it is compiled
        (function,) = json.loads(run.stdout)["functions"]
        assert not function["compiled"] and "call themselves" in function["reason"]
