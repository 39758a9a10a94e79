#include "octavo/Transforms/Recover/RecoverScaled.h"

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Legalize/ConvolutionPatches.h"
#include "octavo/Transforms/Recover/CarriedParts.h"
#include "octavo/Transforms/Recover/DequantizationTrace.h"
#include "octavo/Transforms/Recover/ScaledCalls.h"
#include "octavo/Transforms/Recover/ScalesWithoutCodes.h"
#include "octavo/Transforms/UnusedOperations.h"
#include "octavo/Transforms/Walks/Inlining.h"
#include "octavo/Transforms/Walks/SourceNames.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <functional>

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

/// Whether octavo.dot_general has the type as a plain side and as a result.
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
  const auto part = [](mlir::RankedTensorType type, const format::ElementFormat& format) {
    return format.mlir.empty() ? std::string(format.name) : spelled(type.getElementType());
  };
  std::string text =
      llvm::formatv("{0} by {1}, block [", part(scaled.getElementsType(), *scaled.getElement()),
                    part(scaled.getScalesType(), *scaled.getScale()));
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(scaled.getBlock(), out, [&](std::int64_t extent) {
    mlir::ShapedType::isDynamic(extent) ? out << "?" : out << extent;
  });
  out << "]" << (scaled.getHasOuterScale() ? ", outer f32" : "");
  return text;
}

/// Number of multiply-adds of a dot; nullopt if an extent is unknown.
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
  /// Collects in `left` the operations whose results only replaced products used.
  explicit Recovery(llvm::SetVector<mlir::Operation*>& left) : left(left) {}

  RecoverReport run(mlir::ModuleOp module);
  RecoverReport run(llvm::ArrayRef<stablehlo::DotGeneralOp> dots);

private:
  RecoverReport finish();
  void dot(stablehlo::DotGeneralOp op);
  void dot(stablehlo::DotOp op);
  void otherProduct(mlir::Operation* op);
  void convolution(stablehlo::ConvolutionOp op);
  /// The trace of a side. If it has scales but no codes, the obstacle says so.
  DequantizationTrace originOf(mlir::Operation* dot, mlir::Value side);
  static std::optional<Obstacle> unfit(mlir::Operation* op, mlir::ValueRange sides,
                                       llvm::ArrayRef<DequantizationTrace> found);
  void multiply(stablehlo::DotGeneralOp op, RecoveredDot& record,
                llvm::ArrayRef<DequantizationTrace> found);
  void call(mlir::Operation* op);
  RecoveredDot& record(mlir::Operation* op);
  static void tell(RecoveredDot& record, const Obstacle& obstacle);
  static void miss(RecoveredDot& record, const Obstacle& obstacle);
  /// Whether a side is a scaled tensor. Records the obstacle of the other side, or the only
  /// obstacle.
  static bool comesFromCodes(RecoveredDot& record, llvm::ArrayRef<DequantizationTrace> found);
  /// A side of a dot, packed before it.
  mlir::Value packed(mlir::Operation* at, const Dequantized& parts) {
    mlir::OpBuilder builder(at);
    return transforms::packed(builder, at->getLoc(), parts);
  }
  void replace(mlir::Operation* op, mlir::Value lhs, mlir::Value rhs,
               DotDimensionNumbersAttr dimensions, mlir::Value global);

  RecoverReport report;
  DequantizationTraces origins;
  llvm::SmallVector<mlir::Operation*> replaced;
  llvm::SetVector<mlir::Operation*>& left;
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
  tell(record, obstacle);
}

void Recovery::tell(RecoveredDot& record, const Obstacle& obstacle) {
  record.obstacle = obstacle.op->getName().getStringRef();
  record.place = sourceName(obstacle.op->getLoc());
  record.reason = obstacle.reason;
  record.remedy = obstacle.remedy;
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
  dot.isScaled = {llvm::isa<ir::ScaledType>(lhs.getType()),
                  llvm::isa<ir::ScaledType>(rhs.getType())};
  op->getResult(0).replaceAllUsesWith(result);
  replaced.push_back(op);
}

DequantizationTrace Recovery::originOf(mlir::Operation* dot, mlir::Value side) {
  DequantizationTrace origin = origins.of(side);
  return std::holds_alternative<std::monostate>(origin) && origins.comesFromNarrowOrScales(side)
             ? scalesWithoutCodes(dot, side, origins)
             : origin;
}

bool Recovery::comesFromCodes(RecoveredDot& record, llvm::ArrayRef<DequantizationTrace> found) {
  const bool isAny = llvm::any_of(found, [](const DequantizationTrace& origin) {
    return std::holds_alternative<Dequantized>(origin);
  });
  for (const DequantizationTrace& origin : llvm::reverse(found))
    if (const auto* obstacle = std::get_if<Obstacle>(&origin))
      isAny ? tell(record, *obstacle) : miss(record, *obstacle);
  return isAny;
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
  const DequantizationTrace found[] = {originOf(op, sides[0]), originOf(op, sides[1])};
  if (!comesFromCodes(record, found))
    return;
  if (op.getAlgorithm())
    return miss(record,
                {op, "names an algorithm, which scaled products do not have", "leave it out"});
  if (std::optional<Obstacle> obstacle = unfit(op, sides, found))
    return miss(record, *obstacle);
  multiply(op, record, found);
}

/// Turns a stablehlo.dot that comes from codes into a dot_general first.
void Recovery::dot(stablehlo::DotOp op) {
  const mlir::Value sides[] = {op.getLhs(), op.getRhs()};
  const std::int64_t rank = tensor(sides[0]) ? tensor(sides[0]).getRank() : 0;
  if (rank > 0 && llvm::any_of(sides, [&](mlir::Value side) {
        return origins.comesFromNarrowOrScales(side);
      })) {
    mlir::OpBuilder builder(op);
    auto general = stablehlo::DotGeneralOp::create(
        builder, op.getLoc(), op.getType(), sides[0], sides[1],
        DotDimensionNumbersAttr::get(op.getContext(), {}, {}, {rank - 1}, {0}),
        op.getPrecisionConfigAttr(), stablehlo::DotAlgorithmAttr());
    op.replaceAllUsesWith(general.getResult());
    replaced.push_back(op);
    return dot(general);
  }
  RecoveredDot& record = this->record(op);
  record.lhs = describe(sides[0].getType());
  record.rhs = describe(sides[1].getType());
  if (rank > 0)
    record.multiplyAdds = multiplyAdds(op.getResult(), tensor(sides[0]).getShape(), {rank - 1});
}

/// Records a product that octavo.dot_general cannot express.
void Recovery::otherProduct(mlir::Operation* op) {
  RecoveredDot& record = this->record(op);
  record.lhs = describe(op->getOperand(0).getType());
  record.rhs = describe(op->getOperand(1).getType());
  const DequantizationTrace found[] = {originOf(op, op->getOperand(0)),
                                       originOf(op, op->getOperand(1))};
  if (comesFromCodes(record, found))
    miss(record, {op, "is a product that scaled tensors do not have",
                  llvm::isa<chlo::RaggedDotOp>(op)
                      ? "make it dots of groups, as --octavo-legalize-chlo does"
                  : llvm::isa<stablehlo::DynamicConvOp>(op)
                      ? "make its padding known, as --octavo-refine-shapes does"
                      : "write it as dot_general"});
}

/// What octavo.dot_general does not support of a product's types; nullopt: nothing.
std::optional<Obstacle> Recovery::unfit(mlir::Operation* op, mlir::ValueRange sides,
                                        llvm::ArrayRef<DequantizationTrace> found) {
  if (!isWide(op->getResult(0).getType()))
    return Obstacle{op, "has a result of " + describe(op->getResult(0).getType()),
                    "multiply to f32, and convert the result"};
  for (auto [side, origin] : llvm::zip_equal(sides, found))
    if (!std::holds_alternative<Dequantized>(origin) && !isWide(side.getType()))
      return Obstacle{op, "multiplies by values of " + describe(side.getType()),
                      "convert them to f32, bf16 or f16"};
  return {};
}

void Recovery::multiply(stablehlo::DotGeneralOp op, RecoveredDot& record,
                        llvm::ArrayRef<DequantizationTrace> found) {
  mlir::Value packedSides[2] = {op.getLhs(), op.getRhs()};
  for (auto [side, origin] : llvm::zip_equal(packedSides, found)) {
    const auto* parts = std::get_if<Dequantized>(&origin);
    if (parts == nullptr)
      continue;
    side = packed(op, *parts);
    addNote(record.note, parts->note);
  }
  replace(op, packedSides[0], packedSides[1], op.getDotDimensionNumbers(), {});
}

/// Handles a convolution. If neither side comes from codes, it is only recorded.
void Recovery::convolution(stablehlo::ConvolutionOp op) {
  const DequantizationTrace found[] = {originOf(op, op.getLhs()), originOf(op, op.getRhs())};
  RecoveredDot& record = this->record(op);
  record.lhs = describe(op.getLhs().getType());
  record.rhs = describe(op.getRhs().getType());
  if (isStatic(op.getResult()) && isStatic(op.getRhs())) {
    const auto axis =
        static_cast<std::size_t>(op.getDimensionNumbers().getKernelOutputFeatureDimension());
    const auto outputs = static_cast<double>(shapeOf(op.getRhs())[axis]);
    record.multiplyAdds = static_cast<double>(typeOf(op.getResult()).getNumElements()) *
                          static_cast<double>(typeOf(op.getRhs()).getNumElements()) /
                          std::max(outputs, 1.0);
  }
  if (!comesFromCodes(record, found))
    return;
  if (!isStatic(op.getLhs()) || !isStatic(op.getRhs()) || !isStatic(op.getResult()))
    return miss(record,
                {op, "has extents that are not known",
                 "give the arguments types of known extents, as --octavo-refine-shapes does"});
  if (std::optional<Obstacle> obstacle = unfit(op, op->getOperands(), found))
    return miss(record, *obstacle);
  Windows windows(op);
  ProductOfPatches product = writePatches(op, windows);
  const DequantizationTrace sides[] = {origins.of(product.dot.getLhs()),
                                       origins.of(product.dot.getRhs())};
  for (auto [before, origin] : llvm::zip_equal(found, sides))
    if (std::holds_alternative<Dequantized>(before) && std::holds_alternative<Obstacle>(origin)) {
      left.insert(product.result.getDefiningOp());
      return miss(record,
                  {op, "has blocks that its windows cut", "scale images or channels whole"});
    }
  op.getResult().replaceAllUsesWith(product.result);
  replaced.push_back(op);
  multiply(product.dot, record, sides);
}

void Recovery::call(mlir::Operation* op) {
  RecoveredDot& record = this->record(op);
  const std::variant<ScaledCall, Obstacle> meaning = scaledCall(op);
  if (const auto* obstacle = std::get_if<Obstacle>(&meaning))
    return miss(record, *obstacle);
  const auto& call = std::get<ScaledCall>(meaning);
  record.multiplyAdds = multiplyAdds(op->getResult(0), tensor(op->getOperand(0)).getShape(),
                                     call.dimensions.getLhsContractingDimensions());
  mlir::Value sides[2];
  for (auto [side, read] : llvm::zip_equal(sides, call.sides))
    side = read.parts ? packed(op, *read.parts) : read.wide;
  if (!call.sides[0].parts && !call.sides[1].parts) {
    record.lhs = describe(sides[0].getType());
    record.rhs = describe(sides[1].getType());
    return;
  }
  replace(op, sides[0], sides[1], call.dimensions, call.global);
}

RecoverReport Recovery::run(mlir::ModuleOp module) {
  openCalls(module);
  for (auto function : module.getOps<mlir::func::FuncOp>())
    carryParts(function.getBody());
  llvm::SmallVector<mlir::Operation*> dots;
  module.walk([&](mlir::Operation* op) {
    if (llvm::isa<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::EinsumOp,
                  stablehlo::ConvolutionOp, stablehlo::DynamicConvOp, chlo::RaggedDotOp,
                  ir::DotGeneralOp>(op) ||
        isScaledCall(op))
      dots.push_back(op);
  });
  // The decomposition of a scaled-dot composite is not part of the program if nothing else names
  // it.
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
    } else if (auto dotOfMatrices = llvm::dyn_cast<stablehlo::DotOp>(op)) {
      dot(dotOfMatrices);
    } else if (llvm::isa<stablehlo::EinsumOp, stablehlo::DynamicConvOp, chlo::RaggedDotOp>(op)) {
      otherProduct(op);
    } else if (auto windows = llvm::dyn_cast<stablehlo::ConvolutionOp>(op)) {
      convolution(windows);
    } else if (isScaledCall(op)) {
      call(op);
    } else {
      auto narrow = llvm::cast<ir::DotGeneralOp>(op);
      RecoveredDot& known = record(op);
      known.width = DotWidth::Narrow;
      known.lhs = describe(narrow.getLhs().getType());
      known.rhs = describe(narrow.getRhs().getType());
      for (mlir::Value side : {narrow.getRhs(), narrow.getLhs()})
        if (tensor(side)) {
          const DequantizationTrace origin = originOf(op, side);
          if (const auto* obstacle = std::get_if<Obstacle>(&origin))
            tell(known, *obstacle);
        }
      const mlir::Type left = narrow.getLhs().getType();
      const auto shaped = llvm::dyn_cast<mlir::RankedTensorType>(left);
      known.multiplyAdds =
          multiplyAdds(narrow.getResult(),
                       shaped ? shaped.getShape() : llvm::cast<ir::ScaledType>(left).getShape(),
                       narrow.getDotDimensionNumbers().getLhsContractingDimensions());
    }
  }
  return finish();
}

RecoverReport Recovery::run(llvm::ArrayRef<stablehlo::DotGeneralOp> dots) {
  for (stablehlo::DotGeneralOp op : dots)
    dot(op);
  return finish();
}

RecoverReport Recovery::finish() {
  for (mlir::Operation* op : replaced) {
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation* made = operand.getDefiningOp())
        left.insert(made);
    op->erase();
  }
  return std::move(report);
}

} // namespace

std::int64_t RecoverReport::count(DotWidth width) const {
  return llvm::count_if(dots, [&](const RecoveredDot& dot) { return dot.width == width; });
}

std::int64_t RecoverReport::countOneSided() const {
  return llvm::count_if(dots, std::mem_fn(&RecoveredDot::isOneSided));
}

std::optional<double> RecoverReport::narrowShare() const {
  double all = 0, narrow = 0;
  for (const RecoveredDot& dot : dots) {
    all += dot.multiplyAdds.value_or(0);
    narrow += dot.width == DotWidth::Narrow ? dot.multiplyAdds.value_or(0) : 0;
  }
  return all > 0 ? std::optional(narrow / all) : std::nullopt;
}

RecoverReport recoverScaled(mlir::ModuleOp module) {
  llvm::SetVector<mlir::Operation*> left;
  RecoverReport report = Recovery(left).run(module);
  eraseUnused(std::move(left));
  return report;
}

RecoverReport recoverDots(llvm::ArrayRef<stablehlo::DotGeneralOp> dots) {
  llvm::SetVector<mlir::Operation*> left;
  RecoverReport report = Recovery(left).run(dots);
  eraseUnused(std::move(left));
  return report;
}

} // namespace octavo::transforms
