// `octavo run --profile`: where the time of a run goes, as a trace and as a table.
#pragma once

#include "octavo/Execution/Explanation.h"
#include "octavo/Execution/Profile.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace octavo::tools {

/// Times of one run.
class RunProfile : public execution::Profile {
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

/// In the JSON that Perfetto and Chrome open (docs/commands/run.md).
std::string traceJson(const RunProfile& profile, const execution::Explanation& explanation);
/// Time by kind of step, and the ten steps that took the most.
std::string profileText(const RunProfile& profile, const execution::Explanation& explanation);

} // namespace octavo::tools
