#include "octavo/Analysis/FormatSearch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace octavo::analysis {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// The search stops checking after this many checks in a row without a better choice.
constexpr std::size_t kMostFailures = 12;
constexpr std::size_t kLeastChecks = 48;
/// Tries of choices that predictions reject, if there are too many choices to try all.
constexpr std::size_t kLeastTries = 128;
constexpr std::size_t kTriesOfDot = 4;
/// The most changes of either kind, cheaper or better, that are paired with each other.
constexpr std::size_t kMostPaired = 96;

/// A change of one dot's candidate.
struct Move {
  std::size_t dot, to;
  double saved; ///< cost
  double lost;  ///< loss of all parts, weighted
};

class Search {
public:
  Search(const SearchProblem& problem, const Measure& measure)
      : problem(problem), measureOne(measure) {}

  SearchResult run() {
    if (start() && measureSensitivity() && descend() && refine() && tryOthers())
      completeFront();
    return finish();
  }

private:
  std::size_t dots() const { return problem.costs.size(); }
  double costOf(const Choice& choice) const {
    double cost = 0;
    for (std::size_t dot = 0; dot < dots(); ++dot)
      cost += problem.costs[dot][choice[dot]];
    return cost;
  }

  /// Measures a choice, unless it is known. Null ends the search.
  const MeasuredChoice* measured(const Choice& choice, SearchPhase phase, std::size_t done,
                                 std::size_t of);
  bool start();
  bool measureSensitivity();
  void makePath();
  bool descend();
  bool refine();
  bool tryOthers();
  bool tryAll(std::size_t of);
  bool tryNeighbours(std::size_t of);
  /// The number of all choices; nullopt if there are more than kFewChoices.
  std::optional<std::size_t> countOfChoices() const;
  void completeFront();
  std::optional<Choice> nextCheck(const MeasuredChoice& from, double allowed) const;
  std::pair<std::vector<Move>, std::vector<Move>> movesFrom(const Choice& choice) const;
  Losses predicted(const Losses& losses, const Choice& from, std::span<const Move> moves) const;
  SearchResult finish();

  /// Whether `a` is cheaper than `b`, or as cheap with less loss.
  bool isBetter(const MeasuredChoice& a, const MeasuredChoice& b) const {
    return a.cost != b.cost ? a.cost < b.cost : a.loss < b.loss;
  }
  const MeasuredChoice* bestWithin() const;

  const SearchProblem& problem;
  const Measure& measureOne;
  std::vector<MeasuredChoice> all;
  std::map<Choice, std::size_t> known;
  bool isEnded = false;
  Losses base;
  /// By dot and candidate: the loss of each part beyond that at the start; and the weighted sum
  /// over the parts.
  std::vector<std::vector<Losses>> alone;
  std::vector<std::vector<double>> sums;
  /// Choices of falling cost, each with one dot changed from the one before, and their predicted
  /// losses.
  std::vector<Choice> path;
  std::vector<double> pathLosses;
};

const MeasuredChoice* Search::measured(const Choice& choice, SearchPhase phase, std::size_t done,
                                       std::size_t of) {
  if (const auto found = known.find(choice); found != known.end())
    return &all[found->second];
  auto losses = measureOne(choice, {phase, done, of});
  if (!losses) {
    isEnded = true;
    return nullptr;
  }
  const double loss = worst(*losses);
  known.emplace(choice, all.size());
  all.push_back({choice, costOf(choice), std::move(*losses), loss});
  return &all.back();
}

bool Search::start() {
  const std::size_t of = 1 + problem.others.size();
  const MeasuredChoice* asIs = measured(Choice(dots(), 0), SearchPhase::Start, 0, of);
  if (asIs == nullptr)
    return false;
  base = asIs->losses;
  for (std::size_t i = 0; i < problem.others.size(); ++i)
    if (measured(problem.others[i], SearchPhase::Start, i + 1, of) == nullptr)
      return false;
  return true;
}

bool Search::measureSensitivity() {
  std::size_t of = 0, done = 0;
  for (const auto& costs : problem.costs)
    of += costs.size() - 1;
  alone.resize(dots());
  for (std::size_t dot = 0; dot < dots(); ++dot) {
    alone[dot].assign(problem.costs[dot].size(), Losses(base.size(), 0));
    for (std::size_t to = 1; to < problem.costs[dot].size(); ++to, ++done) {
      Choice choice(dots(), 0);
      choice[dot] = to;
      const MeasuredChoice* one = measured(choice, SearchPhase::Sensitivity, done, of);
      if (one == nullptr)
        return false;
      for (std::size_t part = 0; part < base.size(); ++part)
        alone[dot][to][part] =
            std::isfinite(one->loss) ? one->losses[part] - base[part] : kInfinity;
    }
  }
  // Parts count by how much they lose: the weight of a part is its loss over all candidates.
  Losses weights(base.size(), 0);
  for (const auto& candidates : alone)
    for (const Losses& losses : candidates)
      for (std::size_t part = 0; part < base.size(); ++part)
        if (std::isfinite(losses[part]))
          weights[part] += std::max(losses[part], 0.0);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights)
    weight = total > 0 ? weight / total : 1;
  for (const auto& candidates : alone) {
    auto& ofDot = sums.emplace_back();
    for (const Losses& losses : candidates)
      ofDot.push_back(std::ranges::all_of(losses, [](double x) { return std::isfinite(x); })
                          ? std::inner_product(losses.begin(), losses.end(), weights.begin(), 0.0)
                          : kInfinity);
  }
  makePath();
  return true;
}

/// Builds the path greedily, by the least loss for the cost saved. Each dot follows the convex hull
/// of its candidates, so that no step hides a better one after it.
void Search::makePath() {
  struct Edge {
    std::size_t dot, to;
    double slope;
    std::size_t number;
  };
  std::vector<Edge> edges;
  Choice choice(dots(), 0);
  for (std::size_t dot = 0; dot < dots(); ++dot) {
    const std::vector<double>& costs = problem.costs[dot];
    std::size_t at = 0;
    for (std::size_t i = 1; i < costs.size(); ++i)
      if (std::pair(sums[dot][i], costs[i]) < std::pair(sums[dot][at], costs[at]))
        at = i;
    choice[dot] = at;
    for (;;) {
      std::optional<Edge> next;
      for (std::size_t to = 0; to < costs.size(); ++to) {
        if (costs[to] >= costs[at] || !std::isfinite(sums[dot][to]))
          continue;
        const double slope = (sums[dot][to] - sums[dot][at]) / (costs[at] - costs[to]);
        if (!next || slope < next->slope || (slope == next->slope && costs[to] < costs[next->to]))
          next = Edge{dot, to, slope, edges.size()};
      }
      if (!next)
        break;
      edges.push_back(*next);
      at = next->to;
    }
  }
  std::ranges::sort(edges, {}, [](const Edge& edge) { return std::pair(edge.slope, edge.number); });
  Losses losses = base;
  for (std::size_t dot = 0; dot < dots(); ++dot)
    for (std::size_t part = 0; part < losses.size(); ++part)
      losses[part] += alone[dot][choice[dot]][part];
  path = {choice};
  pathLosses = {worst(losses)};
  for (const Edge& edge : edges) {
    for (std::size_t part = 0; part < losses.size(); ++part)
      losses[part] += alone[edge.dot][edge.to][part] - alone[edge.dot][choice[edge.dot]][part];
    choice[edge.dot] = edge.to;
    path.push_back(choice);
    pathLosses.push_back(worst(losses));
  }
}

/// Finds the cheapest choice of the path within the limit by bisection, as far as losses rise along
/// it.
bool Search::descend() {
  std::size_t within = 0, beyond = path.size();
  const auto of = static_cast<std::size_t>(std::bit_width(path.size())) + 1;
  std::size_t at = static_cast<std::size_t>(std::ranges::upper_bound(pathLosses, problem.limit) -
                                            pathLosses.begin());
  at = std::clamp<std::size_t>(at, 1, path.size()) - 1;
  for (std::size_t done = 0; within < beyond; ++done) {
    const MeasuredChoice* found = measured(path[at], SearchPhase::Descent, std::min(done, of), of);
    if (found == nullptr)
      return false;
    if (found->loss <= problem.limit)
      within = at + 1;
    else
      beyond = at;
    at = within + (beyond - within) / 2;
  }
  return true;
}

const MeasuredChoice* Search::bestWithin() const {
  const MeasuredChoice* best = nullptr;
  for (const MeasuredChoice& each : all)
    if (each.loss <= problem.limit && (best == nullptr || isBetter(each, *best)))
      best = &each;
  return best;
}

Losses Search::predicted(const Losses& losses, const Choice& from,
                         std::span<const Move> moves) const {
  Losses result = losses;
  for (const Move& move : moves)
    for (std::size_t part = 0; part < result.size(); ++part)
      result[part] += alone[move.dot][move.to][part] - alone[move.dot][from[move.dot]][part];
  return result;
}

/// The changes of one dot that cost less, and those that lose less, sorted by loss for each unit of
/// cost.
std::pair<std::vector<Move>, std::vector<Move>> Search::movesFrom(const Choice& choice) const {
  std::vector<Move> cheaper, better;
  for (std::size_t dot = 0; dot < dots(); ++dot)
    for (std::size_t to = 0; to < problem.costs[dot].size(); ++to) {
      const Move move{dot, to, problem.costs[dot][choice[dot]] - problem.costs[dot][to],
                      sums[dot][to] - sums[dot][choice[dot]]};
      if (!std::isfinite(move.lost))
        continue;
      if (move.saved > 0)
        cheaper.push_back(move);
      else if (move.lost < 0)
        better.push_back(move);
    }
  const auto sort = [](std::vector<Move>& moves) {
    std::ranges::sort(moves, {}, [](const Move& move) {
      return std::tuple(move.saved == 0 ? -kInfinity : move.lost / std::abs(move.saved), move.dot,
                        move.to);
    });
  };
  sort(cheaper);
  sort(better);
  return {std::move(cheaper), std::move(better)};
}

/// The choice, one or two changes away, that saves most among unmeasured ones with a predicted loss
/// of at most `allowed`.
std::optional<Choice> Search::nextCheck(const MeasuredChoice& from, double allowed) const {
  const auto [cheaper, better] = movesFrom(from.choice);
  std::optional<Choice> best;
  double saved = 0;
  const auto look = [&](std::span<const Move> moves) {
    double saves = 0;
    for (const Move& move : moves)
      saves += move.saved;
    if (saves <= saved || worst(predicted(from.losses, from.choice, moves)) > allowed)
      return;
    Choice choice = from.choice;
    for (const Move& move : moves)
      choice[move.dot] = move.to;
    if (known.contains(choice))
      return;
    best = std::move(choice);
    saved = saves;
  };
  for (const Move& move : cheaper)
    look({&move, 1});
  const auto paired = [](const std::vector<Move>& moves) {
    return std::span(moves).first(std::min(moves.size(), kMostPaired));
  };
  for (const Move& down : paired(cheaper)) {
    for (const Move& other : paired(cheaper))
      if (other.dot > down.dot)
        look(std::array{down, other});
    for (const Move& up : paired(better))
      if (up.dot != down.dot)
        look(std::array{down, up});
  }
  return best;
}

bool Search::refine() {
  const std::size_t of = std::max(kLeastChecks, 2 * dots());
  std::size_t failures = 0;
  double margin = 0; // by how much predictions were too low lately
  for (std::size_t done = 0; done < of && failures < kMostFailures; ++done) {
    const MeasuredChoice* from = bestWithin();
    if (from == nullptr)
      return true;
    const std::optional<Choice> next = nextCheck(*from, problem.limit - margin);
    if (!next) {
      if (margin == 0)
        return true;
      margin = 0;
      ++failures;
      continue;
    }
    const double before = from->cost;
    const MeasuredChoice* found = measured(*next, SearchPhase::Checks, done, of);
    if (found == nullptr)
      return false;
    if (found->loss <= problem.limit && found->cost < before) {
      failures = 0;
      margin /= 2;
    } else {
      ++failures;
      if (std::isfinite(found->loss))
        margin = std::max(margin, (found->loss - problem.limit) / 2);
    }
  }
  return true;
}

std::optional<std::size_t> Search::countOfChoices() const {
  std::size_t count = 1;
  for (const auto& costs : problem.costs) {
    count *= costs.size();
    if (count > kFewChoices)
      return std::nullopt;
  }
  return count;
}

bool Search::tryOthers() {
  const std::optional<std::size_t> few = countOfChoices();
  const std::size_t of =
      problem.tries.value_or(few ? *few : std::max(kLeastTries, kTriesOfDot * dots()));
  return few ? tryAll(of) : tryNeighbours(of);
}

/// Tries every choice that is cheaper than the best, cheapest first. The first within the limit is
/// the optimum, so no dearer choice is measured.
bool Search::tryAll(std::size_t of) {
  struct Try {
    double cost;
    Choice choice;
  };
  const MeasuredChoice* best = bestWithin();
  std::vector<Try> tries;
  Choice choice(dots(), 0);
  for (std::size_t dot = 0; dot < dots();) {
    if (const double cost = costOf(choice);
        !known.contains(choice) && (best == nullptr || cost < best->cost))
      tries.push_back({cost, choice});
    for (dot = 0; dot < dots() && ++choice[dot] == problem.costs[dot].size(); ++dot)
      choice[dot] = 0;
  }
  std::ranges::sort(tries, {}, [](const Try& each) { return std::tie(each.cost, each.choice); });
  const std::size_t most = std::min(of, tries.size());
  for (std::size_t done = 0; done < most; ++done) {
    const MeasuredChoice* found = measured(tries[done].choice, SearchPhase::Tries, done, most);
    if (found == nullptr)
      return false;
    if (found->loss <= problem.limit)
      return true;
  }
  return true;
}

/// Tries cheaper choices one or two changes away from the best, though their predicted loss is too
/// high.
bool Search::tryNeighbours(std::size_t of) {
  struct Try {
    double loss;
    Choice choice;
  };
  std::size_t done = 0;
  while (done < of) {
    const MeasuredChoice* best = bestWithin();
    if (best == nullptr)
      return true;
    const double cost = best->cost;
    std::vector<Try> tries;
    const auto [cheaper, better] = movesFrom(best->choice);
    const auto add = [&](std::span<const Move> moves) {
      double saves = 0;
      for (const Move& move : moves)
        saves += move.saved;
      Choice choice = best->choice;
      for (const Move& move : moves)
        choice[move.dot] = move.to;
      if (saves > 0 && !known.contains(choice))
        tries.push_back({worst(predicted(best->losses, best->choice, moves)), std::move(choice)});
    };
    for (const Move& move : cheaper)
      add({&move, 1});
    const auto paired = [](const std::vector<Move>& moves) {
      return std::span(moves).first(std::min(moves.size(), kMostPaired));
    };
    for (const Move& down : paired(cheaper)) {
      for (const Move& other : paired(cheaper))
        if (other.dot > down.dot)
          add(std::array{down, other});
      for (const Move& up : paired(better))
        if (up.dot != down.dot)
          add(std::array{down, up});
    }
    std::ranges::sort(tries, {}, [](const Try& each) { return std::tie(each.loss, each.choice); });
    bool isCheaper = false;
    for (const Try& each : tries) {
      if (isCheaper || done == of)
        break;
      const MeasuredChoice* found = measured(each.choice, SearchPhase::Tries, done++, of);
      if (found == nullptr)
        return false;
      isCheaper = found->loss <= problem.limit && found->cost < cost;
    }
    if (!isCheaper)
      return true;
  }
  return true;
}

/// Measures choices at even steps along the path, from end to end.
void Search::completeFront() {
  for (std::size_t i = 0; i < problem.frontPoints; ++i) {
    const std::size_t at =
        i * (path.size() - 1) / std::max<std::size_t>(problem.frontPoints - 1, 1);
    if (measured(path[at], SearchPhase::Front, i, problem.frontPoints) == nullptr)
      return;
  }
}

SearchResult Search::finish() {
  SearchResult result;
  result.isEnded = isEnded;
  if (const MeasuredChoice* best = bestWithin())
    result.best = static_cast<std::size_t>(best - all.data());
  for (std::size_t i = 1; i < all.size(); ++i)
    if (std::pair(all[i].loss, all[i].cost) <
        std::pair(all[result.leastLoss].loss, all[result.leastLoss].cost))
      result.leastLoss = i;
  result.measured = std::move(all);
  return result;
}

} // namespace

double worst(const Losses& losses) {
  double worst = -kInfinity;
  for (double loss : losses)
    worst = std::isnan(loss) ? kInfinity : std::max(worst, loss);
  return losses.empty() ? 0 : worst;
}

SearchResult searchFormats(const SearchProblem& problem, const Measure& measure) {
  return Search(problem, measure).run();
}

std::vector<std::size_t> front(const std::vector<MeasuredChoice>& measured) {
  std::vector<std::size_t> order(measured.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(
      order, {}, [&](std::size_t i) { return std::tuple(measured[i].cost, measured[i].loss, i); });
  std::vector<std::size_t> front;
  double least = kInfinity;
  for (std::size_t i : order)
    if (measured[i].loss < least) {
      front.push_back(i);
      least = measured[i].loss;
    }
  return front;
}

} // namespace octavo::analysis
