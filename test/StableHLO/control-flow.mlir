// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func @tuples
func.func @tuples(%x: tensor<2xf32>, %y: tensor<i8>) -> (tuple<tensor<2xf32>, tensor<i8>>, tuple<>) {
  // CHECK: stablehlo.tuple %arg0, %arg1 : tuple<tensor<2xf32>, tensor<i8>>
  %0 = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<i8>>
  // CHECK: stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<i8>>) -> tensor<i8>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<i8>>) -> tensor<i8>
  // CHECK: stablehlo.get_tuple_element %0[0] : (tuple<tensor<2xf32>, tensor<i8>>) -> tensor<2xf32>
  %2 = "stablehlo.get_tuple_element"(%0) <{index = 0 : i32}> : (tuple<tensor<2xf32>, tensor<i8>>) -> tensor<2xf32>
  // CHECK: stablehlo.tuple : tuple<>
  %3 = "stablehlo.tuple"() : () -> tuple<>
  // CHECK: stablehlo.tuple %0, %arg1 : tuple<tuple<tensor<2xf32>, tensor<i8>>, tensor<i8>>
  %4 = "stablehlo.tuple"(%0, %y) : (tuple<tensor<2xf32>, tensor<i8>>, tensor<i8>) -> tuple<tuple<tensor<2xf32>, tensor<i8>>, tensor<i8>>
  return %0, %3 : tuple<tensor<2xf32>, tensor<i8>>, tuple<>
}

// CHECK-LABEL: func @barriers
func.func @barriers(%x: tensor<2xf32>, %t: !stablehlo.token) {
  // CHECK: stablehlo.optimization_barrier %arg0, %arg1 : tensor<2xf32>, !stablehlo.token
  %0:2 = stablehlo.optimization_barrier %x, %t : tensor<2xf32>, !stablehlo.token
  // CHECK: stablehlo.optimization_barrier %arg0 : tensor<2xf32>
  %1 = "stablehlo.optimization_barrier"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.optimization_barrier()
  stablehlo.optimization_barrier()
  return
}

// CHECK-LABEL: func @calls
func.func @calls(%x: tensor<2x3xf32>, %t: tuple<tensor<2xf32>>, %s: tensor<f32>) {
  // CHECK: stablehlo.composite "my.op" %arg0 {composite_attributes = {k = 3 : i64}, decomposition = @double, version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.composite "my.op" %x {composite_attributes = {k = 3 : i64}, decomposition = @double, version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.composite "my.name.of_1$" %arg0 {decomposition = @double} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "stablehlo.composite"(%x) <{name = "my.name.of_1$", decomposition = @double}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.custom_call @name(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.custom_call @name(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.custom_call @__op$quantize(%arg0) {backend_config = "{}"} : (tensor<2x3xf32>) -> tuple<tensor<2x3xf8E4M3FN>, tensor<2x1xf8E8M0FNU>>
  %3 = stablehlo.custom_call @__op$quantize(%x) {backend_config = "{}"} : (tensor<2x3xf32>) -> tuple<tensor<2x3xf8E4M3FN>, tensor<2x1xf8E8M0FNU>>
  // CHECK: stablehlo.custom_call @"two words"(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i32}, called_computations = [@double], has_side_effect = true} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tuple<tensor<f32>>)
  %4:2 = "stablehlo.custom_call"(%x) {call_target_name = "two words", has_side_effect = true, api_version = 4 : i32, called_computations = [@double], backend_config = {a = 1 : i32}} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tuple<tensor<f32>>)
  // CHECK: stablehlo.custom_call @layouts(%arg0, %arg2) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} :
  %5:2 = stablehlo.custom_call @layouts(%x, %s) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  // CHECK: stablehlo.custom_call @aliases(%arg1) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [0]>]} : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  %alias = stablehlo.custom_call @aliases(%t) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [0]>]} : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  // CHECK: stablehlo.custom_call @sharded(%arg0) {mhlo.backend_config = {}, mhlo.frontend_attributes = {a = "b"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l]) {i=2, j=3, k=2, l=3}, custom>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = stablehlo.custom_call @sharded(%x) {mhlo.backend_config = {}, mhlo.frontend_attributes = {a = "b"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l]) {i=2, j=3, k=2, l=3}, custom>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func private @double(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %x, %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @branches
func.func @branches(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<?xf32>) {
  // CHECK: "stablehlo.if"(%arg0) ({
  // CHECK: }) : (tensor<i1>) -> tensor<?xf32>
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %y : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  // CHECK: "stablehlo.case"(%arg1) ({
  %1:2 = "stablehlo.case"(%i) ({
    stablehlo.return %x, %x : tensor<2xf32>, tensor<2xf32>
  }, {
    stablehlo.return %x, %x : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// CHECK-LABEL: func.func @loops
func.func @loops(%i: tensor<i32>, %x: tensor<2xf32>) {
  // CHECK: %{{.*}}:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<2xf32> attributes {foo.bar}
  // CHECK-NEXT: cond {
  // CHECK: } do {
  %0:2 = stablehlo.while(%a = %i, %b = %x) : tensor<i32>, tensor<2xf32> attributes {foo.bar}
  cond {
    %1 = stablehlo.compare LT, %a, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %a, %b : tensor<i32>, tensor<2xf32>
  }
  // CHECK: stablehlo.while()
  stablehlo.while()
  cond {
    %1 = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}

// CHECK-LABEL: func.func @tokens
func.func @tokens(%t: !stablehlo.token) {
  // CHECK: stablehlo.after_all %arg0, %arg0 : !stablehlo.token
  %0 = stablehlo.after_all %t, %t : !stablehlo.token
  // CHECK: stablehlo.after_all : !stablehlo.token
  %1 = "stablehlo.after_all"() : () -> !stablehlo.token
  // CHECK: stablehlo.create_token : !stablehlo.token
  %2 = stablehlo.create_token : !stablehlo.token
  return
}
