#include "octavo/Program/Steps/Products/Product.h"

#include "octavo/Kernels/Convert.h"
#include "octavo/Kernels/Product/ProductWork.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

namespace octavo::program {

namespace {

/// Operations between two checks for interruption: about 0.1 s on one thread.
constexpr double kMostUninterrupted = 1e10;
/// Enough rows to hide reading the panels of the right operand from memory.
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
  const Timed timed(frame.host->profile, kernel, Profile::Extent::Piece);
  static_cast<void>(kernel->compute(frame, worker, {begin, end, rows}, {.threads = 1}));
}

Outcome ProductStep::compute(const Frame& frame, Worker& worker, RowRange range,
                             const kernels::Execution& execution) const {
  // With several threads, the epilogue divides all rows anew, because one product's rows are few.
  const bool isAtOnce = kernel != nullptr && execution.threads == 1 && finishedRows(frame) != 0;
  const Finishing finishing(isAtOnce ? kernel : nullptr, frame, worker, finishedRows(frame));
  if (Outcome outcome = multiply(frame, worker, range, execution, finishing); !outcome)
    return outcome;
  if (kernel == nullptr || isAtOnce)
    return {};
  const Timed timed(frame.host->profile, kernel,
                    execution.threads == 1 ? Profile::Extent::Piece : Profile::Extent::Whole);
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

/// Calls f with a null pointer to the C++ type of the elements.
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

/// The type to which a stored right operand is widened.
static kernels::WideType wideType(kernels::PlainType type) {
  return type == kernels::PlainType::F32 ? kernels::WideType::F32 : kernels::WideType::Bf16;
}

std::int64_t MatrixProductStep::bytesOfRight() const {
  return right.from != nullptr ? right.from->bytes() : widthOf(plainType);
}

MatrixProductStep::Sizes MatrixProductStep::sizesOf(std::int64_t items) const {
  return {.rows = rows.of(items),
          .depth = depth.of(items),
          .columns = columns.of(items),
          .leftOffset = left.offset.of(items),
          .leftStride = left.stride.of(items),
          .rightOffset = right.offset.of(items),
          .rightStride = right.stride.of(items),
          .rightDepthStride = right.depthStride.of(items)};
}

bool MatrixProductStep::isRightFixed() const {
  return std::ranges::none_of(
      std::array{depth, columns, right.offset, right.stride, right.depthStride},
      &BatchExtent::isOpen);
}

kernels::PackedMatrix MatrixProductStep::pack(const std::byte* memory, const Sizes& now,
                                              std::int64_t matrix,
                                              kernels::PackedMatrix&& old) const {
  memory += beginOf(now, matrix) * bytesOfRight();
  kernels::ThreadVector<std::byte> widened;
  if (right.from != nullptr && now.depth * now.columns != 0) {
    const std::int64_t count =
        (now.depth - 1) * now.rightDepthStride + (now.columns - 1) * now.rightStride + 1;
    widened.resize(static_cast<std::size_t>(count * widthOf(plainType)));
    kernels::widen(*right.from, memory, wideType(plainType), widened.data(),
                   static_cast<std::size_t>(count));
    memory = widened.data();
  }
  return ofType(plainType, [&](const auto* none) {
    return kernels::packMatrix(reinterpret_cast<decltype(none)>(memory), now.depth, now.columns,
                               now.rightDepthStride, now.rightStride, {}, std::move(old));
  });
}

tl::expected<kernels::PackedMatrix, std::string>
MatrixProductStep::pack(const UnreadTensor& tensor, const Sizes& now, std::int64_t matrix) const {
  const auto bytes = static_cast<std::uint64_t>(bytesOfRight());
  std::vector<std::byte> piece, widened;
  tl::expected<void, std::string> done;
  auto packed = kernels::packMatrixInPieces(
      plainType, now.depth, now.columns, now.rightDepthStride, now.rightStride,
      [&](std::int64_t first, std::int64_t count) -> const void* {
        piece.resize(static_cast<std::uint64_t>(count) * bytes);
        done = tensor.read(static_cast<std::uint64_t>(beginOf(now, matrix) + first) * bytes, piece);
        if (!done || right.from == nullptr)
          return done ? piece.data() : nullptr;
        widened.resize(static_cast<std::size_t>(count * widthOf(plainType)));
        kernels::widen(*right.from, piece.data(), wideType(plainType), widened.data(),
                       static_cast<std::size_t>(count));
        return widened.data();
      });
  if (!packed)
    return tl::unexpected(std::move(done.error()));
  return std::move(*packed);
}

void MatrixProductStep::formKey(const Sizes& now, PackedForms::Key& key) const {
  key.assign({static_cast<std::int64_t>(plainType), reinterpret_cast<std::intptr_t>(right.from),
              now.depth, now.columns, now.rightOffset, now.rightDepthStride, now.rightStride,
              rightCount(), right.sliceStride});
}

tl::expected<std::shared_ptr<const MatrixProductStep::Packed>, std::string>
MatrixProductStep::formOf(const Value& value, const Sizes& now, PackedForms::Key& key) const {
  formKey(now, key);
  return value.forms().of<Packed>(key, [&]() -> tl::expected<Packed, std::string> {
    Packed all;
    for (std::int64_t matrix = 0; matrix < rightCount(); ++matrix) {
      tl::expected<kernels::PackedMatrix, std::string> packed =
          value.isUnread() ? pack(value.unread(), now, matrix)
                           : pack(value.tensor().bytes.data(), now, matrix, {});
      if (!packed)
        return tl::unexpected(std::move(packed.error()));
      all.push_back(std::move(*packed));
    }
    return all;
  });
}

tl::expected<void, std::string> MatrixProductStep::bind(const Binding& binding) const {
  if (!isPacked() || binding.slot != right.slot.number || !isRightFixed())
    return {};
  PackedForms::Key key;
  return formOf(binding.value, sizesOf(1), key).map([](const auto&) {});
}

/// Sets the offsets of all products at batch size `items`.
void MatrixProductStep::placeBatch(std::vector<kernels::BatchOffsets>& all,
                                   std::int64_t items) const {
  const auto count = static_cast<std::size_t>(batch.products().of(items));
  // Offsets from an earlier run stay valid unless they depend on the batch size.
  const std::size_t kept = batch.factors.empty() ? std::min(all.size(), count) : 0;
  all.resize(count);
  for (std::size_t i = kept; i < count; ++i)
    all[i] = batch.at(static_cast<std::int64_t>(i), items);
}

Outcome MatrixProductStep::prepare(Frame& frame) const {
  RightOperand& operand = frame.right(number);
  if (batch.dependsOnItems())
    placeBatch(operand.batch, frame.items);
  if (!isPacked())
    return {};
  operand.form = nullptr;
  const Sizes now = sizesOf(frame.items);
  const Value* const owner = frame.owners[static_cast<std::size_t>(right.slot.number)];
  // An unread value can only be used through its packed form.
  if (owner != nullptr && (isRightFixed() || owner->isUnread())) {
    auto form = formOf(*owner, now, operand.key);
    if (!form)
      return failure(*this, form.error());
    operand.form = std::move(*form);
    return {};
  }
  if (!batch.isOne() && right.from == nullptr) // each product reads its operand in place
    return {};
  if (groups) {
    operand.own.resize(static_cast<std::size_t>(groups->count));
    const std::int64_t first = right.slices.of(frame) * groups->count, all = now.rows;
    groups->forEach(frame, {0, all, all}, [&](std::int64_t group, std::int64_t, std::int64_t) {
      if (group == groups->count)
        return;
      kernels::PackedMatrix& own = operand.own[static_cast<std::size_t>(group)];
      own = pack(frame.at(right.slot), now, first + group, std::move(own));
    });
    return {};
  }
  operand.own.resize(static_cast<std::size_t>(batch.products().of(frame)));
  std::int64_t product = 0;
  for (kernels::PackedMatrix& own : operand.own)
    own = pack(frame.at(right.slot), now, right.slices.of(frame, product++), std::move(own));
  return {};
}

/// Products of a batch that each choose a slice: of the packed form; or else packed for this run;
/// or in place.
template <typename T>
void MatrixProductStep::multiplyChosen(const Frame& frame, const T* a, const T* b, auto* c,
                                       RowRange products, const kernels::Execution& execution,
                                       Finishing finishing) const {
  const RightOperand& operand = frame.right(number);
  const auto& offsets = batch.dependsOnItems() ? operand.batch : batch.offsets;
  const auto* const all = static_cast<const Packed*>(operand.form.get());
  const Sizes now = sizesOf(frame.items);
  const auto count = static_cast<std::size_t>(products.size());
  const bool areFew = products.size() < kernels::threadsOf(execution) ||
                      !kernels::isWorthThreads(products.size() * now.rows, now.columns, now.depth);
  const kernels::Execution ofEach =
      areFew ? execution : kernels::Execution{.isa = execution.isa, .threads = 1};
  // Threads share the products, or if these are few, the columns of each.
  kernels::forRanges(count, areFew ? count : 1, execution, [&](std::size_t begin, std::size_t end) {
    Finishing own = finishing;
    for (std::size_t i = begin; i != end; ++i) {
      const std::int64_t product = products.begin + static_cast<std::int64_t>(i);
      const std::int64_t slice = right.slices.of(frame, product);
      kernels::BatchOffsets at = offsets[static_cast<std::size_t>(product)];
      const kernels::RowFinisher finisher = own.from(product * now.rows);
      if (all == nullptr && right.from == nullptr) {
        at.right = beginOf(now, slice);
        kernels::multiplyBatch(a, b, c, batchShape(now), std::span(&at, 1), ofEach, finisher);
        continue;
      }
      const kernels::PackedMatrix& matrix = all != nullptr
                                                ? (*all)[static_cast<std::size_t>(slice)]
                                                : operand.own[static_cast<std::size_t>(product)];
      kernels::multiplyRows(a + at.left, now.leftStride, now.rows, matrix, c + at.c, now.columns,
                            ofEach, finisher);
    }
  });
}

/// Computes rows of one product or of one group.
template <typename T>
Outcome MatrixProductStep::multiplyOne(const Frame& frame, const T* a, auto* c, RowRange range,
                                       const kernels::PackedMatrix& matrix,
                                       const kernels::Execution& execution,
                                       Finishing& finishing) const {
  const Sizes now = sizesOf(frame.items);
  const double ofRow = 1 + 2 * static_cast<double>(now.depth) * static_cast<double>(now.columns);
  const auto rowsOfPart =
      std::max(kLeastRowsOfPart, static_cast<std::int64_t>(kMostUninterrupted / ofRow));
  for (std::int64_t begin = range.begin, end = begin; begin != range.end; begin = end) {
    if (begin != range.begin && isInterrupted(frame))
      return interruption(*this);
    end = std::min(begin + rowsOfPart, range.end);
    kernels::multiplyRows(a + begin * now.leftStride, now.leftStride, end - begin, matrix,
                          c + begin * now.columns, now.columns, execution, finishing.from(begin));
  }
  return {};
}

/// Multiplies the rows of each group by its matrix. Rows of no group become 0.
template <typename T>
Outcome MatrixProductStep::multiplyGroups(const Frame& frame, const T* a, auto* c, RowRange range,
                                          const kernels::Execution& execution,
                                          Finishing& finishing) const {
  if (Outcome outcome = checkGroups(*this, *groups, frame); !outcome)
    return outcome;
  const RightOperand& operand = frame.right(number);
  const auto* const all = static_cast<const Packed*>(operand.form.get());
  const std::int64_t slice = all != nullptr ? right.slices.of(frame) : 0;
  const std::span matrices = std::span(all != nullptr ? *all : operand.own)
                                 .subspan(static_cast<std::size_t>(slice * groups->count));
  Outcome outcome;
  groups->forEach(frame, range, [&](std::int64_t group, std::int64_t begin, std::int64_t end) {
    if (!outcome)
      return;
    if (group == groups->count) {
      const std::int64_t width = columns.of(frame);
      std::fill(c + begin * width, c + end * width, 0);
      finishing.finish(begin, end);
      return;
    }
    outcome = begin != range.begin && isInterrupted(frame)
                  ? interruption(*this)
                  : multiplyOne(frame, a, c, {begin, end, range.count},
                                matrices[static_cast<std::size_t>(group)], execution, finishing);
  });
  return outcome;
}

template <typename T>
Outcome MatrixProductStep::multiplyAs(const Frame& frame, Worker& worker, RowRange range,
                                      const kernels::Execution& execution,
                                      Finishing finishing) const {
  const Sizes now = sizesOf(frame.items);
  const T* a = worker.at<T>(left.slot) + now.leftOffset;
  auto* c =
      worker.at<std::conditional_t<std::is_same_v<T, std::int8_t>, std::int32_t, float>>(result);
  if (!batch.isOne()) {
    const auto& offsets = batch.dependsOnItems() ? frame.right(number).batch : batch.offsets;
    const RowRange own = range.of(static_cast<std::int64_t>(offsets.size()));
    if (right.slices.isOfProduct()) {
      multiplyChosen(frame, a, worker.at<const T>(right.slot), c, own, execution, finishing);
      return {};
    }
    const kernels::BatchShape shape = batchShape(now);
    const auto products = std::span(offsets).subspan(static_cast<std::size_t>(own.begin),
                                                     static_cast<std::size_t>(own.size()));
    const kernels::RowFinisher finisher = finishing.from(own.begin * now.rows);
    if constexpr (!std::is_same_v<T, std::int8_t>)
      if (maker != nullptr) {
        // Kernel rows per row of the right operand.
        const std::int64_t each = maker->allRows().of(frame) /
                                  (static_cast<std::int64_t>(offsets.size()) * now.madeRows());
        const std::int64_t first = now.rightOffset / now.madeElements();
        const std::ptrdiff_t bytes =
            now.madeElements() * static_cast<std::ptrdiff_t>(sizeof(T)) / each;
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
    kernels::multiplyBatch(a, worker.at<T>(right.slot) + now.rightOffset, c, shape, products,
                           execution, finisher);
    return {};
  }
  const RowRange own = range.of(now.rows);
  if (groups)
    return multiplyGroups(frame, a, c, own, execution, finishing);
  const RightOperand& operand = frame.right(number);
  const kernels::PackedMatrix& matrix =
      operand.form ? (*static_cast<const Packed*>(
                         operand.form.get()))[static_cast<std::size_t>(right.slices.of(frame))]
                   : operand.own.front();
  return multiplyOne(frame, a, c, own, matrix, execution, finishing);
}

Outcome MatrixProductStep::multiply(const Frame& frame, Worker& worker, RowRange range,
                                    const kernels::Execution& execution,
                                    Finishing finishing) const {
  return ofType(plainType, [&](const auto* none) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(none)>>;
    return multiplyAs<T>(frame, worker, range, execution, finishing);
  });
}

Multiplied multipliedOf(kernels::PlainType type) {
  switch (type) {
  case kernels::PlainType::F32:
    return Multiplied::F32;
  case kernels::PlainType::Bf16:
    return Multiplied::Bf16;
  case kernels::PlainType::Int8:
    return Multiplied::Int8;
  }
}

StepFacts MatrixProductStep::productFacts() const {
  const auto count = static_cast<double>(batch.offsets.size());
  const auto m = static_cast<double>(rows.of(1)), k = static_cast<double>(depth.of(1)),
             n = static_cast<double>(columns.of(1));
  const double width = widthOf(plainType);
  const auto rightWidth = static_cast<double>(bytesOfRight());
  const std::string_view names[] = {"f32", "bf16", "int8"};
  const std::string_view name = names[static_cast<int>(plainType)];
  StepFacts facts{.kind = StepFacts::Kind::Product,
                  .detail = fmt::format("{} x {}{}{}", name, right.from ? right.from->name : name,
                                        groups          ? ", one for each group of rows"
                                        : batch.isOne() ? ""
                                        : right.slices.isOfProduct() ? ", each with one of several"
                                                                     : ", in batches",
                                        maker == nullptr ? "" : ", with a prologue"),
                  .bytes =
                      count * (width * m * k + static_cast<double>(ofSlice()) * rightWidth * k * n +
                               sizeof(float) * m * n),
                  .arithmetic = 2 * count * m * k * n,
                  .multiplied = multipliedOf(plainType)};
  if (isPacked())
    facts.weight = {.slot = right.slot.number,
                    .bytes = static_cast<double>(rightCount()) * width * k * n};
  return facts;
}

} // namespace octavo::program
