// Contraction family: sums of products over shared axes.
#ifndef OCTAVO_DIALECT_STABLEHLO_CONTRACTION_TD
#define OCTAVO_DIALECT_STABLEHLO_CONTRACTION_TD

include "octavo/Dialect/StableHLO/Attributes.td"

def StableHLO_DotGeneralOp : StableHLO_Op<"dot_general", [Pure]> {
  let arguments = (ins
    StableHLO_Tensor:$lhs,
    StableHLO_Tensor:$rhs,
    StableHLO_DotDimensionNumbersAttr:$dot_dimension_numbers,
    OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config,
    OptionalAttr<StableHLO_DotAlgorithmAttr>:$algorithm
  );
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotAttributes>($dot_dimension_numbers, $precision_config, $algorithm)
    attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Shape of the product: batching axes, then the axes of `lhs` and of `rhs` that are neither
    /// batching nor contracting. Axes must be in range.
    static ::llvm::SmallVector<int64_t> resultShape(::llvm::ArrayRef<int64_t> lhs,
                                                    ::llvm::ArrayRef<int64_t> rhs,
                                                    DotDimensionNumbersAttr dimensions);
  }];
  let hasVerifier = 1;
}

#endif // OCTAVO_DIALECT_STABLEHLO_CONTRACTION_TD
