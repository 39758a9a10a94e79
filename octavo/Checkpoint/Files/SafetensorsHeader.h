// The JSON header of a safetensors file, read strictly.
#pragma once

#include "octavo/Checkpoint/Files/Safetensors.h"

namespace octavo::checkpoint {

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries; ///< in the order of their bytes
  SafetensorsMetadata metadata;
};

/// Reads the header `text`, which starts at byte 8 of `file`, before `dataLength` bytes of tensors,
/// and checks every rule that SafetensorsFile states.
tl::expected<SafetensorsHeader, Error>
parseSafetensorsHeader(std::string_view text, std::uint64_t dataLength, const std::string& file);

} // namespace octavo::checkpoint
