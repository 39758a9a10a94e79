#include "octavo/Interpreter/Tensor/BatchNorm.h"

#include <cmath>

namespace octavo::interpreter {

namespace {

using Numbers = std::vector<double>;

/// Maps elements of a tensor to indices of one axis, the features.
class Features {
public:
  Features(const std::vector<std::int64_t>& shape, std::int64_t axis)
      : count(shape[axis]), size(numerics::elementCount(shape)) {
    for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < shape.size(); ++i)
      inner *= shape[i];
  }

  std::int64_t count; ///< number of features
  std::int64_t size;  ///< number of elements

  std::size_t of(std::int64_t i) const { return static_cast<std::size_t>(i / inner % count); }
  double perFeature() const { return static_cast<double>(size) / static_cast<double>(count); }

  /// For each feature, the sum of f(i, feature) over its elements i, in row-major order.
  template <typename F> Numbers sums(F f) const {
    Numbers sums(static_cast<std::size_t>(count), 0.0);
    for (std::int64_t i = 0; i < size; ++i)
      sums[of(i)] += f(static_cast<std::size_t>(i), of(i));
    return sums;
  }

private:
  std::int64_t inner = 1;
};

Numbers normalized(const Features& features, const Numbers& x, const Numbers& scale,
                   const Numbers& offset, const Numbers& mean, const Numbers& variance,
                   double epsilon) {
  Numbers result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t f = features.of(static_cast<std::int64_t>(i));
    result[i] = scale[f] * ((x[i] - mean[f]) / std::sqrt(variance[f] + epsilon)) + offset[f];
  }
  return result;
}

} // namespace

Tensor batchNormInference(const Tensor& operand, const Tensor& scale, const Tensor& offset,
                          const Tensor& mean, const Tensor& variance, double epsilon,
                          std::int64_t feature) {
  return encodeElements(operand.type.format(), operand.shape,
                        normalized(Features(operand.shape, feature), decodeElements(operand),
                                   decodeElements(scale), decodeElements(offset),
                                   decodeElements(mean), decodeElements(variance), epsilon));
}

BatchNormTraining batchNormTraining(const Tensor& operand, const Tensor& scale,
                                    const Tensor& offset, double epsilon, std::int64_t feature) {
  const Features features(operand.shape, feature);
  const Numbers x = decodeElements(operand);
  Numbers mean = features.sums([&](std::size_t i, std::size_t) { return x[i]; });
  for (double& sum : mean)
    sum /= features.perFeature();
  Numbers variance = features.sums(
      [&](std::size_t i, std::size_t f) { return (x[i] - mean[f]) * (x[i] - mean[f]); });
  for (double& sum : variance)
    sum /= features.perFeature();
  const ElementFormat& format = operand.type.format();
  return {encodeElements(format, operand.shape,
                         normalized(features, x, decodeElements(scale), decodeElements(offset),
                                    mean, variance, epsilon)),
          encodeElements(format, {features.count}, mean),
          encodeElements(format, {features.count}, variance)};
}

BatchNormGrad batchNormGrad(const Tensor& operand, const Tensor& scaleTensor,
                            const Tensor& meanTensor, const Tensor& varianceTensor,
                            const Tensor& gradOutput, double epsilon, std::int64_t feature) {
  const Features features(operand.shape, feature);
  const Numbers x = decodeElements(operand), g = decodeElements(gradOutput);
  const Numbers scale = decodeElements(scaleTensor), mean = decodeElements(meanTensor);
  Numbers variance = decodeElements(varianceTensor);
  for (double& v : variance)
    v += epsilon;
  const Numbers offsetSum = features.sums([&](std::size_t i, std::size_t) { return g[i]; });
  const Numbers centered =
      features.sums([&](std::size_t i, std::size_t f) { return g[i] * (x[i] - mean[f]); });
  const Numbers scaleSum = features.sums([&](std::size_t i, std::size_t f) {
    return g[i] * ((x[i] - mean[f]) / std::sqrt(variance[f]));
  });
  const double m = features.perFeature();
  Numbers gradient(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t f = features.of(static_cast<std::int64_t>(i));
    gradient[i] = scale[f] / std::sqrt(variance[f]) / m *
                  (g[i] * m - offsetSum[f] - centered[f] * (x[i] - mean[f]) / variance[f]);
  }
  const ElementFormat& format = operand.type.format();
  return {encodeElements(format, operand.shape, gradient),
          encodeElements(format, {features.count}, scaleSum),
          encodeElements(format, {features.count}, offsetSum)};
}

} // namespace octavo::interpreter
