// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @devices
func.func @devices(%x: tensor<2xf32>, %t: !stablehlo.token) {
  // CHECK: "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, source_target_pairs = dense<{{\[\[}}0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.recv"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %1:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>, is_host_transfer = false} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// CHECK-LABEL: func.func @host
func.func @host(%x: tensor<2xf32>, %t: !stablehlo.token) {
  // CHECK: "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 2>, is_host_transfer = true}>
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.recv"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 8, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> !stablehlo.token
  %1 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 8, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> !stablehlo.token
  // CHECK: "stablehlo.infeed"(%arg1) <{infeed_config = "c", layout = {{\[\[}}0, 1], [0]]}> : (!stablehlo.token) -> (tensor<2x2xf32>, tensor<3x!quant.uniform<i8:f32:0, {1.000000e+00,2.000000e+00,3.000000e+00}>>, !stablehlo.token)
  %2:3 = "stablehlo.infeed"(%t) {infeed_config = "c", layout = [[0, 1], [0]]} : (!stablehlo.token) -> (tensor<2x2xf32>, tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>, !stablehlo.token)
  // CHECK: "stablehlo.outfeed"(%arg0, %arg1) <{outfeed_config = "d"}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %3 = "stablehlo.outfeed"(%x, %t) {outfeed_config = "d"} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
