// Evaluates elementwise computations on all 8-bit codes.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace octavo::transforms {

/// The most operations looked at behind a value, so that the time does not grow with the length of
/// the program.
constexpr std::size_t kMostDecodingOperations = 256;

/// Whether a value is a tensor of 8-bit codes: i8, ui8 or f8E8M0FNU.
bool isCodeTensor(mlir::Value value);

/// Whether an operation only moves the elements of its first operand.
bool isMove(mlir::Operation* op);

/// Copies the computation of one element, from the code at its index, into a scratch module that
/// runs it on all 256 codes; or, from an element and a code, on all pairs. The interpreter
/// evaluates it, whatever the operations are.
class OnAllCodes {
public:
  static constexpr std::int64_t kCodes = 256;

  explicit OnAllCodes(mlir::MLIRContext* context);

  /// Sets the tensor of codes. Otherwise the codes are the tensor that the values follow from.
  void takeCodes(mlir::Value tensor);

  /// Declares that `leaves` hold the elements of a format, in the format or converted.
  void takeElements(const format::ElementFormat& format, llvm::ArrayRef<mlir::Value> leaves);

  /// The values at [element, code], or at [code]. nullopt if they depend on other tensors, or on
  /// operations beyond kMostDecodingOperations.
  std::optional<std::vector<double>> values(mlir::Value value);

  /// The tensor of codes.
  mlir::Value codes() const { return tensorOfCodes; }
  /// Data movement between a value and the codes, from the value on.
  llvm::ArrayRef<mlir::Operation*> movesOf(mlir::Value value) const {
    return moves.find(value)->second;
  }

private:
  using Moves = llvm::SmallVector<mlir::Operation*>;

  std::int64_t count() const { return elementCodes * kCodes; }
  mlir::Value constant(mlir::DenseElementsAttr attribute);
  mlir::Value everyCode(mlir::Type element, llvm::function_ref<std::int64_t(std::int64_t)> code);
  mlir::Value copy(mlir::Value value);
  mlir::Value make(mlir::Value value);

  mlir::OwningOpRef<mlir::ModuleOp> scratch;
  mlir::OpBuilder builder;
  mlir::IRMapping copies;
  llvm::DenseMap<mlir::Value, Moves> moves; ///< keys: values that follow from codes
  mlir::Value tensorOfCodes;
  std::int64_t elementCodes = 1;
  std::size_t looked = 0; ///< number of values looked at
};

} // namespace octavo::transforms
