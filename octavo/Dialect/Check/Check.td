// The check dialect: expectations of self-checking programs. A program passes if all checks hold.
#ifndef OCTAVO_DIALECT_CHECK_CHECK
#define OCTAVO_DIALECT_CHECK_CHECK

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::octavo::check";
  let summary = "Expectations of self-checking programs";
}

class Check_Op<string mnemonic, list<Trait> traits = []> : Op<Check_Dialect, mnemonic, traits>;

class Check_EqualTypes<string a, string b> : AllTypesMatch<[a, b]>;

def Check_ExpectEqOp : Check_Op<"expect_eq", [Check_EqualTypes<"lhs", "rhs">]> {
  let summary = "Expects two tensors of equal bits";
  let description = [{
    Holds if every element of `lhs` has the bits of that element of `rhs`: +0 and -0 differ, and a
    NaN equals a NaN of the same bits only.

    ```mlir
    check.expect_eq %found, %expected : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const", [Check_EqualTypes<"lhs", "value">]> {
  let summary = "Expects a tensor that has the bits of a constant";
  let description = [{
    ```mlir
    check.expect_eq_const %found, dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [Check_EqualTypes<"lhs", "rhs">]> {
  let summary = "Expects two tensors of floats that differ by at most a tolerance";
  let description = [{
    Holds if for every element `|lhs - rhs| <= tolerance`, an absolute distance, or both are NaN, or
    both are the same infinity. The tolerance is 1e-4 where none is given.

    ```mlir
    check.expect_almost_eq %found, %expected : tensor<4xf32>
    check.expect_almost_eq %found, %expected, tolerance = 1.0e-6 : tensor<4xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat, AnyComplex]>:$lhs, RankedTensorOf<[AnyFloat, AnyComplex]>:$rhs,
                       DefaultValuedAttr<F64Attr, "1.0e-4">:$tolerance);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` type($lhs)
  }];
  let hasVerifier = 1;
}

def Check_ExpectAlmostEqConstOp
    : Check_Op<"expect_almost_eq_const", [Check_EqualTypes<"lhs", "value">]> {
  let summary = "Expects a tensor of floats that differs from a constant by at most a tolerance";
  let description = [{
    As `check.expect_almost_eq`, with the expected values in the program.

    ```mlir
    check.expect_almost_eq_const %found, dense<0.5> : tensor<4xf32>
    check.expect_almost_eq_const %found, dense<0.5> : tensor<4xf32>, tolerance = 1.0e-6
    ```
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat, AnyComplex]>:$lhs, ElementsAttr:$value,
                       DefaultValuedAttr<F64Attr, "1.0e-4">:$tolerance);
  let assemblyFormat = "$lhs `,` $value (`,` `tolerance` `=` $tolerance^)? attr-dict";
  let hasVerifier = 1;
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [Check_EqualTypes<"actual", "expected">]> {
  let summary = "Expects two tensors of floats that differ by a number of ulps in a range";
  let description = [{
    The distance of two elements is the number of values of their type between them, plus one; 0 if
    they are equal or both NaN, and of complex numbers the larger one of their parts. Holds if the
    distance of every element is at most `max_ulp_difference`, 1 where it is not given, and at least
    `min_ulp_difference`, 0 where it is not given.

    ```mlir
    check.expect_close %found, %expected, max_ulp_difference = 3 : tensor<4xf32>, tensor<4xf32>
    check.expect_close %found, %expected, max_ulp_difference = 3, min_ulp_difference = 1
        : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat, AnyComplex]>:$actual, RankedTensorOf<[AnyFloat, AnyComplex]>:$expected,
                       DefaultValuedAttr<UI64Attr, "1">:$max_ulp_difference,
                       DefaultValuedAttr<UI64Attr, "0">:$min_ulp_difference);
  let assemblyFormat = [{
    $actual `,` $expected `` custom<UlpBounds>($max_ulp_difference, $min_ulp_difference) attr-dict
    `:` type($actual) `,` type($expected)
  }];
  let hasVerifier = 1;
}

def Check_ExpectSerializedEqOp : Check_Op<"expect_serialized_eq"> {
  let summary = "Expects a tensor that has the bits of what a probe wrote";
  let description = [{
    Compares what `interpreter.probe` of that id wrote, when it came for the time `iter`, counted
    from 0, with `expected`.

    ```mlir
    check.expect_serialized_eq %expected, probe_id = "p1", iter = 1 : tensor<2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$expected, StrAttr:$probe_id,
                       DefaultValuedAttr<UI32Attr, "0">:$iteration);
  let assemblyFormat = [{
    $expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iteration^)? attr-dict
    `:` type($expected)
  }];
}

#endif // OCTAVO_DIALECT_CHECK_CHECK
