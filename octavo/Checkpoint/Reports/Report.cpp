#include "octavo/Checkpoint/Reports/Report.h"

#include "octavo/Base/NaturalOrder.h"
#include "octavo/Checkpoint/Jobs/Rewrite.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/TensorChunks.h"

#include <algorithm>
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

/// Sets the figures of the layers that need the original.
void compare(const Folder& original, const Folder& folder, const WeightList& weights,
             const ReportOptions& options, Report& report) {
  std::map<std::string, WeightDifference> differences;
  const DiffOptions sides = {
      .firstLayout = options.originalLayout, .secondLayout = options.layout, .work = options.work};
  for (WeightDifference& each : diff(original, folder, sides).weights)
    differences.emplace(each.name, std::move(each));
  Findings known; // reported by lint, not here
  const WeightList originals(original, known, options.originalLayout);
  for (ReportLayer& layer : report.layers)
    if (const auto difference = differences.find(layer.name); difference != differences.end()) {
      layer.difference = difference->second;
      if (const NamedWeight* before = originals.find(layer.name))
        layer.reproduction = reproductionOf(*weights.find(layer.name), *before);
    }
}

} // namespace

tl::expected<Report, Error> makeReport(const std::filesystem::path& path,
                                       const ReportOptions& options) {
  const auto folder = Folder::open(path);
  if (!folder)
    return tl::unexpected(folder.error());
  std::optional<Folder> original;
  if (options.original) {
    auto opened = Folder::open(*options.original);
    if (!opened)
      return tl::unexpected(opened.error());
    original = std::move(*opened);
  }
  const kernels::Execution execution{.threads = options.work.threads};
  auto found = lint(path, {.layout = options.layout, .execution = execution});
  if (!found)
    return tl::unexpected(found.error());

  auto inspection = inspect(*folder, options.layout, execution);
  if (!inspection)
    return tl::unexpected(std::move(inspection.error()));
  Report report = {.name = folderName(path),
                   .inspection = std::move(*inspection),
                   .findings = std::move(found->findings),
                   .original = options.original ? folderName(*options.original) : "",
                   .layers = {}};
  Findings known; // reported by lint, not here
  const WeightList weights(*folder, known, options.layout);
  std::vector<const NamedWeight*> layers;
  for (const NamedWeight& weight : weights.weights())
    if (weight.layer)
      layers.push_back(&weight);
  report.layers.resize(layers.size());
  auto described =
      inParallel(options.work, kChunkBytes, layers.size(), [&](std::size_t i, Scratch&) {
        return describe(*layers[i]->layer).map([&](ReportLayer layer) {
          report.layers[i] = std::move(layer);
        });
      });
  if (!described)
    return tl::unexpected(std::move(described.error()));
  if (original)
    compare(*original, *folder, weights, options, report);
  std::ranges::sort(report.layers, base::precedesNaturally, &ReportLayer::name);
  return report;
}

} // namespace octavo::checkpoint
