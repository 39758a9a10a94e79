module {
  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<1x1x4x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<4x4xi64>
    %c_0 = stablehlo.constant dense<0> : tensor<4xi64>
    %c_1 = stablehlo.constant dense<1> : tensor<4xi64>
    %c_2 = stablehlo.constant dense<4> : tensor<i64>
    %c_3 = stablehlo.constant dense<1> : tensor<i64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<1x1x4x4xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c_6 = stablehlo.constant dense<true> : tensor<4x4xi1>
    %c_7 = stablehlo.constant dense<true> : tensor<i1>
    %cst_8 = arith.constant dense<0.59460355750136051> : tensor<1xf64>
    %cst_9 = arith.constant dense<0xFFF0000000000000> : tensor<1xf64>
    %0 = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x8xf32>) -> tensor<1x1x4x8xf32>
    %2 = stablehlo.convert %cst_8 : (tensor<1xf64>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<1x1x4x8xf32>
    %5 = stablehlo.multiply %1, %4 : tensor<1x1x4x8xf32>
    %6 = stablehlo.convert %c_3 : (tensor<i64>) -> tensor<f64>
    %7 = stablehlo.convert %c_2 : (tensor<i64>) -> tensor<f64>
    %8 = stablehlo.divide %7, %6 : tensor<f64>
    %9 = stablehlo.ceil %8 : tensor<f64>
    %10 = stablehlo.convert %9 : (tensor<f64>) -> tensor<i64>
    %11 = stablehlo.reshape %10 : (tensor<i64>) -> tensor<1xi64>
    %12 = stablehlo.dynamic_iota %11, dim = 0 : (tensor<1xi64>) -> tensor<4xi64>
    %13 = stablehlo.multiply %12, %c_1 : tensor<4xi64>
    %14 = stablehlo.add %13, %c_0 : tensor<4xi64>
    %15 = stablehlo.reshape %14 : (tensor<4xi64>) -> tensor<1x4xi64>
    %16 = stablehlo.reshape %14 : (tensor<4xi64>) -> tensor<4x1xi64>
    %17 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<1x4xi64>) -> tensor<4x4xi64>
    %18 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<4x1xi64>) -> tensor<4x4xi64>
    %19 = stablehlo.subtract %17, %18 : tensor<4x4xi64>
    %20 = stablehlo.compare LE, %19, %c, SIGNED : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
    %21 = stablehlo.and %20, %c_6 : tensor<4x4xi1>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<4x4xi1>) -> tensor<4x4xi1>
    %23 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %24 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %25 = stablehlo.select %22, %23, %24 : tensor<4x4xi1>, tensor<4x4xf32>
    %26 = stablehlo.transpose %1, dims = [0, 1, 3, 2] : (tensor<1x1x4x8xf32>) -> tensor<1x1x8x4xf32>
    %27 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<1x1x8x4xf32>
    %28 = stablehlo.multiply %26, %27 : tensor<1x1x8x4xf32>
    %29 = stablehlo.reshape %5 : (tensor<1x1x4x8xf32>) -> tensor<1x4x8xf32>
    %30 = stablehlo.reshape %28 : (tensor<1x1x8x4xf32>) -> tensor<1x8x4xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
    %32 = stablehlo.dot_general %29, %31, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x4x8xf32>, tensor<1x8x4xf32>) -> tensor<1x4x4xf32>
    %33 = stablehlo.reshape %32 : (tensor<1x4x4xf32>) -> tensor<1x1x4x4xf32>
    %34 = stablehlo.broadcast_in_dim %25, dims = [2, 3] : (tensor<4x4xf32>) -> tensor<1x1x4x4xf32>
    %35 = stablehlo.add %33, %34 : tensor<1x1x4x4xf32>
    %36 = stablehlo.reduce(%35 init: %cst_5) applies stablehlo.maximum across dimensions = [3] : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
    %37 = stablehlo.reshape %36 : (tensor<1x1x4xf32>) -> tensor<1x1x4x1xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2, 3] : (tensor<1x1x4x1xf32>) -> tensor<1x1x4x4xf32>
    %39 = stablehlo.subtract %35, %38 : tensor<1x1x4x4xf32>
    %40 = stablehlo.exponential %39 : tensor<1x1x4x4xf32>
    %41 = stablehlo.reduce(%40 init: %cst_4) applies stablehlo.add across dimensions = [3] : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
    %42 = stablehlo.reshape %41 : (tensor<1x1x4xf32>) -> tensor<1x1x4x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<1x1x4x1xf32>) -> tensor<1x1x4x4xf32>
    %44 = stablehlo.divide %40, %43 : tensor<1x1x4x4xf32>
    %45 = stablehlo.convert %cst_9 : tensor<1xf64>
    %46 = stablehlo.reshape %45 : (tensor<1xf64>) -> tensor<f64>
    %47 = stablehlo.convert %46 : (tensor<f64>) -> tensor<f32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<f32>) -> tensor<1x1x4x4xf32>
    %49 = stablehlo.compare EQ, %35, %48, FLOAT : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xi1>
    %50 = stablehlo.reduce(%49 init: %c_7) applies stablehlo.and across dimensions = [3] : (tensor<1x1x4x4xi1>, tensor<i1>) -> tensor<1x1x4xi1>
    %51 = stablehlo.reshape %50 : (tensor<1x1x4xi1>) -> tensor<1x1x4x1xi1>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2, 3] : (tensor<1x1x4x1xi1>) -> tensor<1x1x4x4xi1>
    %53 = stablehlo.broadcast_in_dim %cst, dims = [0, 1, 2, 3] : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    %54 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    %55 = stablehlo.select %52, %53, %54 : tensor<1x1x4x4xi1>, tensor<1x1x4x4xf32>
    %56 = stablehlo.reshape %55 : (tensor<1x1x4x4xf32>) -> tensor<1x4x4xf32>
    %57 = stablehlo.reshape %1 : (tensor<1x1x4x8xf32>) -> tensor<1x4x8xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1, 2] : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %59 = stablehlo.dot_general %56, %58, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<1x4x4xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
    %60 = stablehlo.reshape %59 : (tensor<1x4x8xf32>) -> tensor<1x1x4x8xf32>
    %61 = stablehlo.transpose %60, dims = [2, 0, 1, 3] : (tensor<1x1x4x8xf32>) -> tensor<4x1x1x8xf32>
    %62 = stablehlo.transpose %61, dims = [1, 2, 0, 3] : (tensor<4x1x1x8xf32>) -> tensor<1x1x4x8xf32>
    return %62 : tensor<1x1x4x8xf32>
  }
}
