// RUN: octavo-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a mesh has the axis "a" twice}}
sdy.mesh @mesh = <["a"=2, "a"=2]>

// -----

// expected-error @+1 {{the axis "a" of a mesh has 0 devices; it needs one at least}}
sdy.mesh @mesh = <["a"=0]>

// -----

// expected-error @+1 {{the device_ids of a mesh are the numbers from 0 on, each once}}
sdy.mesh @mesh = <["a"=2], device_ids=[1, 1]>

// -----

// expected-error @+1 {{a mesh of 4 devices has 2 device_ids}}
sdy.mesh @mesh = <["a"=4], device_ids=[1, 0]>

// -----

// expected-error @+1 {{'ih' is not made of factors: i to z, then z_1, z_2, ...}}
func.func private @factor() attributes {a = #sdy.op_sharding_rule<([ih])->([]) {i=2}>}

// -----

// expected-error @+1 {{expected the size of j}}
func.func private @sizes() attributes {a = #sdy.op_sharding_rule<([ij])->([]) {i=2, k=2}>}

// -----

// expected-error @+1 {{expected nothing after '?'}}
func.func private @open() attributes {a = #sdy.sharding<@mesh, [{?, "a"}]>}

// -----

// expected-error @+1 {{expected a priority, p0 or p1 or ...}}
func.func private @priority() attributes {a = #sdy.sharding<@mesh, [{"a"}q1]>}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m1_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M1) needs a sharding for each operand, found 0 for 1}}
  %0 = sdy.manual_computation(%x) in_shardings=[] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m1_rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M1) the sharding of operand 0 has 2 dimensions, 'tensor<4xf32>' has 1}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @m2_none(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M2) names a mesh that the program does not have}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
sdy.mesh @other = <["a"=2, "b"=2]>
func.func @m2_two(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M2) needs one mesh for all shardings, found another for result 0}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@other, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m3_manual(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M3) the mesh has no axis "c", which is to be manual}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"c"} (%part: tensor<4xf32>) {
    sdy.return %part : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m3_unknown(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M3) the mesh has no axis "b", which a sharding names}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m3_twice(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{(M3) a sharding names the axis "a" twice}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {"a"}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%part: tensor<2x2xf32>) {
    sdy.return %part : tensor<2x2xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @m3_overlap(%x: tensor<8xf32>) {
  // expected-error @+1 {{(M3) a sharding names the axis "a" twice}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a":(1)4, "a":(2)2}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%part: tensor<1xf32>) {
    sdy.return %part : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<1xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=4]>
func.func @m3_part(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M3) a sharding names a part of the axis "a" that does not divide its 4 devices}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a":(1)3}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<1xf32>) {
    sdy.return %part : tensor<1xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_division(%x: tensor<5xf32>) {
  // expected-error @+1 {{(M4) operand 0, 'tensor<5xf32>', is cut into 2 along an extent of 5, which they do not divide}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_part(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M4) operand 0 of the body must be 'tensor<2xf32>', its part of 'tensor<4xf32>'; found 'tensor<4xf32>'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a"} (%part: tensor<4xf32>) {
    sdy.return %part : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M4) result 0 of the body must be 'tensor<2xf32>', its part of 'tensor<4xf32>'; found 'tensor<4xf32>'}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%part: tensor<4xf32>) {
    sdy.return %part : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M4) needs as many operands of the body as of itself, found 0 and 1}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} () {
    %c = stablehlo.constant dense<1.0> : tensor<2xf32>
    sdy.return %c : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
func.func @m4_end(%x: tensor<4xf32>) {
  // expected-error @+1 {{(M4) needs a body that ends with sdy.return}}
  "sdy.manual_computation"(%x) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}]>]>, out_shardings = #sdy.sharding_per_value<[]>, manual_axes = #sdy<manual_axes{"a"}>}> ({
  ^bb0(%part: tensor<4xf32>):
    stablehlo.return
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @constraint(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op failed to verify that all of {input, result} have same type}}
  %0 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reshard(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.reshard' op failed to verify that all of {input, result} have same type}}
  %0 = "sdy.reshard"(%x) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @barrier(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.propagation_barrier' op failed to verify that all of {input, result} have same type}}
  %0 = "sdy.propagation_barrier"(%x) <{allowed_direction = 1 : i32}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @group(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.sharding_group' op requires attribute 'group_id'}}
  "sdy.sharding_group"(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @return(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.return' op expects parent op 'sdy.manual_computation'}}
  sdy.return %x : tensor<4xf32>
}
