// JSON of figures that several checkpoint commands report, with the same keys in all of them.
#pragma once

#include "octavo/Checkpoint/Files/JsonFile.h"
#include "octavo/Checkpoint/Finding.h"
#include "octavo/Checkpoint/Lint/ScaleCensus.h"
#include "octavo/Checkpoint/Reports/Diff.h"

#include <array>
#include <string_view>

namespace octavo::tools {

/// The names of faults, in the order of ScaleFault.
inline constexpr std::array<std::string_view, checkpoint::kScaleFaults> kFaultNames = {
    "zero", "nan", "inf", "negative", "subnormal"};

/// The figure; null if it is infinite or NaN, which JSON does not have.
checkpoint::Json figureJson(double value);
/// An object with `count`, `smallest`, `largest`, `faults` and `histogram` (the bins, powers of
/// two, that are not empty).
checkpoint::Json scalesJson(const checkpoint::ScaleCensus& census,
                            const checkpoint::ScaleHistogram& histogram);
checkpoint::Json differenceJson(const checkpoint::WeightDifference& difference);
checkpoint::Json findingsJson(const checkpoint::Findings& findings);

} // namespace octavo::tools
