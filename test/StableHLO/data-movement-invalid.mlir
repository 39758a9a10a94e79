// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f() {
  // expected-error @+1 {{'stablehlo.constant' op (C1) the result must have type 'tensor<2xf32>'; found 'tensor<3xf32>'}}
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{(C1) the value must be a tensor of known extents; found 'vector<2xf32>'}}
  %0 = "stablehlo.constant"() {value = dense<1.0> : vector<2xf32>} : () -> tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'stablehlo.iota' op (C1) iota_dimension must be in [0, 2), the axes of the result; found 2}}
  %0 = stablehlo.iota dim = 2 : tensor<2x3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'stablehlo.iota' op (C1) iota_dimension must be in [0, 2), the axes of the result; found -1}}
  %0 = stablehlo.iota dim = -1 : tensor<2x3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'stablehlo.iota' op (C1) iota_dimension must be in [0, 0)}}
  %0 = stablehlo.iota dim = 0 : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (C1) operand and result must have one element type; found 'f32' and 'f64'}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (C2) broadcast_dimensions must have one entry for each of the operand's 2 axes; found [0]}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (C3) broadcast_dimensions must be in [0, 2), the axes of the result; found 2}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (C3) broadcast_dimensions must be in [0, 2), the axes of the result; found -1}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [-1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (C4) broadcast_dimensions must be unique; found 1 twice in [1, 1]}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (C5) axis 0 of the operand has extent 2, which must be 1 or that of axis 1 of the result, 3}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xf16>) {
  // expected-error @+1 {{'stablehlo.concatenate' op (C1) inputs must have one element type; input 1 has 'f16', input 0 has 'f32'}}
  %0 = "stablehlo.concatenate"(%x, %y) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{'stablehlo.concatenate' op (C2) inputs must have one shape except on axis 0; input 1 has [2, 4], input 0 has [2, 3]}}
  %0 = "stablehlo.concatenate"(%x, %y) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.concatenate' op (C2) inputs must have one shape except on axis 0; input 1 has [2], input 0 has [2, 3]}}
  %0 = "stablehlo.concatenate"(%x, %y) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'stablehlo.concatenate' op (C3) there must be at least one input}}
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.concatenate' op (C4) dimension must be in [0, 2), the axes of the inputs; found 2}}
  %0 = "stablehlo.concatenate"(%x) <{dimension = 2 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.concatenate' op (C4) dimension must be in [0, 0), the axes of the inputs; found 0}}
  %0 = "stablehlo.concatenate"(%x) <{dimension = 0 : i64}> : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.concatenate' op (C5, C6) the result must have type 'tensor<2x6xf32>'; found 'tensor<4x3xf32>'}}
  %0 = "stablehlo.concatenate"(%x, %x) <{dimension = 1 : i64}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<6917529027641081856x0xf32>) {
  // expected-error @+1 {{'stablehlo.concatenate' op (C6) the extent of the result on axis 0 does not fit 63 bits}}
  %0 = "stablehlo.concatenate"(%x, %x) <{dimension = 0 : i64}> : (tensor<6917529027641081856x0xf32>, tensor<6917529027641081856x0xf32>) -> tensor<1x0xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{'stablehlo.pad' op (I2) padding_value must be a scalar; found 'tensor<1xf32>'}}
  %0 = stablehlo.pad %x, %s, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f16>) {
  // expected-error @+1 {{'stablehlo.pad' op (C1) padding_value must have the operand's element type 'f32'; found 'f16'}}
  %0 = stablehlo.pad %x, %s, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.pad' op (C2) edge_padding_low, edge_padding_high and interior_padding must have one entry for each of the operand's 2 axes; found 1, 2 and 2}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.pad' op (C3) interior_padding must not be negative; found -1 on axis 1}}
  %0 = stablehlo.pad %x, %s, low = [0, 0], high = [0, 0], interior = [0, -1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.pad' op (C4) padding gives axis 0 an extent that is negative or does not fit 63 bits}}
  %0 = stablehlo.pad %x, %s, low = [-2, 0], high = [-1, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.pad' op (C4) padding gives axis 0 an extent that is negative or does not fit 63 bits}}
  %0 = stablehlo.pad %x, %s, low = [9223372036854775807, 0], high = [9223372036854775807, 0], interior = [9223372036854775807, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.pad' op (C1, C4) the result must have type 'tensor<3x3xf32>'; found 'tensor<2x3xf32>'}}
  %0 = stablehlo.pad %x, %s, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.reshape' op (C1) operand and result must have one element type; found 'f32' and 'f16'}}
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf16>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.reshape' op (C2) operand and result must have as many elements; found 6 in 'tensor<2x3xf32>' and 5 in 'tensor<5xf32>'}}
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.reverse' op (C1) the result must have type 'tensor<2x3xf32>'; found 'tensor<3x2xf32>'}}
  %0 = stablehlo.reverse %x, dims = [0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.reverse' op (C2) dimensions must be unique; found 1 twice in [1, 1]}}
  %0 = stablehlo.reverse %x, dims = [1, 1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.reverse' op (C3) dimensions must be in [0, 2), the axes of the operand; found 2}}
  %0 = stablehlo.reverse %x, dims = [2] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.reverse' op (C3) dimensions must be in [0, 2), the axes of the operand; found -1}}
  %0 = stablehlo.reverse %x, dims = [-1] : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.slice' op (C2) start_indices, limit_indices and strides must have one entry for each of the operand's 2 axes; found 1, 1 and 1}}
  %0 = stablehlo.slice %x [0:2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.slice' op (C2) start_indices, limit_indices and strides must have one entry for each of the operand's 2 axes; found 2, 2 and 1}}
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.slice' op (C3) on axis 0 the range -1:2 must lie within 0:2}}
  %0 = stablehlo.slice %x [-1:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.slice' op (C3) on axis 1 the range 2:1 must lie within 0:3}}
  %0 = stablehlo.slice %x [0:2, 2:1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.slice' op (C3) on axis 1 the range 0:4 must lie within 0:3}}
  %0 = stablehlo.slice %x [0:2, 0:4] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.slice' op (C4) strides must be positive; found 0 on axis 1}}
  %0 = stablehlo.slice %x [0:2, 0:3:0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.slice' op (C1, C5) the result must have type 'tensor<2x2xf32>'; found 'tensor<2x3xf32>'}}
  %0 = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.transpose' op (C1, C3) the result must have type 'tensor<3x2xf32>'; found 'tensor<3x2xf16>'}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf16>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.transpose' op (C2) permutation must have each of the operand's 2 axes once; found [0]}}
  %0 = stablehlo.transpose %x, dims = [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.transpose' op (C2) permutation must have each of the operand's 2 axes once; found [0, 0]}}
  %0 = stablehlo.transpose %x, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.transpose' op (C2) permutation must have each of the operand's 2 axes once; found [0, 2]}}
  %0 = stablehlo.transpose %x, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.transpose' op (C2) permutation must have each of the operand's 2 axes once; found [-1, 0]}}
  %0 = stablehlo.transpose %x, dims = [-1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.transpose' op (C2) permutation must have each of the operand's 2 axes once; found [0, 1, 2]}}
  %0 = stablehlo.transpose %x, dims = [0, 1, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.transpose' op (C1, C3) the result must have type 'tensor<3x2xf32>'; found 'tensor<2x3xf32>'}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi8>) {
  // expected-error @+1 {{'stablehlo.broadcast' op (I2) broadcast_sizes must not be negative; found [-1]}}
  %0 = stablehlo.broadcast %x, sizes = [-1] : (tensor<2xi8>) -> tensor<1x2xi8>
  return
}

// -----

func.func @f(%x: tensor<2xi8>) {
  // expected-error @+1 {{'stablehlo.broadcast' op (I1) the result must have type 'tensor<3x2xi8>'; found 'tensor<2x3xi8>'}}
  %0 = stablehlo.broadcast %x, sizes = [3] : (tensor<2xi8>) -> tensor<2x3xi8>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.reshape' op (O1) the extents of the result must be known or bounded; axis 1 of 'tensor<2x?xf32>' is not. Use stablehlo.dynamic_reshape for an extent that an operand gives}}
  %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (O1) the extents of the result must be known or bounded; axis 0 of 'tensor<?xf32>' is not. Use stablehlo.dynamic_broadcast_in_dim for an extent that an operand gives}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<?xf32>
  return
}
