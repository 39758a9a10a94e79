// Steps that can be cut into ranges of rows, and chains of them: all links run on one range, then
// all on the next, so that what one gives is in cache when the next one reads it.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Program/Steps/Step.h"

#include <algorithm>
#include <cstdint>

namespace octavo::program {

/// Rows `begin` to `end` of `count`, of whatever a step calls its rows: where it has more, each row
/// is as many of its own.
struct RowRange {
  std::int64_t begin, end, count;

  RowRange of(std::int64_t own) const {
    const auto scaled = [&](__int128 row) { return static_cast<std::int64_t>(row * own / count); };
    return {scaled(begin), scaled(end), own};
  }
  std::int64_t size() const { return end - begin; }
};

class RowStep : public Step {
public:
  using Step::Step;
  /// What a run needs before any rows are computed.
  virtual Outcome prepare(Frame& /*frame*/) const { return {}; }
  virtual Outcome compute(const Frame& frame, Worker& worker, RowRange range,
                          const kernels::Execution& execution) const = 0;
  /// All rows.
  Outcome run(Frame& frame) const final;
};

/// No link reads other rows of what an earlier one gives than those that it computes. What no other
/// step reads has memory for one range alone.
class ChainStep : public Step {
public:
  explicit ChainStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// A slot that the links alone use: row r of a range is at
  /// offset * rows of the range + r * bytes of the thread's memory.
  struct RangeSlot {
    Slot slot;
    BatchExtent offset, bytes;
  };
  /// The rows are those of a matrix, or products of a batch. `bytesOfRow` is what the slots take
  /// for one row, `guard` those among them, behind each slot's, that stay as they are (Guards.h).
  ChainStep(OperationTextPtr op, std::vector<std::unique_ptr<RowStep>> steps,
            std::vector<RangeSlot> slots, BatchExtent bytesOfRow, BatchExtent rows, bool isBatch,
            std::size_t guard = 0);
  Outcome run(Frame& frame) const override;
  /// Of one link, what it is.
  StepFacts facts() const override;
  std::vector<const Sequence*> nested() const override;
  StepType type() const override { return StepType::Chain; }
  void fields(ProgramFields& fields) override;

private:
  /// All rows cut into `count` ranges, each of as many tiles as the others or one more.
  struct Ranges {
    std::int64_t count, all, tile;

    std::int64_t begin(std::int64_t range) const {
      const auto first = static_cast<std::int64_t>(static_cast<__int128>(tiles()) * range / count);
      return std::min(all, first * tile);
    }
    /// Of the largest one.
    std::int64_t most() const { return std::min(all, (tiles() + count - 1) / count * tile); }

  private:
    std::int64_t tiles() const { return (all + tile - 1) / tile; }
  };
  /// Of so many rows of a run of so many items.
  Ranges rangesOf(std::int64_t all, std::int64_t items) const;
  /// What a profile is told of.
  const Step* timed(const RowStep* link) const;
  /// `room` is how many rows the memory is for.
  void place(const Frame& frame, Worker& worker, RowRange range, std::int64_t room) const;
  /// Whether the links have left the guards in that memory as they were.
  Outcome guarded(const Frame& frame, const Worker& worker, std::int64_t room) const;

  Sequence all;
  std::vector<const RowStep*> links; ///< the same
  std::vector<RangeSlot> slots;
  BatchExtent bytesOfRow;
  BatchExtent rows;
  bool isBatch = false;
  std::size_t guard = 0;
};

} // namespace octavo::program
