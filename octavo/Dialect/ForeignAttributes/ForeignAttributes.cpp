#include "octavo/Dialect/ForeignAttributes/ForeignAttributes.h"

#include "octavo/Dialect/MissingNames.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

namespace octavo {

namespace {

/// A dialect that octavo does not have: it keeps attributes and types as text and refuses
/// operations.
class OpaqueDialect : public mlir::Dialect {
public:
  OpaqueDialect(llvm::StringRef name, mlir::MLIRContext* context, mlir::TypeID id)
      : mlir::Dialect(name, context, id) {
    allowUnknownOperations(); // so that verifyHasOperations can name them
  }

  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef) const override {
    return ParseOpHook(refuseCustomForm);
  }

  mlir::Attribute parseAttribute(mlir::DialectAsmParser& parser, mlir::Type) const override {
    const llvm::SMLoc at = parser.getNameLoc();
    return mlir::OpaqueAttr::getChecked(
        [&] { return parser.emitError(at); }, mlir::StringAttr::get(getContext(), getNamespace()),
        parser.getFullSymbolSpec(), mlir::NoneType::get(getContext()));
  }

  mlir::Type parseType(mlir::DialectAsmParser& parser) const override {
    const llvm::SMLoc at = parser.getNameLoc();
    return mlir::OpaqueType::getChecked([&] { return parser.emitError(at); },
                                        mlir::StringAttr::get(getContext(), getNamespace()),
                                        parser.getFullSymbolSpec());
  }
};

class MhloDialect : public OpaqueDialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MhloDialect)
  static constexpr llvm::StringLiteral getDialectNamespace() { return llvm::StringLiteral("mhlo"); }
  explicit MhloDialect(mlir::MLIRContext* context)
      : OpaqueDialect(getDialectNamespace(), context, mlir::TypeID::get<MhloDialect>()) {}
};

} // namespace

void registerForeignAttributes(mlir::DialectRegistry& registry) { registry.insert<MhloDialect>(); }

} // namespace octavo
