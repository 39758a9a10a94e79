#include "octavo/Dialect/VHLO/EntryWriter.h"

#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/VHLO/Codes.h"
#include "octavo/Dialect/VHLO/VHLO.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/bit.h"

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::DialectBytecodeWriter;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
using mlir::Type;

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

/// Writes the bits of a number zero-extended, which readers of all versions accept.
void writeBits(DialectBytecodeWriter& writer, const llvm::APInt& value) {
  if (value.getBitWidth() <= 8)
    writer.writeAPIntWithKnownWidth(value.zext(8));
  else
    writer.writeSignedVarInt(static_cast<std::int64_t>(value.getZExtValue()));
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
  if (elements.getNumElements() == 0)
    raw = {}; // an empty tensor can be a splat with bytes, which jaxlib does not take as default
  writer.writeVarInt(kTensor);
  writer.writeType(PortableType::get(elements.getShapedType()));
  writer.writeOwnedBlob(raw);
  return true;
}

} // namespace

LogicalResult writeType(Type type, DialectBytecodeWriter& writer) {
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
      writer.writeAttribute(PortableAttribute::of(tensor.getEncoding()));
    writer.writeSignedVarInts(tensor.getShape());
    writer.writeType(PortableType::get(tensor.getElementType()));
    return success();
  }
  if (auto tuple = llvm::dyn_cast<mlir::TupleType>(type)) {
    writer.writeVarInt(kTuple);
    writeTypes(writer, llvm::to_vector(tuple.getTypes()));
    return success();
  }
  if (auto future = llvm::dyn_cast<stablehlo::FutureType>(type)) {
    writer.writeVarInt(kFuture);
    writeTypes(writer, future.getTypes());
    return success();
  }
  if (auto buffer = llvm::dyn_cast<mlir::MemRefType>(type)) {
    writer.writeVarInt(kBuffer);
    writer.writeSignedVarInts(buffer.getShape());
    writer.writeType(PortableType::get(buffer.getElementType()));
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

LogicalResult writeAttribute(Attribute attribute, DialectBytecodeWriter& writer) {
  if (auto array = llvm::dyn_cast<mlir::ArrayAttr>(attribute)) {
    writer.writeVarInt(kArray);
    writer.writeList(array.getValue(), [&](Attribute element) {
      writer.writeAttribute(PortableAttribute::of(element));
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
      writer.writeAttribute(PortableAttribute::of(named.getName()));
      writer.writeAttribute(PortableAttribute::of(named.getValue()));
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
  if (auto accuracy = llvm::dyn_cast<stablehlo::ResultAccuracyAttr>(attribute)) {
    writer.writeVarInt(kResultAccuracy);
    writeF64(writer, accuracy.getAtol().convertToDouble());
    writeF64(writer, accuracy.getRtol().convertToDouble());
    writer.writeSignedVarInt(accuracy.getUlps());
    writer.writeAttribute(PortableAttribute::of(accuracy.getMode()));
    return success();
  }
  if (auto part = llvm::dyn_cast<stablehlo::SubAxisInfoAttr>(attribute)) {
    writer.writeVarInt(kSubAxisInfo);
    writer.writeSignedVarInt(part.getPreSize());
    writer.writeSignedVarInt(part.getSize());
    return success();
  }
  if (auto axis = llvm::dyn_cast<stablehlo::AxisRefAttr>(attribute)) {
    writer.writeVarInt(kAxisRef);
    writer.writeAttribute(PortableAttribute::of(axis.getName()));
    writer.writeVarInt(axis.getSubAxisInfo() ? 1 : 0);
    if (axis.getSubAxisInfo())
      writer.writeAttribute(PortableAttribute::of(axis.getSubAxisInfo()));
    return success();
  }
  if (auto groups = llvm::dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attribute)) {
    writer.writeVarInt(kReplicaGroupMeshAxes);
    writer.writeAttribute(PortableAttribute::of(groups.getMesh()));
    writer.writeAttribute(PortableAttribute::of(groups.getAxes()));
    return success();
  }
  if (auto axis = llvm::dyn_cast<stablehlo::MeshAxisAttr>(attribute)) {
    writer.writeVarInt(kMeshAxis);
    writer.writeAttribute(PortableAttribute::of(axis.getName()));
    writer.writeSignedVarInt(axis.getSize());
    return success();
  }
  if (auto mesh = llvm::dyn_cast<stablehlo::MeshAttr>(attribute)) {
    writer.writeVarInt(kMesh);
    writer.writeAttribute(PortableAttribute::of(mesh.getAxes()));
    writer.writeOptionalAttribute(mesh.getDeviceIds() ? PortableAttribute::of(mesh.getDeviceIds())
                                                      : Attribute());
    return success();
  }
  if (auto bounds = llvm::dyn_cast<stablehlo::BoundsAttr>(attribute)) {
    writer.writeVarInt(kBounds);
    writer.writeSignedVarInts(bounds.getBounds());
    return success();
  }
  if (auto elements = llvm::dyn_cast<mlir::ElementsAttr>(attribute))
    return success(writeDense(elements, writer));
  for (const Enumeration& row : enumerations())
    if (const std::optional<std::uint32_t> number = row.number(attribute)) {
      writer.writeVarInt(row.code);
      writer.writeVarInt(*number);
      return success();
    }
  return failure();
}

} // namespace octavo::vhlo
