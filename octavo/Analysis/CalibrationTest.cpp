#include "octavo/Analysis/Calibration.h"

#include <gtest/gtest.h>

#include <string>

namespace octavo::analysis {
namespace {

CalibratedTensor tensorOf(std::string dot, const std::vector<float>& values,
                          std::vector<float> columnAmax = {}) {
  CalibratedTensor tensor{
      .dot = std::move(dot), .side = "lhs", .columns = 2, .columnAmax = std::move(columnAmax)};
  tensor.magnitudes.add(values);
  return tensor;
}

/// The error for the text after one replacement.
std::string refusal(const std::string& from, const std::string& to) {
  std::string text = R"({"octavo_calibration": 1, "input_sets": 2, "tensors": [
{"dot":"a","side":"lhs","columns":2,"amax":3.0,"histogram":{"first":8224,"counts":[1]},"column_amax":[1.0,3.0]},
{"dot":"b","side":"lhs","columns":2,"amax":0.0,"histogram":{"first":0,"counts":[]}}
]})";
  EXPECT_TRUE(parseCalibration(text, "file.json"));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto read = parseCalibration(text, "file.json");
  return read ? "taken: " + text : read.error().message();
}

TEST(CalibrationTest, TextAndBack) {
  const Calibration calibration{.inputSets = 7,
                                .tensors = {tensorOf("a", {0.1f, -3.3f, 0}, {0.1f, 3.3f}),
                                            tensorOf("b\n\"", {1e-40f}),
                                            CalibratedTensor{.dot = "never", .side = "rhs"}}};
  const std::string text = calibrationText(calibration);
  const auto read = parseCalibration(text, "file.json");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, calibration);
  EXPECT_EQ(calibrationText(*read), text);
}

TEST(CalibrationTest, MergingIsOneRunOverAll) {
  const auto withBoth = [](const std::vector<float>& a, const std::vector<float>& b,
                           std::int64_t sets) {
    return Calibration{.inputSets = sets,
                       .tensors = {tensorOf("a", a, {a[0], a[1]}), tensorOf("b", b)}};
  };
  Calibration merged = withBoth({1, 4}, {8}, 1);
  ASSERT_TRUE(merged.merge(withBoth({2, 3}, {16}, 2)));
  Calibration expected = withBoth({1, 4, 2, 3}, {8, 16}, 3);
  expected.tensors[0].columnAmax = {2, 4};
  EXPECT_EQ(merged, expected);

  // A side that one calibration has not seen is taken from the other. Columns that differ are
  // dropped.
  Calibration unseen{.inputSets = 1, .tensors = {CalibratedTensor{.dot = "a", .side = "lhs"}}};
  ASSERT_TRUE(unseen.merge({.inputSets = 1, .tensors = {tensorOf("a", {1, 4}, {1, 4})}}));
  EXPECT_EQ(unseen.tensors[0], tensorOf("a", {1, 4}, {1, 4}));
  CalibratedTensor wider = tensorOf("a", {1, 4, 5}, {1, 4, 5});
  wider.columns = 3;
  ASSERT_TRUE(unseen.merge({.inputSets = 1, .tensors = {wider}}));
  EXPECT_EQ(unseen.tensors[0].columns, 0);
  EXPECT_TRUE(unseen.tensors[0].columnAmax.empty());
}

TEST(CalibrationTest, MergingOtherProgramsIsRefused) {
  const auto problem = [](Calibration a, const Calibration& b) { return a.merge(b).error(); };
  const Calibration first{.inputSets = 1, .tensors = {tensorOf("layer0/query", {1})}};
  const Calibration second{.inputSets = 1, .tensors = {tensorOf("layer0/quary", {1})}};
  EXPECT_EQ(problem(first, second),
            "only the first has lhs of dot \"layer0/query\"; near it in the other: layer0/quary");
  EXPECT_EQ(problem({}, first), "only the second has lhs of dot \"layer0/query\"");
  EXPECT_EQ(problem(first, {.inputSets = 1, .tensors = {tensorOf("layer0/query", {1}, {1, 1})}}),
            "only the second has the columns of the lhs of dot \"layer0/query\": calibrate both "
            "with --columns, or neither");
}

TEST(CalibrationTest, WrongFilesAreRefused) {
  EXPECT_NE(refusal("\"octavo_calibration\": 1, ", "").find("it is no calibration"),
            std::string::npos);
  EXPECT_EQ(refusal("calibration\": 1", "calibration\": 2"),
            "file.json: a calibration of another version: expected 1, found 2; calibrate again "
            "with this octavo");
  EXPECT_EQ(refusal("\"input_sets\": 2, ", ""), "file.json: the key \"input_sets\" is missing");
  EXPECT_EQ(refusal("\"input_sets\": 2", "\"input_sets\": -2"),
            "file.json: input_sets is something else: expected a whole number from 0 on, found -2");
  EXPECT_EQ(refusal("\"input_sets\"", "\"sets\""),
            "file.json: no key \"sets\": expected octavo_calibration, input_sets, tensors");
  EXPECT_EQ(refusal("\"side\":\"lhs\",\"columns\":2,\"amax\":3.0", "\"side\":\"left\""),
            "file.json: tensors[0].side is something else: expected \"lhs\" or \"rhs\", found "
            "\"left\"");
  EXPECT_EQ(
      refusal("\"amax\":3.0", "\"amax\":-3.0"),
      "file.json: tensors[0].amax is something else: expected a finite magnitude, found -3.0");
  EXPECT_EQ(
      refusal("\"amax\":3.0", "\"amax\":1e39"),
      "file.json: tensors[0].amax is something else: expected a finite magnitude, found 1e+39");
  const std::string contradiction =
      "file.json: tensors[0]: amax and histogram contradict each other, or the histogram has more "
      "bins or values than there can be";
  EXPECT_EQ(refusal("\"amax\":3.0", "\"amax\":4.0"), contradiction);
  EXPECT_EQ(refusal("8224", "99999"), contradiction);
  EXPECT_EQ(refusal("[1]", "[1.5]"),
            "file.json: tensors[0].histogram.counts is something else: expected a whole number "
            "from 0 on, found 1.5");
  EXPECT_EQ(refusal("[1.0,3.0]", "[3.0]"),
            "file.json: tensors[0].column_amax has another number of columns: expected 2, found 1");
  EXPECT_EQ(refusal("[1.0,3.0]", "[1.0,2.0]"),
            "file.json: tensors[0]: the largest of column_amax is not amax");
  EXPECT_EQ(refusal("\"dot\":\"b\"", "\"dot\":\"a\""),
            "file.json: tensors[1]: a second entry for lhs of dot \"a\"");
  EXPECT_EQ(refusal("\"dot\":\"b\",", ""), "file.json: tensors[1]: the key \"dot\" is missing");
  EXPECT_EQ(refusal("\"columns\":2,\"amax\":0.0", "\"colums\":2,\"amax\":0.0"),
            "file.json: tensors[1]: no key \"colums\": expected dot, side, columns, amax, "
            "histogram or column_amax");
  EXPECT_FALSE(parseCalibration("[]", "file.json"));
  EXPECT_FALSE(parseCalibration("", "file.json"));
}

} // namespace
} // namespace octavo::analysis
