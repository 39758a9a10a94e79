#include "octavo/Dialect/VHLO/BuiltinEntries.h"

#include "octavo/Dialect/VHLO/EntryFields.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::Type;

/// Reads the kinds of entries that need checks, and leaves the others to MLIR. The codes are those
/// of MLIR's BuiltinDialectBytecode.td and QuantDialectBytecode.td.
class BuiltinReader : EntryFields {
public:
  using EntryFields::EntryFields;

  mlir::LogicalResult type(llvm::StringRef dialect, Type& entry) {
    std::uint64_t code = 0;
    if (failed(reader.readVarInt(code)))
      return mlir::failure();
    if (dialect == "quant")
      return given(entry = quantTypeOf(code));
    if (dialect != "builtin" || !llvm::is_contained(kTypes, code))
      return mlir::success();
    return given(entry = typeOf(code));
  }
  mlir::LogicalResult attribute(llvm::StringRef dialect, Attribute& entry) {
    std::uint64_t code = 0;
    if (failed(reader.readVarInt(code)))
      return mlir::failure();
    if (dialect != "builtin" || !llvm::is_contained(kAttributes, code))
      return mlir::success();
    return given(entry = attributeOf(code));
  }

private:
  enum TypeCode : std::uint64_t {
    kIntegerType = 0,
    kComplexType = 9,
    kMemRef = 10,
    kMemRefInSpace = 11,
    kRankedTensor = 13,
    kEncodedTensor = 14,
    kUnrankedMemRef = 16,
    kUnrankedMemRefInSpace = 17,
    kUnrankedTensor = 18,
    kVector = 19,
    kScalableVector = 20,
  };
  static constexpr std::uint64_t kTypes[] = {
      kIntegerType,    kComplexType,   kMemRef,         kMemRefInSpace,
      kRankedTensor,   kEncodedTensor, kUnrankedMemRef, kUnrankedMemRefInSpace,
      kUnrankedTensor, kVector,        kScalableVector,
  };
  enum AttributeCode : std::uint64_t {
    kDictionary = 1,
    kInteger = 8,
    kFloat = 9,
    kDenseArray = 17,
    kDense = 18,
    kDenseStrings = 19,
    kSparse = 20,
  };
  static constexpr std::uint64_t kAttributes[] = {
      kDictionary, kInteger, kFloat, kDenseArray, kDense, kDenseStrings, kSparse,
  };
  enum QuantCode : std::uint64_t { kUniformQuantized = 4, kUniformQuantizedPerAxis = 5 };

  static mlir::LogicalResult given(auto entry) { return mlir::success(static_cast<bool>(entry)); }

  Type typeOf(std::uint64_t code) {
    switch (code) {
    case kIntegerType:
      return integerType();
    case kComplexType:
      return complex();
    case kMemRef:
    case kMemRefInSpace:
      return memRef(code == kMemRefInSpace);
    case kRankedTensor:
    case kEncodedTensor:
      return tensor(code == kEncodedTensor);
    case kUnrankedMemRef:
    case kUnrankedMemRefInSpace:
      return unrankedMemRef(code == kUnrankedMemRefInSpace);
    case kUnrankedTensor:
      return unrankedTensor();
    default:
      return vector(code == kScalableVector);
    }
  }

  Type quantTypeOf(std::uint64_t code) {
    switch (code) {
    case kUniformQuantized:
      return quantized();
    case kUniformQuantizedPerAxis:
      return quantizedPerAxis();
    default:
      return error("octavo does not know the type " + llvm::Twine(code) + " of the dialect quant");
    }
  }

  Attribute attributeOf(std::uint64_t code) {
    switch (code) {
    case kDictionary:
      return dictionary();
    case kInteger:
      return integer();
    case kFloat:
      return floating();
    case kDenseArray:
      return denseArray();
    case kDense:
      return dense();
    case kDenseStrings:
      return denseStrings();
    default:
      return sparse();
    }
  }

  Type integerType() {
    std::uint64_t head = 0;
    if (failed(reader.readVarInt(head)))
      return nullptr;
    const std::uint64_t width = head >> 2, signedness = head & 3;
    if (width > mlir::IntegerType::kMaxWidth || signedness > mlir::IntegerType::Unsigned)
      return error("an integer type of " + llvm::Twine(width) + " bits and signedness " +
                   llvm::Twine(signedness));
    return mlir::IntegerType::get(context, static_cast<unsigned>(width),
                                  static_cast<mlir::IntegerType::SignednessSemantics>(signedness));
  }

  Type memRef(bool hasSpace) {
    Attribute space;
    llvm::SmallVector<std::int64_t> shape;
    Type element;
    mlir::MemRefLayoutAttrInterface layout;
    if ((hasSpace && failed(reader.readAttribute(space))) || failed(numbers(shape)) ||
        failed(reader.readType(element)) || failed(reader.readAttribute(layout)))
      return nullptr;
    return mlir::MemRefType::getChecked(emitter(), shape, element, layout, space);
  }

  Type unrankedMemRef(bool hasSpace) {
    Attribute space;
    Type element;
    if ((hasSpace && failed(reader.readAttribute(space))) || failed(reader.readType(element)))
      return nullptr;
    return mlir::UnrankedMemRefType::getChecked(emitter(), element, space);
  }

  Type vector(bool isScalable) {
    llvm::SmallVector<bool> scalable;
    llvm::SmallVector<std::int64_t> shape;
    Type element;
    if ((isScalable &&
         failed(list(scalable, [this](bool& flag) { return reader.readBool(flag); }))) ||
        failed(numbers(shape)) || failed(reader.readType(element)))
      return nullptr;
    if (!llvm::isa<mlir::VectorElementTypeInterface>(element))
      return error("a vector of elements that are no numbers");
    return mlir::VectorType::getChecked(emitter(), shape, element, scalable);
  }

  Attribute denseArray() {
    Type element;
    std::uint64_t size = 0;
    llvm::ArrayRef<char> blob;
    if (failed(reader.readType(element)) || failed(reader.readVarInt(size)) ||
        failed(reader.readBlob(blob)))
      return nullptr;
    return mlir::DenseArrayAttr::getChecked(emitter(), context, element,
                                            static_cast<std::int64_t>(size), blob);
  }

  Attribute denseStrings() {
    mlir::ShapedType type;
    std::uint64_t isSplat = 0;
    if (failed(reader.readType(type)) || failed(reader.readVarInt(isSplat)))
      return nullptr;
    const std::optional<std::uint64_t> count = elementCount(type);
    if (!count)
      return nullptr;
    llvm::SmallVector<llvm::StringRef> strings;
    for (std::uint64_t i = 0; i < (isSplat ? 1 : *count); ++i)
      if (failed(reader.readString(strings.emplace_back())))
        return nullptr;
    return mlir::DenseStringElementsAttr::get(type, strings);
  }

  Attribute sparse() {
    mlir::ShapedType type;
    mlir::DenseIntElementsAttr indices;
    mlir::DenseElementsAttr values;
    if (failed(reader.readType(type)) || failed(reader.readAttribute(indices)) ||
        failed(reader.readAttribute(values)))
      return nullptr;
    return mlir::SparseElementsAttr::getChecked(emitter(), type, indices, values);
  }
};

} // namespace

void addEntryReaders(mlir::BytecodeReaderConfig& config) {
  config.attachTypeCallback(
      [](mlir::DialectBytecodeReader& reader, llvm::StringRef dialect, Type& entry) {
        return BuiltinReader(reader.getContext(), reader).type(dialect, entry);
      });
  config.attachAttributeCallback(
      [](mlir::DialectBytecodeReader& reader, llvm::StringRef dialect, Attribute& entry) {
        return BuiltinReader(reader.getContext(), reader).attribute(dialect, entry);
      });
}

} // namespace octavo::vhlo
