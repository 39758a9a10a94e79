// RUN: octavo-opt %s -split-input-file -verify-diagnostics

!x = !octavo.scaled<2x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @u1(%x: !x) {
  // expected-error @+1 {{(U1) needs a body that takes the inputs}}
  %r = octavo.fused_dot %x : (!x) -> tensor<2x2xf32> {
  ^bb0(%a: !x, %b: !x):
    %p = octavo.dot_general %a, %b, contracting_dims = [1] x [1] : (!x, !x) -> tensor<2x2xf32>
    octavo.yield %p : tensor<2x2xf32>
  }
  return
}

// -----

!x = !octavo.scaled<2x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @u2_end(%x: !x) {
  // expected-error @+3 {{block with no terminator}}
  %r = octavo.fused_dot %x : (!x) -> tensor<2x2xf32> {
  ^bb0(%a: !x):
    %p = octavo.dot_general %a, %a, contracting_dims = [1] x [1] : (!x, !x) -> tensor<2x2xf32>
  }
  return
}

// -----

!x = !octavo.scaled<2x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @u2_types(%x: !x) {
  // expected-error @+1 {{(U2) needs a body that yields the results, 'tensor<2x2xbf16>'; found 'tensor<2x2xf32>'}}
  %r = octavo.fused_dot %x : (!x) -> tensor<2x2xbf16> {
  ^bb0(%a: !x):
    %p = octavo.dot_general %a, %a, contracting_dims = [1] x [1] : (!x, !x) -> tensor<2x2xf32>
    octavo.yield %p : tensor<2x2xf32>
  }
  return
}

// -----

func.func @u3_none(%x: tensor<2x2xf32>) {
  // expected-error @+1 {{(U3) needs one product, of scaled tensors or narrow floats; found 0}}
  %r = octavo.fused_dot %x : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    octavo.yield %a : tensor<2x2xf32>
  }
  return
}

// -----

func.func @u3_wide(%x: tensor<2x2xf32>) {
  // expected-error @+1 {{(U3) needs one product, of scaled tensors or narrow floats; found stablehlo.dot_general}}
  %r = octavo.fused_dot %x : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    %p = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    octavo.yield %p : tensor<2x2xf32>
  }
  return
}

// -----

!x = !octavo.scaled<2x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @u3_two(%x: !x) {
  // expected-error @+1 {{(U3) needs one product, of scaled tensors or narrow floats; found 2}}
  %r = octavo.fused_dot %x : (!x) -> tensor<2x2xf32> {
  ^bb0(%a: !x):
    %p = octavo.dot_general %a, %a, contracting_dims = [1] x [1] : (!x, !x) -> tensor<2x2xf32>
    %q = octavo.dot_general %a, %a, contracting_dims = [1] x [1] : (!x, !x) -> tensor<2x2xf32>
    octavo.yield %q : tensor<2x2xf32>
  }
  return
}

// -----

!x = !octavo.scaled<2x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @u4(%x: !x) {
  // expected-error @+1 {{(U4) takes operations without side effects; found stablehlo.custom_call}}
  %r = octavo.fused_dot %x : (!x) -> tensor<2x2xf32> {
  ^bb0(%a: !x):
    %p = octavo.dot_general %a, %a, contracting_dims = [1] x [1] : (!x, !x) -> tensor<2x2xf32>
    %c = stablehlo.custom_call @f(%p) {has_side_effect = true} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    octavo.yield %c : tensor<2x2xf32>
  }
  return
}
