// Operations on tensors whose extents a program may leave open: those that take the open ones from
// operands, and the ordinary ones where all are known.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace octavo::transforms {

/// The operand that says the shape of what a dynamic broadcast or reshape gives; null of any other
/// operation, and where it is of `index`, of which StableHLO computes nothing.
mlir::Value shapeOperand(mlir::Operation* op);

/// Entry `axis` of a shape that is an operand, where it is a constant.
std::optional<std::int64_t> numberAt(mlir::Value shape, std::size_t axis);

class OpenShapes {
public:
  /// The size of an open axis, a tensor<1xi32>.
  using SizeOf = llvm::function_ref<mlir::Value(std::size_t axis)>;

  /// Operations go where the builder is, and into `made`.
  OpenShapes(const mlir::OpBuilder& builder, mlir::Location location,
             std::vector<mlir::Operation*>& made)
      : recorder(made), builder(builder.getContext(), &recorder), location(location) {
    this->builder.restoreInsertionPoint(builder.saveInsertionPoint());
  }
  OpenShapes(const OpenShapes&) = delete;
  OpenShapes& operator=(const OpenShapes&) = delete;

  /// Entry `axis` of a shape that is an operand.
  mlir::Value sizeAt(mlir::Value shape, std::size_t axis);
  /// The extent of a tensor's axis.
  mlir::Value sizeOf(mlir::Value tensor, std::size_t axis);
  /// A size, or 1 where it is more.
  mlir::Value atMostOne(mlir::Value size);

  /// Extents as an operand.
  mlir::Value shape(llvm::ArrayRef<std::int64_t> extents, SizeOf sizeOf);
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<std::int64_t> axes,
                        llvm::ArrayRef<std::int64_t> shape, SizeOf sizeOf);
  /// The value itself where it has the shape.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<std::int64_t> shape, SizeOf sizeOf);
  /// One number in every place.
  mlir::Value filled(mlir::RankedTensorType type, mlir::Attribute number, SizeOf sizeOf);

private:
  struct Recorder : mlir::OpBuilder::Listener {
    explicit Recorder(std::vector<mlir::Operation*>& made) : made(made) {}
    void notifyOperationInserted(mlir::Operation* op, mlir::OpBuilder::InsertPoint) override {
      made.push_back(op);
    }
    std::vector<mlir::Operation*>& made;
  };

  Recorder recorder;
  mlir::OpBuilder builder;
  mlir::Location location;
};

} // namespace octavo::transforms
