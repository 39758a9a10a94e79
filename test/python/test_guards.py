"""Compiled programs with guards behind each piece of their memory, and nothing in it that was not written: generated
code has no sanitizer."""
import os

import numpy as np
import pytest
from random_programs import Program
from test_compiled import outputs
from test_jax_programs import FOLDER, TOLERANCES, arrays, assert_fits

pytestmark = pytest.mark.mlir

PROGRAMS = int(os.environ.get("OCTAVO_RANDOM_PROGRAMS", "50"))


@pytest.mark.parametrize("name", TOLERANCES)
def test_programs_of_jax(name, tmp_path):
    for found, wanted in zip(outputs(FOLDER / f"{name}.mlir", arrays(name, "in"), tmp_path, "guarded"),
                             arrays(name, "out"), strict=True):
        assert_fits(found, wanted, TOLERANCES[name])


@pytest.mark.parametrize("begin", range(1000, 1000 + PROGRAMS, 10))
def test_random_programs(begin, tmp_path):
    for seed in range(begin, begin + 10):
        drawn = Program(seed)
        program = tmp_path / f"{seed}.mlir"
        program.write_text(drawn.text())
        numbers = np.random.default_rng(seed)
        inputs = [(numbers.standard_normal(drawn.arguments[0][0]) * 4).astype(np.float32),
                  numbers.integers(-5, 9, drawn.arguments[1][0]).astype(np.int32)]
        for i, (found, wanted) in enumerate(zip(outputs(program, inputs, tmp_path, "guarded"),
                                                outputs(program, inputs, tmp_path, "compiled"), strict=True)):
            assert found.tobytes() == wanted.tobytes(), (seed, i)
