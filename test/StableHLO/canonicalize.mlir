// Operations that leave every element where it is go away; calls are inlined, private functions then
// dropped; composites are calls.
// RUN: octavo-opt %s --canonicalize | FileCheck %s
// RUN: octavo-opt %s --octavo-legalize-composites --inline --symbol-dce --cse | FileCheck %s --check-prefix=INLINE

// CHECK-LABEL: func.func @identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @identities(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.concatenate %x, dim = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = stablehlo.slice %x [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = stablehlo.transpose %x, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = stablehlo.convert %x : tensor<2x3xf32>
  %t = stablehlo.tuple %x : tuple<tensor<2x3xf32>>
  %6 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2x3xf32>>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// What only looks alike stays: axes of one extent that are swapped, a slice of an unknown extent.
// CHECK-LABEL: func.func @not_identities
// CHECK-NEXT: stablehlo.transpose
// CHECK-NEXT: stablehlo.slice
func.func @not_identities(%x: tensor<2x2xf32>, %y: tensor<?xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.slice %y [0:2] : (tensor<?xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2xf32>
}

// INLINE-NOT: @square
// INLINE-LABEL: func.func @composites
func.func @composites(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // INLINE-NEXT: %[[Y:.*]] = stablehlo.multiply %arg0, %arg0 : tensor<2xf32>
  %0 = stablehlo.composite "my.square" %x {decomposition = @square} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @square(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // INLINE-NEXT: return %[[Y]], %[[Y]]
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

func.func private @square(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
