// The report of `octavo analyze`, as text and as JSON (docs/commands/analyze.md has the schema).
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
  std::string name; ///< name of the distribution or the tensor
  std::vector<std::int64_t> shape;
  std::optional<std::uint64_t> seed; ///< seed of a distribution
  std::vector<analysis::ErrorRow> rows;
};

/// A row, and the presets of the same format whose printed figures are equal to it.
struct DistinctRow {
  const analysis::ErrorRow* row;
  std::vector<std::string_view> samePresets;
};

/// The rows of one format: one for each rule, and one for each preset that differs from all rows
/// before.
struct FormatRows {
  const format::ScaledFormat* format;
  std::vector<DistinctRow> rows;
};

/// The rows of a source without repeated figures. The result points into the source.
std::vector<FormatRows> distinctRows(const AnalyzedSource& source);

/// The report on sources, as text and as JSON.
std::string text(std::span<const AnalyzedSource> sources);
std::string json(std::span<const AnalyzedSource> sources);

/// The RFC's figures beside octavo's. One scan for each rule, in the order of kScaleRules.
std::string text(std::span<const analysis::RangeScan> scans);
std::string json(std::span<const analysis::RangeScan> scans);

} // namespace octavo::tools
