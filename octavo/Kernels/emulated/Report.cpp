// Says in each test program's output that its AVX-512 is not the machine's.
#include "octavo/Kernels/Bf16Dots.h"

#include <cstdio>
#include <gtest/gtest.h>

namespace {

class Report : public testing::Environment {
public:
  void SetUp() override {
    constexpr octavo::kernels::Isa kIsa = octavo::kernels::Isa::Avx512;
    std::printf("[ EMULATED ] avx512%s%s: the machine runs AVX2\n",
                octavo::kernels::usesBf16(kIsa) ? " with bf16" : "",
                octavo::kernels::usesTiles(kIsa) ? " and tiles" : "");
  }
};

const auto* const kReport = testing::AddGlobalTestEnvironment(new Report);

} // namespace
