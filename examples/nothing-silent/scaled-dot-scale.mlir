// 32 products of 1 and 1, the left side with one scale of 4 for all: 128.
func.func @main() -> tensor<1x1xbf16> {
  %left = stablehlo.constant dense<1.0> : tensor<1x32xf8E4M3FN>
  %right = stablehlo.constant dense<1.0> : tensor<32x1xf8E4M3FN>
  %scale = stablehlo.constant dense<4.0> : tensor<1x1xf8E8M0FNU>
  %one = stablehlo.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
  %y = stablehlo.composite "xla.scaled_dot" %left, %right, %scale, %one {
    composite_attributes = {dimension_numbers = [[[1], [0]], [[], []]], preferred_element_type = bf16},
    decomposition = @xla.scaled_dot} : (tensor<1x32xf8E4M3FN>, tensor<32x1xf8E4M3FN>, tensor<1x1xf8E8M0FNU>, tensor<1x1xf8E8M0FNU>) -> tensor<1x1xbf16>
  return %y : tensor<1x1xbf16>
}
func.func private @xla.scaled_dot(%left: tensor<1x32xf8E4M3FN>, %right: tensor<32x1xf8E4M3FN>, %leftScale: tensor<1x1xf8E8M0FNU>, %rightScale: tensor<1x1xf8E8M0FNU>) -> tensor<1x1xbf16> {
  %l = stablehlo.convert %left : (tensor<1x32xf8E4M3FN>) -> tensor<1x32xbf16>
  %ls = stablehlo.convert %leftScale : (tensor<1x1xf8E8M0FNU>) -> tensor<1x1xbf16>
  %lb = stablehlo.broadcast_in_dim %ls, dims = [0, 1] : (tensor<1x1xbf16>) -> tensor<1x32xbf16>
  %lw = stablehlo.multiply %l, %lb : tensor<1x32xbf16>
  %r = stablehlo.convert %right : (tensor<32x1xf8E4M3FN>) -> tensor<32x1xbf16>
  %rs = stablehlo.convert %rightScale : (tensor<1x1xf8E8M0FNU>) -> tensor<1x1xbf16>
  %rb = stablehlo.broadcast_in_dim %rs, dims = [0, 1] : (tensor<1x1xbf16>) -> tensor<32x1xbf16>
  %rw = stablehlo.multiply %r, %rb : tensor<32x1xbf16>
  %y = stablehlo.dot_general %lw, %rw, contracting_dims = [1] x [0] : (tensor<1x32xbf16>, tensor<32x1xbf16>) -> tensor<1x1xbf16>
  return %y : tensor<1x1xbf16>
}
