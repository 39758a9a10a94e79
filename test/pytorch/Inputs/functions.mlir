module {
  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<-4.000000e+00> : tensor<4x8xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<4x8xf32>
    %cst_1 = stablehlo.constant dense<-2.72614237E-10> : tensor<4x8xf32>
    %cst_2 = stablehlo.constant dense<2.77068146E-8> : tensor<4x8xf32>
    %cst_3 = stablehlo.constant dense<-2.10102394E-6> : tensor<4x8xf32>
    %cst_4 = stablehlo.constant dense<-5.69250624E-5> : tensor<4x8xf32>
    %cst_5 = stablehlo.constant dense<-7.34990637E-4> : tensor<4x8xf32>
    %cst_6 = stablehlo.constant dense<-2.954600e-03> : tensor<4x8xf32>
    %cst_7 = stablehlo.constant dense<-0.0160960332> : tensor<4x8xf32>
    %cst_8 = stablehlo.constant dense<-1.45660715E-5> : tensor<4x8xf32>
    %cst_9 = stablehlo.constant dense<-2.13374049E-4> : tensor<4x8xf32>
    %cst_10 = stablehlo.constant dense<-0.00168282702> : tensor<4x8xf32>
    %cst_11 = stablehlo.constant dense<-0.00737332925> : tensor<4x8xf32>
    %cst_12 = stablehlo.constant dense<-0.0142647391> : tensor<4x8xf32>
    %cst_13 = stablehlo.constant dense<-1.000000e+00> : tensor<4x8xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<4x8xf32>
    %cst_15 = arith.constant dense<3> : tensor<1xi64>
    %0 = stablehlo.tanh %arg0 : tensor<4x8xf32>
    %1 = stablehlo.logistic %0 : tensor<4x8xf32>
    %2 = stablehlo.log_plus_one %1 : tensor<4x8xf32>
    %3 = stablehlo.exponential_minus_one %2 : tensor<4x8xf32>
    %4 = stablehlo.abs %arg0 : tensor<4x8xf32>
    %5 = stablehlo.rsqrt %4 : tensor<4x8xf32>
    %6 = stablehlo.add %3, %5 : tensor<4x8xf32>
    %7 = stablehlo.sine %arg0 : tensor<4x8xf32>
    %8 = stablehlo.add %6, %7 : tensor<4x8xf32>
    %9 = stablehlo.cosine %arg0 : tensor<4x8xf32>
    %10 = stablehlo.add %8, %9 : tensor<4x8xf32>
    %11 = stablehlo.convert %cst_15 : (tensor<1xi64>) -> tensor<1xf32>
    %12 = stablehlo.reshape %11 : (tensor<1xf32>) -> tensor<f32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %14 = stablehlo.add %arg0, %13 : tensor<4x8xf32>
    %15 = stablehlo.atan2 %arg0, %14 : tensor<4x8xf32>
    %16 = stablehlo.add %10, %15 : tensor<4x8xf32>
    %17 = stablehlo.clamp %cst, %arg0, %cst_0 : tensor<4x8xf32>
    %18 = stablehlo.multiply %17, %17 : tensor<4x8xf32>
    %19 = stablehlo.multiply %cst_1, %18 : tensor<4x8xf32>
    %20 = stablehlo.add %19, %cst_2 : tensor<4x8xf32>
    %21 = stablehlo.multiply %20, %18 : tensor<4x8xf32>
    %22 = stablehlo.add %21, %cst_3 : tensor<4x8xf32>
    %23 = stablehlo.multiply %22, %18 : tensor<4x8xf32>
    %24 = stablehlo.add %23, %cst_4 : tensor<4x8xf32>
    %25 = stablehlo.multiply %24, %18 : tensor<4x8xf32>
    %26 = stablehlo.add %25, %cst_5 : tensor<4x8xf32>
    %27 = stablehlo.multiply %26, %18 : tensor<4x8xf32>
    %28 = stablehlo.add %27, %cst_6 : tensor<4x8xf32>
    %29 = stablehlo.multiply %28, %18 : tensor<4x8xf32>
    %30 = stablehlo.add %29, %cst_7 : tensor<4x8xf32>
    %31 = stablehlo.multiply %cst_8, %18 : tensor<4x8xf32>
    %32 = stablehlo.add %31, %cst_9 : tensor<4x8xf32>
    %33 = stablehlo.multiply %32, %18 : tensor<4x8xf32>
    %34 = stablehlo.add %33, %cst_10 : tensor<4x8xf32>
    %35 = stablehlo.multiply %34, %18 : tensor<4x8xf32>
    %36 = stablehlo.add %35, %cst_11 : tensor<4x8xf32>
    %37 = stablehlo.multiply %36, %18 : tensor<4x8xf32>
    %38 = stablehlo.add %37, %cst_12 : tensor<4x8xf32>
    %39 = stablehlo.multiply %17, %30 : tensor<4x8xf32>
    %40 = stablehlo.divide %39, %38 : tensor<4x8xf32>
    %41 = stablehlo.clamp %cst_13, %40, %cst_14 : tensor<4x8xf32>
    %42 = stablehlo.add %16, %41 : tensor<4x8xf32>
    return %42 : tensor<4x8xf32>
  }
}
