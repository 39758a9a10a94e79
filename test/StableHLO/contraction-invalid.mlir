// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C1) lhs and rhs must have as many batching dimensions; found [0] and []}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C2) lhs and rhs must have as many contracting dimensions; found [2] and []}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = []>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C3) lhs_batching_dimensions [0] and lhs_contracting_dimensions [0] must be unique; found 0 twice}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C4) rhs_batching_dimensions [2] and rhs_contracting_dimensions [2] must be unique; found 2 twice}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [2], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C5) lhs_batching_dimensions must be in [0, 3), the axes of lhs; found 3}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [3], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C6) lhs_contracting_dimensions must be in [0, 3), the axes of lhs; found -1}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [-1], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C7) rhs_batching_dimensions must be in [0, 3), the axes of rhs; found -1}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [-1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C8) rhs_contracting_dimensions must be in [0, 3), the axes of rhs; found 3}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C9) batching axes must have one extent: axis 1 of lhs has 3, axis 1 of rhs has 5}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C10) contracting axes must have one extent: axis 1 of lhs has 3, axis 1 of rhs has 5}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C11) precision_config must have an entry for lhs and one for rhs; found 1}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>]}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C12) the result must have the shape [2, 3, 5]; found [3, 5, 2]}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<3x5x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xi8>) {
  // expected-error @+1 {{'stablehlo.dot_general' op (C13) lhs and rhs must have one element type, or both float types, or both integer types; found 'f32' and 'i8'}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xi8>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{expected 'x'}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] y [2] : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{expected one of DEFAULT, HIGH, HIGHEST; found 'LOW'}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], precision = [LOW, LOW] : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{field 'rhs_precision_type' is missing}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f32> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{unknown field 'left'; expected one of: lhs_precision_type, rhs_precision_type, accumulation_type,}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <left = f32> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: a precision or accumulation type must be a float type or tf32; found 'i32'}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = i32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: (C22) lhs_component_count must be positive; found 0}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: (C23) rhs_component_count must be positive; found -1}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = -1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: (C24) num_primitive_operations must be positive; found 0}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 0, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: 'tf32' x 'f16' in 'f32' by 1 operation, components 1 and 1, is not known; known with one component a side: f8 x f8 in f32;}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = tf32, rhs_precision_type = f16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: 'bf16' x 'bf16' in 'f32' by 2 operations, components 1 and 1, is not known; known with one component a side: f8 x f8 in f32;}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 2, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: 'bf16' x 'bf16' in 'f32' by 6 operations, components 3 and 1, is not known; known with one component a side: f8 x f8 in f32;}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 1, num_primitive_operations = 6, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: 'f32' x 'f32' in 'f32' by 1 operation, imprecise, components 1 and 1, is not known; known with one component a side: f8 x f8 in f32;}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: 'f8E4M3FN' x 'f8E4M3FN' in 'f16' by 1 operation, components 1 and 1, is not known; known with one component a side: f8 x f8 in f32;}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f8E4M3FN, rhs_precision_type = f8E4M3FN, accumulation_type = f16, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: 'f32' x 'f32' in 'f64' by 1 operation, components 1 and 1, is not known; known with one component a side: f8 x f8 in f32;}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f64, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: 'f4E2M1FN' x 'f4E2M1FN' in 'f32' by 1 operation, components 1 and 1, is not known; known with one component a side: f8 x f8 in f32;}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f4E2M1FN, rhs_precision_type = f4E2M1FN, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{dot algorithm: 'f8E8M0FNU' x 'f8E8M0FNU' in 'f32' by 1 operation, components 1 and 1, is not known; known with one component a side: f8 x f8 in f32;}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f8E8M0FNU, rhs_precision_type = f8E8M0FNU, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{(C21) precision_config must be DEFAULT where there is an algorithm; found [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], precision = [DEFAULT, HIGH], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{expected true or false; found 'maybe'}}
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [2], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = maybe> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) {
  // expected-error @+1 {{field 'lhs_contracting_dimensions' is given twice}}
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], lhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %t: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot' op (I1) operands must be vectors or matrices}}
  %0 = stablehlo.dot %t, %b : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %t: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot' op (I2) the last axis of lhs and the first of rhs must have one extent; found 3 and 4}}
  %0 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %t: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot' op (I2) the last axis of lhs and the first of rhs must have one extent; found 5 and 4}}
  %0 = stablehlo.dot %b, %b : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{'stablehlo.dot' op (O1) the result must have the shape [2, 5]; found [5, 2]}}
  %0 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<5x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %t: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.einsum' op (einsum_config) "ab,bc->ac": axes 'b' must have one extent; found 3 and 4}}
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %t: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.einsum' op (einsum_config) "ab->a": must have 2 operand(s), separated by commas}}
  %0 = stablehlo.einsum %a, %b, config = "ab->a" : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %t: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.einsum' op (einsum_config) "ab,cd->xd": the result's axis 'x' must be one of an operand, once}}
  %0 = stablehlo.einsum %a, %b, config = "ab,cd->xd" : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %t: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.unary_einsum' op (einsum_config) "abc->a": 'abc' must have a letter for each of 2 axes}}
  %0 = stablehlo.unary_einsum %a, config = "abc->a" : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %t: tensor<2x3x4xf32>) {
  // expected-error @+1 {{'stablehlo.unary_einsum' op (einsum_config) "ab->a" gives 1 axes; found 'tensor<2x3xf32>'}}
  %0 = stablehlo.unary_einsum %a, config = "ab->a" : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
