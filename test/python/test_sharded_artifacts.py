"""Programs with Shardy's operations and attributes in artifacts and jax.export's containers: what octavo writes, JAX reads
as the program that it exported."""
import os
import pathlib
import subprocess

import numpy as np
import pytest
from jax import export

pytestmark = pytest.mark.mlir

OCTAVO = pathlib.Path(os.environ["OCTAVO_BIN_DIR"]) / "octavo"
FOLDER = pathlib.Path(__file__).parents[1] / "jax"
SHARDED = sorted(path.stem for path in FOLDER.glob("shard*.mlir"))
WITH_RULES = ["cholesky", "solve", "singular_values"]  # sdy.sharding_rule on LAPACK's custom calls


def octavo(*arguments, code=0):
    ended = subprocess.run([OCTAVO, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == code, ended.stderr
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("name", SHARDED + WITH_RULES)
def test_jax_reads_the_program_that_it_exported(tmp_path, name):
    octavo("convert", FOLDER / f"{name}.jax", "-o", tmp_path / "out.jax")
    theirs, ours = (export.deserialize(path.read_bytes()).mlir_module()
                    for path in (FOLDER / f"{name}.jax", tmp_path / "out.jax"))
    assert ours == theirs


def test_an_older_target_lacks_them(tmp_path):
    said = octavo("convert", FOLDER / "sharded_sum.mlir", "-o", tmp_path / "p.mlirbc", "--target", "1.10.0", code=3)
    assert "'sdy.mesh' (1 in the program) can be in artifacts from VHLO 1.11.0 on; the target is 1.10.0" in said
    said = octavo("convert", FOLDER / "cholesky.mlir", "-o", tmp_path / "p.mlirbc", "--target", "1.10.0", code=3)
    assert "sdy.sharding_rule" in said and "came with VHLO 1.11.0; the target is 1.10.0" in said
    assert not (tmp_path / "p.mlirbc").exists()


@pytest.mark.parametrize("name", ["sharded_square", "cholesky"])
def test_damaged_files_end_in_an_error(tmp_path, name):
    good = (FOLDER / f"{name}.jax").read_bytes()
    random = np.random.default_rng(4)
    for i in range(60):
        bad = bytearray(good[:random.integers(40, len(good))] if i % 3 == 0 else good)
        for at in random.integers(0, len(bad), 3):
            bad[at] = random.integers(256)
        (tmp_path / "bad.jax").write_bytes(bad)
        ended = subprocess.run([OCTAVO, "convert", tmp_path / "bad.jax", "-o", tmp_path / "out.mlir"], capture_output=True,
                               text=True, timeout=60)
        assert ended.returncode in (0, 3), (i, ended.returncode, ended.stderr)
