// RUN: octavo-opt %s -split-input-file -verify-diagnostics

func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of floating-point values, but got 'tensor<4xi32>'}}
  %0 = "chlo.erf"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @types_differ(%x: tensor<4xf32>) -> tensor<4xbf16> {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "chlo.erfc"(%x) : (tensor<4xf32>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

func.func @square_of_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of floating-point or complex-type values, but got 'tensor<4xi32>'}}
  %0 = "chlo.square"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @element_of_constant_like(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{value must have the element type of the result, 'f32'; found 'i32'}}
  %0 = "chlo.constant_like"(%x) <{value = 2 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @constant_like_of_a_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{value must have the element type of the result, 'f32'; found 'tensor<4xf32>'}}
  %0 = "chlo.constant_like"(%x) <{value = dense<2.0> : tensor<4xf32>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @type_of_constant() -> tensor<4xf32> {
  // expected-error @+1 {{failed to verify that all of {value, output} have same type}}
  %0 = "chlo.constant"() <{value = dense<2.0> : tensor<4xf64>}> : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @zeta_of_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of floating-point values, but got 'tensor<4xi32>'}}
  %0 = chlo.zeta %x, %x : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @extents(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{extents must be equal or 1; axis 1 of the result has 3 and 2}}
  %0 = chlo.broadcast_add %x, %y : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dimensions(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{broadcast_dimensions must ascend and lie in [0, 2), the axes of the operand of larger rank; found 2}}
  %0 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 2>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @count_of_dimensions(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{must have an entry for each of the 1 axes of the operand of smaller rank; it has 2}}
  %0 = chlo.broadcast_add %x, %y {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @result(%x: tensor<2x3xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{the result must have type 'tensor<2x3xf32>'; found 'tensor<3x2xf32>'}}
  %0 = chlo.broadcast_add %x, %y : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @types_of_broadcast_compare(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{failed to verify that all of {lhs, rhs} have same element type}}
  %0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @shapes_of_broadcast_compare(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{extents must be equal or 1; axis 1 of the result has 3 and 2}}
  %0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @result_of_broadcast_compare(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{the result must have type 'tensor<2x3xi1>'; found 'tensor<3xi1>'}}
  %0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xi1>
  return
}

// -----

func.func @compare_type_of_floats(%x: tensor<2xf32>) {
  // expected-error @+1 {{elements of type 'f32' are compared as FLOAT or TOTALORDER; found SIGNED}}
  %0 = chlo.broadcast_compare %x, %x {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type SIGNED>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @compare_type_of_booleans(%x: tensor<2xi1>) {
  // expected-error @+1 {{elements of type 'i1' are compared as UNSIGNED; found SIGNED}}
  %0 = chlo.broadcast_compare %x, %x {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type SIGNED>} : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @compare_type_of_integers(%x: tensor<2xi32>) {
  // expected-error @+1 {{elements of type 'i32' are compared as SIGNED; found TOTALORDER}}
  %0 = chlo.broadcast_compare %x, %x {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type TOTALORDER>} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @compare_type_of_unsigned_integers(%x: tensor<2xui32>) {
  // expected-error @+1 {{elements of type 'ui32' are compared as UNSIGNED; found SIGNED}}
  %0 = chlo.broadcast_compare %x, %x {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type SIGNED>} : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xi1>
  return
}

// -----

func.func @compare_type_of_complex(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{elements of type 'complex<f32>' are compared as FLOAT; found TOTALORDER}}
  %0 = chlo.broadcast_compare %x, %x {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type TOTALORDER>} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return
}

// -----

func.func @broadcast_compare_without_direction(%x: tensor<2xf32>) {
  // expected-error @+1 {{requires attribute 'comparison_direction'}}
  %0 = "chlo.broadcast_compare"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @parts_of_broadcast_complex(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @+1 {{failed to verify that all of {lhs, rhs} have same element type}}
  %0 = chlo.broadcast_complex %x, %y : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @narrow_parts_of_broadcast_complex(%x: tensor<2xbf16>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of 32-bit float or 64-bit float values, but got 'tensor<2xbf16>'}}
  %0 = chlo.broadcast_complex %x, %x : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xcomplex<bf16>>
  return
}

// -----

func.func @result_of_broadcast_complex(%x: tensor<2xf32>) {
  // expected-error @+1 {{the result must have parts of the operands' type, 'f32'; found 'f64'}}
  %0 = chlo.broadcast_complex %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>
  return
}

// -----

func.func @predicate_of_broadcast_select(%p: tensor<4xi1>, %x: tensor<2x3xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{extents must be equal or 1; axis 1 of the result has 3 and 4}}
  %0 = chlo.broadcast_select %p, %x, %y : (tensor<4xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @types_of_broadcast_select(%p: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{failed to verify that all of {on_true, on_false, result} have same element type}}
  %0 = chlo.broadcast_select %p, %x, %y : (tensor<i1>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @result_of_broadcast_select(%p: tensor<i1>, %x: tensor<2x1xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{the result must have type 'tensor<2x3xf32>'; found 'tensor<2x4xf32>'}}
  %0 = chlo.broadcast_select %p, %x, %y : (tensor<i1>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @integers_as_predicate(%p: tensor<2xi8>, %x: tensor<2xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<2xi8>'}}
  %0 = chlo.broadcast_select %p, %x, %x : (tensor<2xi8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
