// FP8 weights whose dequantized values are shifted by a zero point: the dot multiplies f32.
func.func @main(%x: tensor<8x64xf32>, %w: tensor<64x32xf8E4M3FN>, %scale: tensor<f32>, %zero: tensor<f32>) -> tensor<8x32xf32> {
  %wide = stablehlo.convert %w : (tensor<64x32xf8E4M3FN>) -> tensor<64x32xf32>
  %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
  %v = stablehlo.multiply %wide, %s : tensor<64x32xf32>
  %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<64x32xf32>
  %shifted = stablehlo.subtract %v, %z : tensor<64x32xf32>
  %y = stablehlo.dot_general %x, %shifted, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}
