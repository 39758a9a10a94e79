// Attributes and types that several families of StableHLO's operations use. A family's own
// attributes are in its file.
#ifndef OCTAVO_DIALECT_STABLEHLO_ATTRIBUTES_TD
#define OCTAVO_DIALECT_STABLEHLO_ATTRIBUTES_TD

include "octavo/Dialect/StableHLO/Base.td"

def StableHLO_TokenType : TypeDef<StableHLO_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "a value that orders operations with side effects";
}

// #stablehlo<precision DEFAULT>
def StableHLO_Precision : StableHLO_EnumAttr<"Precision", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def StableHLO_PrecisionAttr : EnumAttr<StableHLO_Dialect, StableHLO_Precision, "precision">;
def StableHLO_PrecisionConfigAttr
    : TypedArrayAttrBase<StableHLO_PrecisionAttr, "one precision an operand">;

// #stablehlo.bounds<4, ?>: the encoding of a tensor type that bounds each unknown extent; `?` means
// no bound. The long form #stablehlo.type_extensions<bounds = [4, ?]> is read too.
def StableHLO_BoundsAttr
    : StableHLO_Attr<"Bounds", "bounds", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The text in the brackets: `4, ?`.
    static ::mlir::Attribute parseBounds(::mlir::AsmParser& parser,
                                         ::mlir::AsmParser::Delimiter delimiter);
  }];
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

// #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>: the meaning of each axis of input,
// kernel and output.
def StableHLO_ConvDimensionNumbersAttr : StableHLO_Attr<"ConvDimensionNumbers", "conv"> {
  let parameters = (ins
    "int64_t":$inputBatchDimension,
    "int64_t":$inputFeatureDimension,
    StableHLO_Indices:$inputSpatialDimensions,
    "int64_t":$kernelInputFeatureDimension,
    "int64_t":$kernelOutputFeatureDimension,
    StableHLO_Indices:$kernelSpatialDimensions,
    "int64_t":$outputBatchDimension,
    "int64_t":$outputFeatureDimension,
    StableHLO_Indices:$outputSpatialDimensions
  );
  let hasCustomAssemblyFormat = 1;
}

// #stablehlo.channel_handle<handle = 1, type = 1>: handle 0 means no channel; type 0 means that the
// type is not given.
def StableHLO_ChannelHandleAttr : StableHLO_Attr<"ChannelHandle", "channel_handle"> {
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // OCTAVO_DIALECT_STABLEHLO_ATTRIBUTES_TD
