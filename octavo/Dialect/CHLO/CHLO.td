// CHLO: operations of JAX that StableHLO does not have, in the text form that JAX prints. One
// record for each operation; elementwise functions of one operand are records of CHLO_FloatFunction
// or CHLO_Function.
#ifndef OCTAVO_DIALECT_CHLO_CHLO
#define OCTAVO_DIALECT_CHLO_CHLO

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CHLO_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::octavo::chlo";
  let summary = "Client HLO: functions that front ends emit next to StableHLO";
  let dependentDialects = ["::mlir::complex::ComplexDialect", "::octavo::stablehlo::StableHLODialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef name) const override;
  }];
}

class CHLO_Op<string mnemonic, list<Trait> traits = []> : Op<CHLO_Dialect, mnemonic, traits>;

/// An elementwise function: one tensor of floats in, one of the same type out.
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

/// An elementwise function of floats or complex numbers.
class CHLO_Function<string mnemonic>
    : CHLO_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultType]> {
  let arguments = (ins RankedTensorOf<[AnyFloat, AnyComplex]>:$operand);
  let results = (outs RankedTensorOf<[AnyFloat, AnyComplex]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def CHLO_AcosOp : CHLO_Function<"acos">;
def CHLO_AcoshOp : CHLO_Function<"acosh">;
def CHLO_AsinOp : CHLO_Function<"asin">;
def CHLO_AsinhOp : CHLO_Function<"asinh">;
def CHLO_AtanOp : CHLO_Function<"atan">;
def CHLO_AtanhOp : CHLO_Function<"atanh">;
def CHLO_ConjOp : CHLO_Function<"conj">;
def CHLO_BesselI1eOp : CHLO_FloatFunction<"bessel_i1e"> {
  let summary = "exp(-|x|) times the modified Bessel function of the first kind of order 1";
}
def CHLO_CoshOp : CHLO_Function<"cosh">;
def CHLO_DigammaOp : CHLO_FloatFunction<"digamma">;
def CHLO_ErfInvOp : CHLO_FloatFunction<"erf_inv">;
def CHLO_LgammaOp : CHLO_FloatFunction<"lgamma">;
def CHLO_SinhOp : CHLO_Function<"sinh">;
def CHLO_TanOp : CHLO_Function<"tan">;

/// Whether each element is infinite, with either sign or a given one.
class CHLO_IsInfinite<string mnemonic>
    : CHLO_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultShape]> {
  let arguments = (ins RankedTensorOf<[AnyFloat]>:$operand);
  let results = (outs RankedTensorOf<[I1]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
def CHLO_IsInfOp : CHLO_IsInfinite<"is_inf">;
def CHLO_IsNegInfOp : CHLO_IsInfinite<"is_neg_inf">;
def CHLO_IsPosInfOp : CHLO_IsInfinite<"is_pos_inf">;

class CHLO_Binary<string mnemonic, Type element>
    : CHLO_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultType]> {
  let arguments = (ins RankedTensorOf<[element]>:$lhs, RankedTensorOf<[element]>:$rhs);
  let results = (outs RankedTensorOf<[element]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

// Operands of different shapes, broadcast as Broadcast.h describes.
def CHLO_Broadcasts : NativeOpTrait<"Broadcasts"> {
  let cppNamespace = "::octavo::chlo";
}
class CHLO_BroadcastBinary<string mnemonic, Type element>
    : CHLO_Op<"broadcast_" # mnemonic, [Pure, SameOperandsAndResultElementType, CHLO_Broadcasts]> {
  let summary = mnemonic # ", the operands broadcast to one shape first";
  let arguments = (ins RankedTensorOf<[element]>:$lhs, RankedTensorOf<[element]>:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs RankedTensorOf<[element]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}
def CHLO_Number : AnyTypeOf<[AnyInteger, AnyFloat, AnyComplex]>;
def CHLO_Quantized : Type<CPred<"::octavo::stablehlo::isQuantizedPerTensor($_self)">, "quantized type">;
def CHLO_NumberOrQuantized : AnyTypeOf<[CHLO_Number, CHLO_Quantized]>;
def CHLO_BroadcastAddOp : CHLO_BroadcastBinary<"add", CHLO_NumberOrQuantized>;
def CHLO_BroadcastAndOp : CHLO_BroadcastBinary<"and", AnyInteger>;
def CHLO_BroadcastAtan2Op : CHLO_BroadcastBinary<"atan2", AnyTypeOf<[AnyFloat, AnyComplex, CHLO_Quantized]>>;
def CHLO_BroadcastDivOp : CHLO_BroadcastBinary<"divide", CHLO_NumberOrQuantized>;
def CHLO_BroadcastMaxOp : CHLO_BroadcastBinary<"maximum", CHLO_NumberOrQuantized>;
def CHLO_BroadcastMinOp : CHLO_BroadcastBinary<"minimum", CHLO_NumberOrQuantized>;
def CHLO_BroadcastMulOp : CHLO_BroadcastBinary<"multiply", CHLO_NumberOrQuantized>;
def CHLO_BroadcastNextAfterOp : CHLO_BroadcastBinary<"next_after", AnyFloat>;
def CHLO_BroadcastOrOp : CHLO_BroadcastBinary<"or", AnyInteger>;
def CHLO_BroadcastPolygammaOp : CHLO_BroadcastBinary<"polygamma", AnyFloat>;
def CHLO_BroadcastPowOp : CHLO_BroadcastBinary<"power", CHLO_NumberOrQuantized>;
def CHLO_BroadcastRemOp : CHLO_BroadcastBinary<"remainder", CHLO_NumberOrQuantized>;
def CHLO_BroadcastShiftLeftOp : CHLO_BroadcastBinary<"shift_left", AnyInteger>;
def CHLO_BroadcastShiftRightArithmeticOp : CHLO_BroadcastBinary<"shift_right_arithmetic", AnyInteger>;
def CHLO_BroadcastShiftRightLogicalOp : CHLO_BroadcastBinary<"shift_right_logical", AnyInteger>;
def CHLO_BroadcastSubOp : CHLO_BroadcastBinary<"subtract", CHLO_NumberOrQuantized>;
def CHLO_BroadcastXorOp : CHLO_BroadcastBinary<"xor", AnyInteger>;
def CHLO_BroadcastZetaOp : CHLO_BroadcastBinary<"zeta", AnyFloat>;

// #chlo<comparison_direction EQ> and #chlo<comparison_type FLOAT>: the same as StableHLO's.
class CHLO_EnumAttr<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::octavo::chlo";
}
def CHLO_ComparisonDirection : CHLO_EnumAttr<"ComparisonDirection", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def CHLO_ComparisonDirectionAttr
    : EnumAttr<CHLO_Dialect, CHLO_ComparisonDirection, "comparison_direction">;
def CHLO_ComparisonType : CHLO_EnumAttr<"ComparisonType", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def CHLO_ComparisonTypeAttr : EnumAttr<CHLO_Dialect, CHLO_ComparisonType, "comparison_type">;

def CHLO_BroadcastCompareOp
    : CHLO_Op<"broadcast_compare", [Pure, AllElementTypesMatch<["lhs", "rhs"]>, CHLO_Broadcasts]> {
  let summary = "Whether a relation holds, the operands broadcast to one shape first";
  let description = [{
    ```mlir
    %p = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>}
        : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins RankedTensorOf<[CHLO_NumberOrQuantized]>:$lhs,
                       RankedTensorOf<[CHLO_NumberOrQuantized]>:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
                       CHLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<CHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs RankedTensorOf<[I1]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CHLO_BroadcastComplexOp
    : CHLO_Op<"broadcast_complex", [Pure, AllElementTypesMatch<["lhs", "rhs"]>, CHLO_Broadcasts]> {
  let summary = "Complex numbers of their parts, which are broadcast to one shape first";
  let description = [{
    ```mlir
    %z = chlo.broadcast_complex %re, %im
        : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64]>:$lhs, RankedTensorOf<[F32, F64]>:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs RankedTensorOf<[AnyComplex]>:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def CHLO_BroadcastSelectOp
    : CHLO_Op<"broadcast_select", [Pure, AllElementTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "One of two elements, the three operands broadcast to one shape as NumPy does";
  let description = [{
    ```mlir
    %z = chlo.broadcast_select %p, %x, %y
        : (tensor<3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I1]>:$pred,
                       RankedTensorOf<[CHLO_NumberOrQuantized]>:$on_true,
                       RankedTensorOf<[CHLO_NumberOrQuantized]>:$on_false);
  let results = (outs RankedTensorOf<[CHLO_NumberOrQuantized]>:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def CHLO_MulhiOp : CHLO_Binary<"mulhi", AnyInteger> {
  let summary = "The high half of the product of twice the width";
}
def CHLO_NextAfterOp : CHLO_Binary<"next_after", AnyFloat> {
  let summary = "The number of the format that follows lhs in the direction of rhs";
}

def CHLO_PolygammaOp : CHLO_Binary<"polygamma", AnyFloat> {
  let summary = "The derivative of order lhs of digamma at rhs";
}
def CHLO_ZetaOp : CHLO_Binary<"zeta", AnyFloat> {
  let summary = "Hurwitz's zeta function: the sum of (rhs + k)^-lhs over k >= 0";
}

def CHLO_ConstantOp
    : CHLO_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "output"]>]> {
  let summary = "A tensor that the program says";
  let description = [{
    ```mlir
    %c = chlo.constant dense<1.0> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StaticShapeTensorOf<[AnyType]>:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def CHLO_ConstantLikeOp : CHLO_Op<"constant_like", [Pure, SameOperandsAndResultShape]> {
  let summary = "One number at every place of the operand's shape";
  let description = [{
    The element type is the number's; the operand's does not matter.

    ```mlir
    %c = "chlo.constant_like"(%x) <{value = 2.5 : f32}> : (tensor<?xi64>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value, AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def CHLO_TopKOp
    : CHLO_Op<"top_k", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
                        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "The k largest elements of each line along the last axis, in descending order";
  let description = [{
    Floats are in the total order of IEEE 754; of equal elements the first comes first. The second
    result are their indices.

    ```mlir
    %values, %indices = chlo.top_k(%x, k = 3) : tensor<4x9xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$operand, I64Attr:$k, DefaultValuedOptionalAttr<BoolAttr, "true">:$is_stable);
  let results = (outs AnyRankedTensor:$values, RankedTensorOf<[I32]>:$indices);
  let assemblyFormat = [{
    `(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict
    `:` type($operand) `->` `(` type($values) `,` type($indices) `)`
  }];
}

// #chlo<precision DEFAULT>: the same as StableHLO's.
def CHLO_Precision : CHLO_EnumAttr<"Precision", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def CHLO_PrecisionAttr : EnumAttr<CHLO_Dialect, CHLO_Precision, "precision">;
def CHLO_PrecisionConfigAttr : TypedArrayAttrBase<CHLO_PrecisionAttr, "one precision an operand">;

// #chlo.ragged_dot<lhs_contracting_dimensions = [1], ...>: the axes of a dot, the axis of lhs whose
// indices are divided into groups, and the axis of rhs that enumerates the groups.
def CHLO_Indices : OptionalArrayRefParameter<"int64_t">;
def CHLO_RaggedDotDimensionNumbersAttr : AttrDef<CHLO_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let parameters = (ins
    CHLO_Indices:$lhsBatchingDimensions,
    CHLO_Indices:$rhsBatchingDimensions,
    CHLO_Indices:$lhsContractingDimensions,
    CHLO_Indices:$rhsContractingDimensions,
    CHLO_Indices:$lhsRaggedDimensions,
    CHLO_Indices:$rhsGroupDimensions
  );
  let hasCustomAssemblyFormat = 1;
}

def CHLO_RaggedDotOp : CHLO_Op<"ragged_dot", [Pure]> {
  let summary = "dot_general on runs of one axis of lhs, the groups";
  let description = [{
    Group j is the j-th run of indices of the ragged axis of `lhs`, as long as `group_sizes` says. Where
    that axis is free, each of its rows is multiplied with the part of `rhs` that its group has, and
    those past the last group give 0; where it is contracting, each group gives a product of its own,
    along a new first axis; where it is batching, the operation is dot_general.

    ```mlir
    %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
           lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
           lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
         : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
    ```
  }];
  let arguments = (ins
    RankedTensorOf<[CHLO_Number]>:$lhs, RankedTensorOf<[CHLO_Number]>:$rhs,
    RankedTensorOf<[AnyInteger]>:$group_sizes,
    CHLO_RaggedDotDimensionNumbersAttr:$ragged_dot_dimension_numbers,
    OptionalAttr<CHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs RankedTensorOf<[CHLO_Number]>:$result);
  let extraClassDeclaration = [{
    /// The role of the ragged axis in the dot.
    enum class Mode { Free, Contracting, Batching };
    Mode mode();
    /// The prefix axes: the axes of lhs, in order, that group_sizes has before its last axis.
    ::llvm::SmallVector<int64_t> prefixAxes();
    /// The extents of the result. The operands must be valid.
    ::octavo::stablehlo::Extents resultExtents();
  }];
  let hasVerifier = 1;
}

def CHLO_ScanOp
    : CHLO_Op<"scan", [RecursiveMemoryEffects, IsolatedFromAbove, AttrSizedOperandSegments,
                       AttrSizedResultSegments, SingleBlockImplicitTerminator<"::octavo::stablehlo::ReturnOp">,
                       DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Applies a body to slices of tensors, one after the other";
  let description = [{
    The body takes a slice of each input and the carries, and gives a slice of each output and the next
    carries. `is_associative` permits another order, which octavo does not make use of.

    ```mlir
    %y, %c = chlo.scan(%x) inits (%c0) dimension=0 {
    ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
      %s = stablehlo.add %input, %carry : tensor<f32>
      stablehlo.return %s, %s : tensor<f32>, tensor<f32>
    } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
    ```
  }];
  let arguments = (ins
    Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$inits,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scan_dim_size,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse,
    OptionalAttr<BoolAttr>:$is_associative);
  let results = (outs Variadic<AnyRankedTensor>:$outputs, Variadic<AnyRankedTensor>:$carries);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

#endif // OCTAVO_DIALECT_CHLO_CHLO
