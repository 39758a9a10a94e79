// The dialect of portable artifacts. Its operations exist only while an artifact is read or
// written. Its types and attributes exist only in the file: reading gives MLIR's and StableHLO's
// own, and writing wraps these.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Types.h"

#include <cstdint>

namespace octavo::vhlo {

/// The dialect vhlo. Its operations are registered from the table in Operations.h.
class VHLODialect : public mlir::Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VHLODialect)
  static constexpr llvm::StringLiteral getDialectNamespace() { return "vhlo"; }
  explicit VHLODialect(mlir::MLIRContext* context);

  void printType(mlir::Type type, mlir::DialectAsmPrinter& printer) const override;
  void printAttribute(mlir::Attribute attribute, mlir::DialectAsmPrinter& printer) const override;

private:
  void registerOperations();
};

namespace detail {
struct WrappedType;
struct WrappedAttribute;
} // namespace detail

/// Wraps a type that is written in VHLO's encoding.
class PortableType : public mlir::Type::TypeBase<PortableType, mlir::Type, detail::WrappedType> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.type";
  static PortableType get(mlir::Type type);
  mlir::Type wrapped() const;
};

/// Wraps an attribute that is written in VHLO's encoding.
class PortableAttribute : public mlir::Attribute::AttrBase<PortableAttribute, mlir::Attribute,
                                                           detail::WrappedAttribute> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.attribute";
  static PortableAttribute get(mlir::Attribute attribute);
  /// The attribute wrapped, or unchanged if another dialect writes it.
  static mlir::Attribute of(mlir::Attribute attribute);
  mlir::Attribute wrapped() const;
};

/// The API version of a custom call: an enumeration in VHLO, a number in StableHLO.
class ApiVersionAttribute : public mlir::Attribute::AttrBase<ApiVersionAttribute, mlir::Attribute,
                                                             detail::WrappedAttribute> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.api_version";
  static ApiVersionAttribute get(mlir::IntegerAttr number);
  std::uint32_t number() const;
};

} // namespace octavo::vhlo
