#include "tools/octavo/Interruption.h"

#include "octavo/Checkpoint/Files/KnownTemporaries.h"

#include <array>
#include <atomic>
#include <csignal>

namespace octavo::tools {

namespace {

std::atomic<bool> asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void ask(int signal) {
  if (asked.exchange(true))
    checkpoint::endBySignal(signal);
}

constexpr std::array kSignals = {SIGINT, SIGTERM};
std::array<struct sigaction, kSignals.size()> before;

} // namespace

Interruption::Interruption() {
  asked = false;
  struct sigaction action = {};
  action.sa_handler = ask;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals[i], &action, &before[i]);
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals[i], &before[i], nullptr);
}

bool Interruption::isAsked() { return asked; }

} // namespace octavo::tools
