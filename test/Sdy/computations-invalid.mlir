// RUN: octavo-opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["a"=2]>
func.func @s1_of_manual(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (S1) needs a sharding for each operand, found 0 for 1}}
  %0 = sdy.manual_computation(%x) in_shardings=[] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @s3_of_manual(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (S3) the sharding of operand 0 has rank 2, 'tensor<4xf32>' has 1}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @s2_of_manual(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (S2) the sharding of operand 0 is on the mesh @mesh, which the program does not have}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
sdy.mesh @other = <["a"=2, "b"=2]>
func.func @m1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M1) needs one mesh for all shardings, found another for result 0}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@other, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m2(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M2) the mesh has no axis "c", which is to be manual}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"c"} (%part: tensor<4xf32>) {
    sdy.return %part : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @s4_of_manual(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (S4) the sharding of operand 0 names the axis "b", which the mesh does not have}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @s5_of_manual(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (S5) the sharding of operand 0 names the axis "a" twice}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {"a"}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%part: tensor<2x2xf32>) {
    sdy.return %part : tensor<2x2xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=8]>
func.func @s5_parts_of_manual(%x: tensor<8xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (S5) the sharding of operand 0 names the axis "a" twice}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a":(1)4, "a":(2)2}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%part: tensor<1xf32>) {
    sdy.return %part : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<1xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @s4_part_of_manual(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (S4) the sharding of operand 0 names a part of the axis "a" that does not divide its 4 devices}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a":(1)3}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<1xf32>) {
    sdy.return %part : tensor<1xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_division(%x: tensor<5xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M4) operand 0, 'tensor<5xf32>', is cut into 2 along an extent of 5, which they do not divide}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_part(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M4) operand 0 of the body must be 'tensor<2xf32>', its part of 'tensor<4xf32>'; found 'tensor<4xf32>'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%part: tensor<4xf32>) {
    sdy.return %part : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M4) result 0 of the body must be 'tensor<2xf32>', its part of 'tensor<4xf32>'; found 'tensor<4xf32>'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<4xf32>) {
    sdy.return %part : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M4) needs as many operands of the body as of itself, found 0 and 1}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} () {
    %c = stablehlo.constant dense<1.0> : tensor<2xf32>
    sdy.return %c : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_end(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M4) needs a body that ends with sdy.return}}
  "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}]>]>, out_shardings = #sdy.sharding_per_value<[]>, manual_axes = #sdy<manual_axes{"a"}>}> ({
  ^bb0(%part: tensor<4xf32>):
    stablehlo.return
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @m2_around(%x: tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%part: tensor<4x12xf32>) {
    // expected-error @+1 {{'sdy.manual_computation' op (M2) the axis "a" is manual in a computation around it}}
    %1 = sdy.manual_computation(%part) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"a"} (%inner: tensor<4x12xf32>) {
      sdy.return %inner : tensor<4x12xf32>
    } : (tensor<4x12xf32>) -> tensor<4x12xf32>
    sdy.return %1 : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @m3(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M3) the sharding of operand 0 has the axis "b", which is not manual, before "a", which is}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b", "a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%part: tensor<4x12xf32>) {
    sdy.return %part : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @m3_result(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M3) the sharding of result 0 has the axis "b", which is not manual, before "a", which is}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{}, {"b", "a"}]>] manual_axes={"a"} (%part: tensor<4x12xf32>) {
    sdy.return %part : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
func.func @s8_inner(%x: tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%part: tensor<4x12xf32>) {
    // expected-error @+1 {{'sdy.manual_computation' op (S8) the sharding of operand 0 names the axis "a", which is manual in a computation around it}}
    %1 = sdy.manual_computation(%part) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"b"} (%inner: tensor<4x12xf32>) {
      sdy.return %inner : tensor<4x12xf32>
    } : (tensor<4x12xf32>) -> tensor<4x12xf32>
    sdy.return %1 : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @n1_argument(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op (N1) needs a body that takes the operands, 'tensor<8x8x8xf32>'; found 'tensor<8xf32>'}}
  %0 = sdy.named_computation<"f">(%x) (%p: tensor<8xf32>) {
    sdy.return %p : tensor<8xf32>
  } : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @n1_count(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op (N1) needs a body that takes the operands, 'tensor<8x8x8xf32>'; found 'tensor<8x8x8xf32>', 'tensor<8x8x8xf32>'}}
  %0 = sdy.named_computation<"f">(%x) (%p: tensor<8x8x8xf32>, %q: tensor<8x8x8xf32>) {
    sdy.return %p : tensor<8x8x8xf32>
  } : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @n1_result(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op (N1) needs a body that returns the results, 'tensor<8x8x8xf32>'; found 'tensor<8xf32>'}}
  %0 = sdy.named_computation<"f">(%x) (%p: tensor<8x8x8xf32>) {
    %c = stablehlo.constant dense<1.0> : tensor<8xf32>
    sdy.return %c : tensor<8xf32>
  } : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @n1_end(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op (N1) needs a body that ends with sdy.return}}
  %0 = sdy.named_computation<"f">(%x) (%p: tensor<8x8x8xf32>) {
    stablehlo.return %p : tensor<8x8x8xf32>
  } : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @s1_in(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op (S1) needs a sharding for each operand, found 0 for 1}}
  %0 = sdy.named_computation<"f">(%x) in_shardings=[] (%p: tensor<8x8x8xf32>) {
    sdy.return %p : tensor<8x8x8xf32>
  } : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @s3_in(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op (S3) the sharding of operand 0 has rank 1, 'tensor<8x8x8xf32>' has 3}}
  %0 = sdy.named_computation<"f">(%x) in_shardings=[<@mesh, [{}]>] (%p: tensor<8x8x8xf32>) {
    sdy.return %p : tensor<8x8x8xf32>
  } : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @s4_out(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op (S4) the sharding of result 0 names the axis "q", which the mesh does not have}}
  %0 = sdy.named_computation<"f">(%x) out_shardings=[<@mesh, [{"q"}, {}, {}]>] (%p: tensor<8x8x8xf32>) {
    sdy.return %p : tensor<8x8x8xf32>
  } : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @above(%x: tensor<8x8x8xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = sdy.named_computation<"f">(%x) (%p: tensor<8x8x8xf32>) {
    // expected-error @+1 {{'sdy.return' op using value defined outside the region}}
    sdy.return %x : tensor<8x8x8xf32>
  } : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @e1(%x: tensor<8x8x8xf32>) {
  %0 = stablehlo.tanh %x : tensor<8x8x8xf32>
  // expected-error @+1 {{'sdy.data_flow_edge' op (E1) needs an operand that nothing else uses}}
  %1 = sdy.data_flow_edge %0 : tensor<8x8x8xf32>
  %2 = stablehlo.tanh %0 : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @e2(%x: tensor<8x8x8xf32>) {
  %0 = sdy.reshard %x <@mesh, [{}, {}, {}]> : tensor<8x8x8xf32>
  // expected-error @+1 {{'sdy.data_flow_edge' op (E2) needs an operand that no operation of sdy makes but 'sdy.named_computation'; found that of 'sdy.reshard'}}
  %1 = sdy.data_flow_edge %0 : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @s3_edge(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.data_flow_edge' op (S3) the sharding has rank 1, 'tensor<8x8x8xf32>' has 3}}
  %0 = sdy.data_flow_edge %x sharding=<@mesh, [{}]> : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @type_of_edge(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.data_flow_edge' op failed to verify that all of {input, result} have same type}}
  %0 = "sdy.data_flow_edge"(%x) : (tensor<8x8x8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @type_of_edge_of_functions(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.func_data_flow_edge' op failed to verify that all of {operand, result} have same type}}
  %0 = "sdy.func_data_flow_edge"(%x) : (tensor<8x8x8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @e1_of_functions(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.func_data_flow_edge' op (E1) needs an operand that nothing else uses}}
  %0 = sdy.func_data_flow_edge %x : tensor<8x8x8xf32>
  %1 = stablehlo.tanh %x : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @e2_of_functions(%x: tensor<8x8x8xf32>) {
  %0 = stablehlo.tanh %x : tensor<8x8x8xf32>
  // expected-error @+1 {{'sdy.func_data_flow_edge' op (E2) needs an operand that is an argument of a function or a result of a call}}
  %1 = sdy.func_data_flow_edge %0 : tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @e2_of_a_body(%x: tensor<8x8x8xf32>) {
  %0 = sdy.named_computation<"f">(%x) (%p: tensor<8x8x8xf32>) {
    // expected-error @+1 {{'sdy.func_data_flow_edge' op (E2) needs an operand that is an argument of a function or a result of a call}}
    %1 = sdy.func_data_flow_edge %p : tensor<8x8x8xf32>
    sdy.return %1 : tensor<8x8x8xf32>
  } : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @type_of_constant(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.constant' op failed to verify that all of {value, output} have same type}}
  %0 = "sdy.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<8x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @extents_of_constant(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.constant' op result #0 must be statically shaped tensor of any type values, but got 'tensor<?x8x8xf32>'}}
  %0 = "sdy.constant"() <{value = dense<1.0> : tensor<8x8x8xf32>}> : () -> tensor<?x8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2, "d"=2]>
func.func @both_directions(%x: tensor<8x8x8xf32>) {
  // expected-error @+1 {{'sdy.propagation_barrier' op allows both directions, so that it would do nothing}}
  %0 = sdy.propagation_barrier %x allowed_direction=BOTH : tensor<8x8x8xf32>
  return
}

// -----

func.func @mesh_in_a_function() {
  // expected-error @+1 {{'sdy.mesh' op expects parent op 'builtin.module'}}
  sdy.mesh @mesh = <["a"=2]>
  return
}
