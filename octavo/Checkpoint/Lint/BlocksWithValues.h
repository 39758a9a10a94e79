// Whether a scale that is wrong takes anything with it: over a block of zeros it does not.
#pragma once

#include "octavo/Checkpoint/Layer.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace octavo::checkpoint {

/// Of the blocks whose scale `isMeant`, how many hold a code that is not 0; nothing where the
/// layer's parts are missing or do not agree. Reads the codes of rows that have such a scale alone.
/// Errors: of reading the file.
tl::expected<std::optional<std::uint64_t>, Error>
blocksWithValues(const Layer& layer, const std::function<bool(double scale)>& isMeant);

} // namespace octavo::checkpoint
