// The dtypes of safetensors: integers, complex numbers, and the element formats that have a dtype
// name.
#pragma once

#include "octavo/Numerics/Tensor.h"

#include <optional>
#include <span>
#include <string_view>

namespace octavo::checkpoint {

/// One dtype.
struct SafetensorsDtype {
  std::string_view name;
  int bits; ///< bits of one element on disk
  /// The element type in memory; nullopt if octavo has none.
  std::optional<numerics::ElementType> type;
};

/// All dtypes in the order of the format's enumeration, by which files are sorted. An element
/// format that the enumeration lacks follows the last dtype of its width.
std::span<const SafetensorsDtype> safetensorsDtypes();

/// The dtype of that name, in upper case; null if there is none.
const SafetensorsDtype* findSafetensorsDtype(std::string_view name);

/// The dtype that stores elements of `type`; null if there is none.
const SafetensorsDtype* findSafetensorsDtype(const numerics::ElementType& type);

} // namespace octavo::checkpoint
