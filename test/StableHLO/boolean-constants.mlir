// Booleans in hexadecimal: eight to a byte, as MLIR 22 prints them, and a byte for each, as newer
// MLIR does.
// RUN: split-file %s %t
// RUN: octavo-opt %t/both.mlir | FileCheck %s
// RUN: not octavo-opt %t/columns.mlir 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: not octavo-opt %t/no-booleans.mlir 2>&1 | FileCheck %s --check-prefix=NO-BOOLEANS

//--- both.mlir

// CHECK-LABEL: func.func @both
func.func @both() {
  // CHECK: dense<[true, false, false, true]>
  %0 = stablehlo.constant dense<"0x09"> : tensor<4xi1>
  // CHECK: dense<[true, false, false, true]>
  %1 = stablehlo.constant dense<"0x01000001"> : tensor<4xi1>
  // CHECK{LITERAL}: dense<[[true, false, false, true, false, true], [true, false, true, true, false, false]]>
  %2 = stablehlo.constant dense<"0x010000010001010001010000"> : tensor<2x6xi1>
  // CHECK{LITERAL}: dense<[true, false]> : vector<2xi1>
  // CHECK-SAME: dense<[1, 256]> : tensor<2xi16>
  // CHECK-SAME: "dense<\220x0100\22> : tensor<2xi1>"
  %3 = stablehlo.constant {a = dense<"0x0100"> : vector<2xi1>, b = dense<"0x01000001"> : tensor<2xi16>, c = "dense<\"0x0100\"> : tensor<2xi1>"} dense<"0x"> : tensor<0xi1>
  return
}

//--- columns.mlir

func.func @columns(%x: tensor<2xf32>) {
  // COLUMNS: columns.mlir:4:97: error: use of value '%x' expects different type
  %0 = stablehlo.constant dense<"0x00010001000100010001"> : tensor<10xi1> %1 = stablehlo.negate %x : tensor<3xf32>
  return
}

//--- no-booleans.mlir

func.func @no_booleans() {
  // NO-BOOLEANS: no-booleans.mlir:4:27: error: elements hex data size is invalid for provided type: 'tensor<4xi1>'
  %0 = stablehlo.constant dense<"0x01020001"> : tensor<4xi1>
  return
}
