// RUN: octavo-opt %s -split-input-file -verify-diagnostics

// What jaxlib 0.10.2 crashes on.

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=6]>
sdy.mesh @one = <[], device_ids=[0]>
func.func @m1_one_device(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.manual_computation' op (M1) needs one mesh for all shardings, found another for result 0}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@one, []>] manual_axes={"a"} (%part: tensor<4x12xf32>) {
    sdy.return %part : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}
