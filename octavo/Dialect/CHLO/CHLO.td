// CHLO: operations of JAX's that StableHLO has not, in the text form that JAX prints. One record an
// operation; elementwise functions of one float operand are records of CHLO_FloatFunction.
#ifndef OCTAVO_DIALECT_CHLO_CHLO
#define OCTAVO_DIALECT_CHLO_CHLO

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CHLO_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::octavo::chlo";
  let summary = "Client HLO: functions that front ends emit next to StableHLO";
}

class CHLO_Op<string mnemonic, list<Trait> traits = []> : Op<CHLO_Dialect, mnemonic, traits>;

/// A function of each element: one tensor of floats in, one of the same type out.
class CHLO_FloatFunction<string mnemonic>
    : CHLO_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultType]> {
  let arguments = (ins RankedTensorOf<[AnyFloat]>:$operand);
  let results = (outs RankedTensorOf<[AnyFloat]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def CHLO_ErfOp : CHLO_FloatFunction<"erf"> {
  let summary = "The error function of each element";
  let description = [{
    `erf(x) = 2/sqrt(pi) * integral of exp(-t^2) from 0 to x`.

    ```mlir
    %y = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
    ```
  }];
}

def CHLO_ErfcOp : CHLO_FloatFunction<"erfc"> {
  let summary = "The complementary error function of each element";
  let description = [{
    `erfc(x) = 1 - erf(x)`, accurate where erf is close to 1.

    ```mlir
    %y = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
    ```
  }];
}

def CHLO_SquareOp : CHLO_Op<"square", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "The square of each element";
  let description = [{
    `square(x) = x * x`, rounded once. JAX emits it for `x.var()`, `jnp.square` and `jnp.linalg.norm`,
    so in every layer normalization.

    ```mlir
    %y = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat, AnyComplex]>:$operand);
  let results = (outs RankedTensorOf<[AnyFloat, AnyComplex]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

#endif // OCTAVO_DIALECT_CHLO_CHLO
