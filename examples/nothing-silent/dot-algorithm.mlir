// 1.001 + 3.003 as a dot in f32, and with the algorithm that multiplies bf16: 1 + 3.
func.func @main() -> (tensor<f32>, tensor<f32>) {
  %x = stablehlo.constant dense<[1.001, 3.003]> : tensor<2xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<2xf32>
  %f32 = stablehlo.dot_general %x, %ones, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  %bf16 = stablehlo.dot_general %x, %ones, contracting_dims = [0] x [0],
      algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32,
                   lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,
                   allow_imprecise_accumulation = false> : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return %f32, %bf16 : tensor<f32>, tensor<f32>
}
