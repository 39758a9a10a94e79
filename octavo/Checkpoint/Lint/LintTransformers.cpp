// What transformers does with some checkpoints.

#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Lint/ReaderConditions.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace octavo::checkpoint {

namespace {

using enum Reader;
using enum Severity;

// Conditions, in the order of the table.

/// It takes sides over the number of their scales for the extents of a block.
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

void reportBlocks(const LintSubject& subject, const ReaderRule& rule, Findings& findings,
                  BlocksRead reading) {
  if (quantMethod(subject.folder) == "fp8")
    for (const Layer& layer : subject.inventory.layers)
      if (hasFormat(layer, "fp8_block") && readingOfBlocks(layer) == reading)
        report(rule, findings, &layer.elements.tensor,
               fmt::format("{} in blocks of 128 x 128", fmt::join(layer.shape, " x ")));
}

void misreadBlocks(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  reportBlocks(subject, rule, findings, BlocksRead::AsOthers);
}

void refusedBlocks(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  reportBlocks(subject, rule, findings, BlocksRead::No);
}

void raggedActivations(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  if (quantMethod(subject.folder) == "compressed-tensors")
    for (const Layer& layer : subject.inventory.layers)
      if (hasFormat(layer, "fp8_block") && layer.shape.back() % 128 != 0 &&
          layer.activations.kind != Activations::Kind::None)
        report(rule, findings, &layer.elements.tensor,
               fmt::format("{}: {} columns are not a multiple of 128",
                           fmt::join(layer.shape, " x "), layer.shape.back()));
}

/// Whether transformers knows no such quant_method: it says so in its log, and loads the tensors as
/// if the model were not quantized.
bool isUnknownToTransformers(const Folder& folder) {
  return isModelOpt(folder) || quantMethod(folder) == "octavo";
}

void rawCodes(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
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

void refusedByShape(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  if (isUnknownToTransformers(subject.folder))
    for (const Layer& layer : subject.inventory.layers)
      if (layer.type.element->width() == 4) {
        report(rule, findings, &layer.elements.tensor,
               fmt::format("{} bytes a row where the model has {} weights", layer.shape.back() / 2,
                           layer.shape.back()));
        return; // one is enough to refuse all
      }
}

/// A finding for all layers that the layout's readers have no place for.
template <typename Affects>
void withoutPlace(const LintSubject& subject, const ReaderRule& rule, Findings& findings,
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

void stackedExperts(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  for (std::string_view method : {"compressed-tensors", "quark"})
    withoutPlace(subject, rule, findings, method,
                 [](const Layer& layer) { return layer.shape.size() == 3; });
}

void matricesAsBlocks(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  withoutPlace(subject, rule, findings, "mxfp4",
               [](const Layer& layer) { return layer.shape.size() == 2; });
}

void groupsInQuark(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  if (quantMethod(subject.folder) == "quark")
    perFormat(subject, rule, findings, [](const Layer& layer) {
      return layer.format->element->width() == 8 && layer.format->along != format::kWholeAxis;
    });
}

/// Llama 4, of whose experts it makes a module each where quant_method is compressed-tensors, and a
/// stack elsewhere.
bool isLlama4(const Folder& folder) {
  for (const Json* type : {&memberAt(folder.config(), {"model_type"}),
                           &memberAt(folder.config(), {"text_config", "model_type"})})
    if (type->is_string() && type->get<std::string>().starts_with("llama4"))
      return true;
  return false;
}

/// A finding for the first expert of each format for which `affects` holds, where it puts experts
/// that are a few modules each into a stack.
template <typename Affects>
void perFormatOfExperts(const LintSubject& subject, const ReaderRule& rule, Findings& findings,
                        Affects affects) {
  if (!isLlama4(subject.folder))
    perFormat(subject, rule, findings,
              [&](const Layer& layer) { return !expertsOf(layer.name).empty() && affects(layer); });
}

void outerScalesOfExperts(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  if (quantMethod(subject.folder) == "compressed-tensors")
    perFormatOfExperts(subject, rule, findings,
                       [](const Layer& layer) { return layer.outer.has_value(); });
}

/// It multiplies codes of 8 bits by the tensor of scales as it is: one, or one a row.
void blocksOfExperts(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  if (quantMethod(subject.folder) == "compressed-tensors")
    perFormatOfExperts(subject, rule, findings, [](const Layer& layer) {
      const auto grid = format::scaleShape(layer.shape, layer.type.block);
      return layer.type.element->width() == 8 &&
             (layer.type.scale->specials == format::Specials::Scale || grid[1] > 1 ||
              (grid[0] > 1 && grid[0] < layer.shape[0]));
    });
}

void expertsInQuark(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  if (quantMethod(subject.folder) == "quark")
    perFormatOfExperts(subject, rule, findings, [](const Layer&) { return true; });
}

void stacksOfLlama4(const LintSubject& subject, const ReaderRule& rule, Findings& findings) {
  if (quantMethod(subject.folder) != "compressed-tensors" || !isLlama4(subject.folder))
    return;
  for (const StoredTensor& tensor : subject.inventory.plain) {
    const std::size_t dot = tensor.name().rfind('.');
    if (dot != std::string::npos &&
        isExpertStack(tensor.name().substr(0, dot), tensor.name().substr(dot + 1)))
      return report(rule, findings, &tensor, fmt::format("{} is a stack", tensor.name()));
  }
}

// clang-format off
constexpr auto kRules = std::to_array<ReaderRule>({
    {"ragged-blocks-misread", {Transformers}, Error,
     "silently wrong: the block height is taken as rows / rows of scales (120 where it is 128), so scales slide; columns alike",
     "octavo checkpoint dequantize, or convert to a layout without blocks of 128 x 128",
     "transformers 5.23, run on CPU", misreadBlocks},
    {"ragged-blocks-refused", {Transformers}, Error,
     "the load stops: the rows are not a multiple of the scale rows, or the columns not a multiple of the scale columns",
     "octavo checkpoint dequantize, or convert to a layout without blocks of 128 x 128",
     "transformers 5.23, run on CPU", refusedBlocks},
    {"ragged-activations-stop", {Transformers}, Error,
     "the weights load, and the first product stops: activations go in groups of 128 columns",
     "octavo checkpoint convert --layout compressed-tensors --requantize --format fp8_row, or quantize the plain model with --weight-only",
     "compressed-tensors 0.20, run on CPU", raggedActivations},
    {"raw-codes-loaded", {Transformers}, Error,
     "silently wrong: the codes are loaded as the weights, without their scales",
     "octavo checkpoint convert --layout compressed-tensors, or dequantize",
     "transformers 5.23, run on CPU", rawCodes},
    {"stacked-experts-unread", {Transformers}, Error,
     "silently wrong: tensors of stacked experts have no place in the model, whose experts keep random values",
     "quantize the plain model again, which leaves the stacks plain; or octavo checkpoint convert --layout gpt-oss",
     "transformers 5.23, run on CPU", stackedExperts},
    {"matrices-as-blocks-unread", {Transformers}, Error,
     "silently wrong: blocks and scales are looked for in experts.gate_up_proj and experts.down_proj alone, and other layers keep random values",
     "octavo checkpoint convert --layout compressed-tensors, or quark", "transformers 5.23, run on CPU", matricesAsBlocks},
    {"quark-groups-stop", {Transformers}, Error, "the weights load, and the first product stops: Quark runs FP8 by tensor and by row alone",
     "octavo checkpoint convert --layout compressed-tensors", "transformers 5.23 with Quark 0.13, run on CPU", groupsInQuark},
    {"packed-rows-refused", {Transformers}, Error, "the load stops: packed rows do not have the model's shape",
     "octavo checkpoint convert --layout compressed-tensors", "transformers 5.23, run on CPU", refusedByShape},
    {"experts-outer-scales-dropped", {Transformers}, Error,
     "silently wrong: experts that are modules one by one are decompressed without weight_global_scale, and their weights are hundreds of times too large, or more",
     "octavo checkpoint convert --layout compressed-tensors --requantize --format mxfp4, or dequantize",
     "transformers 5.23, integrations/compressed_tensors.py:CompressedTensorsDequantize, run on CPU", outerScalesOfExperts},
    {"experts-blocks-stop", {Transformers}, Error,
     "the load stops: codes of experts that are modules one by one are multiplied by their scales as these are stored, which fits one scale, or one a row",
     "octavo checkpoint convert --layout compressed-tensors --requantize --format fp8_row, or dequantize",
     "transformers 5.23, integrations/compressed_tensors.py:CompressedTensorsDequantize, run on CPU", blocksOfExperts},
    {"quark-experts-unread", {Transformers}, Error,
     "scales of experts that are modules one by one have no place: FP8 codes are loaded as the weights, silently wrong, and packed ones stop the load",
     "octavo checkpoint convert --layout compressed-tensors, with --requantize --format fp8_row or mxfp4 for other formats, or dequantize",
     "transformers 5.23 with Quark 0.13, run on CPU", expertsInQuark},
    {"llama4-stacks-unread", {Transformers}, Error,
     "silently wrong: beside compressed-tensors the experts of Llama 4 are modules one by one, so stacks have no place, and experts keep random values",
     "quantize the plain model again with --layout quark or deepseek, beside which the stacks stay stacks",
     "transformers 5.23, quantizers/base.py:MODULES_TO_PATCH_FOR_QUANTIZATION, run on CPU", stacksOfLlama4},
});
// clang-format on

} // namespace

std::span<const ReaderRule> transformersRules() { return kRules; }

} // namespace octavo::checkpoint
