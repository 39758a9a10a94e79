// Steps that can run on a range of rows, and chains of such steps. All steps of a chain (its links)
// run on one range before the next range begins, so that intermediate rows stay in cache.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Program/Steps/Step.h"

#include <algorithm>
#include <cstdint>

namespace octavo::program {

/// Rows [begin, end) of the `count` rows by which a chain is cut. A step whose own row count is a
/// multiple of `count` converts the range with `of`.
struct RowRange {
  std::int64_t begin, end, count;

  /// The same part of `own` rows.
  RowRange of(std::int64_t own) const {
    const auto scaled = [&](__int128 row) { return static_cast<std::int64_t>(row * own / count); };
    return {scaled(begin), scaled(end), own};
  }
  std::int64_t size() const { return end - begin; }
};

/// A step that can compute ranges of its rows independently.
class RowStep : public Step {
public:
  using Step::Step;
  /// Runs once per run, before any rows are computed, on one thread.
  virtual Outcome prepare(Frame& /*frame*/) const { return {}; }
  /// Computes the rows of `range` with the slots and packed operands of `worker`. Different threads
  /// may compute different ranges at once.
  virtual Outcome compute(const Frame& frame, Worker& worker, RowRange range,
                          const kernels::Execution& execution) const = 0;
  /// Prepares, then computes all rows on all threads.
  Outcome run(Frame& frame) const final;
};

/// A chain of row steps. A link may read from an earlier link only the rows that it computes
/// itself. Slots that only the links use have memory for one range per thread.
class ChainStep : public Step {
public:
  explicit ChainStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// A slot that only the links use. A thread's memory has room for n rows: the slot begins at
  /// offset * n, and its row r at offset * n + r * bytes.
  struct RangeSlot {
    Slot slot;
    BatchExtent offset, bytes;
  };
  /// `rows` counts matrix rows, or the products of a batch if `isBatch`. `bytesOfRow` is the memory
  /// of all range slots for one row. `guard` is how many of these bytes guard each slot (Guards.h);
  /// 0: none.
  ChainStep(OperationTextPtr op, std::vector<std::unique_ptr<RowStep>> steps,
            std::vector<RangeSlot> slots, BatchExtent bytesOfRow, BatchExtent rows, bool isBatch,
            std::size_t guard = 0);
  Outcome run(Frame& frame) const override;
  /// A chain of one link reports that link's facts.
  StepFacts facts() const override;
  std::vector<const Sequence*> nested() const override;
  StepType type() const override { return StepType::Chain; }
  void fields(ProgramFields& fields) override;

private:
  /// All rows, cut into `count` ranges of whole tiles. Ranges differ by at most one tile.
  struct Ranges {
    std::int64_t count, all, tile;

    std::int64_t begin(std::int64_t range) const {
      const auto first = static_cast<std::int64_t>(static_cast<__int128>(tiles()) * range / count);
      return std::min(all, first * tile);
    }
    /// The rows of the largest range.
    std::int64_t most() const { return std::min(all, (tiles() + count - 1) / count * tile); }

  private:
    std::int64_t tiles() const { return (all + tile - 1) / tile; }
  };
  /// How to cut `all` rows in a run of batch size `items`.
  Ranges rangesOf(std::int64_t all, std::int64_t items) const;
  /// The step under which a profile records a link: the chain itself if it has a single link.
  const Step* timed(const RowStep* link) const;
  /// Points the worker's range slots at its own memory, which has room for `room` rows. Row
  /// `range.begin` becomes the first row of each slot.
  void place(const Frame& frame, Worker& worker, RowRange range, std::int64_t room) const;
  /// An error if a link wrote to a guard behind a range slot.
  Outcome guarded(const Frame& frame, const Worker& worker, std::int64_t room) const;

  Sequence all;
  std::vector<const RowStep*> links; ///< the steps of `all`, as row steps
  std::vector<RangeSlot> slots;
  BatchExtent bytesOfRow;
  BatchExtent rows;
  bool isBatch = false;
  std::size_t guard = 0;
};

} // namespace octavo::program
