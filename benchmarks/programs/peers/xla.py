"""jax.jit on the CPU; kind "scaled_dot" has its dense products as scaled dots of MXFP8. XLA takes as many threads as
it may run on."""
import time

import jax
import numpy as np


def prepare(program, kind, folder, threads):
    inputs = [jax.device_put(a) for a in program.inputs.values()]
    weights = {name: jax.device_put(a) for name, a in program.weights.items()}
    called = program.function
    if kind == "scaled_dot":
        called, weights = program.scaled_dots(weights)
    begin = time.perf_counter()
    donated = {list(program.inputs).index(name): result for name, result in program.donated.items()}
    function = jax.jit(called, donate_argnums=tuple(1 + place for place in donated))
    compiled = function.lower(weights, *inputs).compile()
    seconds = time.perf_counter() - begin

    def call():
        results = jax.block_until_ready(compiled(weights, *inputs))
        for place, result in donated.items():
            inputs[place] = results[result]
        return results

    return (call,
            lambda results: [np.asarray(a) for a in jax.tree.leaves(results)], seconds)
