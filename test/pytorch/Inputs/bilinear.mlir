module {
  func.func @main(%arg0: tensor<2x3x16x16xf32>) -> tensor<2x3x32x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<2xi64>
    %c_0 = stablehlo.constant dense<1> : tensor<2xi64>
    %c_1 = stablehlo.constant dense<2> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<3xi64>
    %c_3 = stablehlo.constant dense<1> : tensor<3xi64>
    %c_4 = stablehlo.constant dense<3> : tensor<i64>
    %c_5 = stablehlo.constant dense<15> : tensor<i64>
    %c_6 = stablehlo.constant dense<1> : tensor<32x1xi64>
    %c_7 = stablehlo.constant dense<0> : tensor<32xi64>
    %c_8 = stablehlo.constant dense<1> : tensor<32xi64>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %c_9 = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
    %cst_10 = arith.constant dense<5.000000e-01> : tensor<1xf64>
    %cst_11 = arith.constant dense<0.000000e+00> : tensor<1xf64>
    %cst_12 = arith.constant dense<1.000000e+00> : tensor<1xf64>
    %c_13 = stablehlo.constant dense<1> : tensor<i64>
    %c_14 = stablehlo.constant dense<32> : tensor<i64>
    %0 = stablehlo.convert %c_13 : (tensor<i64>) -> tensor<f64>
    %1 = stablehlo.convert %c_14 : (tensor<i64>) -> tensor<f64>
    %2 = stablehlo.divide %1, %0 : tensor<f64>
    %3 = stablehlo.ceil %2 : tensor<f64>
    %4 = stablehlo.convert %3 : (tensor<f64>) -> tensor<i64>
    %5 = stablehlo.reshape %4 : (tensor<i64>) -> tensor<1xi64>
    %6 = stablehlo.dynamic_iota %5, dim = 0 : (tensor<1xi64>) -> tensor<32xi64>
    %7 = stablehlo.multiply %6, %c_8 : tensor<32xi64>
    %8 = stablehlo.add %7, %c_7 : tensor<32xi64>
    %9 = stablehlo.convert %8 : (tensor<32xi64>) -> tensor<32xf32>
    %10 = stablehlo.convert %cst_10 : (tensor<1xf64>) -> tensor<1xf32>
    %11 = stablehlo.reshape %10 : (tensor<1xf32>) -> tensor<f32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %13 = stablehlo.add %9, %12 : tensor<32xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<32xf32>
    %15 = stablehlo.subtract %14, %12 : tensor<32xf32>
    %16 = stablehlo.convert %cst_11 : (tensor<1xf64>) -> tensor<1xf32>
    %17 = stablehlo.reshape %16 : (tensor<1xf32>) -> tensor<f32>
    %18 = stablehlo.clamp %17, %15, %cst : (tensor<f32>, tensor<32xf32>, tensor<f32>) -> tensor<32xf32>
    %19 = stablehlo.reshape %18 : (tensor<32xf32>) -> tensor<32x1xf32>
    %20 = stablehlo.convert %19 : (tensor<32x1xf32>) -> tensor<32x1xi64>
    %21 = stablehlo.add %20, %c_6 : tensor<32x1xi64>
    %22 = stablehlo.clamp %c_9, %21, %c_5 : (tensor<i64>, tensor<32x1xi64>, tensor<i64>) -> tensor<32x1xi64>
    %23 = stablehlo.convert %18 : (tensor<32xf32>) -> tensor<32xi64>
    %24 = stablehlo.add %23, %c_8 : tensor<32xi64>
    %25 = stablehlo.clamp %c_9, %24, %c_5 : (tensor<i64>, tensor<32xi64>, tensor<i64>) -> tensor<32xi64>
    %26 = stablehlo.convert %c_4 : (tensor<i64>) -> tensor<f64>
    %27 = stablehlo.divide %26, %0 : tensor<f64>
    %28 = stablehlo.ceil %27 : tensor<f64>
    %29 = stablehlo.convert %28 : (tensor<f64>) -> tensor<i64>
    %30 = stablehlo.reshape %29 : (tensor<i64>) -> tensor<1xi64>
    %31 = stablehlo.dynamic_iota %30, dim = 0 : (tensor<1xi64>) -> tensor<3xi64>
    %32 = stablehlo.multiply %31, %c_3 : tensor<3xi64>
    %33 = stablehlo.add %32, %c_2 : tensor<3xi64>
    %34 = stablehlo.reshape %33 : (tensor<3xi64>) -> tensor<3x1xi64>
    %35 = stablehlo.reshape %34 : (tensor<3x1xi64>) -> tensor<3x1x1xi64>
    %36 = stablehlo.convert %c_1 : (tensor<i64>) -> tensor<f64>
    %37 = stablehlo.divide %36, %0 : tensor<f64>
    %38 = stablehlo.ceil %37 : tensor<f64>
    %39 = stablehlo.convert %38 : (tensor<f64>) -> tensor<i64>
    %40 = stablehlo.reshape %39 : (tensor<i64>) -> tensor<1xi64>
    %41 = stablehlo.dynamic_iota %40, dim = 0 : (tensor<1xi64>) -> tensor<2xi64>
    %42 = stablehlo.multiply %41, %c_0 : tensor<2xi64>
    %43 = stablehlo.add %42, %c : tensor<2xi64>
    %44 = stablehlo.reshape %43 : (tensor<2xi64>) -> tensor<2x1xi64>
    %45 = stablehlo.reshape %44 : (tensor<2x1xi64>) -> tensor<2x1x1xi64>
    %46 = stablehlo.reshape %45 : (tensor<2x1x1xi64>) -> tensor<2x1x1x1xi64>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3] : (tensor<2x1x1x1xi64>) -> tensor<2x3x32x32xi64>
    %48 = stablehlo.reshape %47 : (tensor<2x3x32x32xi64>) -> tensor<2x3x32x32x1xi64>
    %49 = stablehlo.broadcast_in_dim %35, dims = [1, 2, 3] : (tensor<3x1x1xi64>) -> tensor<2x3x32x32xi64>
    %50 = stablehlo.reshape %49 : (tensor<2x3x32x32xi64>) -> tensor<2x3x32x32x1xi64>
    %51 = stablehlo.broadcast_in_dim %20, dims = [2, 3] : (tensor<32x1xi64>) -> tensor<2x3x32x32xi64>
    %52 = stablehlo.reshape %51 : (tensor<2x3x32x32xi64>) -> tensor<2x3x32x32x1xi64>
    %53 = stablehlo.broadcast_in_dim %23, dims = [3] : (tensor<32xi64>) -> tensor<2x3x32x32xi64>
    %54 = stablehlo.reshape %53 : (tensor<2x3x32x32xi64>) -> tensor<2x3x32x32x1xi64>
    %55 = stablehlo.concatenate %48, %50, %52, %54, dim = 4 : (tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>) -> tensor<2x3x32x32x4xi64>
    %56 = "stablehlo.gather"(%arg0, %55) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2, 3], start_index_map = [0, 1, 2, 3], index_vector_dim = 4>, slice_sizes = array<i64: 1, 1, 1, 1>}> : (tensor<2x3x16x16xf32>, tensor<2x3x32x32x4xi64>) -> tensor<2x3x32x32xf32>
    %57 = stablehlo.broadcast_in_dim %25, dims = [3] : (tensor<32xi64>) -> tensor<2x3x32x32xi64>
    %58 = stablehlo.reshape %57 : (tensor<2x3x32x32xi64>) -> tensor<2x3x32x32x1xi64>
    %59 = stablehlo.concatenate %48, %50, %52, %58, dim = 4 : (tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>) -> tensor<2x3x32x32x4xi64>
    %60 = "stablehlo.gather"(%arg0, %59) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2, 3], start_index_map = [0, 1, 2, 3], index_vector_dim = 4>, slice_sizes = array<i64: 1, 1, 1, 1>}> : (tensor<2x3x16x16xf32>, tensor<2x3x32x32x4xi64>) -> tensor<2x3x32x32xf32>
    %61 = stablehlo.broadcast_in_dim %22, dims = [2, 3] : (tensor<32x1xi64>) -> tensor<2x3x32x32xi64>
    %62 = stablehlo.reshape %61 : (tensor<2x3x32x32xi64>) -> tensor<2x3x32x32x1xi64>
    %63 = stablehlo.concatenate %48, %50, %62, %54, dim = 4 : (tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>) -> tensor<2x3x32x32x4xi64>
    %64 = "stablehlo.gather"(%arg0, %63) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2, 3], start_index_map = [0, 1, 2, 3], index_vector_dim = 4>, slice_sizes = array<i64: 1, 1, 1, 1>}> : (tensor<2x3x16x16xf32>, tensor<2x3x32x32x4xi64>) -> tensor<2x3x32x32xf32>
    %65 = stablehlo.concatenate %48, %50, %62, %58, dim = 4 : (tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>, tensor<2x3x32x32x1xi64>) -> tensor<2x3x32x32x4xi64>
    %66 = "stablehlo.gather"(%arg0, %65) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2, 3], start_index_map = [0, 1, 2, 3], index_vector_dim = 4>, slice_sizes = array<i64: 1, 1, 1, 1>}> : (tensor<2x3x16x16xf32>, tensor<2x3x32x32x4xi64>) -> tensor<2x3x32x32xf32>
    %67 = stablehlo.convert %23 : (tensor<32xi64>) -> tensor<32xf32>
    %68 = stablehlo.subtract %18, %67 : tensor<32xf32>
    %69 = stablehlo.convert %cst_12 : (tensor<1xf64>) -> tensor<1xf32>
    %70 = stablehlo.reshape %69 : (tensor<1xf32>) -> tensor<f32>
    %71 = stablehlo.clamp %17, %68, %70 : (tensor<f32>, tensor<32xf32>, tensor<f32>) -> tensor<32xf32>
    %72 = stablehlo.subtract %60, %56 : tensor<2x3x32x32xf32>
    %73 = stablehlo.broadcast_in_dim %71, dims = [3] : (tensor<32xf32>) -> tensor<2x3x32x32xf32>
    %74 = stablehlo.multiply %72, %73 : tensor<2x3x32x32xf32>
    %75 = stablehlo.add %56, %74 : tensor<2x3x32x32xf32>
    %76 = stablehlo.subtract %66, %64 : tensor<2x3x32x32xf32>
    %77 = stablehlo.multiply %76, %73 : tensor<2x3x32x32xf32>
    %78 = stablehlo.add %64, %77 : tensor<2x3x32x32xf32>
    %79 = stablehlo.convert %20 : (tensor<32x1xi64>) -> tensor<32x1xf32>
    %80 = stablehlo.subtract %19, %79 : tensor<32x1xf32>
    %81 = stablehlo.clamp %17, %80, %70 : (tensor<f32>, tensor<32x1xf32>, tensor<f32>) -> tensor<32x1xf32>
    %82 = stablehlo.subtract %78, %75 : tensor<2x3x32x32xf32>
    %83 = stablehlo.broadcast_in_dim %81, dims = [2, 3] : (tensor<32x1xf32>) -> tensor<2x3x32x32xf32>
    %84 = stablehlo.multiply %82, %83 : tensor<2x3x32x32xf32>
    %85 = stablehlo.add %75, %84 : tensor<2x3x32x32xf32>
    return %85 : tensor<2x3x32x32xf32>
  }
}
