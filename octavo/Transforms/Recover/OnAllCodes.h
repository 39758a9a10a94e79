// What a program computes element by element from codes of 8 bits, evaluated on all of them.
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

/// The most operations that decode codes or compute scales of them. What is further away is not
/// looked at, so that the time for a value does not grow with the length of the program.
constexpr std::size_t kMostDecodingOperations = 256;

/// Whether a value is a tensor of such codes: i8, ui8 or f8E8M0FNU.
bool isCodeTensor(mlir::Value value);

/// Whether an operation moves the elements of its first operand.
bool isMove(mlir::Operation* op);

/// A copy of what computes one element of a value from the code at its place, on all codes; or from
/// a code and an element, on all pairs of them. The interpreter evaluates it, whatever it is.
class OnAllCodes {
public:
  static constexpr std::int64_t kCodes = 256;

  explicit OnAllCodes(mlir::MLIRContext* context);

  /// Says what the codes are. Of values that are asked for without, they are what they follow from
  /// in the end.
  void takeCodes(mlir::Value tensor);

  /// Values that are the elements of a format, in the format or converted.
  void takeElements(const format::ElementFormat& format, llvm::ArrayRef<mlir::Value> leaves);

  /// The values at [element, code], or by code; nothing where they follow from more, or from what
  /// is further away than kMostDecodingOperations.
  std::optional<std::vector<double>> values(mlir::Value value);

  /// The tensor that the codes are.
  mlir::Value codes() const { return tensorOfCodes; }
  /// What lies between a value and the codes, from the value on.
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
  llvm::DenseMap<mlir::Value, Moves> moves; ///< of values that follow from codes
  mlir::Value tensorOfCodes;
  std::int64_t elementCodes = 1;
  std::size_t looked = 0; ///< at so many values
};

} // namespace octavo::transforms
