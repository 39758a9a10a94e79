#include "octavo/Dialect/Sdy/Sdy.h"

#include "octavo/Dialect/Inlining.h"
#include "octavo/Dialect/MissingNames.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include "octavo/Dialect/Sdy/SdyDialect.cpp.inc"
#include "octavo/Dialect/Sdy/SdyEnums.cpp.inc"

namespace octavo::sdy {

/// Reads and prints an attribute without its name, `<...>`: the operation determines the kind.
template <typename Attr>
static mlir::ParseResult parsePlain(mlir::OpAsmParser& parser, Attr& attribute) {
  attribute = llvm::dyn_cast_or_null<Attr>(Attr::parse(parser, mlir::Type()));
  return mlir::success(static_cast<bool>(attribute));
}

template <typename Attr>
static void printPlain(mlir::OpAsmPrinter& printer, mlir::Operation*, Attr attribute) {
  attribute.print(printer);
}

} // namespace octavo::sdy

using octavo::sdy::parsePlain;
using octavo::sdy::printPlain;

#define GET_OP_CLASSES
#include "octavo/Dialect/Sdy/Sdy.cpp.inc"

namespace octavo::sdy {

void SdyDialect::initialize() {
  addInterfaces<InlineEverything>();
  allowUnknownOperations(); // so that verifyHasOperations can name them
  registerAttributes();
  registerBytecode();
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/Sdy/Sdy.cpp.inc"
      >();
}

std::optional<mlir::Dialect::ParseOpHook> SdyDialect::getParseOperationHook(llvm::StringRef) const {
  return ParseOpHook(refuseCustomForm);
}

} // namespace octavo::sdy
