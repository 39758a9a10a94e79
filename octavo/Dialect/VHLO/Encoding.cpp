// Types and attributes in bytecode: each entry is a code and then its fields.
#include "octavo/Dialect/VHLO/Encoding.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/StableHLO.h"
#include "octavo/Dialect/VHLO/VHLO.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <limits>

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::DialectBytecodeReader;
using mlir::DialectBytecodeWriter;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::success;
using mlir::Type;

/// Codes of the attributes. Those of enumerations stand in kEnumerations.
enum AttributeCode : std::uint64_t {
  kArray = 1,
  kBoolean = 2,
  kDictionary = 6,
  kFloat = 8,
  kInteger = 9,
  kOutputOperandAlias = 10,
  kString = 14,
  kTensor = 15,
  kType = 17,
  kBounds = 18,
  kResultAccuracy = 20,
};

/// Codes of the types that have fields.
enum TypeCode : std::uint64_t {
  kComplexType = 1,
  kFunctionType = 8,
  kRankedTensor = 20,
  kRankedTensorWithEncoding = 21,
  kTuple = 23,
  kUniformQuantized = 24,
  kUnrankedTensor = 25,
  kUniformQuantizedPerAxis = 30,
  kFuture = 42,
};

struct SimpleType {
  std::uint64_t code;
  Version since;
  Type (*get)(mlir::MLIRContext*);
};

template <int width, bool isUnsigned = false> Type integer(mlir::MLIRContext* context) {
  return mlir::IntegerType::get(
      context, width, isUnsigned ? mlir::IntegerType::Unsigned : mlir::IntegerType::Signless);
}
template <typename T> Type plain(mlir::MLIRContext* context) { return T::get(context); }

constexpr SimpleType kSimpleTypes[] = {
    {0, {0, 9}, integer<1>},
    {2, {0, 9}, plain<mlir::BFloat16Type>},
    {3, {0, 9}, plain<mlir::Float16Type>},
    {4, {0, 9}, plain<mlir::Float32Type>},
    {5, {0, 9}, plain<mlir::Float64Type>},
    {6, {0, 9}, plain<mlir::Float8E4M3FNType>},
    {7, {0, 9}, plain<mlir::Float8E5M2Type>},
    {9, {0, 9}, plain<mlir::IndexType>},
    {10, {0, 9}, integer<4>},
    {11, {0, 9}, integer<8>},
    {12, {0, 9}, integer<16>},
    {13, {0, 9}, integer<32>},
    {14, {0, 9}, integer<64>},
    {15, {0, 9}, integer<4, true>},
    {16, {0, 9}, integer<8, true>},
    {17, {0, 9}, integer<16, true>},
    {18, {0, 9}, integer<32, true>},
    {19, {0, 9}, integer<64, true>},
    {22, {0, 9}, plain<stablehlo::TokenType>},
    {27, {0, 10}, plain<mlir::Float8E4M3FNUZType>},
    {28, {0, 10}, plain<mlir::Float8E5M2FNUZType>},
    {29, {0, 11}, plain<mlir::Float8E4M3B11FNUZType>},
    {31, {1, 2}, integer<2>},
    {32, {1, 2}, integer<2, true>},
    {33, {1, 6}, plain<mlir::NoneType>},
    {34, {1, 6}, plain<mlir::FloatTF32Type>},
    {35, {1, 7}, plain<mlir::Float8E4M3Type>},
    {36, {1, 7}, plain<mlir::Float8E3M4Type>},
    {37, {1, 8}, plain<mlir::Float4E2M1FNType>},
    {38, {1, 8}, plain<mlir::Float6E2M3FNType>},
    {39, {1, 8}, plain<mlir::Float6E3M2FNType>},
    {40, {1, 8}, plain<mlir::Float8E8M0FNUType>},
};

const SimpleType* findSimpleType(Type type) {
  for (const SimpleType& row : kSimpleTypes)
    if (row.get(type.getContext()) == type)
      return &row;
  return nullptr;
}

struct Enumeration {
  std::uint64_t code;
  llvm::StringLiteral mnemonic; ///< as in #stablehlo<mnemonic VALUE>
  std::uint64_t first;
  llvm::ArrayRef<llvm::StringLiteral> values;
};

constexpr llvm::StringLiteral kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr llvm::StringLiteral kComparisons[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED",
                                                "UNSIGNED"};
constexpr llvm::StringLiteral kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr llvm::StringLiteral kPrecisions[] = {"DEFAULT", "HIGH", "HIGHEST"};
constexpr llvm::StringLiteral kRngAlgorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
constexpr llvm::StringLiteral kRngDistributions[] = {"UNIFORM", "NORMAL"};
constexpr llvm::StringLiteral kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                               "ADJOINT"};
constexpr llvm::StringLiteral kAccuracyModes[] = {"DEFAULT", "HIGHEST", "TOLERANCE"};

constexpr llvm::StringLiteral kApiVersions[] = {
    "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};

const Enumeration kEnumerations[] = {
    {3, "comparison_direction", 0, kDirections},
    {4, "comparison_type", 0, kComparisons},
    {5, "api_version", 0, kApiVersions},
    {7, "fft_type", 0, kFftTypes},
    {11, "precision", 0, kPrecisions},
    {12, "rng_algorithm", 0, kRngAlgorithms},
    {13, "rng_distribution", 1, kRngDistributions},
    {16, "transpose", 0, kTransposes},
    {19, "result_accuracy_mode", 0, kAccuracyModes},
};

/// An attribute or a type of StableHLO by its text; null where the dialect does not have it.
template <typename Parsed>
Parsed parsed(mlir::MLIRContext* context, const std::string& text,
              Parsed (*parse)(llvm::StringRef, mlir::MLIRContext*)) {
  const mlir::ScopedDiagnosticHandler quiet(context, [](mlir::Diagnostic&) {});
  return parse(text, context);
}
Attribute parsedAttribute(mlir::MLIRContext* context, const std::string& text) {
  return parsed<Attribute>(context, text, [](llvm::StringRef text, mlir::MLIRContext* context) {
    return mlir::parseAttribute(text, context);
  });
}

//===-- Reading
//-----------------------------------------------------------------------------------===//

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
  Type future();
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
  for (const SimpleType& row : kSimpleTypes)
    if (row.code == code)
      return row.get(context);
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
  case kFuture:
    return future();
  default:
    return error("VHLO type " + llvm::Twine(code) + " is not known; octavo reads VHLO up to " +
                 kNewest.text());
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

Type EntryReader::future() {
  llvm::SmallVector<Type> elements;
  if (failed(types(elements)))
    return nullptr;
  std::string text = "!stablehlo.future<";
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(elements, out);
  out << ">";
  const Type type =
      parsed<Type>(context, text, [](llvm::StringRef text, mlir::MLIRContext* context) {
        return mlir::parseType(text, context);
      });
  if (!type)
    return error("octavo does not know the type " + text);
  return type;
}

Attribute EntryReader::attribute() {
  std::uint64_t code = 0;
  if (failed(reader.readVarInt(code)))
    return nullptr;
  for (const Enumeration& row : kEnumerations)
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
    return error("VHLO attribute " + llvm::Twine(code) + " is not known to octavo");
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
  const std::string text = "#stablehlo.bounds<" +
                           llvm::join(llvm::map_range(list,
                                                      [](std::int64_t bound) {
                                                        return mlir::ShapedType::isDynamic(bound)
                                                                   ? std::string("?")
                                                                   : std::to_string(bound);
                                                      }),
                                      ", ") +
                           ">";
  const Attribute attribute = parsedAttribute(context, text);
  if (!attribute)
    return error("octavo does not know the bounds " + text);
  return attribute;
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
  if (llvm::isa<mlir::OpaqueAttr>(mode)) {
    if (*absolute == 0 && *relative == 0 && ulps == 0)
      return defaultAccuracy(context);
    return error("an accuracy has bounds and the mode DEFAULT");
  }
  std::string text = "#stablehlo.result_accuracy<atol = ";
  llvm::raw_string_ostream out(text);
  out << llvm::format("%.17e", *absolute) << ", rtol = " << llvm::format("%.17e", *relative)
      << ", ulps = " << ulps << ", mode = " << mode << ">";
  const Attribute attribute = parsedAttribute(context, text);
  if (!attribute)
    return error("octavo does not know the accuracy " + text);
  return attribute;
}

Attribute EntryReader::enumerator(const Enumeration& row) {
  std::uint64_t value = 0;
  if (failed(reader.readVarInt(value)))
    return nullptr;
  if (value < row.first || value - row.first >= row.values.size())
    return error(row.mnemonic + " has no value " + llvm::Twine(value));
  const llvm::StringRef name = row.values[value - row.first];
  if (row.mnemonic == "api_version") // a number in StableHLO
    return mlir::IntegerAttr::get(integer<32>(context), static_cast<std::int64_t>(value));
  if (row.mnemonic == "result_accuracy_mode" && name == "DEFAULT") // absent in StableHLO
    return vhloEnumerator(context, row.mnemonic, name);
  const std::string text = ("#stablehlo<" + row.mnemonic + " " + name + ">").str();
  const Attribute attribute = parsedAttribute(context, text);
  if (!attribute)
    return error("octavo does not know " + text);
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

//===-- Writing
//-----------------------------------------------------------------------------------===//

void writeText(DialectBytecodeWriter& writer, std::uint64_t code, llvm::StringRef text) {
  writer.writeVarInt(code);
  writer.writeOwnedString(text);
}

void writeTypes(DialectBytecodeWriter& writer, llvm::ArrayRef<Type> types) {
  writer.writeList(types, [&](Type type) { writer.writeType(PortableType::get(type)); });
}

void writeF64(DialectBytecodeWriter& writer, double value) {
  writer.writeSignedVarInt(llvm::bit_cast<std::int64_t>(value));
}

/// The bits of a number, as readers of all versions take them: zero-extended.
void writeBits(DialectBytecodeWriter& writer, const llvm::APInt& value) {
  if (value.getBitWidth() <= 8)
    writer.writeAPIntWithKnownWidth(value.zext(8));
  else
    writer.writeSignedVarInt(static_cast<std::int64_t>(value.getZExtValue()));
}

/// Entries that `since` does not take are not written.
LogicalResult writeWrapped(Type type, DialectBytecodeWriter& writer) {
  if (const SimpleType* row = findSimpleType(type)) {
    writer.writeVarInt(row->code);
    return success();
  }
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(type)) {
    writer.writeVarInt(kComplexType);
    writer.writeType(PortableType::get(complex.getElementType()));
    return success();
  }
  if (auto function = llvm::dyn_cast<mlir::FunctionType>(type)) {
    writer.writeVarInt(kFunctionType);
    writeTypes(writer, function.getInputs());
    writeTypes(writer, function.getResults());
    return success();
  }
  if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type)) {
    writer.writeVarInt(tensor.getEncoding() ? kRankedTensorWithEncoding : kRankedTensor);
    if (tensor.getEncoding())
      writer.writeAttribute(PortableAttribute::get(tensor.getEncoding()));
    writer.writeSignedVarInts(tensor.getShape());
    writer.writeType(PortableType::get(tensor.getElementType()));
    return success();
  }
  if (auto tuple = llvm::dyn_cast<mlir::TupleType>(type)) {
    writer.writeVarInt(kTuple);
    writeTypes(writer, llvm::to_vector(tuple.getTypes()));
    return success();
  }
  if (auto tensor = llvm::dyn_cast<mlir::UnrankedTensorType>(type)) {
    writer.writeVarInt(kUnrankedTensor);
    writer.writeType(PortableType::get(tensor.getElementType()));
    return success();
  }
  if (auto quantized = llvm::dyn_cast<mlir::quant::UniformQuantizedType>(type)) {
    writer.writeVarInt(kUniformQuantized);
    writer.writeVarInt(quantized.getFlags());
    writer.writeType(PortableType::get(quantized.getStorageType()));
    writer.writeType(PortableType::get(quantized.getExpressedType()));
    writeF64(writer, quantized.getScale());
    writer.writeSignedVarInt(quantized.getZeroPoint());
    writer.writeSignedVarInt(quantized.getStorageTypeMin());
    writer.writeSignedVarInt(quantized.getStorageTypeMax());
    return success();
  }
  if (auto quantized = llvm::dyn_cast<mlir::quant::UniformQuantizedPerAxisType>(type)) {
    writer.writeVarInt(kUniformQuantizedPerAxis);
    writer.writeVarInt(quantized.getFlags());
    writer.writeType(PortableType::get(quantized.getStorageType()));
    writer.writeType(PortableType::get(quantized.getExpressedType()));
    writer.writeVarInt(static_cast<std::uint64_t>(quantized.getQuantizedDimension()));
    writer.writeSignedVarInt(quantized.getStorageTypeMin());
    writer.writeSignedVarInt(quantized.getStorageTypeMax());
    writer.writeList(quantized.getScales(), [&](double scale) { writeF64(writer, scale); });
    writer.writeSignedVarInts(quantized.getZeroPoints());
    return success();
  }
  return failure();
}

/// `#stablehlo<comparison_direction EQ>`, or an enumerator that only VHLO has, taken apart.
bool writeEnumerator(Attribute attribute, DialectBytecodeWriter& writer) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  llvm::StringRef rest = text;
  if (auto opaque = llvm::dyn_cast<mlir::OpaqueAttr>(attribute))
    rest = opaque.getAttrData();
  else if (!rest.consume_front("#stablehlo<") || !rest.consume_back(">"))
    return false;
  const auto [mnemonic, name] = rest.split(' ');
  for (const Enumeration& row : kEnumerations)
    if (row.mnemonic == mnemonic)
      for (const auto& [i, value] : llvm::enumerate(row.values))
        if (value == name) {
          writer.writeVarInt(row.code);
          writer.writeVarInt(row.first + i);
          return true;
        }
  return false;
}

/// `#stablehlo.bounds<?, 5>` taken apart.
bool writeBounds(Attribute attribute, DialectBytecodeWriter& writer) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  llvm::StringRef rest = text;
  if (!rest.consume_front("#stablehlo.bounds<") || !rest.consume_back(">"))
    return false;
  llvm::SmallVector<llvm::StringRef> parts;
  rest.split(parts, ',', -1, /*KeepEmpty=*/false);
  llvm::SmallVector<std::int64_t> bounds;
  for (llvm::StringRef part : parts)
    if (part.trim() == "?")
      bounds.push_back(mlir::ShapedType::kDynamic);
    else if (part.trim().getAsInteger(10, bounds.emplace_back()))
      return false;
  writer.writeVarInt(kBounds);
  writer.writeSignedVarInts(bounds);
  return true;
}

bool writeDense(mlir::ElementsAttr elements, DialectBytecodeWriter& writer) {
  llvm::ArrayRef<char> raw;
  if (auto dense = llvm::dyn_cast<mlir::DenseIntOrFPElementsAttr>(elements))
    raw = dense.getRawData();
  else if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(elements);
           resource && resource.getRawHandle().getBlob())
    raw = resource.getRawHandle().getBlob()->getData();
  else
    return false;
  if (!llvm::isa<mlir::RankedTensorType>(elements.getShapedType()))
    return false;
  writer.writeVarInt(kTensor);
  writer.writeType(PortableType::get(elements.getShapedType()));
  writer.writeOwnedBlob(raw);
  return true;
}

LogicalResult writeWrapped(Attribute attribute, DialectBytecodeWriter& writer) {
  if (auto array = llvm::dyn_cast<mlir::ArrayAttr>(attribute)) {
    writer.writeVarInt(kArray);
    writer.writeList(array.getValue(), [&](Attribute element) {
      writer.writeAttribute(PortableAttribute::get(element));
    });
    return success();
  }
  if (auto boolean = llvm::dyn_cast<mlir::BoolAttr>(attribute)) {
    writer.writeVarInt(kBoolean);
    writer.writeVarInt(boolean.getValue());
    return success();
  }
  if (auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(attribute)) {
    writer.writeVarInt(kDictionary);
    writer.writeList(dictionary.getValue(), [&](mlir::NamedAttribute named) {
      writer.writeAttribute(PortableAttribute::get(named.getName()));
      writer.writeAttribute(PortableAttribute::get(named.getValue()));
    });
    return success();
  }
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute)) {
    writer.writeVarInt(kFloat);
    writer.writeType(PortableType::get(number.getType()));
    writeBits(writer, number.getValue().bitcastToAPInt());
    return success();
  }
  if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(attribute)) {
    writer.writeVarInt(kInteger);
    writer.writeType(PortableType::get(number.getType()));
    writeBits(writer, number.getValue());
    return success();
  }
  if (auto text = llvm::dyn_cast<mlir::StringAttr>(attribute)) {
    writeText(writer, kString, text.getValue());
    return success();
  }
  if (auto symbol = llvm::dyn_cast<mlir::FlatSymbolRefAttr>(attribute)) {
    writeText(writer, kString, symbol.getValue());
    return success();
  }
  if (auto type = llvm::dyn_cast<mlir::TypeAttr>(attribute)) {
    writer.writeVarInt(kType);
    writer.writeType(PortableType::get(type.getValue()));
    return success();
  }
  if (auto alias = llvm::dyn_cast<stablehlo::OutputOperandAliasAttr>(attribute)) {
    writer.writeVarInt(kOutputOperandAlias);
    writer.writeSignedVarInts(alias.getOutputTupleIndices());
    writer.writeSignedVarInt(alias.getOperandIndex());
    writer.writeSignedVarInts(alias.getOperandTupleIndices());
    return success();
  }
  if (attribute == defaultAccuracy(attribute.getContext())) {
    writer.writeVarInt(kResultAccuracy);
    writeF64(writer, 0);
    writeF64(writer, 0);
    writer.writeSignedVarInt(0);
    writer.writeAttribute(PortableAttribute::get(
        vhloEnumerator(attribute.getContext(), "result_accuracy_mode", "DEFAULT")));
    return success();
  }
  if (auto elements = llvm::dyn_cast<mlir::ElementsAttr>(attribute))
    return success(writeDense(elements, writer));
  return success(writeEnumerator(attribute, writer) || writeBounds(attribute, writer));
}

class BytecodeInterface : public mlir::BytecodeDialectInterface {
public:
  explicit BytecodeInterface(mlir::Dialect* dialect) : BytecodeDialectInterface(dialect) {}

  Type readType(DialectBytecodeReader& reader) const override {
    return EntryReader(getContext(), reader).type();
  }
  Attribute readAttribute(DialectBytecodeReader& reader) const override {
    return EntryReader(getContext(), reader).attribute();
  }
  LogicalResult writeType(Type type, DialectBytecodeWriter& writer) const override {
    return vhlo::writeWrapped(llvm::cast<PortableType>(type).wrapped(), writer);
  }
  LogicalResult writeAttribute(Attribute attribute, DialectBytecodeWriter& writer) const override {
    return vhlo::writeWrapped(llvm::cast<PortableAttribute>(attribute).wrapped(), writer);
  }
};

Version latest(Version a, Version b) { return a < b ? b : a; }

/// The least version that has all of the types.
std::optional<Version> sinceAll(llvm::ArrayRef<Type> types, Version since) {
  for (const Type type : types) {
    const std::optional<Version> own = vhlo::since(type);
    if (!own)
      return std::nullopt;
    since = latest(since, *own);
  }
  return since;
}

} // namespace

Attribute vhloEnumerator(mlir::MLIRContext* context, llvm::StringRef mnemonic,
                         llvm::StringRef name) {
  return mlir::OpaqueAttr::get(mlir::StringAttr::get(context, VHLODialect::getDialectNamespace()),
                               (mnemonic + " " + name).str(), mlir::NoneType::get(context));
}

Attribute defaultAccuracy(mlir::MLIRContext* context) {
  return vhloEnumerator(context, "result_accuracy", "DEFAULT");
}

llvm::StringRef apiVersionName(std::int64_t number) {
  return number >= 0 && number < static_cast<std::int64_t>(std::size(kApiVersions))
             ? llvm::StringRef(kApiVersions[number])
             : llvm::StringRef();
}

std::optional<Version> since(Type type) {
  if (const SimpleType* row = findSimpleType(type))
    return row->since;
  if (auto complex = llvm::dyn_cast<mlir::ComplexType>(type))
    return since(complex.getElementType());
  if (auto function = llvm::dyn_cast<mlir::FunctionType>(type)) {
    const std::optional<Version> inputs = sinceAll(function.getInputs(), kOldest);
    return inputs ? sinceAll(function.getResults(), *inputs) : std::nullopt;
  }
  if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type)) {
    if (tensor.getEncoding() && tensor.getEncoding().getDialect().getNamespace() != "stablehlo")
      return std::nullopt;
    return since(tensor.getElementType());
  }
  if (auto tensor = llvm::dyn_cast<mlir::UnrankedTensorType>(type))
    return since(tensor.getElementType());
  if (auto tuple = llvm::dyn_cast<mlir::TupleType>(type))
    return sinceAll(llvm::to_vector(tuple.getTypes()), kOldest);
  if (auto quantized = llvm::dyn_cast<mlir::quant::UniformQuantizedType>(type))
    return sinceAll({quantized.getStorageType(), quantized.getExpressedType()}, kOldest);
  if (auto quantized = llvm::dyn_cast<mlir::quant::UniformQuantizedPerAxisType>(type))
    return sinceAll({quantized.getStorageType(), quantized.getExpressedType()}, Version{0, 18});
  return std::nullopt;
}

std::optional<Version> since(Attribute attribute) {
  if (auto array = llvm::dyn_cast<mlir::ArrayAttr>(attribute)) {
    Version all = kOldest;
    for (const Attribute element : array) {
      const std::optional<Version> own = since(element);
      if (!own)
        return std::nullopt;
      all = latest(all, *own);
    }
    return all;
  }
  if (auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(attribute)) {
    Version all = kOldest;
    for (const mlir::NamedAttribute named : dictionary) {
      const std::optional<Version> own = since(named.getValue());
      if (!own)
        return std::nullopt;
      all = latest(all, *own);
    }
    return all;
  }
  if (llvm::isa<mlir::BoolAttr, mlir::FlatSymbolRefAttr, stablehlo::OutputOperandAliasAttr>(
          attribute))
    return kOldest;
  if (auto text = llvm::dyn_cast<mlir::StringAttr>(attribute))
    return llvm::isa<mlir::NoneType>(text.getType()) ? std::optional(kOldest) : std::nullopt;
  if (auto typed = llvm::dyn_cast<mlir::TypeAttr>(attribute))
    return since(typed.getValue());
  if (llvm::isa<mlir::FloatAttr, mlir::IntegerAttr>(attribute)) {
    const Type type = llvm::cast<mlir::TypedAttr>(attribute).getType();
    return llvm::isa<mlir::FloatType>(type) || type.getIntOrFloatBitWidth() >= 4 ? since(type)
                                                                                 : std::nullopt;
  }
  if (llvm::isa<mlir::DenseIntOrFPElementsAttr, mlir::DenseResourceElementsAttr>(attribute))
    return since(llvm::cast<mlir::ElementsAttr>(attribute).getShapedType());
  if (attribute == defaultAccuracy(attribute.getContext()))
    return Version{1, 9};
  if (llvm::isa<mlir::OpaqueAttr>(attribute))
    return kOldest;
  return attribute.getDialect().getNamespace() == "stablehlo" ? std::optional(kOldest)
                                                              : std::nullopt;
}

void addBytecodeInterface(VHLODialect& dialect) { dialect.addInterfaces<BytecodeInterface>(); }

} // namespace octavo::vhlo
