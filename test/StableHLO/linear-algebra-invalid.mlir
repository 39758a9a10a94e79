// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %r: tensor<3x4xf32>, %d: tensor<3x4xf64>, %t: tensor<2x3x3xf32>, %u: tensor<5x3x3xf32>) {
  // expected-error @+1 {{'stablehlo.cholesky' op (C1) the result must have type 'tensor<3x3xf32>'; found 'tensor<3x4xf32>'}}
  %0 = stablehlo.cholesky %x : (tensor<3x3xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %r: tensor<3x4xf32>, %d: tensor<3x4xf64>, %t: tensor<2x3x3xf32>, %u: tensor<5x3x3xf32>) {
  // expected-error @+1 {{'stablehlo.cholesky' op (C2) a must have at least two axes; found 'tensor<3xf32>'}}
  %0 = stablehlo.cholesky %v : tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %r: tensor<3x4xf32>, %d: tensor<3x4xf64>, %t: tensor<2x3x3xf32>, %u: tensor<5x3x3xf32>) {
  // expected-error @+1 {{'stablehlo.cholesky' op (C3) the last two axes of a must have one extent; found 'tensor<3x4xf32>'}}
  %0 = stablehlo.cholesky %r : tensor<3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %r: tensor<3x4xf32>, %d: tensor<3x4xf64>, %t: tensor<2x3x3xf32>, %u: tensor<5x3x3xf32>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op (C1) a and b must have one element type; found 'f32' and 'f64'}}
  %0 = "stablehlo.triangular_solve"(%x, %d) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x4xf64>) -> tensor<3x4xf64>
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %r: tensor<3x4xf32>, %d: tensor<3x4xf64>, %t: tensor<2x3x3xf32>, %u: tensor<5x3x3xf32>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op (C2) a and b must have one rank, 2 or more; found 2 and 1}}
  %0 = "stablehlo.triangular_solve"(%x, %v) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %r: tensor<3x4xf32>, %d: tensor<3x4xf64>, %t: tensor<2x3x3xf32>, %u: tensor<5x3x3xf32>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op (C3) a and b must have one extent on batch axis 0; found 2 and 5}}
  %0 = "stablehlo.triangular_solve"(%t, %u) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x3x3xf32>, tensor<5x3x3xf32>) -> tensor<5x3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %r: tensor<3x4xf32>, %d: tensor<3x4xf64>, %t: tensor<2x3x3xf32>, %u: tensor<5x3x3xf32>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op (C3) a must be square and have the extent of b on its last axis, 4; found 'tensor<3x3xf32>'}}
  %0 = "stablehlo.triangular_solve"(%x, %r) {left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %r: tensor<3x4xf32>, %d: tensor<3x4xf64>, %t: tensor<2x3x3xf32>, %u: tensor<5x3x3xf32>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op (C4) the result must have type 'tensor<3x4xf32>'; found 'tensor<3x5xf32>'}}
  %0 = "stablehlo.triangular_solve"(%x, %r) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>, %v: tensor<3xf32>, %r: tensor<3x4xf32>, %d: tensor<3x4xf64>, %t: tensor<2x3x3xf32>, %u: tensor<5x3x3xf32>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op (I6) transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT}}
  %0 = "stablehlo.triangular_solve"(%x, %r) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>} : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}
