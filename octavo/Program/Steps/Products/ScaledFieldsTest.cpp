// Tests of program files with scaled tensors, in the manner of ProgramFileTest.cpp.
#include "octavo/Program/Steps/File/ProgramFileTestPrograms.h"

#include "octavo/Program/Steps/Control.h"
#include "octavo/Program/Steps/Products/Quantize.h"

#include <limits>

namespace octavo::program {
namespace {

/// Programs with products by scaled weights. Packing steps come before the products.
class ScaledPrograms : public Programs {
public:
  static constexpr std::int64_t kRows = 40, kDepth = 32, kColumns = 3;

  /// Steps that pack `rows` rows as operand `number` and multiply them.
  std::vector<std::unique_ptr<RowStep>> links(int number, std::int64_t rows,
                                              ScaledProductStep::Weight weight,
                                              std::optional<GatheredWeight> moved) {
    std::vector<std::unique_ptr<RowStep>> links;
    links.push_back(std::make_unique<PackStep>(op(), plan, std::nullopt, x, Matrices(),
                                               BatchExtent{rows}, std::nullopt, number));
    links.push_back(std::make_unique<ScaledProductStep>(
        op(), plan, number, weight, std::move(moved), Matrices(), false, y, BatchExtent{rows},
        std::nullopt, BatchExtent{kColumns}, number));
    program.packedCount = program.rightCount = number + 1;
    return links;
  }
  std::vector<std::unique_ptr<RowStep>> links(int number, std::int64_t rows = kRows) {
    return links(number, rows, PartSlots{elements, scales, std::nullopt}, std::nullopt);
  }
  void chain(int number) {
    step<ChainStep>(links(number), std::vector<ChainStep::RangeSlot>(), kSlotAlignment,
                    BatchExtent{kRows}, false);
  }
  void alone(std::vector<std::unique_ptr<RowStep>> links) {
    for (std::unique_ptr<RowStep>& link : links)
      program.steps.add(std::move(link));
  }
  void alone(int number, std::int64_t rows = kRows) { alone(links(number, rows)); }
  /// The file with other indices for a product's left and right operand.
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
  // Two slices, of which an index selects one; each has three consecutive columns.
  constexpr std::int64_t kSlices = 2;
  ScaledPrograms made;
  const Slot index = made.argument({1}, "f32");
  constexpr std::int64_t kAll = kSlices * ScaledPrograms::kColumns;
  const Slot codes = made.argument({kAll, ScaledPrograms::kDepth}, "e4m3fn"),
             scales = made.argument({kAll, 1}, "e4m3fn");
  constexpr std::int64_t kColumns = ScaledPrograms::kColumns,
                         kOfSlice = ScaledPrograms::kColumns * ScaledPrograms::kDepth;
  const Gathered elements{0, {{kSlices, kOfSlice}, {kOfSlice, 1}}},
      ofScales{0, {{kSlices, kColumns}, {kColumns, 1}}};
  made.alone(made.links(0, ScaledPrograms::kRows, PartSlots{codes, scales, std::nullopt},
                        GatheredWeight{elements, ofScales, {{{kSlices, {index, 4, false}}}}}));
  const Bytes file = made.written();
  EXPECT_EQ(refusal(file), "");
  // Codes that begin later, scales of fewer slices, and slices that do not fill whole axes.
  const std::string otherForm = "a weight that is gathered in another form";
  EXPECT_NE(refusal(with(file, {0, 2, kSlices, kOfSlice}, {1, 2, kSlices, kOfSlice})).find("bytes"),
            std::string::npos);
  EXPECT_EQ(
      refusal(with(file, {kSlices, kColumns, kColumns, 1}, {kSlices, kColumns, kColumns - 1, 1})),
      otherForm);
  EXPECT_EQ(refusal(with(file, {kSlices, kColumns, kColumns, 1}, {kColumns, kColumns, kSlices, 1})),
            otherForm);
}

TEST(ProgramFile, quantizedSlicesLieInTheirStack) {
  // Three matrices side by side; an index selects one.
  constexpr std::int64_t kSlices = 3, kRows = 2, kDepth = 4;
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

TEST(ProgramFile, scaledProductsContractItems) {
  constexpr std::int64_t kRows = 5, kColumns = 3;
  const BatchExtent items{0, 1};
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
  made.step<PackStep>(plan, std::nullopt, x, Matrices(), BatchExtent{kRows}, std::nullopt, 0);
  made.step<ScaledProductStep>(plan, 0, 0, std::nullopt, Matrices(), false, y, BatchExtent{kRows},
                               std::nullopt, BatchExtent{kColumns}, 0);
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
    other.step<PackStep>(products, std::nullopt, left, Matrices(), BatchExtent{kRows}, std::nullopt,
                         0);
    other.step<ScaledProductStep>(products, 0, 0, std::nullopt, Matrices(), false, result,
                                  BatchExtent{kRows}, std::nullopt, BatchExtent{kColumns}, 0);
    return other.refusal();
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

TEST(ProgramFile, productsHaveAsManyItemsAsTheirSumsAreExactOf) {
  const BatchExtent items{0, 1};
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
  made.step<PackStoredStep>(plan, 0, Matrices(), BatchExtent{3}, 0);
  made.step<ScaledProductStep>(plan, 0, 0, std::nullopt, Matrices(), false, y, BatchExtent{3},
                               std::nullopt, BatchExtent{3}, 0);
  const auto program = read(made.written());
  ASSERT_TRUE(program) << program.error();
  const auto isExact = [&](std::int64_t depth) {
    return kernels::productPlan(perRow, perRow, depth).has_value();
  };
  EXPECT_TRUE(isExact(program->items.most));
  EXPECT_FALSE(isExact(program->items.most + 1));
}

/// A null format is refused before plans for an open depth are searched.
TEST(ProgramFile, productsOfItemsHaveFormats) {
  const kernels::OperandFormat perRow{format::findElementFormat("int8"),
                                      format::findElementFormat("f32"), 1, format::kWholeAxis};
  const auto refusalOf = [&](auto change) {
    OpenPlan plan(*kernels::productPlan(perRow, perRow, 1000));
    plan.depth = plan.leftAlong = plan.rightAlong = BatchExtent{0, 1};
    change(plan.one);
    Programs made;
    const Slot x = made.argument({3, {0, 1}});
    made.program.items = {1, 9};
    made.program.packedCount = 1;
    made.step<PackStep>(plan, std::nullopt, x, Matrices(), BatchExtent{3}, std::nullopt, 0);
    return made.refusal();
  };
  const std::string none = "a product of formats that are none";
  EXPECT_NE(refusalOf([](kernels::ProductPlan&) {}), none);
  EXPECT_EQ(refusalOf([](kernels::ProductPlan& plan) { plan.left.element = nullptr; }), none);
  EXPECT_EQ(refusalOf([](kernels::ProductPlan& plan) { plan.right.element = nullptr; }), none);
  EXPECT_EQ(refusalOf([](kernels::ProductPlan& plan) { plan.right.scale = nullptr; }), none);
}

/// Packing has no random bits, so stochastic rounding is refused. So are amaxes that are not
/// magnitudes.
TEST(ProgramFile, packedActivationsAreRoundedWithoutRandomBits) {
  const kernels::OperandFormat format =
      kernels::operandFormat(*format::findScaledFormat("mxfp8_e4m3"));
  const auto refusalOf = [&](const numerics::QuantizeOptions& options) {
    Programs made;
    const Slot x = made.argument({3, 32});
    made.program.packedCount = 1;
    made.step<PackStep>(OpenPlan(*kernels::productPlan(format, format, 32)), options, x, Matrices(),
                        BatchExtent{3}, std::nullopt, 0);
    return made.refusal();
  };
  EXPECT_EQ(refusalOf({}), "");
  EXPECT_EQ(refusalOf({.rounding = numerics::Rounding::TowardZero}), "");
  EXPECT_EQ(refusalOf({.rounding = numerics::Rounding::Stochastic}),
            "activations that are rounded at random, without random bits");
  const std::string none = "a magnitude that is negative or no number";
  EXPECT_EQ(refusalOf({.leastAmax = 1, .amax = 0.0F}), "");
  for (const float wrong :
       {-1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(refusalOf({.leastAmax = wrong}), none) << wrong;
    EXPECT_EQ(refusalOf({.amax = wrong}), none) << wrong;
  }
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

  made.program.scaledArguments.front().shape.front() = 4;
  EXPECT_EQ(made.refusal(), "value 7 is not the scaled tensor that is read");
  made.program.scaledArguments.clear();
  EXPECT_EQ(made.refusal(), "an argument that is not bound is neither a tensor nor a scaled one");
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

} // namespace
} // namespace octavo::program
