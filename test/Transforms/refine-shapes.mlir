// RUN: octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{types=tensor<3x4xf32>,tensor<4x3xf32>})" | FileCheck %s
// Extents follow from the types of the arguments: through operations, calls, loops and branches, with
// computations on shapes evaluated on the way.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32>, %[[Y:.*]]: tensor<4x3xf32>) -> (tensor<3x3xf32>, tensor<9xf32>, tensor<3x2xf32>, tensor<3x2xi32>, tensor<2x4xf32>, tensor<5x4xf32>)
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %columns = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  // The assertion holds, so it is gone.
  // CHECK-NOT: shape_assertion
  %half = func.call @divided(%columns, %c2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %twice = stablehlo.multiply %half, %c2 : tensor<i32>
  %even = stablehlo.compare EQ, %columns, %twice : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%even, %columns) {error_message = "{0} is odd", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()

  // CHECK: %[[DOT:.*]] = stablehlo.dot_general %[[X]], %[[Y]], contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %dot = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  // CHECK: %[[LOOP:.*]] = stablehlo.while(%{{.*}} = %[[DOT]]) : tensor<3x3xf32>
  %loop = stablehlo.while(%v = %dot) : tensor<?x?xf32> cond {
    %sum = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<f32>
    %more = stablehlo.compare GT, %sum, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %n = stablehlo.negate %v : tensor<?x?xf32>
    stablehlo.return %n : tensor<?x?xf32>
  }
  // CHECK: %[[FLAT:.*]] = stablehlo.reshape %[[LOOP]] : (tensor<3x3xf32>) -> tensor<9xf32>
  %count = stablehlo.multiply %rows, %rows : tensor<i32>
  %shape = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
  %flat = stablehlo.dynamic_reshape %loop, %shape : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
  // CHECK: %[[VALUES:.*]], %[[INDICES:.*]] = chlo.top_k(%[[X]], k = 2) : tensor<3x4xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  %top:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %half) : (tensor<?x?xf32>, tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
  // A branch that a constant chooses takes the place of its case.
  // CHECK-NOT: stablehlo.case
  // CHECK: %[[SLICE:.*]] = stablehlo.slice %[[X]] [1:3, 0:4] : (tensor<3x4xf32>) -> tensor<2x4xf32>
  %branch = "stablehlo.case"(%c1) ({
    stablehlo.return %x : tensor<?x?xf32>
  }, {
    %c0_list = stablehlo.reshape %c0 : (tensor<i32>) -> tensor<1xi32>
    %rows_list = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
    %columns_list = stablehlo.reshape %columns : (tensor<i32>) -> tensor<1xi32>
    %ones = stablehlo.constant dense<1> : tensor<2xi32>
    %c1_list = stablehlo.reshape %c1 : (tensor<i32>) -> tensor<1xi32>
    %start = stablehlo.concatenate %c1_list, %c0_list, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %limit = stablehlo.concatenate %rows_list, %columns_list, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %slice = stablehlo.real_dynamic_slice %x, %start, %limit, %ones : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    stablehlo.return %slice : tensor<?x?xf32>
  }) : (tensor<i32>) -> tensor<?x?xf32>
  // The function is copied for the types and the constants that it is called with.
  // CHECK: %[[PADDED:.*]] = call @padded{{.*}}(%[[X]], %{{.*}}) : (tensor<3x4xf32>, tensor<i32>) -> tensor<5x4xf32>
  %padded = func.call @padded(%x, %half) : (tensor<?x?xf32>, tensor<i32>) -> tensor<?x?xf32>
  // CHECK: return %[[LOOP]], %[[FLAT]], %[[VALUES]], %[[INDICES]], %[[SLICE]], %[[PADDED]]
  return %loop, %flat, %top#0, %top#1, %branch, %padded : tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-NOT: @divided
func.func private @divided(%n: tensor<i32>, %d: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.divide %n, %d : tensor<i32>
  return %0 : tensor<i32>
}

// CHECK: func.func private @padded{{.*}}(%{{.*}}: tensor<3x4xf32>, %{{.*}}: tensor<i32>) -> tensor<5x4xf32>
// CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [2, 0], high = [0, 0], interior = [0, 0]
func.func private @padded(%x: tensor<?x?xf32>, %n: tensor<i32>) -> tensor<?x?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %nothing = stablehlo.constant dense<0> : tensor<1xi32>
  %list = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %low = stablehlo.concatenate %list, %nothing, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_pad %x, %zero, %low, %none, %none : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
