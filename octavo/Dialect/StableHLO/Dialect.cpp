#include "octavo/Dialect/Inlining.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"

#include "octavo/Dialect/StableHLO/Dialect.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::initialize() {
  addInterfaces<InlineEverything>();
  registerAttributes();
  registerTypes();
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

namespace {

/// Names of the operations, without the dialect's, sorted.
llvm::SmallVector<llvm::StringRef> operationNames(mlir::MLIRContext* context) {
  llvm::SmallVector<llvm::StringRef> names;
  // MLIR 22's own search of one dialect's operations misses them, depending on what else there is.
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations())
    if (op.getDialectNamespace() == StableHLODialect::getDialectNamespace())
      names.push_back(op.stripDialect());
  llvm::sort(names);
  return names;
}

/// The name that is fewest edits away, if those are few enough for a slip of the pen.
std::optional<llvm::StringRef> nearest(llvm::ArrayRef<llvm::StringRef> names,
                                       llvm::StringRef name) {
  std::optional<llvm::StringRef> best;
  auto limit = static_cast<unsigned>(1 + name.size() / 5);
  for (llvm::StringRef candidate : names) {
    const unsigned distance = candidate.edit_distance(name, true, limit);
    if (distance < limit) {
      limit = distance;
      best = candidate;
    }
  }
  return best;
}

mlir::ParseResult reportMissingOperation(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  const llvm::SmallVector<llvm::StringRef> names = operationNames(parser.getContext());
  mlir::InFlightDiagnostic error = parser.emitError(parser.getNameLoc());
  error << "is not among the StableHLO operations that octavo has; ";
  if (const std::optional<llvm::StringRef> near = nearest(names, state.name.stripDialect()))
    error << "did you mean 'stablehlo." << *near << "'?";
  else
    error << "lower it to operations that octavo has before the program is written out";
  mlir::Diagnostic& note = error.attachNote();
  note << "it has: ";
  llvm::interleaveComma(names, note);
  return error;
}

} // namespace

std::optional<mlir::Dialect::ParseOpHook>
StableHLODialect::getParseOperationHook(llvm::StringRef) const {
  // Called only for names that no operation is registered under.
  return ParseOpHook(reportMissingOperation);
}

} // namespace octavo::stablehlo
