#include "octavo/Program/Steps/Products/Convolution.h"

#include "octavo/Base/Loops.h"
#include "octavo/Program/Steps/Products/WindowLines.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace octavo::program {

namespace {

/// Bytes of patches that are laid out at a time, so that they and the weight fit the second-level
/// cache.
constexpr std::int64_t kPatchBytes = 192 * 1024;
/// Rows that kernels multiply at a time.
constexpr std::int64_t kTile = 24;

std::int64_t product(const PatchShape& shape, std::int64_t PatchAxis::* extent) {
  std::int64_t all = 1;
  for (const PatchAxis& axis : shape.axes)
    all *= axis.*extent;
  return all;
}

/// Copies a run. Runs are often too short for a call of memcpy to pay.
template <typename T> void copyRun(T* to, const T* from, std::int64_t count) {
  constexpr std::int64_t kWide = 4, kLong = 128;
  if (count >= kLong) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    return;
  }
  std::int64_t i = 0;
  for (; i + kWide <= count; i += kWide)
    std::memcpy(to + i, from + i, kWide * sizeof(T));
  for (; i < count; ++i)
    to[i] = from[i];
}

template <typename T> void clearRun(T* to, std::int64_t count) {
  std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(T));
}

/// Packs one matrix per group, and reuses the memory of `packed`.
template <typename T>
void packWeightsAs(const PatchShape& shape, const T* values,
                   std::vector<kernels::PackedMatrix>& packed) {
  const std::int64_t depth = shape.depth(), columns = shape.outputs / shape.groups();
  const std::size_t rank = shape.axes.size();
  kernels::ThreadVector<T> ordered(static_cast<std::size_t>(depth * columns));
  packed.resize(static_cast<std::size_t>(shape.groups()));
  for (std::int64_t group = 0; group < shape.groups(); ++group) {
    const T* first = values + shape.weightOffset + group * columns * shape.weightOutputStride;
    std::array<std::int64_t, kMostPatchAxes> place{};
    T* to = ordered.data();
    for (std::int64_t row = 0; row < depth / std::max<std::int64_t>(1, shape.features); ++row) {
      const T* from = first;
      for (std::size_t axis = 0; axis < rank; ++axis)
        from += place[axis] * shape.axes[axis].weightStride;
      for (std::int64_t i = 0; i < shape.features; ++i)
        for (std::int64_t o = 0; o < columns; ++o)
          *to++ = from[i * shape.weightInputStride + o * shape.weightOutputStride];
      for (std::size_t axis = rank; axis-- > 0;) {
        if (++place[axis] < shape.axes[axis].window)
          break;
        place[axis] = 0;
      }
    }
    kernels::PackedMatrix& matrix = packed[static_cast<std::size_t>(group)];
    matrix = kernels::packMatrix(ordered.data(), depth, columns, columns, 1, {}, std::move(matrix));
  }
}

void packWeights(const PatchShape& shape, const std::byte* memory,
                 std::vector<kernels::PackedMatrix>& packed) {
  if (shape.type == kernels::PlainType::F32)
    packWeightsAs(shape, reinterpret_cast<const float*>(memory), packed);
  else
    packWeightsAs(shape, reinterpret_cast<const std::uint16_t*>(memory), packed);
}

/// Lays out patches: for each result row the `depth` elements that it sees in one group. The loops
/// go through the lines of the window; within them, through the rows of one result line.
template <typename T>
void layOut(const PatchShape& shape, const T* values, std::int64_t group, std::int64_t row,
            std::int64_t count, T* patches) {
  const std::size_t rank = shape.axes.size();
  const std::int64_t features = shape.features, depth = shape.depth();
  const PatchAxis& inner = shape.axes.back();
  const bool isRun =
      inner.inputStride == features && inner.inputDilation == 1 && inner.windowDilation == 1;
  const std::int64_t lines = depth / std::max<std::int64_t>(1, inner.window * features);
  for (std::int64_t length = 0; count > 0; row += length, count -= length) {
    const std::int64_t begin = row % inner.places;
    length = std::min(count, inner.places - begin);
    std::array<std::int64_t, kMostPatchAxes> places{}, window{};
    std::int64_t rest = row / inner.places;
    for (std::size_t axis = rank - 1; axis-- > 0;) {
      places[axis] = rest % shape.axes[axis].places;
      rest /= shape.axes[axis].places;
    }
    const std::int64_t image = rest + (shape.batchGroups > 1 ? group * shape.batch : 0);
    const T* first = values + shape.inputOffset + image * shape.imageStride +
                     (shape.inputGroups > 1 ? group * features : 0);
    for (std::int64_t line = 0; line < lines; ++line) {
      const T* from = first;
      for (std::size_t axis = 0; axis + 1 < rank && from != nullptr; ++axis) {
        const std::int64_t at = shape.axes[axis].inInput(places[axis], window[axis]);
        from = at < 0 ? nullptr : from + at * shape.axes[axis].inputStride;
      }
      T* patch = patches + line * inner.window * features;
      for (std::int64_t place = begin; place < begin + length; ++place, patch += depth) {
        if (from == nullptr) {
          clearRun(patch, inner.window * features);
        } else if (isRun) {
          const std::int64_t at = place * inner.step - inner.low;
          const std::int64_t before = std::clamp<std::int64_t>(-at, 0, inner.window);
          const std::int64_t behind =
              std::clamp<std::int64_t>(at + inner.window - inner.extent, 0, inner.window - before);
          const std::int64_t inside = inner.window - before - behind;
          clearRun(patch, before * features);
          copyRun(patch + before * features, from + (at + before) * features, inside * features);
          clearRun(patch + (before + inside) * features, behind * features);
        } else {
          for (std::int64_t k = 0; k < inner.window; ++k) {
            const std::int64_t at = inner.inInput(place, k);
            if (at < 0)
              clearRun(patch + k * features, features);
            else
              copyRun(patch + k * features, from + at * inner.inputStride, features);
          }
        }
      }
      for (std::size_t axis = rank - 1; axis-- > 0;) {
        if (++window[axis] < shape.axes[axis].window)
          break;
        window[axis] = 0;
      }
    }
    patches += length * depth;
  }
}

} // namespace

std::int64_t PatchShape::rows() const { return batch * product(*this, &PatchAxis::places); }
std::int64_t PatchShape::depth() const { return features * product(*this, &PatchAxis::window); }

PatchShape OpenPatchShape::of(std::int64_t items) const {
  PatchShape now{{.type = type,
                  .batch = batch.of(items),
                  .features = features.of(items),
                  .outputs = outputs.of(items),
                  .inputGroups = inputGroups,
                  .batchGroups = batchGroups,
                  .inputOffset = inputOffset.of(items),
                  .imageStride = imageStride.of(items),
                  .weightOffset = weightOffset.of(items),
                  .weightInputStride = weightInputStride.of(items),
                  .weightOutputStride = weightOutputStride.of(items)},
                 {}};
  now.axes.reserve(axes.size());
  for (const PatchAxisOf<BatchExtent>& axis : axes)
    now.axes.push_back({.extent = axis.extent.of(items),
                        .window = axis.window.of(items),
                        .places = axis.places.of(items),
                        .step = axis.step,
                        .low = axis.low.of(items),
                        .inputDilation = axis.inputDilation,
                        .windowDilation = axis.windowDilation,
                        .inputStride = axis.inputStride.of(items),
                        .weightStride = axis.weightStride.of(items)});
  return now;
}

std::optional<BatchExtent> OpenPatchShape::rows() const {
  std::optional<BatchExtent> all = batch;
  for (std::size_t axis = 0; axis < axes.size() && all; ++axis)
    all = program::product(*all, axes[axis].places);
  return all;
}

bool OpenPatchShape::isWeightFixed() const {
  const auto isOpen = [](const BatchExtent& number) { return number.isOpen(); };
  return std::ranges::none_of(
             std::array{features, outputs, weightOffset, weightInputStride, weightOutputStride},
             isOpen) &&
         std::ranges::none_of(axes, [&](const PatchAxisOf<BatchExtent>& axis) {
           return isOpen(axis.window) || isOpen(axis.weightStride);
         });
}

void ConvolutionStep::formKey(const PatchShape& now, PackedForms::Key& key) {
  key.assign({static_cast<std::int64_t>(now.type), now.features, now.outputs, now.groups(),
              now.weightOffset, now.weightInputStride, now.weightOutputStride});
  for (const PatchAxis& axis : now.axes)
    key.insert(key.end(), {axis.window, axis.weightStride});
}

tl::expected<std::shared_ptr<const ConvolutionStep::Weights>, std::string>
ConvolutionStep::formOf(const PatchShape& now, const Value& value, PackedForms::Key& key) {
  formKey(now, key);
  return value.forms().of<Weights>(key, [&]() -> tl::expected<Weights, std::string> {
    Weights packed;
    if (!value.isUnread()) {
      packWeights(now, value.tensor().bytes.data(), packed);
      return packed;
    }
    std::vector<std::byte> bytes(value.unread().bytes());
    return value.unread().read(0, bytes).map([&] {
      packWeights(now, bytes.data(), packed);
      return std::move(packed);
    });
  });
}

Outcome ConvolutionStep::bind(const Binding& binding) const {
  if (binding.slot != weight.number || !shape.isWeightFixed())
    return {};
  PackedForms::Key key;
  return formOf(shape.of(1), binding.value, key).map([](const auto&) {});
}

Outcome ConvolutionStep::prepare(Frame& frame) const {
  RightOperand& operand = frame.right(number);
  operand.form = nullptr;
  const PatchShape now = shape.of(frame.items);
  const Value* const owner = frame.owners[static_cast<std::size_t>(weight.number)];
  // An unread value can only be used through its packed form.
  if (owner != nullptr && (shape.isWeightFixed() || owner->isUnread())) {
    auto form = formOf(now, *owner, operand.key);
    if (!form)
      return failure(*this, form.error());
    operand.form = std::move(*form);
    return {};
  }
  packWeights(now, frame.at(weight), operand.own);
  return {};
}

void ConvolutionStep::multiplyLines(const PatchShape& now, const Worker& worker,
                                    const Weights& weights, std::int64_t begin, std::int64_t end,
                                    kernels::Isa isa, const Finishing& finishing) const {
  const std::int64_t columns = now.outputs / now.groups();
  const std::int64_t block = WindowLines::rowsAtATime(now);
  auto* c = worker.at<float>(result);
  for (std::int64_t from = begin; from < end; from += block) {
    const std::int64_t to = std::min(end, from + block);
    for (std::int64_t group = 0; group < now.groups(); ++group)
      kernels::multiplyPieces(WindowLines(now, worker.at<const float>(input), group).of(from, to),
                              to - from, weights[static_cast<std::size_t>(group)],
                              c + from * now.outputs + group * columns, now.outputs, isa);
    finishing.finish(from, to);
  }
}

template <typename T>
void ConvolutionStep::multiplyPatches(const PatchShape& now, const Worker& worker,
                                      const Weights& weights, std::int64_t begin, std::int64_t end,
                                      kernels::Isa isa, const Finishing& finishing) const {
  const std::int64_t depth = now.depth(), columns = now.outputs / now.groups();
  const std::int64_t fitting =
      kPatchBytes / static_cast<std::int64_t>(sizeof(T)) / std::max<std::int64_t>(1, depth);
  const std::int64_t block = std::max(fitting / kTile, std::int64_t{1}) * kTile;
  auto* c = worker.at<float>(result);
  thread_local std::vector<T> patches;
  patches.resize(static_cast<std::size_t>(block * depth));
  for (std::int64_t from = begin; from < end; from += block) {
    const std::int64_t count = std::min(block, end - from);
    for (std::int64_t group = 0; group < now.groups(); ++group) {
      layOut(now, worker.at<const T>(input), group, from, count, patches.data());
      kernels::multiplyRows(patches.data(), depth, count, weights[static_cast<std::size_t>(group)],
                            c + from * now.outputs + group * columns, now.outputs,
                            {.isa = isa, .threads = 1});
    }
    finishing.finish(from, from + count);
  }
}

Outcome ConvolutionStep::multiply(const Frame& frame, Worker& worker, RowRange range,
                                  const kernels::Execution& execution, Finishing finishing) const {
  // The least number of rows per thread.
  constexpr std::int64_t kGrain = 24;
  const PatchShape now = shape.of(frame.items);
  const RowRange own = range.of(now.rows());
  const RightOperand& operand = frame.right(number);
  const Weights& weights =
      operand.form ? *static_cast<const Weights*>(operand.form.get()) : operand.own;
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    if (WindowLines::isWorthIt(now))
      multiplyLines(now, worker, weights, begin, end, execution.isa, finishing);
    else if (now.type == kernels::PlainType::F32)
      multiplyPatches<float>(now, worker, weights, begin, end, execution.isa, finishing);
    else
      multiplyPatches<std::uint16_t>(now, worker, weights, begin, end, execution.isa, finishing);
  };
  if (execution.threads == 1)
    rows(own.begin, own.end);
  else
    base::forRanges(own.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      rows(own.begin + begin, own.begin + end);
    });
  return {};
}

StepFacts ConvolutionStep::productFacts() const {
  const PatchShape one = shape.of(1);
  const auto rows = static_cast<double>(one.rows()), depth = static_cast<double>(one.depth()),
             outputs = static_cast<double>(one.outputs);
  const bool isF32 = one.type == kernels::PlainType::F32;
  const double width = isF32 ? sizeof(float) : sizeof(std::uint16_t);
  const double weightBytes = width * depth * outputs;
  double read = width * static_cast<double>(one.batch * one.batchGroups) *
                static_cast<double>(one.features * one.inputGroups);
  for (const PatchAxis& axis : one.axes)
    read *= static_cast<double>(axis.extent);
  return {.kind = StepFacts::Kind::Product,
          .detail = isF32 ? "f32 x f32, of patches" : "bf16 x bf16, of patches",
          .bytes = read + weightBytes + sizeof(float) * rows * outputs,
          .arithmetic = 2 * rows * depth * outputs,
          .multiplied = multipliedOf(one.type),
          .weight = StepFacts::Weight{.slot = weight.number, .bytes = weightBytes}};
}

} // namespace octavo::program
