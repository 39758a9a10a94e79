#include "octavo/Program/Steps/Chain.h"

#include "octavo/Base/Loops.h"
#include "octavo/Program/Steps/BorrowedWorker.h"
#include "octavo/Program/Steps/Guards.h"
#include "octavo/Program/Steps/Products/Product.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <span>

namespace octavo::program {

namespace {

/// Keeps the error of the lowest range, so that the result does not depend on the number of
/// threads.
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

/// Bytes of a row up to the slot's guard.
std::int64_t endOf(const ChainStep::RangeSlot& slot, const Frame& frame) {
  return slot.offset.of(frame) + slot.bytes.of(frame);
}

} // namespace

Outcome RowStep::run(Frame& frame) const {
  if (Outcome outcome = prepare(frame); !outcome)
    return outcome;
  return compute(frame, frame.whole, {0, 1, 1}, {});
}

ChainStep::ChainStep(OperationTextPtr op, std::vector<std::unique_ptr<RowStep>> steps,
                     std::vector<RangeSlot> slots, BatchExtent bytesOfRow, BatchExtent rows,
                     bool isBatch, std::size_t guard)
    : Step(std::move(op)), slots(std::move(slots)), bytesOfRow(bytesOfRow), rows(rows),
      isBatch(isBatch), guard(guard) {
  for (std::unique_ptr<RowStep>& step : steps) {
    links.push_back(step.get());
    all.add(std::move(step));
  }
}

/// The memory of a range fits the second-level cache, and all threads get equally many ranges.
/// Products need whole tiles of rows, and ranges large enough that they sum in the same order as
/// the whole.
ChainStep::Ranges ChainStep::rangesOf(std::int64_t all, std::int64_t items) const {
  constexpr std::int64_t kBytesOfRange = std::int64_t{1024} * 1024, kFewest = 48;
  // Float tiles have 8 rows on AVX-512, else 6 or 4.
  const std::int64_t tile = isBatch ? 1 : kernels::Execution{}.isa == kernels::Isa::Avx512 ? 8 : 12;
  // Ranges have more than kFewRows rows, even if the last tile has only one row.
  constexpr std::int64_t kTiles = 3;
  static_assert((kTiles - 1) * 8 + 1 > kFewRows);
  const auto cut = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  const std::int64_t fitting = kBytesOfRange / std::max<std::int64_t>(1, bytesOfRow.of(items));
  const std::int64_t threads = kernels::threadsOf({});
  const std::int64_t wanted =
      cut(cut(all, std::max(fitting, isBatch ? 1 : kFewest)), threads) * threads;
  const std::int64_t most = std::max<std::int64_t>(1, cut(all, tile) / (isBatch ? 1 : kTiles));
  return {.count = std::clamp<std::int64_t>(wanted, 1, most), .all = all, .tile = tile};
}

StepFacts ChainStep::facts() const {
  if (links.size() == 1)
    return links.front()->facts();
  std::string detail = fmt::format("{} links over {} rows", links.size(), rows.of(1));
  if (rows.isOpen())
    detail += " of each item";
  else if (const Ranges ranges = rangesOf(rows.fixed, 1); ranges.count > 1)
    detail += fmt::format(", {} at a time", ranges.most());
  return {.kind = StepFacts::Kind::Chain, .detail = std::move(detail), .operations = 0};
}

std::vector<const Sequence*> ChainStep::nested() const {
  return links.size() == 1 ? links.front()->nested() : std::vector{&all};
}

const Step* ChainStep::timed(const RowStep* link) const {
  return links.size() == 1 ? static_cast<const Step*>(this) : link;
}

void ChainStep::place(const Frame& frame, Worker& worker, RowRange range, std::int64_t room) const {
  const auto count = static_cast<std::size_t>(room);
  const std::size_t size = static_cast<std::size_t>(bytesOfRow.of(frame)) * count;
  std::byte* const own = worker.room(size);
  if (guard != 0)
    std::ranges::fill(std::span(own, size), kNobodys);
  for (const RangeSlot& each : slots)
    std::ranges::fill(std::span(own + endOf(each, frame) * room, guard * count), kGuard);
  for (const RangeSlot& each : slots)
    worker.memory[static_cast<std::size_t>(each.slot.number)] =
        own + each.offset.of(frame) * room - range.begin * each.bytes.of(frame);
}

Outcome ChainStep::guarded(const Frame& frame, const Worker& worker, std::int64_t room) const {
  const auto count = static_cast<std::size_t>(room);
  for (const RangeSlot& each : slots)
    for (const std::byte *byte = worker.own.data() + endOf(each, frame) * room,
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
  const std::int64_t whole = rows.of(frame);
  if (whole == 0) // batch size 0
    return {};
  const Ranges ranges = rangesOf(whole, frame.items);
  // Too few ranges: each link runs on all rows, on all threads. With one thread it runs as in a
  // range.
  if (ranges.count < kernels::threadsOf({}) || ranges.count == 1) {
    const bool isAlone = kernels::threadsOf({}) == 1;
    place(frame, frame.whole, {0, whole, whole}, whole);
    for (const RowStep* link : links) {
      const Timed time(links.size() == 1 && !isAlone ? nullptr : frame.host->profile,
                       isAlone ? timed(link) : link,
                       isAlone ? Profile::Extent::Piece : Profile::Extent::Whole);
      if (Outcome outcome =
              link->compute(frame, frame.whole, {0, whole, whole}, {.threads = isAlone ? 1 : 0});
          !outcome)
        return outcome;
    }
    return guarded(frame, frame.whole, whole);
  }
  const RunContext& host = *frame.host;
  const std::int64_t room = ranges.most();
  FirstError failed;
  base::forRanges(ranges.count, 1, [&](std::int64_t begin, std::int64_t end) {
    const BorrowedWorker worker(frame);
    worker->memory = frame.whole.memory;
    worker->packed.resize(frame.whole.packed.size());
    for (std::int64_t number = begin; number != end && !failed.isBefore(number); ++number) {
      if (host.isInterrupted && host.isInterrupted()) {
        failed.add(number, interruption(*this));
        break;
      }
      const RowRange range{ranges.begin(number), ranges.begin(number + 1), whole};
      place(frame, *worker, range, room);
      for (const RowStep* link : links) {
        const Timed time(host.profile, timed(link), Profile::Extent::Piece);
        if (Outcome outcome = link->compute(frame, *worker, range, {.threads = 1}); !outcome) {
          failed.add(number, std::move(outcome));
          break;
        }
      }
      if (Outcome outcome = guarded(frame, *worker, room); !outcome)
        failed.add(number, std::move(outcome));
    }
  });
  return failed.take();
}

} // namespace octavo::program
