// Arguments that quantization adds to a program for what it keeps from one step to the next.
#pragma once

#include <span>
#include <string>

namespace octavo::program {

/// Where values come from for the first argument among these names that quantization added, on a
/// line of its own; empty where there is none.
std::string sourceOfState(std::span<const std::string> missing);

} // namespace octavo::program
