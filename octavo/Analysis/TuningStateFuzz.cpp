// Arbitrary bytes as a search's state: an error, or a state that is the same after writing and
// reading.

#include "octavo/Analysis/TuningState.h"

#include <cstdlib>

using namespace octavo::analysis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto require = [](bool condition) {
    if (!condition)
      std::abort();
  };
  const auto state = parseState({reinterpret_cast<const char*>(data), size}, "state");
  if (!state) {
    require(state.error().message().size() >= 10);
    return 0;
  }
  for (const auto& [choice, losses] : state->measured) {
    require(choice.size() == state->measured.begin()->first.size());
    require(!losses.empty() && losses.size() == state->measured.begin()->second.size());
  }
  const auto again = parseState(stateText(*state), "state");
  require(again && again->measured == state->measured && again->digest == state->digest);
  return 0;
}
