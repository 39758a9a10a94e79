// f32 to FP8 and back: XLA's excess precision removes the pair on GPU.
func.func @main() -> tensor<4xf32> {
  %x = stablehlo.constant dense<[0.1, 1.03, 3.3, 100.7]> : tensor<4xf32>
  %q = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %y = stablehlo.convert %q : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
