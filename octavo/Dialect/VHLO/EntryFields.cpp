#include "octavo/Dialect/VHLO/EntryFields.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace octavo::vhlo {

using mlir::Attribute;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::Type;

namespace {

/// Bytes of an element in a blob; 0 for a type that blobs cannot have.
std::size_t elementBytes(Type element) {
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  if (llvm::isa<mlir::IndexType>(element))
    return 8;
  return element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 0;
}

} // namespace

FailureOr<llvm::APInt> EntryFields::bits(unsigned width) {
  if (width <= 8) {
    FailureOr<llvm::APInt> byte = reader.readAPIntWithKnownWidth(8);
    if (failed(byte))
      return failure();
    return byte->trunc(width);
  }
  llvm::SmallVector<std::uint64_t> words(llvm::divideCeil(width, 64u));
  std::uint64_t count = 1;
  if (width > 64 && failed(reader.readVarInt(count)))
    return failure();
  if (count > words.size())
    return reader.emitError("a number of ") << width << " bits has " << count << " words";
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t word = 0;
    if (failed(reader.readSignedVarInt(word)))
      return failure();
    words[i] = static_cast<std::uint64_t>(word);
  }
  return llvm::APInt(words.size() * 64, words).trunc(width);
}

Type EntryFields::complex() {
  Type element;
  if (failed(reader.readType(element)))
    return nullptr;
  return mlir::ComplexType::getChecked(emitter(), element);
}

Type EntryFields::function() {
  llvm::SmallVector<Type> inputs, outputs;
  if (failed(types(inputs)) || failed(types(outputs)))
    return nullptr;
  return mlir::FunctionType::get(context, inputs, outputs);
}

Type EntryFields::tuple() {
  llvm::SmallVector<Type> elements;
  if (failed(types(elements)))
    return nullptr;
  return mlir::TupleType::get(context, elements);
}

Type EntryFields::unrankedTensor() {
  Type element;
  if (failed(reader.readType(element)))
    return nullptr;
  return mlir::UnrankedTensorType::getChecked(emitter(), element);
}

Type EntryFields::tensor(bool hasEncoding) {
  Attribute encoding;
  llvm::SmallVector<std::int64_t> shape;
  Type element;
  if ((hasEncoding && failed(reader.readAttribute(encoding))) || failed(numbers(shape)) ||
      failed(reader.readType(element)))
    return nullptr;
  return mlir::RankedTensorType::getChecked(emitter(), shape, element, encoding);
}

Type EntryFields::quantized() {
  std::uint64_t flags = 0;
  Type storage, expressed;
  std::int64_t zero = 0, least = 0, most = 0;
  if (failed(reader.readVarInt(flags)) || failed(reader.readType(storage)) ||
      failed(reader.readType(expressed)))
    return nullptr;
  FailureOr<double> scale = f64();
  if (failed(scale) || failed(reader.readSignedVarInt(zero)) ||
      failed(reader.readSignedVarInt(least)) || failed(reader.readSignedVarInt(most)))
    return nullptr;
  return mlir::quant::UniformQuantizedType::getChecked(
      emitter(), static_cast<unsigned>(flags), storage, expressed, *scale, zero, least, most);
}

Type EntryFields::quantizedPerAxis() {
  std::uint64_t flags = 0, axis = 0;
  Type storage, expressed;
  std::int64_t least = 0, most = 0;
  if (failed(reader.readVarInt(flags)) || failed(reader.readType(storage)) ||
      failed(reader.readType(expressed)) || failed(reader.readVarInt(axis)) ||
      failed(reader.readSignedVarInt(least)) || failed(reader.readSignedVarInt(most)))
    return nullptr;
  llvm::SmallVector<double> scales;
  llvm::SmallVector<std::int64_t> zeros;
  const auto readScale = [this](double& scale) -> LogicalResult {
    FailureOr<double> read = f64();
    scale = succeeded(read) ? *read : 0;
    return read;
  };
  if (failed(list(scales, readScale)) || failed(numbers(zeros)))
    return nullptr;
  if (axis > std::numeric_limits<std::int32_t>::max())
    return error("a quantized dimension of " + llvm::Twine(axis) + " is out of range");
  return mlir::quant::UniformQuantizedPerAxisType::getChecked(
      emitter(), static_cast<unsigned>(flags), storage, expressed, scales, zeros,
      static_cast<std::int32_t>(axis), least, most);
}

Attribute EntryFields::dictionary() {
  std::uint64_t count = 0;
  if (failed(reader.readVarInt(count)))
    return nullptr;
  mlir::NamedAttrList list;
  for (std::uint64_t i = 0; i < count; ++i) {
    mlir::StringAttr key;
    Attribute value;
    if (failed(reader.readAttribute(key)) || failed(reader.readAttribute(value)))
      return nullptr;
    if (key.empty())
      return error("a dictionary has a key without a name");
    if (list.set(key, value))
      return error("a dictionary has the key '" + key.getValue() + "' twice");
  }
  return list.getDictionary(context);
}

Attribute EntryFields::floating() {
  Type type;
  if (failed(reader.readType(type)))
    return nullptr;
  auto format = llvm::dyn_cast<mlir::FloatType>(type);
  if (!format)
    return error("a float attribute has a type that is not a float");
  FailureOr<llvm::APInt> code = bits(format.getWidth());
  if (failed(code))
    return nullptr;
  return mlir::FloatAttr::get(format, llvm::APFloat(format.getFloatSemantics(), *code));
}

Attribute EntryFields::integer() {
  Type type;
  if (failed(reader.readType(type)))
    return nullptr;
  const unsigned width = llvm::isa<mlir::IndexType>(type)     ? 64
                         : llvm::isa<mlir::IntegerType>(type) ? type.getIntOrFloatBitWidth()
                                                              : 0;
  if (width == 0)
    return error("an integer attribute has a type that is not an integer");
  FailureOr<llvm::APInt> code = bits(width);
  if (failed(code))
    return nullptr;
  return mlir::IntegerAttr::get(type, *code);
}

std::optional<std::uint64_t> EntryFields::elementCount(mlir::ShapedType type) {
  if (!type.hasStaticShape()) {
    error("a constant needs a tensor type of static shape");
    return std::nullopt;
  }
  std::uint64_t count = 1;
  for (const std::int64_t extent : type.getShape())
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count) ||
        count > std::numeric_limits<std::int64_t>::max()) {
      error("a constant has a shape whose elements 64 bits do not count");
      return std::nullopt;
    }
  return count;
}

Attribute EntryFields::dense() {
  Type type;
  llvm::ArrayRef<char> blob;
  if (failed(reader.readType(type)) || failed(reader.readBlob(blob)))
    return nullptr;
  const auto tensor = llvm::dyn_cast<mlir::ShapedType>(type);
  if (!llvm::isa<mlir::RankedTensorType, mlir::VectorType>(type))
    return error("a constant needs a tensor type of static shape");
  const std::optional<std::uint64_t> counted = elementCount(tensor);
  if (!counted)
    return nullptr;
  const std::uint64_t count = *counted;
  const std::size_t bytes = elementBytes(tensor.getElementType());
  if (bytes == 0)
    return error("a constant has elements of a type that is no number");

  llvm::SmallVector<char> raw(blob);
  if (tensor.getElementType().isInteger(1)) {
    // Writers store booleans in three ways: packed bits, one byte for each element, or a splat of
    // 01 or FF (section 2.3 of the format's description). In memory bits are packed, and a splat is
    // FF or 00.
    const std::uint64_t packed = llvm::divideCeil(count, std::uint64_t{8});
    const bool isSplat = blob.size() == 1 && (blob[0] == '\xFF' || count == 1 || count > 8);
    if (isSplat)
      raw[0] = blob[0] ? '\xFF' : '\0';
    else if (blob.size() != packed && blob.size() == count) {
      raw.assign(packed, '\0');
      for (std::uint64_t i = 0; i < count; ++i)
        raw[i / 8] = static_cast<char>(raw[i / 8] | (blob[i] ? 1 : 0) << i % 8);
    } else if (blob.size() != packed) {
      return error("a constant of " + llvm::Twine(count) + " booleans has " +
                   llvm::Twine(blob.size()) + " bytes");
    }
  } else if (blob.size() != bytes && // a splat, as MLIR may hold tensors without elements too
             (count > std::numeric_limits<std::size_t>::max() / bytes ||
              blob.size() != count * bytes)) {
    return error("a constant of " + llvm::Twine(count) + " elements of " + llvm::Twine(bytes) +
                 " bytes has " + llvm::Twine(blob.size()) + " bytes");
  }
  if (count == 0)
    return mlir::DenseElementsAttr::get(tensor, llvm::ArrayRef<Attribute>());
  bool isSplat = false;
  if (!mlir::DenseElementsAttr::isValidRawBuffer(tensor, raw, isSplat))
    return error("a constant has bytes that do not fit its type");
  return mlir::DenseElementsAttr::getFromRawBuffer(tensor, raw);
}

Attribute EntryFields::array() {
  llvm::SmallVector<Attribute> elements;
  if (failed(list(elements, [this](Attribute& element) { return reader.readAttribute(element); })))
    return nullptr;
  return mlir::ArrayAttr::get(context, elements);
}

Attribute EntryFields::typeAttribute() {
  Type type;
  if (failed(reader.readType(type)))
    return nullptr;
  return mlir::TypeAttr::get(type);
}

} // namespace octavo::vhlo
