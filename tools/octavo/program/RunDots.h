// Where a quantized program's error comes from, as text and as a page
// (docs/commands/run.md).
#pragma once

#include "octavo/Session/Trials/DotErrors.h"

#include <string>
#include <string_view>
#include <vector>

namespace octavo::tools {

/// The names of the dots without the parts, between slashes, that all of them begin or end with; of
/// dots of one name with what tells them apart.
std::vector<std::string> shortNames(const session::DotErrors& errors);

/// "mxfp8_e4m3", "mxfp4 x mxfp8_e4m3" (left, right), or "f32" for one that is left.
std::string formatsText(const transforms::DotRecord& dot);

/// What an operand is: "weight" or "activation".
std::string_view kindOf(const transforms::DotRecord& dot, std::size_t side);

/// The operand's quantization; null where it is multiplied as it is.
const format::ScaledFormat* formatOf(const transforms::DotRecord& dot, std::size_t side);

/// Why there are no shares where every output of floats has rows of one element.
std::string noSharesOfOne();

std::string text(const session::DotErrors& errors);

/// What the page of a run is about.
struct DotsPageTitle {
  std::string program;
  std::string quantization; ///< a sentence without its end
};
std::string dotsPage(const session::DotErrors& errors, const DotsPageTitle& title);

} // namespace octavo::tools
