// A function of static shapes as steps: which run, on which memory.
#pragma once

#include "octavo/Steps/Guards.h"
#include "octavo/Steps/Interpreted.h"
#include "octavo/Steps/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace octavo::conversion {

/// Evaluates one operation on its operands, as the interpreter does.
using Evaluate = llvm::Expected<std::vector<execution::Value>> (*)(
    mlir::Operation* op, std::vector<execution::Value> operands, const execution::Host& host);

/// What has to lie in memory while a program runs.
struct SlotUse {
  /// Donated: an argument that becomes a result where it lies. Range: its chain alone uses it.
  enum class Kind : std::uint8_t { Arena, Argument, Donated, Constant, Result, Range };
  Kind kind = Kind::Arena;
  std::size_t bytes = 0;   ///< of a row of the chain, if it is a range's
  int index = 0;           ///< of the argument, constant or result
  int result = 0;          ///< that a donated argument becomes
  std::size_t offset = 0;  ///< in the arena, or in the memory of a range's rows
  int first = 0, last = 0; ///< steps, or links of the chain, between which it is in use
  int uses = 0;            ///< reads, writes and what becomes of it
  int packs = 0;           ///< those that need a form that is made once
};

/// Kernels that a program calls: each text once.
struct KernelTable {
  std::vector<std::string> texts;
  std::deque<steps::KernelFunction> functions; ///< as many; filled in when they are compiled
  llvm::StringMap<std::size_t> numbers;
};

struct Program {
  steps::Sequence steps;
  std::int64_t operations = 0; ///< that are computed, by whatever step, those in regions too
  std::vector<SlotUse> slots;
  std::size_t arenaBytes = 0;
  int valueCount = 0;
  int packedCount = 0; ///< left operands that are packed in each run
  int rightCount = 0;  ///< right operands of products
  std::vector<steps::Place> arguments, results;
  std::vector<execution::Value> constants;
  KernelTable kernels;
  /// Arguments that may lie where results do.
  struct Donation {
    std::size_t argument, result;
    bool isByKernel; ///< one that reads it while it writes; else it is read before
  };
  std::vector<Donation> donations;
  std::shared_ptr<steps::Guards> guards; ///< null: none
};

enum class Guarding : bool { None, Slots };

/// Bytes that a slot begins at multiples of.
inline constexpr std::size_t kSlotAlignment = 64;

/// Lowers a function of one block. What has no code is evaluated by `evaluate`. The error names
/// what cannot be lowered: calls, several blocks, regions that use values from around them.
llvm::Expected<Program> lower(mlir::func::FuncOp function, Evaluate evaluate,
                              Guarding guarding = Guarding::None);

} // namespace octavo::conversion
