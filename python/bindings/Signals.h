// Ctrl-C while octavo works without Python's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>

namespace octavo::python {

/// Whether this is the thread that handles signals. Needs no lock: a thread that asked for Python's
/// while Python is ending would end the process.
inline bool handlesSignals() { return ::gettid() == ::getpid(); }

/// Python's handlers are asked in the thread that called, others only look whether it was told to
/// stop.
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
