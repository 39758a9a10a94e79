// RUN: octavo-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{bounds must have one entry for each of 2 axes; found 1}}
func.func private @f(tensor<?x?xf32, #stablehlo.bounds<4>>)

// -----

// expected-error @+1 {{axis 1 has the extent 3, so it has no bound; found 4}}
func.func private @f(tensor<?x3xf32, #stablehlo.bounds<4, 4>>)

// -----

// expected-error @+1 {{bounds must not be negative; found -1 for axis 0}}
func.func private @f(tensor<?xf32, #stablehlo.bounds<-1>>)

// -----

// expected-error @+1 {{unknown attribute 'limits' in dialect 'stablehlo'}}
func.func private @f(tensor<?xf32, #stablehlo.limits<4>>)

// -----

func.func @f(%x: tensor<?xf32, #stablehlo.bounds<4>>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'stablehlo.subtract' op (C1) operands and result must have one type}}
  %0 = stablehlo.subtract %x, %y : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32, #stablehlo.bounds<4>>) {
  // expected-error @+1 {{'stablehlo.slice' op (C3) on axis 0 the range 0:5 must lie within 0:4}}
  %0 = stablehlo.slice %x [0:5] : (tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<?x2xf32>, %y: tensor<3x3xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C10) contracting axes must have one extent: axis 1 of lhs has 2, axis 0 of rhs has 3}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<?x2xf32>, tensor<3x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.add' op (C2) operands and result must all be quantized or none}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x!quant.uniform<i4:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.add' op (C3) operands and result must have one storage type}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i4:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x!quant.uniform<i8:bf16, 0.5>>) {
  // expected-error @+1 {{'stablehlo.add' op (C4) operands and result must have one expressed type}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:bf16, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>, %y: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.add' op (C5) the result must be quantized per axis if and only if an operand is}}
  %0 = stablehlo.add %x, %y : (tensor<2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>, %y: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.add' op (C6) lhs and result must have one quantization dimension}}
  %0 = stablehlo.add %x, %y : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 1.0}>>
  return
}

// -----

func.func @f(%x: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>, %y: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.add' op (C7) rhs and result must have one quantization dimension}}
  %0 = stablehlo.add %y, %x : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 1.0}>>
  return
}

// -----

func.func @f(%x: tensor<2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>) {
  // expected-error @+1 {{'stablehlo.negate' op operand #0 must be ranked tensor of integer, float, complex or quantized type}}
  %0 = stablehlo.negate %x : tensor<2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>
  return
}

// -----

func.func @f(%x: tensor<1x!quant.uniform<i8:f32:0, {0.5}>>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (C6) the quantization dimension of the result must be 1}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<1x!quant.uniform<i8:f32:0, {0.5}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.5}>>
  return
}

// -----

func.func @f(%x: tensor<1x!quant.uniform<i8:f32:0, {0.5}>>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op (C6) a stretched axis must repeat the operand's one scale and zero point; entry 1 of the result differs}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1x!quant.uniform<i8:f32:0, {0.5}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>
  return
}

// -----

func.func @f(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 1.0}>>) {
  // expected-error @+1 {{'stablehlo.reshape' op (C3) the quantized axis must keep its extent, its scales and the number of elements before it}}
  %0 = stablehlo.reshape %x : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 1.0}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 1.0}>>
  return
}

// -----

func.func @f(%x: tensor<2x3x!quant.uniform<i8:f32, 0.5>>, %y: tensor<3x2xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C14) rhs must be quantized, and lhs and result both or neither}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C15) the zero points of rhs must be 0}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2xf32>, %y: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C16) the quantization dimension of rhs must not be contracted}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 1.0}>>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x!quant.uniform<i4:f32, 0.5>>, %y: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C17) lhs and rhs must have one storage type}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i4:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<2x2x!quant.uniform<i8:bf16, 0.5>>, %y: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C18) operands and result must have one expressed type}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:bf16, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %y: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C19) the result must be quantized per tensor where rhs is}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 1.0}>>
  return
}

// -----

func.func @f(%x: tensor<2x2xbf16>, %y: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C20) lhs and result must have the expressed type of rhs}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2xbf16>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'stablehlo.constant' op (C1) the result must have type 'tensor<2xi16>'}}
  %0 = stablehlo.constant() <{value = dense<7> : tensor<2xi16>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}
