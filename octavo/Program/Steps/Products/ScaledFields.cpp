// Fields of the steps that multiply, make and read scaled tensors (ProgramFields.h).
#include "octavo/Program/Steps/Products/ProductFields.h"
#include "octavo/Program/Steps/Products/Quantize.h"
#include "octavo/Program/Steps/Products/ScaledParts.h"
#include "octavo/Program/Steps/SharedForms.h"

#include <algorithm>
#include <array>
#include <utility>

namespace octavo::program {

namespace {

void matricesOf(ProgramFields& fields, Matrices& matrices) {
  fields.number(matrices.count);
  fields.truth(matrices.shareScales);
}

/// A scaled operand of products: consecutive matrices [rows, depth].
struct ScaledSide {
  kernels::OperandFormat format; ///< `along` is below
  BatchExtent along;
  Matrices matrices;
  BatchExtent rows, depth;

  BatchExtent across() const {
    return format.across == format::kWholeAxis ? rows : BatchExtent(format.across);
  }
  /// Matrices that have their own scales.
  BatchExtent scaledMatrices() const {
    return matrices.shareScales && matrices.count != 0 ? BatchExtent(1) : matrices.count;
  }
};
ScaledSide leftSide(const OpenPlan& plan, const Matrices& matrices, const BatchExtent& rows) {
  return {plan.one.left, plan.leftAlong, matrices, rows, plan.depth};
}
ScaledSide rightSide(const OpenPlan& plan, const Matrices& matrices, const BatchExtent& columns) {
  return {plan.one.right, plan.rightAlong, matrices, columns, plan.depth};
}

std::int64_t blocksOf(std::int64_t extent, std::int64_t block) {
  return extent / block + (extent % block != 0 ? 1 : 0);
}

/// Blocks on an axis. If one block spans the axis, there is one for any batch size. Otherwise each
/// coefficient is rounded up by itself, which is an upper bound.
BatchExtent blocksOf(const BatchExtent& extent, const BatchExtent& block) {
  if (extent == 0)
    return 0;
  if (extent == block || block.isOpen() || block.fixed < 1)
    return 1;
  return {blocksOf(std::max<std::int64_t>(0, extent.fixed), block.fixed),
          blocksOf(std::max<std::int64_t>(0, extent.factor), block.fixed),
          blocksOf(extent.square, block.fixed)};
}

/// Counts of elements and scales.
struct ScaledSizes {
  Bytes elements, scales;
};
ScaledSizes scaledSizes(ProgramFields& fields, const ScaledSide& side) {
  return {fields.bytes({side.matrices.count, side.rows, side.depth}),
          fields.bytes({side.scaledMatrices(), blocksOf(side.rows, side.across()),
                        blocksOf(side.depth, side.along)})};
}
ScaledSizes scaledSizes(ProgramFields& fields, const ScaledShape& shape) {
  ScaledSizes sizes{1, 1};
  for (std::size_t axis = 0; axis < shape.extents.size(); ++axis) {
    sizes.elements = fields.bytes({sizes.elements.count, shape.extents[axis]});
    sizes.scales =
        fields.bytes({sizes.scales.count, blocksOf(shape.extents[axis], shape.blocks[axis])});
  }
  return sizes;
}

/// An exact number of blocks: `count`, times the blocks of an open axis that its block size does
/// not divide.
struct BlockCount {
  BatchExtent count = 1;
  std::optional<std::pair<BatchExtent, BatchExtent>> ofAxis;

  void add(ProgramFields& fields, const BatchExtent& extent, const BatchExtent& block) {
    if (!extent.isOpen() || block == 1 || block == extent)
      count = fields.times(count, blocksOf(extent, block));
    else
      ofAxis = {extent, block};
  }
  friend bool operator==(const BlockCount&, const BlockCount&) = default;
};

} // namespace

/// The matrices whose rows a step processes: with groups, one matrix with the rows of all groups.
static Matrices groupsOf(ProgramFields& fields, std::optional<RowGroups>& groups,
                         const Matrices& matrices) {
  fields.maybe(groups, [&](RowGroups& each) { each.fields(fields); });
  if (!groups)
    return matrices;
  if (matrices.count != groups->count)
    fields.fail("products of other groups");
  return {};
}

void PackStep::fields(ProgramFields& fields) {
  fields.plan(plan);
  fields.maybe(options, [&](numerics::QuantizeOptions& given) { fields.options(given); });
  if (options.has_value() != (plan.one.left.scale != nullptr))
    fields.fail("activations of a format that they are not packed in");
  if (options && options->rounding == numerics::Rounding::Stochastic)
    fields.fail("activations that are rounded at random, without random bits");
  matricesOf(fields, matrices);
  fields.number(rows);
  const Matrices whole = groupsOf(fields, groups, matrices);
  fields.number(from);
  requireRows(fields, from, whole, rows, fields.times(plan.depth, kF32), Access::Read);
  fields.packed(packed);
  fields.packs(packed, plan, matrices.count, rows);
}

/// The slots of parts with these sizes. Without an access the sizes are not checked, because the
/// step reads a packed form instead.
static void partsOf(ProgramFields& fields, PartSlots& slots, const ScaledSizes& sizes,
                    const format::ElementFormat& scale, std::optional<Access> access) {
  const auto slot = [&](Slot& slot, const Bytes& bytes) {
    fields.number(slot);
    if (access)
      fields.require(slot, bytes, *access);
    else
      fields.uses(slot, Access::Read);
  };
  slot(slots.elements, sizes.elements);
  slot(slots.scales, fields.times(sizes.scales, scale.bytes()));
  fields.maybe(slots.outer, [&](Slot& outer) { slot(outer, sizeof(float)); });
}

static void partsOf(ProgramFields& fields, ScaledParts& parts, Access access) {
  fields.scaled(parts.shape);
  if (fields.failed())
    return;
  partsOf(fields, parts.slots, scaledSizes(fields, parts.shape), *parts.shape.scale, access);
}

/// Reads or writes a view of `slices` slices with `ofSlice` elements each. Returns how far the view
/// reaches, in elements.
static std::uint64_t reachOf(ProgramFields& fields, Gathered& gathered, std::int64_t slices,
                             std::uint64_t ofSlice) {
  fields.number(gathered.offset);
  std::vector<Extent> extents;
  std::uint64_t count = 1;
  bool hasSlices = false; // whether the first axes count the slices
  fields.list(gathered.axes, kMost, [&](Gathered::Axis& axis) {
    fields.number(axis.count);
    fields.number(axis.stride);
    extents.push_back({axis.count, axis.stride});
    hasSlices |= count == static_cast<std::uint64_t>(slices);
    count = fields.bytes({static_cast<std::int64_t>(count), axis.count});
  });
  if (!(hasSlices || count == static_cast<std::uint64_t>(slices)) ||
      count != fields.bytes({slices, static_cast<std::int64_t>(ofSlice)}))
    fields.fail("a weight that is gathered in another form");
  return static_cast<std::uint64_t>(fields.reach(gathered.offset, extents, 1).count.fixed);
}

GatheredWeight::Reach GatheredWeight::fields(ProgramFields& fields, const Reach& ofMatrix,
                                             const Reach& ofBatch, const BatchExtent& products) {
  slices.fields(fields, products);
  const Reach& ofSlice = slices.isOfProduct() ? ofMatrix : ofBatch;
  const std::int64_t count = slices.count();
  const std::uint64_t codes = reachOf(fields, elements, count, ofSlice.elements);
  return {codes, reachOf(fields, scales, count, ofSlice.scales)};
}

/// Whether a scaled tensor has the elements and blocks of an operand's matrices, or of their
/// transposes.
static bool isSideOf(ProgramFields& fields, const ScaledSide& side, const ScaledShape& tensor) {
  BatchExtent elements = 1;
  BlockCount blocks, ofSide;
  for (std::size_t axis = 0; axis < tensor.extents.size(); ++axis) {
    elements = fields.times(elements, tensor.extents[axis]);
    blocks.add(fields, tensor.extents[axis], tensor.blocks[axis]);
  }
  ofSide.add(fields, side.scaledMatrices(), 1);
  ofSide.add(fields, side.rows, side.across());
  ofSide.add(fields, side.depth, side.along);
  return tensor.element == side.format.element && tensor.scale == side.format.scale &&
         elements == fields.times(side.matrices.count, fields.times(side.rows, side.depth)) &&
         blocks == ofSide;
}

/// Whether the tensor contains all gathered elements and scales.
static bool isGatheredFrom(ProgramFields& fields, const kernels::OperandFormat& format,
                           const ScaledSizes& gathered, const ScaledShape& tensor) {
  const ScaledSizes sizes = scaledSizes(fields, tensor);
  return tensor.element == format.element && tensor.scale == format.scale && !tensor.isOpen() &&
         !gathered.elements.count.isOpen() && !gathered.scales.count.isOpen() &&
         gathered.elements.count.fixed <= sizes.elements.count.fixed &&
         gathered.scales.count.fixed <= sizes.scales.count.fixed;
}

/// The sizes at batch size 1.
static GatheredWeight::Reach reachOf(const ScaledSizes& sizes) {
  return {static_cast<std::uint64_t>(sizes.elements.count.of(1)),
          static_cast<std::uint64_t>(sizes.scales.count.of(1))};
}

void ScaledProductStep::productFields(ProgramFields& fields) {
  fields.plan(plan);
  matricesOf(fields, matrices);
  fields.number(rows);
  const Matrices whole = groupsOf(fields, groups, matrices);
  fields.number(columns);
  fields.truth(isTransposed);
  fields.packed(packed);
  fields.needsPacked(packed, plan, matrices.count, rows);
  fields.right(number);
  fields.number(result);
  requireRows(fields, result, whole, rows, fields.times(columns, kF32), Access::Write);
  bool isParts = std::holds_alternative<PartSlots>(weight);
  fields.truth(isParts);
  if (fields.isReading() && isParts)
    weight = PartSlots{};
  auto* parts = std::get_if<PartSlots>(&weight);
  Frame* frame = fields.frame();
  bool isAhead = isPackedAhead;
  if (frame != nullptr && parts != nullptr)
    isAhead = fields.isConstant(parts->elements) && fields.isConstant(parts->scales) &&
              (!parts->outer || fields.isConstant(*parts->outer));
  else if (frame != nullptr)
    isAhead = !frame->values[static_cast<std::size_t>(std::get<int>(weight))].isToken();
  fields.truth(isAhead);
  if (fields.isReading())
    isPackedAhead = isAhead;
  // Includes the padding of incomplete panels.
  fields.bytes({fields.plus(plan.depth, 32), fields.plus(columns, 32), kF32});
  fields.bytes({rows, fields.plus(plan.depth, 32), kF32});
  if (fields.failed())
    return;
  const ScaledSide right = rightSide(plan, matrices, columns);
  ScaledSizes sizes = scaledSizes(fields, right);
  fields.maybe(moved, [&](GatheredWeight& weight) {
    if (plan.isOpen() || columns.isOpen())
      fields.fail("a weight of items that is moved");
    // A slice holds the matrices of the batch, or one matrix if products choose slices.
    const ScaledSizes ofOne = scaledSizes(fields, rightSide(plan, {.count = 1}, columns));
    const GatheredWeight::Reach reach =
        weight.fields(fields, reachOf(ofOne), reachOf(sizes), matrices.count);
    if (sizes.elements.count.isOpen() && !weight.slices.isOfProduct())
      fields.fail("a weight of items that is moved");
    sizes = {reach.elements, reach.scales};
  });
  if (parts != nullptr) {
    partsOf(fields, *parts, sizes, *plan.one.right.scale,
            isAhead ? std::nullopt : std::optional(Access::Read));
  } else {
    fields.value(std::get<int>(weight));
    fields.usesValue(std::get<int>(weight), Access::Read);
  }
  if (fields.failed())
    return;
  if (fields.isTrusted())
    return;
  if (isAhead && !isWeightFixed() && !(moved && moved->slices.isOfProduct()))
    return fields.fail("packed weights of a batch that is open");
  if (isAhead)
    return packedAhead(fields);
  if (parts != nullptr)
    return;
  const ScaledShape* made = fields.made(std::get<int>(weight));
  if (made == nullptr)
    return fields.fail("a product with a weight that nothing makes");
  if (!(moved ? isGatheredFrom(fields, plan.one.right, sizes, *made)
              : isSideOf(fields, right, *made)))
    fields.fail("a product with a weight of another form");
}

void ScaledProductStep::packedAhead(ProgramFields& fields) {
  const auto* const parts = std::get_if<PartSlots>(&weight);
  if (fields.isReading() &&
      !(parts != nullptr ? fields.isConstant(parts->elements) && fields.isConstant(parts->scales) &&
                               (!parts->outer || fields.isConstant(*parts->outer))
                         : fields.isBound(std::get<int>(weight))))
    return fields.fail("packed weights of what is no constant");
  auto form =
      packedAll(fields, formToWrite<Packed>(fields, *this, number),
                static_cast<std::int64_t>(fields.bytes({slices(), ofSlice(matrices.count.of(1))})),
                "a product with packed weights of another batch",
                [&](std::shared_ptr<const kernels::PackedOperand>& operand) {
                  fields.operand(operand, plan.one, columns.fixed);
                });
  const auto sizes = sizesOf(1);
  if (form == nullptr || !sizes)
    return;
  // With an open row count, a run looks up the form for few rows first, and decodes it if needed.
  PackedForms::Key key;
  formKey(*sizes, !rows.isOpen() && sizes->isDecoded, key);
  fields.atEnd([weight = weight, key = std::move(key), form](const Program& program) {
    const auto moved = [&]() -> tl::expected<Packed, std::string> {
      return std::move(const_cast<Packed&>(*form));
    };
    if (const auto* const slots = std::get_if<PartSlots>(&weight)) {
      const std::array others = {&constantOf(program, slots->scales),
                                 &constantOf(program, slots->outer.value_or(slots->scales))};
      static_cast<void>(
          formWithOthers<Packed>(constantOf(program, slots->elements), key, others, moved));
      return;
    }
    const auto bound =
        std::ranges::find(program.values, std::get<int>(weight), &BoundValue::number);
    static_cast<void>(bound->value.forms().of<Packed>(key, moved));
  });
}

void PackStoredStep::fields(ProgramFields& fields) {
  fields.plan(plan);
  matricesOf(fields, matrices);
  fields.number(rows);
  fields.value(from);
  fields.packed(packed);
  const ScaledShape* made = fields.made(from);
  if (made == nullptr)
    return fields.fail("a product of a scaled tensor that nothing makes");
  if (fields.failed())
    return;
  if (plan.one.left.scale == nullptr || !isSideOf(fields, leftSide(plan, matrices, rows), *made))
    return fields.fail("a product of a scaled tensor of another form");
  fields.packs(packed, plan, matrices.count, rows);
}

void PackPartsStep::fields(ProgramFields& fields) {
  fields.plan(plan);
  matricesOf(fields, matrices);
  fields.number(rows);
  const Matrices whole = groupsOf(fields, groups, matrices);
  fields.packed(packed);
  if (fields.failed())
    return;
  const kernels::OperandFormat& left = plan.one.left;
  if (left.scale == nullptr)
    return fields.fail("a product of a scaled tensor of another form");
  if (groups && left.across != 1 && left.across != format::kWholeAxis)
    return fields.fail("groups of rows that share blocks");
  fields.number(from.elements);
  requireRows(fields, from.elements, whole, rows, plan.depth, Access::Read);
  fields.number(from.scales);
  const ScaledSide side = leftSide(plan, whole, rows);
  const BatchExtent ofRow = fields.times(blocksOf(side.depth, side.along),
                                         static_cast<std::int64_t>(left.scale->bytes()));
  const bool isByRow = whole.isOne() ? left.across == 1 : !whole.shareScales && !rows.isOpen();
  if (isByRow && fields.isRange(from.scales))
    fields.requireInEach(from.scales, whole.isOne() ? rows : whole.count,
                         whole.isOne() ? ofRow : fields.times(blocksOf(rows, side.across()), ofRow),
                         Access::Read);
  else
    fields.require(from.scales, fields.times(scaledSizes(fields, side).scales, left.scale->bytes()),
                   Access::Read);
  fields.maybe(from.outer, [&](Slot& outer) { fields.slot(outer, sizeof(float), Access::Read); });
  fields.packs(packed, plan, matrices.count, rows);
}

void FromPartsStep::fields(ProgramFields& fields) {
  partsOf(fields, from, Access::Read);
  fields.value(result);
  fields.makes(result, from.shape);
}

void QuantizeStep::fields(ProgramFields& fields) {
  fields.scaled(shape);
  fields.options(options);
  fields.truth(isTransposed);
  if (isTransposed && shape.extents.size() < 2)
    fields.fail("a matrix of fewer than two axes");
  if (fields.failed())
    return;
  const Bytes elements = scaledSizes(fields, shape).elements, size = fields.times(elements, kF32);
  Bytes read = size;
  fields.maybe(slices, [&](Slices& slices) {
    slices.choice.fields(fields, {1});
    fields.format(slices.format);
    if (slices.format == nullptr || !isHeldBy(kernels::PlainType::F32, *slices.format))
      return fields.fail("a quantization of elements that f32 does not hold");
    if (shape.isOpen())
      return fields.fail("slices of items");
    const auto ofSlice = static_cast<std::uint64_t>(elements.count.fixed);
    read = fields.bytes(
        {static_cast<std::int64_t>(reachOf(fields, slices.values, slices.choice.count(), ofSlice)),
         slices.format->bytes()});
  });
  if (slices && randomBits)
    fields.fail("slices of a tensor that is rounded at random");
  fields.slot(from, read, Access::Read);
  fields.maybe(randomBits, [&](Slot& slot) { fields.slot(slot, size, Access::Read); });
  if (randomBits.has_value() != (options.rounding == numerics::Rounding::Stochastic))
    fields.fail("random bits without a rounding that takes them, or the other way round");
  fields.value(result);
  fields.makes(result, shape);
}

void DequantizeStep::fields(ProgramFields& fields) {
  fields.scaled(shape);
  fields.value(from);
  fields.made(from, shape);
  if (fields.failed())
    return;
  fields.slot(result, fields.times(scaledSizes(fields, shape).elements, kF32), Access::Write);
}

void UnpackStep::fields(ProgramFields& fields) {
  partsOf(fields, to, Access::Write);
  fields.value(from);
  fields.made(from, to.shape);
}

} // namespace octavo::program
