"""Buffers that are not those of a format are refused: by octavo.jax when a program is traced, and by
every foreign call itself, whoever makes it. Kernels read and wrote beyond them."""
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import octavo
import octavo.jax as oj
import pytest
from octavo import _core

X = jnp.ones((4, 64))
MX, NV = oj.quantize(X, "mxfp8_e4m3"), oj.quantize(X, "nvfp4")
SIX = oj.quantize(X, "mxfp6_e2m3")
BATCH = jax.vmap(lambda x: oj.quantize(x, "nvfp4"))(jnp.ones((3, 4, 64)))

# What a program that fails raises, eager or compiled.
FAILURES = (ValueError, jax.errors.JaxRuntimeError)

# A scaled array, its part that is replaced, by what, and the words of the error.
MISFITS = {
    "scales cut": (MX, {"scales": MX.scales[:1, :1]}, octavo.ShapeError, r"scales: expected shape \(4, 2\) .*found \(1, 1\)"),
    "scales cut along K": (MX, {"scales": MX.scales[:, :1]}, octavo.ShapeError, r"expected shape \(4, 2\)"),
    "scales of another rank": (MX, {"scales": MX.scales.ravel()}, octavo.ShapeError, r"found \(8,\)"),
    "scales of no size": (MX, {"scales": MX.scales[:0]}, octavo.ShapeError, r"found \(0, 2\)"),
    "scales of too many": (MX, {"scales": jnp.concatenate([MX.scales] * 2)}, octavo.ShapeError, r"found \(8, 2\)"),
    "scales of another dtype": (MX, {"scales": MX.scales.astype(jnp.float32)}, octavo.DtypeError,
                                "scales: expected float8_e8m0fnu .*found float32"),
    "nvfp4 scales": (NV, {"scales": NV.scales[:, :3]}, octavo.ShapeError, r"expected shape \(4, 4\)"),
    "elements of another dtype": (MX, {"elements": MX.elements.astype(jnp.float8_e5m2)}, octavo.DtypeError,
                                  "elements: expected float8_e4m3fn .*found float8_e5m2"),
    "elements in f32": (NV, {"elements": X}, octavo.DtypeError, "expected float4_e2m1fn"),
    "six bits in int8": (SIX, {"elements": SIX.elements.astype(jnp.int8)}, octavo.DtypeError, "expected uint8"),
    "elements grown": (MX, {"elements": jnp.concatenate([MX.elements] * 2)}, octavo.ShapeError, r"expected shape \(8, 2\)"),
    "elements of another rank": (MX, {"elements": MX.elements[None]}, octavo.ShapeError, r"expected shape \(1, 4, 2\)"),
    "outer of a batch": (NV, {"outer": jnp.ones(3)}, octavo.ShapeError, r"outer: expected shape \(4,\)"),
    "outer of another dtype": (NV, {"outer": jnp.ones((), jnp.bfloat16)}, octavo.DtypeError, "outer: expected float32"),
    "outer of a larger rank": (NV, {"outer": jnp.ones((4, 64, 1))}, octavo.ShapeError, "3 axes or more"),
    "batch without its outer": (BATCH, {"outer": jnp.ones(2)}, octavo.ShapeError, r"outer: expected shape \(3,\)"),
    "another format": (MX, {"format": "nvfp4"}, octavo.DtypeError, "expected float4_e2m1fn"),
    "fp8_row": (MX, {"format": "fp8_row"}, octavo.DtypeError, "expected float32"),
    "no format": (MX, {"format": "mxfp9"}, octavo.FormatError, "mxfp9"),
    "axis from the front": (MX, {"axis": 1}, octavo.ShapeError, "counted from the end"),
    "axis beyond": (MX, {"axis": -3}, octavo.ShapeError, "axis: expected -2 to -1"),
    "axis of none": (MX, {"axis": None}, octavo.ShapeError, "counted from the end"),
    "another axis": (MX, {"axis": -2}, octavo.ShapeError, r"expected shape \(1, 64\)"),
    "no array": (MX, {"scales": "text"}, octavo.DtypeError, "scales: expected an array, found str"),
}


@pytest.mark.parametrize("compile", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", MISFITS)
def test_parts_that_do_not_fit_are_refused(name, compile):
    array, changes, error, words = MISFITS[name]
    if compile is jax.jit and name == "no array":
        pytest.skip("jit itself takes arrays only")
    wrong = dataclasses.replace(array, **changes)
    with pytest.raises(error, match=words):
        compile(lambda q: oj.dequantize(q))(wrong)
    if "axis" in changes:  # matmul speaks of the axis that it contracts
        error, words = octavo.ShapeError, "axis"
    weight = oj.quantize(jnp.ones((64, 3)), array.format, axis=0)
    with pytest.raises(error, match=words):
        compile(oj.matmul)(wrong, weight)
    if "rank" not in name and "outer" not in name and "no array" != name:  # these have no transpose
        with pytest.raises((octavo.ShapeError, error)):
            compile(lambda q: oj.matmul(jnp.ones((2, 64)), q.mT))(wrong)


def test_what_is_no_scaled_array():
    with pytest.raises(octavo.DtypeError, match="expected a ScaledArray, found ArrayImpl"):
        oj.dequantize(X)
    members = jax.vmap(lambda x: oj.quantize(x, "nvfp4"))(X)  # a vector a member
    np.testing.assert_array_equal(members.dequantize(), X)
    with pytest.raises(octavo.ShapeError, match="each member"):
        oj.matmul(members, oj.quantize(jnp.ones((64, 3)), "nvfp4", axis=0))


def struct(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


QUANTIZE = dict(format="mxfp8_e4m3", axis_from_end=np.int64(1), input="f32", preset="", rule="", rounding="", overflow="",
                nan="propagate")
STOCHASTIC = {**QUANTIZE, "rounding": "stochastic"}
CONVERT = dict(format="e4m3fn", rounding="ties-to-even", overflow="special", nan="negative-zero")
PRODUCT = dict(left_element="e4m3fn", left_scale="e8m0fnu", left_across=np.int64(1), left_along=np.int64(32),
               right_element="e4m3fn", right_scale="e8m0fnu", right_across=np.int64(1), right_along=np.int64(32))
NOTHING, ONE = jnp.zeros((0,)), jnp.ones(())
BITS = jnp.zeros((0,), jnp.uint32)
RESULTS = (struct((4, 64), jnp.float8_e4m3fn), struct((4, 2), jnp.float8_e8m0fnu), struct(()))
SIDE = (MX.elements, MX.scales, ONE)

# A call that works: results, operands, attributes. These are what exported programs hold, so this list
# may grow, and what stands here stays.
CALLS = {
    "octavo_quantize": (RESULTS, (X, BITS, NOTHING), QUANTIZE),
    "octavo_dequantize": (struct((4, 64)), SIDE, dict(format="mxfp8_e4m3", axis_from_end=np.int64(1))),
    "octavo_convert": (struct((4, 64), jnp.float8_e4m3fn), (X, BITS), CONVERT),
    "octavo_product": (struct((4, 4)), SIDE + SIDE, PRODUCT),
    "octavo_outer": (struct((4, 4)), (jnp.full((4, 4), 64.0), ONE, ONE), {}),
}


def call(target, results, operands, attributes):
    return jax.block_until_ready(jax.ffi.ffi_call(target, results)(*operands, **attributes))


def test_every_target_keeps_its_operands_results_and_attributes():
    # A state of training has a seal, which test_training_accumulation.py holds.
    assert CALLS.keys() == _core.jax_targets().keys() - {"octavo_delayed_scales"}
    for target, (results, operands, attributes) in CALLS.items():
        call(target, results, operands, attributes)
    np.testing.assert_array_equal(call("octavo_dequantize", *CALLS["octavo_dequantize"]), X)
    np.testing.assert_array_equal(call("octavo_product", *CALLS["octavo_product"]), np.full((4, 4), 64))


def cut(buffer):
    """The buffers that are not this one: shorter, longer, of another rank, of another dtype."""
    if isinstance(buffer, jax.ShapeDtypeStruct):
        shape, dtype = buffer.shape, buffer.dtype
        def make(shape, dtype):
            return struct(shape, dtype)
    else:
        shape, dtype = buffer.shape, buffer.dtype
        def make(shape, dtype):
            return jax.device_put(np.zeros(shape, dtype))  # which compiles nothing
    yield make((*shape, 1), dtype)
    yield make((2, *shape), dtype)
    if shape and shape != (0,):
        yield make((*shape[:-1], shape[-1] - 1), dtype)
        yield make((shape[0] + 1, *shape[1:]), dtype)
        yield make((0, *shape[1:]), dtype)
        yield make((int(np.prod(shape)),) if len(shape) > 1 else (1, *shape), dtype)
    for other in (jnp.float32, jnp.uint8, jnp.bfloat16, jnp.float8_e5m2):
        if dtype != other:
            yield make(shape, other)


@pytest.mark.parametrize("target", CALLS)
def test_every_buffer_of_every_call_is_checked(target):
    results, operands, attributes = CALLS[target]
    one = isinstance(results, jax.ShapeDtypeStruct)
    count = 0
    for i, result in enumerate([results] if one else results):
        for wrong in cut(result):
            if 0 in wrong.shape:
                continue  # XLA leaves out a call that results in nothing
            changed = wrong if one else (*results[:i], wrong, *results[i + 1:])
            with pytest.raises(FAILURES, match="octavo: .*expected|Wrong buffer|dtype|rank"):
                call(target, changed, operands, attributes)
            count += 1
    for i, operand in enumerate(operands):
        for wrong in cut(operand):
            if target == "octavo_convert" and i == 1 and wrong.dtype == jnp.uint32:
                continue  # without stochastic rounding nothing is read
            with pytest.raises(FAILURES, match="octavo: .*expected|Wrong buffer|dtype|rank"):
                call(target, results, (*operands[:i], wrong, *operands[i + 1:]), attributes)
            count += 1
    assert count > 10


@pytest.mark.parametrize("target, attributes, words", [
    ("octavo_quantize", {"format": "mxfp9"}, "mxfp9"),
    ("octavo_quantize", {"axis_from_end": np.int64(0)}, "axis: expected -2 to -1"),
    ("octavo_quantize", {"axis_from_end": np.int64(3)}, "axis: expected -2 to -1"),
    ("octavo_quantize", {"preset": "none"}, "has no preset"),
    ("octavo_quantize", {"input": "e4m3fn"}, "input: expected f32, bf16 or f16"),
    ("octavo_quantize", {"input": ""}, "input: expected"),
    ("octavo_quantize", {"rule": "none"}, "unknown value .none."),
    ("octavo_quantize", {"rounding": "stochastic"}, "random bits: expected shape"),
    ("octavo_dequantize", {"format": "e4m3fn"}, "no scaled format"),
    ("octavo_dequantize", {"axis_from_end": np.int64(-1 << 63)}, "axis: expected"),
    ("octavo_convert", {"format": "f32"}, "unknown narrow format"),
    ("octavo_convert", {"rounding": "stochastic"}, "random bits: expected shape"),
    ("octavo_product", {"left_element": "e9m9"}, "e9m9"),
    ("octavo_product", {"left_along": np.int64(0)}, "blocks of 1 or more"),
    ("octavo_product", {"right_across": np.int64(-1)}, "blocks of 1 or more"),
    ("octavo_product", {"right_scale": ""}, "scales on the right"),
    ("octavo_product", {"left_across": np.int64(4)}, r"left scales: expected shape \(1, 2\)"),
    ("octavo_product", {"left_scale": ""}, "left: expected float32"),
])
def test_attributes_that_do_not_fit(target, attributes, words):
    results, operands, right = CALLS[target]
    with pytest.raises(FAILURES, match=words):
        call(target, results, operands, {**right, **attributes})


def test_bytes_that_are_no_six_bit_codes_are_refused():
    bad = dataclasses.replace(SIX, elements=SIX.elements.at[1, 2].set(64))
    for compute in (lambda: oj.dequantize(bad), lambda: oj.matmul(SIX, bad.mT), lambda: oj.matmul(bad, SIX.mT)):
        with pytest.raises(FAILURES, match="0x40 at index 66 .*is not a code of e2m3fn, which has 6 bits"):
            jax.block_until_ready(compute())
