// The scales of key-value caches of a folder, collected while its tensors are scanned.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/ModuleNames/KvNames.h"

#include <map>
#include <string>

namespace octavo::checkpoint {

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
