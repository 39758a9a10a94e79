#include "octavo/Program/Steps/Sort.h"

#include "octavo/Base/Loops.h"
#include "octavo/Program/Steps/BorrowedWorker.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>

namespace octavo::program {

namespace {

/// The least number of elements per thread.
constexpr std::int64_t kSortGrain = 16384;

/// The key of an element, and its index in the line.
template <typename Key> struct Item {
  Key key;
  std::uint32_t index;
};

/// Merge sort, bottom up and in the same order for every comparator, even an inconsistent one. Both
/// spans have one size. The result is in `items`, which may be swapped with `spare`.
template <typename T, typename IsBefore>
void mergeRuns(std::span<T>& items, std::span<T>& spare, const IsBefore& isBefore) {
  for (std::size_t run = 1; run < items.size(); run *= 2) {
    for (std::size_t start = 0; start < items.size(); start += 2 * run) {
      const std::size_t middle = std::min(start + run, items.size());
      const std::size_t end = std::min(start + 2 * run, items.size());
      std::size_t left = start, right = middle;
      for (std::size_t i = start; i < end; ++i) {
        const bool takesRight =
            left == middle || (right < end && isBefore(items[right], items[left]));
        spare[i] = items[takesRight ? right++ : left++];
      }
    }
    std::swap(items, spare);
  }
}

/// A stable sort by keys. Many items are sorted by radix, from the lowest digit; digits that are
/// equal in all keys are skipped.
template <typename Key> void sortItems(std::span<Item<Key>>& items, std::span<Item<Key>>& spare) {
  constexpr std::size_t kFew = 1024;
  if (items.size() < kFew) {
    mergeRuns(items, spare, [](const Item<Key>& a, const Item<Key>& b) { return a.key < b.key; });
    return;
  }
  constexpr int kBits = sizeof(Key) == 4 ? 11 : 8;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  constexpr int kDigits = (8 * sizeof(Key) + kBits - 1) / kBits;
  const auto digit = [](Key key, int number) {
    return static_cast<std::size_t>(key >> (number * kBits)) & (kBuckets - 1);
  };
  std::array<std::array<std::uint32_t, kBuckets>, kDigits> counts{};
  for (const Item<Key>& item : items)
    for (int number = 0; number < kDigits; ++number)
      ++counts[static_cast<std::size_t>(number)][digit(item.key, number)];
  for (int number = 0; number < kDigits; ++number) {
    auto& starts = counts[static_cast<std::size_t>(number)];
    if (starts[digit(items.front().key, number)] == items.size())
      continue;
    std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), std::uint32_t{0});
    for (const Item<Key>& item : items)
      spare[starts[digit(item.key, number)]++] = item;
    std::swap(items, spare);
  }
}

/// `first` and `stride` count keys.
template <typename Key>
void sortByKey(const std::byte* keys, std::int64_t first, std::int64_t stride,
               std::span<std::byte> memory, std::span<std::uint32_t> order) {
  auto* const begin = reinterpret_cast<Item<Key>*>(memory.data());
  std::span items(begin, order.size()), spare(begin + order.size(), order.size());
  const auto* numbers = reinterpret_cast<const Key*>(keys);
  for (std::size_t i = 0; i < order.size(); ++i)
    items[i] = {numbers[first + static_cast<std::int64_t>(order[i]) * stride], order[i]};
  sortItems(items, spare);
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = items[i].index;
}

template <typename Container>
void permuteLine(const std::byte* input, std::byte* result, std::int64_t first, std::int64_t stride,
                 std::span<const std::uint32_t> order) {
  const auto* from = reinterpret_cast<const Container*>(input) + first;
  auto* to = reinterpret_cast<Container*>(result) + first;
  for (std::size_t i = 0; i < order.size(); ++i)
    to[static_cast<std::int64_t>(i) * stride] = from[static_cast<std::int64_t>(order[i]) * stride];
}

/// Prepares the argument list of a call: the slots that the function reads, then `more` entries,
/// which are returned for the caller to set.
std::span<std::byte*> passed(const Frame& frame, Worker& worker, const std::vector<Slot>& reads,
                             std::size_t more) {
  worker.passed.resize(reads.size() + more + 1);
  for (std::size_t i = 0; i < reads.size(); ++i)
    worker.passed[i] = frame.at(reads[i]);
  worker.passed.back() = itemsForKernel(frame);
  return std::span(worker.passed).subspan(reads.size(), more);
}

} // namespace

/// Bytes of an element with its key.
std::size_t SortStep::itemBytes() const {
  if (!keys)
    return 0;
  return keys->bytes == 4 ? sizeof(Item<std::uint32_t>) : sizeof(Item<std::uint64_t>);
}

SortStep::Scratch SortStep::scratchOf(Worker& worker, std::int64_t ofLine) const {
  const auto length = static_cast<std::size_t>(ofLine);
  const std::size_t ofItems = 2 * length * itemBytes();
  std::byte* const own = worker.room(ofItems + 2 * length * sizeof(std::uint32_t));
  auto* const order = reinterpret_cast<std::uint32_t*>(own + ofItems);
  return {{own, ofItems}, {order, length}, {order + length, length}};
}

/// Computes the keys of all elements. False if the keys cannot order one of them.
bool SortStep::makeKeys(Frame& frame) const {
  std::atomic<bool> isOrdered = true;
  const std::int64_t size = lines.outer.of(frame) * lines.length.of(frame) * lines.inner.of(frame);
  base::forRanges(size, kSortGrain, [&](std::int64_t begin, std::int64_t end) {
    const BorrowedWorker worker(frame);
    std::byte isOutside{0};
    const std::span<std::byte*> more = passed(frame, *worker, keys->reads, 2);
    more[0] = frame.at(keys->memory);
    more[1] = &isOutside;
    (*keys->function)(worker->passed.data(), begin, end);
    if (isOutside != std::byte{0})
      isOrdered.store(false, std::memory_order_relaxed);
  });
  return isOrdered.load();
}

/// Sorts by the last key first: later sorts are stable and keep its order among equal elements.
void SortStep::sortByKeys(const Frame& frame, std::int64_t first, const Line& line,
                          Scratch& scratch) const {
  const std::byte* memory = frame.at(keys->memory);
  for (std::int64_t key = keys->count; key-- > 0;) {
    const std::int64_t begin = first * keys->count + key, stride = line.inner * keys->count;
    if (keys->bytes == 4)
      sortByKey<std::uint32_t>(memory, begin, stride, scratch.items, scratch.order);
    else
      sortByKey<std::uint64_t>(memory, begin, stride, scratch.items, scratch.order);
  }
}

void SortStep::sortByComparator(const Frame& frame, Worker& worker, std::int64_t first,
                                const Line& line, Scratch& scratch) const {
  std::byte answer{0};
  passed(frame, worker, comparator.reads, 1)[0] = &answer;
  mergeRuns(scratch.order, scratch.merged, [&](std::uint32_t a, std::uint32_t b) {
    (*comparator.function)(worker.passed.data(), first + static_cast<std::int64_t>(a) * line.inner,
                           first + static_cast<std::int64_t>(b) * line.inner);
    return answer != std::byte{0};
  });
}

void SortStep::permute(const Frame& frame, std::int64_t first, const Line& line,
                       std::span<const std::uint32_t> order) const {
  struct Sixteen {
    std::uint64_t low, high;
  };
  for (const Tensor& tensor : tensors) {
    const std::byte* input = frame.at(tensor.input);
    std::byte* result = frame.at(tensor.result);
    switch (tensor.bytes) {
    case 1:
      permuteLine<std::uint8_t>(input, result, first, line.inner, order);
      break;
    case 2:
      permuteLine<std::uint16_t>(input, result, first, line.inner, order);
      break;
    case 4:
      permuteLine<std::uint32_t>(input, result, first, line.inner, order);
      break;
    case 8:
      permuteLine<std::uint64_t>(input, result, first, line.inner, order);
      break;
    default:
      permuteLine<Sixteen>(input, result, first, line.inner, order);
      break;
    }
  }
}

Outcome SortStep::run(Frame& frame) const {
  const Line line{lines.length.of(frame), lines.inner.of(frame)};
  const std::int64_t count = lines.outer.of(frame) * line.inner;
  if (count == 0 || line.length == 0)
    return {};
  const bool hasKeys = keys && makeKeys(frame);
  base::forRanges(count, std::max<std::int64_t>(1, kSortGrain / line.length),
                  [&](std::int64_t begin, std::int64_t end) {
                    const BorrowedWorker worker(frame);
                    Scratch scratch = scratchOf(*worker, line.length);
                    for (std::int64_t number = begin; number < end; ++number) {
                      const std::int64_t first =
                          number / line.inner * line.length * line.inner + number % line.inner;
                      std::iota(scratch.order.begin(), scratch.order.end(), 0U);
                      if (hasKeys)
                        sortByKeys(frame, first, line, scratch);
                      else
                        sortByComparator(frame, *worker, first, line, scratch);
                      permute(frame, first, line, scratch.order);
                    }
                  });
  return {};
}

StepFacts SortStep::facts() const {
  StepFacts facts{.kind = StepFacts::Kind::Sort, .detail = keys ? "by keys" : "by comparisons"};
  for (const Tensor& tensor : tensors)
    facts.bytes += 2 * static_cast<double>(lines.outer.of(1)) *
                   static_cast<double>(lines.length.of(1) * lines.inner.of(1) * tensor.bytes);
  return facts;
}

} // namespace octavo::program
