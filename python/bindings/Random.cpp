#include "python/bindings/Random.h"

#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

namespace octavo::python {

namespace nb = nanobind;

static numerics::RandomStream streamOf(nb::handle key) {
  std::uint64_t seed;
  std::pair<std::uint64_t, std::uint64_t> both;
  if (nb::try_cast(key, seed))
    return {.seed = seed};
  if (nb::try_cast(key, both))
    return {.seed = both.first, .stream = both.second};
  raise(
      ErrorClass::Dtype,
      "key: expected a seed, or a pair of seed and stream, integers from 0 to 2**64 - 1; found {}",
      nb::cast<std::string>(nb::repr(key)));
}

std::optional<numerics::RandomStream> randomStream(nb::handle key, numerics::Rounding rounding) {
  const bool isStochastic = rounding == numerics::Rounding::Stochastic;
  if (isStochastic == key.is_none())
    raise(ErrorClass::Format,
          "rounding=\"stochastic\" and key=, the seed of its random numbers, go together");
  return isStochastic ? std::optional(streamOf(key)) : std::nullopt;
}

std::vector<std::uint32_t> randomBits(nb::handle key, numerics::Rounding rounding, std::size_t n) {
  const std::optional<numerics::RandomStream> stream = randomStream(key, rounding);
  if (!stream)
    return {};
  std::vector<std::uint32_t> numbers(n);
  withoutLock([&] {
    kernels::forRanges(n, 4096, execution(), [&](std::size_t begin, std::size_t end) {
      stream->fill(begin, std::span(numbers).subspan(begin, end - begin));
    });
  });
  return numbers;
}

} // namespace octavo::python
