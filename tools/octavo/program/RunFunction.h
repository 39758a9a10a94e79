// Runs a function of a program, with the files and options of the command line
// (docs/commands/run.md).
#pragma once

#include "tools/octavo/program/DotFlags.h"
#include "tools/octavo/program/RunProfile.h"
#include "tools/octavo/program/RunReport.h"

#include "octavo/Program/Values/Executable.h"
#include "octavo/Program/Values/Probes.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Binding.h"
#include "octavo/Session/Binding/JaxExport.h"
#include "octavo/Session/Binding/Outputs.h"
#include "octavo/Session/Binding/ProbeFolder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace octavo::tools {

/// The options of `octavo run`.
struct RunOptions {
  std::string program;
  std::string function;
  std::vector<std::string> weights;
  std::vector<std::string> inputs;
  std::vector<std::string> infeed;
  std::string probes;
  bool ignoresUnused = false;
  std::string backend = "compiled";
  DotFlags dots; ///< without format and recipe, the program runs unchanged
  std::string compare;
  bool isPerOp = false;
  std::string page;
  std::optional<double> bound;
  bool bisects = false;
  std::string output;
  bool failsOnMissed = false;
  bool isJson = false;
  bool explains = false;
  std::string profile;
  std::string dump;
  int threads = 0;
  unsigned repeat = 0;
  bool recovers = false;
  bool dropsScales = false;
};

/// Replaces "{process}" in a path by the number of a process.
std::string pathOf(std::string path, std::int64_t process);

/// The backend that --backend names. Throws CommandError with all names if it is unknown.
const session::Backend& backendOf(const RunOptions& options);

/// The outputs of one run of a function, each a plain tensor.
struct Outputs {
  std::vector<std::string> names;
  std::vector<std::int64_t> processes; ///< for each output, the process that returned it
  std::vector<program::Value> values;

  /// Ignores tokens.
  void add(const std::string& name, std::int64_t process, const program::Value& value);
};

/// The results of a run.
struct Run {
  Outputs outputs;
  WeightSizes weights;
  RunTimes times;
  program::CheckReport checks;
  std::int64_t processes = 1;
  std::optional<ProfileReport> profile;
};

/// Throws CommandError if the arguments do not determine the open extents of the function.
void closeExtents(mlir::func::FuncOp function, const std::vector<program::Value>& values,
                  const std::string& program);

/// The values of all processes' arguments, one process after the other. Files that are the same for
/// all processes are read once.
std::vector<program::Value> bindProcesses(const std::vector<program::Argument>& arguments,
                                          const RunOptions& options, const std::string& function,
                                          std::int64_t processes,
                                          session::Reading reading = session::Reading::Now);

/// The context of a run, besides its arguments. `probes` is null without a folder for probes.
program::RunContext hostOf(const RunOptions& options, program::Probes* probes,
                           std::int64_t processes);

/// Throws CommandError if outputs of these names, written to `output`, would replace files that the
/// command reads. If `output` is empty, nothing is written.
void checkOutputFiles(const std::string& output, const std::vector<std::string>& names);
/// Writes outputs that checkOutputFiles has accepted. Throws CommandError.
void writeOutputs(const std::string& output, const std::vector<session::NamedOutput>& outputs);

/// The folder for probes; null if the options name none.
std::unique_ptr<session::ProbeFolder> probeFolderOf(const RunOptions& options);

/// Writes the stages of compilation to the folder of --dump.
void dumpStages(const program::Executable& executable, const RunOptions& options);

/// Whether a run warns about dots that look narrow but are not. If several runs are of one program,
/// only the first warns.
enum class MissedDots : std::uint8_t { Told, Known };

/// Binds, compiles and runs a function, and repeats the run as --repeat says. `container` is the
/// jax.export container of the program, if it has one. `probes` may be null. Throws CommandError.
Run runFunction(mlir::func::FuncOp function, const std::optional<session::JaxExport>& container,
                const RunOptions& options, program::Probes* probes, MissedDots missed);

} // namespace octavo::tools
