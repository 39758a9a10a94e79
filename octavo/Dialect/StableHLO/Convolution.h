// What convolution and dynamic_conv have in common: all but where the padding comes from.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/StableHLO/WindowShape.h"

namespace octavo::stablehlo {

/// The attributes of either, as they are given.
struct ConvolutionAttributes {
  std::optional<llvm::ArrayRef<std::int64_t>> windowStrides, lhsDilation, rhsDilation;
  std::optional<llvm::ArrayRef<bool>> windowReversal;
  std::optional<mlir::DenseIntElementsAttr> padding;
  ConvDimensionNumbersAttr numbers;
  std::int64_t featureGroups, batchGroups;
  std::optional<mlir::ArrayAttr> precision;
};

/// Checks what the specification numbers C1 to C34 for both operations. The extents of the result
/// are checked where `hasPadding`, the rank alone where the padding is an operand.
llvm::LogicalResult verifyConvolution(mlir::Operation* op, const ConvolutionAttributes& attributes,
                                      mlir::RankedTensorType lhs, mlir::RankedTensorType rhs,
                                      mlir::RankedTensorType result, bool hasPadding);

} // namespace octavo::stablehlo
