#include "octavo/Format/BlockSize.h"

#include <gtest/gtest.h>

namespace octavo::format {
namespace {

TEST(BlockSize, WrongOnesAreTold) {
  for (const char* name : {"mxfp5:4", "mxfp4:16", "mxfp4", "mxfp"})
    EXPECT_EQ(wrongBlockSize(name), "") << name;
  for (const char* name : {"mxfp4:", "mxfp4:0", "mxfp4:4", "mxfp4:96", "mxfp4:2048", "mxfp4:x"})
    EXPECT_EQ(wrongBlockSize(name),
              "blocks of mxfp4 are a power of two from 8 to 1024 long, as in mxfp4:64");
  EXPECT_EQ(wrongBlockSize("fp8_row:16"), "fp8_row has no blocks whose size could be chosen");
}

} // namespace
} // namespace octavo::format
