// A line on the terminal that shows what a long command is doing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace octavo::tools {

/// From the third second of its lifetime on, shows `octavo: TEXT` on stderr, updated each second,
/// if stderr is a terminal. The destructor clears the line.
class StatusLine {
public:
  /// `text` is called on another thread, with the seconds since construction.
  explicit StatusLine(std::function<std::string(double seconds)> text);
  StatusLine(const StatusLine&) = delete;
  ~StatusLine();

  double seconds() const;

private:
  void show();

  std::function<std::string(double)> text;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable ended;
  bool hasEnded = false;
  std::thread thread;
};

} // namespace octavo::tools
