"""Scaled tensors recovered in programs whose batch JAX left open: what each becomes, and that it gives on any number of
items the bits of the program that JAX exports for so many, recovered by itself."""

import json
import re
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from commands import OCTAVO
from jax import lax

import octavo

F8, E5M2, F4, E8M0 = jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float4_e2m1fn, jnp.float8_e8m0fnu
F32, U8, I32 = np.float32, np.uint8, np.int32
K, N = 64, 10


def f32(x):
    return x.astype(jnp.float32)


def dot(a, b):
    return lax.dot_general(a, b, (((a.ndim - 1,), (0,)), ((), ())), preferred_element_type=jnp.float32)


def blockwise(s, shape):
    """Each scale to its block along the last axis, by broadcast and reshape."""
    return jnp.broadcast_to(s[..., None], (*s.shape, shape[-1] // s.shape[-1])).reshape(shape)


def by_scalar(x):
    return f32(jnp.clip(x / 0.25, -448, 448).astype(F8)) * 0.25


def by_row(x):
    s = jnp.max(jnp.abs(x), -1, keepdims=True) / 448 + 1e-9
    return f32((x / s).astype(F8)) * s


def by_block(x):
    blocks = x.reshape(*x.shape[:-1], x.shape[-1] // 32, 32)
    s = jnp.max(jnp.abs(blocks), -1, keepdims=True) / 448 + 1e-9
    return (f32((blocks / s).astype(F8)) * s).reshape(x.shape)


def by_block_and_repeat(x):
    blocks = x.reshape(*x.shape[:-1], x.shape[-1] // 32, 32)
    s = jnp.max(jnp.abs(blocks), -1) / 448 + 1e-9
    return f32((blocks / s[..., None]).astype(F8).reshape(x.shape)) * jnp.repeat(s, 32, -1)


def in_turns(x):
    return lax.fori_loop(0, 3, lambda i, y: by_row(y * 1.5), by_row(x))


X, CODES, ROWS = ("b, 64", F32), ("b, 64", F8), ("b", F32)
W = ((K, N), F8)
# name: the program, its arguments, what the left side and the right side become
OPEN = {
    "weight by scalar": (lambda x, w: dot(x, f32(w) * 0.5), [X, W], "f32", "f8E4M3FN by f32, block [64, 10]"),
    "weight by row": (lambda x, w, s: dot(x, f32(w) * s[:, None]), [X, W, ((K,), F32)], "f32", "f8E4M3FN by f32, block [1, 10]"),
    "weight by column": (lambda x, w, s: dot(x, f32(w) * s), [X, W, ((N,), F32)], "f32", "f8E4M3FN by f32, block [64, 1]"),
    "weight by block": (lambda x, w, s: dot(x, (f32(w).reshape(2, 32, N) * f32(s)[:, None]).reshape(K, N)), [X, W, ((2, N), E8M0)],
                        "f32", "f8E4M3FN by f8E8M0FNU, block [32, 1]"),
    "weight of two levels": (lambda x, w, s, g: dot(x, f32(w) * jnp.repeat(f32(s), 16, 0) * g), [X, ((K, N), F4), ((4, N), F8), ((), F32)],
                             "f32", "f4E2M1FN by f8E4M3FN, block [16, 1], outer f32"),
    "scalar": (lambda x, w: dot(by_scalar(x), f32(w) * 0.5), [X, W], "f8E4M3FN by f32, block [?, 64]", "f8E4M3FN by f32, block [64, 10]"),
    "row": (lambda x, w, s: dot(by_row(x), f32(w) * s), [X, W, ((N,), F32)], "f8E4M3FN by f32, block [1, 64]", "f8E4M3FN by f32, block [64, 1]"),
    "block": (lambda x, w: dot(by_block(x), f32(w)), [X, W], "f8E4M3FN by f32, block [1, 32]", "f8E4M3FN by f32, block [64, 10]"),
    "block by repeat": (lambda x, w: dot(by_block_and_repeat(x), f32(w)), [X, W], "f8E4M3FN by f32, block [1, 32]", None),
    "sequences": (lambda x, w: dot(by_block(x), f32(w) * 0.5), [("b, 5, 64", F32), W], "f8E4M3FN by f32, block [1, 1, 32]", None),
    "sequences, flat": (lambda x, w: dot(by_row(x).reshape(-1, K), f32(w)), [("b, 5, 64", F32), W], "f8E4M3FN by f32, block [1, 64]", None),
    "a scale a sequence, flat": (lambda q, s, w: dot((f32(q) * s[:, None, None]).reshape(-1, K), f32(w)), [("b, c, 64", F8), ROWS, W],
                                 "f8E4M3FN by f32, block [1, 64]", None),
    "codes": (lambda q, w: dot(q, w), [CODES, W], "f8E4M3FN by f32, block [?, 64]", None),
    "codes of a scalar": (lambda q, s, w: dot(f32(q) * s, f32(w)), [CODES, ((), F32), W], "f8E4M3FN by f32, block [?, 64]", None),
    "codes divided by rows": (lambda q, s, w: dot(f32(q) / s[:, None], f32(w)), [CODES, ROWS, W], "f8E4M3FN by f32, block [1, 64]", None),
    "e8m0": (lambda q, s, w: dot(f32(q) * blockwise(f32(s), q.shape), f32(w)), [CODES, ("b, 2", E8M0), W], "f8E4M3FN by f8E8M0FNU, block [1, 32]", None),
    "e8m0 by shift": (lambda q, s, w: dot(f32(q) * blockwise(lax.bitcast_convert_type(s.astype(jnp.uint32) << 23, jnp.float32), q.shape), f32(w)),
                      [CODES, ("b, 2", U8), W], "f8E4M3FN by f8E8M0FNU, block [1, 32]", None),
    "e8m0 divided": (lambda q, s, w: dot(f32(q) / blockwise(f32(s), q.shape), f32(w)), [CODES, ("b, 2", E8M0), W],
                     "f8E4M3FN by f8E8M0FNU, block [1, 32]", None),
    "ldexp": (lambda q, s, w: dot(jnp.ldexp(f32(q), blockwise(s.astype(jnp.int32) - 127, q.shape)), f32(w)), [CODES, ("b, 2", U8), W],
              "f8E4M3FN by f8E8M0FNU, block [1, 32]", None),
    "nvfp4": (lambda q, s, g, w: dot(f32(q) * blockwise(f32(s), q.shape) * g, f32(w)), [("b, 64", F4), ("b, 4", F8), ((), F32), W],
              "f4E2M1FN by f8E4M3FN, block [1, 16], outer f32", None),
    "two f32 levels": (lambda q, s, g, w: dot(f32(q) * s[:, None] * g, f32(w)), [CODES, ROWS, ((), F32), W], "f8E4M3FN by f32, block [1, 64]", None),
    "batched": (lambda q, s, w, t: jnp.einsum("bmk,bkn->bmn", f32(q) * s[:, :, None], f32(w) * t[:, None, None]),
                [("b, 5, 64", F8), ("b, 5", F32), ("b, 64, 10", F8), ("b", F32)], "f8E4M3FN by f32, block [1, 1, 64]", "f8E4M3FN by f32, block [1, 64, 10]"),
    "a cache": (lambda x, q, s: jnp.einsum("bqd,bkd->bqk", x, f32(q) * s[:, :, None]), [("b, 3, 64", F32), ("b, 7, 64", F8), ("b, 7", F32)],
                "f32", "f8E4M3FN by f32, block [1, 1, 64]"),
    "masked": (lambda q, s, m, w: dot(jnp.where(m[:, None], f32(q) * s, 0), f32(w)), [CODES, ((), F32), ("b", np.bool_), W],
               "f8E4M3FN by f32, block [?, 64]", None),
    "rows by index": (lambda q, s, i, w: dot((f32(q) * s[:, None])[i], f32(w)), [((50, K), F8), ((50,), F32), ("b", I32), W],
                      "f8E4M3FN by f32, block [1, 64]", None),
    "columns by dynamic_gather": (lambda q, s, w: dot((f32(q) * s[:, None])[:, 32:], f32(w)[:32]), [CODES, ROWS, W], "f8E4M3FN by f32, block [1, 32]", None),
    "chosen": (lambda q, s, r, t, i, w: dot(lax.cond(i > 0, lambda: f32(q) * s[:, None], lambda: f32(r) * t[:, None]), f32(w)),
               [CODES, ROWS, CODES, ROWS, ((), I32), W], "f8E4M3FN by f32, block [1, 64]", None),
    "flipped": (lambda q, s, w: dot(jnp.flip(f32(q) * s[:, None], 0), f32(w)), [CODES, ROWS, W], "f8E4M3FN by f32, block [1, 64]", None),
    "joined": (lambda q, s, r, w: dot(jnp.concatenate([f32(q) * s[:, None], f32(r) * s[:, None]]), f32(w)), [CODES, ROWS, CODES, W],
               "f8E4M3FN by f32, block [1, 64]", None),
    "padded rows": (lambda q, s, w: dot(jnp.pad(f32(q) * s[:, None], ((0, 2), (0, 0))), f32(w)), [CODES, ROWS, W], "f8E4M3FN by f32, block [1, 64]", None),
    "carried": (lambda x, w: dot(in_turns(x), f32(w)), [X, W], "f8E4M3FN by f32, block [1, 64]", None),
    "against itself": (lambda q, s: dot(f32(q) * s[:, None], (f32(q) * s[:, None]).T), [CODES, ROWS],
                       "f8E4M3FN by f32, block [1, 64]", "f8E4M3FN by f32, block [64, 1]"),
}
# The same, but compiled for each number of items: the interpreter evaluates a product, or a kernel is not one for any number.
NOT_ITEMS = {
    "one scale a column": (lambda q, s, w: dot(f32(q) * s, f32(w)), [CODES, ((K,), F32), W], "f8E4M3FN by f32, block [?, 1]", None),
    "columns by real_dynamic_slice": (lambda q, s, w: dot(jnp.split(f32(q) * blockwise(s, q.shape), 2, 1)[1], f32(w)[:32]),
                                      [CODES, ("b, 4", F32), W], "f8E4M3FN by f32, block [1, 16]", None),
    "heads": (lambda q, s, w: dot((f32(q) * s[:, :, None]).reshape(q.shape[0], 5, 4, 16).transpose(0, 2, 1, 3), f32(w)[:16]),
              [("b, 5, 64", F8), ("b, 5", F32), W], "f8E4M3FN by f32, block [1, 4, 1, 16]", None),
    "rows of open rows": (lambda q, s, i, w: dot((f32(q) * s[:, None])[i], f32(w)), [CODES, ROWS, ("b", I32), W], "f8E4M3FN by f32, block [1, 64]", None),
    "rows in pairs": (lambda q, s, w: dot((f32(q).reshape(-1, 2, K) * f32(s)[:, None, None]).reshape(-1, K), f32(w)), [("2*b, 64", F8), ("b", E8M0), W],
                      "f8E4M3FN by f8E8M0FNU, block [1, 64]", None),
}


def shape_of(axes, items):
    return tuple(eval(axis, {"b": items, "c": items + 1}) for axis in axes.split(", "))


def exported(function, arguments, items="b"):
    scope = jax.export.SymbolicScope()

    def shape(axes):
        return jax.export.symbolic_shape(axes if items == "b" else str(shape_of(axes, items))[1:-1], scope=scope) if isinstance(axes, str) else axes
    return jax.export.export(jax.jit(function))(*(jax.ShapeDtypeStruct(shape(axes), dtype) for axes, dtype in arguments))


def drawn(arguments, items):
    random = np.random.default_rng(items)
    values = []
    for axes, dtype in arguments:
        shape = shape_of(axes, items) if isinstance(axes, str) else axes
        if dtype == np.bool_:
            values.append(random.integers(0, 2, shape).astype(dtype))
        elif dtype == U8:
            values.append(random.integers(120, 135, shape).astype(dtype))
        elif dtype == I32:
            values.append(np.asarray(random.integers(0, items if shape else 2, shape), dtype))
        elif dtype == E8M0:
            values.append(np.exp2(random.integers(-3, 4, shape)).astype(F32).astype(dtype))
        else:
            values.append((random.normal(0, 2, shape).astype(F32) if dtype != F8 else random.normal(0, 50, shape).astype(F32)).astype(dtype))
    return values


def assert_bits(found, wanted):
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.view(U8), wanted.view(U8))


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("form", OPEN | NOT_ITEMS)
def test_any_number_has_the_bits_of_that_number(form, backend):
    function, arguments, _, _ = (OPEN | NOT_ITEMS)[form]
    program = octavo.compile(exported(function, arguments), recover_scaled=True, backend=backend)
    for items in (3, 1, 2, 17, 3):
        values = drawn(arguments, items)
        closed = octavo.compile(exported(function, arguments, items), recover_scaled=True, backend=backend)
        assert_bits(program(*values), closed(*values))
        if backend == "compiled":
            expected = "any number of items" if form in OPEN else "compiled for each set of extents: "
            assert program.explain()["open_extents"].startswith(expected)


def conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


# name: the program, its arguments, the operation in the way, and what is told of it
NOT_SCALED = {
    "a sum": (lambda q, s, w: dot(f32(q) * s + 1, w), [CODES, ((), F32), ((K, N), F32)], "stablehlo.add", "stands between the scale and the dot"),
    "a function": (lambda q, s, w: dot(jnp.tanh(f32(q) * s[:, None]), w), [CODES, ROWS, ((K, N), F32)], "stablehlo.tanh", "stands between"),
    "a tensor of factors": (lambda q, s, w: dot(f32(q) * s, w), [CODES, X, ((K, N), F32)], "stablehlo.multiply", "no broadcast of fewer scales"),
    "two grids": (lambda q, s, t, w: dot(f32(q) * s[:, None] * t, w), [CODES, ROWS, ((K,), F32), ((K, N), F32)],
                  "stablehlo.multiply", "is a second grid of scales"),
    "another arm": (lambda q, s, m, w: dot(jnp.where(m[:, None], f32(q) * s, -1), w), [CODES, ((), F32), ("b", np.bool_), ((K, N), F32)],
                    "stablehlo.select", "values that are not 0"),
    "a pad with ones": (lambda q, s, w: dot(jnp.pad(f32(q) * s, ((0, 2), (0, 0)), constant_values=1), w), [CODES, ((), F32), ((K, N), F32)],
                        "stablehlo.pad", "not 0"),
    "a scale for all of a place": (lambda q, s, w: dot((f32(q) * s[:, None]).reshape(-1, K), w), [("b, c, 64", F8), ("c", F32), ((K, N), F32)],
                                   "stablehlo.dynamic_reshape", "has open extents, of which blocks are not known to stay whole"),
    "halves of sequences, flat": (lambda q, s, w: dot((f32(q) * jnp.repeat(s, 4, 1)[:, :, None]).reshape(-1, K), w), [("b, 8, 64", F8), ("b, 2", F32), ((K, N), F32)],
                                  "stablehlo.dynamic_reshape", "has open extents, of which blocks are not known to stay whole"),
    "joined in other scales": (lambda q, s, r, t, w: dot(jnp.concatenate([f32(q) * s, f32(r) * t]), w), [CODES, ((), F32), CODES, ((), F32), ((K, N), F32)],
                               "stablehlo.concatenate", "joins tensors of different scales"),
    "a convolution": (lambda x, q: conv(x, f32(q) * 0.5), [("b, 8, 8, 4", F32), ((3, 3, 4, 6), F8)], "stablehlo.convolution", "has extents that are not known"),
}


def written(folder, function, arguments, items="b"):
    path = folder / f"{items}.mlir"
    path.write_text(exported(function, arguments, items).mlir_module())
    return path


def ran(*command, code=0):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.parametrize("form", OPEN | NOT_ITEMS)
def test_what_explain_says(tmp_path, form):
    function, arguments, lhs, rhs = (OPEN | NOT_ITEMS)[form]
    path = written(tmp_path, function, arguments)
    told = json.loads(ran(OCTAVO, "explain", path, "--json", "--fail-on-missed").stdout)
    assert (told["narrow"], told["missed"], told["wide"]) == (1, 0, 0)
    [found] = told["dots"]
    assert found["lhs"] == lhs and rhs in (found["rhs"], None) and found["multiply_adds"] is None
    # The pass opens the calls that JAX wraps a program in; another round finds what is there.
    once = ran(OCTAVO.parent / "octavo-opt", "--octavo-recover-scaled", path).stdout
    assert once.count("octavo.dot_general") == 1 and "stablehlo.dot_general" not in once
    (tmp_path / "once.mlir").write_text(once)
    assert json.loads(ran(OCTAVO, "explain", tmp_path / "once.mlir", "--json").stdout)["dots"][0]["lhs"] == lhs


@pytest.mark.parametrize("form", NOT_SCALED)
def test_what_is_almost_right_is_told(tmp_path, form):
    function, arguments, obstacle, reason = NOT_SCALED[form]
    path = written(tmp_path, function, arguments)
    done = ran(OCTAVO, "explain", path, "--json", "--fail-on-missed", code=1)
    [found] = json.loads(done.stdout)["dots"]
    assert found["is"] == "missed" and found["obstacle"] == obstacle and reason in found["reason"]
    with pytest.warns(UserWarning, match=re.escape(found["reason"])):
        octavo.compile(path, recover_scaled=True)


@pytest.mark.parametrize("kind", ["index", "i64"])
def test_shapes_of_index_are_told(tmp_path, kind):
    """StableHLO computes nothing of them; of other integers it does."""
    path = tmp_path / "p.mlir"
    path.write_text(f"""func.func @main(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %shape: tensor<2x{kind}>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {{
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [0] : (tensor<?xf32>, tensor<2x{kind}>) -> tensor<?x64xf32>
  %1 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<?x64xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}}
""")
    [found] = json.loads(ran(OCTAVO, "explain", path, "--json").stdout)["dots"]
    assert (found["is"], found["obstacle"]) == (("missed", "stablehlo.multiply") if kind == "index" else ("narrow", None))


def test_scales_of_the_wrong_axis_scale_that_axis():
    """Where both axes are as long, and the program has names for neither."""
    def function(q, s, w):
        return dot(f32(q) * s[None, :], w)
    arguments = [("b, b", F8), ROWS, ("b, 10", F32)]
    program = octavo.compile(exported(function, arguments), recover_scaled=True, backend="reference")
    for items in (5, 1, 8):
        q, s, w = drawn(arguments, items)
        q, s, w = np.round(q.astype(F32)).astype(q.dtype), np.exp2(np.round(s)), np.round(w)
        np.testing.assert_array_equal(program(q, s, w), (q.astype(F32) * s[None, :]) @ w)


def test_no_items():
    """A block that spans an open axis of no indices is none; JAX asks for one at least, other programs do not."""
    text = """func.func @main(%q: tensor<?x64xf8E4M3FN>, %s: tensor<f32>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %n = stablehlo.get_dimension_size %q, dim = 0 : (tensor<?x64xf8E4M3FN>) -> tensor<i32>
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %k = stablehlo.constant dense<64> : tensor<1xi32>
  %shape = stablehlo.concatenate %0, %k, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %1 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x64xf32>
  %2 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<?x64xf32>
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32>
  return %4 : tensor<?x8xf32>
}
"""
    for backend in ("compiled", "reference"):
        program = octavo.compile(text, recover_scaled=True, backend=backend)
        for items in (2, 0, 3):
            q, s, w = drawn([CODES, ((), F32), ((K, 8), F32)], items)
            q, s, w = np.round(q.astype(F32)).astype(q.dtype), np.exp2(np.round(s)), np.round(w)
            np.testing.assert_array_equal(program(q, s, w), (q.astype(F32) * s) @ w)


FUSED = {
    "scalar": (lambda x, w, c: jnp.clip(jax.nn.relu(dot(by_scalar(x), f32(w) * 0.5) + c), -448, 448), [X, W, ((N,), F32)], "bias, relu"),
    "row": (lambda x, w, c: dot(by_row(x), f32(w) * 0.5) * c, [X, W, ((), F32)], "scale"),
    "block": (lambda x, w, r: dot(by_block(x), f32(w)) + r, [X, W, ("b, 10", F32)], "residual"),
    "nvfp4": (lambda q, s, g, w, t, c: jnp.tanh(dot(f32(q) * blockwise(f32(s), q.shape) * g, f32(w) * jnp.repeat(f32(t), 16, 0) * g) + c),
              [("b, 64", F4), ("b, 4", F8), ((), F32), ((K, N), F4), ((4, N), F8), ((N,), F32)], "scale, bias, tanh"),
    "sequences, flat": (lambda x, w, c: jax.nn.silu((dot(by_row(x).reshape(-1, K), f32(w)) + c).reshape(-1, 5, N)), [("b, 5, 64", F32), W, ((N,), F32)],
                        "bias, silu"),
}


@pytest.mark.parametrize("form", FUSED)
def test_fused_dots_of_any_number(tmp_path, form):
    """What follows a product is fused with it as in a closed program, with the bits of that one, which nobody fused."""
    function, arguments, parts = FUSED[form]
    fused = []
    for items in (7, "b"):
        done = ran(OCTAVO.parent / "octavo-opt", "--inline", "--octavo-recover-scaled", "--octavo-fuse-scaled-dots",
                   written(tmp_path, function, arguments, items), "-o", tmp_path / "fused.mlir")
        fused.append([line.partition(" fused: ")[2] for line in done.stderr.splitlines() if " fused: " in line])
    assert fused[0] == fused[1] and fused[0][0].startswith(parts)
    assert "octavo.fused_dot" in (tmp_path / "fused.mlir").read_text()
    for backend in ("compiled", "reference"):
        program = octavo.compile(tmp_path / "fused.mlir", backend=backend)
        for items in (3, 1, 17):
            values = drawn(arguments, items)
            closed = octavo.compile(exported(function, arguments, items), recover_scaled=True, backend=backend)
            assert_bits(program(*values), closed(*values))
        if backend == "compiled":
            assert program.explain()["open_extents"] == "any number of items"


@pytest.mark.parametrize("form", ["scalar", "row", "block by repeat", "weight of two levels", "nvfp4"])
def test_folders_of_any_number(tmp_path, form):
    function, arguments, _, _ = OPEN[form]
    path = written(tmp_path, function, arguments)
    ran(OCTAVO, "compile", path, "--recover-scaled", "-o", tmp_path / "folder")
    program = octavo.load_program(tmp_path / "folder")
    for items in (3, 1, 17, 300):
        values = drawn(arguments, items)
        assert_bits(program(*values), octavo.compile(exported(function, arguments, items), recover_scaled=True)(*values))


@pytest.mark.parametrize("form", ["scalar", "block", "nvfp4", "chosen"])
def test_octavo_run(tmp_path, form):
    """Extents are known before; what explain writes has them open."""
    function, arguments, _, _ = (OPEN | NOT_ITEMS)[form]
    path = written(tmp_path, function, arguments)
    ran(OCTAVO, "explain", path, "-o", tmp_path / "recovered.mlir")
    for items in (4, 1):
        inputs = []
        for i, value in enumerate(drawn(arguments, items)):
            name = tmp_path / (f"{i}.npy" if value.dtype.isbuiltin == 1 else f"{i}.{value.dtype.name}.npy")
            np.save(name, value)
            inputs += ["--input", name]
        found = []
        for program, options in [(written(tmp_path, function, arguments, items), ["--recover-scaled"]), (path, ["--recover-scaled"]),
                                 (tmp_path / "recovered.mlir", [])]:
            ran(OCTAVO, "run", program, *inputs, *options, "--fail-on-missed", "--output", tmp_path / "out.npy")
            found.append(np.load(tmp_path / "out.npy"))
        assert_bits(found[1], found[0])
        assert_bits(found[2], found[0])


@pytest.mark.parametrize("options", [{"recover_scaled": True}, {"drop_scales": True}, {"recover_scaled": True, "quantize": "mxfp8_e4m3"}])
def test_arguments_keep_their_names(options):
    """Those of a function that jax.export wraps, which recovering opens."""
    shape = jax.export.symbolic_shape("b, 64")
    params = {"w": jax.ShapeDtypeStruct((K, N), F8), "s": jax.ShapeDtypeStruct((K, 1), F32)}
    program = octavo.compile(jax.export.export(jax.jit(lambda params, x: dot(by_row(x), f32(params["w"]) * params["s"])))(
        params, jax.ShapeDtypeStruct(shape, F32)), **options)
    assert [each.name for each in program.arguments] == ["params['s']", "params['w']", "x"]
