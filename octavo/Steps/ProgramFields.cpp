#include "octavo/Steps/ProgramFields.h"

#include "octavo/Kernels/Product/PackedSizes.h"
#include "octavo/Steps/Call.h"
#include "octavo/Steps/Chain.h"
#include "octavo/Steps/ComplexProduct.h"
#include "octavo/Steps/Control.h"
#include "octavo/Steps/Convolution.h"
#include "octavo/Steps/Fourier.h"
#include "octavo/Steps/Kernel.h"
#include "octavo/Steps/LinearAlgebra.h"
#include "octavo/Steps/Product.h"
#include "octavo/Steps/Quantize.h"
#include "octavo/Steps/RandomBits.h"
#include "octavo/Steps/Running.h"
#include "octavo/Steps/Sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace octavo::steps {

namespace {

constexpr std::int64_t kMostRank = 64, kMostDepth = 64;
constexpr int kMostCallDepth = 4096; // each level is one of the stack

/// A step without fields.
std::unique_ptr<Step> emptyStep(StepType type, OperationTextPtr op) {
  switch (type) {
  case StepType::Interpreted:
    return nullptr;
  case StepType::Kernel:
    return std::make_unique<KernelStep>(std::move(op));
  case StepType::MatrixProduct:
    return std::make_unique<MatrixProductStep>(std::move(op));
  case StepType::Pack:
    return std::make_unique<PackStep>(std::move(op));
  case StepType::ScaledProduct:
    return std::make_unique<ScaledProductStep>(std::move(op));
  case StepType::Convolution:
    return std::make_unique<ConvolutionStep>(std::move(op));
  case StepType::Chain:
    return std::make_unique<ChainStep>(std::move(op));
  case StepType::Update:
    return std::make_unique<UpdateStep>(std::move(op));
  case StepType::Sort:
    return std::make_unique<SortStep>(std::move(op));
  case StepType::RandomBits:
    return std::make_unique<RandomBitsStep>(std::move(op));
  case StepType::Copy:
    return std::make_unique<CopyStep>(std::move(op));
  case StepType::While:
    return std::make_unique<WhileStep>(std::move(op));
  case StepType::Branch:
    return std::make_unique<BranchStep>(std::move(op));
  case StepType::Quantize:
    return std::make_unique<QuantizeStep>(std::move(op));
  case StepType::FromParts:
    return std::make_unique<FromPartsStep>(std::move(op));
  case StepType::PackStored:
    return std::make_unique<PackStoredStep>(std::move(op));
  case StepType::PackParts:
    return std::make_unique<PackPartsStep>(std::move(op));
  case StepType::Dequantize:
    return std::make_unique<DequantizeStep>(std::move(op));
  case StepType::Unpack:
    return std::make_unique<UnpackStep>(std::move(op));
  case StepType::ComplexProduct:
    return std::make_unique<ComplexProductStep>(std::move(op));
  case StepType::Cholesky:
    return std::make_unique<CholeskyStep>(std::move(op));
  case StepType::TriangularSolve:
    return std::make_unique<TriangularSolveStep>(std::move(op));
  case StepType::Fourier:
    return std::make_unique<FourierStep>(std::move(op));
  case StepType::Running:
    return std::make_unique<RunningStep>(std::move(op));
  case StepType::Function:
    return std::make_unique<FunctionStep>(std::move(op));
  case StepType::Call:
    return std::make_unique<CallStep>(std::move(op));
  }
  return nullptr;
}

bool isSame(const kernels::OperandFormat& a, const kernels::OperandFormat& b) {
  return a.element == b.element && a.scale == b.scale && a.across == b.across;
}

/// The most items, up to so many, of which there is a plan: longer sums are exact no longer.
std::int64_t mostOf(const OpenPlan& plan, std::int64_t most) {
  std::int64_t least = 0;
  while (least < most)
    if (const std::int64_t middle = least + (most - least + 1) / 2; plan.of(middle))
      least = middle;
    else
      most = middle - 1;
  return least;
}

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

void ProgramFields::itemNumber(ItemNumber& value) {
  number(value.fixed, -kMost, kMost);
  number(value.factor, -kMost, kMost);
  number(value.square, -kMost, kMost);
  ofItem(value.factor);
  ofPair(value.square);
}

void ProgramFields::number(ItemNumber& value) {
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
  std::uint64_t all = 1; // of those that are not empty: steps count with them
  for (const std::int64_t extent : extents)
    if (extent != 0)
      all = bytes({static_cast<std::int64_t>(all), extent});
  if (problem)
    extents.clear(); // its elements are not to be counted
}

void ProgramFields::shape(std::vector<ItemNumber>& extents) {
  list(extents, kMostRank, [&](ItemNumber& extent) { number(extent); });
  ItemNumber all = 1;
  for (const ItemNumber& extent : extents)
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

void ProgramFields::plan(OpenPlan& plan) {
  for (auto [operand, along] :
       {std::pair(&plan.one.left, &plan.leftAlong), std::pair(&plan.one.right, &plan.rightAlong)}) {
    format(operand->element);
    format(operand->scale);
    number(operand->across, format::kWholeAxis);
    number(*along);
  }
  number(plan.depth);
  if (problem)
    return;
  if (!isAtMost(1, plan.depth))
    return fail("a product that contracts nothing");
  for (const ItemNumber& along : {plan.leftAlong, plan.rightAlong})
    if (along.isOpen() && along != plan.depth)
      return fail("blocks of items that are less than an axis");
  if (plan.one.left.element == nullptr || plan.one.right.element == nullptr ||
      plan.one.right.scale == nullptr)
    return fail("a product of formats that are none");
  if (plan.isOpen() && !problem)
    ofPlans = mostOf(plan, mostItemsOfRun());
  if (!isReading())
    return;
  const std::int64_t items = std::max<std::int64_t>(1, of.items.least);
  auto made = kernels::productPlan(plan.left(items), plan.right(items), plan.depth.of(items));
  if (!made)
    return fail(made.error());
  plan.one = *made;
}

void ProgramFields::number(Slot& slot) {
  number(slot.number, 0, std::max(0, static_cast<int>(of.slots.size()) - 1));
  if (of.slots.empty())
    fail("a slot of a program that has none");
}

const SlotUse* ProgramFields::useOf(Slot slot) const {
  return problem ? nullptr : &of.slots[static_cast<std::size_t>(slot.number)];
}

void ProgramFields::require(Slot slot, Bytes bytes, Access access) {
  const SlotUse* use = useOf(slot);
  if (use == nullptr)
    return;
  if (use->kind == SlotUse::Kind::Range)
    return fail(
        fmt::format("slot {} has memory for rows of a chain, and is used as a whole", slot.number));
  if (use->kind == SlotUse::Kind::Rows)
    return fail(fmt::format("slot {} has memory for a prologue alone", slot.number));
  const std::int64_t fewest = std::max(of.items.least, bytes.from);
  if (fewest <= of.items.most && !isAtMost(bytes.count, use->bytes, bytes.from)) {
    const bool isOfEach = bytes.count.factor > use->bytes.factor;
    fail(fmt::format("slot {} has {} bytes{}, {} are used", slot.number,
                     isOfEach ? use->bytes.factor : use->bytes.of(fewest),
                     isOfEach ? " for each item" : "",
                     isOfEach ? bytes.count.factor : bytes.count.of(fewest)));
  }
  const bool isConstant = use->kind == SlotUse::Kind::Constant;
  if (access == Access::Write && (isConstant || use->kind == SlotUse::Kind::Argument))
    fail(fmt::format("slot {} is not to be written to", slot.number));
  if (isConstant)
    this->use(static_cast<std::size_t>(use->index));
}

bool ProgramFields::isRange(Slot slot) const {
  const SlotUse* use = useOf(slot);
  return use != nullptr && use->kind == SlotUse::Kind::Range;
}

ItemNumber ProgramFields::bytesInEach(Slot slot) {
  if (failed())
    return 0;
  if (!chainSlots.contains(slot.number))
    fail(fmt::format("slot {} is another chain's", slot.number));
  return of.slots[static_cast<std::size_t>(slot.number)].bytes;
}

void ProgramFields::requireInEach(Slot slot, const ItemNumber& rows, ItemNumber bytesOfRow) {
  const ItemNumber room = bytesInEach(slot);
  if (const ItemNumber used = times(rowsInEach(rows), bytesOfRow); used != room)
    fail(fmt::format("slot {} has {} bytes for each row of its chain, {} are used", slot.number,
                     room.of(1), used.of(1)));
}

std::int64_t ProgramFields::rowsInEach(const ItemNumber& rows) {
  if (chain != kNoChain && !problem) {
    const auto part = chainRows.square != 0   ? &ItemNumber::square
                      : chainRows.factor != 0 ? &ItemNumber::factor
                                              : &ItemNumber::fixed;
    const std::int64_t each = rows.*part / chainRows.*part;
    if (times(chainRows, each) == rows)
      return each;
  }
  fail(fmt::format("{} rows in a chain of {}", rows.of(1), chainRows.of(1)));
  return 0;
}

void ProgramFields::slotOfKernel(Slot& slot) {
  number(slot);
  const SlotUse* use = useOf(slot);
  if (use == nullptr)
    return;
  if (use->kind == SlotUse::Kind::Range && !chainSlots.contains(slot.number))
    fail(fmt::format("slot {} is another chain's", slot.number));
  if (use->kind == SlotUse::Kind::Rows && slot.number != rowsSlot)
    fail(fmt::format("slot {} is another prologue's", slot.number));
  if (use->kind == SlotUse::Kind::Constant)
    this->use(static_cast<std::size_t>(use->index));
}

bool ProgramFields::isConstant(Slot slot) const {
  return slot.number >= 0 && static_cast<std::size_t>(slot.number) < of.slots.size() &&
         of.slots[static_cast<std::size_t>(slot.number)].kind == SlotUse::Kind::Constant;
}

void ProgramFields::place(Place& place, Access access) {
  bool isInMemory = place.memory.has_value();
  truth(isInMemory);
  if (!isInMemory)
    return value(place.number);
  std::optional<numerics::ElementType> type;
  if (place.memory)
    type = place.memory->type;
  elementType(type);
  std::vector<ItemNumber> local, &extents = place.memory ? place.memory->shape : local;
  shape(extents);
  Bytes all = type ? static_cast<std::uint64_t>(type->bytes()) : 0;
  for (const ItemNumber& extent : extents)
    all = bytes({all.count, extent});
  Slot slot{place.number};
  this->slot(slot, all, access);
  place.number = slot.number;
  if (isReading() && type)
    place.memory = Place::InMemory{*type, std::move(extents)};
}

void ProgramFields::swapped(Slot a, Slot b) {
  if (problem)
    return;
  const SlotUse &one = of.slots[static_cast<std::size_t>(a.number)],
                &other = of.slots[static_cast<std::size_t>(b.number)];
  if (a.number != b.number &&
      (one.kind != SlotUse::Kind::Arena || other.kind != one.kind || one.bytes != other.bytes))
    fail(fmt::format("slots {} and {} do not change places", a.number, b.number));
}

void ProgramFields::value(int& number) {
  this->number(number, 0, std::max(0, of.valueCount - 1));
  if (of.valueCount == 0)
    fail("a value of a program that has none");
}

void ProgramFields::right(int& number) {
  this->number(number, 0, std::max(0, of.rightCount - 1));
  if (of.rightCount == 0)
    fail("a product of a program that has none");
  if (!rights.insert(number).second)
    fail("a right side of two products");
}

void ProgramFields::packed(int& number) {
  this->number(number, 0, std::max(0, of.packedCount - 1));
  if (of.packedCount == 0)
    fail("a packed operand of a program that has none");
}

void ProgramFields::packs(int number, const OpenPlan& plan, ItemNumber count, ItemNumber rows) {
  const auto [found, isNew] = lefts.try_emplace(number, Packed{plan, count, rows, kNotPacked});
  Packed& packed = found->second;
  if (!isNew && !isFor(packed, plan, count, rows))
    fail("a left side that is packed for products of two forms");
  packedNow.emplace_back(&packed, packed.chain);
  packed.chain = chain;
}

bool ProgramFields::isFor(const Packed& packed, const OpenPlan& plan, ItemNumber count,
                          ItemNumber rows) {
  return isSame(packed.plan.one.left, plan.one.left) &&
         isSame(packed.plan.one.right, plan.one.right) && packed.plan.leftAlong == plan.leftAlong &&
         packed.plan.rightAlong == plan.rightAlong && packed.plan.depth == plan.depth &&
         packed.count == count && packed.rows == rows;
}

void ProgramFields::needsPacked(int number, const OpenPlan& plan, ItemNumber count,
                                ItemNumber rows) {
  const auto found = lefts.find(number);
  if (found == lefts.end() || found->second.chain == kNotPacked)
    return fail("a product whose left side is not packed before it");
  if (found->second.chain != chain)
    return fail("a product whose left side is packed in another chain");
  if (!isFor(found->second, plan, count, rows))
    fail("a product whose left side is packed for another");
}

void ProgramFields::scaled(ScaledShape& shape) {
  this->shape(shape.extents);
  format(shape.element);
  format(shape.scale);
  list(shape.blocks, kMostRank, [&](ItemNumber& extent) { number(extent); });
  truth(shape.hasOuterScale);
  checkScaled(shape.element, shape.scale, shape.hasOuterScale);
  if (shape.blocks.size() != shape.extents.size())
    return fail("a scaled type of other axes than its tensor's");
  for (std::size_t axis = 0; axis < shape.blocks.size(); ++axis)
    if (const ItemNumber& block = shape.blocks[axis];
        block.isOpen() ? block != shape.extents[axis] : block.fixed < 1)
      return fail("blocks of no elements, or of items that are less than an axis");
}

void ProgramFields::makes(int value, const ScaledShape& shape) {
  const auto [found, isNew] = scaledValues.try_emplace(value, shape);
  if (unscaled.contains(value))
    fail(fmt::format("value {} is a scaled tensor, and takes the place of none", value));
  if (!isNew && found->second != shape)
    fail(fmt::format("value {} is of two types", value));
}

const ScaledShape* ProgramFields::made(int value) {
  const auto found = scaledValues.find(value);
  if (found == scaledValues.end())
    return nullptr;
  useValue(value);
  return &found->second;
}

const ScaledShape* ProgramFields::made(int value, const ScaledShape& shape) {
  const ScaledShape* found = made(value);
  if (found != nullptr && *found == shape)
    return found;
  fail(fmt::format("value {} is not the scaled tensor that is read", value));
  return nullptr;
}

void ProgramFields::becomes(int value, int from) {
  if (const ScaledShape* given = made(from))
    return makes(value, ScaledShape(*given));
  if (scaledValues.contains(value))
    fail(fmt::format("value {} is a scaled tensor, and takes the place of none", value));
  unscaled.insert({value, from});
}

void ProgramFields::kernel(const KernelFunction*& function, std::int64_t* number) {
  std::int64_t index = 0;
  if (!isReading())
    index = std::ranges::find_if(of.functions,
                                 [&](const KernelFunction& each) { return &each == function; }) -
            of.functions.begin();
  const auto count = static_cast<std::int64_t>(of.functions.size());
  if (count == 0)
    fail("a kernel of a program that has none");
  this->number(index, 0, std::max<std::int64_t>(0, count - 1));
  if (number != nullptr)
    *number = index;
  if (isReading() && !problem)
    function = &of.functions[static_cast<std::size_t>(index)];
}

void ProgramFields::function(const FunctionStep& step) {
  if (depth != 1)
    fail("a function within another sequence than the program's");
  if (depthOfCalls == kMostCallDepth)
    fail("functions that call functions, too deep");
  callable.try_emplace(&step, static_cast<std::int64_t>(functions.size()));
  functions.push_back({&step, std::exchange(depthOfCalls, 0) + 1});
}

void ProgramFields::callee(const FunctionStep*& step) {
  std::int64_t index = 0;
  if (const auto found = callable.find(step); found != callable.end())
    index = found->second;
  const auto count = static_cast<std::int64_t>(functions.size());
  if (count == 0)
    fail("a call before any function");
  number(index, 0, std::max<std::int64_t>(0, count - 1));
  if (problem)
    return;
  const Callable& called = functions[static_cast<std::size_t>(index)];
  depthOfCalls = std::max(depthOfCalls, called.depth);
  step = called.step;
}

void ProgramFields::steps(Sequence& sequence) {
  if (depth == kMostDepth)
    return fail("loops within loops, too deep");
  ++depth;
  const std::size_t packedBefore = packedNow.size();
  auto count = static_cast<std::int64_t>(sequence.all().size());
  number(count, 0, mostItems());
  for (std::int64_t i = 0; i < count && !problem; ++i) {
    Step* step = nullptr;
    execution::OperationText op;
    StepType type{};
    if (!isReading()) {
      step = sequence.all()[static_cast<std::size_t>(i)].get();
      op = *step->operation();
      type = step->type();
    }
    choice(type, StepType::Call);
    for (std::string* part : {&op.name, &op.location, &op.source, &op.function, &op.input})
      text(*part);
    if (isReading()) {
      auto made = emptyStep(type, std::make_shared<const execution::OperationText>(std::move(op)));
      if (!made)
        return fail("a step that has no form in a file");
      step = made.get();
      sequence.add(std::move(made));
    }
    step->fields(*this);
  }
  // A sequence may not run, or on ranges.
  for (; packedNow.size() > packedBefore; packedNow.pop_back())
    packedNow.back().first->chain = packedNow.back().second;
  --depth;
}

void ProgramFields::beginChain(const ItemNumber& rows) {
  if (chain != kNoChain)
    fail("a chain within a chain");
  chain = chains++;
  chainRows = rows;
}

void ProgramFields::slotsOfChain(std::vector<ChainStep::RangeSlot>& slots, ItemNumber& bytesOfRow) {
  number(bytesOfRow);
  list(slots, kMost, [&](ChainStep::RangeSlot& each) {
    number(each.slot);
    number(each.offset);
    number(each.bytes);
    if (failed())
      return;
    if (!isAtMost(plus(each.offset, each.bytes), bytesOfRow) || !isAligned(each.offset))
      return fail("a slot beyond the memory of its chain");
    if (!isRange(each.slot) ||
        of.slots[static_cast<std::size_t>(each.slot.number)].bytes != each.bytes)
      return fail(fmt::format("slot {} is no memory of a chain's with {} bytes for each row",
                              each.slot.number, each.bytes.of(1)));
    chainSlots.insert(each.slot.number);
  });
  bytes({chainRows, bytesOfRow});
}

void ProgramFields::endChain() {
  chain = kNoChain;
  chainSlots.clear();
}

void ProgramFields::matrix(std::shared_ptr<const kernels::PackedMatrix>& matrix,
                           kernels::PlainType type, std::int64_t depth, std::int64_t columns) {
  if (isTrusted())
    return;
  const std::uint64_t size = bytesOfMatrix(type, depth, columns);
  if (failed())
    return;
  kernels::PackedMatrix made{.type = type, .depth = depth, .columns = columns};
  kernels::PackedBytes& panels =
      isReading() ? made.panels : const_cast<kernels::PackedMatrix&>(*matrix).panels;
  section(panels, size);
  if (isReading())
    matrix = std::make_shared<const kernels::PackedMatrix>(std::move(made));
}

void ProgramFields::operand(std::shared_ptr<const kernels::PackedOperand>& operand,
                            const kernels::ProductPlan& plan, std::int64_t rows) {
  using Storage = kernels::PackedOperand::Storage;
  auto made = std::make_shared<kernels::PackedOperand>(
      kernels::PackedOperand{.side = kernels::Side::Right, .storage = Storage::Records});
  kernels::PackedOperand& packed =
      isReading() ? *made : const_cast<kernels::PackedOperand&>(*operand);
  choice(packed.storage, Storage::Values);
  choice(packed.scaleCodes, kernels::ScaleCodes::E4M3);
  number(packed.rows, rows, rows);
  real(packed.outer);
  number(packed.leastExponent, -1024, 1024);
  number(packed.greatestExponent, -1024, 1024);
  truth(packed.hasUnusualScale);
  number(packed.paddedRows);
  const auto sizes = kernels::rightSizes(plan, rows, packed.storage);
  if (!sizes)
    fail("a weight that is packed in a form that its product does not read");
  if (failed())
    return;
  if (packed.paddedRows != sizes->paddedRows)
    return fail("a packed weight of other rows than its product's");
  section(packed.elements, sizes->elements);
  section(packed.scales, sizes->scales);
  list(packed.factors, kMost, [&](float& factor) { real(factor); });
  list(packed.far.rows, kMost, [&](std::int64_t& row) { number(row, 0, rows - 1); });
  list(packed.far.values, kMost, [&](double& value) { real(value); });
  if ((!packed.factors.empty() && packed.factors.size() != sizes->factors) ||
      std::ranges::adjacent_find(packed.far.rows, std::greater_equal()) != packed.far.rows.end() ||
      packed.far.values.size() != packed.far.rows.size() * static_cast<std::size_t>(plan.depth))
    fail("a packed weight of other rows than its product's");
  if (isReading())
    operand = std::move(made);
}

} // namespace octavo::steps
