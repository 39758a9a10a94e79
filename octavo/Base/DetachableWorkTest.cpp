#include "octavo/Base/DetachableWork.h"

#include "gtest/gtest.h"

#include <future>
#include <stdexcept>
#include <string>

namespace octavo::base {
namespace {

TEST(DetachableWork, GivesTheResultOfWorkThatEnds) {
  int looks = 0;
  const auto result = runDetachable(
      [](const std::atomic<bool>&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return std::string("done");
      },
      [&] { return ++looks < 0; });
  EXPECT_EQ(result, "done");
  EXPECT_GT(looks, 0);
}

TEST(DetachableWork, ThrowsWhatTheWorkThrows) {
  const auto work = [](const std::atomic<bool>&) -> int { throw std::runtime_error("no"); };
  EXPECT_THROW(runDetachable(work, [] { return false; }), std::runtime_error);
}

TEST(DetachableWork, DestroysWhatTheWorkOwnsBeforeItReturns) {
  auto owned = std::make_shared<int>(7);
  const std::weak_ptr<int> watched = owned;
  const auto result =
      runDetachable([owned = std::move(owned)](const std::atomic<bool>&) { return *owned; },
                    [] { return false; });
  EXPECT_EQ(result, 7);
  EXPECT_TRUE(watched.expired());
}

/// Work that ends when it is released, and records whether it was detached by then.
struct LongWork {
  std::shared_ptr<std::promise<void>> allow = std::make_shared<std::promise<void>>();
  std::shared_ptr<std::promise<bool>> ended = std::make_shared<std::promise<bool>>();

  auto work() const {
    return [allow = allow, ended = ended](const std::atomic<bool>& isDetached) {
      allow->get_future().wait();
      ended->set_value(isDetached);
      return 0;
    };
  }
};

TEST(DetachableWork, LeavesWorkBehindWhenItIsInterrupted) {
  const LongWork work;
  EXPECT_EQ(runDetachable(work.work(), [] { return true; }), std::nullopt);
  work.allow->set_value();
  EXPECT_TRUE(work.ended->get_future().get());
}

TEST(DetachableWork, LeavesWorkBehindWhenTheQuestionThrows) {
  const LongWork work;
  EXPECT_THROW(runDetachable(work.work(), []() -> bool { throw std::runtime_error("signal"); }),
               std::runtime_error);
  work.allow->set_value();
  EXPECT_TRUE(work.ended->get_future().get());
}

TEST(DetachableWorkDeathTest, TheProcessEndsWithItsStatusWhileWorkIsLeft) {
  EXPECT_EXIT(
      {
        const LongWork work;
        runDetachable(work.work(), [] { return true; });
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

} // namespace
} // namespace octavo::base
