"""Products of scaled tensors for four devices, as JAX lowers them, for test_recover_sharded.py: run in a
process of its own, since the number of devices is said before JAX starts."""

import os
import pickle
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jax import export, lax  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

RNG = np.random.default_rng(1)
Q = RNG.integers(-4, 5, (8, 64)).astype(ml_dtypes.float8_e4m3fn)
ROW = np.exp2(RNG.integers(-2, 3, (8, 1))).astype(np.float32)
BLOCK = np.exp2(RNG.integers(-2, 3, (8, 2))).astype(ml_dtypes.float8_e8m0fnu)
W = (RNG.integers(-4, 5, (64, 10)) / 2).astype(np.float32)
RING = [(0, 1), (1, 2), (2, 3)]
# What four devices sum: parts of eight rows, under scales of rows, of blocks and of a part.
SUMMED = RNG.integers(-12, 13, (32, 64)).astype(ml_dtypes.float8_e4m3fn)
SUM_ROW = np.exp2(RNG.integers(-2, 3, (32, 1))).astype(np.float32) * np.float32(1.1)
SUM_BLOCK = np.exp2(RNG.integers(-2, 3, (32, 2))).astype(ml_dtypes.float8_e8m0fnu)
SUM_PART = np.float32([[0.5], [1.25], [3], [0.7]])
MESH = Mesh(np.array(jax.devices()), ("i",))


def wide(q, s):
    return q.astype(jnp.float32) * jnp.repeat(s.astype(jnp.float32), q.shape[1] // s.shape[1], 1)


# name: function of a device's part of Q and of scales, the scales, what the devices give
GATHERED = {
    "all_gather": (lambda q, s: lax.all_gather(wide(q, s), "i", tiled=True) @ W, ROW, P()),
    "all_gather of blocks": (lambda q, s: lax.all_gather(wide(q, s), "i", tiled=True) @ W, BLOCK, P()),
    "all_gather of columns": (lambda q, s: lax.all_gather(wide(q, s), "i", axis=1, tiled=True) @ jnp.concatenate([W] * 4), BLOCK, P()),
    "all_gather of a constant scale": (lambda q, s: lax.all_gather(q.astype(jnp.float32) * 0.5, "i", tiled=True) @ W, ROW, P()),
    "all_gather of a scale a device": (lambda q, s: lax.all_gather(q.astype(jnp.float32) * s[0, 0], "i", tiled=True) @ W, ROW, P()),
    "all_to_all": (lambda q, s: lax.all_to_all(wide(q, s), "i", 1, 0, tiled=True) @ W[:16], ROW, P("i")),
    "ppermute": (lambda q, s: lax.ppermute(wide(q, s), "i", RING) @ W, BLOCK, P("i")),
    "psum_scatter": (lambda q, s: lax.psum_scatter(wide(q, s), "i", scatter_dimension=1, tiled=True), ROW, P(None, "i")),
    "psum_scatter of what is no grid": (lambda q, s: lax.psum_scatter(jnp.tile(wide(q, s), (4, 1)), "i", tiled=True), ROW, P("i")),
    "a table": (lambda q, s: jnp.take(lax.all_gather(wide(q, s), "i", tiled=True), jnp.array([7, 0, 3]), axis=0, mode="clip"), ROW, P()),
    # Not: blocks of 32 cut into parts of 16, and wide values that go into another computation.
    "all_to_all within blocks": (lambda q, s: lax.all_to_all(wide(q, s), "i", 1, 0, tiled=True) @ W[:16], BLOCK, P("i")),
}


SUMS = {
    "psum": (lambda q, s: lax.psum(wide(q, s), "i"), SUM_ROW),
    "psum of blocks": (lambda q, s: lax.psum(wide(q, s), "i"), SUM_BLOCK),
    "psum of a scale a device": (lambda q, s: lax.psum(q.astype(jnp.float32) * s[0, 0], "i"), SUM_PART),
    # Not: five rows and 63 columns, which four devices do not share.
    "psum of odd extents": (lambda q, s: lax.psum(wide(q, s)[:5, :63], "i"), SUM_ROW),
}


def matmuls():
    """jax.nn.scaled_matmul: by shard_map, lowered for GPUs; under shardings, as it leaves it to a partitioner."""
    parts = [Q.reshape(2, 4, 64), RNG.integers(-4, 5, (2, 6, 64)).astype(Q.dtype), BLOCK.reshape(2, 4, 2),
             np.exp2(RNG.integers(-2, 3, (2, 6, 2))).astype(BLOCK.dtype)]
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
    specs = (P(None, "x"), P(None, "y"), P(None, "x"), P(None, "y"))
    shards = jax.jit(jax.shard_map(jax.nn.scaled_matmul, mesh=mesh, in_specs=specs, out_specs=P(None, "x", "y")))
    unchecked = [export.DisabledSafetyCheck.custom_call("__op$block_scaled_dot")]
    sharded = jax.jit(jax.nn.scaled_matmul, in_shardings=tuple(NamedSharding(mesh, spec) for spec in specs))
    return parts, {
        "shard_map": export.export(shards, platforms=["cuda"], disabled_checks=unchecked)(*parts).mlir_module(),
        "jit": sharded.lower(*parts).as_text(),
    }


def main(path):
    found = {}
    for name, (function, scales, out) in GATHERED.items():
        spread = jax.jit(jax.shard_map(function, mesh=MESH, in_specs=P("i"), out_specs=out, check_vma=False), keep_unused=True)
        found[name] = spread.lower(Q, scales).as_text(), scales, np.asarray(spread(Q, scales))
    x = RNG.standard_normal((8, 64)).astype(np.float32)
    spread = jax.jit(jax.shard_map(lambda x: lax.all_gather(x, "i", tiled=True) @ W, mesh=MESH, in_specs=P("i"), out_specs=P(), check_vma=False))
    found["activations"] = spread.lower(x).as_text(), x, np.asarray(spread(x))
    for name, (function, scales) in SUMS.items():
        spread = jax.jit(jax.shard_map(function, mesh=MESH, in_specs=P("i"), out_specs=P(), check_vma=False))
        found[name] = spread.lower(SUMMED, scales).as_text(), scales, SUMMED
    spread = jax.jit(jax.shard_map(lambda x: lax.psum(x, "i") @ W, mesh=MESH, in_specs=P("i"), out_specs=P(), check_vma=False))
    tall = RNG.standard_normal((32, 64)).astype(np.float32)
    found["summed activations"] = spread.lower(tall).as_text(), tall, np.asarray(spread(tall))
    with open(path, "wb") as file:
        pickle.dump((Q, found, matmuls()), file)


if __name__ == "__main__":
    main(sys.argv[1])
