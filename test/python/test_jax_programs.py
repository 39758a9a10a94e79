"""The programs of test/jax, as text and as jax.export's container, beside what XLA computed on the CPU."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from safetensors.numpy import load_file

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
FOLDER = pathlib.Path(__file__).parents[1] / "jax"
TOLERANCES = json.loads((FOLDER / "tolerances.json").read_text())

def arrays(name, kind):
    with np.load(FOLDER / f"{name}.npz") as stored:
        return [stored[f"{kind}{i}"] for i in range(sum(key.startswith(kind) for key in stored))]


def assert_fits(found, wanted, tolerance):
    """Equal, or within so much of the largest element."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    if tolerance == 0:
        np.testing.assert_array_equal(found, wanted)
    else:
        largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0) if wanted.dtype.kind == "f" else 0
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(largest, 1e-30))


@pytest.mark.parametrize("form", ["mlir", "jax"])
@pytest.mark.parametrize("name", TOLERANCES)
def test_program(name, form, tmp_path):
    inputs = []
    for i, array in enumerate(arrays(name, "in")):
        np.save(tmp_path / f"in{i}.npy", array)
        inputs += ["--input", tmp_path / f"in{i}.npy"]
    outputs = tmp_path / "outputs.safetensors"
    run = subprocess.run([OCTAVO, "run", FOLDER / f"{name}.{form}", *inputs, "--json", "--output", outputs],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    names = [row["name"] for row in json.loads(run.stdout)["outputs"]]
    stored = load_file(outputs)
    expected = arrays(name, "out")
    assert len(names) == len(expected)
    for output, wanted in zip(names, expected):
        found = stored[output]
        assert_fits(found, wanted, TOLERANCES[name])


def test_there_are_enough_of_them():
    assert len(TOLERANCES) >= 80
