// Contraction family: verifiers.
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Assembly.h"
#include "octavo/Dialect/StableHLO/AttributeFields.h"
#include "octavo/Dialect/StableHLO/Einsum.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Contraction.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;
using mlir::RankedTensorType;

using Axes = llvm::ArrayRef<std::int64_t>;

void StableHLODialect::registerContraction() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Contraction.cpp.inc"
      >();
}

mlir::Attribute DotDimensionNumbersAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  IndexList lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (parseFields(parser, Presence::Optional,
                  {{"lhs_batching_dimensions", lhsBatching},
                   {"rhs_batching_dimensions", rhsBatching},
                   {"lhs_contracting_dimensions", lhsContracting},
                   {"rhs_contracting_dimensions", rhsContracting}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
}

void DotDimensionNumbersAttr::print(mlir::AsmPrinter& printer) const {
  FieldPrinter(printer)
      .optional("lhs_batching_dimensions", getLhsBatchingDimensions())
      .optional("rhs_batching_dimensions", getRhsBatchingDimensions())
      .optional("lhs_contracting_dimensions", getLhsContractingDimensions())
      .optional("rhs_contracting_dimensions", getRhsContractingDimensions());
}

mlir::Attribute DotAlgorithmAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  mlir::Type lhs, rhs, accumulation;
  std::int64_t lhsComponents = 0, rhsComponents = 0, operations = 0;
  bool allowImprecise = false;
  if (parseFields(parser, Presence::Required,
                  {{"lhs_precision_type", lhs},
                   {"rhs_precision_type", rhs},
                   {"accumulation_type", accumulation},
                   {"lhs_component_count", lhsComponents},
                   {"rhs_component_count", rhsComponents},
                   {"num_primitive_operations", operations},
                   {"allow_imprecise_accumulation", allowImprecise}}))
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), lhs, rhs,
                    accumulation, lhsComponents, rhsComponents, operations, allowImprecise);
}

void DotAlgorithmAttr::print(mlir::AsmPrinter& printer) const {
  FieldPrinter(printer)
      .field("lhs_precision_type", getLhsPrecisionType())
      .field("rhs_precision_type", getRhsPrecisionType())
      .field("accumulation_type", getAccumulationType())
      .field("lhs_component_count", getLhsComponentCount())
      .field("rhs_component_count", getRhsComponentCount())
      .field("num_primitive_operations", getNumPrimitiveOperations())
      .field("allow_imprecise_accumulation", getAllowImpreciseAccumulation() ? "true" : "false");
}

namespace {

/// Whether the specification lists the algorithm. Each operand has one component in the
/// specification's sense; `operations` is the number of primitive operations.
bool isKnownAlgorithm(mlir::Type lhs, mlir::Type rhs, mlir::Type accumulation,
                      std::int64_t operations, bool allowImprecise) {
  const auto isF8 = [](mlir::Type type) {
    return type.isFloat() && type.getIntOrFloatBitWidth() == 8 &&
           !llvm::isa<mlir::Float8E8M0FNUType>(type);
  };
  if (isF8(lhs) && isF8(rhs))
    return accumulation.isF32() && operations == 1;
  if (lhs != rhs || allowImprecise)
    return false;
  if (lhs.isBF16() && accumulation.isF32())
    return llvm::is_contained({1, 3, 6, 9}, operations);
  if (llvm::isa<mlir::FloatTF32Type>(lhs))
    return accumulation.isF32() && (operations == 1 || operations == 3);
  const bool isInItself = lhs.isF16() || lhs.isBF16() || lhs.isF32() || lhs.isF64();
  return operations == 1 &&
         ((isInItself && lhs == accumulation) || (lhs.isF16() && accumulation.isF32()));
}

} // namespace

llvm::LogicalResult
DotAlgorithmAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, mlir::Type lhs,
                         mlir::Type rhs, mlir::Type accumulation, std::int64_t lhsComponents,
                         std::int64_t rhsComponents, std::int64_t operations, bool allowImprecise) {
  for (mlir::Type type : {lhs, rhs, accumulation})
    if (!isFloat(type) && !llvm::isa<mlir::FloatTF32Type>(type))
      return emitError() << "dot algorithm: a precision or accumulation type must be a float type "
                            "or tf32; found "
                         << type;
  const std::tuple<llvm::StringRef, llvm::StringRef, std::int64_t> counts[] = {
      {"C22", "lhs_component_count", lhsComponents},
      {"C23", "rhs_component_count", rhsComponents},
      {"C24", "num_primitive_operations", operations}};
  for (const auto& [rule, name, count] : counts)
    if (count < 1)
      return emitError() << "dot algorithm: (" << rule << ") " << name
                         << " must be positive; found " << count;
  if (lhsComponents == 1 && rhsComponents == 1 &&
      isKnownAlgorithm(lhs, rhs, accumulation, operations, allowImprecise))
    return mlir::success();
  return emitError() << "dot algorithm: " << lhs << " x " << rhs << " in " << accumulation << " by "
                     << operations << (operations == 1 ? " operation" : " operations")
                     << (allowImprecise ? ", imprecise" : "") << ", components " << lhsComponents
                     << " and " << rhsComponents
                     << ", is not known; known with one component a side: f8 x f8 in f32; f16 x "
                        "f16 in f16 or f32; bf16 x bf16 in bf16, and in f32 by 1, 3, 6 or 9 "
                        "operations; tf32 x tf32 in f32 by 1 or 3; f32 and f64 in themselves; "
                        "imprecise accumulation with f8 alone";
}

Extents DotGeneralOp::resultExtents(llvm::ArrayRef<Extent> lhs, llvm::ArrayRef<Extent> rhs,
                                    DotDimensionNumbersAttr dimensions) {
  Extents shape;
  for (auto [l, r] :
       llvm::zip(dimensions.getLhsBatchingDimensions(), dimensions.getRhsBatchingDimensions()))
    shape.push_back(lhs[l].mostSpecific(rhs[r]));
  const auto appendFree = [&](llvm::ArrayRef<Extent> extents, Axes batching, Axes contracting) {
    for (auto [axis, extent] : llvm::enumerate(extents))
      if (!llvm::is_contained(batching, static_cast<std::int64_t>(axis)) &&
          !llvm::is_contained(contracting, static_cast<std::int64_t>(axis)))
        shape.push_back(extent);
  };
  appendFree(lhs, dimensions.getLhsBatchingDimensions(), dimensions.getLhsContractingDimensions());
  appendFree(rhs, dimensions.getRhsBatchingDimensions(), dimensions.getRhsContractingDimensions());
  return shape;
}

namespace {

/// Verifies that the batching and contracting axes of one operand are unique and in range.
LogicalResult verifyAxes(mlir::Location location, llvm::StringRef side, RankedTensorType type,
                         Axes batching, Axes contracting, llvm::StringRef uniqueRule,
                         llvm::StringRef batchingRule, llvm::StringRef contractingRule) {
  llvm::SmallVector<std::int64_t> all(batching);
  all.append(contracting.begin(), contracting.end());
  if (const auto repeated = firstRepeated(all))
    return violates<DotGeneralOp>(location, uniqueRule, side, "_batching_dimensions ",
                                  spell(batching), " and ", side, "_contracting_dimensions ",
                                  spell(contracting), " must be unique; found ", *repeated,
                                  " twice");
  if (const auto outside = firstOutside(batching, type.getRank()))
    return violates<DotGeneralOp>(location, batchingRule, side,
                                  "_batching_dimensions must be in [0, ", type.getRank(),
                                  "), the axes of ", side, "; found ", *outside);
  if (const auto outside = firstOutside(contracting, type.getRank()))
    return violates<DotGeneralOp>(location, contractingRule, side,
                                  "_contracting_dimensions must be in [0, ", type.getRank(),
                                  "), the axes of ", side, "; found ", *outside);
  return mlir::success();
}

/// Verifies that paired axes have the same extent.
LogicalResult verifyExtents(mlir::Location location, llvm::StringRef rule, llvm::StringRef kind,
                            RankedTensorType lhs, RankedTensorType rhs, Axes left, Axes right) {
  const Extents ours = extentsOf(lhs), theirs = extentsOf(rhs);
  for (auto [l, r] : llvm::zip(left, right))
    if (!ours[l].isCompatible(theirs[r]))
      return violates<DotGeneralOp>(location, rule, kind, " axes must have one extent: axis ", l,
                                    " of lhs has ", ours[l].spell(), ", axis ", r, " of rhs has ",
                                    theirs[r].spell());
  return mlir::success();
}

/// C14 to C20: a product with a quantized operand or result.
LogicalResult verifyQuantizedDot(DotGeneralOp op, mlir::Type lhs, mlir::Type rhs,
                                 mlir::Type result) {
  const auto violated = [&](llvm::StringRef rule, llvm::StringRef what) {
    return violates<DotGeneralOp>(op.getLoc(), rule, what, "; found ", lhs, ", ", rhs, " and ",
                                  result);
  };
  if (!isQuantized(rhs) || isQuantized(lhs) != isQuantized(result))
    return violated("C14", "rhs must be quantized, and lhs and result both or neither");
  const numerics::QuantizedType right = elementType(rhs)->quantized();
  if (llvm::any_of(right.zeroPoints, [](std::int64_t zero) { return zero != 0; }))
    return violated("C15", "the zero points of rhs must be 0");
  if (right.axis &&
      llvm::is_contained(op.getDotDimensionNumbers().getRhsContractingDimensions(), *right.axis))
    return violated("C16", "the quantization dimension of rhs must not be contracted");
  if (!isQuantized(lhs)) {
    if (elementFormat(lhs) != right.expressed || elementFormat(result) != right.expressed)
      return violated("C20", "lhs and result must have the expressed type of rhs");
    return mlir::success();
  }
  const numerics::QuantizedType left = elementType(lhs)->quantized();
  const numerics::QuantizedType product = elementType(result)->quantized();
  if (left.storage != right.storage)
    return violated("C17", "lhs and rhs must have one storage type");
  if (left.expressed != right.expressed || left.expressed != product.expressed)
    return violated("C18", "operands and result must have one expressed type");
  if (!right.axis && product.axis)
    return violated("C19", "the result must be quantized per tensor where rhs is");
  return mlir::success();
}

} // namespace

LogicalResult DotGeneralOp::verify() {
  const mlir::Location location = getLoc();
  const RankedTensorType lhs = getLhs().getType();
  const RankedTensorType rhs = getRhs().getType();
  const DotDimensionNumbersAttr dimensions = getDotDimensionNumbers();
  const Axes lhsBatching = dimensions.getLhsBatchingDimensions();
  const Axes rhsBatching = dimensions.getRhsBatchingDimensions();
  const Axes lhsContracting = dimensions.getLhsContractingDimensions();
  const Axes rhsContracting = dimensions.getRhsContractingDimensions();
  if (lhsBatching.size() != rhsBatching.size())
    return violates<DotGeneralOp>(location, "C1",
                                  "lhs and rhs must have as many batching "
                                  "dimensions; found ",
                                  spell(lhsBatching), " and ", spell(rhsBatching));
  if (lhsContracting.size() != rhsContracting.size())
    return violates<DotGeneralOp>(location, "C2",
                                  "lhs and rhs must have as many contracting "
                                  "dimensions; found ",
                                  spell(lhsContracting), " and ", spell(rhsContracting));
  if (failed(verifyAxes(location, "lhs", lhs, lhsBatching, lhsContracting, "C3", "C5", "C6")) ||
      failed(verifyAxes(location, "rhs", rhs, rhsBatching, rhsContracting, "C4", "C7", "C8")) ||
      failed(verifyExtents(location, "C9", "batching", lhs, rhs, lhsBatching, rhsBatching)) ||
      failed(
          verifyExtents(location, "C10", "contracting", lhs, rhs, lhsContracting, rhsContracting)))
    return mlir::failure();
  // An absent or empty configuration means DEFAULT for both operands.
  if (const auto precision = getPrecisionConfig();
      precision && !precision->empty() && precision->size() != 2)
    return violates<DotGeneralOp>(location, "C11",
                                  "precision_config must have an entry for lhs and "
                                  "one for rhs; found ",
                                  precision->size());
  const Extents shape = resultExtents(extentsOf(lhs), extentsOf(rhs), dimensions);
  if (!areCompatible(extentsOf(getType()), shape))
    return violates<DotGeneralOp>(location, "C12", "the result must have the shape ", spell(shape),
                                  "; found ", spell(extentsOf(getType())));
  const auto isDefault = [](PrecisionAttr entry) { return entry.getValue() == Precision::DEFAULT; };
  if (getAlgorithm() && getPrecisionConfig() &&
      !llvm::all_of(getPrecisionConfig()->getAsRange<PrecisionAttr>(), isDefault))
    return violates<DotGeneralOp>(location, "C21",
                                  "precision_config must be DEFAULT where there is an algorithm; "
                                  "found ",
                                  *getPrecisionConfig());
  // As in XLA, two different float types (or integer types) are allowed, because JAX emits them.
  const mlir::Type left = lhs.getElementType();
  const mlir::Type right = rhs.getElementType();
  if (isQuantized(left) || isQuantized(right) || isQuantized(getType().getElementType()))
    return verifyQuantizedDot(*this, left, right, getType().getElementType());
  if (left != right && !(isFloat(left) && isFloat(right)) && !(isInteger(left) && isInteger(right)))
    return violates<DotGeneralOp>(location, "C13",
                                  "lhs and rhs must have one element type, or both "
                                  "float types, or both integer types; found ",
                                  left, " and ", right);
  return mlir::success();
}

LogicalResult DotOp::verify() {
  const Checker check(*this);
  const RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  const auto isVectorOrMatrix = [](RankedTensorType type) {
    return type.getRank() == 1 || type.getRank() == 2;
  };
  if (!isVectorOrMatrix(lhs) || !isVectorOrMatrix(rhs))
    return check.violated("I1", "operands must be vectors or matrices; found ", lhs, " and ", rhs);
  Extents ours = extentsOf(lhs), theirs = extentsOf(rhs);
  if (!ours.back().isCompatible(theirs.front()))
    return check.violated("I2",
                          "the last axis of lhs and the first of rhs must have one extent; found ",
                          ours.back().spell(), " and ", theirs.front().spell());
  Extents shape(ours.begin(), ours.end() - 1);
  shape.append(theirs.begin() + 1, theirs.end());
  if (!areCompatible(extentsOf(getType()), shape))
    return check.violated("O1", "the result must have the shape ", spell(shape), "; found ",
                          spell(extentsOf(getType())));
  if (const auto precision = getPrecisionConfig();
      precision && !precision->empty() && precision->size() != 2)
    return check.violated("I3",
                          "precision_config must have an entry for lhs and one for rhs; found ",
                          precision->size());
  return mlir::success();
}

namespace {

/// Verifies that operands and result have the ranks of the notation, and one extent for each
/// letter.
LogicalResult verifyEinsum(const Checker& check, llvm::StringRef config,
                           llvm::ArrayRef<RankedTensorType> operands, RankedTensorType result) {
  std::string error;
  const auto ranks = llvm::map_to_vector(operands, [](auto type) { return type.getRank(); });
  const std::optional<Einsum> einsum = parseEinsum(config, ranks, error);
  if (!einsum)
    return check.violated("einsum_config", "\"", config, "\": ", error);
  if (result.getRank() != static_cast<std::int64_t>(einsum->result.size()))
    return check.violated("einsum_config", "\"", config, "\" gives ", einsum->result.size(),
                          " axes; found ", result);
  llvm::SmallVector<std::pair<llvm::StringRef, RankedTensorType>> named;
  for (auto [letters, type] : llvm::zip(einsum->operands, operands))
    named.emplace_back(letters, type);
  named.emplace_back(einsum->result, result);
  std::map<char, Extent> extents;
  for (const auto& [letters, type] : named)
    for (auto [letter, extent] : llvm::zip(letters, extentsOf(type))) {
      const auto known = extents.try_emplace(letter, extent).first;
      if (!known->second.isCompatible(extent))
        return check.violated("einsum_config", "\"", config, "\": axes '", std::string(1, letter),
                              "' must have one extent; found ", known->second.spell(), " and ",
                              extent.spell());
      known->second = known->second.mostSpecific(extent);
    }
  return mlir::success();
}

} // namespace

LogicalResult EinsumOp::verify() {
  return verifyEinsum(Checker(*this), getEinsumConfig(), {getLhs().getType(), getRhs().getType()},
                      getType());
}

LogicalResult UnaryEinsumOp::verify() {
  return verifyEinsum(Checker(*this), getEinsumConfig(), {getOperand().getType()}, getType());
}

} // namespace octavo::stablehlo
