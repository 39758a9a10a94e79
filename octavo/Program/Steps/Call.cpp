#include "octavo/Program/Steps/Call.h"

#include <cstddef>

namespace octavo::program {

Outcome CallStep::run(Frame& frame) const {
  for (std::size_t i = 0; i < operands.size(); ++i)
    copy(frame, operands[i], callee->arguments[i]);
  if (Outcome outcome = callee->body.run(frame); !outcome)
    return outcome;
  for (std::size_t i = 0; i < results.size(); ++i)
    copy(frame, callee->results[i], results[i]);
  return {};
}

StepFacts CallStep::facts() const {
  StepFacts facts{.kind = StepFacts::Kind::Call};
  for (const std::vector<Place>* places : {&operands, &results})
    for (const Place& place : *places)
      if (place.memory)
        facts.bytes += 2 * static_cast<double>(bytesOf(place).of(1));
  return facts;
}

} // namespace octavo::program
