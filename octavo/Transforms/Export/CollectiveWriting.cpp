#include "octavo/Transforms/Export/CollectiveWriting.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"

#include "mlir/IR/BuiltinOps.h"

namespace octavo::transforms {

stablehlo::ChannelHandleAttr freshChannel(mlir::Operation* op) {
  const auto own = op->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle");
  if (!own)
    return {};
  std::int64_t last = own.getHandle();
  op->getParentOfType<mlir::ModuleOp>().walk([&](mlir::Operation* other) {
    if (auto channel = other->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle"))
      last = std::max<std::int64_t>(last, channel.getHandle());
  });
  return stablehlo::ChannelHandleAttr::get(op->getContext(), last + 1, own.getType());
}

mlir::Value allReducedMaximum(mlir::OpBuilder& builder, stablehlo::AllGatherOp gather,
                              mlir::Value value) {
  auto reduce = stablehlo::AllReduceOp::create(
      builder, gather.getLoc(), mlir::TypeRange(value.getType()), mlir::ValueRange(value),
      gather.getReplicaGroupsAttr(), freshChannel(gather), gather.getUseGlobalDeviceIdsAttr());
  const auto scalar =
      llvm::cast<mlir::RankedTensorType>(value.getType()).clone(llvm::ArrayRef<std::int64_t>());
  mlir::Block& body = reduce.getComputation().emplaceBlock();
  body.addArguments({scalar, scalar}, {gather.getLoc(), gather.getLoc()});
  mlir::OpBuilder inner = mlir::OpBuilder::atBlockBegin(&body);
  const mlir::Value larger = stablehlo::MaxOp::create(inner, gather.getLoc(), scalar,
                                                      body.getArgument(0), body.getArgument(1));
  stablehlo::ReturnOp::create(inner, gather.getLoc(), larger);
  return reduce->getResult(0);
}

} // namespace octavo::transforms
