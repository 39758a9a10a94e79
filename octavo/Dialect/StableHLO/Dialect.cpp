#include "octavo/Dialect/StableHLO/StableHLO.h"

#include "octavo/Dialect/StableHLO/Dialect.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::initialize() {
  registerAttributes();
  registerTypes();
  registerContraction();
  registerControlFlow();
  registerDataMovement();
  registerElementwise();
  registerIndexing();
  registerReduction();
}

mlir::Operation* StableHLODialect::materializeConstant(mlir::OpBuilder& builder,
                                                       mlir::Attribute value, mlir::Type type,
                                                       mlir::Location location) {
  const auto elements = llvm::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements || elements.getType() != type || !isStaticTensor(type))
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

namespace {

/// The operation whose name is fewest edits away, if it is near enough to be a slip of the pen.
std::optional<llvm::StringRef> nearest(mlir::MLIRContext* context, llvm::StringRef name) {
  std::optional<llvm::StringRef> best;
  unsigned bestDistance = 3;
  for (mlir::RegisteredOperationName candidate :
       context->getRegisteredOperationsByDialect(StableHLODialect::getDialectNamespace())) {
    const unsigned distance = candidate.getStringRef().edit_distance(name, true, bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate.getStringRef();
    }
  }
  return best;
}

mlir::ParseResult reportMissingOperation(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  const llvm::StringRef name = state.name.getStringRef();
  mlir::InFlightDiagnostic error = parser.emitError(parser.getNameLoc());
  error << "'" << name << "' is not among the StableHLO operations that octavo has";
  if (const std::optional<llvm::StringRef> near = nearest(parser.getContext(), name))
    error << "; did you mean '" << *near << "'?";
  else
    error << "; lower it to operations that octavo has before the program is written out";
  mlir::Diagnostic& note = error.attachNote();
  note << "it has: ";
  llvm::interleaveComma(parser.getContext()->getRegisteredOperationsByDialect(
                            StableHLODialect::getDialectNamespace()),
                        note, [&](mlir::RegisteredOperationName op) {
                          note << op.getStringRef().drop_front(
                              StableHLODialect::getDialectNamespace().size() + 1);
                        });
  return error;
}

} // namespace

std::optional<mlir::Dialect::ParseOpHook>
StableHLODialect::getParseOperationHook(llvm::StringRef) const {
  // Called only for names that no operation is registered under.
  return ParseOpHook(reportMissingOperation);
}

} // namespace octavo::stablehlo
