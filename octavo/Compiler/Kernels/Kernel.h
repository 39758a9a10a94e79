// A kernel: operations that are computed together in one loop over rows, and their code.
//
// A kernel has `rows` rows of `columns` elements. A member is computed for each element (number row
// * columns + column) or, from the first reduction on, for each row. Inside the kernel, a member is
// used only at the index where it is computed; values that another step needs are stored. Each
// reduction ends a phase: a loop over the columns of the row, after which its result is known. A
// later phase recomputes the values that it needs again if that is cheap; else they are kept in a
// buffer of one row.
#pragma once

#include "octavo/Compiler/Kernels/Views.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::compiler {

/// The loops of a kernel as variables of Index.
inline constexpr int kRow = 0, kColumn = 1;

/// The operations of a kernel, and its shape.
struct Kernel {
  std::int64_t rows = 1;
  /// 1: each element is a row.
  std::int64_t columns = 1;
  /// In the order of the program.
  llvm::SetVector<mlir::Operation*> members;
  /// The values that are written to memory: results of members, or one view that is copied.
  llvm::SetVector<mlir::Value> stored;
};

/// Whether a kernel can have the operation as a member: elementwise operations, reductions,
/// operations that select elements by data (gather, dynamic_slice) or join tensors (concatenate,
/// pad).
bool isKernelMember(mlir::Operation* op);

/// Whether elements of the result are computed wherever they are used: views, constants whose
/// elements are equal, iota.
bool isInlined(mlir::Operation* op);

/// Why kernels have no code for the operation; empty if isKernelMember or isInlined.
std::string whyNoCode(mlir::Operation* op);

/// Whether a reduction is over the last axes, so that each element of its result is of one row.
bool reducesRows(mlir::Operation* op);

/// The code of a kernel.
struct KernelCode {
  /// LLVM IR as text, equal for kernels that compute the same. It has a function void kernel(ptr
  /// memory, i64 begin, i64 end) for rows begin to end; memory[i] is arguments[i]
  /// (program::KernelFunction).
  std::string text;
  /// The values that are read or written in memory; null for memory that is no value of the
  /// program.
  llvm::SmallVector<mlir::Value> arguments;
  /// The elements that are read: indices of kRow, kColumn and variables without meaning outside.
  llvm::SmallVector<Element> reads;
};

/// Emits the code of a kernel.
KernelCode emitKernel(const Kernel& kernel);

/// Maps values that a kernel writes to the arguments, of the same type, in whose memory it writes
/// them.
using Overwriting = llvm::SmallMapVector<mlir::Value, mlir::Value, 4>;

/// Emits the code of a kernel that writes over arguments: a written value and the argument are one
/// argument of the function. Removes from `over` arguments that are read at other indices than they
/// are written, or after that. nullopt if `over` is empty then.
std::optional<KernelCode> emitKernel(const Kernel& kernel, Overwriting& over);

} // namespace octavo::compiler
