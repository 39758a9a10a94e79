// Linear algebra family: cholesky and triangular_solve.
#ifndef OCTAVO_DIALECT_STABLEHLO_LINEARALGEBRA_TD
#define OCTAVO_DIALECT_STABLEHLO_LINEARALGEBRA_TD

include "octavo/Dialect/StableHLO/Attributes.td"

def StableHLO_CholeskyOp : StableHLO_BaselineInferredOp<"cholesky", "C1"> {
  let arguments = (ins
    StableHLO_FloatComplexOrQuantizedTensor:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs StableHLO_FloatComplexOrQuantizedTensor:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict `:` custom<OneTypeOrFunction>(type($a), type($result))
  }];
}

// #stablehlo<transpose ADJOINT>
def StableHLO_Transpose : StableHLO_EnumAttr<"Transpose", [
  I32EnumAttrCase<"TRANSPOSE_INVALID", 0>, I32EnumAttrCase<"NO_TRANSPOSE", 1>,
  I32EnumAttrCase<"TRANSPOSE", 2>, I32EnumAttrCase<"ADJOINT", 3>]>;
def StableHLO_TransposeAttr : EnumAttr<StableHLO_Dialect, StableHLO_Transpose, "transpose">;

def StableHLO_TriangularSolveOp : StableHLO_BaselineInferredOp<"triangular_solve", "C4"> {
  let arguments = (ins
    StableHLO_FloatComplexOrQuantizedTensor:$a,
    StableHLO_FloatComplexOrQuantizedTensor:$b,
    BoolAttr:$left_side,
    BoolAttr:$lower,
    BoolAttr:$unit_diagonal,
    StableHLO_TransposeAttr:$transpose_a
  );
  let results = (outs StableHLO_FloatComplexOrQuantizedTensor:$result);
}

#endif // OCTAVO_DIALECT_STABLEHLO_LINEARALGEBRA_TD
