// Which of its candidate formats each dot gets, so that the program costs least and loses no more
// than allowed. It knows nothing of programs: it asks for losses of choices.
//
// The losses of rounding errors that know nothing of one another add up. So one measurement for
// each candidate of each dot, with all other dots as they are, predicts every choice; the search
// walks where predictions lead, and believes measurements only.
//
// Losses do not add up where errors are large or meet in a nonlinear function, and predictions then
// leave out choices that would be within the limit. So the search ends with tries of what is
// cheaper than what it found: all of it where a program has at most kFewChoices choices, which
// makes the result the optimum; else SearchProblem::tries of those one or two changes away, the
// ones first that are predicted to lose least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace octavo::analysis {

/// The candidate of each dot. Candidate 0 leaves a dot as it is.
using Choice = std::vector<std::size_t>;

/// A program of no more choices has all tried that are cheaper than what was found.
inline constexpr std::size_t kFewChoices = 1024;

/// What each part of the outputs loses, equally many each time. The largest counts; NaN counts as
/// infinite.
using Losses = std::vector<double>;
double worst(const Losses& losses);

enum class SearchPhase : std::uint8_t {
  Start,       ///< all dots as they are, and SearchProblem::others
  Sensitivity, ///< one dot, one candidate
  Descent,     ///< along the predicted front, to where the limit lies
  Checks,      ///< around what was found, for what is cheaper still
  Tries,       ///< of what predictions left out
  Front,       ///< what other limits would have given
};

struct SearchProblem {
  /// Of each dot, of each of its candidates, at least one. They add up to the cost of a choice.
  std::vector<std::vector<double>> costs;
  double limit;                    ///< the largest loss that is allowed
  std::vector<Choice> others = {}; ///< to be measured too: all dots alike, for comparison
  std::size_t frontPoints = 24;    ///< of the predicted front, measured at the end
  /// The most tries of what predictions left out. Nothing: all where there are few choices, else
  /// 128 or four a dot, whichever is more.
  std::optional<std::size_t> tries = {};
};

/// The losses of a choice; nothing to end the search. Asked once for each choice.
struct SearchStep {
  SearchPhase phase;
  std::size_t done, of; ///< measurements of the phase; `of` is the most that there will be
};
using Measure = std::function<std::optional<Losses>(const Choice& choice, const SearchStep& step)>;

struct MeasuredChoice {
  Choice choice;
  double cost;
  Losses losses;
  double loss; ///< worst(losses)
};

struct SearchResult {
  std::vector<MeasuredChoice> measured; ///< in the order in which they were; the first is Start's
  /// Of `measured`: the cheapest within the limit, of equal ones that which loses least. Nothing:
  /// none is within it.
  std::optional<std::size_t> best;
  std::size_t leastLoss = 0; ///< of `measured`: that which loses least, of equal ones the cheapest
  bool isEnded = false;      ///< by Measure; the rest is of what was measured until then
};

SearchResult searchFormats(const SearchProblem& problem, const Measure& measure);

/// Those of `measured` that no other is cheaper than without losing more, cheapest first.
std::vector<std::size_t> front(const std::vector<MeasuredChoice>& measured);

} // namespace octavo::analysis
