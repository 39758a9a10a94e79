// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%one: tensor<1xui64>, %two: tensor<2xui64>, %three: tensor<3xui64>, %w: tensor<4xui32>, %a: tensor<f32>, %d: tensor<f64>, %i: tensor<i32>, %s: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op (C1) the states must have one type; found 'tensor<2xui64>' and 'tensor<3xui64>'}}
  %0, %1 = stablehlo.rng_bit_generator %two, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<3xui64>, tensor<8xui32>)
  return
}

// -----

func.func @f(%one: tensor<1xui64>, %two: tensor<2xui64>, %three: tensor<3xui64>, %w: tensor<4xui32>, %a: tensor<f32>, %d: tensor<f64>, %i: tensor<i32>, %s: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op (I1) the state must be a list of ui64; found 'tensor<4xui32>'}}
  %0, %1 = stablehlo.rng_bit_generator %w, algorithm = DEFAULT : (tensor<4xui32>) -> (tensor<4xui32>, tensor<8xui32>)
  return
}

// -----

func.func @f(%one: tensor<1xui64>, %two: tensor<2xui64>, %three: tensor<3xui64>, %w: tensor<4xui32>, %a: tensor<f32>, %d: tensor<f64>, %i: tensor<i32>, %s: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op (C2) the state of THREE_FRY must have 2 numbers; found 'tensor<3xui64>'}}
  %0, %1 = stablehlo.rng_bit_generator %three, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<8xui32>)
  return
}

// -----

func.func @f(%one: tensor<1xui64>, %two: tensor<2xui64>, %three: tensor<3xui64>, %w: tensor<4xui32>, %a: tensor<f32>, %d: tensor<f64>, %i: tensor<i32>, %s: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op (C2) the state of PHILOX must have 2 or 3 numbers; found 'tensor<1xui64>'}}
  %0, %1 = stablehlo.rng_bit_generator %one, algorithm = PHILOX : (tensor<1xui64>) -> (tensor<1xui64>, tensor<8xui32>)
  return
}

// -----

func.func @f(%one: tensor<1xui64>, %two: tensor<2xui64>, %three: tensor<3xui64>, %w: tensor<4xui32>, %a: tensor<f32>, %d: tensor<f64>, %i: tensor<i32>, %s: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.rng' op (I1) a and b must be scalars; found 'tensor<2xf32>' and 'tensor<2xf32>'}}
  %0 = stablehlo.rng %v, %v, %s, distribution = UNIFORM : (tensor<2xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<3x3xf32>
  return
}

// -----

func.func @f(%one: tensor<1xui64>, %two: tensor<2xui64>, %three: tensor<3xui64>, %w: tensor<4xui32>, %a: tensor<f32>, %d: tensor<f64>, %i: tensor<i32>, %s: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.rng' op (C1) a, b and result must have one element type; found 'f32', 'f64' and 'f32'}}
  %0 = stablehlo.rng %a, %d, %s, distribution = UNIFORM : (tensor<f32>, tensor<f64>, tensor<2xi64>) -> tensor<3x3xf32>
  return
}

// -----

func.func @f(%one: tensor<1xui64>, %two: tensor<2xui64>, %three: tensor<3xui64>, %w: tensor<4xui32>, %a: tensor<f32>, %d: tensor<f64>, %i: tensor<i32>, %s: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.rng' op (C2) NORMAL is a distribution of floats; found 'i32'}}
  %0 = stablehlo.rng %i, %i, %s, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x3xi32>
  return
}

// -----

func.func @f(%one: tensor<1xui64>, %two: tensor<2xui64>, %three: tensor<3xui64>, %w: tensor<4xui32>, %a: tensor<f32>, %d: tensor<f64>, %i: tensor<i32>, %s: tensor<2xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.rng' op (C3) shape must have one number for each of the result's 1 axes; found 'tensor<2xi64>'}}
  %0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3xf32>
  return
}
