// An HTML page about a checkpoint: what it is, where its bytes go, each layer's error against the
// original, the distribution of its scales, and lint's findings.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Lint/CodeCensus.h"
#include "octavo/Checkpoint/Lint/Lint.h"
#include "octavo/Checkpoint/Lint/ScaleCensus.h"
#include "octavo/Checkpoint/Reports/Diff.h"
#include "octavo/Checkpoint/Reports/Inspect.h"
#include "octavo/Checkpoint/Reports/Reproduction.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// The figures of one layer.
struct ReportLayer {
  std::string name; ///< module and parameter
  std::string format;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0; ///< bytes of all its parts
  double bitsPerWeight = 0;
  ScaleCensus scales = {};
  ScaleHistogram histogram = {};
  CodeCensus codes = {};
  std::optional<WeightDifference> difference = {}; ///< against the original, if one was given
  Reproduction reproduction = {}; ///< how it was quantized, if an original was given
};

/// The content of the page.
struct Report {
  std::string name; ///< name of the checkpoint's folder
  Inspection inspection;
  Findings findings;    ///< findings of lint
  std::string original; ///< folder name of the original; empty if there is none
  std::vector<ReportLayer> layers;
};

/// Options of makeReport.
struct ReportOptions {
  std::optional<std::filesystem::path> original; ///< checkpoint to compare with
  /// Null: detected from the configuration or the tensors.
  const Layout *layout = nullptr, *originalLayout = nullptr;
  WorkSettings work = {};
};

/// Collects a report, reading both checkpoints in pieces. Errors: those of Folder::open; reading
/// the files.
tl::expected<Report, Error> makeReport(const std::filesystem::path& path,
                                       const ReportOptions& options = {});

/// The page as HTML that needs no other file and no network.
std::string reportPage(const Report& report);

/// Whether the file is a page of reportPage.
bool isReportPage(const std::filesystem::path& path);

} // namespace octavo::checkpoint
