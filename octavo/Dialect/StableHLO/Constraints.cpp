#include "octavo/Dialect/StableHLO/Constraints.h"

#include "octavo/Dialect/StableHLO/Extents.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/raw_ostream.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

namespace octavo::stablehlo {

namespace quant = mlir::quant;

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

namespace {

llvm::LogicalResult verifyZeroPoint(const Checker& check, quant::QuantizedType type,
                                    std::int64_t zeroPoint) {
  if (zeroPoint >= type.getStorageTypeMin() && zeroPoint <= type.getStorageTypeMax())
    return mlir::success();
  return check.violated("QuantizedTensorType C7", "the zero point ", zeroPoint,
                        " must lie in the storage's range [", type.getStorageTypeMin(), ", ",
                        type.getStorageTypeMax(), "] of ", type);
}

llvm::LogicalResult verifyQuantization(mlir::Operation* op, mlir::RankedTensorType tensor) {
  const Checker check(op);
  const mlir::Type element = tensor.getElementType();
  if (const auto type = llvm::dyn_cast<quant::UniformQuantizedType>(element))
    return verifyZeroPoint(check, type, type.getZeroPoint());
  const auto type = llvm::dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  if (!type)
    return mlir::success();
  for (std::int64_t zeroPoint : type.getZeroPoints())
    if (failed(verifyZeroPoint(check, type, zeroPoint)))
      return mlir::failure();
  const std::int64_t axis = type.getQuantizedDimension();
  if (axis < 0 || axis >= tensor.getRank())
    return check.violated("QuantizedTensorType C12", "the quantization dimension of ", tensor,
                          " must be one of its axes");
  const Extent extent = extentsOf(tensor)[static_cast<std::size_t>(axis)];
  if (extent.isKnown() && !extent.is(static_cast<std::int64_t>(type.getScales().size())))
    return check.violated("QuantizedTensorType C13", tensor,
                          " must have a scale for each index of "
                          "axis ",
                          axis);
  return mlir::success();
}

} // namespace

llvm::LogicalResult verifyQuantization(mlir::Operation* op) {
  for (const mlir::TypeRange types :
       {mlir::TypeRange(op->getOperandTypes()), mlir::TypeRange(op->getResultTypes())})
    for (mlir::Type type : types)
      if (const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
        if (failed(verifyQuantization(op, tensor)))
          return mlir::failure();
  return mlir::success();
}

llvm::LogicalResult inferSameType(mlir::ValueRange operands, Types& types) {
  mlir::Type type = operands.front().getType();
  for (const mlir::Type other : operands.drop_front().getTypes()) {
    if (!haveOneBaseline(type, other))
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
