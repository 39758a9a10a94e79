"""The interpreter against arithmetic that is not octavo's: ml_dtypes on every pair of codes of the
narrow formats, and JAX on the CPU for programs that JAX itself wrote (docs/semantics.md, I1 to I18).
"""

import os
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

pytestmark = pytest.mark.mlir

OCTAVO = Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"


def run(folder, program, *arrays, backend="compiled"):
    """The results of `@main` on arrays, in order."""
    path = folder / "program.mlir"
    path.write_text(program)
    command = [OCTAVO, "run", path, "--output", folder / "out", "--backend", backend]
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
        command += ["--input", folder / f"in{i}.npy"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    files = sorted((folder / "out").iterdir(), key=lambda file: (len(file.name), file.name))
    return [np.load(file) for file in files]


def assert_same(found, expected):
    """Equal bits, where every NaN is one value."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if np.issubdtype(found.dtype, np.floating):
        found, expected = (np.where(np.isnan(x), x.dtype.type(np.nan), x) for x in (found, expected))
        found, expected = (np.ascontiguousarray(x).view(np.uint8) for x in (found, expected))
    assert np.array_equal(found, expected)


# Every pair of codes, through f32, which holds all values of these formats.

NARROW = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}

OPERATIONS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
}


def pairs(narrow):
    bits = ml_dtypes.finfo(narrow).bits
    values = np.arange(2**bits, dtype=np.uint8).view(narrow).astype(np.float32)
    return (np.ascontiguousarray(x.ravel()) for x in np.meshgrid(values, values))


def narrow_program(element, n):
    lines = [
        f"func.func @main(%x: tensor<{n}xf32>, %y: tensor<{n}xf32>) -> ("
        + ", ".join([f"tensor<{n}xf32>"] * len(OPERATIONS))
        + ") {",
        f"  %a = stablehlo.convert %x : (tensor<{n}xf32>) -> tensor<{n}x{element}>",
        f"  %b = stablehlo.convert %y : (tensor<{n}xf32>) -> tensor<{n}x{element}>",
    ]
    for name in OPERATIONS:
        lines += [
            f"  %{name} = stablehlo.{name} %a, %b : tensor<{n}x{element}>",
            f"  %{name}w = stablehlo.convert %{name}"
            f" : (tensor<{n}x{element}>) -> tensor<{n}xf32>",
        ]
    results = ", ".join(f"%{name}w" for name in OPERATIONS)
    types = ", ".join([f"tensor<{n}xf32>"] * len(OPERATIONS))
    return "\n".join([*lines, f"  return {results} : {types}", "}"])


@pytest.mark.parametrize("element", NARROW)
def test_arithmetic_of_every_pair_of_codes(tmp_path, element):
    narrow = NARROW[element]
    x, y = pairs(narrow)
    found = run(tmp_path, narrow_program(element, len(x)), x, y)
    has_nan = np.isnan(np.float32(narrow(np.float32(np.nan))))
    with np.errstate(all="ignore"):
        for operation, result in zip(OPERATIONS.values(), found, strict=True):
            wide = operation(x, y)
            expected = wide.astype(narrow).astype(np.float32)
            if not has_nan:
                # I3: a NaN has the code of -0; which zero ml_dtypes takes depends on the sign that
                # the processor gives the NaN.
                expected = np.where(np.isnan(wide), np.float32(-0.0), expected)
            assert_same(result, expected)


# Programs that JAX writes, evaluated by JAX and by octavo.


def jax_case(tmp_path, function, *arrays):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    lowered = jax.jit(function, keep_unused=True).lower(*arrays)
    found = run(tmp_path, lowered.as_text(), *arrays)
    with jax.default_matmul_precision("highest"):
        expected = jax.tree.leaves(jax.jit(function)(*arrays))
    return found, [np.asarray(x) for x in expected]


def normal(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def integers(low, high, *shape):
    return np.random.default_rng(sum(shape)).integers(low, high, shape, dtype=np.int32)


def exact_cases():
    """Programs whose results have one right answer."""
    import jax.numpy as jnp
    from jax import lax

    return {
        "take": (lambda x, i: jnp.take(x, i, axis=1, mode="clip"), normal(5, 7), integers(-9, 9, 4)),
        "take_fill": (lambda x, i: jnp.take(x, i, axis=0), normal(5, 7), integers(-9, 9, 4)),
        "take_along_axis": (
            lambda x, i: jnp.take_along_axis(x, i, axis=1, mode="clip"),
            normal(3, 4, 5),
            integers(0, 4, 3, 2, 5),
        ),
        "index": (lambda x, i, j: x[i, :, j], normal(4, 5, 6), integers(0, 4, 3), integers(0, 6, 3)),
        "argmax": (lambda x: jnp.argmax(x, axis=1), normal(5, 9)),
        "maximum": (lambda x: (jnp.max(x, axis=0), jnp.min(x)), normal(5, 9)),
        "integer_sum": (lambda x: jnp.sum(x, axis=1), integers(-(2**31), 2**31 - 1, 6, 50)),
        "integer_divide": (
            lambda x, y: (x // y, x % y, lax.div(x, y), lax.rem(x, y)),
            integers(-100, 100, 64),
            integers(1, 10, 64),
        ),
        "transpose": (lambda x: (x.transpose(2, 0, 1), x[::-1], jnp.flip(x, 2)), normal(3, 4, 5)),
        "slices": (lambda x: (x[1:7:2, 3:], jnp.concatenate([x, x[:2]])), normal(8, 5)),
        "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 3)), constant_values=7), normal(3, 4)),
        "where": (lambda x: jnp.where(x > 0, x, -x), normal(30)),
        "clip": (lambda x: jnp.clip(x, -0.5, 0.25), normal(30)),
        "round": (lambda x: (jnp.round(x), jnp.floor(x), jnp.ceil(x), jnp.sign(x)), 3 * normal(99)),
        "casts": (
            lambda x: (x.astype(jnp.int8), x.astype(jnp.bfloat16).astype(jnp.float32)),
            50 * normal(99),
        ),
        "narrow_casts": (
            lambda x: (
                x.astype(jnp.float8_e4m3fn).astype(jnp.float32),
                x.astype(jnp.float8_e5m2).astype(jnp.float32),
                x.astype(jnp.float8_e4m3b11fnuz).astype(jnp.float32),
            ),
            100 * normal(999),
        ),
        "reduce_precision": (lambda x: lax.reduce_precision(x, 5, 10), 1e4 * normal(99)),
        "bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.uint8), normal(9)),
        "one_hot": (lambda i: jnp.eye(6)[i] + jnp.arange(6), integers(0, 6, 4)),
    }


def close_cases():
    """Programs in which the order of sums or the approximation of a function is JAX's own."""
    import jax
    import jax.numpy as jnp

    return {
        "matmul": (jnp.matmul, normal(33, 70), normal(70, 21)),
        "attention": (lambda q, k: jnp.einsum("bshd,bthd->bhst", q, k), normal(2, 6, 3, 8),
                      normal(2, 7, 3, 8)),
        "two_axes": (lambda x, y: jnp.einsum("abc,dcb->ad", x, y), normal(4, 5, 6), normal(3, 6, 5)),
        "softmax": (lambda x: jax.nn.softmax(x, axis=-1), normal(5, 40)),
        "gelu": (lambda x: (jax.nn.gelu(x, approximate=False), jax.nn.gelu(x)), normal(500)),
        "layer_norm": (
            lambda x: (x - x.mean(-1, keepdims=True))
            * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5),
            normal(7, 64),
        ),
        "variance": (lambda x: (x.var(axis=-1), jnp.linalg.norm(x, axis=-1), jnp.square(x)),
                     normal(7, 64)),
        "functions": (
            lambda x: (jnp.exp(x), jnp.log(jnp.abs(x)), jnp.tanh(x), jnp.sqrt(jnp.abs(x)), jnp.sin(x),
                       jnp.cos(x), jnp.power(jnp.abs(x), x), jnp.log1p(jnp.abs(x)), jnp.expm1(x),
                       jax.scipy.special.erf(x), jax.nn.sigmoid(x), jnp.cbrt(x)),
            normal(300),
        ),
        "logsumexp": (lambda x: jax.nn.logsumexp(x, axis=0), normal(30, 4)),
        "product": (lambda x: jnp.prod(x, axis=1), normal(5, 6)),
    }


EXACT = ["take", "take_fill", "take_along_axis", "index", "argmax", "maximum", "integer_sum",
         "integer_divide", "transpose", "slices", "pad", "where", "clip", "round", "casts",
         "narrow_casts", "reduce_precision", "bitcast", "one_hot"]
CLOSE = ["matmul", "attention", "two_axes", "softmax", "gelu", "layer_norm", "variance", "functions",
         "logsumexp", "product"]


@pytest.mark.parametrize("name", EXACT)
def test_jax_exact(tmp_path, name):
    pytest.importorskip("jax", reason="JAX is not installed")
    function, *arrays = exact_cases()[name]
    found, expected = jax_case(tmp_path, function, *arrays)
    for f, e in zip(found, expected, strict=True):
        assert_same(f, e)


@pytest.mark.parametrize("name", CLOSE)
def test_jax_close(tmp_path, name):
    pytest.importorskip("jax", reason="JAX is not installed")
    function, *arrays = close_cases()[name]
    found, expected = jax_case(tmp_path, function, *arrays)
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=3e-5, atol=3e-6)
