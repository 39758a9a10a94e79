// Reports how each dot contributes to a quantized program's error, as text and as a page
// (docs/commands/run.md).
#pragma once

#include "octavo/Session/Trials/DotErrors.h"

#include <string>
#include <string_view>
#include <vector>

namespace octavo::tools {

/// The names of the dots without the leading and trailing parts, separated by slashes, that all
/// names share. Equal names get a distinguishing suffix.
std::vector<std::string> shortNames(const session::DotErrors& errors);

/// "mxfp8_e4m3", "mxfp4 x mxfp8_e4m3" (left, right), or "f32" for a dot that is not quantized.
std::string formatsText(const transforms::DotRecord& dot);

/// The kind of an operand: "weight" or "activation".
std::string_view kindOf(const transforms::DotRecord& dot, std::size_t side);

/// The format to which the operand is quantized; null if it is not.
const format::ScaledFormat* formatOf(const transforms::DotRecord& dot, std::size_t side);

/// The explanation that there are no shares because every float output has rows of one element.
std::string noSharesOfOne();

/// A table of the dots with their errors.
std::string text(const session::DotErrors& errors);

/// The title of the page.
struct DotsPageTitle {
  std::string program;
  std::string quantization; ///< a sentence without the final period
};
/// A self-contained HTML page.
std::string dotsPage(const session::DotErrors& errors, const DotsPageTitle& title);

} // namespace octavo::tools
