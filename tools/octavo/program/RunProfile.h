// `octavo run --profile`: reports where the time of a run goes, as a trace and as a table.
#pragma once

#include "tools/octavo/program/MachineLimits.h"

#include "octavo/Program/Values/Explanation.h"
#include "octavo/Program/Values/Profile.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace octavo::tools {

/// Records the times of one run.
class RunProfile : public program::Profile {
public:
  struct Event {
    const void* step;
    Extent extent;
    int thread; ///< 0: the thread that created the profile
    double begin, seconds;
  };

  RunProfile();
  void add(const void* step, Extent extent, Clock::time_point begin,
           Clock::time_point end) override;
  /// To be called when the run has ended.
  void end();

  double seconds() const { return total; }
  /// Sorted by begin; of equal begins, the longer event first.
  const std::vector<Event>& events() const { return list; }

private:
  std::mutex adding;
  Clock::time_point start;
  double total = 0;
  std::vector<Event> list;
  std::map<std::thread::id, int> threads;
};

/// The time of each step of a run, compared with the machine's limits.
struct ProfileReport {
  struct Spent {
    std::int64_t times = 0;
    double seconds = 0, bytes = 0, arithmetic = 0;
    double least = 0; ///< least seconds by the machine's limits; 0: unknown
  };
  struct Kind {
    std::string name;
    Spent spent;
  };
  struct Step {
    Spent spent;
    std::string limit; ///< the limit that bounds the step; empty: unknown
    std::string kind, name, detail;
  };
  double seconds = 0; ///< duration of the run
  MachineLimits limits = {};
  std::vector<Kind> kinds = {}; ///< sorted by time, longest first
  std::vector<Step> steps = {}; ///< steps that ran, in the same order
  double between = 0;           ///< seconds outside steps
  double bounded = 0;           ///< seconds of steps with a known limit
  double least = 0;             ///< least seconds of those steps
};

/// Attributes the times of `profile` to the steps of the program. `explanation` must be that of the
/// executable that ran.
ProfileReport reportOf(const RunProfile& profile, const program::Explanation& explanation,
                       MachineLimits limits);
std::string text(const ProfileReport& report);
nlohmann::ordered_json json(const ProfileReport& report);

/// The trace as JSON for Perfetto and Chrome (docs/commands/run.md).
std::string traceJson(const RunProfile& profile, const program::Explanation& explanation,
                      const ProfileReport& report);

} // namespace octavo::tools
