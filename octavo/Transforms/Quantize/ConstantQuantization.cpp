#include "octavo/Transforms/Quantize/ConstantQuantization.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Interpreter/Tensor/Elements.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace octavo::transforms {

/// Codes as MLIR stores the elements of a constant: one in each byte or bytes, not packed.
template <typename Codes>
static mlir::DenseElementsAttr attribute(mlir::RankedTensorType type, const Codes& codes,
                                         int bytes) {
  std::vector<char> buffer(codes.size() * bytes);
  for (auto [i, code] : llvm::enumerate(codes)) {
    const std::uint32_t wide = code;
    std::memcpy(buffer.data() + i * bytes, &wide, bytes);
  }
  return mlir::DenseElementsAttr::getFromRawBuffer(type, buffer);
}

/// The indices of a row-major position: `[3, 17]`.
static std::string position(llvm::ArrayRef<std::int64_t> shape, std::int64_t index) {
  std::string text;
  for (std::int64_t extent : llvm::reverse(shape)) {
    text = std::to_string(index % extent) + (text.empty() ? "" : ", ") + text;
    index /= extent;
  }
  return "[" + text + "]";
}

llvm::Expected<QuantizedConstant> quantizeConstant(const numerics::Tensor& values,
                                                   ir::ScaledType type,
                                                   const numerics::QuantizeOptions& options) {
  const std::vector<float> wide = interpreter::decodeToF32(values);
  numerics::QuantizeResult quantized =
      numerics::quantize(wide, type.getShape(), type.getKind(), options);
  if (quantized.refused)
    return llvm::createStringError(
        "the constant has " +
        std::string(std::isnan(quantized.refused->value) ? "a NaN" : "an Inf") + " at " +
        position(type.getShape(), quantized.refused->index));

  const numerics::ScaledTensor& tensor = quantized.tensor;
  QuantizedConstant result;
  result.type = type;
  result.elements = attribute(type.getElementsType(), tensor.elements, 1);
  result.scales = attribute(type.getScalesType(), tensor.scales, type.getScale()->bytes());
  if (type.getHasOuterScale())
    result.outer = mlir::DenseElementsAttr::get(type.getOuterType(), tensor.outer);
  return result;
}

mlir::Value materialize(mlir::OpBuilder& builder, mlir::Location location,
                        const QuantizedConstant& constant) {
  const auto create = [&](mlir::DenseElementsAttr value) -> mlir::Value {
    return value ? stablehlo::ConstantOp::create(builder, location, value.getType(), value)
                       .getResult()
                 : mlir::Value();
  };
  const mlir::Value elements = create(constant.elements);
  const mlir::Value scales = create(constant.scales);
  const mlir::Value outer = create(constant.outer);
  return ir::PackOp::create(builder, location, constant.type, elements, scales, outer);
}

} // namespace octavo::transforms
