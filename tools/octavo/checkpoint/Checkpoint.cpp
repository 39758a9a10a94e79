// octavo checkpoint: the group of subcommands for quantized weights in files.

#include "tools/octavo/checkpoint/Commands.h"

namespace octavo::tools {

void addCheckpointCommand(CLI::App& app) {
  CLI::App* group = app.add_subcommand(
      "checkpoint",
      "Inspect, lint, quantize, dequantize, convert, verify, diff, report checkpoints");
  group->require_subcommand(1);
  group->footer(R"(Examples:
  octavo checkpoint inspect model/
  octavo checkpoint lint model/ --for vllm
  octavo checkpoint quantize Qwen3-8B -o Qwen3-8B-NVFP4 --layout compressed-tensors --format nvfp4
`octavo help checkpoint COMMAND` prints the help of a command.)");
  addConvertCommand(*group);
  addDequantizeCommand(*group);
  addDiffCommand(*group);
  addInspectCommand(*group);
  addLayoutsCommand(*group);
  addLintCommand(*group);
  addQuantizeWeightsCommand(*group);
  addReportCommand(*group);
  addScalesCommand(*group);
  addVerifyCommand(*group);
}

} // namespace octavo::tools
