// What `octavo analyze` found, as a picture.
#pragma once

#include "tools/octavo/AnalyzeReport.h"

#include <span>
#include <string>

namespace octavo::tools {

/// A self-contained SVG: for each source, QSNR and mean relative error of every format, a mark for
/// each rule. All sources have the same axes. What is not a finite number has no mark.
std::string plot(std::span<const AnalyzedSource> sources);

} // namespace octavo::tools
