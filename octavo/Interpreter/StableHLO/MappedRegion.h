// A region on scalars, applied at each place of tensors: what map does, and each step of reductions
// and windows.
#pragma once

#include "octavo/Interpreter/Evaluation.h"

#include "mlir/IR/Region.h"

#include <memory>
#include <vector>

namespace octavo::interpreter {

/// A region whose operations all work element by element is given the tensors as they are, one
/// evaluation for all places; any other is evaluated for each place, in row-major order.
class MappedRegion {
public:
  /// Prepares a region whose arguments and results are scalars for tensors of `shape`.
  static llvm::Expected<MappedRegion> prepare(mlir::Region& region, std::vector<std::int64_t> shape,
                                              Evaluation& evaluation);

  /// Its results on `arguments`, tensors of the shape and of the arguments' element types.
  llvm::Expected<Results> apply(std::vector<Value> arguments, Evaluation& evaluation) const;

  /// Element types of its arguments and results.
  const std::vector<ElementType>& argumentTypes() const { return arguments; }
  const std::vector<ElementType>& resultTypes() const { return results; }

private:
  struct Step {
    mlir::Operation* op;
    Evaluator evaluator;
    std::vector<unsigned> operands; ///< slots
    unsigned result;
  };

  MappedRegion(mlir::Region& region, std::vector<std::int64_t> shape)
      : region(&region), shape(std::move(shape)) {}

  /// Finds the steps; false where an operation is not elementwise.
  llvm::Expected<bool> prepareSteps(Evaluation& evaluation);
  llvm::Expected<Results> applyAtEachPlace(const std::vector<Value>& arguments,
                                           Evaluation& evaluation) const;

  mlir::Region* region;
  std::vector<std::int64_t> shape;
  std::vector<ElementType> arguments, results;
  bool worksOnTensors = false;
  std::vector<Step> steps;
  /// Arguments first, then what is defined; constants have their value at every place already.
  std::vector<Value> slots;
  std::vector<unsigned> returned;
};

/// Whether an operation computes each element from those at the same place alone.
bool isElementwise(mlir::Operation& op);

/// Element `i` of a tensor as a scalar, converted to `type`.
Value elementOf(const Tensor& tensor, std::int64_t i, const ElementType& type);

} // namespace octavo::interpreter
