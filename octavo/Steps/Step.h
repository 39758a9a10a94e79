// What a compiled program does when it runs: steps, one after the other, on memory whose place was
// decided when it was compiled.
#pragma once

#include "octavo/Execution/Host.h"
#include "octavo/Execution/Value.h"
#include "octavo/Kernels/Product/PackedOperand.h"
#include "octavo/Numerics/ElementType.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace octavo::steps {

using execution::Host;
using execution::Value;

/// A place for the elements of a tensor, by its number in Frame::memory.
struct Slot {
  int number = -1;
};

/// What one run of a program works on.
struct Frame {
  std::vector<std::byte*> memory; ///< of each slot
  std::vector<Value> values;      ///< what does not lie in slots: tokens, tuples, scaled tensors
  /// Of each slot: the argument or constant that lies there, null where steps write to it.
  std::vector<const Value*> owners;
  std::vector<kernels::PackedOperand> packed; ///< made and used within a run
  const Host* host;

  template <typename T = std::byte> T* at(Slot slot) const {
    return reinterpret_cast<T*>(memory[static_cast<std::size_t>(slot.number)]);
  }
};

class Step {
public:
  /// `op` is what it computes, or the last of several operations.
  explicit Step(mlir::Operation* op) : computed(op) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  virtual llvm::Error run(Frame& frame) const = 0;

  mlir::Operation* operation() const { return computed; }

private:
  mlir::Operation* computed;
};

/// An error that names the step's operation and where it stands, as the interpreter's do.
llvm::Error failure(const Step& step, const llvm::Twine& message);

class Sequence {
public:
  void add(std::unique_ptr<Step> step) { steps.push_back(std::move(step)); }
  llvm::Error run(Frame& frame) const;
  const std::vector<std::unique_ptr<Step>>& all() const { return steps; }

private:
  std::vector<std::unique_ptr<Step>> steps;
};

} // namespace octavo::steps
