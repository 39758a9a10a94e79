// stablehlo.sort: by keys where the comparator has them, else by asking it.
#pragma once

#include "octavo/Program/Steps/KernelFunction.h"
#include "octavo/Program/Steps/Step.h"

#include <optional>
#include <span>

namespace octavo::program {

class SortStep : public Step {
public:
  explicit SortStep(OperationTextPtr op) : Step(std::move(op)) {}
  struct Tensor {
    Slot input, result;
    std::int64_t bytes; ///< of an element
  };
  /// Lines of `length` elements that lie `inner` apart; there are outer * inner of them.
  struct Lines {
    BatchExtent outer, length, inner;
  };
  /// What a function reads, by the slots of its first arguments (octavo::compiler::SortCode).
  struct Comparator {
    const KernelFunction* function = nullptr;
    std::vector<Slot> reads;
  };
  struct Keys {
    const KernelFunction* function = nullptr;
    std::vector<Slot> reads;
    Slot memory; ///< for those of all elements
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
  /// Memory of a thread for one line: the order of its elements, and what finds it.
  struct Scratch {
    std::span<std::byte> items; ///< those with keys, twice
    std::span<std::uint32_t> order, merged;
  };
  /// What each line has in a run.
  struct Line {
    std::int64_t length, inner;
  };
  std::size_t itemBytes() const;
  Scratch scratchOf(Worker& worker, std::int64_t length) const;
  bool makeKeys(Frame& frame) const;
  void sortByKeys(const Frame& frame, std::int64_t first, const Line& line, Scratch& scratch) const;
  void sortByComparator(const Frame& frame, Worker& worker, std::int64_t first, const Line& line,
                        Scratch& scratch) const;
  void permute(const Frame& frame, std::int64_t first, const Line& line,
               std::span<const std::uint32_t> order) const;

  std::vector<Tensor> tensors;
  Lines lines = {};
  Comparator comparator;
  std::optional<Keys> keys;
};

} // namespace octavo::program
