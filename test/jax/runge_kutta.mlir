module @jit_runge_kutta attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<3xf32>) -> (tensor<f32> {jax.result_info = "result[0][0]"}, tensor<3xf32> {jax.result_info = "result[0][1]"}, tensor<10x3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0, %iterArg_1 = %arg1, %iterArg_2 = %0) : tensor<i32>, tensor<f32>, tensor<3xf32>, tensor<10x3xf32>
    cond {
      %c_3 = stablehlo.constant dense<10> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:3 = func.call @closed_call(%iterArg_0, %iterArg_1) : (tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<3xf32>)
      %3 = func.call @dynamic_update_index_in_dim(%iterArg_2, %2#2, %iterArg) : (tensor<10x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<10x3xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg, %c_3 : tensor<i32>
      stablehlo.return %4, %2#0, %2#1, %3 : tensor<i32>, tensor<f32>, tensor<3xf32>, tensor<10x3xf32>
    }
    return %1#1, %1#2, %1#3 : tensor<f32>, tensor<3xf32>, tensor<10x3xf32>
  }
  func.func private @closed_call(%arg0: tensor<f32>, %arg1: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.slice %arg1 [1:2] : (tensor<3xf32>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    %2 = stablehlo.slice %arg1 [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = stablehlo.negate %3 : tensor<f32>
    %5 = stablehlo.slice %arg1 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %6 = stablehlo.reshape %5 : (tensor<1xf32>) -> tensor<f32>
    %7 = stablehlo.add %4, %6 : tensor<f32>
    %8 = stablehlo.slice %arg1 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %9 = stablehlo.reshape %8 : (tensor<1xf32>) -> tensor<f32>
    %cst = stablehlo.constant dense<-1.000000e-01> : tensor<f32>
    %10 = stablehlo.multiply %cst, %9 : tensor<f32>
    %11 = stablehlo.multiply %10, %arg0 : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %13 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %14 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %15 = stablehlo.concatenate %12, %13, %14, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %16 = stablehlo.add %arg0, %cst_0 : tensor<f32>
    %cst_1 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %18 = stablehlo.multiply %17, %15 : tensor<3xf32>
    %19 = stablehlo.add %arg1, %18 : tensor<3xf32>
    %20 = stablehlo.slice %19 [1:2] : (tensor<3xf32>) -> tensor<1xf32>
    %21 = stablehlo.reshape %20 : (tensor<1xf32>) -> tensor<f32>
    %22 = stablehlo.slice %19 [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    %23 = stablehlo.reshape %22 : (tensor<1xf32>) -> tensor<f32>
    %24 = stablehlo.negate %23 : tensor<f32>
    %25 = stablehlo.slice %19 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %26 = stablehlo.reshape %25 : (tensor<1xf32>) -> tensor<f32>
    %27 = stablehlo.add %24, %26 : tensor<f32>
    %28 = stablehlo.slice %19 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %29 = stablehlo.reshape %28 : (tensor<1xf32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<-1.000000e-01> : tensor<f32>
    %30 = stablehlo.multiply %cst_2, %29 : tensor<f32>
    %31 = stablehlo.multiply %30, %16 : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %33 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %34 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %35 = stablehlo.concatenate %32, %33, %34, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
    %cst_3 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %36 = stablehlo.add %arg0, %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %38 = stablehlo.multiply %37, %35 : tensor<3xf32>
    %39 = stablehlo.add %arg1, %38 : tensor<3xf32>
    %40 = stablehlo.slice %39 [1:2] : (tensor<3xf32>) -> tensor<1xf32>
    %41 = stablehlo.reshape %40 : (tensor<1xf32>) -> tensor<f32>
    %42 = stablehlo.slice %39 [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    %43 = stablehlo.reshape %42 : (tensor<1xf32>) -> tensor<f32>
    %44 = stablehlo.negate %43 : tensor<f32>
    %45 = stablehlo.slice %39 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %46 = stablehlo.reshape %45 : (tensor<1xf32>) -> tensor<f32>
    %47 = stablehlo.add %44, %46 : tensor<f32>
    %48 = stablehlo.slice %39 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %49 = stablehlo.reshape %48 : (tensor<1xf32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<-1.000000e-01> : tensor<f32>
    %50 = stablehlo.multiply %cst_5, %49 : tensor<f32>
    %51 = stablehlo.multiply %50, %36 : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %53 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %54 = stablehlo.broadcast_in_dim %51, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %55 = stablehlo.concatenate %52, %53, %54, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %56 = stablehlo.add %arg0, %cst_6 : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %58 = stablehlo.multiply %57, %55 : tensor<3xf32>
    %59 = stablehlo.add %arg1, %58 : tensor<3xf32>
    %60 = stablehlo.slice %59 [1:2] : (tensor<3xf32>) -> tensor<1xf32>
    %61 = stablehlo.reshape %60 : (tensor<1xf32>) -> tensor<f32>
    %62 = stablehlo.slice %59 [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    %63 = stablehlo.reshape %62 : (tensor<1xf32>) -> tensor<f32>
    %64 = stablehlo.negate %63 : tensor<f32>
    %65 = stablehlo.slice %59 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %66 = stablehlo.reshape %65 : (tensor<1xf32>) -> tensor<f32>
    %67 = stablehlo.add %64, %66 : tensor<f32>
    %68 = stablehlo.slice %59 [2:3] : (tensor<3xf32>) -> tensor<1xf32>
    %69 = stablehlo.reshape %68 : (tensor<1xf32>) -> tensor<f32>
    %cst_8 = stablehlo.constant dense<-1.000000e-01> : tensor<f32>
    %70 = stablehlo.multiply %cst_8, %69 : tensor<f32>
    %71 = stablehlo.multiply %70, %56 : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %61, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %73 = stablehlo.broadcast_in_dim %67, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %74 = stablehlo.broadcast_in_dim %71, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %75 = stablehlo.concatenate %72, %73, %74, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
    %cst_9 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %76 = stablehlo.add %arg0, %cst_9 : tensor<f32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %78 = stablehlo.multiply %77, %35 : tensor<3xf32>
    %79 = stablehlo.add %15, %78 : tensor<3xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %81 = stablehlo.multiply %80, %55 : tensor<3xf32>
    %82 = stablehlo.add %79, %81 : tensor<3xf32>
    %83 = stablehlo.add %82, %75 : tensor<3xf32>
    %cst_12 = stablehlo.constant dense<0.0166666675> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %85 = stablehlo.multiply %84, %83 : tensor<3xf32>
    %86 = stablehlo.add %arg1, %85 : tensor<3xf32>
    return %76, %86, %arg1 : tensor<f32>, tensor<3xf32>, tensor<3xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<10x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> tensor<10x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<10x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<10x3xf32>
    return %1 : tensor<10x3xf32>
  }
}
