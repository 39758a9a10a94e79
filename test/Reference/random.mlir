// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// rng_bit_generator (I23). The first two are the values of the specification's example and of its
// reference tests.

func.func @threefry() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %s, %x = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)
  check.expect_eq_const %s, dense<[1, 6]> : tensor<2xui64>
  check.expect_eq_const %x, dense<[[9236835810183407956, 16087790271692313299], [18212823393184779219, 2658481902456610144]]> : tensor<2x2xui64>
  %b = stablehlo.constant dense<[3, 3]> : tensor<2xui64>
  %t, %y = stablehlo.rng_bit_generator %b, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui64>)
  check.expect_eq_const %t, dense<[3, 4]> : tensor<2xui64>
  check.expect_eq_const %y, dense<3349939604322698703> : tensor<ui64>
  return
}

// Random123's known answer of Philox-4x32-10 for a counter and a key of zeros:
// 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
func.func @philox() {
  %a = stablehlo.constant dense<0> : tensor<3xui64>
  %s, %x = stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  check.expect_eq_const %s, dense<[0, 1, 0]> : tensor<3xui64>
  check.expect_eq_const %x, dense<[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]> : tensor<4xui32>
  return
}

// What XLA's CPU backend gives (jaxlib 0.10.2) where the counter's low half overflows.
func.func @philox_counter() {
  %a = stablehlo.constant dense<[5, 0xFFFFFFFFFFFFFFFF, 11]> : tensor<3xui64>
  %s, %x = stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<6xui32>)
  check.expect_eq_const %s, dense<[5, 1, 12]> : tensor<3xui64>
  check.expect_eq_const %x, dense<[0xE42BC8C2, 0x8B5ECCA4, 0xE6B88858, 0xB4ED25A5, 0x82FE6DAA, 0x81920075]> : tensor<6xui32>
  return
}

func.func @distributions() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %x = stablehlo.rng %zero, %one, %n, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<3x2xi32>
  check.expect_eq_const %x, dense<0> : tensor<3x2xi32>
  %a = stablehlo.constant dense<2.5> : tensor<f32>
  %b = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.rng %a, %b, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<3x2xf32>
  check.expect_eq_const %y, dense<2.5> : tensor<3x2xf32>
  return
}
