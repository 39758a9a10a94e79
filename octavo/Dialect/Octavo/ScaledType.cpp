// !octavo.scaled: its text, its verifier, and the shapes and types that follow from it.
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace octavo::ir {

using format::ElementFormat;

static constexpr std::int64_t kUnknown = mlir::ShapedType::kDynamic;

static llvm::StringRef spelling(const ElementFormat& format) { return format.irName(); }

static bool canBeElement(const ElementFormat& format) {
  return format.isNarrow() && format.hasZero();
}

/// Scale formats must have NaN and at most 32 bits.
static bool canBeScale(const ElementFormat& format) {
  return format.hasNan() && format.width() <= 32;
}

static std::string spellings(bool (*accept)(const ElementFormat&)) {
  std::string text;
  for (const ElementFormat& row : format::kElementFormats)
    if (accept(row))
      text += (text.empty() ? "" : ", ") + spelling(row).str();
  return text;
}

/// Matches spellings exactly, with case: e4m3 and E4M3 are different formats, and the second is
/// OCP's name.
static const ElementFormat* parseFormat(mlir::AsmParser& parser, llvm::StringRef role,
                                        bool (*accept)(const ElementFormat&)) {
  const llvm::SMLoc location = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseOptionalKeyword(&keyword)) {
    parser.emitError(location) << "expected the " << role << " format: " << spellings(accept);
    return nullptr;
  }
  for (const ElementFormat& row : format::kElementFormats)
    if (keyword == spelling(row))
      return &row;
  parser.emitError(location) << "'" << keyword << "' is not an element format that can be "
                             << (role == "scale" ? "a scale" : "an element")
                             << "; available: " << spellings(accept);
  return nullptr;
}

mlir::Type ScaledType::parse(mlir::AsmParser& parser) {
  const llvm::SMLoc location = parser.getCurrentLocation();
  llvm::SmallVector<std::int64_t> shape;
  llvm::SmallVector<std::int64_t> block;
  bool hasOuterScale = false;

  if (parser.parseLess() || parser.parseDimensionList(shape))
    return {};
  const ElementFormat* element = parseFormat(parser, "element", canBeElement);
  if (!element || parser.parseComma() || parser.parseKeyword("scale"))
    return {};
  const ElementFormat* scale = parseFormat(parser, "scale", canBeScale);
  if (!scale || parser.parseComma() || parser.parseKeyword("block"))
    return {};
  const auto extent = [&]() -> mlir::ParseResult {
    if (succeeded(parser.parseOptionalQuestion()))
      return block.push_back(kUnknown), mlir::success();
    return parser.parseInteger(block.emplace_back());
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, extent))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("outer") || parser.parseKeyword("f32"))
      return {};
    hasOuterScale = true;
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(location); }, parser.getContext(),
                    llvm::ArrayRef(shape), element, scale, llvm::ArrayRef(block), hasOuterScale);
}

void ScaledType::print(mlir::AsmPrinter& printer) const {
  const auto spell = [&](std::int64_t extent) -> mlir::AsmPrinter& {
    return extent == kUnknown ? printer << "?" : printer << extent;
  };
  printer << "<";
  for (std::int64_t extent : getShape())
    spell(extent) << "x";
  printer << spelling(*getElement()) << ", scale " << spelling(*getScale()) << ", block [";
  llvm::interleaveComma(getBlock(), printer, spell);
  printer << "]" << (getHasOuterScale() ? ", outer f32" : "") << ">";
}

mlir::LogicalResult ScaledType::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                       llvm::ArrayRef<std::int64_t> shape,
                                       const ElementFormat* element, const ElementFormat* scale,
                                       llvm::ArrayRef<std::int64_t> block, bool hasOuterScale) {
  if (!canBeElement(*element))
    return emitError() << "elements of " << spelling(*element)
                       << " cannot be scaled: an element format has at most 8 bits and a zero; "
                          "available: "
                       << spellings(canBeElement);
  if (!canBeScale(*scale))
    return emitError() << spelling(*scale)
                       << " cannot be a scale: a scale format has at most 32 bits and a NaN; "
                          "available: "
                       << spellings(canBeScale);
  if (hasOuterScale && !scale->isNarrow())
    return emitError() << "an outer scale needs a scale of at most 8 bits below it, found "
                       << spelling(*scale) << "; fold the outer scale into the scales";
  if (block.size() != shape.size())
    return emitError() << "a tensor of rank " << shape.size()
                       << " needs one block extent an axis, found " << block.size();
  std::int64_t count = 1;
  for (std::int64_t extent : shape)
    if (extent != 0 && extent != kUnknown &&
        (__builtin_mul_overflow(count, extent, &count) || count > kMostElements))
      return emitError() << "has more than 2^56 elements";
  for (auto [axis, extents] : llvm::enumerate(llvm::zip_equal(shape, block))) {
    const auto [extent, blockExtent] = extents;
    if (blockExtent == kUnknown) {
      if (extent != kUnknown)
        return emitError() << "the block extent of axis " << axis << " is unknown, the axis has "
                           << extent << "; write " << std::max<std::int64_t>(extent, 1)
                           << " for a block that spans the axis";
      continue;
    }
    if (blockExtent < 1)
      return emitError() << "the block extent of axis " << axis << " is " << blockExtent
                         << "; it must be at least 1";
    if (extent != kUnknown && blockExtent > std::max<std::int64_t>(extent, 1))
      return emitError() << "the block extent of axis " << axis << " is " << blockExtent
                         << ", beyond the axis of " << extent << "; write "
                         << std::max<std::int64_t>(extent, 1) << " for a block that spans the axis";
  }
  return mlir::success();
}

ScaledType ScaledType::get(mlir::MLIRContext* context, llvm::ArrayRef<std::int64_t> shape,
                           const numerics::ScaledType& kind) {
  return get(context, shape, kind.element, kind.scale, kind.block, kind.hasOuterScale);
}

llvm::SmallVector<std::int64_t> ScaledType::blockOf(const format::ScaledFormat& format,
                                                    llvm::ArrayRef<std::int64_t> shape,
                                                    std::int64_t contracted) {
  // An axis of unknown extent may have any number of blocks.
  constexpr std::int64_t kRoom = std::numeric_limits<std::int64_t>::max();
  llvm::SmallVector<std::int64_t> room(shape);
  llvm::replace(room, kUnknown, kRoom);
  auto block = llvm::to_vector(format::blockShape(format, room, static_cast<int>(contracted)));
  llvm::replace(block, kRoom, kUnknown);
  return block;
}

ScaledType ScaledType::withShape(llvm::ArrayRef<std::int64_t> shape) const {
  llvm::SmallVector<std::int64_t> block;
  for (auto [extent, old] : llvm::zip_equal(shape, getBlock())) {
    const std::int64_t most = extent == kUnknown ? old : std::max<std::int64_t>(extent, 1);
    block.push_back(old == kUnknown ? most : std::min(old, most));
  }
  return get(getContext(), shape, getElement(), getScale(), block, getHasOuterScale());
}

bool ScaledType::hasStaticShape() const { return !llvm::is_contained(getShape(), kUnknown); }

std::int64_t ScaledType::getNumElements() const {
  return mlir::ShapedType::getNumElements(getShape());
}

llvm::SmallVector<std::int64_t> ScaledType::getScaleShape() const {
  llvm::SmallVector<std::int64_t> scales;
  for (auto [extent, block] : llvm::zip_equal(getShape(), getBlock()))
    scales.push_back(extent == kUnknown ? kUnknown : extent / block + (extent % block != 0));
  return scales;
}

numerics::ScaledType ScaledType::getKind() const {
  return {getElement(), getScale(), getBlock().vec(), getHasOuterScale()};
}

mlir::RankedTensorType ScaledType::getElementsType() const {
  return mlir::RankedTensorType::get(getShape(), codesType(getContext(), *getElement()));
}

mlir::RankedTensorType ScaledType::getScalesType() const {
  return mlir::RankedTensorType::get(getScaleShape(), codesType(getContext(), *getScale()));
}

mlir::RankedTensorType ScaledType::getOuterType() const {
  return getHasOuterScale() ? mlir::RankedTensorType::get({}, mlir::Float32Type::get(getContext()))
                            : mlir::RankedTensorType();
}

llvm::SmallVector<mlir::Type> ScaledType::getPartTypes() const {
  llvm::SmallVector<mlir::Type> types = {getElementsType(), getScalesType()};
  if (getHasOuterScale())
    types.push_back(getOuterType());
  return types;
}

std::int64_t ScaledType::getStoredBits() const {
  return getNumElements() * getElement()->width() +
         mlir::ShapedType::getNumElements(getScaleShape()) * getScale()->width() +
         (getHasOuterScale() ? 32 : 0);
}

} // namespace octavo::ir
