// Prints tensor elements as text.
#pragma once

#include "octavo/Numerics/Tensor.h"

#include <string>

namespace octavo::interpreter {

using numerics::Tensor;

/// Element `i` for messages: "0.1 (0x3DCCCCCD)", "-3", "true", "(1 (0x..), 2 (0x..))".
std::string elementText(const Tensor& tensor, std::int64_t i);

/// Element `i` by its value alone: "0.1", "-3", "true", "[1, 2]" for a complex number.
std::string plainElementText(const Tensor& tensor, std::int64_t i);

} // namespace octavo::interpreter
