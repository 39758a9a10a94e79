#include "octavo/Kernels/Product/PackedSizes.h"

#include "octavo/Kernels/Product/IntegerPacking.h"
#include "octavo/Kernels/Product/ProductFloat.h"

namespace octavo::kernels {

std::optional<PackedSizes> rightSizes(const ProductPlan& plan, std::int64_t rows,
                                      PackedOperand::Storage storage) {
  using Storage = PackedOperand::Storage;
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  if (rows < 0 || (rows != 0 && plan.depth > kMost / 1024 / (rows + kPanelColumns)))
    return std::nullopt;
  const std::int64_t panels = (rows + kPanelColumns - 1) / kPanelColumns;
  const std::int64_t padded = panels * kPanelColumns;
  const auto size = [](std::int64_t bytes) { return static_cast<std::size_t>(bytes); };
  const bool isFloats = storage == Storage::Codes || storage == Storage::Values;
  if (isFloats != plan.floats)
    return std::nullopt;
  switch (storage) {
  case Storage::Records:
    return PackedSizes{size(panels * plan.pieces * (plan.steps() + 1) * kStepBytes), 0, 0, 0};
  case Storage::Nibbles:
    if (!canStoreNibbles(plan))
      return std::nullopt;
    return PackedSizes{size(panels * plan.pieces * plan.piece * kPanelColumns / 2),
                       size(panels * plan.pieces * kPanelColumns), 0, 0};
  case Storage::Codes:
  case Storage::Values: {
    const bool isCodes = storage == Storage::Codes;
    if (isCodes && plan.rightAsValues)
      return std::nullopt;
    const std::int64_t groups = padded * plan.groups;
    // An operand that is decoded ahead has the layout that the dot products read.
    const std::int64_t bytesOfGroup = isCodes              ? kGroup
                                      : plan.rightAsValues ? kGroup * std::int64_t{sizeof(float)}
                                                           : floatKernels(plan).groupSteps * 4;
    const std::int64_t blocks = (plan.groups + plan.groupsInBlock - 1) / plan.groupsInBlock;
    return PackedSizes{size(groups * bytesOfGroup),
                       isCodes ? size(groups * std::int64_t{sizeof(float)}) : 0,
                       size(blocks * padded), padded};
  }
  case Storage::Digits:
  case Storage::Rows:
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace octavo::kernels
