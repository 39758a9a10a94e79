// Test fixture: one run for each instruction set of the build. A set that the machine lacks is
// skipped, with the reason. For a set that runs, the fixture checks that the table is that set's.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Kernels/KernelTable.h"

#include <gtest/gtest.h>
#include <string>

namespace octavo::kernels {

class OnEachIsa : public testing::TestWithParam<Isa> {
protected:
  void SetUp() override {
    if (auto why = whyNot(GetParam()))
      GTEST_SKIP() << "not run: " << *why;
    ASSERT_EQ(kernelTable(GetParam()).isa, GetParam());
  }
  Execution execution(int threads = 1) const { return {.isa = GetParam(), .threads = threads}; }
};

inline std::string isaTestName(const testing::TestParamInfo<Isa>& info) {
  std::string name(isaName(info.param));
#if defined(OCTAVO_EMULATED_AVX512)
  if (info.param == Isa::Avx512)
    name += "_emulated";
#endif
  return name;
}

#define OCTAVO_ON_EACH_ISA(Suite)                                                                  \
  INSTANTIATE_TEST_SUITE_P(Isas, Suite, testing::ValuesIn(builtIsas().begin(), builtIsas().end()), \
                           isaTestName)

} // namespace octavo::kernels
