// RUN: not octavo run %s --backend reference 2>&1 | FileCheck %s

// Checks as most public programs spell them: the bounds are the public driver's (3 ulp, 1e-3, 1e-4).
// CHECK: @holds: 6 held, 0 failed
func.func @holds() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %ulps = stablehlo.constant dense<[0x3F800003, 2.0]> : tensor<2xf32>
  %near = stablehlo.constant dense<[1.0009, 2.0]> : tensor<2xf32>
  %nearer = stablehlo.constant dense<[1.00009, 2.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_eq(%0, %0) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_close(%ulps, %0) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_almost_eq(%near, %0) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  %ok = stablehlo.custom_call @check.eq(%nearer, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  %sharded = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{replicated}"} : (tensor<2xf32>) -> tensor<2xf32>
  stablehlo.custom_call @check.expect_eq(%sharded, %0) : (tensor<2xf32>, tensor<2xf32>) -> ()
  %erf = stablehlo.custom_call @mhlo.erf(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %same = chlo.erf %0 : tensor<2xf32> -> tensor<2xf32>
  stablehlo.custom_call @check.expect_eq(%erf, %same) : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}

// CHECK: @fails: 0 held, 4 failed
func.func @fails() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %ulps = stablehlo.constant dense<[0x3F800004, 2.0]> : tensor<2xf32>
  %near = stablehlo.constant dense<[1.0011, 2.0]> : tensor<2xf32>
  %nearer = stablehlo.constant dense<[1.00011, 2.0]> : tensor<2xf32>
  // CHECK-NEXT: {{.*}}:[[@LINE+1]]:{{.*}}1 (0x3F800000)
  stablehlo.custom_call @check.expect_eq(%ulps, %0) : (tensor<2xf32>, tensor<2xf32>) -> ()
  // CHECK-NEXT: {{.*}}:[[@LINE+1]]:{{.*}}+- 3 ulp
  stablehlo.custom_call @check.expect_close(%ulps, %0) : (tensor<2xf32>, tensor<2xf32>) -> ()
  // CHECK-NEXT: {{.*}}:[[@LINE+1]]:{{.*}}+- 0.001
  stablehlo.custom_call @check.expect_almost_eq(%near, %0) : (tensor<2xf32>, tensor<2xf32>) -> ()
  // CHECK-NEXT: {{.*}}:[[@LINE+1]]:{{.*}}+- 1e-04
  %ok = stablehlo.custom_call @check.eq(%nearer, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  return
}
