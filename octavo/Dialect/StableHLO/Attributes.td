// Attributes and types of StableHLO that are not MLIR's own.
#ifndef OCTAVO_DIALECT_STABLEHLO_ATTRIBUTES_TD
#define OCTAVO_DIALECT_STABLEHLO_ATTRIBUTES_TD

include "octavo/Dialect/StableHLO/Base.td"

def StableHLO_TokenType : TypeDef<StableHLO_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "a value that orders operations with side effects";
}

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

// #stablehlo<precision DEFAULT>
def StableHLO_Precision : StableHLO_EnumAttr<"Precision", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def StableHLO_PrecisionAttr : EnumAttr<StableHLO_Dialect, StableHLO_Precision, "precision">;
def StableHLO_PrecisionConfigAttr
    : TypedArrayAttrBase<StableHLO_PrecisionAttr, "one precision an operand">;

def StableHLO_DotDimensionNumbersAttr : StableHLO_Attr<"DotDimensionNumbers", "dot"> {
  let parameters = (ins
    StableHLO_Indices:$lhsBatchingDimensions,
    StableHLO_Indices:$rhsBatchingDimensions,
    StableHLO_Indices:$lhsContractingDimensions,
    StableHLO_Indices:$rhsContractingDimensions
  );
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotAlgorithmAttr : StableHLO_Attr<"DotAlgorithm", "dot_algorithm"> {
  let parameters = (ins
    "::mlir::Type":$lhsPrecisionType,
    "::mlir::Type":$rhsPrecisionType,
    "::mlir::Type":$accumulationType,
    "int64_t":$lhsComponentCount,
    "int64_t":$rhsComponentCount,
    "int64_t":$numPrimitiveOperations,
    "bool":$allowImpreciseAccumulation
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def StableHLO_GatherDimensionNumbersAttr : StableHLO_Attr<"GatherDimensionNumbers", "gather"> {
  let parameters = (ins
    StableHLO_Indices:$offsetDims,
    StableHLO_Indices:$collapsedSliceDims,
    StableHLO_Indices:$operandBatchingDims,
    StableHLO_Indices:$startIndicesBatchingDims,
    StableHLO_Indices:$startIndexMap,
    "int64_t":$indexVectorDim
  );
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_OutputOperandAliasAttr : StableHLO_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "a result of a custom call that shares the memory of an operand";
  let parameters = (ins
    StableHLO_Indices:$outputTupleIndices,
    "int64_t":$operandIndex,
    StableHLO_Indices:$operandTupleIndices
  );
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_CustomCallApiVersion : I32EnumAttr<"CustomCallApiVersion", "", [
  I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>,
  I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
  I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]> {
  let cppNamespace = "::octavo::stablehlo";
}

#endif // OCTAVO_DIALECT_STABLEHLO_ATTRIBUTES_TD
