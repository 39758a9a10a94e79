// Names that no scaled format has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octavo::format {

/// What is wrong with a name that findScaledFormat does not know, as a sentence: the block size in
/// it ("mxfp4:96"), or that it is none of `known`, with those that are near.
std::string unknownFormat(std::string_view name, const std::vector<std::string>& known);

} // namespace octavo::format
