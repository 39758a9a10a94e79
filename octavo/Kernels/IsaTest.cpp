#include "octavo/Kernels/Isa.h"

#include "octavo/Kernels/KernelTable.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace octavo::kernels {
namespace {

TEST(Isa, PortableRunsEverywhere) {
  EXPECT_FALSE(whyNot(Isa::Portable));
  EXPECT_EQ(chooseIsa("portable").value(), Isa::Portable);
}

TEST(Isa, EachBuiltSetIsItsOwnCode) {
  for (Isa isa : builtIsas()) {
    if (auto why = whyNot(isa)) {
      EXPECT_FALSE(chooseIsa(isaName(isa)));
      GTEST_LOG_(WARNING) << "not run: " << *why;
      continue;
    }
    EXPECT_EQ(chooseIsa(isaName(isa)).value(), isa);
    EXPECT_EQ(kernelTable(isa).isa, isa);
    const int bytes = isa == Isa::Avx512 ? 64 : isa == Isa::Avx2 ? 32 : 16;
    EXPECT_EQ(kernelTable(isa).vectorBytes, bytes) << isaName(isa);
  }
}

TEST(Isa, TheBestOfTheMachineIsTheDefault) {
  Isa best = Isa::Portable;
  for (Isa isa : builtIsas())
    if (!whyNot(isa))
      best = isa;
  EXPECT_EQ(chooseIsa("").value(), best);
}

TEST(Isa, WhatTheBuildLacksIsRefused) {
#if defined(__x86_64__)
  auto refused = chooseIsa("neon");
#else
  auto refused = chooseIsa("avx512");
#endif
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("refused: this build has no code for"), std::string::npos);
  EXPECT_NE(refused.error().find("portable"), std::string::npos) << refused.error();
}

TEST(Isa, UnknownNamesListTheKnown) {
  auto refused = chooseIsa("avx1024");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("unknown instruction set 'avx1024'; available here: portable"),
            std::string::npos)
      << refused.error();
}

TEST(Isa, TheEnvironmentForces) {
  const char* forced = std::getenv("OCTAVO_ISA");
  if (!forced)
    GTEST_SKIP() << "OCTAVO_ISA is not set in this run";
  EXPECT_EQ(isaName(defaultIsa()), forced);
}

TEST(Isa, AnEnvironmentThatCannotBeHadIsAnError) {
  if (configuredIsa())
    GTEST_SKIP() << "OCTAVO_ISA is not set to another machine's in this run";
  EXPECT_THROW(defaultIsa(), IsaError);
}

} // namespace
} // namespace octavo::kernels
