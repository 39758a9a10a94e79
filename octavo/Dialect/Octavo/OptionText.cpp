#include "octavo/Dialect/Octavo/OptionText.h"

namespace octavo::ir {

mlir::ParseResult parseHyphenated(mlir::AsmParser& parser, llvm::SmallString<32>& word) {
  llvm::StringRef part;
  if (parser.parseKeyword(&part))
    return mlir::failure();
  word = part;
  while (succeeded(parser.parseOptionalMinus())) {
    if (parser.parseKeyword(&part))
      return mlir::failure();
    word += '-';
    word += part;
  }
  return mlir::success();
}

} // namespace octavo::ir
