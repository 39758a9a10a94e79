#include "python/bindings/JaxWeights.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <vector>

namespace octavo::python {

namespace {

struct KeptWeight {
  std::string key;
  const std::byte* place;
  std::vector<std::byte> elements, scales;
  float outer;
  kernels::PackedOperand operand;

  std::size_t bytes() const { return elements.size() + scales.size() + operand.bytes(); }
  bool isOf(const WeightBytes& found) const {
    const auto equal = [](const std::vector<std::byte>& a, std::span<const std::byte> b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), b.size()) == 0;
    };
    return std::memcmp(&outer, &found.outer, sizeof outer) == 0 && equal(scales, found.scales) &&
           equal(elements, found.elements);
  }
};

class KeptWeights {
public:
  std::shared_ptr<const KeptWeight> find(const std::string& key, const std::byte* place) {
    const std::lock_guard lock(mutex);
    const auto found = at(key, place);
    if (found == weights.end())
      return nullptr;
    weights.splice(weights.begin(), weights, found);
    return weights.front();
  }
  void keep(std::shared_ptr<const KeptWeight> weight) {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    const std::lock_guard lock(mutex);
    if (const auto old = at(weight->key, weight->place); old != weights.end())
      drop(old);
    bytes += weight->bytes();
    weights.push_front(std::move(weight));
    while (bytes > kMost)
      drop(std::prev(weights.end()));
  }

private:
  using Place = std::list<std::shared_ptr<const KeptWeight>>::iterator;

  Place at(const std::string& key, const std::byte* place) {
    return std::ranges::find_if(
        weights, [&](const auto& weight) { return weight->place == place && weight->key == key; });
  }
  void drop(Place weight) {
    bytes -= (*weight)->bytes();
    weights.erase(weight);
  }

  std::mutex mutex;
  std::list<std::shared_ptr<const KeptWeight>> weights; ///< that was used last first
  std::size_t bytes = 0;
};

} // namespace

std::shared_ptr<const kernels::PackedOperand>
packedOnce(const std::string& key, const WeightBytes& bytes,
           const std::function<kernels::PackedOperand()>& pack) {
  static KeptWeights kept;
  std::shared_ptr<const KeptWeight> weight = kept.find(key, bytes.elements.data());
  if (!weight || !weight->isOf(bytes)) {
    const auto copied = [](std::span<const std::byte> from) {
      return std::vector<std::byte>(from.begin(), from.end());
    };
    weight = std::make_shared<KeptWeight>(key, bytes.elements.data(), copied(bytes.elements),
                                          copied(bytes.scales), bytes.outer, pack());
    kept.keep(weight);
  }
  return {weight, &weight->operand};
}

} // namespace octavo::python
