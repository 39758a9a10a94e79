// The verification that convolution and dynamic_conv share. They differ in where the padding comes
// from: an attribute or an operand.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/StableHLO/WindowShape.h"

namespace octavo::stablehlo {

/// The attributes of either operation, as given.
struct ConvolutionAttributes {
  std::optional<llvm::ArrayRef<std::int64_t>> windowStrides, lhsDilation, rhsDilation;
  std::optional<llvm::ArrayRef<bool>> windowReversal;
  std::optional<mlir::DenseIntElementsAttr> padding;
  ConvDimensionNumbersAttr numbers;
  std::int64_t featureGroups, batchGroups;
  std::optional<mlir::ArrayAttr> precision;
};

/// Verifies C1 to C34 of the specification. If `hasPadding`, the result's extents are verified;
/// else only its rank, because the padding is an operand.
llvm::LogicalResult verifyConvolution(mlir::Operation* op, const ConvolutionAttributes& attributes,
                                      mlir::RankedTensorType lhs, mlir::RankedTensorType rhs,
                                      mlir::RankedTensorType result, bool hasPadding);

} // namespace octavo::stablehlo
