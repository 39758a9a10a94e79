// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2x3xf32>) {
  // expected-note @+2 {{it has: abs, add, after_all, and, }}
  // expected-error @+1 {{custom op 'stablehlo.reduce_scatter' is not among the StableHLO operations that octavo has; lower it to operations that octavo has before the program is written out}}
  %0 = stablehlo.reduce_scatter %x : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-note @+2 {{it has: }}
  // expected-error @+1 {{custom op 'stablehlo.exponentiol' is not among the StableHLO operations that octavo has; did you mean 'stablehlo.exponential'?}}
  %0 = stablehlo.exponentiol %x : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{unregistered operation 'stablehlo.reduce_scatter' found in dialect ('stablehlo') that does not allow unknown operations}}
  %0 = "stablehlo.reduce_scatter"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{unregistered dialect}}
  %0 = "other.op"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-note @+2 {{Available dialects: }}
  // expected-error @+1 {{Dialect `other' not found for custom op 'other.op'}}
  %0 = other.op %x : tensor<2x3xf32>
  return
}
