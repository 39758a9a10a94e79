// Names of scaled formats as users type them, and error messages for unknown names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octavo::format {

struct ScaledFormat;

/// The format that `name` means, in any case ("MXFP4"). A scheme of llm-compressor or ModelOpt
/// counts if it is exactly a format with its default activations ("FP8_DYNAMIC" is fp8_row). Null
/// if no format fits.
const ScaledFormat* scaledFormatCalled(std::string_view name);

/// The error message for a name that scaledFormatCalled does not know. It reports a wrong block
/// size ("mxfp4:96"), or that `name` is not among `known`, with similar names. For a scheme of
/// llm-compressor or ModelOpt, a second line names octavo's format and the options that it needs.
std::string unknownFormat(std::string_view name, const std::vector<std::string>& known);

} // namespace octavo::format
