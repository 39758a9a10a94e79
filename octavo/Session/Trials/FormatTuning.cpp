#include "octavo/Session/Trials/FormatTuning.h"

#include "octavo/Analysis/TuningState.h"
#include "octavo/Base/DetachableWork.h"
#include "octavo/Program/Values/Comparison.h"
#include "octavo/Session/Binding/Failure.h"
#include "octavo/Session/Binding/OutputLosses.h"
#include "octavo/Session/Binding/ProgramFile.h"
#include "octavo/Transforms/Quantize/Recipe.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tl/expected.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <ranges>
#include <type_traits>

namespace octavo::session {

using analysis::Budget;
using analysis::Choice;
using analysis::Losses;
using analysis::Metric;
using analysis::SearchStep;
using analysis::TuningState;
using numerics::Tensor;
using program::Value;

namespace {

/// The number of runs of which the shortest time counts.
constexpr std::size_t kRepeat = 9;
/// How many of the choices predicted to be fastest are timed.
constexpr std::size_t kFastest = 4;
/// The least time between two writes of the state, except for the last one.
constexpr std::chrono::seconds kBetweenStates{1};

bool isInterrupted(const program::RunContext& host) {
  return host.isInterrupted && host.isInterrupted();
}

std::string numberText(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{}", value);
}

llvm::Error asError(const checkpoint::Error& error) { return session::failure(error.message()); }

class Tuning {
public:
  Tuning(std::shared_ptr<FormatTrials> given, const TuningOptions& options)
      : shared(std::move(given)), trials(*shared), options(options) {}

  llvm::Expected<TuningResult> run();

private:
  llvm::Error begin();
  llvm::Error measureCosts();
  llvm::Expected<Losses> lossesOf(const Choice& choice);
  llvm::Error takeReference(FormatTrials::Outputs outputs);
  llvm::Error writeState(bool isLast);
  llvm::Error decideByRuns(TuningResult& result, double limit);
  template <typename Work> auto detachable(Work work);
  llvm::Expected<FormatTrials::Outputs> outputsOf(const Choice& choice);
  llvm::Expected<std::vector<double>> secondsOf(llvm::ArrayRef<Choice> choices);
  bool keepsState() const { return !options.state.empty(); }
  void tell(bool isTiming, const SearchStep& step) const {
    if (options.progress)
      options.progress({isTiming, step});
  }

  std::shared_ptr<FormatTrials> shared;
  const FormatTrials& trials;
  const TuningOptions& options;
  TuningState state;
  FormatTrials::Outputs reference; ///< empty until needed
  std::vector<std::pair<Choice, std::string>> failures;
  std::vector<std::string> rowsOfOne;
  std::chrono::steady_clock::time_point written = std::chrono::steady_clock::now();
};

/// Runs `work(trials, host)` on another thread; it must use only its arguments. If the search is
/// interrupted, returns an error and leaves the work behind, because a compilation cannot be
/// stopped.
template <typename Work> auto Tuning::detachable(Work work) {
  using Result =
      typename std::invoke_result_t<Work&, FormatTrials&, const program::RunContext&>::value_type;
  // Not llvm::Expected: a detached result is dropped, and unchecked errors abort.
  using ResultOrText = tl::expected<Result, std::string>;
  auto done = base::runDetachable(
      [trials = shared, work = std::move(work)](const std::atomic<bool>& isDetached) mutable {
        program::RunContext host;
        host.isInterrupted = [&] { return isDetached.load(); };
        auto result = work(*trials, host);
        return result ? ResultOrText(std::move(*result))
                      : ResultOrText(tl::unexpect, llvm::toString(result.takeError()));
      },
      [&] { return isInterrupted(options.host); });
  if (!done)
    return llvm::Expected<Result>(session::failure("interrupted"));
  if (!*done)
    return llvm::Expected<Result>(session::failure(done->error()));
  return llvm::Expected<Result>(std::move(**done));
}

llvm::Expected<FormatTrials::Outputs> Tuning::outputsOf(const Choice& choice) {
  return detachable([choice](FormatTrials& trials, const program::RunContext& host) {
    return trials.run(choice, host);
  });
}

llvm::Expected<std::vector<double>> Tuning::secondsOf(llvm::ArrayRef<Choice> choices) {
  return detachable(
      [choices = choices.vec()](FormatTrials& trials, const program::RunContext& host) {
        return trials.seconds(choices, kRepeat, host);
      });
}

llvm::Error Tuning::begin() {
  auto digest = detachable(
      [more = fmt::format("{} {} {}", analysis::nameOf(options.budget.metric),
                          options.budget.isAtLeast, options.metricText)](
          FormatTrials& trials, const program::RunContext&) -> llvm::Expected<std::string> {
        return trials.digest(more);
      });
  if (!digest)
    return digest.takeError();
  state.digest = std::move(*digest);
  std::error_code failed;
  if (!keepsState() || !std::filesystem::exists(options.state, failed))
    return llvm::Error::success();
  auto read = analysis::readState(options.state);
  if (!read)
    return asError(read.error());
  const auto& dots = trials.dots();
  const auto isOfDots = [&](const auto& each) {
    return std::ranges::equal(each.first, dots, [](std::size_t candidate, const TrialDot& dot) {
      return candidate < dot.weightBits.size();
    });
  };
  if (read->digest != state.digest || !std::ranges::all_of(read->measured, isOfDots))
    return session::failure(fmt::format(
        "{}: it is of another search: program, weights, inputs, formats, dots or metric are not "
        "the same; remove it to begin anew, or write to another file",
        options.state.string()));
  const bool fits = std::ranges::equal(read->costs, dots, [](const auto& costs, const auto& dot) {
    return costs.size() == dot.weightBits.size();
  });
  if (!fits)
    read->costs.clear();
  state = std::move(*read);
  return llvm::Error::success();
}

llvm::Error Tuning::writeState(bool isLast) {
  const auto now = std::chrono::steady_clock::now();
  if (!keepsState() || (!isLast && now - written < kBetweenStates))
    return llvm::Error::success();
  written = now;
  if (const auto done = analysis::writeState(options.state, state); !done)
    return asError(done.error());
  return llvm::Error::success();
}

/// Measures the cost of each candidate. One dot takes too little time to measure. So all dots of
/// the same sizes are timed together: these in one format and all else unquantized, in turns with
/// the unquantized program.
llvm::Error Tuning::measureCosts() {
  const auto& dots = trials.dots();
  std::vector<std::vector<double>> costs;
  if (options.cost == TuningCost::Bytes) {
    for (const TrialDot& dot : dots) {
      auto& ofDot = costs.emplace_back();
      for (std::int64_t bits : dot.weightBits)
        ofDot.push_back(static_cast<double>(bits) / 8);
    }
    state.costs = std::move(costs);
    return llvm::Error::success();
  }
  if (!state.costs.empty())
    return llvm::Error::success();
  std::map<std::vector<std::string>, std::vector<std::size_t>> classes;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    std::vector<std::string> sizes;
    for (const transforms::DotRecord& dot : dots[i].dots)
      sizes.push_back(dot.sizes());
    classes[sizes].push_back(i);
  }
  const std::size_t candidates = trials.candidates().size();
  const std::size_t of = 1 + classes.size() * candidates;
  std::size_t done = 0;
  const auto timed = [&](llvm::ArrayRef<Choice> choices) {
    tell(true, {analysis::SearchPhase::Start, done++, of});
    return secondsOf(choices);
  };
  const Choice asIs(dots.size(), 0);
  auto whole = timed(asIs);
  if (!whole)
    return whole.takeError();
  costs.assign(dots.size(), std::vector<double>(1 + candidates,
                                                whole->front() / static_cast<double>(dots.size())));
  for (const auto& [sizes, members] : classes)
    for (std::size_t candidate = 1; candidate <= candidates; ++candidate) {
      Choice choice = asIs;
      for (std::size_t dot : members)
        choice[dot] = candidate;
      auto both = timed({asIs, choice});
      if (!both)
        return both.takeError();
      // Relative to the unquantized program, which a busy machine slows down too.
      for (std::size_t dot : members)
        costs[dot][candidate] +=
            whole->front() * ((*both)[1] / (*both)[0] - 1) / static_cast<double>(members.size());
    }
  state.costs = std::move(costs);
  return writeState(/*isLast=*/true);
}

llvm::Error Tuning::takeReference(FormatTrials::Outputs outputs) {
  bool isMeasurable = options.budget.metric == Metric::Own, hasElements = isMeasurable;
  bool hasLongRows = false;
  std::vector<std::size_t> ofOne;
  for (std::size_t set = 0; set < outputs.size(); ++set)
    for (std::size_t i = 0; i < outputs[set].size(); ++i) {
      const Tensor& tensor = outputs[set][i].tensor();
      if (options.budget.metric == Metric::Own || !session::hasLoss(tensor.type))
        continue;
      isMeasurable = true;
      hasElements |= tensor.size() != 0;
      hasLongRows |= !session::hasRowsOfOne(tensor.shape);
      if (set == 0 && session::hasRowsOfOne(tensor.shape))
        ofOne.push_back(i);
      const Tensor real = program::realNumbers(tensor);
      for (std::int64_t at = 0; at < real.size(); ++at)
        if (const double value = program::valueOf(real, at); !std::isfinite(value))
          return session::failure(fmt::format(
              "output {} of the program as it is has {} at [{}]{}: nothing can be held against it; "
              "give inputs for which it is finite, or a metric of your own",
              trials.resultNames()[i], numberText(value),
              fmt::join(program::indexOf(real.shape, at), ", "),
              outputs.size() > 1 ? fmt::format(" for set {} of the inputs", set) : ""));
    }
  if (!isMeasurable)
    return session::failure(fmt::format(
        "@{} has no output of floats, of which {} could be computed; give a metric of your own",
        trials.name(), analysis::nameOf(options.budget.metric)));
  if (!hasElements)
    return session::failure(fmt::format(
        "the outputs of floats of @{} have no elements, so that every choice would "
        "keep the budget; give inputs for which they have some, or a metric of your own",
        trials.name()));
  if (options.budget.metric == Metric::Cosine && !hasLongRows)
    return session::failure(fmt::format(
        "output {} has rows of one element, whose cosine is 1 whatever they lose, and @{} has no "
        "other output of floats: every choice would keep the budget; give relative <= NUMBER, sqnr "
        ">= NUMBER or max <= NUMBER in place of cosine, or a metric of your own",
        trials.resultNames()[ofOne.front()], trials.name()));
  if (options.budget.metric == Metric::Cosine)
    for (std::size_t i : ofOne)
      rowsOfOne.push_back(trials.resultNames()[i]);
  if (options.budget.metric == Metric::Own) {
    auto value = options.metric(outputs);
    if (!value)
      return value.takeError();
    if (!std::isfinite(*value))
      return session::failure(
          fmt::format("the metric of the program as it is is {}; expected a finite number",
                      numberText(*value)));
    state.origin = *value;
  }
  reference = std::move(outputs);
  return llvm::Error::success();
}

llvm::Expected<Losses> Tuning::lossesOf(const Choice& choice) {
  const Choice asIs(choice.size(), 0);
  if (reference.empty()) {
    auto outputs = outputsOf(asIs);
    if (!outputs)
      return outputs.takeError();
    if (llvm::Error error = takeReference(std::move(*outputs)))
      return std::move(error);
  }
  FormatTrials::Outputs own;
  if (choice != asIs) {
    auto outputs = outputsOf(choice);
    if (!outputs && isInterrupted(options.host))
      return outputs.takeError();
    if (!outputs) {
      failures.emplace_back(choice, llvm::toString(outputs.takeError()));
      return Losses(state.measured.at(asIs).size(), std::numeric_limits<double>::infinity());
    }
    own = std::move(*outputs);
  }
  const FormatTrials::Outputs& outputs = choice == asIs ? reference : own;
  if (options.budget.metric == Metric::Own) {
    if (choice == asIs)
      return Losses{0};
    auto value = options.metric(outputs);
    if (!value)
      return value.takeError();
    return Losses{analysis::lossOf(options.budget, *value, state.origin)};
  }
  Losses losses;
  for (std::size_t set = 0; set < outputs.size(); ++set)
    for (std::size_t i = 0; i < outputs[set].size(); ++i)
      if (const Tensor& expected = reference[set][i].tensor(); session::hasLoss(expected.type)) {
        const Losses ofOutput =
            session::lossesOf(options.budget.metric, expected, outputs[set][i].tensor());
        losses.insert(losses.end(), ofOutput.begin(), ofOutput.end());
      }
  return session::limitParts(std::move(losses), session::kMostPartsOfAll);
}

/// Decides by interleaved runs which choice is fastest. A prediction adds up savings measured with
/// all dots of equal sizes in one format. With mixed formats, an operand of several dots is
/// quantized for each format.
llvm::Error Tuning::decideByRuns(TuningResult& result, double limit) {
  const auto& measured = result.search.measured;
  std::vector<std::size_t> order(measured.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t at) { return std::pair(measured[at].cost, at); });
  std::erase_if(order, [&](std::size_t at) { return !(measured[at].loss <= limit); });
  std::vector<std::size_t> contenders = {0};
  const auto add = [&](std::size_t at) {
    if (std::ranges::find(contenders, at) == contenders.end())
      contenders.push_back(at);
  };
  std::ranges::for_each(order | std::views::take(kFastest), add);
  for (std::size_t at : result.uniform)
    if (measured[at].loss <= limit)
      add(at);
  if (!result.search.best)
    add(result.search.leastLoss);
  std::vector<Choice> choices;
  for (std::size_t at : contenders)
    choices.push_back(measured[at].choice);
  tell(true, {analysis::SearchPhase::Start, 0, 1});
  auto timed = secondsOf(choices);
  if (!timed)
    return timed.takeError();
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    result.timed.emplace_back(contenders[i], (*timed)[i]);
    if (result.search.best && (*timed)[i] <= std::ranges::min(*timed))
      result.search.best = contenders[i];
  }
  return llvm::Error::success();
}

llvm::Expected<TuningResult> Tuning::run() {
  TuningResult result;
  llvm::Error begun = begin();
  if (!begun)
    begun = measureCosts();
  if (begun) {
    if (!isInterrupted(options.host))
      return std::move(begun);
    llvm::consumeError(std::move(begun));
    result.search.isEnded = true;
    return result;
  }
  const std::size_t dots = trials.dots().size();
  analysis::SearchProblem problem{
      .costs = state.costs,
      .limit = analysis::lossOf(options.budget, options.budget.bound, state.origin),
      .tries = options.tries};
  for (std::size_t candidate = 1; candidate <= trials.candidates().size(); ++candidate)
    problem.others.emplace_back(dots, candidate);
  llvm::Error failed = llvm::Error::success();
  const auto fail = [&](llvm::Error error) {
    failed = llvm::joinErrors(std::move(failed), std::move(error));
    return std::nullopt;
  };
  if (options.budget.metric == Metric::Own && state.measured.empty()) {
    // The limit depends on the metric of the unquantized program.
    auto base = lossesOf(Choice(dots, 0));
    if (!base && isInterrupted(options.host)) {
      llvm::consumeError(base.takeError());
      result.search.isEnded = true;
      return result;
    }
    if (!base)
      return base.takeError();
    problem.limit = analysis::lossOf(options.budget, options.budget.bound, state.origin);
  }
  result.search = analysis::searchFormats(
      problem, [&](const Choice& choice, const SearchStep& step) -> std::optional<Losses> {
        if (const auto known = state.measured.find(choice); known != state.measured.end()) {
          ++result.fromState;
          return known->second;
        }
        if (isInterrupted(options.host))
          return std::nullopt;
        tell(false, step);
        auto losses = lossesOf(choice);
        if (!losses && isInterrupted(options.host)) {
          llvm::consumeError(losses.takeError());
          return std::nullopt;
        }
        if (!losses)
          return fail(losses.takeError());
        state.measured.emplace(choice, *losses);
        if (llvm::Error error = writeState(/*isLast=*/false))
          return fail(std::move(error));
        return std::move(*losses);
      });
  if (!state.measured.empty())
    if (llvm::Error error = writeState(/*isLast=*/true))
      failed = llvm::joinErrors(std::move(failed), std::move(error));
  if (failed)
    return std::move(failed);
  for (const Choice& other : problem.others)
    for (std::size_t i = 0; i < result.search.measured.size(); ++i)
      if (result.search.measured[i].choice == other)
        result.uniform.push_back(i);
  if (options.cost == TuningCost::Time && !result.search.isEnded)
    if (llvm::Error error = decideByRuns(result, problem.limit)) {
      if (!isInterrupted(options.host))
        return std::move(error);
      llvm::consumeError(std::move(error));
      result.search.isEnded = true;
    }
  result.costs = std::move(problem.costs);
  result.origin = state.origin;
  result.failures = std::move(failures);
  result.rowsOfOne = std::move(rowsOfOne);
  return result;
}

} // namespace

llvm::Expected<TuningResult> tuneFormats(std::shared_ptr<FormatTrials> trials,
                                         const TuningOptions& options) {
  return Tuning(std::move(trials), options).run();
}

} // namespace octavo::session
