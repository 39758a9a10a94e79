// Just above the middle of 1 and 1.125, and just above the middle of 448 and the overflow:
// both differ from the middle by less than f32 can hold.
func.func @main() -> tensor<2xf8E4M3FN> {
  %x = stablehlo.constant dense<[1.0625000009, 464.0000000009]> : tensor<2xf64>
  %q = stablehlo.convert %x : (tensor<2xf64>) -> tensor<2xf8E4M3FN>
  return %q : tensor<2xf8E4M3FN>
}
