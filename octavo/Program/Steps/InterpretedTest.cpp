// An interpreter's result is written to its place only if it has the place's type.
#include "octavo/Program/Steps/Interpreted.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

namespace octavo::program {
namespace {

constexpr std::size_t kBehind = 64;
constexpr std::byte kUntouched{0x5A};

Tensor ones(std::vector<std::int64_t> shape,
            const numerics::ElementType& type = format::element("f32")) {
  Tensor tensor = Tensor::zeros(type, std::move(shape));
  std::ranges::fill(tensor.bytes, std::byte{1});
  return tensor;
}

/// A step with one result, f32 [4], in memory that is followed by other bytes.
class InterpretedTest : public testing::Test {
protected:
  InterpretedTest() {
    memory.assign(16 + kBehind, kUntouched);
    frame.whole.memory[0] = memory.data();
    frame.host = &host;
  }

  Outcome run(Evaluation evaluate) {
    const Place result{0, Place::InMemory{format::element("f32"), {BatchExtent{4}}}};
    return InterpretedStep(
               std::make_shared<OperationText>(OperationText{"test.made", "here", "", "main", ""}),
               std::move(evaluate), {}, {result}, "of the test")
        .run(frame);
  }
  Outcome give(std::vector<Value> values) {
    return run([&](const std::vector<Value>&, const RunContext&) { return values; });
  }
  bool isUntouched(std::size_t from) const {
    return std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(from), memory.end(),
                       [](std::byte each) { return each == kUntouched; });
  }

  RunContext host;
  std::vector<std::byte> memory;
  Frame frame{1, 0, 0, 0};
};

TEST_F(InterpretedTest, theTypeIsWritten) {
  EXPECT_TRUE(give({Value(ones({4}))}));
  EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{1}), 16);
  EXPECT_TRUE(isUntouched(16));
}

TEST_F(InterpretedTest, anotherTypeIsAnErrorAndWrittenNowhere) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{5}, {3}, {0}, {}, {4, 1}, {1000}}) {
    const Outcome outcome = give({Value(ones(shape))});
    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.error().find("here: 'test.made': result 0: expected f32 of shape [4], found "
                                   "f32 of shape ["),
              std::string::npos)
        << outcome.error();
    EXPECT_TRUE(isUntouched(0));
  }
  for (const Value& other : {Value(ones({4}, format::element("f64"))),
                             Value(ones({4}, format::element("e4m3fn"))), Value()}) {
    EXPECT_FALSE(give({other}));
    EXPECT_TRUE(isUntouched(0));
  }
}

TEST_F(InterpretedTest, thereAreAsManyResults) {
  EXPECT_FALSE(give({}));
  EXPECT_FALSE(give({Value(ones({4})), Value(ones({4}))}));
  EXPECT_TRUE(isUntouched(0));
}

TEST_F(InterpretedTest, noMemoryIsAnError) {
  const Outcome outcome =
      run([](const std::vector<Value>&,
             const RunContext&) -> tl::expected<std::vector<Value>, std::string> {
        throw std::bad_alloc();
      });
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().find("not enough memory"), std::string::npos);
}

} // namespace
} // namespace octavo::program
