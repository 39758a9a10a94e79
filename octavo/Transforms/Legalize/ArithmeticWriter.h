// Writes StableHLO arithmetic one operation at a time.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Reduction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace octavo::transforms {

/// Writes operations at the builder's insertion point, all with one location.
class ArithmeticWriter {
public:
  ArithmeticWriter(mlir::OpBuilder& builder, mlir::Location at) : builder(builder), at(at) {}

  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }

  /// Writes the StableHLO operation of that name (without prefix) with one result of `type`.
  mlir::Value write(llvm::StringRef operation, mlir::ValueRange operands, mlir::Type type) {
    mlir::OperationState state(at, ("stablehlo." + operation).str(), operands, type);
    return builder.create(state)->getResult(0);
  }
  /// Writes an operation whose result has the type of its last operand.
  mlir::Value write(llvm::StringRef operation, mlir::ValueRange operands) {
    return write(operation, operands, operands.back().getType());
  }

  /// `number` in every element of a float tensor of `type`.
  mlir::Value constant(double number, mlir::RankedTensorType type) {
    return stablehlo::ConstantOp::create(
        builder, at,
        mlir::DenseElementsAttr::get(
            type, mlir::Attribute(builder.getFloatAttr(type.getElementType(), number))));
  }
  /// `number` in every element of a tensor of the type of `like`.
  mlir::Value number(double number, mlir::Value like) { return constant(number, typeOf(like)); }
  /// `number` in every element of an integer tensor of `shape`.
  mlir::Value constantOf(std::int64_t number, mlir::Type integer,
                         llvm::ArrayRef<std::int64_t> shape) {
    const llvm::APInt bits(64, static_cast<std::uint64_t>(number));
    return stablehlo::ConstantOp::create(
        builder, at,
        mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(shape, integer),
                                     bits.trunc(integer.getIntOrFloatBitWidth())));
  }
  /// `number` in every element of an integer tensor of the type of `like`.
  mlir::Value integer(std::int64_t number, mlir::Value like) {
    return constantOf(number, typeOf(like).getElementType(), typeOf(like).getShape());
  }
  /// As `number`, behind a barrier: no simplification may turn a division by it into a product.
  mlir::Value divisor(double number, mlir::Value like) {
    return write("optimization_barrier", this->number(number, like));
  }

  mlir::Value convert(mlir::Value value, mlir::Type element) {
    const mlir::RankedTensorType type = typeOf(value).clone(element);
    return type == value.getType()
               ? value
               : stablehlo::ConvertOp::create(builder, at, type, value).getResult();
  }
  /// The bits of `value` as another element type of the same width.
  mlir::Value bits(mlir::Value value, mlir::Type element) {
    return write("bitcast_convert", value, typeOf(value).clone(element));
  }
  mlir::Value compare(stablehlo::ComparisonDirection direction, mlir::Value lhs, mlir::Value rhs) {
    return stablehlo::CompareOp::create(builder, at, typeOf(lhs).clone(builder.getI1Type()), lhs,
                                        rhs, direction, stablehlo::ComparisonTypeAttr());
  }
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<std::int64_t> shape) {
    const mlir::RankedTensorType type = typeOf(value).clone(shape);
    return type == value.getType()
               ? value
               : stablehlo::ReshapeOp::create(builder, at, type, value).getResult();
  }
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<std::int64_t> axes,
                        llvm::ArrayRef<std::int64_t> shape) {
    return stablehlo::BroadcastInDimOp::create(builder, at, typeOf(value).clone(shape), value,
                                               builder.getDenseI64ArrayAttr(axes));
  }
  /// The maximum over `axes` of a tensor without negative elements; 0 if they are empty.
  mlir::Value largest(mlir::Value value, llvm::ArrayRef<std::int64_t> axes) {
    llvm::SmallVector<std::int64_t> kept;
    for (const auto [axis, extent] : llvm::enumerate(typeOf(value).getShape()))
      if (!llvm::is_contained(axes, static_cast<std::int64_t>(axis)))
        kept.push_back(extent);
    const auto scalar = mlir::RankedTensorType::get({}, typeOf(value).getElementType());
    auto reduce = stablehlo::ReduceOp::create(
        builder, at, mlir::TypeRange(typeOf(value).clone(kept)), mlir::ValueRange(value),
        mlir::ValueRange(constant(0, scalar)), builder.getDenseI64ArrayAttr(axes));
    mlir::Block& body = reduce.getBody().emplaceBlock();
    body.addArguments({scalar, scalar}, {at, at});
    mlir::OpBuilder inner = mlir::OpBuilder::atBlockBegin(&body);
    const mlir::Value larger =
        stablehlo::MaxOp::create(inner, at, scalar, body.getArgument(0), body.getArgument(1));
    stablehlo::ReturnOp::create(inner, at, larger);
    return reduce.getResult(0);
  }

  mlir::OpBuilder& builder;
  const mlir::Location at;
};

} // namespace octavo::transforms
