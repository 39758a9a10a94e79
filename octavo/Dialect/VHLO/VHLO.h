// The dialect that portable artifacts are written in. Its operations exist while an artifact is
// read or written, and nowhere else; its types and attributes exist only in the file: what is read
// are MLIR's and StableHLO's own, and what is written is one of those, wrapped.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Types.h"

#include <cstdint>

namespace octavo::vhlo {

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

/// A type that goes into a file as VHLO has it.
class PortableType : public mlir::Type::TypeBase<PortableType, mlir::Type, detail::WrappedType> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.type";
  static PortableType get(mlir::Type type);
  mlir::Type wrapped() const;
};

/// An attribute that goes into a file as VHLO has it.
class PortableAttribute : public mlir::Attribute::AttrBase<PortableAttribute, mlir::Attribute,
                                                           detail::WrappedAttribute> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.attribute";
  static PortableAttribute get(mlir::Attribute attribute);
  /// The attribute wrapped, or as it is where another dialect writes it.
  static mlir::Attribute of(mlir::Attribute attribute);
  mlir::Attribute wrapped() const;
};

/// A custom call's API version, which StableHLO has as a number.
class ApiVersionAttribute : public mlir::Attribute::AttrBase<ApiVersionAttribute, mlir::Attribute,
                                                             detail::WrappedAttribute> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.api_version";
  static ApiVersionAttribute get(mlir::IntegerAttr number);
  std::uint32_t number() const;
};

} // namespace octavo::vhlo
