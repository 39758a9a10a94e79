// The environment of a run besides its arguments: checks, interruption, output, probes, profile and
// infeeds.
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

/// What one infeed takes: one tensor per result, except the token.
using Feed = std::vector<Value>;

/// The caller's memory, one span per result.
using ResultMemory = std::span<const std::span<std::byte>>;

/// Where a run is: the operation that the interpreter evaluates, or that a compiled step computes.
class Whereabouts {
public:
  Whereabouts() = default;
  Whereabouts(mlir::Operation* op) : bits(reinterpret_cast<std::uintptr_t>(op)) {}
  Whereabouts(const OperationText* text) : bits(reinterpret_cast<std::uintptr_t>(text) | kIsText) {}

  /// Null if the interpreter is not evaluating an operation.
  mlir::Operation* operation() const {
    return (bits & kIsText) != 0 ? nullptr : reinterpret_cast<mlir::Operation*>(bits);
  }
  const OperationText* text() const {
    return (bits & kIsText) == 0 ? nullptr
                                 : reinterpret_cast<const OperationText*>(bits & ~kIsText);
  }

private:
  static constexpr std::uintptr_t kIsText = 1; ///< tag bit: both pointers have alignment above 1

  std::uintptr_t bits = 0;
};

/// What a run may use from its caller.
struct RunContext {
  RunContext(CheckReport* checks = nullptr) : checks(checks) {}

  CheckReport* checks; ///< null: a failed check is an error
  /// Called between operations, from any thread; true ends the run. Null: the run is not
  /// interruptible.
  std::function<bool()> isInterrupted;
  /// Receives where the run is (of one process), for another thread to read. Null: not reported.
  std::atomic<Whereabouts>* at = nullptr;
  /// Receives what the program prints, in whole lines, from any thread. Null: discarded.
  std::function<void(const std::string&)> print;
  Probes* probes = nullptr; ///< null: probes are an error
  /// Receives the times of compiled steps. Null: no clock is read.
  Profile* profile = nullptr;
  /// The queue of infeeds: one for all processes, or one per process.
  std::vector<Feed> infeed;
  std::vector<std::vector<Feed>> infeedOfProcess;
};

} // namespace octavo::program
