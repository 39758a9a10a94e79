// Contraction family: sums of products over shared axes.
#ifndef OCTAVO_DIALECT_STABLEHLO_CONTRACTION_TD
#define OCTAVO_DIALECT_STABLEHLO_CONTRACTION_TD

include "octavo/Dialect/StableHLO/Attributes.td"

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

def StableHLO_DotGeneralOp : StableHLO_Op<"dot_general", [Pure]> {
  let arguments = (ins
    StableHLO_Tensor:$lhs,
    StableHLO_TensorOrPerAxis:$rhs,
    StableHLO_DotDimensionNumbersAttr:$dot_dimension_numbers,
    OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config,
    OptionalAttr<StableHLO_DotAlgorithmAttr>:$algorithm
  );
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotAttributes>($dot_dimension_numbers, $precision_config, $algorithm)
    attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The extents of the product: the batching axes, then the axes of `lhs` and of `rhs` that are
    /// neither batching nor contracting. Axes must be in range.
    static Extents resultExtents(::llvm::ArrayRef<Extent> lhs, ::llvm::ArrayRef<Extent> rhs,
                                 DotDimensionNumbersAttr dimensions);
  }];
  let hasVerifier = 1;
}

// Products of vectors and matrices; older than dot_general.
def StableHLO_DotOp : StableHLO_Op<"dot", [Pure]> {
  let arguments = (ins
    StableHLO_Tensor:$lhs,
    StableHLO_TensorOrPerAxis:$rhs,
    OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config
  );
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`,` `precision` `=` custom<PrecisionConfig>($precision_config)^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_EinsumOp : StableHLO_Op<"einsum", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StrAttr:$einsum_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_UnaryEinsumOp : StableHLO_Op<"unary_einsum", [Pure]> {
  let arguments = (ins StableHLO_Tensor:$operand, StrAttr:$einsum_config);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_CONTRACTION_TD
