#include "octavo/Checkpoint/ValueRows.h"

#include <gtest/gtest.h>

namespace octavo::checkpoint {
namespace {

/// Rows that are only asked for their number and their step.
class Rows final : public ValueRows {
public:
  Rows(std::vector<std::int64_t> shape, std::int64_t step)
      : ValueRows(std::move(shape)), rowsOfStep(step) {}
  std::int64_t step() const override { return rowsOfStep; }
  tl::expected<void, Error> read(Piece, float*, Scratch&) const override { return {}; }
  const format::ElementFormat& inputType() const override { return format::element("f32"); }
  const StoredTensor& tensor() const override { return stored; }

private:
  std::int64_t rowsOfStep;
  StoredTensor stored{};
};

TEST(ValueRows, aTileFillsTheCacheAndLiesAcrossNoTwoSteps) {
  static_assert(kTileValues == 32768);
  EXPECT_EQ(tileRowsOf(Rows({1000, 128}, 1), 1), 256);
  EXPECT_EQ(tileRowsOf(Rows({1000, 128}, 128), 1), 256); // whole steps
  EXPECT_EQ(tileRowsOf(Rows({1000, 4096}, 128), 1), 8);  // an eighth of 64: divides 128
  EXPECT_EQ(tileRowsOf(Rows({1000, 14336}, 128), 1), 2);
  EXPECT_EQ(tileRowsOf(Rows({1000, 5000}, 120), 1), 6); // 120 / 20, since 32768 / 5000 is 6.6
  EXPECT_EQ(tileRowsOf(Rows({1000, 5000}, 128), 1), 4); // 6 does not divide 128
  EXPECT_EQ(tileRowsOf(Rows({1000, 50000}, 128), 1), 1);
  EXPECT_EQ(tileRowsOf(Rows({1000, 4096}, 128), 16), 16); // the output has steps too
  EXPECT_EQ(tileRowsOf(Rows({1000, 4096}, 128), 128), 128);
  EXPECT_EQ(tileRowsOf(Rows({1000, 4096}, 1), 128), 128);
  EXPECT_EQ(tileRowsOf(Rows({1000, 4096}, 128), 96), 384); // a multiple of both steps
  EXPECT_EQ(tileRowsOf(Rows({2, 30, 4096}, 0), 1), 30);    // whole matrices
}

} // namespace
} // namespace octavo::checkpoint
