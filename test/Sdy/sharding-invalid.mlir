// RUN: octavo-opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s1_results(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.add' op (S1) needs a sharding for each result, found 0 for 1}}
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[]>} : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s1_more(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (S1) needs a sharding for each result, found 1 for 2}}
  %0:2 = stablehlo.custom_call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8x12xf32>)
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s1_no_results(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (S1) needs a sharding for each result, found 2 for 0}}
  stablehlo.custom_call @f(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, []>]>} : (tensor<8x12xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s2(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S2) the sharding is on the mesh @other, which the program does not have}}
  %0 = sdy.sharding_constraint %x <@other, [{}, {}]> : tensor<8x12xf32>
  return
}

// -----

func.func @s2_of_a_function(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S2) the sharding is on the mesh @s2_of_a_function, which the program does not have}}
  %0 = sdy.sharding_constraint %x <@s2_of_a_function, [{}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
module @inner {
  func.func @s2_of_a_module_around(%x: tensor<4xf32>) {
    // expected-error @+1 {{'sdy.reshard' op (S2) the sharding is on the mesh @mesh, which the program does not have}}
    %0 = sdy.reshard %x <@mesh, [{}]> : tensor<4xf32>
    return
  }
}

// -----

// expected-error @+1 {{'func.func' op (S2) the sharding of argument 0 is on the mesh @mesh, which the program does not have}}
func.func @s2_argument(%x: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op (S2) the sharding of result 0 is on the mesh @mesh, which the program does not have}}
func.func private @s2_result() -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s3_fewer(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S3) the sharding has rank 1, 'tensor<8x12xf32>' has 2}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s3_more(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S3) the sharding has rank 3, 'tensor<8x12xf32>' has 2}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
// expected-error @+1 {{'func.func' op (S3) the sharding of argument 1 has rank 1, 'tensor<8x12xf32>' has 2}}
func.func @s3_argument(%x: f32, %y: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
// expected-error @+1 {{'func.func' op (S3) the sharding of result 1 has rank 1, 'tensor<8x12xf32>' has 2}}
func.func private @s3_result(tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s3_value(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.add' op (S3) the sharding of result 0 has rank 1, 'tensor<8x12xf32>' has 2}}
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
// expected-error @+1 {{'func.func' op (S3) the sharding of argument 0 must have no dimensions and axes, since the value is not a tensor}}
func.func @s3_token(%x: !stablehlo.token {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
// expected-error @+1 {{'func.func' op (S3) the sharding of argument 0 must have no dimensions and axes, since the value is not a tensor}}
func.func @s3_axes_of_a_token(%x: !stablehlo.token {sdy.sharding = #sdy.sharding<@mesh, [], replicated={"a"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s3_nothing(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (S3) the sharding must have no dimensions and axes, since there is no value}}
  stablehlo.custom_call @f(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x12xf32>) -> ()
  return
}

// -----

sdy.mesh @one = <[], device_ids=[3]>
func.func @s3_one_device(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S3) the sharding must have no dimensions and axes, since its mesh is one device}}
  %0 = sdy.sharding_constraint %x <@one, [{}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @one = <[], device_ids=[3]>
func.func @s3_axes_of_one_device(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S3) the sharding must have no dimensions and axes, since its mesh is one device}}
  %0 = sdy.sharding_constraint %x <@one, [], unreduced={"a"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s3_without_a_rank(%x: tensor<*xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S3) the sharding is for an unranked tensor, 'tensor<*xf32>'}}
  %0 = sdy.sharding_constraint %x <@mesh, []> : tensor<*xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s4_unknown(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S4) the sharding names the axis "d", which the mesh does not have}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"d"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s4_unknown_replicated(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S4) the sharding names the axis "d", which the mesh does not have}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}], replicated={"d"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s4_unknown_unreduced(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S4) the sharding names the axis "d", which the mesh does not have}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}], unreduced={"d"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s4_zero(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S4) the sharding names a part of the axis "b" that does not divide its 4 devices}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"b":(0)2}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s4_negative(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S4) the sharding names a part of the axis "b" that does not divide its 4 devices}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"b":(-1)2}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s4_one(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S4) the sharding names a part of the axis "b" that is 1}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"b":(2)1}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s4_all(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S4) the sharding names a part of the axis "b" that is all of it}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"b":(1)4}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s4_divisor(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S4) the sharding names a part of the axis "b" that does not divide its 4 devices}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"b":(1)3}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s4_end(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S4) the sharding names a part of the axis "c" that does not divide its 6 devices}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"c":(2)2}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s5_dimensions(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S5) the sharding names the axis "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}, {"a"}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s5_one_dimension(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S5) the sharding names the axis "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a", "a"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s5_replicated(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S5) the sharding names the axis "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}, {}], replicated={"a"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s5_unreduced(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S5) the sharding names the axis "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}, {}], unreduced={"a"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s5_both(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S5) the sharding names the axis "a" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}], replicated={"a"}, unreduced={"a"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s5_part_and_whole(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S5) the sharding names the axis "b" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"b":(1)2}, {"b"}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s5_parts(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S5) the sharding names the axis "c" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"c":(1)2}, {"c":(1)3}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s5_part_twice(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S5) the sharding names the axis "c" twice}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"c":(1)3}, {"c":(1)3}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s5_parts_in_a_row(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S5) the sharding names two parts of the axis "b" in a row that are to be written as one}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"b":(1)2, "b":(2)2}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s6_replicated(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S6) the sharding names replicated axes in another order than the mesh}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}], replicated={"b", "a"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s6_unreduced(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S6) the sharding names unreduced axes in another order than the mesh}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}], unreduced={"c", "a"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s6_parts(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S6) the sharding names replicated axes in another order than the mesh}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}], replicated={"b":(2)2, "b":(1)2}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s7(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op (S7) the sharding has a priority for dimension 0, which is closed and has no axes}}
  %0 = sdy.sharding_constraint %x <@mesh, [{}p1, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s8(%x: tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%part: tensor<4x12xf32>) {
    // expected-error @+1 {{'sdy.sharding_constraint' op (S8) the sharding names the axis "a", which is manual in a computation around it}}
    %1 = sdy.sharding_constraint %part <@mesh, [{"a"}, {}]> : tensor<4x12xf32>
    sdy.return %part : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s8_replicated(%x: tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%part: tensor<4x12xf32>) {
    // expected-error @+1 {{'sdy.reshard' op (S8) the sharding names the axis "a", which is manual in a computation around it}}
    %1 = sdy.reshard %part <@mesh, [{}, {}], replicated={"a"}> : tensor<4x12xf32>
    sdy.return %part : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s8_unreduced(%x: tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%part: tensor<4x12xf32>) {
    // expected-error @+1 {{'sdy.sharding_constraint' op (S8) the sharding names the axis "a", which is manual in a computation around it}}
    %1 = sdy.sharding_constraint %part <@mesh, [{}, {}], unreduced={"a"}> : tensor<4x12xf32>
    sdy.return %part : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s8_value(%x: tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%part: tensor<4x12xf32>) {
    // expected-error @+1 {{'stablehlo.add' op (S8) the sharding of result 0 names the axis "a", which is manual in a computation around it}}
    %1 = stablehlo.add %part, %part {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<4x12xf32>
    sdy.return %part : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
// expected-error @+1 {{'func.func' op 'sdy.sharding' of argument 0 must be a #sdy.sharding; found #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}}
func.func @of_one_value(%x: tensor<8x12xf32> {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
// expected-error @+1 {{'func.func' op 'sdy.sharding' of result 0 must be a #sdy.sharding; found 1 : i32}}
func.func private @of_one_result() -> (tensor<8x12xf32> {sdy.sharding = 1 : i32})

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @of_all_values(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.add' op 'sdy.sharding' must be a #sdy.sharding_per_value; found #sdy.sharding<@mesh, [{}, {}]>}}
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} : tensor<8x12xf32>
  return
}
