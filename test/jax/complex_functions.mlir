module @jit_complex_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> (tensor<4x8xf32> {jax.result_info = "result[0][0]"}, tensor<4x8xf32> {jax.result_info = "result[0][1]"}, tensor<4x8xf32> {jax.result_info = "result[1][0]"}, tensor<4x8xf32> {jax.result_info = "result[1][1]"}, tensor<4x8xf32> {jax.result_info = "result[2][0]"}, tensor<4x8xf32> {jax.result_info = "result[2][1]"}, tensor<4x8xf32> {jax.result_info = "result[3][0]"}, tensor<4x8xf32> {jax.result_info = "result[3][1]"}, tensor<4x8xf32> {jax.result_info = "result[4][0]"}, tensor<4x8xf32> {jax.result_info = "result[4][1]"}, tensor<4x8xf32> {jax.result_info = "result[5][0]"}, tensor<4x8xf32> {jax.result_info = "result[5][1]"}, tensor<4x8xf32> {jax.result_info = "result[6][0]"}, tensor<4x8xf32> {jax.result_info = "result[6][1]"}, tensor<4x8xf32> {jax.result_info = "result[7][0]"}, tensor<4x8xf32> {jax.result_info = "result[7][1]"}, tensor<4x8xf32> {jax.result_info = "result[8]"}, tensor<4x8xf32> {jax.result_info = "result[9]"}) {
    %0 = stablehlo.convert %arg1 : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<4x8xcomplex<f32>>
    %2 = stablehlo.multiply %1, %0 : tensor<4x8xcomplex<f32>>
    %3 = stablehlo.convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
    %4 = stablehlo.add %3, %2 : tensor<4x8xcomplex<f32>>
    %5 = stablehlo.exponential %4 : tensor<4x8xcomplex<f32>>
    %6 = stablehlo.sqrt %4 : tensor<4x8xcomplex<f32>>
    %7 = stablehlo.log %4 : tensor<4x8xcomplex<f32>>
    %8 = stablehlo.real %4 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %9 = stablehlo.imag %4 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %11 = stablehlo.compare EQ, %8, %10, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %12 = stablehlo.sine %8 : tensor<4x8xf32>
    %13 = stablehlo.cosine %8 : tensor<4x8xf32>
    %14 = stablehlo.exponential_minus_one %9 : tensor<4x8xf32>
    %15 = stablehlo.negate %9 : tensor<4x8xf32>
    %16 = stablehlo.exponential_minus_one %15 : tensor<4x8xf32>
    %17 = stablehlo.subtract %14, %16 : tensor<4x8xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %19 = stablehlo.divide %17, %18 : tensor<4x8xf32>
    %20 = stablehlo.add %14, %16 : tensor<4x8xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %22 = stablehlo.add %20, %21 : tensor<4x8xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %24 = stablehlo.divide %22, %23 : tensor<4x8xf32>
    %25 = stablehlo.multiply %12, %24 : tensor<4x8xf32>
    %26 = stablehlo.multiply %13, %19 : tensor<4x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %28 = stablehlo.complex %27, %26 : tensor<4x8xcomplex<f32>>
    %29 = stablehlo.complex %25, %26 : tensor<4x8xcomplex<f32>>
    %30 = stablehlo.select %11, %28, %29 : tensor<4x8xi1>, tensor<4x8xcomplex<f32>>
    %31 = stablehlo.tanh %4 : tensor<4x8xcomplex<f32>>
    %cst_5 = stablehlo.constant dense<(2.500000e+00,0.000000e+00)> : tensor<complex<f32>>
    %32 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<complex<f32>>) -> tensor<4x8xcomplex<f32>>
    %33 = stablehlo.power %4, %32 : tensor<4x8xcomplex<f32>>
    %cst_6 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %34 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<complex<f32>>) -> tensor<4x8xcomplex<f32>>
    %35 = stablehlo.divide %34, %4 : tensor<4x8xcomplex<f32>>
    %36 = stablehlo.real %4 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %37 = stablehlo.imag %4 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %38 = stablehlo.negate %37 : tensor<4x8xf32>
    %39 = stablehlo.complex %36, %38 : tensor<4x8xcomplex<f32>>
    %40 = stablehlo.multiply %4, %39 : tensor<4x8xcomplex<f32>>
    %41 = stablehlo.real %5 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %42 = stablehlo.imag %5 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %43 = stablehlo.real %6 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %44 = stablehlo.imag %6 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %45 = stablehlo.real %7 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %46 = stablehlo.imag %7 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %47 = stablehlo.real %30 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %48 = stablehlo.imag %30 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %49 = stablehlo.real %31 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %50 = stablehlo.imag %31 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %51 = stablehlo.real %33 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %52 = stablehlo.imag %33 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %53 = stablehlo.real %35 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %54 = stablehlo.imag %35 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %55 = stablehlo.real %40 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %56 = stablehlo.imag %40 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %57 = stablehlo.abs %4 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %58 = call @angle(%4) : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    return %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func private @angle(%arg0: tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32> {
    %0 = stablehlo.real %arg0 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %1 = stablehlo.imag %arg0 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %2 = stablehlo.atan2 %1, %0 : tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  }
}
