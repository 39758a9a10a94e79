// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

sdy.mesh @mesh = <["a"=2]>

// Each device quantizes its part of a weight, through a computation within another and calls too.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: %arg1: tensor<48x64xf32> {octavo.parameter}
// CHECK: sdy.manual_computation(%arg0, %arg1, %cst)
// CHECK-SAME: (%arg2: tensor<8x32xf32>, %arg3: tensor<48x32xf32>, %arg4: tensor<48x64xf32>)
// CHECK: octavo.quantize %arg3, rule = floor : tensor<48x32xf32> -> !octavo.scaled<48x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
// CHECK: octavo.dot_general
// CHECK: octavo.dot_general
// CHECK: octavo.dot_general
// CHECK-NOT: stablehlo.dot_general
// REMARK: quantized: mxfp8_e4m3 x mxfp8_e4m3, weight quantized in the program: it is an argument of sdy.manual_computation
// REMARK: quantized: mxfp8_e4m3 x mxfp8_e4m3, weight quantized in the program: it is an argument of sdy.named_computation
// REMARK: quantized: mxfp8_e4m3 x mxfp8_e4m3, weight quantized in the program: it is an argument of sdy.manual_computation
func.func @parts(%x: tensor<8x64xf32>, %w: tensor<48x64xf32> {octavo.parameter}) -> tensor<8x96xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<48x64xf32>
  %0 = sdy.manual_computation(%x, %w, %c) in_shardings=[<@mesh, [{}, {"a"}]>, <@mesh, [{}, {"a"}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {"a"}]>] manual_axes={"a"} (%p: tensor<8x32xf32>, %q: tensor<48x32xf32>, %r: tensor<48x64xf32>) {
    %1 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [1] : (tensor<8x32xf32>, tensor<48x32xf32>) -> tensor<8x48xf32>
    %2 = sdy.named_computation<"f">(%p, %q) (%s: tensor<8x32xf32>, %t: tensor<48x32xf32>) {
      %4 = stablehlo.dot_general %s, %t, contracting_dims = [1] x [1] : (tensor<8x32xf32>, tensor<48x32xf32>) -> tensor<8x48xf32>
      sdy.return %4 : tensor<8x48xf32>
    } : (tensor<8x32xf32>, tensor<48x32xf32>) -> tensor<8x48xf32>
    %3 = stablehlo.dot_general %1, %r, contracting_dims = [1] x [0] : (tensor<8x48xf32>, tensor<48x64xf32>) -> tensor<8x64xf32>
    sdy.return %2 : tensor<8x48xf32>
  } : (tensor<8x64xf32>, tensor<48x64xf32>, tensor<48x64xf32>) -> tensor<8x96xf32>
  return %0 : tensor<8x96xf32>
}

// What says how a weight lies does not hide it, and a scaled tensor lies as its values did.
// CHECK-LABEL: func.func @laid_out
// CHECK-SAME: %arg1: !octavo.scaled<48x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]> {octavo.parameter, {{.*}}sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}
// CHECK: octavo.dot_general {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>}
// REMARK: quantized: mxfp8_e4m3 x mxfp8_e4m3, weight quantized when it is bound
func.func @laid_out(%x: tensor<8x64xf32>, %w: tensor<48x64xf32> {octavo.parameter, sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x48xf32> {
  %0 = sdy.sharding_constraint %w <@mesh, [{"a"}, {}]> : tensor<48x64xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>} : (tensor<8x64xf32>, tensor<48x64xf32>) -> tensor<8x48xf32>
  return %1 : tensor<8x48xf32>
}
