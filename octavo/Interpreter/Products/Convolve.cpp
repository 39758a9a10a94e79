#include "octavo/Interpreter/Products/Convolve.h"

#include "octavo/Interpreter/Products/DotGeneral.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace octavo::interpreter {

namespace {

/// The most elements of a patch matrix that is built at once.
constexpr std::int64_t kPatchElements = std::int64_t{1} << 22;

/// The extent that `count` elements cover if they are `step` apart; the largest number if that does
/// not fit 63 bits.
std::int64_t spanOf(std::int64_t count, std::int64_t step) {
  std::int64_t span = 0;
  if (count != 0 && (__builtin_mul_overflow(count - 1, step, &span) ||
                     __builtin_add_overflow(span, std::int64_t{1}, &span)))
    return std::numeric_limits<std::int64_t>::max();
  return span;
}

std::vector<std::int64_t> axesOf(std::int64_t first, const std::vector<std::int64_t>& spatial,
                                 std::int64_t last) {
  std::vector<std::int64_t> axes{first};
  axes.insert(axes.end(), spatial.begin(), spatial.end());
  axes.push_back(last);
  return axes;
}

/// The slice [start, start + length) of `axis`.
Tensor part(const Tensor& tensor, std::size_t axis, std::int64_t start, std::int64_t length) {
  std::vector<std::int64_t> from(tensor.shape.size(), 0), limit = tensor.shape;
  from[axis] = start;
  limit[axis] = start + length;
  return slice(tensor, from, limit, std::vector<std::int64_t>(from.size(), 1));
}

/// The input as [batch, spatial ..., feature], dilated and padded by zeros.
Tensor paddedInput(const Tensor& lhs, const ConvolutionShape& shape) {
  const Tensor ordered =
      transpose(lhs, axesOf(shape.inputBatch, shape.inputSpatial, shape.inputFeature));
  std::vector<std::int64_t> low{0}, high{0}, interior{0};
  for (const ConvolvedAxis& axis : shape.window) {
    low.push_back(axis.low);
    high.push_back(axis.high);
    interior.push_back(axis.lhsDilation - 1);
  }
  for (std::vector<std::int64_t>* list : {&low, &high, &interior})
    list->push_back(0);
  return pad(ordered, Tensor::zeros(lhs.type, {}), low, high, interior);
}

/// The kernel as [spatial ..., input, output], reversed where the window is reversed.
Tensor orderedKernel(const Tensor& rhs, const ConvolutionShape& shape) {
  std::vector<std::int64_t> axes = shape.kernelSpatial, reversed;
  axes.push_back(shape.kernelInput);
  axes.push_back(shape.kernelOutput);
  for (std::size_t i = 0; i < shape.window.size(); ++i)
    if (shape.window[i].isReversed)
      reversed.push_back(static_cast<std::int64_t>(i));
  return reverse(transpose(rhs, axes), reversed);
}

/// Multiplies one group: `input` [batch, padded ..., channels] by `kernel` [spatial ..., channels,
/// outputs], into `result` [batch, out ..., features] from feature `column` on.
void convolveGroup(const Tensor& input, const Tensor& kernel, const ConvolutionShape& shape,
                   std::int64_t column, const ElementType& accumulation, Tensor& result) {
  const std::size_t spatial = shape.window.size();
  const std::vector<std::int64_t> from = rowMajorStrides(input.shape);
  const std::int64_t outputs = kernel.shape.back();
  const std::int64_t features = result.shape.back();
  const std::int64_t depth = outputs == 0 ? 0 : kernel.size() / outputs;
  const Tensor matrix = reshape(kernel, {depth, outputs});

  // The patch tensor has the axes of the result except features, then those of the kernel except
  // outputs.
  std::vector<std::int64_t> patch(result.shape.begin(), result.shape.end() - 1);
  std::vector<std::int64_t> strides{from[0]};
  for (std::size_t i = 0; i < spatial; ++i)
    strides.push_back(from[i + 1] * shape.window[i].stride);
  for (std::size_t i = 0; i < spatial; ++i) {
    patch.push_back(kernel.shape[i]);
    strides.push_back(from[i + 1] * shape.window[i].rhsDilation);
  }
  patch.push_back(kernel.shape[spatial]);
  strides.push_back(1);

  // Builds as many indices of the outermost spatial axis at once as fit, for one sample; of the
  // batch axis if there are no spatial axes.
  const std::size_t outer = spatial == 0 ? 0 : 1;
  const std::int64_t batches = outer == 0 ? 1 : patch[0];
  const std::int64_t length = patch[outer];
  std::int64_t inner = 1;
  for (std::size_t i = outer + 1; i + spatial + 1 < patch.size(); ++i)
    inner *= patch[i];
  const std::int64_t step =
      std::max<std::int64_t>(1, kPatchElements / std::max<std::int64_t>(1, inner * depth));
  const std::int64_t width = result.type.bytes();
  for (std::int64_t batch = 0; batch < batches; ++batch)
    for (std::int64_t start = 0; start < length; start += step) {
      std::vector<std::int64_t> chunk = patch;
      if (outer == 1)
        chunk[0] = 1;
      chunk[outer] = std::min(step, length - start);
      const std::int64_t rows = chunk[outer] * inner;
      const std::int64_t base = (outer == 1 ? batch * strides[0] : 0) + start * strides[outer];
      const Tensor patches = reshape(pick(input, std::move(chunk), base, strides), {rows, depth});
      const Tensor product =
          dotGeneral(patches, matrix, {{}, {}, {1}, {0}}, result.type, accumulation);
      const std::int64_t first = (outer == 1 ? batch * length : 0) + start;
      for (std::int64_t row = 0; row < rows; ++row)
        std::memcpy(result.bytes.data() + ((first * inner + row) * features + column) * width,
                    product.bytes.data() + row * outputs * width,
                    static_cast<std::size_t>(outputs * width));
    }
}

} // namespace

std::vector<std::int64_t> convolvedShape(std::span<const std::int64_t> lhs,
                                         std::span<const std::int64_t> rhs,
                                         const ConvolutionShape& shape) {
  std::vector<std::int64_t> result(lhs.size());
  result[shape.outputBatch] = lhs[shape.inputBatch] / shape.batchGroups;
  result[shape.outputFeature] = rhs[shape.kernelOutput];
  for (std::size_t i = 0; i < shape.window.size(); ++i) {
    const ConvolvedAxis& axis = shape.window[i];
    const std::int64_t extent[] = {lhs[shape.inputSpatial[i]]}, low[] = {axis.low},
                       high[] = {axis.high}, interior[] = {axis.lhsDilation - 1};
    const auto padded = paddedShape(extent, low, high, interior);
    const std::int64_t window = spanOf(rhs[shape.kernelSpatial[i]], axis.rhsDilation);
    result[shape.outputSpatial[i]] = !padded ? -1
                                     : padded->front() == 0 || window > padded->front()
                                         ? 0
                                         : (padded->front() - window) / axis.stride + 1;
  }
  return result;
}

Tensor convolve(const Tensor& lhs, const Tensor& rhs, const ConvolutionShape& shape,
                const ElementType& type) {
  const std::vector<std::int64_t> target = convolvedShape(lhs.shape, rhs.shape, shape);
  const std::vector<std::int64_t> axes =
      axesOf(shape.outputBatch, shape.outputSpatial, shape.outputFeature);
  std::vector<std::int64_t> ordered;
  for (std::int64_t axis : axes)
    ordered.push_back(target[axis]);
  Tensor result = Tensor::zeros(type, ordered);
  if (result.size() != 0) {
    const ElementType accumulation = defaultAccumulation(lhs.type, rhs.type, type);
    const Tensor input = paddedInput(lhs, shape);
    const Tensor kernel = orderedKernel(rhs, shape);
    const std::int64_t groups = shape.featureGroups * shape.batchGroups;
    const std::int64_t outputs = kernel.shape.back() / groups;
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::size_t axis = shape.batchGroups > 1 ? 0 : input.shape.size() - 1;
      const std::int64_t length = input.shape[axis] / groups;
      const Tensor group = groups == 1 ? input : part(input, axis, g * length, length);
      const Tensor columns =
          groups == 1 ? kernel : part(kernel, kernel.shape.size() - 1, g * outputs, outputs);
      convolveGroup(group, columns, shape, g * outputs, accumulation, result);
    }
  }
  std::vector<std::int64_t> back(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    back[axes[i]] = static_cast<std::int64_t>(i);
  return transpose(result, back);
}

} // namespace octavo::interpreter
