"""Exports the MiniLM encoder as StableHLO text, weights as arguments.

    python export.py                       writes minilm.mlir (24 sentences of 32 tokens)
    python export.py --embeddings          writes embeddings-jax.npy: JAX's own answer
    python export.py --batch 8 -o f.mlir   another number of sentences

Every argument carries `octavo.name`; a weight's is its name in the model's safetensors file, and
it carries `octavo.parameter` too. Operations keep the path of their scopes as locations; files and
lines are dropped, so that every machine exports the same text.
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters.mlir import ir

import encoder_inputs
import model

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "minilm.mlir"
EMBEDDINGS = HERE / "embeddings-jax.npy"


def program_text(batch, tokens):
    """StableHLO text of the encoder for `batch` sentences of `tokens` tokens."""
    shapes = model.parameter_shapes()
    inputs = jax.ShapeDtypeStruct((batch, tokens), jnp.int32)

    def encode(*arguments):
        *weights, input_ids, attention_mask = arguments
        return model.encode(dict(zip(shapes, weights)), input_ids, attention_mask)

    weights = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes.values()]
    lowered = jax.jit(encode, keep_unused=True).lower(*weights, inputs, inputs)
    module = lowered.compiler_ir("stablehlo")
    with module.context:
        _drop_files(module)
        _name_arguments(module, list(shapes), ["input_ids", "attention_mask"], ["embeddings"])
        return module.operation.get_asm(enable_debug_info=True) + "\n"


def _drop_files(module):
    """Reduces every location to its outermost name, the path of scopes that JAX gave it."""

    def scopes(location):
        if isinstance(location, ir.NameLoc):
            return ir.Location.name(location.name_str)
        return ir.Location.unknown()

    def visit(operation):
        operation.location = scopes(operation.location)
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.set_location(ir.Location.unknown())
                for inner in block.operations:
                    visit(inner.operation)

    visit(module.operation)


def _name_arguments(module, parameters, inputs, results):
    main = next(op for op in module.body.operations if op.name.value == "main")

    def named(name, **more):
        return ir.DictAttr.get({"octavo.name": ir.StringAttr.get(name), **more})

    main.arg_attrs = ir.ArrayAttr.get(
        [named(name, **{"octavo.parameter": ir.UnitAttr.get()}) for name in parameters]
        + [named(name) for name in inputs]
    )
    main.attributes["res_attrs"] = ir.ArrayAttr.get([named(name) for name in results])


def jax_embeddings():
    """JAX's own embeddings of the example's sentences, f32[24, 384]."""
    import safetensors.numpy

    weights = safetensors.numpy.load_file(encoder_inputs.model_folder() / "model.safetensors")
    parameters = {name: weights[name] for name in model.parameter_shapes()}
    input_ids, attention_mask = encoder_inputs.tokenize(encoder_inputs.sentences())
    return np.asarray(jax.jit(model.encode)(parameters, input_ids, attention_mask))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=encoder_inputs.BATCH, help="sentences")
    parser.add_argument("--tokens", type=int, default=encoder_inputs.TOKENS, help="per sentence")
    parser.add_argument("-o", "--output", type=Path, default=PROGRAM, help="the program's file")
    parser.add_argument(
        "--embeddings", action="store_true", help=f"write {EMBEDDINGS.name} and no program"
    )
    arguments = parser.parse_args()
    if arguments.embeddings:
        np.save(EMBEDDINGS, jax_embeddings())
    else:
        arguments.output.write_text(program_text(arguments.batch, arguments.tokens))


if __name__ == "__main__":
    main()
