module {
  func.func @main(%arg0: tensor<2x3x16x16xf32>) -> tensor<2x6x16x16xf32> {
    %cst = stablehlo.constant dense_resource<torch_tensor_6_1_3_3_torch.float32> : tensor<6x1x3x3xf32>
    %cst_0 = stablehlo.constant dense_resource<torch_tensor_6_torch.float32> : tensor<6xf32>
    %0 = stablehlo.convolution(%arg0, %cst) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<2x3x16x16xf32>, tensor<6x1x3x3xf32>) -> tensor<2x6x16x16xf32>
    %1 = stablehlo.reshape %cst_0 : (tensor<6xf32>) -> tensor<6x1x1xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2, 3] : (tensor<6x1x1xf32>) -> tensor<2x6x16x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<2x6x16x16xf32>
    return %3 : tensor<2x6x16x16xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_6_1_3_3_torch.float32: "0x040000004B788ABD73303B3EF089383EAC98A4BEE8EA543E5C8C85BEA05290BDBE660ABEF67D83BD600986BDD22599BE2E5C93BE8BA555BD00418D3B260F1BBE7B94003E279C99BE0049B8BC6C16963E263A0BBECF1C9A3EF63AF73D1F059ABEF0F5573E4B8D1DBDA05F18BE6379883E38EA89BECB81123DD6ED8EBD1EC0733E0B90BE3D3303243E0017F13D002AA4BD8B918FBDABA48CBE10F3383E6F81873E7B8C693EE6C470BE2B93733C169E70BE0BE63BBE96E546BE464CE93DB0674BBE564DEEBB80BF653C06085C3EA70281BE5B546ABEFB3246BE1EE96E3E",
      torch_tensor_6_torch.float32: "0x040000001065F5BD96F48F3E80DBF63D00E32C3D009E22BB5BF386BD"
    }
  }
#-}
