// Elementwise family: each element of the result from the elements at the same place.
#ifndef OCTAVO_DIALECT_STABLEHLO_ELEMENTWISE_TD
#define OCTAVO_DIALECT_STABLEHLO_ELEMENTWISE_TD

include "octavo/Dialect/StableHLO/Attributes.td"

class StableHLO_UnaryOp<string mnemonic, Type tensor> : StableHLO_SameTypeOp<mnemonic, "C1"> {
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
}

class StableHLO_BinaryOp<string mnemonic, Type tensor, list<Trait> traits = []>
    : StableHLO_SameTypeOp<mnemonic, "C1", traits> {
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<OneTypeOrFunction>(type($lhs), type($rhs), type($result))
  }];
}

def StableHLO_CbrtOp : StableHLO_UnaryOp<"cbrt", StableHLO_FloatOrComplexTensor>;
def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil", StableHLO_FloatTensor>;
def StableHLO_CosineOp : StableHLO_UnaryOp<"cosine", StableHLO_FloatOrComplexTensor>;
def StableHLO_ExpOp : StableHLO_UnaryOp<"exponential", StableHLO_FloatOrComplexTensor>;
def StableHLO_Expm1Op : StableHLO_UnaryOp<"exponential_minus_one", StableHLO_FloatOrComplexTensor>;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor", StableHLO_FloatTensor>;
def StableHLO_LogOp : StableHLO_UnaryOp<"log", StableHLO_FloatOrComplexTensor>;
def StableHLO_Log1pOp : StableHLO_UnaryOp<"log_plus_one", StableHLO_FloatOrComplexTensor>;
def StableHLO_LogisticOp : StableHLO_UnaryOp<"logistic", StableHLO_FloatOrComplexTensor>;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate", StableHLO_IntFloatOrComplexTensor>;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", StableHLO_BooleanOrIntTensor>;
def StableHLO_RoundOp : StableHLO_UnaryOp<"round_nearest_afz", StableHLO_FloatTensor>;
def StableHLO_RoundNearestEvenOp : StableHLO_UnaryOp<"round_nearest_even", StableHLO_FloatTensor>;
def StableHLO_RsqrtOp : StableHLO_UnaryOp<"rsqrt", StableHLO_FloatOrComplexTensor>;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign", StableHLO_SignedIntFloatOrComplexTensor>;
def StableHLO_SineOp : StableHLO_UnaryOp<"sine", StableHLO_FloatOrComplexTensor>;
def StableHLO_SqrtOp : StableHLO_UnaryOp<"sqrt", StableHLO_FloatOrComplexTensor>;
def StableHLO_TanhOp : StableHLO_UnaryOp<"tanh", StableHLO_FloatOrComplexTensor>;

def StableHLO_AddOp : StableHLO_BinaryOp<"add", StableHLO_Tensor, [Commutative]>;
def StableHLO_AndOp : StableHLO_BinaryOp<"and", StableHLO_BooleanOrIntTensor, [Commutative]>;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide", StableHLO_IntFloatOrComplexTensor>;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum", StableHLO_Tensor, [Commutative]>;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum", StableHLO_Tensor, [Commutative]>;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply", StableHLO_Tensor, [Commutative]>;
def StableHLO_OrOp : StableHLO_BinaryOp<"or", StableHLO_BooleanOrIntTensor, [Commutative]>;
def StableHLO_PowOp : StableHLO_BinaryOp<"power", StableHLO_IntFloatOrComplexTensor>;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", StableHLO_IntFloatOrComplexTensor>;
def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract", StableHLO_IntFloatOrComplexTensor>;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor", StableHLO_BooleanOrIntTensor, [Commutative]>;

def StableHLO_AbsOp : StableHLO_InferredOp<"abs", "C1, C2"> {
  let arguments = (ins StableHLO_SignedIntFloatOrComplexTensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
}

def StableHLO_ClampOp : StableHLO_InferredOp<"clamp", "C4"> {
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand, StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict
    `:` custom<OneTypeOrFunction>(type($min), type($operand), type($max), type($result))
  }];
}

def StableHLO_CompareOp : StableHLO_InferredOp<"compare", "C2"> {
  let arguments = (ins
    StableHLO_Tensor:$lhs,
    StableHLO_Tensor:$rhs,
    StableHLO_ComparisonDirectionAttr:$comparison_direction,
    OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type
  );
  let results = (outs StableHLO_BooleanTensor:$result);
  let assemblyFormat = [{
    custom<ComparisonDirection>($comparison_direction) `,` $lhs `,` $rhs
    (`,` custom<ComparisonType>($compare_type)^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def StableHLO_ConvertOp : StableHLO_Op<"convert", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_IsFiniteOp : StableHLO_InferredOp<"is_finite", "C1"> {
  let arguments = (ins StableHLO_FloatTensor:$x);
  let results = (outs StableHLO_BooleanTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def StableHLO_ReducePrecisionOp : StableHLO_InferredOp<"reduce_precision", "C1"> {
  let arguments = (ins StableHLO_FloatTensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs StableHLO_FloatTensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict
    `:` custom<OneTypeOrFunction>(type($operand), type($output))
  }];
}

def StableHLO_SelectOp : StableHLO_InferredOp<"select", "C2"> {
  let arguments = (ins
    StableHLO_BooleanTensor:$pred, StableHLO_Tensor:$on_true, StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict
    `:` custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
}

#endif // OCTAVO_DIALECT_STABLEHLO_ELEMENTWISE_TD
