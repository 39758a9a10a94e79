#include "octavo/Program/Steps/Call.h"
#include "octavo/Program/Steps/File/ProgramFileTestPrograms.h"
#include "octavo/Program/Steps/ProgramRunner.h"

#include <gtest/gtest.h>

namespace octavo::program {

namespace {

constexpr std::int64_t kCount = 4;

Place row(Slot slot, std::int64_t count = kCount) {
  return {slot.number, Place::InMemory{*format::findElementFormat("f32"), {BatchExtent{count}}}};
}

/// A function that returns its arguments swapped, and a program that may call it.
struct Swapping {
  Programs made;
  Slot x = made.argument({kCount}), y = made.argument({kCount}), first = made.result({kCount}),
       second = made.result({kCount});
  Slot a = made.arena(16), b = made.arena(16), t = made.arena(16), u = made.arena(16);
  const FunctionStep* function = nullptr;

  static std::unique_ptr<FunctionStep> swap(std::vector<Place> arguments,
                                            std::vector<Place> results, Sequence body = {}) {
    return std::make_unique<FunctionStep>(op(), std::move(arguments), std::move(body),
                                          std::move(results));
  }
  void define() {
    auto step = swap({row(a), row(b)}, {row(b), row(a)});
    function = step.get();
    made.program.steps.add(std::move(step));
  }
  void call(std::vector<Place> operands, std::vector<Place> results) {
    made.program.steps.add(
        std::make_unique<CallStep>(op(), *function, std::move(operands), std::move(results)));
  }
};

} // namespace

TEST(Call, functionsRunForEachCall) {
  Swapping made;
  made.define();
  made.call({row(made.x), row(made.y)}, {row(made.t), row(made.u)});
  made.call({row(made.t), row(made.u)}, {row(made.first), row(made.second)});
  auto read = program::read(made.made.written());
  ASSERT_TRUE(read) << read.error();
  std::vector<Value> arguments;
  for (const float value : {1.0F, 2.0F}) {
    Tensor tensor = Tensor::zeros(format::element("f32"), {kCount});
    std::ranges::fill(tensor.as<float>(), value);
    arguments.emplace_back(std::move(tensor));
  }
  ProgramRunner runner(std::move(*read));
  const auto results = runner.run(std::move(arguments), RunContext(), {});
  ASSERT_TRUE(results) << results.error();
  EXPECT_EQ((*results)[0].tensor().as<float>()[3], 1);
  EXPECT_EQ((*results)[1].tensor().as<float>()[0], 2);
}

TEST(Call, filesCallWhatStandsBefore) {
  Swapping before;
  auto later = Swapping::swap({row(before.a), row(before.b)}, {row(before.b), row(before.a)});
  before.function = later.get();
  before.call({row(before.x), row(before.y)}, {row(before.first), row(before.second)});
  before.made.program.steps.add(std::move(later));
  EXPECT_EQ(before.made.refusal(), "a call before any function");

  Swapping fewer;
  fewer.define();
  fewer.call({row(fewer.x), row(fewer.y)}, {row(fewer.first)});
  EXPECT_EQ(fewer.made.refusal(), "a call of a function of other arguments or results");

  Swapping shorter;
  shorter.define();
  shorter.call({row(shorter.x, 3), row(shorter.y)}, {row(shorter.first), row(shorter.second)});
  EXPECT_EQ(shorter.made.refusal(), "a copy between places of two types");

  Swapping within;
  Sequence body;
  body.add(Swapping::swap({}, {}));
  within.made.program.steps.add(Swapping::swap({}, {}, std::move(body)));
  EXPECT_EQ(within.made.refusal(), "a function within another sequence than the program's");
}

} // namespace octavo::program
