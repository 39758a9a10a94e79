#include "octavo/Checkpoint/Lint/Lint.h"

#include "octavo/Checkpoint/Lint/LintReaders.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace octavo::checkpoint {

namespace {

struct ReaderRow {
  Reader reader;
  std::string_view name;
};
constexpr auto kReaders = std::to_array<ReaderRow>({{Reader::Vllm, "vllm"},
                                                    {Reader::Transformers, "transformers"},
                                                    {Reader::Sglang, "sglang"},
                                                    {Reader::TensorRtLlm, "trtllm"}});

bool contains(const std::vector<std::string>& names, RuleName rule) {
  return std::ranges::find(names, rule.text()) != names.end();
}

void keepWanted(const LintOptions& options, Findings& findings) {
  std::erase_if(findings, [&](const Finding& finding) {
    return contains(options.ignore, finding.rule) ||
           (!options.only.empty() && !contains(options.only, finding.rule));
  });
}

/// Makes file names relative to the checkpoint.
void makeRelative(const std::filesystem::path& root, Findings& findings) {
  const std::string prefix = (root / "").string();
  for (Finding& finding : findings)
    if (finding.file.starts_with(prefix))
      finding.file.erase(0, prefix.size());
}

void sort(Findings& findings) {
  const auto key = [](const Finding& finding) {
    return std::tuple(-static_cast<int>(finding.severity), finding.rule.text(),
                      std::string_view(finding.file), std::string_view(finding.tensor),
                      std::string_view(finding.what));
  };
  std::ranges::sort(findings, {}, key);
  // Two readers that behave alike give one finding.
  const auto [first, last] = std::ranges::unique(findings, {}, key);
  findings.erase(first, last);
}

} // namespace

std::string_view readerName(Reader reader) {
  return std::ranges::find(kReaders, reader, &ReaderRow::reader)->name;
}

std::optional<Reader> findReader(std::string_view name) {
  const auto row = std::ranges::find(kReaders, name, &ReaderRow::name);
  return row == kReaders.end() ? std::nullopt : std::optional(row->reader);
}

std::span<const Reader> lintReaders() {
  static constexpr auto kAll = [] {
    std::array<Reader, kReaders.size()> all{};
    std::ranges::transform(kReaders, all.begin(), &ReaderRow::reader);
    return all;
  }();
  return kAll;
}

std::size_t LintReport::count(Severity severity) const {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

tl::expected<LintReport, Error> lint(const std::filesystem::path& path,
                                     const LintOptions& options) {
  LintReport report;
  auto folder = Folder::openDamaged(path, report.findings);
  if (!folder)
    return tl::unexpected(std::move(folder.error()));
  const DetectedLayout detected = layoutOf(*folder, options.layout, report.findings);
  const Inventory inventory = detected.layout->read(*folder, report.findings);
  report.layout = detected.layout->name();
  report.reason = detected.reason;
  report.tensors = folder->tensors().size();
  report.layers = inventory.layers.size();
  for (const StoredTensor& tensor : folder->tensors())
    report.bytes += tensor.size();

  std::vector<Error> unread;
  const LintSubject subject{*folder, *detected.layout, detected.isForeign, inventory,
                            takeLayerCensuses(inventory, options.execution, unread)};
  for (const Error& error : unread)
    reportUnread(error, report.findings);
  lintFiles(subject, report.findings);
  lintConfiguration(subject, report.findings);
  lintDisagreement(subject, report.findings);
  lintLeakedState(subject, report.findings);
  lintScales(subject, report.findings);
  lintCodes(subject, report.findings);
  lintRange(subject, report.findings);
  lintFused(subject, report.findings);
  lintExperts(subject, report.findings);
  lintWideModules(subject, report.findings);
  lintKvScales(subject, report.findings);
  for (Reader reader : options.readers)
    lintReader(subject, reader, report.findings);

  keepWanted(options, report.findings);
  makeRelative(folder->path(), report.findings);
  sort(report.findings);
  return report;
}

} // namespace octavo::checkpoint
