// Measures the limits of this machine and computes from them the least time of a step: its
// roofline.
#pragma once

#include "octavo/Program/Values/Explanation.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::tools {

/// Peak rates of all threads together.
struct MachineLimits {
  int threads = 1;
  /// Operations per second on vectors of the element type; 0: unknown.
  double f32 = 0, bf16 = 0, int8 = 0;
  struct Memory {
    std::string name; ///< L1, L2, L3, memory
    double bytes;     ///< capacity for all threads, with the nearer levels
    double perSecond; ///< bytes that all threads read from it per second
  };
  std::vector<Memory> memory; ///< nearest level first; the last level holds everything
  double seconds = 0;         ///< duration of the measurement
};

/// Measures for about 0.2 s, on as many threads as a program would use.
MachineLimits measureLimits();

/// The least time of a step.
struct Limit {
  std::string_view what; ///< f32, bf16, int8, or the memory level of its bytes
  double seconds;
};

/// The limit that bounds the step: its multiplications, or its bytes at the rate of the nearest
/// memory that holds all of them. A part of another step (`isPart`) works on a few rows at a time,
/// so for it L2 is assumed to hold them. nullopt if the step has neither count.
std::optional<Limit> limitOf(const program::Explanation::Step& step, bool isPart,
                             const MachineLimits& limits);

std::string text(const MachineLimits& limits);
nlohmann::ordered_json json(const MachineLimits& limits);

} // namespace octavo::tools
