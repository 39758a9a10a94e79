#include "octavo/Dialect/VHLO/Availability.h"

#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/VHLO/Codes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace octavo::vhlo {

namespace {

using mlir::Attribute;
using mlir::Type;

Version latest(Version a, Version b) { return a < b ? b : a; }

/// The first version, not before `since`, that has all of the types; nullopt if none has.
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
    if (tensor.getEncoding() && !llvm::isa<stablehlo::BoundsAttr>(tensor.getEncoding()))
      return std::nullopt;
    return since(tensor.getElementType());
  }
  if (auto buffer = llvm::dyn_cast<mlir::MemRefType>(type)) // artifacts have no memory space
    return buffer.getLayout().isIdentity() && !buffer.getMemorySpace()
               ? sinceAll(buffer.getElementType(), Version{1, 13})
               : std::nullopt;
  if (auto tensor = llvm::dyn_cast<mlir::UnrankedTensorType>(type))
    return since(tensor.getElementType());
  if (auto tuple = llvm::dyn_cast<mlir::TupleType>(type))
    return sinceAll(llvm::to_vector(tuple.getTypes()), kOldest);
  if (auto future = llvm::dyn_cast<stablehlo::FutureType>(type))
    return sinceAll(future.getTypes(), Version{1, 15});
  if (auto quantized = llvm::dyn_cast<mlir::quant::UniformQuantizedType>(type))
    return sinceAll({quantized.getStorageType(), quantized.getExpressedType()}, kOldest);
  if (auto quantized = llvm::dyn_cast<mlir::quant::UniformQuantizedPerAxisType>(type))
    return sinceAll({quantized.getStorageType(), quantized.getExpressedType()}, Version{0, 18});
  return std::nullopt;
}

std::optional<Version> since(Attribute attribute) {
  if (isForeign(attribute))
    return kMixed;
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
    const bool isNarrow = llvm::isa<mlir::IntegerType>(type) && type.getIntOrFloatBitWidth() < 4;
    return isNarrow ? std::nullopt : since(type);
  }
  if (llvm::isa<mlir::DenseIntOrFPElementsAttr, mlir::DenseResourceElementsAttr>(attribute))
    return since(llvm::cast<mlir::ElementsAttr>(attribute).getShapedType());
  if (llvm::isa<stablehlo::ResultAccuracyAttr>(attribute))
    return Version{1, 9};
  if (auto groups = llvm::dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attribute))
    return llvm::isa<mlir::FlatSymbolRefAttr, stablehlo::MeshAttr>(groups.getMesh())
               ? std::optional(Version{1, 16})
               : std::nullopt;
  for (const Enumeration& row : enumerations())
    if (row.number(attribute))
      return row.since;
  return std::nullopt;
}

bool isForeign(mlir::Operation* op) { return op->getName().getDialectNamespace() == "sdy"; }

bool isForeign(Attribute attribute) { return attribute.getDialect().getNamespace() == "sdy"; }

} // namespace octavo::vhlo
