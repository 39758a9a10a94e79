#include "octavo/Kernels/ThreadMemory.h"
#include "octavo/Program/Steps/Place.h"
#include "octavo/Program/Steps/Products/Product.h"
#include "octavo/Program/Steps/Products/Quantize.h"
#include "octavo/Program/Steps/SharedForms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace octavo::program {

namespace {

/// The format of the stored matrix: with swapped block extents if it is transposed.
kernels::OperandFormat asItLies(kernels::OperandFormat format, bool isTransposed) {
  if (isTransposed)
    std::swap(format.across, format.along);
  return format;
}

/// The transpose of a matrix [rows, columns] with elements of `width` bytes, 1 or 4.
kernels::ThreadVector<std::byte> transposed(const void* matrix, int width, std::int64_t rows,
                                            std::int64_t columns) {
  kernels::ThreadVector<std::byte> result(static_cast<std::size_t>(rows * columns * width));
  const auto turn = [&]<typename T>(const T* from) {
    T* const to = reinterpret_cast<T*>(result.data());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        to[j * rows + i] = from[i * columns + j];
  };
  if (width == 1)
    turn(static_cast<const std::uint8_t*>(matrix));
  else
    turn(static_cast<const std::uint32_t*>(matrix));
  return result;
}

/// Calls f with the transposed matrix, including its blocks.
template <typename F> auto withTransposed(const kernels::ScaledView& matrix, const F& f) {
  const auto elements = transposed(matrix.elements, 1, matrix.rows, matrix.depth);
  const auto [gridRows, gridColumns] = gridOf(matrix);
  const auto scales = transposed(matrix.scales, matrix.scaleBytes, gridRows, gridColumns);
  kernels::ScaledView turned = matrix;
  std::swap(turned.rows, turned.depth);
  std::swap(turned.across, turned.along);
  turned.elements = reinterpret_cast<const std::uint8_t*>(elements.data());
  turned.scales = scales.data();
  return f(turned);
}

} // namespace

Outcome PackStep::compute(const Frame& frame, Worker& worker, RowRange range,
                          const kernels::Execution& execution) const {
  const auto now = plan.of(frame.items);
  if (!now)
    return failure(*this, now.error());
  const float* const values = worker.at<const float>(from);
  if (groups) {
    // Rows of no group are quantized too, in order to report refused values.
    const std::span<kernels::PackedOperand> target =
        worker.lefts(packed, groups->count + (options ? 1 : 0));
    const RowRange own = range.of(rows.of(frame));
    Outcome outcome;
    groups->forEach(frame, own, [&](std::int64_t group, std::int64_t begin, std::int64_t end) {
      if (!outcome || static_cast<std::size_t>(group) >= target.size())
        return;
      const RowRange all = rowsForGroup(*now, {begin, end, own.count}, own);
      outcome = packRows(*now, values + all.begin * now->depth, all.size(),
                         target[static_cast<std::size_t>(group)], execution);
    });
    return outcome;
  }
  const Matrices::Range own = matrices.of(frame, range, rows);
  std::int64_t begin = own.first * own.rows + own.begin;
  for (kernels::PackedOperand& each : worker.lefts(packed, own.count)) {
    if (Outcome outcome = packRows(*now, values + begin * now->depth, own.rows, each, execution);
        !outcome)
      return outcome;
    begin += own.rows;
  }
  return {};
}

Outcome PackStoredStep::run(Frame& frame) const {
  const auto now = plan.of(frame.items);
  if (!now)
    return failure(*this, now.error());
  const kernels::ScaledView first =
      firstMatrix(scaledAt(frame, from), now->left, rows.of(frame), now->depth);
  std::int64_t number = 0;
  for (kernels::PackedOperand& each : frame.whole.lefts(packed, matrices.count.of(frame)))
    each =
        kernels::pack(matrices.at(first, number++), kernels::Side::Left, *now, {}, std::move(each));
  return {};
}

Outcome PackStep::packRows(const kernels::ProductPlan& now, const float* values, std::int64_t count,
                           kernels::PackedOperand& target,
                           const kernels::Execution& execution) const {
  const std::span matrix(values, static_cast<std::size_t>(count * now.depth));
  if (!options) { // plain activations: the product in the next step reads them in place
    target = kernels::packWhereTheyLie(matrix, now, execution, std::move(target));
    return {};
  }
  auto quantized = kernels::quantizeAndPack(matrix, now, *options, execution, std::move(target));
  if (!quantized)
    return refusal(*this, quantized.error().value);
  target = std::move(*quantized);
  return {};
}

/// A copy of the operand that shares its memory, which `lender` keeps alive.
static kernels::PackedOperand lentBy(const std::shared_ptr<const void>& lender,
                                     const kernels::PackedOperand& operand) {
  const auto lent = [&](const kernels::PackedBytes& bytes) {
    return kernels::PackedBytes::lent({bytes.data(), bytes.size()}, lender);
  };
  return {.side = operand.side,
          .storage = operand.storage,
          .scaleCodes = operand.scaleCodes,
          .rows = operand.rows,
          .elements = lent(operand.elements),
          .scales = lent(operand.scales),
          .outer = operand.outer,
          .factors = operand.factors,
          .paddedRows = operand.paddedRows,
          .far = operand.far,
          .leastExponent = operand.leastExponent,
          .greatestExponent = operand.greatestExponent,
          .hasUnusualScale = operand.hasUnusualScale};
}

tl::expected<ScaledProductStep::Sizes, std::string>
ScaledProductStep::sizesOf(std::int64_t items) const {
  return plan.of(items).map([&](kernels::ProductPlan made) {
    const std::int64_t count = rows.of(items);
    return Sizes{std::move(made), matrices.count.of(items), count, columns.of(items),
                 count > kFewRows};
  });
}

bool ScaledProductStep::isWeightFixed() const {
  return !plan.isOpen() && !columns.isOpen() && !matrices.count.isOpen();
}

kernels::ScaledView ScaledProductStep::first(const Sizes& now,
                                             const numerics::ScaledTensor& tensor) const {
  return firstMatrix(tensor, asItLies(now.plan.right, isTransposed),
                     isTransposed ? now.plan.depth : now.columns,
                     isTransposed ? now.columns : now.plan.depth);
}

kernels::ScaledView ScaledProductStep::first(const Sizes& now, const Frame& frame) const {
  if (const int* value = std::get_if<int>(&weight))
    return first(now, scaledAt(frame, *value));
  return firstMatrix(
      frame.whole, std::get<PartSlots>(weight), asItLies(now.plan.right, isTransposed),
      isTransposed ? now.plan.depth : now.columns, isTransposed ? now.columns : now.plan.depth);
}

kernels::PackedOperand ScaledProductStep::pack(const Sizes& now, const kernels::ScaledView& matrix,
                                               const kernels::Execution& execution,
                                               kernels::PackedOperand&& old,
                                               kernels::PackedBytes* spare) const {
  const auto packed = [&](const kernels::ScaledView& given) {
    return kernels::pack(given, kernels::Side::Right, now.plan, execution, std::move(old));
  };
  kernels::PackedOperand right = isTransposed ? withTransposed(matrix, packed) : packed(matrix);
  return now.isDecoded ? kernels::decodedAhead(now.plan, std::move(right), execution, spare)
                       : std::move(right);
}

void ScaledProductStep::packOwn(const Sizes& now, const kernels::ScaledView& matrix,
                                const kernels::Execution& execution, OwnOperand& own) const {
  const bool isDecoded = own.packed.storage == kernels::PackedOperand::Storage::Values;
  if (isDecoded && own.spare.size() != 0) // new codes go to the spare memory
    std::swap(own.packed.elements, own.spare);
  own.packed = pack(now, matrix, execution, std::move(own.packed), &own.spare);
}

std::optional<kernels::ScaledView> ScaledProductStep::inPlace(const Sizes& now, const Frame& frame,
                                                              std::int64_t product) const {
  const kernels::ScaledView whole = first(now, frame);
  if (!moved)
    return matrices.at(whole, product);
  const auto slice = moved->inPlace(whole, moved->slices.of(frame, product));
  return slice ? std::optional(matrices.at(*slice, product % ofSlice(now.products))) : std::nullopt;
}

/// Packs the matrices of one slice into their positions in `all`.
void ScaledProductStep::packSlice(const Sizes& now, const kernels::ScaledView& first,
                                  std::int64_t slice, Packed& all) const {
  const std::optional<MovedParts> parts =
      moved ? std::optional<MovedParts>(std::in_place, *moved, first, slice) : std::nullopt;
  const std::int64_t each = ofSlice(now.products);
  for (std::int64_t i = 0; i < each; ++i)
    all[static_cast<std::size_t>(slice * each + i)] =
        pack(now, matrices.at(parts ? parts->first(first) : first, i), {}, {}, nullptr);
}

ScaledProductStep::Packed ScaledProductStep::packAll(const Sizes& now,
                                                     const kernels::ScaledView& first) const {
  Packed all(static_cast<std::size_t>(slices() * ofSlice(now.products)));
  for (std::int64_t slice = 0; slice < slices(); ++slice)
    packSlice(now, first, slice, all);
  return all;
}

/// Packs only the slices that the products of this run choose.
ScaledProductStep::Packed ScaledProductStep::packChosen(const Sizes& now,
                                                        const Frame& frame) const {
  const std::int64_t each = ofSlice(now.products);
  Packed all(static_cast<std::size_t>(slices() * each));
  for (std::int64_t product = 0; product < now.products; product += each) {
    const std::int64_t matrix = matrixOf(frame, product, now.products);
    if (all[static_cast<std::size_t>(matrix)].rows == 0)
      packSlice(now, first(now, frame), matrix / each, all);
  }
  return all;
}

void ScaledProductStep::formKey(const Sizes& now, bool isDecoded, PackedForms::Key& key) const {
  // Formats and depth determine the plan.
  key.assign({now.plan.depth, now.columns, isTransposed ? 1 : 0, isDecoded ? 1 : 0, slices(),
              ofSlice(now.products), matrices.shareScales ? 1 : 0});
  if (moved)
    moved->addTo(key);
  for (const kernels::OperandFormat* operand : {&now.plan.left, &now.plan.right})
    key.insert(key.end(),
               {reinterpret_cast<std::intptr_t>(operand->element),
                reinterpret_cast<std::intptr_t>(operand->scale), operand->across, operand->along});
}

template <typename First>
ScaledProductStep::Form ScaledProductStep::formOf(const Sizes& now, const Value& owner,
                                                  std::span<const Value* const> others,
                                                  PackedForms::Key& key, const First& first) const {
  const auto form = [&](bool isDecoded, const auto& make) -> Form {
    formKey(now, isDecoded, key);
    return others.empty() ? owner.forms().of<Packed>(key, make)
                          : formWithOthers<Packed>(owner, key, others, make);
  };
  const auto packed = [&](bool isDecoded) {
    return form(isDecoded, [&]() -> tl::expected<Packed, std::string> {
      if (isPackedAhead)
        return tl::make_unexpected("its packed weight is not there");
      Sizes sizes = now;
      sizes.isDecoded = isDecoded;
      return packAll(sizes, first());
    });
  };
  if (!rows.isOpen())
    return packed(now.isDecoded);
  Form few = packed(false);
  if (!few || !now.isDecoded)
    return few;
  return form(true, [&]() -> tl::expected<Packed, std::string> {
    Packed all;
    for (const kernels::PackedOperand& operand : **few)
      all.push_back(kernels::decodedAhead(now.plan, lentBy(*few, operand)));
    return all;
  });
}

ScaledProductStep::Form ScaledProductStep::formOf(const Sizes& now, const Value& value,
                                                  PackedForms::Key& key) const {
  return formOf(now, value, {}, key, [&] { return first(now, value.scaled()); });
}

Outcome ScaledProductStep::bind(const Binding& binding) const {
  // With an open row count, the form depends on the run.
  if (rows.isOpen() || !isWeightFixed() || !std::holds_alternative<int>(weight) ||
      binding.place != std::get<int>(weight))
    return {};
  PackedForms::Key key;
  return sizesOf(1)
      .and_then([&](const Sizes& now) { return formOf(now, binding.value, key); })
      .map([](const auto&) {});
}

Outcome ScaledProductStep::prepare(Frame& frame) const {
  RightOperand& right = frame.right(number);
  right.form = nullptr;
  const auto sizes = sizesOf(frame.items);
  if (!sizes)
    return failure(*this, sizes.error());
  const Sizes& now = *sizes;
  const auto take = [&](Form form) -> Outcome {
    if (!form)
      return failure(*this, form.error());
    right.form = std::move(*form);
    return {};
  };
  // A weight that does not recur: a single matrix is packed here for all threads; matrices of a
  // batch are packed by their products.
  const auto makeOwn = [&] {
    if (now.products == 0) // batch size 0
      return Outcome();
    const auto matrix = inPlace(now, frame, 0);
    if (!matrix)
      right.form = std::make_shared<const Packed>(packChosen(now, frame));
    else if (matrices.isOne())
      packOwn(now, *matrix, {}, right.ownScaled);
    return Outcome();
  };
  if (const auto* const parts = std::get_if<PartSlots>(&weight)) {
    const auto owner = [&](Slot slot) {
      return frame.owners[static_cast<std::size_t>(slot.number)];
    };
    const Value* const elements = owner(parts->elements);
    const std::array others = {owner(parts->scales), owner(parts->outer.value_or(parts->scales))};
    if (elements == nullptr || std::ranges::find(others, nullptr) != others.end())
      return isPackedAhead ? failure(*this, "its packed weight is not there") : makeOwn();
    return take(formOf(now, *elements, others, right.key, [&] { return first(now, frame); }));
  }
  const Value& value = frame.values[static_cast<std::size_t>(std::get<int>(weight))];
  if (isPackedAhead && !value.isScaled())
    return failure(*this, "its packed weight is not there");
  // A value made by a step, or held by nobody else, does not recur.
  if (!isPackedAhead && !value.isShared())
    return makeOwn();
  return take(formOf(now, value, right.key));
}

const kernels::PackedOperand& ScaledProductStep::rightOf(const Sizes& now, const Frame& frame,
                                                         std::int64_t product,
                                                         const kernels::Execution& execution,
                                                         OwnOperand& made) const {
  const RightOperand& right = frame.right(number);
  if (const auto* const form = static_cast<const Packed*>(right.form.get()))
    return (*form)[static_cast<std::size_t>(matrixOf(frame, product, now.products))];
  if (matrices.isOne())
    return right.ownScaled.packed;
  packOwn(now, *inPlace(now, frame, product), execution, made);
  return made.packed;
}

/// Multiplies the rows of each group by its matrix. Rows of no group become 0.
Outcome ScaledProductStep::multiplyGroups(const Sizes& now, const Frame& frame, Worker& worker,
                                          RowRange range,
                                          const kernels::Execution& execution) const {
  if (Outcome outcome = checkGroups(*this, *groups, frame); !outcome)
    return outcome;
  const std::span<const kernels::PackedOperand> left = worker.lefts(packed, groups->count);
  float* const c = worker.at<float>(result);
  const kernels::ThreadKept<OwnOperand> made;
  const RowRange whole = range.of(now.rows);
  Outcome outcome;
  groups->forEach(frame, whole, [&](std::int64_t group, std::int64_t begin, std::int64_t end) {
    float* const to = c + begin * now.columns;
    const auto size = static_cast<std::size_t>((end - begin) * now.columns);
    if (group == groups->count) {
      std::fill_n(to, size, 0.0f);
      return;
    }
    const RowRange all = rowsForGroup(now.plan, {begin, end, whole.count}, whole);
    const kernels::PackedOperand& own = left[static_cast<std::size_t>(group)];
    if (own.rows != all.size()) {
      outcome = failure(*this, "its left side is packed for other groups");
      return;
    }
    const kernels::PackedOperand& matrix = rightOf(now, frame, group, execution, *made);
    if (all.size() == end - begin)
      return kernels::multiply(now.plan, own, matrix, std::span(to, size), execution);
    kernels::ThreadVector<float> others(static_cast<std::size_t>(all.size() * now.columns));
    kernels::multiply(now.plan, own, matrix, others, execution);
    std::copy_n(others.data() + (begin - all.begin) * now.columns, size, to);
  });
  return outcome;
}

Outcome ScaledProductStep::multiply(const Frame& frame, Worker& worker, RowRange range,
                                    const kernels::Execution& execution,
                                    Finishing /*finishing*/) const {
  const auto sizes = sizesOf(frame.items);
  if (!sizes)
    return failure(*this, sizes.error());
  const Sizes& now = *sizes;
  if (groups)
    return multiplyGroups(now, frame, worker, range, execution);
  const Matrices::Range own = matrices.of(frame, range, rows);
  const std::span<const kernels::PackedOperand> left = worker.lefts(packed, own.count);
  const auto size = static_cast<std::size_t>(own.rows * now.columns);
  float* const c = worker.at<float>(result) + (own.first * now.rows + own.begin) * now.columns;
  kernels::forRanges(left.size(), 1, execution, [&](std::size_t begin, std::size_t end) {
    const kernels::ThreadKept<OwnOperand> made;
    for (std::size_t i = begin; i != end; ++i)
      kernels::multiply(
          now.plan, left[i],
          rightOf(now, frame, own.first + static_cast<std::int64_t>(i), execution, *made),
          std::span(c + i * size, size), execution);
  });
  return {};
}

std::string formatName(const kernels::OperandFormat& operand, std::int64_t depth) {
  if (operand.scale == nullptr)
    return std::string(operand.element->name);
  for (const format::ScaledFormat& row : format::kScaledFormats)
    if (row.element == operand.element && row.scale == operand.scale &&
        row.across == operand.across &&
        (row.along == format::kWholeAxis ? depth : row.along) == operand.along)
      return std::string(row.rowName());
  return fmt::format("{} by {} [{}, {}]", operand.element->name, operand.scale->name,
                     operand.across, operand.along);
}

double bytesOf(const kernels::OperandFormat& operand, std::int64_t rows, std::int64_t depth) {
  const auto count = static_cast<double>(rows) * static_cast<double>(depth);
  double bits = operand.element->width();
  if (operand.scale != nullptr) {
    const std::int64_t across = operand.across == format::kWholeAxis ? rows : operand.across;
    bits += static_cast<double>(operand.scale->width()) /
            static_cast<double>(std::max<std::int64_t>(1, across * operand.along));
  }
  return count * bits / 8;
}

static Multiplied multipliedOf(const kernels::ProductPlan& plan, std::int64_t rows) {
  using program::Multiplied;
  if (!plan.floats)
    return plan.left.scale == nullptr && rows > plan.mostFewRows ? Multiplied::F32
                                                                 : Multiplied::Int8;
  return plan.floatDot == kernels::FloatDot::Bf16Pairs ? Multiplied::Bf16 : Multiplied::F32;
}

static std::string_view arithmeticName(Multiplied multiplied) {
  constexpr std::string_view kNames[] = {"f32", "bf16", "integers"};
  return kNames[static_cast<int>(multiplied)];
}

StepFacts PackStep::facts() const {
  const std::int64_t all = (groups ? 1 : matrices.count.of(1)) * rows.of(1);
  const kernels::OperandFormat left = plan.left(1);
  const std::int64_t depth = plan.depth.of(1);
  return {.kind = StepFacts::Kind::Pack,
          .detail = formatName(left, depth),
          .operations = options ? 1 : 0,
          .bytes = static_cast<double>(sizeof(float)) * static_cast<double>(all) *
                       static_cast<double>(depth) +
                   bytesOf(left, all, depth)};
}

StepFacts PackStoredStep::facts() const {
  return {.kind = StepFacts::Kind::Pack,
          .detail = formatName(plan.left(1), plan.depth.of(1)),
          .operations = 0};
}

StepFacts ScaledProductStep::productFacts() const {
  const PartSlots* const parts = std::get_if<PartSlots>(&weight);
  const kernels::OperandFormat left = plan.left(1), right = plan.right(1);
  const std::int64_t products = matrices.count.of(1), width = columns.of(1),
                     depth = plan.depth.of(1);
  const double weightBytes = bytesOf(right, products * width, depth);
  const double packedBytes =
      static_cast<double>(slices()) * bytesOf(right, ofSlice(products) * width, depth);
  const std::int64_t allRows = (groups ? 1 : products) * rows.of(1);
  const double results = static_cast<double>(allRows) * static_cast<double>(width);
  const Multiplied multiplied = multipliedOf(plan.one, rows.of(1));
  return {
      .kind = StepFacts::Kind::Product,
      .detail = fmt::format("{} x {}{}, in {}", formatName(left, depth), formatName(right, depth),
                            groups                                 ? ", one for each group of rows"
                            : matrices.isOne()                     ? ""
                            : moved && moved->slices.isOfProduct() ? ", each with one of several"
                                                                   : ", in batches",
                            arithmeticName(multiplied)),
      .bytes = bytesOf(left, allRows, depth) + weightBytes + sizeof(float) * results,
      .arithmetic = 2 * results * static_cast<double>(depth),
      .multiplied = multiplied,
      .weight = parts ? StepFacts::Weight{.slot = parts->elements.number, .bytes = packedBytes}
                      : StepFacts::Weight{.value = std::get<int>(weight), .bytes = packedBytes}};
}

} // namespace octavo::program
