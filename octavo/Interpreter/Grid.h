// The processes that run one program together: their collectives and messages, and the detection of
// deadlocks.
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

/// A grid of replicas times partitions. Process number = replica * partitions + partition. Each
/// process has its own thread.
class Grid {
public:
  Grid(std::int64_t replicas, std::int64_t partitions)
      : replicaCount(replicas), partitionCount(partitions),
        processes(static_cast<std::size_t>(replicas * partitions)) {}

  std::int64_t replicas() const { return replicaCount; }
  std::int64_t partitions() const { return partitionCount; }
  /// The name of a process: "process (replica 0, partition 1)".
  std::string nameOf(std::int64_t process) const;
  std::int64_t size() const { return replicaCount * partitionCount; }

  /// Contributes `values` to the meeting named `name` and waits until every process of `group` has
  /// contributed. `group` must contain `process`. Returns the contributions in the order of the
  /// group. Fails if the grid is stopped. `op` is named if this is a deadlock.
  llvm::Expected<std::vector<Results>> meet(mlir::Operation* op, std::int64_t process,
                                            const std::string& name,
                                            llvm::ArrayRef<std::int64_t> group, Results values);

  /// Appends values to the queue `name`; never waits.
  void put(const std::string& name, Results values);
  /// Removes the first values of the queue `name`; waits until there are some. Fails if the grid is
  /// stopped.
  llvm::Expected<Results> take(mlir::Operation* op, std::int64_t process, const std::string& name);

  /// Removes the first values of the queue `name`; nullopt if it is empty.
  std::optional<Results> takeIfThere(const std::string& name);

  /// Records that the process has ended, or failed with `error`. A failure stops all processes.
  void finish(std::int64_t process, llvm::Error error);

  /// Whether all processes should stop.
  bool isStopped() const { return stopped; }
  /// The error of a process that was stopped. The cause is in `failure`.
  static llvm::Error stop();
  /// The first error of any process; success if there was none. To be called after all have
  /// finished.
  llvm::Error failure() const;

private:
  /// A collective in progress.
  struct Meeting {
    std::vector<std::optional<Results>> values;
    std::size_t missing = 0;
  };
  struct Process {
    bool isFinished = false;
    mlir::Operation* waitsAt = nullptr;
    std::function<bool()> isReady; ///< set while the process waits
  };

  /// Waits until isReady(); returns false if the grid was stopped before.
  bool wait(std::unique_lock<std::mutex>& lock, mlir::Operation* op, std::int64_t process,
            std::function<bool()> isReady);
  /// Stops the grid if no process can continue: each has finished or waits.
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
