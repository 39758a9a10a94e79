// Applies a region on scalars to each element of tensors. Used by map, reductions and windows.
#pragma once

#include "octavo/Interpreter/Evaluation.h"

#include "mlir/IR/Region.h"

#include <memory>
#include <vector>

namespace octavo::interpreter {

/// If all operations of the region are elementwise, it is evaluated once, on whole tensors. Any
/// other region is evaluated once for each element, in row-major order.
class MappedRegion {
public:
  /// Prepares `region`, whose arguments and results are scalars, for tensors of `shape`.
  static llvm::Expected<MappedRegion> prepare(mlir::Region& region, std::vector<std::int64_t> shape,
                                              Evaluation& evaluation);

  /// The results for `arguments`, which are tensors of that shape and of the parameters' element
  /// types.
  llvm::Expected<Results> apply(std::vector<Value> arguments, Evaluation& evaluation) const;

  /// The element types of the region's arguments and results.
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

  /// Plans the steps; returns false if an operation is not elementwise.
  llvm::Expected<bool> prepareSteps(Evaluation& evaluation);
  llvm::Expected<Results> applyAtEachPlace(const std::vector<Value>& arguments,
                                           Evaluation& evaluation) const;

  mlir::Region* region;
  std::vector<std::int64_t> shape;
  std::vector<ElementType> arguments, results;
  bool worksOnTensors = false;
  std::vector<Step> steps;
  /// Arguments first, then results. Constants are already broadcast to the shape.
  std::vector<Value> slots;
  /// Slots of the results.
  std::vector<unsigned> returned;
};

/// Whether an operation computes each element only from the operands' elements at the same index.
bool isElementwise(mlir::Operation& op);

/// Element `i` of a tensor as a scalar, converted to `type`.
Value elementOf(const Tensor& tensor, std::int64_t i, const ElementType& type);

} // namespace octavo::interpreter
