#include "python/bindings/JaxWeights.h"

#include "octavo/Program/Values/Value.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace octavo::python {

namespace {

using program::Value;

Value copied(std::span<const std::byte> from) {
  return Value(numerics::Tensor{numerics::IntegerType{8, false},
                                {static_cast<std::int64_t>(from.size())},
                                std::vector<std::byte>(from.begin(), from.end())});
}

/// A copy of the bytes that were packed; the copy of the elements keeps the packings.
struct KeptWeight {
  const std::byte* place;
  Value elements, scales;
  float outer;
  std::size_t bytes; ///< with the packings; KeptWeights alone reads and writes it

  explicit KeptWeight(const WeightBytes& from)
      : place(from.elements.data()), elements(copied(from.elements)), scales(copied(from.scales)),
        outer(from.outer), bytes(from.elements.size() + from.scales.size()) {}
  bool isAt(const WeightBytes& found) const {
    return place == found.elements.data() &&
           elements.tensor().bytes.size() == found.elements.size();
  }
  bool isOf(const WeightBytes& found) const {
    const auto equal = [](const Value& a, std::span<const std::byte> b) {
      const numerics::Bytes& own = a.tensor().bytes;
      return own.size() == b.size() &&
             (b.empty() || std::memcmp(own.data(), b.data(), b.size()) == 0);
    };
    return std::memcmp(&outer, &found.outer, sizeof outer) == 0 && equal(scales, found.scales) &&
           equal(elements, found.elements);
  }
};

class KeptWeights {
public:
  std::shared_ptr<KeptWeight> find(const WeightBytes& bytes) {
    const std::lock_guard lock(mutex);
    const auto found = at(bytes);
    if (found == weights.end())
      return nullptr;
    weights.splice(weights.begin(), weights, found);
    return weights.front();
  }
  /// In the place of a weight that had other bytes there.
  void keep(std::shared_ptr<KeptWeight> weight, const WeightBytes& bytes) {
    const std::lock_guard lock(mutex);
    if (const auto old = at(bytes); old != weights.end())
      drop(old);
    all += weight->bytes;
    weights.push_front(std::move(weight));
    dropBeyondMost();
  }
  /// Counts a packing of a weight, which may have been dropped meanwhile.
  void grow(const std::shared_ptr<KeptWeight>& weight, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    weight->bytes += bytes;
    if (std::ranges::find(weights, weight) != weights.end())
      all += bytes;
    dropBeyondMost();
  }

private:
  using Place = std::list<std::shared_ptr<KeptWeight>>::iterator;

  Place at(const WeightBytes& bytes) {
    return std::ranges::find_if(weights, [&](const auto& weight) { return weight->isAt(bytes); });
  }
  void drop(Place weight) {
    all -= (*weight)->bytes;
    weights.erase(weight);
  }
  void dropBeyondMost() {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    while (all > kMost)
      drop(std::prev(weights.end()));
  }

  std::mutex mutex;
  std::list<std::shared_ptr<KeptWeight>> weights; ///< that was used last first
  std::size_t all = 0;                            ///< bytes
};

} // namespace

std::shared_ptr<const kernels::PackedOperand>
packedOnce(const std::string& key, const WeightBytes& bytes,
           const std::function<kernels::PackedOperand()>& pack) {
  static KeptWeights kept;
  std::shared_ptr<KeptWeight> weight = kept.find(bytes);
  if (!weight || !weight->isOf(bytes)) {
    weight = std::make_shared<KeptWeight>(bytes);
    kept.keep(weight, bytes);
  }
  std::size_t packed = 0;
  auto form = weight->elements.forms().of<kernels::PackedOperand>(
      {key.begin(), key.end()}, [&]() -> tl::expected<kernels::PackedOperand, std::string> {
        kernels::PackedOperand made = pack();
        packed = made.bytes();
        return made;
      });
  if (packed != 0)
    kept.grow(weight, packed);
  return std::move(*form);
}

} // namespace octavo::python
