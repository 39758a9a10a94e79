// Collectives family: verifiers.
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Groups.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Reducer.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Collectives.cpp.inc"

namespace octavo::stablehlo {

using llvm::FailureOr;
using llvm::LogicalResult;
using mlir::failure;
using mlir::RankedTensorType;
using mlir::success;

void StableHLODialect::registerCollectives() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Collectives.cpp.inc"
      >();
}

mlir::Attribute MeshAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  llvm::SmallVector<mlir::Attribute> axes;
  mlir::DenseIntElementsAttr devices;
  // An axis is written as an attribute, or as its body without the name.
  const auto axis = [&]() -> mlir::ParseResult {
    mlir::Attribute& own = axes.emplace_back();
    if (parser.parseOptionalLess())
      return parser.parseAttribute(own);
    std::string name;
    std::int64_t size = 0;
    if (parser.parseKeyword("name") || parser.parseEqual() || parser.parseString(&name) ||
        parser.parseComma() || parser.parseKeyword("size") || parser.parseEqual() ||
        parser.parseInteger(size) || parser.parseGreater())
      return failure();
    own = MeshAxisAttr::get(parser.getContext(), parser.getBuilder().getStringAttr(name), size);
    return success();
  };
  if (parser.parseLess() || parser.parseKeyword("axes") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, axis))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() || parser.parseAttribute(devices)))
    return {};
  return parser.parseGreater()
             ? mlir::Attribute()
             : get(parser.getContext(), parser.getBuilder().getArrayAttr(axes), devices);
}

void MeshAttr::print(mlir::AsmPrinter& printer) const {
  printer << "<axes=[";
  llvm::interleaveComma(getAxes(), printer, [&](mlir::Attribute axis) {
    if (const auto own = llvm::dyn_cast<MeshAxisAttr>(axis))
      own.print(printer);
    else
      printer << axis;
  });
  printer << "]";
  if (getDeviceIds())
    printer << ", device_ids=" << getDeviceIds();
  printer << ">";
}

namespace {

using Groups = std::vector<std::vector<std::int64_t>>;

LogicalResult verifyGlobalIds(mlir::Operation* op, llvm::StringRef rule, bool useGlobalDeviceIds,
                              std::int64_t channel) {
  if (useGlobalDeviceIds && channel <= 0)
    return Checker(op).violated(rule, "use_global_device_ids needs a positive channel; found ",
                                channel);
  return success();
}

/// Verifies that there are operands, and one result for each. For collectives without a dynamic
/// root.
LogicalResult verifyCount(mlir::Operation* op, llvm::StringRef rule) {
  if (op->getNumOperands() == 0)
    return Checker(op).violated(rule, "there must be at least one operand");
  if (op->getNumOperands() != op->getNumResults())
    return Checker(op).violated(rule, "there must be a result for each operand; found ",
                                op->getNumResults(), " for ", op->getNumOperands());
  return success();
}

LogicalResult verifyAxis(mlir::Operation* op, llvm::StringRef rule, llvm::StringRef name,
                         std::int64_t axis) {
  for (mlir::Value operand : op->getOperands())
    if (axis < 0 || axis >= tensorType(operand).getRank())
      return Checker(op).violated(rule, name, " must be an axis of every operand; found ", axis,
                                  " for ", operand.getType());
  return success();
}

/// The number of processes in a group: its number of ids. nullopt if ids do not stand for one
/// process each, or the groups are not given.
std::optional<std::int64_t> groupSize(const Groups& groups, GroupKind kind) {
  if (groups.empty() || kind == GroupKind::CrossReplicaAndPartition)
    return std::nullopt;
  return static_cast<std::int64_t>(groups.front().size());
}

/// The same, for an operation whose kind of groups reducingGroups gives.
template <typename Op> std::optional<std::int64_t> groupSize(Op op) {
  const FailureOr<Groups> groups = groupsOf(op, op.getReplicaGroups());
  if (failed(groups))
    return std::nullopt;
  return groupSize(*groups,
                   reducingGroups(channelId(op.getChannelHandle()), op.getUseGlobalDeviceIds()));
}

/// Whether `gathered` has `parts` times the extent of `part` on `axis`, and equals it otherwise. If
/// `parts` is nullopt, the factor may be any whole number that `step` divides.
bool isGathered(RankedTensorType gathered, RankedTensorType part, std::int64_t axis,
                std::optional<std::int64_t> parts, std::int64_t step) {
  if (gathered.getRank() != part.getRank())
    return false;
  Extents expected = extentsOf(part);
  Extent& extent = expected[static_cast<std::size_t>(axis)];
  const Extent found = extentsOf(gathered)[static_cast<std::size_t>(axis)];
  if (parts) {
    const auto whole =
        extent.map([&](std::int64_t size) { return llvm::checkedMul(size, *parts); });
    if (!whole)
      return false;
    extent = *whole;
  } else {
    if (extent.isKnown() && found.isKnown()) {
      const std::int64_t size = *extent.largest(), whole = *found.largest();
      const auto unit = llvm::checkedMul(size, step);
      if (!unit || (*unit == 0 ? whole != 0 : whole == 0 || whole % *unit != 0))
        return false;
    }
    extent = found;
  }
  return areCompatible(expected, extentsOf(gathered));
}

std::int64_t idsOfAGroup(const Groups& groups) {
  return groups.empty() ? 1 : static_cast<std::int64_t>(groups.front().size());
}

/// Applies `f` to the extent of one axis; nullopt if `f` returns nullopt.
std::optional<Extents> withAxis(Extents extents, std::int64_t axis,
                                llvm::function_ref<std::optional<std::int64_t>(std::int64_t)> f) {
  Extent& extent = extents[static_cast<std::size_t>(axis)];
  const std::optional<Extent> changed = extent.map(f);
  if (!changed)
    return std::nullopt;
  extent = *changed;
  return extents;
}

/// Makes the extent of `axis` unknown, for groups of unknown size.
Extents withUnknownAxis(Extents extents, std::int64_t axis) {
  extents[static_cast<std::size_t>(axis)] = Extent::unknown();
  return extents;
}

/// `times 4`, for messages.
std::string timesText(std::optional<std::int64_t> parts) {
  return parts ? "times " + std::to_string(*parts) + ", the processes of a group"
               : "times the processes of a group";
}

LogicalResult verifySameShapes(mlir::Operation* op, llvm::StringRef rule) {
  for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults()))
    if (!isCompatibleShape(tensorType(operand), tensorType(result)))
      return Checker(op).violated(rule, "a result must have its operand's shape ",
                                  spell(extentsOf(tensorType(operand))), "; found ",
                                  spell(extentsOf(tensorType(result))));
  return success();
}

LogicalResult verifySameTypes(mlir::Operation* op, llvm::StringRef rule) {
  for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults()))
    if (!isCompatible(operand.getType(), result.getType()))
      return Checker(op).violated(rule, "a result must have its operand's type ", operand.getType(),
                                  "; found ", result.getType());
  return success();
}

/// Verifies the computation, a function on two scalars, for each operand that has a result.
LogicalResult verifyComputation(mlir::Operation* op, llvm::StringRef rule,
                                llvm::StringRef resultRule) {
  for (unsigned k = 0; k < op->getNumResults(); ++k)
    if (failed(verifyReducer(op, op->getRegion(0), op->getOperand(k).getType(),
                             op->getResult(k).getType(), rule, resultRule)))
      return failure();
  return success();
}

/// The numbers of the constraints on operands and results of collectives with a root process. If
/// `hasDynamicRoot`, the last operand is the root.
struct RootRules {
  llvm::StringLiteral some, root, count;
};
LogicalResult verifyRoot(mlir::Operation* op, const RootRules& rules, bool hasDynamicRoot) {
  const Checker check(op);
  const unsigned roots = hasDynamicRoot ? 1 : 0;
  if (op->getNumOperands() < 1 + roots)
    return check.violated(hasDynamicRoot ? rules.root : rules.some, "there must be at least ",
                          1 + roots, " operands; found ", op->getNumOperands());
  const unsigned count = op->getNumOperands() - roots;
  if (op->getNumResults() != count)
    return check.violated(rules.count, "there must be ", count, " results; found ",
                          op->getNumResults());
  if (!hasDynamicRoot)
    return success();
  const RankedTensorType type = tensorType(op->getOperands().back());
  if (type.getRank() != 1 || !type.getElementType().isSignlessInteger(32) ||
      (!type.isDynamicDim(0) && type.getDimSize(0) != count))
    return check.violated(rules.root,
                          "the last operand must have a root for each of the others, "
                          "tensor<",
                          count, "xi32>; found ", type);
  return success();
}

} // namespace

LogicalResult AllGatherOp::verify() {
  const Checker check(*this);
  const auto axis = static_cast<std::int64_t>(getAllGatherDim());
  const std::int64_t channel = channelId(getChannelHandle());
  if (failed(verifyCount(*this, "C6")) || failed(verifyAxis(*this, "C1", "all_gather_dim", axis)))
    return failure();
  const FailureOr<Groups> groups = verifyGroups(*this, {"C2", "C4"}, getReplicaGroups());
  if (failed(groups) || failed(verifyGlobalIds(*this, "C5", getUseGlobalDeviceIds(), channel)))
    return failure();
  const auto parts = groupSize(*groups, reducingGroups(channel, getUseGlobalDeviceIds()));
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    const RankedTensorType from = tensorType(operand), to = tensorType(result);
    if (from.getElementType() != to.getElementType() ||
        !isGathered(to, from, axis, parts, idsOfAGroup(*groups)))
      return check.violated("C6", "a result must have its operand's type with axis ", axis, " ",
                            timesText(parts), "; found ", to, " for ", from);
  }
  return success();
}

std::optional<Extents> AllGatherOp::resultExtents(RankedTensorType operand) {
  const auto axis = static_cast<std::int64_t>(getAllGatherDim());
  const std::optional<std::int64_t> parts = groupSize(*this);
  if (!parts)
    return withUnknownAxis(extentsOf(operand), axis);
  return withAxis(extentsOf(operand), axis,
                  [&](std::int64_t size) { return llvm::checkedMul(size, *parts); });
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyCount(*this, "C6")) ||
      failed(verifyGroups(*this, {"C1", "C3", /*mayBePadded=*/true}, getReplicaGroups())) ||
      failed(verifyGlobalIds(*this, "C4", getUseGlobalDeviceIds(), channelId(getChannelHandle()))))
    return failure();
  return verifySameShapes(*this, "C6");
}

LogicalResult AllReduceOp::verifyRegions() { return verifyComputation(*this, "C5", "C7"); }

LogicalResult AllToAllOp::verify() {
  const Checker check(*this);
  const auto split = static_cast<std::int64_t>(getSplitDimension());
  const auto concat = static_cast<std::int64_t>(getConcatDimension());
  const auto count = static_cast<std::int64_t>(getSplitCount());
  if (failed(verifyCount(*this, "C9")) ||
      failed(verifyAxis(*this, "C1", "split_dimension", split)) ||
      failed(verifyAxis(*this, "C3", "concat_dimension", concat)))
    return failure();
  if (count < 1)
    return check.violated("C4", "split_count must be positive; found ", count);
  for (mlir::Value operand : getOperands())
    if (const std::int64_t extent = tensorType(operand).getDimSize(split);
        !mlir::ShapedType::isDynamic(extent) && extent % count != 0)
      return check.violated("C2", "split_count must divide axis ", split,
                            " of every operand; found ", count, " for ", operand.getType());
  const FailureOr<Groups> groups = verifyGroups(*this, {"C5", "C7"}, getReplicaGroups());
  if (failed(groups))
    return failure();
  // Without groups, all processes form one group; its size is not in the program.
  if (const std::int64_t size = groups->empty() ? count : idsOfAGroup(*groups); size != count)
    return check.violated("C8", "groups must have split_count = ", count, " processes; found ",
                          size);
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    const RankedTensorType from = tensorType(operand);
    const std::optional<Extents> extents = resultExtents(from);
    if (!extents)
      return check.violated("C9", "the result of ", from, " is larger than any tensor");
    if (const mlir::Type expected = tensorOf(*extents, from.getElementType());
        !isCompatible(expected, result.getType()))
      return check.violated("C9", "a result must have type ", expected, "; found ",
                            result.getType());
  }
  return success();
}

std::optional<Extents> AllToAllOp::resultExtents(RankedTensorType operand) {
  const auto split = static_cast<std::int64_t>(getSplitDimension());
  const auto concat = static_cast<std::int64_t>(getConcatDimension());
  const auto count = static_cast<std::int64_t>(getSplitCount());
  if (split == concat)
    return extentsOf(operand);
  const std::optional<Extents> divided = withAxis(
      extentsOf(operand), split, [&](std::int64_t size) { return std::optional(size / count); });
  return withAxis(*divided, concat,
                  [&](std::int64_t size) { return llvm::checkedMul(size, count); });
}

LogicalResult CollectiveBroadcastOp::verify() {
  if (failed(verifyRoot(*this, {"C3", "C4", "C5"}, getHasDynamicRoot())) ||
      failed(verifyGroups(*this, {"C1", "C2", /*mayBePadded=*/false, /*coversAll=*/false},
                          getReplicaGroups())))
    return failure();
  return verifySameTypes(*this, getHasDynamicRoot() ? "C4" : "C3");
}

LogicalResult CollectivePermuteOp::verify() {
  if (failed(verifyPairs(*this, {"C1", "C2", "C3", "C4"}, getSourceTargetPairs())))
    return failure();
  return verifySameTypes(*this, "C5");
}

LogicalResult CollectiveReduceOp::verify() {
  if (failed(verifyRoot(*this, {"C3", "C3", "C3"}, getHasDynamicRoot())) ||
      failed(verifyGroups(*this, {"C1", "C2", /*mayBePadded=*/true}, getReplicaGroups())) ||
      failed(verifyGlobalIds(*this, "I4", getUseGlobalDeviceIds(), channelId(getChannelHandle()))))
    return failure();
  return verifySameShapes(*this, "C3");
}

LogicalResult CollectiveReduceOp::verifyRegions() { return verifyComputation(*this, "C4", "C4"); }

// The specification does not have this operation. It equals all_reduce, so it reports all_reduce's
// constraint numbers.
LogicalResult CrossReplicaSumOp::verify() {
  if (failed(verifyGroups(*this, {"C1", "C3", /*mayBePadded=*/true}, getReplicaGroups())))
    return failure();
  return verifySameTypes(*this, "C6");
}

LogicalResult ReduceScatterOp::verify() {
  const Checker check(*this);
  const auto axis = static_cast<std::int64_t>(getScatterDimension());
  const std::int64_t channel = channelId(getChannelHandle());
  if (failed(verifyAxis(*this, "C2", "scatter_dimension", axis)))
    return failure();
  const FailureOr<Groups> groups = verifyGroups(*this, {"C3", "C5"}, getReplicaGroups());
  if (failed(groups) || failed(verifyGlobalIds(*this, "C6", getUseGlobalDeviceIds(), channel)))
    return failure();
  const auto parts = groupSize(*groups, reducingGroups(channel, getUseGlobalDeviceIds()));
  const RankedTensorType from = tensorType(getOperand()), to = tensorType(getResult());
  const std::int64_t divisor = parts.value_or(idsOfAGroup(*groups));
  if (const std::int64_t extent = from.getDimSize(axis);
      !mlir::ShapedType::isDynamic(extent) && extent % divisor != 0)
    return check.violated("C1", "the processes of a group, ", divisor, ", must divide axis ", axis,
                          " of the operand, ", from);
  if (!isGathered(from, to, axis, parts, idsOfAGroup(*groups)))
    return check.violated("C8", "the operand must have the result's shape with axis ", axis, " ",
                          timesText(parts), "; found ", from, " for ", to);
  return success();
}

std::optional<Extents> ReduceScatterOp::resultExtents(RankedTensorType operand) {
  const auto axis = static_cast<std::int64_t>(getScatterDimension());
  const std::optional<std::int64_t> parts = groupSize(*this);
  if (!parts)
    return withUnknownAxis(extentsOf(operand), axis);
  return withAxis(extentsOf(operand), axis,
                  [&](std::int64_t size) { return std::optional(size / *parts); });
}

LogicalResult ReduceScatterOp::verifyRegions() { return verifyComputation(*this, "C7", "C9"); }

LogicalResult AsyncStartOp::verifyRegions() {
  const Checker check(*this);
  mlir::Block& block = getBody().front();
  if (!llvm::hasNItems(block, 2))
    return check.violated("C1", "the body must have one operation and a return");
  mlir::Operation& started = block.front();
  if (!llvm::isa<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp, CollectivePermuteOp,
                 CollectiveReduceOp, DynamicSliceOp, DynamicUpdateSliceOp, ReduceScatterOp,
                 SliceOp>(started))
    return check.violated("C2", "the body's operation must be a collective or a slice; found ",
                          started.getName());
  if (block.getArgumentTypes() != getOperandTypes() ||
      !llvm::equal(started.getOperands(), block.getArguments()))
    return check.violated("C3", "the body's operation must be given the operands, in their order");
  if (!llvm::equal(block.back().getOperands(), started.getResults()))
    return check.violated("C4", "the body must return what its operation gives");
  const mlir::TypeRange expected = started.getResultTypes();
  if (mlir::TypeRange(llvm::cast<FutureType>(getResult().getType()).getTypes()) != expected)
    return check.violated("C4", "the result must be the future of ", expected, "; found ",
                          getResult().getType());
  return success();
}

LogicalResult AsyncDoneOp::verify() {
  const llvm::ArrayRef<mlir::Type> types = llvm::cast<FutureType>(getFuture().getType()).getTypes();
  if (types.size() != 1 || !isCompatible(types.front(), getResult().getType()))
    return Checker(*this).violated("C1",
                                   "the operand must be the future of one tensor, of the "
                                   "result's type ",
                                   getResult().getType(), "; found ", getFuture().getType());
  return success();
}

} // namespace octavo::stablehlo
