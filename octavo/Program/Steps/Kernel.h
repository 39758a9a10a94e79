// Steps that run on memory alone: compiled kernels and in-place updates.
#pragma once

#include "octavo/Program/Steps/Chain.h"
#include "octavo/Program/Steps/KernelFunction.h"
#include "octavo/Program/Steps/StartIndex.h"

namespace octavo::program {

/// Runs a compiled kernel.
class KernelStep : public RowStep {
public:
  explicit KernelStep(OperationTextPtr op) : RowStep(std::move(op)) {}
  /// An argument of the code, in the order of the code's parameters. The code may read what it
  /// writes.
  struct Argument {
    Slot slot;
    bool isWritten = false;
  };
  /// The cost of a row is that of adding `width` elements; it decides how rows are divided among
  /// threads.
  KernelStep(OperationTextPtr op, const KernelFunction& function, std::vector<Argument> arguments,
             BatchExtent rows, BatchExtent width, StepFacts known)
      : RowStep(std::move(op)), function(&function), arguments(std::move(arguments)), rows(rows),
        width(width), known(std::move(known)) {}
  Outcome compute(const Frame& frame, Worker& worker, RowRange range,
                  const kernels::Execution& execution) const override;
  const BatchExtent& allRows() const { return rows; }
  /// Computes rows [begin, end) as the prologue of a product: what the kernel writes to the slot
  /// `made`, `bytes` per row, goes to `to` instead. Any thread may call it.
  void makeRows(const Frame& frame, const Worker& worker, std::int64_t begin, std::int64_t end,
                Slot made, std::ptrdiff_t bytes, std::byte* to) const;
  StepFacts facts() const override { return known; }
  StepType type() const override { return StepType::Kernel; }
  void fields(ProgramFields& fields) override;

  /// Declares that each range of rows repeats work over all rows, so each thread gets one range.
  void goThroughAllInEachRange() { isWholeInEachRange = true; }
  /// Adds the function for runs in which results lie over donated arguments (Frame::isInPlace).
  void addInPlace(const KernelFunction& code, std::vector<Argument> its) {
    inPlace = {&code, std::move(its)};
  }

private:
  /// The least number of rows of `all` that are worth a thread.
  std::int64_t grain(const Frame& frame, std::int64_t all, int threads) const;

  const KernelFunction* function = nullptr; ///< set once all kernels are compiled
  struct InPlace {
    const KernelFunction* function = nullptr;
    std::vector<Argument> arguments = {};
  } inPlace;
  std::vector<Argument> arguments;
  BatchExtent rows;
  BatchExtent width = 1;
  bool isWholeInEachRange = false;
  StepFacts known = {.kind = StepFacts::Kind::Kernel};
};

/// stablehlo.dynamic_update_slice: writes the box `update` at computed start indices, which are
/// clamped.
class UpdateStep : public Step {
public:
  explicit UpdateStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// The operand has shape [outer, shape..., inner]. The update spans `outer` and `inner` as a
  /// whole; `updateShape` and `starts` are its extents and start indices along the axes of `shape`.
  struct Box {
    BatchExtent outer, inner;
    std::vector<BatchExtent> shape, updateShape;
    std::vector<StartIndex> starts;
  };
  /// If `operand` is `result`, the update is in place; else the operand is copied first.
  UpdateStep(OperationTextPtr op, Slot operand, Slot update, Slot result, Box box,
             std::int64_t elementBytes)
      : Step(std::move(op)), operand(operand), update(update), result(result), box(std::move(box)),
        elementBytes(elementBytes) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Update; }
  void fields(ProgramFields& fields) override;

private:
  void copyBox(const Frame& frame, std::size_t axis, std::int64_t bytes, const std::byte*& source,
               std::byte* target) const;

  Slot operand, update, result;
  Box box;
  std::int64_t elementBytes = 1;
};

} // namespace octavo::program
