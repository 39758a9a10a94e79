// What the checks of lint look at: the folder, what its layout says, and the numbers of every part,
// counted once for all checks.
#pragma once

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/Lint/CodeCensus.h"
#include "octavo/Checkpoint/Lint/ScaleCensus.h"
#include "octavo/Kernels/Execution.h"

#include <optional>
#include <vector>

namespace octavo::checkpoint {

struct LayerCensus {
  const Layer* layer;
  CodeCensus codes;
  std::optional<ScaleCensus> scales, outer, input;

  /// The largest weight, as the layout says scales are to be read; nothing where a scale is missing
  /// or none is finite and positive.
  std::optional<double> largestWeight() const;
};

struct LintSubject {
  const Folder& folder;
  const Layout& layout;
  bool isForeign; ///< whether the configuration is one that octavo does not read
  const Inventory& inventory;
  std::vector<LayerCensus> layers; ///< in the inventory's order
};

/// Counts every part of every layer, in pieces, on all threads. A layer of which a part cannot be
/// read has no census; `unread` gets the error.
std::vector<LayerCensus> takeLayerCensuses(const Inventory& inventory,
                                           const kernels::Execution& execution,
                                           std::vector<Error>& unread);

/// Adds the finding of a file that could not be read, once for a file.
void reportUnread(const Error& error, Findings& findings);

/// `[3, 0, 5]`: where the element `index` of the file's order lies in a tensor of `shape`.
std::string placeText(std::span<const std::int64_t> shape, std::uint64_t index);

// The families, each in its own file.
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
