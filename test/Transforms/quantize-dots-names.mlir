// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp8_e4m3 match=attention parameters=^params" 2>&1 | FileCheck %s
// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp8_e4m3 match=params..mlp.. parameters=^params" 2>&1 | FileCheck %s --check-prefix=WEIGHT

// Names: of the innermost location that has one; of arguments as JAX names them in locations.
// CHECK: remark: {{.*}}jit(f)/attention/dot_general (8x8x64) quantized: {{.*}}when it is bound
// CHECK: remark: {{.*}}jit(f)/mlp/dot_general (8x8x64) left: its name does not match "attention"
// WEIGHT: remark: {{.*}}jit(f)/attention/dot_general (8x8x64) left: its name does not match
// WEIGHT: remark: {{.*}}jit(f)/mlp/dot_general (8x8x64) quantized
func.func public @main(%x: tensor<8x64xf32> loc("x"), %w: tensor<64x8xf32> loc("params['attention']"), %v: tensor<64x8xf32> loc("params['mlp']")) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32> loc("jit(f)/attention/dot_general"("model.py":12:3))
  %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32> loc(fused["model.py":13:3, "jit(f)/mlp/dot_general"])
  return %1 : tensor<8x8xf32>
}
