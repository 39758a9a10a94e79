#include "octavo/Transforms/RecoverScaled.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/ScaledOrigin.h"
#include "octavo/Transforms/SourceNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

namespace octavo::transforms {

namespace {

using stablehlo::DotDimensionNumbersAttr;

mlir::RankedTensorType tensor(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}

bool isStatic(mlir::Value value) {
  const mlir::RankedTensorType type = tensor(value);
  return type && type.hasStaticShape();
}

/// What octavo.dot_general takes as a plain side, and gives.
bool isWide(mlir::Type type) {
  const mlir::Type element = mlir::getElementTypeOrSelf(type);
  return element.isF32() || element.isBF16() || element.isF16();
}

std::string spelled(const mlir::Type& type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type.print(out);
  return text;
}

std::string describe(mlir::Type type) {
  auto scaled = llvm::dyn_cast<ir::ScaledType>(type);
  if (!scaled)
    return spelled(mlir::getElementTypeOrSelf(type));
  const mlir::RankedTensorType elements = scaled.getElementsType(), scales = scaled.getScalesType();
  std::string text = llvm::formatv("{0} by {1}, block [", spelled(elements.getElementType()),
                                   spelled(scales.getElementType()));
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(scaled.getBlock(), out);
  out << "]" << (scaled.getHasOuterScale() ? ", outer f32" : "");
  return text;
}

/// Multiplications and additions of a dot, as pairs.
std::optional<double> multiplyAdds(mlir::Value result, llvm::ArrayRef<std::int64_t> lhs,
                                   llvm::ArrayRef<std::int64_t> contracting) {
  if (!isStatic(result))
    return {};
  double total = static_cast<double>(tensor(result).getNumElements());
  for (std::int64_t axis : contracting) {
    if (mlir::ShapedType::isDynamic(lhs[static_cast<std::size_t>(axis)]))
      return {};
    total *= static_cast<double>(lhs[static_cast<std::size_t>(axis)]);
  }
  return total;
}

class Recovery {
public:
  RecoverReport run(mlir::ModuleOp module);

private:
  void dot(stablehlo::DotGeneralOp op);
  void composite(stablehlo::CompositeOp op);
  void blockScaledDot(stablehlo::CustomCallOp op);
  RecoveredDot& record(mlir::Operation* op);
  void miss(RecoveredDot& record, const Obstacle& obstacle);
  /// One side of a dot by hand.
  mlir::Value packed(mlir::Operation* at, const Dequantized& parts);
  /// Null where the scales divide the extents into no blocks.
  mlir::Value packed(mlir::Operation* at, mlir::Value elements, mlir::Value scales);
  void replace(mlir::Operation* op, mlir::Value lhs, mlir::Value rhs,
               DotDimensionNumbersAttr dimensions, mlir::Value global);

  RecoverReport report;
  ScaledOrigins origins;
  llvm::SmallVector<mlir::Operation*> replaced;
};

RecoveredDot& Recovery::record(mlir::Operation* op) {
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  report.dots.push_back({.name = sourceName(op->getLoc()),
                         .function = function ? function.getName().str() : std::string(),
                         .location = op->getLoc()});
  return report.dots.back();
}

void Recovery::miss(RecoveredDot& record, const Obstacle& obstacle) {
  record.width = DotWidth::Missed;
  record.obstacle = obstacle.op->getName().getStringRef();
  record.place = sourceName(obstacle.op->getLoc());
  record.reason = obstacle.reason;
  record.remedy = obstacle.remedy;
}

mlir::Value Recovery::packed(mlir::Operation* at, const Dequantized& parts) {
  mlir::OpBuilder builder(at);
  const mlir::RankedTensorType type = tensor(parts.elements);
  mlir::Value scales = parts.scales;
  llvm::SmallVector<std::int64_t> block(parts.block);
  if (!scales) {
    block.assign(type.getShape().begin(), type.getShape().end());
    const llvm::SmallVector<std::int64_t> one(block.size(), 1);
    scales = stablehlo::ConstantOp::create(
        builder, at->getLoc(),
        mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(one, builder.getF32Type()), 1.0F));
  }
  for (std::int64_t& extent : block)
    extent = std::max<std::int64_t>(extent, 1);
  const auto scaled = ir::ScaledType::get(
      at->getContext(), type.getShape(), elementFormat(type.getElementType()),
      elementFormat(tensor(scales).getElementType()), block, static_cast<bool>(parts.outer));
  return ir::PackOp::create(builder, at->getLoc(), scaled, parts.elements, scales, parts.outer);
}

mlir::Value Recovery::packed(mlir::Operation* at, mlir::Value elements, mlir::Value scales) {
  Dequantized parts{elements, scales};
  for (auto [extent, blocks] :
       llvm::zip_equal(tensor(elements).getShape(), tensor(scales).getShape())) {
    if (blocks < 1 || extent < 1 || extent % blocks != 0)
      return {};
    parts.block.push_back(extent / blocks);
  }
  return packed(at, parts);
}

void Recovery::replace(mlir::Operation* op, mlir::Value lhs, mlir::Value rhs,
                       DotDimensionNumbersAttr dimensions, mlir::Value global) {
  mlir::OpBuilder builder(op);
  auto scaledDot = ir::DotGeneralOp::create(builder, op->getLoc(), op->getResult(0).getType(), lhs,
                                            rhs, dimensions, mlir::TypeAttr());
  mlir::Value result = scaledDot.getResult();
  if (global) {
    const mlir::Value factors = stablehlo::BroadcastInDimOp::create(
        builder, op->getLoc(), result.getType(), global, llvm::ArrayRef<std::int64_t>());
    result = stablehlo::MulOp::create(builder, op->getLoc(), result, factors);
  }
  RecoveredDot& dot = report.dots.back();
  dot.width = DotWidth::Narrow;
  dot.lhs = describe(lhs.getType());
  dot.rhs = describe(rhs.getType());
  op->getResult(0).replaceAllUsesWith(result);
  replaced.push_back(op);
}

void Recovery::dot(stablehlo::DotGeneralOp op) {
  RecoveredDot& record = this->record(op);
  const DotDimensionNumbersAttr dimensions = op.getDotDimensionNumbers();
  const mlir::Value sides[] = {op.getLhs(), op.getRhs()};
  record.lhs = describe(sides[0].getType());
  record.rhs = describe(sides[1].getType());
  if (tensor(sides[0]))
    record.multiplyAdds = multiplyAdds(op.getResult(), tensor(sides[0]).getShape(),
                                       dimensions.getLhsContractingDimensions());
  const ScaledOrigin found[] = {origins.of(sides[0]), origins.of(sides[1])};
  for (const ScaledOrigin& origin : found)
    if (const auto* obstacle = std::get_if<Obstacle>(&origin))
      return miss(record, *obstacle);
  if (llvm::all_of(
          found, [](const auto& origin) { return std::holds_alternative<std::monostate>(origin); }))
    return;
  if (op.getAlgorithm())
    return miss(record,
                {op, "names an algorithm, which scaled products do not have", "leave it out"});
  if (!isWide(op.getResult().getType()))
    return miss(record, {op, "has a result of " + describe(op.getResult().getType()),
                         "multiply to f32, and convert the result"});
  for (auto [side, origin] : llvm::zip_equal(sides, found))
    if (std::holds_alternative<std::monostate>(origin) && !isWide(side.getType()))
      return miss(record, {op, "multiplies by values of " + describe(side.getType()),
                           "convert them to f32, bf16 or f16"});
  mlir::Value packedSides[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* parts = std::get_if<Dequantized>(&found[i]);
    packedSides[i] = parts == nullptr ? sides[i] : packed(op, *parts);
  }
  replace(op, packedSides[0], packedSides[1], dimensions, {});
}

/// jax.lax.scaled_dot: dimension_numbers = [[lhs contracting, rhs contracting], [lhs batch, rhs
/// batch]].
void Recovery::composite(stablehlo::CompositeOp op) {
  RecoveredDot& record = this->record(op);
  const auto pairs =
      [](mlir::Attribute attribute) -> std::optional<llvm::SmallVector<std::int64_t>> {
    llvm::SmallVector<std::int64_t> axes;
    auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(attribute);
    if (!list)
      return {};
    for (mlir::Attribute each : list) {
      auto number = llvm::dyn_cast<mlir::IntegerAttr>(each);
      if (!number)
        return {};
      axes.push_back(number.getInt());
    }
    return axes;
  };
  std::optional<llvm::SmallVector<std::int64_t>> axes[4];
  auto numbers =
      llvm::dyn_cast_or_null<mlir::ArrayAttr>(op.getCompositeAttributes().get("dimension_numbers"));
  for (std::size_t i = 0; numbers && numbers.size() == 2 && i < 4; ++i) {
    auto both = llvm::dyn_cast<mlir::ArrayAttr>(numbers[i / 2]);
    if (both && both.size() == 2)
      axes[i] = pairs(both[i % 2]);
  }
  if (op.getNumOperands() != 4 || op.getNumResults() != 1 ||
      !llvm::all_of(axes, [](auto& each) { return each.has_value(); }) ||
      !llvm::all_of(op.getOperands(), isStatic))
    return miss(record, {op, "is not as JAX writes it", "call jax.lax.scaled_dot"});
  const auto dimensions =
      DotDimensionNumbersAttr::get(op.getContext(), *axes[2], *axes[3], *axes[0], *axes[1]);
  record.multiplyAdds =
      multiplyAdds(op.getResult(0), tensor(op.getOperand(0)).getShape(), *axes[0]);
  if (!isWide(op.getResult(0).getType()))
    return miss(record, {op, "has a result of " + describe(op.getResult(0).getType()),
                         "multiply to f32, and convert the result"});
  mlir::Value sides[2];
  for (unsigned i = 0; i < 2; ++i) {
    const mlir::Value side = op.getOperand(i), scales = op.getOperand(i + 2);
    if (isWide(side.getType())) { // JAX gives a side without scales ones
      if (splatNumber(scales) != 1.0)
        return miss(record, {op, "scales values of " + describe(side.getType()), "quantize them"});
      sides[i] = side;
      continue;
    }
    if (tensor(side).getRank() == tensor(scales).getRank())
      sides[i] = packed(op, side, scales);
    if (!sides[i])
      return miss(record, {op, "has scales of a shape that fits no block",
                           "give as many scales as divide the extent"});
  }
  if (!llvm::any_of(sides,
                    [](mlir::Value side) { return llvm::isa<ir::ScaledType>(side.getType()); })) {
    record.lhs = describe(sides[0].getType());
    record.rhs = describe(sides[1].getType());
    return;
  }
  replace(op, sides[0], sides[1], dimensions, {});
}

/// [B,] M, K times [B,] N, K; scales of the left, of the right, one for the result.
void Recovery::blockScaledDot(stablehlo::CustomCallOp op) {
  RecoveredDot& record = this->record(op);
  const std::size_t operands = op.getNumOperands();
  const std::int64_t rank =
      operands > 0 && isStatic(op.getOperand(0)) ? tensor(op.getOperand(0)).getRank() : 0;
  if (operands < 3 || operands > 5 || (rank != 2 && rank != 3) || op.getNumResults() != 1 ||
      !llvm::all_of(op.getOperands(), isStatic) || !isWide(op.getResult(0).getType()) ||
      tensor(op.getOperand(1)).getRank() != rank)
    return miss(record, {op, "has operands or a result of other types than XLA's call",
                         "call it as jax.nn.scaled_matmul does"});
  const llvm::SmallVector<std::int64_t, 1> batching(rank == 3 ? 1 : 0, 0), contracting(1, rank - 1);
  record.multiplyAdds =
      multiplyAdds(op.getResult(0), tensor(op.getOperand(0)).getShape(), contracting);
  if (auto config = llvm::dyn_cast_or_null<mlir::StringAttr>(op.getBackendConfigAttr()))
    if (config.getValue().contains("block_size"))
      return miss(record, {op, "has scales with padding (block_size)",
                           "give as many scales as there are blocks"});
  mlir::Value sides[2];
  for (unsigned i = 0; i < 2; ++i) {
    const mlir::Value side = op.getOperand(i);
    const mlir::Value scales = i + 2 < operands ? op.getOperand(i + 2) : mlir::Value();
    sides[i] = !scales                            ? side
               : tensor(scales).getRank() == rank ? packed(op, side, scales)
                                                  : mlir::Value();
    if (!sides[i])
      return miss(record, {op, "has scales of a shape that fits no block",
                           "give as many scales as divide the extent"});
    if (!llvm::isa<ir::ScaledType>(sides[i].getType()) && !isWide(side.getType()))
      sides[i] = packed(op, Dequantized{side});
  }
  replace(
      op, sides[0], sides[1],
      DotDimensionNumbersAttr::get(op.getContext(), batching, batching, contracting, contracting),
      operands == 5 ? op.getOperand(4) : mlir::Value());
}

RecoverReport Recovery::run(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation*> dots;
  module.walk([&](mlir::Operation* op) {
    auto composite = llvm::dyn_cast<stablehlo::CompositeOp>(op);
    auto call = llvm::dyn_cast<stablehlo::CustomCallOp>(op);
    if (llvm::isa<stablehlo::DotGeneralOp, ir::DotGeneralOp>(op) ||
        (composite && composite.getName() == "xla.scaled_dot") ||
        (call && call.getCallTargetName() == "__op$block_scaled_dot"))
      dots.push_back(op);
  });
  // A decomposition that only a composite names is no part of the program.
  llvm::StringMap<bool> decompositions;
  module.walk([&](stablehlo::CompositeOp op) {
    if (op.getName() == "xla.scaled_dot")
      decompositions[op.getDecomposition()] = true;
  });
  for (mlir::Operation* op : dots) {
    auto function = op->getParentOfType<mlir::func::FuncOp>();
    if (function && decompositions.contains(function.getName()))
      continue;
    if (auto wide = llvm::dyn_cast<stablehlo::DotGeneralOp>(op)) {
      dot(wide);
    } else if (auto call = llvm::dyn_cast<stablehlo::CustomCallOp>(op)) {
      blockScaledDot(call);
    } else if (auto scaled = llvm::dyn_cast<stablehlo::CompositeOp>(op)) {
      composite(scaled);
    } else {
      auto narrow = llvm::cast<ir::DotGeneralOp>(op);
      RecoveredDot& known = record(op);
      known.width = DotWidth::Narrow;
      known.lhs = describe(narrow.getLhs().getType());
      known.rhs = describe(narrow.getRhs().getType());
      const mlir::Type left = narrow.getLhs().getType();
      const auto shaped = llvm::dyn_cast<mlir::RankedTensorType>(left);
      known.multiplyAdds =
          multiplyAdds(narrow.getResult(),
                       shaped ? shaped.getShape() : llvm::cast<ir::ScaledType>(left).getShape(),
                       narrow.getDotDimensionNumbers().getLhsContractingDimensions());
    }
  }
  for (mlir::Operation* op : replaced)
    op->erase();
  return std::move(report);
}

} // namespace

std::int64_t RecoverReport::count(DotWidth width) const {
  return llvm::count_if(dots, [&](const RecoveredDot& dot) { return dot.width == width; });
}

std::optional<double> RecoverReport::narrowShare() const {
  double all = 0, narrow = 0;
  for (const RecoveredDot& dot : dots) {
    all += dot.multiplyAdds.value_or(0);
    narrow += dot.width == DotWidth::Narrow ? dot.multiplyAdds.value_or(0) : 0;
  }
  return all > 0 ? std::optional(narrow / all) : std::nullopt;
}

RecoverReport recoverScaled(mlir::ModuleOp module) { return Recovery().run(module); }

} // namespace octavo::transforms
