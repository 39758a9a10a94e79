// The value of an argument that is a scaled tensor.
#pragma once

#include "octavo/Numerics/Scaled.h"
#include "octavo/Program/Values/Argument.h"

#include <string>
#include <tl/expected.hpp>

namespace octavo::program {

/// A tensor of f32, f16 or bf16 and of the argument's shape, quantized as the argument says. The
/// error is the first value that its options refuse.
tl::expected<Value, numerics::NonFiniteInput> quantizedFor(const Argument& argument,
                                                           const numerics::Tensor& tensor);

/// Which element that is, and what lets it in.
std::string describeRefused(const Argument& argument, const numerics::NonFiniteInput& input);

} // namespace octavo::program
