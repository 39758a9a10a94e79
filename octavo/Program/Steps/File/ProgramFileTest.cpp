// Program files are not trusted. Each test writes a valid file and changes a few numbers, so that a
// step would read or write memory that does not belong to it.
#include "octavo/Program/Steps/File/ProgramFileTestPrograms.h"

#include "octavo/Program/Steps/Control.h"
#include "octavo/Program/Steps/Kernel.h"
#include "octavo/Program/Steps/LinearAlgebra.h"
#include "octavo/Program/Steps/Products/Convolution.h"
#include "octavo/Program/Steps/ProgramRunner.h"

#include <cstring>

namespace octavo::program {
namespace {

constexpr auto kArena = static_cast<std::uint64_t>(Kind::Arena),
               kArgument = static_cast<std::uint64_t>(Kind::Argument),
               kRange = static_cast<std::uint64_t>(Kind::Range);

Value tensorOf(std::vector<std::int64_t> shape, float value) {
  Tensor tensor = Tensor::zeros(numerics::ElementType(format::element("f32")), std::move(shape));
  const std::span values(reinterpret_cast<float*>(tensor.bytes.data()),
                         tensor.bytes.size() / sizeof(float));
  std::ranges::fill(values, value);
  return Value(std::move(tensor));
}

constexpr std::int64_t kRows = 3000, kDepth = 4, kHidden = 5, kColumns = 3;

/// Two products in a chain, with a range slot for the rows between them.
Bytes chainOfProducts() {
  Programs made;
  const Slot x = made.argument({kRows, kDepth}), w = made.argument({kHidden, kDepth}),
             v = made.argument({kColumns, kHidden}), y = made.result({kRows, kColumns});
  const Slot hidden = made.range(kHidden * sizeof(float));
  made.program.rightCount = 2;
  std::vector<std::unique_ptr<RowStep>> links;
  links.push_back(std::make_unique<MatrixProductStep>(
      op(), kernels::PlainType::F32, rowsOf(x, kDepth), rowsOf(w, kDepth), hidden,
      BatchExtent{kRows}, std::nullopt, kDepth, kHidden, one(), 0));
  links.push_back(std::make_unique<MatrixProductStep>(
      op(), kernels::PlainType::F32, rowsOf(hidden, kHidden), rowsOf(v, kHidden), y,
      BatchExtent{kRows}, std::nullopt, kHidden, kColumns, one(), 1));
  made.step<ChainStep>(std::move(links),
                       std::vector<ChainStep::RangeSlot>{{hidden, 0, kHidden * sizeof(float)}},
                       kSlotAlignment, BatchExtent{kRows}, false);
  return made.written();
}

TEST(ProgramFile, isReadAndRun) {
  auto program = read(chainOfProducts());
  ASSERT_TRUE(program) << program.error();
  ProgramRunner runner(std::move(*program));
  const auto results = runner.run({tensorOf({kRows, kDepth}, 1), tensorOf({kHidden, kDepth}, 2),
                                   tensorOf({kColumns, kHidden}, 3)},
                                  RunContext(), {});
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
  // The slot's rows are farther apart than the product's.
  EXPECT_EQ(refusal(with(with(file, {kRange, kBytes}, {kRange, 2 * kBytes}), {4, 0, 0, 0, kBytes},
                         {4, 0, 0, 0, 2 * kBytes})),
            "products that reach beyond a row of their chain in slot 4");
  // The chain gives the slot less memory than the slot claims.
  EXPECT_EQ(refusal(with(file, {4, 0, 0, 0, kBytes}, {4, 0, 0, 0, 4})),
            "slot 4 is no memory of a chain's with 4 bytes for each row");
  // The chain claims the slot of an argument.
  EXPECT_EQ(refusal(with(file, {4, 0, 0, 0, kBytes}, {0, 0, 0, 0, kBytes})),
            "slot 0 is no memory of a chain's with 20 bytes for each row");
  // The second product has half as many rows as the chain.
  EXPECT_EQ(refusal(with(file, {kRows, 0, 0, kHidden, 0, 0, kColumns},
                         {kRows / 2, 0, 0, kHidden, 0, 0, kColumns})),
            "1500 rows in a chain of 3000");
  // An operand that is packed before the chain begins would lie in a range slot.
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
      BatchExtent{3}, std::nullopt, 4, 5, MatrixBatch{.offsets = {{0, 0, 0}, {0, 20, 15}}}, 0));
  made.step<ChainStep>(std::move(links),
                       std::vector<ChainStep::RangeSlot>{{all, 0, 3 * 5 * sizeof(float)}},
                       kSlotAlignment, BatchExtent{2}, true);
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
      op(), kernels::PlainType::F32, rowsOf(q, 4), rowsOf(keys, 4), scores, BatchExtent{1},
      std::nullopt, 4, 3, MatrixBatch{.offsets = {{0, 0, 0}, {4, 12, 3}}}, 0);
  product->beginWith(std::make_unique<KernelStep>(
      op(), made.program.functions.front(),
      std::vector<KernelStep::Argument>{{codes}, {keys, true}}, BatchExtent{24}, BatchExtent{7},
      StepFacts{.kind = StepFacts::Kind::Kernel}));
  made.program.steps.add(std::move(product));
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  const std::string none = "a product whose prologue does not make its right side";
  // The kernel's rows are not a multiple of the product's.
  EXPECT_EQ(refusal(with(file, {24, 0, 0, 7}, {25, 0, 0, 7})), none);
  // A right operand that ends beyond the last row; one that begins in the middle of a row; a kernel
  // with an open batch for a product without.
  EXPECT_EQ(refusal(with(file, {4, 12, 3}, {4, 16, 3})), none);
  EXPECT_EQ(refusal(with(file, {4, 12, 3}, {4, 10, 3})), none);
  EXPECT_EQ(refusal(with(file, {24, 0, 0, 7}, {24, 1, 0, 7})), none);
  // The prologue's slot as left operand.
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

TEST(ProgramFile, groupsOfRowsHaveMatricesAndSizes) {
  constexpr std::int64_t kGroups = 3, kFar = kHidden * kDepth;
  Programs made;
  const Slot x = made.argument({5, kDepth}), sizes = made.argument({kGroups}, "f32"),
             stack = made.argument({kGroups, kHidden, kDepth}), y = made.result({5, kHidden});
  MatrixProductStep::Side right = rowsOf(stack, kDepth);
  right.sliceStride = kFar;
  made.program.rightCount = 1;
  made.step<MatrixProductStep>(kernels::PlainType::F32, rowsOf(x, kDepth), right, y, BatchExtent{5},
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
  // Three consecutive matrices; an index selects one.
  constexpr std::int64_t kSlices = 3, kFar = kHidden * kDepth;
  Programs made;
  const Slot x = made.argument({2, kDepth}), index = made.argument({1}, "f32"),
             stack = made.argument({kSlices, kHidden, kDepth}), y = made.result({2, kHidden});
  MatrixProductStep::Side right = rowsOf(stack, kDepth);
  right.slices = {{{kSlices, {index, 4, false}}}};
  right.sliceStride = kFar;
  made.program.rightCount = 1;
  made.step<MatrixProductStep>(kernels::PlainType::F32, rowsOf(x, kDepth), right, y, BatchExtent{2},
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

TEST(ProgramFile, productsHaveAnIndexEach) {
  // Two products, each by one of three matrices.
  constexpr std::int64_t kSlices = 3, kFar = kHidden * kDepth;
  Programs made;
  const Slot x = made.argument({2, kDepth}), indices = made.argument({2}, "f32"),
             stack = made.argument({kSlices, kHidden, kDepth}), y = made.result({2, kHidden});
  MatrixProductStep::Side right = rowsOf(stack, kDepth);
  right.slices = {{{kSlices, {indices, 4, false}, 0, 1}}};
  right.sliceStride = kFar;
  made.program.rightCount = 1;
  made.step<MatrixProductStep>(kernels::PlainType::F32, rowsOf(x, kDepth), right, y, BatchExtent{1},
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
                                 BatchExtent{1}, std::nullopt, kDepth, kHidden, batch, 0);
    return made.refusal();
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
  made.step<CholeskyStep>(Numbers{false, false}, true, BatchExtent{2}, 3, a, l);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  EXPECT_EQ(refusal(with(file, {2, 0, 0, 3, 0, 1}, {0, 2, 0, 3, 0, 1})),
            "slot 0 has 0 bytes for each item, 72 are used");
}

/// Products that contract the batch.
TEST(ProgramFile, productsOfItemsReachWhatTheyHave) {
  constexpr std::int64_t kWidth = 6, kMore = 2;
  Programs made;
  const Slot x = made.argument({kWidth, {kMore, 1}}), y = made.argument({{kMore, 1}, 5}),
             z = made.result({kWidth, 5});
  made.program.items = {1, 9};
  made.program.rightCount = 1;
  const BatchExtent depth{kMore, 1};
  made.step<MatrixProductStep>(kernels::PlainType::F32, MatrixProductStep::Side{x, 0, depth, 1},
                               MatrixProductStep::Side{y, 0, 1, 5}, z, BatchExtent{kWidth},
                               std::nullopt, depth, BatchExtent{5}, one(), 0);
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  // The depth's batch coefficient or its constant is one larger than the memory.
  const Words sizes{kWidth, 0, 0, kMore, 1, 0, 5, 0, 0};
  EXPECT_NE(
      refusal(with(file, sizes, {kWidth, 0, 0, kMore, 2, 0, 5, 0, 0})).find("bytes for each item"),
      std::string::npos);
  EXPECT_NE(refusal(with(file, sizes, {kWidth, 0, 0, kMore + 1, 1, 0, 5, 0, 0})).find("bytes, "),
            std::string::npos);
  // Depth and columns depend on the batch such that the size has a higher degree than 2.
  EXPECT_EQ(refusal(with(file, sizes, {kWidth, 0, 0, kMore, 1, 1, 5, 1, 0})),
            "a size that memory does not have");
  // The extent decreases with the batch size.
  EXPECT_EQ(refusal(with(file, sizes, {kWidth, 0, 0, kMore, ~std::uint64_t{0}, 0, 5, 0, 0})),
            "2, -1 for each item and 0 for each pair, which is less than none");
}

/// Packed operands must not be larger than memory, even if the operands themselves have no
/// elements.
TEST(ProgramFile, whatIsPackedIsNoLargerThanMemory) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
  const std::string tooLarge = "a size that memory does not have";
  Programs product;
  const MatrixProductStep::Side nowhere{product.argument({1}), 0, 0, 0};
  product.program.rightCount = 1;
  product.step<MatrixProductStep>(kernels::PlainType::F32, nowhere, nowhere, product.arena(64),
                                  BatchExtent{0}, std::nullopt, std::int64_t{7}, std::int64_t{9},
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

/// Windows of 3 positions over images of 7 positions and 5 features, with 11 outputs and any number
/// of images.
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
} // namespace octavo::program
