#include "octavo/Steps/Sort.h"

#include "octavo/Parallel/Loops.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>

namespace octavo::steps {

namespace {

/// Elements that are worth a thread.
constexpr std::int64_t kGrain = 16384;

/// The key of an element, and its number in the line.
template <typename Key> struct Item {
  Key key;
  std::uint32_t index;
};

/// A stable sort by the keys: digit by digit from the lowest where there are many, each digit that
/// is not the same for all.
template <typename Key>
void sortItems(std::vector<Item<Key>>& items, std::vector<Item<Key>>& spare) {
  constexpr std::size_t kFew = 1024;
  if (items.size() < kFew) {
    std::ranges::stable_sort(items, {}, &Item<Key>::key);
    return;
  }
  constexpr int kBits = sizeof(Key) == 4 ? 11 : 8;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  constexpr int kDigits = (8 * sizeof(Key) + kBits - 1) / kBits;
  const auto digit = [](Key key, int number) {
    return static_cast<std::size_t>(key >> (number * kBits)) & (kBuckets - 1);
  };
  std::vector<std::array<std::uint32_t, kBuckets>> counts(kDigits);
  for (const Item<Key>& item : items)
    for (int number = 0; number < kDigits; ++number)
      ++counts[static_cast<std::size_t>(number)][digit(item.key, number)];
  spare.resize(items.size());
  for (int number = 0; number < kDigits; ++number) {
    auto& starts = counts[static_cast<std::size_t>(number)];
    if (starts[digit(items.front().key, number)] == items.size())
      continue;
    std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), std::uint32_t{0});
    for (const Item<Key>& item : items)
      spare[starts[digit(item.key, number)]++] = item;
    items.swap(spare);
  }
}

template <typename Key>
void sortByKey(const std::byte* keys, std::int64_t first, std::int64_t stride,
               std::vector<std::uint32_t>& order) {
  thread_local std::vector<Item<Key>> items, spare;
  items.resize(order.size());
  const auto* numbers = reinterpret_cast<const Key*>(keys);
  for (std::size_t i = 0; i < order.size(); ++i)
    items[i] = {numbers[first + static_cast<std::int64_t>(order[i]) * stride], order[i]};
  sortItems(items, spare);
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = items[i].index;
}

template <typename Container>
void permuteLine(const std::byte* input, std::byte* result, std::int64_t first, std::int64_t stride,
                 const std::vector<std::uint32_t>& order) {
  const auto* from = reinterpret_cast<const Container*>(input) + first;
  auto* to = reinterpret_cast<Container*>(result) + first;
  for (std::size_t i = 0; i < order.size(); ++i)
    to[static_cast<std::int64_t>(i) * stride] = from[static_cast<std::int64_t>(order[i]) * stride];
}

std::vector<std::byte*> memoryOf(const Frame& frame, const std::vector<Slot>& slots) {
  std::vector<std::byte*> memory;
  for (const Slot slot : slots)
    memory.push_back(frame.at(slot));
  return memory;
}

} // namespace

/// False where the order has no place for one of the elements.
bool SortStep::makeKeys(const Frame& frame) const {
  std::atomic<bool> isOrdered = true;
  parallel::forRanges(lines.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::byte*> memory = memoryOf(frame, keys->reads);
    std::byte isOutside{0};
    memory.push_back(frame.at(keys->memory));
    memory.push_back(&isOutside);
    (*keys->function)(memory.data(), begin, end);
    if (isOutside != std::byte{0})
      isOrdered.store(false, std::memory_order_relaxed);
  });
  return isOrdered.load();
}

/// By the last key first: what it finds is kept among equal elements of those before it.
void SortStep::sortByKeys(const Frame& frame, std::int64_t first,
                          std::vector<std::uint32_t>& order) const {
  for (std::int64_t key = keys->count; key-- > 0;) {
    const std::byte* memory = frame.at(keys->memory) + key * lines.size() * keys->bytes;
    if (keys->bytes == 4)
      sortByKey<std::uint32_t>(memory, first, lines.inner, order);
    else
      sortByKey<std::uint64_t>(memory, first, lines.inner, order);
  }
}

/// Merges runs from left to right, the same way for every comparator, consistent or not.
void SortStep::sortByComparator(const Frame& frame, std::int64_t first,
                                std::vector<std::uint32_t>& order) const {
  std::vector<std::byte*> memory = memoryOf(frame, comparator.reads);
  std::byte answer{0};
  memory.push_back(&answer);
  const auto isBefore = [&](std::uint32_t a, std::uint32_t b) {
    (*comparator.function)(memory.data(), first + static_cast<std::int64_t>(a) * lines.inner,
                           first + static_cast<std::int64_t>(b) * lines.inner);
    return answer != std::byte{0};
  };
  std::vector<std::uint32_t> merged(order.size());
  for (std::size_t run = 1; run < order.size(); run *= 2) {
    for (std::size_t start = 0; start < order.size(); start += 2 * run) {
      const std::size_t middle = std::min(start + run, order.size());
      const std::size_t end = std::min(start + 2 * run, order.size());
      std::size_t left = start, right = middle;
      for (std::size_t i = start; i < end; ++i) {
        const bool takesRight =
            left == middle || (right < end && isBefore(order[right], order[left]));
        merged[i] = order[takesRight ? right++ : left++];
      }
    }
    order.swap(merged);
  }
}

void SortStep::permute(const Frame& frame, std::int64_t first,
                       const std::vector<std::uint32_t>& order) const {
  struct Sixteen {
    std::uint64_t low, high;
  };
  for (const Tensor& tensor : tensors) {
    const std::byte* input = frame.at(tensor.input);
    std::byte* result = frame.at(tensor.result);
    switch (tensor.bytes) {
    case 1:
      permuteLine<std::uint8_t>(input, result, first, lines.inner, order);
      break;
    case 2:
      permuteLine<std::uint16_t>(input, result, first, lines.inner, order);
      break;
    case 4:
      permuteLine<std::uint32_t>(input, result, first, lines.inner, order);
      break;
    case 8:
      permuteLine<std::uint64_t>(input, result, first, lines.inner, order);
      break;
    default:
      permuteLine<Sixteen>(input, result, first, lines.inner, order);
      break;
    }
  }
}

Outcome SortStep::run(Frame& frame) const {
  if (lines.size() == 0)
    return {};
  const bool hasKeys = keys && makeKeys(frame);
  parallel::forRanges(lines.count(), std::max<std::int64_t>(1, kGrain / lines.length),
                      [&](std::int64_t begin, std::int64_t end) {
                        thread_local std::vector<std::uint32_t> order;
                        for (std::int64_t line = begin; line < end; ++line) {
                          const std::int64_t first =
                              line / lines.inner * lines.length * lines.inner + line % lines.inner;
                          order.resize(static_cast<std::size_t>(lines.length));
                          std::iota(order.begin(), order.end(), 0U);
                          if (hasKeys)
                            sortByKeys(frame, first, order);
                          else
                            sortByComparator(frame, first, order);
                          permute(frame, first, order);
                        }
                      });
  return {};
}

StepFacts SortStep::facts() const {
  StepFacts facts{.kind = StepFacts::Kind::Sort, .detail = keys ? "by keys" : "by comparisons"};
  for (const Tensor& tensor : tensors)
    facts.bytes += 2 * static_cast<double>(lines.size() * tensor.bytes);
  return facts;
}

} // namespace octavo::steps
