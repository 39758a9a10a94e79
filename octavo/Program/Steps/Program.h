// A compiled program: its steps, and the memory that they work on.
#pragma once

#include "octavo/Program/Steps/Guards.h"
#include "octavo/Program/Steps/KernelFunction.h"
#include "octavo/Program/Steps/Place.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace octavo::program {

/// The memory of one slot.
struct SlotUse {
  /// Where the slot lies:
  /// - Donated: an argument whose memory becomes a result.
  /// - Range: memory of a chain, for one range of rows at a time.
  /// - Rows: rows that a product's prologue makes a few at a time.
  enum class Kind : std::uint8_t { Arena, Argument, Donated, Constant, Result, Range, Rows };
  Kind kind = Kind::Arena;
  BatchExtent bytes = {};  ///< of one row for Range and Rows
  int index = 0;           ///< of the argument (also of a donated one), constant or result
  int result = 0;          ///< the result that a donated argument becomes
  BatchExtent offset = {}; ///< in the arena; for Range, in the chain's memory for one row
  int first = 0, last = 0; ///< first and last step (for Range: link) that use the slot
  int uses = 0;            ///< reads and writes of the slot, and its use as a result
  int packs = 0;           ///< uses that only need a packed form
};

/// A value that lies at Frame::values[number] in every run, such as a scaled weight.
struct BoundValue {
  int number;
  Value value;
};

/// An argument that is a scaled tensor. It has no slot but a place among the values.
struct ScaledInput {
  int number;
  numerics::ScaledType type;
  std::vector<std::int64_t> shape;
};

/// A compiled program.
struct Program {
  Sequence steps;
  std::int64_t operations = 0; ///< of the source program, including those in regions
  std::vector<SlotUse> slots;
  BatchExtent arenaBytes;
  ItemRange items; ///< the batch sizes that it accepts
  int valueCount = 0;
  int packedCount = 0; ///< left operands that each run packs (Worker::packed)
  int rightCount = 0;  ///< right operands of products (Frame::rights)
  std::vector<Place> arguments, results;
  std::vector<std::string> argumentNames;   ///< for error messages; not written to program files
  std::vector<ScaledInput> scaledArguments; ///< the arguments without a slot
  std::vector<Value> constants;
  std::vector<BoundValue> values;       ///< bound scaled tensors
  std::deque<KernelFunction> functions; ///< the code of the kernels, set when they are compiled
  /// An argument that may share the memory of a result.
  struct Donation {
    std::size_t argument, result;
    bool isByKernel; ///< a kernel reads the argument while it writes the result; else the argument
                     ///< is dead by then
  };
  std::vector<Donation> donations;
  std::shared_ptr<Guards> guards; ///< null: the program runs without guards
};

/// Alignment of slots, in bytes.
inline constexpr std::size_t kSlotAlignment = 64;

} // namespace octavo::program
