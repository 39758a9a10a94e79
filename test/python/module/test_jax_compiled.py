"""Programs that call octavo.jax, compiled by octavo, beside JAX."""
import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import octavo
import octavo.jax as oj
import octavo.training as training
import pytest
from jax import lax
from program_commands import octavo as octavo_command

pytestmark = pytest.mark.mlir
pytest.importorskip("octavo._programs", reason="octavo was built without MLIR")

X = np.random.default_rng(0).normal(size=(4, 8, 64)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(64, 32)).astype(np.float32)
BF16 = X.astype(jnp.bfloat16)
HOLES = X.copy()
HOLES[0, 0, 0], HOLES[1, 0, 0] = np.nan, np.inf
FORMATS = ["mxfp8_e4m3", "mxfp4:16", "mxint8", "nvfp4", "fp8_tensor", "fp8_row", "fp8_block", "fp8_group", "cfloat8_1_4_3_tensor"]
KEY = jax.random.key(3)


def parts(q):
    return q.elements, q.scales, q.outer


def assert_bits(function, *arrays, backends=("compiled", "reference")):
    lowered = jax.jit(function).lower(*arrays)
    expected = jax.tree.leaves(jax.jit(function)(*arrays))
    exported = jax.export.export(jax.jit(function))(*arrays)
    for backend in backends:
        for form in (lowered, exported):
            found = jax.tree.leaves(octavo.compile(form, backend=backend)(*arrays))
            for a, b in zip(found, map(np.asarray, expected), strict=True):
                assert a.dtype == b.dtype
                # A NaN stays one, with any sign (C1).
                np.testing.assert_array_equal(*(np.where(np.isnan(c), np.nan, c).view(np.uint32) if c.dtype == np.float32
                                                else c.view(np.uint8) for c in (a, b)))


@pytest.mark.parametrize("axis", [-1, 1])
@pytest.mark.parametrize("format", FORMATS)
def test_quantizations(format, axis):
    assert_bits(lambda x: (parts(oj.quantize(x, format, axis=axis)), oj.fake_quantize(x, format, axis=axis)), X)


@pytest.mark.parametrize("format", [each for each in FORMATS if each != "nvfp4"])
def test_members_of_a_batch(format):
    assert_bits(lambda x: jax.vmap(lambda member: oj.dequantize(oj.quantize(member, format)))(x), X)


@pytest.mark.parametrize("settings, x", [
    ({"rule": "round-up"}, X), ({"preset": "torchao-rceil"}, BF16), ({"preset": "torchao-even"}, BF16), ({"overflow": "special"}, X),
    ({"rounding": "toward-zero"}, X), ({"rounding": "stochastic", "key": KEY}, X),
    *(({"nan": policy}, HOLES) for policy in ("propagate", "saturate", "skip-nan")),
], ids=str)
def test_settings(settings, x):
    assert_bits(lambda x: oj.fake_quantize(x, "mxfp8_e4m3", **settings), x)


def test_infinities_are_refused_where_they_are():
    program = octavo.compile(jax.jit(lambda x: oj.fake_quantize(x, "mxfp4", nan="error")).lower(X))
    with pytest.raises(octavo.NonFiniteError, match="nan"):
        program(HOLES)


def test_conversions():
    assert_bits(lambda x: (oj.convert(x, "e4m3fn"), oj.convert(x, "e2m1fn", overflow="saturate"),
                           oj.convert(x, "e5m2", rounding="stochastic", key=KEY)), X)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("x", [X, X[0]], ids=["batch", "matrix"])
def test_products(format, x):
    """Compiled, the kernels of octavo.jax; the interpreter's sums are D4's."""
    def product(x, w):
        return oj.matmul(oj.quantize(x, format), oj.quantize(w, format, axis=0))

    program = octavo.compile(jax.jit(product).lower(x, W))
    assert program.dot_widths()["narrow"] == 1
    assert_bits(product, x, W, backends=("compiled",))
    close = octavo.compile(jax.jit(product).lower(x, W), backend="reference")(x, W)
    np.testing.assert_allclose(close, product(x, W), rtol=0, atol=2e-5)


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "mxfp4", "nvfp4"])
def test_products_of_plain_rows(format):
    assert_bits(lambda x, w: oj.matmul(x, oj.quantize(w, format, axis=0)), X[0], W, backends=("compiled",))


def test_products_of_batches_in_a_loop():
    def layer(x, w):
        return jnp.tanh(oj.matmul(oj.quantize(x, "mxfp8_e4m3"), oj.quantize(w, "mxfp8_e4m3", axis=0))), x.sum()

    weights = np.stack([W[:, :32]] * 3)[:, :32]
    lowered = jax.jit(lambda x, ws: lax.scan(layer, x, ws)).lower(X[0, :, :32], weights)
    for a, b in zip(jax.tree.leaves(octavo.compile(lowered)(X[0, :, :32], weights)),
                    jax.tree.leaves(lax.scan(layer, X[0, :, :32], weights)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5)


@pytest.mark.parametrize("format", FORMATS)
def test_scaled_arrays_that_are_arguments(format, tmp_path):
    """An outer scale that is not known is a factor; what is written is read again."""
    a, b = oj.quantize(X[0], format), oj.quantize(W, format, axis=0)
    lowered = jax.jit(lambda a, b: (oj.dequantize(a), oj.matmul(a, b))).lower(a, b)
    (tmp_path / "program.mlir").write_text(lowered.as_text())
    octavo_command("explain", tmp_path / "program.mlir", "-o", tmp_path / "opened.mlir")
    arrays = [np.asarray(each) for each in (*parts(a), *parts(b))]
    for form in lowered, tmp_path / "opened.mlir":
        for found, expected in zip(octavo.compile(form)(*arrays), (oj.dequantize(a), oj.matmul(a, b)), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_outer_scales_of_members():
    a = jax.vmap(lambda x: oj.quantize(x, "fp8_row"))(X)
    elements, scales, _ = map(np.asarray, parts(a))
    assert_bits(lambda e, s, o: jax.vmap(lambda e, s, o: oj.dequantize(oj.ScaledArray(e, s, o, "fp8_row", -1)))(e, s, o),
                elements, scales, np.ones(4, np.float32))


def test_training_products():
    scales = training.DelayedScales.initial(length=4)
    assert_bits(lambda x, w: training.delayed_dot_general(x, w, (((1,), (0,)), ((), ())), scales), X[0], W, backends=("compiled",))


def test_what_octavo_has_no_operation_for_is_told():
    lowered = jax.jit(lambda x, w: jax.vmap(lambda x: oj.fake_quantize(x, "nvfp4"))(x) @ w).lower(X, W)
    with pytest.warns(UserWarning, match="is a call of octavo.jax that octavo has no operation for; have one outer scale for all"):
        octavo.compile(lowered)


def test_calls_that_octavo_jax_does_not_make():
    text = jax.jit(lambda x: parts(oj.quantize(x, "mxfp4"))).lower(X[0, :4]).as_text()
    text = text.replace("%arg0: tensor<4x64xf32>", "%arg0: tensor<8x64xf32>").replace("(tensor<4x64xf32>,", "(tensor<8x64xf32>,")
    with pytest.raises(octavo.ProgramError, match="is not as octavo.jax makes it:\n.*'octavo.quantize' op .Q1. needs one shape"):
        octavo.compile(text)
