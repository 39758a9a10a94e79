// chlo.ragged_dot: the text of its dimension numbers, and its verifier.
#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/StableHLO/AttributeFields.h"
#include "octavo/Dialect/StableHLO/Contraction.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::chlo {

using llvm::LogicalResult;
using mlir::RankedTensorType;
using stablehlo::areCompatible;
using stablehlo::Extents;
using stablehlo::extentsOf;
using stablehlo::spell;

using Indices = llvm::ArrayRef<std::int64_t>;

mlir::Attribute RaggedDotDimensionNumbersAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  stablehlo::IndexList lhsBatching, rhsBatching, lhsContracting, rhsContracting, ragged, group;
  if (parseFields(parser, stablehlo::Presence::Optional,
                  {{"lhs_batching_dimensions", lhsBatching},
                   {"rhs_batching_dimensions", rhsBatching},
                   {"lhs_contracting_dimensions", lhsContracting},
                   {"rhs_contracting_dimensions", rhsContracting},
                   {"lhs_ragged_dimensions", ragged},
                   {"rhs_group_dimensions", group}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting, ragged,
             group);
}

void RaggedDotDimensionNumbersAttr::print(mlir::AsmPrinter& printer) const {
  stablehlo::FieldPrinter(printer)
      .optional("lhs_batching_dimensions", getLhsBatchingDimensions())
      .optional("rhs_batching_dimensions", getRhsBatchingDimensions())
      .optional("lhs_contracting_dimensions", getLhsContractingDimensions())
      .optional("rhs_contracting_dimensions", getRhsContractingDimensions())
      .optional("lhs_ragged_dimensions", getLhsRaggedDimensions())
      .optional("rhs_group_dimensions", getRhsGroupDimensions());
}

RaggedDotOp::Mode RaggedDotOp::mode() {
  const RaggedDotDimensionNumbersAttr numbers = getRaggedDotDimensionNumbers();
  const std::int64_t ragged = numbers.getLhsRaggedDimensions().front();
  if (llvm::is_contained(numbers.getLhsBatchingDimensions(), ragged))
    return Mode::Batching;
  return llvm::is_contained(numbers.getLhsContractingDimensions(), ragged) ? Mode::Contracting
                                                                           : Mode::Free;
}

llvm::SmallVector<std::int64_t> RaggedDotOp::prefixAxes() {
  const RaggedDotDimensionNumbersAttr numbers = getRaggedDotDimensionNumbers();
  const Indices batching = numbers.getLhsBatchingDimensions();
  const Indices contracting = numbers.getLhsContractingDimensions();
  const std::int64_t ragged = numbers.getLhsRaggedDimensions().front();
  llvm::SmallVector<std::int64_t> axes(batching);
  if (mode() == Mode::Contracting)
    axes.append(contracting.begin(), contracting.end());
  else if (mode() == Mode::Free)
    for (std::int64_t axis = 0; axis <= ragged; ++axis)
      if (!llvm::is_contained(batching, axis) && !llvm::is_contained(contracting, axis))
        axes.push_back(axis);
  axes.resize(static_cast<std::size_t>(llvm::find(axes, ragged) - axes.begin()));
  return axes;
}

Extents RaggedDotOp::resultExtents() {
  const RaggedDotDimensionNumbersAttr numbers = getRaggedDotDimensionNumbers();
  // Like the contracted axes, the group axis of rhs does not appear in the result.
  llvm::SmallVector<std::int64_t> contracting(numbers.getRhsContractingDimensions());
  llvm::append_range(contracting, numbers.getRhsGroupDimensions());
  Extents extents = stablehlo::DotGeneralOp::resultExtents(
      extentsOf(getLhs().getType()), extentsOf(getRhs().getType()),
      stablehlo::DotDimensionNumbersAttr::get(getContext(), numbers.getLhsBatchingDimensions(),
                                              numbers.getRhsBatchingDimensions(),
                                              numbers.getLhsContractingDimensions(), contracting));
  if (mode() == Mode::Contracting)
    extents.insert(extents.begin(), extentsOf(getGroupSizes().getType()).back());
  return extents;
}

namespace {

/// Verifies that the axes of one operand are in range and unique.
LogicalResult verifyAxes(RaggedDotOp op, llvm::StringRef side, RankedTensorType type,
                         Indices batching, Indices contracting, Indices group) {
  llvm::SmallVector<std::int64_t> all(batching);
  all.append(contracting.begin(), contracting.end());
  all.append(group.begin(), group.end());
  if (const auto repeated = stablehlo::firstRepeated(all))
    return op.emitOpError("axes of ") << side << " must be unique; found " << *repeated << " twice";
  if (const auto outside = stablehlo::firstOutside(all, type.getRank()))
    return op.emitOpError("axes of ")
           << side << " must be in [0, " << type.getRank() << "); found " << *outside;
  return mlir::success();
}

/// Verifies that paired axes have the same extent.
LogicalResult verifyPairs(RaggedDotOp op, llvm::StringRef kind, const Extents& lhs,
                          const Extents& rhs, Indices left, Indices right) {
  if (left.size() != right.size())
    return op.emitOpError("lhs and rhs must have as many ")
           << kind << " dimensions; found " << left.size() << " and " << right.size();
  for (auto [l, r] : llvm::zip(left, right))
    if (!lhs[l].isCompatible(rhs[r]))
      return op.emitOpError(kind) << " dimensions must have one extent; axis " << l
                                  << " of lhs has " << lhs[l].spell() << ", axis " << r
                                  << " of rhs " << rhs[r].spell();
  return mlir::success();
}

/// Verifies the shape of group_sizes: [g], or the extents of the prefix axes and then g.
LogicalResult verifyGroupSizes(RaggedDotOp op, const Extents& lhs) {
  const Extents sizes = extentsOf(op.getGroupSizes().getType());
  if (sizes.empty())
    return op.emitOpError("group_sizes must have an axis; found ") << op.getGroupSizes().getType();
  if (sizes.size() == 1)
    return mlir::success();
  Extents expected;
  for (const std::int64_t axis : op.prefixAxes())
    expected.push_back(lhs[axis]);
  expected.push_back(sizes.back());
  if (!areCompatible(sizes, expected)) {
    const std::string one = spell(llvm::ArrayRef(sizes).take_back()), all = spell(expected);
    return op.emitOpError("group_sizes must have the shape ")
           << one << (one == all ? "" : " or " + all) << "; found " << spell(sizes);
  }
  return mlir::success();
}

} // namespace

LogicalResult RaggedDotOp::verify() {
  const RaggedDotDimensionNumbersAttr numbers = getRaggedDotDimensionNumbers();
  const Extents lhs = extentsOf(getLhs().getType());
  const Extents rhs = extentsOf(getRhs().getType());
  const Indices ragged = numbers.getLhsRaggedDimensions(), group = numbers.getRhsGroupDimensions();
  if (failed(verifyAxes(*this, "lhs", getLhs().getType(), numbers.getLhsBatchingDimensions(),
                        numbers.getLhsContractingDimensions(), {})) ||
      failed(verifyAxes(*this, "rhs", getRhs().getType(), numbers.getRhsBatchingDimensions(),
                        numbers.getRhsContractingDimensions(), group)) ||
      failed(verifyPairs(*this, "batching", lhs, rhs, numbers.getLhsBatchingDimensions(),
                         numbers.getRhsBatchingDimensions())) ||
      failed(verifyPairs(*this, "contracting", lhs, rhs, numbers.getLhsContractingDimensions(),
                         numbers.getRhsContractingDimensions())))
    return mlir::failure();
  if (ragged.size() != 1)
    return emitOpError("there must be one lhs_ragged_dimension; found ") << ragged.size();
  if (stablehlo::firstOutside(ragged, getLhs().getType().getRank()))
    return emitOpError("lhs_ragged_dimensions must be in [0, ")
           << lhs.size() << "), the axes of lhs; found " << ragged.front();
  const std::size_t groupAxes = mode() == Mode::Free ? 1 : 0;
  if (group.size() != groupAxes)
    return emitOpError("there must be ")
           << (groupAxes ? "one rhs_group_dimension where the ragged dimension is free"
                         : "no rhs_group_dimensions where the ragged dimension is not free")
           << "; found " << group.size();
  if (failed(verifyGroupSizes(*this, lhs)))
    return mlir::failure();
  const stablehlo::Extent groups = extentsOf(getGroupSizes().getType()).back();
  if (groupAxes && !rhs[group.front()].isCompatible(groups))
    return emitOpError("the group dimension of rhs must have as many indices as there are groups, ")
           << groups.spell() << "; found " << rhs[group.front()].spell();
  if (const auto precision = getPrecisionConfig(); precision && precision->size() > 2)
    return emitOpError("precision_config must have at most two entries; found ")
           << precision->size();
  const Extents expected = resultExtents();
  if (!areCompatible(extentsOf(getType()), expected))
    return emitOpError("the result must have the shape ")
           << spell(expected) << "; found " << spell(extentsOf(getType()));
  const auto kind = [](RankedTensorType type) {
    const mlir::Type element = type.getElementType();
    return llvm::isa<mlir::FloatType>(element) ? 0 : llvm::isa<mlir::IntegerType>(element) ? 1 : 2;
  };
  if (kind(getLhs().getType()) != kind(getRhs().getType()) ||
      kind(getLhs().getType()) != kind(getType()))
    return emitOpError(
               "operands and result must all be floats, integers or complex numbers; found ")
           << getLhs().getType() << ", " << getRhs().getType() << " and " << getType();
  return mlir::success();
}

} // namespace octavo::chlo
