// octavo-drop-scales: where nothing takes the codes of a quantized tensor, it stays wide.
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/UnusedOperations.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_DROPSCALES
#include "octavo/Transforms/Passes.h.inc"

namespace {

/// Collects the dequantizations of a scaled tensor. Gives the operation that takes its codes or
/// scales otherwise; null where none does.
mlir::Operation* otherUser(mlir::Value scaled, llvm::SmallVector<ir::DequantizeOp>& found) {
  for (mlir::Operation* user : scaled.getUsers()) {
    if (auto dequantize = llvm::dyn_cast<ir::DequantizeOp>(user)) {
      found.push_back(dequantize);
      continue;
    }
    auto unpack = llvm::dyn_cast<ir::UnpackOp>(user);
    if (!unpack)
      return user;
    for (mlir::Operation* part : unpack->getUsers()) {
      // The same tensor again: all parts as they are.
      auto pack = llvm::dyn_cast<ir::PackOp>(part);
      if (!pack || !llvm::equal(pack->getOperands(), unpack->getResults()) ||
          pack.getType() != scaled.getType())
        return part;
      if (mlir::Operation* other = otherUser(pack.getResult(), found))
        return other;
    }
  }
  return nullptr;
}

std::string scalesOf(ir::ScaledType type) {
  if (!type.getScalesType() || !type.getScalesType().hasStaticShape())
    return "its scales";
  const std::int64_t blocks = type.getScalesType().getNumElements();
  std::string text = std::to_string(blocks) + (blocks == 1 ? " scale" : " scales");
  return text + (type.getHasOuterScale() ? ", the outer scale" : "");
}

struct DropScales : impl::DropScalesBase<DropScales> {
  void runOnOperation() override {
    llvm::SetVector<mlir::Operation*> left;
    getOperation().walk([&](ir::QuantizeOp op) {
      llvm::SmallVector<ir::DequantizeOp> dequantizations;
      if (mlir::Operation* user = otherUser(op.getResult(), dequantizations)) {
        op.emitRemark() << "this quantization needs its scale: '" << user->getName()
                        << "' takes the codes";
        return;
      }
      mlir::OpBuilder builder(op);
      mlir::Value wide = op.getOperand();
      const auto f32 =
          llvm::cast<mlir::RankedTensorType>(wide.getType()).clone(builder.getF32Type());
      if (dequantizations.empty() ||
          llvm::any_of(dequantizations, // extents that one of them alone knows
                       [&](ir::DequantizeOp each) { return each.getType() != f32; }))
        return;
      op.emitRemark() << "this quantization is left out, and with it "
                      << scalesOf(llvm::cast<ir::ScaledType>(op.getType()))
                      << " and their amax: its codes are only dequantized";
      if (wide.getType() != f32)
        wide = stablehlo::ConvertOp::create(builder, op.getLoc(), f32, wide);
      for (ir::DequantizeOp dequantize : dequantizations) {
        dequantize.getResult().replaceAllUsesWith(wide);
        left.insert(dequantize);
      }
      left.insert(op);
    });
    eraseUnused(std::move(left));
  }
};

} // namespace

} // namespace octavo::transforms
