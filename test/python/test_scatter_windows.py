"""Scatters whose windows lie partly outside: octavo writes what is inside, as StableHLO specifies (rule I19), XLA
leaves out the whole window, and a warning says so, once, where neither constants nor a clamp rule it out."""
import subprocess

import numpy as np
import pytest
from on_xla import on_xla
from test_compiled import OCTAVO, outputs

pytestmark = pytest.mark.mlir

SCATTER = """  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
"""
UNKNOWN = "func.func public @main(%x: tensor<6xf32>, %i: tensor<2x1xi32>, %u: tensor<2x3xf32>) -> tensor<6xf32> {\n" + SCATTER
CLAMPED = """func.func @main(%x: tensor<6xf32>, %j: tensor<2x1xi32>, %u: tensor<2x3xf32>) -> tensor<6xf32> {
  %low = stablehlo.constant dense<0> : tensor<i32>
  %high = stablehlo.constant dense<3> : tensor<i32>
  %i = stablehlo.clamp %low, %j, %high : (tensor<i32>, tensor<2x1xi32>, tensor<i32>) -> tensor<2x1xi32>
""" + SCATTER


def constant(first, second):
    return f"""func.func @main(%x: tensor<6xf32>, %u: tensor<2x3xf32>) -> tensor<6xf32> {{
  %i = stablehlo.constant dense<[[{first}], [{second}]]> : tensor<2x1xi32>
""" + SCATTER


def warnings(folder, *command):
    done = subprocess.run([OCTAVO, *command, folder / "p.mlir"], capture_output=True, text=True, cwd=folder)
    return [line for line in done.stderr.splitlines() if "partly outside" in line]


@pytest.mark.parametrize("text, count", [(UNKNOWN, 1), (CLAMPED, 0), (constant(0, 3), 0), (constant(-1, 3), 1),
                                         (constant(0, 4), 1)],
                         ids=["unknown", "clamped", "inside", "below", "beyond"])
def test_the_warning(text, count, tmp_path):
    (tmp_path / "p.mlir").write_text(text)
    found = warnings(tmp_path, "run", "--explain-compile")
    assert len(found) == count
    assert all("the scatter at p.mlir:" in line.replace(f"{tmp_path}/", "") for line in found)
    assert len(warnings(tmp_path, "compile", "-o", tmp_path / "out")) == count


def test_values_and_xla(tmp_path):
    x, u = np.zeros(6, np.float32), np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    indices = np.array([[-1], [4]], np.int32)
    (tmp_path / "p.mlir").write_text(UNKNOWN)
    for backend in ("compiled", "reference"):
        (found,) = outputs(tmp_path / "p.mlir", [x, indices, u], tmp_path, backend)
        assert found.tolist() == [2, 3, 0, 0, 4, 5]
    assert on_xla(UNKNOWN, x, indices, u)[0].tolist() == [0] * 6
