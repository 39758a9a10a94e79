"""An LSTM by lax.scan over 64 steps, whose gates are one product a step."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from program import Program, normal

WIDTH = 256
STEPS = 64
BATCH = 16


def build(name):
    weights = {"input": normal(WIDTH, 4 * WIDTH, scale=WIDTH ** -0.5),
               "hidden": normal(WIDTH, 4 * WIDTH, seed=1, scale=WIDTH ** -0.5),
               "bias": normal(4 * WIDTH, scale=0.1)}
    return Program(run, weights, {"x": normal(STEPS, BATCH, WIDTH)}, STEPS * BATCH, "steps", run_in_torch)


def run(weights, x):
    def step(state, x):
        h, c = state
        gates = x @ weights["input"] + h @ weights["hidden"] + weights["bias"]
        i, f, g, o = jnp.split(gates, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((BATCH, WIDTH), np.float32)
    return lax.scan(step, (zeros, zeros), x)[1]


def run_in_torch(weights, x):
    """torch's own LSTM, which is one call of a library; torch.compile leaves it as it is."""
    import torch

    zeros = x.new_zeros(1, BATCH, WIDTH)
    parameters = [weights["input"].T.contiguous(), weights["hidden"].T.contiguous(), weights["bias"],
                  torch.zeros_like(weights["bias"])]
    return torch.lstm(x, (zeros, zeros), parameters, True, 1, 0.0, False, False, False)[0]
