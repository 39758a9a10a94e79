// Layers in another spelling of their scaled format: names, ranks, packing and dtypes change,
// values stay.
#pragma once

#include "octavo/Checkpoint/Doubts.h"
#include "octavo/Checkpoint/Jobs/Job.h"
#include "octavo/Checkpoint/Jobs/LayerPlan.h"
#include "octavo/Checkpoint/LayerReader.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace octavo::checkpoint {

/// The numbers of a part as f32 that mean the same where they enter as `meaning`. Numbers that
/// enter as before stay as they are. Errors: of reading the file.
tl::expected<std::vector<float>, Error> respelled(const Part& part, Meaning meaning);

/// The codes of a part in another format that has all of its values; nothing where it has not.
/// Errors: of reading the file.
tl::expected<std::optional<std::vector<std::byte>>, Error> exactly(const Part& part,
                                                                   const format::ElementFormat& to);

/// Writes a layer as `plan` of the same scaled format. Fails at scales that are doubtful and not
/// allowed.
std::unique_ptr<Step> respellStep(const LayerReader& reader, LayerPlan plan, Doubts allowed);

} // namespace octavo::checkpoint
