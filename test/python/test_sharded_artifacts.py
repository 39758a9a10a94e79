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


PARTITIONED = """
sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2]>
func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.reshard %x <@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_gather [{"a":(2)2}, {}] %0 out_sharding=<@mesh, [{"a":(1)2}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_slice [{}, {"b"}] %1 out_sharding=<@mesh, [{"a":(1)2}, {"b"}]> : tensor<8x8xf32>
  %3 = sdy.all_to_all [{"a":(1)2}: 0->1] %2 out_sharding=<@mesh, [{}, {"b", "a":(1)2}]> : tensor<8x8xf32>
  %4 = sdy.collective_permute %3 out_sharding=<@mesh, [{}, {"b", "c"}]> : tensor<8x8xf32>
  %5 = sdy.sharded_to_unreduced [{}, {"c"}] %4 out_sharding=<@mesh, [{}, {"b"}], unreduced={"c"}> : tensor<8x8xf32>
  %6 = sdy.replicated_to_unreduced {"a"} %5 out_sharding=<@mesh, [{}, {"b"}], unreduced={"a", "c"}> : tensor<8x8xf32>
  %7 = sdy.reduce_scatter [{"c"}, {}] %6 out_sharding=<@mesh, [{"c"}, {"b"}], unreduced={"a"}> : tensor<8x8xf32>
  %8 = sdy.all_reduce {"a"} %7 out_sharding=<@mesh, [{"c"}, {"b"}]> : tensor<8x8xf32>
  %9 = sdy.constant dense<1.0> : tensor<8x8xf32>
  %10 = stablehlo.add %8, %9 : tensor<8x8xf32>
  %11 = sdy.data_flow_edge %10 : tensor<8x8xf32>
  %12 = sdy.named_computation<"f">(%11) in_shardings=[<@mesh, [{"a"}, {}]>] (%p: tensor<8x8xf32>) {
    %13 = stablehlo.tanh %p : tensor<8x8xf32>
    sdy.return %13 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %12 : tensor<8x8xf32>
}"""


def test_operations_of_partitioners_pass_between_octavo_and_jaxlib(tmp_path):
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    context = mlir.make_ir_context()
    with context, ir.Location.unknown():
        module = ir.Module.parse(PARTITIONED)
        text = str(module)
        theirs = stablehlo.serialize_portable_artifact(module, stablehlo.get_current_version(), True)
    (tmp_path / "theirs.mlirbc").write_bytes(theirs)
    (tmp_path / "in.mlir").write_text(PARTITIONED)
    octavo("convert", tmp_path / "theirs.mlirbc", "-o", tmp_path / "theirs.mlir")
    octavo("convert", tmp_path / "in.mlir", "-o", tmp_path / "ours.mlirbc")
    with context:
        assert str(ir.Module.parse((tmp_path / "theirs.mlir").read_text())) == text
        ours = stablehlo.deserialize_portable_artifact(context, (tmp_path / "ours.mlirbc").read_bytes())
        assert str(ours) == text


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
