// A program that `octavo compile` wrote to a folder, ready to run: no compiler, no LLVM.
#pragma once

#include "octavo/Execution/Donation.h"
#include "octavo/Steps/Place.h"
#include "octavo/Steps/ProgramRunner.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace octavo::standalone {

/// Any number of threads may run it at once.
class LoadedProgram {
public:
  struct Tensor : steps::Place::InMemory {
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
  steps::ItemRange items() const { return runner.program().items; }
  /// The items of arguments that fit but for their number: the error names arguments that are not
  /// of one number, or says which the program takes.
  tl::expected<std::int64_t, std::string>
  itemsOf(std::span<const execution::Value> arguments) const;
  /// The second of these errors.
  tl::expected<void, std::string> checkItems(std::int64_t items) const;

  /// What the program gives away for its results.
  const std::vector<execution::Donation>& donations() const { return givenAway; }

  /// steps::ProgramRunner::run, of arguments that itemsOf takes. So is runInto.
  tl::expected<std::vector<execution::Value>, std::string>
  run(std::vector<execution::Value> arguments, const execution::Host& host,
      execution::ResultMemory memory) {
    return runner.run(std::move(arguments), host, memory);
  }
  /// steps::ProgramRunner::runInto.
  steps::Outcome runInto(std::span<execution::Value> arguments, const execution::Host& host,
                         execution::ResultMemory memory) {
    return runner.runInto(arguments, host, memory);
  }

private:
  struct Loader;

  LoadedProgram(std::shared_ptr<const void> code, steps::Program program)
      : code(std::move(code)), runner(std::move(program)) {}

  std::shared_ptr<const void> code; ///< of the kernels
  std::string name;
  std::vector<Tensor> taken, given;
  std::vector<execution::Donation> givenAway;
  steps::ProgramRunner runner;
};

} // namespace octavo::standalone
