// A kernel: operations computed together in one loop over rows, and the code for it.
//
// A kernel has `rows` rows of `columns` elements. A member is computed for each element (its number
// is row * columns + column) or, from the first reduction on, for each row. Inside the kernel a
// member is used at the place where it is computed and nowhere else; what another step needs of it
// is stored. Each reduction ends a phase: a loop over the columns of the row, after which its
// result is known. What a later phase needs again is computed again where that is cheap, else kept
// in a buffer of one row.
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

struct Kernel {
  std::int64_t rows = 1;
  /// 1: each element is a row.
  std::int64_t columns = 1;
  /// In the order of the program.
  llvm::SetVector<mlir::Operation*> members;
  /// What is written to memory: results of members, or one view that is laid out.
  llvm::SetVector<mlir::Value> stored;
};

/// Whether a kernel can have the operation as a member: elementwise ones, reductions, and those
/// that choose elements by data (gather, dynamic_slice) or join tensors (concatenate, pad).
bool isKernelMember(mlir::Operation* op);

/// Whether the operation has elements that are written in the code where they are used: views,
/// constants of one value, iota.
bool isInlined(mlir::Operation* op);

/// Why kernels have no code for the operation; empty for what isKernelMember or isInlined is true.
std::string whyNoCode(mlir::Operation* op);

/// Of a reduction: whether it takes the last axes, so that its operand's rows are its elements.
bool reducesRows(mlir::Operation* op);

struct KernelCode {
  /// LLVM's IR as text, which two kernels that do the same have in common: of a function
  /// void kernel(ptr memory, i64 begin, i64 end) for rows begin to end; memory[i] is arguments[i]
  /// (program::KernelFunction).
  std::string text;
  /// What is read and written, in memory; null for what is no value of the program.
  llvm::SmallVector<mlir::Value> arguments;
  /// Where it is read: indices of kRow, kColumn and variables of no meaning outside.
  llvm::SmallVector<Element> reads;
};

KernelCode emitKernel(const Kernel& kernel);

/// What a kernel writes, and the argument of it, of the same type, whose memory that is.
using Overwriting = llvm::SmallMapVector<mlir::Value, mlir::Value, 4>;

/// The code where what is written lies over arguments: both are one argument of the function.
/// Leaves out of `over` what would not be right: an argument that is read at other places than
/// those that are written, or after they are. Nothing where nothing is left.
std::optional<KernelCode> emitKernel(const Kernel& kernel, Overwriting& over);

} // namespace octavo::compiler
