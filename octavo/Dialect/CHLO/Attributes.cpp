#include "octavo/Dialect/CHLO/CHLO.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "octavo/Dialect/CHLO/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "octavo/Dialect/CHLO/Attributes.cpp.inc"

namespace octavo::chlo {

void CHLODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "octavo/Dialect/CHLO/Attributes.cpp.inc"
      >();
}

} // namespace octavo::chlo
