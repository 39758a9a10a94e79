// The rows of a report's table of layers. A mixture of experts has tens of thousands of layers, too
// many to read or print, so there the experts of a layer share a row.
#pragma once

#include "octavo/Checkpoint/Reports/Report.h"

#include <string>
#include <utility>
#include <vector>

namespace octavo::checkpoint {

/// One row: a layer, or experts of a layer that are the same projection.
struct LayerRow {
  /// Experts: bytes and scales are sums, rules and presets those common to all, error and codes the
  /// worst.
  ReportLayer figures;
  std::string remark = {};    ///< number of experts, or why an expert has its own row
  std::string ofError = {};   ///< the expert with this error, "expert 17"; empty for one layer
  std::string ofLargest = {}; ///< the expert with the largest difference
  std::string ofAtMax = {};   ///< the expert with the largest share of codes at max
  bool isSuspect = false;     ///< lint has an error or warning about it, or it is the worst layer
};

/// The rows, worst first, ties in layer order. Up to 300 layers have a row each. If there are more,
/// experts of a layer share a row if they are the same projection with the same format and shape.
/// Up to three suspect experts of a row follow it with rows of their own, and the worst of all
/// layers does too.
std::vector<LayerRow> layerRows(const Report& report);

/// Whether the layer was compared with the original.
bool isMeasured(const ReportLayer& layer);

/// The share of codes that have the format's largest magnitude.
double shareAtMax(const ReportLayer& layer);

/// Sort key, larger is worse: the error (-1 if not measured, infinite if NaN), then the share at
/// max.
std::pair<double, double> badness(const ReportLayer& layer);

} // namespace octavo::checkpoint
