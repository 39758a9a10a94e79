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

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op (C1, C5) the result must have type 'tensor<2x3xf32>'; found 'tensor<2x3xf64>'}}
  %0 = "stablehlo.dynamic_slice"(%x, %i, %i) {slice_sizes = array<i64: 2, 3>} : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op (C2) there must be one start index for each of the operand's 2 axes; found 1}}
  %0 = "stablehlo.dynamic_slice"(%x, %i) {slice_sizes = array<i64: 2, 3>} : (tensor<4x8xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op (C2) slice_sizes must have one entry for each of 2 axes of the operand; found [2]}}
  %0 = "stablehlo.dynamic_slice"(%x, %i, %i) {slice_sizes = array<i64: 2>} : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op (C3) start indices must have one type; found 'tensor<i32>' and 'tensor<i64>'}}
  %0 = "stablehlo.dynamic_slice"(%x, %i, %j) {slice_sizes = array<i64: 2, 3>} : (tensor<4x8xf32>, tensor<i32>, tensor<i64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op (C4) slice_sizes must be in [0, 8] on axis 1; found 9}}
  %0 = "stablehlo.dynamic_slice"(%x, %i, %i) {slice_sizes = array<i64: 2, 9>} : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x9xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op (C4) slice_sizes must be in [0, 8] on axis 1; found -1}}
  %0 = "stablehlo.dynamic_slice"(%x, %i, %i) {slice_sizes = array<i64: 2, -1>} : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op (C1) the result must have type 'tensor<4x8xf32>'; found 'tensor<4x9xf32>'}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf16>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op (C2) update must have the operand's element type 'f32'; found 'f16'}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf32>, tensor<2x3xf16>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op (C3) update must have the operand's rank 2; found 1}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op (C4) there must be one start index for each of the operand's 2 axes; found 1}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op (C5) start indices must have one type; found 'tensor<i32>' and 'tensor<i64>'}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i64>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<5x3xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op (C6) update must fit into the operand; on axis 0 it has 5, the operand 4}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf32>, tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6xf32>, %y: tensor<5xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C1) inputs must have one shape; input 1 has [5], input 0 has [6]}}
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %c, %d : tensor<f32>, tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6xf32>, tensor<5xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<6xf32>, tensor<5xf32>)
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C2) update_window_dims, inserted_window_dims and input_batching_dims must be as many as the input's 2 axes; found [1], [] and []}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>, %v: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C3) updates must have one shape; update 1 has [3], update 0 has [2]}}
  %0:2 = "stablehlo.scatter"(%x, %x, %i, %u, %v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %c, %d : tensor<f32>, tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6xf32>, tensor<6xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x9xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C4) a window must fit into the input; axis 1 of the updates has 9, the input 8}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x9xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C4) axis 0 of the updates must have the extent 5 of scatter_indices; found 4}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8x1xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C4) updates must have 2 axes}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8x1xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C5) inputs, updates and results must be as many, and at least one; found 1 operands and 0 results}}
  "stablehlo.scatter"(%i) ({
  ^bb0:
    stablehlo.return
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<5x1xi32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf16>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C6) update 0 must have the input's element type 'f32'; found 'f16'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf16>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C7) update_window_dims must be unique; found 1 twice in [1, 1]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x6x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x6x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C7) update_window_dims must be in ascending order; found [2, 1]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x6x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C8) update_window_dims must be in [0, 2), the axes of the updates; found 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C9) inserted_window_dims and input_batching_dims must be unique; found 0 twice in [0, 0]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C10) inserted_window_dims must be in ascending order; found [1, 0]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C11) inserted_window_dims must be in [0, 2), the axes of the input; found 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C12) input_batching_dims must be in ascending order; found [1, 0]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<input_batching_dims = [1, 0], scatter_indices_batching_dims = [0, 1], index_vector_dim = 2>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C13) input_batching_dims must be in [0, 2), the axes of the input; found 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [2], scatter_indices_batching_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<5x5xf32>, %i: tensor<5x1xi32>, %u: tensor<5x1xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C14) scatter_indices_batching_dims must be unique; found 0 twice in [0, 0]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>} : (tensor<5x5xf32>, tensor<5x1xi32>, tensor<5x1xf32>) -> tensor<5x5xf32>
  return
}

// -----

func.func @f(%x: tensor<5x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C15) scatter_indices_batching_dims must be in [0, 2), the axes of scatter_indices; found 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<5x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<5x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C16) index_vector_dim 1 must not be in scatter_indices_batching_dims [1]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<5x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<5x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C17) input_batching_dims and scatter_indices_batching_dims must be as many; found [0] and []}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<5x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C18) batching axes must have one extent: axis 0 of the operand has 6, axis 0 of scatter_indices has 5}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C19) scatter_dims_to_operand_dims must have one entry for each of the 1 numbers of an index vector; found [0, 1]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x2xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C20) scatter_dims_to_operand_dims and input_batching_dims must be unique; found 0 twice in [0, 0]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x2xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C21) scatter_dims_to_operand_dims must be in [0, 2), the axes of the input; found 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C22) index_vector_dim must be in [0, 2], the rank of scatter_indices included; found 3}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 3>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C23) the body must take 2 arguments, a running value and an element for each input; found 1}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C24) result 0 must have the input's shape [6, 8]; found [6, 9]}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x9xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op (C25) result 0 must have the body's element type 'f32'; found 'f64'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf64>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5xi32>) {
  // expected-error @+1 {{'stablehlo.torch_index_select' op (I3) dim must be in [0, 2), the axes of the operand; found 2}}
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 2 : i64, batch_dims = 0 : i64} : (tensor<6x8xf32>, tensor<5xi32>) -> tensor<6x5xf32>
  return
}

// -----

func.func @f(%x: tensor<6x8xf32>, %i: tensor<5xi32>) {
  // expected-error @+1 {{'stablehlo.torch_index_select' op (I2) operand and index must have one extent on batch axis 0; found 6 and 5}}
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<6x8xf32>, tensor<5xi32>) -> tensor<6xf32>
  return
}
