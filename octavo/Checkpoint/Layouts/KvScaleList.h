// Collects the scales of a folder's key-value caches while its tensors are scanned.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/ModuleNames/KvNames.h"

#include <map>
#include <string>

namespace octavo::checkpoint {

/// Collects KV scales by module.
class KvScaleList {
public:
  /// Adds a tensor whose name matched. If its dtype or shape cannot be a scale's, reports that and
  /// returns false.
  bool add(const KvNameMatch& match, const StoredTensor& tensor, Findings& findings);
  /// Moves the scales to the inventory. Rivals are reported and become unread.
  void take(Inventory& inventory, Findings& findings);

private:
  std::map<std::string, KvScales, std::less<>> byModule;
  std::map<std::string, Part, std::less<>> pairs; ///< scales of both keys and values, by module
};

} // namespace octavo::checkpoint
