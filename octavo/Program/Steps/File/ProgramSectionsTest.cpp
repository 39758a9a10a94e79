// Tests of sections of constants, and of sizes that only other sizes bound.
#include "octavo/Program/Steps/File/ProgramFileTestPrograms.h"

#include "octavo/Program/Steps/Place.h"
#include "octavo/Program/Steps/ProgramRunner.h"
#include "octavo/Program/Steps/RandomBits.h"
#include "octavo/Program/Steps/Running.h"
#include "octavo/Program/Steps/Sort.h"

#include <cstring>
#include <new>

namespace octavo::program {
namespace {

constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
constexpr const char* kTooLarge = "a size that memory does not have";

/// A copy of bytes at a multiple of kSectionAlignment, with nothing readable behind them.
class Aligned {
public:
  explicit Aligned(std::span<const std::byte> bytes)
      : memory(static_cast<std::byte*>(
            ::operator new(bytes.size(), std::align_val_t(kSectionAlignment)))),
        size(bytes.size()) {
    std::ranges::copy(bytes, memory);
  }
  Aligned(const Aligned&) = delete;
  ~Aligned() { ::operator delete(memory, std::align_val_t(kSectionAlignment)); }
  std::span<const std::byte> bytes() const { return {memory, size}; }

private:
  std::byte* memory;
  std::size_t size;
};

/// A program that returns a constant of `size` bytes.
struct OneConstant {
  explicit OneConstant(std::int64_t bytes) {
    const numerics::ElementType type(format::element("e4m3fn"));
    Place from{0, Place::InMemory{type, {bytes}}};
    made.program.slots.push_back({.kind = Kind::Constant, .bytes = bytes, .index = 0});
    Tensor tensor = Tensor::zeros(type, {bytes});
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
      tensor.bytes[i] = static_cast<std::byte>(i % 100);
    made.program.constants.emplace_back(std::move(tensor));
    made.program.slots.push_back({.kind = Kind::Result, .bytes = bytes, .index = 0});
    Place to = from;
    to.number = 1;
    made.program.results.push_back(to);
    made.step<CopyStep>(from, to);
    auto written = writeProgram(made.program, [&](std::span<const std::byte> piece) {
      sections.insert(sections.end(), piece.begin(), piece.end());
      return tl::expected<void, std::string>();
    });
    EXPECT_TRUE(written) << written.error();
    steps = std::move(*written);
  }

  Programs made;
  Bytes steps, sections;
};

/// A file must contain kSectionAlignment bytes after the last section, which kernels may read
/// ahead.
TEST(ProgramSections, theLastOneMayEndWhereWhatIsReadAheadBegins) {
  for (const std::int64_t size : {1, 63, 64, 65, 127, 128}) {
    const OneConstant one(size);
    const auto least = static_cast<std::size_t>(size) + kSectionAlignment;
    ASSERT_LE(least, one.sections.size());
    const std::span<const std::byte> all(one.sections);
    const auto read = [&](std::size_t bytes) {
      const auto part = std::make_shared<Aligned>(all.first(bytes));
      return readProgram(one.steps, part->bytes(), part);
    };
    auto program = read(least);
    ASSERT_TRUE(program) << size << ": " << program.error();
    ProgramRunner runner(std::move(*program));
    const auto results = runner.run({}, RunContext(), {});
    ASSERT_TRUE(results) << results.error();
    const auto& bytes = results->front().tensor().bytes;
    EXPECT_EQ(std::memcmp(bytes.data(), one.sections.data(), bytes.size()), 0);
    for (const std::size_t fewer : {least - 1, static_cast<std::size_t>(size), std::size_t{0}}) {
      const auto refused = read(fewer);
      ASSERT_FALSE(refused) << size << " in " << fewer;
      EXPECT_NE(refused.error().find("of weights that have"), std::string::npos);
    }
  }
}

TEST(ProgramSections, liesWhereItIsWritten) {
  const OneConstant one(80);
  const auto sections = std::make_shared<Aligned>(one.sections);
  const auto refusal = [&](std::uint64_t offset, std::uint64_t size) {
    const auto program =
        readProgram(with(one.steps, {0, 80}, {offset, size}), sections->bytes(), sections);
    return program ? "" : program.error();
  };
  EXPECT_NE(refusal(64, 80), ""); // beyond the end
  EXPECT_NE(refusal(8, 80), "");
  EXPECT_NE(refusal(~std::uint64_t{63}, 80), "");
  EXPECT_NE(refusal(std::uint64_t{1} << 63, 80), "");
  EXPECT_NE(refusal(0, 81), "");
  EXPECT_NE(refusal(0, 79), "");
}

/// A tensor with an empty axis has no bytes, but its other axes are still bounded.
TEST(ProgramSections, noAxisIsLargerThanMemoryWhereAnotherIsEmpty) {
  Programs running;
  const Slot from = running.argument({0, 7, 9}), to = running.result({0, 7, 9});
  running.step<RunningStep>(RunningStep::Operation::Add, RunningStep::Element::F32,
                            RunningStep::Layout{0, 7, 9, false}, from, to);
  Bytes file = running.written();
  EXPECT_EQ(refusal(file), "");
  const Words axes = {8, 0, 0, 0, 7, 0, 0, 9, 0, 0}; // after the element type
  EXPECT_EQ(refusal(with(file, axes, {8, 0, 0, 0, kHuge, 0, 0, kHuge, 0, 0})), kTooLarge);
  EXPECT_EQ(refusal(with(file, axes, {8, kHuge, 0, 0, 0, 0, 0, kHuge, 0, 0})), kTooLarge);

  Programs random;
  const Slot state = random.argument({6}), next = random.result({6}),
             bits = random.result({0, 7, 9});
  random.step<RandomBitsStep>(RandomBitsStep::Generator::Threefry,
                              RandomBitsStep::State{state, next, 2},
                              RandomBitsStep::Output{bits, {0, 7, 9}, 32, 4});
  file = random.written();
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(refusal(with(file, {3, 0, 7, 9, 4}, {3, 0, kHuge, kHuge, 4})), kTooLarge);
}

/// A sort without tensors still bounds its lines.
TEST(ProgramSections, linesThatNobodyHasAreNoMoreThanMemory) {
  Programs made;
  const Slot answers = made.argument({4});
  made.program.functions.push_back(nullptr);
  made.step<SortStep>(std::vector<SortStep::Tensor>{}, SortStep::Lines{3, 7, 5},
                      SortStep::Comparator{&made.program.functions.front(), {answers}},
                      std::nullopt);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(refusal(with(file, {3, 0, 0, 7, 0, 0, 5}, {kHuge, 0, 0, 7, 0, 0, kHuge})), kTooLarge);
}

} // namespace
} // namespace octavo::program
