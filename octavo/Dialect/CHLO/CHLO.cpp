#include "octavo/Dialect/CHLO/CHLO.h"

#include "octavo/Dialect/Inlining.h"

#include "octavo/Dialect/CHLO/CHLODialect.cpp.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/CHLO/CHLO.cpp.inc"

namespace octavo::chlo {

void CHLODialect::initialize() {
  addInterfaces<InlineEverything>();
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/CHLO/CHLO.cpp.inc"
      >();
}

} // namespace octavo::chlo
