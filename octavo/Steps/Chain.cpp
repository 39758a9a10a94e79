#include "octavo/Steps/Chain.h"

#include "octavo/Parallel/Loops.h"
#include "octavo/Steps/Guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <span>

namespace octavo::steps {

namespace {

using execution::Profile;
using execution::Timed;

/// The error of the first range that has one: the same for every number of threads.
class FirstError {
public:
  void add(std::int64_t range, Outcome outcome) {
    const std::lock_guard lock(changing);
    if (range < first.load(std::memory_order_relaxed)) {
      found = std::move(outcome);
      first.store(range, std::memory_order_relaxed);
    }
  }
  bool isBefore(std::int64_t range) const { return first.load(std::memory_order_relaxed) < range; }
  Outcome take() { return std::move(found); }

private:
  std::mutex changing;
  std::atomic<std::int64_t> first = std::numeric_limits<std::int64_t>::max();
  Outcome found;
};

} // namespace

Outcome RowStep::run(Frame& frame) const {
  if (Outcome outcome = prepare(frame); !outcome)
    return outcome;
  return compute(frame, frame.whole, {0, 1, 1}, {});
}

ChainStep::ChainStep(OperationTextPtr op, std::vector<std::unique_ptr<RowStep>> steps,
                     std::vector<RangeSlot> slots, std::size_t bytesOfRow, std::int64_t rows,
                     std::int64_t rowsOfRange, std::int64_t leastRows, std::size_t guard)
    : Step(std::move(op)), slots(std::move(slots)), bytesOfRow(bytesOfRow), rows(rows),
      rowsOfRange(rowsOfRange), mostRows(std::min(rows, rowsOfRange + leastRows)),
      ranges(std::max<std::int64_t>(1, (rows - leastRows + rowsOfRange - 1) / rowsOfRange)),
      guard(guard) {
  for (std::unique_ptr<RowStep>& step : steps) {
    links.push_back(step.get());
    all.add(std::move(step));
  }
}

StepFacts ChainStep::facts() const {
  if (links.size() == 1)
    return links.front()->facts();
  std::string detail = fmt::format("{} links over {} rows", links.size(), rows);
  if (ranges > 1)
    detail += fmt::format(", {} at a time", rowsOfRange);
  return {.kind = StepFacts::Kind::Chain, .detail = std::move(detail), .operations = 0};
}

std::vector<const Sequence*> ChainStep::nested() const {
  return links.size() == 1 ? links.front()->nested() : std::vector{&all};
}

const Step* ChainStep::timed(const RowStep* link) const {
  return links.size() == 1 ? static_cast<const Step*>(this) : link;
}

/// Gives the slots memory of the worker, so that row number `range.begin` is their first one.
void ChainStep::place(Worker& worker, RowRange range, std::int64_t room) const {
  const auto count = static_cast<std::size_t>(room);
  if (worker.own.size() < bytesOfRow * count)
    worker.own = kernels::PackedBytes(bytesOfRow * count, kernels::PackedBytes::Fill::None);
  if (guard != 0)
    std::ranges::fill(std::span(worker.own.data(), bytesOfRow * count), kNobodys);
  for (const RangeSlot& each : slots)
    std::ranges::fill(
        std::span(worker.own.data() + (each.offset + each.bytes) * count, guard * count), kGuard);
  for (const RangeSlot& each : slots)
    worker.memory[static_cast<std::size_t>(each.slot.number)] =
        worker.own.data() + each.offset * count -
        static_cast<std::size_t>(range.begin) * each.bytes;
}

Outcome ChainStep::guarded(const Worker& worker, std::int64_t room) const {
  const auto count = static_cast<std::size_t>(room);
  for (const RangeSlot& each : slots)
    for (const std::byte *byte = worker.own.data() + (each.offset + each.bytes) * count,
                         *end = byte + guard * count;
         byte != end; ++byte)
      if (*byte != kGuard)
        return failure(
            *this, fmt::format("it wrote beyond slot {}: a mistake in octavo", each.slot.number));
  return {};
}

Outcome ChainStep::run(Frame& frame) const {
  for (const RowStep* link : links)
    if (Outcome outcome = link->prepare(frame); !outcome)
      return outcome;
  // Each link alone uses all threads.
  if (ranges == 1 || ranges < kernels::threadsOf({})) {
    place(frame.whole, {0, rows, rows}, rows);
    for (const RowStep* link : links) {
      const Timed time(links.size() == 1 ? nullptr : frame.host->profile, link,
                       Profile::Extent::Whole);
      if (Outcome outcome = link->compute(frame, frame.whole, {0, rows, rows}, {}); !outcome)
        return outcome;
    }
    return guarded(frame.whole, rows);
  }
  const execution::Host& host = *frame.host;
  FirstError failed;
  parallel::forRanges(ranges, 1, [&](std::int64_t begin, std::int64_t end) {
    std::unique_ptr<Worker> worker = frame.workers.take();
    if (!worker)
      worker = std::make_unique<Worker>();
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
        const Timed time(host.profile, timed(link), Profile::Extent::Piece);
        if (Outcome outcome = link->compute(frame, *worker, range, {.threads = 1}); !outcome) {
          failed.add(number, std::move(outcome));
          break;
        }
      }
      if (Outcome outcome = guarded(*worker, mostRows); !outcome)
        failed.add(number, std::move(outcome));
    }
    frame.workers.giveBack(std::move(worker));
  });
  return failed.take();
}

} // namespace octavo::steps
