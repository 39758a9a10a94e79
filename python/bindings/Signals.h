// Ctrl-C while octavo runs without Python's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

namespace octavo::python {

/// Whether this is the thread that handles signals. It does not need Python's lock: a thread that
/// requests the lock while Python ends is terminated.
inline bool handlesSignals() { return ::gettid() == ::getpid(); }

/// Runs Python's signal handlers in the thread that made the call. Other threads only read whether
/// a handler has raised.
class Signals {
public:
  bool areRaised() {
    if (handlesSignals() && std::this_thread::get_id() == caller &&
        std::chrono::steady_clock::now() >= next) {
      const nanobind::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() != 0) {
        raised.emplace();
        isTold = true;
      }
      next = std::chrono::steady_clock::now() + kBetween;
    }
    return isTold;
  }
  void rethrow() {
    if (raised)
      throw std::move(*raised);
  }

private:
  static constexpr std::chrono::milliseconds kBetween{50};
  std::thread::id caller = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next = std::chrono::steady_clock::now() + kBetween;
  std::atomic<bool> isTold = false;
  std::optional<nanobind::python_error> raised;
};

} // namespace octavo::python
