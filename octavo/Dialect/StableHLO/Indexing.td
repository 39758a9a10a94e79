// Indexing family: operations whose indices are data.
#ifndef OCTAVO_DIALECT_STABLEHLO_INDEXING_TD
#define OCTAVO_DIALECT_STABLEHLO_INDEXING_TD

include "octavo/Dialect/StableHLO/Attributes.td"

// StableHLO has no custom form of gather: it is always written in MLIR's generic form.
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

def StableHLO_DynamicSliceOp : StableHLO_InferredOp<"dynamic_slice", "C1, C5"> {
  let arguments = (ins
    StableHLO_Tensor:$operand, Variadic<StableHLO_IntScalar>:$start_indices, DenseI64ArrayAttr:$slice_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<CommaOperands>($start_indices) `sizes` `=` $slice_sizes attr-dict
    `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicUpdateSliceOp : StableHLO_InferredOp<"dynamic_update_slice", "C1"> {
  let arguments = (ins
    StableHLO_Tensor:$operand, StableHLO_Tensor:$update, Variadic<StableHLO_IntScalar>:$start_indices);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_ScatterDimensionNumbersAttr : StableHLO_Attr<"ScatterDimensionNumbers", "scatter"> {
  let parameters = (ins
    StableHLO_Indices:$updateWindowDims,
    StableHLO_Indices:$insertedWindowDims,
    StableHLO_Indices:$inputBatchingDims,
    StableHLO_Indices:$scatterIndicesBatchingDims,
    StableHLO_Indices:$scatterDimsToOperandDims,
    "int64_t":$indexVectorDim
  );
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ScatterOp
    : StableHLO_Op<"scatter", [RecursiveMemoryEffects, SameVariadicOperandSize,
                               SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins
    Variadic<StableHLO_Tensor>:$inputs,
    StableHLO_IntTensor:$scatter_indices,
    Variadic<StableHLO_Tensor>:$updates,
    StableHLO_ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices
  );
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_TorchIndexSelectOp : StableHLO_InferredOp<"torch_index_select", "I1"> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs StableHLO_Tensor:$result);
}

#endif // OCTAVO_DIALECT_STABLEHLO_INDEXING_TD
