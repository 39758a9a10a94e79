#include "tools/octavo/StatusLine.h"

#include <fmt/format.h>

#include <cstdio>
#include <unistd.h>

namespace octavo::tools {

StatusLine::StatusLine(std::function<std::string(double)> text) : text(std::move(text)) {
  if (::isatty(STDERR_FILENO))
    thread = std::thread([this] { show(); });
}

StatusLine::~StatusLine() {
  if (!thread.joinable())
    return;
  {
    const std::lock_guard lock(mutex);
    hasEnded = true;
  }
  ended.notify_one();
  thread.join();
}

double StatusLine::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void StatusLine::show() {
  using namespace std::chrono_literals;
  bool isShown = false;
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, isShown ? 1000ms : 2000ms, [this] { return hasEnded; })) {
    isShown = true;
    fmt::print(stderr, "\r\x1b[Koctavo: {}", text(seconds()));
    std::fflush(stderr);
  }
  if (isShown) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }
}

} // namespace octavo::tools
