// The whole of `octavo tune`: a search for the formats of a program's dots (Analysis/FormatSearch)
// whose measurements are runs of it (FormatTrials).
#pragma once

#include "octavo/Analysis/Budget.h"
#include "octavo/Analysis/FormatSearch.h"
#include "octavo/Session/Trials/FormatTrials.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace octavo::session {

enum class TuningCost : std::uint8_t {
  Bytes, ///< of the weights, with their scales
  Time,  ///< seconds of a run, on this machine
};

struct TuningProgress {
  bool isTiming; ///< measuring what formats cost; `step` then counts these
  analysis::SearchStep step;
};

struct TuningOptions {
  analysis::Budget budget;
  TuningCost cost = TuningCost::Bytes;
  std::optional<std::size_t> tries = {}; ///< SearchProblem::tries
  /// The metric Own of the outputs.
  std::function<llvm::Expected<double>(const FormatTrials::Outputs&)> metric = {};
  std::string metricText = {}; ///< tells one metric from another, for the state
  /// Keeps what was measured, and has it from a run before. Empty: nothing is kept.
  std::filesystem::path state = {};
  std::function<void(const TuningProgress&)> progress = {};
  program::RunContext host = {}; ///< its isInterrupted ends the search
};

struct TuningResult {
  analysis::SearchResult search;
  std::vector<std::vector<double>> costs; ///< of each dot and candidate; bytes or seconds
  std::vector<std::size_t> uniform; ///< in search.measured: all dots in each candidate from 1 on
  double origin = 0;                ///< the metric Own of the program as it is
  std::size_t fromState = 0;        ///< of search.measured: not run again
  /// With Time: seconds of runs by turns of those of search.measured that were among the fastest by
  /// prediction, or have all dots alike, within the limit; the first is the program as it is.
  /// search.best is then the fastest of them.
  std::vector<std::pair<std::size_t, double>> timed;
  /// IndexedSlices that could not be run, such as those of values that their formats refuse, and
  /// why. They lose infinitely much.
  std::vector<std::pair<analysis::Choice, std::string>> failures;
  /// With the metric Cosine: the results whose rows have one element, which count by their relative
  /// error (session::lossesOf). Others have longer rows.
  std::vector<std::string> rowsOfOne;
};

/// The errors are those of the run of the program as it is and of the metric; outputs of the
/// program as it is with NaN or Inf, which nothing can be held against; a metric that cannot be
/// computed of its outputs; the metric Cosine where all outputs have rows of one element; a state
/// that is damaged, cannot be written or is of another search. What was measured until then is in
/// the state. Interrupted: SearchResult::isEnded, at once, while a compilation or a run of the
/// trials ends later by itself.
llvm::Expected<TuningResult> tuneFormats(std::shared_ptr<FormatTrials> trials,
                                         const TuningOptions& options);

} // namespace octavo::session
