// Checks of what transformers does with some checkpoints.

#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Lint/ReaderConditions.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace octavo::checkpoint {

namespace {

// The conditions, in the order of the table of rules.

/// How transformers reads blocks, whose extents it computes as the weight's extent divided by the
/// number of scales. AsStored: correctly; AsOthers: as blocks of another size; No: it refuses them.
enum class BlocksRead { AsStored, AsOthers, No };
BlocksRead readingOfBlocks(const Layer& layer) {
  const std::size_t rank = layer.shape.size();
  const auto grid = format::scaleShape(layer.shape, layer.type.block);
  auto reading = BlocksRead::AsStored;
  for (std::size_t axis : {rank - 2, rank - 1}) {
    if (layer.shape[axis] % grid[axis] != 0)
      return BlocksRead::No;
    if (grid[axis] > 1 && layer.shape[axis] / grid[axis] != layer.type.block[axis])
      reading = BlocksRead::AsOthers;
  }
  return reading;
}

void reportBlocks(const LintSubject& subject, RuleName rule, Findings& findings,
                  BlocksRead reading) {
  if (quantMethod(subject.folder) == "fp8")
    for (const Layer& layer : subject.inventory.layers)
      if (hasFormat(layer, "fp8_block") && readingOfBlocks(layer) == reading)
        report(rule, findings, &layer.elements.tensor,
               fmt::format("{} in blocks of 128 x 128", fmt::join(layer.shape, " x ")));
}

void misreadBlocks(const LintSubject& subject, RuleName rule, Findings& findings) {
  reportBlocks(subject, rule, findings, BlocksRead::AsOthers);
}

void refusedBlocks(const LintSubject& subject, RuleName rule, Findings& findings) {
  reportBlocks(subject, rule, findings, BlocksRead::No);
}

void raggedActivations(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) == "compressed-tensors")
    for (const Layer& layer : subject.inventory.layers)
      if (hasFormat(layer, "fp8_block") && layer.shape.back() % 128 != 0 &&
          layer.activations.kind != Activations::Kind::None)
        report(rule, findings, &layer.elements.tensor,
               fmt::format("{}: {} columns are not a multiple of 128",
                           fmt::join(layer.shape, " x "), layer.shape.back()));
}

/// compressed-tensors unfolds rows into groups and refuses rows that are not whole groups.
void raggedGroups(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) != "compressed-tensors")
    return;
  for (const Layer& layer : subject.inventory.layers) {
    const bool areGroups =
        layer.format && layer.format->across == 1 && layer.format->along != format::kWholeAxis;
    const std::int64_t group = areGroups ? layer.format->along : layer.type.block.back();
    const bool isInRows = areGroups || (!layer.format && layer.type.block.front() == 1);
    if (isInRows && layer.shape.back() % group != 0)
      report(rule, findings, &layer.elements.tensor,
             fmt::format("{}: {} columns are not a multiple of {}", fmt::join(layer.shape, " x "),
                         layer.shape.back(), group));
  }
}

/// Whether transformers does not know the quant_method: it logs that and loads the tensors as if
/// the model were not quantized.
bool isUnknownToTransformers(const Folder& folder) {
  return isModelOpt(folder) || quantMethod(folder) == "octavo";
}

void rawCodes(const LintSubject& subject, RuleName rule, Findings& findings) {
  const bool isAutoFp8 =
      quantMethod(subject.folder) == "fp8" &&
      !memberAt(subject.folder.quantizationConfig(), {"weight_block_size"}).is_array();
  const bool isUnknown = isUnknownToTransformers(subject.folder);
  for (const Layer& layer : subject.inventory.layers)
    if ((isAutoFp8 && hasFormat(layer, "fp8_tensor")) ||
        (isUnknown && layer.type.element->width() == 8))
      report(rule, findings, &layer.elements.tensor,
             fmt::format("an {} weight of {}", layer.format ? layer.format->name : "8-bit",
                         isAutoFp8 ? "the AutoFP8 layout" : quantMethod(subject.folder)));
}

void refusedByShape(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (isUnknownToTransformers(subject.folder))
    for (const Layer& layer : subject.inventory.layers)
      if (layer.type.element->width() == 4) {
        report(rule, findings, &layer.elements.tensor,
               fmt::format("{} bytes a row where the model has {} weights", layer.shape.back() / 2,
                           layer.shape.back()));
        return; // one such layer makes the reader refuse all
      }
}

/// Adds one finding for all layers for which readers of the method have no place.
template <typename Affects>
void withoutPlace(const LintSubject& subject, RuleName rule, Findings& findings,
                  std::string_view method, Affects affects) {
  if (quantMethod(subject.folder) != method)
    return;
  const Layer* first = nullptr;
  std::size_t count = 0;
  for (const Layer& layer : subject.inventory.layers)
    if (affects(layer)) {
      first = first ? first : &layer;
      ++count;
    }
  if (first)
    report(rule, findings, &first->elements.tensor,
           fmt::format("{} of {} layers are like it, of shape [{}]", count,
                       subject.inventory.layers.size(), fmt::join(first->shape, ", ")));
}

void stackedExperts(const LintSubject& subject, RuleName rule, Findings& findings) {
  for (std::string_view method : {"compressed-tensors", "quark"})
    withoutPlace(subject, rule, findings, method,
                 [](const Layer& layer) { return layer.shape.size() == 3; });
}

void matricesAsBlocks(const LintSubject& subject, RuleName rule, Findings& findings) {
  withoutPlace(subject, rule, findings, "mxfp4",
               [](const Layer& layer) { return layer.shape.size() == 2; });
}

void groupsInQuark(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) == "quark")
    perFormat(subject, rule, findings, [](const Layer& layer) {
      return layer.format->element->width() == 8 && layer.format->along != format::kWholeAxis;
    });
}

/// Whether the model is Llama 4. For it transformers builds one module for each expert if
/// quant_method is compressed-tensors, else a stack.
bool isLlama4(const Folder& folder) {
  for (const Json* type : {&memberAt(folder.config(), {"model_type"}),
                           &memberAt(folder.config(), {"text_config", "model_type"})})
    if (type->is_string() && type->get<std::string>().starts_with("llama4"))
      return true;
  return false;
}

/// Adds a finding for the first expert of each format for which `affects` is true, if transformers
/// stacks experts that are separate modules.
template <typename Affects>
void perFormatOfExperts(const LintSubject& subject, RuleName rule, Findings& findings,
                        Affects affects) {
  if (!isLlama4(subject.folder))
    perFormat(subject, rule, findings,
              [&](const Layer& layer) { return !expertsOf(layer.name).empty() && affects(layer); });
}

void outerScalesOfExperts(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) == "compressed-tensors")
    perFormatOfExperts(subject, rule, findings,
                       [](const Layer& layer) { return layer.outer.has_value(); });
}

/// transformers multiplies 8-bit codes by the tensor of scales as it is: one scale, or one for each
/// row.
void blocksOfExperts(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) == "compressed-tensors")
    perFormatOfExperts(subject, rule, findings, [](const Layer& layer) {
      const auto grid = format::scaleShape(layer.shape, layer.type.block);
      return layer.type.element->width() == 8 &&
             (layer.type.scale->specials == format::Specials::Scale || grid[1] > 1 ||
              (grid[0] > 1 && grid[0] < layer.shape[0]));
    });
}

void expertsInQuark(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) == "quark")
    perFormatOfExperts(subject, rule, findings, [](const Layer&) { return true; });
}

void stacksOfLlama4(const LintSubject& subject, RuleName rule, Findings& findings) {
  if (quantMethod(subject.folder) != "compressed-tensors" || !isLlama4(subject.folder))
    return;
  for (const StoredTensor& tensor : subject.inventory.plain)
    if (isExpertStack(moduleOf(tensor.name()), lastComponent(tensor.name())))
      return report(rule, findings, &tensor, fmt::format("{} is a stack", tensor.name()));
}

constexpr auto kTransformersChecks = std::to_array<ReaderCheck>({
    {"ragged-blocks-misread", misreadBlocks},
    {"ragged-blocks-refused", refusedBlocks},
    {"ragged-activations-stop", raggedActivations},
    {"ragged-groups-refused", raggedGroups},
    {"raw-codes-loaded", rawCodes},
    {"stacked-experts-unread", stackedExperts},
    {"matrices-as-blocks-unread", matricesAsBlocks},
    {"quark-groups-stop", groupsInQuark},
    {"packed-rows-refused", refusedByShape},
    {"experts-outer-scales-dropped", outerScalesOfExperts},
    {"experts-blocks-stop", blocksOfExperts},
    {"quark-experts-unread", expertsInQuark},
    {"llama4-stacks-unread", stacksOfLlama4},
});

} // namespace

std::span<const ReaderCheck> transformersChecks() { return kTransformersChecks; }

} // namespace octavo::checkpoint
