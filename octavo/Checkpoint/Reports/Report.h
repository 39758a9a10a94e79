// One page about a checkpoint for people: what it is, where its bytes go, how far each layer is
// from the original, how its scales are spread, and what lint found.
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

struct ReportLayer {
  std::string name; ///< module and parameter
  std::string format;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0; ///< of all its parts
  double bitsPerWeight = 0;
  ScaleCensus scales = {};
  ScaleHistogram histogram = {};
  CodeCensus codes = {};
  std::optional<WeightDifference> difference = {}; ///< from the original, where one was given
  Reproduction reproduction = {};                  ///< the same
};

struct Report {
  std::string name; ///< of the checkpoint's folder
  Inspection inspection;
  Findings findings;    ///< of lint
  std::string original; ///< name of the folder compared with; empty where there is none
  std::vector<ReportLayer> layers;
};

struct ReportOptions {
  std::optional<std::filesystem::path> original;
  /// Null: what the checkpoint says, or its tensors.
  const Layout *layout = nullptr, *originalLayout = nullptr;
  WorkSettings work = {};
};

/// Reads both in pieces. Errors: those of Folder::open; of reading the files.
tl::expected<Report, Error> makeReport(const std::filesystem::path& path,
                                       const ReportOptions& options = {});

/// The page: HTML that needs no other file and no network.
std::string reportPage(const Report& report);

/// Whether the file is such a page.
bool isReportPage(const std::filesystem::path& path);

} // namespace octavo::checkpoint
