#include "octavo/Dialect/Sdy/ComputationText.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::sdy {

using mlir::OpAsmParser;
using mlir::ParseResult;

ParseResult ComputationParser::parseOperands() {
  at = parser.getCurrentLocation();
  return parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren);
}

ParseResult ComputationParser::parseBody() {
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  mlir::FunctionType type;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseRegion(*state.addRegion(), arguments) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), at, state.operands))
    return mlir::failure();
  state.addTypes(type.getResults());
  return mlir::success();
}

void printBody(mlir::OpAsmPrinter& printer, mlir::Operation* op,
               llvm::ArrayRef<llvm::StringRef> attributes) {
  mlir::Region& body = op->getRegion(0);
  printer << " (";
  llvm::interleaveComma(body.getArguments(), printer, [&](mlir::BlockArgument argument) {
    printer.printRegionArgument(argument);
  });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict(op->getAttrs(), attributes);
  printer << " : ";
  printer.printFunctionalType(op);
}

ParseResult parseShardings(OpAsmParser& parser, TensorShardingPerValueAttr& shardings) {
  llvm::SmallVector<TensorShardingAttr> list;
  if (parser.parseEqual() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
        list.push_back(llvm::dyn_cast_or_null<TensorShardingAttr>(
            TensorShardingAttr::parse(parser, mlir::Type())));
        return mlir::success(static_cast<bool>(list.back()));
      }))
    return mlir::failure();
  shardings = TensorShardingPerValueAttr::get(parser.getContext(), list);
  return mlir::success();
}

void printShardings(mlir::OpAsmPrinter& printer, llvm::StringRef name,
                    TensorShardingPerValueAttr shardings) {
  printer << " " << name << "=[";
  llvm::interleaveComma(shardings.getShardings(), printer,
                        [&](TensorShardingAttr sharding) { sharding.print(printer); });
  printer << "]";
}

} // namespace octavo::sdy
