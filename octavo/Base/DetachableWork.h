// Long work, such as a compilation, that an interrupted caller can leave behind.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace octavo::base {

/// Counts detached work that is still running. While there is some, the process exits without
/// destroying static objects, which the work may use.
class DetachedWork {
public:
  /// Counts work as running, from its detachment until end().
  static void begin();
  static void end();
};

/// Runs `work(isDetached)` on another thread and returns its result. An exception of the work is
/// rethrown here.
///
/// Meanwhile `isInterrupted` is called on this thread. If it returns true, the function returns
/// nullopt at once; if it throws, the exception is passed on. In both cases the work is detached:
/// `isDetached` becomes true, and the work runs on until it ends. So the work must own everything
/// that it uses. The work is destroyed on its thread, and before this function returns unless it is
/// detached.
template <typename Work, typename IsInterrupted>
auto runDetachable(Work work, IsInterrupted isInterrupted)
    -> std::optional<std::invoke_result_t<Work&, const std::atomic<bool>&>> {
  using Result = std::invoke_result_t<Work&, const std::atomic<bool>&>;
  struct Task {
    explicit Task(Work work) : work(std::move(work)) {}
    std::optional<Work> work;
    std::mutex mutex;
    std::condition_variable over;
    std::atomic<bool> isDetached = false;
    bool isOver = false;
    std::optional<Result> result;
    std::exception_ptr failed;
  };
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  auto task = std::make_shared<Task>(std::move(work));
  std::thread([task]() mutable {
    std::optional<Result> result;
    std::exception_ptr failed;
    try {
      result.emplace((*task->work)(std::as_const(task->isDetached)));
    } catch (...) {
      failed = std::current_exception();
    }
    task->work.reset();
    std::unique_lock lock(task->mutex);
    task->result = std::move(result);
    task->failed = failed;
    task->isOver = true;
    task->over.notify_one();
    const bool isDetached = task->isDetached;
    lock.unlock();
    task.reset();
    if (isDetached)
      DetachedWork::end();
  }).detach();
  const auto detach = [&] {
    const std::lock_guard lock(task->mutex);
    if (task->isOver)
      return;
    DetachedWork::begin();
    task->isDetached = true;
  };
  std::unique_lock lock(task->mutex);
  while (!task->over.wait_for(lock, kBetweenLooks, [&] { return task->isOver; })) {
    lock.unlock();
    bool isLeft = false;
    try {
      isLeft = isInterrupted();
    } catch (...) {
      detach();
      throw;
    }
    if (isLeft) {
      detach();
      return std::nullopt;
    }
    lock.lock();
  }
  if (task->failed)
    std::rethrow_exception(task->failed);
  return std::move(task->result);
}

} // namespace octavo::base
