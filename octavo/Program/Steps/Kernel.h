// Steps on memory alone: kernels that were compiled, and updates in place.
#pragma once

#include "octavo/Program/Steps/Chain.h"
#include "octavo/Program/Steps/KernelFunction.h"
#include "octavo/Program/Steps/StartIndex.h"

namespace octavo::program {

class KernelStep : public RowStep {
public:
  explicit KernelStep(OperationTextPtr op) : RowStep(std::move(op)) {}
  /// What the code is given, in its order. It may read what it writes.
  struct Argument {
    Slot slot;
    bool isWritten = false;
  };
  /// A row costs what `width` elements do that are added.
  KernelStep(OperationTextPtr op, const KernelFunction& function, std::vector<Argument> arguments,
             BatchExtent rows, BatchExtent width, StepFacts known)
      : RowStep(std::move(op)), function(&function), arguments(std::move(arguments)), rows(rows),
        width(width), known(std::move(known)) {}
  Outcome compute(const Frame& frame, Worker& worker, RowRange range,
                  const kernels::Execution& execution) const override;
  const BatchExtent& allRows() const { return rows; }
  /// Rows `begin` to `end` for a product alone: what the kernel writes to the slot `made`, `bytes`
  /// for each row, is written from `to` on. On any thread.
  void makeRows(const Frame& frame, const Worker& worker, std::int64_t begin, std::int64_t end,
                Slot made, std::ptrdiff_t bytes, std::byte* to) const;
  StepFacts facts() const override { return known; }
  StepType type() const override { return StepType::Kernel; }
  void fields(ProgramFields& fields) override;

  /// Each range of rows costs as much again: there is one for each thread.
  void goThroughAllInEachRange() { isWholeInEachRange = true; }
  /// The function that runs where results lie over donated arguments (Frame::isInPlace).
  void addInPlace(const KernelFunction& code, std::vector<Argument> its) {
    inPlace = {&code, std::move(its)};
  }

private:
  /// Rows that are worth handing to a thread, of so many.
  std::int64_t grain(const Frame& frame, std::int64_t all, int threads) const;

  const KernelFunction* function = nullptr; ///< known when all kernels are compiled
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

/// stablehlo.dynamic_update_slice: a box of `update` at starts that the program computes, clamped.
class UpdateStep : public Step {
public:
  explicit UpdateStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// What is updated has the axes outer, shape and inner, of which an update spans the first and
  /// the last; the starts are those on the others.
  struct Box {
    BatchExtent outer, inner;
    std::vector<BatchExtent> shape, updateShape;
    std::vector<StartIndex> starts;
  };
  /// `operand` may be `result`: it is then written in place.
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
