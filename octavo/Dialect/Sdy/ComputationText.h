// The text that computations of sdy share: `(%x) in_shardings=[...] (%arg: type) { ... } : (...) ->
// ...`.
#pragma once

#include "octavo/Dialect/Sdy/Sdy.h"

namespace octavo::sdy {

/// Reads the operands of a computation and, after what is between them, its body and type.
class ComputationParser {
public:
  ComputationParser(mlir::OpAsmParser& parser, mlir::OperationState& state)
      : parser(parser), state(state) {}

  mlir::ParseResult parseOperands();
  mlir::ParseResult parseBody();

private:
  mlir::OpAsmParser& parser;
  mlir::OperationState& state;
  llvm::SMLoc at;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
};

/// `(%arg: type) { ... } {attributes} : (...) -> ...`; the attributes that are named are left out.
void printBody(mlir::OpAsmPrinter& printer, mlir::Operation* op,
               llvm::ArrayRef<llvm::StringRef> attributes);

/// What follows `in_shardings`: `=[<@mesh, [{"a"}, {}]>, ...]`.
mlir::ParseResult parseShardings(mlir::OpAsmParser& parser, TensorShardingPerValueAttr& shardings);
/// ` in_shardings=[...]`
void printShardings(mlir::OpAsmPrinter& printer, llvm::StringRef name,
                    TensorShardingPerValueAttr shardings);

} // namespace octavo::sdy
