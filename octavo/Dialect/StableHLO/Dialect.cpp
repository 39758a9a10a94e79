#include "octavo/Dialect/Inlining.h"
#include "octavo/Dialect/MissingNames.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"

#include "octavo/Dialect/StableHLO/Dialect.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::initialize() {
  addInterfaces<InlineEverything>();
  allowUnknownOperations(); // so that verifyHasOperations can name them
  registerAttributes();
  registerTypes();
  registerChannels();
  registerCollectives();
  registerComplex();
  registerContraction();
  registerControlFlow();
  registerDataMovement();
  registerDynamic();
  registerElementwise();
  registerIndexing();
  registerLinearAlgebra();
  registerQuantized();
  registerRandom();
  registerReduction();
  registerSort();
  registerWindows();
}

mlir::Operation* StableHLODialect::materializeConstant(mlir::OpBuilder& builder,
                                                       mlir::Attribute value, mlir::Type type,
                                                       mlir::Location location) {
  const auto elements = llvm::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements || elements.getType() != type || !isStaticTensor(type))
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

std::optional<mlir::Dialect::ParseOpHook>
StableHLODialect::getParseOperationHook(llvm::StringRef) const {
  return ParseOpHook(refuseCustomForm);
}

} // namespace octavo::stablehlo
