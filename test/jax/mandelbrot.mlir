module @jit_mandelbrot attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<i32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<complex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.multiply %cst, %0 : tensor<complex<f32>>
    %2 = stablehlo.convert %arg0 : (tensor<f32>) -> tensor<complex<f32>>
    %3 = stablehlo.add %2, %1 : tensor<complex<f32>>
    %cst_0 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4:3 = stablehlo.while(%iterArg = %3, %iterArg_1 = %cst_0, %iterArg_2 = %c) : tensor<complex<f32>>, tensor<complex<f32>>, tensor<i32>
    cond {
      %5 = stablehlo.abs %iterArg_1 : (tensor<complex<f32>>) -> tensor<f32>
      %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %6 = stablehlo.compare LT, %5, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c_4 = stablehlo.constant dense<50> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg_2, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_5 = stablehlo.constant dense<false> : tensor<i1>
      %8 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i1>) -> tensor<i1>
      %9 = stablehlo.compare NE, %7, %8, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %10 = stablehlo.convert %9 : tensor<i1>
      %11 = stablehlo.and %6, %10 : tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %5 = stablehlo.multiply %iterArg_1, %iterArg_1 : tensor<complex<f32>>
      %6 = stablehlo.add %5, %iterArg : tensor<complex<f32>>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg_2, %c_3 : tensor<i32>
      stablehlo.return %iterArg, %6, %7 : tensor<complex<f32>>, tensor<complex<f32>>, tensor<i32>
    }
    return %4#2 : tensor<i32>
  }
}
