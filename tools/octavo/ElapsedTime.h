// What a long command is doing, on a terminal only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace octavo::tools {

/// While it lives, and from the third second on, shows `octavo: WHAT, N s` on stderr if that is a
/// terminal. It leaves the line empty.
class ElapsedTime {
public:
  explicit ElapsedTime(std::string what);
  ElapsedTime(const ElapsedTime&) = delete;
  ~ElapsedTime();

  double seconds() const;

private:
  void show();

  std::string what;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable ended;
  bool hasEnded = false;
  std::thread thread;
};

} // namespace octavo::tools
