"""Random programs of a few buffers that loops and branches carry, exchange, update in part and read before and after:
compiled bit for bit as the interpreter has them, into new arrays and over donated arguments.

All numbers are multiples of powers of two, or integers, so that no order of operations can be told from the bits.
"""
import os

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("octavo._programs", reason="octavo was built without MLIR")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax

import octavo

PROGRAMS = int(os.environ.get("OCTAVO_RANDOM_PROGRAMS", "20"))
TYPES = [np.float32, np.int32, ml_dtypes.bfloat16, np.int8]


def half(x):
    return x if jnp.issubdtype(x.dtype, jnp.integer) else x * jnp.asarray(0.5, x.dtype)


def row(x, i):
    return lax.dynamic_slice(x, (i, 0), (1, x.shape[1]))


# Of two buffers x and y, a stack of buffers s, the number i of the turn and indices of rows.
VALUES = [
    lambda x, y, s, i, ids: lax.dynamic_update_slice(x, y[:1], (i, 0)),
    lambda x, y, s, i, ids: lax.dynamic_update_slice(x, row(y, i + 1), (i, 0)),
    lambda x, y, s, i, ids: lax.dynamic_index_in_dim(s, i, 0, False),
    lambda x, y, s, i, ids: x[::-1],
    lambda x, y, s, i, ids: jnp.concatenate([y[:1], x[:-1]]),
    lambda x, y, s, i, ids: jnp.where(x > y, x, y),
    lambda x, y, s, i, ids: half(x + y),
    lambda x, y, s, i, ids: half(x + y[:1]),
    lambda x, y, s, i, ids: half(x + x[::-1]),
    lambda x, y, s, i, ids: half(x + s[i % len(s)]),
    lambda x, y, s, i, ids: half(x + lax.reduce_max(x, (0,))[None]),
    lambda x, y, s, i, ids: x.at[ids].set(y),
    lambda x, y, s, i, ids: x.at[ids].add(half(y)),
    lambda x, y, s, i, ids: y[jnp.clip(ids, 0, len(y) - 1)],
    lambda x, y, s, i, ids: jnp.broadcast_to(y[:1], x.shape),
    lambda x, y, s, i, ids: y,
]
STACKS = [
    lambda x, y, s, i, ids: lax.dynamic_update_slice(s, x[None], (i, 0, 0)),
    lambda x, y, s, i, ids: s.at[:, 0].set(x),
    lambda x, y, s, i, ids: s.at[i % len(s), 0].add(half(x[0])),
    lambda x, y, s, i, ids: jnp.swapaxes(s, 0, 1),
]


def block(seed, state, i, ids, depth):
    """Some statements over the state: buffers, and a stack of such last."""
    drawn, state = np.random.default_rng(seed), list(state)
    for _ in range(drawn.integers(1, 6)):
        u, v = drawn.integers(len(state) - 1, size=2)
        x, y, stack = state[u], state[v], state[-1]
        kind, inner, flag = drawn.integers(10), [*seed, int(drawn.integers(2**30))], drawn.random() < 0.5

        def turn(j, state, inner=inner):
            return tuple(block(inner, state, j, ids, depth - 1))

        if kind == 0:
            state[u], state[v] = state[v], state[u]
        elif kind == 1:
            state[-1] = STACKS[drawn.integers(len(STACKS))](x, y, stack, i, ids)
        elif kind == 2 and depth:
            state = list(lax.fori_loop(0, i if flag else 2, turn, tuple(state)))
        elif kind == 3 and depth:
            other = [*inner, 1] if flag else None
            state = list(lax.cond(i % 2 == 0, lambda state, turn=turn: turn(i, state), lambda state, turn=turn, other=other:
                                  turn(i, state, other) if other else state, tuple(state)))
        elif kind == 4 and depth:
            def scanned(state, each, turn=turn, v=v, flag=flag):
                after = turn(i, state)
                return (lax.dynamic_update_slice(after[0], each[:1], (1, 0)), *after[1:]), (state if flag else after)[v]
            state, rows = lax.scan(scanned, tuple(state), stack, reverse=bool(flag))
            state = [*state[:-1], rows]
        else:
            state[u] = VALUES[drawn.integers(len(VALUES))](x, y, stack, i, ids)
    return state


def program(seed):
    """A function, arrays for it, and which of them it may write over."""
    drawn = np.random.default_rng(seed)
    n, k, buffers = drawn.choice([1, 2, 3, 5, 8]), drawn.choice([1, 3, 4, 16]), drawn.integers(2, 5)
    dtype = TYPES[drawn.integers(len(TYPES))]
    state = [drawn.integers(-6, 7, shape).astype(dtype) for shape in [(n, k)] * buffers + [(n, n, k)]]
    indices = np.int32(drawn.integers(4)), drawn.integers(-1, n + 1, n).astype(np.int32)

    def function(*given):
        *state, i, ids = given
        state = block([seed, 1], state, i, ids, 1)
        state = lax.fori_loop(0, 3, lambda j, state: tuple(block([seed, 2], state, j, ids, 1)), tuple(state))
        return [*block([seed, 3], state, i, ids, 1), given[0]]

    return function, [*state, *indices], [i for i in range(buffers + 1) if drawn.random() < 0.5]


def assert_bits(found, expected, seed):
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), seed


@pytest.mark.parametrize("part", range(5))
def test_buffers_that_loops_carry(part):
    for seed in range(part * PROGRAMS // 5, (part + 1) * PROGRAMS // 5):
        function, arrays, donated = program(seed)
        lowered = jax.jit(function, donate_argnums=donated, keep_unused=True).lower(*arrays)
        expected = octavo.compile(lowered, backend="reference")(*arrays)
        compiled = octavo.compile(lowered)
        assert_bits(compiled(*arrays), expected, seed)
        # JAX donates an argument to the first result of its shape that has none yet.
        given, free = [np.array(array) for array in arrays], list(donated)
        out = [np.empty_like(array) for array in expected]
        for i, array in enumerate(out):
            if taken := [each for each in free if given[each].shape == array.shape]:
                out[i] = given[taken[0]]
                free.remove(taken[0])
        assert_bits(compiled(*given, out=out), expected, seed)
