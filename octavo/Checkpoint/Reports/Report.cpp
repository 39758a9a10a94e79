#include "octavo/Checkpoint/Reports/Report.h"

#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Checkpoint/Layouts/Layout.h"

#include <map>

namespace octavo::checkpoint {

namespace {

std::string folderName(const std::filesystem::path& path) {
  const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  return absolute.has_filename() ? absolute.filename().string()
                                 : absolute.parent_path().filename().string();
}

tl::expected<ReportLayer, Error> describe(const Layer& layer) {
  const auto count = static_cast<std::uint64_t>(numerics::elementCount(layer.shape));
  ReportLayer row = {.name = plainName(layer),
                     .format = formatName(layer),
                     .shape = layer.shape,
                     .bytes = bytesOf(layer)};
  row.bitsPerWeight = count ? 8.0 * static_cast<double>(row.bytes) / static_cast<double>(count) : 0;
  if (layer.scales) {
    const auto scales = takeScaleCensus(*layer.scales, &row.histogram);
    if (!scales)
      return tl::unexpected(scales.error());
    row.scales = *scales;
  }
  return takeCodeCensus(layer.elements, 0, layer.elements.tensor.size())
      .map([&](const CodeCensus& codes) {
        row.codes = codes;
        return std::move(row);
      });
}

} // namespace

tl::expected<Report, Error> makeReport(const std::filesystem::path& path,
                                       const ReportOptions& options) {
  const auto folder = Folder::open(path);
  if (!folder)
    return tl::unexpected(folder.error());
  std::map<std::string, WeightDifference> differences;
  if (options.original) {
    const auto original = Folder::open(*options.original);
    if (!original)
      return tl::unexpected(original.error());
    for (WeightDifference& each : diff(*original, *folder, options.lint.execution).weights)
      differences.emplace(each.name, std::move(each));
  }
  auto found = lint(path, options.lint);
  if (!found)
    return tl::unexpected(found.error());

  auto inspection = inspect(*folder, options.lint.execution);
  if (!inspection)
    return tl::unexpected(std::move(inspection.error()));
  Report report = {.name = folderName(path),
                   .inspection = std::move(*inspection),
                   .findings = std::move(found->findings),
                   .original = options.original ? folderName(*options.original) : "",
                   .layers = {}};
  Findings known; // lint has them
  for (const Layer& layer : detectLayout(*folder, known).layout->read(*folder, known).layers) {
    auto described = describe(layer);
    if (!described)
      return tl::unexpected(std::move(described.error()));
    report.layers.push_back(std::move(*described));
    if (const auto difference = differences.find(report.layers.back().name);
        difference != differences.end())
      report.layers.back().difference = difference->second;
  }
  return report;
}

} // namespace octavo::checkpoint
