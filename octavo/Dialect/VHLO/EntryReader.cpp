#include "octavo/Dialect/VHLO/EntryReader.h"

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/VHLO/Codes.h"
#include "octavo/Dialect/VHLO/EntryFields.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

#include <limits>

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::DialectBytecodeReader;
using mlir::failure;
using mlir::FailureOr;
using mlir::Type;

/// Kinds of VHLO's that octavo has nothing for.
struct UnknownKind {
  std::uint64_t code;
  llvm::StringLiteral name;
};
constexpr UnknownKind kUnknownTypes[] = {{26, "witness"}, {41, "buffer"}};
constexpr UnknownKind kUnknownAttributes[] = {{21, "sub_axis_info"},
                                              {22, "axis_ref"},
                                              {23, "replica_group_mesh_axes"},
                                              {24, "mesh_axis"},
                                              {25, "mesh"}};

/// ` (buffer)` for a code that has a name.
std::string named(llvm::ArrayRef<UnknownKind> kinds, std::uint64_t code) {
  for (const UnknownKind& kind : kinds)
    if (kind.code == code)
      return (" (" + kind.name + ")").str();
  return "";
}

/// Reads one entry that VHLO wrote.
class EntryReader : EntryFields {
public:
  using EntryFields::EntryFields;

  Type type();
  Attribute attribute();

private:
  Attribute boolean();
  Attribute alias();
  Attribute string();
  Attribute bounds();
  Attribute accuracy();
  Attribute enumerator(const Enumeration& row);
};

Type EntryReader::type() {
  std::uint64_t code = 0;
  if (failed(reader.readVarInt(code)))
    return nullptr;
  if (const SimpleType* row = findSimpleType(code))
    return row->get(context);
  switch (code) {
  case kComplexType:
    return complex();
  case kFunctionType:
    return function();
  case kRankedTensor:
    return tensor(false);
  case kRankedTensorWithEncoding:
    return tensor(true);
  case kTuple:
    return tuple();
  case kUniformQuantized:
    return quantized();
  case kUniformQuantizedPerAxis:
    return quantizedPerAxis();
  case kUnrankedTensor:
    return unrankedTensor();
  case kFuture: {
    llvm::SmallVector<Type> results;
    if (failed(types(results)))
      return nullptr;
    return stablehlo::FutureType::get(context, results);
  }
  default:
    return error("octavo does not know VHLO's type " + llvm::Twine(code) +
                 named(kUnknownTypes, code));
  }
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
    return integer();
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

Attribute EntryReader::boolean() {
  std::uint64_t value = 0;
  if (failed(reader.readVarInt(value)))
    return nullptr;
  if (value > 1)
    return error("a boolean is " + llvm::Twine(value));
  return mlir::BoolAttr::get(context, value == 1);
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

} // namespace

Type readType(mlir::MLIRContext* context, DialectBytecodeReader& reader) {
  return EntryReader(context, reader).type();
}

Attribute readAttribute(mlir::MLIRContext* context, DialectBytecodeReader& reader) {
  return EntryReader(context, reader).attribute();
}

} // namespace octavo::vhlo
