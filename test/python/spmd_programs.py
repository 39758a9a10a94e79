"""Programs for four devices with what XLA's CPU backend makes of them, for test_processes.py: run in
a process of its own, since the number of devices is said before JAX starts."""

import os
import pickle
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh, PartitionSpec  # noqa: E402

X = np.arange(48, dtype=np.float32).reshape(8, 6) - 20
RING = [(i, (i + 1) % 4) for i in range(4)]


def ring_sum(x):
    """Every shard goes once around; each device adds up what comes by."""
    def turn(_, state):
        travelling, total = state
        travelling = lax.ppermute(travelling, "i", RING)
        return travelling, total + travelling
    return lax.fori_loop(0, 3, turn, (x, x))[1]


def softmax(x):
    """Over the rows of all devices."""
    e = jnp.exp(x - lax.pmax(x.max(0), "i"))
    return e / lax.psum(e.sum(0), "i")


PROGRAMS = {
    "psum": lambda x: lax.psum(x, "i") + x,
    "psum of two": lambda x: sum(lax.psum((x, 2 * x), "i")) + x,
    "pmax and pmin": lambda x: lax.pmax(x, "i") - lax.pmin(x, "i") + x,
    "axis_index": lambda x: x + lax.axis_index("i").astype(x.dtype),
    "all_gather": lambda x: lax.all_gather(x, "i", tiled=True)[::2][:2] * x[:2],
    "all_to_all": lambda x: lax.all_to_all(jnp.tile(x, (2, 1)), "i", 0, 0, tiled=True),
    "psum_scatter": lambda x: lax.psum_scatter(jnp.tile(x, (2, 1)), "i", tiled=True),
    "ppermute": lambda x: lax.ppermute(x, "i", RING[:3]),
    "psum in two groups": lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2, 3]]) + x,
    "a ring of sends": ring_sum,
    "softmax": softmax,
    "matmul of shards": lambda x: lax.psum(x.T @ x, "i")[:2],
}


def main(path):
    mesh = Mesh(np.array(jax.devices()), ("i",))
    found = {}
    for name, function in PROGRAMS.items():
        spread = jax.jit(jax.shard_map(function, mesh=mesh, in_specs=PartitionSpec("i"),
                                       out_specs=PartitionSpec("i"), check_vma=False))
        found[name] = spread.lower(X).as_text(), np.asarray(spread(X))
    with open(path, "wb") as file:
        pickle.dump((X, found), file)


if __name__ == "__main__":
    main(sys.argv[1])
