// The names under which producers store the scales of key-value caches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo::checkpoint {

/// What a KV scale applies to.
enum class KvRole : std::uint8_t { Key, Value, KeyAndValue, Query, Probability };

/// The attention module and the role that a tensor's name states; matchKvName returns nullopt if
/// the name is not that of a KV scale.
struct KvNameMatch {
  std::string_view module;
  KvRole role;
};
std::optional<KvNameMatch> matchKvName(std::string_view tensor);

} // namespace octavo::checkpoint
