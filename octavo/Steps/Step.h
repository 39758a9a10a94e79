// What a compiled program does when it runs: steps, one after the other, on memory whose place was
// decided when it was compiled.
#pragma once

#include "octavo/Execution/Host.h"
#include "octavo/Execution/Value.h"
#include "octavo/Numerics/ElementType.h"

#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace octavo::steps {

using execution::Host;
using execution::Value;

/// What one run of a program works on.
struct Frame {
  std::vector<std::byte*> memory; ///< of each slot
  std::vector<Value> values;      ///< what does not lie in slots: tokens, tuples, rare types
  const Host* host;
};

/// A place for the elements of a tensor, by its number in Frame::memory.
struct Slot {
  int number = -1;
};

class Step {
public:
  explicit Step(std::string name) : stepName(std::move(name)) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  virtual llvm::Error run(Frame& frame) const = 0;

  /// What it computes and where the program says so, for reports.
  const std::string& name() const { return stepName; }

private:
  std::string stepName;
};

class Sequence {
public:
  void add(std::unique_ptr<Step> step) { steps.push_back(std::move(step)); }
  llvm::Error run(Frame& frame) const;
  const std::vector<std::unique_ptr<Step>>& all() const { return steps; }

private:
  std::vector<std::unique_ptr<Step>> steps;
};

} // namespace octavo::steps
