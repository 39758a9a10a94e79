// One line on the terminal that says what a long command is doing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace octavo::tools {

/// While it lives, and from the third second on, shows `octavo: TEXT` on stderr, anew each second,
/// if that is a terminal. It leaves the line empty.
class StatusLine {
public:
  /// `text` is called on another thread; it gets the seconds since construction.
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
