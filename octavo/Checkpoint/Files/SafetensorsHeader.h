// Strict parser of a safetensors file's JSON header.
#pragma once

#include "octavo/Checkpoint/Files/Safetensors.h"

namespace octavo::checkpoint {

/// A parsed header.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries; ///< by offset
  SafetensorsMetadata metadata;
};

/// Parses `text`, the header that starts at byte 8 of `file` and precedes `dataLength` bytes of
/// tensors. Errors: a violation of a rule that SafetensorsFile states.
tl::expected<SafetensorsHeader, Error>
parseSafetensorsHeader(std::string_view text, std::uint64_t dataLength, const std::string& file);

} // namespace octavo::checkpoint
