// RUN: octavo-opt %s -verify-diagnostics -split-input-file
// Quantized types where constraints compare them: storage, range and expressed type must be one everywhere,
// scales and zero points too but where the specification compares baseline types.

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.negate' op (C1) operands and result must have one type}}
  %0 = "stablehlo.negate"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.negate' op (C1) operands and result must have one type}}
  %0 = "stablehlo.negate"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8<-100:100>:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:bf16, 0.5>>) {
  // expected-error @+1 {{'stablehlo.multiply' op (C1) operands and result must have one type}}
  %0 = "stablehlo.multiply"(%a, %b) : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:bf16, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.abs' op (C1, C2) the result must have type}}
  %0 = "stablehlo.abs"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.compare' op (C1) operands must have one element type}}
  %0 = "stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i16:f32, 0.5>>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.compare' op (C3) elements of type '!quant.uniform<i8:f32, 5.000000e-01>' are compared as FLOAT}}
  %0 = "stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%a: tensor<!quant.uniform<i16:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.clamp' op (C3) min must have the operand's element type}}
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<!quant.uniform<i16:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.clamp' op (C4) the result must have type}}
  %0 = "stablehlo.clamp"(%a, %b, %c) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<i1>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<2x!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.select' op (C2) on_true and on_false must have one type}}
  %0 = "stablehlo.select"(%a, %b, %c) : (tensor<i1>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.convert' op operand #0 must be ranked tensor of boolean, integer, float or complex type, but got}}
  %0 = "stablehlo.convert"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op (C1) the shape of}}
  %0 = "stablehlo.bitcast_convert"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xi16>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.25:3>>) {
  // expected-error @+1 {{'stablehlo.concatenate' op (C1) inputs must have one element type; input 1 has}}
  %0 = "stablehlo.concatenate"(%a, %b) {dimension = 0 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.25:3>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.concatenate' op (C5, C6) the result must have type}}
  %0 = "stablehlo.concatenate"(%a, %b) {dimension = 0 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i8:f32, 0.25:3>>) {
  // expected-error @+1 {{'stablehlo.pad' op (C1) padding_value must have the operand's element type}}
  %0 = "stablehlo.pad"(%a, %b) {edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.25:3>>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.slice' op (C1, C5) the result must have type}}
  %0 = "stablehlo.slice"(%a) {start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reverse' op (C1) the result must have type}}
  %0 = "stablehlo.reverse"(%a) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reshape' op (C1) operand and result must have one element type}}
  %0 = "stablehlo.reshape"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reshape' op (C1) operand and result must have one element type}}
  %0 = "stablehlo.reshape"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x2xi8>
  return
}

// -----

func.func @f(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.transpose' op (C1, C3) the result must have type}}
  %0 = "stablehlo.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @+1 {{'stablehlo.transpose' op (C1, C3) the result must have type}}
  %0 = "stablehlo.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (C1) operand and result must have one element type}}
  %0 = "stablehlo.broadcast_in_dim"(%a) {broadcast_dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.broadcast' op (I1) the result must have type}}
  %0 = "stablehlo.broadcast"(%a) {broadcast_sizes = array<i64: 2>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C1) operand and result must have one element type}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) {broadcast_dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2xi32>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, %b: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C6) the quantization dimension of the result must be 1, where that of the operand goes}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %b) {broadcast_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, tensor<2xi32>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op (C1) operand and result must have one element type}}
  %0 = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2xi32>) -> tensor<1x2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, %b: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op (C3) the quantized axis must keep its extent and the number of elements before it}}
  %0 = "stablehlo.dynamic_reshape"(%a, %b) : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>, tensor<2xi32>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op (C1, C5) the result must have type}}
  %0 = "stablehlo.dynamic_slice"(%a, %b) {slice_sizes = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<i32>) -> tensor<1x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<1x!quant.uniform<i8:f32, 0.5>>, %c: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op (C1) the result must have type}}
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c) : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<1x!quant.uniform<i8:f32, 0.5>>, tensor<i32>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<1x!quant.uniform<i8:f32, 0.25:3>>, %c: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op (C2) update must have the operand's element type}}
  %0 = "stablehlo.dynamic_update_slice"(%a, %b, %c) : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<1x!quant.uniform<i8:f32, 0.25:3>>, tensor<i32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i8:f32, 0.25:3>>, %c: tensor<1xi32>, %d: tensor<1xi32>, %e: tensor<1xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op (C1) operand, padding_value and result must have one element type}}
  %0 = "stablehlo.dynamic_pad"(%a, %b, %c, %d, %e) : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.25:3>>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<3xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C22, C23) the result must have type}}
  %0 = "stablehlo.gather"(%a, %b) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<3xi32>) -> tensor<3x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op (C1) the result must have type}}
  %0 = "stablehlo.optimization_barrier"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i8:f32, 0.25:3>>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C2) init value 0 must have the input's element type}}
  %0 = "stablehlo.reduce"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.25:3>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C2) init value 0 must have the input's element type}}
  %0 = "stablehlo.reduce"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i16:f32, 0.5>>, %y: tensor<!quant.uniform<i16:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i16:f32, 0.5>>, tensor<!quant.uniform<i16:f32, 0.5>>) -> tensor<!quant.uniform<i16:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i16:f32, 0.5>>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i16:f32, 0.5>>) -> tensor<!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i16:f32, 0.5>>, %b: tensor<!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C6) the body's type 'tensor<!quant.uniform<i8:f32, 5.000000e-01>>' must hold the elements of input 0,}}
  %0 = "stablehlo.reduce"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i16:f32, 0.5>>, tensor<!quant.uniform<i16:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:bf16, 0.5>>, %b: tensor<!quant.uniform<i8:bf16, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C6) the body's type 'tensor<!quant.uniform<i8:f32, 5.000000e-01>>' must hold the elements of input 0,}}
  %0 = "stablehlo.reduce"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:bf16, 0.5>>, tensor<!quant.uniform<i8:bf16, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C8) result 0 must have the body's element type}}
  %0 = "stablehlo.reduce"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C8) result 0 must have the body's element type}}
  %0 = "stablehlo.reduce"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C3) init value 0 must have the input's element type}}
  %0 = "stablehlo.reduce_window"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {window_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i16:f32, 0.5>>, %b: tensor<!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C13) the body's type}}
  %0 = "stablehlo.reduce_window"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {window_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i16:f32, 0.5>>, tensor<!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C16) result 0 must have the body's element type}}
  %0 = "stablehlo.reduce_window"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {window_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C16) result 0 must have the body's element type}}
  %0 = "stablehlo.reduce_window"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {window_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i16:f32, 0.5>>, %c: tensor<!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C1) source must have the operand's element type}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = stablehlo.compare GE, %x, %y : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }, { ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {window_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i16:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C3) init_value must have the operand's element type}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = stablehlo.compare GE, %x, %y : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }, { ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {window_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C9) select must take two values of type}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) ({ ^bb0(%x: tensor<!quant.uniform<i16:f32, 0.5>>, %y: tensor<!quant.uniform<i16:f32, 0.5>>):
    %r = stablehlo.compare GE, %x, %y : (tensor<!quant.uniform<i16:f32, 0.5>>, tensor<!quant.uniform<i16:f32, 0.5>>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }, { ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {window_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i16:f32, 0.5>>, %b: tensor<2x!quant.uniform<i16:f32, 0.5>>, %c: tensor<!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C10) the body's type}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) ({ ^bb0(%x: tensor<!quant.uniform<i16:f32, 0.5>>, %y: tensor<!quant.uniform<i16:f32, 0.5>>):
    %r = stablehlo.compare GE, %x, %y : (tensor<!quant.uniform<i16:f32, 0.5>>, tensor<!quant.uniform<i16:f32, 0.5>>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }, { ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {window_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i16:f32, 0.5>>, tensor<2x!quant.uniform<i16:f32, 0.5>>, tensor<!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C12) result 0 must have the body's element type}}
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = stablehlo.compare GE, %x, %y : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }, { ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {window_dimensions = array<i64: 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<3xi32>, %c: tensor<3x!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C6) update 0 must have the input's element type}}
  %0 = "stablehlo.scatter"(%a, %b, %c) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<3xi32>, tensor<3x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<3xi32>, %c: tensor<3x!quant.uniform<i8:f32, 0.25:3>>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C6) update 0 must have the input's element type}}
  %0 = "stablehlo.scatter"(%a, %b, %c) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<3xi32>, tensor<3x!quant.uniform<i8:f32, 0.25:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i16:f32, 0.5>>, %b: tensor<3xi32>, %c: tensor<3x!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C23) the body's type 'tensor<!quant.uniform<i8:f32, 5.000000e-01>>' must hold the elements of input 0,}}
  %0 = "stablehlo.scatter"(%a, %b, %c) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<2x!quant.uniform<i16:f32, 0.5>>, tensor<3xi32>, tensor<3x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<3xi32>, %c: tensor<3x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C25) result 0 must have the body's element type}}
  %0 = "stablehlo.scatter"(%a, %b, %c) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<3xi32>, tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.map' op (C4) the computation must return}}
  %0 = "stablehlo.map"(%a, %b) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i16:f32, 0.5>>, %c: tensor<2x!quant.uniform<i8:f32, 0.5>>, %d: tensor<2x!quant.uniform<i8:f32, 0.5>>, %e: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op (C2) scale must have the operand's element type}}
  %0 = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i16:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<2x!quant.uniform<i8:f32, 0.5>>, %d: tensor<2x!quant.uniform<i8:f32, 0.5>>, %e: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op (C2, C7) the result must have type}}
  %0 = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) {epsilon = 1.0 : f32, feature_index = 1 : i64} : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.cholesky' op (C1) the result must have type}}
  %0 = "stablehlo.cholesky"(%a) : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x2x!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op (C1) a and b must have one element type}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op (C4) the result must have type}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op (C1) the result must have type}}
  %0 = "stablehlo.reduce_precision"(%a) {exponent_bits = 5 : i32, mantissa_bits = 2 : i32} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<1x4x2xf32>, %b: tensor<3x2x2x!quant.uniform<i8:f32, 0.5>>, %c: tensor<1x2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op (C28) rhs must be quantized, and lhs and result both or neither}}
  %0 = "stablehlo.dynamic_conv"(%a, %b, %c) {dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x4x2xf32>, tensor<3x2x2x!quant.uniform<i8:f32, 0.5>>, tensor<1x2xi32>) -> tensor<1x2x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<1x4x2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<3x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>, %c: tensor<1x2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op (C29) the quantization dimension of rhs must be kernel_output_feature_dimension}}
  %0 = "stablehlo.dynamic_conv"(%a, %b, %c) {dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x4x2x!quant.uniform<i8:f32, 0.5>>, tensor<3x2x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>, tensor<1x2xi32>) -> tensor<1x2x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %b: tensor<2x2x!quant.uniform<i8:f32, 0.25:3>>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C15) the zero points of rhs must be 0}}
  %0 = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.25:3>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C6) a result must have its operand's type with axis 0 times 1, the processes of a group}}
  %0 = "stablehlo.all_gather"(%a) {replica_groups = dense<[[0]]> : tensor<1x1xi64>, all_gather_dim = 0 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.all_reduce' op (C5) the body's type}}
  %0 = "stablehlo.all_reduce"(%a) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<2x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.all_reduce' op (C7) result 0 must have the body's element type}}
  %0 = "stablehlo.all_reduce"(%a) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i16:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C7) the body's type}}
  %0 = "stablehlo.reduce_scatter"(%a) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>, scatter_dimension = 0 : i64} : (tensor<2x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C9) result 0 must have the body's element type}}
  %0 = "stablehlo.reduce_scatter"(%a) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = "stablehlo.add"(%x, %y) : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i8:f32, 0.5>>
    "stablehlo.return"(%r) : (tensor<!quant.uniform<i8:f32, 0.5>>) -> ()
  }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>, scatter_dimension = 0 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C9) a result must have type}}
  %0 = "stablehlo.all_to_all"(%a) {replica_groups = dense<[[0]]> : tensor<1x1xi64>, split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op (C5) a result must have its operand's type}}
  %0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0,0]]> : tensor<1x2xi64>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op (C3) a result must have its operand's type}}
  %0 = "stablehlo.collective_broadcast"(%a) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.sort' op (C2) the results must have the inputs' types,}}
  %0 = "stablehlo.sort"(%a) ({ ^bb0(%x: tensor<!quant.uniform<i8:f32, 0.5>>, %y: tensor<!quant.uniform<i8:f32, 0.5>>):
    %r = stablehlo.compare GE, %x, %y : (tensor<!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25:-129}>>) {
  // expected-error @+1 {{'stablehlo.uniform_dequantize' op (QuantizedTensorType C7) the zero point -129 must lie in the storage's range [-128, 127] of}}
  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25:-129}>>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5:300>>) {
  // expected-error @+1 {{'stablehlo.uniform_dequantize' op (QuantizedTensorType C7) the zero point 300 must lie in the storage's range [-128, 127] of}}
  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<2x!quant.uniform<i8:f32, 0.5:300>>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) {
  // expected-error @+1 {{'stablehlo.uniform_dequantize' op (QuantizedTensorType C12) the quantization dimension of}}
  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) {
  // expected-error @+1 {{'stablehlo.uniform_dequantize' op (QuantizedTensorType C13)}}
  %0 = "stablehlo.uniform_dequantize"(%a) : (tensor<3x!quant.uniform<i8:f32:0, {0.5, 0.25}>>) -> tensor<3xf32>
  return
}
