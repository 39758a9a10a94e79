"""Artifacts of many functions, as the public tools' own tests have them: those that octavo cannot read are all
named, and left out on request; and what is written anew of the others, held byte by byte against jaxlib's."""

import subprocess

import pytest
from commands import OCTAVO
from jaxlib.mlir.dialects import stablehlo
from test_artifacts import canonical

pytestmark = pytest.mark.mlir

GOOD = """  func.func @good{i}(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %0 = stablehlo.{op} %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }}
"""
# What octavo lacks: operations on buffers, regions of composites.
BAD = {
    "buffer": """  func.func @buffer(%x: memref<4xf32>) -> memref<4xf32> {
    %0 = stablehlo.custom_call @fill(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
    return %0 : memref<4xf32>
  }
""",
    "region": """  func.func @region(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.composite"(%x) ({
      %c = stablehlo.constant dense<1.0> : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) {name = "a.b", decomposition = @good0} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
""",
}
CALLERS = """  func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @region(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @composed(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.composite "a.caller" %x {decomposition = @caller} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
"""
OPERATIONS = ["abs", "negate", "tanh", "sine", "exponential", "floor"]


def good(count=6):
    return "".join(GOOD.format(i=i, op=OPERATIONS[i % len(OPERATIONS)]) for i in range(count))


def artifact(body, version="1.17.0"):
    return stablehlo.serialize_portable_artifact_str("module @suite {\n" + body + "}\n", version)


def convert(folder, data, *options):
    (folder / "in.mlirbc").write_bytes(data)
    return subprocess.run([OCTAVO, "convert", folder / "in.mlirbc", "-o", folder / "out.mlirbc", "--target", "1.17.0", *options],
                          capture_output=True, text=True, timeout=120)


def read(data):
    return canonical(stablehlo.deserialize_portable_artifact_str(data))


SUITE = BAD["region"] + good(3) + CALLERS + BAD["buffer"] + "".join(
    GOOD.format(i=i, op=OPERATIONS[i]) for i in range(3, 6))


def test_all_functions_that_cannot_be_read_are_named(tmp_path):
    ended = convert(tmp_path, artifact(SUITE))
    assert ended.returncode == 3 and not (tmp_path / "out.mlirbc").exists()
    for words in ("memref<4xf32>", "2 of 10 functions cannot be read: ", "@buffer", "@region", "--skip-unreadable"):
        assert words in ended.stderr, (words, ended.stderr)
    assert "@good" not in ended.stderr


def test_they_are_left_out_with_what_refers_to_them(tmp_path):
    ended = convert(tmp_path, artifact(SUITE), "--skip-unreadable")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stderr.splitlines()
    assert len(lines) == 4 and all(line.startswith("octavo: warning: @") for line in lines), ended.stderr
    for name, why in {"buffer": "memref<4xf32>", "region": "composite", "caller": "refers to @region",
                      "composed": "refers to @caller"}.items():
        assert any(f"@{name} is left out: " in line and why in line for line in lines), (name, ended.stderr)
    # The rest is what jaxlib makes of a program without them.
    assert read((tmp_path / "out.mlirbc").read_bytes()) == read(artifact(good(6)))


@pytest.mark.parametrize("name", BAD)
def test_one_is_enough(tmp_path, name):
    data = artifact(good(2) + BAD[name])
    ended = convert(tmp_path, data)
    assert ended.returncode == 3 and f"1 of 3 functions cannot be read: @{name};" in ended.stderr, ended.stderr
    ended = convert(tmp_path, data, "--skip-unreadable")
    assert ended.returncode == 0 and f"@{name} is left out" in ended.stderr, ended.stderr
    assert read((tmp_path / "out.mlirbc").read_bytes()) == read(artifact(good(2)))


def test_nothing_left_is_an_error(tmp_path):
    ended = convert(tmp_path, artifact(BAD["buffer"]), "--skip-unreadable")
    assert ended.returncode == 3 and "no function of the program can be read, of 1; the first, @buffer: " in ended.stderr, ended.stderr
    ended = convert(tmp_path, artifact(BAD["buffer"]))
    assert ended.returncode == 3 and "memref<4xf32>" in ended.stderr and "--skip" not in ended.stderr, ended.stderr


def test_an_operation_of_a_later_version_is_left_out_with_its_function(tmp_path):
    data = artifact(good(6)).replace(b"floor_v1", b"floor_v7")
    ended = convert(tmp_path, data)
    assert ended.returncode == 3, ended.stderr
    assert "octavo does not know 'vhlo.floor_v7' (1 in the program)" in ended.stderr and "1 of 6 functions" in ended.stderr
    ended = convert(tmp_path, data, "--skip-unreadable")
    assert ended.returncode == 0 and "@good5 is left out" in ended.stderr, ended.stderr
    assert read((tmp_path / "out.mlirbc").read_bytes()) == read(artifact(good(5)))


def test_text_likewise(tmp_path):
    text = "module {\n" + good(3) + """  func.func @wrong(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.iota"() {iota_dimension = 3 : i64} : () -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @wrong_too(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.reverse"(%x) {dimensions = array<i64: 7>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @calls_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @nowhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
    (tmp_path / "p.mlir").write_text(text)
    run = [OCTAVO, "convert", tmp_path / "p.mlir", "-o", tmp_path / "q.mlir"]
    ended = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 3 and "@wrong, @wrong_too" in ended.stderr and "--skip-unreadable" in ended.stderr, ended.stderr
    ended = subprocess.run([*run, "--skip-unreadable"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert [line.split("@")[1].split(" ")[0] for line in ended.stderr.splitlines()] == ["wrong", "wrong_too", "calls_nothing"]
    assert (tmp_path / "q.mlir").read_text().count("func.func") == 3


# Written anew, these are jaxlib's bytes.
SAME = {
    "call": """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @double(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}""",
    "composite": """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "a.twice" %x {composite_attributes = {n = 3 : i64, name = "twice"}, decomposition = @twice, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "a.twice" %0 {decomposition = @twice} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.composite "twice.x" %1 {decomposition = @twice, version = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}""",
    "called computations": """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @double(%x) {called_computations = [@double, @main]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}""",
    "groups by axes of a mesh": """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 4>, #stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>, #stablehlo.axis_ref<name = "y">]>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>], device_ids = dense<[1, 0]> : tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>} : (tensor<4xf32>) -> tensor<8xf32>
  %2 = stablehlo.slice %1 [0:4] : (tensor<8xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}""",
    "buffers": """func.func @main(%x: memref<2xf32>, %y: memref<3x?xi8>) -> memref<2xf32> {
  return %x : memref<2xf32>
}""",
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_written_anew_is_what_jaxlib_writes(tmp_path, name):
    for version in ("1.16.0", "1.17.0") if "mesh" in name else ("1.13.0", "1.15.0", "1.17.0"):
        data = stablehlo.serialize_portable_artifact_str(SAME[name], version)
        (tmp_path / "in.mlirbc").write_bytes(data)
        subprocess.run([OCTAVO, "convert", tmp_path / "in.mlirbc", "-o", tmp_path / "out.mlirbc", "--target", version], check=True,
                       capture_output=True, timeout=60)
        assert (tmp_path / "out.mlirbc").read_bytes() == data, (name, version)


def test_buffers_are_text_and_artifact(tmp_path):
    (tmp_path / "p.mlir").write_text(SAME["buffers"])
    run = [OCTAVO, "convert", tmp_path / "p.mlir", "-o", tmp_path / "out.mlirbc", "--target"]
    subprocess.run([*run, "1.13.0"], check=True, capture_output=True, timeout=60)
    subprocess.run([OCTAVO, "convert", tmp_path / "out.mlirbc", "-o", tmp_path / "again.mlir"], check=True, capture_output=True, timeout=60)
    assert "memref<3x?xi8>" in (tmp_path / "again.mlir").read_text()
    refused = subprocess.run([*run, "1.12.0"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 3 and "memref<2xf32>" in refused.stderr and "came with VHLO 1.13.0" in refused.stderr, refused.stderr
