// Kernels of which each would have to wait for the other are kept apart: the clamp reads the sum of
// an operation that is not in a kernel, which reads %b, at the place where %a and %b are computed.
// RUN: octavo run %s --backend compiled
// RUN: octavo run %s --backend compiled --explain-compile | FileCheck %s

// CHECK: kernels     3 operations in 2 kernels

func.func @main() {
  %x = stablehlo.constant dense<[1.0, 5.0, 3.0]> : tensor<3xf32>
  %y = stablehlo.constant dense<[9.0, 4.0, 6.0]> : tensor<3xf32>
  %a = stablehlo.negate %x : tensor<3xf32>
  %b = stablehlo.abs %y : tensor<3xf32>
  %c = "stablehlo.sort"(%b) ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %less = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  %d = stablehlo.clamp %a, %b, %c : tensor<3xf32>
  check.expect_eq_const %d, dense<[4.0, 4.0, 6.0]> : tensor<3xf32>
  return
}
