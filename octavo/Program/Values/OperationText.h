// The description of an operation in errors, profiles and explanations, without MLIR.
#pragma once

#include <memory>
#include <string>

namespace octavo::program {

/// The name, location and context of an operation.
struct OperationText {
  std::string name;     ///< `stablehlo.add`
  std::string location; ///< FILE:LINE:COLUMN, or another form of location
  std::string source;   ///< its name in the program's source; empty: none
  std::string function; ///< the function that contains it
  std::string input;    ///< for octavo.quantize, its input (ir::quantizedInput)
};

/// One object per operation: equal pointers mean the same operation.
using OperationTextPtr = std::shared_ptr<const OperationText>;

} // namespace octavo::program
