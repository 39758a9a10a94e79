// The search for formats: chooses a candidate format for each dot, so that the program costs least
// and loses no more than a limit. It knows nothing of programs; it asks for the losses of choices.
//
// The losses of independent rounding errors add up. So one measurement for each candidate of each
// dot, with all other dots unchanged, predicts every choice. The search goes where predictions
// lead, but accepts only measured choices.
//
// Losses do not add up if errors are large or meet in a nonlinear function; predictions then miss
// choices within the limit. So the search ends with tries of choices that are cheaper than its
// result. With at most kFewChoices choices it tries all of them, which makes the result the
// optimum. Otherwise it tries SearchProblem::tries choices that are one or two changes away, lowest
// predicted loss first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace octavo::analysis {

/// The candidate of each dot. Candidate 0 leaves the dot unchanged.
using Choice = std::vector<std::size_t>;

/// Up to this many choices, all that are cheaper than the result are tried.
inline constexpr std::size_t kFewChoices = 1024;

/// The loss of each part of the outputs; equally many parts each time. `worst` is the largest loss:
/// NaN counts as infinite, no parts give 0.
using Losses = std::vector<double>;
double worst(const Losses& losses);

enum class SearchPhase : std::uint8_t {
  Start,       ///< all dots unchanged, and SearchProblem::others
  Sensitivity, ///< one candidate of one dot at a time
  Descent,     ///< along the predicted front, to the limit
  Checks,      ///< around the best choice, for cheaper ones
  Tries,       ///< choices that predictions reject
  Front,       ///< what other limits would have given
};

struct SearchProblem {
  /// Of each candidate of each dot; at least one each. The cost of a choice is their sum.
  std::vector<std::vector<double>> costs;
  double limit;                    ///< the largest loss that is allowed
  std::vector<Choice> others = {}; ///< also measured, for comparison: all dots alike
  std::size_t frontPoints = 24;    ///< of the predicted front, measured at the end
  /// The most tries of choices that predictions reject. nullopt: all if there are few choices, else
  /// 128 or four for each dot, whichever is more.
  std::optional<std::size_t> tries = {};
};

/// The progress of a phase.
struct SearchStep {
  SearchPhase phase;
  std::size_t done, of; ///< measurements of the phase; `of` is the most that there will be
};
/// Measures the losses of a choice; nullopt ends the search. Called once for each choice.
using Measure = std::function<std::optional<Losses>(const Choice& choice, const SearchStep& step)>;

/// A choice and what was measured for it.
struct MeasuredChoice {
  Choice choice;
  double cost;
  Losses losses;
  double loss; ///< worst(losses)
};

/// The result of a search.
struct SearchResult {
  std::vector<MeasuredChoice> measured; ///< in the order of measurement, Start's first
  /// Index in `measured` of the cheapest choice within the limit; among equal costs, the lowest
  /// loss. nullopt: no choice is within the limit.
  std::optional<std::size_t> best;
  std::size_t leastLoss = 0; ///< index of the lowest loss; among equal losses, the lowest cost
  bool isEnded = false;      ///< Measure ended the search; the rest covers what was measured
};

/// Runs the search. `measure` is called in the order of SearchPhase.
SearchResult searchFormats(const SearchProblem& problem, const Measure& measure);

/// Indices of the choices that no cheaper or equally cheap choice beats in loss, cheapest first.
std::vector<std::size_t> front(const std::vector<MeasuredChoice>& measured);

} // namespace octavo::analysis
