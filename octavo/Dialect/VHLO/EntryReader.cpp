#include "octavo/Dialect/VHLO/EntryReader.h"

#include "octavo/Dialect/StableHLO/Collectives.h"
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

constexpr std::uint64_t kWitness = 26;

/// Reads an entry of the dialect vhlo.
class EntryReader : EntryFields {
public:
  using EntryFields::EntryFields;

  Type type();
  Attribute attribute();

private:
  Type buffer();
  Attribute subAxis();
  Attribute axisRef();
  Attribute groupsOfMesh();
  Attribute meshAxis();
  Attribute mesh();
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
  case kBuffer:
    return buffer();
  default:
    return error("octavo does not know VHLO's type " + llvm::Twine(code) +
                 (code == kWitness ? " (witness)" : ""));
  }
}

Type EntryReader::buffer() {
  llvm::SmallVector<std::int64_t> shape;
  Type element;
  if (failed(numbers(shape)) || failed(reader.readType(element)))
    return nullptr;
  return mlir::MemRefType::getChecked(emitter(), shape, element, mlir::MemRefLayoutAttrInterface(),
                                      Attribute());
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
  case kSubAxisInfo:
    return subAxis();
  case kAxisRef:
    return axisRef();
  case kReplicaGroupMeshAxes:
    return groupsOfMesh();
  case kMeshAxis:
    return meshAxis();
  case kMesh:
    return mesh();
  default:
    return error("octavo does not know VHLO's attribute " + llvm::Twine(code));
  }
}

Attribute EntryReader::subAxis() {
  std::int64_t before = 0, size = 0;
  if (failed(reader.readSignedVarInt(before)) || failed(reader.readSignedVarInt(size)))
    return nullptr;
  return stablehlo::SubAxisInfoAttr::get(context, before, size);
}

Attribute EntryReader::axisRef() {
  mlir::StringAttr name;
  std::uint64_t hasPart = 0;
  stablehlo::SubAxisInfoAttr part;
  if (failed(reader.readAttribute(name)) || failed(reader.readVarInt(hasPart)) ||
      (hasPart != 0 && failed(reader.readAttribute(part))))
    return nullptr;
  return stablehlo::AxisRefAttr::get(context, name, part);
}

/// The mesh is the name of a symbol, or the mesh itself.
Attribute EntryReader::groupsOfMesh() {
  Attribute mesh;
  mlir::ArrayAttr axes;
  if (failed(reader.readAttribute(mesh)) || failed(reader.readAttribute(axes)))
    return nullptr;
  if (const auto name = llvm::dyn_cast<mlir::StringAttr>(mesh); name && !name.empty())
    mesh = mlir::FlatSymbolRefAttr::get(name);
  if (!llvm::isa<mlir::FlatSymbolRefAttr, stablehlo::MeshAttr>(mesh) ||
      !llvm::all_of(axes, llvm::IsaPred<stablehlo::AxisRefAttr>))
    return error("replica groups of a mesh need the mesh and its axes");
  return stablehlo::ReplicaGroupMeshAxesAttr::get(context, mesh, axes);
}

Attribute EntryReader::meshAxis() {
  mlir::StringAttr name;
  std::int64_t size = 0;
  if (failed(reader.readAttribute(name)) || failed(reader.readSignedVarInt(size)))
    return nullptr;
  return stablehlo::MeshAxisAttr::get(context, name, size);
}

Attribute EntryReader::mesh() {
  mlir::ArrayAttr axes;
  mlir::DenseIntElementsAttr devices;
  if (failed(reader.readAttribute(axes)) || failed(reader.readOptionalAttribute(devices)))
    return nullptr;
  if (!llvm::all_of(axes, llvm::IsaPred<stablehlo::MeshAxisAttr>))
    return error("a mesh needs axes with sizes");
  return stablehlo::MeshAttr::get(context, axes, devices);
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
