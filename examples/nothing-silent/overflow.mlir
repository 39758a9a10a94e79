// The conversion has StableHLO's overflow, NaN; the same with OCP's mode SAT.
func.func @main() -> (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) {
  %x = stablehlo.constant dense<[448.0, 464.0, 465.0, -1000.0]> : tensor<4xf32>
  %special = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %saturated = octavo.convert %x, overflow = saturate : tensor<4xf32> -> tensor<4xf8E4M3FN>
  return %special, %saturated : tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>
}
