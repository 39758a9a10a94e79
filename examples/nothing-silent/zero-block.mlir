// A block of zeros, quantized by OCP's rule and by XLA's.
!mx = !octavo.scaled<1x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @main() -> (tensor<1x32xf32>, tensor<1x1xf8E8M0FNU>, tensor<1x32xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<1x32xf32>
  %quantized = octavo.quantize %zeros, rule = floor : tensor<1x32xf32> -> !mx
  %ocp = octavo.dequantize %quantized : !mx -> tensor<1x32xf32>
  %codes, %scale = stablehlo.custom_call @__op$quantize(%zeros) : (tensor<1x32xf32>) -> (tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>)
  %xla = stablehlo.custom_call @__op$dequantize(%codes, %scale) : (tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>) -> tensor<1x32xf32>
  return %ocp, %scale, %xla : tensor<1x32xf32>, tensor<1x1xf8E8M0FNU>, tensor<1x32xf32>
}
