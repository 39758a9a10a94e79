// octavo checkpoint dequantize: converts any layout to plain tensors
// (docs/commands/checkpoint-dequantize.md).

#include "tools/octavo/checkpoint/Commands.h"
#include "tools/octavo/checkpoint/RewriteCommand.h"
#include "tools/octavo/checkpoint/Wording.h"

#include "octavo/Checkpoint/Jobs/Dequantization.h"

#include <fmt/format.h>

#include <memory>

namespace octavo::tools {

namespace {

struct DequantizeFlags {
  RewriteFlags rewrite;
  std::string layout;
  std::string dtype = "bf16";
  std::vector<std::string> allowed;
};

void dequantize(const DequantizeFlags& flags) {
  const kernels::WideType dtype = wideTypeNamed(flags.dtype);
  const checkpoint::Folder folder = openFolder(flags.rewrite.input);
  const checkpoint::Layout& layout = layoutOf(folder, flags.layout);
  auto rewrite = checkpoint::planDequantization(
      folder, {.layout = &layout, .dtype = dtype, .allowed = doubtsNamed(flags.allowed)},
      jobOptions("dequantize", {{"from", layout.name()}, {"dtype", flags.dtype}}));
  if (!flags.layout.empty() && rewrite && rewrite->changes.empty())
    throw CommandError(fmt::format("{}: has no quantized layers in layout {}: leave out --from, or "
                                   "see `octavo checkpoint inspect`",
                                   printable(flags.rewrite.input), flags.layout),
                       ExitCode::BadInput);
  runRewrite(std::move(rewrite), flags.rewrite, "dequantizing");
}

} // namespace

void addDequantizeCommand(CLI::App& group) {
  CLI::App* command = group.add_subcommand("dequantize", "Write quantized weights as plain ones");
  auto flags = std::make_shared<DequantizeFlags>();
  addRewriteFlags(*command, flags->rewrite);
  command->add_option("--dtype", flags->dtype, "Dtype of the weights written: bf16, f16 or f32")
      ->type_name("DTYPE")
      ->capture_default_str();
  addFromOption(*command, flags->layout);
  addAllowFlag(*command, flags->allowed);
  command->footer(R"(Examples:
  octavo checkpoint dequantize DeepSeek-V3 -o DeepSeek-V3-bf16
  octavo checkpoint dequantize gpt-oss-20b -o gpt-oss-20b-f32 --dtype f32 --memory 256MB)");
  command->callback([flags] { dequantize(*flags); });
}

} // namespace octavo::tools
