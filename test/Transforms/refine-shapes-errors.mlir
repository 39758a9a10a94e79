// RUN: not octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{types=tensor<3xf32>})" 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{types=tensor<3x4xf32>})" 2>&1 | FileCheck %s --check-prefix=MISFIT
// RUN: not octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{types=tensor<3xf32>,tensor<3xf32>})" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{function=other})" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{function=recursive types=tensor<3xf32>})" 2>&1 | FileCheck %s --check-prefix=RECURSIVE

// MISFIT: error: 'func.func' op argument 0 has the type 'tensor<?xf32>', which 'tensor<3x4xf32>' does not fit
// COUNT: error: 'func.func' op takes 1 arguments; 2 types were given
// MISSING: error: octavo-refine-shapes: there is no function @other to refine; name one with the option function
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %rest = stablehlo.remainder %n, %c2 : tensor<i32>
  %even = stablehlo.compare EQ, %rest, %c0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // ODD: error: {{.*}}:[[@LINE+1]]:3: 'stablehlo.custom_call': the size 3 is odd: 3 % 2 = 1, not {2}
  stablehlo.custom_call @shape_assertion(%even, %n, %rest) {error_message = "the size {0} is odd: {0} % 2 = {1}, not {2}", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  return %x : tensor<?xf32>
}

// RECURSIVE: error: calls nest deeper than 256; is the program recursive?
func.func @recursive(%x: tensor<?xf32>) -> tensor<?xf32> {
  %one = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %0 = func.call @recursive(%one) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
