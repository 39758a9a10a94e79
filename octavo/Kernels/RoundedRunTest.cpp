#include "octavo/Kernels/RoundedRun.h"

#include "octavo/Kernels/OnEachIsa.h"

#include <limits>
#include <vector>

namespace octavo::kernels {
namespace {

class RoundedRunKernels : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(RoundedRunKernels);

// The bounds of E2M1 under scales of 1 and 4: half a step is an eighth of a binade's lower end, a
// quarter below 1; up to 8 is clipped to 6.
constexpr RoundedBlock kOne = {.relative = 0.25, .absolute = 0.25, .end = 6, .clipped = 8};
constexpr RoundedBlock kFour = {.relative = 0.25, .absolute = 1, .end = 24, .clipped = 32};

struct Pair {
  float value, rounded;
  bool isWithin;
};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_P(RoundedRunKernels, EachPairIsHeldAgainstItsBlock) {
  const std::vector<Pair> kPairs = {{0.25f, 0, true},    {0.26f, 0, false},    {-0.25f, 0.0f, true},
                                    {2.5f, 2, true},     {2.51f, 2, false},    {-2.5f, -2, true},
                                    {2, -2, false},      {8, 6, true},         {8.01f, 6, false},
                                    {-8, -6, true},      {-8, 6, false},       {4.5f, 6, true},
                                    {4.4f, 6, false}, // at the end, and the value is not beyond
                                    {0, 6, false},       {kNan, 0, false},     {0, kNan, false},
                                    {kNan, kNan, false}, {kInfinity, 6, false}};
  for (const Pair& pair : kPairs)
    for (const std::size_t n : {1, 16, 32, 35})
      for (std::size_t place = 0; place < n; ++place) {
        const bool isSecond = place / 16 % 2 == 1;
        std::vector<float> values(n, 1), rounded(n, 1);
        values[place] = pair.value * (isSecond ? 4 : 1);
        rounded[place] = pair.rounded * (isSecond ? 4 : 1);
        const RoundedBlock bounds[] = {kOne, kFour, kOne};
        double amaxes[3] = {};
        EXPECT_EQ(areRounded({values.data(), rounded.data(), n, 16, bounds, amaxes}, execution()),
                  pair.isWithin)
            << pair.value << " became " << pair.rounded << ", " << place << " of " << n;
      }
}

TEST_P(RoundedRunKernels, AmaxesAreRaised) {
  const std::vector<float> values = {1, -3, 2, 0, 0.5f, kNan, -0.25f};
  const RoundedBlock bounds[] = {kOne, kOne};
  double amaxes[] = {2, 2};
  areRounded({values.data(), values.data(), values.size(), 4, bounds, amaxes}, execution());
  EXPECT_EQ(amaxes[0], 3);
  EXPECT_EQ(amaxes[1], 2);
}

} // namespace
} // namespace octavo::kernels
