#include "octavo/Dialect/StableHLO/Constraints.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
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
  llvm::SmallSet<std::int64_t, 8> seen;
  for (std::int64_t value : values)
    if (!seen.insert(value).second)
      return value;
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

llvm::LogicalResult inferSameType(mlir::ValueRange operands, Types& types) {
  mlir::Type type = operands.front().getType();
  for (const mlir::Type other : operands.drop_front().getTypes()) {
    if (!isCompatible(type, other))
      return mlir::failure();
    type = mostSpecific(type, other);
  }
  types.push_back(type);
  return mlir::success();
}

llvm::LogicalResult Checker::unique(llvm::StringRef rule, llvm::StringRef name,
                                    llvm::ArrayRef<std::int64_t> indices) const {
  if (const auto repeated = firstRepeated(indices))
    return violated(rule, name, " must be unique; found ", *repeated, " twice in ", spell(indices));
  return mlir::success();
}

llvm::LogicalResult Checker::sorted(llvm::StringRef rule, llvm::StringRef name,
                                    llvm::ArrayRef<std::int64_t> indices) const {
  if (!llvm::is_sorted(indices))
    return violated(rule, name, " must be in ascending order; found ", spell(indices));
  return mlir::success();
}

llvm::LogicalResult Checker::inside(llvm::StringRef rule, llvm::StringRef name,
                                    llvm::ArrayRef<std::int64_t> indices, std::int64_t bound,
                                    llvm::StringRef whose) const {
  if (const auto outside = firstOutside(indices, bound))
    return violated(rule, name, " must be in [0, ", bound, "), the axes of ", whose, "; found ",
                    *outside);
  return mlir::success();
}

llvm::LogicalResult Checker::oneEach(llvm::StringRef rule, llvm::StringRef name,
                                     llvm::ArrayRef<std::int64_t> indices, std::int64_t count,
                                     llvm::StringRef whose) const {
  if (static_cast<std::int64_t>(indices.size()) != count)
    return violated(rule, name, " must have one entry for each of ", count, " ", whose, "; found ",
                    spell(indices));
  return mlir::success();
}

llvm::LogicalResult Checker::positive(llvm::StringRef rule, llvm::StringRef name,
                                      llvm::ArrayRef<std::int64_t> values) const {
  for (std::int64_t value : values)
    if (value <= 0)
      return violated(rule, name, " must be positive; found ", spell(values));
  return mlir::success();
}

} // namespace octavo::stablehlo
