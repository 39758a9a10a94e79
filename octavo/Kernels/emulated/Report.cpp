// Says in each test program's output that its AVX-512 is not the machine's.
#include "octavo/Kernels/Product/Product.h"

#include <cstdio>
#include <gtest/gtest.h>

namespace {

class Report : public testing::Environment {
public:
  void SetUp() override {
    std::printf("[ EMULATED ] avx512%s: the machine runs AVX2\n",
                octavo::kernels::usesBf16(octavo::kernels::Isa::Avx512) ? " with bf16" : "");
  }
};

const auto* const kReport = testing::AddGlobalTestEnvironment(new Report);

} // namespace
