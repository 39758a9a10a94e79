// Channels family: verifiers.
#include "octavo/Dialect/StableHLO/Channels.h"
#include "octavo/Dialect/StableHLO/Groups.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Channels.cpp.inc"

namespace octavo::stablehlo {

using llvm::LogicalResult;

void StableHLODialect::registerChannels() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Channels.cpp.inc"
      >();
}

namespace {

/// Channel types, numbered as in a channel handle.
enum ChannelType : std::int64_t { kDeviceToDevice = 1, kDeviceToHost = 2, kHostToDevice = 3 };

/// The numbers of the constraints on results of recv and infeed: tensors, then a token.
struct ResultRules {
  llvm::StringLiteral some, tensors, token;
};
LogicalResult verifyReceived(mlir::Operation* op, const ResultRules& rules) {
  const Checker check(op);
  const mlir::TypeRange types = op->getResultTypes();
  if (types.empty())
    return check.violated(rules.some, "there must be at least one result, the token");
  for (mlir::Type type : types.drop_back())
    if (!llvm::isa<mlir::RankedTensorType>(type))
      return check.violated(rules.tensors, "all results but the last must be tensors; found ",
                            types);
  if (!llvm::isa<TokenType>(types.back()))
    return check.violated(rules.token, "the last result must be a token; found ", types.back());
  return mlir::success();
}

LogicalResult verifyChannel(mlir::Operation* op, std::int64_t type, bool isHostTransfer,
                            std::int64_t hostType, mlir::DenseIntElementsAttr pairs) {
  const std::int64_t expected = isHostTransfer ? hostType : kDeviceToDevice;
  if (type != expected)
    return Checker(op).violated("C5", "the channel's type must be ", expected, " where ",
                                isHostTransfer ? "the host takes part" : "devices alone take part",
                                "; found ", type);
  return pairs ? verifyPairs(op, {"C1", "C2", "C3", "C4"}, pairs) : mlir::success();
}

} // namespace

LogicalResult InfeedOp::verify() {
  if (failed(verifyReceived(*this, {"C1", "C2", "C3"})))
    return mlir::failure();
  const std::optional<mlir::ArrayAttr> layout = getLayout();
  if (!layout)
    return mlir::success();
  const Checker check(*this);
  if (layout->size() != getNumResults() - 1)
    return check.violated("I3", "layout must have an entry for each tensor; found ", layout->size(),
                          " for ", getNumResults() - 1);
  for (mlir::Attribute entry : *layout) {
    const auto axes = llvm::dyn_cast<mlir::ArrayAttr>(entry);
    if (!axes || !llvm::all_of(axes, llvm::IsaPred<mlir::IntegerAttr>))
      return check.violated("I3", "entries of layout must be lists of integers; found ", entry);
  }
  return mlir::success();
}

LogicalResult RecvOp::verify() {
  if (failed(verifyReceived(*this, {"C6", "C6", "C6"})))
    return mlir::failure();
  return verifyChannel(*this, getChannelHandle().getType(), getIsHostTransfer(), kHostToDevice,
                       getSourceTargetPairsAttr());
}

LogicalResult SendOp::verify() {
  return verifyChannel(*this, getChannelHandle().getType(), getIsHostTransfer(), kDeviceToHost,
                       getSourceTargetPairsAttr());
}

} // namespace octavo::stablehlo
