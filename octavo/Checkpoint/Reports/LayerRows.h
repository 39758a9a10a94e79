// The rows of a report's table of layers. A mixture of experts has tens of thousands of layers,
// which nobody reads one by one and no browser prints: there, experts of a layer share a row.
#pragma once

#include "octavo/Checkpoint/Reports/Report.h"

#include <string>
#include <utility>
#include <vector>

namespace octavo::checkpoint {

/// A layer, or the experts of one that are the same projection.
struct LayerRow {
  /// Of experts: bytes and scales of all, rules and presets that are common to all, error and
  /// codes each of the worst.
  ReportLayer figures;
  std::string remark = {};    ///< how many experts, or why one of them has a row of its own
  std::string ofError = {};   ///< the expert with that error, "expert 17"; empty for one layer
  std::string ofLargest = {}; ///< the expert with the largest difference
  std::string ofAtMax = {};   ///< the expert with the largest share of codes at max
  bool isSuspect = false;     ///< lint has an error or a warning of it, or it is the worst of all
};

/// The worst first, and those that are as bad in the order of the layers. Up to 300 layers have a
/// row each; of more, experts of a layer share one if they are the same projection, in one format
/// and of one shape. Those of them that are suspect, up to three, follow by themselves.
std::vector<LayerRow> layerRows(const Report& report);

/// Whether there are figures of its distance from the original.
bool isMeasured(const ReportLayer& layer);

/// Codes of the format's largest magnitude, of all.
double shareAtMax(const ReportLayer& layer);

/// Larger is worse: the error, -1 where it is not measured, and among equals the share at max.
std::pair<double, double> badness(const ReportLayer& layer);

} // namespace octavo::checkpoint
