#include "tools/octavo/Interruption.h"

#include <atomic>
#include <csignal>

namespace octavo::tools {

namespace {

std::atomic<bool> asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void ask(int) { asked = true; }

void handle(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

} // namespace

Interruption::Interruption() {
  asked = false;
  handle(ask, SA_RESETHAND | SA_RESTART);
}

Interruption::~Interruption() { handle(SIG_DFL, 0); }

bool Interruption::isAsked() { return asked; }

} // namespace octavo::tools
