module @jit_jacobian_and_hessian attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>) -> (tensor<8x8xf32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x8xf32>) -> tensor<8xf32>
    %2 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %3 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %5 = stablehlo.add %2, %4 : tensor<8x8xi32>
    %6 = stablehlo.compare EQ, %5, %3, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %7 = stablehlo.convert %6 : (tensor<8x8xi1>) -> tensor<8x8xf32>
    %8 = stablehlo.slice %7 [0:8, 0:8] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %9 = stablehlo.convert %8 : tensor<8x8xf32>
    %10 = stablehlo.sine %1 : tensor<8xf32>
    %11 = stablehlo.cosine %1 : tensor<8xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %14 = stablehlo.multiply %9, %13 : tensor<8x8xf32>
    %15 = stablehlo.transpose %14, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %16 = stablehlo.slice %15 [0:8, 0:8] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %17 = stablehlo.slice %arg0 [1:2, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
    %18 = stablehlo.reshape %17 : (tensor<1x8xf32>) -> tensor<8xf32>
    %19 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %20 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %22 = stablehlo.add %19, %21 : tensor<8x8xi32>
    %23 = stablehlo.compare EQ, %22, %20, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %24 = stablehlo.convert %23 : (tensor<8x8xi1>) -> tensor<8x8xf32>
    %25 = stablehlo.slice %24 [0:8, 0:8] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %26 = stablehlo.convert %25 : tensor<8x8xf32>
    %27 = stablehlo.tanh %18 : tensor<8xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %30 = stablehlo.multiply %26, %29 : tensor<8x8xf32>
    %31 = stablehlo.add %26, %30 : tensor<8x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %33 = stablehlo.subtract %32, %27 : tensor<8xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %36 = stablehlo.multiply %31, %35 : tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %38 = stablehlo.subtract %37, %27 : tensor<8xf32>
    %39 = stablehlo.negate %36 : tensor<8x8xf32>
    %40 = stablehlo.multiply %27, %27 : tensor<8xf32>
    %41 = stablehlo.multiply %40, %27 : tensor<8xf32>
    %42 = stablehlo.multiply %27, %27 : tensor<8xf32>
    %cst_2 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %44 = stablehlo.multiply %43, %42 : tensor<8xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %47 = stablehlo.multiply %36, %46 : tensor<8x8xf32>
    %48 = stablehlo.multiply %27, %27 : tensor<8xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %50 = stablehlo.multiply %49, %27 : tensor<8xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %53 = stablehlo.multiply %36, %52 : tensor<8x8xf32>
    %cst_4 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %55 = stablehlo.multiply %54, %48 : tensor<8xf32>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %57 = stablehlo.multiply %56, %53 : tensor<8x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%41 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%47 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %60 = stablehlo.iota dim = 0 : tensor<1x1xi32>
    %61 = stablehlo.iota dim = 1 : tensor<1x1xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %62 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<1x1xi32>
    %63 = stablehlo.add %60, %62 : tensor<1x1xi32>
    %64 = stablehlo.compare EQ, %63, %61, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
    %65 = stablehlo.convert %64 : (tensor<1x1xi1>) -> tensor<1x1xf32>
    %66 = stablehlo.slice %65 [0:1, 0:1] : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %67 = stablehlo.reshape %66 : (tensor<1x1xf32>) -> tensor<1xf32>
    %68 = stablehlo.convert %67 : tensor<1xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0] : (tensor<1xf32>) -> tensor<1x8xf32>
    %70 = stablehlo.broadcast_in_dim %55, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %71 = stablehlo.broadcast_in_dim %57, dims = [0, 2] : (tensor<8x8xf32>) -> tensor<8x1x8xf32>
    %72 = stablehlo.multiply %69, %70 : tensor<1x8xf32>
    %73 = stablehlo.broadcast_in_dim %69, dims = [1, 2] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<8x1x8xf32>
    %75 = stablehlo.multiply %74, %71 : tensor<8x1x8xf32>
    %76 = stablehlo.broadcast_in_dim %38, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %77 = stablehlo.broadcast_in_dim %39, dims = [0, 2] : (tensor<8x8xf32>) -> tensor<8x1x8xf32>
    %78 = stablehlo.multiply %72, %76 : tensor<1x8xf32>
    %79 = stablehlo.broadcast_in_dim %76, dims = [1, 2] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<8x1x8xf32>
    %81 = stablehlo.multiply %75, %80 : tensor<8x1x8xf32>
    %82 = stablehlo.broadcast_in_dim %72, dims = [1, 2] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<8x1x8xf32>
    %84 = stablehlo.multiply %83, %77 : tensor<8x1x8xf32>
    %85 = stablehlo.add %81, %84 : tensor<8x1x8xf32>
    %86 = stablehlo.broadcast_in_dim %27, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %87 = stablehlo.broadcast_in_dim %36, dims = [0, 2] : (tensor<8x8xf32>) -> tensor<8x1x8xf32>
    %88 = stablehlo.multiply %78, %86 : tensor<1x8xf32>
    %89 = stablehlo.broadcast_in_dim %86, dims = [1, 2] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
    %90 = stablehlo.broadcast_in_dim %89, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<8x1x8xf32>
    %91 = stablehlo.multiply %85, %90 : tensor<8x1x8xf32>
    %92 = stablehlo.broadcast_in_dim %78, dims = [1, 2] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<8x1x8xf32>
    %94 = stablehlo.multiply %93, %87 : tensor<8x1x8xf32>
    %95 = stablehlo.add %91, %94 : tensor<8x1x8xf32>
    %96 = stablehlo.add %78, %88 : tensor<1x8xf32>
    %97 = stablehlo.add %85, %95 : tensor<8x1x8xf32>
    %98 = stablehlo.slice %96 [0:1, 0:8] : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %99 = stablehlo.slice %97 [0:8, 0:1, 0:8] : (tensor<8x1x8xf32>) -> tensor<8x1x8xf32>
    %100 = stablehlo.reshape %98 : (tensor<1x8xf32>) -> tensor<8xf32>
    %101 = stablehlo.reshape %99 : (tensor<8x1x8xf32>) -> tensor<8x8xf32>
    %102 = stablehlo.transpose %101, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %103 = stablehlo.slice %102 [0:8, 0:8] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %16, %103 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
