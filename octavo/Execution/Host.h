// What a running program meets outside itself, besides its arguments.
#pragma once

#include "octavo/Execution/Checks.h"
#include "octavo/Execution/OperationText.h"
#include "octavo/Execution/Profile.h"
#include "octavo/Execution/Value.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/PointerUnion.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace octavo::execution {

/// Where a program leaves tensors for whoever looks into it, and finds them again. Used by several
/// threads at once.
class Probes {
public:
  virtual ~Probes() = default;
  virtual llvm::Error write(llvm::StringRef id, mlir::RankedTensorType type,
                            const Tensor& tensor) = 0;
  /// What the probe `id` left when it came for the time `iteration`, counted from 0.
  virtual llvm::Expected<Tensor> read(llvm::StringRef id, std::uint32_t iteration,
                                      mlir::RankedTensorType type) = 0;
};

/// What one infeed takes: a tensor for each of its results but the token.
using Feed = std::vector<Value>;

/// Where a run is: at what the interpreter evaluates, or at what a compiled step computes.
using Whereabouts = llvm::PointerUnion<mlir::Operation*, const OperationText*>;

struct Host {
  Host(CheckReport* checks = nullptr) : checks(checks) {}

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

} // namespace octavo::execution
