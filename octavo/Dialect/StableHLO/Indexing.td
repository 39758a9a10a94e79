// Indexing family: operations whose places come from data.
#ifndef OCTAVO_DIALECT_STABLEHLO_INDEXING_TD
#define OCTAVO_DIALECT_STABLEHLO_INDEXING_TD

include "octavo/Dialect/StableHLO/Attributes.td"

// StableHLO gives gather no form of its own: it is always written in MLIR's generic form.
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

def StableHLO_GatherOp : StableHLO_InferredOp<"gather", "C22, C23"> {
  let arguments = (ins
    StableHLO_Tensor:$operand,
    StableHLO_IntTensor:$start_indices,
    StableHLO_GatherDimensionNumbersAttr:$dimension_numbers,
    DenseI64ArrayAttr:$slice_sizes,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted
  );
  let results = (outs StableHLO_Tensor:$result);
}

#endif // OCTAVO_DIALECT_STABLEHLO_INDEXING_TD
