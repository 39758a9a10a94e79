#include "octavo/Program/Steps/File/ProgramFields.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace octavo::program {

namespace {

constexpr std::int64_t kMostRank = 64;

} // namespace

void ProgramFields::number(std::int64_t& value, std::int64_t least, std::int64_t most) {
  auto bits = static_cast<std::uint64_t>(value);
  word(bits);
  value = static_cast<std::int64_t>(bits);
  if (!problem && (value < least || value > most))
    fail(fmt::format("{} where {} to {} was expected", value, least, most));
  if (problem)
    value = std::clamp<std::int64_t>(0, least, most);
}

void ProgramFields::number(int& value, int least, int most) {
  std::int64_t wide = value;
  number(wide, least, most);
  value = static_cast<int>(wide);
}

void ProgramFields::number(std::size_t& value) {
  auto wide = static_cast<std::int64_t>(value);
  number(wide);
  value = static_cast<std::size_t>(wide);
}

void ProgramFields::truth(bool& value) {
  std::int64_t number = value ? 1 : 0;
  this->number(number, 0, 1);
  value = number != 0;
}

void ProgramFields::real(float& value) {
  std::int64_t bits = std::bit_cast<std::uint32_t>(value);
  number(bits, 0, 0xFFFFFFFF);
  value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

void ProgramFields::real(double& value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  word(bits);
  value = problem ? 0 : std::bit_cast<double>(bits);
}

void ProgramFields::text(std::string& value) {
  auto count = static_cast<std::int64_t>(value.size());
  number(count, 0, mostItems());
  characters(value, static_cast<std::size_t>(count));
}

void ProgramFields::itemNumber(BatchExtent& value) {
  number(value.fixed, -kMost, kMost);
  number(value.factor, -kMost, kMost);
  number(value.square, -kMost, kMost);
  ofItem(value.factor);
  ofPair(value.square);
}

void ProgramFields::number(BatchExtent& value) {
  itemNumber(value);
  if (!problem && !isAtMost(0, value))
    fail(fmt::format("{}, {} for each item and {} for each pair, which is less than none",
                     value.fixed, value.factor, value.square));
  if (problem)
    value = 0;
}

void ProgramFields::batch(MatrixBatch& batch) {
  const auto product = [&](kernels::BatchOffsets& each) {
    for (std::ptrdiff_t* offset : {&each.left, &each.right, &each.c}) {
      std::int64_t wide = *offset;
      number(wide);
      *offset = wide;
    }
  };
  list(batch.offsets, kMost, product);
  list(batch.factors, kMost, [&](kernels::BatchOffsets& each) {
    product(each);
    for (const std::int64_t factor : {each.left, each.right, each.c})
      ofItem(factor);
  });
  list(batch.squares, kMost, [&](kernels::BatchOffsets& each) {
    product(each);
    for (const std::int64_t square : {each.left, each.right, each.c})
      ofPair(square);
  });
  if ((!batch.factors.empty() && batch.factors.size() != batch.offsets.size()) ||
      batch.squares.size() != batch.factors.size())
    fail("products of a batch of which some depend on items");
  truth(batch.isOpen);
  if (batch.isOpen) {
    product(batch.item);
    for (const std::int64_t each : {static_cast<std::int64_t>(batch.offsets.size()),
                                    batch.item.left, batch.item.right, batch.item.c})
      ofItem(each);
  }
}

void ProgramFields::shape(std::vector<std::int64_t>& extents) {
  list(extents, kMostRank, [&](std::int64_t& extent) { number(extent); });
  std::uint64_t all = 1; // of the nonempty axes: steps count with them
  for (const std::int64_t extent : extents)
    if (extent != 0)
      all = bytes({static_cast<std::int64_t>(all), extent});
  if (problem)
    extents.clear(); // its elements must not be counted
}

void ProgramFields::shape(std::vector<BatchExtent>& extents) {
  list(extents, kMostRank, [&](BatchExtent& extent) { number(extent); });
  BatchExtent all = 1;
  for (const BatchExtent& extent : extents)
    if (extent != 0)
      all = times(all, extent);
  if (problem)
    extents.clear();
}

void ProgramFields::format(const format::ElementFormat*& format) {
  std::string name = format == nullptr ? "" : std::string(format->name);
  text(name);
  if (!isReading())
    return;
  format = name.empty() ? nullptr : format::findElementFormat(name);
  if (format == nullptr && !name.empty())
    fail(fmt::format("there is no element format \"{}\"", name));
}

void ProgramFields::elementType(std::optional<numerics::ElementType>& type) {
  enum class Kind : std::uint8_t { Float, Integer, Complex };
  Kind kind = Kind::Float;
  const format::ElementFormat* name = nullptr;
  numerics::IntegerType integer{8, false};
  if (type) {
    if (type->isQuantized())
      return fail("elements of !quant types have no form in a file");
    kind = type->isFloat() ? Kind::Float : type->isInteger() ? Kind::Integer : Kind::Complex;
    if (kind == Kind::Float)
      name = &type->format();
    else if (kind == Kind::Complex)
      name = &type->part();
    else
      integer = type->integer();
  }
  choice(kind, Kind::Complex);
  if (kind == Kind::Integer) {
    number(integer.width, 1, 64);
    truth(integer.isUnsigned);
    if (!std::has_single_bit(static_cast<unsigned>(integer.width)))
      fail(fmt::format("there is no integer of {} bits", integer.width));
    if (isReading())
      type = numerics::ElementType(integer);
    return;
  }
  format(name);
  const bool isPart = name != nullptr && (name->name == "f32" || name->name == "f64");
  if (name == nullptr || (kind == Kind::Complex && !isPart)) {
    fail("a type of elements that does not exist");
    name = &format::element("f32");
  }
  if (isReading())
    type = kind == Kind::Float ? numerics::ElementType(*name)
                               : numerics::ElementType(numerics::ComplexType{name});
}

void ProgramFields::scaledType(numerics::ScaledType& type) {
  format(type.element);
  format(type.scale);
  list(type.block, kMostRank, [&](std::int64_t& extent) { number(extent, 1); });
  truth(type.hasOuterScale);
  checkScaled(type.element, type.scale, type.hasOuterScale);
}

void ProgramFields::checkScaled(const format::ElementFormat* element,
                                const format::ElementFormat* scale, bool hasOuterScale) {
  if (element == nullptr || scale == nullptr || !element->isNarrow() || !element->hasZero() ||
      !scale->hasNan() || scale->width() > 32 || (hasOuterScale && !scale->isNarrow()))
    fail("a scaled type of formats that do not scale one another");
}

void ProgramFields::options(numerics::QuantizeOptions& options) {
  using namespace numerics;
  choice(options.rule, ScaleRule::Nearest);
  choice(options.rounding, Rounding::Stochastic);
  choice(options.overflow, Overflow::Special);
  choice(options.nonFinite, NonFinite::SkipNan);
  choice(options.int8, Int8Range::Full);
  for (auto* corner :
       {&options.corners.zero, &options.corners.nan, &options.corners.infinite,
        &options.corners.pastRange, &options.corners.underflow, &options.corners.least})
    maybe(*corner, [&](GivenScale& scale) { real(scale.value); });
  truth(options.corners.inputEpsilon);
  maybe(options.evenBits, [&](std::uint8_t& bits) {
    std::int64_t wide = bits;
    number(wide, 0, 22);
    bits = static_cast<std::uint8_t>(wide);
  });
  const auto magnitude = [&](float& value) {
    real(value);
    if (!(value >= 0) || std::isinf(value))
      fail("a magnitude that is negative or no number");
  };
  magnitude(options.leastAmax);
  maybe(options.amax, magnitude);
  choice(options.scaleValues, ScaleValues::PowersOfTwo);
  choice(options.ratio, BlockRatio::Inverted);
  choice(options.exponent, ExponentForm::Log2);
  choice(options.outer, OuterForm::One);
  choice(options.quotient, QuotientForm::TimesInverted);
  choice(options.zeroSign, ZeroSign::PositiveRounded);
  truth(options.inInputType.outer);
  truth(options.inInputType.ratio);
  truth(options.inInputType.quotient);
  format(options.input);
  if (options.input == nullptr) {
    fail("a quantization of values of no type");
    options.input = &format::element("f32");
  }
}

void ProgramFields::scaled(ScaledShape& shape) {
  this->shape(shape.extents);
  format(shape.element);
  format(shape.scale);
  list(shape.blocks, kMostRank, [&](BatchExtent& extent) { number(extent); });
  truth(shape.hasOuterScale);
  checkScaled(shape.element, shape.scale, shape.hasOuterScale);
  if (shape.blocks.size() != shape.extents.size())
    return fail("a scaled type of other axes than its tensor's");
  for (std::size_t axis = 0; axis < shape.blocks.size(); ++axis)
    if (const BatchExtent& block = shape.blocks[axis];
        block.isOpen() ? block != shape.extents[axis] : block.fixed < 1)
      return fail("blocks of no elements, or of items that are less than an axis");
}

} // namespace octavo::program
