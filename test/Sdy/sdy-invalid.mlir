// RUN: octavo-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{custom op 'sdy.mesh' a mesh has the axis "a" twice}}
sdy.mesh @mesh = <["a"=2, "a"=2]>

// -----

// expected-error @+1 {{custom op 'sdy.mesh' the axis "a" of a mesh has 0 devices; it needs one at least}}
sdy.mesh @mesh = <["a"=0]>

// -----

// expected-error @+1 {{custom op 'sdy.mesh' the device_ids of a mesh are the numbers from 0 on, each once}}
sdy.mesh @mesh = <["a"=2], device_ids=[1, 1]>

// -----

// expected-error @+1 {{custom op 'sdy.mesh' a mesh of 4 devices has 2 device_ids}}
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
func.func @constraint(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op failed to verify that all of {input, result} have same type}}
  %0 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>
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
  // expected-error @+1 {{'sdy.return' op expects parent op to be one of 'sdy.manual_computation, sdy.named_computation'}}
  sdy.return %x : tensor<4xf32>
}
