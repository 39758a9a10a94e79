#include "octavo/Analysis/FormatSearch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace octavo::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A program with known losses that add up, by dot, candidate and part.
struct Additive {
  std::vector<std::vector<double>> costs;
  std::vector<std::vector<Losses>> losses;

  Losses of(const Choice& choice) const {
    Losses sum(losses[0][0].size(), 0);
    for (std::size_t dot = 0; dot < choice.size(); ++dot)
      for (std::size_t part = 0; part < sum.size(); ++part)
        sum[part] += losses[dot][choice[dot]][part];
    return sum;
  }
  double cost(const Choice& choice) const {
    double sum = 0;
    for (std::size_t dot = 0; dot < choice.size(); ++dot)
      sum += costs[dot][choice[dot]];
    return sum;
  }
  Measure measure() const {
    return [this](const Choice& choice, const SearchStep&) { return of(choice); };
  }
  /// The least cost of all choices within the limit, by trying each.
  double optimum(double limit) const {
    double best = kInfinity;
    Choice choice(costs.size(), 0);
    for (;;) {
      if (worst(of(choice)) <= limit)
        best = std::min(best, cost(choice));
      std::size_t dot = 0;
      while (dot < choice.size() && ++choice[dot] == costs[dot].size())
        choice[dot++] = 0;
      if (dot == choice.size())
        return best;
    }
  }
};

/// Dots with formats like those of 8, 6 and 4 bits. Each format loses some 4 to 16 times as much as
/// the one before; dots differ in size and sensitivity.
Additive randomProgram(std::mt19937& random, std::size_t dots, std::size_t parts) {
  std::uniform_real_distribution<double> uniform(0, 1);
  Additive program;
  for (std::size_t dot = 0; dot < dots; ++dot) {
    const double size = 1 + std::floor(4 * uniform(random));
    const double sensitivity = std::exp(6 * uniform(random)) * size;
    program.costs.push_back({32 * size, 8.25 * size, 6.25 * size, 4.5 * size, 4.25 * size});
    std::vector<Losses> ofDot = {Losses(parts, 0)};
    double loss = 1e-5 * sensitivity;
    for (int format = 0; format < 4; ++format, loss *= 4 + 12 * uniform(random)) {
      Losses& each = ofDot.emplace_back();
      for (std::size_t part = 0; part < parts; ++part)
        each.push_back(loss * (0.5 + uniform(random)));
    }
    program.losses.push_back(std::move(ofDot));
  }
  return program;
}

TEST(FormatSearchTest, FindsTheOptimumWhereOneDotIsSensitive) {
  // Of three dots of one size, the second is sensitive. Within 0.1, the others can have the
  // cheapest format, and the second the one of 8 bits.
  const Additive program{{{32, 8, 4}, {32, 8, 4}, {32, 8, 4}},
                         {{{0}, {0.001}, {0.01}}, {{0}, {0.05}, {5}}, {{0}, {0.001}, {0.01}}}};
  const SearchResult result =
      searchFormats({.costs = program.costs, .limit = 0.1}, program.measure());
  ASSERT_TRUE(result.best);
  const MeasuredChoice& best = result.measured[*result.best];
  EXPECT_EQ(best.choice, (Choice{2, 1, 2}));
  EXPECT_EQ(best.cost, 16);
  EXPECT_NEAR(best.loss, 0.07, 1e-12);
  EXPECT_FALSE(result.isEnded);
}

TEST(FormatSearchTest, IsNearTheOptimumOfAllChoices) {
  std::mt19937 random(18);
  double excess = 0, most = 0;
  constexpr int kPrograms = 60;
  for (int i = 0; i < kPrograms; ++i) {
    const Additive program = randomProgram(random, 7, i % 2 == 0 ? 1 : 3);
    const double all = worst(program.of(Choice(7, 4)));
    const double limit = all * std::pow(10, -0.5 - i % 3);
    const SearchResult result =
        searchFormats({.costs = program.costs, .limit = limit}, program.measure());
    ASSERT_TRUE(result.best);
    const MeasuredChoice& best = result.measured[*result.best];
    EXPECT_LE(best.loss, limit);
    EXPECT_EQ(best.cost, program.cost(best.choice));
    const double over = best.cost / program.optimum(limit) - 1;
    EXPECT_GE(over, -1e-12);
    excess += over / kPrograms;
    most = std::max(most, over);
  }
  EXPECT_LE(excess, 0.005);
  EXPECT_LE(most, 0.05);
}

TEST(FormatSearchTest, StaysWithinTheLimitWhereLossesDoNotAddUp) {
  std::mt19937 random(7);
  for (const double power : {0.8, 1.25}) {
    const Additive program = randomProgram(random, 12, 2);
    const Measure measure = [&](const Choice& choice, const SearchStep&) {
      Losses losses = program.of(choice);
      for (double& loss : losses)
        loss = std::pow(loss, power);
      return losses;
    };
    const double limit = worst(*measure(Choice(12, 4), {})) / 20;
    const SearchResult result = searchFormats({.costs = program.costs, .limit = limit}, measure);
    ASSERT_TRUE(result.best);
    const MeasuredChoice& best = result.measured[*result.best];
    EXPECT_LE(worst(*measure(best.choice, {})), limit);
    EXPECT_LT(best.cost, program.cost(Choice(12, 1)));
  }
}

TEST(FormatSearchTest, NeverChoosesWhatHasNoFiniteLoss) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Additive program{{{32, 8, 4}, {32, 8, 4}}, {{{0}, {0.01}, {nan}}, {{0}, {nan}, {0.01}}}};
  const SearchResult result =
      searchFormats({.costs = program.costs, .limit = 1}, program.measure());
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.measured[*result.best].choice, (Choice{1, 2}));
}

TEST(FormatSearchTest, TakesWhatCostsAsMuchAndLosesLess) {
  const Additive program{{{32, 8, 8, 8}}, {{{0}, {0.3}, {0.1}, {0.2}}}};
  const SearchResult result =
      searchFormats({.costs = program.costs, .limit = 1}, program.measure());
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.measured[*result.best].choice, Choice{2});
}

TEST(FormatSearchTest, ANarrowFormatMayLoseLessThanTheProgramAsItIs) {
  // Metrics of a task behave so. Nothing else is within the limit.
  const Additive program{{{32, 8}, {32, 8}}, {{{0}, {-0.2}}, {{0}, {0.5}}}};
  const SearchResult result =
      searchFormats({.costs = program.costs, .limit = -0.1}, program.measure());
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.measured[*result.best].choice, (Choice{1, 0}));
}

/// Losses that do not add up: each choice has a random factor.
Measure unlike(const Additive& program, std::uint32_t seed) {
  return [&program, seed](const Choice& choice, const SearchStep&) {
    std::uint32_t hash = seed;
    for (const std::size_t each : choice)
      hash = (hash ^ static_cast<std::uint32_t>(each + 1)) * 0x9E3779B1U;
    std::mt19937 random(hash);
    Losses losses = program.of(choice);
    for (double& loss : losses)
      loss *= std::exp(std::normal_distribution<double>(0, 1)(random));
    return losses;
  };
}

/// The least cost within the limit, by measuring every choice.
double cheapest(const Additive& program, const Measure& measure, double limit) {
  double best = kInfinity;
  Choice choice(program.costs.size(), 0);
  for (;;) {
    if (worst(*measure(choice, {})) <= limit)
      best = std::min(best, program.cost(choice));
    std::size_t dot = 0;
    while (dot < choice.size() && ++choice[dot] == program.costs[dot].size())
      choice[dot++] = 0;
    if (dot == choice.size())
      return best;
  }
}

TEST(FormatSearchTest, OfFewChoicesItFindsTheOptimumWhateverLossesAre) {
  std::mt19937 random(46);
  for (std::uint32_t i = 0; i < 40; ++i) {
    const Additive program = randomProgram(random, 4, 1 + i % 3); // 625 choices
    const Measure measure = unlike(program, i);
    const double limit = worst(program.of(Choice(4, 4))) * std::pow(10, -0.4 - i % 4);
    std::size_t runs = 0;
    const SearchResult result = searchFormats({.costs = program.costs, .limit = limit},
                                              [&](const Choice& choice, const SearchStep& step) {
                                                ++runs;
                                                return measure(choice, step);
                                              });
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.measured[*result.best].cost, cheapest(program, measure, limit)) << i;
    EXPECT_LE(runs, 625u);
  }
}

TEST(FormatSearchTest, OfManyChoicesItTriesWhatIsStated) {
  std::mt19937 random(47);
  const Additive program = randomProgram(random, 7, 1);
  const Measure measure = unlike(program, 1);
  const double limit = worst(program.of(Choice(7, 4))) / 100;
  double before = kInfinity;
  for (const std::size_t tries : {0, 16, 128, 1024}) {
    std::size_t tried = 0;
    const SearchResult result =
        searchFormats({.costs = program.costs, .limit = limit, .tries = tries},
                      [&](const Choice& choice, const SearchStep& step) {
                        tried += step.phase == SearchPhase::Tries;
                        return measure(choice, step);
                      });
    ASSERT_TRUE(result.best);
    EXPECT_LE(tried, tries);
    EXPECT_LE(result.measured[*result.best].cost, before) << tries;
    before = result.measured[*result.best].cost;
  }
}

TEST(FormatSearchTest, SaysThatNothingIsWithinTheLimit) {
  const Additive program{{{32, 8}, {32, 8}}, {{{0}, {0.2}}, {{0}, {0.5}}}};
  const SearchResult result =
      searchFormats({.costs = program.costs, .limit = -1}, program.measure());
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.measured[result.leastLoss].choice, (Choice{0, 0}));
}

TEST(FormatSearchTest, MeasuresTheOthersToo) {
  const Additive program{{{32, 8, 4}, {32, 8, 4}}, {{{0}, {0.1}, {0.2}}, {{0}, {0.1}, {0.2}}}};
  const SearchResult result = searchFormats(
      {.costs = program.costs, .limit = 0.05, .others = {{1, 1}, {2, 2}}}, program.measure());
  EXPECT_EQ(result.measured[0].choice, (Choice{0, 0}));
  EXPECT_EQ(result.measured[1].choice, (Choice{1, 1}));
  EXPECT_EQ(result.measured[2].choice, (Choice{2, 2}));
  ASSERT_TRUE(result.best);
  EXPECT_EQ(*result.best, 0u);
}

TEST(FormatSearchTest, EndsWhereItIsToldAndGoesOnFromWhatWasMeasured) {
  std::mt19937 random(3);
  const Additive program = randomProgram(random, 5, 2);
  const SearchProblem problem{.costs = program.costs,
                              .limit = worst(program.of(Choice(5, 4))) / 10};
  std::size_t runs = 0;
  const SearchResult whole = searchFormats(problem, [&](const Choice& choice, const SearchStep&) {
    ++runs;
    return program.of(choice);
  });
  EXPECT_EQ(runs, whole.measured.size()) << "a choice was measured twice";
  std::map<Choice, Losses> kept;
  for (std::size_t stop : {std::size_t{0}, std::size_t{1}, std::size_t{9}, runs - 1, runs}) {
    std::size_t fresh = 0;
    const SearchResult result = searchFormats(
        problem, [&](const Choice& choice, const SearchStep&) -> std::optional<Losses> {
          if (const auto found = kept.find(choice); found != kept.end())
            return found->second;
          if (kept.size() == stop)
            return std::nullopt;
          ++fresh;
          return kept[choice] = program.of(choice);
        });
    EXPECT_EQ(result.isEnded, stop < runs);
    EXPECT_EQ(result.measured.size(), stop);
    if (stop == runs) {
      EXPECT_EQ(fresh, 1u);
      EXPECT_EQ(result.best, whole.best);
      EXPECT_EQ(result.measured[*result.best].choice, whole.measured[*whole.best].choice);
    }
  }
}

TEST(FormatSearchTest, CountsTheStepsOfEachPhase) {
  std::mt19937 random(5);
  const Additive program = randomProgram(random, 6, 1);
  std::map<SearchPhase, std::size_t> last;
  searchFormats({.costs = program.costs, .limit = worst(program.of(Choice(6, 4))) / 30},
                [&](const Choice& choice, const SearchStep& step) {
                  EXPECT_LT(step.done, std::max<std::size_t>(step.of, 1) + 1);
                  EXPECT_GE(step.done, last[step.phase]);
                  last[step.phase] = step.done;
                  return program.of(choice);
                });
  EXPECT_EQ(last[SearchPhase::Sensitivity], 6u * 4 - 1);
}

TEST(FormatSearchTest, TheFrontHasWhatNothingIsBetterThan) {
  const auto point = [](double cost, double loss) {
    return MeasuredChoice{.choice = {}, .cost = cost, .losses = {loss}, .loss = loss};
  };
  EXPECT_EQ(front({point(4, 3), point(2, 5), point(3, 6), point(4, 2), point(2, 5), point(9, 0)}),
            (std::vector<std::size_t>{1, 3, 5}));
  EXPECT_TRUE(front({point(1, kInfinity)}).empty());
}

} // namespace
} // namespace octavo::analysis
