// The processes that run one program together: where they meet, what they send one another, and how
// it is found out that they never will.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace octavo::interpreter {

/// A grid of replicas times partitions; process number replica * partitions + partition. Every
/// process is run by a thread of its own.
class Grid {
public:
  Grid(std::int64_t replicas, std::int64_t partitions)
      : replicaCount(replicas), partitionCount(partitions),
        processes(static_cast<std::size_t>(replicas * partitions)) {}

  std::int64_t replicas() const { return replicaCount; }
  std::int64_t partitions() const { return partitionCount; }
  /// "process (replica 0, partition 1)".
  std::string nameOf(std::int64_t process) const;
  std::int64_t size() const { return replicaCount * partitionCount; }

  /// Hands in `values` and waits until every process of `group`, which has this one, has come to a
  /// meeting of this name. Gives what each handed in, in the order of the group.
  llvm::Expected<std::vector<Results>> meet(mlir::Operation* op, std::int64_t process,
                                            const std::string& name,
                                            llvm::ArrayRef<std::int64_t> group, Results values);

  /// Leaves values under a name, for the first that takes them; never waits.
  void put(const std::string& name, Results values);
  /// Waits for values under this name.
  llvm::Expected<Results> take(mlir::Operation* op, std::int64_t process, const std::string& name);

  /// Values under this name, if there are any.
  std::optional<Results> takeIfThere(const std::string& name);

  /// The process has run to its end, or failed with `error`: the others are stopped then.
  void finish(std::int64_t process, llvm::Error error);

  /// Whether no process should go on.
  bool isStopped() const { return stopped; }
  /// An error for a process that is stopped; what stopped it is `failure`.
  static llvm::Error stop();
  /// The first error of all; nothing if there was none. Called when all have finished.
  llvm::Error failure() const;

private:
  struct Meeting {
    std::vector<std::optional<Results>> values;
    std::size_t missing = 0;
  };
  struct Process {
    bool isFinished = false;
    mlir::Operation* waitsAt = nullptr;
    std::function<bool()> isReady; ///< while it waits
  };

  /// Waits; false if it was stopped.
  bool wait(std::unique_lock<std::mutex>& lock, mlir::Operation* op, std::int64_t process,
            std::function<bool()> isReady);
  void stopIfDeadlocked();

  const std::int64_t replicaCount, partitionCount;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Process> processes;
  std::map<std::string, std::shared_ptr<Meeting>> meetings;
  std::map<std::string, std::deque<Results>> sent;
  std::atomic<bool> stopped = false;
  std::string message;
};

} // namespace octavo::interpreter
