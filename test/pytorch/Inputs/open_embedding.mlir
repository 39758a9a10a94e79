module {
  func.func @main(%arg0: tensor<?x3xi64>) -> tensor<?x8xf32> {
    %cst = stablehlo.constant dense_resource<torch_tensor_10_8_torch.float32> : tensor<10x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.gather"(%cst, %arg0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<10x8xf32>, tensor<?x3xi64>) -> tensor<?x3x8xf32>
    %1 = stablehlo.convert %0 : tensor<?x3x8xf32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<?x3x8xf32>, tensor<f32>) -> tensor<?x8xf32>
    return %2 : tensor<?x8xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_10_8_torch.float32: "0x04000000E82AC13FC23E05408775DA3FF1571840B71390BF934DA2BE00D68BBF597AAEBD10BDA73EB5BD42BFB8AECCBF5A71973CF91B40BF97DB3D3EEC021F3FDE5F233FCA8558BB1BD108BF9097953F44FCC93ED481F83F9E9F4A3F29E7A5BCB0D4DFBE4A84C4BFAE4AD3BEA75F773FE5F8CF3F6332BBBE5EB6A6BF0B94CB3D7F36E23E0602963D38818E3F5585903ED352DE3E2D704DBFA9C8A5BFE50B40BF7EEEA7BFCC5E533EAEB9AABE9B8FDBBE22826E3ECC004C3F20473DBEF183BDBE81EA9ABF0D9733BF27B2843F208A1ABF94AEA3BFB15CBE3D83852ABFFBA81B3F95E23ABF3E01B03F95DD283F4BFFF33E5D1682BF1FB2383E19DDDD3D193C41BFA32E7A3E03F7913F1714B8BDEDD33A3F6A33ECBF9EF6CCBCE047AF3FAB0C2A40C9307C3FFD1DC13E43F58C3F8B4692BF25F3193DCB8F2C40812D9E3FE5F60A3F2889063F"
    }
  }
#-}
