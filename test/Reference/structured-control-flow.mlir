// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// scf and cf.assert (I28).
// RUN: not octavo run %s --backend reference --function does_not_hold 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: not octavo run %s --backend reference --function no_step 2>&1 | FileCheck %s --check-prefix=STEP

func.func @loops() {
  %zero = arith.constant 0 : index
  %ten = arith.constant 10 : index
  %three = arith.constant 3 : index
  %start = arith.constant 100 : index
  // 0, 3, 6, 9: four turns that add up to 18.
  %sum, %turns = scf.for %i = %zero to %ten step %three iter_args(%s = %start, %n = %zero) -> (index, index) {
    %one = arith.constant 1 : index
    %a = arith.addi %s, %i : index
    %b = arith.addi %n, %one : index
    scf.yield %a, %b : index, index
  }
  %none = scf.for %i = %ten to %zero step %three iter_args(%s = %start) -> (index) {
    scf.yield %i : index
  }
  // The last value of a narrow variable does not wrap: 100, then the end.
  %low = arith.constant 100 : i8
  %high = arith.constant 127 : i8
  %step = arith.constant 100 : i8
  %last = scf.for %i = %low to %high step %step iter_args(%s = %step) -> (i8) : i8 {
    %c = arith.addi %s, %i : i8
    scf.yield %c : i8
  }
  // -28 is 228 without a sign.
  %above = arith.constant -28 : i8
  %unsigned = scf.for unsigned %i = %low to %above step %step iter_args(%s = %zero) -> (index) : i8 {
    %one = arith.constant 1 : index
    %c = arith.addi %s, %one : index
    scf.yield %c : index
  }
  %t = tensor.from_elements %sum, %turns, %none, %unsigned : tensor<4xindex>
  %u = arith.index_cast %t : tensor<4xindex> to tensor<4xi64>
  check.expect_eq_const %u, dense<[118, 4, 100, 2]> : tensor<4xi64>
  %v = tensor.from_elements %last : tensor<1xi8>
  check.expect_eq_const %v, dense<-56> : tensor<1xi8>
  return
}

// The number of steps of Collatz's from 6, and the value that ends it.
func.func @while() {
  %six = arith.constant 6 : i64
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %end, %steps = scf.while (%x = %six, %n = %zero) : (i64, i64) -> (i64, i64) {
    %goes = arith.cmpi ne, %x, %one : i64
    scf.condition(%goes) %x, %n : i64, i64
  } do {
  ^bb0(%x: i64, %n: i64):
    %rest = arith.remui %x, %two : i64
    %is_odd = arith.cmpi eq, %rest, %one : i64
    %next = scf.if %is_odd -> (i64) {
      %a = arith.muli %x, %three : i64
      %b = arith.addi %a, %one : i64
      scf.yield %b : i64
    } else {
      %a = arith.divui %x, %two : i64
      scf.yield %a : i64
    }
    %m = arith.addi %n, %one : i64
    scf.yield %next, %m : i64, i64
  }
  %t = tensor.from_elements %end, %steps : tensor<2xi64>
  check.expect_eq_const %t, dense<[1, 8]> : tensor<2xi64>
  return
}

func.func @branches() {
  %one = arith.constant 1 : index
  %a = scf.index_switch %one -> tensor<f32>
  case 0 {
    %x = stablehlo.constant dense<0.0> : tensor<f32>
    scf.yield %x : tensor<f32>
  }
  case 1 {
    %x = stablehlo.constant dense<1.0> : tensor<f32>
    scf.yield %x : tensor<f32>
  }
  default {
    %x = stablehlo.constant dense<2.0> : tensor<f32>
    scf.yield %x : tensor<f32>
  }
  check.expect_eq_const %a, dense<1.0> : tensor<f32>
  %b = scf.execute_region -> tensor<f32> {
    %x = stablehlo.add %a, %a : tensor<f32>
    scf.yield %x : tensor<f32>
  }
  check.expect_eq_const %b, dense<2.0> : tensor<f32>
  %false = arith.constant false
  scf.if %false {
    check.expect_eq_const %b, dense<3.0> : tensor<f32>
  }
  %true = arith.constant true
  cf.assert %true, "holds"
  return
}

// ASSERT: 'cf.assert': does not hold: rows must agree
func.func @does_not_hold() {
  %false = arith.constant false
  cf.assert %false, "rows must agree"
  return
}

// STEP: 'scf.for': needs a step of 1 or more; found 0
func.func @no_step() {
  %a = arith.constant 0 : i32
  %b = arith.constant 3 : i32
  scf.for %i = %a to %b step %a : i32 {
  }
  return
}
