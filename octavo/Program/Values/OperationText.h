// What errors, profiles and explanations say of an operation, for whoever has no MLIR.
#pragma once

#include <memory>
#include <string>

namespace octavo::program {

struct OperationText {
  std::string name;     ///< `stablehlo.add`
  std::string location; ///< FILE:LINE:COLUMN, or what else stands for it
  std::string source;   ///< what the program's source calls it; empty where it calls it nothing
  std::string function; ///< that it stands in
  std::string input;    ///< of octavo.quantize, what it is given (ir::quantizedInput)
};

/// One for each operation: equal where the operations are the same.
using OperationTextPtr = std::shared_ptr<const OperationText>;

} // namespace octavo::program
