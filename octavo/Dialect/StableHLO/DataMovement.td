// Data movement family: operations that move elements, and constants and iota.
#ifndef OCTAVO_DIALECT_STABLEHLO_DATAMOVEMENT_TD
#define OCTAVO_DIALECT_STABLEHLO_DATAMOVEMENT_TD

include "octavo/Dialect/StableHLO/Attributes.td"
include "mlir/IR/OpAsmInterface.td"

def StableHLO_ConstantOp
    : StableHLO_Op<"constant", [Pure, ConstantLike, InferTypeOpAdaptorWithIsCompatible,
                                DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_StaticTensorOrPerAxis:$output);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_IotaOp : StableHLO_Op<"iota", [Pure]> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs StableHLO_StaticNumberTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def StableHLO_BroadcastInDimOp : StableHLO_Op<"broadcast_in_dim", [Pure]> {
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_ConcatenateOp : StableHLO_InferredOp<"concatenate", "C5, C6"> {
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    custom<CommaOperands>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def StableHLO_PadOp : StableHLO_InferredOp<"pad", "C1, C4"> {
  let arguments = (ins
    StableHLO_Tensor:$operand,
    StableHLO_Tensor:$padding_value,
    DenseI64ArrayAttr:$edge_padding_low,
    DenseI64ArrayAttr:$edge_padding_high,
    DenseI64ArrayAttr:$interior_padding
  );
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high
    `,` `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ReshapeOp : StableHLO_Op<"reshape", [Pure]> {
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_ReverseOp : StableHLO_InferredOp<"reverse", "C1"> {
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict
    `:` custom<OneTypeOrFunction>(type($operand), type($result))
  }];
}

def StableHLO_SliceOp : StableHLO_InferredOp<"slice", "C1, C5"> {
  let arguments = (ins
    StableHLO_Tensor:$operand,
    DenseI64ArrayAttr:$start_indices,
    DenseI64ArrayAttr:$limit_indices,
    DenseI64ArrayAttr:$strides
  );
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict
    `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def StableHLO_TransposeOp : StableHLO_InferredOp<"transpose", "C1, C3"> {
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def StableHLO_BroadcastOp : StableHLO_InferredOp<"broadcast", "I1"> {
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)
  }];
}

#endif // OCTAVO_DIALECT_STABLEHLO_DATAMOVEMENT_TD
