// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// RUN: octavo-opt %s --octavo-legalize-arith | octavo run /dev/stdin
// arith and math on tensors and on scalars (I28), and the same after their legalization. The values
// are those of MLIR's documentation of each operation.

func.func @integers() {
  %a = arith.constant dense<[7, -7, 7, -7]> : tensor<4xi8>
  %b = arith.constant dense<[2, 2, -2, -2]> : tensor<4xi8>
  %sum = arith.addi %a, %b : tensor<4xi8>
  check.expect_eq_const %sum, dense<[9, -5, 5, -9]> : tensor<4xi8>
  %difference = arith.subi %a, %b : tensor<4xi8>
  check.expect_eq_const %difference, dense<[5, -9, 9, -5]> : tensor<4xi8>
  %product = arith.muli %a, %b : tensor<4xi8>
  check.expect_eq_const %product, dense<[14, -14, -14, 14]> : tensor<4xi8>
  %towards_zero = arith.divsi %a, %b : tensor<4xi8>
  check.expect_eq_const %towards_zero, dense<[3, -3, -3, 3]> : tensor<4xi8>
  %down = arith.floordivsi %a, %b : tensor<4xi8>
  check.expect_eq_const %down, dense<[3, -4, -4, 3]> : tensor<4xi8>
  %up = arith.ceildivsi %a, %b : tensor<4xi8>
  check.expect_eq_const %up, dense<[4, -3, -3, 4]> : tensor<4xi8>
  %rest = arith.remsi %a, %b : tensor<4xi8>
  check.expect_eq_const %rest, dense<[1, -1, 1, -1]> : tensor<4xi8>
  // -7 is 249, -2 is 254 without a sign.
  %unsigned = arith.divui %a, %b : tensor<4xi8>
  check.expect_eq_const %unsigned, dense<[3, 124, 0, 0]> : tensor<4xi8>
  %unsigned_up = arith.ceildivui %a, %b : tensor<4xi8>
  check.expect_eq_const %unsigned_up, dense<[4, 125, 1, 1]> : tensor<4xi8>
  %unsigned_rest = arith.remui %a, %b : tensor<4xi8>
  check.expect_eq_const %unsigned_rest, dense<[1, 1, 7, -7]> : tensor<4xi8>
  %most = arith.maxsi %a, %b : tensor<4xi8>
  check.expect_eq_const %most, dense<[7, 2, 7, -2]> : tensor<4xi8>
  %most_unsigned = arith.maxui %a, %b : tensor<4xi8>
  check.expect_eq_const %most_unsigned, dense<[7, -7, -2, -2]> : tensor<4xi8>
  %least = arith.minsi %a, %b : tensor<4xi8>
  check.expect_eq_const %least, dense<[2, -7, -2, -7]> : tensor<4xi8>
  %least_unsigned = arith.minui %a, %b : tensor<4xi8>
  check.expect_eq_const %least_unsigned, dense<[2, 2, 7, -7]> : tensor<4xi8>
  %one = arith.constant dense<1> : tensor<4xi8>
  %left = arith.shli %a, %one : tensor<4xi8>
  check.expect_eq_const %left, dense<[14, -14, 14, -14]> : tensor<4xi8>
  %right = arith.shrsi %a, %one : tensor<4xi8>
  check.expect_eq_const %right, dense<[3, -4, 3, -4]> : tensor<4xi8>
  %right_unsigned = arith.shrui %a, %one : tensor<4xi8>
  check.expect_eq_const %right_unsigned, dense<[3, 124, 3, 124]> : tensor<4xi8>
  %and = arith.andi %a, %b : tensor<4xi8>
  check.expect_eq_const %and, dense<[2, 0, 6, -8]> : tensor<4xi8>
  %or = arith.ori %a, %b : tensor<4xi8>
  check.expect_eq_const %or, dense<[7, -5, -1, -1]> : tensor<4xi8>
  %xor = arith.xori %a, %b : tensor<4xi8>
  check.expect_eq_const %xor, dense<[5, -5, -7, 7]> : tensor<4xi8>
  %less = arith.cmpi slt, %a, %b : tensor<4xi8>
  check.expect_eq_const %less, dense<[false, true, false, true]> : tensor<4xi1>
  %below = arith.cmpi ult, %a, %b : tensor<4xi8>
  check.expect_eq_const %below, dense<[false, false, true, true]> : tensor<4xi1>
  %same = arith.cmpi eq, %a, %a : tensor<4xi8>
  check.expect_eq_const %same, dense<true> : tensor<4xi1>
  %chosen = arith.select %less, %a, %b : tensor<4xi1>, tensor<4xi8>
  check.expect_eq_const %chosen, dense<[2, -7, -2, -7]> : tensor<4xi8>
  %ones = math.ctpop %a : tensor<4xi8>
  check.expect_eq_const %ones, dense<[3, 6, 3, 6]> : tensor<4xi8>
  %sizes = math.absi %a : tensor<4xi8>
  check.expect_eq_const %sizes, dense<7> : tensor<4xi8>
  return
}

// One bit: true is -1 as a signed number, and a sum wraps.
func.func @booleans() {
  %p = arith.constant dense<[true, true, false]> : tensor<3xi1>
  %q = arith.constant dense<[true, false, false]> : tensor<3xi1>
  %sum = arith.addi %p, %q : tensor<3xi1>
  check.expect_eq_const %sum, dense<[false, true, false]> : tensor<3xi1>
  %product = arith.muli %p, %q : tensor<3xi1>
  check.expect_eq_const %product, dense<[true, false, false]> : tensor<3xi1>
  %signed = arith.extsi %p : tensor<3xi1> to tensor<3xi8>
  check.expect_eq_const %signed, dense<[-1, -1, 0]> : tensor<3xi8>
  %unsigned = arith.extui %p : tensor<3xi1> to tensor<3xi8>
  check.expect_eq_const %unsigned, dense<[1, 1, 0]> : tensor<3xi8>
  %float = arith.sitofp %p : tensor<3xi1> to tensor<3xf32>
  check.expect_eq_const %float, dense<[-1.0, -1.0, 0.0]> : tensor<3xf32>
  %unsigned_float = arith.uitofp %p : tensor<3xi1> to tensor<3xf32>
  check.expect_eq_const %unsigned_float, dense<[1.0, 1.0, 0.0]> : tensor<3xf32>
  %numbers = arith.constant dense<[2, 3, -1]> : tensor<3xi8>
  %lowest = arith.trunci %numbers : tensor<3xi8> to tensor<3xi1>
  check.expect_eq_const %lowest, dense<[false, true, true]> : tensor<3xi1>
  %less = arith.cmpi slt, %p, %q : tensor<3xi1>
  check.expect_eq_const %less, dense<[false, true, false]> : tensor<3xi1>
  return
}

func.func @floats() {
  %a = arith.constant dense<[1.5, -2.5, 0x7FC00000, -0.0]> : tensor<4xf32>
  %b = arith.constant dense<[0.5, 2.0, 1.0, 0.0]> : tensor<4xf32>
  %sum = arith.addf %b, %b : tensor<4xf32>
  check.expect_eq_const %sum, dense<[1.0, 4.0, 2.0, 0.0]> : tensor<4xf32>
  %most = arith.maximumf %a, %b : tensor<4xf32>
  check.expect_eq_const %most, dense<[1.5, 2.0, 0x7FC00000, 0.0]> : tensor<4xf32>
  %least = arith.minimumf %a, %b : tensor<4xf32>
  check.expect_eq_const %least, dense<[0.5, -2.5, 0x7FC00000, -0.0]> : tensor<4xf32>
  %most_number = arith.maxnumf %a, %b : tensor<4xf32>
  check.expect_eq_const %most_number, dense<[1.5, 2.0, 1.0, 0.0]> : tensor<4xf32>
  %least_number = arith.minnumf %a, %b : tensor<4xf32>
  check.expect_eq_const %least_number, dense<[0.5, -2.5, 1.0, -0.0]> : tensor<4xf32>
  %ordered = arith.cmpf olt, %a, %b : tensor<4xf32>
  check.expect_eq_const %ordered, dense<[false, true, false, false]> : tensor<4xi1>
  %unordered = arith.cmpf ult, %a, %b : tensor<4xf32>
  check.expect_eq_const %unordered, dense<[false, true, true, false]> : tensor<4xi1>
  %equal = arith.cmpf oeq, %a, %b : tensor<4xf32>
  check.expect_eq_const %equal, dense<[false, false, false, true]> : tensor<4xi1>
  %unequal = arith.cmpf une, %a, %b : tensor<4xf32>
  check.expect_eq_const %unequal, dense<[true, true, true, false]> : tensor<4xi1>
  %unequal_numbers = arith.cmpf one, %a, %b : tensor<4xf32>
  check.expect_eq_const %unequal_numbers, dense<[true, true, false, false]> : tensor<4xi1>
  %are_numbers = arith.cmpf ord, %a, %b : tensor<4xf32>
  check.expect_eq_const %are_numbers, dense<[true, true, false, true]> : tensor<4xi1>
  %c = arith.constant dense<[2.5, -2.5, 3.99, -0.5]> : tensor<4xf32>
  %integers = arith.fptosi %c : tensor<4xf32> to tensor<4xi32>
  check.expect_eq_const %integers, dense<[2, -2, 3, 0]> : tensor<4xi32>
  %narrow = arith.truncf %c : tensor<4xf32> to tensor<4xf8E5M2>
  check.expect_eq_const %narrow, dense<[2.5, -2.5, 4.0, -0.5]> : tensor<4xf8E5M2>
  %wide = arith.extf %narrow : tensor<4xf8E5M2> to tensor<4xf64>
  check.expect_eq_const %wide, dense<[2.5, -2.5, 4.0, -0.5]> : tensor<4xf64>
  %bits = arith.bitcast %b : tensor<4xf32> to tensor<4xi32>
  check.expect_eq_const %bits, dense<[0x3F000000, 0x40000000, 0x3F800000, 0]> : tensor<4xi32>
  %even = math.roundeven %c : tensor<4xf32>
  check.expect_eq_const %even, dense<[2.0, -2.0, 4.0, -0.0]> : tensor<4xf32>
  %away = math.round %c : tensor<4xf32>
  check.expect_eq_const %away, dense<[3.0, -3.0, 4.0, -1.0]> : tensor<4xf32>
  %floor = math.floor %c : tensor<4xf32>
  check.expect_eq_const %floor, dense<[2.0, -3.0, 3.0, -1.0]> : tensor<4xf32>
  %ceil = math.ceil %c : tensor<4xf32>
  check.expect_eq_const %ceil, dense<[3.0, -2.0, 4.0, -0.0]> : tensor<4xf32>
  %d = arith.constant dense<[4.0, 2.25]> : tensor<2xf64>
  %roots = math.sqrt %d : tensor<2xf64>
  check.expect_eq_const %roots, dense<[2.0, 1.5]> : tensor<2xf64>
  %powers = math.powf %d, %roots : tensor<2xf64>
  check.expect_eq_const %powers, dense<[16.0, 3.375]> : tensor<2xf64>
  // mpmath.
  %e = arith.constant dense<[2.0, -1.0]> : tensor<2xf64>
  %erf_expected = stablehlo.constant dense<[0.9953222650189527, -0.8427007929497149]> : tensor<2xf64>
  %exp_expected = stablehlo.constant dense<[7.38905609893065, 0.36787944117144233]> : tensor<2xf64>
  %erf = math.erf %e : tensor<2xf64>
  check.expect_close %erf, %erf_expected, max_ulp_difference = 1 : tensor<2xf64>, tensor<2xf64>
  %exp = math.exp %e : tensor<2xf64>
  check.expect_close %exp, %exp_expected, max_ulp_difference = 1 : tensor<2xf64>, tensor<2xf64>
  return
}

func.func @scalars() {
  %a = arith.constant -7 : i64
  %b = arith.constant 2 : i64
  %c = arith.divui %a, %b : i64
  %i = arith.index_cast %a : i64 to index
  %two = arith.constant 2 : index
  %d = arith.floordivsi %i, %two : index
  %j = arith.index_cast %d : index to i64
  %is_less = arith.cmpi slt, %a, %b : i64
  %e = arith.select %is_less, %a, %b : i64
  %t = tensor.from_elements %c, %j, %e : tensor<3xi64>
  // (2^64 - 7) / 2
  check.expect_eq_const %t, dense<[9223372036854775804, -4, -7]> : tensor<3xi64>
  %x = arith.constant 1.5 : f32
  %y = math.floor %x : f32
  %z = arith.extf %y : f32 to f64
  %w = tensor.from_elements %z : tensor<1xf64>
  check.expect_eq_const %w, dense<1.0> : tensor<1xf64>
  return
}
