// A program that `octavo compile` wrote to a folder, ready to run: no compiler, no LLVM.
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

/// Any number of threads may run it at once.
class LoadedProgram : public Executable {
public:
  struct Tensor : Place::InMemory {
    std::string name;
    std::vector<std::int64_t> ofOne; ///< the shape of one item
  };

  /// Maps the folder's weights, which processes share, and its kernels, whose code this process
  /// then runs: a folder is trusted as a program is. While `octavo compile` writes the folder
  /// again, it is the program before or the one after, whole. The error says which file is wrong,
  /// and how; what the processor lacks.
  static tl::expected<std::unique_ptr<LoadedProgram>, std::string>
  load(const std::filesystem::path& folder);

  const std::string& function() const { return name; }
  const std::vector<Tensor>& arguments() const { return taken; }
  const std::vector<Tensor>& results() const { return given; }
  /// How many items a run may have, most often the size of a batch; one where nothing is open.
  ItemRange items() const { return runner.program().items; }
  /// The items of arguments that fit but for their number: the error names arguments that are not
  /// of one number, or says which the program takes.
  tl::expected<std::int64_t, std::string> itemsOf(std::span<const Value> arguments) const;
  /// The second of these errors.
  tl::expected<void, std::string> checkItems(std::int64_t items) const;

  /// What the program gives away for its results.
  const std::vector<Donation>& donations() const { return givenAway; }

  std::int64_t processes() const override { return 1; }
  /// Of arguments that itemsOf takes. So is runInto.
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

  std::shared_ptr<const void> code; ///< of the kernels
  std::string name;
  std::vector<Tensor> taken, given;
  std::vector<Donation> givenAway;
  ProgramRunner runner;
};

} // namespace octavo::program
