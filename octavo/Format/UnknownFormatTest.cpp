#include "octavo/Format/UnknownFormat.h"

#include <gtest/gtest.h>

namespace octavo::format {
namespace {

TEST(UnknownFormat, BlockSizesThatCannotBeHad) {
  for (const std::string name :
       {"mxfp4:", "mxfp4:0", "mxfp4:4", "mxfp4:96", "mxfp4:2048", "mxfp4:x"})
    EXPECT_EQ(unknownFormat(name, {"mxfp4"}),
              "no scaled format \"" + name +
                  "\": blocks of mxfp4 are a power of two from 8 to 1024 long, as in mxfp4:64");
  EXPECT_EQ(unknownFormat("fp8_row:16", {"fp8_row"}),
            "no scaled format \"fp8_row:16\": fp8_row has no blocks whose size could be chosen");
}

TEST(UnknownFormat, NamesThatNothingHas) {
  EXPECT_EQ(unknownFormat("mxfp5:4", {"nvfp4", "mxfp4:4"}),
            "no scaled format \"mxfp5:4\"; near it: mxfp4:4; available: nvfp4, mxfp4:4");
  EXPECT_EQ(unknownFormat("x", {"nvfp4"}), "no scaled format \"x\"; available: nvfp4");
}

} // namespace
} // namespace octavo::format
