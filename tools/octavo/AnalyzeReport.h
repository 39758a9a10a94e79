// What `octavo analyze` has to say, as text and as JSON (docs/commands/analyze.md has the schema).
#pragma once

#include "octavo/Analysis/PublishedErrors.h"
#include "octavo/Analysis/QuantizationError.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::tools {

/// The errors on one source of values.
struct AnalyzedSource {
  std::string name; ///< of the distribution or the tensor
  std::vector<std::int64_t> shape;
  std::optional<std::uint64_t> seed; ///< of a distribution
  std::vector<analysis::ErrorRow> rows;
};

/// A recipe, and the presets of the same format whose figures are the same as far as they are
/// shown.
struct DistinctRow {
  const analysis::ErrorRow* row;
  std::vector<std::string_view> samePresets;
};

/// The rows of one format: every rule has one, and every preset that is like none before it.
struct FormatRows {
  const format::ScaledFormat* format;
  std::vector<DistinctRow> rows;
};

/// What a source's rows say, each once. Points into the source.
std::vector<FormatRows> distinctRows(const AnalyzedSource& source);

std::string text(std::span<const AnalyzedSource> sources);
std::string json(std::span<const AnalyzedSource> sources);

/// The RFC's figures beside ours. One scan a rule, in the order of kScaleRules.
std::string text(std::span<const analysis::RangeScan> scans);
std::string json(std::span<const analysis::RangeScan> scans);

} // namespace octavo::tools
