#include "octavo/Steps/Chain.h"

#include "octavo/Parallel/Loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace octavo::steps {

namespace {

using execution::Profile;
using execution::Timed;

/// The error of the first range that has one: the same for every number of threads.
class FirstError {
public:
  void add(std::int64_t range, llvm::Error error) {
    const std::lock_guard lock(changing);
    if (range < first.load(std::memory_order_relaxed)) {
      llvm::consumeError(std::move(found));
      found = std::move(error);
      first.store(range, std::memory_order_relaxed);
    } else {
      llvm::consumeError(std::move(error));
    }
  }
  bool isBefore(std::int64_t range) const { return first.load(std::memory_order_relaxed) < range; }
  llvm::Error take() { return std::move(found); }

private:
  std::mutex changing;
  std::atomic<std::int64_t> first = std::numeric_limits<std::int64_t>::max();
  llvm::Error found = llvm::Error::success();
};

} // namespace

llvm::Error RowStep::run(Frame& frame) const {
  if (llvm::Error error = prepare(frame))
    return error;
  return compute(frame, frame.whole, {0, 1, 1}, {});
}

ChainStep::ChainStep(OperationTextPtr op, std::vector<std::unique_ptr<RowStep>> steps,
                     std::vector<RangeSlot> slots, std::size_t bytesOfRow, std::int64_t rows,
                     std::int64_t rowsOfRange, std::int64_t leastRows)
    : Step(std::move(op)), slots(std::move(slots)), bytesOfRow(bytesOfRow), rows(rows),
      rowsOfRange(rowsOfRange), mostRows(std::min(rows, rowsOfRange + leastRows)),
      ranges(std::max<std::int64_t>(1, (rows - leastRows + rowsOfRange - 1) / rowsOfRange)) {
  for (std::unique_ptr<RowStep>& step : steps) {
    links.push_back(step.get());
    all.add(std::move(step));
  }
}

StepFacts ChainStep::facts() const {
  std::string detail = fmt::format("{} links over {} rows", links.size(), rows);
  if (ranges > 1)
    detail += fmt::format(", {} at a time", rowsOfRange);
  return {.kind = StepFacts::Kind::Chain, .detail = std::move(detail), .operations = 0};
}

/// Gives the slots memory of the worker, so that row number `range.begin` is their first one.
void ChainStep::place(Worker& worker, RowRange range, std::int64_t room) const {
  const auto count = static_cast<std::size_t>(room);
  if (worker.own.size() < bytesOfRow * count)
    worker.own = kernels::PackedBytes(bytesOfRow * count, kernels::PackedBytes::Fill::None);
  for (const RangeSlot& each : slots)
    worker.memory[static_cast<std::size_t>(each.slot.number)] =
        worker.own.data() + each.offset * count -
        static_cast<std::size_t>(range.begin) * each.bytes;
}

llvm::Error ChainStep::run(Frame& frame) const {
  for (const RowStep* link : links)
    if (llvm::Error error = link->prepare(frame))
      return error;
  // Each link alone uses all threads.
  if (ranges == 1 || ranges < kernels::threadsOf({})) {
    place(frame.whole, {0, rows, rows}, rows);
    for (const RowStep* link : links) {
      const Timed timed(frame.host->profile, link, Profile::Extent::Whole);
      if (llvm::Error error = link->compute(frame, frame.whole, {0, rows, rows}, {}))
        return error;
    }
    return llvm::Error::success();
  }
  const execution::Host& host = *frame.host;
  FirstError failed;
  parallel::forRanges(ranges, 1, [&](std::int64_t begin, std::int64_t end) {
    std::unique_ptr<Worker> worker = frame.workers.take();
    worker->memory = frame.whole.memory;
    worker->packed.resize(frame.whole.packed.size());
    for (std::int64_t number = begin; number != end && !failed.isBefore(number); ++number) {
      if (host.isInterrupted && host.isInterrupted()) {
        failed.add(number, interruption(*this));
        break;
      }
      const RowRange range{number * rowsOfRange,
                           number + 1 == ranges ? rows : (number + 1) * rowsOfRange, rows};
      place(*worker, range, mostRows);
      for (const RowStep* link : links) {
        const Timed timed(host.profile, link, Profile::Extent::Piece);
        if (llvm::Error error = link->compute(frame, *worker, range, {.threads = 1})) {
          failed.add(number, std::move(error));
          break;
        }
      }
    }
    frame.workers.giveBack(std::move(worker));
  });
  return failed.take();
}

} // namespace octavo::steps
