#include "octavo/Program/Steps/StepAccesses.h"

#include "octavo/Program/Steps/File/ProgramFileTestPrograms.h"
#include "octavo/Program/Steps/Kernel.h"
#include "octavo/Program/Steps/Products/Product.h"
#include "octavo/Program/Steps/ProgramRunner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace octavo::program {
namespace {

using Numbers = std::vector<int>;

TEST(StepAccesses, areThoseOfEachStepAlone) {
  Programs made;
  const Slot x = made.argument({2, 4}), w = made.argument({3, 4}), y = made.result({2, 3}),
             product = made.arena(24);
  made.program.rightCount = 1;
  made.program.functions.push_back(nullptr);
  made.step<MatrixProductStep>(kernels::PlainType::F32, rowsOf(x, 4), rowsOf(w, 4), product,
                               BatchExtent{2}, std::nullopt, BatchExtent{4}, BatchExtent{3}, one(),
                               0);
  made.program.steps.add(std::make_unique<KernelStep>(
      op(), made.program.functions.front(), std::vector<KernelStep::Argument>{{product}, {y, true}},
      BatchExtent{6}, BatchExtent{1}, StepFacts{.kind = StepFacts::Kind::Kernel}));
  const auto accesses = accessesOf(made.program);
  ASSERT_EQ(accesses.size(), 2u);
  const StepAccesses& first = accesses.at(made.program.steps.all()[0].get());
  EXPECT_EQ(first.reads, (Numbers{x.number, w.number}));
  EXPECT_EQ(first.writes, Numbers{product.number});
  const StepAccesses& second = accesses.at(made.program.steps.all()[1].get());
  EXPECT_EQ(second.reads, Numbers{product.number});
  EXPECT_EQ(second.writes, Numbers{y.number});
}

/// The same accesses decide which files are refused.
TEST(StepAccesses, ofKernelsAreHeldToWhatMayBeWritten) {
  for (const bool isWritten : {false, true}) {
    Programs made;
    const Slot x = made.argument({4}), y = made.result({4});
    made.program.functions.push_back(nullptr);
    made.program.steps.add(std::make_unique<KernelStep>(
        op(), made.program.functions.front(),
        std::vector<KernelStep::Argument>{{x, isWritten}, {y, true}}, BatchExtent{4},
        BatchExtent{1}, StepFacts{.kind = StepFacts::Kind::Kernel}));
    EXPECT_EQ(made.refusal(), isWritten ? "slot 0 is not to be written to" : "");
  }
}

/// A finished run holds no weight: the caller's value is the only owner of its packed form.
TEST(RightOperands, areLetGoOfWhenARunHasEnded) {
  Programs made;
  const Slot x = made.argument({2, 4}), w = made.argument({3, 4}), y = made.result({2, 3});
  made.program.rightCount = 1;
  made.step<MatrixProductStep>(kernels::PlainType::F32, rowsOf(x, 4), rowsOf(w, 4), y,
                               BatchExtent{2}, std::nullopt, BatchExtent{4}, BatchExtent{3}, one(),
                               0);
  ProgramRunner runner(std::move(made.program));
  const numerics::ElementType f32(format::element("f32"));
  const auto ofOnes = [&](std::int64_t rows) {
    numerics::Tensor tensor = numerics::Tensor::zeros(f32, {rows, 4});
    std::ranges::fill_n(reinterpret_cast<float*>(tensor.bytes.data()), rows * 4, 1.0f);
    return Value(std::move(tensor));
  };
  const Value weight = ofOnes(3);
  for (int run = 0; run < 2; ++run) {
    auto results = runner.run({ofOnes(2), weight}, RunContext(), {});
    ASSERT_TRUE(results) << results.error();
    EXPECT_EQ(*reinterpret_cast<const float*>(results->front().tensor().bytes.data()), 4.0f);
    EXPECT_FALSE(weight.isShared());
  }
}

} // namespace
} // namespace octavo::program
