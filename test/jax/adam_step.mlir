module @jit_adam_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x16xf32>, %arg1: tensor<16xf32>, %arg2: tensor<16x16xf32>, %arg3: tensor<16xf32>, %arg4: tensor<16x4xf32>, %arg5: tensor<4xf32>, %arg6: tensor<8x16xf32>, %arg7: tensor<16xf32>, %arg8: tensor<16x16xf32>, %arg9: tensor<16xf32>, %arg10: tensor<16x4xf32>, %arg11: tensor<4xf32>, %arg12: tensor<8x16xf32>, %arg13: tensor<16xf32>, %arg14: tensor<16x16xf32>, %arg15: tensor<16xf32>, %arg16: tensor<16x4xf32>, %arg17: tensor<4xf32>, %arg18: tensor<i32>, %arg19: tensor<4x8xf32>, %arg20: tensor<4xi32>) -> (tensor<8x16xf32> {jax.result_info = "result[0][0][0]"}, tensor<16xf32> {jax.result_info = "result[0][0][1]"}, tensor<16x16xf32> {jax.result_info = "result[0][1][0]"}, tensor<16xf32> {jax.result_info = "result[0][1][1]"}, tensor<16x4xf32> {jax.result_info = "result[0][2][0]"}, tensor<4xf32> {jax.result_info = "result[0][2][1]"}, tensor<8x16xf32> {jax.result_info = "result[1][0][0]"}, tensor<16xf32> {jax.result_info = "result[1][0][1]"}, tensor<16x16xf32> {jax.result_info = "result[1][1][0]"}, tensor<16xf32> {jax.result_info = "result[1][1][1]"}, tensor<16x4xf32> {jax.result_info = "result[1][2][0]"}, tensor<4xf32> {jax.result_info = "result[1][2][1]"}, tensor<8x16xf32> {jax.result_info = "result[2][0][0]"}, tensor<16xf32> {jax.result_info = "result[2][0][1]"}, tensor<16x16xf32> {jax.result_info = "result[2][1][0]"}, tensor<16xf32> {jax.result_info = "result[2][1][1]"}, tensor<16x4xf32> {jax.result_info = "result[2][2][0]"}, tensor<4xf32> {jax.result_info = "result[2][2][1]"}, tensor<i32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg19, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x16xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<4x16xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<4x16xf32>
    %6 = stablehlo.multiply %3, %3 : tensor<4x16xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<4x16xf32>
    %cst_0 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %10 = stablehlo.multiply %9, %5 : tensor<4x16xf32>
    %11 = stablehlo.add %3, %10 : tensor<4x16xf32>
    %cst_1 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %13 = stablehlo.multiply %12, %11 : tensor<4x16xf32>
    %14 = stablehlo.tanh %13 : tensor<4x16xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<4x16xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %18 = stablehlo.add %17, %14 : tensor<4x16xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<4x16xf32>
    %21 = stablehlo.multiply %3, %20 : tensor<4x16xf32>
    %22 = stablehlo.dot_general %21, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %23 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
    %25 = stablehlo.add %22, %24 : tensor<4x16xf32>
    %26 = stablehlo.multiply %25, %25 : tensor<4x16xf32>
    %27 = stablehlo.multiply %26, %25 : tensor<4x16xf32>
    %28 = stablehlo.multiply %25, %25 : tensor<4x16xf32>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %30 = stablehlo.multiply %29, %28 : tensor<4x16xf32>
    %cst_6 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %32 = stablehlo.multiply %31, %27 : tensor<4x16xf32>
    %33 = stablehlo.add %25, %32 : tensor<4x16xf32>
    %cst_7 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %35 = stablehlo.multiply %34, %33 : tensor<4x16xf32>
    %36 = stablehlo.tanh %35 : tensor<4x16xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %38 = stablehlo.subtract %37, %36 : tensor<4x16xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %40 = stablehlo.add %39, %36 : tensor<4x16xf32>
    %cst_10 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %42 = stablehlo.multiply %41, %40 : tensor<4x16xf32>
    %43 = stablehlo.multiply %25, %42 : tensor<4x16xf32>
    %44 = stablehlo.dot_general %43, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
    %45 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<4x4xf32>
    %47 = stablehlo.add %44, %46 : tensor<4x4xf32>
    %48:3 = call @log_softmax(%47) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1xf32>)
    %49 = stablehlo.broadcast_in_dim %arg20, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %50:2 = call @take_along_axis(%48#0, %49) : (tensor<4x4xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%50#0 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_12 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %52 = stablehlo.divide %51, %cst_12 : tensor<f32>
    %53 = stablehlo.negate %52 : tensor<f32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %54 = stablehlo.negate %cst_13 : tensor<f32>
    %cst_14 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %55 = stablehlo.divide %54, %cst_14 : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %57 = call @take_along_axis_0(%50#1, %56) : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x4xf32>
    %58 = call @log_softmax_1(%48#1, %48#2, %57) : (tensor<4x4xf32>, tensor<4x1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%58 init: %cst_15) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %60 = stablehlo.reshape %59 : (tensor<4xf32>) -> tensor<1x4xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%60 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<4xf32>
    %62 = stablehlo.dot_general %58, %43, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %63 = stablehlo.transpose %62, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
    %64 = stablehlo.dot_general %58, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<16x4xf32>) -> tensor<4x16xf32>
    %65 = stablehlo.multiply %25, %64 : tensor<4x16xf32>
    %66 = stablehlo.multiply %64, %42 : tensor<4x16xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %68 = stablehlo.multiply %67, %65 : tensor<4x16xf32>
    %69 = stablehlo.multiply %68, %38 : tensor<4x16xf32>
    %70 = stablehlo.multiply %69, %36 : tensor<4x16xf32>
    %71 = stablehlo.add %69, %70 : tensor<4x16xf32>
    %cst_18 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %73 = stablehlo.multiply %72, %71 : tensor<4x16xf32>
    %74 = stablehlo.add %66, %73 : tensor<4x16xf32>
    %cst_19 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %76 = stablehlo.multiply %75, %73 : tensor<4x16xf32>
    %77 = stablehlo.multiply %76, %30 : tensor<4x16xf32>
    %78 = stablehlo.add %74, %77 : tensor<4x16xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %79 = stablehlo.reduce(%78 init: %cst_20) applies stablehlo.add across dimensions = [0] : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
    %80 = stablehlo.reshape %79 : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %81 = stablehlo.reduce(%80 init: %cst_21) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %82 = stablehlo.dot_general %78, %21, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
    %83 = stablehlo.transpose %82, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %84 = stablehlo.dot_general %78, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
    %85 = stablehlo.multiply %3, %84 : tensor<4x16xf32>
    %86 = stablehlo.multiply %84, %20 : tensor<4x16xf32>
    %cst_22 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %88 = stablehlo.multiply %87, %85 : tensor<4x16xf32>
    %89 = stablehlo.multiply %88, %16 : tensor<4x16xf32>
    %90 = stablehlo.multiply %89, %14 : tensor<4x16xf32>
    %91 = stablehlo.add %89, %90 : tensor<4x16xf32>
    %cst_23 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %93 = stablehlo.multiply %92, %91 : tensor<4x16xf32>
    %94 = stablehlo.add %86, %93 : tensor<4x16xf32>
    %cst_24 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %96 = stablehlo.multiply %95, %93 : tensor<4x16xf32>
    %97 = stablehlo.multiply %96, %8 : tensor<4x16xf32>
    %98 = stablehlo.add %94, %97 : tensor<4x16xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %99 = stablehlo.reduce(%98 init: %cst_25) applies stablehlo.add across dimensions = [0] : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>
    %100 = stablehlo.reshape %99 : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %101 = stablehlo.reduce(%100 init: %cst_26) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %102 = stablehlo.dot_general %98, %arg19, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
    %103 = stablehlo.transpose %102, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
    %cst_27 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %105 = stablehlo.multiply %104, %arg6 : tensor<8x16xf32>
    %cst_28 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %107 = stablehlo.multiply %106, %103 : tensor<8x16xf32>
    %108 = stablehlo.add %105, %107 : tensor<8x16xf32>
    %cst_29 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %110 = stablehlo.multiply %109, %arg7 : tensor<16xf32>
    %cst_30 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %112 = stablehlo.multiply %111, %101 : tensor<16xf32>
    %113 = stablehlo.add %110, %112 : tensor<16xf32>
    %cst_31 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %115 = stablehlo.multiply %114, %arg8 : tensor<16x16xf32>
    %cst_32 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %116 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %117 = stablehlo.multiply %116, %83 : tensor<16x16xf32>
    %118 = stablehlo.add %115, %117 : tensor<16x16xf32>
    %cst_33 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %120 = stablehlo.multiply %119, %arg9 : tensor<16xf32>
    %cst_34 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %122 = stablehlo.multiply %121, %81 : tensor<16xf32>
    %123 = stablehlo.add %120, %122 : tensor<16xf32>
    %cst_35 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %125 = stablehlo.multiply %124, %arg10 : tensor<16x4xf32>
    %cst_36 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %127 = stablehlo.multiply %126, %63 : tensor<16x4xf32>
    %128 = stablehlo.add %125, %127 : tensor<16x4xf32>
    %cst_37 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %130 = stablehlo.multiply %129, %arg11 : tensor<4xf32>
    %cst_38 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %132 = stablehlo.multiply %131, %61 : tensor<4xf32>
    %133 = stablehlo.add %130, %132 : tensor<4xf32>
    %cst_39 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %135 = stablehlo.multiply %134, %arg12 : tensor<8x16xf32>
    %cst_40 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %137 = stablehlo.multiply %136, %103 : tensor<8x16xf32>
    %138 = stablehlo.multiply %137, %103 : tensor<8x16xf32>
    %139 = stablehlo.add %135, %138 : tensor<8x16xf32>
    %cst_41 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %141 = stablehlo.multiply %140, %arg13 : tensor<16xf32>
    %cst_42 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %143 = stablehlo.multiply %142, %101 : tensor<16xf32>
    %144 = stablehlo.multiply %143, %101 : tensor<16xf32>
    %145 = stablehlo.add %141, %144 : tensor<16xf32>
    %cst_43 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %147 = stablehlo.multiply %146, %arg14 : tensor<16x16xf32>
    %cst_44 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %149 = stablehlo.multiply %148, %83 : tensor<16x16xf32>
    %150 = stablehlo.multiply %149, %83 : tensor<16x16xf32>
    %151 = stablehlo.add %147, %150 : tensor<16x16xf32>
    %cst_45 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %153 = stablehlo.multiply %152, %arg15 : tensor<16xf32>
    %cst_46 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %155 = stablehlo.multiply %154, %81 : tensor<16xf32>
    %156 = stablehlo.multiply %155, %81 : tensor<16xf32>
    %157 = stablehlo.add %153, %156 : tensor<16xf32>
    %cst_47 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %159 = stablehlo.multiply %158, %arg16 : tensor<16x4xf32>
    %cst_48 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %161 = stablehlo.multiply %160, %63 : tensor<16x4xf32>
    %162 = stablehlo.multiply %161, %63 : tensor<16x4xf32>
    %163 = stablehlo.add %159, %162 : tensor<16x4xf32>
    %cst_49 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %164 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %165 = stablehlo.multiply %164, %arg17 : tensor<4xf32>
    %cst_50 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %167 = stablehlo.multiply %166, %61 : tensor<4xf32>
    %168 = stablehlo.multiply %167, %61 : tensor<4xf32>
    %169 = stablehlo.add %165, %168 : tensor<4xf32>
    %170 = stablehlo.convert %arg18 : (tensor<i32>) -> tensor<f32>
    %cst_51 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %171 = stablehlo.add %170, %cst_51 : tensor<f32>
    %cst_52 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %172 = stablehlo.power %cst_52, %171 : tensor<f32>
    %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %173 = stablehlo.subtract %cst_53, %172 : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %175 = stablehlo.divide %108, %174 : tensor<8x16xf32>
    %cst_54 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %177 = stablehlo.multiply %176, %175 : tensor<8x16xf32>
    %cst_55 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %178 = stablehlo.power %cst_55, %171 : tensor<f32>
    %cst_56 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %179 = stablehlo.subtract %cst_56, %178 : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %179, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %181 = stablehlo.divide %139, %180 : tensor<8x16xf32>
    %182 = stablehlo.sqrt %181 : tensor<8x16xf32>
    %cst_57 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %184 = stablehlo.add %182, %183 : tensor<8x16xf32>
    %185 = stablehlo.divide %177, %184 : tensor<8x16xf32>
    %186 = stablehlo.subtract %arg0, %185 : tensor<8x16xf32>
    %cst_58 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %187 = stablehlo.power %cst_58, %171 : tensor<f32>
    %cst_59 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %188 = stablehlo.subtract %cst_59, %187 : tensor<f32>
    %189 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %190 = stablehlo.divide %113, %189 : tensor<16xf32>
    %cst_60 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %192 = stablehlo.multiply %191, %190 : tensor<16xf32>
    %cst_61 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %193 = stablehlo.power %cst_61, %171 : tensor<f32>
    %cst_62 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %194 = stablehlo.subtract %cst_62, %193 : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %194, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %196 = stablehlo.divide %145, %195 : tensor<16xf32>
    %197 = stablehlo.sqrt %196 : tensor<16xf32>
    %cst_63 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %198 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %199 = stablehlo.add %197, %198 : tensor<16xf32>
    %200 = stablehlo.divide %192, %199 : tensor<16xf32>
    %201 = stablehlo.subtract %arg1, %200 : tensor<16xf32>
    %cst_64 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %202 = stablehlo.power %cst_64, %171 : tensor<f32>
    %cst_65 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %203 = stablehlo.subtract %cst_65, %202 : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %203, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %205 = stablehlo.divide %118, %204 : tensor<16x16xf32>
    %cst_66 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %207 = stablehlo.multiply %206, %205 : tensor<16x16xf32>
    %cst_67 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %208 = stablehlo.power %cst_67, %171 : tensor<f32>
    %cst_68 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %209 = stablehlo.subtract %cst_68, %208 : tensor<f32>
    %210 = stablehlo.broadcast_in_dim %209, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %211 = stablehlo.divide %151, %210 : tensor<16x16xf32>
    %212 = stablehlo.sqrt %211 : tensor<16x16xf32>
    %cst_69 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %214 = stablehlo.add %212, %213 : tensor<16x16xf32>
    %215 = stablehlo.divide %207, %214 : tensor<16x16xf32>
    %216 = stablehlo.subtract %arg2, %215 : tensor<16x16xf32>
    %cst_70 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %217 = stablehlo.power %cst_70, %171 : tensor<f32>
    %cst_71 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %218 = stablehlo.subtract %cst_71, %217 : tensor<f32>
    %219 = stablehlo.broadcast_in_dim %218, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %220 = stablehlo.divide %123, %219 : tensor<16xf32>
    %cst_72 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %221 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %222 = stablehlo.multiply %221, %220 : tensor<16xf32>
    %cst_73 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %223 = stablehlo.power %cst_73, %171 : tensor<f32>
    %cst_74 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %224 = stablehlo.subtract %cst_74, %223 : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %224, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %226 = stablehlo.divide %157, %225 : tensor<16xf32>
    %227 = stablehlo.sqrt %226 : tensor<16xf32>
    %cst_75 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %229 = stablehlo.add %227, %228 : tensor<16xf32>
    %230 = stablehlo.divide %222, %229 : tensor<16xf32>
    %231 = stablehlo.subtract %arg3, %230 : tensor<16xf32>
    %cst_76 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %232 = stablehlo.power %cst_76, %171 : tensor<f32>
    %cst_77 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %233 = stablehlo.subtract %cst_77, %232 : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %233, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %235 = stablehlo.divide %128, %234 : tensor<16x4xf32>
    %cst_78 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %236 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %237 = stablehlo.multiply %236, %235 : tensor<16x4xf32>
    %cst_79 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %238 = stablehlo.power %cst_79, %171 : tensor<f32>
    %cst_80 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %239 = stablehlo.subtract %cst_80, %238 : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %239, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %241 = stablehlo.divide %163, %240 : tensor<16x4xf32>
    %242 = stablehlo.sqrt %241 : tensor<16x4xf32>
    %cst_81 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %243 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<16x4xf32>
    %244 = stablehlo.add %242, %243 : tensor<16x4xf32>
    %245 = stablehlo.divide %237, %244 : tensor<16x4xf32>
    %246 = stablehlo.subtract %arg4, %245 : tensor<16x4xf32>
    %cst_82 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %247 = stablehlo.power %cst_82, %171 : tensor<f32>
    %cst_83 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %248 = stablehlo.subtract %cst_83, %247 : tensor<f32>
    %249 = stablehlo.broadcast_in_dim %248, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %250 = stablehlo.divide %133, %249 : tensor<4xf32>
    %cst_84 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %252 = stablehlo.multiply %251, %250 : tensor<4xf32>
    %cst_85 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %253 = stablehlo.power %cst_85, %171 : tensor<f32>
    %cst_86 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %254 = stablehlo.subtract %cst_86, %253 : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %254, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %256 = stablehlo.divide %169, %255 : tensor<4xf32>
    %257 = stablehlo.sqrt %256 : tensor<4xf32>
    %cst_87 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %258 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %259 = stablehlo.add %257, %258 : tensor<4xf32>
    %260 = stablehlo.divide %252, %259 : tensor<4xf32>
    %261 = stablehlo.subtract %arg5, %260 : tensor<4xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %262 = stablehlo.add %arg18, %c : tensor<i32>
    return %186, %201, %216, %231, %246, %261, %108, %113, %118, %123, %128, %133, %139, %145, %151, %157, %163, %169, %262 : tensor<8x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x4xf32>, tensor<4xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x4xf32>, tensor<4xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x4xf32>, tensor<4xf32>, tensor<i32>
  }
  func.func private @log_softmax(%arg0: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x4xf32>
    %6 = stablehlo.exponential %5 : tensor<4x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %9 = stablehlo.log %8 : tensor<4x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x4xf32>
    return %11, %6, %8 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x4xf32>, %arg1: tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x1xi1>, tensor<4x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4x1x1xi32>
    %c_1 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<4x1x1xi1>, tensor<i1>) -> tensor<4x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x1xi1>, tensor<4x1xf32>
    return %15, %5 : tensor<4x1xf32>, tensor<4x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<4x4xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.negate %arg2 : tensor<4x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x4xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x4xf32>
    return %7 : tensor<4x4xf32>
  }
}
