// RUN: octavo run %s --backend reference --json | FileCheck %s
// tensor and shape: extents as numbers (I28). Functions that fail are asked for by name.
// RUN: not octavo run %s --backend reference --function not_broadcastable 2>&1 | FileCheck %s --check-prefix=BROADCAST
// RUN: not octavo run %s --backend reference --function not_equal 2>&1 | FileCheck %s --check-prefix=EQUAL
// RUN: not octavo run %s --backend reference --function required 2>&1 | FileCheck %s --check-prefix=REQUIRED
// RUN: not octavo run %s --backend reference --function beyond_rank 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not octavo run %s --backend reference --function beyond_extent 2>&1 | FileCheck %s --check-prefix=EXTENT
// RUN: not octavo run %s --backend reference --function wrong_cast 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not octavo run %s --backend reference --function wrong_reshape 2>&1 | FileCheck %s --check-prefix=RESHAPE
// CHECK-COUNT-3: "failed": []

func.func @tensors() {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  %open = tensor.cast %x : tensor<2x3xf32> to tensor<?x3xf32>
  %rows = tensor.dim %open, %0 : tensor<?x3xf32>
  %columns = tensor.dim %open, %1 : tensor<?x3xf32>
  %rank = tensor.rank %open : tensor<?x3xf32>
  %numbers = tensor.from_elements %rows, %columns, %rank : tensor<3xindex>
  %integers = arith.index_cast %numbers : tensor<3xindex> to tensor<3xi32>
  check.expect_eq_const %integers, dense<[2, 3, 2]> : tensor<3xi32>
  %element = tensor.extract %x[%1, %2] : tensor<2x3xf32>
  %splat = tensor.splat %element[%rows] : tensor<?x2xf32>
  %known = tensor.cast %splat : tensor<?x2xf32> to tensor<2x2xf32>
  check.expect_eq_const %known, dense<6.0> : tensor<2x2xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  check.expect_eq_const %flat, dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %again = tensor.expand_shape %flat [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  check.expect_eq_const %again, dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %shape = tensor.from_elements %columns, %rows : tensor<2xindex>
  %reshaped = tensor.reshape %x(%shape) : (tensor<2x3xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %third = tensor.cast %reshaped : tensor<?x?xf32> to tensor<3x2xf32>
  check.expect_eq %third, %again : tensor<3x2xf32>
  return
}

func.func @extent_tensors() {
  %x = stablehlo.constant dense<0.0> : tensor<4x1x3xf32>
  %a = shape.shape_of %x : tensor<4x1x3xf32> -> tensor<3xindex>
  %b = shape.const_shape [5, 1] : tensor<2xindex>
  %ok = shape.cstr_broadcastable %a, %b : tensor<3xindex>, tensor<2xindex>
  %common = shape.assuming %ok -> (tensor<3xindex>) {
    %s = shape.broadcast %a, %b : tensor<3xindex>, tensor<2xindex> -> tensor<3xindex>
    shape.assuming_yield %s : tensor<3xindex>
  }
  %integers = arith.index_cast %common : tensor<3xindex> to tensor<3xi64>
  check.expect_eq_const %integers, dense<[4, 5, 3]> : tensor<3xi64>
  %count = shape.num_elements %common : tensor<3xindex> -> index
  %one = arith.constant 1 : index
  %middle = shape.get_extent %common, %one : tensor<3xindex>, index -> index
  %rank = shape.rank %common : tensor<3xindex> -> index
  %found = tensor.from_elements %count, %middle, %rank : tensor<3xindex>
  %numbers = arith.index_cast %found : tensor<3xindex> to tensor<3xi64>
  check.expect_eq_const %numbers, dense<[60, 5, 3]> : tensor<3xi64>
  %is = shape.is_broadcastable %a, %b : tensor<3xindex>, tensor<2xindex>
  %equal = shape.shape_eq %a, %common : tensor<3xindex>, tensor<3xindex>
  %both = tensor.from_elements %is, %equal : tensor<2xi1>
  check.expect_eq_const %both, dense<[true, false]> : tensor<2xi1>
  return
}

func.func @shapes_and_sizes() {
  %x = stablehlo.constant dense<0.0> : tensor<4x1x3xf32>
  %shape = shape.shape_of %x : tensor<4x1x3xf32> -> !shape.shape
  %size = shape.num_elements %shape : !shape.shape -> !shape.size
  %five = shape.const_size 5
  %sum = shape.add %size, %five : !shape.size, !shape.size -> !shape.size
  %product = shape.mul %size, %five : !shape.size, !shape.size -> !shape.size
  %minus = arith.constant -5 : index
  %quotient = shape.div %size, %minus : !shape.size, index -> !shape.size
  %a = shape.size_to_index %sum : !shape.size
  %b = shape.size_to_index %product : !shape.size
  %c = shape.size_to_index %quotient : !shape.size
  %extents = shape.from_extents %a, %b : index, index
  %twice = shape.concat %extents, %shape : !shape.shape, !shape.shape -> !shape.shape
  %flat = shape.to_extent_tensor %twice : !shape.shape -> tensor<5xindex>
  %integers = arith.index_cast %flat : tensor<5xindex> to tensor<5xi64>
  check.expect_eq_const %integers, dense<[17, 60, 4, 1, 3]> : tensor<5xi64>
  // 12 / -5, towards minus infinity.
  %d = tensor.from_elements %c : tensor<1xindex>
  %e = arith.index_cast %d : tensor<1xindex> to tensor<1xi64>
  check.expect_eq_const %e, dense<-3> : tensor<1xi64>
  return
}

// BROADCAST: 'shape.cstr_broadcastable': the shapes [2, 3] and [4] do not broadcast to one
func.func @not_broadcastable() {
  %a = shape.const_shape [2, 3] : tensor<2xindex>
  %b = shape.const_shape [4] : tensor<1xindex>
  %ok = shape.cstr_broadcastable %a, %b : tensor<2xindex>, tensor<1xindex>
  return
}

// EQUAL: 'shape.cstr_eq': the shapes differ
func.func @not_equal() {
  %a = shape.const_shape [2, 3] : tensor<2xindex>
  %b = shape.const_shape [4] : tensor<1xindex>
  %ok = shape.cstr_eq %a, %b : tensor<2xindex>, tensor<1xindex>
  return
}

// REQUIRED: 'shape.cstr_require': more than one row
func.func @required() {
  %no = arith.constant false
  %ok = shape.cstr_require %no, "more than one row"
  return
}

// RANK: 'tensor.dim': asks for axis 1 of tensor<2xf32>
func.func @beyond_rank() {
  %x = stablehlo.constant dense<0.0> : tensor<2xf32>
  %i = arith.constant 1 : index
  %n = tensor.dim %x, %i : tensor<2xf32>
  return
}

// EXTENT: 'tensor.extract': extracts element 2 on axis 0 of tensor<2xf32>
func.func @beyond_extent() {
  %x = stablehlo.constant dense<0.0> : tensor<2xf32>
  %i = arith.constant 2 : index
  %e = tensor.extract %x[%i] : tensor<2xf32>
  return
}

// CAST: 'tensor.cast': result: expected tensor<3xf32>, found tensor<2xf32>
func.func @wrong_cast() {
  %x = stablehlo.constant dense<0.0> : tensor<2xf32>
  %open = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
  %y = tensor.cast %open : tensor<?xf32> to tensor<3xf32>
  return
}

// RESHAPE: 'tensor.reshape': cannot give tensor<2xf32> the shape [3]
func.func @wrong_reshape() {
  %x = stablehlo.constant dense<0.0> : tensor<2xf32>
  %s = shape.const_shape [3] : tensor<1xindex>
  %y = tensor.reshape %x(%s) : (tensor<2xf32>, tensor<1xindex>) -> tensor<?xf32>
  return
}
