"""What is measured: a function with its weights and inputs, for octavo and for each peer."""
import pathlib
from typing import Any, Callable, NamedTuple

import numpy as np


class Program(NamedTuple):
    """`function` and `torch` take a dict of the weights, then the inputs, and give an array or a tuple of
    arrays: the same numbers, in JAX and in torch. `work` is what one run does, counted in `unit`. `donated` are
    inputs that each run gives away for a result, by its number: the next run has that result for them. `scaled_dots`
    gives, for the weights, a function and its weights whose dense products are JAX's scaled dots of MXFP8."""
    function: Callable
    weights: dict[str, Any]
    inputs: dict[str, Any]
    work: float
    unit: str
    torch: Callable | None = None
    donated: dict[str, int] = {}
    scaled_dots: Callable | None = None


def normal(*shape, seed=0, scale=1.0):
    return (np.random.default_rng([seed, *shape]).standard_normal(shape) * scale).astype(np.float32)


def export(program, folder):
    """Writes program.mlir, weights.safetensors and inputs.safetensors: what `octavo run` takes."""
    import jax
    from jax.interpreters.mlir import ir
    from safetensors.numpy import save_file

    names = list(program.weights)

    def main(*arguments):
        return program.function(dict(zip(names, arguments)), *arguments[len(names):])

    arguments = [*program.weights.values(), *program.inputs.values()]
    shapes = [jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in arguments]
    module = jax.jit(main, keep_unused=True).lower(*shapes).compiler_ir("stablehlo")
    with module.context:
        entry = next(op for op in module.body.operations if op.name.value == "main")

        def named(name, **more):
            return ir.DictAttr.get({"octavo.name": ir.StringAttr.get(name), **more})

        def donation(name):
            i32 = ir.IntegerType.get_signless(32)
            return {"tf.aliasing_output": ir.IntegerAttr.get(i32, program.donated[name])} if name in program.donated else {}

        entry.arg_attrs = ir.ArrayAttr.get(
            [named(name, **{"octavo.parameter": ir.UnitAttr.get()}) for name in names] +
            [named(name, **donation(name)) for name in program.inputs])
        text = module.operation.get_asm(enable_debug_info=True)
    folder = pathlib.Path(folder)
    (folder / "program.mlir").write_text(text + "\n")
    save_file({name: np.array(a, order="C") for name, a in program.weights.items()},
              folder / "weights.safetensors")
    save_file({name: np.array(a, order="C") for name, a in program.inputs.items()},
              folder / "inputs.safetensors")


def first(results):
    """The first of the results: the one that columns are compared by."""
    return results[0] if isinstance(results, (tuple, list)) else results


def cosine(a, b):
    a, b = (np.asarray(each, np.float64).ravel() for each in (a, b))
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
