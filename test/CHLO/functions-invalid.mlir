// RUN: octavo-opt %s -split-input-file -verify-diagnostics

// What each function does not take, and shapes that do not broadcast.
func.func @acos(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.acos' op operand #0 must be ranked tensor of}}
  %0 = "chlo.acos"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @acosh(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.acosh' op operand #0 must be ranked tensor of}}
  %0 = "chlo.acosh"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @asin(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.asin' op operand #0 must be ranked tensor of}}
  %0 = "chlo.asin"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @asinh(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.asinh' op operand #0 must be ranked tensor of}}
  %0 = "chlo.asinh"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @atan(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.atan' op operand #0 must be ranked tensor of}}
  %0 = "chlo.atan"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @atanh(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.atanh' op operand #0 must be ranked tensor of}}
  %0 = "chlo.atanh"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @bessel_i1e(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.bessel_i1e' op operand #0 must be ranked tensor of}}
  %0 = "chlo.bessel_i1e"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @conj(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.conj' op operand #0 must be ranked tensor of}}
  %0 = "chlo.conj"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @cosh(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.cosh' op operand #0 must be ranked tensor of}}
  %0 = "chlo.cosh"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @digamma(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.digamma' op operand #0 must be ranked tensor of}}
  %0 = "chlo.digamma"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @erf_inv(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.erf_inv' op operand #0 must be ranked tensor of}}
  %0 = "chlo.erf_inv"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @lgamma(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.lgamma' op operand #0 must be ranked tensor of}}
  %0 = "chlo.lgamma"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @sinh(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.sinh' op operand #0 must be ranked tensor of}}
  %0 = "chlo.sinh"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @tan(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.tan' op operand #0 must be ranked tensor of}}
  %0 = "chlo.tan"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @is_inf(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.is_inf' op operand #0 must be ranked tensor of}}
  %0 = "chlo.is_inf"(%x) : (tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @is_neg_inf(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.is_neg_inf' op operand #0 must be ranked tensor of}}
  %0 = "chlo.is_neg_inf"(%x) : (tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @is_pos_inf(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.is_pos_inf' op operand #0 must be ranked tensor of}}
  %0 = "chlo.is_pos_inf"(%x) : (tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

func.func @next_after(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.next_after' op operand #0 must be ranked tensor of}}
  %0 = "chlo.next_after"(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @polygamma(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.polygamma' op operand #0 must be ranked tensor of}}
  %0 = "chlo.polygamma"(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @zeta(%x: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.zeta' op operand #0 must be ranked tensor of}}
  %0 = "chlo.zeta"(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @mulhi(%x: tensor<4xf32>) {
  // expected-error @+1 {{'chlo.mulhi' op operand #0 must be ranked tensor of}}
  %0 = "chlo.mulhi"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_and(%x: tensor<4xi32>, %y: tensor<3xi32>) {
  // expected-error @+1 {{'chlo.broadcast_and' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_and %x, %y : (tensor<4xi32>, tensor<3xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @broadcast_atan2(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_atan2' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_atan2 %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_divide(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_divide' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_divide %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_maximum(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_maximum' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_maximum %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_minimum(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_minimum' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_minimum %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_multiply(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_multiply' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_multiply %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_next_after(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_next_after' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_next_after %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_or(%x: tensor<4xi32>, %y: tensor<3xi32>) {
  // expected-error @+1 {{'chlo.broadcast_or' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_or %x, %y : (tensor<4xi32>, tensor<3xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @broadcast_polygamma(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_polygamma' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_polygamma %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_power(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_power' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_power %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_remainder(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_remainder' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_remainder %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_shift_left(%x: tensor<4xi32>, %y: tensor<3xi32>) {
  // expected-error @+1 {{'chlo.broadcast_shift_left' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_shift_left %x, %y : (tensor<4xi32>, tensor<3xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @broadcast_shift_right_arithmetic(%x: tensor<4xi32>, %y: tensor<3xi32>) {
  // expected-error @+1 {{'chlo.broadcast_shift_right_arithmetic' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_shift_right_arithmetic %x, %y : (tensor<4xi32>, tensor<3xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @broadcast_shift_right_logical(%x: tensor<4xi32>, %y: tensor<3xi32>) {
  // expected-error @+1 {{'chlo.broadcast_shift_right_logical' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_shift_right_logical %x, %y : (tensor<4xi32>, tensor<3xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @broadcast_subtract(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_subtract' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_subtract %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_xor(%x: tensor<4xi32>, %y: tensor<3xi32>) {
  // expected-error @+1 {{'chlo.broadcast_xor' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_xor %x, %y : (tensor<4xi32>, tensor<3xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @broadcast_zeta(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.broadcast_zeta' op extents must be equal or 1; axis 0 of the result has 3 and 4}}
  %0 = chlo.broadcast_zeta %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @top_k(%x: tensor<4xf32>) {
  // expected-error @+1 {{'chlo.top_k' op}}
  %0:2 = "chlo.top_k"(%x) <{k = 5 : i64}> : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi32>)
  return
}
