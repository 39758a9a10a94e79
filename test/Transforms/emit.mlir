// RUN: octavo-opt %s --octavo-emit | FileCheck %s

// A bound weight is the f32 tensor that is bound to it; without octavo.quantize its parts are, each under
// its name. Results are parts too.
// CHECK-LABEL: func.func @arguments
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<4x64xf32> {octavo.name = "w", octavo.parameter},
// CHECK-SAME: %[[E:[a-z0-9]+]]: tensor<4x64xf4E2M1FN> {octavo.name = "v"},
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<4x4xf8E4M3FN> {octavo.name = "v.scales"},
// CHECK-SAME: %[[O:[a-z0-9]+]]: tensor<f32> {octavo.name = "v.outer"})
// CHECK-SAME: -> (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>, tensor<4x4xbf16>)
func.func @arguments(
    %w: !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]> {octavo.name = "w", octavo.parameter, octavo.quantize = #octavo.quantization<rule = floor>},
    %v: !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32> {octavo.name = "v"})
    -> (!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>, tensor<4x4xbf16>) {
  // The amax of each block, by floor: its exponent field less 8, the exponent of 448.
  // CHECK: stablehlo.abs %[[X]]
  // CHECK: stablehlo.reduce({{.*}}) applies stablehlo.maximum across dimensions = [1, 3] : (tensor<4x1x2x32xf32>, tensor<f32>) -> tensor<4x2xf32>
  // CHECK: stablehlo.bitcast_convert {{.*}} : (tensor<4x2xf32>) -> tensor<4x2xi32>
  // CHECK: stablehlo.shift_right_logical
  // CHECK: stablehlo.constant dense<8> : tensor<4x2xi32>
  // CHECK: %[[P:.*]] = stablehlo.bitcast_convert {{.*}} : (tensor<4x2xui8>) -> tensor<4x2xf8E8M0FNU>
  // CHECK: %[[C:.*]] = stablehlo.convert {{.*}} : (tensor<4x64xf32>) -> tensor<4x64xf8E4M3FN>
  // The dot is of convert(elements) * broadcast(convert(scales)), for v times the outer scale.
  // CHECK: %[[L:.*]] = stablehlo.convert %[[C]] : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  // CHECK: stablehlo.convert %[[P]] : (tensor<4x2xf8E8M0FNU>) -> tensor<4x2xf32>
  // CHECK: %[[LV:.*]] = stablehlo.multiply %[[L]]
  // CHECK: stablehlo.convert %[[E]] : (tensor<4x64xf4E2M1FN>) -> tensor<4x64xf32>
  // CHECK: stablehlo.convert %[[S]] : (tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  // CHECK: stablehlo.broadcast_in_dim %[[O]], dims = []
  // CHECK: %[[RV:.*]] = stablehlo.multiply
  // CHECK: %[[D:.*]] = stablehlo.dot_general %[[LV]], %[[RV]], contracting_dims = [1] x [1]
  // CHECK: %[[B:.*]] = stablehlo.convert %[[D]] : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  // CHECK: return %[[C]], %[[P]], %[[B]]
  %z = octavo.dot_general %w, %v, contracting_dims = [1] x [1]
      : (!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>,
         !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>) -> tensor<4x4xbf16>
  return %w, %z : !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>, tensor<4x4xbf16>
}

// CHECK-LABEL: func.func @converts
func.func @converts(%x: tensor<4xf16>) -> (tensor<4xf8E5M2>, tensor<4xf8E4M3FN>) {
  // CHECK-NEXT: %[[P:.*]] = stablehlo.convert %arg0 : (tensor<4xf16>) -> tensor<4xf8E5M2>
  // CHECK-NEXT: %[[W:.*]] = stablehlo.convert %arg0 : (tensor<4xf16>) -> tensor<4xf32>
  // CHECK: stablehlo.minimum %[[W]]
  // CHECK: %[[M:.*]] = stablehlo.maximum
  // CHECK-NEXT: %[[S:.*]] = stablehlo.convert %[[M]] : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  // CHECK-NEXT: return %[[P]], %[[S]]
  %0 = octavo.convert %x : tensor<4xf16> -> tensor<4xf8E5M2>
  %1 = octavo.convert %x, overflow = saturate : tensor<4xf16> -> tensor<4xf8E4M3FN>
  return %0, %1 : tensor<4xf8E5M2>, tensor<4xf8E4M3FN>
}

// Stochastic rounding: away from zero if the number is below 2^32 of the fraction between two values.
// CHECK-LABEL: func.func @at_random
func.func @at_random(%x: tensor<4xf32>, %bits: tensor<4xui32>) -> tensor<4xf8E5M2> {
  // CHECK: %[[A:.*]] = stablehlo.compare LT, %arg1, {{.*}} : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  // CHECK: %[[UP:.*]] = stablehlo.convert %[[A]] : (tensor<4xi1>) -> tensor<4xi32>
  // CHECK: stablehlo.add {{.*}}, %[[UP]]
  // CHECK: stablehlo.bitcast_convert {{.*}} : (tensor<4xui8>) -> tensor<4xf8E5M2>
  %0 = octavo.convert %x random(%bits : tensor<4xui32>), rounding = stochastic : tensor<4xf32> -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

// A function that is called takes the parts.
// CHECK-LABEL: func.func @calls
// CHECK-SAME: (%[[E:.*]]: tensor<4x64xf8E4M3FN>, %[[S:.*]]: tensor<4x2xf8E8M0FNU>)
// CHECK: call @called(%[[E]], %[[S]]) : (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> tensor<4x64xf32>
// CHECK: func.func private @called(%{{.*}}: tensor<4x64xf8E4M3FN>, %{{.*}}: tensor<4x2xf8E8M0FNU>)
func.func @calls(%x: !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>) -> tensor<4x64xf32> {
  %0 = call @called(%x) : (!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
func.func private @called(%x: !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>) -> tensor<4x64xf32> {
  %0 = octavo.dequantize %x : !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]> -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
