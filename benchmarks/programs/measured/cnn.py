"""A small CNN: 3x3 convolutions over images of 32 x 32 in four stages, each but the last halved by its strides."""
import jax
import jax.numpy as jnp
from jax import lax
from program import Program, normal

CHANNELS = (3, 32, 64, 128, 128)
IMAGES = 16


def build(name):
    weights = {}
    for i, (a, b) in enumerate(zip(CHANNELS, CHANNELS[1:])):
        weights[f"kernel{i}"] = normal(3, 3, a, b, seed=i, scale=(9 * a) ** -0.5)
        weights[f"bias{i}"] = normal(b, seed=i, scale=0.1)
    weights["head"] = normal(CHANNELS[-1], 10, scale=CHANNELS[-1] ** -0.5)
    return Program(classify, weights, {"images": normal(IMAGES, 32, 32, 3)}, IMAGES, "images", classify_in_torch)


def classify(weights, x):
    for i in range(len(CHANNELS) - 1):
        stride = 1 if i in (0, len(CHANNELS) - 2) else 2
        x = lax.conv_general_dilated(x, weights[f"kernel{i}"], (stride, stride), ((1, 1), (1, 1)),
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + weights[f"bias{i}"])
    return jnp.mean(x, (1, 2)) @ weights["head"]


def classify_in_torch(weights, x):
    import torch

    x = x.permute(0, 3, 1, 2)
    for i in range(len(CHANNELS) - 1):
        stride = 1 if i in (0, len(CHANNELS) - 2) else 2
        kernel = weights[f"kernel{i}"].permute(3, 2, 0, 1)
        x = torch.relu(torch.nn.functional.conv2d(x, kernel, weights[f"bias{i}"], stride, 1))
    return x.mean((2, 3)) @ weights["head"]
