#include "octavo/Dialect/Interpreter/Interpreter.h"

#include "octavo/Dialect/Inlining.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "octavo/Dialect/Interpreter/InterpreterDialect.cpp.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/Interpreter/Interpreter.cpp.inc"

namespace octavo::interpreter {

void InterpreterDialect::initialize() {
  addInterfaces<InlineEverything>();
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/Interpreter/Interpreter.cpp.inc"
      >();
}

mlir::LogicalResult RunParallelOp::verifySymbolUses(mlir::SymbolTableCollection& symbols) {
  const auto functionOf = [&](mlir::Attribute name) {
    return symbols.lookupNearestSymbolFrom<mlir::func::FuncOp>(
        *this, llvm::cast<mlir::FlatSymbolRefAttr>(name));
  };
  const auto rows = getPrograms().getAsRange<mlir::ArrayAttr>();
  if (getPrograms().empty() || (*rows.begin()).empty())
    return emitOpError("needs at least one program");
  const std::size_t partitions = (*rows.begin()).size();
  std::size_t arguments = 0, results = 0;
  for (mlir::ArrayAttr row : rows) {
    if (row.size() != partitions)
      return emitOpError("needs rows of programs that are equally long, found ")
             << partitions << " and " << row.size();
    for (mlir::Attribute name : row) {
      mlir::func::FuncOp program = functionOf(name);
      if (!program)
        return emitOpError("has a program ") << name << ", which is no function";
      arguments += program.getNumArguments();
      results += program.getNumResults();
    }
  }
  if (getNumOperands() != arguments)
    return emitOpError("needs an operand for each of the ")
           << arguments << " arguments of its programs, found " << getNumOperands();
  if (getNumResults() != results)
    return emitOpError("needs a result for each of the ")
           << results << " results of its programs, found " << getNumResults();
  if (const auto infeed = getInfeed()) {
    if (infeed->empty())
      return emitOpError("needs at least one function in infeed where it has one");
    for (mlir::Attribute name : *infeed) {
      mlir::func::FuncOp function = functionOf(name);
      if (!function)
        return emitOpError("has an infeed ") << name << ", which is no function";
      if (function.getNumArguments() != 0 || function.getNumResults() != 1 ||
          !llvm::isa<mlir::ShapedType>(function.getResultTypes()[0]))
        return emitOpError(
                   "needs functions in infeed that take nothing and give one tensor, found ")
               << name << " of type " << function.getFunctionType();
    }
  }
  return mlir::success();
}

} // namespace octavo::interpreter
