"""octavo.convert, compiled and as plain StableHLO on XLA, beside the interpreter, whose roundings are those of
Numerics: ties to even and stochastic (N5), with both ways to overflow."""
import numpy as np
import pytest
from compiled_function import NARROW, Function, spread
from on_xla import on_xla
from random_programs import tensor
from test_emit import emitted
from test_reference import run

pytestmark = pytest.mark.mlir

# What it rounds to stochastically, besides narrow floats; bf16 and f16 have subnormals near f32's own.
TARGETS = [element for element in NARROW if element != "f8E8M0FNU"] + ["f16", "bf16"]


def random_bits(count):
    """With those that decide at the fractions that spread has: halves, k / 32, and next to nothing."""
    rng = np.random.default_rng(11)
    edges = np.array([0, 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, *(k << 27 for k in range(32)),
                      *((k << 27) - 1 for k in range(1, 32))], np.uint32)
    return np.where(rng.random(count) < 0.5, rng.choice(edges, count), rng.integers(0, 2**32, count, np.uint32, endpoint=False))


def conversions(source, target):
    function = Function()
    values = spread(source)
    bits = random_bits(len(values))
    x = function.argument(values, source)
    random = function.argument(bits, "ui32")
    before, after = tensor(values.shape, source), tensor(values.shape, target)
    kind = tensor(values.shape, "ui32")
    for overflow in "special", "saturate":
        tail = "" if overflow == "special" else f", overflow = {overflow}"
        for rounding in f" random({random} : {kind}), rounding = stochastic", "":
            code = function.emit(f"octavo.convert {x}{rounding}{tail} : {before} -> {after}")
            if target == "bf16":
                code = function.convert(code, values.shape, target, "f32")
            function.give(code, values.shape, "f32" if target == "bf16" else target)
    return function


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", ["f32", "f16"])
def test_compiled(source, target, tmp_path):
    conversions(source, target).assert_bits(tmp_path)


@pytest.mark.parametrize("target", ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f16"])
def test_on_xla(target, tmp_path):
    function = conversions("f32", target)
    found = on_xla(emitted(function.text()), *function.arrays)
    wanted = run(tmp_path, function.text(), *function.arrays, backend="reference")
    normal = np.abs(function.arrays[0]) >= np.finfo(np.float32).tiny  # XLA takes subnormal operands for zero
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a[normal], b[normal])
