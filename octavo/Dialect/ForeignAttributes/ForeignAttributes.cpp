#include "octavo/Dialect/ForeignAttributes/ForeignAttributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

namespace octavo {

namespace {

/// A dialect without operations or types, whose attributes are their own text.
class OpaqueDialect : public mlir::Dialect {
public:
  using mlir::Dialect::Dialect;

  mlir::Attribute parseAttribute(mlir::DialectAsmParser& parser, mlir::Type) const override {
    const llvm::SMLoc at = parser.getNameLoc();
    return mlir::OpaqueAttr::getChecked(
        [&] { return parser.emitError(at); }, mlir::StringAttr::get(getContext(), getNamespace()),
        parser.getFullSymbolSpec(), mlir::NoneType::get(getContext()));
  }
};

class ShardyDialect : public OpaqueDialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShardyDialect)
  static constexpr llvm::StringLiteral getDialectNamespace() { return llvm::StringLiteral("sdy"); }
  explicit ShardyDialect(mlir::MLIRContext* context)
      : OpaqueDialect(getDialectNamespace(), context, mlir::TypeID::get<ShardyDialect>()) {}
};

class MhloDialect : public OpaqueDialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MhloDialect)
  static constexpr llvm::StringLiteral getDialectNamespace() { return llvm::StringLiteral("mhlo"); }
  explicit MhloDialect(mlir::MLIRContext* context)
      : OpaqueDialect(getDialectNamespace(), context, mlir::TypeID::get<MhloDialect>()) {}
};

} // namespace

void registerForeignAttributes(mlir::DialectRegistry& registry) {
  registry.insert<MhloDialect, ShardyDialect>();
}

} // namespace octavo
