// What the steps of products, and of the scaled tensors that they take, consist of in a file
// (ProgramFields.h).
#include "octavo/Steps/ComplexProduct.h"
#include "octavo/Steps/Convolution.h"
#include "octavo/Steps/Product.h"
#include "octavo/Steps/Quantize.h"
#include "octavo/Steps/ScaledParts.h"
#include "octavo/Steps/StepFields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace octavo::steps {

namespace {

void matricesOf(ProgramFields& fields, Matrices& matrices) {
  fields.number(matrices.count);
  fields.truth(matrices.shareScales);
}

/// A scaled side of products: matrices [rows, depth], one after the other.
struct ScaledSide {
  kernels::OperandFormat format; ///< but `along`
  ItemNumber along;
  Matrices matrices;
  ItemNumber rows, depth;

  ItemNumber across() const {
    return format.across == format::kWholeAxis ? rows : ItemNumber(format.across);
  }
  /// Of which scales lie there.
  ItemNumber scaledMatrices() const {
    return matrices.shareScales && matrices.count != 0 ? ItemNumber(1) : matrices.count;
  }
};
ScaledSide leftSide(const OpenPlan& plan, const Matrices& matrices, const ItemNumber& rows) {
  return {plan.one.left, plan.leftAlong, matrices, rows, plan.depth};
}
ScaledSide rightSide(const OpenPlan& plan, const Matrices& matrices, const ItemNumber& columns) {
  return {plan.one.right, plan.rightAlong, matrices, columns, plan.depth};
}

std::int64_t blocksOf(std::int64_t extent, std::int64_t block) {
  return extent / block + (extent % block != 0 ? 1 : 0);
}

/// Blocks on an axis. One block of all of it is one for any number of items; of others, those of an
/// item are enough for each.
ItemNumber blocksOf(const ItemNumber& extent, const ItemNumber& block) {
  if (extent == 0)
    return 0;
  if (extent == block || block.isOpen() || block.fixed < 1)
    return 1;
  return {blocksOf(std::max<std::int64_t>(0, extent.fixed), block.fixed),
          blocksOf(std::max<std::int64_t>(0, extent.factor), block.fixed),
          blocksOf(extent.square, block.fixed)};
}

/// Elements and scales.
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

/// How many blocks there are, exactly: so many, times those of an axis of items that they do not
/// divide.
struct BlockCount {
  ItemNumber count = 1;
  std::optional<std::pair<ItemNumber, ItemNumber>> ofAxis;

  void add(ProgramFields& fields, const ItemNumber& extent, const ItemNumber& block) {
    if (!extent.isOpen() || block == 1 || block == extent)
      count = fields.times(count, blocksOf(extent, block));
    else
      ofAxis = {extent, block};
  }
  friend bool operator==(const BlockCount&, const BlockCount&) = default;
};

/// A side of a step's products, or their result, in elements.
struct Reached {
  ItemNumber offset;
  std::span<const Extent> extents;                   ///< of each
  std::ptrdiff_t kernels::BatchOffsets::* ofProduct; ///< from the offset on
  bool hasRows;                                      ///< the first extent is the step's rows
};

/// The bytes of elements of so many that products reach.
Bytes reach(ProgramFields& fields, const Reached& side, const MatrixBatch& batch,
            std::int64_t width) {
  ItemNumber far;
  for (std::size_t i = 0; i < batch.offsets.size(); ++i) {
    const ItemNumber begin = batch.begin(i, side.ofProduct);
    far = {std::max(far.fixed, begin.fixed), std::max(far.factor, begin.factor),
           std::max(far.square, begin.square)};
  }
  std::vector<Extent> extents(side.extents.begin(), side.extents.end());
  if (batch.isOpen)
    extents.push_back({{0, 1}, batch.item.*side.ofProduct});
  // The first must not begin before its memory.
  fields.reach(side.offset, extents, width);
  return fields.reach(fields.plus(side.offset, far), extents, width);
}

/// A slot that has memory for what products reach; that of a range, for what those of each row do.
void requireReached(ProgramFields& fields, Slot slot, const Reached& side, const ItemNumber& rows,
                    const MatrixBatch& batch, std::int64_t width, Access access) {
  const Bytes all = reach(fields, side, batch, width);
  if (!fields.isRange(slot))
    return fields.require(slot, all, access);
  const ItemNumber room = fields.bytesInEach(slot);
  const std::int64_t each = fields.rowsInEach(batch.isOne() ? rows : batch.products());
  if (fields.failed())
    return;
  const auto isInRow = [&](std::int64_t row, const ItemNumber& offset,
                           std::span<const Extent> extents) {
    const Bytes end = fields.reach(offset, extents, width);
    return fields.failed() || end.count == 0 ||
           (fields.isAtMost(fields.times(room, row), fields.beginOf(offset, extents, width),
                            end.from) &&
            fields.isAtMost(end.count, fields.times(room, row + 1), end.from));
  };
  bool fits = true;
  if (batch.isOne()) {
    std::vector<Extent> ofRow(side.extents.begin(), side.extents.end());
    ofRow.front().count = each;
    const ItemNumber advance = fields.times(ofRow.front().stride, each * width);
    fits = side.hasRows && advance == room &&
           isInRow(0, fields.plus(side.offset, batch.begin(0, side.ofProduct)), ofRow);
  }
  for (std::size_t i = 0; !batch.isOne() && i < batch.offsets.size() && fits; ++i)
    fits = isInRow(static_cast<std::int64_t>(i) / each,
                   fields.plus(side.offset, batch.begin(i, side.ofProduct)), side.extents);
  if (batch.isOpen)
    fits = fits && fields.times(room, fields.rowsOfChain().factor) ==
                       ItemNumber(batch.item.*side.ofProduct * width);
  if (!fits)
    fields.fail(
        fmt::format("products that reach beyond a row of their chain in slot {}", slot.number));
}

/// A slot that has so many bytes for each row of the matrices; that of a range, in each row of the
/// chain.
void requireRows(ProgramFields& fields, Slot slot, const Matrices& matrices, const ItemNumber& rows,
                 const ItemNumber& bytesOfRow, Access access) {
  if (!fields.isRange(slot))
    return fields.require(slot, fields.bytes({matrices.count, rows, bytesOfRow}), access);
  if (matrices.isOne())
    return fields.requireInEach(slot, rows, bytesOfRow);
  fields.requireInEach(slot, matrices.count, fields.times(rows, bytesOfRow));
}

void checkBatch(ProgramFields& fields, const ItemNumber& rows, const ItemNumber& depth,
                const ItemNumber& columns, const MatrixBatch& batch) {
  if (batch.offsets.empty())
    fields.fail("a product of no batch");
  // What is computed with them has no more.
  fields.bytes({batch.products(), rows, depth});
  fields.bytes({batch.products(), rows, columns});
  // Of panels that are not full, too.
  fields.bytes({fields.plus(depth, 4), fields.plus(columns, 16), kF32});
}

} // namespace

void ProductStep::fields(ProgramFields& fields) {
  productFields(fields);
  fields.steps(epilogue);
  if (!fields.isReading() || epilogue.all().empty())
    return;
  kernel = dynamic_cast<const KernelStep*>(epilogue.all().front().get());
  if (kernel == nullptr || epilogue.all().size() != 1)
    fields.fail("a product whose epilogue is no kernel");
}

/// Whether the prologue makes the right sides, each of whose rows is some of its own.
bool MatrixProductStep::hasMadeRows() const {
  const Sizes now = sizesOf(1);
  const std::int64_t elements = now.madeElements();
  const std::int64_t stride = now.rightDepthStride == 1 ? now.rightStride : now.rightDepthStride;
  std::int64_t all = 0;
  if (__builtin_mul_overflow(batch.offsets.size(), now.madeRows(), &all) || maker == nullptr ||
      !isRightFixed() || !batch.factors.empty() || batch.isOne() ||
      plainType == kernels::PlainType::Int8 ||
      (now.rightDepthStride != 1 && now.rightStride != 1) || elements <= 0 || stride <= 0 ||
      stride % elements != 0 || now.rightOffset % elements != 0 || all <= 0)
    return false;
  const ItemNumber& made = maker->allRows();
  const std::int64_t count = batch.isOpen ? made.factor : made.fixed;
  const std::ptrdiff_t item = batch.item.right;
  if ((batch.isOpen ? made.fixed : made.factor) != 0 || made.square != 0 || count < all ||
      count % all != 0 ||
      (batch.isOpen && (item < 0 || item % elements != 0 || item / elements > all)))
    return false;
  const std::int64_t last = (now.madeRows() - 1) * (stride / elements);
  return std::ranges::all_of(batch.offsets, [&](const kernels::BatchOffsets& each) {
    const std::int64_t first = now.rightOffset + each.right;
    return first >= 0 && first % elements == 0 && first / elements + last < all;
  });
}

/// Whether the right sides of all products begin at the same place.
bool MatrixProductStep::hasOneRight() const {
  for (std::size_t i = 0; i < batch.offsets.size(); ++i)
    if (batch.begin(i, &kernels::BatchOffsets::right) != 0)
      return false;
  return batch.item.right == 0;
}

/// What products of matrices that lie at any strides have in common.
template <typename Side>
static void matrixFields(ProgramFields& fields, ItemNumber& rows, ItemNumber& depth,
                         ItemNumber& columns, Side& left, Side& right) {
  for (ItemNumber* extent : {&rows, &depth, &columns})
    fields.number(*extent);
  for (Side* side : {&left, &right})
    for (ItemNumber* value : {&side->offset, &side->stride, &side->depthStride})
      fields.stride(*value);
}

/// Several that are packed, which a step keeps as one; `read` is the fields of each.
template <typename Operand, typename Read>
static void packedAll(ProgramFields& fields, std::shared_ptr<const std::vector<Operand>>& all,
                      std::int64_t count, const char* otherCount, Read read) {
  // The compiler packs nothing.
  if (fields.isTrusted())
    return;
  std::vector<std::shared_ptr<const Operand>> each;
  for (std::size_t i = 0; all != nullptr && i < all->size(); ++i)
    each.emplace_back(all, &(*all)[i]);
  fields.list(each, kMost, read);
  if (static_cast<std::int64_t>(each.size()) != count)
    fields.fail(otherCount);
  if (!fields.isReading() || fields.failed())
    return;
  std::vector<Operand> made;
  for (const auto& operand : each)
    made.push_back(std::move(const_cast<Operand&>(*operand)));
  all = std::make_shared<const std::vector<Operand>>(std::move(made));
}

/// Whether values of a format of floats are those of a type that kernels multiply.
static bool isHeldBy(kernels::PlainType type, const format::ElementFormat& format) {
  if (type == kernels::PlainType::F32 &&
      (format.name == "f32" || format.name == "bf16" || format.name == "f16"))
    return true;
  return type != kernels::PlainType::Int8 && format.isNarrow() && !format.isInteger();
}

void MatrixProductStep::productFields(ProgramFields& fields) {
  fields.choice(plainType, kernels::PlainType::Int8);
  matrixFields(fields, rows, depth, columns, left, right);
  fields.format(right.from);
  if (right.from != nullptr &&
      (!isHeldBy(plainType, *right.from) || !fields.isAtMost(0, right.stride) ||
       !fields.isAtMost(0, right.depthStride)))
    fields.fail("a product of elements that its type does not hold");
  fields.batch(batch);
  right.slices.fields(fields, batch.products());
  stride(fields, right.sliceStride);
  fields.maybe(groups, [&](RowGroups& each) { each.fields(fields); });
  const auto matrices = static_cast<std::int64_t>(fields.bytes({right.slices.count(), ofSlice()}));
  fields.right(number);
  const std::int64_t width = plainType == kernels::PlainType::F32    ? kF32
                             : plainType == kernels::PlainType::Bf16 ? 2
                                                                     : 1;
  const std::int64_t rightWidth = bytesOfRight();
  const Extent ofLeft[] = {{rows, left.stride}, {depth, 1}};
  const Extent ofRight[] = {
      {columns, right.stride}, {depth, right.depthStride}, {matrices, right.sliceStride}};
  const Extent ofC[] = {{rows, columns}, {columns, 1}};
  checkBatch(fields, rows, depth, columns, batch);
  if (fields.failed())
    return;
  using Offsets = kernels::BatchOffsets;
  const bool isElsewhere =
      std::ranges::any_of(std::array{&Offsets::left, &Offsets::right, &Offsets::c},
                          [&](auto side) { return batch.begin(0, side) != 0; });
  const bool isOfChoice = right.slices.isOfProduct();
  if (batch.isOne() ? isElsewhere
                    : !isOfChoice && (right.from != nullptr || !right.slices.axes.empty()))
    return fields.fail("a product of no batch");
  if (groups && !batch.isOne())
    return fields.fail("a batch of products of groups of rows");
  if (isOfChoice && !hasOneRight())
    return fields.fail("products that choose among slices which begin elsewhere for each");
  fields.number(left.slot);
  requireReached(fields, left.slot, {left.offset, ofLeft, &kernels::BatchOffsets::left, true}, rows,
                 batch, width, Access::Read);
  fields.number(result);
  requireReached(fields, result, {0, ofC, &kernels::BatchOffsets::c, true}, rows, batch, kF32,
                 Access::Write);
  fields.number(right.slot);
  fields.beginPrologue(right.slot);
  fields.steps(prologue);
  fields.endPrologue();
  if (!prologue.all().empty()) {
    if (fields.isReading())
      maker = dynamic_cast<const KernelStep*>(prologue.all().front().get());
    fields.reach(right.offset, ofRight, rightWidth);
    if (!fields.failed() && (prologue.all().size() != 1 || !hasMadeRows()))
      fields.fail("a product whose prologue does not make its right side");
    return;
  }
  const Reached rightSide{right.offset, ofRight, &kernels::BatchOffsets::right, false};
  if (isPacked() && fields.isConstant(right.slot) && isRightFixed()) {
    if (Frame* frame = fields.frame(); frame != nullptr && prepare(*frame))
      ahead = std::static_pointer_cast<const Packed>(frame->right(number).form);
    packedAll(fields, ahead, matrices, "a product with other packed slices",
              [&](std::shared_ptr<const kernels::PackedMatrix>& matrix) {
                fields.matrix(matrix, plainType, depth.fixed, columns.fixed);
              });
    return;
  }
  requireReached(fields, right.slot, rightSide, rows, batch, rightWidth, Access::Read);
}

void ComplexProductStep::productFields(ProgramFields& fields) {
  fields.truth(isF64);
  matrixFields(fields, rows, depth, columns, left, right);
  fields.batch(batch);
  const std::int64_t width = isF64 ? 16 : 8;
  const Extent ofLeft[] = {{rows, left.stride}, {depth, left.depthStride}};
  const Extent ofRight[] = {{columns, right.stride}, {depth, right.depthStride}};
  const Extent ofC[] = {{rows, columns}, {columns, 1}};
  checkBatch(fields, rows, depth, columns, batch);
  if (fields.failed())
    return;
  fields.number(left.slot);
  requireReached(fields, left.slot, {left.offset, ofLeft, &kernels::BatchOffsets::left, true}, rows,
                 batch, width, Access::Read);
  fields.number(right.slot);
  requireReached(fields, right.slot, {right.offset, ofRight, &kernels::BatchOffsets::right, false},
                 rows, batch, width, Access::Read);
  fields.number(result);
  requireReached(fields, result, {0, ofC, &kernels::BatchOffsets::c, true}, rows, batch, width,
                 Access::Write);
}

/// Of products, the matrices whose rows a step goes over: one, where groups have its rows.
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
  matricesOf(fields, matrices);
  fields.number(rows);
  const Matrices whole = groupsOf(fields, groups, matrices);
  fields.number(from);
  requireRows(fields, from, whole, rows, fields.times(plan.depth, kF32), Access::Read);
  fields.packed(packed);
  fields.packs(packed, plan, matrices.count, rows);
}

/// Parts of so many elements and scales. Without an access, what lies in the slots is not what is
/// read.
static void partsOf(ProgramFields& fields, PartSlots& slots, const ScaledSizes& sizes,
                    const format::ElementFormat& scale, std::optional<Access> access) {
  const auto slot = [&](Slot& slot, const Bytes& bytes) {
    fields.number(slot);
    if (access)
      fields.require(slot, bytes, *access);
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

/// The elements that what is gathered reaches up to; there are so many of each slice.
static std::uint64_t reachOf(ProgramFields& fields, Gathered& gathered, std::int64_t slices,
                             std::uint64_t ofSlice) {
  fields.number(gathered.offset);
  std::vector<Extent> extents;
  std::uint64_t count = 1;
  bool hasSlices = false; // the first axes count them
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

void SliceChoice::fields(ProgramFields& fields, const ItemNumber& products) {
  std::int64_t slices = 1;
  fields.list(axes, kMost, [&](Axis& axis) {
    fields.number(axis.count, 1);
    slices = static_cast<std::int64_t>(fields.bytes({slices, axis.count}));
    fields.number(axis.stride);
    // All of a product's integers are there.
    fields.number(axis.first, 0, std::max<std::int64_t>(0, axis.stride - 1));
    fields.number(axis.index.bytes, 1, 8);
    fields.truth(axis.index.isUnsigned);
    fields.slot(axis.index.slot,
                axis.stride == 0 ? Bytes(static_cast<std::uint64_t>(axis.index.bytes))
                                 : fields.bytes({products, axis.stride, axis.index.bytes}),
                Access::Read);
  });
  if (fields.failed())
    axes.clear();
}

void RowGroups::fields(ProgramFields& fields) {
  fields.number(count, 1);
  fields.number(bytes, 1, 8);
  fields.truth(isUnsigned);
  fields.slot(sizes, fields.bytes({count, bytes}), Access::Read);
}

MovedWeight::Reach MovedWeight::fields(ProgramFields& fields, const Reach& ofMatrix,
                                       const Reach& ofBatch, const ItemNumber& products) {
  slices.fields(fields, products);
  const Reach& ofSlice = slices.isOfProduct() ? ofMatrix : ofBatch;
  const std::int64_t count = slices.count();
  const std::uint64_t codes = reachOf(fields, elements, count, ofSlice.elements);
  return {codes, reachOf(fields, scales, count, ofSlice.scales)};
}

/// Whether a scaled tensor is the matrices of a product's side, as they lie or turned.
static bool isSideOf(ProgramFields& fields, const ScaledSide& side, const ScaledShape& tensor) {
  ItemNumber elements = 1;
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

/// Whether it has all of the matrices that are gathered from it.
static bool isGatheredFrom(ProgramFields& fields, const kernels::OperandFormat& format,
                           const ScaledSizes& gathered, const ScaledShape& tensor) {
  const ScaledSizes sizes = scaledSizes(fields, tensor);
  return tensor.element == format.element && tensor.scale == format.scale && !tensor.isOpen() &&
         !gathered.elements.count.isOpen() && !gathered.scales.count.isOpen() &&
         gathered.elements.count.fixed <= sizes.elements.count.fixed &&
         gathered.scales.count.fixed <= sizes.scales.count.fixed;
}

/// Of closed sizes; of open ones, those of one item.
static MovedWeight::Reach reachOf(const ScaledSizes& sizes) {
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
  bool isAhead = ahead != nullptr;
  if (frame != nullptr && parts != nullptr)
    isAhead = fields.isConstant(parts->elements) && fields.isConstant(parts->scales) &&
              (!parts->outer || fields.isConstant(*parts->outer));
  else if (frame != nullptr)
    isAhead = !frame->values[static_cast<std::size_t>(std::get<int>(weight))].isToken();
  fields.truth(isAhead);
  // Of panels that are not full, too.
  fields.bytes({fields.plus(plan.depth, 32), fields.plus(columns, 32), kF32});
  fields.bytes({rows, fields.plus(plan.depth, 32), kF32});
  if (fields.failed())
    return;
  const ScaledSide right = rightSide(plan, matrices, columns);
  ScaledSizes sizes = scaledSizes(fields, right);
  fields.maybe(moved, [&](MovedWeight& weight) {
    if (plan.isOpen() || columns.isOpen())
      fields.fail("a weight of items that is moved");
    // Of a slice: the matrices of a batch, or that of one of its products.
    const ScaledSizes ofOne = scaledSizes(fields, rightSide(plan, {.count = 1}, columns));
    const MovedWeight::Reach reach =
        weight.fields(fields, reachOf(ofOne), reachOf(sizes), matrices.count);
    if (sizes.elements.count.isOpen() && !weight.slices.isOfProduct())
      fields.fail("a weight of items that is moved");
    sizes = {reach.elements, reach.scales};
  });
  if (parts != nullptr)
    partsOf(fields, *parts, sizes, *plan.one.right.scale,
            isAhead ? std::nullopt : std::optional(Access::Read));
  else
    fields.value(std::get<int>(weight));
  if (fields.failed())
    return;
  if (fields.isTrusted())
    return;
  if (isAhead && !isWeightFixed() && !(moved && moved->slices.isOfProduct()))
    return fields.fail("packed weights of a batch that is open");
  if (isAhead) {
    if (frame != nullptr && prepare(*frame))
      ahead = std::static_pointer_cast<const Packed>(frame->right(number).form);
    return packedAhead(fields);
  }
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
  packedAll(fields, ahead,
            static_cast<std::int64_t>(fields.bytes({slices(), ofSlice(matrices.count.of(1))})),
            "a product with packed weights of another batch",
            [&](std::shared_ptr<const kernels::PackedOperand>& operand) {
              fields.operand(operand, plan.one, columns.fixed);
            });
}

void ConvolutionStep::productFields(ProgramFields& fields) {
  fields.choice(shape.type, kernels::PlainType::Bf16);
  const std::int64_t width = shape.type == kernels::PlainType::F32 ? kF32 : 2;
  for (ItemNumber* count : {&shape.batch, &shape.features, &shape.outputs})
    fields.number(*count);
  fields.number(shape.inputGroups, 1);
  fields.number(shape.batchGroups, 1);
  using Axis = PatchAxisOf<ItemNumber>;
  fields.list(shape.axes, kMostPatchAxes, [&](Axis& axis) {
    for (ItemNumber* extent : {&axis.extent, &axis.window, &axis.places})
      fields.number(*extent);
    fields.number(axis.step, 1);
    fields.stride(axis.low);
    fields.number(axis.inputDilation, 1);
    fields.number(axis.windowDilation, 1);
    fields.stride(axis.inputStride);
    fields.stride(axis.weightStride);
  });
  for (ItemNumber* value : {&shape.inputOffset, &shape.imageStride, &shape.weightOffset,
                            &shape.weightInputStride, &shape.weightOutputStride})
    fields.stride(*value);
  fields.right(number);
  if (shape.axes.empty() || (shape.inputGroups > 1 && shape.batchGroups > 1) ||
      shape.outputs.fixed % (shape.inputGroups * shape.batchGroups) != 0 ||
      shape.outputs.factor % (shape.inputGroups * shape.batchGroups) != 0 ||
      shape.outputs.square != 0)
    fields.fail("a convolution of groups that do not divide it");
  // Their products are computed, whichever of them are none.
  const auto some = [](const ItemNumber& count) { return count == 0 ? ItemNumber(1) : count; };
  ItemNumber rows = some(shape.batch), depth = some(shape.features);
  std::vector<Extent> input = {{fields.times(shape.batch, shape.batchGroups), shape.imageStride},
                               {fields.times(shape.features, shape.inputGroups), 1}};
  std::vector<Extent> kernel = {{shape.features, shape.weightInputStride},
                                {shape.outputs, shape.weightOutputStride}};
  for (const Axis& axis : shape.axes) {
    rows = fields.times(rows, some(axis.places));
    depth = fields.times(depth, some(axis.window));
    input.push_back({axis.extent, axis.inputStride});
    kernel.push_back({axis.window, axis.weightStride});
    fields.bytes({axis.places, axis.step});
    fields.bytes({axis.window, axis.windowDilation});
  }
  // Of panels that are not full, too, and of rows of patches.
  fields.bytes({fields.plus(depth, 4), fields.plus(shape.outputs, 16), kF32});
  if (fields.failed())
    return;
  fields.slot(this->input, fields.reach(shape.inputOffset, input, width), Access::Read);
  fields.number(result);
  requireRows(fields, result, {}, *shape.rows(), fields.times(shape.outputs, kF32), Access::Write);
  fields.number(weight);
  if (!fields.isConstant(weight) || !shape.isWeightFixed()) {
    fields.require(weight, fields.reach(shape.weightOffset, kernel, width), Access::Read);
    return;
  }
  if (Frame* frame = fields.frame(); frame != nullptr && prepare(*frame))
    ahead = std::static_pointer_cast<const Weights>(frame->right(number).form);
  const std::int64_t columns = shape.outputs.fixed / shape.groups();
  packedAll(fields, ahead, shape.groups(), "a convolution with weights of other groups",
            [&](std::shared_ptr<const kernels::PackedMatrix>& group) {
              fields.matrix(group, shape.type, shape.of(1).depth(), columns);
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
  const ItemNumber ofRow = fields.times(blocksOf(side.depth, side.along),
                                        static_cast<std::int64_t>(left.scale->bytes()));
  const bool isByRow = whole.isOne() ? left.across == 1 : !whole.shareScales && !rows.isOpen();
  if (isByRow && fields.isRange(from.scales))
    fields.requireInEach(from.scales, whole.isOne() ? rows : whole.count,
                         whole.isOne() ? ofRow
                                       : fields.times(blocksOf(rows, side.across()), ofRow));
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

} // namespace octavo::steps
