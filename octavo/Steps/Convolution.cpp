#include "octavo/Steps/Convolution.h"

#include "octavo/Parallel/Loops.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace octavo::steps {

namespace {

/// Patches of so many bytes are laid out at a time: they and the weight stay in the second cache.
constexpr std::int64_t kPatchBytes = 192 * 1024;
/// Rows that products take at once.
constexpr std::int64_t kTile = 24;

std::int64_t product(const std::vector<PatchAxis>& axes, std::int64_t PatchAxis::* extent) {
  std::int64_t all = 1;
  for (const PatchAxis& axis : axes)
    all *= axis.*extent;
  return all;
}

/// Where place `window` of the window at `place` lies in the input; -1 where it is padded.
std::int64_t coordinate(const PatchAxis& axis, std::int64_t place, std::int64_t window) {
  std::int64_t at = place * axis.step + window * axis.windowDilation - axis.low;
  if (axis.inputDilation != 1) {
    if (at % axis.inputDilation != 0)
      return -1;
    at /= axis.inputDilation;
  }
  return at >= 0 && at < axis.extent ? at : -1;
}

/// Copies runs that are often too short for a call to pay.
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

} // namespace

std::int64_t PatchShape::rows() const { return batch * product(axes, &PatchAxis::places); }
std::int64_t PatchShape::depth() const { return features * product(axes, &PatchAxis::window); }

template <typename T> ConvolutionStep::Weights ConvolutionStep::pack(const T* values) const {
  const std::int64_t depth = shape.depth(), columns = shape.outputs / shape.groups();
  const std::size_t rank = shape.axes.size();
  std::vector<T> ordered(static_cast<std::size_t>(depth * columns));
  Weights groups;
  for (std::int64_t group = 0; group < shape.groups(); ++group) {
    const T* first = values + shape.weightOffset + group * columns * shape.weightOutputStride;
    std::vector<std::int64_t> place(rank, 0);
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
    groups.push_back(kernels::packMatrix(ordered.data(), depth, columns, columns, 1));
  }
  return groups;
}

ConvolutionStep::Weights ConvolutionStep::packed(const std::byte* memory) const {
  return shape.type == kernels::PlainType::F32
             ? pack(reinterpret_cast<const float*>(memory))
             : pack(reinterpret_cast<const std::uint16_t*>(memory));
}

tl::expected<std::shared_ptr<const ConvolutionStep::Weights>, std::string>
ConvolutionStep::formOf(const Value& value) const {
  execution::Forms::Key key{static_cast<std::int64_t>(shape.type),
                            shape.features,
                            shape.outputs,
                            shape.groups(),
                            shape.weightOffset,
                            shape.weightInputStride,
                            shape.weightOutputStride};
  for (const PatchAxis& axis : shape.axes)
    key.insert(key.end(), {axis.window, axis.weightStride});
  return value.forms().of<Weights>(key, [&]() -> tl::expected<Weights, std::string> {
    if (!value.isUnread())
      return packed(value.tensor().bytes.data());
    std::vector<std::byte> bytes(value.unread().bytes());
    return value.unread().read(0, bytes).map([&] { return packed(bytes.data()); });
  });
}

Outcome ConvolutionStep::bind(const Binding& binding) const {
  if (binding.slot != weight.number)
    return {};
  return formOf(binding.value).map([](const auto&) {});
}

Outcome ConvolutionStep::prepare(Frame& frame) const {
  RightOperand& operand = frame.rights[static_cast<std::size_t>(number)];
  if (ahead) {
    operand.form = ahead;
    return {};
  }
  if (const Value* owner = frame.owners[static_cast<std::size_t>(weight.number)]) {
    if (auto shared = operand.share(*owner, [&] { return formOf(*owner); }); !shared)
      return failure(*this, shared.error());
    return {};
  }
  operand.owner = Value();
  operand.form = std::make_shared<const Weights>(packed(frame.at(weight)));
  return {};
}

/// The elements that rows of the result see in one group, a patch of `depth` elements for each:
/// place by place of the window, all rows of one line of the result at a time.
template <typename T>
void ConvolutionStep::layOut(const T* values, std::int64_t group, std::int64_t row,
                             std::int64_t count, T* patches) const {
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
        const std::int64_t at = coordinate(shape.axes[axis], places[axis], window[axis]);
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
            const std::int64_t at = coordinate(inner, place, k);
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

template <typename T>
void ConvolutionStep::multiplyAs(const Frame& frame, Worker& worker, RowRange range,
                                 const kernels::Execution& execution, Finishing finishing) const {
  const RowRange own = range.of(shape.rows());
  const auto& weights =
      *static_cast<const Weights*>(frame.rights[static_cast<std::size_t>(number)].form.get());
  const T* values = worker.at<const T>(input);
  auto* c = worker.at<float>(result);
  const std::int64_t depth = shape.depth(), columns = shape.outputs / shape.groups();
  const std::int64_t fitting =
      kPatchBytes / static_cast<std::int64_t>(sizeof(T)) / std::max<std::int64_t>(1, depth);
  const std::int64_t block = std::max(fitting / kTile, std::int64_t{1}) * kTile;
  kernels::Execution alone = execution;
  alone.threads = 1;
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    thread_local std::vector<T> patches;
    patches.resize(static_cast<std::size_t>(block * depth));
    for (std::int64_t from = begin; from < end; from += block) {
      const std::int64_t count = std::min(block, end - from);
      for (std::int64_t group = 0; group < shape.groups(); ++group) {
        layOut(values, group, own.begin + from, count, patches.data());
        kernels::multiplyRows(
            patches.data(), depth, count, weights[static_cast<std::size_t>(group)],
            c + (own.begin + from) * shape.outputs + group * columns, shape.outputs, alone);
      }
      finishing.finish(own.begin + from, own.begin + from + count);
    }
  };
  if (execution.threads == 1 || own.size() <= block)
    rows(0, own.size());
  else
    parallel::forRanges(own.size(), block, [&](std::int64_t begin, std::int64_t end) {
      const execution::Timed timed(frame.host->profile, this, execution::Profile::Extent::Piece);
      rows(begin, end);
    });
}

Outcome ConvolutionStep::multiply(const Frame& frame, Worker& worker, RowRange range,
                                  const kernels::Execution& execution, Finishing finishing) const {
  if (shape.type == kernels::PlainType::F32)
    multiplyAs<float>(frame, worker, range, execution, finishing);
  else
    multiplyAs<std::uint16_t>(frame, worker, range, execution, finishing);
  return {};
}

StepFacts ConvolutionStep::productFacts() const {
  const auto rows = static_cast<double>(shape.rows()), depth = static_cast<double>(shape.depth()),
             outputs = static_cast<double>(shape.outputs);
  const bool isF32 = shape.type == kernels::PlainType::F32;
  const double width = isF32 ? sizeof(float) : sizeof(std::uint16_t);
  const double weightBytes = width * depth * outputs;
  double read = width * static_cast<double>(shape.batch * shape.batchGroups) *
                static_cast<double>(shape.features * shape.inputGroups);
  for (const PatchAxis& axis : shape.axes)
    read *= static_cast<double>(axis.extent);
  return {.kind = StepFacts::Kind::Product,
          .detail = isF32 ? "f32 x f32, of patches" : "bf16 x bf16, of patches",
          .bytes = read + weightBytes + sizeof(float) * rows * outputs,
          .arithmetic = 2 * rows * depth * outputs,
          .multiplied = multipliedOf(shape.type),
          .weight = StepFacts::Weight{.slot = weight.number, .bytes = weightBytes}};
}

} // namespace octavo::steps
