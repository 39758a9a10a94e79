#include "octavo/Program/Steps/Guards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>

namespace octavo::program {
namespace {

constexpr std::size_t kBytes = 8;

class Calling : public Step {
public:
  explicit Calling(std::function<void(Frame&)> call)
      : Step(std::make_shared<OperationText>(OperationText{"test.call", "here", "", "main", ""})),
        call(std::move(call)) {}
  Outcome run(Frame& frame) const override {
    call(frame);
    return {};
  }
  StepFacts facts() const override { return {.kind = StepFacts::Kind::Kernel}; }
  StepType type() const override { return StepType::Interpreted; }
  void fields(ProgramFields& /*fields*/) override {}

private:
  std::function<void(Frame&)> call;
};

/// Two slots: slot 0 is in use in steps 1 to 2, slot 1 in step 2.
class GuardsTest : public testing::Test {
protected:
  GuardsTest() {
    guards->add({{.slot = {0}, .bytes = kBytes, .first = 1, .last = 2},
                 {.slot = {1}, .bytes = kBytes, .first = 2, .last = 2}});
    for (std::size_t i = 0; i < 2; ++i)
      frame.whole.memory[i] = memory + i * (kBytes + kGuardBytes);
    guards->begin(frame);
  }

  Outcome run(int number, std::function<void(Frame&)> call) {
    return GuardedStep(std::make_unique<Calling>(std::move(call)), number, guards).run(frame);
  }
  bool isNobodys(int slot) const {
    return std::ranges::all_of(std::span(frame.at(Slot{slot}), kBytes),
                               [](std::byte each) { return each == kNobodys; });
  }

  std::byte memory[2 * (kBytes + kGuardBytes)] = {};
  Frame frame{2, 0, 0, 0};
  std::shared_ptr<Guards> guards = std::make_shared<Guards>();
};

TEST_F(GuardsTest, aStepFindsWhatItIsGivenAndNothingElse) {
  EXPECT_TRUE(run(1, [&](Frame& f) {
    EXPECT_TRUE(isNobodys(0));
    std::fill_n(f.at(Slot{0}), kBytes, std::byte{7});
  }));
  EXPECT_TRUE(run(2, [&](Frame& f) {
    EXPECT_EQ(f.at(Slot{0})[kBytes - 1], std::byte{7});
    EXPECT_TRUE(isNobodys(1));
    std::fill_n(f.at(Slot{1}), kBytes, std::byte{8});
  }));
  EXPECT_TRUE(isNobodys(0));
  EXPECT_TRUE(isNobodys(1));
}

TEST_F(GuardsTest, aStepThatWritesBeyondIsAnError) {
  for (const std::size_t beyond : {kBytes, kBytes + kGuardBytes - 1}) {
    const Outcome outcome = run(1, [&](Frame& f) { f.at(Slot{0})[beyond] = std::byte{1}; });
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error(), "here: 'test.call': it wrote beyond slot 0: a mistake in octavo");
  }
}

TEST_F(GuardsTest, whatAnotherHasTakenOverIsItsOwn) {
  EXPECT_TRUE(run(1, [](Frame&) {}));
  EXPECT_TRUE(run(3, [&](Frame& f) { f.at(Slot{0})[kBytes] = std::byte{1}; }));
}

TEST_F(GuardsTest, whatIsNotInUseHasNoGuard) {
  EXPECT_TRUE(run(1, [&](Frame& f) { f.at(Slot{1})[kBytes] = std::byte{1}; }));
  EXPECT_FALSE(run(2, [&](Frame& f) { f.at(Slot{1})[kBytes] = std::byte{1}; }));
}

} // namespace
} // namespace octavo::program
