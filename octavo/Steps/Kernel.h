// Steps on memory alone: kernels that were compiled, and updates in place.
#pragma once

#include "octavo/Steps/Step.h"

namespace octavo::steps {

/// A compiled loop: rows begin to end; memory[i] is its argument i.
using KernelFunction = void (*)(std::byte* const* memory, std::int64_t begin, std::int64_t end);

class KernelStep : public Step {
public:
  /// `grain` rows are worth handing to a thread.
  KernelStep(std::string name, const KernelFunction& function, std::vector<Slot> arguments,
             std::int64_t rows, std::int64_t grain)
      : Step(std::move(name)), function(function), arguments(std::move(arguments)), rows(rows),
        grain(grain) {}
  llvm::Error run(Frame& frame) const override;

private:
  const KernelFunction& function; ///< known when all kernels are compiled
  std::vector<Slot> arguments;
  std::int64_t rows, grain;
};

/// stablehlo.dynamic_update_slice: a box of `update` at starts that the program computes, clamped.
class UpdateStep : public Step {
public:
  struct Start {
    Slot slot;
    int bytes;
    bool isUnsigned;
  };
  /// `operand` may be `result`: it is then written in place.
  UpdateStep(std::string name, Slot operand, Slot update, Slot result, std::vector<Start> starts,
             std::vector<std::int64_t> shape, std::vector<std::int64_t> updateShape,
             std::int64_t elementBytes)
      : Step(std::move(name)), operand(operand), update(update), result(result),
        starts(std::move(starts)), shape(std::move(shape)), updateShape(std::move(updateShape)),
        elementBytes(elementBytes) {}
  llvm::Error run(Frame& frame) const override;

private:
  Slot operand, update, result;
  std::vector<Start> starts;
  std::vector<std::int64_t> shape, updateShape;
  std::int64_t elementBytes;
};

} // namespace octavo::steps
