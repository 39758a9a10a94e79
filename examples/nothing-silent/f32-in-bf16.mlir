// 7.17 * 2.95 - 5.84 * 2.51 = 6.4931. With the four numbers rounded to bf16 it is 6.4326.
func.func @main() -> tensor<f32> {
  %x = stablehlo.constant dense<[7.17, 5.84]> : tensor<2xf32>
  %w = stablehlo.constant dense<[2.95, -2.51]> : tensor<2xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
