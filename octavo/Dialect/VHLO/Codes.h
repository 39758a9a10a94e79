// The codes of types and attributes in an artifact.
#pragma once

#include "octavo/Dialect/VHLO/Version.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>

namespace octavo::vhlo {

/// Codes of the attributes that are not enumerations.
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
  kSubAxisInfo = 21,
  kAxisRef = 22,
  kReplicaGroupMeshAxes = 23,
  kMeshAxis = 24,
  kMesh = 25,
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
  kBuffer = 41,
  kFuture = 42,
};

/// A type without fields.
struct SimpleType {
  std::uint64_t code;
  Version since;
  mlir::Type (*get)(mlir::MLIRContext*);
};

/// The row of a type; null for a type that has fields or that artifacts cannot have.
const SimpleType* findSimpleType(mlir::Type type);
const SimpleType* findSimpleType(std::uint64_t code);

/// An enumeration. Its values have the same numbers in StableHLO and in artifacts.
struct Enumeration {
  std::uint64_t code;
  llvm::StringLiteral name;
  Version since;
  mlir::Attribute (*get)(mlir::MLIRContext*, std::uint32_t); ///< null for an invalid number
  std::optional<std::uint32_t> (*number)(mlir::Attribute);   ///< nullopt for other attributes
};

/// All enumerations of artifacts.
llvm::ArrayRef<Enumeration> enumerations();

} // namespace octavo::vhlo
