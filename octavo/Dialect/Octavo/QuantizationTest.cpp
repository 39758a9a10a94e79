// Tests that every preset and every setting of Numerics survives printing and parsing.
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Numerics/Preset.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

namespace octavo::ir {
namespace {

using numerics::QuantizeOptions;

class Quantization : public testing::Test {
protected:
  Quantization() { context.loadDialect<OctavoDialect>(); }

  static std::string text(mlir::Attribute attribute) {
    std::string result;
    llvm::raw_string_ostream(result) << attribute;
    return result;
  }

  /// The scaled type of 256x256 elements, with blocks along the last axis.
  ScaledType typeOf(const format::ScaledFormat& format) {
    const std::int64_t shape[] = {256, 256};
    return ScaledType::get(&context, shape, format.element, format.scale,
                           format::blockShape(format, shape, 1), format.hasOuterScale);
  }

  void expectReturns(const QuantizeOptions& options) {
    const auto attribute = QuantizationAttr::get(&context, options);
    EXPECT_EQ(mlir::parseAttribute(text(attribute), &context), attribute) << text(attribute);
  }

  mlir::MLIRContext context;
};

TEST_F(Quantization, TheTypeOfEveryScaledFormatReturnsFromText) {
  for (const format::ScaledFormat& format : format::kScaledFormats) {
    const ScaledType type = typeOf(format);
    std::string text;
    llvm::raw_string_ostream(text) << type;
    EXPECT_EQ(mlir::parseType(text, &context), type) << text;
    EXPECT_NE(text.find(format.element->irName()), std::string::npos) << text;
  }
}

TEST_F(Quantization, SettingsOfEveryPresetReturnFromText) {
  for (const numerics::Preset& preset : numerics::presets())
    expectReturns(preset.options);
}

TEST_F(Quantization, EverySettingAloneReturnsFromText) {
  std::vector<QuantizeOptions> all(1);
  const auto with = [&](auto set) { set(all.emplace_back()); };
  with([](auto& o) { o.rule = format::ScaleRule::RoundUp; });
  with([](auto& o) { o.rounding = numerics::Rounding::Stochastic; });
  with([](auto& o) { o.overflow = numerics::Overflow::Special; });
  with([](auto& o) { o.nonFinite = numerics::NonFinite::SkipNan; });
  with([](auto& o) { o.int8 = numerics::Int8Range::Full; });
  const float scales[] = {
      0, 1, 0.125f, 0x1p-127f, 0x1.fffffep127f, std::numeric_limits<float>::quiet_NaN()};
  for (const float scale : scales)
    with([&](auto& o) { o.corners.zero = numerics::GivenScale{scale}; });
  with([](auto& o) { o.corners.nan = numerics::GivenScale{1}; });
  with([](auto& o) { o.corners.infinite = numerics::GivenScale{1}; });
  with([](auto& o) { o.corners.pastRange = numerics::GivenScale{1}; });
  with([](auto& o) { o.corners.underflow = numerics::GivenScale{1}; });
  with([](auto& o) { o.corners.least = numerics::GivenScale{1}; });
  with([](auto& o) { o.corners.inputEpsilon = true; });
  with([](auto& o) { o.exponent = numerics::ExponentForm::Log2; });
  with([](auto& o) { o.inInputType.ratio = true; });
  with([](auto& o) { o.inInputType.outer = true; });
  with([](auto& o) { o.inInputType.quotient = true; });
  with([](auto& o) { o.evenBits = 0; });
  with([](auto& o) { o.evenBits = 22; });
  for (const float amax : {1e-4f, 1.0f, 0x1.fffffep-1f, std::numeric_limits<float>::denorm_min(),
                           std::numeric_limits<float>::max()})
    with([&](auto& o) { o.leastAmax = amax; });
  with([](auto& o) { o.scaleValues = numerics::ScaleValues::PowersOfTwo; });
  for (int i = 1; i <= static_cast<int>(numerics::BlockRatio::Inverted); ++i)
    with([&](auto& o) { o.ratio = static_cast<numerics::BlockRatio>(i); });
  for (int i = 1; i <= static_cast<int>(numerics::OuterForm::One); ++i)
    with([&](auto& o) { o.outer = static_cast<numerics::OuterForm>(i); });
  for (int i = 1; i <= static_cast<int>(numerics::QuotientForm::TimesInverted); ++i)
    with([&](auto& o) { o.quotient = static_cast<numerics::QuotientForm>(i); });
  for (int i = 1; i <= static_cast<int>(numerics::ZeroSign::PositiveRounded); ++i)
    with([&](auto& o) { o.zeroSign = static_cast<numerics::ZeroSign>(i); });

  std::set<std::string> texts;
  for (const QuantizeOptions& options : all) {
    expectReturns(options);
    EXPECT_TRUE(texts.insert(text(QuantizationAttr::get(&context, options))).second);
  }
}

TEST_F(Quantization, APresetIsTheSettingsOfItsRowForTheFormatOfTheType) {
  for (const numerics::Preset& preset : numerics::presets())
    for (const format::ScaledFormat& format : format::kScaledFormats) {
      if (!preset.appliesTo(format))
        continue;
      const auto attribute = QuantizationAttr::get(&context, llvm::StringRef(preset.name));
      EXPECT_EQ(text(attribute),
                "#octavo.quantization<preset = \"" + std::string(preset.name) + "\">");
      EXPECT_EQ(mlir::parseAttribute(text(attribute), &context), attribute);
      EXPECT_EQ(attribute.getOptions(typeOf(format), format::element("f32")), preset.options)
          << preset.name;
    }
}

} // namespace
} // namespace octavo::ir
