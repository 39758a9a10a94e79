// Writes layers in another spelling of their scaled format: names, ranks, packing and dtypes
// change, values stay.
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

/// The numbers of a part as f32, converted so that they have the same effect with `meaning`. If the
/// part has that meaning already, they are unchanged. Errors: reading the file.
tl::expected<std::vector<float>, Error> respelled(const Part& part, Meaning meaning);

/// The codes of a part converted to format `to`; nullopt if `to` lacks one of its values. Errors:
/// reading the file.
tl::expected<std::optional<std::vector<std::byte>>, Error> exactly(const Part& part,
                                                                   const format::ElementFormat& to);

/// A step that writes a layer as `plan`, which has the same scaled format. The step fails at scales
/// that are doubtful and not in `allowed`.
std::unique_ptr<Step> respellStep(const LayerReader& reader, LayerPlan plan, Doubts allowed);

} // namespace octavo::checkpoint
