#!/usr/bin/env python3
"""Trains a small decoder on English text in JAX on the CPU, with the products of its layers in f32,
in FP8 with delayed scaling, in MXFP8, and in NVFP4 with stochastic rounding, and draws the losses.

    python examples/decoder_training/train.py --steps 2000 --seeds 3 --output losses.png

The text is what Python's help() knows of the language, 465 kB that every Python carries; a twentieth
of it is kept for the test loss. Embedding, norms, attention and the last product stay in f32.
"""
import argparse
import functools
import json
import pathlib
import sys
import time
from pydoc_data.topics import topics

import jax
import jax.numpy as jnp
import numpy as np
import octavo.training as training

WIDTH, HEADS, LAYERS, LENGTH, BATCH = 128, 4, 2, 64, 16
DENSE = {"attention": (WIDTH, 3 * WIDTH), "output": (WIDTH, WIDTH),
         "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
OVER_LAST = (((2,), (0,)), ((), ()))

RECIPES = {
    "f32": None,
    "fp8, delayed scaling": "delayed",
    "mxfp8": ("mxfp8_e4m3", "mxfp8_e4m3", "mxfp8_e4m3"),
    "nvfp4, stochastic": ("nvfp4", "nvfp4", "nvfp4"),
}


def text():
    """Training and test bytes, as numbers of the characters that occur."""
    characters = np.frombuffer("".join(topics[name] for name in sorted(topics)).encode("ascii", "replace"), np.uint8)
    vocabulary, numbers = np.unique(characters, return_inverse=True)
    cut = len(numbers) * 19 // 20
    return numbers[:cut], numbers[cut:], len(vocabulary)


def initial(key, vocabulary):
    keys = iter(jax.random.split(key, 3 + LAYERS * len(DENSE)))

    def normal(shape, deviation):
        return jax.random.normal(next(keys), shape) * deviation

    return {"embedding": normal((vocabulary, WIDTH), 0.02), "positions": normal((LENGTH, WIDTH), 0.02),
            "last": normal((WIDTH, vocabulary), WIDTH ** -0.5),
            "layers": [{name: normal(shape, shape[0] ** -0.5) for name, shape in DENSE.items()}
                       for _ in range(LAYERS)]}


def initial_scales(recipe):
    """One DelayedScales a product, which each step gives anew; nothing for other recipes."""
    if recipe != "delayed":
        return None
    return [{name: training.DelayedScales.initial() for name in DENSE} for _ in range(LAYERS)]


def norm(x):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def loss(parameters, scales, tokens, key, recipe):
    """The mean cross entropy of the next character, in nats. tokens: [batch, LENGTH + 1]."""
    products = iter(jax.random.split(key, LAYERS * len(DENSE)))

    def dense(layer, name, x):
        weight = parameters["layers"][layer][name]
        if recipe is None:
            return x @ weight
        if recipe == "delayed":
            return training.delayed_dot_general(x, weight, OVER_LAST, scales[layer][name])
        is_nvfp4 = recipe[2] == "nvfp4"
        return training.dot_general(x, weight, OVER_LAST, recipe, rotated=is_nvfp4,
                                    key=next(products) if is_nvfp4 else None)

    x = parameters["embedding"][tokens[:, :-1]] + parameters["positions"]
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    for layer in range(LAYERS):
        heads = dense(layer, "attention", norm(x)).reshape(-1, LENGTH, 3, HEADS, WIDTH // HEADS)
        q, k, v = (heads[:, :, i] for i in range(3))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (WIDTH // HEADS) ** -0.5
        shares = jax.nn.softmax(jnp.where(mask, scores, -1e30))
        x += dense(layer, "output", jnp.einsum("bhqk,bkhd->bqhd", shares, v).reshape(x.shape))
        x += dense(layer, "down", jax.nn.gelu(dense(layer, "up", norm(x))))
    logits = jax.nn.log_softmax(norm(x) @ parameters["last"])
    return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()


@functools.partial(jax.jit, static_argnames="recipe", donate_argnums=(0, 1))
def step(state, scales, tokens, number, key, recipe):
    """One step of Adam; the weights themselves stay f32. The gradient of the scales is the next scales."""
    parameters, first, second = state
    value, (gradients, scales) = jax.value_and_grad(loss, (0, 1))(parameters, scales, tokens, key, recipe)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.98 * v + 0.02 * g * g, second, gradients)
    rate = 2e-3 * jnp.minimum(1.0, number / 100)
    ahead, behind = 1 - 0.9 ** number, 1 - 0.98 ** number
    parameters = jax.tree.map(lambda p, m, v: p - rate * (m / ahead) / (jnp.sqrt(v / behind) + 1e-8),
                              parameters, first, second)
    return (parameters, first, second), scales, value


def train(recipe, seed, steps, told):
    """The training loss of each step, and the test loss at the end, in f32 products."""
    known, unseen, vocabulary = text()
    parameters = initial(jax.random.key(seed), vocabulary)
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state, scales = (parameters, zeros, jax.tree.map(jnp.copy, zeros)), initial_scales(recipe)
    drawn, losses, key = np.random.default_rng(seed), [], jax.random.key(seed + 1000)
    for number in range(1, steps + 1):
        starts = drawn.integers(0, len(known) - LENGTH - 1, BATCH)
        tokens = known[starts[:, None] + np.arange(LENGTH + 1)]
        state, scales, value = step(state, scales, tokens, float(number), jax.random.fold_in(key, number), recipe)
        losses.append(value)
        if number % 50 == 0:
            told(number, float(value))
    test = unseen[:len(unseen) // LENGTH * LENGTH - LENGTH + 1]
    windows = test[np.arange(0, len(test) - LENGTH, LENGTH)[:, None] + np.arange(LENGTH + 1)]
    return [float(value) for value in losses], float(jax.jit(loss, static_argnames="recipe")(state[0], None, windows, key, None))


def draw(results, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 5), layout="constrained")
    window = 50
    for name, runs in results.items():
        smooth = np.array([np.convolve(run["losses"], np.ones(window) / window, "valid") for run in runs])
        steps = np.arange(window, window + smooth.shape[1])
        [line] = axes.plot(steps, smooth.mean(0), label=name, linewidth=1.4)
        axes.fill_between(steps, smooth.min(0), smooth.max(0), alpha=0.15, color=line.get_color(), linewidth=0)
    axes.set(xlabel="step", ylabel=f"training loss, nats a character, mean of {window} steps",
             title="A decoder on English text: products in f32 and in narrow formats", yscale="log")
    axes.set_yticks([1.2, 1.4, 1.7, 2, 2.5, 3, 3.5], labels=["1.2", "1.4", "1.7", "2", "2.5", "3", "3.5"], minor=False)
    axes.set_yticks([], minor=True)
    axes.legend(title="mean and range of the seeds")
    axes.grid(alpha=0.3, which="both")
    figure.savefig(path, dpi=120)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--steps", type=int, default=200)
    arguments.add_argument("--seeds", type=int, default=1)
    arguments.add_argument("--output", type=pathlib.Path, help="the picture (needs matplotlib); losses as JSON beside it")
    options = arguments.parse_args()
    results = {}
    print(f"{'products in':<24}{'seed':>5}{'train, last 100':>17}{'test':>8}{'minutes':>9}")
    for name, recipe in RECIPES.items():
        for seed in range(options.seeds):
            start = time.monotonic()

            def told(number, value):
                if sys.stderr.isatty():
                    print(f"\r{name}: step {number} of {options.steps}, loss {value:.3f} ", end="", file=sys.stderr)

            losses, test = train(recipe, seed, options.steps, told)
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr)
            results.setdefault(name, []).append({"seed": seed, "losses": losses, "test": test})
            print(f"{name:<24}{seed:>5}{np.mean(losses[-100:]):>17.3f}{test:>8.3f}"
                  f"{(time.monotonic() - start) / 60:>9.1f}", flush=True)
    if options.output:
        options.output.with_suffix(".json").write_text(json.dumps(results))
        draw(results, options.output)


if __name__ == "__main__":
    main()
