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

/// What has to lie in memory while a program runs.
struct SlotUse {
  /// Donated: an argument that becomes a result where it lies. Range: its chain alone uses it.
  /// Rows: a product alone uses it, and has some rows of it made at a time (its prologue).
  enum class Kind : std::uint8_t { Arena, Argument, Donated, Constant, Result, Range, Rows };
  Kind kind = Kind::Arena;
  BatchExtent bytes = {};  ///< of a row, if it is a range's, or has rows
  int index = 0;           ///< of the argument, constant or result
  int result = 0;          ///< that a donated argument becomes
  BatchExtent offset = {}; ///< in the arena, or in the memory of a range's rows
  int first = 0, last = 0; ///< steps, or links of the chain, between which it is in use
  int uses = 0;            ///< reads, writes and what becomes of it
  int packs = 0;           ///< those that need a form that is made once
};

/// A value that lies at a place among the values in each run, such as a scaled weight.
struct BoundValue {
  int number;
  Value value;
};

/// An argument that is a scaled tensor, which lies at a place among the values.
struct ScaledInput {
  int number;
  numerics::ScaledType type;
  std::vector<std::int64_t> shape;
};

struct Program {
  Sequence steps;
  std::int64_t operations = 0; ///< that are computed, by whatever step, those in regions too
  std::vector<SlotUse> slots;
  BatchExtent arenaBytes;
  ItemRange items; ///< of a program that is of any number of them, or in a file
  int valueCount = 0;
  int packedCount = 0; ///< left operands that are packed in each run
  int rightCount = 0;  ///< right operands of products
  std::vector<Place> arguments, results;
  std::vector<std::string> argumentNames;   ///< for errors; not in files of programs
  std::vector<ScaledInput> scaledArguments; ///< those of the arguments that have no slot
  std::vector<Value> constants;
  std::vector<BoundValue> values;       ///< scaled tensors that are bound
  std::deque<KernelFunction> functions; ///< of kernels; filled in when these are compiled
  /// Arguments that may lie where results do.
  struct Donation {
    std::size_t argument, result;
    bool isByKernel; ///< one that reads it while it writes; else it is read before
  };
  std::vector<Donation> donations;
  std::shared_ptr<Guards> guards; ///< null: none
};

/// Bytes that a slot begins at multiples of.
inline constexpr std::size_t kSlotAlignment = 64;

} // namespace octavo::program
