// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C1) lhs and rhs must have one rank, 2 or more; found 4 and 3}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C2) window_strides must have one entry for each of 2 axes; found [2]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 2>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C3) window_strides must be positive; found [0, 1]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 0, 1>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C4) padding must have two numbers for each of 2 axes; found 'tensor<1x2xi64>'}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = dense<0> : tensor<1x2xi64>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C5) lhs_dilation must have one entry for each of 2 axes; found [2]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 2>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C6) lhs_dilation must be positive; found [1, -1]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 1, -1>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C7) rhs_dilation must have one entry for each of 2 axes; found [2]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 2>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C8) rhs_dilation must be positive; found [1, 0]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 1, 0>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C9) window_reversal must have one entry for each of 2 axes; found 1}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_reversal = array<i1: true>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C10) batch_group_count 2 must divide the batch of lhs, 1}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C11) feature_group_count 3 must divide the features of lhs, 4}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 3 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C12) input_spatial_dimensions must have 2 entries; found [1]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C13) input dimensions must be unique; found 3 twice in [3, 1, 2, 3]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 3, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C13) input dimensions must be in [0, 4), the axes of input; found 4}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 4, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x3x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C14) the kernel must have the features of a group of lhs, 4; found 3}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x3x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<3x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C15) batch_group_count 3 must divide the output features of the kernel, 8}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 3 : i64} : (tensor<3x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x7xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C16) feature_group_count 2 must divide the output features of the kernel, 7}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x2x7xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C17) kernel_spatial_dimensions must have 2 entries; found []}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C18) kernel dimensions must be unique; found 2 twice in [2, 0, 1, 2]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C19) output_spatial_dimensions must have 2 entries; found [1, 2, 3]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2, 3]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C20) output dimensions must be in [0, 4), the axes of output; found -1}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = -1, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C21) feature_group_count must be positive; found 0}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 0 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C22) batch_group_count must be positive; found -1}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = -1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C23) feature_group_count or batch_group_count must be 1; found 2 and 2}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 2 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C24) precision_config must have an entry for lhs and one for rhs; found 1}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>]} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C25) the result must have the shape [1, 6, 6, 8]; found [1, 6, 5, 8]}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C25) padding gives axis 0 an extent that is negative}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, padding = dense<-9> : tensor<2x2xi64>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C26) the result must have the rank of lhs, 4; found 'tensor<1x6x8xf32>'}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8xi32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C27) lhs and rhs must have one element type; found 'f32', 'i32' and 'f32'}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xi32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x8x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C28) rhs must be quantized, and lhs and result both or neither; found}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x6x8x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, %k: tensor<3x3x4x2x!quant.uniform<i8:f32:2, {0.5, 0.5, 0.5, 0.5}>>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C29) the quantization dimension of rhs must be kernel_output_feature_dimension}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, tensor<3x3x4x2x!quant.uniform<i8:f32:2, {0.5, 0.5, 0.5, 0.5}>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, %k: tensor<3x3x4x2x!quant.uniform<i8:f32:3, {0.5, 0.5}>>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C30) the quantization dimension of the result must be output_feature_dimension}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, tensor<3x3x4x2x!quant.uniform<i8:f32:3, {0.5, 0.5}>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32:0, {0.5}>>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, %k: tensor<3x3x4x8x!quant.uniform<i4:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C31) lhs and rhs must have one storage type}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, tensor<3x3x4x8x!quant.uniform<i4:f32, 0.5>>) -> tensor<1x6x6x8x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, %k: tensor<3x3x4x8x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C32) operands and result must have one expressed type}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, tensor<3x3x4x8x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x6x8x!quant.uniform<i8:bf16, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, %k: tensor<3x3x4x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C33) the result must be quantized per tensor where rhs is}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4x!quant.uniform<i8:f32, 0.5>>, tensor<3x3x4x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x6x2x!quant.uniform<i8:f32:3, {0.5, 0.5}>>
  return
}

// -----

func.func @f(%x: tensor<1x8x8x4xf16>, %k: tensor<3x3x4x8x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C34) lhs and result must have the expressed type of rhs}}
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x4xf16>, tensor<3x3x4x8x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x6x8xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C1) inputs, init_values and results must be as many, and at least one; found 0 operands and 0 results}}
  "stablehlo.reduce_window"() ({
  ^bb0:
    stablehlo.return
  }) {window_dimensions = array<i64: 2, 2>} : () -> ()
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C2) inputs must have one shape; input 1 has [4, 7], input 0 has [4, 8]}}
  %0:2 = "stablehlo.reduce_window"(%x, %y, %f, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %e: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x8xf32>, tensor<4x7xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x7xf32>, tensor<3x6xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C3) init value 0 must have the input's element type 'f32'; found 'f64'}}
  %0 = "stablehlo.reduce_window"(%x, %d) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x8xf32>, tensor<f64>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C4) window_dimensions must have one entry for each of 2 axes; found [2]}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C5) window_dimensions must be positive; found [2, 0]}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 0>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C6) window_strides must have one entry for each of 2 axes; found [1]}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C7) window_strides must be positive; found [0, 1]}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 0, 1>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C8) base_dilations must have one entry for each of 2 axes; found [1, 1, 1]}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1, 1, 1>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C9) base_dilations must be positive; found [0, 1]}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 0, 1>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C10) window_dilations must have one entry for each of 2 axes; found [1]}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 1>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C11) window_dilations must be positive; found [1, -2]}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_dilations = array<i64: 1, -2>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C12) padding must have two numbers for each of 2 axes; found 'tensor<2x3xi64>'}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<2x3xi64>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C13) the body must take 2 arguments, a running value and an element for each input; found 1}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C15) result 0 must have the shape [3, 7]; found [4, 8]}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<4x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (C16) result 0 must have the body's element type 'f32'; found 'f64'}}
  %0 = "stablehlo.reduce_window"(%x, %f) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x8xf32>, tensor<f32>) -> (tensor<3x7xf64>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %f: tensor<f32>, %d: tensor<f64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op (I2) init_values must be scalars; found 'tensor<2xf32>'}}
  %0 = "stablehlo.reduce_window"(%x, %v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x8xf32>, tensor<2xf32>) -> (tensor<3x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf64>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C1) source must have the operand's element type 'f32'; found 'f64'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>} : (tensor<4x8xf32>, tensor<3x4xf64>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x5xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C2) source must have an element for each window, [3, 4]; found [3, 5]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>} : (tensor<4x8xf32>, tensor<3x5xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f64>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C3) init_value must have the operand's element type 'f32'; found 'tensor<f64>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C4) window_dimensions must have one entry for each of 2 axes; found [2]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C5) window_dimensions must be positive; found [2, -1]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, -1>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C6) window_strides must have one entry for each of 2 axes; found [2]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C7) window_strides must be positive; found [2, 0]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 0>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C8) padding must have two numbers for each of 2 axes; found 'tensor<1x2xi64>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, padding = dense<0> : tensor<1x2xi64>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C9) select must take two values of type 'tensor<f32>'; it takes 'tensor<f32>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C9) select must return tensor<i1>; found 'tensor<f32>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C10) the body must take 2 arguments, a running value and an element for each input; found 1}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C11) the result must have the operand's shape [4, 8]; found [4, 9]}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %s: tensor<3x4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op (C12) result 0 must have the body's element type 'f32'; found 'f64'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>} : (tensor<4x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf64>
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op (C1) feature_index must be in [0, 3), the axes of the operand; found 3}}
  %0 = "stablehlo.batch_norm_inference"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 3 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf64>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op (C2) scale must have the operand's element type 'f32'; found 'f64'}}
  %0 = "stablehlo.batch_norm_inference"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<4xf32>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op (C3) scale must have one number for each of the 3 features; found 'tensor<4xf32>'}}
  %0 = "stablehlo.batch_norm_inference"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<4xf32>, %v3: tensor<3xf32>, %v4: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op (C4) offset must have one number for each of the 3 features; found 'tensor<4xf32>'}}
  %0 = "stablehlo.batch_norm_inference"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>, %v3: tensor<4xf32>, %v4: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op (C5) mean must have one number for each of the 3 features; found 'tensor<4xf32>'}}
  %0 = "stablehlo.batch_norm_inference"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op (C6) variance must have one number for each of the 3 features; found 'tensor<4xf32>'}}
  %0 = "stablehlo.batch_norm_inference"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op (C2, C7) the result must have type}}
  %0 = "stablehlo.batch_norm_inference"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x5xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op (C1) feature_index must be in [0, 3), the axes of the operand; found 3}}
  %0:3 = "stablehlo.batch_norm_training"(%v0, %v1, %v2) {epsilon = 1.0e-3 : f32, feature_index = 3 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf64>, %v2: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op (C2) scale must have the operand's element type 'f32'; found 'f64'}}
  %0:3 = "stablehlo.batch_norm_training"(%v0, %v1, %v2) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf64>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<4xf32>, %v2: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op (C3) scale must have one number for each of the 3 features; found 'tensor<4xf32>'}}
  %0:3 = "stablehlo.batch_norm_training"(%v0, %v1, %v2) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op (C4) offset must have one number for each of the 3 features; found 'tensor<4xf32>'}}
  %0:3 = "stablehlo.batch_norm_training"(%v0, %v1, %v2) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op (C2, C5, C6, C7) the result must have type}}
  %0:3 = "stablehlo.batch_norm_training"(%v0, %v1, %v2) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op (C1) feature_index must be in [0, 3), the axes of the operand; found 3}}
  %0:3 = "stablehlo.batch_norm_grad"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 3 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf64>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op (C2) scale must have the operand's element type 'f32'; found 'f64'}}
  %0:3 = "stablehlo.batch_norm_grad"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<4xf32>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op (C5) scale must have one number for each of the 3 features; found 'tensor<4xf32>'}}
  %0:3 = "stablehlo.batch_norm_grad"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<4xf32>, %v3: tensor<3xf32>, %v4: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op (C4) mean must have one number for each of the 3 features; found 'tensor<4xf32>'}}
  %0:3 = "stablehlo.batch_norm_grad"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>, %v3: tensor<4xf32>, %v4: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op (C4) variance must have one number for each of the 3 features; found 'tensor<4xf32>'}}
  %0:3 = "stablehlo.batch_norm_grad"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<2x3x5xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op (C3) grad_output must have the operand's shape [2, 3, 4]; found [2, 3, 5]}}
  %0:3 = "stablehlo.batch_norm_grad"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x5xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%v0: tensor<2x3x4xf32>, %v1: tensor<3xf32>, %v2: tensor<3xf32>, %v3: tensor<3xf32>, %v4: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op (C2, C3, C4) the result must have type}}
  %0:3 = "stablehlo.batch_norm_grad"(%v0, %v1, %v2, %v3, %v4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<1x4x1xi64>, %k: tensor<2x1x1xi32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C27) lhs and rhs must have one element type; found 'i64', 'i32' and 'i64'}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi64>, tensor<2x1x1xi32>) -> tensor<1x3x1xi64>
  return
}

// -----

func.func @f(%x: tensor<1x4x1xbf16>, %k: tensor<2x1x1xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C27) lhs and rhs must have one element type; found 'bf16', 'f32' and 'f32'}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xbf16>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x1xf32>, %k: tensor<0x1x1xf32>) {
  // expected-error @+1 {{'stablehlo.convolution' op (C25) the kernel must have a positive extent on each spatial axis; found 'tensor<0x1x1xf32>'}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<0x1x1xf32>) -> tensor<1x5x1xf32>
  return
}
