"""Shardy's operations of partitioners on whole arrays, and a computation with a name: the values stay as they are."""
import numpy as np
import pytest
from test_reference import integers, run

pytestmark = pytest.mark.mlir

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>\n'
# The sharding of the operand, the operation, the sharding of the result.
OPERATIONS = {
    "all_gather": ('[{"a", "b"}, {}]', 'all_gather [{"b"}, {}] %x', '[{"a"}, {}]'),
    "all_slice": ('[{}, {}]', 'all_slice [{"b"}, {"a"}] %x', '[{"b"}, {"a"}]'),
    "all_to_all": ('[{"a"}, {}]', 'all_to_all [{"a"}: 0->1] %x', '[{}, {"a"}]'),
    "collective_permute": ('[{"a"}, {}]', "collective_permute %x", '[{"b"}, {}]'),
    "all_reduce": ('[{}, {}], unreduced={"a"}', 'all_reduce {"a"} %x', "[{}, {}]"),
    "reduce_scatter": ('[{}, {}], unreduced={"a"}', 'reduce_scatter [{"a"}, {}] %x', '[{"a"}, {}]'),
    "sharded_to_unreduced": ('[{"a"}, {}]', 'sharded_to_unreduced [{"a"}, {}] %x', '[{}, {}], unreduced={"a"}'),
    "replicated_to_unreduced": ("[{}, {}]", 'replicated_to_unreduced {"a"} %x', '[{}, {}], unreduced={"a"}'),
}
X = integers(-9, 9, 4, 6).astype(np.float32)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("rows", ["4", "?"])
def test_a_whole_array_stays_as_it_is(tmp_path, name, rows):
    before, operation, after = OPERATIONS[name]
    t = f"tensor<{rows}x6xf32>"
    (found,) = run(tmp_path, MESH + f"""func.func @main(%x: {t} {{sdy.sharding = #sdy.sharding<@mesh, {before}>}}) -> {t} {{
      %0 = sdy.{operation} out_sharding=<@mesh, {after}> : {t}
      %1 = stablehlo.add %0, %0 : {t}
      return %1 : {t} }}""", X)
    np.testing.assert_array_equal(found, X + X)


def test_edges(tmp_path):
    (found,) = run(tmp_path, MESH + """func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
      %0 = sdy.func_data_flow_edge %x : tensor<4x6xf32>
      %1 = stablehlo.negate %0 : tensor<4x6xf32>
      %2 = sdy.data_flow_edge %1 sharding=<@mesh, [{"a"}, {}]> : tensor<4x6xf32>
      return %2 : tensor<4x6xf32> }""", X)
    np.testing.assert_array_equal(found, -X)


def test_a_named_computation_is_its_body_and_a_constant_its_value(tmp_path):
    difference, sums = run(tmp_path, """func.func @main(%x: tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<6xf32>) {
      %0:2 = sdy.named_computation<"f">(%x) (%y: tensor<?x6xf32>) {
        %c = sdy.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
        %1 = chlo.broadcast_subtract %y, %c : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
        %z = sdy.constant dense<0.0> : tensor<f32>
        %2 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?x6xf32>, tensor<f32>) -> tensor<6xf32>
        sdy.return %1, %2 : tensor<?x6xf32>, tensor<6xf32>
      } : (tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<6xf32>)
      return %0#0, %0#1 : tensor<?x6xf32>, tensor<6xf32> }""", X)
    np.testing.assert_array_equal(difference, X - np.arange(1, 7, dtype=np.float32))
    np.testing.assert_array_equal(sums, X.sum(0))
