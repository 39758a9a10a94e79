// The report of `octavo tune`, as text and as JSON (docs/commands/tune.md has the schema).
#pragma once

#include "octavo/Session/Trials/FormatTuning.h"

#include <optional>
#include <string>
#include <vector>

namespace octavo::tools {

/// The result of a search, and its options.
struct TuneReport {
  std::string program;
  const session::FormatTrials* trials;
  analysis::Budget budget;
  session::TuningCost cost;
  const session::TuningResult* result;
  double seconds;
  std::string recipe; ///< path of the recipe that was written
  /// If the cost is Time: seconds of a run of the unchanged program and of the chosen one, measured
  /// alternately.
  std::optional<std::pair<double, double>> runs = {};

  /// The best choice, or the one with the least loss if none is within the budget.
  const analysis::MeasuredChoice& chosen() const;
  bool isMet() const { return result->search.best.has_value(); }
  /// The metric's value for a loss.
  double value(double loss) const;
  /// `20 mxfp6_e2m3, 12 mxfp4, 4 f32`
  std::string formatCounts(const analysis::Choice& choice) const;
};

std::string text(const TuneReport& report);
std::string json(const TuneReport& report);

/// A value of the metric, with enough digits to distinguish it from the best possible value.
std::string valueText(const analysis::Budget& budget, double value);

} // namespace octavo::tools
