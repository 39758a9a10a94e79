// What this machine does at most, and what a step of a program could then: its roofline.
#pragma once

#include "octavo/Program/Values/Explanation.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::tools {

struct MachineLimits {
  int threads = 1;
  /// Operations a second by vectors of the elements; 0: not known.
  double f32 = 0, bf16 = 0, int8 = 0;
  struct Memory {
    std::string name; ///< L1, L2, L3, memory
    double bytes;     ///< that all threads have of it, and those nearer
    double perSecond; ///< bytes that they read there
  };
  std::vector<Memory> memory; ///< the nearest first; the last one holds everything
  double seconds = 0;         ///< that the measurement took
};

/// Measures on as many threads as a program would run on, for some 0.2 s.
MachineLimits measureLimits();

/// The least time of a step.
struct Limit {
  std::string_view what; ///< f32, bf16, int8, or where its bytes are read and written
  double seconds;
};

/// What bounds the step: its multiplications, or its bytes as fast as the nearest memory that holds
/// all of them; of a part of another step (`isPart`), which goes over a few rows at a time, L2.
/// Nothing where neither is counted.
std::optional<Limit> limitOf(const program::Explanation::Step& step, bool isPart,
                             const MachineLimits& limits);

std::string text(const MachineLimits& limits);
nlohmann::ordered_json json(const MachineLimits& limits);

} // namespace octavo::tools
