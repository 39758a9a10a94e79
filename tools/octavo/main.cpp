// octavo: the command line. The subcommands are in the other files of this folder.

#include "tools/octavo/Commands.h"
#include "tools/octavo/Help.h"
#include "tools/octavo/InputKinds.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/Version.h"

#include "octavo/Base/PrintableText.h"
#include "octavo/Base/Shortened.h"
#include "octavo/Checkpoint/Files/KnownTemporaries.h"
#include "octavo/Kernels/Isa.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace octavo::tools {

namespace {

#ifdef OCTAVO_MLIR
constexpr const char* kFooter = R"(Examples:
  octavo checkpoint inspect model/
  octavo checkpoint quantize model/ -o model-fp8/ --layout compressed-tensors --format fp8_row
  octavo quantize model.mlir --format mxfp8_e4m3 --explain
  octavo run model.mlir --weights model.safetensors --input ids.npy
  octavo run model.mlir --weights model.safetensors --input ids.npy --quantize nvfp4 --compare f32
`octavo help COMMAND` prints the help of a command, such as: octavo help checkpoint quantize.)";
constexpr const char* kMissingCommands = "";

void addProgramCommands(CLI::App& app) {
  addRunCommand(app);
  addQuantizeCommand(app);
  addExplainCommand(app);
  addTuneCommand(app);
  addCalibrateCommand(app);
  addCompileCommand(app);
  addVerifyProgramCommand(app);
  addConvertProgramCommand(app);
}
#else
constexpr const char* kFooter = R"(Examples:
  octavo checkpoint inspect model/
  octavo analyze --format mxfp4
`octavo help COMMAND` prints the help of a command, such as: octavo help checkpoint quantize.
`octavo run` and `octavo quantize` need the build with MLIR: cmake -DOCTAVO_MLIR=ON.)";
constexpr const char* kMissingCommands =
    "\n  run and quantize need the build with MLIR: cmake -DOCTAVO_MLIR=ON";

void addProgramCommands(CLI::App&) {}
#endif

/// The innermost subcommand that the command line names, or the application itself.
const CLI::App& selected(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty())
    current = current->get_subcommands().front();
  return *current;
}

/// Adds checks that refuse an empty name of a file or folder. An unset shell variable gives an
/// empty name, and it must not mean "no file".
void refuseEmptyPlaces(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (std::ranges::any_of(std::array{"FILE", "FOLDER", "OUT", "DIR"},
                            [&](const char* place) { return type.find(place) != type.npos; }))
      option->check([type](const std::string& given) {
        return given.empty() ? "the name is empty: give " + type + ", or leave the option out" : "";
      });
  }
  for (CLI::App* subcommand : app.get_subcommands({}))
    refuseEmptyPlaces(*subcommand);
}

/// The error of a whole number; empty if it is valid. CLI11 itself takes -1 for 2^64 - 1, and the
/// largest number for one that is too large.
std::string wholeNumberProblem(const std::string& given) {
  const int base = given.starts_with("0x") ? 16 : 10;
  const std::string_view digits = std::string_view(given).substr(base == 16 ? 2 : 0);
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [read, error] = std::from_chars(digits.data(), end, value, base);
  return error == std::errc() && read == end ? "" : "expected 0 to 2^64 - 1, found " + given;
}

/// The error of an error bound; empty if it is valid. NaN is invalid, because no error exceeds it.
std::string boundProblem(const std::string& given) {
  double value = 0;
  return CLI::detail::lexical_cast(given, value) && value >= 0
             ? ""
             : "expected a number from 0 on, found " + given;
}

/// Adds checks for the numbers that options take, by their placeholders.
void holdNumbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_type_name().starts_with("ULP"))
      option->check(boundProblem);
    else if (option->get_type_name() == "N")
      option->check(wholeNumberProblem);
  for (CLI::App* subcommand : app.get_subcommands({}))
    holdNumbers(*subcommand);
}

/// The error of the command line in one sentence, with names similar to an unknown name.
std::string usageMessage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = selected(app);
  const std::vector<std::string> extras = command.remaining();
  if (extras.empty()) {
    const std::vector<std::string> missing = missingOptions(command);
    return dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !missing.empty()
               ? requiredText(missing)
               : error.what();
  }

  const std::string& unknown = extras.front();
  std::vector<std::string> known;
  if (unknown.rfind('-', 0) == 0) {
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames())
        known.push_back("--" + name);
    return unknownName(command.get_parent() ? "option of " + command.get_name() : "option",
                       unknown.substr(0, unknown.find('=')), known);
  }
  for (const CLI::App* subcommand : command.get_subcommands({}))
    known.push_back(subcommand->get_name());
  if (known.empty())
    return fmt::format("{} does not take the argument \"{}\"", command.get_name(), unknown);
  return unknownName("subcommand", unknown, known) + (command.get_parent() ? "" : kMissingCommands);
}

/// Prints an error, cut to less than 2 KB. An error of the command line also says where its help
/// is.
int report(const CLI::App& app, const std::string& message, ExitCode code) {
  const CLI::App& command = selected(app);
  std::fflush(stdout); // prints the output before the error, also if both go to one file
  fmt::print(stderr, "octavo: error: {}\n",
             base::shortened(base::printable(message, base::Newlines::Kept)));
  if (code == ExitCode::BadUsage)
    fmt::print(stderr, "  try: {} --help\n", typedName(command));
  return static_cast<int>(code);
}

/// Opens closed standard streams on /dev/null. Otherwise the next opened file would get the
/// stream's number, and output would be written to it. stdout is opened for reading, so that
/// printing stays an error; errors have no reader.
void holdClosedStreams() {
  for (const auto& [stream, mode] :
       {std::pair(STDIN_FILENO, O_RDONLY), {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}})
    if (::fcntl(stream, F_GETFD) < 0) // open() uses the lowest free number, which is this one
      static_cast<void>(::open("/dev/null", mode));
}

int run(int argc, char** argv) {
  holdClosedStreams();
  // Exceeding the file size limit becomes an error of the write.
  std::signal(SIGXFSZ, SIG_IGN);
  checkpoint::removeTemporariesOnSignals();
  CLI::App app{"Quantizes JAX programs, PyTorch models and checkpoints to FP8, MX and NVFP4 on a "
               "CPU, explains what it did to each matrix product, and runs the result.",
               "octavo"};
  app.set_version_flag("--version", version());
  app.footer(kFooter);
  app.require_subcommand(1);
  wrapHelp(app);
  const auto addGroup = [&app](const std::string& name, auto... add) {
    const std::size_t before = app.get_subcommands({}).size();
    (add(app), ...);
    const std::vector<CLI::App*> all = app.get_subcommands({});
    for (std::size_t i = before; i < all.size(); ++i)
      all[i]->group(name);
  };
  addGroup("Programs", addProgramCommands);
  addGroup("Checkpoints", addCheckpointCommand);
  addGroup("Formats", addFormatsCommand, addPresetsCommand, addAnalyzeCommand, addVectorsCommand);
  addGroup("Help", addHelpCommand, addCompletionCommand);
  refuseEmptyPlaces(app);
  holdNumbers(app);
  app.add_flag_callback("--option-table",
                        [&app] {
                          printText(optionTable(app));
                          throw CLI::Success();
                        })
      ->group(""); // for tests, not in --help
  app.parse_complete_callback([&app] {
    checkPaths(app);
    checkInputKinds(app);
  });

  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return static_cast<int>(ExitCode::BadUsage);
  }
  try {
    requireDeclared(app);
    app.parse(argc, argv);
  } catch (const CLI::Success& success) { // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return report(app, usageMessage(app, error), ExitCode::BadUsage);
  } catch (const CommandError& error) {
    return report(app, error.what(), error.exitCode());
  } catch (const kernels::IsaError& error) { // OCTAVO_ISA is invalid
    return report(app, error.what(), ExitCode::BadUsage);
  } catch (const std::bad_alloc&) {
    return report(app, "out of memory; use a machine with more memory, or a smaller input",
                  ExitCode::BadInput);
  } catch (const std::system_error& error) { // writing the output or starting a thread failed
    return report(
        app, fmt::format("the system refused: {}; free some space and run again", error.what()),
        ExitCode::BadInput);
  } catch (const std::exception& error) {
    return report(app,
                  fmt::format("{}; this is a bug in octavo: please report it with the command "
                              "line and its input",
                              error.what()),
                  ExitCode::BadInput);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    return report(app, "the output cannot be written; is the disk full?", ExitCode::BadInput);
  return static_cast<int>(ExitCode::Success);
}

} // namespace
} // namespace octavo::tools

int main(int argc, char** argv) { return octavo::tools::run(argc, argv); }
