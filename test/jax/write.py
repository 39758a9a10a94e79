#!/usr/bin/env python3
"""Exports programs.py with the installed JAX into this folder, with what XLA computes on the CPU.

NAME.mlir is what JAX's lowering prints, NAME.jax what jax.export serializes, NAME.npz the inputs
in0, in1, ... and outputs out0, out1, ...; tolerances.json says how close an output must come.

  test/jax/write.py [NAME]...
"""
import json
import os
import pathlib
import re
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
from programs import PROGRAMS

FOLDER = pathlib.Path(__file__).resolve().parent
# Locations name this repository's files from its root, and none of the installed packages': what
# is written is the same wherever it is written.
jax.config.update("jax_hlo_source_file_canonicalization_regex", f"{re.escape(str(FOLDER.parents[1]))}/|.*/site-packages/")


def write(name, program):
    jitted = jax.jit(program.function, keep_unused=True)
    specs = program.inputs
    if program.shapes:
        specs = jax.export.symbolic_args_specs(program.inputs, program.shapes)
    exported = jax.export.export(jitted, platforms=[program.platform])(*specs)
    text = (exported.mlir_module() if program.shapes else
            jitted.trace(*specs).lower(lowering_platforms=(program.platform,)).as_text())
    (FOLDER / f"{name}.mlir").write_text(text)
    (FOLDER / f"{name}.jax").write_bytes(exported.serialize())
    inputs = jax.tree.leaves(program.inputs)
    outputs = jax.tree.leaves(jitted(*program.inputs))
    np.savez(FOLDER / f"{name}.npz", **{f"in{i}": np.asarray(v) for i, v in enumerate(inputs)},
             **{f"out{i}": np.asarray(v) for i, v in enumerate(outputs)})


def main():
    for name in sys.argv[1:] or PROGRAMS:
        print(name, flush=True)
        write(name, PROGRAMS[name])
    tolerances = {name: program.tolerance for name, program in sorted(PROGRAMS.items())}
    (FOLDER / "tolerances.json").write_text(json.dumps(tolerances, indent=1) + "\n")


if __name__ == "__main__":
    main()
