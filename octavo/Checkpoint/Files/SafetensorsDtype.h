// The dtypes of safetensors: the element formats that have a spelling there, and the integers.
#pragma once

#include "octavo/Numerics/Tensor.h"

#include <optional>
#include <span>
#include <string_view>

namespace octavo::checkpoint {

struct SafetensorsDtype {
  std::string_view name;
  int bits; ///< on disk, of one element
  /// What it is in memory; nothing for one that no tensor of octavo holds.
  std::optional<numerics::ElementType> type;
};

/// All of them, in the order of the format's own enumeration, which files are sorted by; an element
/// format that the enumeration does not have follows the last one of its width.
std::span<const SafetensorsDtype> safetensorsDtypes();

/// The dtype of that name, null if there is none. Names are upper case.
const SafetensorsDtype* findSafetensorsDtype(std::string_view name);

/// The dtype that stores elements of `type`, null if there is none.
const SafetensorsDtype* findSafetensorsDtype(const numerics::ElementType& type);

} // namespace octavo::checkpoint
