// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp8_e4m3 min-size=64 match=dot exclude=secret" -verify-diagnostics | FileCheck %s

// Each of these dots stays as it is, and says why.
// CHECK-NOT: octavo.dot_general

func.func @types(%a: tensor<8x64xf64>, %b: tensor<64x8xf64> {octavo.parameter}, %c: tensor<8x64xi32>, %d: tensor<64x8xi32> {octavo.parameter}, %e: tensor<8x64xf8E4M3FN>, %f: tensor<64x8xf8E4M3FN> {octavo.parameter}, %x: tensor<8x64xf32>, %y: tensor<64x8xf32> {octavo.parameter}) {
  // expected-remark @+1 {{(8x8x64) left: operands of f64; scaled formats are made of f32, bf16 and f16}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x64xf64>, tensor<64x8xf64>) -> tensor<8x8xf64>
  // expected-remark @+1 {{left: operands of i32}}
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<8x64xi32>, tensor<64x8xi32>) -> tensor<8x8xi32>
  // expected-remark @+1 {{left: operands of f8E4M3FN are narrow already}}
  %2 = stablehlo.dot_general %e, %f, contracting_dims = [1] x [0] : (tensor<8x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>) -> tensor<8x8xf32>
  // expected-remark @+1 {{left: a result of f64; scaled dots give f32, bf16 and f16}}
  %3 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf64>
  // expected-remark @+1 {{left: it names its own algorithm}}
  %4 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  return
}

func.func @shapes(%x: tensor<8x4x?xf32>, %y: tensor<4x?x8xf32> {octavo.parameter}, %k: tensor<8x0xf32>, %l: tensor<0x8xf32> {octavo.parameter}, %m: tensor<0x64xf32>, %n: tensor<64x8xf32> {octavo.parameter}) {
  // expected-remark @+1 {{left: it contracts 2 axes, and its extents are not all known}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1, 2] x [0, 1] : (tensor<8x4x?xf32>, tensor<4x?x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{left: it contracts no axis, along which blocks would lie}}
  %1 = stablehlo.dot_general %n, %n, contracting_dims = [] x [] : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8x64x8xf32>
  // expected-remark @+1 {{left: the contracted axis has no elements}}
  %2 = stablehlo.dot_general %k, %l, contracting_dims = [1] x [0] : (tensor<8x0xf32>, tensor<0x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{left: its result has no elements}}
  %3 = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<0x64xf32>, tensor<64x8xf32>) -> tensor<0x8xf32>
  return
}

func.func @choice(%x: tensor<8x32xf32>, %w: tensor<32x1xf32> {octavo.parameter}, %v: tensor<32x8xf32> {octavo.name = "secret.weight", octavo.parameter}, %u: tensor<32x8xf32>) {
  // expected-remark @+1 {{left: its weight has 32 elements, fewer than 64}}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x1xf32>) -> tensor<8x1xf32>
  // expected-remark @+1 {{left: its name is excluded by "secret"}}
  %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  // An argument that nothing marks is no weight.
  // expected-remark @+1 {{left: both operands are activations}}
  %2 = stablehlo.dot_general %x, %u, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  // A weight that something computes is none any more.
  %3 = stablehlo.negate %v : tensor<32x8xf32>
  // expected-remark @+1 {{left: its weight "secret.weight" comes to it through stablehlo.negate, which computes an activation: do that before the weight is stored or bound, or take dots of two activations, too}}
  %4 = stablehlo.dot_general %x, %3, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  // It is told of what is computed of weights alone, and of weights that something is put beside.
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.pad %v, %zero, low = [0, 0], high = [0, 8], interior = [0, 0] : (tensor<32x8xf32>, tensor<f32>) -> tensor<32x16xf32>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
  // expected-remark @+1 {{its weight "secret.weight" comes to it through stablehlo.pad, which}}
  %7 = stablehlo.dot_general %x, %6, contracting_dims = [1] x [1] : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<32x8xf32>
  %8 = stablehlo.compare GT, %u, %zeros : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xi1>
  %9 = stablehlo.select %8, %v, %zeros : tensor<32x8xi1>, tensor<32x8xf32>
  // expected-remark @+1 {{its weight "secret.weight" comes to it through stablehlo.select, which}}
  %10 = stablehlo.dot_general %x, %9, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  %11 = stablehlo.multiply %v, %u : tensor<32x8xf32>
  // expected-remark @+1 {{left: both operands are activations}}
  %12 = stablehlo.dot_general %x, %11, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  return
}

func.func @through_a_call(%x: tensor<8x32xf32>, %w: tensor<32x8xf32> {octavo.name = "kept", octavo.parameter}) {
  %0 = func.call @doubled(%w) : (tensor<32x8xf32>) -> tensor<32x8xf32>
  // expected-remark @+1 {{its weight "kept" comes to it through stablehlo.add, which}}
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  return
}

func.func private @doubled(%w: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %0 = stablehlo.add %w, %w : tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}

func.func @huge(%x: tensor<8x4294967296xf32>, %w: tensor<4294967296x33554432xf32> {octavo.parameter}) {
  // expected-remark @+1 {{left: an operand has more elements than a scaled tensor can have}}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4294967296xf32>, tensor<4294967296x33554432xf32>) -> tensor<8x33554432xf32>
  return
}
