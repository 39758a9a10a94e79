// Arguments that quantization adds to a program for state that it keeps between steps.
#pragma once

#include <span>
#include <string>

namespace octavo::program {

/// A line of text that says where to get the value of the first name in `missing` that quantization
/// added. Empty if there is none.
std::string sourceOfState(std::span<const std::string> missing);

} // namespace octavo::program
