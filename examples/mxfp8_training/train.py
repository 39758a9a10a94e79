#!/usr/bin/env python3
"""Trains a small network in JAX on the CPU with its products in f32 and in scaled formats, forward
and backward, and prints the losses side by side.

    python examples/mxfp8_training/train.py --steps 200

Three decimals are the same on every instruction set that was tried. The next ones are not: XLA and the
FP8 kernels add in another order there, and a rounding to a narrow format makes much of little.
"""
import argparse
import functools

import jax
import jax.numpy as jnp
import octavo.jax as oj

WIDTHS = (64, 256, 256, 32)
RECIPES = {
    "f32": None,
    "mxfp8_e4m3": ("mxfp8_e4m3", "mxfp8_e4m3", "mxfp8_e4m3"),
    "mxfp8, gradients e5m2": ("mxfp8_e4m3", "mxfp8_e4m3", "mxfp8_e5m2"),
    "mxfp6_e2m3": ("mxfp6_e2m3", "mxfp6_e2m3", "mxfp8_e4m3"),
    "mxfp4": ("mxfp4", "mxfp4", "mxfp8_e4m3"),
}


def network(parameters, x, configs):
    for i, (weight, bias) in enumerate(parameters):
        x = oj.scaled_dot_general(x, weight, (((1,), (0,)), ((), ())), configs=configs) + bias
        if i + 1 < len(parameters):
            x = jax.nn.gelu(x)
    return x


def initial(key):
    keys = jax.random.split(key, len(WIDTHS) - 1)
    return [(jax.random.normal(key, (rows, columns)) / rows ** 0.5, jnp.zeros(columns))
            for key, rows, columns in zip(keys, WIDTHS, WIDTHS[1:])]


@functools.partial(jax.jit, static_argnames="configs")
def step(parameters, x, y, rate, configs):
    """One step of gradient descent on the mean squared error; the weights themselves stay f32."""
    def loss(parameters):
        return jnp.mean((network(parameters, x, configs) - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(parameters)
    return jax.tree.map(lambda p, g: p - rate * g, parameters, gradients), value


def train(configs, steps, batch=256):
    """The losses of `steps` steps, learning a fixed random network's answers."""
    teacher, student, data = jax.random.split(jax.random.key(0), 3)
    parameters, truth, losses = initial(student), initial(teacher), []
    for i in range(steps):
        x = jax.random.normal(jax.random.fold_in(data, i), (batch, WIDTHS[0]))
        parameters, loss = step(parameters, x, network(truth, x, None), 0.2, configs)
        losses.append(float(loss))
    return losses


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--steps", type=int, default=200)
    steps = arguments.parse_args().steps
    shown = sorted({round(steps * part) - 1 for part in (0.05, 0.25, 0.5, 1) if steps * part >= 1})
    print(f"{'products in':<24}" + "".join(f"{f'step {i + 1}':>12}" for i in shown))
    for name, configs in RECIPES.items():
        losses = train(configs, steps)
        print(f"{name:<24}" + "".join(f"{losses[i]:>12.3f}" for i in shown), flush=True)


if __name__ == "__main__":
    main()
