"""Quantizations by compiled programs, of f32, bf16 and f16, by every preset and what settings compute in the type of
their input: the bits of the interpreter (rule C1), and nothing is left to it."""
import subprocess

import numpy as np
import pytest
from test_emit_settings import FORMATS, INPUTS, PRESETS, cases_of, program, values, wanted
from test_reference import OCTAVO, assert_same

pytestmark = pytest.mark.mlir


def assert_compiled(folder, cases, x, source):
    text, random = program(cases, source)
    expected = wanted(folder, text, x, *random)
    found = wanted(folder, text, x, *random, backend="compiled")
    for result, value in zip(found, expected, strict=True):
        assert_same(result, value)
    explained = subprocess.run([OCTAVO, "run", folder / "program.mlir", "--explain-compile"], capture_output=True,
                               text=True, check=True).stdout
    assert "octavo.quantize" not in explained[explained.find("interpreted"):], explained
    return expected


@pytest.mark.parametrize("source", INPUTS)
@pytest.mark.parametrize("name", PRESETS)
def test_presets(tmp_path, name, source):
    assert_compiled(tmp_path, [(scaled, f'preset = "{name}"') for scaled in PRESETS[name]], values(source), source)


@pytest.mark.parametrize("source", INPUTS)
@pytest.mark.parametrize("name", FORMATS)
def test_arithmetic_in_the_type_of_the_input(tmp_path, name, source):
    cases = [*cases_of("the input's type", [name]), (name, f"{next(cases_of('zeros', [name]))[1]}, input_epsilon = true")]
    assert_compiled(tmp_path, cases, values(source), source)


def test_equal_values_of_two_types_are_two_quantizations(tmp_path):
    """That the type counts, in one program: bf16 and the f32 of equal values have other scales."""
    x = values("bf16", (-10, 10))
    text, _ = program([("fp8_row", 'preset = "compressed-tensors"')], "bf16")
    kind = "tensor<8x256x"
    text = text.replace("  %d0 =", f"  %wide = stablehlo.convert %x : ({kind}bf16>) -> {kind}f32>\n" +
                        text.split("\n")[1].replace("%q0", "%other").replace("%x", "%wide").replace(f"{kind}bf16>", f"{kind}f32>")
                        + "\n  %d0 =", 1)
    text = text.replace("octavo.dequantize %q0", "octavo.dequantize %other", 1)
    assert_same(wanted(tmp_path, text, x, backend="compiled")[0], wanted(tmp_path, text, x)[0])
    assert not np.array_equal(wanted(tmp_path, text, x, backend="compiled")[0],
                              wanted(tmp_path, program([("fp8_row", 'preset = "compressed-tensors"')], "bf16")[0], x)[0])
