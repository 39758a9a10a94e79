// What `octavo tune` found, as a picture.
#pragma once

#include "tools/octavo/program/TuneReport.h"

#include <string>

namespace octavo::tools {

/// A self-contained SVG: cost against loss of every choice that was measured, with the front, the
/// uniform formats, the budget and what was chosen; below, the format of each dot.
std::string plot(const TuneReport& report);

} // namespace octavo::tools
