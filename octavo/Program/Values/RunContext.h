// What a running program meets outside itself, besides its arguments.
#pragma once

#include "octavo/Program/Values/Checks.h"
#include "octavo/Program/Values/OperationText.h"
#include "octavo/Program/Values/Profile.h"
#include "octavo/Program/Values/Value.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mlir {
class Operation;
}

namespace octavo::program {

class Probes;

/// What one infeed takes: a tensor for each of its results but the token.
using Feed = std::vector<Value>;

/// Memory of a caller, for each result.
using ResultMemory = std::span<const std::span<std::byte>>;

/// Where a run is: at what the interpreter evaluates, or at what a compiled step computes.
class Whereabouts {
public:
  Whereabouts() = default;
  Whereabouts(mlir::Operation* op) : bits(reinterpret_cast<std::uintptr_t>(op)) {}
  Whereabouts(const OperationText* text) : bits(reinterpret_cast<std::uintptr_t>(text) | kIsText) {}

  /// Null where it is not at one.
  mlir::Operation* operation() const {
    return (bits & kIsText) != 0 ? nullptr : reinterpret_cast<mlir::Operation*>(bits);
  }
  const OperationText* text() const {
    return (bits & kIsText) == 0 ? nullptr
                                 : reinterpret_cast<const OperationText*>(bits & ~kIsText);
  }

private:
  static constexpr std::uintptr_t kIsText = 1; ///< both are aligned to more

  std::uintptr_t bits = 0;
};

struct RunContext {
  RunContext(CheckReport* checks = nullptr) : checks(checks) {}

  CheckReport* checks; ///< null: a check that does not hold is an error
  /// Asked between two operations, from any thread. Null: the program runs to its end.
  std::function<bool()> isInterrupted;
  /// Where the run is, in one of its processes, for another thread to read. Null: nobody asks.
  std::atomic<Whereabouts>* at = nullptr;
  /// Takes the text of what a program prints, whole lines; from any thread. Null: nobody does.
  std::function<void(const std::string&)> print;
  Probes* probes = nullptr; ///< null: probes are an error
  /// Takes the times of a compiled program's steps; null: nobody asks, and no clock is read.
  Profile* profile = nullptr;
  /// What infeeds take, first to last: of all processes, or one queue for each.
  std::vector<Feed> infeed;
  std::vector<std::vector<Feed>> infeedOfProcess;
};

} // namespace octavo::program
