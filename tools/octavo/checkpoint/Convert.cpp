// octavo checkpoint convert: converts from one layout to another
// (docs/commands/checkpoint-convert.md).

#include "tools/octavo/checkpoint/Commands.h"
#include "tools/octavo/checkpoint/NamedChoice.h"
#include "tools/octavo/checkpoint/QuantizeFlags.h"
#include "tools/octavo/checkpoint/RewriteCommand.h"

#include "octavo/Checkpoint/Jobs/FnuzConversion.h"
#include "octavo/Checkpoint/Jobs/LayoutConversion.h"

#include <fmt/format.h>

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
  bool toFnuz = false, toOcp = false;
  std::string nanCodes = "refuse", beyond = "refuse", scaleRange = "refuse";
  bool caps = false;
  std::vector<std::string> allowed;
};

constexpr NamedChoice<numerics::SpecialCodes> kNanCodes[] = {
    {"refuse", numerics::SpecialCodes::Refuse},
    {"nan", numerics::SpecialCodes::Nan},
    {"saturate", numerics::SpecialCodes::Saturate}};
constexpr NamedChoice<numerics::NoTwin> kBeyond[] = {{"refuse", numerics::NoTwin::Refuse},
                                                     {"saturate", numerics::NoTwin::Saturate},
                                                     {"requantize", numerics::NoTwin::Requantize}};
constexpr NamedChoice<numerics::ScaleRange> kScaleRange[] = {
    {"refuse", numerics::ScaleRange::Refuse}, {"saturate", numerics::ScaleRange::Saturate}};

tl::expected<checkpoint::Rewrite, checkpoint::Error> planLayout(const checkpoint::Folder& folder,
                                                                const checkpoint::Layout& from,
                                                                const checkpoint::Layout& to,
                                                                const ConvertFlags& flags) {
  const format::ScaledFormat* format =
      flags.format.empty() ? nullptr : &formatNamed(flags.format, to);
  std::optional<checkpoint::Requantization> requantization;
  if (flags.requantizes)
    requantization = {quantizeOptions(flags.quantize, *format), presetOf(flags.quantize, *format)};
  return checkpoint::planConversion(folder,
                                    {.from = &from,
                                     .to = &to,
                                     .format = format,
                                     .requantization = requantization,
                                     .allowed = doubtsNamed(flags.allowed)},
                                    jobOptions("convert", {{"from", from.name()},
                                                           {"to", to.name()},
                                                           {"format", format ? format->name : ""},
                                                           {"requantize", flags.requantizes},
                                                           {"quantize", toJson(flags.quantize)}}));
}

tl::expected<checkpoint::Rewrite, checkpoint::Error> planFnuz(const checkpoint::Folder& folder,
                                                              const checkpoint::Layout& layout,
                                                              const ConvertFlags& flags) {
  const checkpoint::FnuzChoice choice{
      .layout = &layout,
      .direction =
          flags.toFnuz ? checkpoint::FnuzDirection::ToFnuz : checkpoint::FnuzDirection::ToOcp,
      .codes = {.special = choiceNamed("policy of --nan-codes", flags.nanCodes, kNanCodes),
                .noTwin = choiceNamed("policy of --beyond", flags.beyond, kBeyond)},
      .scales = choiceNamed("policy of --scale-range", flags.scaleRange, kScaleRange),
      .largest = flags.caps ? checkpoint::FnuzLargest::Ocp : checkpoint::FnuzLargest::Format,
      .allowed = doubtsNamed(flags.allowed)};
  return checkpoint::planFnuzConversion(folder, choice,
                                        jobOptions("convert", {{"from", layout.name()},
                                                               {"fnuz", flags.toFnuz},
                                                               {"nan_codes", flags.nanCodes},
                                                               {"beyond", flags.beyond},
                                                               {"scale_range", flags.scaleRange},
                                                               {"cap", flags.caps}}));
}

/// Throws CommandError if an option would have no effect.
void refuseWithoutUse(const ConvertFlags& flags) {
  const bool isRespelled = flags.toFnuz || flags.toOcp;
  if (flags.requantizes && flags.format.empty() && !isRespelled)
    throw CommandError("--requantize needs --format, the format to quantize to",
                       ExitCode::BadUsage);
  struct Use {
    const char* option;
    bool isGiven, isOfUse;
    const char* with;
  };
  const Use uses[] = {
      {"--format", !flags.format.empty(), !isRespelled, "--layout"},
      {"--requantize", flags.requantizes, !isRespelled, "--layout"},
      {"--rule", !flags.quantize.rule.empty(), flags.requantizes, "--requantize"},
      {"--preset", !flags.quantize.preset.empty(), flags.requantizes, "--requantize"},
      {"--non-finite", !flags.quantize.nonFinite.empty(), flags.requantizes, "--requantize"},
      {"--nan-codes", flags.nanCodes != "refuse", isRespelled, "--fnuz or --ocp"},
      {"--scale-range", flags.scaleRange != "refuse", isRespelled, "--fnuz or --ocp"}};
  for (const Use& use : uses)
    if (use.isGiven && !use.isOfUse)
      throw CommandError(fmt::format("{} has no effect without {}", use.option, use.with),
                         ExitCode::BadUsage);
}

void convert(const ConvertFlags& flags) {
  const bool isRespelled = flags.toFnuz || flags.toOcp;
  if (isRespelled == !flags.to.empty())
    throw CommandError("convert needs one of --layout, --fnuz and --ocp", ExitCode::BadUsage);
  refuseWithoutUse(flags);
  const checkpoint::Layout* to = isRespelled ? nullptr : &layoutNamed(flags.to);
  if (to && to->spellings().empty())
    throw CommandError(
        "a plain checkpoint has no scales; `octavo checkpoint dequantize` writes one",
        ExitCode::BadUsage);
  const checkpoint::Folder folder = openFolder(flags.rewrite.input);
  const checkpoint::Layout& from = layoutOf(folder, flags.from);
  auto rewrite = to ? planLayout(folder, from, *to, flags) : planFnuz(folder, from, flags);
  runRewrite(std::move(rewrite), flags.rewrite, "converting");
}

void addFnuzFlags(CLI::App& command, ConvertFlags& flags) {
  const auto group = [](CLI::Option* option) { option->group("FNUZ, the FP8 formats of MI300"); };
  CLI::Option* fnuz = command.add_flag(
      "--fnuz", flags.toFnuz, "Convert FP8 weights from OCP's formats to FNUZ, in the same layout");
  CLI::Option* ocp = command
                         .add_flag("--ocp", flags.toOcp,
                                   "Convert FNUZ weights to OCP's formats, in the same layout")
                         ->excludes(fnuz);
  group(fnuz);
  group(ocp);
  group(command
            .add_option("--nan-codes", flags.nanCodes,
                        "What to do with NaN and infinity codes: refuse, nan, saturate")
            ->type_name("POLICY")
            ->capture_default_str());
  group(command
            .add_option("--beyond", flags.beyond,
                        "What to do with +-240, which doubled exceed OCP's E4M3 (--ocp): refuse, "
                        "saturate, requantize")
            ->needs(ocp)
            ->type_name("POLICY")
            ->capture_default_str());
  group(command
            .add_option("--scale-range", flags.scaleRange,
                        "What to do with scales that cannot be doubled or halved: refuse, saturate")
            ->type_name("POLICY")
            ->capture_default_str());
  group(
      command
          .add_flag("--cap", flags.caps,
                    "Limit weights that are already FNUZ to +-224, half of OCP's largest (--fnuz)")
          ->needs(fnuz));
}

} // namespace

void addConvertCommand(CLI::App& group) {
  CLI::App* command =
      group.add_subcommand("convert", "Write quantized weights in another tool's layout");
  auto flags = std::make_shared<ConvertFlags>();
  addRewriteFlags(*command, flags->rewrite);
  addLayoutOption(*command, "--layout", flags->to, "Layout to write");
  addFromOption(*command, flags->from);
  addFormatOption(*command, flags->format,
                  "Scaled format to write all layers in; it must represent their values exactly");
  command->add_flag(
      "--requantize", flags->requantizes,
      "Requantize layers that --format cannot represent exactly, and report the error");
  addQuantizeFlags(*command, flags->quantize);
  addAllowFlag(*command, flags->allowed);
  addFnuzFlags(*command, *flags);
  command->footer(R"(Examples:
  octavo checkpoint convert Llama-NVFP4 -o Llama-NVFP4-CT --layout compressed-tensors
  octavo checkpoint convert DeepSeek-V3 -o DeepSeek-V3-MXFP8 --layout compressed-tensors --requantize --format mxfp8_e4m3
  octavo checkpoint convert Llama-FP8 -o Llama-FP8-FNUZ --fnuz
  octavo checkpoint convert Llama-FP8-FNUZ -o Llama-FP8-OCP --ocp --beyond saturate)");
  command->callback([flags] { convert(*flags); });
}

} // namespace octavo::tools
