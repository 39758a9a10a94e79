// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C2) replica_groups must be unique; found 1 twice}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C4) replica_groups must be in [0, 2), the number of ids that it has; found 2}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) replica_groups must be a matrix, one group a row; found }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C5) use_global_device_ids needs a positive channel; found 0}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_reduce' op (C1) replica_groups must be unique; found 1 twice}}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_reduce' op (C3) replica_groups must be in [0, 2), the number of ids that it has; found 2}}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_reduce' op (I3) replica_groups must be a matrix, one group a row; found }}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_reduce' op (C4) use_global_device_ids needs a positive channel; found 0}}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C5) replica_groups must be unique; found 1 twice}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<2x12xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C7) replica_groups must be in [0, 2), the number of ids that it has; found 2}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<2x12xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (I3) replica_groups must be a matrix, one group a row; found }}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<4x6xf32>) -> tensor<2x12xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op (C1) replica_groups must be unique; found 1 twice}}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op (C2) replica_groups must be ids of processes; found -2}}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op (I3) replica_groups must be a matrix, one group a row; found }}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_reduce' op (C1) replica_groups must be unique; found 1 twice}}
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_reduce' op (C2) replica_groups must be in [0, 2), the number of ids that it has; found 2}}
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_reduce' op (I3) replica_groups must be a matrix, one group a row; found }}
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_reduce' op (I4) use_global_device_ids needs a positive channel; found 0}}
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.cross-replica-sum' op (C1) replica_groups must be unique; found 1 twice}}
  %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.cross-replica-sum' op (C3) replica_groups must be in [0, 2), the number of ids that it has; found 2}}
  %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.cross-replica-sum' op (I3) replica_groups must be a matrix, one group a row; found }}
  %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C3) replica_groups must be unique; found 1 twice}}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C5) replica_groups must be in [0, 2), the number of ids that it has; found 2}}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (I3) replica_groups must be a matrix, one group a row; found }}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C6) use_global_device_ids needs a positive channel; found 0}}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C4) replica_groups must be in [0, 4), the number of ids that it has; found -1}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C7) replica_groups must be in [0, 4), the number of ids that it has; found -1}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<2x12xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C5) replica_groups must be in [0, 4), the number of ids that it has; found -1}}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C1) all_gather_dim must be an axis of every operand; found 2 for }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C1) all_gather_dim must be an axis of every operand; found 1 for }}
  %0:2 = "stablehlo.all_gather"(%x, %y) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x12xf32>, tensor<12xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C6) a result must have its operand's type with axis 0 times 2, the processes of a group; found 'tensor<12x6xf32>' for 'tensor<4x6xf32>'}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<12x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C6) a result must have its operand's type with axis 0 times the processes of a group; found 'tensor<12x6xf32>' for }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<12x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C6) a result must have its operand's type with axis 0 }}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<8x6xf64>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C6) there must be a result for each operand; found 1 for 2}}
  %0 = "stablehlo.all_gather"(%x, %y) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (C6) there must be at least one operand}}
  "stablehlo.all_gather"() {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : () -> ()
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) there is no mesh @m in the program}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) @f is not a mesh: it has no attribute}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @f, axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) a mesh must be a symbol or a #stablehlo.mesh; found 1}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = 1 : i64, axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) the axes of a mesh must be #stablehlo.mesh_axis; found 1}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [1]>, axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) the size of the axis "a" of a mesh must be positive; found 0}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 0>]>, axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) a mesh of more than 1048576 devices}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2097152>]>, axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) axes must be #stablehlo.axis_ref; found "a"}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 6>]>, axes = ["a"]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) the mesh has no axis "b"}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 6>]>, axes = [#stablehlo.axis_ref<name = "b">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) the axis "a" is named twice}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 6>]>, axes = [#stablehlo.axis_ref<name = "a">, #stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) the sub-axis (1)4 does not divide the axis "a" of size 6}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 6>]>, axes = [#stablehlo.axis_ref<name = "a", sub_axis_info = (1)4>]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) a mesh of 6 devices must have as many device ids; found 2}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 6>], device_ids = dense<[0, 1]> : tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) device ids must be in [0, 6); found 6}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 6>], device_ids = dense<[0, 1, 2, 3, 4, 6]> : tensor<6xi64>>, axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_gather' op (I3) device ids must be unique; found 4 twice}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 6>], device_ids = dense<[0, 1, 2, 3, 4, 4]> : tensor<6xi64>>, axes = [#stablehlo.axis_ref<name = "a">]>} : (tensor<4x6xf32>) -> tensor<24x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_reduce' op (C6) a result must have its operand's shape [4, 6]; found [6, 4]}}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_reduce' op (C5) the body's type 'tensor<i32>' must hold the elements of input 0, 'f32'}}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_reduce' op (C7) result 0 must have the body's element type 'f32'; found 'f64'}}
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf64>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C1) split_dimension must be an axis of every operand; found -1 for}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = -1 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C2) split_count must divide axis 0 of every operand; found 3 for}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 3 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C3) concat_dimension must be an axis of every operand; found 2 for}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 2 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C4) split_count must be positive; found 0}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C8) groups must have split_count = 2 processes; found 1}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>} : (tensor<4x6xf32>) -> tensor<2x12xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.all_to_all' op (C9) a result must have type 'tensor<2x12xf32>'; found 'tensor<2x6xf32>'}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op (C3) there must be at least 1 operands; found 0}}
  "stablehlo.collective_broadcast"() {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : () -> ()
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op (C3) a result must have its operand's type 'tensor<4x6xf32>'; found 'tensor<4x6xf64>'}}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf64>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op (C4) there must be at least 2 operands; found 1}}
  "stablehlo.collective_broadcast"(%i) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<2xi32>) -> ()
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op (C4) the last operand must have a root for each of the others, tensor<1xi32>; found 'tensor<2xi32>'}}
  %0 = "stablehlo.collective_broadcast"(%x, %i) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op (C5) there must be 1 results; found 2}}
  %0:2 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<2xi32>)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_reduce' op (C3) a result must have its operand's shape [4, 6]; found [6, 4]}}
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_reduce' op (C3) the last operand must have a root for each of the others, tensor<1xi32>; found 'tensor<2xi32>'}}
  %0 = "stablehlo.collective_reduce"(%x, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_reduce' op (C4) the body's type 'tensor<i32>' must hold the elements of input 0, 'f32'}}
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.cross-replica-sum' op (C6) a result must have its operand's type 'tensor<4x6xf32>'; found 'tensor<4x6xf64>'}}
  %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf64>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_permute' op (C1) source_target_pairs must have two columns, a source and a target; found}}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_permute' op (C2) sources must be unique; found 0 twice}}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_permute' op (C3) targets must be unique; found 1 twice}}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_permute' op (C4) source_target_pairs must be ids of processes; found -1}}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.collective_permute' op (C5) a result must have its operand's type 'tensor<4x6xf32>'; found 'tensor<4x6xf64>'}}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf64>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C1) the processes of a group, 3, must divide axis 0 of the operand, }}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4x6xf32>) -> tensor<1x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C2) scatter_dimension must be an axis of every operand; found 2 for}}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C7) the body's type 'tensor<i32>' must hold the elements of input 0, 'f32'}}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<2x6xi32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C8) the operand must have the result's shape with axis 0 times 2, the processes of a group; found 'tensor<4x6xf32>' for 'tensor<4x6xf32>'}}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op (C9) result 0 must have the body's element type 'f32'; found 'f64'}}
  %0 = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<2x6xf64>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.async_start' op (C1) the body must have one operation and a return}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4x6xf32>):
    stablehlo.return %a : tensor<4x6xf32>
  }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x6xf32>>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.async_start' op (C2) the body's operation must be a collective or a slice; found stablehlo.abs}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4x6xf32>):
    %s = stablehlo.abs %a : tensor<4x6xf32>
    stablehlo.return %s : tensor<4x6xf32>
  }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x6xf32>>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.async_start' op (C3) the body's operation must be given the operands, in their order}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<5x6xf32>):
    %s = stablehlo.slice %a [0:4, 0:6] : (tensor<5x6xf32>) -> tensor<4x6xf32>
    stablehlo.return %s : tensor<4x6xf32>
  }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x6xf32>>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.async_start' op (C4) the body must return what its operation gives}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4x6xf32>):
    %s = stablehlo.slice %a [0:4, 0:6] : (tensor<4x6xf32>) -> tensor<4x6xf32>
    stablehlo.return %a : tensor<4x6xf32>
  }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<4x6xf32>>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.async_start' op (C4) the result must be the future of 'tensor<4x6xf32>'; found '!stablehlo.future<tensor<6xf32>>'}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4x6xf32>):
    %s = stablehlo.slice %a [0:4, 0:6] : (tensor<4x6xf32>) -> tensor<4x6xf32>
    stablehlo.return %s : tensor<4x6xf32>
  }) : (tensor<4x6xf32>) -> !stablehlo.future<tensor<6xf32>>
  return
}

// -----

func.func @f(%f: !stablehlo.future<tensor<4xf32>>) {
  // expected-error @+1 {{'stablehlo.async_done' op (C1) the operand must be the future of one tensor, of the result's type 'tensor<4xf64>'; found '!stablehlo.future<tensor<4xf32>>'}}
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf64>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'stablehlo.replica_id' op result #0 must be ranked tensor of ui32 and of rank 0, but got 'tensor<i32>'}}
  %0 = stablehlo.replica_id : tensor<i32>
  return
}
