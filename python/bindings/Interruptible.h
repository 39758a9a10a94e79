// Long work that Ctrl-C does not wait for, such as a compilation.
#pragma once

#include <nanobind/nanobind.h>

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

namespace octavo::python {

/// Has the process end at once, with the status that it ends with, where work that nobody waits for
/// still runs: it would be in the middle of what destructors take down.
void endAbandonedWorkAtExit();

/// How much such work there is.
inline std::atomic<int> abandonedWork = 0;

/// Does `work(isAbandoned)` on a thread of its own, without Python's lock, while this one looks for
/// signals. If a handler raises, the exception is thrown at once; `isAbandoned` is then true, and
/// the work ends by itself some time later. So it has to own all that it uses, and touches no
/// Python object. Only Python's main thread has signals; others wait. The caller may hold Python's
/// lock.
template <typename Work> auto interruptibly(Work work) {
  using Result = std::invoke_result_t<Work&, const std::atomic<bool>&>;
  struct Task {
    explicit Task(Work work) : work(std::move(work)) {}
    Work work;
    std::mutex mutex;
    std::condition_variable over;
    std::atomic<bool> isAbandoned = false;
    bool isOver = false;
    std::optional<Result> result;
    std::exception_ptr failed;
  };
  constexpr std::chrono::milliseconds kBetween{50};
  auto task = std::make_shared<Task>(std::move(work));
  std::thread([task]() mutable {
    std::optional<Result> result;
    std::exception_ptr failed;
    try {
      result.emplace(task->work(task->isAbandoned));
    } catch (...) {
      failed = std::current_exception();
    }
    std::unique_lock lock(task->mutex);
    task->result = std::move(result);
    task->failed = failed;
    task->isOver = true;
    task->over.notify_one();
    const bool isAbandoned = task->isAbandoned;
    lock.unlock();
    task.reset();
    if (isAbandoned)
      --abandonedWork;
  }).detach();
  const auto wait = [&] {
    std::unique_lock lock(task->mutex);
    while (!task->over.wait_for(lock, kBetween, [&] { return task->isOver; })) {
      lock.unlock();
      {
        const nanobind::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) {
          const std::lock_guard relocked(task->mutex);
          if (!task->isOver) {
            endAbandonedWorkAtExit();
            ++abandonedWork;
            task->isAbandoned = true;
          }
          throw nanobind::python_error();
        }
      }
      lock.lock();
    }
  };
  if (PyGILState_Check() != 0) {
    const nanobind::gil_scoped_release released;
    wait();
  } else {
    wait();
  }
  if (task->failed)
    std::rethrow_exception(task->failed);
  return std::move(*task->result);
}

} // namespace octavo::python
