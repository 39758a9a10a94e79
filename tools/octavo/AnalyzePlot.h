// Draws the results of `octavo analyze`.
#pragma once

#include "tools/octavo/AnalyzeReport.h"

#include <span>
#include <string>

namespace octavo::tools {

/// A self-contained SVG: for each source, QSNR and mean relative error of every format, with a mark
/// for each rule. All sources have the same axes. Figures that are not finite have no mark.
std::string plot(std::span<const AnalyzedSource> sources);

} // namespace octavo::tools
