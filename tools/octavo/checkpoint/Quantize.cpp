// octavo checkpoint quantize: quantizes plain weights to a layout
// (docs/commands/checkpoint-quantize.md).

#include "tools/octavo/checkpoint/Commands.h"
#include "tools/octavo/checkpoint/QuantizeFlags.h"
#include "tools/octavo/checkpoint/RewriteCommand.h"

#include "octavo/Checkpoint/Jobs/Quantization.h"

#include <memory>

namespace octavo::tools {

namespace {

struct QuantizeWeightsFlags {
  RewriteFlags rewrite;
  std::string layout;
  std::string format;
  bool isWeightOnly = false;
  QuantizeFlags quantize;
  checkpoint::WeightChoice weights;
};

void quantize(const QuantizeWeightsFlags& flags) {
  const checkpoint::Layout& layout = layoutNamed(flags.layout);
  const format::ScaledFormat& format = formatNamed(flags.format, layout);
  checkpoint::QuantizationChoice choice{
      .layout = &layout,
      .format = &format,
      .options = quantizeOptions(flags.quantize, format),
      .preset = presetOf(flags.quantize, format),
      .weights = flags.weights,
      .activations = flags.isWeightOnly ? checkpoint::Activations::Kind::None
                                        : checkpoint::Activations::Kind::Dynamic};
  const checkpoint::Folder folder = openFolder(flags.rewrite.input);
  auto rewrite =
      checkpoint::planQuantization(folder, choice,
                                   jobOptions("quantize", {{"layout", layout.name()},
                                                           {"format", format.name},
                                                           {"weight_only", flags.isWeightOnly},
                                                           {"only", flags.weights.only},
                                                           {"ignore", flags.weights.ignore},
                                                           {"quantize", toJson(flags.quantize)}}));
  runRewrite(std::move(rewrite), flags.rewrite, "quantizing");
}

} // namespace

void addQuantizeWeightsCommand(CLI::App& group) {
  CLI::App* command = group.add_subcommand("quantize", "Write plain weights as quantized ones");
  auto flags = std::make_shared<QuantizeWeightsFlags>();
  addRewriteFlags(*command, flags->rewrite);
  addLayoutOption(*command, "--layout", flags->layout, "Layout to write")->required();
  addFormatOption(*command, flags->format, "Scaled format of the weights")->required();
  addQuantizeFlags(*command, flags->quantize);
  command
      ->add_option("--only", flags->weights.only,
                   "Only these: names, wildcards, or re: and a regular expression")
      ->type_name("PATTERN");
  command->add_option("--ignore", flags->weights.ignore, "Not these")->type_name("PATTERN");
  command->add_flag("--weight-only", flags->isWeightOnly,
                    "Keep activations wide; by default they are quantized at run time, except "
                    "nvfp4's, which need calibration");
  command->footer(R"(Examples:
  octavo checkpoint quantize Qwen3-8B -o Qwen3-8B-NVFP4 --layout compressed-tensors --format nvfp4 --weight-only
  octavo checkpoint quantize Qwen3-8B -o Qwen3-8B-FP8 --layout deepseek --format fp8_block
  octavo checkpoint quantize Qwen3-8B -o out --layout compressed-tensors --format mxfp4 --rule even --ignore 're:.*mlp.down_proj'
`octavo formats` lists the scaled formats.)");
  command->callback([flags] { quantize(*flags); });
}

} // namespace octavo::tools
