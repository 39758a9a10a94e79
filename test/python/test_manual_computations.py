"""Manual computations within others, beside the whole arrays that they stand for; test/jax has those of JAX."""
import subprocess

import numpy as np
import pytest
from test_reference import OCTAVO, integers, run

pytestmark = pytest.mark.mlir

X = integers(-9, 9, 4, 8).astype(np.float32)


def program(inner, meshes='sdy.mesh @mesh = <["a"=2, "b"=2]>', axes='"a"'):
    """@main cuts rows along "a" and calls @inner, which has a computation of its own."""
    return meshes + f"""
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{
      %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"a"}}, {{}}]>] out_shardings=[<@mesh, [{{"a"}}, {{}}]>] manual_axes={{{axes}}} (%p: tensor<2x8xf32>) {{
        %1 = func.call @inner(%p) : (tensor<2x8xf32>) -> tensor<2x8xf32>
        sdy.return %1 : tensor<2x8xf32>
      }} : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32> }}
    func.func private @inner(%p: tensor<2x8xf32>) -> tensor<2x8xf32> {{
      {inner}
      return %0 : tensor<2x8xf32> }}"""


def inner(sharding, axis, part, body="", result="%q", mesh="@mesh"):
    return f"""%0 = sdy.manual_computation(%p) in_shardings=[<{mesh}, {sharding}>] out_shardings=[<{mesh}, {sharding}>] manual_axes={{"{axis}"}} (%q: {part}) {{
        {body}
        sdy.return {result} : {part}
      }} : (tensor<2x8xf32>) -> tensor<2x8xf32>"""


def refused(folder, text):
    """By the interpreter: compiled programs do not compute what nobody uses, so that it is no error there."""
    (folder / "program.mlir").write_text(text)
    np.save(folder / "x.npy", X)
    ended = subprocess.run([OCTAVO, "run", folder / "program.mlir", "--input", folder / "x.npy",
                            "--backend", "reference"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 3
    return ended.stderr


NUMBER = """%n = stablehlo.partition_id : tensor<ui32>
        %f = stablehlo.convert %n : (tensor<ui32>) -> tensor<f32>
        %w = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
        %s = stablehlo.add %q, %w : tensor<2x4xf32>"""


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1]])
def test_the_devices_are_those_of_the_computation_around_it(tmp_path, order):
    meshes = f'sdy.mesh @mesh = <["a"=2, "b"=2], device_ids={order}>'
    (found,) = run(tmp_path, program(inner('[{}, {"b"}]', "b", "tensor<2x4xf32>", NUMBER, "%s"), meshes), X)
    devices = np.repeat(np.repeat(np.reshape(order, (2, 2)), 2, axis=0), 4, axis=1)
    np.testing.assert_array_equal(found, X + devices)


def test_a_mesh_may_be_said_in_place_of_its_name(tmp_path):
    text = program(inner('[{}, {"b"}]', "b", "tensor<2x4xf32>", mesh='mesh<["a"=2, "b"=2]>'))
    (found,) = run(tmp_path, text, X)
    np.testing.assert_array_equal(found, X)


def test_another_mesh_is_refused(tmp_path):
    text = program(inner('[{}, {"c"}]', "c", "tensor<2x4xf32>", mesh="@other"),
                   'sdy.mesh @mesh = <["a"=2, "b"=2]>\nsdy.mesh @other = <["c"=2, "d"=2]>')
    assert ('has the mesh #sdy.mesh<["c"=2, "d"=2]> within a computation on another, #sdy.mesh<["a"=2, "b"=2]>'
            in refused(tmp_path, text))


def test_an_axis_that_is_manual_already_is_refused(tmp_path):
    said = refused(tmp_path, program(inner('[{}, {"a"}]', "a", "tensor<2x4xf32>")))
    assert 'has the manual axis "a", which is manual around it already' in said


def test_devices_that_part_ways_are_told(tmp_path):
    """Of two devices one comes to the inner computation and the other does not."""
    text = program("""%n = stablehlo.partition_id : tensor<ui32>
      %z = stablehlo.constant dense<0> : tensor<ui32>
      %c = stablehlo.compare EQ, %n, %z : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %0 = "stablehlo.if"(%c) ({
        %1 = sdy.manual_computation(%p) in_shardings=[<@mesh, [{}, {"b"}]>] out_shardings=[<@mesh, [{}, {"b"}]>] manual_axes={"b"} (%q: tensor<2x4xf32>) {
          sdy.return %q : tensor<2x4xf32>
        } : (tensor<2x8xf32>) -> tensor<2x8xf32>
        stablehlo.return %1 : tensor<2x8xf32>
      }, {
        stablehlo.return %p : tensor<2x8xf32>
      }) : (tensor<i1>) -> tensor<2x8xf32>""")
    said = refused(tmp_path, text)
    assert "deadlock" in said and "waits at" in said and "'sdy.manual_computation'" in said


def test_tokens_pass(tmp_path):
    (found,) = run(tmp_path, """sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %t = stablehlo.create_token : !stablehlo.token
      %0:2 = sdy.manual_computation(%x, %t) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, []>] manual_axes={"a"} (%p: tensor<2x8xf32>, %u: !stablehlo.token) {
        %1 = stablehlo.after_all %u : !stablehlo.token
        sdy.return %p, %1 : tensor<2x8xf32>, !stablehlo.token
      } : (tensor<4x8xf32>, !stablehlo.token) -> (tensor<4x8xf32>, !stablehlo.token)
      return %0#0 : tensor<4x8xf32> }""", X)
    np.testing.assert_array_equal(found, X)


EMPTY = "in_shardings=[] out_shardings=[] manual_axes={} () {"


@pytest.mark.parametrize("inner", [EMPTY, 'in_shardings=[] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} () {'])
def test_a_computation_without_a_mesh_is_one_device(tmp_path, inner):
    has_mesh = inner != EMPTY
    type = "tensor<2xf32>"
    text = f"""sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{
      sdy.manual_computation() {EMPTY}
        {'%0 = ' if has_mesh else ''}sdy.manual_computation() {inner}
          %c = stablehlo.constant dense<1.0> : tensor<1xf32>
          sdy.return {'%c : tensor<1xf32>' if has_mesh else ''}
        }} : () -> {type if has_mesh else '()'}
        sdy.return
      }} : () -> ()
      return %x : tensor<4x8xf32> }}"""
    if has_mesh:
        assert 'has the mesh #sdy.mesh<["a"=2]> within a computation without one' in refused(tmp_path, text)
    else:
        (found,) = run(tmp_path, text, X)
        np.testing.assert_array_equal(found, X)


def test_each_device_quantizes_its_part_of_a_weight(tmp_path):
    """Numbers that four significant bits hold, so that the product is exact where both sides are quantized."""
    x, w = integers(-9, 9, 4, 64).astype(np.float32), integers(-9, 9, 64, 6).astype(np.float32)
    w[0, 0] = 1025.0  # becomes 1024, under a scale that holds the others of its block
    text = """sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<4x64xf32>, %w: tensor<64x6xf32>) -> tensor<4x6xf32> {
      %0 = sdy.manual_computation(%x, %w) in_shardings=[<@mesh, [{}, {"a"}]>, <@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"a"} (%p: tensor<4x32xf32>, %q: tensor<32x6xf32>) {
        %1 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x6xf32>) -> tensor<4x6xf32>
        %2 = "stablehlo.all_reduce"(%1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
        sdy.return %2 : tensor<4x6xf32>
      } : (tensor<4x64xf32>, tensor<64x6xf32>) -> tensor<4x6xf32>
      return %0 : tensor<4x6xf32> }"""
    (tmp_path / "wide.mlir").write_text(text)
    ended = subprocess.run([OCTAVO, "quantize", tmp_path / "wide.mlir", "--format", "mxfp8_e4m3", "--parameters", "arg1",
                            "-o", tmp_path / "q.mlir"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0 and "1 of 1 dots quantized" in ended.stdout + ended.stderr
    (found,) = run(tmp_path, (tmp_path / "q.mlir").read_text(), x, w)
    held = w.copy()
    held[0, 0] = 1024.0
    np.testing.assert_array_equal(found, x @ held)
