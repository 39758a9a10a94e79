// What runs programs, seen from outside. Backends (octavo/Session/Backends.h) make executables;
// commands, Python and C run them without knowing which backend made them.
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

/// A function of a program, ready to be run any number of times.
class Executable {
public:
  virtual ~Executable() = default;

  /// How many processes run it together: each has arguments and results of its own.
  virtual std::int64_t processes() const = 0;

  /// Runs it on one value an argument, in their order, and gives its results; with several
  /// processes on the arguments of one after the other, and gives the results likewise. The error
  /// names the operation and where it stands: an argument that does not fit its type, or an
  /// operation whose result is an error by its own rules. A check that does not hold is added to
  /// the host's and the run goes on. Only of an argument that somebody else holds too is anything
  /// kept for the next run, such as a weight that was packed.
  ///
  /// `memory` has the bytes of each result, nobody's or an argument's, which an error may leave
  /// changed. The results are lent them. Empty: they have their own, or an argument's let go of.
  virtual tl::expected<std::vector<Value>, std::string>
  run(std::vector<Value> arguments, const RunContext& host, ResultMemory memory) = 0;
  tl::expected<std::vector<Value>, std::string> run(std::vector<Value> arguments,
                                                    const RunContext& host) {
    return run(std::move(arguments), host, {});
  }

  /// The same to `memory` alone, which it has of each result, without values of results. It may
  /// change the arguments: to copies where they overlap with results, or to nothing.
  virtual Outcome runInto(std::span<Value> arguments, const RunContext& host, ResultMemory memory) {
    auto results =
        run({std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end())},
            host, memory);
    if (!results)
      return tl::unexpected(std::move(results.error()));
    return {};
  }

  /// Whether runs need of an argument nothing but what `bind` makes of its value, which may then be
  /// one that is not in memory.
  virtual bool takesUnread(std::size_t /*argument*/) const { return false; }
  /// Makes what runs would make of an argument's value once, such as a packed weight: the value has
  /// it then, for other executables too. Not needed, but that a value which is not in memory is
  /// read now. The error is the file's. Throws std::bad_alloc.
  virtual Outcome bind(std::size_t /*argument*/, const Value& /*value*/) const { return {}; }

  virtual Explanation explain() const = 0;

  /// What it became on the way, first to last; nothing where it is not compiled.
  struct Stage {
    std::string file; ///< name of a file for it, with folders
    std::string text;
  };
  virtual tl::expected<std::vector<Stage>, std::string> stages() const {
    return std::vector<Stage>();
  }
};

} // namespace octavo::program
