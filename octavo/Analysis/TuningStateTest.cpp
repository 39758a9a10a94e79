#include "octavo/Analysis/TuningState.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>

namespace octavo::analysis {
namespace {

TuningState example() {
  return {
      .digest = "0f",
      .origin = 0.5,
      .costs = {{32, 8.25}, {0.1, 1e-300}},
      .measured = {{{0, 0}, {0, 0}}, {{0, 1}, {1.0 / 3, std::numeric_limits<double>::infinity()}}}};
}

TEST(TuningStateTest, IsReadAsItWasWritten) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "octavo-tuning.state";
  ASSERT_TRUE(writeState(path, example()));
  const auto state = readState(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(state) << state.error().message();
  EXPECT_EQ(state->digest, "0f");
  EXPECT_EQ(state->origin, 0.5);
  EXPECT_EQ(state->costs, example().costs);
  EXPECT_EQ(state->measured, example().measured); // every bit of 1/3, infinity
}

TEST(TuningStateTest, SaysWhatIsNoState) {
  const auto problem = [](const char* text) {
    const auto state = parseState(text, "x.state");
    return state ? std::string("none") : state.error().message();
  };
  constexpr const char* kRest =
      ": expected what octavo tune wrote to go on from; remove it, to begin anew";
  EXPECT_EQ(problem("[]"), std::string("x.state: it has no \"octavo_tune\"") + kRest);
  EXPECT_EQ(problem(R"({"octavo_tune": 9})"),
            std::string("x.state: it is of another version of octavo") + kRest);
  const auto ofMeasured = [&](const std::string& measured) {
    return problem(
        (R"({"octavo_tune":1,"digest":"","origin":0,"costs":[],"measured":)" + measured + "}")
            .c_str());
  };
  EXPECT_EQ(ofMeasured("[]"), "none");
  EXPECT_EQ(ofMeasured(R"([{"choice":[0],"losses":[1]},{"choice":[0,1],"losses":[1]}])"),
            std::string("x.state: choices or losses are of different lengths") + kRest);
  EXPECT_EQ(ofMeasured(R"([{"choice":[-1],"losses":[1]}])"),
            std::string("x.state: a candidate is no number from 0 on") + kRest);
  EXPECT_EQ(ofMeasured(R"([{"choice":[1],"losses":["much"]}])"),
            std::string("x.state: a number is missing") + kRest);
  EXPECT_EQ(ofMeasured(R"([{"choice":[1]}])"),
            std::string("x.state: it has no \"losses\"") + kRest);
  EXPECT_NE(problem("{").find("not valid JSON"), std::string::npos);
}

} // namespace
} // namespace octavo::analysis
