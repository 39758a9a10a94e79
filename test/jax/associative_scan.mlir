module @jit_associative_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64xf32>) -> (tensor<64xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<64xf32>
    %2 = stablehlo.slice %1 [0:63:2] : (tensor<64xf32>) -> tensor<32xf32>
    %3 = stablehlo.slice %arg0 [0:63:2] : (tensor<64xf32>) -> tensor<32xf32>
    %4 = stablehlo.slice %1 [1:64:2] : (tensor<64xf32>) -> tensor<32xf32>
    %5 = stablehlo.slice %arg0 [1:64:2] : (tensor<64xf32>) -> tensor<32xf32>
    %6 = stablehlo.multiply %2, %4 : tensor<32xf32>
    %7 = stablehlo.multiply %4, %3 : tensor<32xf32>
    %8 = stablehlo.add %7, %5 : tensor<32xf32>
    %9 = stablehlo.slice %6 [0:31:2] : (tensor<32xf32>) -> tensor<16xf32>
    %10 = stablehlo.slice %8 [0:31:2] : (tensor<32xf32>) -> tensor<16xf32>
    %11 = stablehlo.slice %6 [1:32:2] : (tensor<32xf32>) -> tensor<16xf32>
    %12 = stablehlo.slice %8 [1:32:2] : (tensor<32xf32>) -> tensor<16xf32>
    %13 = stablehlo.multiply %9, %11 : tensor<16xf32>
    %14 = stablehlo.multiply %11, %10 : tensor<16xf32>
    %15 = stablehlo.add %14, %12 : tensor<16xf32>
    %16 = stablehlo.slice %13 [0:15:2] : (tensor<16xf32>) -> tensor<8xf32>
    %17 = stablehlo.slice %15 [0:15:2] : (tensor<16xf32>) -> tensor<8xf32>
    %18 = stablehlo.slice %13 [1:16:2] : (tensor<16xf32>) -> tensor<8xf32>
    %19 = stablehlo.slice %15 [1:16:2] : (tensor<16xf32>) -> tensor<8xf32>
    %20 = stablehlo.multiply %16, %18 : tensor<8xf32>
    %21 = stablehlo.multiply %18, %17 : tensor<8xf32>
    %22 = stablehlo.add %21, %19 : tensor<8xf32>
    %23 = stablehlo.slice %20 [0:7:2] : (tensor<8xf32>) -> tensor<4xf32>
    %24 = stablehlo.slice %22 [0:7:2] : (tensor<8xf32>) -> tensor<4xf32>
    %25 = stablehlo.slice %20 [1:8:2] : (tensor<8xf32>) -> tensor<4xf32>
    %26 = stablehlo.slice %22 [1:8:2] : (tensor<8xf32>) -> tensor<4xf32>
    %27 = stablehlo.multiply %23, %25 : tensor<4xf32>
    %28 = stablehlo.multiply %25, %24 : tensor<4xf32>
    %29 = stablehlo.add %28, %26 : tensor<4xf32>
    %30 = stablehlo.slice %27 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
    %31 = stablehlo.slice %29 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
    %32 = stablehlo.slice %27 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
    %33 = stablehlo.slice %29 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
    %34 = stablehlo.multiply %30, %32 : tensor<2xf32>
    %35 = stablehlo.multiply %32, %31 : tensor<2xf32>
    %36 = stablehlo.add %35, %33 : tensor<2xf32>
    %37 = stablehlo.slice %34 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %38 = stablehlo.slice %36 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %39 = stablehlo.slice %34 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
    %40 = stablehlo.slice %36 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
    %41 = stablehlo.multiply %37, %39 : tensor<1xf32>
    %42 = stablehlo.multiply %39, %38 : tensor<1xf32>
    %43 = stablehlo.add %42, %40 : tensor<1xf32>
    %44 = stablehlo.slice %41 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
    %45 = stablehlo.slice %43 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
    %46 = stablehlo.slice %34 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
    %47 = stablehlo.slice %36 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
    %48 = stablehlo.multiply %44, %46 : tensor<0xf32>
    %49 = stablehlo.multiply %46, %45 : tensor<0xf32>
    %50 = stablehlo.add %49, %47 : tensor<0xf32>
    %51 = stablehlo.slice %34 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %52 = stablehlo.concatenate %51, %48, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
    %53 = stablehlo.slice %36 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %54 = stablehlo.concatenate %53, %50, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %55 = stablehlo.pad %52, %cst_0, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.pad %41, %cst_1, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %57 = stablehlo.add %55, %56 : tensor<2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.pad %54, %cst_2, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.pad %43, %cst_3, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %60 = stablehlo.add %58, %59 : tensor<2xf32>
    %61 = stablehlo.slice %57 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %62 = stablehlo.slice %60 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %63 = stablehlo.slice %27 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
    %64 = stablehlo.slice %29 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
    %65 = stablehlo.multiply %61, %63 : tensor<1xf32>
    %66 = stablehlo.multiply %63, %62 : tensor<1xf32>
    %67 = stablehlo.add %66, %64 : tensor<1xf32>
    %68 = stablehlo.slice %27 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %69 = stablehlo.concatenate %68, %65, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    %70 = stablehlo.slice %29 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %71 = stablehlo.concatenate %70, %67, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.pad %69, %cst_4, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %73 = stablehlo.pad %57, %cst_5, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %74 = stablehlo.add %72, %73 : tensor<4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.pad %71, %cst_6, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %76 = stablehlo.pad %60, %cst_7, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %77 = stablehlo.add %75, %76 : tensor<4xf32>
    %78 = stablehlo.slice %74 [0:3] : (tensor<4xf32>) -> tensor<3xf32>
    %79 = stablehlo.slice %77 [0:3] : (tensor<4xf32>) -> tensor<3xf32>
    %80 = stablehlo.slice %20 [2:8:2] : (tensor<8xf32>) -> tensor<3xf32>
    %81 = stablehlo.slice %22 [2:8:2] : (tensor<8xf32>) -> tensor<3xf32>
    %82 = stablehlo.multiply %78, %80 : tensor<3xf32>
    %83 = stablehlo.multiply %80, %79 : tensor<3xf32>
    %84 = stablehlo.add %83, %81 : tensor<3xf32>
    %85 = stablehlo.slice %20 [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    %86 = stablehlo.concatenate %85, %82, dim = 0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
    %87 = stablehlo.slice %22 [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    %88 = stablehlo.concatenate %87, %84, dim = 0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %89 = stablehlo.pad %86, %cst_8, low = [0], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.pad %74, %cst_9, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %91 = stablehlo.add %89, %90 : tensor<8xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %92 = stablehlo.pad %88, %cst_10, low = [0], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.pad %77, %cst_11, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %94 = stablehlo.add %92, %93 : tensor<8xf32>
    %95 = stablehlo.slice %91 [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    %96 = stablehlo.slice %94 [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    %97 = stablehlo.slice %13 [2:16:2] : (tensor<16xf32>) -> tensor<7xf32>
    %98 = stablehlo.slice %15 [2:16:2] : (tensor<16xf32>) -> tensor<7xf32>
    %99 = stablehlo.multiply %95, %97 : tensor<7xf32>
    %100 = stablehlo.multiply %97, %96 : tensor<7xf32>
    %101 = stablehlo.add %100, %98 : tensor<7xf32>
    %102 = stablehlo.slice %13 [0:1] : (tensor<16xf32>) -> tensor<1xf32>
    %103 = stablehlo.concatenate %102, %99, dim = 0 : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
    %104 = stablehlo.slice %15 [0:1] : (tensor<16xf32>) -> tensor<1xf32>
    %105 = stablehlo.concatenate %104, %101, dim = 0 : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %106 = stablehlo.pad %103, %cst_12, low = [0], high = [1], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.pad %91, %cst_13, low = [1], high = [0], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
    %108 = stablehlo.add %106, %107 : tensor<16xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %109 = stablehlo.pad %105, %cst_14, low = [0], high = [1], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %110 = stablehlo.pad %94, %cst_15, low = [1], high = [0], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
    %111 = stablehlo.add %109, %110 : tensor<16xf32>
    %112 = stablehlo.slice %108 [0:15] : (tensor<16xf32>) -> tensor<15xf32>
    %113 = stablehlo.slice %111 [0:15] : (tensor<16xf32>) -> tensor<15xf32>
    %114 = stablehlo.slice %6 [2:32:2] : (tensor<32xf32>) -> tensor<15xf32>
    %115 = stablehlo.slice %8 [2:32:2] : (tensor<32xf32>) -> tensor<15xf32>
    %116 = stablehlo.multiply %112, %114 : tensor<15xf32>
    %117 = stablehlo.multiply %114, %113 : tensor<15xf32>
    %118 = stablehlo.add %117, %115 : tensor<15xf32>
    %119 = stablehlo.slice %6 [0:1] : (tensor<32xf32>) -> tensor<1xf32>
    %120 = stablehlo.concatenate %119, %116, dim = 0 : (tensor<1xf32>, tensor<15xf32>) -> tensor<16xf32>
    %121 = stablehlo.slice %8 [0:1] : (tensor<32xf32>) -> tensor<1xf32>
    %122 = stablehlo.concatenate %121, %118, dim = 0 : (tensor<1xf32>, tensor<15xf32>) -> tensor<16xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %123 = stablehlo.pad %120, %cst_16, low = [0], high = [1], interior = [1] : (tensor<16xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %124 = stablehlo.pad %108, %cst_17, low = [1], high = [0], interior = [1] : (tensor<16xf32>, tensor<f32>) -> tensor<32xf32>
    %125 = stablehlo.add %123, %124 : tensor<32xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %126 = stablehlo.pad %122, %cst_18, low = [0], high = [1], interior = [1] : (tensor<16xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %127 = stablehlo.pad %111, %cst_19, low = [1], high = [0], interior = [1] : (tensor<16xf32>, tensor<f32>) -> tensor<32xf32>
    %128 = stablehlo.add %126, %127 : tensor<32xf32>
    %129 = stablehlo.slice %125 [0:31] : (tensor<32xf32>) -> tensor<31xf32>
    %130 = stablehlo.slice %128 [0:31] : (tensor<32xf32>) -> tensor<31xf32>
    %131 = stablehlo.slice %1 [2:64:2] : (tensor<64xf32>) -> tensor<31xf32>
    %132 = stablehlo.slice %arg0 [2:64:2] : (tensor<64xf32>) -> tensor<31xf32>
    %133 = stablehlo.multiply %129, %131 : tensor<31xf32>
    %134 = stablehlo.multiply %131, %130 : tensor<31xf32>
    %135 = stablehlo.add %134, %132 : tensor<31xf32>
    %136 = stablehlo.slice %1 [0:1] : (tensor<64xf32>) -> tensor<1xf32>
    %137 = stablehlo.concatenate %136, %133, dim = 0 : (tensor<1xf32>, tensor<31xf32>) -> tensor<32xf32>
    %138 = stablehlo.slice %arg0 [0:1] : (tensor<64xf32>) -> tensor<1xf32>
    %139 = stablehlo.concatenate %138, %135, dim = 0 : (tensor<1xf32>, tensor<31xf32>) -> tensor<32xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %140 = stablehlo.pad %137, %cst_20, low = [0], high = [1], interior = [1] : (tensor<32xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %141 = stablehlo.pad %125, %cst_21, low = [1], high = [0], interior = [1] : (tensor<32xf32>, tensor<f32>) -> tensor<64xf32>
    %142 = stablehlo.add %140, %141 : tensor<64xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %143 = stablehlo.pad %139, %cst_22, low = [0], high = [1], interior = [1] : (tensor<32xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.pad %128, %cst_23, low = [1], high = [0], interior = [1] : (tensor<32xf32>, tensor<f32>) -> tensor<64xf32>
    %145 = stablehlo.add %143, %144 : tensor<64xf32>
    return %145 : tensor<64xf32>
  }
}
