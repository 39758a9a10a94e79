// sdy.named_computation: its text, and constraint (N1) of Sdy.td.
#include "octavo/Dialect/Sdy/ComputationText.h"
#include "octavo/Dialect/Sdy/Sharding.h"

namespace octavo::sdy {

mlir::ParseResult NamedComputationOp::parse(mlir::OpAsmParser& parser,
                                            mlir::OperationState& result) {
  ComputationParser computation(parser, result);
  auto& properties = result.getOrAddProperties<Properties>();
  if (parser.parseLess() || parser.parseAttribute(properties.name) || parser.parseGreater() ||
      computation.parseOperands())
    return mlir::failure();
  if (succeeded(parser.parseOptionalKeyword("in_shardings")) &&
      parseShardings(parser, properties.in_shardings))
    return mlir::failure();
  if (succeeded(parser.parseOptionalKeyword("out_shardings")) &&
      parseShardings(parser, properties.out_shardings))
    return mlir::failure();
  return computation.parseBody();
}

void NamedComputationOp::print(mlir::OpAsmPrinter& printer) {
  printer << "<" << getNameAttr() << ">(" << getOperands() << ")";
  if (getInShardings())
    printShardings(printer, "in_shardings", *getInShardings());
  if (getOutShardings())
    printShardings(printer, "out_shardings", *getOutShardings());
  printBody(printer, *this, {"name", "in_shardings", "out_shardings"});
}

llvm::LogicalResult NamedComputationOp::verifySymbolUses(mlir::SymbolTableCollection&) {
  if (getBody().getArgumentTypes() != getOperandTypes())
    return emitOpError() << "(N1) needs a body that takes the operands, " << getOperandTypes()
                         << "; found " << getBody().getArgumentTypes();
  auto end = llvm::dyn_cast_if_present<ReturnOp>(
      getBody().front().empty() ? nullptr : &getBody().front().back());
  if (!end)
    return emitOpError() << "(N1) needs a body that ends with sdy.return";
  if (end.getOperandTypes() != getResultTypes())
    return emitOpError() << "(N1) needs a body that returns the results, " << getResultTypes()
                         << "; found " << end.getOperandTypes();
  if (getInShardings() && failed(verifyShardings(*this, "operand", getInShardings()->getShardings(),
                                                 getOperandTypes())))
    return mlir::failure();
  return getOutShardings()
             ? verifyShardings(*this, "result", getOutShardings()->getShardings(), getResultTypes())
             : mlir::success();
}

} // namespace octavo::sdy
