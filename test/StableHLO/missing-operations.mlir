// RUN: split-file %s %t
// RUN: octavo-opt %t/custom-form.mlir -verify-diagnostics
// RUN: octavo-opt %t/generic-form.mlir -verify-diagnostics
// RUN: octavo-opt %t/slip-in-custom-form.mlir -verify-diagnostics
// RUN: octavo-opt %t/slip-in-generic-form.mlir -verify-diagnostics
// RUN: octavo-opt %t/only-generic.mlir -verify-diagnostics
// RUN: octavo-opt %t/shape.mlir -verify-diagnostics
// RUN: octavo-opt %t/other-dialect.mlir -verify-diagnostics
// RUN: not octavo-opt %t/custom-forms-of-others.mlir 2>&1 | FileCheck %s
// RUN: not octavo-opt %t/attributes.mlir 2>&1 | FileCheck %s --check-prefix=ATTRIBUTES
// RUN: not octavo-opt %t/types.mlir 2>&1 | FileCheck %s --check-prefix=TYPES

//--- custom-form.mlir

func.func @custom_form(%x: tensor<2x3xf32>) {
  %0 = "chlo.first"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-note @+2 {{what the program uses and octavo does not have: chlo.first (once), sdy.constrain (once), stablehlo.second (3 times)}}
  // expected-error @+1 {{custom op 'stablehlo.second' is not among the operations that octavo has; lower it to operations that octavo has before the program is written out}}
  %1 = stablehlo.second %x : tensor<2x3xf32>
  %2:2 = stablehlo.second %x {stablehlo.third, stablehlo.fourth = "stablehlo.fifth"} : tensor<2x3xf32> // stablehlo.sixth
  %3 = stablehlo.abs %x : tensor<2x3xf32>
  func.call @stablehlo.f() : () -> ()
  %4, %5 = sdy.constrain %x {x = #stablehlo.seventh, stablehlo.x = !stablehlo.y} : tensor<2x3xf32>
  "stablehlo.if"() ({ stablehlo.second %x
    "stablehlo.return"() : () -> ()
  }) : () -> () loc("stablehlo.eighth"(#location))
  return
}

//--- generic-form.mlir

func.func @generic_form(%x: tensor<2x3xf32>) {
  // expected-note @+2 {{what the program uses and octavo does not have: chlo.second (once), sdy.first (2 times), shape.third (once), vhlo.fourth (once)}}
  // expected-error @+1 {{operation 'sdy.first' is not among the operations that octavo has; lower it}}
  %0 = "sdy.first"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "chlo.second"(%x) ({
    "sdy.first"() : () -> ()
  }) {a = #stable.b, c = #mhlo.d} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "shape.third"(%x) : (tensor<2x3xf32>) -> !shape.shape
  %3 = "vhlo.fourth"(%2) : (!shape.shape) -> !vhlo.tensor_v1
  return
}

//--- slip-in-custom-form.mlir

func.func @slip_of_the_pen(%x: tensor<2x3xf32>) {
  // expected-note @+2 {{what the program uses and octavo does not have: stablehlo.exponentiol (once)}}
  // expected-error @+1 {{custom op 'stablehlo.exponentiol' is not among the operations that octavo has; did you mean 'stablehlo.exponential'?}}
  %0 = stablehlo.exponentiol %x : tensor<2x3xf32>
  return
}

//--- slip-in-generic-form.mlir

func.func @slip_of_the_pen(%x: tensor<2x3xf32>) {
  // expected-note @+2 {{what the program uses and octavo does not have: chlo.erf_imv (once)}}
  // expected-error @+1 {{operation 'chlo.erf_imv' is not among the operations that octavo has; did you mean 'chlo.erf_inv'?}}
  %0 = "chlo.erf_imv"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

//--- only-generic.mlir

func.func @only_generic(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.sort' has only the generic form; write "stablehlo.sort"(...)}}
  %0 = stablehlo.sort %x : tensor<2x3xf32>
  return
}

//--- shape.mlir

func.func @shape(%x: tensor<2x3xf32>) {
  // expected-note @+2 {{what the program uses and octavo does not have: shape.shape_or (once)}}
  // expected-error @+1 {{operation 'shape.shape_or' is not among the operations that octavo has; did you mean 'shape.shape_of'?}}
  %0 = "shape.shape_or"(%x) : (tensor<2x3xf32>) -> tensor<2xindex>
  return
}

//--- other-dialect.mlir

func.func @other_dialect(%x: tensor<2x3xf32>) {
  // expected-note @+2 {{what the program uses and octavo does not have: other.op (once)}}
  // expected-error @+1 {{operation 'other.op' is not among the operations that octavo has}}
  %0 = "other.op"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

//--- custom-forms-of-others.mlir

// CHECK: custom-forms-of-others.mlir:5:8: error: operation 'vhlo.add_v1' is not among the operations that octavo has; VHLO is read from portable artifacts, not from text
// CHECK: note: what the program uses and octavo does not have: arith.frobnicate (once), tosa.add (2 times), vhlo.add_v1 (once)
func.func @custom_forms(%x: tensor<2x3xf32>) {
  %0 = vhlo.add_v1 %x, %x : tensor<2x3xf32>
  %1 = tosa.add %x, %x : tensor<2x3xf32>
  %2 = "tosa.add"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = arith.frobnicate %x : tensor<2x3xf32>
  return
}

//--- attributes.mlir

// ATTRIBUTES: attributes.mlir:5:44: error: attribute '#stablehlo.first' is not among those that octavo has of stablehlo
// ATTRIBUTES: note: what the program uses of stablehlo and octavo does not have: #stablehlo.first (2 times), #stablehlo.second (once)
func.func @attributes(%x: tensor<2x3xf32>) {
  %0 = stablehlo.negate %x {a = #stablehlo.first<3>} : tensor<2x3xf32>
  %1 = stablehlo.negate %0 {a = #stablehlo<second 4>, b = "#stablehlo.third", c = #other.fourth<1>} : tensor<2x3xf32>
  %2 = stablehlo.negate %1 {a = #stablehlo.first, b = #chlo.fifth} : tensor<2x3xf32> // #stablehlo.sixth
  return
}

//--- types.mlir

// TYPES: types.mlir:4:33: error: type '!stablehlo.tokens' is not among those that octavo has of stablehlo
// TYPES: note: what the program uses of stablehlo and octavo does not have: !stablehlo.promise (once), !stablehlo.tokens (once)
func.func @types(%x: !stablehlo.tokens, %y: !stablehlo.promise<tensor<f32>>, %z: !stablehlo.token) {
  return
}
