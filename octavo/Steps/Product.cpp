#include "octavo/Steps/Product.h"

#include "octavo/Kernels/Convert.h"
#include "octavo/Kernels/Product/ProductWork.h"
#include "octavo/Kernels/ThreadMemory.h"
#include "octavo/Steps/Place.h"
#include "octavo/Steps/Quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <type_traits>

namespace octavo::steps {

namespace {

/// Of a matrix that lies transposed where it does.
kernels::OperandFormat asItLies(kernels::OperandFormat format, bool isTransposed) {
  if (isTransposed)
    std::swap(format.across, format.along);
  return format;
}

auto& rightOf(auto& frame, int number) { return frame.rights[static_cast<std::size_t>(number)]; }

/// Of a matrix [rows, columns] of so wide elements.
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

/// Calls f with a matrix whose blocks are turned with it.
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

/// What lies between two looks for Ctrl-C: 0.1 s of one thread, about.
constexpr double kMostUninterrupted = 1e10;
/// Enough for the panels of the right operand to be read from memory at no cost.
constexpr std::int64_t kLeastRowsOfPart = 512;

bool isInterrupted(const Frame& frame) {
  return frame.host->isInterrupted && frame.host->isInterrupted();
}

} // namespace

void ProductStep::finishWith(std::unique_ptr<KernelStep> step) {
  kernel = step.get();
  epilogue.add(std::move(step));
}

std::vector<const Sequence*> ProductStep::nested() const {
  return kernel == nullptr ? std::vector<const Sequence*>() : std::vector{&epilogue};
}

StepFacts ProductStep::facts() const {
  StepFacts facts = productFacts();
  if (kernel != nullptr)
    facts.detail += ", and its epilogue";
  return facts;
}

kernels::RowFinisher ProductStep::Finishing::from(std::int64_t begin) {
  first = begin;
  if (kernel == nullptr)
    return {};
  return {.finish =
              [](void* finishing, std::int64_t rowBegin, std::int64_t rowEnd) {
                const auto& self = *static_cast<const Finishing*>(finishing);
                self.finish(self.first + rowBegin, self.first + rowEnd);
              },
          .context = this};
}

void ProductStep::Finishing::finish(std::int64_t begin, std::int64_t end) const {
  if (kernel == nullptr)
    return;
  const execution::Timed timed(frame.host->profile, kernel, execution::Profile::Extent::Piece);
  static_cast<void>(kernel->compute(frame, worker, {begin, end, rows}, {.threads = 1}));
}

Outcome ProductStep::compute(const Frame& frame, Worker& worker, RowRange range,
                             const kernels::Execution& execution) const {
  // Several threads divide rows for the kernel anew: those of one product are few.
  const bool isAtOnce = kernel != nullptr && execution.threads == 1 && finishedRows(frame) != 0;
  const Finishing finishing(isAtOnce ? kernel : nullptr, frame, worker, finishedRows(frame));
  if (Outcome outcome = multiply(frame, worker, range, execution, finishing); !outcome)
    return outcome;
  if (kernel == nullptr || isAtOnce)
    return {};
  const execution::Timed timed(frame.host->profile, kernel,
                               execution.threads == 1 ? execution::Profile::Extent::Piece
                                                      : execution::Profile::Extent::Whole);
  return kernel->compute(frame, worker, range, execution);
}

void MatrixProductStep::beginWith(std::unique_ptr<KernelStep> step) {
  maker = step.get();
  prologue.add(std::move(step));
}

std::vector<const Sequence*> MatrixProductStep::nested() const {
  std::vector<const Sequence*> all = ProductStep::nested();
  if (maker != nullptr)
    all.insert(all.begin(), &prologue);
  return all;
}

/// Calls f with a null pointer to elements of the type.
template <typename F> static auto ofType(kernels::PlainType type, const F& f) {
  switch (type) {
  case kernels::PlainType::F32:
    return f(static_cast<const float*>(nullptr));
  case kernels::PlainType::Bf16:
    return f(static_cast<const std::uint16_t*>(nullptr));
  case kernels::PlainType::Int8:
    return f(static_cast<const std::int8_t*>(nullptr));
  }
}

/// Bytes of an element.
static int widthOf(kernels::PlainType type) {
  return ofType(type, [](const auto* none) { return static_cast<int>(sizeof *none); });
}

kernels::PackedMatrix MatrixProductStep::pack(const std::byte* memory, std::int64_t slice,
                                              kernels::PackedMatrix&& old) const {
  if (right.codes != nullptr) {
    kernels::ThreadVector<std::uint16_t> values(static_cast<std::size_t>(
        depth * columns == 0 ? 0
                             : (depth - 1) * right.depthStride + (columns - 1) * right.stride + 1));
    kernels::decode(*right.codes, reinterpret_cast<const std::uint8_t*>(memory) + beginOf(slice),
                    kernels::WideType::Bf16, values.data(), values.size());
    return kernels::packMatrix(values.data(), depth, columns, right.depthStride, right.stride, {},
                               std::move(old));
  }
  return ofType(plainType, [&](const auto* none) {
    const auto* values = reinterpret_cast<decltype(none)>(memory) + beginOf(slice);
    return kernels::packMatrix(values, depth, columns, right.depthStride, right.stride, {},
                               std::move(old));
  });
}

tl::expected<kernels::PackedMatrix, std::string>
MatrixProductStep::pack(const execution::UnreadTensor& tensor, std::int64_t slice) const {
  const auto width = static_cast<std::uint64_t>(right.codes ? 1 : widthOf(plainType));
  std::vector<std::uint16_t> decoded;
  std::vector<std::byte> piece;
  tl::expected<void, std::string> done;
  auto packed = kernels::packMatrixInPieces(
      plainType, depth, columns, right.depthStride, right.stride,
      [&](std::int64_t first, std::int64_t count) -> const void* {
        piece.resize(static_cast<std::uint64_t>(count) * width);
        done = tensor.read(static_cast<std::uint64_t>(beginOf(slice) + first) * width, piece);
        if (!done || right.codes == nullptr)
          return done ? piece.data() : nullptr;
        decoded.resize(piece.size());
        kernels::decode(*right.codes, reinterpret_cast<const std::uint8_t*>(piece.data()),
                        kernels::WideType::Bf16, decoded.data(), decoded.size());
        return decoded.data();
      });
  if (!packed)
    return tl::unexpected(std::move(done.error()));
  return std::move(*packed);
}

tl::expected<std::shared_ptr<const MatrixProductStep::Packed>, std::string>
MatrixProductStep::formOf(const Value& value) const {
  return value.forms().of<Packed>(
      {static_cast<std::int64_t>(plainType), reinterpret_cast<std::intptr_t>(right.codes), depth,
       columns, right.offset, right.depthStride, right.stride, right.slices.count(),
       right.sliceStride},
      [&]() -> tl::expected<Packed, std::string> {
        Packed all;
        for (std::int64_t slice = 0; slice < right.slices.count(); ++slice) {
          tl::expected<kernels::PackedMatrix, std::string> packed =
              value.isUnread() ? pack(value.unread(), slice)
                               : pack(value.tensor().bytes.data(), slice, {});
          if (!packed)
            return tl::unexpected(std::move(packed.error()));
          all.push_back(std::move(*packed));
        }
        return all;
      });
}

tl::expected<void, std::string> MatrixProductStep::bind(const Binding& binding) const {
  if (!isPacked() || binding.slot != right.slot.number)
    return {};
  return formOf(binding.value).map([](const auto&) {});
}

/// The products of so many items.
void MatrixProductStep::repeatBatch(std::vector<kernels::BatchOffsets>& all,
                                    std::int64_t items) const {
  const std::size_t size = batch.offsets.size() * static_cast<std::size_t>(items);
  for (std::size_t i = std::min(all.size(), size); i < size; ++i) {
    const kernels::BatchOffsets& first = batch.offsets[i % batch.offsets.size()];
    const auto turn = static_cast<std::ptrdiff_t>(i / batch.offsets.size());
    all.push_back({first.left + turn * batch.item.left, first.right + turn * batch.item.right,
                   first.c + turn * batch.item.c});
  }
  all.resize(size);
}

Outcome MatrixProductStep::prepare(Frame& frame) const {
  RightOperand& operand = rightOf(frame, number);
  if (batch.isOpen)
    repeatBatch(operand.batch, frame.items);
  if (!isPacked())
    return {};
  if (ahead) {
    operand.form = ahead;
    return {};
  }
  if (const Value* owner = frame.owners[static_cast<std::size_t>(right.slot.number)]) {
    if (auto shared = operand.share(*owner, [&] { return formOf(*owner); }); !shared)
      return failure(*this, shared.error());
    return {};
  }
  operand.letGo();
  if (!batch.isOne() && right.codes == nullptr) // each product takes its own where it lies
    return {};
  operand.own.resize(static_cast<std::size_t>(batch.products().of(frame)));
  std::int64_t product = 0;
  for (kernels::PackedMatrix& own : operand.own)
    own = pack(frame.at(right.slot), right.slices.of(frame, product++), std::move(own));
  return {};
}

/// Products of a batch, each with the slice that it chooses: one of all, packed, or, of a weight
/// that does not come again, its own, packed, or where it lies.
template <typename T>
void MatrixProductStep::multiplyChosen(const Frame& frame, const T* a, const T* b, auto* c,
                                       RowRange products, const kernels::Execution& execution,
                                       Finishing finishing) const {
  const RightOperand& operand = rightOf(frame, number);
  const auto& offsets = batch.isOpen ? operand.batch : batch.offsets;
  const auto* const all = static_cast<const Packed*>(operand.form.get());
  const std::int64_t rowsNow = rows.of(frame);
  const auto count = static_cast<std::size_t>(products.size());
  const bool areFew = products.size() < kernels::threadsOf(execution) ||
                      !kernels::isWorthThreads(products.size() * rowsNow, columns, depth);
  const kernels::Execution ofEach =
      areFew ? execution : kernels::Execution{.isa = execution.isa, .threads = 1};
  // Threads share out products, or of few the columns of each.
  kernels::forRanges(count, areFew ? count : 1, execution, [&](std::size_t begin, std::size_t end) {
    Finishing own = finishing;
    for (std::size_t i = begin; i != end; ++i) {
      const std::int64_t product = products.begin + static_cast<std::int64_t>(i);
      const std::int64_t slice = right.slices.of(frame, product);
      kernels::BatchOffsets at = offsets[static_cast<std::size_t>(product)];
      const kernels::RowFinisher finisher = own.from(product * rowsNow);
      if (all == nullptr && right.codes == nullptr) {
        at.right = beginOf(slice);
        kernels::multiplyBatch(a, b, c, batchShape(rowsNow), std::span(&at, 1), ofEach, finisher);
        continue;
      }
      const kernels::PackedMatrix& matrix = all != nullptr
                                                ? (*all)[static_cast<std::size_t>(slice)]
                                                : operand.own[static_cast<std::size_t>(product)];
      kernels::multiplyRows(a + at.left, left.stride, rowsNow, matrix, c + at.c, columns, ofEach,
                            finisher);
    }
  });
}

template <typename T>
Outcome MatrixProductStep::multiplyAs(const Frame& frame, Worker& worker, RowRange range,
                                      const kernels::Execution& execution,
                                      Finishing finishing) const {
  const T* a = worker.at<T>(left.slot) + left.offset;
  auto* c =
      worker.at<std::conditional_t<std::is_same_v<T, std::int8_t>, std::int32_t, float>>(result);
  const std::int64_t rowsNow = rows.of(frame);
  if (!batch.isOne()) {
    const auto& offsets = batch.isOpen ? rightOf(frame, number).batch : batch.offsets;
    const RowRange own = range.of(static_cast<std::int64_t>(offsets.size()));
    if (right.slices.isOfProduct()) {
      multiplyChosen(frame, a, worker.at<const T>(right.slot), c, own, execution, finishing);
      return {};
    }
    const kernels::BatchShape shape = batchShape(rowsNow);
    const auto products = std::span(offsets).subspan(static_cast<std::size_t>(own.begin),
                                                     static_cast<std::size_t>(own.size()));
    const kernels::RowFinisher finisher = finishing.from(own.begin * rowsNow);
    if constexpr (!std::is_same_v<T, std::int8_t>)
      if (maker != nullptr) {
        // Each row is as many of the kernel's.
        const std::int64_t each =
            maker->allRows().of(frame) / (static_cast<std::int64_t>(offsets.size()) * madeRows());
        const std::int64_t first = right.offset / madeElements();
        const std::ptrdiff_t bytes = madeElements() * static_cast<std::ptrdiff_t>(sizeof(T)) / each;
        const auto make = [&](std::int64_t begin, std::int64_t end, std::byte* to) {
          maker->makeRows(frame, worker, (first + begin) * each, (first + end) * each, right.slot,
                          bytes, to);
        };
        using Make = decltype(make);
        kernels::multiplyBatch(
            a, nullptr, c, shape, products, execution, finisher,
            {.make = [](const void* context, std::int64_t begin, std::int64_t end,
                        std::byte* to) { (*static_cast<Make*>(context))(begin, end, to); },
             .context = &make});
        return {};
      }
    kernels::multiplyBatch(a, worker.at<T>(right.slot) + right.offset, c, shape, products,
                           execution, finisher);
    return {};
  }
  const RowRange own = range.of(rowsNow);
  const RightOperand& operand = rightOf(frame, number);
  const kernels::PackedMatrix& matrix =
      operand.form ? (*static_cast<const Packed*>(
                         operand.form.get()))[static_cast<std::size_t>(right.slices.of(frame))]
                   : operand.own.front();
  const double ofRow = 1 + 2 * static_cast<double>(depth) * static_cast<double>(columns);
  const auto rowsOfPart =
      std::max(kLeastRowsOfPart, static_cast<std::int64_t>(kMostUninterrupted / ofRow));
  for (std::int64_t begin = own.begin, end = begin; begin != own.end; begin = end) {
    if (begin != own.begin && isInterrupted(frame))
      return interruption(*this);
    end = std::min(begin + rowsOfPart, own.end);
    kernels::multiplyRows(a + begin * left.stride, left.stride, end - begin, matrix,
                          c + begin * columns, columns, execution, finishing.from(begin));
  }
  return {};
}

Outcome MatrixProductStep::multiply(const Frame& frame, Worker& worker, RowRange range,
                                    const kernels::Execution& execution,
                                    Finishing finishing) const {
  return ofType(plainType, [&](const auto* none) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(none)>>;
    return multiplyAs<T>(frame, worker, range, execution, finishing);
  });
}

Outcome PackStep::compute(const Frame& frame, Worker& worker, RowRange range,
                          const kernels::Execution& execution) const {
  const Matrices::Range own = matrices.of(frame, range, rows);
  const float* values =
      worker.at<const float>(from) + (own.first * own.rows + own.begin) * plan.depth;
  for (kernels::PackedOperand& each : worker.lefts(packed, own.count)) {
    const std::span matrix(values, static_cast<std::size_t>(own.rows * plan.depth));
    values += matrix.size();
    if (!options) {
      each = kernels::pack(matrix, plan, execution, std::move(each));
      continue;
    }
    auto quantized = kernels::quantizeAndPack(matrix, plan, *options, execution, std::move(each));
    if (!quantized)
      return refusal(*this, quantized.error().value);
    each = std::move(*quantized);
  }
  return {};
}

Outcome PackStoredStep::run(Frame& frame) const {
  const kernels::ScaledView first = firstMatrix(scaledAt(frame, from), plan.left, rows, plan.depth);
  std::int64_t number = 0;
  for (kernels::PackedOperand& each : frame.whole.lefts(packed, matrices.count.of(frame)))
    each =
        kernels::pack(matrices.at(first, number++), kernels::Side::Left, plan, {}, std::move(each));
  return {};
}

/// The operand again, on the same memory, which `lender` keeps.
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
          .shifts = operand.shifts,
          .leastExponent = operand.leastExponent,
          .greatestExponent = operand.greatestExponent,
          .hasUnusualScale = operand.hasUnusualScale};
}

kernels::ScaledView ScaledProductStep::first(const numerics::ScaledTensor& tensor) const {
  return firstMatrix(tensor, asItLies(plan.right, isTransposed),
                     isTransposed ? plan.depth : columns, isTransposed ? columns : plan.depth);
}

kernels::ScaledView ScaledProductStep::first(const Frame& frame) const {
  if (const int* value = std::get_if<int>(&weight))
    return first(scaledAt(frame, *value));
  return firstMatrix(frame.whole, std::get<PartSlots>(weight), asItLies(plan.right, isTransposed),
                     isTransposed ? plan.depth : columns, isTransposed ? columns : plan.depth);
}

kernels::PackedOperand ScaledProductStep::pack(const kernels::ScaledView& matrix,
                                               std::int64_t count,
                                               const kernels::Execution& execution,
                                               kernels::PackedOperand&& old,
                                               kernels::PackedBytes* spare) const {
  const auto packed = [&](const kernels::ScaledView& given) {
    return kernels::pack(given, kernels::Side::Right, plan, execution, std::move(old));
  };
  kernels::PackedOperand right = isTransposed ? withTransposed(matrix, packed) : packed(matrix);
  return count > kFewRows ? kernels::decodedAhead(plan, std::move(right), execution, spare)
                          : std::move(right);
}

void ScaledProductStep::packOwn(const kernels::ScaledView& matrix, std::int64_t count,
                                const kernels::Execution& execution, OwnOperand& own) const {
  const bool isDecoded = own.packed.storage == kernels::PackedOperand::Storage::Values;
  if (isDecoded && own.spare.size() != 0) // codes have memory of their own
    std::swap(own.packed.elements, own.spare);
  own.packed = pack(matrix, count, execution, std::move(own.packed), &own.spare);
}

std::optional<kernels::ScaledView>
ScaledProductStep::inPlace(const Frame& frame, std::int64_t product, std::int64_t products) const {
  const kernels::ScaledView whole = first(frame);
  if (!moved)
    return matrices.at(whole, product);
  const auto slice = moved->inPlace(whole, moved->slices.of(frame, product));
  return slice ? std::optional(matrices.at(*slice, product % ofSlice(products))) : std::nullopt;
}

/// The matrices of one slice, in their places among all.
void ScaledProductStep::packSlice(const kernels::ScaledView& first, std::int64_t slice,
                                  std::int64_t products, std::int64_t count, Packed& all) const {
  const std::optional<MovedParts> parts =
      moved ? std::optional<MovedParts>(std::in_place, *moved, first, slice) : std::nullopt;
  const std::int64_t each = ofSlice(products);
  for (std::int64_t i = 0; i < each; ++i)
    all[static_cast<std::size_t>(slice * each + i)] =
        pack(matrices.at(parts ? parts->first(first) : first, i), count, {}, {}, nullptr);
}

ScaledProductStep::Packed ScaledProductStep::packAll(const kernels::ScaledView& first,
                                                     std::int64_t products,
                                                     std::int64_t count) const {
  Packed all(static_cast<std::size_t>(slices() * ofSlice(products)));
  for (std::int64_t slice = 0; slice < slices(); ++slice)
    packSlice(first, slice, products, count, all);
  return all;
}

/// Of slices those alone that the products of this run choose.
ScaledProductStep::Packed ScaledProductStep::packChosen(const Frame& frame, std::int64_t products,
                                                        std::int64_t count) const {
  const std::int64_t each = ofSlice(products);
  Packed all(static_cast<std::size_t>(slices() * each));
  for (std::int64_t product = 0; product < products; product += each) {
    const std::int64_t matrix = matrixOf(frame, product, products);
    if (all[static_cast<std::size_t>(matrix)].rows == 0)
      packSlice(first(frame), matrix / each, products, count, all);
  }
  return all;
}

tl::expected<std::shared_ptr<const ScaledProductStep::Packed>, std::string>
ScaledProductStep::formOf(const Value& value, std::int64_t products, std::int64_t count) const {
  // A plan is made of its operands' formats and the depth alone.
  execution::Forms::Key key{plan.depth, isTransposed ? 1 : 0, count > kFewRows ? 1 : 0,
                            ofSlice(products)};
  if (moved)
    moved->addTo(key);
  for (const kernels::OperandFormat* operand : {&plan.left, &plan.right})
    key.insert(key.end(),
               {reinterpret_cast<std::intptr_t>(operand->element),
                reinterpret_cast<std::intptr_t>(operand->scale), operand->across, operand->along});
  return value.forms().of<Packed>(key, [&]() -> tl::expected<Packed, std::string> {
    return packAll(first(value.scaled()), products, count);
  });
}

Outcome ScaledProductStep::bind(const Binding& binding) const {
  // Which form open rows take is known in a run.
  if (rows.isOpen || matrices.count.isOpen || !std::holds_alternative<int>(weight) ||
      binding.place != std::get<int>(weight))
    return {};
  return formOf(binding.value, matrices.count.count, rows.count).map([](const auto&) {});
}

Outcome ScaledProductStep::prepare(Frame& frame) const {
  RightOperand& right = rightOf(frame, number);
  const std::int64_t products = matrices.count.of(frame), count = rows.of(frame);
  const bool isMany = count > kFewRows;
  const auto share = [&](std::span<const Value* const> owners, bool isForMany,
                         const auto& make) -> Outcome {
    if (auto shared = right.share(owners, isForMany, make); !shared)
      return failure(*this, shared.error());
    return {};
  };
  using Form = tl::expected<std::shared_ptr<const Packed>, std::string>;
  if (ahead) {
    const bool isDecoded = rows.isOpen && isMany;
    return share({}, isDecoded, [&]() -> Form {
      if (!isDecoded)
        return ahead;
      return packedParts[1].of({}, [&] {
        Packed all;
        for (const kernels::PackedOperand& operand : *ahead)
          all.push_back(kernels::decodedAhead(plan, lentBy(ahead, operand)));
        return all;
      });
    });
  }
  // What does not come again is packed where its products are, or, of one, for all threads.
  const auto makeOwn = [&] {
    right.letGo();
    if (products == 0) // of no items
      return Outcome();
    const auto matrix = inPlace(frame, 0, products);
    if (!matrix)
      right.form = std::make_shared<const Packed>(packChosen(frame, products, count));
    else if (matrices.isOne())
      packOwn(*matrix, count, {}, right.ownScaled);
    return Outcome();
  };
  if (const auto* const parts = std::get_if<PartSlots>(&weight)) {
    const auto owner = [&](Slot slot) {
      return frame.owners[static_cast<std::size_t>(slot.number)];
    };
    const std::array owners = {owner(parts->elements), owner(parts->scales),
                               owner(parts->outer.value_or(parts->scales))};
    if (std::ranges::find(owners, nullptr) != owners.end())
      return makeOwn();
    return share(owners, isMany, [&]() -> Form {
      return packedParts[isMany ? 1 : 0].of(owners,
                                            [&] { return packAll(first(frame), products, count); });
    });
  }
  const Value* const value = &frame.values[static_cast<std::size_t>(std::get<int>(weight))];
  // One that a step has made, or that nobody else holds, will not come again.
  if (!value->isShared())
    return makeOwn();
  return share(std::span(&value, 1), isMany, [&] { return formOf(*value, products, count); });
}

Outcome ScaledProductStep::multiply(const Frame& frame, Worker& worker, RowRange range,
                                    const kernels::Execution& execution,
                                    Finishing /*finishing*/) const {
  const Matrices::Range own = matrices.of(frame, range, rows);
  const RightOperand& right = rightOf(frame, number);
  const auto* const form = static_cast<const Packed*>(right.form.get());
  const std::span<const kernels::PackedOperand> left = worker.lefts(packed, own.count);
  const std::int64_t count = rows.of(frame);
  const std::int64_t products = matrices.count.of(frame);
  const auto size = static_cast<std::size_t>(own.rows * columns);
  float* const c = worker.at<float>(result) + (own.first * count + own.begin) * columns;
  const auto rightOfProduct = [&](std::int64_t product,
                                  OwnOperand& made) -> const kernels::PackedOperand& {
    if (form != nullptr)
      return (*form)[static_cast<std::size_t>(matrixOf(frame, product, products))];
    if (matrices.isOne())
      return right.ownScaled.packed;
    packOwn(*inPlace(frame, product, products), count, execution, made);
    return made.packed;
  };
  kernels::forRanges(left.size(), 1, execution, [&](std::size_t begin, std::size_t end) {
    const kernels::ThreadKept<OwnOperand> made;
    for (std::size_t i = begin; i != end; ++i)
      kernels::multiply(plan, left[i],
                        rightOfProduct(own.first + static_cast<std::int64_t>(i), *made),
                        std::span(c + i * size, size), execution);
  });
  return {};
}

execution::Multiplied multipliedOf(kernels::PlainType type) {
  switch (type) {
  case kernels::PlainType::F32:
    return execution::Multiplied::F32;
  case kernels::PlainType::Bf16:
    return execution::Multiplied::Bf16;
  case kernels::PlainType::Int8:
    return execution::Multiplied::Int8;
  }
}

StepFacts MatrixProductStep::productFacts() const {
  const auto count = static_cast<double>(batch.offsets.size());
  const auto m = static_cast<double>(rows.count), k = static_cast<double>(depth),
             n = static_cast<double>(columns);
  const double width = widthOf(plainType);
  const double rightWidth = right.codes ? 1 : width;
  const std::string_view names[] = {"f32", "bf16", "int8"};
  const std::string_view name = names[static_cast<int>(plainType)];
  StepFacts facts{.kind = StepFacts::Kind::Product,
                  .detail = fmt::format("{} x {}{}{}", name, right.codes ? right.codes->name : name,
                                        batch.isOne()                ? ""
                                        : right.slices.isOfProduct() ? ", each with one of several"
                                                                     : ", in batches",
                                        maker == nullptr ? "" : ", with a prologue"),
                  .bytes = count * (width * m * k + rightWidth * k * n + sizeof(float) * m * n),
                  .arithmetic = 2 * count * m * k * n,
                  .multiplied = multipliedOf(plainType)};
  if (isPacked())
    facts.weight = {.slot = right.slot.number,
                    .bytes = static_cast<double>(right.slices.count()) * width * k * n};
  return facts;
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

static execution::Multiplied multipliedOf(const kernels::ProductPlan& plan) {
  using execution::Multiplied;
  if (!plan.floats)
    return Multiplied::Int8;
  return plan.floatDot == kernels::FloatDot::Bf16Pairs ? Multiplied::Bf16 : Multiplied::F32;
}

static std::string_view arithmeticName(execution::Multiplied multiplied) {
  constexpr std::string_view kNames[] = {"f32", "bf16", "integers"};
  return kNames[static_cast<int>(multiplied)];
}

StepFacts PackStep::facts() const {
  const std::int64_t all = matrices.count.count * rows.count;
  return {.kind = StepFacts::Kind::Pack,
          .detail = formatName(plan.left, plan.depth),
          .operations = options ? 1 : 0,
          .bytes = static_cast<double>(sizeof(float)) * static_cast<double>(all) *
                       static_cast<double>(plan.depth) +
                   bytesOf(plan.left, all, plan.depth)};
}

StepFacts PackStoredStep::facts() const {
  return {
      .kind = StepFacts::Kind::Pack, .detail = formatName(plan.left, plan.depth), .operations = 0};
}

StepFacts ScaledProductStep::productFacts() const {
  const PartSlots* const parts = std::get_if<PartSlots>(&weight);
  const std::int64_t products = matrices.count.count;
  const double weightBytes = bytesOf(plan.right, products * columns, plan.depth);
  const double packedBytes =
      static_cast<double>(slices()) * bytesOf(plan.right, ofSlice(products) * columns, plan.depth);
  const double results = static_cast<double>(products * rows.count) * static_cast<double>(columns);
  return {
      .kind = StepFacts::Kind::Product,
      .detail = fmt::format("{} x {}{}, in {}", formatName(plan.left, plan.depth),
                            formatName(plan.right, plan.depth),
                            matrices.isOne()                       ? ""
                            : moved && moved->slices.isOfProduct() ? ", each with one of several"
                                                                   : ", in batches",
                            arithmeticName(multipliedOf(plan))),
      .bytes = bytesOf(plan.left, products * rows.count, plan.depth) + weightBytes +
               sizeof(float) * results,
      .arithmetic = 2 * results * static_cast<double>(plan.depth),
      .multiplied = multipliedOf(plan),
      .weight = parts ? StepFacts::Weight{.slot = parts->elements.number, .bytes = packedBytes}
                      : StepFacts::Weight{.value = std::get<int>(weight), .bytes = packedBytes}};
}

} // namespace octavo::steps
