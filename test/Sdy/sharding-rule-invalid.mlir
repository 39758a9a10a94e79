// RUN: octavo-opt %s -split-input-file -verify-diagnostics

func.func @r1_operands(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R1) 'sdy.sharding_rule' needs a mapping for each operand, found 2 for 1}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=12}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r1_results(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R1) 'sdy.sharding_rule' needs a mapping for each result, found 2 for 1}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=8, j=12}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r1_rank_of_operand(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R1) 'sdy.sharding_rule' has a mapping of rank 1 for operand 0 of rank 2}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i, j]) {i=8, j=12}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r1_rank_of_result(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R1) 'sdy.sharding_rule' has a mapping of rank 3 for result 0 of rank 2}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j, k]) {i=8, j=12, k=2}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r2_twice(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R2) 'sdy.sharding_rule' has the factor i in two places of operand 0}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, i])->([i, j]) {i=8, j=12}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r2_of_size_one(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R2) 'sdy.sharding_rule' has the factor k of size 1 beside others in a dimension of operand 0}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, j]) {i=8, j=12, k=1}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r3_size(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R3) 'sdy.sharding_rule' lacks the size of k}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) {i=8, j=12}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r3_unused(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R3) 'sdy.sharding_rule' has the factor k in no mapping}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=12, k=3}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r3_size_of_reduction(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R3) 'sdy.sharding_rule' lacks the size of k}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=12} reduction={k}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r3_size_of_blocked(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R3) 'sdy.sharding_rule' lacks the size of k}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=12} blocked_propagation={k}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r4_order(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R4) 'sdy.sharding_rule' needs the factors of need_replication to ascend; found j before i}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=12} need_replication={j, i}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r4_repeated(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R4) 'sdy.sharding_rule' needs the factors of permutation to ascend; found i before i}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=12} permutation={i, i}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r4_two_kinds(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R4) 'sdy.sharding_rule' has the factor i in two of reduction, need_replication and permutation}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=12} need_replication={i} permutation={i}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r4_reduction_of_result(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R4) 'sdy.sharding_rule' reduces the factor i, which a result has}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=12} reduction={i}>} : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @r1_unknown_extent(%x: tensor<?x12xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op (R1) 'sdy.sharding_rule' needs tensors of known extents; operand 0 is 'tensor<?x12xf32>'}}
  %0 = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=12}>} : (tensor<?x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @no_rule(%x: tensor<8x12xf32>) {
  // expected-error @+1 {{'stablehlo.add' op 'sdy.sharding_rule' must be a #sdy.op_sharding_rule; found 3 : i32}}
  %0 = stablehlo.add %x, %x {sdy.sharding_rule = 3 : i32} : tensor<8x12xf32>
  return
}
