#include "octavo/Interpreter/StableHLO/DotAlgorithm.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Interpreter/Tensor/Conversions.h"

#include <cmath>

namespace octavo::interpreter {

namespace {

Tensor toPrecision(const Tensor& operand, mlir::Type type) {
  if (!llvm::isa<mlir::FloatTF32Type>(type))
    return convertElements(operand, *octavo::elementType(type));
  return reducePrecision(operand.type == kF64 ? operand : convertElements(operand, kF32), 8, 10);
}

/// Splits x into `count` numbers of the type. Each is the rounded remainder of the previous ones.
std::vector<Tensor> components(const Tensor& operand, mlir::Type type, int count) {
  std::vector<Tensor> parts{toPrecision(operand, type)};
  std::vector<double> rest = decodeElements(operand);
  while (static_cast<int>(parts.size()) < count) {
    const std::vector<double> last = decodeElements(parts.back());
    for (std::size_t i = 0; i < rest.size(); ++i)
      rest[i] -= last[i];
    parts.push_back(toPrecision(encodeElements(kF64.format(), operand.shape, rest), type));
  }
  return parts;
}

} // namespace

Tensor dotByAlgorithm(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions,
                      const ElementType& result, stablehlo::DotAlgorithmAttr algorithm) {
  const ElementType accumulation = *octavo::elementType(algorithm.getAccumulationType());
  const std::int64_t products = algorithm.getNumPrimitiveOperations();
  const int count = products == 1 ? 1 : products == 3 ? 2 : 3;
  const int last = products == 9 ? 2 * (count - 1) : count - 1;
  const std::vector<Tensor> left = components(lhs, algorithm.getLhsPrecisionType(), count);
  const std::vector<Tensor> right = components(rhs, algorithm.getRhsPrecisionType(), count);
  if (count == 1)
    return dotGeneral(left[0], right[0], dimensions, result, accumulation);

  std::vector<float> sum;
  for (int order = last; order > 0; --order)
    for (int i = 0; i < count; ++i)
      if (const int j = order - i; j >= 0 && j < count) {
        const Tensor partial = dotGeneral(left[i], right[j], dimensions, kF32, accumulation);
        const std::span<const float> terms = partial.as<float>();
        sum.resize(terms.size());
        for (std::size_t k = 0; k < sum.size(); ++k)
          sum[k] += terms[k];
      }
  const Tensor leading = dotGeneral(left[0], right[0], dimensions, kF32, accumulation);
  const std::span<const float> terms = leading.as<float>();
  // The remainder of an infinite or overflowing number is NaN, so its other components are ignored.
  for (std::size_t k = 0; k < sum.size(); ++k)
    sum[k] = std::isfinite(terms[k]) ? sum[k] + terms[k] : terms[k];
  return encodeElements(result.format(), leading.shape, sum);
}

} // namespace octavo::interpreter
