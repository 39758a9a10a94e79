#include "tools/octavo/program/TuneMetric.h"

#include "tools/octavo/Commands.h"
#include "tools/octavo/Interruption.h"

#include "octavo/Session/Binding/Failure.h"
#include "octavo/Session/Binding/Outputs.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace octavo::tools {

namespace {

namespace fs = std::filesystem;

/// Quotes the text as one word of the shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char letter : text)
    word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + "'";
}

std::string contents(const fs::path& file) {
  const auto buffer = llvm::MemoryBuffer::getFile(file.string(), /*IsText=*/false);
  return buffer ? (*buffer)->getBuffer().trim().str() : "";
}

std::string lastLine(const std::string& text) {
  return text.substr(text.find_last_of('\n') + 1); // npos + 1 is 0
}

/// The end of a command's output, on its own line.
std::string tail(const std::string& text) {
  constexpr std::size_t kMost = 800;
  if (text.empty())
    return "";
  return "\n  " + (text.size() > kMost ? "..." + text.substr(text.size() - kMost) : text);
}

/// Runs a command. Returns its exit code; if that is negative, `problem` may have the reason. If
/// the search is interrupted, the command gets SIGTERM, and the function does not wait for it.
int execute(llvm::ArrayRef<llvm::StringRef> words,
            llvm::ArrayRef<std::optional<llvm::StringRef>> redirects, std::string& problem) {
  using namespace std::chrono_literals;
  const llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
      "/bin/sh", words, std::nullopt, redirects, /*MemoryLimit=*/0, &problem);
  if (process.Pid == llvm::sys::ProcessInfo::InvalidPid)
    return -1;
  for (auto between = 1ms;; between = std::min(2 * between, 20ms)) {
    const llvm::sys::ProcessInfo ended =
        llvm::sys::Wait(process, /*SecondsToWait=*/0, &problem, nullptr, /*Polling=*/true);
    if (ended.Pid == process.Pid)
      return ended.ReturnCode;
    if (Interruption::isAsked()) {
      ::kill(process.Pid, SIGTERM);
      return -1;
    }
    std::this_thread::sleep_for(between);
  }
}

} // namespace

MetricCommand::MetricCommand(std::string given, std::vector<std::string> sets,
                             std::vector<std::string> outputs)
    : command(std::move(given)), sets(std::move(sets)), outputNames(std::move(outputs)) {
  std::string path = (fs::temp_directory_path() / "octavo-tune-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr)
    throw CommandError(
        fmt::format("{}: {}", path, std::error_code(errno, std::generic_category()).message()),
        ExitCode::BadInput);
  folder = path;
  const std::string place = quoted((folder / "outputs").string());
  for (std::size_t at = command.find(kOutputsPlace); at != std::string::npos;
       at = command.find(kOutputsPlace, at + place.size()))
    command.replace(at, kOutputsPlace.size(), place);
}

MetricCommand::~MetricCommand() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

llvm::Expected<double>
MetricCommand::operator()(const session::FormatTrials::Outputs& outputs) const {
  for (std::size_t set = 0; set < outputs.size(); ++set) {
    std::vector<session::NamedOutput> named;
    for (std::size_t i = 0; i < outputs[set].size(); ++i)
      named.push_back({outputNames[i], &outputs[set][i].tensor()});
    const fs::path ofSet = folder / "outputs" / sets[set];
    std::error_code failed;
    fs::create_directories(ofSet, failed);
    if (failed)
      return session::failure(fmt::format("{}: {}", ofSet.string(), failed.message()));
    if (llvm::Error error = session::writeOutputs(ofSet, named))
      return std::move(error);
  }
  const std::string printed = (folder / "stdout").string(), said = (folder / "stderr").string();
  std::string problem;
  const std::optional<llvm::StringRef> redirects[] = {"/dev/null", llvm::StringRef(printed),
                                                      llvm::StringRef(said)};
  const int code = execute({"sh", "-c", command}, redirects, problem);
  if (Interruption::isAsked())
    return session::failure("interrupted while the metric's command ran");
  if (code != 0)
    return session::failure(
        fmt::format("the metric's command failed: {}{}",
                    code > 0 ? fmt::format("it ended with {}", code)
                             : (problem.empty() ? "it was ended by a signal" : problem),
                    tail(contents(said))));
  const std::string line = lastLine(contents(printed));
  double value = 0;
  // getAsDouble accepts "nan", which counts as an infinite loss.
  if (llvm::StringRef(line).trim().getAsDouble(value))
    return session::failure(fmt::format("the metric's command printed no number in its last line{}",
                                        line.empty() ? ": it printed nothing" : ":" + tail(line)));
  return value;
}

} // namespace octavo::tools
