// Elementwise family: each element of the result is computed from the elements at the same index.
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

class StableHLO_UnaryOp<string mnemonic, Type tensor>
    : StableHLO_SameTypeOp<mnemonic, "C1", [StableHLO_Elementwise]> {
  let arguments = (ins tensor:$operand);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
}

class StableHLO_BinaryOp<string mnemonic, Type tensor, list<Trait> traits = []>
    : StableHLO_SameTypeOp<mnemonic, "C1", traits # [StableHLO_Elementwise]> {
  let arguments = (ins tensor:$lhs, tensor:$rhs);
  let results = (outs tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<OneTypeOrFunction>(type($lhs), type($rhs), type($result))
  }];
}

// The accuracy that a program requires of a function:
//   #stablehlo.result_accuracy<atol = 1.0e-03, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>
// It allows more error than octavo's functions make, so it has no effect.
def StableHLO_ResultAccuracyMode : StableHLO_EnumAttr<"ResultAccuracyMode", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>, I32EnumAttrCase<"TOLERANCE", 2>]>;
def StableHLO_ResultAccuracyModeAttr
    : EnumAttr<StableHLO_Dialect, StableHLO_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}
def StableHLO_ResultAccuracyAttr : StableHLO_Attr<"ResultAccuracy", "result_accuracy"> {
  let parameters = (ins
    APFloatParameter<"">:$atol,
    APFloatParameter<"">:$rtol,
    "int64_t":$ulps,
    "ResultAccuracyModeAttr":$mode
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let constBuilderCall = "::octavo::stablehlo::ResultAccuracyAttr::ofMode($_builder.getContext(), $0)";
  let extraClassDeclaration = [{
    /// The attribute with this mode and no tolerances.
    static ResultAccuracyAttr ofMode(::mlir::MLIRContext* context, ResultAccuracyMode mode);
  }];
}

// A function that has no exact algorithm, only approximations.
class StableHLO_FunctionOp<string mnemonic>
    : StableHLO_SameTypeOp<mnemonic, "C1", [StableHLO_Elementwise]> {
  let arguments = (ins
    StableHLO_FloatComplexOrQuantizedTensor:$operand,
    DefaultValuedOptionalAttr<StableHLO_ResultAccuracyAttr,
                              "::octavo::stablehlo::ResultAccuracyMode::DEFAULT">:$result_accuracy
  );
  let results = (outs StableHLO_FloatComplexOrQuantizedTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
}

def StableHLO_CbrtOp : StableHLO_FunctionOp<"cbrt">;
def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil", StableHLO_FloatOrQuantizedTensor>;
def StableHLO_CosineOp : StableHLO_FunctionOp<"cosine">;
def StableHLO_ClzOp : StableHLO_UnaryOp<"count_leading_zeros", StableHLO_IntTensor>;
def StableHLO_ExpOp : StableHLO_FunctionOp<"exponential">;
def StableHLO_Expm1Op : StableHLO_FunctionOp<"exponential_minus_one">;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor", StableHLO_FloatOrQuantizedTensor>;
def StableHLO_LogOp : StableHLO_FunctionOp<"log">;
def StableHLO_Log1pOp : StableHLO_FunctionOp<"log_plus_one">;
def StableHLO_LogisticOp : StableHLO_FunctionOp<"logistic">;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate", StableHLO_NumberTensor>;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", StableHLO_BooleanOrIntTensor>;
def StableHLO_PopulationCountOp : StableHLO_UnaryOp<"popcnt", StableHLO_IntTensor>;
def StableHLO_RoundOp : StableHLO_UnaryOp<"round_nearest_afz", StableHLO_FloatOrQuantizedTensor>;
def StableHLO_RoundNearestEvenOp : StableHLO_UnaryOp<"round_nearest_even", StableHLO_FloatOrQuantizedTensor>;
def StableHLO_RsqrtOp : StableHLO_FunctionOp<"rsqrt">;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign", StableHLO_SignedNumberTensor>;
def StableHLO_SineOp : StableHLO_FunctionOp<"sine">;
def StableHLO_SqrtOp : StableHLO_FunctionOp<"sqrt">;
def StableHLO_TanOp : StableHLO_FunctionOp<"tan">;
def StableHLO_TanhOp : StableHLO_FunctionOp<"tanh">;

// Only the sum takes tensors quantized per axis, also mixed with others (C2 to C7).
def StableHLO_AddOp
    : StableHLO_Op<"add", [Pure, Commutative, StableHLO_Elementwise, InferTypeOpAdaptorWithIsCompatible]> {
  let arguments = (ins StableHLO_TensorOrPerAxis:$lhs, StableHLO_TensorOrPerAxis:$rhs);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<OneTypeOrFunction>(type($lhs), type($rhs), type($result))
  }];
  let hasVerifier = 1;
}
def StableHLO_AndOp : StableHLO_BinaryOp<"and", StableHLO_BooleanOrIntTensor, [Commutative]>;
def StableHLO_Atan2Op : StableHLO_BinaryOp<"atan2", StableHLO_FloatComplexOrQuantizedTensor>;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide", StableHLO_NumberTensor>;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum", StableHLO_Tensor, [Commutative]>;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum", StableHLO_Tensor, [Commutative]>;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply", StableHLO_Tensor, [Commutative]>;
def StableHLO_OrOp : StableHLO_BinaryOp<"or", StableHLO_BooleanOrIntTensor, [Commutative]>;
def StableHLO_PowOp : StableHLO_BinaryOp<"power", StableHLO_NumberTensor>;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", StableHLO_NumberTensor>;
def StableHLO_ShiftLeftOp : StableHLO_BinaryOp<"shift_left", StableHLO_IntTensor>;
def StableHLO_ShiftRightArithmeticOp : StableHLO_BinaryOp<"shift_right_arithmetic", StableHLO_IntTensor>;
def StableHLO_ShiftRightLogicalOp : StableHLO_BinaryOp<"shift_right_logical", StableHLO_IntTensor>;
def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract", StableHLO_NumberTensor>;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor", StableHLO_BooleanOrIntTensor, [Commutative]>;

def StableHLO_AbsOp : StableHLO_BaselineInferredOp<"abs", "C1, C2", [StableHLO_Elementwise]> {
  let arguments = (ins StableHLO_SignedNumberTensor:$operand);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
}

def StableHLO_ClampOp : StableHLO_BaselineInferredOp<"clamp", "C4", [StableHLO_Elementwise]> {
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand, StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict
    `:` custom<OneTypeOrFunction>(type($min), type($operand), type($max), type($result))
  }];
}

def StableHLO_CompareOp : StableHLO_InferredOp<"compare", "C2", [StableHLO_Elementwise]> {
  let arguments = (ins
    StableHLO_Tensor:$lhs,
    StableHLO_Tensor:$rhs,
    StableHLO_ComparisonDirectionAttr:$comparison_direction,
    OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type
  );
  let results = (outs StableHLO_BooleanTensor:$result);
  let assemblyFormat = [{
    custom<Enumeration>($comparison_direction) `,` $lhs `,` $rhs
    (`,` custom<Enumeration>($compare_type)^)? attr-dict
    `:` functional-type(operands, results)
  }];
}

def StableHLO_ConvertOp : StableHLO_Op<"convert", [Pure, StableHLO_Elementwise]> {
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

def StableHLO_IsFiniteOp : StableHLO_InferredOp<"is_finite", "C1", [StableHLO_Elementwise]> {
  let arguments = (ins StableHLO_FloatOrQuantizedTensor:$x);
  let results = (outs StableHLO_BooleanTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def StableHLO_ReducePrecisionOp : StableHLO_BaselineInferredOp<"reduce_precision", "C1", [StableHLO_Elementwise]> {
  let arguments = (ins
    StableHLO_FloatOrQuantizedTensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs StableHLO_FloatOrQuantizedTensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict
    `:` custom<OneTypeOrFunction>(type($operand), type($output))
  }];
}

def StableHLO_SelectOp : StableHLO_BaselineInferredOp<"select", "C2", [StableHLO_Elementwise]> {
  let arguments = (ins
    StableHLO_BooleanTensor:$pred, StableHLO_Tensor:$on_true, StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict
    `:` custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
}

def StableHLO_MapOp
    : StableHLO_Op<"map", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_ELEMENTWISE_TD
