#include "octavo/Transforms/Recover/DropScales.h"

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Legalize/InlineFusedDots.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/UnusedOperations.h"
#include "octavo/Transforms/Walks/Inlining.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace octavo::transforms {

#define GEN_PASS_DEF_DROPSCALES
#include "octavo/Transforms/Passes.h.inc"

namespace {

/// Collects the dequantizations of a scaled tensor. Returns another user of its codes or scales;
/// null if there is none.
mlir::Operation* otherUser(mlir::Value scaled, llvm::SmallVector<mlir::Value>& found) {
  llvm::SetVector<mlir::Value> same; // also after unpack and pack of the same parts
  same.insert(scaled);
  for (std::size_t i = 0; i < same.size(); ++i)
    for (mlir::Operation* user : same[i].getUsers()) {
      if (auto dequantize = llvm::dyn_cast<ir::DequantizeOp>(user)) {
        found.push_back(dequantize.getResult());
        continue;
      }
      auto unpack = llvm::dyn_cast<ir::UnpackOp>(user);
      if (!unpack)
        return user;
      for (mlir::Operation* part : unpack->getUsers()) {
        auto pack = llvm::dyn_cast<ir::PackOp>(part);
        if (!pack || !llvm::equal(pack->getOperands(), unpack->getResults()) ||
            pack.getType() != scaled.getType())
          return part;
        same.insert(pack.getResult());
      }
    }
  return nullptr;
}

std::string scalesText(std::int64_t count) {
  if (mlir::ShapedType::isDynamic(count))
    return "its scales";
  return std::to_string(count) + (count == 1 ? " scale" : " scales");
}

std::string scalesOf(ir::ScaledType type) {
  if (!type.getScalesType().hasStaticShape())
    return scalesText(mlir::ShapedType::kDynamic);
  return scalesText(type.getScalesType().getNumElements()) +
         (type.getHasOuterScale() ? ", the outer scale" : "");
}

bool isWide(mlir::Value value) {
  const format::ElementFormat* format = elementFormatOf(value);
  return format != nullptr && !format->isNarrow();
}

/// An elementwise multiplication or division of a tensor.
struct Scaling {
  mlir::Value of, factor;
  bool isDivided;
};

llvm::SmallVector<Scaling, 2> scalingsOf(mlir::Operation* op) {
  llvm::SmallVector<Scaling, 2> scalings;
  if (llvm::isa_and_nonnull<stablehlo::DivOp>(op))
    scalings.push_back({op->getOperand(0), op->getOperand(1), true});
  if (llvm::isa_and_nonnull<stablehlo::MulOp>(op)) {
    scalings.push_back({op->getOperand(0), op->getOperand(1), false});
    scalings.push_back({op->getOperand(1), op->getOperand(0), false});
  }
  return scalings;
}

/// Whether one value is 1 / the other, broadcast alike.
bool areInverse(mlir::Value a, mlir::Value b) {
  const auto isInverse = [](mlir::Value inverse, mlir::Value of) {
    auto division = inverse.getDefiningOp<stablehlo::DivOp>();
    return division && splatNumber(division->getOperand(0)) == 1.0 &&
           areSame(division->getOperand(1), of);
  };
  for (;;) {
    if (isInverse(a, b) || isInverse(b, a))
      return true;
    mlir::Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
    if (!llvm::isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp,
                               stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(one) ||
        other == nullptr || one->getName() != other->getName() || a.getType() != b.getType() ||
        one->getPropertiesAsAttribute() != other->getPropertiesAsAttribute() ||
        !llvm::equal(one->getOperands().drop_front(), other->getOperands().drop_front(), areSame))
      break;
    a = one->getOperand(0);
    b = other->getOperand(0);
  }
  const std::optional<double> one = splatNumber(a), other = splatNumber(b);
  return one && other && *one * *other == 1.0;
}

/// Whether the second scaling undoes the first.
bool isUndone(const Scaling& first, const Scaling& second) {
  return first.isDivided != second.isDivided ? areSame(first.factor, second.factor)
                                             : areInverse(first.factor, second.factor);
}

/// The value before clamps to constants.
mlir::Value unclamped(mlir::Value value) {
  for (;;) {
    mlir::Operation* op = value.getDefiningOp();
    if (auto clamp = llvm::dyn_cast_or_null<stablehlo::ClampOp>(op);
        clamp && splatNumber(op->getOperand(0)) && splatNumber(op->getOperand(2)))
      value = op->getOperand(1);
    else if (llvm::isa_and_nonnull<stablehlo::MaxOp, stablehlo::MinOp>(op) &&
             splatNumber(op->getOperand(1)))
      value = op->getOperand(0);
    else if (llvm::isa_and_nonnull<stablehlo::MaxOp, stablehlo::MinOp>(op) &&
             splatNumber(op->getOperand(0)))
      value = op->getOperand(1);
    else
      return value;
  }
}

/// Collects the operations that dequantize codes and so undo one of `scalings`, which becomes the
/// only one. Returns another user of the codes; null if there is none.
mlir::Operation* otherUser(mlir::Value codes, llvm::SmallVector<Scaling, 2>& scalings,
                           llvm::SmallVector<mlir::Value>& found) {
  mlir::Operation* other = nullptr;
  // Users with the value that each uses; the next one last.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Operation*>> pending;
  const auto addUsersOf = [&](mlir::Value value) {
    const llvm::SmallVector<mlir::Operation*> users(value.getUsers());
    for (mlir::Operation* user : llvm::reverse(users))
      pending.emplace_back(value, user);
  };
  addUsersOf(codes);
  while (!pending.empty()) {
    const auto [value, user] = pending.pop_back_val();
    if (llvm::isa<stablehlo::ConvertOp>(user) && isWide(user->getResult(0))) {
      addUsersOf(user->getResult(0));
      continue;
    }
    const Scaling* undone = nullptr;
    for (const Scaling& back : scalingsOf(user))
      for (const Scaling& each : scalings)
        if (isWide(value) && back.of == value && isUndone(each, back))
          undone = &each;
    if (undone == nullptr) {
      other = user;
      continue;
    }
    const Scaling only = *undone;
    scalings.assign(1, only);
    found.push_back(user->getResult(0));
  }
  return other;
}

std::int64_t countOf(mlir::Value factor) {
  while (llvm::isa_and_nonnull<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(
      factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return splatNumber(factor) ? 1 : elementCount(openShapeOf(factor));
}

class Drops {
public:
  DropReport run(mlir::ModuleOp module) {
    module.walk([&](mlir::Operation* op) {
      if (auto quantize = llvm::dyn_cast<ir::QuantizeOp>(op))
        ofOperation(quantize);
      if (auto convert = llvm::dyn_cast<stablehlo::ConvertOp>(op))
        spelledOut(convert);
    });
    eraseUnused(std::move(left));
    return std::move(report);
  }

private:
  void ofOperation(ir::QuantizeOp op) {
    llvm::SmallVector<mlir::Value> dequantized;
    if (mlir::Operation* user = otherUser(op.getResult(), dequantized)) {
      keep(op, scalesOf(llvm::cast<ir::ScaledType>(op.getType())), user);
      return;
    }
    mlir::OpBuilder builder(op);
    const auto f32 =
        llvm::cast<mlir::RankedTensorType>(op.getOperand().getType()).clone(builder.getF32Type());
    if (dequantized.empty() ||
        llvm::any_of(dequantized, // extents that only one of them knows
                     [&](mlir::Value each) { return each.getType() != f32; }))
      return;
    drop(op, scalesOf(llvm::cast<ir::ScaledType>(op.getType())), op.getOperand(), dequantized);
  }

  /// A quantization in plain operations: x / s or x * (1 / s), usually clamped, converted to a
  /// narrow float and later back.
  void spelledOut(stablehlo::ConvertOp op) {
    if (!isCodes(op.getResult()) || !isWide(op.getOperand()) || !openTypeOf(op.getResult()))
      return;
    llvm::SmallVector<Scaling, 2> scalings = scalingsOf(unclamped(op.getOperand()).getDefiningOp());
    llvm::SmallVector<mlir::Value> dequantized;
    mlir::Operation* user = otherUser(op.getResult(), scalings, dequantized);
    const auto isAsOpen = [&](mlir::Value each) {
      return openShapeOf(each) == openShapeOf(scalings.front().of);
    };
    if (dequantized.empty() || !llvm::all_of(dequantized, isAsOpen))
      return;
    const std::string scales = scalesText(countOf(scalings.front().factor));
    if (user != nullptr)
      keep(op, scales, user);
    else
      drop(op, scales, scalings.front().of, dequantized);
  }

  void keep(mlir::Operation* op, std::string scales, mlir::Operation* taker) {
    report.quantizations.push_back(
        {op->getLoc(), std::move(scales), taker->getName().getStringRef().str()});
  }

  void drop(mlir::Operation* op, std::string scales, mlir::Value wide,
            llvm::ArrayRef<mlir::Value> dequantized) {
    report.quantizations.push_back({op->getLoc(), std::move(scales)});
    mlir::OpBuilder builder(op);
    for (mlir::Value each : dequantized) {
      mlir::Value value = wide;
      if (value.getType() != each.getType())
        value = stablehlo::ConvertOp::create(builder, op->getLoc(), each.getType(), value);
      each.replaceAllUsesWith(value);
      left.insert(each.getDefiningOp());
    }
    left.insert(op);
  }

  DropReport report;
  llvm::SetVector<mlir::Operation*> left;
};

/// The pass: remarks for dropped quantizations and for users of others' codes.
struct DropScales : impl::DropScalesBase<DropScales> {
  void runOnOperation() override {
    for (const ScaleUse& use : dropScales(getOperation()).quantizations) {
      if (use.taker.empty())
        mlir::emitRemark(use.location)
            << "this quantization is left out, and with it " << use.scales
            << " and their amax: its codes are only dequantized";
      else
        mlir::emitRemark(use.location)
            << "this quantization needs its scale: '" << use.taker << "' takes the codes";
    }
  }
};

} // namespace

std::int64_t DropReport::dropped() const {
  return llvm::count_if(quantizations, [](const ScaleUse& use) { return use.taker.empty(); });
}

DropReport dropScales(mlir::ModuleOp module) { return Drops().run(module); }

DropReport dropScalesOfProgram(mlir::ModuleOp program) {
  openWrappers(program); // keeps argument names, which inlineCalls does not
  inlineCalls(program);
  inlineFusedDots(program);
  return dropScales(program);
}

} // namespace octavo::transforms
