// Fields of values without slots, and of operands packed for products (ProgramFields.h).
#include "octavo/Kernels/Product/PackedSizes.h"
#include "octavo/Program/Steps/File/ProgramFields.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace octavo::program {

namespace {

bool isSame(const kernels::OperandFormat& a, const kernels::OperandFormat& b) {
  return a.element == b.element && a.scale == b.scale && a.across == b.across;
}

/// The largest batch size up to `most` that has a plan. Larger ones have sums that are not exact.
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
  for (const BatchExtent& along : {plan.leftAlong, plan.rightAlong})
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

void ProgramFields::packs(int number, const OpenPlan& plan, BatchExtent count, BatchExtent rows) {
  const auto [found, isNew] = lefts.try_emplace(number, Packed{plan, count, rows, kNotPacked});
  Packed& packed = found->second;
  if (!isNew && !isFor(packed, plan, count, rows))
    fail("a left side that is packed for products of two forms");
  packedNow.emplace_back(&packed, packed.chain);
  packed.chain = chain;
}

bool ProgramFields::isFor(const Packed& packed, const OpenPlan& plan, BatchExtent count,
                          BatchExtent rows) {
  return isSame(packed.plan.one.left, plan.one.left) &&
         isSame(packed.plan.one.right, plan.one.right) && packed.plan.leftAlong == plan.leftAlong &&
         packed.plan.rightAlong == plan.rightAlong && packed.plan.depth == plan.depth &&
         packed.count == count && packed.rows == rows;
}

void ProgramFields::needsPacked(int number, const OpenPlan& plan, BatchExtent count,
                                BatchExtent rows) {
  const auto found = lefts.find(number);
  if (found == lefts.end() || found->second.chain == kNotPacked)
    return fail("a product whose left side is not packed before it");
  if (found->second.chain != chain)
    return fail("a product whose left side is packed in another chain");
  if (!isFor(found->second, plan, count, rows))
    fail("a product whose left side is packed for another");
}

void ProgramFields::makes(int value, const ScaledShape& shape) {
  usesValue(value, Access::Write);
  const auto [found, isNew] = scaledValues.try_emplace(value, shape);
  if (unscaled.contains(value))
    fail(fmt::format("value {} is a scaled tensor, and takes the place of none", value));
  if (!isNew && found->second != shape)
    fail(fmt::format("value {} is of two types", value));
}

const ScaledShape* ProgramFields::made(int value) {
  usesValue(value, Access::Read);
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

} // namespace octavo::program
