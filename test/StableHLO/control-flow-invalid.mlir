// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op (C1) name must be a name in a namespace, such as "my.op"; found "op"}}
  %0 = stablehlo.composite "op" %x {decomposition = @g} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op (C1) name must be a name in a namespace, such as "my.op"; found ".op"}}
  %0 = stablehlo.composite ".op" %x {decomposition = @g} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op (C1) name must be a name in a namespace, such as "my.op"; found "1.op"}}
  %0 = stablehlo.composite "1.op" %x {decomposition = @g} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op (C1) name must be a name in a namespace, such as "my.op"; found "my."}}
  %0 = stablehlo.composite "my." %x {decomposition = @g} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op (C1) name must be a name in a namespace, such as "my.op"; found "my.o-p"}}
  %0 = stablehlo.composite "my.o-p" %x {decomposition = @g} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op (C1) name must be a name in a namespace, such as "my.op"; found "my..op"}}
  %0 = stablehlo.composite "my..op" %x {decomposition = @g} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op (C2) decomposition must name a function of the program; there is no function @h}}
  %0 = stablehlo.composite "a.b" %x {decomposition = @h} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.composite' op (C3) the inputs must have the types of the arguments of @g: 'tensor<2x3xf32>'; found 'tensor<f32>'}}
  %0 = stablehlo.composite "a.b" %x {decomposition = @g} : (tensor<f32>) -> tensor<2x3xf32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op (C4) the results must have the types of the results of @g: 'tensor<2x3xf32>'; found 'tensor<f32>'}}
  %0 = stablehlo.composite "a.b" %x {decomposition = @g} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{requires attribute 'decomposition'}}
  %0 = stablehlo.composite "a.b" %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

func.func private @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op call_target_name must not be empty}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = ""}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op backend_config must be a dictionary under api_version 4; found "a"}}
  %0 = stablehlo.custom_call @c(%x) {backend_config = "a", api_version = 4 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op backend_config must be a string under api_version 2; found {}}}
  %0 = stablehlo.custom_call @c(%x) {backend_config = {}, api_version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op attribute 'backend_config' failed to satisfy constraint}}
  %0 = stablehlo.custom_call @c(%x) {backend_config = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op attribute 'api_version' failed to satisfy constraint}}
  %0 = stablehlo.custom_call @c(%x) {api_version = 9 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op called_computations must name functions of the program; there is no function @h}}
  %0 = stablehlo.custom_call @c(%x) {called_computations = [@h]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op operand_layouts and result_layouts must both be given or neither}}
  %0 = stablehlo.custom_call @c(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op operand_layouts must have one layout for each of 1 types; found 0}}
  %0 = stablehlo.custom_call @c(%x) {operand_layouts = [], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op result_layouts must have one layout for each of 1 types; found 2}}
  %0 = stablehlo.custom_call @c(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op operand_layouts must be lists of axes, such as dense<[1, 0]> : tensor<2xindex>; entry 0 is dense<[1, 0]> : tensor<2xi64>}}
  %0 = stablehlo.custom_call @c(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xi64>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op entry 0 of operand_layouts must have each of the 2 axes of 'tensor<2x3xf32>' once; found dense<1> : tensor<2xindex>}}
  %0 = stablehlo.custom_call @c(%x) {operand_layouts = [dense<[1, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op entry 0 of result_layouts must have each of the 2 axes of 'tensor<2x3xf32>' once; found dense<0> : tensor<4294967296xindex>}}
  %0 = stablehlo.custom_call @c(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<4294967296xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op output_operand_aliases name operand 1; there are 1}}
  %0 = stablehlo.custom_call @c(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op output_operand_aliases lead to no value}}
  %0 = stablehlo.custom_call @c(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op output_operand_aliases must join values of one type; found 'tensor<2x3xf32>' and 'tensor<f32>'}}
  %0 = stablehlo.custom_call @c(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%t: tuple<tensor<2xf32>>) {
  // expected-error @+1 {{'stablehlo.custom_call' op entry 0 of operand_layouts is for 'tuple<tensor<2xf32>>'; tuples have no layout}}
  %0 = stablehlo.custom_call @c(%t) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (tuple<tensor<2xf32>>) -> tensor<f32>
  return
}

// -----

func.func @f(%t: tuple<tensor<2x3xf32>, tensor<i8>>) {
  // expected-error @+1 {{'stablehlo.get_tuple_element' op (C1) index must be in [0, 2), the elements of the tuple; found 2}}
  %0 = stablehlo.get_tuple_element %t[2] : (tuple<tensor<2x3xf32>, tensor<i8>>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%t: tuple<tensor<2x3xf32>, tensor<i8>>) {
  // expected-error @+1 {{'stablehlo.get_tuple_element' op (C1) index must be in [0, 2), the elements of the tuple; found -1}}
  %0 = stablehlo.get_tuple_element %t[-1] : (tuple<tensor<2x3xf32>, tensor<i8>>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%t: tuple<tensor<2x3xf32>, tensor<i8>>) {
  // expected-error @+1 {{'stablehlo.get_tuple_element' op (C2) the result must have type 'tensor<i8>'; found 'tensor<2x3xf32>'}}
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2x3xf32>, tensor<i8>>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.tuple' op (C1) the result must have type 'tuple<tensor<2x3xf32>>'; found 'tuple<tensor<f32>>'}}
  %0 = stablehlo.tuple %x : (tensor<2x3xf32>) -> tuple<tensor<f32>>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a tuple type, such as tuple<tensor<2xf32>>; found 'tensor<2x3xf32>'}}
  %0 = stablehlo.tuple %x : tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op (C1) the result must have type 'tensor<2x3xf32>'; found 'tensor<3x2xf32>'}}
  %0 = stablehlo.optimization_barrier %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op (C1) there must be 1 results; found 2}}
  %0:2 = "stablehlo.optimization_barrier"(%x) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.if' op (C1) branches must take no arguments; branch 0 takes 1}}
  %0 = "stablehlo.if"(%p) ({
  ^bb0(%a: tensor<2xf32>):
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.if' op (C2) branches must return values of the same types; branch 1 returns 'tensor<3xf32>', branch 0 'tensor<2xf32>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %y : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.if' op (C3) the results must have the types that the branches return, 'tensor<2xf32>'; found 'tensor<3xf32>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.case' op (C1) there must be at least one branch}}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.case' op (C2) branches must take no arguments; branch 0 takes 1}}
  %0 = "stablehlo.case"(%i) ({
  ^bb0(%a: tensor<2xf32>):
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.case' op (C3) branches must return values of the same types; branch 1 returns 'tensor<3xf32>', branch 0 'tensor<2xf32>'}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %y : tensor<3xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.case' op (C4) the results must have the types that the branches return, 'tensor<2xf32>'; found 'tensor<3xf32>'}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.while' op (C1) cond must take the operands, 'tensor<i32>'; it takes 'tensor<i32>', 'tensor<i32>'}}
  %0 = "stablehlo.while"(%i) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare LT, %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.while' op (C1) cond must return tensor<i1>; found 'tensor<i32>'}}
  %0 = "stablehlo.while"(%i) ({
  ^bb0(%a: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.while' op (C2) body must take the operands, 'tensor<i32>'; it takes 'tensor<i32>', 'tensor<i32>'}}
  %0 = "stablehlo.while"(%i) ({
  ^bb0(%a: tensor<i32>):
    %c = stablehlo.compare LT, %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.while' op (C2) body must return values of the operands' types, 'tensor<i32>'; found 'tensor<2xf32>'}}
  %0 = "stablehlo.while"(%i) ({
  ^bb0(%a: tensor<i32>):
    %c = stablehlo.compare LT, %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @f(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.while' op (C3) the results must have the operands' types, 'tensor<i32>'; found 'tensor<i64>'}}
  %0 = "stablehlo.while"(%i) ({
  ^bb0(%a: tensor<i32>):
    %c = stablehlo.compare LT, %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) : (tensor<i32>) -> tensor<i64>
  return
}
