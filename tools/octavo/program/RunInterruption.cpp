#include "tools/octavo/program/RunInterruption.h"

#include "tools/octavo/Commands.h"

#include "octavo/Dialect/TextOfOperation.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace octavo::tools {

namespace {

using namespace std::chrono_literals;

/// Together these keep the response to Ctrl-C below 0.2 s.
constexpr auto kBetweenLooks = 20ms;
constexpr auto kGrace = 100ms;

std::string interruptedAt(const program::Whereabouts& at) {
  if (at.operation() == nullptr && at.text() == nullptr)
    return "interrupted";
  const program::OperationText op =
      at.text() != nullptr ? *at.text() : program::textOf(at.operation());
  return fmt::format("{}: '{}': interrupted here, in @{}", op.location, op.name, op.function);
}

} // namespace

RunInterruption::RunInterruption(program::RunContext& host) {
  host.isInterrupted = Interruption::isAsked;
  host.at = &at;
  watcher = std::thread([this] { watch(); });
}

RunInterruption::~RunInterruption() {
  {
    const std::lock_guard lock(mutex);
    isOver = true;
  }
  over.notify_one();
  watcher.join();
}

void RunInterruption::watch() {
  std::unique_lock lock(mutex);
  while (!isOver && !Interruption::isAsked())
    over.wait_for(lock, kBetweenLooks);
  if (over.wait_for(lock, kGrace, [this] { return isOver; }))
    return;
  std::fflush(stdout);
  fmt::print(stderr, "octavo: error: {}\n", interruptedAt(at));
  std::_Exit(static_cast<int>(ExitCode::Interrupted));
}

} // namespace octavo::tools
