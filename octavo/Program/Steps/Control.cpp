#include "octavo/Program/Steps/Control.h"

#include <algorithm>
#include <cstring>

namespace octavo::program {

Outcome WhileStep::run(Frame& frame) const {
  for (const Carried& each : carried)
    copy(frame, each.given, each.argument);
  for (;;) {
    if (Outcome outcome = condition.run(frame); !outcome)
      return outcome;
    if (*frame.whole.memory[static_cast<std::size_t>(predicate.number)] == std::byte{0})
      return {};
    if (Outcome outcome = body.run(frame); !outcome)
      return outcome;
    for (const Carried& each : carried) {
      const auto argument = static_cast<std::size_t>(each.argument.number),
                 next = static_cast<std::size_t>(each.next.number);
      if (!each.argument.memory)
        frame.values[argument] = frame.values[next];
      else if (argument != next)
        std::swap(frame.whole.memory[argument], frame.whole.memory[next]);
    }
  }
}

std::vector<const Sequence*> BranchStep::nested() const {
  std::vector<const Sequence*> list;
  list.reserve(branches.size());
  for (const Branch& branch : branches)
    list.push_back(&branch.steps);
  return list;
}

Outcome BranchStep::run(Frame& frame) const {
  const std::byte* given = frame.whole.memory[static_cast<std::size_t>(index.number)];
  std::int32_t chosen = 0;
  if (isPredicate)
    chosen = *given == std::byte{0} ? 1 : 0;
  else
    std::memcpy(&chosen, given, sizeof chosen);
  const auto count = static_cast<std::int32_t>(branches.size());
  const Branch& branch =
      branches[static_cast<std::size_t>(chosen < 0 || chosen >= count ? count - 1 : chosen)];
  if (Outcome outcome = branch.steps.run(frame); !outcome)
    return outcome;
  for (std::size_t i = 0; i < results.size(); ++i)
    copy(frame, branch.results[i], results[i]);
  return {};
}

} // namespace octavo::program
