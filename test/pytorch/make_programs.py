"""Exports small PyTorch programs to StableHLO with torch_mlir, each with an input and torch's own
output: Inputs/NAME.mlir, and Inputs/arrays.npz with NAME.input0, ..., NAME.output.

    python make_programs.py      in an environment with test/clients/requirements.txt
"""

import math
import pathlib

import numpy as np
import torch
from torch.export import Dim
from torch.nn import functional as F
from torch_mlir import fx

HERE = pathlib.Path(__file__).resolve().parent / "Inputs"


class Layers(torch.nn.Module):
    """A function of tensors, with a few layers at hand."""

    def __init__(self, function):
        super().__init__()
        torch.manual_seed(0)
        self.function = function
        self.linear = torch.nn.Linear(8, 8)
        self.embedding = torch.nn.Embedding(10, 8)
        self.norm = torch.nn.LayerNorm(8)
        self.convolution = torch.nn.Conv2d(3, 6, 3, padding=1, groups=3)

    def forward(self, *arguments):
        return self.function(self, *arguments)


torch.manual_seed(1)
X = torch.randn(4, 8)
IDS = torch.randint(0, 10, (4, 3))
IMAGE = torch.randn(2, 3, 16, 16)
# Name, the function, its arguments, and whether the first extent is left open.
PROGRAMS = {
    "open_linear": (lambda m, x: F.relu(m.norm(m.linear(x))) @ m.linear.weight, (X,), True),
    "open_view": (lambda m, x: x.view(-1, 2, 4).transpose(1, 2).reshape(x.shape[0], -1) * x.shape[0], (X,), True),
    "open_embedding": (lambda m, i: m.embedding(i).sum(1), (IDS,), True),
    "open_softmax": (lambda m, x: torch.softmax(x, -1) + x.mean(0), (X,), True),
    "open_concatenate": (lambda m, x: torch.cat([x, torch.zeros(x.shape[0], 2)], 1)[:, 1:], (X,), True),
    "open_arange": (lambda m, x: x * torch.arange(x.shape[0])[:, None], (X,), True),
    "open_size": (lambda m, x: x / math.sqrt(x.shape[1]) + (x.shape[0] * 3 - 1) // 2, (X,), True),
    "linear": (lambda m, x: F.relu(m.norm(m.linear(x))), (X,), False),
    "item": (lambda m, x: x * x.sum().item(), (X,), False),
    "argmax": (lambda m, x: x.argmax(-1), (X,), False),
    "topk": (lambda m, x: torch.topk(x, 2)[0], (X,), False),
    "cumsum": (lambda m, x: torch.cumsum(x, 0), (X,), False),
    "where": (lambda m, x: torch.where(x > 0, x, torch.tensor(2.0)), (X,), False),
    "bilinear": (lambda m, x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), (IMAGE,), False),
    "average_pool": (lambda m, x: F.avg_pool2d(x, 2), (IMAGE,), False),
    "adaptive_pool": (lambda m, x: F.adaptive_avg_pool2d(x, (4, 8)), (IMAGE,), False),
    "max_pool": (lambda m, x: F.max_pool2d(x, 3, 2, 1), (IMAGE,), False),
    "convolution": (lambda m, x: m.convolution(x), (IMAGE,), False),
    "group_norm": (lambda m, x: F.group_norm(x, 3), (IMAGE,), False),
    "attention": (lambda m, x: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None], is_causal=True), (X,), False),
    "activations": (lambda m, x: F.gelu(x, approximate="tanh") + F.gelu(x) + F.silu(x) + F.hardswish(x), (X,), False),
    # torch_mlir makes torch's % of the divisor's sign a stablehlo.remainder, which has the dividend's.
    "powers": (lambda m, x: x.pow(3) + 2**x + x // 2 + x.abs() % 2, (X,), False),
    "integers": (lambda m, i: i // 2 + i % 3 + (i > 1).int().sum(), (IDS,), False),
    "index_put": (lambda m, x, i: x.index_put((i[:, 0],), torch.ones(4, 8), accumulate=True), (X, IDS % 4), False),
    "scatter_add": (lambda m, x, i: x.scatter_add(1, i % 8, torch.ones(4, 3)), (X, IDS), False),
    "gather": (lambda m, x, i: x.gather(1, i % 8), (X, IDS), False),
    "rounding": (lambda m, x: x.clamp(-1, 1).round() + x.floor() + torch.trunc(x), (X,), False),
    "bfloat16": (lambda m, x: (x.bfloat16() @ x.bfloat16().T).float(), (X,), False),
    "statistics": (lambda m, x: torch.linalg.vector_norm(x, dim=1) + x.var(1) + x.std(1), (X,), False),
    "functions": (lambda m, x: torch.tanh(x).sigmoid().log1p().expm1() + torch.rsqrt(x.abs()) + x.sin() + x.cos()
                  + x.atan2(x + 3) + torch.erf(x), (X,), False),
    "mutation": (lambda m, x: x.clone().add_(1).mul_(2), (X,), False),
}  # fmt: skip


def exported(model, arguments, is_open):
    if not is_open:
        return fx.export_and_import(model, *arguments, output_type="stablehlo")
    shapes = {"arguments": ({0: Dim("n", min=2, max=64)},)}
    program = torch.export.export(model, arguments, dynamic_shapes=shapes)
    return fx.export_and_import(program, output_type="stablehlo")


def main():
    arrays = {}
    for name, (function, arguments, is_open) in PROGRAMS.items():
        model = Layers(function).eval()
        (HERE / f"{name}.mlir").write_text(str(exported(model, arguments, is_open)))
        # What is left open at export has another extent when it runs.
        if is_open:
            arguments = tuple(torch.cat([argument, argument[1:2]]) for argument in arguments)
        with torch.no_grad():
            arrays[f"{name}.output"] = model(*arguments).numpy()
        for i, argument in enumerate(arguments):
            arrays[f"{name}.input{i}"] = argument.numpy()
    np.savez_compressed(HERE / "arrays.npz", **arrays)


if __name__ == "__main__":
    main()
