#include "octavo/Program/Steps/Interpreted.h"

#include <fmt/format.h>

#include <new>

namespace octavo::program {

Outcome InterpretedStep::run(Frame& frame) const {
  try {
    std::vector<Value> given;
    given.reserve(operands.size());
    for (const Place& place : operands)
      given.push_back(read(frame, place));
    auto found = evaluate(std::move(given), *frame.host);
    if (!found)
      return tl::make_unexpected(std::move(found.error()));
    if (found->size() != results.size())
      return failure(*this, fmt::format("evaluated to {} results; the type has {}", found->size(),
                                        results.size()));
    for (std::size_t i = 0; i < results.size(); ++i)
      if (Outcome written = write(frame, results[i], std::move((*found)[i])); !written)
        return failure(*this, fmt::format("result {}: {}", i, written.error()));
    return {};
  } catch (const std::bad_alloc&) {
    return failure(*this, "there is not enough memory for its operands and results");
  }
}

StepFacts InterpretedStep::facts() const {
  StepFacts facts{.kind = StepFacts::Kind::Interpreted, .detail = reason};
  for (const std::vector<Place>* places : {&operands, &results})
    for (const Place& place : *places)
      if (place.memory)
        facts.bytes += static_cast<double>(bytesOf(place).of(1));
  return facts;
}

} // namespace octavo::program
