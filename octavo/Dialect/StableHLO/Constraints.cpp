#include "octavo/Dialect/StableHLO/Constraints.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace octavo::stablehlo {

std::string spell(llvm::ArrayRef<std::int64_t> values) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '[';
  llvm::interleaveComma(values, out);
  out << ']';
  return text;
}

std::optional<std::int64_t> firstRepeated(llvm::ArrayRef<std::int64_t> values) {
  llvm::SmallVector<std::int64_t> seen;
  for (std::int64_t value : values) {
    if (llvm::is_contained(seen, value))
      return value;
    seen.push_back(value);
  }
  return std::nullopt;
}

std::optional<std::int64_t> firstOutside(llvm::ArrayRef<std::int64_t> values, std::int64_t bound) {
  for (std::int64_t value : values)
    if (value < 0 || value >= bound)
      return value;
  return std::nullopt;
}

mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element) {
  return mlir::RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

llvm::LogicalResult inferSameType(mlir::ValueRange operands,
                                  llvm::SmallVectorImpl<mlir::Type>& types) {
  mlir::Type type = operands.front().getType();
  for (const mlir::Type other : operands.drop_front().getTypes()) {
    if (!isCompatible(type, other))
      return mlir::failure();
    type = mostSpecific(type, other);
  }
  types.push_back(type);
  return mlir::success();
}

} // namespace octavo::stablehlo
