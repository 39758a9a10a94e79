// The limit on nested calls that are followed on the C++ stack.
#pragma once

namespace octavo {

/// How deep calls and regions may nest where the interpreter or a pass follows them by recursion.
/// Beyond it, the interpreter and RefineShapes report an error, since the program is probably
/// recursive; dots that would need state or scales from the program's arguments are not quantized.
inline constexpr int kMostNestedCalls = 256;

/// How many calls a location names after its operation was inlined; the outer ones are dropped.
/// MLIR prints locations by recursion.
inline constexpr int kMostNamedCalls = 16;

} // namespace octavo
