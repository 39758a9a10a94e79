// Writes operations on tensors with open extents: the dynamic forms, which take open extents from
// operands, and the static forms if all are known.
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

/// The shape operand of a dynamic broadcast or reshape. Null for other operations, and if the shape
/// is of type `index`, on which StableHLO has no arithmetic.
mlir::Value shapeOperand(mlir::Operation* op);

/// Entry `axis` of a shape operand; nullopt if it is not a constant.
std::optional<std::int64_t> numberAt(mlir::Value shape, std::size_t axis);

/// Writes operations at one place, for tensors with open extents.
class OpenShapes {
public:
  /// The size of an open axis, a tensor<1xi32>.
  using SizeOf = llvm::function_ref<mlir::Value(std::size_t axis)>;

  /// Writes operations at the builder's insertion point and appends them to `made`.
  OpenShapes(const mlir::OpBuilder& builder, mlir::Location location,
             std::vector<mlir::Operation*>& made)
      : recorder(made), builder(builder.getContext(), &recorder), location(location) {
    this->builder.restoreInsertionPoint(builder.saveInsertionPoint());
  }
  OpenShapes(const OpenShapes&) = delete;
  OpenShapes& operator=(const OpenShapes&) = delete;

  /// Entry `axis` of a shape operand.
  mlir::Value sizeAt(mlir::Value shape, std::size_t axis);
  /// The extent of a tensor's axis.
  mlir::Value sizeOf(mlir::Value tensor, std::size_t axis);
  /// min(size, 1).
  mlir::Value atMostOne(mlir::Value size);

  /// A shape operand of `extents`, the open ones from `sizeOf`.
  mlir::Value shape(llvm::ArrayRef<std::int64_t> extents, SizeOf sizeOf);
  /// `value` broadcast to `shape`: its axis i is axis axes[i]. Open extents come from `sizeOf`.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<std::int64_t> axes,
                        llvm::ArrayRef<std::int64_t> shape, SizeOf sizeOf);
  /// `value` if it has the shape already.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<std::int64_t> shape, SizeOf sizeOf);
  /// A tensor of `type` with `number` in every element.
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
