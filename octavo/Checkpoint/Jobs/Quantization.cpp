#include "octavo/Checkpoint/Jobs/Quantization.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/NamePatterns.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"
#include "octavo/Checkpoint/ModuleNames/ModuleFamilies.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Loss.h"
#include "octavo/Kernels/Quantize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace octavo::checkpoint {

namespace {

class QuantizeStep final : public Step {
public:
  QuantizeStep(std::shared_ptr<const ValueRows> rows, LayerPlan plan,
               const numerics::QuantizeOptions& options, std::shared_ptr<AmaxMeasurement> amax,
               ErrorReport report)
      : rows(std::move(rows)), plan(std::move(plan)), options(options), shared(std::move(amax)),
        all(piecesOf(*this->rows, this->plan.step())),
        tileRows(tileRowsOf(*this->rows, this->plan.step())),
        losses(report == ErrorReport::Measured ? all.size() : 0) {
    this->options.input = &this->rows->inputType();
  }

  std::span<const PlannedTensor> outputs() const override { return plan.tensors; }
  Measurement* needs() const override { return shared.get(); }
  std::span<const Piece> pieces() const override { return all; }
  std::uint64_t pieceMemory() const override {
    const auto values = static_cast<std::uint64_t>(mostValues(*rows, all));
    const auto inTile = std::min(values, static_cast<std::uint64_t>(tileRows * rows->columns()));
    return inTile * (4 + 4 + 1 + (rows->step() == 0 ? 4 : 0) + (losses.empty() ? 0 : 4)) + values +
           mostScaleBytes();
  }

  tl::expected<void, Error> make(std::size_t index, const Sink& sink, Scratch& scratch) override {
    const Piece piece = all[index];
    const std::span<std::byte> stored = plan.place(sink, piece, scratch.stored);
    scratch.scales.resize(scaleBytes(piece));
    kernels::QuantizeReport report;
    for (std::int64_t begin = piece.begin; begin < piece.end; begin += tileRows) {
      const Piece tile{begin, std::min(begin + tileRows, piece.end)};
      auto done = quantize(tile, stored.data() + plan.storedCodes(begin - piece.begin),
                           scratch.scales.data() + scaleOffset(piece, begin), scratch,
                           losses.empty() ? nullptr : &losses[index]);
      if (!done)
        return tl::unexpected(std::move(done.error()));
      report = *done;
    }
    auto written = plan.writeStored(sink, piece, stored).and_then([&] {
      return plan.writeScales(sink, piece, scratch.scales);
    });
    if (written && plan.outer && index == 0)
      written =
          plan.outerMeaning == Meaning::Divides && options.outer != numerics::OuterForm::Quotient
              ? sink.write(*plan.outer, 0, std::as_bytes(std::span(&report.outerInverse, 1)))
              : plan.writeOuter(sink, report.outer);
    return written;
  }

  Json report() const override {
    if (losses.empty())
      return nullptr;
    kernels::Loss total;
    for (const kernels::Loss& loss : losses)
      total.add(loss);
    const double share = total.errorSquares() / total.valueSquares();
    return {{"name", plan.tensors.front().name},
            {"max_error", total.largest()},
            {"max_relative_error", total.largestRelative()},
            {"relative_error", total.valueSquares() > 0 ? Json(std::sqrt(share)) : Json(nullptr)},
            // Without any error the ratio is undefined.
            {"sqnr_db", total.errorSquares() > 0 && total.valueSquares() > 0
                            ? Json(-10 * std::log10(share))
                            : Json(nullptr)}};
  }

private:
  std::size_t scaleBytes(Piece piece) const {
    return static_cast<std::size_t>(plan.scaleCount(piece) * plan.type.scale->bytes());
  }
  /// Offset of a tile's scales within those of its piece, in bytes.
  std::size_t scaleOffset(Piece piece, std::int64_t tileBegin) const {
    return plan.hasOneScale() ? 0 : scaleBytes({piece.begin, tileBegin});
  }
  std::uint64_t mostScaleBytes() const {
    std::size_t most = 0;
    for (const Piece& piece : all)
      most = std::max(most, scaleBytes(piece));
    return most;
  }

  /// Quantizes the rows of `tile`: codes in stored form to `stored`, scales to `scales`. Adds
  /// errors to `loss` unless that is null.
  tl::expected<kernels::QuantizeReport, Error> quantize(Piece tile, std::byte* stored,
                                                        std::byte* scales, Scratch& scratch,
                                                        kernels::Loss* loss) const {
    const std::int64_t shape[] = {tile.end - tile.begin, rows->columns()};
    const auto n = static_cast<std::size_t>(shape[0] * shape[1]);
    scratch.values.resize(n);
    if (auto done = rows->read(tile, scratch.values.data(), scratch); !done)
      return tl::unexpected(std::move(done.error()));
    const numerics::ScaledType type = plan.pieceType(shape[0]);
    if (plan.packs())
      scratch.codes.resize(n);
    auto* codes = reinterpret_cast<std::uint8_t*>(plan.packs() ? scratch.codes.data() : stored);
    const kernels::Execution single{.threads = 1};
    const kernels::QuantizeReport report =
        shared ? kernels::quantizePiece(scratch.values.data(), shape, type, options, shared->amax(),
                                        codes, scales, single)
               : kernels::quantize(scratch.values.data(), shape, type, options, codes, scales, {},
                                   single);
    if (report.refused)
      return tl::unexpected(nonFiniteError(
          *rows, tile.begin * rows->columns() + report.refused->index, report.refused->value));
    if (plan.packs())
      plan.pack(std::span(scratch.codes).first(n), stored);
    if (loss) {
      scratch.restored.resize(n);
      kernels::dequantize(codes, scales, report.outer, shape, type, scratch.restored.data(),
                          single);
      loss->add(scratch.values.data(), scratch.restored.data(), n);
    }
    return report;
  }

  std::shared_ptr<const ValueRows> rows;
  LayerPlan plan;
  numerics::QuantizeOptions options;
  std::shared_ptr<AmaxMeasurement> shared;
  std::vector<Piece> all;
  std::int64_t tileRows;
  std::vector<kernels::Loss> losses; ///< by piece, summed in order; empty unless measured
};

} // namespace

std::unique_ptr<Step> quantizeStep(std::shared_ptr<const ValueRows> rows, LayerPlan plan,
                                   const numerics::QuantizeOptions& options,
                                   const std::string& group, SharedAmaxes& amaxes,
                                   ErrorReport report) {
  std::shared_ptr<AmaxMeasurement> amax;
  if (plan.outer || plan.hasOneScale()) {
    amax = amaxes.try_emplace(group, std::make_shared<AmaxMeasurement>()).first->second;
    amax->add(rows);
  }
  return std::make_unique<QuantizeStep>(std::move(rows), std::move(plan), options, std::move(amax),
                                        report);
}

namespace {

/// Patterns of one command-line option: `re:` expressions as in compressed-tensors, all others as
/// wildcards.
class Selection {
public:
  Selection(std::span<const std::string> patterns, const char* option) : option(option) {
    std::vector<std::string> wild, regular;
    for (const std::string& pattern : patterns)
      (pattern.starts_with("re:") ? regular : wild).push_back(pattern);
    wildcards = NamePatterns(wild, PatternStyle::Wildcards, option, broken);
    expressions = NamePatterns(regular, PatternStyle::NameClassOrRegex, option, broken);
  }
  /// The error of a pattern that cannot be compiled; nullopt if there is none.
  std::optional<Error> error() const {
    if (broken.empty())
      return std::nullopt;
    return Error{
        .file = option,
        .problem = broken.front().what,
        .fix =
            "fix the expression (Python's syntax); without re: a pattern is a name with * and ?"};
  }
  bool names(std::string_view module, std::string_view tensor) const {
    bool found = false; // all are matched, to record which patterns are used
    for (std::string_view name : {module, tensor}) {
      found |= wildcards.match(name).has_value();
      found |= expressions.match(name).has_value();
    }
    return found;
  }
  /// The patterns that matched nothing.
  std::vector<std::string> unused() const {
    std::vector<std::string> all;
    for (const NamePatterns* patterns : {&wildcards, &expressions})
      for (const std::size_t entry : patterns->unused())
        all.push_back((*patterns)[entry]);
    return all;
  }
  /// A sentence for each unused pattern and for each pattern whose matching was given up.
  std::vector<std::string> unusedTexts() const {
    std::vector<std::string> all;
    for (const std::string& pattern : unused())
      all.push_back(unusedText(pattern));
    for (const NamePatterns* patterns : {&wildcards, &expressions})
      for (const std::size_t entry : patterns->unfinished())
        all.push_back(fmt::format("{} {} takes too many steps to match, and was abandoned", option,
                                  (*patterns)[entry]));
    return all;
  }
  std::string unusedText(const std::string& pattern) const {
    return fmt::format("{} {} names no weight", option, pattern);
  }

private:
  const char* option;
  Findings broken;
  NamePatterns wildcards, expressions;
};

/// A parameter that may be the weight of a Linear or a stack of experts.
struct QuantizationCandidate {
  const StoredTensor* tensor;
  std::string_view module, parameter;
  PlainAxes axes;
};

/// The candidate of a tensor that may be the weight of matrices; stacked experts are recognized by
/// the names of their projections. nullopt for other tensors.
std::optional<QuantizationCandidate> candidateOf(const StoredTensor& tensor) {
  const std::string_view name = tensor.name();
  const std::size_t dot = name.rfind('.');
  const SafetensorsDtype& dtype = *tensor.entry->dtype;
  const bool isWide = dtype.type && dtype.type->isFloat() && !dtype.type->format().isNarrow();
  if (dot == std::string_view::npos || !isWide)
    return std::nullopt;
  const QuantizationCandidate candidate{&tensor, name.substr(0, dot), name.substr(dot + 1),
                                        PlainAxes::Same};
  const std::size_t rank = tensor.entry->shape.size();
  if (rank == 2 && candidate.parameter == "weight")
    return candidate;
  if (rank == 3 && isExpertStack(candidate.module, candidate.parameter))
    return QuantizationCandidate{&tensor, candidate.module, candidate.parameter,
                                 PlainAxes::Swapped};
  return std::nullopt;
}

} // namespace

std::string amaxGroup(const format::ScaledFormat& format, std::string_view module,
                      std::string_view tensor, const numerics::Preset* preset) {
  const bool isShared =
      format.hasOuterScale || (format.hasScaleOfTensor() && (!preset || preset->sharesScales));
  return isShared ? fusedGroup(module).value_or(std::string(tensor)) : std::string(tensor);
}

std::optional<std::string> quantizableModule(const StoredTensor& tensor) {
  const std::optional<QuantizationCandidate> candidate = candidateOf(tensor);
  if (!candidate)
    return std::nullopt;
  const WideFamily* family = wideFamily(candidate->module);
  const bool isEmbedding = family && family->kind == WideFamily::Kind::Embedding;
  return isEmbedding ? std::nullopt : std::optional(std::string(candidate->module));
}

void settleIgnored(LayoutChoice& choice) {
  std::set<std::string_view> quantized;
  for (const ChosenLayer& layer : choice.layers)
    quantized.insert(layer.module);
  std::set<std::string> seen;
  std::erase_if(choice.ignored, [&](const std::string& module) {
    return quantized.contains(module) || !seen.insert(module).second;
  });
}

namespace {

class QuantizationPlanner : RewritePlanner {
public:
  QuantizationPlanner(const Folder& folder, const QuantizationChoice& choice)
      : RewritePlanner(folder), choice(choice), options(choice.options),
        only(choice.weights.only, "--only"), ignore(choice.weights.ignore, "--ignore") {
    // A divisor is stored as it was computed, so that readers invert the same number as the
    // quantizer.
    if (choice.layout->spelling(choice.format->name)->outer.meaning == Meaning::Divides &&
        options.outer == numerics::OuterForm::Quotient)
      options.outer = numerics::OuterForm::Inverse;
  }

  tl::expected<Rewrite, Error> plan(Json jobOptions) {
    for (const Selection* selection : {&only, &ignore})
      if (auto error = selection->error())
        return tl::unexpected(std::move(*error));
    LayoutChoice configured;
    for (const StoredTensor& tensor : folder.tensors()) {
      const std::optional<QuantizationCandidate> candidate = candidateOf(tensor);
      if (!candidate)
        continue;
      auto layer = planFor(*candidate);
      if (layer) {
        quantize(*candidate, std::move(*layer));
        configured.layers.push_back({std::string(candidate->module), choice.format,
                                     activationsFor(choice.format->name, choice.activations)});
        continue;
      }
      leave(tensor.name(), std::move(layer.error()));
      if (std::optional<std::string> module = quantizableModule(tensor))
        configured.ignored.push_back(std::move(*module));
    }
    if (configured.layers.empty())
      return tl::unexpected(nothingToQuantize());
    if (auto error = unusedPattern())
      return tl::unexpected(std::move(*error));
    if (choice.format->hasOuterScale && choice.activations != Activations::Kind::None)
      rewrite.notes.push_back(
          finding("activations-stay-wide", "", "",
                  fmt::format("activations of {} have an outer scale, which needs calibration",
                              choice.format->name)));
    settleIgnored(configured);
    noteCutGroups(configured);
    choice.layout->settleActivations(configured.layers);
    return finish(std::move(jobOptions), *choice.layout, configured);
  }

private:
  /// Notes patterns that match something but no weight. Error: a pattern that matches nothing at
  /// all, for example a misspelled one: what it was to exclude would be quantized.
  std::optional<Error> unusedPattern() {
    const Json& tied = modelMember(folder.config(), "tie_word_embeddings");
    for (const Selection* selection : {&only, &ignore}) {
      for (std::string& what : selection->unusedTexts())
        rewrite.notes.push_back(finding("unused-pattern", "", "", std::move(what)));
      if (selection->unused().empty())
        continue;
      for (const StoredTensor& tensor : folder.tensors())
        if (!candidateOf(tensor))
          selection->names(moduleOf(tensor.name()), tensor.name());
      for (const std::string& pattern : selection->unused())
        // A tied head has no tensor of its own, yet is usually listed.
        if (!pattern.ends_with("lm_head") || (tied.is_boolean() && !tied.get<bool>()))
          return Error{.file = folder.path().string(),
                       .problem = "has nothing of the name that a pattern asks for",
                       .expected = "a pattern that names a tensor or a module",
                       .found = selection->unusedText(pattern),
                       .fix = "correct the pattern or leave it out; `octavo checkpoint inspect "
                              "--tensors` lists the names"};
    }
    return std::nullopt;
  }

  /// Notes fused groups of which only some projections are quantized.
  void noteCutGroups(const LayoutChoice& configured) {
    std::map<std::string, std::string_view> quantized; // one quantized member of each group
    for (const ChosenLayer& layer : configured.layers)
      if (const auto group = fusedGroup(layer.module))
        quantized.emplace(*group, layer.module);
    std::vector<std::string> cut;
    std::set<std::string> seen;
    for (const std::string& module : configured.ignored) {
      const auto group = fusedGroup(module);
      const auto member = group ? quantized.find(*group) : quantized.end();
      if (member != quantized.end() && seen.insert(*group).second)
        cut.push_back(fmt::format("{} is quantized and {} is left", member->second, module));
    }
    if (cut.empty())
      return;
    const std::string more =
        cut.size() > 1 ? fmt::format(", and {} more like it", cut.size() - 1) : "";
    rewrite.notes.push_back(
        finding("fused-formats-differ", "", "",
                fmt::format("{}{}: --only and --ignore must name all of them, or none", cut.front(),
                            more)));
  }

  Error nothingToQuantize() const {
    std::map<std::string_view, std::size_t> reasons;
    for (const LeftAlone& left : rewrite.left)
      ++reasons[left.why];
    std::vector<std::string> found = only.unusedTexts();
    for (const auto& [why, count] : reasons)
      found.push_back(fmt::format("{} left ({})", count, why));
    return {.file = folder.path().string(),
            .problem = "has no weight to quantize",
            .expected = "a weight of BF16, F16 or F32 with two axes, or a stack of experts",
            .found = found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", ")),
            .fix =
                "`octavo checkpoint inspect --tensors` lists the names; --only chooses among them"};
  }

  /// The plan of a candidate, or why it stays plain.
  tl::expected<LayerPlan, std::string> planFor(const QuantizationCandidate& candidate) const {
    const SafetensorsEntry& entry = *candidate.tensor->entry;
    for (std::string why : {whyLeft(candidate), whyNever(entry)})
      if (!why.empty())
        return tl::unexpected(std::move(why));
    std::vector<std::int64_t> shape = entry.shape;
    if (candidate.axes == PlainAxes::Swapped)
      std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    return planQuantized(candidate.module, candidate.parameter, shape, *choice.format,
                         *choice.layout, *entry.dtype, choice.preset);
  }

  std::string whyLeft(const QuantizationCandidate& candidate) const {
    // Both are matched with every candidate, to record which patterns are used.
    const bool isNamed = only.names(candidate.module, candidate.tensor->name());
    if (ignore.names(candidate.module, candidate.tensor->name()))
      return "named by --ignore";
    if (!choice.weights.only.empty() && !isNamed)
      return "not named by --only";
    const WideFamily* kept = wideFamily(candidate.module);
    if (!isNamed || choice.weights.only.empty())
      return kept ? std::string(kept->why) : "";
    // Readers of other tools' layouts build only quantized Linear modules.
    return kept && !kept->isLinear && choice.layout->name() != "native"
               ? fmt::format("{}: readers of layout {} do not look for codes there", kept->why,
                             choice.layout->name())
               : "";
  }
  /// Why this tensor can never be quantized, whatever the options; empty if it can.
  static std::string whyNever(const SafetensorsEntry& entry) {
    if (!wideType(*entry.dtype))
      return fmt::format("{} is not quantized; BF16, F16 and F32 are", entry.dtype->name);
    return numerics::elementCount(entry.shape) == 0 ? "it has no values" : "";
  }

  void quantize(const QuantizationCandidate& candidate, LayerPlan layer) {
    const StoredTensor& tensor = *candidate.tensor;
    LayerChange change = {.name = tensor.name(),
                          .from = std::string(tensor.entry->dtype->name),
                          .to = std::string(choice.format->name),
                          .elements =
                              static_cast<std::uint64_t>(numerics::elementCount(layer.shape)),
                          .bytesBefore = tensor.size()};
    replace(tensor, std::move(change),
            quantizeStep(plainRows(tensor, candidate.axes), std::move(layer), options,
                         amaxGroup(*choice.format, candidate.module, tensor.name(), choice.preset),
                         amaxes, ErrorReport::None));
  }

  const QuantizationChoice& choice;
  numerics::QuantizeOptions options;
  Selection only, ignore;
  SharedAmaxes amaxes;
};

} // namespace

tl::expected<LayerPlan, std::string>
planQuantized(std::string_view module, std::string_view parameter,
              std::span<const std::int64_t> shape, const format::ScaledFormat& format,
              const Layout& layout, const SafetensorsDtype& scaleDtype,
              const numerics::Preset* preset) {
  auto plan =
      planLayer(module, parameter, shape, format, *layout.spelling(format.name, shape.size()),
                scaleDtype, WithInputScale::No);
  const auto refused = preset && plan ? numerics::refusedAxis(*preset, format, shape,
                                                              static_cast<int>(shape.size()) - 1)
                                      : std::nullopt;
  if (refused)
    return tl::unexpected(fmt::format(
        "its {} {} are not whole blocks of {}, which {} refuses", shape[refused->axis],
        refused->axis + 1 == shape.size() ? "columns" : "rows", refused->block, preset->name));
  return plan;
}

/// The error for a format that needs stored activation scales: they come from running the model on
/// examples, which octavo does not do.
static Error needsCalibration(const QuantizationChoice& choice) {
  const std::vector<std::string_view> others = writtenFormats(*choice.layout, InputScale::Optional);
  return {.file = fmt::format("layout {}", choice.layout->name()),
          .problem =
              fmt::format("stores {} only with a scale of the activations", choice.format->name),
          .expected = "a format whose activations are quantized at run time, or stay wide",
          .found = "one that needs calibration",
          .fix = fmt::format("--format {}; or `octavo checkpoint convert` a calibrated checkpoint",
                             fmt::join(others, ", "))};
}

/// Why a plain folder is not quantized: it contains codes, which would remain beside the new ones.
static std::optional<Error> refuseCodes(const Folder& folder, const Inventory& inventory) {
  if (!inventory.unread.empty())
    return Error{.file = folder.path().string(),
                 .problem = "has codes that octavo cannot read",
                 .tensor = inventory.unread.front().name,
                 .expected = "weights of BF16, F16 or F32",
                 .found = inventory.unread.front().why,
                 .fix = inventory.unread.front().fix};
  for (const Doubtful& each : inventory.doubts)
    if (each.doubt == Doubt::UnscaledCodes)
      return Error{.file = folder.path().string(),
                   .problem = "has narrow floats without a scale",
                   .tensor = each.tensor,
                   .expected = "weights of BF16, F16 or F32",
                   .found = each.found,
                   .fix = "if the model was cast, `octavo checkpoint dequantize DIR -o OUT --allow "
                          "unscaled-codes` gives its values"};
  return std::nullopt;
}

tl::expected<Rewrite, Error> planQuantization(const Folder& folder,
                                              const QuantizationChoice& choice, Json options) {
  if (choice.layout->spelling(choice.format->name)->inputScale == InputScale::Required)
    return tl::unexpected(needsCalibration(choice));
  Findings findings;
  const DetectedLayout found = detectLayout(folder, findings);
  if (found.isForeign)
    return tl::unexpected(foreignLayout(folder, found));
  if (found.layout->name() != "plain")
    return tl::unexpected(Error{.file = folder.path().string(),
                                .problem = "is already quantized",
                                .expected = "weights of BF16, F16 or F32",
                                .found = fmt::format("{} ({})", found.layout->name(), found.reason),
                                .fix = "octavo checkpoint convert changes its layout; octavo "
                                       "checkpoint dequantize gives plain weights"});
  if (auto refused = refuseCodes(folder, found.layout->read(folder, findings)))
    return tl::unexpected(std::move(*refused));
  return QuantizationPlanner(folder, choice).plan(std::move(options));
}

} // namespace octavo::checkpoint
