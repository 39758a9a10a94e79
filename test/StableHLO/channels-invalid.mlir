// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op (C1) source_target_pairs must have two columns, a source and a target; found}}
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op (C2) sources must be unique; found 0 twice}}
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>} : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op (C3) targets must be unique; found 1 twice}}
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>} : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op (C4) source_target_pairs must be ids of processes; found -1}}
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op (C1) source_target_pairs must have two columns, a source and a target; found}}
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op (C2) sources must be unique; found 0 twice}}
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>} : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op (C3) targets must be unique; found 1 twice}}
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>} : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op (C4) source_target_pairs must be ids of processes; found -1}}
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>} : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op (C5) the channel's type must be 1 where devices alone take part; found 2}}
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>} : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op (C5) the channel's type must be 2 where the host takes part; found 1}}
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true} : (tensor<4x6xf32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op (C5) the channel's type must be 1 where devices alone take part; found 3}}
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>} : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op (C5) the channel's type must be 3 where the host takes part; found 1}}
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op (C6) there must be at least one result, the token}}
  "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (!stablehlo.token) -> ()
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op (C6) all results but the last must be tensors; found}}
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op (C6) the last result must be a token; found 'tensor<4x6xf32>'}}
  %0 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (!stablehlo.token) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op (C1) there must be at least one result, the token}}
  "stablehlo.infeed"(%t) {} : (!stablehlo.token) -> ()
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op (C2) all results but the last must be tensors; found}}
  %0:2 = "stablehlo.infeed"(%t) {} : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op (C3) the last result must be a token; found 'tensor<4x6xf32>'}}
  %0 = "stablehlo.infeed"(%t) {} : (!stablehlo.token) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op (I3) layout must have an entry for each tensor; found 2 for 1}}
  %0:2 = "stablehlo.infeed"(%t) {layout = [[0, 1], [0]]} : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<6xf32>, %i: tensor<2xi32>, %t: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op (I3) entries of layout must be lists of integers; found "a"}}
  %0:2 = "stablehlo.infeed"(%t) {layout = ["a"]} : (!stablehlo.token) -> (tensor<4x6xf32>, !stablehlo.token)
  return
}
