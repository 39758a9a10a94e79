// RUN: octavo-opt %s -split-input-file -verify-diagnostics

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @q1(%x: tensor<4x32xf32>) {
  // expected-error @+1 {{(Q1) needs one shape, found 'tensor<4x32xf32>' and '!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>'}}
  %0 = octavo.quantize %x, rule = floor : tensor<4x32xf32> -> !mx
  return
}

// -----

!nv = !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>
func.func @q2(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{(Q2) scales of f8E4M3FN have the rule nearest only, found floor}}
  %0 = octavo.quantize %x, rule = floor : tensor<4x64xf32> -> !nv
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @q3_missing(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{(Q3) rounding = stochastic needs random bits: random(%bits : ...)}}
  %0 = octavo.quantize %x, rule = floor, rounding = stochastic : tensor<4x64xf32> -> !mx
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @q3_unused(%x: tensor<4x64xf32>, %bits: tensor<4x64xui32>) {
  // expected-error @+1 {{(Q3) has random bits, but rounding = ties-to-even}}
  %0 = octavo.quantize %x random(%bits : tensor<4x64xui32>), rule = floor : tensor<4x64xf32> -> !mx
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @q3_shape(%x: tensor<4x64xf32>, %bits: tensor<64xui32>) {
  // expected-error @+1 {{(Q3) needs random bits of the operand's shape, found 'tensor<64xui32>'}}
  %0 = octavo.quantize %x random(%bits : tensor<64xui32>), rule = floor, rounding = stochastic : tensor<4x64xf32> -> !mx
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @no_rule(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{expected 'preset = "..."', or 'rule = ...', one of floor, ceil, even, round-up, nearest}}
  %0 = octavo.quantize %x : tensor<4x64xf32> -> !mx
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @f64(%x: tensor<4x64xf64>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<4x64xf64>'}}
  %0 = octavo.quantize %x, rule = floor : tensor<4x64xf64> -> !mx
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @d1(%q: !mx) {
  // expected-error @+1 {{(D1) needs one shape}}
  %0 = octavo.dequantize %q : !mx -> tensor<64x4xf32>
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @p1(%e: tensor<4x64xf8E5M2>, %s: tensor<4x2xf8E8M0FNU>) {
  // expected-error @+1 {{(P1) the elements of '!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>' are 'tensor<4x64xf8E4M3FN>', found 'tensor<4x64xf8E5M2>'}}
  %0 = octavo.pack %e, %s : (tensor<4x64xf8E5M2>, tensor<4x2xf8E8M0FNU>) -> !mx
  return
}

// -----

!mx = !octavo.scaled<4x65xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @p2(%e: tensor<4x65xf8E4M3FN>, %s: tensor<4x2xf8E8M0FNU>) {
  // expected-error @+1 {{(P2) the scales of '!octavo.scaled<4x65xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>' are 'tensor<4x3xf8E8M0FNU>', found 'tensor<4x2xf8E8M0FNU>'}}
  %0 = octavo.pack %e, %s : (tensor<4x65xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> !mx
  return
}

// -----

!nv = !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>
func.func @p3_missing(%q: !nv) {
  // expected-error @+1 {{(P3) '!octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>' has an outer scale, found none}}
  %e, %s = octavo.unpack %q : (!nv) -> (tensor<4x64xf4E2M1FN>, tensor<4x4xf8E4M3FN>)
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @p3_extra(%q: !mx) {
  // expected-error @+1 {{(P3) '!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>' has no outer scale, found one}}
  %e, %s, %o = octavo.unpack %q : (!mx) -> (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>, tensor<f32>)
  return
}

// -----

func.func @g1_plain(%a: tensor<4x64xf32>) {
  // expected-error @+1 {{(G1) has no scaled side; write stablehlo.dot_general}}
  %0 = octavo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x4xf32>
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @g1_integers(%a: tensor<4x64xi32>, %w: !mx) {
  // expected-error @+1 {{(G1) a side that is not scaled must be of f32, bf16 or f16, found 'tensor<4x64xi32>'}}
  %0 = octavo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<4x64xi32>, !mx) -> tensor<4x4xf32>
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @g3_unknown(%a: tensor<?x64xf32>, %w: !mx) {
  // expected-error @+1 {{(G3) the result must have shape 'tensor<?x4xf32>', found 'tensor<4x5xf32>'}}
  %0 = octavo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<?x64xf32>, !mx) -> tensor<4x5xf32>
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @g2_range(%a: tensor<4x64xf32>, %w: !mx) {
  // expected-error @+1 {{(G2) axis 2 is not one of the 2 axes of the right side}}
  %0 = octavo.dot_general %a, %w, contracting_dims = [1] x [2] : (tensor<4x64xf32>, !mx) -> tensor<4x4xf32>
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @g2_twice(%a: tensor<4x64xf32>, %w: !mx) {
  // expected-error @+1 {{(G2) axis 1 of the left side is named twice}}
  %0 = octavo.dot_general %a, %w, batching_dims = [1] x [0], contracting_dims = [1] x [1] : (tensor<4x64xf32>, !mx) -> tensor<4x4xf32>
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @g2_count(%a: tensor<4x64xf32>, %w: !mx) {
  // expected-error @+1 {{(G2) names 2 contracting axes on the left side and 1 on the right}}
  %0 = octavo.dot_general %a, %w, contracting_dims = [1, 0] x [1] : (tensor<4x64xf32>, !mx) -> tensor<4xf32>
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @g2_extent(%a: tensor<4x32xf32>, %w: !mx) {
  // expected-error @+1 {{(G2) contracting axes 1 and 1 have extents 32 and 64, which must be equal}}
  %0 = octavo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<4x32xf32>, !mx) -> tensor<4x4xf32>
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @g3(%a: tensor<8x64xf32>, %w: !mx) {
  // expected-error @+1 {{(G3) the result must have shape 'tensor<8x4xf32>', found 'tensor<4x8xf32>'}}
  %0 = octavo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<8x64xf32>, !mx) -> tensor<4x8xf32>
  return
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @g4(%a: tensor<8x64xf32>, %w: !mx) {
  // expected-error @+1 {{(G4) accumulates in f32, the one type that OCP MX 6.2 gives; found 'bf16'}}
  %0 = octavo.dot_general %a, %w, contracting_dims = [1] x [1], accumulation = bf16 : (tensor<8x64xf32>, !mx) -> tensor<8x4xf32>
  return
}

// -----

func.func @c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C1) needs one shape, found 'tensor<4xf32>' and 'tensor<8xbf16>'}}
  %0 = octavo.convert %x : tensor<4xf32> -> tensor<8xbf16>
  return
}

// -----

func.func @c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C2) rounding = stochastic needs random bits}}
  %0 = octavo.convert %x, rounding = stochastic : tensor<4xf32> -> tensor<4xbf16>
  return
}

// -----

func.func @unknown_rounding(%x: tensor<4xf32>) {
  // expected-error @+1 {{'nearest' is not a value of 'rounding'; available: ties-to-even, ties-to-away, ties-toward-zero, toward-zero, toward-positive, toward-negative, stochastic}}
  %0 = octavo.convert %x, rounding = nearest : tensor<4xf32> -> tensor<4xbf16>
  return
}

// -----

!open = !octavo.scaled<?x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @q1_unknown(%x: tensor<?x32xf32>) {
  // expected-error @+1 {{(Q1) needs one shape, found 'tensor<?x32xf32>' and}}
  %0 = octavo.quantize %x, rule = floor : tensor<?x32xf32> -> !open
  return
}

// -----

!open = !octavo.scaled<?x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
func.func @p2_unknown(%e: tensor<?x64xf8E4M3FN>, %s: tensor<?x3xf8E8M0FNU>) {
  // expected-error @+1 {{(P2) the scales of '!octavo.scaled<?x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>' are 'tensor<?x2xf8E8M0FNU>', found 'tensor<?x3xf8E8M0FNU>'}}
  %0 = octavo.pack %e, %s : (tensor<?x64xf8E4M3FN>, tensor<?x3xf8E8M0FNU>) -> !open
  return
}
