// JSON of figures that several checkpoint commands give, under the same keys in all of them.
#pragma once

#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Checkpoint/Finding.h"
#include "octavo/Checkpoint/Lint/ScaleCensus.h"
#include "octavo/Checkpoint/Reports/Diff.h"

#include <array>
#include <string_view>

namespace octavo::tools {

/// In the order of ScaleFault.
inline constexpr std::array<std::string_view, checkpoint::kScaleFaults> kFaultNames = {
    "zero", "nan", "inf", "negative", "subnormal"};

/// Null where the figure is infinite or NaN: JSON has neither.
checkpoint::Json figureJson(double value);
/// `count`, `smallest`, `largest`, `faults`, `histogram` (bins of powers of two that are not empty).
checkpoint::Json scalesJson(const checkpoint::ScaleCensus& census,
                            const checkpoint::ScaleHistogram& histogram);
checkpoint::Json differenceJson(const checkpoint::WeightDifference& difference);
checkpoint::Json findingsJson(const checkpoint::Findings& findings);

} // namespace octavo::tools
