// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.cbrt' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.cbrt"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.ceil' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.ceil"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.cosine' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.cosine"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.exponential' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.exponential"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.exponential_minus_one' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.exponential_minus_one"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.floor' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.floor"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.log' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.log"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.log_plus_one' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.log_plus_one"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.logistic' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.logistic"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.negate' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.negate"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.round_nearest_afz' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.round_nearest_afz"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.round_nearest_even' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.round_nearest_even"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.rsqrt' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.rsqrt"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.sign' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.sign"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.sine' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.sine"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.sqrt' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.sqrt"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.tanh' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<3x2xf32>'}}
  %0 = "stablehlo.tanh"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi1>) {
  // expected-error @+1 {{'stablehlo.not' op (C1) operands and result must have one type}}
  %0 = "stablehlo.not"(%x) : (tensor<2xi1>) -> tensor<2xi8>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) {
  // expected-error @+1 {{'stablehlo.add' op (C1) operands and result must have one type; found 'tensor<2x3xbf16>' and 'tensor<2x3xf32>'}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) {
  // expected-error @+1 {{'stablehlo.divide' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<2x3xbf16>'}}
  %0 = "stablehlo.divide"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) {
  // expected-error @+1 {{'stablehlo.maximum' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<2x3xbf16>'}}
  %0 = "stablehlo.maximum"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) {
  // expected-error @+1 {{'stablehlo.minimum' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<2x3xbf16>'}}
  %0 = "stablehlo.minimum"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) {
  // expected-error @+1 {{'stablehlo.multiply' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<2x3xbf16>'}}
  %0 = "stablehlo.multiply"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) {
  // expected-error @+1 {{'stablehlo.power' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<2x3xbf16>'}}
  %0 = "stablehlo.power"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) {
  // expected-error @+1 {{'stablehlo.remainder' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<2x3xbf16>'}}
  %0 = "stablehlo.remainder"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xbf16>) {
  // expected-error @+1 {{'stablehlo.subtract' op (C1) operands and result must have one type; found 'tensor<2x3xf32>' and 'tensor<2x3xbf16>'}}
  %0 = "stablehlo.subtract"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2xi8>, %y: tensor<2xui8>) {
  // expected-error @+1 {{'stablehlo.and' op (C1) operands and result must have one type}}
  %0 = "stablehlo.and"(%x, %y) : (tensor<2xi8>, tensor<2xui8>) -> tensor<2xi8>
  return
}

// -----

func.func @f(%x: tensor<2xi8>, %y: tensor<2xui8>) {
  // expected-error @+1 {{'stablehlo.or' op (C1) operands and result must have one type}}
  %0 = "stablehlo.or"(%x, %y) : (tensor<2xi8>, tensor<2xui8>) -> tensor<2xi8>
  return
}

// -----

func.func @f(%x: tensor<2xi8>, %y: tensor<2xui8>) {
  // expected-error @+1 {{'stablehlo.xor' op (C1) operands and result must have one type}}
  %0 = "stablehlo.xor"(%x, %y) : (tensor<2xi8>, tensor<2xui8>) -> tensor<2xi8>
  return
}

// -----

func.func @f(%x: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.floor' op operand #0 must be ranked tensor of float or quantized type, but got 'tensor<2xi32>'}}
  %0 = stablehlo.floor %x : tensor<2xi32>
  return
}

// -----

func.func @f(%x: tensor<2xui32>) {
  // expected-error @+1 {{must be ranked tensor of signed integer, float, complex or quantized type, but got 'tensor<2xui32>'}}
  %0 = stablehlo.sign %x : tensor<2xui32>
  return
}

// -----

func.func @f(%x: tensor<*xf32>) {
  // expected-error @+1 {{but got 'tensor<*xf32>'}}
  %0 = stablehlo.add %x, %x : tensor<*xf32>
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error @+1 {{but got 'f32'}}
  %0 = stablehlo.add %x, %x : f32
  return
}

// -----

func.func @f(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error @+1 {{must be ranked tensor}}
  %0 = stablehlo.negate %x : tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @f(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.abs' op (C1, C2) the result must have type 'tensor<2xf32>'; found 'tensor<2xcomplex<f32>>'}}
  %0 = "stablehlo.abs"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.clamp' op (C1) min must be a scalar or have the shape [2, 3] of the operand; found [2]}}
  %0 = "stablehlo.clamp"(%s, %x, %x) : (tensor<2xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<3x2xf32>) {
  // expected-error @+1 {{'stablehlo.clamp' op (C2) max must be a scalar or have the shape [2, 3] of the operand; found [3, 2]}}
  %0 = "stablehlo.clamp"(%x, %x, %s) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f16>) {
  // expected-error @+1 {{'stablehlo.clamp' op (C3) min must have the operand's element type 'f32'; found 'f16'}}
  %0 = "stablehlo.clamp"(%s, %x, %x) : (tensor<f16>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.clamp' op (C4) the result must have type 'tensor<2x3xf32>'; found 'tensor<2x3xf16>'}}
  %0 = "stablehlo.clamp"(%x, %x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xf16>) {
  // expected-error @+1 {{'stablehlo.compare' op (C1) operands must have one element type; found 'f32' and 'f16'}}
  %0 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.compare' op (C2) operands must have one shape; found [2, 3] and [3]}}
  %0 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.compare' op (C2) the result must have type 'tensor<2x3xi1>'; found 'tensor<6xi1>'}}
  %0 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<6xi1>
  return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.compare' op (C3) elements of type 'f32' are compared as FLOAT or TOTALORDER; found SIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, SIGNED : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.compare' op (C3) elements of type 'i32' are compared as SIGNED; found UNSIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, UNSIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<2xui8>) {
  // expected-error @+1 {{'stablehlo.compare' op (C3) elements of type 'ui8' are compared as UNSIGNED; found FLOAT}}
  %0 = stablehlo.compare EQ, %x, %x, FLOAT : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<2xi1>) {
  // expected-error @+1 {{'stablehlo.compare' op (C3) elements of type 'i1' are compared as UNSIGNED; found SIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, SIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.compare' op (C3) elements of type 'complex<f32>' are compared as FLOAT; found TOTALORDER}}
  %0 = stablehlo.compare EQ, %x, %x, TOTALORDER : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected one of EQ, NE, GE, GT, LE, LT; found 'LESS'}}
  %0 = stablehlo.compare LESS, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected one of NOTYPE, FLOAT, TOTALORDER, SIGNED, UNSIGNED; found 'SOMEHOW'}}
  %0 = stablehlo.compare LT, %x, %x, SOMEHOW : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.convert' op (C1) operand and result must have one shape; found [2, 3] and [3, 2]}}
  %0 = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<3x2xbf16>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op (C1) the shape of 'tensor<3x2xi32>' must be [2, 3], that of 'tensor<2x3xf32>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op (C1) the shape of 'tensor<2x3x2xi8>' must be [2, 3, 4], that of the wider elements and an axis of their parts: 'tensor<2x3xf32>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3x2xi8>
  return
}

// -----

func.func @f(%x: tensor<2x3xi8>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op (C1) the shape of 'tensor<2x3xi8>' must be [2, 4]}}
  %0 = stablehlo.bitcast_convert %x : (tensor<2x3xi8>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf6E2M3FN>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op (C1) an element of 8 bits is not a whole number of elements of 6}}
  %0 = stablehlo.bitcast_convert %x : (tensor<2x4xf6E2M3FN>) -> tensor<2x3xi8>
  return
}

// -----

func.func @f(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op (C2) operand and result must both be complex or neither}}
  %0 = stablehlo.bitcast_convert %x : (tensor<2xcomplex<f32>>) -> tensor<2xi64>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.is_finite' op (C1) the result must have type 'tensor<2x3xi1>'; found 'tensor<6xi1>'}}
  %0 = stablehlo.is_finite %x : (tensor<2x3xf32>) -> tensor<6xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op (C1) the result must have type 'tensor<2x3xf32>'; found 'tensor<2x3xf16>'}}
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 5 : i32, mantissa_bits = 2 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op (C2) exponent_bits must be at least 1; found 0}}
  %0 = stablehlo.reduce_precision %x, format = e0m2 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op (C3) mantissa_bits must not be negative; found -1}}
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 5 : i32, mantissa_bits = -1 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a format such as e5m2: the exponent's bits and the trailing significand's; found 'm2e5'}}
  %0 = stablehlo.reduce_precision %x, format = m2e5 : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %p: tensor<3xi1>) {
  // expected-error @+1 {{'stablehlo.select' op (C1) pred must be a scalar or have the shape [2, 3] of on_true; found [3]}}
  %0 = stablehlo.select %p, %x, %x : tensor<3xi1>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xf16>, %p: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.select' op (C2) on_true and on_false must have one type; found 'tensor<2x3xf32>' and 'tensor<2x3xf16>'}}
  %0 = stablehlo.select %p, %x, %y : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.select' op (C2) the result must have type 'tensor<2x3xf32>'; found 'tensor<6xf32>'}}
  %0 = stablehlo.select %p, %x, %x : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected 2 operand type(s) and 1 result type(s); found 1 and 1}}
  %0 = stablehlo.add %x, %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.count_leading_zeros' op (C1) operands and result must have one type; found 'tensor<4xi8>' and 'tensor<5xi8>'}}
  %0 = stablehlo.count_leading_zeros %i : (tensor<4xi8>) -> tensor<5xi8>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of integer type, but got 'tensor<4xi1>'}}
  %0 = stablehlo.count_leading_zeros %p : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.popcnt' op (C1) operands and result must have one type; found 'tensor<4xi8>' and 'tensor<5xi8>'}}
  %0 = stablehlo.popcnt %i : (tensor<4xi8>) -> tensor<5xi8>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of integer type, but got 'tensor<4xi1>'}}
  %0 = stablehlo.popcnt %p : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.shift_left' op (C1) operands and result must have one type; found 'tensor<4xi8>' and 'tensor<5xi8>'}}
  %0 = stablehlo.shift_left %i, %i : (tensor<4xi8>, tensor<4xi8>) -> tensor<5xi8>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.shift_right_arithmetic' op (C1) operands and result must have one type; found 'tensor<4xi8>' and 'tensor<5xi8>'}}
  %0 = stablehlo.shift_right_arithmetic %i, %i : (tensor<4xi8>, tensor<4xi8>) -> tensor<5xi8>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.shift_right_logical' op (C1) operands and result must have one type; found 'tensor<4xi8>' and 'tensor<5xi8>'}}
  %0 = stablehlo.shift_right_logical %i, %i : (tensor<4xi8>, tensor<4xi8>) -> tensor<5xi8>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.atan2' op (C1) operands and result must have one type; found 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = stablehlo.atan2 %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.tan' op (C1) operands and result must have one type; found 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = stablehlo.tan %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{atol, rtol and ulps belong to the mode TOLERANCE; found them with HIGHEST}}
  %0 = stablehlo.tan %x {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{atol, rtol and ulps must not be negative}}
  %0 = stablehlo.tan %x {result_accuracy = #stablehlo.result_accuracy<ulps = -2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.map' op (C1) inputs and result must have one shape; found 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.map' op (C2) there must be at least one input}}
  %0 = "stablehlo.map"() ({
  ^bb0:
    %1 = stablehlo.constant dense<1.0> : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {dimensions = array<i64>} : () -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.map' op (C3) dimensions must be all axes of the inputs in order; found [1]}}
  %0 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.map' op (C4) the computation must take a scalar of each input, 'tensor<f32>'; it takes 'tensor<f64>'}}
  %0 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f64>):
    stablehlo.return %a : tensor<f64>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi8>, %j: tensor<5xi8>, %p: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.map' op (C4) the computation must return 'tensor<f64>'; found 'tensor<f32>'}}
  %0 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf64>
  return
}
