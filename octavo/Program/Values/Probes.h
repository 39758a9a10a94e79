// Probes: tensors that a program exports while it runs, for inspection and calibration.
#pragma once

#include "octavo/Program/Values/Outcome.h"
#include "octavo/Program/Values/Value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace octavo::program {

/// Receives the tensors of probes, and returns them. Any number of threads may use it.
class Probes {
public:
  virtual ~Probes() = default;
  /// `type` is the text of the tensor's type in the program.
  virtual Outcome write(std::string_view id, std::string_view type, const Tensor& tensor) = 0;
  /// Returns the tensor that probe `id` wrote in its `iteration`-th run, counted from 0. Fails if
  /// there is none, or if its type's text is not `type`.
  virtual tl::expected<Tensor, std::string> read(std::string_view id, std::uint32_t iteration,
                                                 std::string_view type) = 0;
};

} // namespace octavo::program
