// Files of programs are not trusted: each of these is one that is read and runs, with a few numbers
// changed so that a step would read or write what is not its own.
#include "octavo/Steps/ProgramFile.h"

#include "octavo/Steps/Control.h"
#include "octavo/Steps/Convolution.h"
#include "octavo/Steps/Kernel.h"
#include "octavo/Steps/LinearAlgebra.h"
#include "octavo/Steps/Product.h"
#include "octavo/Steps/ProgramRunner.h"
#include "octavo/Steps/Quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace octavo::steps {
namespace {

using execution::Tensor;
using Bytes = std::vector<std::byte>;
using Words = std::vector<std::uint64_t>;
using Kind = SlotUse::Kind;

constexpr auto kArena = static_cast<std::uint64_t>(Kind::Arena),
               kArgument = static_cast<std::uint64_t>(Kind::Argument),
               kRange = static_cast<std::uint64_t>(Kind::Range);

OperationTextPtr op() {
  return std::make_shared<execution::OperationText>(
      execution::OperationText{"test.step", "here", "", "main", ""});
}

/// A program whose slots are named by what they are for.
class Programs {
public:
  Programs() { program.operations = kOperations; }

  static constexpr std::int64_t kOperations = 12345; ///< to be found by
  Slot argument(std::vector<ItemNumber> shape, const char* format = "f32") {
    return tensor(program.arguments, Kind::Argument, std::move(shape), format);
  }
  Slot result(std::vector<ItemNumber> shape) {
    return tensor(program.results, Kind::Result, std::move(shape), "f32");
  }
  Slot arena(std::int64_t bytes) {
    constexpr auto kAlignment = static_cast<std::int64_t>(kSlotAlignment);
    const Slot slot = add({.kind = Kind::Arena, .bytes = bytes, .offset = program.arenaBytes});
    program.arenaBytes.fixed += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return slot;
  }
  Slot range(ItemNumber bytesOfRow) { return add({.kind = Kind::Range, .bytes = bytesOfRow}); }
  Slot rows(std::int64_t bytesOfRow) { return add({.kind = Kind::Rows, .bytes = bytesOfRow}); }
  template <typename S, typename... Fields> void step(Fields... fields) {
    program.steps.add(std::make_unique<S>(op(), std::move(fields)...));
  }

  Bytes written() {
    auto bytes = writeProgram(
        program, [](std::span<const std::byte>) { return tl::expected<void, std::string>(); });
    EXPECT_TRUE(bytes) << bytes.error();
    return bytes ? std::move(*bytes) : Bytes();
  }

  Program program;

private:
  Slot add(SlotUse use) {
    program.slots.push_back(use);
    return {static_cast<int>(program.slots.size()) - 1};
  }
  Slot tensor(std::vector<Place>& places, Kind kind, std::vector<ItemNumber> shape,
              const char* format) {
    Place place{static_cast<int>(program.slots.size()),
                Place::InMemory{*format::findElementFormat(format), std::move(shape)}};
    const Slot slot =
        add({.kind = kind, .bytes = bytesOf(place), .index = static_cast<int>(places.size())});
    places.push_back(std::move(place));
    return slot;
  }
};

tl::expected<Program, std::string> read(const Bytes& bytes) {
  alignas(64) static const std::byte kNoSections[64] = {};
  return readProgram(bytes, kNoSections, std::make_shared<int>());
}

/// Why a file is refused.
std::string refusal(const Bytes& bytes) {
  const auto program = read(bytes);
  return program ? "" : program.error();
}

/// The file with something else where `from` stands, which it does once.
Bytes with(Bytes file, std::span<const std::byte> from, std::span<const std::byte> to) {
  const auto found = std::ranges::search(file, from);
  EXPECT_FALSE(found.empty());
  if (!found.empty())
    std::ranges::copy(to, found.begin());
  EXPECT_TRUE(std::ranges::search(file, from).empty());
  return file;
}
Bytes with(Bytes file, const Words& from, const Words& to) {
  return with(std::move(file), std::as_bytes(std::span(from)), std::as_bytes(std::span(to)));
}
Bytes with(Bytes file, std::string_view from, std::string_view to) {
  return with(std::move(file), std::as_bytes(std::span(from)), std::as_bytes(std::span(to)));
}

Value tensorOf(std::vector<std::int64_t> shape, float value) {
  Tensor tensor = Tensor::zeros(numerics::ElementType(format::element("f32")), std::move(shape));
  const std::span values(reinterpret_cast<float*>(tensor.bytes.data()),
                         tensor.bytes.size() / sizeof(float));
  std::ranges::fill(values, value);
  return Value(std::move(tensor));
}

MatrixProductStep::Side rowsOf(Slot slot, std::int64_t depth) { return {slot, 0, depth, 1}; }
MatrixBatch one() { return {.offsets = {{0, 0, 0}}}; }

constexpr std::int64_t kRows = 3000, kDepth = 4, kHidden = 5, kColumns = 3;

/// Two products in a chain, with memory for a range of what is between them.
Bytes chainOfProducts() {
  Programs made;
  const Slot x = made.argument({kRows, kDepth}), w = made.argument({kHidden, kDepth}),
             v = made.argument({kColumns, kHidden}), y = made.result({kRows, kColumns});
  const Slot hidden = made.range(kHidden * sizeof(float));
  made.program.rightCount = 2;
  std::vector<std::unique_ptr<RowStep>> links;
  links.push_back(std::make_unique<MatrixProductStep>(
      op(), kernels::PlainType::F32, rowsOf(x, kDepth), rowsOf(w, kDepth), hidden,
      ItemNumber{kRows}, std::nullopt, kDepth, kHidden, one(), 0));
  links.push_back(std::make_unique<MatrixProductStep>(
      op(), kernels::PlainType::F32, rowsOf(hidden, kHidden), rowsOf(v, kHidden), y,
      ItemNumber{kRows}, std::nullopt, kHidden, kColumns, one(), 1));
  made.step<ChainStep>(std::move(links),
                       std::vector<ChainStep::RangeSlot>{{hidden, 0, kHidden * sizeof(float)}},
                       kSlotAlignment, ItemNumber{kRows}, false);
  return made.written();
}

TEST(ProgramFile, isReadAndRun) {
  auto program = read(chainOfProducts());
  ASSERT_TRUE(program) << program.error();
  ProgramRunner runner(std::move(*program));
  const auto results = runner.run({tensorOf({kRows, kDepth}, 1), tensorOf({kHidden, kDepth}, 2),
                                   tensorOf({kColumns, kHidden}, 3)},
                                  Host(), {});
  ASSERT_TRUE(results) << results.error();
  for (const std::byte *at = results->front().tensor().bytes.data(),
                       *end = at + results->front().tensor().bytes.size();
       at != end; at += sizeof(float)) {
    float found = 0;
    std::memcpy(&found, at, sizeof found);
    ASSERT_EQ(found, 1 * 2 * 4 * 3 * 5);
  }
}

TEST(ProgramFile, linksFillTheRowsOfTheirChain) {
  constexpr std::uint64_t kBytes = kHidden * sizeof(float);
  const Bytes file = chainOfProducts();
  // Its slot's rows lie farther apart than the product's.
  EXPECT_EQ(refusal(with(with(file, {kRange, kBytes}, {kRange, 2 * kBytes}), {4, 0, 0, 0, kBytes},
                         {4, 0, 0, 0, 2 * kBytes})),
            "products that reach beyond a row of their chain in slot 4");
  // The chain has less memory for it than the slot is said to have.
  EXPECT_EQ(refusal(with(file, {4, 0, 0, 0, kBytes}, {4, 0, 0, 0, 4})),
            "slot 4 is no memory of a chain's with 4 bytes for each row");
  // It moves an argument into its memory.
  EXPECT_EQ(refusal(with(file, {4, 0, 0, 0, kBytes}, {0, 0, 0, 0, kBytes})),
            "slot 0 is no memory of a chain's with 20 bytes for each row");
  // The second product has half the rows: each of its rows would be half of one.
  EXPECT_EQ(refusal(with(file, {kRows, 0, 0, kHidden, 0, 0, kColumns},
                         {kRows / 2, 0, 0, kHidden, 0, 0, kColumns})),
            "1500 rows in a chain of 3000");
  // What is packed before the chain begins would lie in memory of a range.
  EXPECT_EQ(refusal(with(file, {1, 4, 3, 2}, {1, 4, 3, 4})),
            "products that reach beyond a row of their chain in slot 4");
}

TEST(ProgramFile, productsOfABatchStayInTheRowsOfTheirChain) {
  Programs made;
  const Slot x = made.argument({4}), w = made.argument({2, 5, 4});
  const Slot all = made.range(std::int64_t{3} * 5 * std::int64_t{sizeof(float)});
  made.program.rightCount = 1;
  std::vector<std::unique_ptr<RowStep>> links;
  links.push_back(std::make_unique<MatrixProductStep>(
      op(), kernels::PlainType::F32, MatrixProductStep::Side{x, 0, 0, 1}, rowsOf(w, 4), all,
      ItemNumber{3}, std::nullopt, 4, 5, MatrixBatch{.offsets = {{0, 0, 0}, {0, 20, 15}}}, 0));
  made.step<ChainStep>(std::move(links),
                       std::vector<ChainStep::RangeSlot>{{all, 0, 3 * 5 * sizeof(float)}},
                       kSlotAlignment, ItemNumber{2}, true);
  const Bytes file = made.written();
  const std::string beyond = "products that reach beyond a row of their chain in slot 2";
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(refusal(with(file, {20, 15}, {20, 16})), beyond);
  EXPECT_EQ(refusal(with(file, {3, 0, 0, 4, 0, 0, 5}, {3, 1, 0, 4, 0, 0, 5})), beyond);
}

TEST(ProgramFile, aPrologueMakesTheRowsOfItsProduct) {
  Programs made;
  const Slot q = made.argument({2, 1, 4}), codes = made.argument({2, 3, 4}, "e4m3fn"),
             scores = made.result({2, 1, 3}), keys = made.rows(4 * sizeof(float));
  made.program.rightCount = 1;
  made.program.functions.push_back(nullptr);
  auto product = std::make_unique<MatrixProductStep>(
      op(), kernels::PlainType::F32, rowsOf(q, 4), rowsOf(keys, 4), scores, ItemNumber{1},
      std::nullopt, 4, 3, MatrixBatch{.offsets = {{0, 0, 0}, {4, 12, 3}}}, 0);
  product->beginWith(std::make_unique<KernelStep>(
      op(), made.program.functions.front(), std::vector{codes, keys}, ItemNumber{24}, ItemNumber{7},
      StepFacts{.kind = StepFacts::Kind::Kernel}));
  made.program.steps.add(std::move(product));
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  const std::string none = "a product whose prologue does not make its right side";
  // Rows of the kernel that are no whole number for each.
  EXPECT_EQ(refusal(with(file, {24, 0, 0, 7}, {25, 0, 0, 7})), none);
  // A right side that ends beyond the last row; one that begins in the middle of a row; a kernel
  // for any number of items, whose product is for one.
  EXPECT_EQ(refusal(with(file, {4, 12, 3}, {4, 16, 3})), none);
  EXPECT_EQ(refusal(with(file, {4, 12, 3}, {4, 10, 3})), none);
  EXPECT_EQ(refusal(with(file, {24, 0, 0, 7}, {24, 1, 0, 7})), none);
  // A left side of rows that its prologue makes.
  EXPECT_EQ(refusal(with(file, {0, 0, 0, 2, 3}, {0, 0, 3, 2, 3})),
            "slot 3 has memory for a prologue alone");
}

TEST(ProgramFile, anArgumentLiesInOneSlot) {
  EXPECT_EQ(refusal(with(chainOfProducts(), {kArgument, 80, 0, 0, 1}, {kArgument, 80, 0, 0, 0})),
            "slot 1 is of an argument that lies in another");
}

TEST(ProgramFile, itemsAreThoseOfArguments) {
  EXPECT_EQ(refusal(with(chainOfProducts(), {Programs::kOperations, 1, 1},
                         {Programs::kOperations, 0, 1})),
            "a program of any number of items, none of which are given to it");
}

/// Products with scaled weights, whose left sides are packed before them.
class ScaledPrograms : public Programs {
public:
  static constexpr std::int64_t kRows = 40, kDepth = 32, kColumns = 3;

  /// Steps that pack so many rows to number `number` and multiply them.
  std::vector<std::unique_ptr<RowStep>> links(int number, std::int64_t rows,
                                              ScaledProductStep::Weight weight,
                                              std::optional<MovedWeight> moved) {
    std::vector<std::unique_ptr<RowStep>> links;
    links.push_back(std::make_unique<PackStep>(op(), plan, std::nullopt, x, Matrices(),
                                               ItemNumber{rows}, std::nullopt, number));
    links.push_back(std::make_unique<ScaledProductStep>(
        op(), plan, number, weight, std::move(moved), Matrices(), false, y, ItemNumber{rows},
        std::nullopt, ItemNumber{kColumns}, number));
    program.packedCount = program.rightCount = number + 1;
    return links;
  }
  std::vector<std::unique_ptr<RowStep>> links(int number, std::int64_t rows = kRows) {
    return links(number, rows, PartSlots{elements, scales, std::nullopt}, std::nullopt);
  }
  void chain(int number) {
    step<ChainStep>(links(number), std::vector<ChainStep::RangeSlot>(), kSlotAlignment,
                    ItemNumber{kRows}, false);
  }
  void alone(std::vector<std::unique_ptr<RowStep>> links) {
    for (std::unique_ptr<RowStep>& link : links)
      program.steps.add(std::move(link));
  }
  void alone(int number, std::int64_t rows = kRows) { alone(links(number, rows)); }
  /// The file whose product has other numbers of its left and its right side.
  static Bytes product(const Bytes& file, Words from, Words to) {
    from.insert(from.begin(), {kColumns, 0, 0, 0});
    to.insert(to.begin(), {kColumns, 0, 0, 0});
    return with(file, from, to);
  }

  const Slot x = argument({kRows, kDepth}), elements = argument({kColumns, kDepth}, "e4m3fn"),
             scales = argument({kColumns, 1}, "e4m3fn"), y = result({kRows, kColumns});

private:
  const kernels::ProductPlan plan = *kernels::productPlan(
      kernels::floatOperand(), kernels::operandFormat(*format::findScaledFormat("mxfp8_e4m3")),
      kDepth);
};

TEST(ProgramFile, leftSidesArePackedBeforeTheirProducts) {
  const std::string notBefore = "a product whose left side is not packed before it";
  ScaledPrograms chains;
  chains.chain(0);
  chains.chain(1);
  const Bytes ofChains = chains.written();
  EXPECT_EQ(refusal(ofChains), "");
  EXPECT_EQ(refusal(ScaledPrograms::product(ofChains, {1, 1}, {0, 1})), notBefore);
  EXPECT_EQ(refusal(ScaledPrograms::product(ofChains, {0, 0}, {1, 0})), notBefore);

  ScaledPrograms mixed;
  mixed.alone(0);
  mixed.chain(1);
  EXPECT_EQ(refusal(ScaledPrograms::product(mixed.written(), {1, 1}, {0, 1})),
            "a product whose left side is packed in another chain");

  ScaledPrograms branching;
  std::vector<BranchStep::Branch> branches(2);
  for (std::unique_ptr<RowStep>& link : branching.links(0))
    branches.front().steps.add(std::move(link));
  branching.step<BranchStep>(branching.scales, true, std::move(branches), std::vector<Place>());
  branching.alone(1);
  EXPECT_EQ(refusal(ScaledPrograms::product(branching.written(), {1, 1}, {0, 1})), notBefore);
}

TEST(ProgramFile, numbersOfSidesAreOfOneThing) {
  ScaledPrograms made;
  made.alone(0);
  made.alone(1, ScaledPrograms::kRows / 2);
  const Bytes file = made.written();
  const auto x = static_cast<std::uint64_t>(made.x.number);
  EXPECT_EQ(refusal(with(file, {ScaledPrograms::kRows / 2, 0, 0, 0, x, 1},
                         {ScaledPrograms::kRows / 2, 0, 0, 0, x, 0})),
            "a left side that is packed for products of two forms");
  EXPECT_EQ(refusal(ScaledPrograms::product(file, {1, 1}, {1, 0})), "a right side of two products");
}

TEST(ProgramFile, weightsAreGatheredFromWhatTheyAre) {
  // Of two slices, of which an index chooses one, each of three columns that lie one after the
  // other.
  constexpr std::int64_t kSlices = 2;
  ScaledPrograms made;
  const Slot index = made.argument({1}, "f32");
  constexpr std::int64_t kAll = kSlices * ScaledPrograms::kColumns;
  const Slot codes = made.argument({kAll, ScaledPrograms::kDepth}, "e4m3fn"),
             scales = made.argument({kAll, 1}, "e4m3fn");
  constexpr std::int64_t kColumns = ScaledPrograms::kColumns,
                         kOfSlice = kColumns * ScaledPrograms::kDepth;
  const Gathered elements{0, {{kSlices, kOfSlice}, {kOfSlice, 1}}},
      ofScales{0, {{kSlices, kColumns}, {kColumns, 1}}};
  made.alone(made.links(0, ScaledPrograms::kRows, PartSlots{codes, scales, std::nullopt},
                        MovedWeight{elements, ofScales, {{{kSlices, {index, 4, false}}}}}));
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  // Codes that begin later, scales of fewer slices, and slices that are no whole number of axes.
  const std::string otherForm = "a weight that is gathered in another form";
  EXPECT_NE(refusal(with(file, {0, 2, kSlices, kOfSlice}, {1, 2, kSlices, kOfSlice})).find("bytes"),
            std::string::npos);
  EXPECT_EQ(
      refusal(with(file, {kSlices, kColumns, kColumns, 1}, {kSlices, kColumns, kColumns - 1, 1})),
      otherForm);
  EXPECT_EQ(refusal(with(file, {kSlices, kColumns, kColumns, 1}, {kColumns, kColumns, kSlices, 1})),
            otherForm);
}

TEST(ProgramFile, groupsOfRowsHaveMatricesAndSizes) {
  constexpr std::int64_t kGroups = 3, kFar = kHidden * kDepth;
  Programs made;
  const Slot x = made.argument({5, kDepth}), sizes = made.argument({kGroups}, "f32"),
             stack = made.argument({kGroups, kHidden, kDepth}), y = made.result({5, kHidden});
  MatrixProductStep::Side right = rowsOf(stack, kDepth);
  right.sliceStride = kFar;
  made.program.rightCount = 1;
  made.step<MatrixProductStep>(kernels::PlainType::F32, rowsOf(x, kDepth), right, y, ItemNumber{5},
                               RowGroups{sizes, 4, false, kGroups}, kDepth, kHidden, one(), 0);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  const auto groups = [&](std::uint64_t far, std::uint64_t count, std::uint64_t bytes) {
    const auto slot = static_cast<std::uint64_t>(sizes.number);
    return refusal(
        with(file, {0, kFar, 1, kGroups, 4, 0, slot}, {0, far, 1, count, bytes, 0, slot}));
  };
  EXPECT_EQ(groups(kFar, kGroups + 1, 4), "slot 1 has 12 bytes, 16 are used");
  EXPECT_EQ(groups(kFar, kGroups, 8), "slot 1 has 12 bytes, 24 are used");
  EXPECT_NE(groups(kFar + 1, kGroups, 4).find("slot 2 has"), std::string::npos);
}

TEST(ProgramFile, slicesLieInTheirStack) {
  // Three matrices one after the other, of which an index chooses one.
  constexpr std::int64_t kSlices = 3, kFar = kHidden * kDepth;
  Programs made;
  const Slot x = made.argument({2, kDepth}), index = made.argument({1}, "f32"),
             stack = made.argument({kSlices, kHidden, kDepth}), y = made.result({2, kHidden});
  MatrixProductStep::Side right = rowsOf(stack, kDepth);
  right.slices = {{{kSlices, {index, 4, false}}}};
  right.sliceStride = kFar;
  made.program.rightCount = 1;
  made.step<MatrixProductStep>(kernels::PlainType::F32, rowsOf(x, kDepth), right, y, ItemNumber{2},
                               std::nullopt, kDepth, kHidden, one(), 0);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  const auto slices = [&](std::uint64_t count, std::uint64_t bytes, std::uint64_t far) {
    const auto slot = static_cast<std::uint64_t>(index.number);
    return refusal(
        with(file, {1, kSlices, 0, 0, 4, 0, slot, kFar}, {1, count, 0, 0, bytes, 0, slot, far}));
  };
  EXPECT_NE(slices(kSlices + 1, 4, kFar).find("bytes"), std::string::npos);
  EXPECT_NE(slices(kSlices, 4, kFar + 1).find("bytes"), std::string::npos);
  EXPECT_NE(slices(kSlices, 8, kFar).find("bytes"), std::string::npos);
}

TEST(ProgramFile, quantizedSlicesLieInTheirStack) {
  // Three matrices side by side, of which an index chooses one.
  constexpr std::int64_t kSlices = 3, kRows = 2;
  const auto written = [&](const char* format) {
    Programs made;
    const Slot index = made.argument({1}, "f32"), stack = made.argument({kRows, kSlices, kDepth});
    const Gathered values{0, {{kSlices, kDepth}, {kRows, kSlices * kDepth}, {kDepth, 1}}};
    made.program.valueCount = 1;
    made.step<QuantizeStep>(stack,
                            QuantizeStep::Slices{values,
                                                 format::findElementFormat(format),
                                                 {{{kSlices, {index, 4, false}}}}},
                            std::nullopt, kernels::Layout::RowMajor,
                            ScaledShape({kRows, kDepth}, {format::findElementFormat("e2m1fn"),
                                                          format::findElementFormat("e4m3fn"),
                                                          {1, 16},
                                                          true}),
                            numerics::QuantizeOptions{.rule = format::ScaleRule::Nearest}, 0);
    return made.written();
  };
  for (const char* format : {"f32", "bf16", "f16", "e4m3fn"})
    EXPECT_EQ(refusal(written(format)), "") << format;
  EXPECT_EQ(refusal(with(written("f16"), "f16", "f64")),
            "a quantization of elements that f32 does not hold");
  EXPECT_NE(
      refusal(with(written("f32"), {0, 3, kSlices, kDepth}, {1, 3, kSlices, kDepth})).find("bytes"),
      std::string::npos);
}

TEST(ProgramFile, productsHaveAnIndexEach) {
  // Two products, each of one of three matrices.
  constexpr std::int64_t kSlices = 3, kFar = kHidden * kDepth;
  Programs made;
  const Slot x = made.argument({2, kDepth}), indices = made.argument({2}, "f32"),
             stack = made.argument({kSlices, kHidden, kDepth}), y = made.result({2, kHidden});
  MatrixProductStep::Side right = rowsOf(stack, kDepth);
  right.slices = {{{kSlices, {indices, 4, false}, 0, 1}}};
  right.sliceStride = kFar;
  made.program.rightCount = 1;
  made.step<MatrixProductStep>(kernels::PlainType::F32, rowsOf(x, kDepth), right, y, ItemNumber{1},
                               std::nullopt, kDepth, kHidden,
                               MatrixBatch{.offsets = {{0, 0, 0}, {kDepth, 0, kHidden}}}, 0);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  const auto slot = static_cast<std::uint64_t>(indices.number);
  EXPECT_EQ(refusal(with(file, {kSlices, 1, 0, 4, 0, slot}, {kSlices, 2, 0, 4, 0, slot})),
            "slot 1 has 8 bytes, 16 are used");
  EXPECT_EQ(refusal(with(file, {kSlices, 1, 0, 4, 0, slot}, {kSlices, 0, 0, 4, 0, slot})),
            "a product of no batch");
  EXPECT_EQ(refusal(with(file, {0, 0, 0, kDepth, 0, kHidden}, {0, 0, 0, kDepth, 1, kHidden})),
            "products that choose among slices which begin elsewhere for each");
}

TEST(ProgramFile, productsBeginWhereTheyLieForEachPairOfItemsToo) {
  constexpr std::int64_t kSlices = 3;
  const auto refusalOf = [&](bool isOfChoice, const MatrixBatch& batch) {
    Programs made;
    const Slot x = made.argument({2, kDepth}), indices = made.argument({2}, "f32"),
               stack = made.argument({kSlices, kHidden, kDepth}), y = made.result({2, kHidden});
    MatrixProductStep::Side right = rowsOf(stack, kDepth);
    if (isOfChoice) {
      right.slices = {{{kSlices, {indices, 4, false}, 0, 1}}};
      right.sliceStride = kHidden * kDepth;
    }
    made.program.rightCount = 1;
    made.step<MatrixProductStep>(kernels::PlainType::F32, rowsOf(x, kDepth), right, y,
                                 ItemNumber{1}, std::nullopt, kDepth, kHidden, batch, 0);
    const auto written = writeProgram(
        made.program, [](std::span<const std::byte>) { return tl::expected<void, std::string>(); });
    return written ? std::string() : written.error();
  };
  MatrixBatch alone{.offsets = {{0, 0, 0}}, .factors = {{0, 0, 0}}, .squares = {{0, 0, 0}}};
  EXPECT_EQ(refusalOf(false, alone), "");
  alone.squares.front().right = 1;
  EXPECT_EQ(refusalOf(false, alone), "a product of no batch");
  MatrixBatch choosing{.offsets = {{0, 0, 0}, {kDepth, 0, kHidden}},
                       .factors = {{0, 0, 0}, {0, 0, 0}},
                       .squares = {{0, 0, 0}, {0, 0, 0}}};
  EXPECT_EQ(refusalOf(true, choosing), "");
  choosing.squares.back().right = 1;
  EXPECT_EQ(refusalOf(true, choosing),
            "products that choose among slices which begin elsewhere for each");
}

TEST(ProgramFile, slotsThatChangePlacesHaveTheSameOfItems) {
  Programs made;
  made.argument({{0, 1}, 4});
  const Slot given = made.argument({4}), predicate = made.argument({1}, "e4m3fn");
  const Slot a = made.arena(16), b = made.arena(16);
  made.program.arenaBytes.factor = 2 * kSlotAlignment;
  made.program.items = {1, 9};
  const auto place = [&](Slot slot) {
    return Place{slot.number, Place::InMemory{numerics::ElementType(format::element("f32")), {4}}};
  };
  Sequence body;
  body.add(std::make_unique<CopyStep>(op(), place(a), place(b)));
  made.step<WhileStep>(std::vector<WhileStep::Carried>{{place(given), place(a), place(b)}},
                       Sequence(), predicate, std::move(body));
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(refusal(with(file, {kArena, 16, 0, 0, 0, 0, kSlotAlignment},
                         {kArena, 16, 1, 0, 0, 0, kSlotAlignment})),
            "slots 3 and 4 do not change places");
}

TEST(ProgramFile, whatIsCopiedIsOfItemsOnBothSides) {
  Programs made;
  const Slot from = made.argument({{0, 2}, 4}), to = made.result({{0, 2}, 4});
  made.program.items = {1, 9};
  const auto place = [](Slot slot) {
    return Place{slot.number,
                 Place::InMemory{numerics::ElementType(format::element("f32")), {{0, 4}, 2}}};
  };
  made.step<CopyStep>(place(from), place(to));
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(refusal(with(file, {2, 0, 4, 0, 2, 0, 0, 1}, {2, 4, 0, 0, 2, 0, 0, 1})),
            "a copy between places of two types");
}

TEST(ProgramFile, whatRowsOfItemsUseIsOfItems) {
  Programs made;
  const Slot a = made.argument({2, 3, 3}), l = made.result({2, 3, 3});
  made.step<CholeskyStep>(Numbers{false, false}, true, ItemNumber{2}, 3, a, l);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(refusal(with(file, {2, 0, 0, 3, 0, 1}, {0, 2, 0, 3, 0, 1})),
            "slot 0 has 0 bytes for each item, 72 are used");
}

/// Products that contract the items, and chains of them: each side reaches as far as its own.
TEST(ProgramFile, productsOfItemsReachWhatTheyHave) {
  constexpr std::int64_t kWidth = 6, kMore = 2;
  Programs made;
  const Slot x = made.argument({kWidth, {kMore, 1}}), y = made.argument({{kMore, 1}, 5}),
             z = made.result({kWidth, 5});
  made.program.items = {1, 9};
  made.program.rightCount = 1;
  const ItemNumber depth{kMore, 1};
  made.step<MatrixProductStep>(kernels::PlainType::F32, MatrixProductStep::Side{x, 0, depth, 1},
                               MatrixProductStep::Side{y, 0, 1, 5}, z, ItemNumber{kWidth},
                               std::nullopt, depth, ItemNumber{5}, one(), 0);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  // One more than there is of each item, and besides.
  const Words sizes{kWidth, 0, 0, kMore, 1, 0, 5, 0, 0};
  EXPECT_NE(
      refusal(with(file, sizes, {kWidth, 0, 0, kMore, 2, 0, 5, 0, 0})).find("bytes for each item"),
      std::string::npos);
  EXPECT_NE(refusal(with(file, sizes, {kWidth, 0, 0, kMore + 1, 1, 0, 5, 0, 0})).find("bytes, "),
            std::string::npos);
  // Columns of items besides a pair of them for each that is contracted: there are no more than
  // pairs.
  EXPECT_EQ(refusal(with(file, sizes, {kWidth, 0, 0, kMore, 1, 1, 5, 1, 0})),
            "a size that memory does not have");
  // Fewer of more items.
  EXPECT_EQ(refusal(with(file, sizes, {kWidth, 0, 0, kMore, ~std::uint64_t{0}, 0, 5, 0, 0})),
            "2, -1 for each item and 0 for each pair, which is less than none");
}

/// [5, n] by [3, n], of which the right side is quantized.
TEST(ProgramFile, scaledProductsContractItems) {
  constexpr std::int64_t kRows = 5, kColumns = 3;
  const ItemNumber items{0, 1};
  const format::ScaledFormat& format = *format::findScaledFormat("mxfp8_e4m3");
  OpenPlan plan(
      *kernels::productPlan(kernels::floatOperand(), kernels::operandFormat(format), 1000));
  plan.depth = items;
  ScaledShape shape({kColumns, 1000}, {format.element, format.scale, {1, 32}});
  shape.extents.back() = items;
  Programs made;
  const Slot x = made.argument({kRows, items}), w = made.argument({kColumns, items}),
             y = made.result({kRows, kColumns});
  made.program.valueCount = made.program.packedCount = made.program.rightCount = 1;
  made.step<QuantizeStep>(w, std::nullopt, std::nullopt, kernels::Layout::RowMajor, shape,
                          numerics::QuantizeOptions{}, 0);
  made.step<PackStep>(plan, std::nullopt, x, Matrices(), ItemNumber{kRows}, std::nullopt, 0);
  made.step<ScaledProductStep>(plan, 0, 0, std::nullopt, Matrices(), false, y, ItemNumber{kRows},
                               std::nullopt, ItemNumber{kColumns}, 0);
  EXPECT_EQ(refusal(made.written()), "");

  const auto refusalOf = [&](auto change) {
    Programs other;
    ScaledShape tensor = shape;
    OpenPlan products = plan;
    change(tensor, products);
    const Slot left = other.argument({kRows, items}), right = other.argument({kColumns, items}),
               result = other.result({kRows, kColumns});
    other.program.valueCount = other.program.packedCount = other.program.rightCount = 1;
    other.step<QuantizeStep>(right, std::nullopt, std::nullopt, kernels::Layout::RowMajor, tensor,
                             numerics::QuantizeOptions{}, 0);
    other.step<PackStep>(products, std::nullopt, left, Matrices(), ItemNumber{kRows}, std::nullopt,
                         0);
    other.step<ScaledProductStep>(products, 0, 0, std::nullopt, Matrices(), false, result,
                                  ItemNumber{kRows}, std::nullopt, ItemNumber{kColumns}, 0);
    const auto written = writeProgram(other.program, [](std::span<const std::byte>) {
      return tl::expected<void, std::string>();
    });
    return written ? std::string() : written.error();
  };
  const std::string otherForm = "a product with a weight of another form";
  EXPECT_EQ(refusalOf([&](ScaledShape& tensor, OpenPlan&) { tensor.blocks.back() = 16; }),
            otherForm);
  EXPECT_EQ(refusalOf([&](ScaledShape& tensor, OpenPlan&) { tensor.blocks.back() = items; }),
            otherForm);
  EXPECT_EQ(refusalOf([&](ScaledShape& tensor, OpenPlan&) { tensor.blocks.back() = {1, 1}; }),
            "blocks of no elements, or of items that are less than an axis");
  EXPECT_EQ(refusalOf([&](ScaledShape&, OpenPlan& other) { other.rightAlong = {1, 1}; }),
            "blocks of items that are less than an axis");
  EXPECT_EQ(refusalOf([&](ScaledShape&, OpenPlan& other) { other.depth = {-1, 1}; }),
            "a product that contracts nothing");
  EXPECT_NE(refusalOf([&](ScaledShape& tensor, OpenPlan&) { tensor.extents.back() = {0, 2}; }), "");
}

/// Sums of one scale are exact up to so many elements.
TEST(ProgramFile, productsHaveAsManyItemsAsTheirSumsAreExactOf) {
  const ItemNumber items{0, 1};
  const kernels::OperandFormat perRow{format::findElementFormat("int8"),
                                      format::findElementFormat("f32"), 1, format::kWholeAxis};
  OpenPlan plan(*kernels::productPlan(perRow, perRow, 1000));
  plan.depth = plan.leftAlong = plan.rightAlong = items;
  Programs made;
  const ScaledShape shape = [&] {
    ScaledShape open({3, 1000}, {perRow.element, perRow.scale, {1, 1000}});
    open.extents.back() = open.blocks.back() = items;
    return open;
  }();
  const Slot x = made.argument({3, items}), y = made.result({3, 3});
  made.program.items = {1, kMostItems};
  made.program.valueCount = made.program.packedCount = made.program.rightCount = 1;
  made.step<QuantizeStep>(x, std::nullopt, std::nullopt, kernels::Layout::RowMajor, shape,
                          numerics::QuantizeOptions{}, 0);
  made.step<PackStoredStep>(plan, 0, Matrices(), ItemNumber{3}, 0);
  made.step<ScaledProductStep>(plan, 0, 0, std::nullopt, Matrices(), false, y, ItemNumber{3},
                               std::nullopt, ItemNumber{3}, 0);
  const auto program = read(made.written());
  ASSERT_TRUE(program) << program.error();
  const auto isExact = [&](std::int64_t depth) {
    return kernels::productPlan(perRow, perRow, depth).has_value();
  };
  EXPECT_TRUE(isExact(program->items.most));
  EXPECT_FALSE(isExact(program->items.most + 1));
}

TEST(ProgramFile, aValueIsAScaledTensorOrNone) {
  ScaledPrograms made;
  constexpr int kFrom = 0, kMade = 77;
  made.program.valueCount = kMade + 1;
  made.step<CopyStep>(Place{kFrom}, Place{1});
  numerics::ScaledType type{format::findElementFormat("e4m3fn"),
                            format::findElementFormat("e8m0fnu"),
                            {1, ScaledPrograms::kDepth}};
  made.step<FromPartsStep>(ScaledParts{{made.elements, made.scales, std::nullopt},
                                       {{ScaledPrograms::kColumns, ScaledPrograms::kDepth}, type}},
                           kMade);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(refusal(with(file, {kMade}, {kFrom})),
            "value 0 is a scaled tensor, and takes the place of none");
}

TEST(ProgramFile, argumentsMayBeScaledTensors) {
  constexpr int kWeight = 7;
  const std::vector<std::int64_t> shape{3, 32};
  const numerics::ScaledType type{
      format::findElementFormat("e4m3fn"), format::findElementFormat("e8m0fnu"), {1, 32}};
  Programs made;
  made.program.valueCount = kWeight + 1;
  made.program.arguments.push_back({kWeight});
  made.program.scaledArguments.push_back({kWeight, type, shape});
  made.step<DequantizeStep>(kWeight, ScaledShape(shape, type),
                            made.result({shape.begin(), shape.end()}));
  const auto program = read(made.written());
  ASSERT_TRUE(program) << program.error();
  ASSERT_EQ(program->scaledArguments.size(), 1U);
  EXPECT_EQ(program->scaledArguments.front().shape, shape);
  EXPECT_EQ(program->scaledArguments.front().type, type);

  const auto refusalOf = [&] {
    const auto written = writeProgram(
        made.program, [](std::span<const std::byte>) { return tl::expected<void, std::string>(); });
    return written ? "" : written.error();
  };
  made.program.scaledArguments.front().shape.front() = 4;
  EXPECT_EQ(refusalOf(), "value 7 is not the scaled tensor that is read");
  made.program.scaledArguments.clear();
  EXPECT_EQ(refusalOf(), "an argument that is not bound is neither a tensor nor a scaled one");
}

TEST(ProgramFile, scalesFitTheirContainers) {
  Programs made;
  const Slot elements = made.argument({3, 32}, "e4m3fn"), scales = made.argument({3}, "f64");
  made.program.valueCount = 1;
  made.step<FromPartsStep>(
      ScaledParts{
          {elements, scales, std::nullopt},
          {{3, 32},
           {format::findElementFormat("e4m3fn"), format::findElementFormat("f16"), {1, 32}}}},
      0);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(refusal(with(file, "f16", "f64")),
            "a scaled type of formats that do not scale one another");
}

TEST(ProgramFile, whatIsPackedIsNoLargerThanMemory) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
  const std::string tooLarge = "a size that memory does not have";
  Programs product;
  const MatrixProductStep::Side nowhere{product.argument({1}), 0, 0, 0};
  product.program.rightCount = 1;
  product.step<MatrixProductStep>(kernels::PlainType::F32, nowhere, nowhere, product.arena(64),
                                  ItemNumber{0}, std::nullopt, std::int64_t{7}, std::int64_t{9},
                                  one(), 0);
  EXPECT_EQ(refusal(with(product.written(), {0, 0, 0, 7, 0, 0, 9}, {0, 0, 0, kHuge, 0, 0, kHuge})),
            tooLarge);

  Programs patches;
  const Slot input = patches.argument({1});
  patches.program.rightCount = 1;
  const OpenPatchShape shape{
      {.type = kernels::PlainType::F32, .batch = 0, .features = 7, .outputs = 9},
      {{1, 1, 1, 1, 0, 1, 1, 0, 0}}};
  patches.step<ConvolutionStep>(shape, input, input, patches.arena(64), 0);
  EXPECT_EQ(refusal(with(patches.written(), {0, 7, 0, 0, 9}, {0, kHuge, 0, 0, kHuge})), tooLarge);
}

/// Windows of 3 places over images of 7 of 5 features, 11 outputs: of any number of images.
TEST(ProgramFile, imagesOfItemsLieOneAfterAnother) {
  Programs made;
  const Slot x = made.argument({{0, 1}, 7, 5}), w = made.argument({3, 5, 11}),
             y = made.result({{0, 1}, 5, 11});
  made.program.rightCount = 1;
  const OpenPatchShape shape{{.type = kernels::PlainType::F32,
                              .batch = {0, 1},
                              .features = 5,
                              .outputs = 11,
                              .imageStride = 35,
                              .weightInputStride = 11,
                              .weightOutputStride = 1},
                             {{7, 3, 5, 1, 0, 1, 1, 5, 55}}};
  made.step<ConvolutionStep>(shape, x, w, y, 0);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(
      refusal(with(file, {0, 1, 0, 5, 0, 0, 11, 0, 0, 1, 1}, {0, 1, 0, 5, 0, 0, 11, 0, 0, 1, 11})),
      "slot 0 has 140 bytes for each item, 1540 are used");
  EXPECT_EQ(refusal(with(file, {35, 0, 0, 0, 0, 0, 11}, {~std::uint64_t{34}, 0, 0, 0, 0, 0, 11})),
            "an array that reaches beyond its memory");
  EXPECT_NE(refusal(with(file, {35, 0, 0, 0, 0, 0, 11}, {36, 0, 0, 0, 0, 0, 11})), "");
  EXPECT_NE(refusal(with(file, {35, 0, 0, 0, 0, 0, 11}, {35, 1, 0, 0, 0, 0, 11})), "");
}

} // namespace
} // namespace octavo::steps
