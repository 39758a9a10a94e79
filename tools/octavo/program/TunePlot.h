// Draws the result of `octavo tune`.
#pragma once

#include "tools/octavo/program/TuneReport.h"

#include <string>

namespace octavo::tools {

/// A self-contained SVG: cost against loss of every measured choice, with the Pareto front, the
/// uniform formats, the budget and the selected choice. Below: the format of each dot.
std::string plot(const TuneReport& report);

} // namespace octavo::tools
