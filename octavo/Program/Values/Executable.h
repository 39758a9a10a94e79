// The interface for running programs. Backends (octavo/Session/Backends.h) make executables;
// commands, Python and C run them without knowing the backend.
#pragma once

#include "octavo/Program/Values/Explanation.h"
#include "octavo/Program/Values/Outcome.h"
#include "octavo/Program/Values/RunContext.h"
#include "octavo/Program/Values/Value.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace octavo::program {

/// A function of a program, ready to run any number of times.
class Executable {
public:
  virtual ~Executable() = default;

  /// The number of processes that run it together. Each has its own arguments and results.
  virtual std::int64_t processes() const = 0;

  /// Runs the function on one value per argument and returns its results. With several processes,
  /// arguments and results are those of process 0, then of process 1, and so on. Fails if an
  /// argument does not fit its type, or if an operation fails by its rules: the error names the
  /// operation and its location. A failed check is added to the context's report and the run
  /// continues; without a report it is an error. Packed forms are kept for the next run only if the
  /// caller still holds the argument's value.
  ///
  /// `memory`, if not empty, provides the bytes of each result, which are then lent to the results.
  /// It may overlap an argument. An error may leave it changed. If it is empty, results own their
  /// memory, which may be that of an argument that the caller gave up.
  virtual tl::expected<std::vector<Value>, std::string>
  run(std::vector<Value> arguments, const RunContext& host, ResultMemory memory) = 0;
  tl::expected<std::vector<Value>, std::string> run(std::vector<Value> arguments,
                                                    const RunContext& host) {
    return run(std::move(arguments), host, {});
  }

  /// The same, with results in `memory` only, one span per result. May replace arguments: by a copy
  /// if it overlaps a result, or by nothing.
  virtual Outcome runInto(std::span<Value> arguments, const RunContext& host, ResultMemory memory) {
    auto results =
        run({std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end())},
            host, memory);
    if (!results)
      return tl::unexpected(std::move(results.error()));
    return {};
  }

  /// Whether runs use this argument only in the form that `bind` makes. Its value may then be one
  /// that is not in memory.
  virtual bool takesUnread(std::size_t /*argument*/) const { return false; }
  /// Makes the packed forms of an argument's value that the first run would make. The value keeps
  /// them, also for other executables. Optional for a value in memory; a value that is not in
  /// memory is read now. The error is the file's. Throws std::bad_alloc.
  virtual Outcome bind(std::size_t /*argument*/, const Value& /*value*/) const { return {}; }

  /// What was compiled, and what was not.
  virtual Explanation explain() const = 0;

  /// The stages of compilation, first to last; empty if the function is not compiled.
  struct Stage {
    std::string file; ///< relative path of the file for it
    std::string text;
  };
  virtual tl::expected<std::vector<Stage>, std::string> stages() const {
    return std::vector<Stage>();
  }
};

} // namespace octavo::program
