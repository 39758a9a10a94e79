// What a program leaves for whoever looks into it.
#pragma once

#include "octavo/Program/Values/Outcome.h"
#include "octavo/Program/Values/Value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace octavo::program {

/// Where a program leaves tensors for whoever looks into it, and finds them again. Used by several
/// threads at once.
class Probes {
public:
  virtual ~Probes() = default;
  /// `type` is the text of the tensor's type in the program.
  virtual Outcome write(std::string_view id, std::string_view type, const Tensor& tensor) = 0;
  /// Returns the tensor that the probe `id` left at its run number `iteration`, counted from 0.
  /// Fails if there is none, or if its type's text is not `type`.
  virtual tl::expected<Tensor, std::string> read(std::string_view id, std::uint32_t iteration,
                                                 std::string_view type) = 0;
};

} // namespace octavo::program
