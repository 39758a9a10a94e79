// `octavo run --profile`: where the time of a run goes, as a trace and as a table.
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

/// Times of one run.
class RunProfile : public program::Profile {
public:
  struct Event {
    const void* step;
    Extent extent;
    int thread; ///< 0: the one that made the profile
    double begin, seconds;
  };

  RunProfile();
  void add(const void* step, Extent extent, Clock::time_point begin,
           Clock::time_point end) override;
  /// The run is over.
  void end();

  double seconds() const { return total; }
  /// Sorted by their begin, the longer first.
  const std::vector<Event>& events() const { return list; }

private:
  std::mutex adding;
  Clock::time_point start;
  double total = 0;
  std::vector<Event> list;
  std::map<std::thread::id, int> threads;
};

/// Where the time of a run went, beside the limits of the machine.
struct ProfileReport {
  struct Spent {
    std::int64_t times = 0;
    double seconds = 0, bytes = 0, arithmetic = 0;
    double least = 0; ///< seconds by the machine's limits; 0: none is known
  };
  struct Kind {
    std::string name;
    Spent spent;
  };
  struct Step {
    Spent spent;
    std::string limit; ///< what binds it; empty: nothing is known
    std::string kind, name, detail;
  };
  double seconds = 0; ///< of the run
  MachineLimits limits = {};
  std::vector<Kind> kinds = {}; ///< those with most time first
  std::vector<Step> steps = {}; ///< that ran, in the same order
  double between = 0;           ///< seconds that no step took
  double bounded = 0;           ///< seconds of steps that have a limit
  double least = 0;             ///< what they would take at their limits
};

ProfileReport reportOf(const RunProfile& profile, const program::Explanation& explanation,
                       MachineLimits limits);
std::string text(const ProfileReport& report);
nlohmann::ordered_json json(const ProfileReport& report);

/// In the JSON that Perfetto and Chrome open (docs/commands/run.md).
std::string traceJson(const RunProfile& profile, const program::Explanation& explanation,
                      const ProfileReport& report);

} // namespace octavo::tools
