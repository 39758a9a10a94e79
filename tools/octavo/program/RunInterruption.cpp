#include "tools/octavo/program/RunInterruption.h"

#include "tools/octavo/Commands.h"

#include "octavo/Dialect/Diagnostics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace octavo::tools {

namespace {

using namespace std::chrono_literals;

/// Ctrl-C is to be answered within 0.2 s.
constexpr auto kBetweenLooks = 20ms;
constexpr auto kGrace = 100ms;

std::string interruptedAt(mlir::Operation* op) {
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  return fmt::format("{}: '{}': interrupted here, in @{}", locationText(op->getLoc()),
                     op->getName().getStringRef().str(), function.getName().str());
}

} // namespace

RunInterruption::RunInterruption(execution::Host& host) {
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
  mlir::Operation* op = at;
  std::fflush(stdout);
  fmt::print(stderr, "octavo: error: {}\n", op == nullptr ? "interrupted" : interruptedAt(op));
  std::_Exit(static_cast<int>(ExitCode::Interrupted));
}

} // namespace octavo::tools
