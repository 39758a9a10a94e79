// stablehlo.sort: by sort keys if the comparator can be expressed by keys, else by calling the
// comparator.
#pragma once

#include "octavo/Program/Steps/KernelFunction.h"
#include "octavo/Program/Steps/Step.h"

#include <optional>
#include <span>

namespace octavo::program {

/// A stable sort of lines of one or more tensors by one order.
class SortStep : public Step {
public:
  explicit SortStep(OperationTextPtr op) : Step(std::move(op)) {}
  struct Tensor {
    Slot input, result;
    std::int64_t bytes; ///< bytes of an element
  };
  /// outer * inner lines of `length` elements, which are `inner` elements apart.
  struct Lines {
    BatchExtent outer, length, inner;
  };
  /// The compiled comparator. `reads` are the slots of the function's first arguments
  /// (octavo::compiler::SortCode).
  struct Comparator {
    const KernelFunction* function = nullptr;
    std::vector<Slot> reads;
  };
  /// A compiled function that computes `count` sort keys of `bytes` bytes for each element, as
  /// unsigned integers in the order of the comparator.
  struct Keys {
    const KernelFunction* function = nullptr;
    std::vector<Slot> reads;
    Slot memory; ///< for the keys of all elements
    std::int64_t count = 0, bytes = 4;
  };
  SortStep(OperationTextPtr op, std::vector<Tensor> tensors, Lines lines, Comparator comparator,
           std::optional<Keys> keys)
      : Step(std::move(op)), tensors(std::move(tensors)), lines(lines),
        comparator(std::move(comparator)), keys(std::move(keys)) {}
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Sort; }
  void fields(ProgramFields& fields) override;

private:
  /// A thread's memory for sorting one line.
  struct Scratch {
    std::span<std::byte> items; ///< indices with their keys; the second half is spare memory of
                                ///< merge and radix passes
    std::span<std::uint32_t> order, merged;
  };
  /// The extents of a line in this run.
  struct Line {
    std::int64_t length, inner;
  };
  std::size_t itemBytes() const;
  Scratch scratchOf(Worker& worker, std::int64_t length) const;
  /// Computes the keys of all elements. False if the keys cannot order one of them; the comparator
  /// is then used.
  bool makeKeys(Frame& frame) const;
  void sortByKeys(const Frame& frame, std::int64_t first, const Line& line, Scratch& scratch) const;
  void sortByComparator(const Frame& frame, Worker& worker, std::int64_t first, const Line& line,
                        Scratch& scratch) const;
  /// Writes a line of each result in the given order.
  void permute(const Frame& frame, std::int64_t first, const Line& line,
               std::span<const std::uint32_t> order) const;

  std::vector<Tensor> tensors;
  Lines lines = {};
  Comparator comparator;
  std::optional<Keys> keys;
};

} // namespace octavo::program
