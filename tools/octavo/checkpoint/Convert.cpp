// octavo checkpoint convert: from one layout to another (docs/commands/checkpoint-convert.md).

#include "tools/octavo/checkpoint/Commands.h"
#include "tools/octavo/checkpoint/QuantizeFlags.h"
#include "tools/octavo/checkpoint/RewriteCommand.h"

#include "octavo/Checkpoint/Jobs/LayoutConversion.h"

#include <memory>

namespace octavo::tools {

namespace {

struct ConvertFlags {
  RewriteFlags rewrite;
  std::string from;
  std::string to;
  bool requantizes = false;
  std::string format;
  QuantizeFlags quantize;
};

void convert(const ConvertFlags& flags) {
  const checkpoint::Layout& to = layoutNamed(flags.to);
  if (to.spellings().empty())
    throw CommandError("a plain checkpoint has no scales: octavo checkpoint dequantize writes one",
                       ExitCode::BadUsage);
  if (flags.requantizes && flags.format.empty())
    throw CommandError("--requantize needs --format, the format to quantize to",
                       ExitCode::BadUsage);
  std::optional<checkpoint::Requantization> requantization;
  if (flags.requantizes) {
    const format::ScaledFormat& format = formatNamed(flags.format, to);
    requantization = {&format, quantizeOptions(flags.quantize, format)};
  }
  const checkpoint::Folder folder = openFolder(flags.rewrite.input);
  const checkpoint::Layout& from = layoutOf(folder, flags.from);
  auto rewrite = checkpoint::planConversion(
      folder, {.from = &from, .to = &to, .requantization = requantization},
      jobOptions("convert", {{"from", from.name()},
                             {"to", to.name()},
                             {"requantize", flags.requantizes ? flags.format : ""},
                             {"quantize", toJson(flags.quantize)}}));
  if (!rewrite)
    throw CommandError(rewrite.error().message(), ExitCode::BadInput);
  runRewrite(std::move(*rewrite), flags.rewrite, "converting");
}

} // namespace

void addConvertCommand(CLI::App& group) {
  CLI::App* command =
      group.add_subcommand("convert", "Write quantized weights in another tool's layout");
  auto flags = std::make_shared<ConvertFlags>();
  addRewriteFlags(*command, flags->rewrite);
  command->add_option("--layout", flags->to, "Whose layout: compressed-tensors, fp8, ...")
      ->type_name("LAYOUT")
      ->required();
  command->add_option("--from", flags->from, "The input's layout, where it is not what it seems")
      ->type_name("LAYOUT");
  CLI::Option* requantize =
      command->add_flag("--requantize", flags->requantizes,
                        "Quantize anew what the layout cannot say, and report the error");
  command->add_option("--format", flags->format, "Scaled format of what is quantized anew")
      ->type_name("FORMAT")
      ->needs(requantize);
  addQuantizeFlags(*command, flags->quantize);
  command->footer(R"(Examples:
  octavo checkpoint convert Llama-NVFP4 -o Llama-NVFP4-CT --layout compressed-tensors
  octavo checkpoint convert DeepSeek-V3 -o DeepSeek-V3-MXFP8 --layout compressed-tensors --requantize --format mxfp8_e4m3)");
  command->callback([flags] { convert(*flags); });
}

} // namespace octavo::tools
