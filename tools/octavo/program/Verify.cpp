// octavo verify: checks every byte of a compiled folder against its digests
// (docs/commands/verify.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/Paths.h"

#include "octavo/Base/ByteText.h"
#include "octavo/Program/Folder/FolderCheck.h"
#include "octavo/Program/Folder/LoadedProgram.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace octavo::tools {

namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  std::string folder;
  bool isJson = false;
};

void verify(const VerifyOptions& options) {
  const auto files = program::checkFolder(options.folder);
  if (!files)
    throw CommandError(files.error(), ExitCode::BadInput);
  const auto loaded = program::LoadedProgram::load(options.folder);
  if (!loaded) // intact, but not for this machine, or with files of another program
    throw CommandError(loaded.error(), ExitCode::BadInput);
  std::uint64_t all = 0;
  Json rows = Json::array();
  std::string text;
  for (const auto& [name, size] : *files) {
    all += size;
    rows.push_back({{"name", name}, {"bytes", size}});
    text += fmt::format("  {}: {}\n", name, base::bytesText(size));
  }
  if (options.isJson)
    return printText(Json{{"folder", options.folder},
                          {"function", (*loaded)->function()},
                          {"files", rows},
                          {"bytes", all}}
                         .dump(2) +
                     "\n");
  printText(fmt::format("{}: @{}, whole: {} in {} files\n{}", options.folder, (*loaded)->function(),
                        base::bytesText(all), files->size(), text));
}

} // namespace

void addVerifyProgramCommand(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("verify", "Check every byte of a folder that octavo compile wrote");
  auto options = std::make_shared<VerifyOptions>();
  readsPath(command->add_option("FOLDER", options->folder, "A folder of octavo compile")
                ->type_name("FOLDER")
                ->required());
  command->add_flag("--json", options->isJson, "Print JSON");
  command->footer(R"(Examples:
  octavo verify model)");
  command->callback([options] { verify(*options); });
}

} // namespace octavo::tools
