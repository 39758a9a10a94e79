// A program that `octavo compile` wrote to a folder, ready to run without a compiler or LLVM.
#pragma once

#include "octavo/Program/Steps/Explain.h"
#include "octavo/Program/Steps/Place.h"
#include "octavo/Program/Steps/ProgramRunner.h"
#include "octavo/Program/Values/Donation.h"
#include "octavo/Program/Values/Executable.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace octavo::program {

/// A loaded program. Any number of threads may run it at once.
class LoadedProgram : public Executable {
public:
  /// An argument or result.
  struct Tensor : Place::InMemory {
    std::string name;
    std::vector<std::int64_t> ofOne; ///< the shape at batch size 1
  };

  /// Loads a folder. Weights are mapped, so processes share them. Kernels become code of this
  /// process: a folder is trusted like a program. If `octavo compile` replaces the folder
  /// meanwhile, either the old or the new program is loaded, whole. The error names the file that
  /// is wrong and why, or the processor features that are missing.
  static tl::expected<std::unique_ptr<LoadedProgram>, std::string>
  load(const std::filesystem::path& folder);

  const std::string& function() const { return name; }
  const std::vector<Tensor>& arguments() const { return taken; }
  const std::vector<Tensor>& results() const { return given; }
  /// The batch sizes of a run; {1, 1} if no batch is open.
  ItemRange items() const { return runner.program().items; }
  /// The batch size of arguments that fit their types otherwise. Fails if arguments have different
  /// batch sizes, or one that the program does not accept.
  tl::expected<std::int64_t, std::string> itemsOf(std::span<const Value> arguments) const;
  /// Fails if the program does not accept this batch size.
  tl::expected<void, std::string> checkItems(std::int64_t items) const;

  /// The donations of arguments to results.
  const std::vector<Donation>& donations() const { return givenAway; }

  std::int64_t processes() const override { return 1; }
  /// Requires arguments that itemsOf accepts; runInto too.
  tl::expected<std::vector<Value>, std::string>
  run(std::vector<Value> arguments, const RunContext& host, ResultMemory memory) override {
    return runner.run(std::move(arguments), host, memory);
  }
  Outcome runInto(std::span<Value> arguments, const RunContext& host,
                  ResultMemory memory) override {
    return runner.runInto(arguments, host, memory);
  }
  Explanation explain() const override { return octavo::program::explain(runner.program()); }

private:
  struct Loader;

  LoadedProgram(std::shared_ptr<const void> code, Program program)
      : code(std::move(code)), runner(std::move(program)) {}

  std::shared_ptr<const void> code; ///< the library with the kernels
  std::string name;
  std::vector<Tensor> taken, given;
  std::vector<Donation> givenAway;
  ProgramRunner runner;
};

} // namespace octavo::program
