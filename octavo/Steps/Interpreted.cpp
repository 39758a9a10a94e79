#include "octavo/Steps/Interpreted.h"

namespace octavo::steps {

Outcome InterpretedStep::run(Frame& frame) const {
  std::vector<Value> given;
  given.reserve(operands.size());
  for (const Place& place : operands)
    given.push_back(read(frame, place));
  auto found = evaluate(std::move(given), *frame.host);
  if (!found)
    return tl::make_unexpected(std::move(found.error()));
  for (std::size_t i = 0; i < results.size(); ++i)
    write(frame, results[i], std::move((*found)[i]));
  return {};
}

StepFacts InterpretedStep::facts() const {
  StepFacts facts{.kind = StepFacts::Kind::Interpreted, .detail = reason};
  for (const std::vector<Place>* places : {&operands, &results})
    for (const Place& place : *places)
      if (place.memory)
        facts.bytes += static_cast<double>(bytesOf(place).of(1));
  return facts;
}

} // namespace octavo::steps
