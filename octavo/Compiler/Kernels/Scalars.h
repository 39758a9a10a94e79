// Elements in registers: how each element type is held, loaded, stored and rounded in LLVM IR.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include "mlir/IR/Value.h"
#include "llvm/IR/IRBuilder.h"

#include <cstdint>

namespace octavo::compiler {

/// Whether compiled loops compute elements of the type: integers of 1, 2, 4, 8, 16, 32 and 64 bits,
/// floats of 4 to 64 bits, complex numbers of f32 and f64.
bool isCompiled(mlir::Type element);

/// The format of a float type of at most 8 bits; null for every other type.
const format::ElementFormat* narrowFormat(mlir::Type element);

/// The type of a tensor's elements.
mlir::Type elementOf(mlir::Value tensor);

/// Bytes of one element in memory (numerics::Tensor).
std::int64_t containerBytes(mlir::Type element);

/// Whether an integer type is unsigned; i1 is.
inline bool isUnsigned(mlir::Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

/// Emits code for elements. Registers hold:
/// - integers in their width, i1 in one bit
/// - f64 as double; f32, f16 and bf16 as float. f16 and bf16 are rounded after each operation,
///   which gives the result of one rounding (24 >= 2 * 11 + 2).
/// - floats of at most 8 bits as their codes
/// - complex numbers as a structure of both parts
class Scalars {
public:
  explicit Scalars(llvm::IRBuilder<>& builder) : b(builder) {}

  llvm::IRBuilder<>& b;

  /// The type of a register that holds an element.
  llvm::Type* registerType(mlir::Type element);
  /// Loads or stores element number `index` of the array at `base`.
  llvm::Value* load(mlir::Type element, llvm::Value* base, llvm::Value* index);
  void store(mlir::Type element, llvm::Value* value, llvm::Value* base, llvm::Value* index);

  struct Pair {
    llvm::Value *real, *imaginary;
  };
  Pair parts(llvm::Value* number);
  llvm::Value* pair(llvm::Value* real, llvm::Value* imaginary);

  /// Rounds a float in its register to `element`: to nearest, ties to even. NaN stays NaN.
  llvm::Value* round(mlir::Type element, llvm::Value* value);

  /// Converts the code of a narrow format to its value as a float, and back with one rounding:
  /// rules N2 to N7. encode keeps the sign of a NaN (N3); NaNs of the machine have either sign, so
  /// emitElementwise selects the positive NaN (I3).
  llvm::Value* decode(const format::ElementFormat& format, llvm::Value* code);
  llvm::Value* encode(const format::ElementFormat& format, llvm::Value* value);

  /// stablehlo.convert between types that are compiled: rule I7.
  llvm::Value* convert(mlir::Type from, mlir::Type to, llvm::Value* value);

  /// stablehlo.bitcast_convert between types of one width of at least 8 bits, none of them complex.
  llvm::Value* bitcast(mlir::Type from, mlir::Type to, llvm::Value* value);

  /// A constant; the APInt has the bits of an APFloat or APInt attribute.
  llvm::Value* constant(mlir::Type element, double value);
  llvm::Value* constant(mlir::Type element, const llvm::APInt& value);

  /// Calls a function of Program/Steps/KernelLibrary.h, which has no effects.
  llvm::Value* call(llvm::StringRef name, llvm::Type* result,
                    llvm::ArrayRef<llvm::Value*> operands);

private:
  llvm::Type* memoryType(mlir::Type element);
  llvm::Value* fromMemory(mlir::Type element, llvm::Value* value);
  llvm::Value* toMemory(mlir::Type element, llvm::Value* value);
  llvm::Value* bf16Bits(llvm::Value* value);
  llvm::Value* encodeScale(llvm::Value* value);
  /// A number as a float. If it is not representable: the neighbour with an odd last bit, which
  /// rounds to 22 bits or less as the number itself does.
  llvm::Value* toOdd(mlir::Type from, llvm::Value* value);
};

} // namespace octavo::compiler
