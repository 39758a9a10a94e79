// Names of scaled formats as people type them, and names that no scaled format has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octavo::format {

struct ScaledFormat;

/// The format of a name in any case ("MXFP4"), or of a scheme of llm-compressor or ModelOpt that is
/// exactly the format with its default activations ("FP8_DYNAMIC" is fp8_row). Null: no format.
const ScaledFormat* scaledFormatCalled(std::string_view name);

/// What is wrong with a name that scaledFormatCalled does not know: the block size in it
/// ("mxfp4:96"), or that it is not among `known`, with the names near it. A second line answers a
/// scheme of llm-compressor or ModelOpt by the format of ours and the options that it needs.
std::string unknownFormat(std::string_view name, const std::vector<std::string>& known);

} // namespace octavo::format
