// Elementwise family: each element of the result from the elements at the same place.
#ifndef OCTAVO_DIALECT_STABLEHLO_ELEMENTWISE_TD
#define OCTAVO_DIALECT_STABLEHLO_ELEMENTWISE_TD

include "octavo/Dialect/StableHLO/Attributes.td"

// #stablehlo<comparison_direction EQ>
def StableHLO_ComparisonDirection : StableHLO_EnumAttr<"ComparisonDirection", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def StableHLO_ComparisonDirectionAttr
    : EnumAttr<StableHLO_Dialect, StableHLO_ComparisonDirection, "comparison_direction">;

// #stablehlo<comparison_type FLOAT>
def StableHLO_ComparisonType : StableHLO_EnumAttr<"ComparisonType", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def StableHLO_ComparisonTypeAttr
    : EnumAttr<StableHLO_Dialect, StableHLO_ComparisonType, "comparison_type">;

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

def StableHLO_CbrtOp : StableHLO_UnaryOp<"cbrt", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil", StableHLO_FloatOrQuantizedTensor>;
def StableHLO_CosineOp : StableHLO_UnaryOp<"cosine", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_ExpOp : StableHLO_UnaryOp<"exponential", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_Expm1Op : StableHLO_UnaryOp<"exponential_minus_one", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor", StableHLO_FloatOrQuantizedTensor>;
def StableHLO_LogOp : StableHLO_UnaryOp<"log", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_Log1pOp : StableHLO_UnaryOp<"log_plus_one", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_LogisticOp : StableHLO_UnaryOp<"logistic", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate", StableHLO_NumberTensor>;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", StableHLO_BooleanOrIntTensor>;
def StableHLO_RoundOp : StableHLO_UnaryOp<"round_nearest_afz", StableHLO_FloatOrQuantizedTensor>;
def StableHLO_RoundNearestEvenOp : StableHLO_UnaryOp<"round_nearest_even", StableHLO_FloatOrQuantizedTensor>;
def StableHLO_RsqrtOp : StableHLO_UnaryOp<"rsqrt", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign", StableHLO_SignedNumberTensor>;
def StableHLO_SineOp : StableHLO_UnaryOp<"sine", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_SqrtOp : StableHLO_UnaryOp<"sqrt", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_TanhOp : StableHLO_UnaryOp<"tanh", StableHLO_FloatComplexOrQuantizedTensor>;

// Only the sum takes tensors that are quantized per axis, and mixes them with others (C2 to C7).
def StableHLO_AddOp
    : StableHLO_Op<"add", [Pure, Commutative, InferTypeOpAdaptorWithIsCompatible]> {
  let arguments = (ins StableHLO_TensorOrPerAxis:$lhs, StableHLO_TensorOrPerAxis:$rhs);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<OneTypeOrFunction>(type($lhs), type($rhs), type($result))
  }];
  let hasVerifier = 1;
}
def StableHLO_AndOp : StableHLO_BinaryOp<"and", StableHLO_BooleanOrIntTensor, [Commutative]>;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide", StableHLO_NumberTensor>;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum", StableHLO_Tensor, [Commutative]>;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum", StableHLO_Tensor, [Commutative]>;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply", StableHLO_Tensor, [Commutative]>;
def StableHLO_OrOp : StableHLO_BinaryOp<"or", StableHLO_BooleanOrIntTensor, [Commutative]>;
def StableHLO_PowOp : StableHLO_BinaryOp<"power", StableHLO_NumberTensor>;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", StableHLO_NumberTensor>;
def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract", StableHLO_NumberTensor>;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor", StableHLO_BooleanOrIntTensor, [Commutative]>;

def StableHLO_AbsOp : StableHLO_InferredOp<"abs", "C1, C2"> {
  let arguments = (ins StableHLO_SignedNumberTensor:$operand);
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
  let arguments = (ins StableHLO_PlainTensor:$operand);
  let results = (outs StableHLO_PlainTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert", [Pure]> {
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_IsFiniteOp : StableHLO_InferredOp<"is_finite", "C1"> {
  let arguments = (ins StableHLO_FloatOrQuantizedTensor:$x);
  let results = (outs StableHLO_BooleanTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def StableHLO_ReducePrecisionOp : StableHLO_InferredOp<"reduce_precision", "C1"> {
  let arguments = (ins
    StableHLO_FloatOrQuantizedTensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs StableHLO_FloatOrQuantizedTensor:$output);
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
