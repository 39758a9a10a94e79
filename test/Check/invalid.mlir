// RUN: octavo-opt %s -split-input-file -verify-diagnostics

func.func @types_differ(%a: tensor<2xf32>) {
  // expected-error @+1 {{failed to verify that all of {lhs, value} have same type}}
  "check.expect_eq_const"(%a) <{value = dense<1.0> : tensor<2xbf16>}> : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @integers(%a: tensor<2xi32>) {
  // expected-error @+1 {{must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  check.expect_almost_eq %a, %a : tensor<2xi32>
  return
}

// -----

func.func @negative_tolerance(%a: tensor<2xf32>) {
  // expected-error @+1 {{needs a tolerance of at least 0}}
  check.expect_almost_eq %a, %a, tolerance = -1.0 : tensor<2xf32>
  return
}

// -----

func.func @ulps(%a: tensor<2xf32>) {
  // expected-error @+1 {{needs 0 <= min_ulp_difference <= max_ulp_difference, found 3 and 1}}
  check.expect_close %a, %a, max_ulp_difference = 1, min_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  return
}
