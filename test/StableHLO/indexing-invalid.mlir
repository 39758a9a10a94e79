// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C1) offset_dims, collapsed_slice_dims and operand_batching_dims must be as many as the operand's 2 axes; found [1], [] and []}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C2) index_vector_dim must be in [0, 2], the rank of start_indices included; found 3}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C2) index_vector_dim must be in [0, 2], the rank of start_indices included; found -1}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = -1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C3) start_index_map must have one entry for each of the 1 numbers of an index vector; found [0, 1]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C4) offset_dims must be unique; found 1 twice in [1, 1]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 1], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C4) offset_dims must be in ascending order; found [2, 1]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C5) offset_dims must be in [0, 2), the axes of the result; found 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C6) collapsed_slice_dims and operand_batching_dims must be unique; found 0 twice in [0, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<7x10x4xf32>, %i: tensor<7x6x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C6) collapsed_slice_dims and operand_batching_dims must be unique; found 0 twice in [0, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf32>, tensor<7x6x1xi32>) -> tensor<7x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C7) collapsed_slice_dims must be in ascending order; found [1, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [1, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C8) collapsed_slice_dims must be in [0, 2), the axes of the operand; found 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C9) slice_sizes must be at most 1 on axis 0, which collapsed_slice_dims names; found 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<4x0x10xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C10) operand_batching_dims must be in ascending order; found [1, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 2], start_index_map = [], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<10x4xf32>, tensor<4x0x10xi32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @f(%x: tensor<7x10x4xf32>, %i: tensor<7x6x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C11) operand_batching_dims must be in [0, 3), the axes of the operand; found 3}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [3], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf32>, tensor<7x6x1xi32>) -> tensor<7x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<7x10x4xf32>, %i: tensor<7x6x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C12) slice_sizes must be at most 1 on axis 0, which operand_batching_dims names; found 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 2, 1, 4>}> : (tensor<7x10x4xf32>, tensor<7x6x1xi32>) -> tensor<7x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<7x10x4xf32>, %i: tensor<7x6x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C13) start_indices_batching_dims must be unique; found 0 twice in [0, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf32>, tensor<7x6x1xi32>) -> tensor<7x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<7x10x4xf32>, %i: tensor<7x6x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C14) start_indices_batching_dims must be in [0, 3), the axes of start_indices; found 3}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [3], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf32>, tensor<7x6x1xi32>) -> tensor<7x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<7x10x4xf32>, %i: tensor<7x6x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C15) index_vector_dim 2 must not be in start_indices_batching_dims [2]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf32>, tensor<7x6x1xi32>) -> tensor<7x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<7x10x4xf32>, %i: tensor<7x6x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C16) operand_batching_dims and start_indices_batching_dims must be as many; found [0] and []}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf32>, tensor<7x6x1xi32>) -> tensor<7x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<7x10x4xf32>, %i: tensor<7x6x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C17) batching axes must have one extent: axis 0 of the operand has 7, axis 1 of start_indices has 6}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf32>, tensor<7x6x1xi32>) -> tensor<7x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x2xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C18) start_index_map and operand_batching_dims must be unique; found 0 twice in [0, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x2xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<7x10x4xf32>, %i: tensor<7x6x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C18) start_index_map and operand_batching_dims must be unique; found 0 twice in [0, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf32>, tensor<7x6x1xi32>) -> tensor<7x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C19) start_index_map must be in [0, 2), the axes of the operand; found 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C20) slice_sizes must have one entry for each of the operand's 2 axes; found [1]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C21) slice_sizes must be in [0, 4] on axis 1; found 5}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C21) slice_sizes must be in [0, 10] on axis 0; found -1}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: -1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C22, C23) the result must have type 'tensor<5x4xf32>'; found 'tensor<5x3xf32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op (C22, C23) the result must have type 'tensor<5x4xf32>'; found 'tensor<5x4xf16>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf16>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xf32>) {
  // expected-error @+1 {{'stablehlo.gather' op operand #1 must be ranked tensor of integer type, but got 'tensor<5x1xf32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @f(%x: tensor<10x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{unknown field 'offset'; expected one of: offset_dims, collapsed_slice_dims, operand_batching_dims,}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset = [1]>, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}
