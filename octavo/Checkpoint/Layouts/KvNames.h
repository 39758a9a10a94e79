// The names under which producers store the scales of key-value caches.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// Which number a KV scale's name says it is.
enum class KvRole : std::uint8_t { Key, Value, KeyAndValue, Query, Probability };

struct KvName {
  std::string_view suffix; ///< after the attention module and a dot
  KvRole role;
};

/// The attention module and the role that a tensor's name says; nothing if it is no KV scale.
struct KvNameMatch {
  std::string_view module;
  KvRole role;
};
std::optional<KvNameMatch> matchKvName(std::string_view tensor);

/// Collects KV scales; in the order of modules.
class KvScaleList {
public:
  /// Takes a tensor whose name matched. A dtype or shape that is none of a scale's is reported and
  /// the tensor not taken.
  bool add(const KvNameMatch& match, const StoredTensor& tensor, Findings& findings);
  /// Puts them into the inventory; rivals are reported, and unread.
  void take(Inventory& inventory, Findings& findings);

private:
  std::map<std::string, KvScales, std::less<>> byModule;
  std::map<std::string, Part, std::less<>> pairs; ///< of both keys and values, by module
};

} // namespace octavo::checkpoint
