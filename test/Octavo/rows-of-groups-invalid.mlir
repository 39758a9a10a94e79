// RUN: octavo-opt %s -split-input-file -verify-diagnostics

func.func @r1_count(%all: tensor<11x3x7xf32>, %sizes: tensor<4xi32>) {
  // expected-error @+1 {{(R1) needs a second axis of as many places as there are sizes, found 'tensor<11x3x7xf32>' and 'tensor<4xi32>'}}
  %0 = octavo.rows_of_groups %all, %sizes : (tensor<11x3x7xf32>, tensor<4xi32>) -> tensor<11x7xf32>
  return
}

// -----

func.func @r1_axes(%all: tensor<11xf32>, %sizes: tensor<4xi32>) {
  // expected-error @+1 {{(R1) needs a second axis of as many places as there are sizes, found 'tensor<11xf32>' and 'tensor<4xi32>'}}
  %0 = octavo.rows_of_groups %all, %sizes : (tensor<11xf32>, tensor<4xi32>) -> tensor<11xf32>
  return
}

// -----

func.func @r2_shape(%all: tensor<11x3x7xf32>, %sizes: tensor<3xi32>) {
  // expected-error @+1 {{(R2) the result is 'tensor<11x7xf32>', found 'tensor<7x11xf32>'}}
  %0 = octavo.rows_of_groups %all, %sizes : (tensor<11x3x7xf32>, tensor<3xi32>) -> tensor<7x11xf32>
  return
}

// -----

func.func @r2_elements(%all: tensor<11x3x7xf32>, %sizes: tensor<3xi32>) {
  // expected-error @+1 {{(R2) the result is 'tensor<11x7xf32>', found 'tensor<11x7xbf16>'}}
  %0 = octavo.rows_of_groups %all, %sizes : (tensor<11x3x7xf32>, tensor<3xi32>) -> tensor<11x7xbf16>
  return
}
