"""A training step of an MLP of two hidden layers: loss, gradients and plain gradient descent. Its parameters
are inputs, since they are others in each step."""
import jax
import jax.numpy as jnp
import numpy as np
from program import Program, normal

WIDTHS = (784, 1024, 1024, 10)
BATCH = 256
RATE = 0.05


def build(name):
    parameters = {}
    for i, (rows, columns) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        parameters[f"weight{i}"] = normal(rows, columns, seed=i, scale=rows ** -0.5)
        parameters[f"bias{i}"] = np.zeros(columns, np.float32)
    labels = np.random.default_rng(1).integers(0, WIDTHS[-1], BATCH)
    data = {"x": normal(BATCH, WIDTHS[0]), "targets": np.eye(WIDTHS[-1], dtype=np.float32)[labels]}
    donated = {name: i for i, name in enumerate(parameters)}
    return Program(step, {}, parameters | data, BATCH, "examples", step_of_torch, donated)


def step(_, *arguments):
    *parameters, x, targets = arguments

    def loss_of(parameters):
        y = x
        for i in range(0, len(parameters), 2):
            y = y @ parameters[i] + parameters[i + 1]
            y = y if i + 2 == len(parameters) else jax.nn.relu(y)
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(y) * targets, -1))

    loss, gradients = jax.value_and_grad(loss_of)(parameters)
    return *[p - RATE * g for p, g in zip(parameters, gradients)], loss


def step_of_torch(_, *arguments):
    import torch

    *parameters, x, targets = arguments

    def loss_of(parameters):
        y = x
        for i in range(0, len(parameters), 2):
            y = y @ parameters[i] + parameters[i + 1]
            y = y if i + 2 == len(parameters) else torch.relu(y)
        return -(torch.log_softmax(y, -1) * targets).sum(-1).mean()

    gradients, loss = torch.func.grad_and_value(loss_of)(tuple(parameters))
    return *[p - RATE * g for p, g in zip(parameters, gradients)], loss
