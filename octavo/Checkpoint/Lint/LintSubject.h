// The input of lint's checks: the folder, what its layout read, and a census of every part, taken
// once for all checks.
#pragma once

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/Lint/CodeCensus.h"
#include "octavo/Checkpoint/Lint/ScaleCensus.h"
#include "octavo/Kernels/Execution.h"

#include <optional>
#include <vector>

namespace octavo::checkpoint {

/// The censuses of one layer.
struct LayerCensus {
  const Layer* layer;
  CodeCensus codes;
  std::optional<ScaleCensus> scales, outer, input; ///< nullopt: no such scale

  /// The largest weight under the layout's reading of the scales; nullopt if a scale is missing or
  /// none is finite and positive.
  std::optional<double> largestWeight() const;
};

/// What all checks get.
struct LintSubject {
  const Folder& folder;
  const Layout& layout;
  bool isForeign; ///< DetectedLayout::isForeign
  const Inventory& inventory;
  std::vector<LayerCensus> layers; ///< in inventory order, without layers that could not be read
};

/// Takes a census of every part of every layer, in pieces, on all threads. A layer with a part that
/// cannot be read is left out, and `unread` gets the error.
std::vector<LayerCensus> takeLayerCensuses(const Inventory& inventory,
                                           const kernels::Execution& execution,
                                           std::vector<Error>& unread);

/// Adds a finding about a file that cannot be read, once for each file.
void reportUnread(const Error& error, Findings& findings);

/// The position of element `index` of the file's order in a tensor of `shape`: `[3, 0, 5]`.
std::string placeText(std::span<const std::int64_t> shape, std::uint64_t index);

// The checks of each family, each in its own file.
void lintFiles(const LintSubject& subject, Findings& findings);
void lintConfiguration(const LintSubject& subject, Findings& findings);
void lintDisagreement(const LintSubject& subject, Findings& findings);
void lintLeakedState(const LintSubject& subject, Findings& findings);
void lintScales(const LintSubject& subject, Findings& findings);
void lintCodes(const LintSubject& subject, Findings& findings);
void lintRange(const LintSubject& subject, Findings& findings);
void lintFused(const LintSubject& subject, Findings& findings);
void lintExperts(const LintSubject& subject, Findings& findings);
void lintWideModules(const LintSubject& subject, Findings& findings);
void lintKvScales(const LintSubject& subject, Findings& findings);

} // namespace octavo::checkpoint
