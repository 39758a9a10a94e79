#include "octavo/Dialect/VHLO/EntryReader.h"

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/VHLO/Codes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::DialectBytecodeReader;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::success;
using mlir::Type;

/// Kinds of VHLO's that octavo has nothing for.
struct UnknownKind {
  std::uint64_t code;
  llvm::StringLiteral name;
};
constexpr UnknownKind kUnknownTypes[] = {{26, "witness"}, {41, "buffer"}, {42, "future"}};
constexpr UnknownKind kUnknownAttributes[] = {{21, "sub_axis_info"},
                                              {22, "axis_ref"},
                                              {23, "replica_group_mesh_axes"},
                                              {24, "mesh_axis"},
                                              {25, "mesh"}};

/// ` (future)` for a code that has a name.
std::string named(llvm::ArrayRef<UnknownKind> kinds, std::uint64_t code) {
  for (const UnknownKind& kind : kinds)
    if (kind.code == code)
      return (" (" + kind.name + ")").str();
  return "";
}

/// Reads one entry of the file's table of types or attributes.
class EntryReader {
public:
  EntryReader(mlir::MLIRContext* context, DialectBytecodeReader& reader)
      : context(context), reader(reader) {}

  Type type();
  Attribute attribute();

private:
  std::nullptr_t error(const llvm::Twine& message) {
    reader.emitError(message);
    return nullptr;
  }
  auto emitter() {
    return [this] { return reader.emitError(); };
  }

  /// A list, its memory taken as elements come: MLIR's readList trusts the count in the file.
  template <typename T, typename Read>
  LogicalResult list(llvm::SmallVectorImpl<T>& elements, Read read) {
    std::uint64_t count = 0;
    if (failed(reader.readVarInt(count)))
      return failure();
    for (std::uint64_t i = 0; i < count; ++i)
      if (failed(read(elements.emplace_back())))
        return failure();
    return success();
  }
  LogicalResult types(llvm::SmallVectorImpl<Type>& elements) {
    return list(elements, [this](Type& type) { return reader.readType(type); });
  }
  LogicalResult numbers(llvm::SmallVectorImpl<std::int64_t>& elements) {
    return list(elements, [this](std::int64_t& number) { return reader.readSignedVarInt(number); });
  }
  /// The bits of a number of `width` bits, zero-extended.
  FailureOr<std::uint64_t> bits(unsigned width) {
    if (width <= 8) {
      FailureOr<llvm::APInt> byte = reader.readAPIntWithKnownWidth(8);
      if (failed(byte))
        return failure();
      return byte->getZExtValue() & ((std::uint64_t{1} << width) - 1);
    }
    std::int64_t value = 0;
    if (failed(reader.readSignedVarInt(value)))
      return failure();
    return static_cast<std::uint64_t>(value) & llvm::maskTrailingOnes<std::uint64_t>(width);
  }
  FailureOr<double> f64() {
    FailureOr<std::uint64_t> code = bits(64);
    if (failed(code))
      return failure();
    return llvm::bit_cast<double>(*code);
  }

  Type tensor(bool hasEncoding);
  Type quantized();
  Type quantizedPerAxis();
  Attribute array();
  Attribute boolean();
  Attribute dictionary();
  Attribute floating();
  Attribute integerAttribute();
  Attribute alias();
  Attribute string();
  Attribute dense();
  Attribute typeAttribute();
  Attribute bounds();
  Attribute accuracy();
  Attribute enumerator(const Enumeration& row);

  mlir::MLIRContext* context;
  DialectBytecodeReader& reader;
};

Type EntryReader::type() {
  std::uint64_t code = 0;
  if (failed(reader.readVarInt(code)))
    return nullptr;
  if (const SimpleType* row = findSimpleType(code))
    return row->get(context);
  switch (code) {
  case kComplexType: {
    Type element;
    if (failed(reader.readType(element)))
      return nullptr;
    return mlir::ComplexType::getChecked(emitter(), element);
  }
  case kFunctionType: {
    llvm::SmallVector<Type> inputs, outputs;
    if (failed(types(inputs)) || failed(types(outputs)))
      return nullptr;
    return mlir::FunctionType::get(context, inputs, outputs);
  }
  case kRankedTensor:
    return tensor(false);
  case kRankedTensorWithEncoding:
    return tensor(true);
  case kTuple: {
    llvm::SmallVector<Type> elements;
    if (failed(types(elements)))
      return nullptr;
    return mlir::TupleType::get(context, elements);
  }
  case kUniformQuantized:
    return quantized();
  case kUniformQuantizedPerAxis:
    return quantizedPerAxis();
  case kUnrankedTensor: {
    Type element;
    if (failed(reader.readType(element)))
      return nullptr;
    return mlir::UnrankedTensorType::getChecked(emitter(), element);
  }
  default:
    return error("octavo does not know VHLO's type " + llvm::Twine(code) +
                 named(kUnknownTypes, code));
  }
}

Type EntryReader::tensor(bool hasEncoding) {
  Attribute encoding;
  llvm::SmallVector<std::int64_t> shape;
  Type element;
  if ((hasEncoding && failed(reader.readAttribute(encoding))) || failed(numbers(shape)) ||
      failed(reader.readType(element)))
    return nullptr;
  return mlir::RankedTensorType::getChecked(emitter(), shape, element, encoding);
}

Type EntryReader::quantized() {
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

Type EntryReader::quantizedPerAxis() {
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

Attribute EntryReader::attribute() {
  std::uint64_t code = 0;
  if (failed(reader.readVarInt(code)))
    return nullptr;
  for (const Enumeration& row : enumerations())
    if (row.code == code)
      return enumerator(row);
  switch (code) {
  case kArray:
    return array();
  case kBoolean:
    return boolean();
  case kDictionary:
    return dictionary();
  case kFloat:
    return floating();
  case kInteger:
    return integerAttribute();
  case kOutputOperandAlias:
    return alias();
  case kString:
    return string();
  case kTensor:
    return dense();
  case kType:
    return typeAttribute();
  case kBounds:
    return bounds();
  case kResultAccuracy:
    return accuracy();
  default:
    return error("octavo does not know VHLO's attribute " + llvm::Twine(code) +
                 named(kUnknownAttributes, code));
  }
}

Attribute EntryReader::array() {
  llvm::SmallVector<Attribute> elements;
  if (failed(list(elements, [this](Attribute& element) { return reader.readAttribute(element); })))
    return nullptr;
  return mlir::ArrayAttr::get(context, elements);
}

Attribute EntryReader::boolean() {
  std::uint64_t value = 0;
  if (failed(reader.readVarInt(value)))
    return nullptr;
  if (value > 1)
    return error("a boolean is " + llvm::Twine(value));
  return mlir::BoolAttr::get(context, value == 1);
}

Attribute EntryReader::dictionary() {
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

Attribute EntryReader::floating() {
  Type type;
  if (failed(reader.readType(type)))
    return nullptr;
  auto format = llvm::dyn_cast<mlir::FloatType>(type);
  if (!format || format.getWidth() > 64)
    return error("a float attribute has a type that is not a float");
  FailureOr<std::uint64_t> code = bits(format.getWidth());
  if (failed(code))
    return nullptr;
  return mlir::FloatAttr::get(
      format, llvm::APFloat(format.getFloatSemantics(), llvm::APInt(format.getWidth(), *code)));
}

Attribute EntryReader::integerAttribute() {
  Type type;
  if (failed(reader.readType(type)))
    return nullptr;
  const unsigned width = llvm::isa<mlir::IndexType>(type)     ? 64
                         : llvm::isa<mlir::IntegerType>(type) ? type.getIntOrFloatBitWidth()
                                                              : 0;
  if (width == 0 || width > 64)
    return error("an integer attribute has a type that is not an integer");
  FailureOr<std::uint64_t> code = bits(width);
  if (failed(code))
    return nullptr;
  return mlir::IntegerAttr::get(type, llvm::APInt(width, *code));
}

Attribute EntryReader::alias() {
  llvm::SmallVector<std::int64_t> outputs, operands;
  std::int64_t operand = 0;
  if (failed(numbers(outputs)) || failed(reader.readSignedVarInt(operand)) ||
      failed(numbers(operands)))
    return nullptr;
  return stablehlo::OutputOperandAliasAttr::get(context, outputs, operand, operands);
}

Attribute EntryReader::string() {
  llvm::StringRef text;
  if (failed(reader.readString(text)))
    return nullptr;
  return mlir::StringAttr::get(context, text);
}

Attribute EntryReader::typeAttribute() {
  Type type;
  if (failed(reader.readType(type)))
    return nullptr;
  return mlir::TypeAttr::get(type);
}

Attribute EntryReader::bounds() {
  llvm::SmallVector<std::int64_t> list;
  if (failed(numbers(list)))
    return nullptr;
  return stablehlo::BoundsAttr::get(context, list);
}

Attribute EntryReader::accuracy() {
  FailureOr<double> absolute = f64();
  if (failed(absolute))
    return nullptr;
  FailureOr<double> relative = f64();
  std::int64_t ulps = 0;
  Attribute mode;
  if (failed(relative) || failed(reader.readSignedVarInt(ulps)) ||
      failed(reader.readAttribute(mode)))
    return nullptr;
  const auto known = llvm::dyn_cast<stablehlo::ResultAccuracyModeAttr>(mode);
  if (!known)
    return error("the mode of an accuracy is not one");
  return stablehlo::ResultAccuracyAttr::getChecked(emitter(), context, llvm::APFloat(*absolute),
                                                   llvm::APFloat(*relative), ulps, known);
}

Attribute EntryReader::enumerator(const Enumeration& row) {
  std::uint64_t value = 0;
  if (failed(reader.readVarInt(value)))
    return nullptr;
  const Attribute attribute = value <= std::numeric_limits<std::uint32_t>::max()
                                  ? row.get(context, static_cast<std::uint32_t>(value))
                                  : Attribute();
  if (!attribute)
    return error(row.name + " has no value " + llvm::Twine(value));
  return attribute;
}

/// Bytes of one element in a blob, 0 for a type that has none there.
std::size_t elementBytes(Type element) {
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(element))
    return 2 * elementBytes(complex.getElementType());
  if (llvm::isa<mlir::IndexType>(element))
    return 8;
  return element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 0;
}

Attribute EntryReader::dense() {
  Type type;
  llvm::ArrayRef<char> blob;
  if (failed(reader.readType(type)) || failed(reader.readBlob(blob)))
    return nullptr;
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return error("a constant needs a tensor type of static shape");
  const std::size_t bytes = elementBytes(tensor.getElementType());
  std::uint64_t count = 1;
  for (const std::int64_t extent : tensor.getShape())
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count) ||
        count > std::numeric_limits<std::int64_t>::max())
      return error("a constant has a shape whose elements 64 bits do not count");
  if (bytes == 0)
    return error("a constant has elements of a type that is no number");

  llvm::SmallVector<char> raw(blob);
  if (tensor.getElementType().isInteger(1)) {
    // Writers differ: bits packed, one byte an element, and splats of 01 or FF (section 2.3 of the
    // format's description). In memory bits are packed, and a splat is FF or 00.
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
  } else if (blob.size() != bytes * (count == 0 ? 0 : 1) &&
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

} // namespace

Type readType(mlir::MLIRContext* context, DialectBytecodeReader& reader) {
  return EntryReader(context, reader).type();
}

Attribute readAttribute(mlir::MLIRContext* context, DialectBytecodeReader& reader) {
  return EntryReader(context, reader).attribute();
}

} // namespace octavo::vhlo
