// Quantizes a float tensor for an argument that is a scaled tensor.
#pragma once

#include "octavo/Numerics/Scaled.h"
#include "octavo/Program/Values/Argument.h"

#include <string>
#include <tl/expected.hpp>

namespace octavo::program {

/// Quantizes an f32, f16 or bf16 tensor of the argument's shape with the argument's options. The
/// error is the first value that the options refuse.
tl::expected<Value, numerics::NonFiniteInput> quantizedFor(const Argument& argument,
                                                           const numerics::Tensor& tensor);

/// An error message for that element, with the options that accept it.
std::string describeRefused(const Argument& argument, const numerics::NonFiniteInput& input);

} // namespace octavo::program
