// Fields of the steps of plain matrix products and convolutions (ProgramFields.h).
#include "octavo/Program/Steps/Products/ProductFields.h"

#include "octavo/Program/Steps/Products/ComplexProduct.h"
#include "octavo/Program/Steps/Products/Convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace octavo::program {

namespace {

/// The elements that an operand or the result of a step's products covers.
struct Reached {
  BatchExtent offset;
  std::span<const Extent> extents;                   ///< axes of one product
  std::ptrdiff_t kernels::BatchOffsets::* ofProduct; ///< added to `offset`
  bool hasRows; ///< whether the first axis counts the step's rows
};

/// The bytes that all products reach, with elements of `width` bytes.
Bytes reach(ProgramFields& fields, const Reached& side, const MatrixBatch& batch,
            std::int64_t width) {
  BatchExtent far;
  for (std::size_t i = 0; i < batch.offsets.size(); ++i) {
    const BatchExtent begin = batch.begin(i, side.ofProduct);
    far = {std::max(far.fixed, begin.fixed), std::max(far.factor, begin.factor),
           std::max(far.square, begin.square)};
  }
  std::vector<Extent> extents(side.extents.begin(), side.extents.end());
  if (batch.isOpen)
    extents.push_back({{0, 1}, batch.item.*side.ofProduct});
  // Fails if the first product begins before its memory.
  fields.reach(side.offset, extents, width);
  return fields.reach(fields.plus(side.offset, far), extents, width);
}

/// Requires memory for all products; of a range slot, for the products of each row of the chain.
void requireReached(ProgramFields& fields, Slot slot, const Reached& side, const BatchExtent& rows,
                    const MatrixBatch& batch, std::int64_t width, Access access) {
  const Bytes all = reach(fields, side, batch, width);
  if (!fields.isRange(slot))
    return fields.require(slot, all, access);
  fields.uses(slot, access);
  const BatchExtent room = fields.bytesInEach(slot);
  const std::int64_t each = fields.rowsInEach(batch.isOne() ? rows : batch.products());
  if (fields.failed())
    return;
  const auto isInRow = [&](std::int64_t row, const BatchExtent& offset,
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
    const BatchExtent advance = fields.times(ofRow.front().stride, each * width);
    fits = side.hasRows && advance == room &&
           isInRow(0, fields.plus(side.offset, batch.begin(0, side.ofProduct)), ofRow);
  }
  for (std::size_t i = 0; !batch.isOne() && i < batch.offsets.size() && fits; ++i)
    fits = isInRow(static_cast<std::int64_t>(i) / each,
                   fields.plus(side.offset, batch.begin(i, side.ofProduct)), side.extents);
  if (batch.isOpen)
    fits = fits && fields.times(room, fields.rowsOfChain().factor) ==
                       BatchExtent(batch.item.*side.ofProduct * width);
  if (!fits)
    fields.fail(
        fmt::format("products that reach beyond a row of their chain in slot {}", slot.number));
}

void checkBatch(ProgramFields& fields, const BatchExtent& rows, const BatchExtent& depth,
                const BatchExtent& columns, const MatrixBatch& batch) {
  if (batch.offsets.empty())
    fields.fail("a product of no batch");
  // Bounds all numbers that are computed from these extents.
  fields.bytes({batch.products(), rows, depth});
  fields.bytes({batch.products(), rows, columns});
  // Includes the padding of incomplete panels.
  fields.bytes({fields.plus(depth, 4), fields.plus(columns, 16), kF32});
}

} // namespace

void requireRows(ProgramFields& fields, Slot slot, const Matrices& matrices,
                 const BatchExtent& rows, const BatchExtent& bytesOfRow, Access access) {
  if (!fields.isRange(slot))
    return fields.require(slot, fields.bytes({matrices.count, rows, bytesOfRow}), access);
  if (matrices.isOne())
    return fields.requireInEach(slot, rows, bytesOfRow, access);
  fields.requireInEach(slot, matrices.count, fields.times(rows, bytesOfRow), access);
}

bool isHeldBy(kernels::PlainType type, const format::ElementFormat& format) {
  if (type == kernels::PlainType::F32 &&
      (format.name == "f32" || format.name == "bf16" || format.name == "f16"))
    return true;
  return type != kernels::PlainType::Int8 && format.isNarrow() && !format.isInteger();
}

void ProductStep::fields(ProgramFields& fields) {
  productFields(fields);
  fields.steps(epilogue);
  if (!fields.isReading() || epilogue.all().empty())
    return;
  kernel = dynamic_cast<const KernelStep*>(epilogue.all().front().get());
  if (kernel == nullptr || epilogue.all().size() != 1)
    fields.fail("a product whose epilogue is no kernel");
}

/// Whether the prologue can make the right operands: the kernel's row count is a multiple of the
/// right operand's, and every product reads whole rows of it.
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
  const BatchExtent& made = maker->allRows();
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

/// Whether the right operands of all products begin at the same offset.
bool MatrixProductStep::hasOneRight() const {
  for (std::size_t i = 0; i < batch.offsets.size(); ++i)
    if (batch.begin(i, &kernels::BatchOffsets::right) != 0)
      return false;
  return batch.item.right == 0;
}

/// The fields that plain and complex products share.
template <typename Side>
static void matrixFields(ProgramFields& fields, BatchExtent& rows, BatchExtent& depth,
                         BatchExtent& columns, Side& left, Side& right) {
  for (BatchExtent* extent : {&rows, &depth, &columns})
    fields.number(*extent);
  for (Side* side : {&left, &right})
    for (BatchExtent* value : {&side->offset, &side->stride, &side->depthStride})
      fields.stride(*value);
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
  fields.uses(right.slot, Access::Read);
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
    PackedForms::Key key;
    formKey(sizesOf(1), key);
    giveForm(fields, right.slot, std::move(key),
             packedAll(fields, formToWrite<Packed>(fields, *this, number), matrices,
                       "a product with other packed slices",
                       [&](std::shared_ptr<const kernels::PackedMatrix>& matrix) {
                         fields.matrix(matrix, plainType, depth.fixed, columns.fixed);
                       }));
    return fields.isWritten(right.slot);
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

void IndexedSlice::fields(ProgramFields& fields, const BatchExtent& products) {
  std::int64_t slices = 1;
  fields.list(axes, kMost, [&](Axis& axis) {
    fields.number(axis.count, 1);
    slices = static_cast<std::int64_t>(fields.bytes({slices, axis.count}));
    fields.number(axis.stride);
    // `first` is below `stride`, so every product's integer exists.
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

void ConvolutionStep::productFields(ProgramFields& fields) {
  fields.choice(shape.type, kernels::PlainType::Bf16);
  const std::int64_t width = shape.type == kernels::PlainType::F32 ? kF32 : 2;
  for (BatchExtent* count : {&shape.batch, &shape.features, &shape.outputs})
    fields.number(*count);
  fields.number(shape.inputGroups, 1);
  fields.number(shape.batchGroups, 1);
  using Axis = PatchAxisOf<BatchExtent>;
  fields.list(shape.axes, kMostPatchAxes, [&](Axis& axis) {
    for (BatchExtent* extent : {&axis.extent, &axis.window, &axis.places})
      fields.number(*extent);
    fields.number(axis.step, 1);
    fields.stride(axis.low);
    fields.number(axis.inputDilation, 1);
    fields.number(axis.windowDilation, 1);
    fields.stride(axis.inputStride);
    fields.stride(axis.weightStride);
  });
  for (BatchExtent* value : {&shape.inputOffset, &shape.imageStride, &shape.weightOffset,
                             &shape.weightInputStride, &shape.weightOutputStride})
    fields.stride(*value);
  fields.right(number);
  if (shape.axes.empty() || (shape.inputGroups > 1 && shape.batchGroups > 1) ||
      shape.outputs.fixed % (shape.inputGroups * shape.batchGroups) != 0 ||
      shape.outputs.factor % (shape.inputGroups * shape.batchGroups) != 0 ||
      shape.outputs.square != 0)
    fields.fail("a convolution of groups that do not divide it");
  // Extents of 0 count as 1, because steps multiply the others.
  const auto some = [](const BatchExtent& count) { return count == 0 ? BatchExtent(1) : count; };
  BatchExtent rows = some(shape.batch), depth = some(shape.features);
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
  // Includes the padding of incomplete panels and rows of patches.
  fields.bytes({fields.plus(depth, 4), fields.plus(shape.outputs, 16), kF32});
  if (fields.failed())
    return;
  fields.slot(this->input, fields.reach(shape.inputOffset, input, width), Access::Read);
  fields.number(result);
  requireRows(fields, result, {}, *shape.rows(), fields.times(shape.outputs, kF32), Access::Write);
  fields.number(weight);
  fields.uses(weight, Access::Read);
  if (!fields.isConstant(weight) || !shape.isWeightFixed()) {
    fields.require(weight, fields.reach(shape.weightOffset, kernel, width), Access::Read);
    return;
  }
  const std::int64_t columns = shape.outputs.fixed / shape.groups();
  PackedForms::Key key;
  formKey(shape.of(1), key);
  giveForm(fields, weight, std::move(key),
           packedAll(fields, formToWrite<Weights>(fields, *this, number), shape.groups(),
                     "a convolution with weights of other groups",
                     [&](std::shared_ptr<const kernels::PackedMatrix>& group) {
                       fields.matrix(group, shape.type, shape.of(1).depth(), columns);
                     }));
  fields.isWritten(weight);
}

} // namespace octavo::program
