// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @draws
func.func @draws(%two: tensor<2xui64>, %three: tensor<3xui64>, %a: tensor<f32>, %i: tensor<i32>, %s: tensor<2xi64>) {
  // CHECK: stablehlo.rng_bit_generator
  %0, %1 = stablehlo.rng_bit_generator %two, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  // CHECK: stablehlo.rng_bit_generator
  %2, %3 = stablehlo.rng_bit_generator %three, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x2xui8>)
  // CHECK: stablehlo.rng_bit_generator
  %4, %5 = stablehlo.rng_bit_generator %two, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<i64>)
  // CHECK: stablehlo.rng
  %6 = stablehlo.rng %a, %a, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x3xf32>
  // CHECK: stablehlo.rng
  %7 = stablehlo.rng %i, %i, %s, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<?x?xi32>
  return
}
