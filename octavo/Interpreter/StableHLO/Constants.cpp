#include "octavo/Interpreter/StableHLO/Constants.h"

#include "octavo/Dialect/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

namespace octavo::interpreter {

namespace {

/// How MLIR stores the elements of an attribute. Each element takes whole bytes, except i1: in a
/// dense attribute eight to a byte, lowest bit first, in a resource a byte each. A splat is stored
/// once.
struct Storage {
  bool isSplat;
  bool packsBooleans;
};

/// Fills `tensor` with the codes in `raw`.
llvm::Error copyCodes(mlir::Operation* op, llvm::ArrayRef<char> raw, Storage storage,
                      Tensor& tensor) {
  const std::int64_t n = tensor.size();
  const bool isSplat = storage.isSplat;
  const std::int64_t stored = isSplat ? (n == 0 ? 0 : 1) : n;
  const bool isPacked = storage.packsBooleans && tensor.type.isBoolean();
  const std::int64_t needed = isPacked ? (stored + 7) / 8 : stored * tensor.type.bytes();
  if (static_cast<std::int64_t>(raw.size()) < needed)
    return failure(op, "the constant holds " + llvm::Twine(raw.size()) + " bytes; " +
                           llvm::Twine(needed) + " are needed");
  if (!isPacked && tensor.type.width() == tensor.type.bytes() * 8) {
    const auto step = static_cast<std::size_t>(needed);
    for (std::size_t at = 0; at < tensor.bytes.size(); at += step)
      std::memcpy(tensor.bytes.data() + at, raw.data(), step);
    return llvm::Error::success();
  }
  const int width = tensor.type.width();
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t from = isSplat ? 0 : i;
    std::uint64_t code = 0;
    if (isPacked) {
      // A splat of true is a byte of ones.
      code = static_cast<unsigned char>(raw[from / 8]) >> (from % 8);
    } else {
      std::memcpy(&code, raw.data() + from * tensor.type.bytes(),
                  static_cast<std::size_t>(tensor.type.bytes()));
    }
    tensor.setCode(i, code & mask);
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Tensor> constantTensor(mlir::Operation* op, mlir::ElementsAttr attribute) {
  llvm::Expected<TensorShape> type = tensorShape(op, attribute.getType());
  if (!type)
    return type.takeError();
  Tensor tensor = Tensor::zeros(type->type, type->shape);
  if (auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(attribute)) {
    if (llvm::Error error = copyCodes(op, dense.getRawData(), {dense.isSplat(), true}, tensor))
      return error;
    return tensor;
  }
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(attribute)) {
    mlir::AsmResourceBlob* blob = resource.getRawHandle().getBlob();
    if (blob == nullptr)
      return failure(op, "the resource '" + resource.getRawHandle().getKey() +
                             "' is not in the program");
    if (llvm::Error error = copyCodes(op, blob->getData(), {false, false}, tensor))
      return error;
    return tensor;
  }
  return failure(op, "the constant is neither dense nor a dense resource");
}

mlir::DenseElementsAttr constantAttribute(mlir::MLIRContext* context, const Tensor& tensor) {
  const auto type = mlir::RankedTensorType::get(tensor.shape, mlirType(context, tensor.type));
  if (tensor.type.isBoolean()) {
    llvm::SmallVector<bool> values;
    for (const std::uint8_t code : tensor.as<std::uint8_t>())
      values.push_back(code != 0);
    return mlir::DenseElementsAttr::get(type, values);
  }
  const auto step = static_cast<std::size_t>(tensor.type.bytes());
  const auto* data = reinterpret_cast<const char*>(tensor.bytes.data());
  llvm::ArrayRef<char> bytes(data, tensor.bytes.size());
  // Equal elements are stored once, as a splat.
  const bool isSplat = bytes.size() > step && bytes.drop_front(step) == bytes.drop_back(step);
  return mlir::DenseElementsAttr::getFromRawBuffer(type, isSplat ? bytes.take_front(step) : bytes);
}

} // namespace octavo::interpreter
