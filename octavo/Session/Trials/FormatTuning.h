// Implements `octavo tune`: a search for the formats of a program's dots (Analysis/FormatSearch),
// measured by runs of the program (FormatTrials).
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

/// What a search minimizes.
enum class TuningCost : std::uint8_t {
  Bytes, ///< bytes of the weights, with their scales
  Time,  ///< seconds of a run, on this machine
};

/// Progress of a search, for display.
struct TuningProgress {
  bool isTiming; ///< true while costs are measured; `step` then counts these measurements
  analysis::SearchStep step;
};

/// The options of a search.
struct TuningOptions {
  analysis::Budget budget;
  TuningCost cost = TuningCost::Bytes;
  std::optional<std::size_t> tries = {}; ///< SearchProblem::tries
  /// The value of the metric Own for given outputs.
  std::function<llvm::Expected<double>(const FormatTrials::Outputs&)> metric = {};
  std::string metricText = {}; ///< identifies the metric in the state file
  /// A file that keeps measurements between runs. Empty: none.
  std::filesystem::path state = {};
  std::function<void(const TuningProgress&)> progress = {};
  program::RunContext host = {}; ///< isInterrupted ends the search
};

/// The result of a search.
struct TuningResult {
  analysis::SearchResult search;
  std::vector<std::vector<double>> costs; ///< [dot][candidate], bytes or seconds
  std::vector<std::size_t> uniform; ///< in search.measured: all dots in each candidate from 1 on
  double origin = 0;                ///< the metric Own of the unquantized program
  std::size_t fromState = 0;        ///< measurements taken from the state file
  /// For TuningCost::Time: indices in search.measured and seconds of interleaved runs. Timed are,
  /// within the limit, the choices predicted to be fastest and those with all dots alike. The first
  /// entry is the unquantized program. search.best is the fastest of them.
  std::vector<std::pair<std::size_t, double>> timed;
  /// Choices that could not be run, for example because their formats refuse a value, and the
  /// reason. Their loss is infinite.
  std::vector<std::pair<analysis::Choice, std::string>> failures;
  /// For the metric Cosine: results whose rows have one element, which count by their relative
  /// error (session::lossesOf), if other results have longer rows.
  std::vector<std::string> rowsOfOne;
};

/// Fails, with all measurements so far kept in the state, if
/// - the unquantized program or the metric fails,
/// - outputs of the unquantized program contain NaN or Inf,
/// - the metric cannot be computed of the outputs; for Cosine, if all outputs have rows of one
///   element,
/// - the state is damaged, cannot be written, or belongs to another search.
///
/// An interruption returns at once with SearchResult::isEnded. The current compilation or run then
/// ends by itself in the background.
llvm::Expected<TuningResult> tuneFormats(std::shared_ptr<FormatTrials> trials,
                                         const TuningOptions& options);

} // namespace octavo::session
