"""PyTorch models exported with torch_mlir, beside torch's own outputs: examples/pytorch, and the
programs of test/pytorch exported again."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    out = tmp_path_factory.mktemp("pytorch")
    done = subprocess.run([sys.executable, ROOT / "examples/pytorch/run.py", "--octavo", OCTAVO, "--minilm",
                           os.environ["OCTAVO_MINILM"], "--out", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    return {model["name"]: model for model in json.loads((out / "pytorch.json").read_text())["models"]}


# The bounds of make demo's table, to torch's outputs instead of JAX's.
@pytest.mark.parametrize("name, dots, quantized", [("residual-net", 2, 2), ("minilm", 48, 36)])
def test_example(example, name, dots, quantized):
    model = example[name]
    assert (model["dots"], model["dots_quantized"]) == (dots, quantized)
    assert model["f32_max_difference"] < 2e-5
    formats = {row["weights"]: row for row in model["formats"]}
    assert {"mxfp8_e4m3", "mxfp6_e2m3", "mxfp4", "nvfp4", "fp8_tensor", "fp8_row", "fp8_block"} <= formats.keys()
    for format, row in formats.items():
        assert row["cosine_worst"] > (0.9 if "fp4" in format else 0.98), row
        assert row["bits_per_weight"] < 9
    assert formats["mxfp4"]["cosine_mean"] < formats["mxfp8_e4m3"]["cosine_mean"] < 1


def test_programs_are_what_torch_mlir_writes(tmp_path, monkeypatch):
    """The programs in test/pytorch are those that this version exports."""
    sys.path.append(str(ROOT / "test/pytorch"))
    import make_programs

    kept = make_programs.HERE
    monkeypatch.setattr(make_programs, "HERE", tmp_path)
    make_programs.main()
    for path in sorted(kept.glob("*.mlir")):
        assert (tmp_path / path.name).read_text() == path.read_text(), path.name
    before, after = np.load(kept / "arrays.npz"), np.load(tmp_path / "arrays.npz")
    for name in before.files:
        np.testing.assert_allclose(after[name], before[name], rtol=1e-5, atol=1e-5)


def test_the_export_of_the_start_page(tmp_path):
    """docs/start-pytorch.md: its first example writes a program whose outputs are torch's."""
    code = (ROOT / "docs/start-pytorch.md").read_text().split("```python\n")[1].split("```")[0]
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    subprocess.run([OCTAVO, "run", "model.mlir", "--input", "x.npy", "--output", "y.npy"], cwd=tmp_path, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), np.load(tmp_path / "torch.npy"), rtol=0, atol=1e-5)
