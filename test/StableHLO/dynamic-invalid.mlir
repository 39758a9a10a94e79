// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C1) operand and result must have one element type; found 'f32' and 'f64'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1]  : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C2) broadcast_dimensions must have one entry for each of 2 axes of the operand; found [0]}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0]  : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C3) broadcast_dimensions must be in [0, 2), the axes of the result; found 2}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 2]  : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C4) broadcast_dimensions must be unique; found 0 twice in [0, 0]}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 0]  : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C5) axis 1 of the operand has extent 8, which must be 1 or that of axis 1 of the result, 9}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1]  : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x9xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C7) output_dimensions must have one number for each of the result's 2 axes; found 'tensor<3xi64>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %m, dims = [0, 1]  : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C8) known_expanding_dimensions and known_nonexpanding_dimensions must be unique; found 0 twice in [0, 0]}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C9) known_expanding_dimensions must be in [0, 2), the axes of the operand; found 2}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] {known_expanding_dimensions = array<i64: 2>} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C10) known_nonexpanding_dimensions must be in [0, 2), the axes of the operand; found -1}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] {known_nonexpanding_dimensions = array<i64: -1>} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_iota' op (C1) iota_dimension must be in [0, 2), the axes of the result; found 2}}
  %0 = stablehlo.dynamic_iota %n, dim = 2 : (tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_iota' op (C2) output_shape must have one number for each of the result's 2 axes; found 'tensor<3xi64>'}}
  %0 = stablehlo.dynamic_iota %m, dim = 1 : (tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op (C1) operand, padding_value and result must have one element type; found 'f32', 'f64' and 'f32'}}
  %0 = stablehlo.dynamic_pad %x, %d, %n, %n, %n : (tensor<4x8xf32>, tensor<f64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op (C2) edge_padding_low, edge_padding_high and interior_padding must have one number for each of the operand's 2 axes; found 'tensor<3xi64>'}}
  %0 = stablehlo.dynamic_pad %x, %s, %n, %m, %n : (tensor<4x8xf32>, tensor<f32>, tensor<2xi64>, tensor<3xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op (C1) operand and result must have one element type; found 'f32' and 'i32'}}
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op (C2) operand and result must have as many elements; found 32}}
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x7xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op (C4) output_shape must have one number for each of the result's 2 axes; found 'tensor<3xi64>'}}
  %0 = stablehlo.dynamic_reshape %x, %m : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.get_dimension_size' op (C1) dimension must be in [0, 2), the axes of the operand; found 2}}
  %0 = stablehlo.get_dimension_size %x, dim = 2 : (tensor<4x8xf32>) -> tensor<i32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.set_dimension_size' op (I3) dimension must be in [0, 2), the axes of the operand; found 2}}
  %0 = stablehlo.set_dimension_size %x, %i, dim = 2 : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op (I2) start_indices, limit_indices and strides must have one type; found 'tensor<2xi64>' and 'tensor<2xi32>'}}
  %0 = stablehlo.real_dynamic_slice %x, %n, %n, %k : (tensor<4x8xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op (I2) start_indices, limit_indices and strides must have one number for each of the operand's 2 axes; found 'tensor<3xi64>'}}
  %0 = stablehlo.real_dynamic_slice %x, %m, %m, %m : (tensor<4x8xf32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op (O1) the result must have the operand's element type and rank}}
  %0 = stablehlo.real_dynamic_slice %x, %n, %n, %n : (tensor<4x8xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C1) offset_dims, collapsed_slice_dims and operand_batching_dims must be as many as the operand's 2 axes}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C2) index_vector_dim must be in [0, 1], the rank of start_indices included; found 2}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C3) start_index_map must have one entry for each of the 1 numbers of an index vector; found [0, 1]}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C4) offset_dims must be unique; found 1 twice in [1, 1]}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 1], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C5) offset_dims must be in [0, 2), the axes of the result; found 2}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C6) collapsed_slice_dims and operand_batching_dims must be unique; found 0 twice in [0, 0]}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 0], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C7) collapsed_slice_dims must be in [0, 2), the axes of the operand; found 2}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C10) start_index_map must be in [0, 2), the axes of the operand; found 2}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C11) slice_sizes must have one entry for each of the operand's 2 axes}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %m) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<3xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C13) the result must have the shape [2, ?]; found [3, 8]}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C14) operand and result must have one element type; found 'f32' and 'f64'}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf64>
  return
}

// -----

func.func @f(%x: tensor<1x9x2xf32>, %w: tensor<3x2x5xf32>, %p: tensor<2x2xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op (C4) padding must have two numbers for each of 1 axes; found 'tensor<2x2xi64>'}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) {dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x9x2xf32>, tensor<3x2x5xf32>, tensor<2x2xi64>) -> tensor<1x?x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x9x2xf32>, %w: tensor<3x3x5xf32>, %p: tensor<1x2xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op (C14) the kernel must have the features of a group of lhs, 2; found 3}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) {dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x9x2xf32>, tensor<3x3x5xf32>, tensor<1x2xi64>) -> tensor<1x?x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  %c = stablehlo.constant dense<-1> : tensor<2xi64>
  // expected-error @+1 {{'stablehlo.dynamic_pad' op (C3) interior_padding must not be negative; found [-1, -1]}}
  %0 = stablehlo.dynamic_pad %x, %s, %n, %n, %c : (tensor<4x8xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  %c = stablehlo.constant dense<1> : tensor<2xi64>
  // expected-error @+1 {{'stablehlo.dynamic_pad' op (C4) axis 0 of the result must have the extent 9; found 10}}
  %0 = stablehlo.dynamic_pad %x, %s, %c, %c, %c : (tensor<4x8xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<10x17xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  %c = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  // expected-error @+1 {{'stablehlo.dynamic_iota' op (C2) the result must have the shape [3, 4] that output_shape gives; found [3, 5]}}
  %0 = stablehlo.dynamic_iota %c, dim = 1 : (tensor<2xi64>) -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  %c = stablehlo.constant dense<[4, 9]> : tensor<2xi64>
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C5) axis 1 of the operand has extent 8, which must be 1 or that of axis 1 of the result, 9}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %c, dims = [0, 1]  : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  %c = stablehlo.constant dense<[4, 9]> : tensor<2xi64>
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op (C2) operand and result must have as many elements; found 32}}
  %0 = stablehlo.dynamic_reshape %x, %c : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  %c = stablehlo.constant dense<9> : tensor<i32>
  // expected-error @+1 {{'stablehlo.set_dimension_size' op (I2) size must be in [0, 8]; found 9}}
  %0 = stablehlo.set_dimension_size %x, %c, dim = 1 : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 8>>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %o: tensor<4x1xf32>, %s: tensor<f32>, %d: tensor<f64>, %n: tensor<2xi64>, %m: tensor<3xi64>, %k: tensor<2xi32>, %i: tensor<i32>) {
  %c = stablehlo.constant dense<[2, 8]> : tensor<2xi64>
  // expected-error @+1 {{'stablehlo.dynamic_gather' op (C8) slice_sizes must be at most 1 on axis 0, which collapsed_slice_dims names; found 2}}
  %0 = "stablehlo.dynamic_gather"(%x, %k, %c) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<4x8xf32>, tensor<2xi32>, tensor<2xi64>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%s: tensor<2xi64>, %q: tensor<1x2x!quant.uniform<i8:f32:0, {0.1:3}>>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op (C6) a stretched axis must repeat the operand's one scale and zero point; entry 0 of the result differs}}
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%q, %s) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x2x!quant.uniform<i8:f32:0, {0.1:3}>>, tensor<2xi64>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.2:3, 0.5:3}>>
  return
}
