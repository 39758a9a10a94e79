// RUN: octavo-opt %s -split-input-file -verify-diagnostics

func.func @types_differ(%a: tensor<2xf32>) {
  // expected-error @+1 {{failed to verify that all of {lhs, value} have same type}}
  "check.expect_eq_const"(%a) <{value = dense<1.0> : tensor<2xbf16>}> : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @integers(%a: tensor<2xi32>) {
  // expected-error @+1 {{must be ranked tensor of floating-point or complex-type values, but got 'tensor<2xi32>'}}
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
  // expected-error @+1 {{needs min_ulp_difference <= max_ulp_difference, found 3 and 1}}
  check.expect_close %a, %a, max_ulp_difference = 1, min_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @negative_ulps(%a: tensor<2xf32>) {
  // expected-error @+1 {{negative integer literal not valid for unsigned integer type}}
  check.expect_close %a, %a, max_ulp_difference = -1 : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @iteration(%a: tensor<2xf32>) {
  // expected-error @+1 {{integer constant out of range for attribute}}
  check.expect_serialized_eq %a, probe_id = "p", iter = 4294967296 : tensor<2xf32>
  return
}
