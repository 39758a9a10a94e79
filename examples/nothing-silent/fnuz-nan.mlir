// NaN, infinity and too large a number in a format whose only NaN is the code of -0.
func.func @main() -> (tensor<4xf8E4M3FNUZ>, tensor<4xui8>) {
  %x = stablehlo.constant dense<[0x7FC00000, 0x7F800000, 1.0e3, 240.0]> : tensor<4xf32>
  %q = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FNUZ>
  %codes = stablehlo.bitcast_convert %q : (tensor<4xf8E4M3FNUZ>) -> tensor<4xui8>
  return %q, %codes : tensor<4xf8E4M3FNUZ>, tensor<4xui8>
}
