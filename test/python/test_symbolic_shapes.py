"""jax.export with symbolic dimensions, end to end: what JAX exports runs on arrays of any shape that its
assertions admit, as text, as an artifact and in jax.export's container, and gives what XLA gives."""

import os
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

pytestmark = pytest.mark.mlir

BIN = Path(os.environ["OCTAVO_BIN_DIR"])


def octavo(*arguments, code=0):
    run = subprocess.run([BIN / "octavo", *map(str, arguments)], capture_output=True, text=True,
                         timeout=120)
    assert run.returncode == code, f"{run.returncode}\n{run.stdout}\n{run.stderr}"
    return run.stderr if code else run.stdout


def attention(q, k):
    weights = jax.nn.softmax(q @ k.T / jnp.sqrt(jnp.float32(q.shape[1])), axis=-1)
    return weights @ k


def convolution(x, w):
    y = jax.lax.conv_general_dilated(x, w, (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def loop(x):
    return jax.lax.fori_loop(0, x.shape[0], lambda i, v: v.at[i].add(v.sum()), x)


def sliced(x):
    n = x.shape[0]
    return jnp.concatenate([x[1:], x[: n - 1]]), jnp.arange(n) * 2, jnp.pad(x, ((n, 0),))


def sums(x):
    return jax.lax.scan(lambda s, v: (s + v, s * v), jnp.zeros(x.shape[1], x.dtype), x)


# Function, symbolic shapes of its arguments, shapes that it is run on.
PROGRAMS = {
    "sines": (jnp.sin, ["a, b"], [(3, 5)]),
    "attention": (attention, ["n, d", "m, d"], [(3, 4), (5, 4)]),
    "convolution": (convolution, ["n, h, 2*w, 3", "3, 3, 3, 4"], [(2, 5, 6, 3), (3, 3, 3, 4)]),
    "loop": (loop, ["n"], [(6,)]),
    "reshape": (lambda x: x.reshape(-1), ["a, 2*b"], [(3, 4)]),
    "reshape back": (lambda x: x.reshape(2, x.shape[0] // 2), ["2*a"], [(6,)]),
    "slices": (sliced, ["n"], [(5,)]),
    "sort": (lambda x: (jnp.sort(x, 0), jnp.argsort(x, 0)), ["n, 3"], [(7, 3)]),
    "scan": (sums, ["n, m"], [(4, 3)]),
    "top_k": (lambda x: jax.lax.top_k(x, x.shape[0]), ["n, n + 2"], [(3, 5)]),
    "approximate top_k": (lambda x: jax.lax.approx_max_k(x, 3), ["n, 16"], [(5, 16)]),
    "approximate top_k of an extent": (lambda x: jax.lax.approx_min_k(x, x.shape[0]), ["n, n + 2"], [(3, 5)]),
    "gather": (lambda x: x[jnp.array([2, 0])], ["n, m"], [(4, 3)]),
    "mean": (lambda x: (x.mean(), x.var(0)), ["n, m"], [(4, 3)]),
    "broadcast": (lambda x, y: x + y, ["n, 1", "1, m"], [(3, 1), (1, 4)]),
    "cumsum": (lambda x: jnp.cumsum(x), ["n"], [(9,)]),
    "random": (lambda key, x: x + jax.random.uniform(jax.random.wrap_key_data(key), x.shape),
               [("2", np.uint32), "n, 3"], [(2,), (4, 3)]),
    "random bits": (lambda key, x: jax.lax.rng_bit_generator(key, (x.shape[0],))[1],
                    [("4", np.uint32), "n"], [(4,), (6,)]),
    "calls": (lambda x: jax.jit(lambda v: jnp.tanh(v) * v.shape[0])(x) + jax.nn.relu(x), ["n"], [(5,)]),
    "condition": (lambda x: jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), ["n"], [(5,)]),
    "modulo": (lambda x: jnp.full(x.shape, x.shape[0] % 3 + x.shape[0] // 2), ["n"], [(8,)]),
    "platforms": (lambda x: jax.lax.platform_dependent(x, cpu=jnp.sin, tpu=jnp.cos), ["n"], [(5,)]),
}


def exported(name):
    function, symbols, _ = PROGRAMS[name]
    scope = export.SymbolicScope()
    arguments = []
    for each in symbols:
        text, dtype = each if isinstance(each, tuple) else (each, np.float32)
        arguments.append(jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), dtype))
    platforms = ["tpu", "cpu"] if name == "platforms" else ["cpu"]
    return export.export(jax.jit(function), platforms=platforms)(*arguments)


def inputs_of(name, tmp_path):
    rng = np.random.default_rng(7)
    _, symbols, shapes = PROGRAMS[name]
    arrays = []
    for i, (each, shape) in enumerate(zip(symbols, shapes)):
        dtype = each[1] if isinstance(each, tuple) else np.float32
        values = rng.standard_normal(shape) if dtype == np.float32 else rng.integers(0, 99, shape)
        arrays.append(values.astype(dtype))
        np.save(tmp_path / f"{i}.npy", arrays[-1])
    return arrays


def outputs_in(folder):
    files = sorted(folder.glob("*.npy"), key=lambda path: path.name)
    return [np.load(path) for path in files]


def run(program, arrays, tmp_path, *more):
    folder = tmp_path / f"out-{program.suffix[1:]}"
    octavo("run", program, *(f"--input={tmp_path / f'{i}.npy'}" for i in range(len(arrays))), *more,
           "--output", folder)
    return outputs_in(folder)


@pytest.mark.parametrize("form", ["mlir", "mlirbc", "jax"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_runs_on_arrays_of_fitting_shapes(name, form, tmp_path):
    program = exported(name)
    arrays = inputs_of(name, tmp_path)
    path = tmp_path / f"program.{form}"
    if form == "mlir":
        path.write_text(str(program.mlir_module()))
    else:
        path.write_bytes(program.mlir_module_serialized if form == "mlirbc" else program.serialize())
    more = []
    if name == "platforms" and form != "jax":  # which platform is which stands in the container alone
        np.save(tmp_path / "platform.npy", np.int32(1))
        more = [f"--input=_platform_index={tmp_path / 'platform.npy'}"]
    found = run(path, arrays, tmp_path, *more)
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(PROGRAMS[name][0](*arrays))]
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape and one.dtype == other.dtype
        if one.dtype == np.float32:
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
        else:
            np.testing.assert_array_equal(one, other)


def refused(symbols, shape, tmp_path):
    program = export.export(jax.jit(jnp.sin))(
        jax.ShapeDtypeStruct(export.symbolic_shape(symbols), np.float32))
    path = tmp_path / "program.jax"
    path.write_bytes(program.serialize())
    np.save(tmp_path / "x.npy", np.zeros(shape, np.float32))
    return octavo("run", path, "--input", tmp_path / "x.npy", code=3)


def test_assertion_on_shapes_that_is_false_says_its_message(tmp_path):
    assert "Division had remainder 1 when computing the value of 'b'" in refused("2*b", (5,), tmp_path)
    assert "Found inconsistency between dimension size args[0].shape[1] (= 4)" in refused(
        "a, a", (3, 4), tmp_path)


def test_wrong_rank_is_told_before_anything_runs(tmp_path):
    assert "expected f32[?, ?], found f32[3]" in refused("a, b", (3,), tmp_path)
