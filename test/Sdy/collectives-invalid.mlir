// RUN: octavo-opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c1_all_gather(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.all_gather' op (C1) needs an operand with a sharding}}
  %0 = sdy.all_gather [{}, {}, {}] %x out_sharding=<@mesh, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c1_all_to_all(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.all_to_all' op (C1) needs an operand with a sharding}}
  %0 = sdy.all_to_all [{"b"}: 0->1] %x out_sharding=<@mesh, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c1_collective_permute(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.collective_permute' op (C1) needs an operand with a sharding}}
  %0 = sdy.collective_permute %x out_sharding=<@mesh, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c1_sharded_to_unreduced(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op (C1) needs an operand with a sharding}}
  %0 = sdy.sharded_to_unreduced [{}, {}, {}] %x out_sharding=<@mesh, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c1_replicated_to_unreduced(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op (C1) needs an operand with a sharding}}
  %0 = sdy.replicated_to_unreduced {"b"} %x out_sharding=<@mesh, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
sdy.mesh @other = <["a"=4, "b"=2, "c"=4]>
func.func @c2_all_gather(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_gather' op (C2) needs operand and result on one mesh; found #sdy.mesh<["a"=4, "b"=2, "c"=2, "d"=2]> and #sdy.mesh<["a"=4, "b"=2, "c"=4]>}}
  %0 = sdy.all_gather [{}, {}, {}] %x out_sharding=<@other, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
sdy.mesh @other = <["a"=4, "b"=2, "c"=4]>
func.func @c2_all_slice(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_slice' op (C2) needs operand and result on one mesh; found #sdy.mesh<["a"=4, "b"=2, "c"=2, "d"=2]> and #sdy.mesh<["a"=4, "b"=2, "c"=4]>}}
  %0 = sdy.all_slice [{}, {}, {}] %x out_sharding=<@other, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
sdy.mesh @other = <["a"=4, "b"=2, "c"=4]>
func.func @c2_reduce_scatter(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.reduce_scatter' op (C2) needs operand and result on one mesh; found #sdy.mesh<["a"=4, "b"=2, "c"=2, "d"=2]> and #sdy.mesh<["a"=4, "b"=2, "c"=4]>}}
  %0 = sdy.reduce_scatter [{}, {}, {}] %x out_sharding=<@other, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
sdy.mesh @other = <["a"=4, "b"=2, "c"=4]>
func.func @c2_all_reduce(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_reduce' op (C2) needs operand and result on one mesh; found #sdy.mesh<["a"=4, "b"=2, "c"=2, "d"=2]> and #sdy.mesh<["a"=4, "b"=2, "c"=4]>}}
  %0 = sdy.all_reduce {"b"} %x out_sharding=<@other, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
sdy.mesh @other = <["a"=4, "b"=2, "c"=4]>
func.func @c2_collective_permute(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.collective_permute' op (C2) needs operand and result on one mesh; found #sdy.mesh<["a"=4, "b"=2, "c"=2, "d"=2]> and #sdy.mesh<["a"=4, "b"=2, "c"=4]>}}
  %0 = sdy.collective_permute %x out_sharding=<@other, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_count(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_gather' op (C3) needs axes for each of 3 dimensions; found 2}}
  %0 = sdy.all_gather [{"c"}, {}] %x out_sharding=<@mesh, [{"b"}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_unknown(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_gather' op (S4) gathering_axes names the axis "e", which the mesh does not have}}
  %0 = sdy.all_gather [{"e"}, {}, {}] %x out_sharding=<@mesh, [{"b"}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_twice(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.reduce_scatter' op (S5) reduce_scatter_axes names the axis "a" twice}}
  %0 = sdy.reduce_scatter [{"a"}, {"a"}, {}] %x out_sharding=<@mesh, [{"b", "c", "a"}, {}, {"d"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_nothing(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_to_all' op (C3) needs an entry in params}}
  %0 = sdy.all_to_all [] %x out_sharding=<@mesh, [{"b", "c"}, {}, {"d"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_no_axes(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_to_all' op (C3) needs axes that go from dimension 0}}
  %0 = sdy.all_to_all [{}: 0->1] %x out_sharding=<@mesh, [{"b", "c"}, {}, {"d"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_source(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_to_all' op (C3) needs dimensions in [0, 3); found -1}}
  %0 = sdy.all_to_all [{"c"}: -1->1] %x out_sharding=<@mesh, [{"b", "c"}, {}, {"d"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_target(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_to_all' op (C3) needs dimensions in [0, 3); found 3}}
  %0 = sdy.all_to_all [{"c"}: 0->3] %x out_sharding=<@mesh, [{"b", "c"}, {}, {"d"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_dimension_twice(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_to_all' op (C3) names dimension 1 twice}}
  %0 = sdy.all_to_all [{"c"}: 0->1, {"d"}: 2->1] %x out_sharding=<@mesh, [{"b"}, {"c", "d"}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_sources(%x: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {"d"}, {}]>}) {
  // expected-error @+1 {{'sdy.all_to_all' op (C3) needs sources that ascend; found 0 after 2}}
  %0 = sdy.all_to_all [{"d"}: 2->3, {"b"}: 0->1] %x out_sharding=<@mesh, [{}, {"b"}, {}, {"d"}]> : tensor<8x8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_order(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_reduce' op (S6) reduction_axes names axes in another order than the mesh}}
  %0 = sdy.all_reduce {"d", "c"} %x out_sharding=<@mesh, [{"b"}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c3_order_of_unreduced(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op (S6) axes names axes in another order than the mesh}}
  %0 = sdy.replicated_to_unreduced {"d", "c"} %x out_sharding=<@mesh, [{"b"}, {}, {}], unreduced={"c", "d"}> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_gather(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_gather' op (C4) needs a result that is cut along "b" in dimension 0; found no axes}}
  %0 = sdy.all_gather [{"c"}, {}, {"d"}] %x out_sharding=<@mesh, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_not_at_the_end(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_gather' op (C4) needs the axes "b" at the end of dimension 0 of the operand, which is cut along "b", "c"}}
  %0 = sdy.all_gather [{"b"}, {}, {}] %x out_sharding=<@mesh, [{"c"}, {}, {"d"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_first_part(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_gather' op (C4) needs the axes "a":(1)2 at the end of dimension 0 of the operand, which is cut along "a"}}
  %0 = sdy.all_gather [{"a":(1)2}, {}, {}] %x out_sharding=<@mesh, [{"a":(2)2}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_slice(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_slice' op (C4) needs a result that is cut along "b", "c" in dimension 0; found "c", "b"}}
  %0 = sdy.all_slice [{"c"}, {}, {}] %x out_sharding=<@mesh, [{"c", "b"}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_slice_of_a_whole(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.all_slice' op (C4) needs a result that is cut along "c" in dimension 0; found "b", "c"}}
  %0 = sdy.all_slice [{"c"}, {}, {}] %x out_sharding=<@mesh, [{"b", "c"}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_scatter(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.reduce_scatter' op (C4) needs a result that is cut along "b", "c" in dimension 0; found "b"}}
  %0 = sdy.reduce_scatter [{"c"}, {}, {}] %x out_sharding=<@mesh, [{"b"}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_to_all(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_to_all' op (C4) needs a result that is cut along "c" in dimension 1; found no axes}}
  %0 = sdy.all_to_all [{"c"}: 0->1] %x out_sharding=<@mesh, [{"b"}, {}, {"d", "c"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_to_all_not_there(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.all_to_all' op (C4) needs the axes "b" at the end of dimension 0 of the operand, which is cut along "b", "c"}}
  %0 = sdy.all_to_all [{"b"}: 0->1] %x out_sharding=<@mesh, [{"c"}, {"b"}, {"d"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_permute(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.collective_permute' op (C4) needs a result that is cut into 4 in dimension 0, as its operand; found 2}}
  %0 = sdy.collective_permute %x out_sharding=<@mesh, [{"b"}, {"c"}, {"d"}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_reduce(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_reduce' op (C4) needs a result that is cut along "b" in dimension 0; found no axes}}
  %0 = sdy.all_reduce {"c"} %x out_sharding=<@mesh, [{}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_sharded_to_unreduced(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op (C4) needs a result that is cut along "b" in dimension 0; found no axes}}
  %0 = sdy.sharded_to_unreduced [{"c"}, {}, {}] %x out_sharding=<@mesh, [{}, {}, {"d"}], unreduced={"c"}> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c4_replicated_to_unreduced(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op (C4) needs a result that is cut along "b" in dimension 0; found no axes}}
  %0 = sdy.replicated_to_unreduced {"c"} %x out_sharding=<@mesh, [{}, {}, {}], unreduced={"c"}> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c5_cut(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_reduce' op (C5) sums along "b", which the operand is cut along or replicated on}}
  %0 = sdy.all_reduce {"b"} %x out_sharding=<@mesh, [{"b"}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c5_replicated(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}], replicated={"c"}>}) {
  // expected-error @+1 {{'sdy.all_reduce' op (C5) sums along "c", which the operand is cut along or replicated on}}
  %0 = sdy.all_reduce {"c"} %x out_sharding=<@mesh, [{"b"}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c5_still_unreduced(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_reduce' op (C5) sums along "c", which the result leaves unreduced}}
  %0 = sdy.all_reduce {"c"} %x out_sharding=<@mesh, [{"b"}, {}, {}], unreduced={"c"}> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c5_none(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op (C5) needs axes}}
  %0 = sdy.replicated_to_unreduced {} %x out_sharding=<@mesh, [{"b"}, {}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c5_unreduced(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}], unreduced={"c"}>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op (C5) names "c", which the operand is cut along or unreduced on}}
  %0 = sdy.replicated_to_unreduced {"c"} %x out_sharding=<@mesh, [{"b"}, {}, {}], unreduced={"c"}> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c6_sharded(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {}, {"d"}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op (C6) needs a result that is unreduced along "c", "d"; found "c"}}
  %0 = sdy.sharded_to_unreduced [{"c"}, {}, {"d"}] %x out_sharding=<@mesh, [{"b"}, {}, {}], unreduced={"c"}> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @c6_replicated(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op (C6) needs a result that is unreduced along "c"; found "d"}}
  %0 = sdy.replicated_to_unreduced {"c"} %x out_sharding=<@mesh, [{"b"}, {}, {}], unreduced={"d"}> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @rank(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) {
  // expected-error @+1 {{'sdy.all_gather' op (S3) the result's sharding has rank 2, 'tensor<8x8x8xf32>' has 3}}
  %0 = sdy.all_gather [{}, {}, {}] %x out_sharding=<@mesh, [{}, {}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @type_of_all_gather(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.all_gather' op failed to verify that all of {tensor, result} have same type}}
  %0 = "sdy.all_gather"(%x) <{gathering_axes = #sdy<list_of_axis_ref_lists[{}]>, out_sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @type_of_collective_permute(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.collective_permute' op failed to verify that all of {tensor, result} have same type}}
  %0 = "sdy.collective_permute"(%x) <{out_sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}
