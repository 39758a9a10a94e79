// Reads and prints the text that computations of sdy share: `(%x) in_shardings=[...] (%arg: type) {
// ... } : (...) -> ...`.
#pragma once

#include "octavo/Dialect/Sdy/Sdy.h"

namespace octavo::sdy {

/// Reads a computation in two steps: its operands, then its body and type. The caller reads the
/// text between the two.
class ComputationParser {
public:
  ComputationParser(mlir::OpAsmParser& parser, mlir::OperationState& state)
      : parser(parser), state(state) {}

  /// Reads `(%x, ...)`.
  mlir::ParseResult parseOperands();
  /// Reads `(%arg: type) { ... } {attributes} : (...) -> ...` and resolves the operands.
  mlir::ParseResult parseBody();

private:
  mlir::OpAsmParser& parser;
  mlir::OperationState& state;
  llvm::SMLoc at;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
};

/// Prints `(%arg: type) { ... } {attributes} : (...) -> ...`, without the attributes that
/// `attributes` names.
void printBody(mlir::OpAsmPrinter& printer, mlir::Operation* op,
               llvm::ArrayRef<llvm::StringRef> attributes);

/// Reads the text after `in_shardings`: `=[<@mesh, [{"a"}, {}]>, ...]`.
mlir::ParseResult parseShardings(mlir::OpAsmParser& parser, TensorShardingPerValueAttr& shardings);
/// Prints ` NAME=[...]`, for example ` in_shardings=[...]`.
void printShardings(mlir::OpAsmPrinter& printer, llvm::StringRef name,
                    TensorShardingPerValueAttr shardings);

} // namespace octavo::sdy
