"""benchmarks/programs with the peers that the tests' environment has: JAX, and neither torch nor ONNX Runtime."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.mlir
pytest.importorskip("jax")
pytest.importorskip("safetensors")
PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "programs"


def run(*arguments):
    octavo = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
    return subprocess.run([sys.executable, PROGRAMS, "--octavo", octavo, "--rounds", "2", "--seconds", "0.01",
                           "--threads", "1", *arguments], capture_output=True, text=True, timeout=120)


def test_a_program_beside_its_peers():
    done = run("--json", "layer-norm")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["layer-norm"]
    assert result["work"] == 1024 * 1536 and result["unit"] == "elements"
    rows = result["rows"]
    for label in ("octavo f32", "XLA f32"):
        row = rows[label]
        assert 0 < row["least_seconds"] <= row["median_seconds"] <= row["largest_seconds"]
        assert row["runs"] >= 2 and row["memory"] > 0 and row["cosine"] == pytest.approx(1, abs=1e-9)
    assert rows["octavo f32"]["ratio_to_xla"] == pytest.approx(
        rows["XLA f32"]["median_seconds"] / rows["octavo f32"]["median_seconds"])
    for label in ("ONNX Runtime f32", "torch.compile f32"):
        if not importlib.util.find_spec("torch"):
            assert result["missing"][label].endswith("is not installed")


def test_a_name_that_is_no_program():
    done = run("mimilm")
    assert done.returncode == 1 and "no program mimilm; there are minilm-8x128, " in done.stderr
