#include "octavo/Execution/RefusedInput.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace octavo::execution {

std::string refusedInput(const OperationText& op, float value,
                         std::span<const std::int64_t> place) {
  return fmt::format("{}: {}{} has {}{}, which its quantization refuses: {}", op.location,
                     op.source.empty() ? "" : op.source + ": ", op.input,
                     value != value ? "NaN"
                     : value > 0    ? "Inf"
                                    : "-Inf",
                     place.empty() ? "" : fmt::format(" at [{}]", fmt::join(place, ", ")),
                     kNonFiniteOptions);
}

} // namespace octavo::execution
