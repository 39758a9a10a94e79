#include "octavo/Interpreter/Tensor/Permutation.h"
#include "octavo/Base/Loops.h"

#include <algorithm>

namespace octavo::interpreter {

Permutation::Permutation(std::span<const std::int64_t> shape, std::int64_t axis)
    : shape(shape.begin(), shape.end()), axis(axis), length(shape[axis]), inner(1) {
  for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < shape.size(); ++i)
    inner *= shape[i];
  const std::int64_t size = numerics::elementCount(shape);
  count = length == 0 ? 0 : size / length;
  order.resize(static_cast<std::size_t>(size));
  for (std::int64_t line = 0; line < count; ++line) {
    const std::int64_t first = line / inner * inner * length + line % inner;
    for (std::int64_t i = 0; i < length; ++i)
      order[line * length + i] = first + i * inner;
  }
}

void Permutation::sort(std::span<const std::vector<std::int64_t>> keys) {
  // The first key is stored beside the number, so that most comparisons stay in one cache line.
  struct Entry {
    std::int64_t key, number;
  };
  base::forEach(count, [&](std::int64_t i) {
    const std::span<std::int64_t> numbers = line(i);
    std::vector<Entry> entries;
    entries.reserve(numbers.size());
    for (std::int64_t number : numbers)
      entries.push_back({keys.front()[number], number});
    base::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      if (a.key != b.key)
        return a.key < b.key;
      for (const std::vector<std::int64_t>& key : keys.subspan(1))
        if (key[a.number] != key[b.number])
          return key[a.number] < key[b.number];
      return a.number < b.number;
    });
    for (std::size_t k = 0; k < entries.size(); ++k)
      numbers[k] = entries[k].number;
  });
}

Tensor Permutation::apply(const Tensor& tensor, std::int64_t kept) const {
  std::vector<std::int64_t> resultShape = shape;
  resultShape[axis] = kept;
  Tensor result = Tensor::zeros(tensor.type, std::move(resultShape));
  withContainer(tensor.type, [&]<typename Container>(Container) {
    const auto from = tensor.as<Container>();
    const auto to = result.as<Container>();
    for (std::int64_t line = 0; line < count; ++line) {
      const std::int64_t first = line / inner * inner * kept + line % inner;
      for (std::int64_t i = 0; i < kept; ++i)
        to[first + i * inner] = from[order[line * length + i]];
    }
  });
  return result;
}

} // namespace octavo::interpreter
