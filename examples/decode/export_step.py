"""Exports one step of the decoder as StableHLO text, weights and caches as arguments.

    python export_step.py --folder out/decode      decode-f32.mlir, decode-mxfp8.mlir, decode-mxfp4.mlir, weights.safetensors

Arguments and results carry `octavo.name`, weights `octavo.parameter` too; a cache's result has the name of its
argument, so that what a step writes is what the next one reads, and its memory, so that it is written where it lies.
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.interpreters.mlir import ir

import decoder


def program_text(sizes, cache):
    """StableHLO text of a step with the cache in `cache`: f32, mxfp8 or mxfp4."""
    weights, caches = decoder.random_weights(sizes), decoder.empty_caches(sizes, cache)
    inputs = {"token": jax.ShapeDtypeStruct((1,), jnp.int32), "position": jax.ShapeDtypeStruct((), jnp.int32)}

    def decode(*arguments):
        known = dict(zip([*weights, *inputs, *caches], arguments))
        logits, new = decoder.step(
            sizes,
            cache,
            {name: known[name] for name in weights},
            known["token"],
            known["position"],
            {name: known[name] for name in caches},
        )
        return logits, *(new[name] for name in caches)

    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in [*weights.values(), *inputs.values(), *caches.values()]]
    module = jax.jit(decode, keep_unused=True).lower(*shapes).compiler_ir("stablehlo")
    with module.context:
        main = next(op for op in module.body.operations if op.name.value == "main")

        def named(name, **more):
            return ir.DictAttr.get({"octavo.name": ir.StringAttr.get(name), **more})

        def of_result(i):
            return {"tf.aliasing_output": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), i)}

        main.arg_attrs = ir.ArrayAttr.get(
            [named(name, **{"octavo.parameter": ir.UnitAttr.get()}) for name in weights]
            + [named(name) for name in inputs]
            + [named(name, **of_result(1 + i)) for i, name in enumerate(caches)]
        )
        main.attributes["res_attrs"] = ir.ArrayAttr.get([named(name) for name in ["logits", *caches]])
        return module.operation.get_asm(enable_debug_info=True) + "\n"


def write(folder, sizes, caches):
    """A program for each form of the cache, and the weights."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file(decoder.random_weights(sizes), folder / "weights.safetensors")
    for cache in caches:
        (folder / f"decode-{cache}.mlir").write_text(program_text(sizes, cache))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the files go")
    write(parser.parse_args().folder, decoder.Sizes(), list(decoder.ELEMENTS))


if __name__ == "__main__":
    main()
