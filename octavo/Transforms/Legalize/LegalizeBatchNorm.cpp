#include "octavo/Transforms/Legalize/LegalizeBatchNorm.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Dialect/StableHLO/Windows.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

namespace {

using mlir::Value;

/// The specification's formulas in f64, on tensors of the operand's shape and on vectors with one
/// number for each feature.
class BatchNorm {
public:
  BatchNorm(mlir::Operation* op, std::int64_t feature, const llvm::APFloat& epsilon)
      : op(op), builder(op), feature(feature), epsilonValue(epsilon.convertToFloat()),
        shape(mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getShape()) {}

  Value operand(unsigned i) {
    const Value given = op->getOperand(i);
    return converted(
        given, mlir::cast<mlir::RankedTensorType>(given.getType()).clone(builder.getF64Type()));
  }
  Value epsilon(Value like) { return constant(epsilonValue, like); }
  /// The number of elements of a feature.
  Value perFeature(Value like) {
    double count = 1;
    for (const auto [axis, extent] : llvm::enumerate(shape))
      if (static_cast<std::int64_t>(axis) != feature)
        count *= static_cast<double>(extent);
    return constant(count, like);
  }

  Value add(Value x, Value y) { return binary("stablehlo.add", x, y); }
  Value subtract(Value x, Value y) { return binary("stablehlo.subtract", x, y); }
  Value multiply(Value x, Value y) { return binary("stablehlo.multiply", x, y); }
  Value divide(Value x, Value y) { return binary("stablehlo.divide", x, y); }
  Value sqrt(Value x) { return write("stablehlo.sqrt", {x}, x.getType(), {})->getResult(0); }

  /// Broadcasts a vector along the feature axis to the operand's shape.
  Value spread(Value list) {
    const auto type = mlir::RankedTensorType::get(shape, builder.getF64Type());
    return stablehlo::BroadcastInDimOp::create(builder, op->getLoc(), type, list,
                                               builder.getDenseI64ArrayAttr({feature}));
  }
  /// Sums over all axes but the feature axis.
  Value sums(Value x) {
    llvm::SmallVector<std::int64_t> axes;
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis)
      if (axis != feature)
        axes.push_back(axis);
    const auto scalar = mlir::RankedTensorType::get({}, builder.getF64Type());
    const auto list = mlir::RankedTensorType::get({shape[static_cast<std::size_t>(feature)]},
                                                  builder.getF64Type());
    const Value zero = constant(0.0, scalar);
    mlir::Operation* reduce =
        write("stablehlo.reduce", {x, zero}, list,
              builder.getNamedAttr("dimensions", builder.getDenseI64ArrayAttr(axes)), 1);
    const mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block* body = builder.createBlock(&reduce->getRegion(0), {}, {scalar, scalar},
                                            {op->getLoc(), op->getLoc()});
    const Value sum = add(body->getArgument(0), body->getArgument(1));
    write("stablehlo.return", {sum}, {}, {});
    return reduce->getResult(0);
  }
  Value means(Value x) {
    const Value sum = sums(x);
    return divide(sum, perFeature(sum));
  }

  Value normalized(Value x, Value scale, Value offset, Value mean, Value variance) {
    const Value deviation = spread(sqrt(add(variance, epsilon(variance))));
    const Value standard = divide(subtract(x, spread(mean)), deviation);
    return add(multiply(spread(scale), standard), spread(offset));
  }

  /// Replaces the results, each rounded once to its type.
  void finish(llvm::ArrayRef<Value> results) {
    for (auto [old, value] : llvm::zip_equal(op->getResults(), results))
      old.replaceAllUsesWith(converted(value, old.getType()));
    op->erase();
  }

private:
  Value converted(Value value, mlir::Type type) {
    return value.getType() == type
               ? value
               : stablehlo::ConvertOp::create(builder, op->getLoc(), type, value).getResult();
  }
  Value constant(double number, Value like) {
    return constant(number, mlir::cast<mlir::RankedTensorType>(like.getType()));
  }
  Value constant(double number, mlir::RankedTensorType type) {
    return stablehlo::ConstantOp::create(builder, op->getLoc(),
                                         mlir::DenseElementsAttr::get(type, number));
  }
  Value binary(llvm::StringRef name, Value x, Value y) {
    return write(name, {x, y}, x.getType(), {})->getResult(0);
  }
  mlir::Operation* write(llvm::StringRef name, mlir::ValueRange operands, mlir::TypeRange types,
                         llvm::ArrayRef<mlir::NamedAttribute> attributes, unsigned regions = 0) {
    mlir::OperationState state(op->getLoc(), name, operands, types, attributes);
    for (unsigned i = 0; i < regions; ++i)
      state.addRegion();
    return builder.create(state);
  }

  mlir::Operation* op;
  mlir::OpBuilder builder;
  std::int64_t feature;
  double epsilonValue;
  llvm::ArrayRef<std::int64_t> shape;
};

void legalize(stablehlo::BatchNormInferenceOp, BatchNorm& b) {
  b.finish({b.normalized(b.operand(0), b.operand(1), b.operand(2), b.operand(3), b.operand(4))});
}

void legalize(stablehlo::BatchNormTrainingOp, BatchNorm& b) {
  const Value x = b.operand(0), mean = b.means(x);
  const Value centered = b.subtract(x, b.spread(mean));
  const Value variance = b.means(b.multiply(centered, centered));
  b.finish({b.normalized(x, b.operand(1), b.operand(2), mean, variance), mean, variance});
}

void legalize(stablehlo::BatchNormGradOp, BatchNorm& b) {
  const Value x = b.operand(0), scale = b.operand(1), g = b.operand(4);
  const Value mean = b.spread(b.operand(2)), given = b.operand(3);
  const Value variance = b.add(given, b.epsilon(given)), deviation = b.sqrt(variance);
  const Value centered = b.subtract(x, mean);
  const Value offsetSum = b.sums(g), centeredSum = b.sums(b.multiply(g, centered));
  const Value scaleSum = b.sums(b.multiply(g, b.divide(centered, b.spread(deviation))));
  const Value fraction = b.divide(b.divide(scale, deviation), b.perFeature(scale));
  const Value along = b.divide(b.multiply(b.spread(centeredSum), centered), b.spread(variance));
  const Value whole =
      b.subtract(b.subtract(b.multiply(g, b.perFeature(g)), b.spread(offsetSum)), along);
  b.finish({b.multiply(b.spread(fraction), whole), scaleSum, offsetSum});
}

/// Whether all types are float tensors of known extents.
bool isPlain(mlir::Operation* op) {
  const auto isFloats = [](mlir::Type type) {
    return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type)) &&
           mlir::cast<mlir::ShapedType>(type).hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), isFloats) &&
         llvm::all_of(op->getResultTypes(), isFloats);
}

} // namespace

void legalizeBatchNorm(mlir::ModuleOp module) {
  const auto visit = [](auto op) {
    if (!isPlain(op))
      return;
    BatchNorm formulas(op, static_cast<std::int64_t>(op.getFeatureIndex()), op.getEpsilon());
    legalize(op, formulas);
  };
  module->walk([&](stablehlo::BatchNormInferenceOp op) { visit(op); });
  module->walk([&](stablehlo::BatchNormTrainingOp op) { visit(op); });
  module->walk([&](stablehlo::BatchNormGradOp op) { visit(op); });
}

} // namespace octavo::transforms
