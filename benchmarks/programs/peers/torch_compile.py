"""torch.compile with its weights frozen, which lets it lay them out anew; kind "bf16" has all numbers in bf16."""
import os
import time

import numpy as np
import torch
import torch._inductor.config


class Module(torch.nn.Module):
    """A program's torch function with its weights as buffers."""

    def __init__(self, program):
        super().__init__()
        self.function, self.names = program.torch, list(program.weights)
        for i, name in enumerate(self.names):
            self.register_buffer(f"weight{i}", tensor(program.weights[name]))

    def forward(self, *inputs):
        return self.function({name: getattr(self, f"weight{i}") for i, name in enumerate(self.names)}, *inputs)


def tensor(array):
    array = np.array(array)
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def prepare(program, kind, folder, threads):
    torch.set_num_threads(threads)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "inductor")
    module, inputs = Module(program), [tensor(a) for a in program.inputs.values()]
    if kind == "bf16":
        module = module.bfloat16()
        inputs = [a.bfloat16() if a.is_floating_point() else a for a in inputs]
    torch._inductor.config.freezing = bool(program.weights)
    compiled = torch.compile(module)

    def call():
        with torch.no_grad():
            return compiled(*inputs)

    begin = time.perf_counter()
    call()
    seconds = time.perf_counter() - begin
    return (call, lambda results: [a.float().numpy() for a in
                                   (results if isinstance(results, tuple) else (results,))], seconds)
