#include "octavo/Analysis/Budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace octavo::analysis {
namespace {

TEST(BudgetTest, ReadsMetricAndBound) {
  const auto cosine = parseBudget("cosine >= 0.99", false);
  ASSERT_TRUE(cosine) << cosine.error();
  EXPECT_EQ(cosine->metric, Metric::Cosine);
  EXPECT_TRUE(cosine->isAtLeast);
  EXPECT_EQ(cosine->bound, 0.99);
  EXPECT_EQ(text(*cosine), "cosine >= 0.99");
  const auto maximum = parseBudget("  max<=2e-3 ", false);
  ASSERT_TRUE(maximum) << maximum.error();
  EXPECT_EQ(maximum->metric, Metric::Maximum);
  EXPECT_FALSE(maximum->isAtLeast);
  EXPECT_EQ(maximum->bound, 0.002);
}

TEST(BudgetTest, AMetricOfOnesOwnIsBoundedFromEitherSide) {
  const auto accuracy = parseBudget("metric >= -0.5", true);
  ASSERT_TRUE(accuracy) << accuracy.error();
  EXPECT_TRUE(accuracy->isAtLeast);
  const auto perplexity = parseBudget("metric <= 12.5", true);
  ASSERT_TRUE(perplexity) << perplexity.error();
  EXPECT_FALSE(perplexity->isAtLeast);
  EXPECT_EQ(perplexity->bound, 12.5);
}

TEST(BudgetTest, SaysWhatIsWrong) {
  const auto problem = [](const char* text, bool hasOwn = false) {
    const auto budget = parseBudget(text, hasOwn);
    return budget ? std::string("none") : budget.error();
  };
  EXPECT_EQ(problem("cosin >= 0.9"), "budget: no metric \"cosin\"; near it: cosine; available: "
                                     "cosine, relative, sqnr, max");
  EXPECT_EQ(problem("0.99"), "budget \"0.99\": expected METRIC >= NUMBER or METRIC <= NUMBER, such "
                             "as cosine >= 0.99");
  EXPECT_EQ(problem("cosine <= 0.9"),
            "budget \"cosine <= 0.9\": a cosine is bounded from below: write cosine >= NUMBER");
  EXPECT_EQ(problem("relative >= 0.9"), "budget \"relative >= 0.9\": a relative is bounded from "
                                        "above: write relative <= NUMBER");
  EXPECT_EQ(problem("cosine > 0.9"),
            "budget \"cosine > 0.9\": expected >= or <= between metric and number");
  EXPECT_EQ(problem("cosine >= lots"), "budget \"cosine >= lots\": \"lots\" is no number");
  EXPECT_EQ(problem("cosine >= 0.9 dB"), "budget \"cosine >= 0.9 dB\": \"0.9 dB\" is no number");
  EXPECT_EQ(problem("cosine >="), "budget \"cosine >=\": \"\" is no number");
  EXPECT_EQ(problem("cosine >= nan"), "budget \"cosine >= nan\": the bound is no finite number");
  EXPECT_EQ(problem("cosine >= 1.01"), "budget \"cosine >= 1.01\": no cosine is above 1");
  EXPECT_EQ(problem("cosine >= -1"), "budget \"cosine >= -1\": every cosine is at least -1");
  EXPECT_EQ(problem("max <= -1"), "budget \"max <= -1\": an error is never below 0");
  EXPECT_NE(problem("metric >= 1").find("give --metric COMMAND"), std::string::npos);
  EXPECT_NE(problem("cosine >= 0.9", true).find("write metric >= NUMBER"), std::string::npos);
}

TEST(BudgetTest, LossesOfWhatIsFartherAreLarger) {
  const Budget cosine{Metric::Cosine, true, 0}, sqnr{Metric::Sqnr, true, 0},
      relative{Metric::Relative, false, 0}, score{Metric::Own, true, 0},
      perplexity{Metric::Own, false, 0};
  EXPECT_DOUBLE_EQ(lossOf(cosine, 0.75, 0), 0.25);
  // 20 dB are a ratio of 10: the same loss as a relative error of 0.1.
  EXPECT_NEAR(lossOf(sqnr, 20, 0), lossOf(relative, 0.1, 0), 1e-15);
  EXPECT_DOUBLE_EQ(lossOf(score, 0.5, 0.75), 0.25);
  EXPECT_DOUBLE_EQ(lossOf(perplexity, 12, 10), 2);
  for (const Budget& budget : {cosine, sqnr, relative, score, perplexity})
    EXPECT_NEAR(valueOf(budget, lossOf(budget, 0.25, 4), 4), 0.25, 1e-14) << text(budget);
  EXPECT_EQ(valueOf(sqnr, 0, 0), std::numeric_limits<double>::infinity());
}

} // namespace
} // namespace octavo::analysis
